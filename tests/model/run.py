#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a model of this folder through spin, in a directory of its own under --build.

run.py --build DIR NAME               every run of the model must hold; else prints the counterexample
run.py --build DIR NAME.broken-RULE   leaves the rule out; spin must find that wrong
run.py --list                         the names

Ends with 77 where spin is missing. Memory stays below 2 GB, times are some seconds per run.
"""
import argparse
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SKIP = 77

# Model: flags of each run that must hold.
MODELS = {
    "wildcards": [["-DSCENARIO=%d" % n] for n in (1, 2, 3, 4, 5, 6)] + [["-DSCENARIO=3", "-DQUEUE"]],
    "sleep": [[]],
    "sequence_numbers": [[]],
    "progress_thread_post": [[]],
}
# Model: rules that may be left out, and the flags of a run that shows why they are there.
BROKEN = {
    "wildcards": {
        "relook": ["-DSCENARIO=3"],       # the candidate is taken without another look
        "tail": ["-DSCENARIO=3"],         # that look goes to tails read before
        "unpublished": ["-DSCENARIO=3"],  # a cell that is reserved is not waited for
        "specific": ["-DSCENARIO=3"],     # a receive of one lane does not settle first
        "shared": ["-DSCENARIO=3"],       # the slot keeps its owner when a second thread sends
        "counter": ["-DSCENARIO=3"],      # the clock stands while the owner counts
        "epoch": ["-DSCENARIO=3"],        # of a wildcard and a receive of the same epoch the receive is first
        "all_epochs": ["-DSCENARIO=6"],   # MPI_ANY_TAG does not look at the epochs of all lanes
        "advance": ["-DSCENARIO=3"],      # nor advance them
        "kept": ["-DSCENARIO=3"],         # settling forgets specific receives
        "behind": ["-DSCENARIO=4"],       # an arrival overtakes a kept message of its lane
        "queue": ["-DSCENARIO=3", "-DQUEUE"],  # the queue looks empty before its last message is in the ring
        "at_once": ["-DSCENARIO=3"],      # MPI_ANY_TAG is posted without a look at kept messages
    },
    "sleep": {
        "barrier": [],   # no membarrier between the sleeper's stores and its second look
        "look": [],      # no second look at the request
        "rings": [],     # the sentinel does not look at the rings again
        "handover": [],  # nobody hands the sentinel's role over
        "heir": [],      # only a thread that was sentinel hands it over
        "word": [],      # the sender wakes without changing the word
    },
    "sequence_numbers": {
        "gaps": [],    # a message is taken whatever is missing
        "late": [],    # messages beyond the ones that are waited for are counted, too
        "told": [],    # nobody looks again when a missing message comes
        "unsent": [],  # the number of a send that is taken back does not come
    },
    "progress_thread_post": {
        "flag": [],     # the poster does not say that it posts
        "bit": [],      # nor the progress thread that it is at work
        "barrier": [],  # no membarrier between that bit and the look at the flag
        "look": [],     # the progress thread does not look at the flag
        "end": [],      # the flag is taken back before the receive is there
    },
}


def names():
    for model in MODELS:
        yield model
        for rule in BROKEN[model]:
            yield f"{model}.broken-{rule}"


def check(model, flags, directory):
    """Runs spin and its verifier: (output, counterexample or None)."""
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)

    def run(*command):
        return subprocess.run(command, cwd=directory, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    source = os.path.join(HERE, model + ".pml")
    for command in (
        ["spin", *flags, "-a", source],
        ["cc", "-O1", "-w", "-DSAFETY", "-DNOCLAIM", "-DCOLLAPSE", "-DMEMLIM=2000", "-o", "pan", "pan.c"],
    ):
        result = run(*command)
        if result.returncode != 0:
            sys.exit(f"{' '.join(command)}:\n{result.stdout}")
    output = run("./pan", "-m10000", "-w24").stdout
    # A search that was cut short proves nothing.
    cut_short = "Search not completed" in output and "errors: 0" in output
    if "errors: " not in output or cut_short or "max search depth" in output:
        sys.exit(f"the search was not finished:\n{output}")
    trail = None
    if "errors: 0" not in output:
        trail = run("spin", *flags, "-t", "-k", os.path.basename(source) + ".trail", source).stdout
    return output, trail


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--build", help="directory for what spin writes")
    parser.add_argument("name", nargs="?", choices=list(names()))
    arguments = parser.parse_args()
    if arguments.list:
        print(";".join(names()), end="")
        return 0
    if not arguments.build or not arguments.name:
        parser.error("--build and a name")
    if shutil.which("spin") is None:
        print("skipped: spin is missing (tools/dev/setup.sh test)")
        return SKIP

    model, _, rule = arguments.name.partition(".broken-")
    runs = [BROKEN[model][rule] + ["-DBROKEN_" + rule.upper()]] if rule else MODELS[model]
    for number, flags in enumerate(runs):
        output, trail = check(model, flags, os.path.join(arguments.build, f"{arguments.name}-{number}"))
        print(model, *flags)
        for line in output.splitlines():
            if "errors:" in line or "states, stored" in line or "elapsed" in line or line.startswith("pan:1"):
                print("   ", line.strip())
        if not rule and trail is not None:
            print(trail)
            return 1
        if rule and trail is None:
            print("without this rule nothing goes wrong: the rule is not needed, or the model does not see why")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
