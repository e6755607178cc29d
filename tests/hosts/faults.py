#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs on three hosts (hosts.sh), one after the other, while cables are cut, healed, slow, and lose and disorder packets, at
random. The programs check what they receive; nothing may be lost, crash, hang or be complained about.

    faults.py --hydra PATH [--build FOLDER] [--seconds 20] [--seed N] [--libraries tcp,ofi] [--damage]

--damage: cables change bits and leave checksums valid instead, and a job may also end with a message that says so.

Of a job that fails, what each rank has written is shown and kept (BUILD/faults), with where a crash or a hang was when there
is gdb. Ends with a line that counts; status 1 after a failure, 77 where there are no namespaces or no Hydra."""
import argparse
import os
import pathlib
import random
import sys
import time

import cable
import evidence
import job

HERE = pathlib.Path(__file__).resolve().parent
LOST_AFTER = 30  # no cut lasts that long
LONGEST = 300  # seconds for a job: a twentieth of the packets lost makes one slow
DAMAGE_SAID = "data were changed on their way from rank"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hydra", required=True)
    parser.add_argument("--build", type=os.path.abspath, default=str(HERE.parents[1] / "build" / "release"))
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--damage", action="store_true", help="change bits")
    parser.add_argument("--libraries", default="tcp,ofi", help="values of WEFT_NETWORK_LIBRARY, in turn at random")
    return parser.parse_args()


def choose_program(dice, build):
    """A program with its arguments, and its ranks."""
    tests = f"{build}/tests/mpi/mpi_"
    seed = str(dice.randrange(1, 10**6))
    return dice.choice([
        ((tests + "p2p_random", seed), dice.choice((3, 5, 6))),
        ((tests + "coll_random", seed, "30", "1"), dice.choice((3, 5, 6))),
        ((tests + "win_random", seed, "100"), dice.choice((2, 3, 5))),
        ((tests + "flood", dice.choice(("small", "large", "reverse", "blocking")), "0", "30000"), 2),
        ((f"{build}/tests/hosts/hosts_lost", "ring", "3"), dice.choice((3, 6))),
    ])


def choose_fault(dice, host):
    """Words for hosts.sh, and for how many seconds."""
    if dice.random() < 0.3:
        return ("cut", host), dice.choice((0.05, 0.3, 1, 3))
    words = [f"delay={dice.choice((0, 0, 0.2, 1, 5))}", f"jitter={dice.choice((0, 0.5, 3))}",
             f"drop={dice.choice((0, 0.5, 2, 5))}", f"reorder={dice.choice((0, 1, 10))}"]
    return ("spoil", host, *words), dice.uniform(0.3, 2)


def choose_damage(dice, host):
    part = dice.choice([*cable.FIELDS, "header", "data", "pushed"])
    return ("spoil", host, f"flip={dice.choice((1, 20, 100))}", f"part={part}", f"seed={dice.randrange(10**6)}"), dice.uniform(0.3, 2)


def run(dice, args):
    """One job under faults: what became of it ("good", "told", "late", "FAILED"), what is wrong (or ""), and how many faults there
    were. Told: data were changed, which has ended the job with a message.
    Late: a host is said to be lost, and was, because this machine was too busy to heal a cut in time."""
    program, ranks = choose_program(dice, args.build)
    hosts = min(3, ranks)
    library = dice.choice(args.libraries.split(","))
    settings = [dice.choice(("WEFT_CHECK_DATA=on", "WEFT_ENCRYPT=on"))] if args.damage else []
    choose = choose_damage if args.damage else choose_fault
    kept = evidence.Evidence(pathlib.Path(args.build) / "faults", program)
    running = job.Job(args.hydra, ranks, program, f"WEFT_LOST_AFTER={LOST_AFTER}", f"WEFT_NETWORK_LIBRARY={library}", *settings,
                      hosts=hosts, wrapper=kept.wrapper())
    history, begin, status, longest = [], time.monotonic(), None, 0
    try:
        # Faults are the job's to bear and not its launcher's, which has its connections once all ranks are there.
        while status is None and len(job.processes(os.path.realpath(program[0]))) < ranks and time.monotonic() - begin < LONGEST:
            status = running.wait(0.02)
        while status is None and time.monotonic() - begin < LONGEST:
            words, seconds = choose(dice, f"h{dice.randrange(1, hosts + 1)}")
            status = running.wait(dice.uniform(0, 0.5))
            if status is None:
                since = time.monotonic()
                history.append(f"{since - begin:.1f} s: {' '.join(words)} for {seconds:.1f} s")
                job.on_hosts(*words)
                if words[0] == "cut":
                    time.sleep(seconds)
                else:
                    status = running.wait(seconds)
                job.on_hosts("heal", words[1])
                longest = max(longest, time.monotonic() - since)
        wrong = "it hangs" if status is None else f"status {status}" if status != 0 else ""
        said = "\n".join([running.output, kept.output()])
        told = args.damage and status not in (None, 0) and DAMAGE_SAID in said
        wrong = "" if told else wrong
        if not told and evidence.complains(said):
            wrong = wrong or "it complains"
        if not wrong and running.left():
            wrong = "processes are left"
        late = wrong and longest > LOST_AFTER / 2 and "nothing was heard from" in said
        hung = evidence.backtraces(job.processes(os.path.realpath(program[0]))) if wrong else ""
    finally:
        running.end()
    took = time.monotonic() - begin
    name = ", ".join([f"{os.path.basename(program[0])} {' '.join(program[1:])}", f"{ranks} ranks", library, *settings])
    verdict = "late" if late else "FAILED" if wrong else "told" if told else "good"
    print(f"{verdict:7}{took:6.1f} s {len(history):3} faults  {name}", flush=True)
    if verdict != "FAILED":
        kept.forget()
        return verdict, "", len(history)
    return verdict, "\n".join([f"{name}: {wrong}", *history, running.output, hung, kept.shown()]), len(history)


def main():
    args = arguments()
    if not os.access(args.hydra, os.X_OK):
        print(f"faults.py: skipped: there is no Hydra at {args.hydra}")
        return 77
    job.enter(3)
    dice, end, faults = random.Random(args.seed), time.monotonic() + args.seconds, 0
    verdicts = {"good": 0, "told": 0, "late": 0, "FAILED": 0}
    while time.monotonic() < end:
        verdict, wrong, count = run(dice, args)
        verdicts[verdict] += 1
        faults += count
        if wrong:
            print(wrong, flush=True)
    counts = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
    print(f"{sum(verdicts.values())} jobs, {faults} faults: {counts} (seed {args.seed})")
    return 1 if verdicts["FAILED"] or not verdicts["good"] + verdicts["told"] else 0


if __name__ == "__main__":
    sys.exit(main())
