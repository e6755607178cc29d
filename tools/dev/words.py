#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""words.py [path...]: fails on sentences that begin with a headless who or what clause.

"Who waits makes progress" becomes "A waiting rank makes progress" (docs/design/glossary.md). Reads the prose of Markdown files
and the comments of sources, of the folders below or of those given. A question may begin so.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Folders and files whose prose follows the rule.
CLEAN = ["*.md", "docs", "abi", "apps", "bench", "cmake", "tests", "tools", "src"]
START = re.compile(r"(?:^(?=W)|(?<=[.;:!?] )|(?<=[.;:!?]\*\* ))(?:[Ww]ho(?:ever)?|[Ww]hat(?:ever)?) [a-z][^.;:?]*[.;:?]?")
SLASHES = (".c", ".h", ".cpp", ".hpp")
HASHES = (".py", ".sh", ".cmake", ".txt", "")


def blocks_of(path, text):
    """(line number, text) of each paragraph or block of comment lines, joined to one line."""
    markdown = path.suffix == ".md"
    comment = re.compile(r"//+ ?(.*)" if path.suffix in SLASHES else r"(?:^|\s)#+ ?(.*)")
    first, parts, fenced = 0, [], False
    for number, line in enumerate(text.splitlines() + [""], 1):
        if markdown:
            if line.startswith("```"):
                fenced = not fenced
            begins = line.startswith(("|", "#", " - ", "- ", "  - "))
            said = "" if fenced or line.startswith(("    ", "<!--")) else line.strip(" |#").removeprefix("- ")
            whole_line = True
        else:
            match = comment.search(line)
            said = match.group(1).strip() if match and "SPDX" not in line else ""
            whole_line = match is not None and not line[: match.start()].strip()
            begins = not whole_line  # a comment behind code is a block of its own
        if parts and (not said or begins):
            yield first, " ".join(parts)
            parts = []
        if said:
            if not parts:
                first = number
            parts.append(said)
            if markdown and line.startswith(("|", "#")) and parts:
                yield first, " ".join(parts)
                parts = []


def main():
    names = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *(sys.argv[1:] or CLEAN)],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.splitlines()
    found = 0
    for name in names:
        path = ROOT / name
        if not path.is_file() or path.suffix not in (".md", *SLASHES, *HASHES):
            continue
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        for number, block in blocks_of(path, text):
            for match in START.finditer(block):
                if not match.group().endswith("?"):
                    print(f"{name}:{number}: {match.group()}")
                    found += 1
    print(f"words.py: {found} sentences begin with a headless clause" if found else "words.py: none found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
