#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""check_links.py: fails when a document names something that is not there.

Checks, in all Markdown files that git knows: relative links and their anchors, and files of this tree named in
backquotes, either from the root (`src/core/lane/lane.hpp`) or, for sources, from `src` (`core/lane/lane.hpp`).
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
NAMED = re.compile(r"`([a-z0-9_.]+(?:/[A-Za-z0-9_.]+)+\.(?:cpp|hpp|c|h|py|sh|md|txt|json|pml))`")
# Made by the build or by a program, or another project's.
ELSEWHERE = ("build/", "generated/", "./")


def git_files():
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [name for name in names.splitlines() if (ROOT / name).exists()]


def lines_outside_code(text):
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            yield number, line


def anchors(path):
    """As GitHub makes them: lower case, no punctuation, hyphens for spaces, numbered when repeated."""
    seen = {}
    for _, line in lines_outside_code(path.read_text()):
        heading = re.match(r"#+ (.*)", line)
        if heading:
            name = re.sub(r"[^\w\- ]", "", heading.group(1).strip().lower()).replace(" ", "-")
            count = seen.get(name, -1) + 1
            seen[name] = count
            yield name if count == 0 else f"{name}-{count}"


def main():
    files = git_files()
    problems = []
    for name in (name for name in files if name.endswith(".md")):
        path = ROOT / name
        for number, line in lines_outside_code(path.read_text()):
            where = f"{name}:{number}"
            for target in LINK.findall(line):
                if re.match(r"[a-z]+:", target):
                    continue
                file, _, anchor = target.partition("#")
                there = (path.parent / file).resolve() if file else path
                if not there.exists():
                    problems.append(f"{where}: no file {target}")
                elif anchor and anchor not in anchors(there):
                    problems.append(f"{where}: no heading {target}")
            for named in NAMED.findall(line):
                if named.startswith(ELSEWHERE):
                    continue
                if not any(file == named or file.endswith("/" + named) for file in files):
                    problems.append(f"{where}: no file `{named}`")
    print("\n".join(problems) if problems else "check_links.py: all links lead somewhere")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
