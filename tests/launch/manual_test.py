#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""The manual pages and --help say the same. MANUALS: the folders of the pages; LAUNCH_BIN: of the programs."""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

BIN = pathlib.Path(os.environ["LAUNCH_BIN"])
PAGES = {path.name: path for folder in os.environ["MANUALS"].split(":") for path in pathlib.Path(folder).glob("*.1")}
OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][A-Za-z-]*")


def run(*words):
    return subprocess.run([str(BIN / words[0]), *words[1:]], capture_output=True, text=True, timeout=30, check=False)


def text_of(name):
    """A page without its roff: fonts, requests, escapes."""
    lines = [line for line in PAGES[name].read_text().splitlines() if not line.startswith('.\\"')]
    text = re.sub(r"\\f[BIRP]", "", "\n".join(re.sub(r"^\.[A-Z]+ ?", "", line) for line in lines))
    return text.replace("\\-", "-").replace("\\&", "").replace('"', "")


class Manual(unittest.TestCase):
    def test_mpiexec_page_has_every_option_of_help(self):
        told = set(OPTION.findall(run("mpiexec", "--help").stdout))
        self.assertIn("--timeout", told)
        self.assertEqual(told - set(OPTION.findall(text_of("mpiexec.1"))), set())

    def test_mpiexec_knows_every_option_of_its_page(self):
        options = set(OPTION.findall(text_of("mpiexec.1").split("OPTIONS", 1)[1].split("INPUT, OUTPUT", 1)[0]))
        self.assertIn("-machinefile", options)
        for option in sorted(options - {"--option"}):
            self.assertNotIn("is not known", run("mpiexec", option).stderr, option)
        self.assertIn("is not known", run("mpiexec", "--surely-not").stderr)

    def test_weft_page_has_every_command_and_option_of_help(self):
        told = run("weft", "--help").stdout
        page = text_of("weft.1")
        commands = re.findall(r"^  (\w+) ", told, re.MULTILINE)
        self.assertIn("info", commands)
        for command in commands:
            self.assertRegex(page, rf"(?m)^{command}$")
        self.assertEqual(set(OPTION.findall(told)) - set(OPTION.findall(page)), set())

    def test_without_a_word_weft_says_what_can_be_asked(self):
        asked = run("weft")
        self.assertEqual(asked.returncode, 0)
        named = set(re.findall(r"weft ([a-z]+)", asked.stdout)) - {"help"}
        self.assertEqual(named, set(re.findall(r"^  (\w+) ", run("weft", "--help").stdout, re.MULTILINE)) - {"version"})
        self.assertLess(max(len(line) for line in asked.stdout.splitlines()), 120)

    def test_weft_knows_every_option_of_its_page(self):
        section = text_of("weft.1").split("\ninfo\n", 1)[1].split("\nnoise\n", 1)[0]
        options = set(OPTION.findall(section)) - {"--xml", "--between"}  # of info memory; with two processors
        self.assertIn("--topo", options)
        for option in sorted(options):
            self.assertEqual(run("weft", "info", option).returncode, 0, option)

    def test_the_page_has_every_option_of_doctor(self):
        told = set(OPTION.findall(run("weft", "doctor", "--help").stdout))
        self.assertIn("--root", told)
        section = text_of("weft.1").split("\ndoctor\n", 1)[1].split("\ninfo\n", 1)[0]
        self.assertEqual(told, set(OPTION.findall(section)))

    def test_the_page_has_every_option_of_noise(self):
        told = set(OPTION.findall(run("weft", "noise", "--help").stdout))
        self.assertIn("--json", told)
        self.assertEqual(told - set(OPTION.findall(text_of("weft.1"))), set())

    def test_the_page_has_every_option_of_order(self):
        told = set(OPTION.findall(run("weft", "order", "--help").stdout))
        self.assertIn("--picture", told)
        section = text_of("weft.1").split("\norder\n", 1)[1].split("\nreport\n", 1)[0]
        self.assertEqual(told, set(OPTION.findall(section)))

    def test_the_page_has_every_option_of_report(self):
        told = set(OPTION.findall(run("weft", "report", "--help").stdout))
        self.assertIn("--output", told)
        section = text_of("weft.1").split("\nreport\n", 1)[1].split("\nselftest\n", 1)[0]
        self.assertEqual(told - {"-h", "--help"}, set(OPTION.findall(section)))

    def test_the_page_has_every_option_of_selftest(self):
        told = set(OPTION.findall(run("weft", "selftest", "--help").stdout))
        self.assertIn("-n", told)
        section = text_of("weft.1").split("\nselftest\n", 1)[1].split("\nsimulate\n", 1)[0]
        self.assertEqual(told, set(OPTION.findall(section)))

    def test_the_page_has_every_option_of_simulate(self):
        told = set(OPTION.findall(run("weft", "simulate", "--help").stdout))
        self.assertIn("--ppn", told)
        section = text_of("weft.1").split("\nsimulate\n", 1)[1].split("\nsweep\n", 1)[0]
        self.assertEqual(told, set(OPTION.findall(section)))

    def test_the_page_has_every_option_of_sweep(self):
        told = set(OPTION.findall(run("weft", "sweep", "--help").stdout))
        self.assertIn("--layouts", told)
        section = text_of("weft.1").split("\nsweep\n", 1)[1].split("\ntune\n", 1)[0]
        self.assertEqual(told - {"-h"}, set(OPTION.findall(section)))

    def test_the_page_has_every_option_of_tune(self):
        told = set(OPTION.findall(run("weft", "tune", "--help").stdout))
        self.assertIn("--quick", told)
        section = text_of("weft.1").split("\ntune\n", 1)[1].split("\nversion\n", 1)[0]
        self.assertEqual(told - {"-hosts"}, set(OPTION.findall(section)) - {"-hosts"})

    def test_the_page_has_every_option_of_why(self):
        told = set(OPTION.findall(run("weft", "why", "--help").stdout)) - {"--help"}
        self.assertIn("--json", told)
        section = text_of("weft.1").split("\nwhy\n", 1)[1].split("\nhelp\n", 1)[0]
        self.assertEqual(told, set(OPTION.findall(section)))

    @unittest.skipUnless(shutil.which("groff"), "no groff")
    def test_pages_are_sound(self):
        for name, path in PAGES.items():
            result = subprocess.run(["groff", "-man", "-Tascii", "-ww", "-z", str(path)], capture_output=True,
                                    text=True, timeout=30, check=False)
            self.assertEqual((result.returncode, result.stderr), (0, ""), name)


if __name__ == "__main__":
    unittest.main()
