#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""words.py [path...]: finds wording that docs/design/glossary.md asks to avoid, in Markdown and in comments of sources.

Kinds of findings:
  clause    a sentence begins with a headless who or what clause: "Who waits makes progress" (a question may)
  fragment  a sentence begins with "Of", "Those", "That of", "The same", or with "As" and has no main clause after a comma
  riddle    a comment behind code is a word or two, a colon, and no verb: "empty: none"
  metaphor  a word of METAPHORS, in messages too (text in backquotes is code)
  long      a line of Markdown has more than 100 columns (tables, headings, code, and lines with a link may)

Fails if there is one, in all files or below the paths that are given.
"""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# These hold examples of what is found.
SELF = ("tools/dev/words.py", "tests/unit/words_test.py")
COLUMNS = 100
CLAUSE = re.compile(r"(?:^(?=W)|(?<=[.;:!?] )|(?<=[.;:!?]\*\* ))(?:[Ww]ho(?:ever)?|[Ww]hat(?:ever)?) [a-z][^.;:?]*[.;:?]?")
FRAGMENT = re.compile(r"(?:^|(?<=[.;:!?] ))(?:(?:Of|Those|That of|The same)\b[^.;:]*|As\b(?! soon)[^,.;:]*(?=[.;:]|$))")
RIDDLE = re.compile(r"^(?!no(?:qa|lint)\b)[\w']+(?: [\w']+)?:(?: [\w']+){1,3}$", re.IGNORECASE)
VERB = re.compile(r"\b(?:is|are|was|were|has|have|had|does?|did|can|may|must|ends?|uses?|waits?)\b")
METAPHORS = (
    r"rooms?", r"desks?", r"roads?", r"speakers?", r"strangers?", r"(?:lies?|lay|lying) down", r"stir(?:s|red)?",
    r"(?:gets?|got|getting) up", r"meets?", r"met", r"nudge[sd]?", r"by turns",
)
METAPHOR = re.compile(rf"\b(?:{'|'.join(METAPHORS)})\b", re.IGNORECASE)
CODE = re.compile(r"`[^`]*`")
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
SLASHES = (".c", ".h", ".cpp", ".hpp", ".pml")
HASHES = (".py", ".sh", ".cmake", ".txt", ".in", "")


def blocks_of(suffix, text):
    """(line number, text, is behind code) of each paragraph or block of comment lines, joined to one line."""
    markdown = suffix == ".md"
    comment = re.compile(r"//+ ?(.*)" if suffix in SLASHES else r"(?:^|\s)#+ ?(.*)")
    first, parts, fenced, behind = 0, [], False, False
    for number, line in enumerate(text.splitlines() + [""], 1):
        if markdown:
            if line.startswith("```"):
                fenced = not fenced
            begins = line.startswith(("|", "#", " - ", "- ", "  - "))
            said = "" if fenced or line.startswith(("    ", "<!--", "```")) else line.strip(" |#").removeprefix("- ")
        else:
            match = comment.search(line)
            said = match.group(1).strip() if match and "SPDX" not in line else ""
            # A comment behind code is a block of its own.
            begins = match is None or bool(line[: match.start()].strip())
        if parts and (not said or begins or behind):
            yield first, " ".join(parts), behind
            parts = []
        if said:
            if not parts:
                first, behind = number, begins and not markdown
            parts.append(said)
            if markdown and line.startswith(("|", "#")):
                yield first, " ".join(parts), behind
                parts = []


def long_lines(text):
    """(line number, line) of prose that is too long."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif len(line) > COLUMNS and not fenced and not line.startswith(("|", "#", "    ", "<")) and "](" not in line:
            yield number, line


def findings(name, text):
    """(line number, kind, text) of each finding in a file."""
    suffix = Path(name).suffix
    metaphors = name != "docs/design/glossary.md"  # it lists them
    for number, block, behind in blocks_of(suffix, text):
        for match in CLAUSE.finditer(block):
            if not match.group().endswith("?"):
                yield number, "clause", match.group()
        for match in FRAGMENT.finditer(block):
            yield number, "fragment", match.group()
        if behind and RIDDLE.match(block) and not VERB.search(block):
            yield number, "riddle", block
        if metaphors and METAPHOR.search(CODE.sub("", block)):
            yield number, "metaphor", block
    if suffix == ".md":
        for number, line in long_lines(text):
            yield number, "long", line
        return
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith(("//", "#")):
            continue
        for message in STRING.findall(line):
            if " " in message and METAPHOR.search(message):  # a single word is a name
                yield number, "metaphor", message


def main():
    names = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *sys.argv[1:]],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.splitlines()
    kinds = Counter()
    for name in names:
        path = ROOT / name
        if not path.is_file() or path.suffix not in (".md", *SLASHES, *HASHES) or name in SELF:
            continue
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        for number, kind, said in findings(name, text):
            print(f"{name}:{number}: {kind}: {said}")
            kinds[kind] += 1
    print("words.py:", ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) or "none found")
    return 1 if kinds else 0


if __name__ == "__main__":
    sys.exit(main())
