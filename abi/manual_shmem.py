# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""The manual pages of OpenSHMEM: a page for the families of the table that do one thing, and links to it (docs/design/abi.md)."""
import re

import manual_roff as roff
import shmem_table

def all_families():
    """(family, prefix of its functions' names)"""
    for family in (*shmem_table.singles(), *shmem_table.families()):
        yield family, "shmem_"
    for family in shmem_table.OLDEST:
        yield family, ""


def by_name():
    found = {}
    for family, prefix in all_families():
        if family.name in found:
            raise SystemExit(f"abi/shmem_table.py: two families have the name {family.name}")
        found[family.name] = (family, prefix)
    return found


def split(param):
    """`const T *dest` as the text before the name, and the name."""
    if param == "...":
        return param, "", ""
    match = re.fullmatch(r"(.*[ *])(\w+)", param)
    return match[1], match[2], ""


def direction(before, name):
    if name in ("pSync", "pWrk"):
        return "in/out"
    return "out" if "*" in before and not before.startswith(("const", "long *lock")) else "in"


class Pages:
    def __init__(self, words, parameters, phrases, settings, problems):
        self.words, self.parameters, self.phrases, self.settings, self.problems = words, parameters, phrases, settings, problems
        self.families = by_name()
        self.used = set()

    def covered(self, words):
        return words.keys.get("covers", words.name.removeprefix("shmem_")).split()

    def check(self):
        taken = {}
        for words in self.words.values():
            if not any(words.text):
                self.problems.add(words.where, f"{words.name} has no text of its own")
            for name in self.covered(words):
                if name not in self.families:
                    self.problems.add(words.where, f"{words.name}: {name} is no family of abi/shmem_table.py")
                elif name in taken:
                    self.problems.add(words.where, f"{words.name}: {name} is on the page of {taken[name]} already")
                taken[name] = words.name
        for name in self.families:
            if name not in taken:
                self.problems.add("abi/manual/shmem.txt", f"the family {name} of abi/shmem_table.py has no words")
        for name in sorted(set(self.parameters) - self.used):
            self.problems.add("shmem_parameters.txt", f"no page uses the row {name}")

    def prototypes(self, family, prefix):
        params = [] if family.params == "void" else family.params.split(", ")
        typed = family.types[0] not in ("one", "mem")
        named = [tuple(re.sub(r"\bT\b", "TYPE" if "TYPE" in family.name else "void", part) if i == 0 else part
                       for i, part in enumerate(split(p))) for p in params]
        returns = re.sub(r"\bT\b", "TYPE", family.returns)
        space = "" if returns.endswith("*") else " "
        if typed and family.generic:
            first = [("[shmem_ctx_t ", "ctx", "]")] if family.ctx else []
            yield roff.prototype(f"{returns}{space}shmem_{family.generic}", first + named)
        yield roff.prototype(f"{returns}{space}{prefix}{family.name}", named)
        if family.ctx:
            yield roff.prototype(f"{returns}{space}{prefix}ctx_{family.name}", [("shmem_ctx_t ", "ctx", ""), *named])

    def synopsis(self, families):
        now = [p for f, prefix in families if not f.deprecated for p in self.prototypes(f, prefix)]
        old = [p for f, prefix in families if f.deprecated for p in self.prototypes(f, prefix)]
        text = "\n.PP\n".join(roff.verbatim(t) for t in ["\\fB#include <shmem.h>\\fR", *now])
        if old:
            text += "\n.SS Deprecated\n" + "\n.PP\n".join(roff.verbatim(t) for t in old)
        return text

    def types_text(self, families):
        texts = []
        typed = [f for f, _ in families if "TYPE" in f.name]
        lists = {}
        for f in typed:
            lists.setdefault(tuple(f.types), []).append(f)
        for types, of in lists.items():
            names = ", ".join(t if t == shmem_table.ALL[t] else f"{t} ({shmem_table.ALL[t]})" for t in types)
            about = "" if len(lists) == 1 else " in " + ", ".join(f"shmem_{f.name}" for f in of)
            texts.append(f"TYPE{about} is one of {names}.")
        if any(f.generic for f in typed):
            texts.append("The name without a type is generic, in C11 and C++: the types of the arguments choose the function.")
        if any("SIZE" in f.name for f, _ in families):
            texts.append("SIZE is 8, 16, 32, 64 or 128: the bits of an element. Forms with mem count bytes.")
        elif any(f.types == ["mem"] for f, _ in families):
            texts.append("Forms with mem count bytes.")
        return texts

    def parameters_text(self, families, words):
        items, seen = [], set()
        params = [p for f, _ in families for p in (["shmem_ctx_t ctx"] if f.ctx else []) +
                  ([] if f.params == "void" else f.params.split(", "))]
        for before, name, _ in map(split, params):
            if not name or name in seen:
                continue
            seen.add(name)
            given = words.param(name)
            common = self.parameters.get(name)
            if not given and common:
                self.used.add(name)
            if not (given or common):
                self.problems.add(words.where, f"{words.name}: its parameter {name} has no words")
                continue
            way, text = given or common
            items.append(roff.item(f"\\fI{name}\\fR ({way or direction(before, name)})", text))
        for name in set(words.params) - seen:
            self.problems.add(words.where, f"{words.name} has no parameter {name}")
        return "\n".join(items)

    def phrase(self, group, words):
        name = words.keys.get(group) or words.family.keys.get(group)
        if name not in self.phrases[f"shmem {group}"]:
            self.problems.add(words.where, f"{words.name}: {group}: {name or 'nothing'} is no phrase of phrases.txt")
            return ""
        return self.phrases[f"shmem {group}"][name]

    def see_also(self, words):
        near = words.family.members if len(words.family.members) <= 14 else []
        for name in words.key("see"):
            if name not in self.words and not name.startswith("MPI_"):
                self.problems.add(words.where, f"{words.name}: see: {name} has no page")
        shown = sorted({*words.key("see"), *near} - {words.name})
        if words.key("settings"):
            shown.append("weft\\-settings")
        return roff.see_also(shown, {"weft\\-settings": 7})

    def page(self, words):
        families = [self.families[name] for name in self.covered(words) if name in self.families]
        texts = [t for t in words.text if t] + [t for t in words.family.text if t] + self.types_text(families)
        texts.append(self.phrase("call", words))
        return roff.page(words.name, [
            roff.section("NAME", f"{words.name} \\- {roff.escaped(words.brief)}"),
            roff.section("SYNOPSIS", self.synopsis(families)),
            roff.section("PARAMETERS", self.parameters_text(families, words)),
            roff.section("DESCRIPTION", roff.paragraphs(texts)),
            roff.section("THREADS", roff.lines(self.phrase("threads", words))),
            roff.section("ERRORS", roff.lines(self.phrase("errors", words))),
            roff.section("WEFT", roff.settings(words, self.settings, self.problems)),
            roff.section("SEE ALSO", self.see_also(words)),
        ])

    def all(self):
        made = set()
        for words in self.words.values():
            made.add(words.name)
            yield words.name, self.page(words)
        for words in self.words.values():
            for family, prefix in (self.families[n] for n in self.covered(words) if n in self.families):
                names = [f.name for f in shmem_table.expand(family, prefix)]
                if family.generic and "TYPE" in family.name:
                    names.append(f"shmem_{family.generic}")
                for name in names:
                    if name not in made:
                        made.add(name)
                        yield name, roff.link(words.name)
