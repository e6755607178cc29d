#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Programs of Debian that were built for MPICH, unmodified and without --abi: mpiexec has to lead them to Weft, though
Debian's own MPICH lies in their search path.

debian_mpich.py FOLDER --fetch             downloads the packages by apt-get and unpacks them there; installs nothing
debian_mpich.py FOLDER --build BUILD NAME  runs scalapack.s, .d, .c or .z (the testers of a type), blacs, pblas or netpipe

Ends with 0 when all pass, with 77 where the packages are not there.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PACKAGES = ["scalapack-mpi-test", "scalapack-test-common", "libscalapack-mpich2.2", "libmpich12", "libblas3", "liblapack3", "libgfortran5",
            "netpipe-mpich2", "libslurm38", "libhwloc15", "libucx0", "libfabric1"]
RANKS = 4
LONGEST = 400  # seconds, of a program
SKIPPED = 77
# The testers of eigenvalues by relatively robust representations take minutes; the others take seconds.
LATE = ("xssyevr", "xdsyevr", "xcheevr", "xzheevr")


def fetch(folder):
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["apt-get", "download", *PACKAGES], cwd=folder, check=True)
    for package in folder.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", package, folder / "root"], check=True)


def programs(root, name):
    """Files of the programs of a name, and the folder whose data they read."""
    tests = root / "usr/lib/x86_64-linux-gnu/scalapack/mpich-tests"
    data = root / "usr/share/scalapack"
    if name == "netpipe":
        return [root / "usr/bin/NPmpich2"], data
    if name == "blacs":
        return sorted(tests.glob("x[CF]btest")), data / "BLACS"
    if name == "pblas":
        return sorted(tests.glob("PBLAS/*tst")), data / "PBLAS"
    letter = name.removeprefix("scalapack.")
    return [path for path in sorted(tests.glob(f"x{letter}*")) if path.name not in LATE], data


def run(program, build, libraries, scratch):
    """Whether the program's own checks pass, with a line about it."""
    words = ["-l", "1", "-u", "65536", "-o", "np.out"] if program.name == "NPmpich2" else []
    ranks = 2 if words else RANKS
    environment = dict(os.environ, LD_LIBRARY_PATH=":".join(map(str, libraries)))
    try:
        done = subprocess.run([build / "bin/mpiexec", "--oversubscribe", "-n", str(ranks), program, *words], cwd=scratch, env=environment,
                              capture_output=True, text=True, errors="replace", timeout=LONGEST, check=False)
    except subprocess.TimeoutExpired:
        return False, f"{program.name}: no end in {LONGEST} s"
    said = done.stdout + "".join(path.read_text(errors="replace") for path in scratch.glob("*.SUMM"))
    # The sums of ScaLAPACK and BLACS, and PBLAS's lines of a subroutine: in all, passed, failed, skipped.
    lines = [list(map(int, line)) for line in re.findall(r"(?m)^ *\| +\w+ +(\d+) +(\d+) +(\d+) +(\d+) *$", said)]
    def sums(lower, upper):
        return [int(number) for number in re.findall(rf"(?<![.\d])(\d+) (?:tests completed and {lower}|{upper})", said)]

    counts = sums("passed", "PASSED") + [line[1] for line in lines]
    failures = sums("failed", "FAILED") + [line[2] for line in lines]
    aborts = program.name.endswith("btest")  # the last test of BLACS is blacs_abort
    if not counts:  # others have a word in the line of each test
        counts, failures = ([len(re.findall(rf"\b(?:{word.upper()}|{word})\b", done.stdout))] for word in ("Passed", "Failed"))
    # mpiexec says which library ranks are led to, and names those that started another one.
    led = "from " in done.stderr and "another MPI" not in done.stderr
    right = done.returncode == (255 if aborts else 0) and led and not any(failures) and bool(sum(counts) or words)
    text = f"{program.name}: status {done.returncode}, {sum(counts)} tests passed, {sum(failures)} failed"
    return right, text if right else f"{text}\n{said[-600:]}\n{done.stderr[-600:]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--fetch", action="store_true")
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    given = parser.parse_intermixed_args()
    if given.fetch:
        return fetch(given.folder.absolute())
    root = given.folder.absolute() / "root"
    if not root.is_dir():
        print(f"{root} is not there: tools/dev/debian_mpich.py {given.folder} --fetch")
        return SKIPPED
    libraries = [root / "usr/lib/x86_64-linux-gnu" / part for part in ("", "blas", "lapack")]
    passed = True
    for name in given.names:
        files, data = programs(root, name)
        passed = passed and bool(files)
        for program in files:
            with tempfile.TemporaryDirectory() as scratch:
                for path in data.rglob("*"):
                    if path.is_file() and not (pathlib.Path(scratch) / path.name).exists():
                        (pathlib.Path(scratch) / path.name).symlink_to(path)
                right, text = run(program, given.build.absolute(), libraries, pathlib.Path(scratch))
            print(text, flush=True)
            passed = passed and right
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
