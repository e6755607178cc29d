#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Programs of Debian that were built for MPICH, and some of ours that are linked with Debian's MPICH, without --abi: mpiexec has
to lead them to Weft, though Debian's own MPICH lies in their search path.

debian_mpich.py FOLDER --fetch             downloads the packages by apt-get and unpacks them there; installs nothing
debian_mpich.py FOLDER --build BUILD NAME  runs scalapack.s, .d, .c or .z (the testers of a type), blacs, pblas, netpipe,
                                           nwchem, hdf5, coarrays or yorick (debian_programs.py)

Ends with 0 when all pass but those that debian_programs.py expects to fail, with 77 where the packages are not there.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import debian_programs

LONGEST = 400  # seconds, of a program
SKIPPED = 77


def fetch(folder):
    folder.mkdir(parents=True, exist_ok=True)
    packages = {package for packages in debian_programs.PACKAGES.values() for package in packages}
    subprocess.run(["apt-get", "download", *debian_programs.COMMON, *sorted(packages)], cwd=folder, check=True)
    for package in folder.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", package, folder / "root"], check=True)


def run(program, build, libraries, scratch):
    """Whether the program's own checks have the outcome that they should have, with a line about it."""
    environment = dict(os.environ, LD_LIBRARY_PATH=":".join(map(str, libraries)), **program.environment)
    if program.compiler:
        subprocess.run(program.compiler, cwd=scratch, check=True)
    title = f"{program.file.name} ({program.ranks} ranks)"
    try:
        done = subprocess.run([build / "bin/mpiexec", "--oversubscribe", "-n", str(program.ranks), scratch / program.file, *program.words], cwd=scratch,
                              env=environment, capture_output=True, text=True, errors="replace", timeout=LONGEST, check=False)
    except subprocess.TimeoutExpired:
        return False, f"{title}: no end in {LONGEST} s"
    said = done.stdout + "".join(path.read_text(errors="replace") for kind in ("*.SUMM", "np.out") for path in scratch.glob(kind))
    passed, failed = program.judge(said, program.ranks)
    # mpiexec says which library ranks are led to, and names those that started another one.
    led = "from " in done.stderr and "another MPI" not in done.stderr
    all_pass = done.returncode == program.status and passed > 0 and failed == 0
    right = led and all_pass != bool(program.not_passed)
    text = f"{title}: status {done.returncode}, {passed} tests passed, {failed} failed"
    if program.not_passed:
        text += f", {'as' if right else 'NOT AS'} expected: it {program.not_passed}"
    return right, text if right else f"{text}\n{said[-600:]}\n{done.stderr[-600:]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--fetch", action="store_true")
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    given = parser.parse_intermixed_args()
    folder = given.folder.absolute()
    if given.fetch:
        return fetch(folder)
    root = folder / "root"
    packages = [*debian_programs.COMMON, *(package for name in given.names for package in debian_programs.PACKAGES[name.split(".")[0]])]
    missing = [package for package in packages if not any(folder.glob(f"{package}_*.deb"))]
    if missing:
        print(f"{folder} lacks {' '.join(missing)}: tools/dev/debian_mpich.py {given.folder} --fetch")
        return SKIPPED
    libraries = [root / "usr/lib/x86_64-linux-gnu" / part for part in ("", "blas", "lapack")]
    passed = True
    for name in given.names:
        programs = sorted(debian_programs.programs(name, root), key=lambda program: program.file)
        passed = passed and bool(programs)
        for program in programs:
            with tempfile.TemporaryDirectory() as scratch:
                for path in program.data.rglob("*") if program.data else []:
                    if path.is_file() and not (pathlib.Path(scratch) / path.name).exists():
                        (pathlib.Path(scratch) / path.name).symlink_to(path)
                right, text = run(program, given.build.absolute(), libraries, pathlib.Path(scratch))
            print(text, flush=True)
            passed = passed and right
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
