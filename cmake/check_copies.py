#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Fails when a source calls memcpy or memmove for a length that is not a constant, in a folder that copies out of memory
of other processes. Such a call may be the C library's string instruction, which reads lines that another core has
written much slower than base::copy does (src/base/copy.hpp). A comment "// private memory: REASON", in the call or in the
lines before it, allows the call. std::copy is not looked at, as the types are not known here."""
import pathlib
import re
import sys

FOLDERS = ["src/transport/api", "src/transport/shm", "src/core", "src/coll", "src/shmem", "src/io", "src/datatype"]
# Names of compile-time constants that lengths are made of, by file.
CONSTANTS = {"src/shmem/rma.cpp": ["element"]}  # a template parameter

# Names without a call count too: a pointer to memcpy has any length.
COPY = re.compile(r"(?<![\w.])(?:std\s*::\s*|::\s*|__builtin_)?(?:memcpy|memmove|mempcpy)\b")
# Comments, strings and characters; the apostrophes of numbers are none of these.
NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'', re.S)
MARKER = re.compile(r"// private memory: \S")

PARENTHESES = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
SIZE = rf"sizeof(?:\.\.\.)?\s*(?:{PARENTHESES}|[*&\s]*[A-Za-z_][\w:]*(?:(?:\.|->)\w+|\[[^\]]*\])*)|offsetof\s*{PARENTHESES}"
NUMBER = r"[0-9][\w']*"
SUM = r"1(?:\s*[-+*]\s*1)*"


def without_comments(text):
    """The same text with blanks for all that is no code, each line where it was."""
    return NO_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def call_at(code, at):
    """(the last argument, where the call ends) of the call whose name ends at `at`; ("", at) if none follows."""
    start = re.compile(r"\s*\(").match(code, at)
    if not start:
        return "", at
    depth, last = 0, start.end()
    for i in range(start.end() - 1, len(code)):
        if code[i] in "([{":
            depth += 1
        elif code[i] in ")]}":
            depth -= 1
            if depth == 0:
                return code[last:i].strip(), i
        elif code[i] == "," and depth == 1:
            last = i + 1
    return "", len(code)


def is_constant(length, names):
    """Whether `length` is made of sizeof, offsetof, integers and constants of these names by +, - and *."""
    atom = "|".join([SIZE, NUMBER, *(rf"{name}\b" for name in names)])
    length = re.sub(rf"(?<![\w.>:])(?:{atom})", "1", length)
    before = None
    while before != length:
        before, length = length, re.sub(rf"\(\s*{SUM}\s*\)", "1", length)
    return re.fullmatch(SUM, length) is not None


def is_private(lines, first, last):
    """Whether the call on lines `first` to `last`, or the comment before it, says that its memory is private."""
    while first > 0 and lines[first - 1].lstrip().startswith("//"):
        first -= 1
    return any(MARKER.search(line) for line in lines[first : last + 1])


def violations(root):
    for path in sorted(path for folder in FOLDERS for path in (root / folder).rglob("*.[ch]pp")):
        constants = CONSTANTS.get(path.relative_to(root).as_posix(), [])
        text = path.read_text()
        lines, code = text.splitlines(), without_comments(text)
        for match in COPY.finditer(code):
            length, end = call_at(code, match.end())
            first, last = (code.count("\n", 0, at) for at in (match.start(), end))
            if not is_constant(length, constants) and not is_private(lines, first, last):
                yield f"{path}:{first + 1}: {match[0]} of {length or 'any number of'} bytes: use base::copy (src/base/copy.hpp), " \
                      'or say behind "// private memory:" why no other process or thread writes there'


def main():
    found = list(violations(pathlib.Path(sys.argv[1])))
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
