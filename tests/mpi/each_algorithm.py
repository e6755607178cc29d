#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a program of collective operations under each algorithm in turn: the first run forces the first algorithm of each
collective, the next one the second, and so on, until each algorithm that "weft info --all" lists was forced.

    each_algorithm.py WEFT --ranks 1 2 3 [--seconds 120] [--turns 0 4] -- mpiexec -n {ranks} PROGRAM ...

{ranks} stands for each number of ranks. --turns names turns to run alone. The exit status is 1 if a run failed, or took
longer than --seconds.
"""
import argparse
import os
import re
import subprocess
import sys
import time


def algorithms(weft):
    """The settings WEFT_<COLLECTIVE>_ALGORITHM and the values of each, without "auto"."""
    text = subprocess.run([weft, "info", "--all"], check=True, capture_output=True, text=True).stdout
    found = {}
    for name, words in re.findall(r"^(WEFT_[A-Z_]+_ALGORITHM) .*? (auto, .*)$", text, re.MULTILINE):
        found[name] = [word for word in re.split(r", | or ", words) if word != "auto"]
    return found


def forced(found, turn):
    """The settings of a turn. Collectives with fewer algorithms begin anew."""
    chosen = {name: words[turn % len(words)] for name, words in found.items()}
    if "offload" in chosen.values():
        chosen["WEFT_OFFLOAD"] = "mock"
    return chosen


def run(command, settings, seconds):
    """What is wrong with a run; "" if nothing is."""
    process = subprocess.Popen(command, env={**os.environ, **settings}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True, errors="replace", start_new_session=True)
    try:
        output = process.communicate(timeout=seconds)[0]
    except subprocess.TimeoutExpired:
        process.terminate()  # mpiexec ends its ranks
        try:
            output = process.communicate(timeout=10)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            output = process.communicate()[0]
        return f"it did not end in {seconds} s\n{output}"
    return "" if process.returncode == 0 else f"status {process.returncode}\n{output}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("weft")
    parser.add_argument("--ranks", nargs="+", type=int, required=True)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--turns", nargs="+", type=int)
    parser.add_argument("command", nargs="+")
    asked = parser.parse_args()
    found = algorithms(asked.weft)
    if not found:
        sys.exit("each_algorithm.py: weft info --all lists no algorithms")
    failed = 0
    turns = range(max(len(words) for words in found.values()))
    for turn in turns if asked.turns is None else [turn for turn in turns if turn in asked.turns]:
        settings = forced(found, turn)
        print(f"turn {turn}:", " ".join(f"{name[5:-10].lower()}={word}" for name, word in settings.items() if name in found))
        for ranks in asked.ranks:
            begun = time.monotonic()
            wrong = run([word.replace("{ranks}", str(ranks)) for word in asked.command], settings, asked.seconds)
            print(f"  {ranks} ranks: {wrong or 'passed'}, {time.monotonic() - begun:.1f} s", flush=True)
            failed += wrong != ""
    sys.exit(1 if failed else 0)


main()
