#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""A virtual machine of qemu, without acceleration, that runs commands of this one and ends. Its only file system is in memory:
programs with their libraries, where they lie here, and busybox.

`run` gives what each command printed, with its status. `why_not` says why there is no such machine here.
The kernel is that of $MACHINE_KERNEL, else of build/kernel (tools/dev/kernel.sh), else of /boot."""
import glob
import os
import pathlib
import platform
import re
import shlex
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
QEMU = shutil.which("qemu-system-x86_64")
BUSYBOX = shutil.which("busybox")
SECONDS = 1500  # a machine that does not end by then hangs; alone on two processors it takes one minute

INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin HOME=/ TMPDIR=/tmp
mkdir -p /proc /sys /dev /tmp
mount -t proc proc /proc && mount -t sysfs sys /sys && mount -t devtmpfs dev /dev
mkdir -p /dev/shm && mount -t tmpfs shm /dev/shm && mount -t tmpfs tmp /tmp
ip link set lo up
hostname machine
dmesg -n 1
echo
"""


def kernel():
    found = [os.environ.get("MACHINE_KERNEL", ""), *sorted(glob.glob(f"{ROOT}/build/kernel/boot/vmlinuz*")),
             *sorted(glob.glob("/boot/vmlinuz*"))]
    return next((path for path in found if os.access(path, os.R_OK)), None)


def why_not():
    if platform.machine() != "x86_64":
        return "the machine is made for x86-64 programs"
    if QEMU is None or BUSYBOX is None:
        return "no qemu-system-x86_64, or no busybox (tools/dev/setup.sh machine)"
    if subprocess.run(["ldd", BUSYBOX], capture_output=True, check=False).returncode == 0:
        return f"{BUSYBOX} is not static (tools/dev/setup.sh machine)"
    return None if kernel() else "no kernel to boot (tools/dev/kernel.sh)"


def with_libraries(programs):
    """The programs and what the loader would take for them, by their paths."""
    files = set(programs)
    for program in programs:
        told = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        files.update(re.findall(r"(?m)(?:=> |^\s)(/\S+) \(0x", told))
    return sorted(files)


class Archive:
    """The kernel's first file system: a cpio archive of the kind "newc"."""

    def __init__(self):
        self.parts, self.folders = [], set()

    def _entry(self, name, mode, content=b""):
        fields = (len(self.parts) + 1, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0)
        head = b"070701" + b"".join(b"%08x" % field for field in fields) + name.encode() + b"\0"
        self.parts.append(head + b"\0" * (-len(head) % 4) + content + b"\0" * (-len(content) % 4))

    def add(self, path, content, mode=0o755):
        folder = os.path.dirname(path).strip("/")
        for k in range(len(folder.split("/"))):
            name = "/".join(folder.split("/")[: k + 1])
            if name and name not in self.folders:
                self.folders.add(name)
                self._entry(name, 0o40755)
        self._entry(path.strip("/"), 0o100000 | mode, content)

    def write(self, path):
        self._entry("TRAILER!!!", 0)
        pathlib.Path(path).write_bytes(b"".join(self.parts))


def stripped(path, folder):
    """The file's bytes, without its debugging information if that can be had."""
    if shutil.which("strip"):
        without = os.path.join(folder, "stripped")
        if subprocess.run(["strip", "-o", without, path], capture_output=True, check=False).returncode == 0:
            return pathlib.Path(without).read_bytes()
    return pathlib.Path(path).read_bytes()


def init_of(commands):
    lines = [INIT]
    for name, command in commands.items():
        lines.append(f"echo '=== {name}'\n({command}) 2>&1\necho \"=== $?\"\n")
    return "".join(lines) + "echo '=== end'\npoweroff -f\n"


def run(options, programs, commands):
    """`options` are qemu's for memory and processors, `commands` shell lines by name: (output, status) by name. A machine that
    does not come to its end is an error, with what it printed."""
    with tempfile.TemporaryDirectory() as folder:
        archive = Archive()
        for path in with_libraries(programs):
            archive.add(path, stripped(os.path.realpath(path), folder))
        archive.add("/bin/busybox", pathlib.Path(BUSYBOX).read_bytes())
        archive.add("/init", init_of(commands).encode())
        archive.write(f"{folder}/initrd")
        words = [QEMU, "-accel", "tcg,thread=multi", "-cpu", "max", "-nographic", "-nic", "none", "-no-reboot", *options,
                 "-kernel", kernel(), "-initrd", f"{folder}/initrd", "-append", "console=ttyS0 loglevel=0 panic=-1"]
        print(shlex.join(words), flush=True)
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=SECONDS, check=False)
    output = done.stdout.replace("\r", "")
    print(output, flush=True)
    if "=== end\n" not in output:
        raise RuntimeError("the virtual machine did not come to its end (its output is above)")
    return {name: (text, int(status)) for name, text, status in
            re.findall(r"(?ms)^=== (\S+)\n(.*?)^=== (\d+)$", output)}
