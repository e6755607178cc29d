#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""The compiler wrappers of an installed prefix, as users of MPICH and Open MPI know them."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

LINK = "--link" in sys.argv
PREFIX = pathlib.Path(sys.argv[1])
HELLO = pathlib.Path(__file__).resolve().parent / "consumer" / "hello.c"


def run(command, *args, **environment):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("WEFT_", "MPICH_", "OMPI_", "LD_LIBRARY"))}
    result = subprocess.run([command, *args], env={**env, **environment}, capture_output=True, text=True, timeout=60)
    return result.returncode, result.stdout.strip(), result.stderr


class WrapperTest(unittest.TestCase):
    def ask(self, *args, tool="mpicc", **environment):
        code, out, err = run(PREFIX / "bin" / tool, *args, **environment)
        self.assertEqual(code, 0, err)
        return out

    def test_show_prints_the_whole_command(self):
        for option in ("-show", "--show", "-showme", "--showme"):
            words = self.ask(option, "a.c", "-o", "a").split()
            self.assertIn(f"-I{PREFIX}/include", words)
            self.assertIn(f"-L{PREFIX}/lib", words)
            self.assertIn(f"-Wl,-rpath,{PREFIX}/lib", words)
            self.assertEqual(words[-1], "-lmpi_abi")
            self.assertIn("a.c", words)

    def test_compiling_alone_has_no_arguments_for_the_linker(self):
        for option in ("-c", "-S", "-E", "-M", "-MM"):
            shown = self.ask("-show", option, "a.c")
            self.assertNotIn("-l", shown.split("a.c")[1])
            self.assertNotIn("-Wl", shown)
            self.assertNotIn("-L", shown)

    def test_pieces_as_open_mpi_names_them(self):
        self.assertEqual(self.ask("-showme:compile"), f"-I{PREFIX}/include")
        self.assertIn("-lmpi_abi", self.ask("-showme:link"))
        self.assertNotIn("-I", self.ask("-showme:link"))
        self.assertEqual(self.ask("-showme:incdirs"), f"{PREFIX}/include")
        self.assertEqual(self.ask("-showme:libdirs"), f"{PREFIX}/lib")
        self.assertEqual(self.ask("-showme:libs"), "mpi_abi")
        self.assertIn("Weft", self.ask("-showme:version"))
        # Meson's dependency('mpi', version: ...) compares the first number of this form.
        for tool in ("mpicc", "mpicxx"):
            self.assertEqual(re.search(r"\d+.\d+.\d+", self.ask("--showme:version", tool=tool))[0], "5.0.0")
        self.assertEqual(len(self.ask("-showme:command").split()), 1)

    def test_wrappers_of_openshmem(self):
        for tool in ("oshcc", "oshcxx", "oshc++"):
            words = self.ask("-show", "a.c", tool=tool).split()
            self.assertIn(f"-I{PREFIX}/include", words)
            self.assertEqual(words[-1], "-lshmem")
        self.assertEqual(self.ask("-showme:libs", tool="oshcc"), "shmem")

    @unittest.skipUnless(LINK, "the library lacks functions that the program needs")
    def test_openshmem_programs_run_where_the_prefix_is(self):
        source = HELLO.parents[2] / "shmem" / "first.c"
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "first"
            self.ask(source, "-o", program, tool="oshcc")
            self.ask("-n", "2", "--oversubscribe", program, tool="oshrun", SHMEM_SYMMETRIC_SIZE="1M")

    def test_pieces_as_mpich_names_them(self):
        for option in ("-compile-info", "-compile_info", "-show-compile-info"):
            self.assertEqual(self.ask(option).split()[1:], [f"-I{PREFIX}/include"])
        for option in ("-link-info", "-link_info", "-show-link-info"):
            self.assertIn("-lmpi_abi", self.ask(option).split())

    def test_the_compiler_can_be_chosen(self):
        self.assertEqual(self.ask("-cc=other", "-show").split()[0], "other")
        self.assertEqual(self.ask("-cxx=other", "-show", tool="mpicxx").split()[0], "other")
        for name in ("WEFT_CC", "MPICH_CC", "OMPI_CC"):
            self.assertEqual(self.ask("-show", **{name: "cached gcc -m64"}).split()[:3], ["cached", "gcc", "-m64"])
        self.assertNotEqual(self.ask("-show", tool="mpicxx", MPICH_CC="other").split()[0], "other")

    def test_fortran_is_shown(self):
        if not (PREFIX / "bin" / "mpifort").exists():
            self.skipTest("built without Fortran")
        for tool in ("mpifort", "mpif90", "mpif77"):
            words = self.ask("-show", "a.f90", tool=tool).split()
            self.assertIn(f"-I{PREFIX}/include", words)
            self.assertEqual(words[-2:], ["-lweft_mpifort", "-lmpi_abi"])
        self.assertNotIn("-l", self.ask("-show", "-c", "a.f90", tool="mpifort").split("a.f90")[1])
        self.assertEqual(self.ask("-showme:libs", tool="mpifort"), "weft_mpifort mpi_abi")
        self.assertEqual(self.ask("-fc=other", "-show", tool="mpifort").split()[0], "other")

    def test_modules_are_built_for_another_compiler(self):
        gfortran = shutil.which("gfortran")
        if not (PREFIX / "bin" / "mpifort").exists() or gfortran is None:
            self.skipTest("no gfortran")
        with tempfile.TemporaryDirectory() as folder:
            second, modules = f"{folder}/second-gfortran", f"{folder}/modules"
            os.symlink(gfortran, second)
            source = pathlib.Path(folder) / "a.f90"
            source.write_text("use mpi_f08\nuse mpi, only: MPI_STATUS_SIZE\ntype(MPI_Comm) :: comm\ncomm = MPI_COMM_SELF\nend\n")
            self.assertIn(f"-I{PREFIX}/include", self.ask("-show", "a.f90", tool="mpifort", WEFT_FC=second, WEFT_MODULES=modules))
            self.ask("-modules", tool="mpifort", WEFT_FC=second, WEFT_MODULES=modules)
            self.assertEqual(sorted(os.listdir(f"{modules}/second-gfortran")), ["mpi.mod", "mpi_f08.mod", "mpif.h", "weft_mpi_types.mod"])
            words = self.ask("-show", "a.f90", tool="mpifort", WEFT_FC=second, WEFT_MODULES=modules).split()
            self.assertIn(f"-I{modules}/second-gfortran", words)
            self.assertNotIn(f"-I{PREFIX}/include", words)
            self.ask("-c", source, "-o", f"{folder}/a.o", tool="mpifort", WEFT_FC=second, WEFT_MODULES=modules)
            code, _, err = run(PREFIX / "bin" / "mpifort", "-modules", WEFT_MODULES="/dev/null/modules", WEFT_FC=second)
            self.assertNotEqual(code, 0)
            self.assertIn("WEFT_MODULES names another one", err)

    @unittest.skipUnless(shutil.which("pkg-config"), "there is no pkg-config")
    def test_names_of_pkg_config_that_other_mpis_have(self):
        names = {"mpi": "mpi_abi", "mpi-c": "mpi_abi", "mpi-cxx": "mpi_abi", "weft": "mpi_abi"}
        if (PREFIX / "bin/mpifort").exists():
            names |= {"mpi-fort": "weft_mpifort", "weft-fortran": "weft_mpifort"}
        for name, library in names.items():
            code, out, err = run("pkg-config", "--cflags", "--libs", name, PKG_CONFIG_PATH=str(PREFIX / "lib/pkgconfig"))
            self.assertEqual(code, 0, err)
            self.assertIn(f"-l{library}", out.split())
            paths = [pathlib.Path(word[2:]).resolve() for word in out.split() if word.startswith(("-I", "-L"))]
            self.assertEqual(paths, [(PREFIX / "include").resolve(), (PREFIX / "lib").resolve()])

    @unittest.skipUnless(shutil.which("tclsh"), "there is no tclsh")
    def test_the_module_file_names_this_prefix(self):
        # The commands of Environment Modules, as far as the file has them.
        words = """foreach word {module-whatis conflict setenv prepend-path} { proc $word args "puts [list $word] ; puts \\$args" }
                   source [lindex $argv 0]"""
        file, = (PREFIX / "share/weft/modulefiles/weft").iterdir()
        with tempfile.NamedTemporaryFile("w", suffix=".tcl") as script:
            script.write(words)
            script.flush()
            code, out, err = run("tclsh", script.name, str(file))
        self.assertEqual(code, 0, err)
        for line in (f"PATH {PREFIX}/bin", f"PKG_CONFIG_PATH {PREFIX}/lib/pkgconfig", f"LD_LIBRARY_PATH {PREFIX}/lib/mpich-abi"):
            self.assertIn(line, out.splitlines())

    def test_an_unknown_question_is_an_error(self):
        code, _, err = run(PREFIX / "bin" / "mpicc", "-showme:nonsense")
        self.assertNotEqual(code, 0)
        self.assertIn("nonsense", err)

    def test_questions_to_the_compiler_are_passed_on(self):
        self.assertTrue(self.ask("--version"))
        self.assertTrue(self.ask("-dumpmachine", tool="mpicxx"))

    def test_arguments_keep_their_spaces_and_quotes(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "a b.c"
            source.write_text('const char *s = TEXT;\n')
            self.assertIn('"x y"', self.ask("-E", "-P", '-DTEXT="x y"', str(source)))
        self.assertIn("'a b.c'", self.ask("-show", "a b.c"))

    def test_a_link_to_the_wrapper_finds_the_library(self):
        with tempfile.TemporaryDirectory() as folder:
            link = pathlib.Path(folder) / "mpicc"
            link.symlink_to(PREFIX / "bin" / "mpicc")
            self.assertEqual(run(link, "-showme:libdirs")[1], f"{PREFIX}/lib")

    def test_other_names_of_mpicxx(self):
        for name in ("mpic++", "mpiCC"):
            self.assertEqual(self.ask("-show", tool=name), self.ask("-show", tool="mpicxx"))

    def test_compiles(self):
        with tempfile.TemporaryDirectory() as folder:
            self.ask("-Wall", "-Werror", "-c", str(HELLO), "-o", f"{folder}/hello.o")
            self.ask("-Wall", "-Werror", "-c", str(HELLO.with_suffix(".cpp")), "-o", f"{folder}/hello2.o", tool="mpicxx")

    @unittest.skipUnless(LINK, "the library has not all functions of the program yet")
    def test_links_and_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            for tool, source in (("mpicc", HELLO), ("mpicxx", HELLO.with_suffix(".cpp"))):
                self.ask(str(source), "-o", f"{folder}/hello", tool=tool)
                code, out, err = run(f"{folder}/hello")
                self.assertEqual(code, 0, err)
                self.assertRegex(out, "Weft.* rank 0")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
