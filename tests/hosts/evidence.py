# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""What is kept of a job until it is known that nobody needs it: what each rank has written, which launchers lose in part when
a job ends badly, and the cores of those that crashed."""
import glob
import os
import pathlib
import re
import resource
import shutil
import subprocess
import tempfile
import time

LINES = 200  # of a rank, shown; all are kept
# Each rank in a folder of its own, so that cores do not replace each other. Launchers name ranks by one of these.
SCRIPT = """folder=$0/${PMI_RANK:-${PMIX_RANK:-$$}}
mkdir -p "$folder" && cd "$folder" && exec "$@" >output 2>&1"""


def gdb(*words):
    """Where all threads are, or why that cannot be seen."""
    if shutil.which("gdb") is None:
        return "there is no gdb"
    words = ["gdb", "-batch", "-nx", "-ex", "thread apply all backtrace", *map(str, words)]
    try:
        return subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=60, check=False).stdout
    except subprocess.TimeoutExpired:
        return "gdb does not end"


def backtraces(pids):
    return "\n".join(f"---- process {pid}, which is still there\n{gdb('-p', pid)}" for pid in pids)


def complains(text):
    """Whether Weft or a sanitizer has said something."""
    return re.search("weft:|Sanitizer|runtime error:", text) is not None


def core_pattern():
    return pathlib.Path("/proc/sys/kernel/core_pattern").read_text().strip()


class Evidence:
    def __init__(self, where, program):
        """`where` is a folder that all hosts see."""
        where.mkdir(parents=True, exist_ok=True)
        self.folder, self.program = pathlib.Path(tempfile.mkdtemp(prefix="job-", dir=where)), program
        self.begin = time.time()
        _, most = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (most, most))  # the ranks inherit it

    def wrapper(self):
        """Words in front of the program."""
        return ["sh", "-c", SCRIPT, str(self.folder)]

    def ranks(self):
        return sorted((path for path in self.folder.iterdir() if path.is_dir()), key=lambda path: (len(path.name), path.name))

    def output(self, *ranks):
        """Of all when none is named."""
        text = []
        for rank in ranks or self.ranks():
            try:
                text.append((rank / "output").read_text(errors="replace"))
            except OSError:
                pass  # it has not begun
        return "".join(text)

    def cores(self):
        """In the ranks' folders, or where the system puts them, as long as these are files."""
        pattern = core_pattern()
        if pattern.startswith("|"):
            return []
        names = re.sub("%.", "*", pattern) + "*"
        found = {core for rank in self.ranks() for core in glob.glob(os.path.join(rank, names))}
        return sorted(core for core in found if os.path.getmtime(core) >= self.begin)

    def shown(self):
        text = []
        for rank in self.ranks():
            lines = self.output(rank).splitlines()
            text += [f"---- rank {rank.name}: {len(lines)} lines", *lines[-LINES:]]
        for core in self.cores():
            text += [f"---- core {core}", gdb(self.program[0], core)]
        if core_pattern().startswith("|"):
            text.append(f"---- cores, if any, went to {core_pattern()}")
        return "\n".join([*text, f"---- kept in {self.folder}"])

    def forget(self):
        shutil.rmtree(self.folder, ignore_errors=True)
