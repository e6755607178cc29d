#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Checks of apps/mhd: verify.py MPIEXEC MHD CHECK. Prints what it measured; ends with 1 when a check fails."""

import argparse
import filecmp
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

WAYS = ("ranks", "funnelled", "communicators", "window")


class Program:
    def __init__(self, mpiexec, mhd):
        self.launch = [os.path.abspath(mpiexec.split()[0]), *mpiexec.split()[1:]]
        self.mhd = os.path.abspath(mhd)

    def start(self, *options, ranks=1, cwd=None):
        command = [*self.launch, "-n", str(ranks), self.mhd, *map(str, options)]
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=600)

    def result(self, *options, **more):
        """What a run that must succeed says at its end."""
        done = self.start("-q", *options, **more)
        if done.returncode == 77:  # a launcher that cannot start here (tests/hosts/mpiexec.py)
            print(done.stderr)
            sys.exit(77)
        if done.returncode != 0:
            sys.exit(f"mhd {' '.join(map(str, options))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        number = r"([-+0-9.e]+)"
        low, high, divergence = re.search(rf"density: {number} to {number}; divergence of B: {number}", done.stdout).groups()
        return {
            "state": re.search(r"state: (\w+)", done.stdout).group(1),
            "low": float(low),
            "high": float(high),
            "divergence": float(divergence),
            "distance": float(re.search(rf"distance to the start: {number}", done.stdout).group(1)),
            "energy": float(re.search(rf"energy {number}", done.stdout).group(1)),
            "moved": list(map(int, re.search(r"patches moved: (\d+), at (\d+)|$", done.stdout).groups(0))),
        }


def expect(condition, text):
    print(("holds: " if condition else "FAILED: ") + text)
    if not condition:
        sys.exit(1)


def same(program, problem, cells, steps, teams):
    """Every way, ranks x threads and size of patches gives the same bits."""
    base = ("-p", problem, "-n", cells, "-s", steps)
    reference = program.result(*base, "-b", 8, "-w", "ranks")
    for way in WAYS:
        for ranks, threads in teams:
            if way == "ranks" and threads > 1:
                continue
            got = program.result(*base, "-b", 8, "-w", way, "-t", threads, ranks=ranks)
            expect(got == reference, f"{problem}, {way}, {ranks} x {threads}: state {got['state']}, as 1 x 1")
    got = program.result(*base, "-b", 4, "-t", 1, ranks=2)
    expect(got["state"] == reference["state"], f"{problem}, patches of 4 cells: state {got['state']}, as with 8")
    expect(reference["divergence"] < 1e-12, f"divergence of B {reference['divergence']:.1e} < 1e-12")


def check_same(program):
    same(program, "orszag-tang", 32, 12, ((1, 1), (2, 1), (1, 2), (2, 2)))
    same(program, "blast3", 16, 4, ((2, 2),))


def check_ways(program):
    """The shortest of these, for several hosts: there each run takes seconds to start."""
    same(program, "orszag-tang", 32, 6, ((2, 2),))


def check_same_long(program):
    teams = ((1, 1), (2, 1), (1, 2), (2, 2), (3, 3), (4, 1), (1, 4))
    same(program, "orszag-tang", 64, 10**6, teams)
    same(program, "blast3", 32, 20, teams)


def moves(program, problem, cells, steps, teams):
    """Patches that move between ranks change no bit, by any way; the mailboxes follow them."""
    base = ("-p", problem, "-n", cells, "-b", 4, "-s", steps)
    state = program.result(*base, "-t", 1)["state"]
    for ranks, threads in teams:
        counts = set()
        for way in WAYS:
            if way == "ranks" and threads > 1:
                continue
            got = program.result(*base, "-w", way, "-t", threads, "-m", 3, "-l", "wave", ranks=ranks)
            patches, times = got["moved"]
            counts.add((patches, times))
            expect(got["state"] == state and times > 2 and patches >= times,
                   f"{problem}, {way}, {ranks} x {threads}: {patches} patches moved at {times} times, "
                   f"state {got['state']}, as without")
        expect(len(counts) == 1, "as many by every way")


def check_move(program):
    moves(program, "orszag-tang", 32, 20, ((2, 2), (3, 1)))
    moves(program, "blast3", 16, 10, ((4, 1),))
    base = ("-n", 32, "-b", 4, "-s", 30, "-t", 1)
    state = program.result(*base)["state"]
    got = program.result(*base, "-m", 2, ranks=3)
    expect(got["state"] == state, f"measured loads: {got['moved'][0]} patches moved, state {got['state']}, as without")
    got = program.result("-n", 8, "-b", 4, "-s", 9, "-t", 1, "-m", 2, "-l", "wave", ranks=4)
    expect(got["moved"] == [0, 0], "none moves where each rank has one")
    with tempfile.TemporaryDirectory() as folder:
        program.result(*base[:-4], "-s", 17, "-t", 1, "-m", 4, "-l", "wave", "-k", "kept", ranks=3, cwd=folder)
        got = program.result("-r", "kept", "-s", 30, "-t", 1, "-m", 5, "-l", "wave", ranks=2, cwd=folder)
        expect(got["state"] == state and got["moved"][0] > 0,
               f"a checkpoint of ranks with unequal ranges: state {got['state']}")


def order(program, problem, cells):
    lost = [program.result("-p", problem, "-n", n, "-b", cells[0] // 2, ranks=2)["distance"] for n in cells]
    orders = [math.log2(a / b) for a, b in zip(lost, lost[1:])]
    text = ", ".join(f"{n} cells: {one:.3e}" for n, one in zip(cells, lost))
    expect(all(1.8 < one < 2.6 for one in orders), f"{problem}: {text}: order {', '.join(f'{o:.2f}' for o in orders)}, near 2")


def check_alfven(program):
    order(program, "alfven", (32, 64))


def check_alfven_long(program):
    order(program, "alfven", (16, 32, 64, 128))
    order(program, "alfven3", (16, 32, 64))


def check_orszag_tang(program):
    # Density at t = 0.5, from 512 x 512 cells here: mhd -n 512. Pictures of the literature have scales of about the same
    # ends; J. Stone and others, Astrophys. J. Suppl. 178 (2008) 137, figure 22.
    got = program.result("-n", 64, "-b", 16, ranks=2)
    expect(abs(got["high"] - HIGH) < 0.03 and abs(got["low"] - LOW) < 0.02,
           f"density {got['low']:.4f} to {got['high']:.4f}, with 512 cells {LOW} to {HIGH}")
    expect(got["divergence"] < 1e-12, f"divergence of B {got['divergence']:.1e} < 1e-12")
    expect(abs(got["energy"] - 0.34917687306) < 1e-10, f"energy {got['energy']:.11f} is that of the start")


# Results of this problem at t = 0.5 by Phantom (D. Price and others, Publ. Astron. Soc. Australia 35 (2018) e031, section
# 5.6.3), a code of particles and so of another kind, with about 144 particles along x. The largest velocities and
# internal energy are in a table of the documentation of Sarracen (docs/examples/ot.rst), the pressures in its plot
# along y = 0.3125: the peak near x = 0.57, the level at x = 0.4 and the peak near x = 0.98.
PUBLISHED = {"velocity along x": 1.3267, "velocity along y": 1.0371, "internal energy": 1.791, "peak of pressure": 0.257,
             "level of pressure": 0.100, "second peak": 0.212}


def check_orszag_tang_published(program):
    cells = 128
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "vortex.vtk")
        program.result("-n", cells, "-t", 1, "-v", path, ranks=2)
        rho, pressure, velocity = (values(path, name) for name in ("density", "pressure", "velocity"))
    row = int(0.3125 * cells)
    cut = [0.5 * (a + b) for a, b in zip(pressure[row * cells:], pressure[(row - 1) * cells:row * cells])]
    got = (max(map(abs, velocity[0::3])), max(map(abs, velocity[1::3])), max(1.5 * p / r for p, r in zip(pressure, rho)),
           max(cut), cut[int(0.4 * cells)], max(cut[int(0.94 * cells):]))
    for (name, theirs), ours in zip(PUBLISHED.items(), got):
        expect(abs(ours - theirs) < 0.04 * theirs, f"{name}: {ours:.4f}, by Phantom {theirs}")
    place = cut.index(max(cut)) / cells
    expect(abs(place - 0.57) < 0.02, f"the peak of pressure is at x = {place:.3f}, near 0.57")


def check_orszag_tang_long(program):
    got = program.result("-n", 256, ranks=2)
    expect(abs(got["high"] - HIGH) < 0.01 and abs(got["low"] - LOW) < 0.01,
           f"density {got['low']:.4f} to {got['high']:.4f}, with 512 cells {LOW} to {HIGH}")


LOW, HIGH = 0.084, 0.496


def values(path, name):
    """A field of a VTK file that mhd has written, cell by cell."""
    with open(path, "rb") as file:
        data = file.read()
    cells = int(re.search(rb"CELL_DATA (\d+)", data).group(1))
    head = re.search(rb"(SCALARS|VECTORS) " + name.encode() + rb" float( 1\nLOOKUP_TABLE default)?\n", data)
    count = cells * (3 if head.group(1) == b"VECTORS" else 1)
    return struct.unpack_from(f">{count}f", data, head.end())


def density(path):
    """The density of the first row of cells."""
    with open(path, "rb") as file:
        cells = int(re.search(rb"DIMENSIONS (\d+)", file.read(500)).group(1)) - 1
    return values(path, "density")[:cells]


# Brio and Wu at t = 0.1, mean density of 32 intervals of length 1/32 from x = 0 to 1: mhd -p brio-wu -n 4096 -b 8.
TUBE = (
    1.00000, 1.00000, 1.00000, 1.00000, 1.00000, 1.00000, 1.00000, 1.00000,
    1.00000, 1.00000, 0.96865, 0.86200, 0.75778, 0.68118, 0.67639, 0.72127,
    0.69719, 0.65397, 0.23488, 0.23527, 0.18597, 0.11699, 0.11699, 0.11699,
    0.11699, 0.11700, 0.11761, 0.12290, 0.12500, 0.12500, 0.12500, 0.12500,
)


def tube(program, cells, folder):
    path = os.path.join(folder, "tube.vtk")
    program.result("-p", "brio-wu", "-n", cells, "-b", 8, "-v", path, ranks=2)
    profile = density(path)
    wide = cells // 64
    return [sum(profile[i * wide:(i + 1) * wide]) / wide for i in range(32)]


def check_brio_wu(program):
    with tempfile.TemporaryDirectory() as folder:
        off = [sum(abs(a - b) for a, b in zip(tube(program, n, folder), TUBE)) / 32 for n in (128, 256)]
    expect(off[1] < 6e-3 and off[1] < 0.6 * off[0],
           f"density to the converged one: {off[0]:.2e} with 64 cells per unit of length, {off[1]:.2e} with 128")


def check_brio_wu_long(program):
    with tempfile.TemporaryDirectory() as folder:
        off = [sum(abs(a - b) for a, b in zip(tube(program, n, folder), TUBE)) / 32 for n in (256, 512, 1024)]
    expect(off[2] < 2e-3 and off[0] > off[1] > off[2], "density to the converged one: " + ", ".join(f"{o:.2e}" for o in off))


def check_restart(program):
    """A run that is interrupted and goes on with other ranks, threads and ways ends as one that is not."""
    with tempfile.TemporaryDirectory() as folder:
        base = ("-n", 32, "-b", 8)
        whole = program.result(*base, "-s", 12, "-t", 1)
        program.result(*base, "-s", 5, "-t", 1, "-k", "half", "-w", "communicators", ranks=2, cwd=folder)
        for ranks, threads, way in ((1, 2, "window"), (3, 1, "ranks")):
            got = program.result("-s", 12, "-r", "half", "-t", threads, "-w", way, ranks=ranks, cwd=folder)
            expect(got["state"] == whole["state"], f"restart on {ranks} x {threads}: state {got['state']}")
        expect(os.listdir(folder) == ["half"], "nothing but the checkpoint is left")

        # A full disk: the name of the new file leads to a device that is always full.
        before = os.path.join(folder, "before")
        with open(os.path.join(folder, "half"), "rb") as file, open(before, "wb") as copy:
            copy.write(file.read())
        os.symlink("/dev/full", os.path.join(folder, "half.new"))
        full = program.start("-q", "-s", 12, "-r", "half", "-k", "half", "-t", 1, ranks=2, cwd=folder)
        expect(full.returncode != 0 and "cannot write half.new" in full.stderr, f"a full disk: {full.stderr.strip()}")
        expect(filecmp.cmp(before, os.path.join(folder, "half"), shallow=False), "the last checkpoint is intact")
        expect(sorted(os.listdir(folder)) == ["before", "half"], "no part of the new one is left")
        expect(whole["state"] in full.stdout, "the run has gone on to its end")

        # A checkpoint that is cut, or damaged, is refused.
        with open(before, "rb") as file:
            data = bytearray(file.read())
        data[5000] ^= 1
        for name, content, text in (("cut", data[:-8], "no complete checkpoint"), ("bad", data, "not what was written")):
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content)
            refused = program.start("-r", name, "-t", 1, ranks=2, cwd=folder)
            expect(refused.returncode == 1 and text in refused.stderr, f"{name}: {refused.stderr.splitlines()[0]}")


def hashed(bits, cell, field):
    """The part of a value in the digest of the state (output.cpp)."""
    whole = 2**64 - 1
    h = bits ^ ((cell * 8 + field + 1) * 0x9E3779B97F4A7C15 & whole)
    h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9 & whole
    h = (h ^ h >> 27) * 0x94D049BB133111EB & whole
    return h ^ h >> 31


def check_film(program):
    """A film strip has six pictures from start to end, by any ranks the same, and lines with energy and divergence."""
    with tempfile.TemporaryDirectory() as folder:
        strips = []
        for ranks, more in ((1, ()), (3, ("-m", 4, "-l", "wave"))):
            path = os.path.join(folder, f"film{ranks}.png")
            done = program.start("-p", "blast", "-n", 32, "-b", 8, "-a", 1000, "-t", 1, "-f", path, *more, ranks=ranks)
            lines = [line.split() for line in done.stdout.splitlines() if re.match(r" +\d+ +\d", line)]
            times = [float(one[1]) for one in lines]
            expect(len(lines) == 6 and all(0 <= t - i * 0.04 < 0.02 for i, t in enumerate(times)), f"pictures of times {times}")
            expect(all(abs(float(one[5]) - float(lines[0][5])) < 1e-9 and float(one[-1]) < 1e-12 for one in lines),
                   f"energy {lines[-1][5]} as at the start, divergence of B {lines[-1][-1]}")
            with open(path, "rb") as file:
                strips.append(file.read())
        size = struct.unpack(">II", strips[0][16:24])
        expect(strips[0] == strips[1] and strips[0].startswith(b"\x89PNG") and size == (980, 160),
               f"the same strips of {size} points")
        full = program.start("-n", 16, "-b", 8, "-s", 2, "-t", 1, "-f", os.path.join(folder, "none", "film.png"))
        expect(full.returncode == 1 and "cannot write" in full.stderr, full.stderr.strip())


def check_physical(program):
    """A state that no gas has ends the run with a message, for whichever rank and way; the checkpoint stays."""
    digest, head, energy = 72, 80, 4  # the layout of a checkpoint: output.hpp
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kept")
        program.result("-n", 32, "-b", 16, "-s", 5, "-t", 1, "-k", "kept", cwd=folder)
        with open(path, "rb") as file:
            data = bytearray(file.read())
        # The first cell of the last patch, with an energy below zero.
        at, cell = head + 8 * 16 * 16 * (3 * 8 + energy), 16 * 32 + 16
        old, = struct.unpack_from("<Q", data, at)
        struct.pack_into("<d", data, at, -1.0)
        new, = struct.unpack_from("<Q", data, at)
        total, = struct.unpack_from("<Q", data, digest)
        struct.pack_into("<Q", data, digest, (total - hashed(old, cell, energy) + hashed(new, cell, energy)) % 2**64)
        with open(path, "wb") as file:
            file.write(data)
        for ranks, threads, way in ((1, 1, "ranks"), (2, 2, "window"), (3, 2, "communicators"), (2, 2, "funnelled")):
            done = program.start("-q", "-r", "kept", "-k", "kept", "-t", threads, "-w", way, ranks=ranks, cwd=folder)
            text = next((line for line in done.stderr.splitlines() if "is not positive" in line), "no message")
            expect(done.returncode == 1 and "after step 6" in text and "-c, here 0.4" in text,
                   f"{way}, {ranks} x {threads}: {text}")
        with open(path, "rb") as file:
            expect(file.read() == data, "the checkpoint is as it was")


def check_blast(program):
    """A strong blast wave: its pressures stay positive, and the result is the same by other ranks and patches."""
    base = ("-p", "blast", "-n", 128, "-s", 60, "-t", 1)
    one = program.result(*base, "-b", 16, ranks=2)
    two = program.result(*base, "-b", 32, ranks=1)
    expect(one["state"] == two["state"], f"the same state: {one['state']} and {two['state']}")


def check_device(program):
    """A device gives the bits and the pictures that the processor gives, by any ranks and threads, also where patches move."""
    base = ("-n", 16, "-b", 8, "-s", 5)
    host = program.result(*base, "-t", 1)
    for way, ranks, threads in (("ranks", 1, 1), ("ranks", 3, 1), ("funnelled", 2, 2), ("communicators", 2, 2)):
        got = program.result(*base, "-d", "cuda", "-w", way, "-t", threads, ranks=ranks)
        expect(got == host, f"on a device, {way}, {ranks} x {threads}: state {got['state']}, on the host {host['state']}")
    deep = ("-p", "blast3", "-n", 8, "-b", 4, "-s", 2, "-t", 1)
    states = [program.result(*deep, *more, ranks=2)["state"] for more in ((), ("-d", "cuda"))]
    expect(states[0] == states[1], f"three dimensions: state {states[1]}, on the host {states[0]}")
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for more in ((), ("-d", "cuda", "-m", 2, "-l", "wave")):
            paths = [os.path.join(folder, f"{name}{len(more)}") for name in ("picture.png", "film.png", "kept")]
            got = program.result(*base, "-e", 0.05, "-t", 1, "-o", paths[0], "-f", paths[1], "-k", paths[2], *more, ranks=2)
            files.append([open(path, "rb").read() for path in paths])
        expect(files[0] == files[1] and files[0][0].startswith(b"\x89PNG") and got["moved"][0] > 0,
               f"picture, film strip and checkpoint are those of the host, with {got['moved'][0]} patches moved")
    refused = program.start("-d", "cuda", "-w", "window")
    expect(refused.returncode == 2 and "take -w communicators" in refused.stderr, refused.stderr.splitlines()[0])


def check_wrong(program):
    for options, text in ((("-n", "48"), "whole patches"), (("-p", "dynamo"), "not a value"), (("-c", "0.6"), "not a value"),
                          (("-n",), "needs a value"), (("-z", "1"), "no option"), (("-r", "missing"), "cannot open"),
                          (("-w", "ranks", "-t", "2"), "one thread"),
                          (("-m", "0"), "not a value"), (("-m", "5", "-l", "even"), "not a value"),
                          (("-l", "wave"), "use with -m")):
        done = program.start(*options)
        expect(done.returncode in (1, 2) and text in done.stderr, f"{' '.join(options)}: {done.stderr.splitlines()[0]}")
    done = program.start("-n", 32, "-b", 32, ranks=2)
    expect(done.returncode == 2 and "too few" in done.stderr, done.stderr.splitlines()[0])


def check_compare(program):
    """compare.py runs every case on this library, and says where a library is not."""
    compare = [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "compare.py"), program.mhd]
    with tempfile.TemporaryDirectory() as prefix:
        os.symlink(os.path.dirname(program.launch[0]), os.path.join(prefix, "bin"))
        os.mkdir(os.path.join(prefix, "lib"))
        # compare.py makes sure that the program loads the library of the folder, so that one is no link.
        built = os.environ["LD_LIBRARY_PATH"].split(":", maxsplit=1)[0]
        shutil.copy(os.path.join(built, "libmpi_abi.so.1"), os.path.join(prefix, "lib"))
        os.symlink(os.path.join(built, "libweft.so"), os.path.join(prefix, "lib", "libweft.so"))
        short = ("--cores", "2", "--seconds", "1", "--rounds", "1", "--timeout", "200")
        done = subprocess.run([*compare, f"weft={prefix}", *short], capture_output=True, text=True, timeout=600)
        rows = [line for line in done.stdout.splitlines() if line.startswith("| Weft")]
        expect(done.returncode == 0 and len(rows) == 11 and "failed" not in done.stdout,
               f"{len(rows)} rows of tables{done.stderr}")
    for word, text in ((f"weft={prefix}", "there is no"), ("lam=/usr", "NAME=DIR")):
        done = subprocess.run([*compare, word], capture_output=True, text=True, timeout=60)
        expect(done.returncode == 2 and text in done.stderr, done.stderr.splitlines()[-1])


def main():
    checks = {name[6:]: one for name, one in globals().items() if name.startswith("check_")}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mpiexec", help="with its options")
    parser.add_argument("mhd")
    parser.add_argument("check", choices=checks)
    arguments = parser.parse_args()
    checks[arguments.check](Program(arguments.mpiexec, arguments.mhd))


main()
