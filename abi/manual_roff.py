# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""The form of manual pages: text with its marks as roff, sections, lists."""
import re

from table import wrap

NAMES = re.compile(r"\*(\w+)\*|\b((?:MPI|PMPI|WEFT|SHMEM)_\w+|shmem_\w+)")


def escaped(text):
    return text.replace("\\", "\\e")


def inline(text):
    """Parameters in italics, names of functions, constants and settings in bold."""
    return NAMES.sub(lambda m: f"\\fI{m[1]}\\fR" if m[1] else f"\\fB{m[2]}\\fR", escaped(text))


def lines(text):
    """Text as lines of roff: a new sentence begins a line, and no line is a request."""
    return "\n".join("\\&" + line if line.startswith((".", "'")) else line
                     for line in re.sub(r"(?<=[a-z0-9)R][.?]) (?=[A-Z\\])", "\n", inline(text)).split("\n"))


def paragraphs(texts):
    return "\n.PP\n".join(lines(t) for t in texts if t)


def section(title, body):
    return f".SH {title}\n{body}\n" if body else ""


def sentence(text):
    return text[:1].upper() + text[1:].rstrip(".") + "."


def item(head, text):
    return f".TP\n{head}\n{lines(sentence(text))}"


def settings(words, known, problems):
    """The settings that the words name, with their help, which is roff already."""
    for name in words.key("settings"):
        if name not in known:
            problems.add(words.where, f"{words.name}: {name} is no setting")
    return "\n".join(f".TP\n\\fB{name}\\fR\n{sentence(known[name])}" for name in words.key("settings") if name in known)


def prototype(head, params, tail=";"):
    """A prototype of C: bold, its parameters in italics. `params` are (text before the name, name, text behind it)."""
    marked = [f"{before}\1{name}\2{behind}" for before, name, behind in params] or ["void"]
    text = wrap(head, marked, tail, width=78).replace("\2], ", "\2,] ")
    return "\n".join(f"\\fB{line}\\fR" for line in
                     escaped(text).replace("\1", "\\fI").replace("\2", "\\fB").replace("\\fI\\fB", "").split("\n"))


def verbatim(text):
    return f".nf\n{text}\n.fi"


def page(name, sections):
    head = (".\\\" Made by abi/manual.py from the tables of functions and abi/manual; do not edit.\n"
            f".TH {name} 3 \"\" Weft Weft\n")
    return head + "".join(sections)


def link(name):
    return f".so man3/{name}.3\n"


def see_also(names, sections):
    return ",\n".join(f".BR {name} ({sections.get(name, 3)})" for name in names).replace("),\n", ") ,\n")
