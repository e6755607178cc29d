#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""mpiexec --jobs shows a job, what its ranks have spawned, what those have, and what is independent; not after its end.

usage: job_tree.py MPIEXEC PROGRAM
"""
import pathlib
import re
import subprocess
import sys
import tempfile

mpiexec, program = sys.argv[1:3]


def shown(name):
    """The lines of that job."""
    done = subprocess.run([mpiexec, "--jobs"], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    first = next((i for i, line in enumerate(lines) if name in line), len(lines))
    last = next((i for i in range(first + 1, len(lines)) if not lines[i].startswith(" ")), len(lines))
    return lines[first:last]


with tempfile.TemporaryDirectory(prefix="job-tree-") as folder:
    go_on = pathlib.Path(folder, "go")
    words = [mpiexec, "--oversubscribe", "-n", "2", program, str(go_on)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as job:
        if job.stdout.readline() != "ready\n":
            sys.exit("the job did not come up")
        # The job's name ends with the number of the process behind the one that we have started.
        name = f"-{pathlib.Path(f'/proc/{job.pid}/task/{job.pid}/children').read_text().strip()} (mpiexec "
        seen = shown(name)
        go_on.touch()
        job.stdout.read()
    if job.returncode != 0:
        sys.exit(f"the job ended with status {job.returncode}")
    wanted = [
        r"job \S+ \(mpiexec \d+\): 2 of 2 processes run: ",
        r"  spawned world 1, by rank 0: 2 of 2 processes run: .*",
        r"    spawned world 2, by rank 0 of spawned world 1: 1 of 1 process runs: ",
        r"  spawned world 3, by rank 1: 2 of 2 processes run, independent of it: ",
    ]
    if len(seen) != len(wanted) or not all(re.match(want, line) for want, line in zip(wanted, seen)):
        sys.exit("mpiexec --jobs wrote:\n" + "\n".join(seen) + "\nwanted:\n" + "\n".join(wanted))
    if shown(name):
        sys.exit("mpiexec --jobs shows a job that has ended")
print("ok")
