#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the manual pages of the functions of MPI and OpenSHMEM (docs/design/abi.md).

  manual.py --out DIR --generated DIR --settings FILE

writes DIR/man3, a page for each function or family, and links for other names of it; pages of earlier runs that are none
any more are removed. --generated is the folder of generate.py, whose modules of Fortran have the interfaces; --settings the
page that `weft info --man` writes. Fails when a function, a parameter or a phrase has no words."""
import argparse
import pathlib
import sys

sys.dont_write_bytecode = True  # a source tree may be read-only

import manual_mpi  # noqa: E402
import manual_shmem  # noqa: E402
import manual_words  # noqa: E402
import table  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
MODULES = {"Fortran 2008 (use mpi_f08)": "mpi_f08.f90", "Fortran 90 (use mpi, mpif.h)": "mpi.f90"}
NO_CHAPTERS = ("parameters.txt", "shmem_parameters.txt", "phrases.txt")


def all_words(folder, problems):
    words = {}
    for path in sorted(folder.glob("*.txt")):
        for entry in manual_words.chapter(path, problems) if path.name not in NO_CHAPTERS else ():
            if entry.name in words:
                problems.add(entry.where, f"{entry.name} has words at {words[entry.name].where} already")
            words[entry.name] = entry
    return words


def pages(folder, generated, settings_page, problems):
    """name: text of every page and link."""
    words = all_words(folder, problems)
    phrases = manual_words.phrases(folder / "phrases.txt", problems)
    settings = manual_words.settings(settings_page)
    fortran = {heading: manual_mpi.fortran_bodies((generated / "fortran" / name).read_text())
               for heading, name in MODULES.items()}
    functions = table.functions()
    mpi = manual_mpi.Pages(functions, table.implemented(functions), table.constants()["constants"], fortran,
                           {n: w for n, w in words.items() if n.startswith("MPI_")},
                           manual_words.rows(folder / "parameters.txt", problems), phrases, settings, problems)
    shmem = manual_shmem.Pages({n: w for n, w in words.items() if not n.startswith("MPI_")},
                               manual_words.rows(folder / "shmem_parameters.txt", problems), phrases, settings, problems)
    result = {}
    for part in (mpi, shmem):
        result.update(part.all())
        part.check()
    return result


def write(out, result):
    out.mkdir(parents=True, exist_ok=True)
    for path in out.glob("*.3"):
        if path.stem not in result:
            path.unlink()
    for name, text in result.items():
        path = out / f"{name}.3"
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--generated", type=pathlib.Path, required=True)
    parser.add_argument("--settings", type=pathlib.Path, required=True)
    parser.add_argument("--words", type=pathlib.Path, default=HERE / "manual", help="another folder of words, for tests")
    args = parser.parse_args()
    problems = manual_words.Problems()
    result = pages(args.words, args.generated, args.settings, problems)
    if problems.found:
        print("\n".join(sorted(set(problems.found))), file=sys.stderr)
        return 1
    write(args.out / "man3", result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
