#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""What a rank of a job on one host holds (footprint.c), as it is and with WEFT_MINIMUM_MEMORY. With `--table` it prints the
figures of docs/measurements/large-jobs.md instead of testing."""
import os
import re
import subprocess
import sys
import unittest

MPIEXEC = os.path.join(os.environ.get("LAUNCH_BIN", ""), "mpiexec")
FOOTPRINT = os.environ.get("FOOTPRINT", "")


def held(ranks, *words, **env):
    """KiB of a rank: before MPI_Init, after it, and when it has talked."""
    done = subprocess.run([MPIEXEC, "-q", "-n", str(ranks), FOOTPRINT, *words], capture_output=True, text=True, timeout=60,
                          env={**os.environ, **env})
    figures = re.fullmatch(r"ranks \d+ empty (\d+) start (\d+) talked (\d+)\n", done.stdout)
    if done.returncode or not figures:
        raise RuntimeError(done.stdout + done.stderr)
    return tuple(map(int, figures.groups()))


class Footprint(unittest.TestCase):
    def test_minimum_memory_takes_less(self):
        _, start, talked = held(8)
        _, least_start, least_talked = held(8, WEFT_MINIMUM_MEMORY="on")
        self.assertLess(least_start, start - 150)  # the ring: 64 instead of 256 KiB
        # Staging buffers of the host instead of eight of each rank.
        self.assertLess(4 * (least_talked - least_start), talked - start)

    def test_what_was_chosen_stays(self):
        _, start, _ = held(4, "one", WEFT_RING_BYTES="4M", WEFT_MINIMUM_MEMORY="on")
        self.assertGreater(start, 4 << 10)


if __name__ == "__main__":
    if "--table" in sys.argv:
        for count in map(int, [word for word in sys.argv[1:] if word.isdigit()] or ["16"]):
            for env in {}, {"WEFT_MINIMUM_MEMORY": "on"}:
                for words in ("one",), ():
                    print(count, "ranks", env, *words or ("all",), "empty %d start %d talked %d KiB" % held(count, *words, **env))
    else:
        unittest.main()
