# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""A job on the hosts of hosts.sh, started from within, while its hosts are cut off and its ranks are killed."""
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
HOSTS_SH = str(HERE / "hosts.sh")
INSIDE = "HOSTS_INSIDE"


def enter(hosts):
    """Runs this script again inside of so many hosts, unless that is done; returns inside. Who ends it ends the hosts."""
    if os.environ.get(INSIDE):
        return
    environment = {**os.environ, INSIDE: str(hosts)}
    with subprocess.Popen([HOSTS_SH, str(hosts), sys.executable, *sys.argv], env=environment) as process:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        try:
            sys.exit(process.wait())
        finally:
            if process.poll() is None:
                process.kill()


def on_hosts(*words):
    """hosts.sh with these words; gives its output."""
    return subprocess.run([HOSTS_SH, *map(str, words)], check=True, stdout=subprocess.PIPE, text=True).stdout


def all_hosts():
    return [f"h{k}" for k in range(1, int(os.environ[INSIDE]) + 1)]


def processes(name):
    """The ids of those that run this program, on any host: they share a namespace of process ids."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                target = os.readlink(entry / "exe")
            except OSError:
                continue
            if target == name or os.path.basename(target) == name:
                found.append(int(entry.name))
    return found


class Job:
    def __init__(self, hydra, ranks, program, *settings, hosts=None, wrapper=()):
        """`wrapper` are words in front of the program that exec it."""
        for host in all_hosts():  # a launcher does not get over what was not found during a cut
            on_hosts("on", host, "ip", "neigh", "flush", "dev", "eth0")
        hosts = hosts or int(os.environ[INSIDE])
        words = [hydra, "-launcher", "ssh", "-launcher-exec", str(HERE / "rsh"), "-hosts",
                 ",".join(f"h{k}" for k in range(1, hosts + 1)), "-ppn", str(-(-ranks // hosts)), "-n", str(ranks)]
        for setting in ["WEFT_SPIN=0", *settings]:
            words += ["-genv", *setting.split("=", 1)]
        self.ranks, self.program, self.pids, self.lines = ranks, program, {}, []
        self.process = subprocess.Popen([*words, *wrapper, *map(str, program)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, errors="replace")
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))
            for rank, pid in re.findall(r"\bready (\d+) (\d+)", line):
                self.pids[int(rank)] = int(pid)

    @property
    def output(self):
        return "\n".join(self.lines)

    def wait_until_ready(self):
        self.wait_until(lambda: len(self.pids) >= self.ranks)

    def wait_until(self, condition, seconds=100):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end or self.process.poll() is not None:
                raise AssertionError(f"the job did not start:\n{self.output}")
            time.sleep(0.02)

    def wait(self, seconds):
        """The status, or None when the job still runs."""
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        self.reader.join(1)
        return status

    def left(self, seconds=20):
        """The processes of the program that are there after that time, on any host."""
        end = time.monotonic() + seconds
        while True:
            found = processes(os.path.realpath(self.program[0]))
            if not found or time.monotonic() > end:
                return found
            time.sleep(0.05)

    def end(self):
        """Also what Hydra leaves on a host that it cannot reach."""
        if self.process.poll() is None:
            self.process.kill()
        for name in (os.path.realpath(self.program[0]), "hydra_pmi_proxy"):
            for pid in processes(name):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        self.process.wait()
        self.reader.join(1)
        self.process.stdout.close()
