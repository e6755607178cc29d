#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""mpiexec leads ranks to Weft's libraries. Programs are compiled here, with libraries of another MPI that are made up.
LAUNCH_BIN is the folder of mpiexec."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import timing

MPIEXEC = os.path.join(os.environ["LAUNCH_BIN"], "mpiexec")
STANDARD, MPICH, DEBIAN, OPEN_MPI = "libmpi_abi.so.1", "libmpi.so.12", "libmpich.so.12", "libmpi.so.40"
UNKNOWN = "libmpi.so.20"  # of Open MPI 2, whose ABI Weft does not have
SAYS = """#include <stdio.h>
int MPI_Get_library_version(char* version, int* length);
int main(void) {
  char version[8192] = "";
  int length = 0;
  MPI_Get_library_version(version, &length);
  return printf("%.4s\\n", version) < 0;
}
"""
OTHER = """int MPI_Get_library_version(char* version, int* length) { return *length = 5, __builtin_strcpy(version, "other"), 0; }
int MPI_Init(void *a, void *b) { return a == b ? 0 : 1; }
int MPI_Comm_size(void *world, int *size) { return *size = 1, 0; }
int MPI_Finalize(void) { return 0; }
"""
# Compiled with the type and the value of MPI_COMM_WORLD.
SIZE = """#include <stdio.h>
int MPI_Init(void *a, void *b);
int MPI_Comm_size(COMM world, int *size);
int MPI_Finalize(void);
int main(void) {
  int size = 0;
  return MPI_Init(NULL, NULL) || MPI_Comm_size((COMM)WORLD, &size) || printf("%d\\n", size) < 0 || MPI_Finalize();
}
"""
WORLDS = {STANDARD: ["-DCOMM=void*", "-DWORLD=0x101"], MPICH: ["-DCOMM=int", "-DWORLD=0x44000000"],
          DEBIAN: ["-DCOMM=int", "-DWORLD=0x44000000"]}
PASSES_ON = "int MPI_Get_library_version(char* version, int* length); int pass(char* v, int* l) { return MPI_Get_library_version(v, l); }"


def environment(**variables):
    """Ours without the variables that lead to libraries; None takes one away."""
    plain = {k: v for k, v in os.environ.items() if not k.startswith(("LD_", "MPI4PY_", "PYTHON", "VIRTUAL_ENV"))}
    return {k: v for k, v in {**plain, **variables}.items() if v is not None}


def run(*words, **variables):
    return subprocess.run([MPIEXEC, "--oversubscribe", *map(str, words)], capture_output=True, text=True, timeout=timing.HANGS,
                          stdin=subprocess.DEVNULL, check=False, env=environment(**variables))


class Case(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="test-lead-")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name).resolve()
        self.others = self.folder / "others"
        self.others.mkdir()
        for name in (STANDARD, MPICH, DEBIAN, OPEN_MPI, UNKNOWN):
            self.build(self.others / name, OTHER, "-shared", "-fPIC", f"-Wl,-soname,{name}")

    def build(self, path, source, *options):
        subprocess.run(["cc", "-x", "c", "-", "-o", path, *options], input=source, text=True, check=True)
        return path

    def program(self, name, library, *options, source=SAYS):
        """Needs the library; without options it has no search path."""
        return self.build(self.folder / name, source, f"-L{self.others}", f"-l:{library}", *options)

    def rpath(self, *folders, old=False):
        return ["-Wl,--disable-new-dtags" if old else "-Wl,--enable-new-dtags", *(f"-Wl,-rpath,{folder}" for folder in folders)]

    def check_led(self, *words, ranks=2, **variables):
        done = run("-n", ranks, *words, **variables)
        self.assertEqual((done.returncode, done.stdout.splitlines()), (0, ["Weft"] * ranks), done.stderr)
        return done.stderr


class Starters(Case):
    """The program is behind another one. It has no search path of its own, or that of another MPI."""

    def programs(self, old=True):
        """Without `old` none that has a DT_RPATH: mpiexec does not look for programs in the text of a shell's script. A job that
        starts another MPI there is named when it runs (other_mpi_test.py)."""
        for library in (STANDARD, DEBIAN):
            for path in ([], self.rpath(self.others), self.rpath(self.others, old=True))[: 3 if old else 2]:
                yield self.program("program", library, *path)

    def check(self, starter, *options, inside=False):
        if shutil.which(starter) is None:
            self.skipTest(f"there is no {starter}")
        for program in self.programs():
            done = run("-n", 1, starter, *options, program)
            text = done.stdout + (done.stderr if inside else "")
            self.assertIn("Weft\n", text, done.stderr)
            self.assertNotIn("other", text)

    def test_env(self):
        self.check("env", "-u", "B", "A=1")

    def test_nice(self):
        self.check("nice", "-n", "1")

    def test_timeout(self):
        self.check("timeout", "-k", "9", "90")

    def test_taskset(self):
        self.check("taskset", "-c", str(min(os.sched_getaffinity(0))))

    def test_numactl(self):
        self.check("numactl", "--localalloc")

    def test_gdb(self):
        self.check("gdb", "-nx", "-batch", "-ex", "run", "--args")

    def test_valgrind(self):
        self.check("valgrind", "-q")

    def test_strace(self):
        self.check("strace", "-o", self.folder / "trace")

    def test_perf(self):
        if subprocess.run(["perf", "stat", "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("perf may not count here")
        self.check("perf", "stat", "-o", self.folder / "counts")

    def test_several(self):
        self.check("env", "A=1", "nice", "timeout", "90")

    def test_the_words_of_a_shell(self):
        for program in self.programs(old=False):
            for shell in ("sh", "bash"):
                self.check_led(shell, "-c", f"{program}; exit $?")

    def test_a_script(self):
        for program in self.programs(old=False):
            for number, line in enumerate(("#!/bin/sh", "#!/usr/bin/env bash", "")):
                script = self.folder / f"script{number}"
                script.write_text(f"{line}\n{program}\n", encoding="utf-8")
                script.chmod(0o755)
                self.check_led(script)

    def test_a_script_whose_first_line_names_the_program(self):
        program = self.program("program", MPICH, *self.rpath(self.others, old=True))
        script = self.folder / "script"
        script.write_text(f"#!{program}\n", encoding="utf-8")
        script.chmod(0o755)
        self.check_led(script)


class Paths(Case):
    def test_a_program_without_a_search_path(self):
        for library in (STANDARD, MPICH, DEBIAN):
            self.check_led(self.program("program", library))

    def test_runpath_joins(self):
        for library in (STANDARD, MPICH, DEBIAN):
            self.check_led(self.program("program", library, *self.rpath(self.others)))

    def test_ranks_are_of_one_job(self):
        for library, world in WORLDS.items():
            for path in ([], self.rpath(self.others), self.rpath(self.others, old=True)):
                program = self.program("program", library, *world, *path, source=SIZE)
                done = run("-n", 2, program)
                self.assertEqual((done.returncode, done.stdout.splitlines()), (0, ["2", "2"]), done.stderr)

    def test_the_folder_of_another_mpi_in_the_environment(self):
        self.check_led(self.program("program", STANDARD), LD_LIBRARY_PATH=str(self.others))

    def test_rpath_is_led_by_preloading(self):
        for library in (STANDARD, MPICH, DEBIAN):
            program = self.program("program", library, *self.rpath(self.others, old=True))
            for words in ([program], ["env", "A=1", program]):
                said = self.check_led(*words)
                self.assertEqual(said.count("DT_RPATH"), 1, said)
                self.assertEqual(self.check_led("-q", *words), "")

    def test_rpath_that_cannot_be_led_is_named_with_the_remedy(self):
        program = self.program("program", MPICH, *self.rpath(self.others, old=True))
        program.chmod(0o4755)
        done = run("-n", 2, program)
        self.assertEqual(done.returncode, 0)
        for text in (f"{self.others}/{MPICH}", "DT_RPATH", "patchelf --remove-rpath"):
            self.assertIn(text, done.stderr)

    def test_a_library_two_levels_down(self):
        low, high = self.folder / "liblow.so", self.folder / "libhigh.so"
        for old in (False, True):
            self.build(low, PASSES_ON, "-shared", "-fPIC", f"-L{self.others}", f"-l:{DEBIAN}", *self.rpath(self.others, old=old))
            self.build(high, "int pass(char*, int*); int higher(char* v, int* l) { return pass(v, l); }", "-shared", "-fPIC",
                       f"-L{self.folder}", "-llow", *self.rpath("$ORIGIN"))
            program = self.build(self.folder / "program", SAYS.replace("MPI_Get_library_version", "higher"), f"-L{self.folder}",
                                 "-lhigh", f"-Wl,-rpath-link,{self.folder}:{self.others}", *self.rpath("$ORIGIN"))
            self.assertIn(DEBIAN, self.check_led(program))

    def test_open_mpis_programs(self):
        for old in (False, True):
            program = self.program("program", OPEN_MPI, *self.rpath(self.others, old=old))
            self.assertIn(OPEN_MPI, self.check_led(program))
        self.check_led("sh", "-c", self.program("shown", OPEN_MPI))

    def test_programs_of_an_abi_that_weft_does_not_have_stay_with_their_library(self):
        program = self.program("program", UNKNOWN, *self.rpath(self.others))
        for words in ([program], ["sh", "-c", f"LD_TRACE=1 {program}; exit $?"]):
            done = run("-n", 1, *words)
            self.assertEqual((done.returncode, done.stdout), (0, "othe\n"), done.stderr)

    def test_a_relative_program_in_another_folder(self):
        program = self.program("program", MPICH, *self.rpath("$ORIGIN/others", old=True))
        self.check_led("-wdir", self.folder, f"./{program.name}")


class Surroundings(Case):
    def variables(self, *options, **given):
        done = run("-n", 1, *options, "env", "-0", **given)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return dict(entry.split("=", 1) for entry in done.stdout.split("\0") if entry and not entry.startswith("WEFT_"))

    def test_abi_none_leaves_the_environment_as_it_is(self):
        for given in ({}, {"LD_LIBRARY_PATH": ""}, {"LD_LIBRARY_PATH": ":/a b::/c;", "LD_PRELOAD": "", "MPI4PY_MPIABI": ""}):
            expected = {k: v for k, v in environment(**given).items() if not k.startswith("WEFT_")}
            for options, same in ((("--abi", "none"), True), ((), False)):
                got = self.variables(*options, **given)
                # Further variables are those that tell the rank.
                got = {k: v for k, v in got.items() if k in expected or k.startswith(("LD_", "MPI4PY_"))}
                self.assertEqual(got == expected, same, (options, given))

    def test_the_folders_stand_in_front_once(self):
        path = self.variables(LD_LIBRARY_PATH="/a:/b")["LD_LIBRARY_PATH"].split(":")
        self.assertEqual([pathlib.Path(folder).name for folder in path], ["standard-abi", "mpich-abi", "openmpi-abi", "a", "b"])
        self.assertEqual(self.variables(LD_LIBRARY_PATH=":".join(path))["LD_LIBRARY_PATH"].split(":"), path)
        for abi in ("standard", "mpich", "openmpi"):
            path = self.variables("--abi", abi)["LD_LIBRARY_PATH"].split(":")
            self.assertEqual([pathlib.Path(folder).name for folder in path], [f"{abi}-abi"])

    def test_folders_hold_libraries_of_mpi_alone(self):
        for folder in self.variables()["LD_LIBRARY_PATH"].split(":"):
            for name in os.listdir(folder):
                self.assertRegex(name, r"^libmpi.*\.so(\.|$)")

    def test_programs_without_mpi(self):
        programs = [["true"], ["false"], ["sh", "-c", "exit 3"], ["env", "true"], ["nice", "true"], ["timeout", "90", "false"],
                    ["ls", "/"], ["cat", "/nowhere"], ["expr", "1", "+", "1"], ["test", "1", "=", "2"], ["cp"], ["grep", "x", "/dev/null"],
                    ["sed", "-n", "1p", "/dev/null"], ["awk", "BEGIN { exit 4 }"], ["perl", "-e", "exit 5"], ["python3", "-c", "raise SystemExit(6)"],
                    ["sort", "/dev/null"], ["tar", "--version"], ["cc", "--version"], ["bash", "-c", "kill -9 $$"], ["ldconfig", "-p"]]
        there = [words for words in programs if shutil.which(words[0])]
        self.assertGreaterEqual(len(there), 18)
        for words in there:
            alone = subprocess.run(words, capture_output=True, text=True, check=False, env=environment(), stdin=subprocess.DEVNULL)
            done = run("-q", "-n", 1, *words)
            expected = 128 - alone.returncode if alone.returncode < 0 else alone.returncode
            self.assertEqual((done.returncode, done.stdout), (expected, alone.stdout), words)
            said = [line for line in done.stderr.splitlines() if not line.startswith("weft: mpiexec: rank 0 ")]  # its status
            self.assertEqual(said, alone.stderr.splitlines(), words)


class Python(Case):
    """An environment of Python with another MPI's library, and with a mpi4py that opens one as the wheels do."""
    MPI4PY = """import ctypes, os, sys
library = ctypes.CDLL(os.environ.get("MPI4PY_LIBMPI") or sys.prefix + "/lib/libmpi.so")
version, length = ctypes.create_string_buffer(8192), ctypes.c_int()
library.MPI_Get_library_version(version, ctypes.byref(length))
major, minor = ctypes.c_int(-1), ctypes.c_int(-1)
if hasattr(library, "MPI_Abi_get_version"): library.MPI_Abi_get_version(ctypes.byref(major), ctypes.byref(minor))
print(version.value.decode()[:4], major.value)
"""

    def environment_of(self, *modules):
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", self.folder / "venv"], check=True)
        lib = self.folder / "venv" / "lib"
        (lib / "libmpi.so").symlink_to(self.others / OPEN_MPI)
        package = next(lib.glob("python3*")) / "site-packages" / "mpi4py"
        package.mkdir()
        (package / "__init__.py").write_text(self.MPI4PY, encoding="utf-8")
        for module in modules:
            (package / f"MPI.{module}.so").touch()
        return self.folder / "venv" / "bin" / "python"

    def says(self, *words, **variables):
        done = run("-n", 2, *words, **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        first, second = done.stdout.splitlines()
        self.assertEqual(first, second)
        return first

    def test_the_module_of_mpichs_abi(self):
        python = self.environment_of("mpich.cpython", "openmpi.cpython")
        self.assertEqual(self.says(python, "-c", "import mpi4py"), "Weft -1")
        self.assertEqual(self.says("env", "A=1", python, "-c", "import mpi4py"), "Weft -1")
        self.assertEqual(self.says("sh", "-c", f"{python} -c 'import mpi4py'"), "Weft -1")
        script = self.folder / "script"
        for line in (python, f"/usr/bin/env {python}", f"/usr/bin/env -S {python} -u"):
            script.write_text(f"#!{line}\nimport mpi4py\n", encoding="utf-8")
            script.chmod(0o755)
            self.assertEqual(self.says(script), "Weft -1", line)

    def test_the_module_of_the_standards_abi(self):
        python = self.environment_of("mpiabi.cpython", "mpich.cpython")
        self.assertEqual(self.says(python, "-c", "import mpi4py"), "Weft 1")
        self.assertEqual(self.says("--abi", "mpich", python, "-c", "import mpi4py"), "Weft -1")

    def test_a_module_that_was_built_for_its_library(self):
        python = self.environment_of("cpython-311")
        self.assertEqual(self.says(python, "-c", "import os; print(os.environ.get('MPI4PY_LIBMPI'))"), "None")

    def test_what_the_user_has_set_stays(self):
        python = self.environment_of("mpich.cpython")
        self.assertEqual(self.says(python, "-c", "import mpi4py", MPI4PY_LIBMPI=str(self.others / MPICH)), "othe -1")
        self.assertEqual(self.says("--abi", "none", python, "-c", "import mpi4py"), "othe -1")
        self.assertEqual(self.says("-x", "MPI4PY_MPIABI=mpich", python, "-c", "import os; print(os.environ.get('MPI4PY_LIBMPI'))"), "None")

    def test_programs_of_other_languages_get_no_variable_of_python(self):
        done = run("-n", 1, "printenv", "MPI4PY_LIBMPI")
        self.assertEqual((done.returncode, done.stdout), (1, ""))


if __name__ == "__main__":
    unittest.main()
