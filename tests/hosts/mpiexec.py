#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Starts a program on several hosts (hosts.sh) under Hydra: the ranks spread evenly, neighbours together.

    mpiexec.py --hydra PATH [--hosts 2] [--env A=1] -n RANKS program [argument...]

Ends with Hydra's status, or 77 where there are no namespaces or no Hydra. Who ends this script ends the hosts."""
import argparse
import os
import pathlib
import signal
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def command(hydra, hosts, ranks, settings=(), of_host=()):
    """The command in front of the program: `settings` are texts as A=1, for all ranks; `of_host` has the number of ranks
    of each host where they are not spread evenly."""
    hosts = min(hosts, ranks)
    of_host = of_host or [-(-ranks // hosts)] * hosts
    words = [str(HERE / "hosts.sh"), str(hosts), str(hydra), "-launcher", "ssh", "-launcher-exec", str(HERE / "rsh"),
             "-hosts", ",".join(f"h{k}:{here}" for k, here in enumerate(of_host, 1)), "-n", str(ranks)]
    # The hosts share this machine's processors, which none of them can know: a rank that spins keeps others from theirs.
    for setting in ["WEFT_SPIN=0", *settings]:
        words += ["-genv", *setting.split("=", 1)]
    return words


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hydra", required=True, help="Hydra's mpiexec")
    parser.add_argument("--hosts", type=int, default=2)
    parser.add_argument("--env", action="append", default=[], metavar="A=1", help="for all ranks")
    parser.add_argument("-n", dest="ranks", type=int, required=True)
    parser.add_argument("program", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if not os.access(options.hydra, os.X_OK):
        print(f"mpiexec.py: skipped: there is no Hydra at {options.hydra}", file=sys.stderr)
        return 77
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    words = command(options.hydra, options.hosts, options.ranks, options.env) + options.program
    with subprocess.Popen(words, stdin=subprocess.DEVNULL) as process:
        try:
            return process.wait()
        finally:
            if process.poll() is None:
                process.kill()  # unshare waits for its child before it looks at anything gentler


if __name__ == "__main__":
    sys.exit(main())
