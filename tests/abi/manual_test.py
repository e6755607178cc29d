#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""The manual pages of functions: complete, right, well-formed, and not made when words are missing.

ABI: the folder of the generators; MAN: that of the built pages (man3, man7); GENERATED: of the generated files; CC: the
compiler; PREFIX: where the pages are installed, for Installed"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ABI, MAN, GENERATED = (pathlib.Path(os.environ[name]) for name in ("ABI", "MAN", "GENERATED"))
INCLUDE = ABI.parent / "include"
sys.dont_write_bytecode = True
sys.path.insert(0, str(ABI))
import shmem_table  # noqa: E402
import table  # noqa: E402

MPI = {f.name for f in table.implemented(table.functions())}
SHMEM = {f.name for f in shmem_table.functions()}
FILES = {path.stem: path.read_text() for path in (MAN / "man3").glob("*.3")}
LINKS = {name: text.removeprefix(".so man3/").strip().removesuffix(".3") for name, text in FILES.items()
         if text.startswith(".so")}
PAGES = {name: text for name, text in FILES.items() if name not in LINKS}


def run(*words, **more):
    return subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False, **more)


def plain(text):
    return re.sub(r"\\f[BIR]", "", text).replace("\\&", "").replace("\\-", "-")


def section(name, title):
    return re.search(rf"^\.SH {title}\n(.*?)(?=^\.SH |\Z)", PAGES[name], re.MULTILINE | re.DOTALL)


def prototypes(name):
    """The C prototypes of a page's synopsis, one line each."""
    text = section(name, "SYNOPSIS")[1].split(".SS Fortran")[0]
    blocks = re.findall(r"^\.nf\n(.*?)^\.fi", text, re.MULTILINE | re.DOTALL)
    return [" ".join(plain(b).split()) for b in blocks if "#include" not in b]


def name_of(prototype):
    return re.search(r"(\w+)\(", prototype)[1]


class Pages(unittest.TestCase):
    def test_every_function_has_a_page_or_a_link(self):
        self.assertGreater(len(MPI), 600)
        self.assertGreater(len(SHMEM), 1500)
        self.assertEqual((MPI | SHMEM) - set(FILES), set())

    def test_no_page_is_of_a_function_that_is_not_there(self):
        more = set(FILES) - MPI - SHMEM
        header = (INCLUDE / "shmem.h").read_text()
        # Generic names of OpenSHMEM are macros.
        self.assertEqual([n for n in sorted(more) if not re.search(rf"^#define {n}\(", header, re.MULTILINE)], [])

    def test_every_page_has_its_sections(self):
        for name in PAGES:
            for title in ("NAME", "SYNOPSIS", "DESCRIPTION", "THREADS", "ERRORS"):
                self.assertIsNotNone(section(name, title), f"{name}: {title}")
            self.assertGreater(len(section(name, "DESCRIPTION")[1].split()), 12, name)
            self.assertRegex(section(name, "NAME")[1], rf"^{name}(, {name}_c)? \\- [a-z0-9A-Z]")

    def test_every_parameter_of_a_prototype_is_described(self):
        for name in PAGES:
            named = set(re.findall(r"\\fI(\w+)\\f", section(name, "SYNOPSIS")[1]))
            text = section(name, "PARAMETERS")[1] if named else ""
            described = set(re.findall(r"^\\fI(\w+)\\fR \((?:in|out|in/out)\)$", text, re.MULTILINE))
            self.assertEqual(named - described, set(), name)

    def test_links_lead_to_pages(self):
        self.assertGreater(len(LINKS), 1500)
        self.assertEqual({n: to for n, to in LINKS.items() if to not in PAGES}, {})
        self.assertEqual(LINKS["MPI_Isend_c"], "MPI_Isend")
        self.assertEqual(LINKS["shmem_ctx_long_put"], "shmem_put")
        self.assertEqual(LINKS["shmem_int_fadd"], "shmem_atomic_fetch_add")

    def test_references_lead_to_pages(self):
        for name in PAGES:
            for other, number in re.findall(r"^\.BR (\S+) \((\d)\)", PAGES[name], re.MULTILINE):
                other = other.replace("\\-", "-")
                self.assertTrue((MAN / f"man{number}" / f"{other}.{number}").exists(), f"{name} refers to {other}({number})")

    def test_forms_of_an_operation_refer_to_each_other(self):
        for name, others in (("MPI_Bcast", ("MPI_Ibcast", "MPI_Bcast_init")), ("MPI_Isend", ("MPI_Send", "MPI_Wait")),
                             ("MPI_File_read_all", ("MPI_File_iread_all", "MPI_File_read_all_begin"))):
            for other in others:
                self.assertIn(f".BR {other} (3)", PAGES[name])

    def test_prototypes_are_those_of_mpi_h(self):
        lines = [p for name in PAGES if name.startswith("MPI_") for p in prototypes(name)]
        self.assertEqual({name_of(p) for p in lines} - MPI, set())
        self.compiles("mpi.h", lines)

    def test_prototypes_are_those_of_shmem_h(self):
        lines = []
        for name in (n for n in PAGES if not n.startswith("MPI_")):
            types = re.findall(r"TYPE(?: in (.*?))? is one of (\w+)(?: \(([^)]*)\))?", plain(PAGES[name]).replace("\n", " "))
            for p in prototypes(name):
                if "[" in p or "TYPE" in p and "_TYPE_" not in p:
                    continue  # a generic name
                for families, first, of_c in types:
                    if not families or name_of(p).replace("ctx_", "") in families.split(", "):
                        p = re.sub(r"\bTYPE\b", of_c or first, p.replace("_TYPE_", f"_{first}_"))
                lines.append(p.replace("SIZE(", "32(").replace("SIZE_", "32_"))
        self.assertGreater(len(lines), 150)
        self.compiles("shmem.h", lines)

    def compiles(self, header, lines):
        """A declaration that contradicts the header's is an error, and so is one of a function that it does not have."""
        text = f"#include <{header}>\n" + "\n".join(lines) + "\n"
        done = run(os.environ["CC"], "-std=c99", f"-I{INCLUDE}", "-fsyntax-only", "-xc", "-", input=text)
        self.assertEqual(done.stderr, "")
        declared = set(re.findall(r"[ *](\w+)\(", (INCLUDE / header).read_text()))
        self.assertEqual({name_of(line) for line in lines} - declared, set())

    def test_fortran_is_there(self):
        text = plain(PAGES["MPI_Isend"])
        self.assertIn("call MPI_Isend(buf, count, datatype, dest, tag, comm, request, ierror)", text)
        self.assertRegex(text, r"type\(MPI_Comm\), intent\(in\) :: comm")
        for file, heading in (("mpi.f90", "Fortran 90"), ("mpi_f08.f90", "Fortran 2008")):
            module = (GENERATED / "fortran" / file).read_text()
            names = set(re.findall(r"^ *end (?:subroutine|function) (MPI_\w+?)(?:_f08|_f08ts|_fts)?$", module, re.MULTILINE))
            self.assertGreater(len(names & set(PAGES)), 300)
            self.assertEqual({n for n in names & set(PAGES) if f".SS {heading}" not in PAGES[n]}, set())

    def test_pages_are_well_formed(self):
        paths = [MAN / "man3" / f"{name}.3" for name in PAGES]
        if shutil.which("mandoc"):
            found = run("mandoc", "-Tlint", "-W", "warning", *paths).stdout.splitlines()
            # Pages carry no date, so that builds can be repeated.
            self.assertEqual([line for line in found if "missing date" not in line][:10], [])
        elif shutil.which("groff"):
            self.assertEqual(run("groff", "-man", "-ww", "-z", *paths).stderr[:2000], "")
        else:
            self.skipTest("neither mandoc nor groff is installed")


def words_of(file, pattern):
    return re.search(pattern, (ABI / "manual" / file).read_text(), re.MULTILINE | re.DOTALL)[0]


# A change of the words: file, text, its replacement; and what the generator says to it.
FAULTS = [
    ("point_to_point.txt", words_of("point_to_point.txt", "^MPI_Issend: .*?(?=^MPI)"), "", "MPI_Issend has no words"),
    ("point_to_point.txt", "MPI_Isend:", "MPI_Isent:", "MPI_Isent is not a function of the table"),
    ("point_to_point.txt", "errors: TRUNCATE", "errors: TRUNCATED", "the error class TRUNCATED has no row"),
    ("point_to_point.txt", "see: MPI_Wait ", "see: MPI_Weit ", "MPI_Weit is no function"),
    ("environment.txt", words_of("environment.txt", "    Differences of two.*?\n"), "", "MPI_Wtime has no text of its own"),
    ("environment.txt", "call: start-up", "call: start-down", "start-down is no phrase"),
    ("parameters.txt", words_of("parameters.txt", "^root: .*?\n"), "", "its parameter root has no words"),
    ("parameters.txt", "\nsession: ", "\nrooot: words\nsession: ", "no page uses the row rooot"),
    ("one_sided.txt", "param win (in/out): the window;", "param windows: the window;", "MPI_Win_free has no parameter windows"),
    ("collective.txt", "WEFT_BCAST_ALGORITHM", "WEFT_BCAST_ALGORITHMS", "WEFT_BCAST_ALGORITHMS is no setting"),
    ("collective.txt", "MPI_Ibcast: start to copy", "MPI_Ibcast: copy", "has the same line as MPI_"),
    ("shmem.txt", "covers: TYPE_put ", "covers: ", "the family TYPE_put of abi/shmem_table.py has no words"),
    ("shmem.txt", "covers: TYPE_g\n", "covers: TYPE_g TYPE_p\n", "TYPE_p is on the page of shmem_p already"),
]


class Generator(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        shutil.copytree(ABI / "manual", self.folder / "words")

    def make(self):
        return run(sys.executable, ABI / "manual.py", "--out", self.folder, "--generated", GENERATED, "--settings",
                   MAN / "man7" / "weft-settings.7", "--words", self.folder / "words")

    def test_complete_words_give_the_built_pages_and_no_stale_ones(self):
        (self.folder / "man3").mkdir()
        (self.folder / "man3" / "MPI_Gone.3").write_text("")
        self.assertEqual(self.make().stderr, "")
        self.assertEqual({p.stem: p.read_text() for p in (self.folder / "man3").glob("*.3")}, FILES)

    def test_words_that_are_not_complete_or_not_right_are_refused(self):
        for file, old, new, _ in FAULTS:
            path = self.folder / "words" / file
            self.assertIn(old, path.read_text())
            path.write_text(path.read_text().replace(old, new, 1))
        done = self.make()
        self.assertEqual(done.returncode, 1)
        self.assertFalse((self.folder / "man3").exists())
        for *_, message in FAULTS:
            self.assertIn(message, done.stderr)


@unittest.skipUnless("PREFIX" in os.environ, "for an installation")
class Installed(unittest.TestCase):
    PREFIX = pathlib.Path(os.environ.get("PREFIX", "."))

    def test_every_page_is_installed(self):
        self.assertEqual({p.stem for p in self.PREFIX.glob("share/man/man3/*.3")}, set(FILES))

    @unittest.skipUnless(shutil.which("man"), "man is not installed")
    def test_man_finds_and_shows_pages(self):
        for name, shown in (("MPI_Isend", "int MPI_Isend("), ("MPI_Isend_c", "int MPI_Isend_c("),
                            ("shmem_long_p", "shmem_TYPE_p(")):
            done = run("man", "-M", self.PREFIX / "share" / "man", "3", name, env={**os.environ, "MANWIDTH": "120"})
            self.assertIn(shown, re.sub(".\b", "", done.stdout), done.stderr)


if __name__ == "__main__":
    unittest.main()
