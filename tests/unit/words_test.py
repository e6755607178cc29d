#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""tools/dev/words.py finds what it says, and nothing in plain sentences."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/dev"))
import words  # noqa: E402


def kinds(name, text):
    return [kind for _, kind, _ in words.findings(name, text)]


class Words(unittest.TestCase):
    def expect(self, kind, name, *texts):
        for text in texts:
            with self.subTest(text):
                self.assertEqual(kinds(name, text), [kind] if kind else [])

    def test_headless_clauses(self):
        self.expect("clause", "a.cpp", "// Who waits makes progress.\n", "int a;  // It ends. What is left is freed.\n")
        self.expect("clause", "a.md", "**A rule.** Whoever sends waits.\n")
        self.expect(None, "a.md", "What is it?\n")

    def test_fragments(self):
        self.expect("fragment", "a.cpp", "// Of one rank.\n", "// The same on all ranks.\n", "// It ends. That of others stays.\n")
        self.expect("fragment", "a.py", "# Those of others.\n", "# As the kernel does it.\n")
        self.expect(None, "a.cpp", "// As others read it, it is locked.\n", "// Often it is read.\n", "// A part\n// of it is read.\n")

    def test_riddles(self):
        self.expect("riddle", "a.hpp", "int a = 0;  // 0: none\n", "int* a;  // nullptr: none yet\n", "int a;  // no file: this one\n")
        self.expect(None, "a.hpp", "int a;  // it is 0 if there is none\n", "int a;  // 0: it is free\n", "// bytes: a number\n")
        self.expect(None, "a.py", "import a  # noqa: E402\n")

    def test_metaphors(self):
        self.expect("metaphor", "a.cpp", "// The queue has room for it.\n", 'fail("no room in the heap");\n', "a();  // it stirs\n")
        self.expect(None, "a.cpp", "// `room` is in bytes.\n", 'choose("meet");\n', "Room room;\n", "// Roadmap, broom.\n")
        self.expect(None, "docs/design/glossary.md", "| room | memory |\n")

    def test_long_lines(self):
        self.expect("long", "a.md", "word " * 20 + "x\n")
        self.expect(None, "a.md", "word " * 20 + "\n", "| " + "word " * 30 + "|\n", "```\n" + "x" * 120 + "\n```\n")
        self.expect(None, "a.cpp", "int a = " + "1 + " * 30 + "1;\n")

    def test_place(self):
        self.assertEqual([found[0] for found in words.findings("a.cpp", "int a;\n\n// It is so:\n// of one rank. Of one rank.\n")], [3])


if __name__ == "__main__":
    unittest.main()
