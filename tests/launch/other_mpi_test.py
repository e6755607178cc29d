#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that start another MPI library are told of; ranks that only load one, or none, are not. A library of this test
stands for the others': its MPI_Init writes data of its own, as theirs do. LAUNCH_BIN is the folder of mpiexec."""
import concurrent.futures
import os
import pathlib
import subprocess
import tempfile
import unittest

import timing

MPIEXEC = os.path.join(os.environ["LAUNCH_BIN"], "mpiexec")
LIBRARY = """
static volatile char data[1 << 20];
int MPI_Init(void *a, void *b) { for (int i = 0; i < 1 << 17; ++i) data[i] = 1; return 0; }
"""
# Loads a library by its path, starts it where told so, and stays for a while: mpiexec looks more often than that.
LOADER = """
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
  void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
  int (*init)(void *, void *) = library != NULL ? (int (*)(void *, void *))dlsym(library, "MPI_Init") : NULL;
  if (argc > 1 && init == NULL) return puts(dlerror()), 9;
  if (argc > 2 && strcmp(argv[2], "init") == 0) init(NULL, NULL);
  sleep(3);
  return 0;
}
"""
# Needs a library, which it finds by its DT_RPATH.
LINKED = """
#include <stddef.h>
#include <unistd.h>
int MPI_Init(void *a, void *b);
int main(void) { return MPI_Init(NULL, NULL) || sleep(SECONDS); }
"""
# A large library without data that are zero at first, and a program that has written to memory of its own where the
# library ends: the kernel puts one below the other.
WITHOUT_ZEROS = """
const char text[1 << 20] = {1};
int number = 1;
int MPI_Init(void *a, void *b) { return a == b; }
"""
BELOW = """
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int main(int argc, char **argv) {
  char *own = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(own, 1, 1 << 20);
  if (argc < 2 || dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) == NULL) return puts(dlerror()), 9;
  char line[4096], path[4096];
  unsigned long end = 0, last = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof line, maps) != NULL) {
    if (sscanf(line, "%*x-%lx %*s %*s %*s %*s %4095s", &end, path) == 2 && strcmp(path, argv[1]) == 0) last = end;
  }
  sleep(3);
  return (char *)last == own ? 0 : (puts("it lies elsewhere"), 8);
}
"""
# Programs that have nothing to do with MPI.
QUIET = (["true"], ["hostname"], ["echo", "x"], ["cat", "/dev/null"], ["date"], ["env"], ["id"], ["uname"], ["pwd"],
         ["ls", "/"], ["sleep", "0.1"], ["sh", "-c", "sleep 0.1; true"], ["bash", "-c", "sleep 0.1 & wait"], ["seq", "3"],
         ["sort", "/dev/null"], ["wc", "/dev/null"], ["test", "1"], ["printf", "x"], ["python3", "-c", "print(1)"],
         ["expr", "1"])


def run(*words):
    return subprocess.run([MPIEXEC, "-q", "-n", "2", *words], capture_output=True, text=True, timeout=timing.HANGS)


class OtherMpi(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.at = pathlib.Path(cls.folder.name)
        for name in ("libmpi.so.40", "libmpi.so.12", "libmpich.so.12", "libmpi_abi.so.1", "libother.so.1"):
            cls.compile(LIBRARY, name, "-shared", "-fPIC")
        cls.compile(LOADER, "loader", "-ldl")
        (cls.at / "small").mkdir()
        (cls.at / "soon").mkdir()
        cls.compile(WITHOUT_ZEROS, "small/libmpi.so.12", "-shared", "-fPIC")
        cls.compile(BELOW, "below", "-D_GNU_SOURCE", "-ldl")

    @classmethod
    def compile(cls, text, name, *words):
        subprocess.run(["cc", "-x", "c", "-O1", "-o", cls.at / name, "-", *words], input=text, text=True, check=True)

    def all(self, *jobs):
        with concurrent.futures.ThreadPoolExecutor(5) as pool:
            return list(pool.map(lambda words: run(*words), jobs))

    def test_a_library_that_was_started_is_named_and_the_status_is_1(self):
        names = ("libmpi.so.40", "libmpi.so.12", "libmpich.so.12", "libmpi_abi.so.1")
        jobs = [(self.at / "loader", self.at / name, "init") for name in names]
        jobs.append(("sh", "-c", f"{self.at}/loader {self.at}/libmpi.so.12 init; true"))
        for name, done in zip((*names, "libmpi.so.12"), self.all(*jobs)):
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertRegex(done.stderr, rf'^weft: mpiexec: rank [01]: process \d+ \(loader\) has started another MPI library, '
                                          rf'"{self.at}/{name}" \(.*\), and is a job of one rank there. Remedy: .*\n$')

    def test_a_program_behind_a_shell_with_an_rpath_is_named(self):
        script = self.at / "script"
        for name in ("libmpich.so.12", "libmpi_abi.so.1"):
            self.compile(LINKED, "linked", "-DSECONDS=3", f"-L{self.at}", f"-l:{name}", "-Wl,--disable-new-dtags", f"-Wl,-rpath,{self.at}")
            script.write_text(f"#!/bin/sh\n{self.at}/linked\n", encoding="utf-8")
            script.chmod(0o755)
            for done in self.all(("sh", "-c", f"{self.at}/linked; true"), (script,)):
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(f'(linked) has started another MPI library, "{self.at}/{name}" ', done.stderr)

    def test_a_program_behind_a_shell_that_ends_too_soon_to_be_seen_is_named(self):
        self.compile("int MPI_Init(void *a, void *b) { return a != b; }", "soon/libmpi.so.12", "-shared", "-fPIC")
        self.compile(LINKED, "soon/linked", "-DSECONDS=0", f"-L{self.at}/soon", "-l:libmpi.so.12", "-Wl,--disable-new-dtags",
                     "-Wl,-rpath,$ORIGIN")
        first_lines = {"first": "#!/bin/sh\n", "none": "", "found": "#!/usr/bin/env bash\n"}
        for name, line in first_lines.items():
            (self.at / "soon" / name).write_text(f"{line}cd /\nA=1 {self.at}/soon/linked||exit 9\n", encoding="utf-8")
            (self.at / "soon" / name).chmod(0o755)
        jobs = [("sh", "-c", f"{self.at}/soon/linked; true"), ("bash", "-e", "-c", f"if true; then ({self.at}/soon/linked); fi"),
                ("bash", "-e", self.at / "soon/first"), ("env", "A=1", "sh", "-c", f"exec {self.at}/soon/linked"),
                ("-wdir", self.at / "soon", "sh", "-c", "./linked"), ("bash", "-eo", "pipefail", self.at / "soon/none"),
                ("-wdir", self.at / "soon", "sh", "./none"), ("-wdir", self.at / "soon", "./first"), *((self.at / "soon" / name,) for name in first_lines)]
        for job, done in zip(jobs, self.all(*jobs)):
            self.assertEqual(done.returncode, 0, (job, done.stderr))
            self.assertRegex(done.stderr, r'names ".*/linked", which loads another MPI\'s library \(libmpi.so.12 at .*\), so each rank '
                                          r"runs alone. Remedy: ", job)

    def test_a_library_that_is_only_loaded_is_no_mistake(self):
        for done in self.all((self.at / "loader", self.at / "libmpi.so.40"), (self.at / "loader", self.at / "libmpi.so.12", "no"),
                             (self.at / "loader", self.at / "libother.so.1", "init"), (self.at / "loader",)):
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_memory_behind_a_library_is_not_its_own(self):
        done = run(self.at / "below", self.at / "small/libmpi.so.12")
        if done.returncode == 8:
            self.skipTest("this kernel put the library elsewhere")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_programs_without_mpi_keep_their_status(self):
        for words, done in zip(QUIET, self.all(*QUIET)):
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        self.assertEqual(run("sh", "-c", "exit 7").returncode, 7)


if __name__ == "__main__":
    unittest.main()
