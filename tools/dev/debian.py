#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Programs of Debian 12 that were built for MPICH or Open MPI, and some of ours that are linked with Debian's MPICH or Open MPI.
mpiexec has to lead them to Weft, though Debian's own MPI lies in their search path.

debian.py FOLDER --fetch [NAME...]             downloads packages with those that they need by apt-get, and unpacks them there;
                                               installs nothing
debian.py FOLDER --build BUILD NAME...         runs programs
debian.py FOLDER --build BUILD --peer 3 NAME...  runs them under Debian's own MPI too, alternately three times, and compares times

A name is an MPI and a name of debian_programs.py, such as mpich.scalapack.s and openmpi.hpcc; --names prints them.

Ends with 0 when all pass but those that are expected to fail, with 77 where the packages are not there, or libraries of Weft
that all programs of the names need.
"""
import argparse
import math
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import debian_programs

LONGEST = 400  # seconds, of a program
SKIPPED = 77


def fetch(folder, names):
    """Downloads and unpacks packages of names, with those that apt-get would install along with them."""
    folder.mkdir(parents=True, exist_ok=True)
    packages = set()
    for name in names:
        wanted = debian_programs.packages(name)
        command = ["apt-get", "install", "--simulate", "--no-install-recommends", *wanted]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        packages |= {*wanted, *re.findall(r"(?m)^Inst ([^ :]+)", done.stdout)}
    subprocess.run(["apt-get", "download", *sorted(packages)], cwd=folder, check=True)
    unpacked = folder / "unpacked"
    unpacked.mkdir(exist_ok=True)
    for package in folder.glob("*.deb"):
        if not (unpacked / package.name).exists():
            subprocess.run(["dpkg-deb", "-x", package, folder / "root"], check=True)
            (unpacked / package.name).touch()
    return 0


def lacking(program, mpi, build, environment):
    """The libraries of the other MPI that a program needs and this build of Weft does not have."""
    needed = set(program.needs)
    for file in (program.file, *program.modules):
        if file.is_absolute():
            said = subprocess.run(["ldd", file], capture_output=True, text=True, env=environment, check=False).stdout
            needed |= set(re.findall(r"(?m)^\s*(libmpi\w*\.so\.\d+) ", said))
    return sorted(name for name in needed if not (build / f"src/{mpi}-abi" / name).exists())


def stage(program, environment, scratch):
    """Gives the program the files that it reads or is made of, where it runs."""
    for path in program.data.rglob("*") if program.data else []:
        if path.is_file() and not (scratch / path.name).exists():
            (scratch / path.name).symlink_to(path)
    for name, text in program.inputs.items():
        (scratch / name).write_text(text)
    for command in program.prepare:
        done = subprocess.run(command, cwd=scratch, env=environment, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stdout[-600:]}\n{done.stderr[-600:]}")


def launch(launcher, program, environment, led):
    """Whether the program's own checks have the outcome that they should have, a line about it, and the seconds."""
    title = f"{program.title or program.file.name} ({program.ranks} ranks)"
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        stage(program, environment, scratch)
        begin = time.monotonic()
        try:
            done = subprocess.run([*launcher, scratch / program.file, *program.words], cwd=scratch, env=environment, input=program.given,
                                  capture_output=True, text=True, errors="replace", timeout=LONGEST, check=False)
        except subprocess.TimeoutExpired:
            return False, f"{title}: no end in {LONGEST} s", LONGEST
        seconds = time.monotonic() - begin
        said = done.stdout + "".join(path.read_text(errors="replace") for kind in program.results for path in sorted(scratch.glob(kind)))
    passed, failed = program.judge(said, program.ranks)
    all_pass = done.returncode == program.status and passed > 0 and failed == 0
    right = led(done.stderr) and all_pass != bool(program.not_passed)
    text = f"{title}: status {done.returncode}, {passed} tests passed, {failed} failed"
    if program.not_passed:
        text += f", {'as' if right else 'NOT AS'} expected: it {program.not_passed}"
    return right, text if right else f"{text}\n{said[-600:]}\n{done.stderr[-600:]}", seconds


def led_to_weft(program):
    """mpiexec says which library ranks are led to unless it is told, and names those that started another one."""
    return lambda said: ("from " in said or bool(program.options)) and "another MPI" not in said


def compare(program, sides, times):
    """Runs a program on both sides alternately: whether Weft's runs are right, and the medians of the seconds."""
    seconds = {side: [] for side in sides}
    right = True
    for _ in range(times):
        for side, (launcher, environment, led) in sides.items():
            passes, text, took = launch(launcher, program, environment, led)
            seconds[side].append(took)
            right = right and (passes or side != "Weft")
            if len(seconds[side]) == 1 or not passes:
                print(f"{side}: {text}", flush=True)
    medians = {side: statistics.median(some) for side, some in seconds.items()}
    times = [f"{side} {medians[side]:.2f} s ({' '.join(f'{one:.2f}' for one in some)})" for side, some in seconds.items()]
    print("  " + ", ".join(times), flush=True)
    return right, medians


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, nargs="?")
    parser.add_argument("--fetch", action="store_true")
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--peer", type=int, metavar="TIMES")
    parser.add_argument("--names", action="store_true")
    parser.add_argument("--ranks", type=int, help="only programs with so many")
    parser.add_argument("names_of", metavar="NAME", nargs="*")
    given = parser.parse_intermixed_args()
    if given.names:
        print("\n".join(debian_programs.names()))
        return 0
    folder = given.folder.absolute()
    if given.fetch:
        return fetch(folder, given.names_of or debian_programs.names())
    wanted = {package for name in given.names_of for package in debian_programs.packages(name)}
    missing = sorted(package for package in wanted if not any(folder.glob(f"{package}_*.deb")))
    if missing:
        print(f"{folder} lacks {' '.join(missing)}: tools/dev/debian.py {given.folder} --fetch")
        return SKIPPED
    build, root = given.build.absolute(), folder / "root"
    passed, ran, ratios = True, 0, []
    for full_name in given.names_of:
        mpi, name = full_name.split(".", 1)
        programs = sorted(debian_programs.programs(mpi, name, root), key=lambda program: (program.file, program.title))
        passed = passed and bool(programs)
        for program in programs:
            if given.ranks not in (None, program.ranks):
                continue
            environment = dict(os.environ, **debian_programs.environment(program, root))
            lacks = lacking(program, mpi, build, environment)
            without = [tool for tool in program.tools if not shutil.which(tool)]
            if lacks or without:
                title = program.title or program.file.name
                print(f"{title} ({program.ranks} ranks): not run, there is no {' '.join(lacks + without)}", flush=True)
                continue
            ran += 1
            command = [build / "bin/mpiexec", "--oversubscribe", *program.options, "-n", str(program.ranks)]
            weft = (command, environment, led_to_weft(program))
            if given.peer:
                command, more = debian_programs.peer(mpi, root, program.ranks)
                right, medians = compare(program, {"Weft": weft, mpi: (command, environment | more, lambda _: True)}, given.peer)
                ratios.append(medians["Weft"] / medians[mpi])
            else:
                right, text, _ = launch(weft[0], program, environment, weft[2])
                print(text, flush=True)
            passed = passed and right
    if ratios:
        mean = math.exp(statistics.mean(map(math.log, ratios)))
        print(f"geometric mean of the ratios of times, Weft's to the other's: {mean:.2f} ({len(ratios)} programs)")
    return (0 if passed else 1) if ran else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
