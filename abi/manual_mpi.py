# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""The manual page of a function of MPI: what follows from the tables, and its words (docs/design/abi.md)."""
import re

import manual_roff as roff
import roles

# Classes that follow from the kinds of parameters.
CLASSES = {"MPI_Comm": "COMM", "MPI_Group": "GROUP", "MPI_Datatype": "TYPE", "MPI_Op": "OP", "MPI_Request": "REQUEST",
           "MPI_Message": "REQUEST", "MPI_Errhandler": "ERRHANDLER", "MPI_Info": "INFO", "MPI_Session": "SESSION",
           "MPI_Win": "WIN", "MPI_File": "FILE"}
NAMED = {"rank": "RANK", "tag": "TAG", "keyval": "KEYVAL", "lock": "LOCKTYPE", "assertion": "ASSERT", "access": "AMODE"}
BUFFERS = re.compile(r"(send|recv|in|out|inout)?buf(fer)?|(origin|result|compare)_addr")
COUNTS = re.compile(r"(in|out|max)?count|(send|recv)counts?|(origin|target|result)_count")

# Constants that an argument of a kind takes: their names begin so.
FAMILIES = {"lock": "MPI_LOCK_", "thread": "MPI_THREAD_", "seek": "MPI_SEEK_", "split": "MPI_COMM_TYPE_", "order": "MPI_ORDER_",
            "typeclass": "MPI_TYPECLASS_", "verbosity": "MPI_T_VERBOSITY_", "bind": "MPI_T_BIND_", "scope": "MPI_T_SCOPE_",
            "pvar_class": "MPI_T_PVAR_CLASS_", "combiner": "MPI_COMBINER_", "distribution": "MPI_DISTRIBUTE_"}
HANDLERS = {"MPI_Comm": "communicator", "MPI_Win": "window", "MPI_File": "file", "MPI_Session": "session"}
OBJECTS = ("MPI_Comm", "MPI_Win", "MPI_File", "MPI_Group")  # that collective calls are of
OUT_BUFFERS = {"recvbuf", "result_addr", "buffer_addr", "baseptr", "outbuf"}


def is_tool(function):
    return function.name.startswith("MPI_T_")


def without_form(name):
    return name.removesuffix("_c")


def direction(function, param):
    """in, out or in/out, by type and role; the words say it where these do not tell."""
    role = roles.role(function.name, param)
    kind = role.kind if role else "plain"
    if kind.endswith(("_inout", "_out", "_in")):
        return {"t": "out", "n": "in"}[kind[-1]] if not kind.endswith("_inout") else "in/out"
    if param.name == "attribute_val":
        return "out" if "_get" in function.name else "in"
    if kind.startswith("status") or "_function" in param.type or "const" in param.type or param.name == "extra_state":
        return "in"
    if "void *" in param.type and param.name not in OUT_BUFFERS:
        return "in"
    return "out" if "*" in param.type or "[" in param.type or param.name in OUT_BUFFERS else "in"


def constants_of(kind, constants):
    prefix = FAMILIES.get(kind)
    return [c["name"] for c in constants if prefix and c["name"].startswith(prefix) and c["type"] in ("int", "alias")]


def error_classes(function):
    """Classes that the parameters alone tell."""
    found = []
    for p in function.params:
        if p.variadic:
            continue
        base = p.type.removeprefix("const ").rstrip("*[] ")
        role = roles.role(function.name, p)
        if base in CLASSES and (role is None or not role.kind.endswith("_out")):
            found.append(CLASSES[base])
        if role and role.kind in ("value", "value_inout", "values_in") and role.of in NAMED:
            found.append("ROOT" if p.name == "root" else NAMED[role.of])
        if COUNTS.fullmatch(p.name) and direction(function, p) == "in":
            found.append("COUNT")
        if "void *" in p.type and BUFFERS.fullmatch(p.name):
            found.append("BUFFER")
        elif direction(function, p) == "out" and "status" not in p.name:
            found.append("ARG")
    return found


class Pages:
    def __init__(self, functions, ready, constants, fortran, words, parameters, phrases, settings, problems):
        self.table = {f.name: f for f in functions}
        self.ready = {f.name for f in ready}
        self.constants, self.fortran, self.words, self.problems = constants, fortran, words, problems
        self.parameters, self.phrases, self.settings = parameters, phrases, settings
        self.used = set()

    def check(self):
        """Every function of the table has words, and words have their function."""
        briefs = {}
        for name in self.table:
            if not name.endswith("_c") and name not in self.words:
                self.problems.add("abi/manual", f"{name} has no words: add `{name}: ...` to the file of its chapter")
        for name, words in self.words.items():
            if name not in self.table or name.endswith("_c"):
                self.problems.add(words.where, f"{name} is not a function of the table with a page of its own")
            if words.brief in briefs:
                self.problems.add(words.where, f"{name} has the same line as {briefs[words.brief]}: {words.brief}")
            briefs[words.brief] = name
            if not any(words.text):
                self.problems.add(words.where, f"{name} has no text of its own")
        for name in sorted(set(self.parameters) - self.used):
            self.problems.add("parameters.txt", f"no page uses the row {name}")

    def phrase(self, group, words, function):
        name = words.key(group)
        if name not in self.phrases[group]:
            self.problems.add(words.where, f"{words.name}: {group}: {name or 'nothing'} is no phrase of phrases.txt")
            return ""
        text = self.phrases[group][name]
        if "{object}" in text:
            given = [p.name for p in function.params if p.type.removesuffix(" *") in OBJECTS
                     and ((words.param(p.name) or ("",))[0] or direction(function, p)) != "out"]
            if not given:
                self.problems.add(words.where, f"{words.name}: {group}: {name} needs a communicator, window, file or group")
                return ""
            text = text.replace("{object}", f"*{given[0]}*")
        return text

    def prototype(self, function):
        params = []
        for p in function.params:
            if p.type == "void" or p.name == "void":
                continue
            base, bracket, dims = p.type.partition("[")
            before = base.strip() + ("" if base.rstrip().endswith("*") else " ")
            params.append(("...", "", "") if p.variadic else (before, p.name, bracket + dims))
        return roff.prototype(f"{function.returns} {function.name}", params)

    def synopsis(self, function, wide):
        parts = [roff.verbatim("\\fB#include <mpi.h>\\fR"), roff.verbatim(self.prototype(function))]
        if wide:
            parts.append(roff.verbatim(self.prototype(wide)))
        text = "\n.PP\n".join(parts)
        for heading, bodies in self.fortran.items():
            if function.name in bodies:
                text += f"\n.SS {heading}\n" + roff.verbatim(roff.escaped(bodies[function.name]))
        return text

    def parameters_text(self, function, wide, words):
        items = []
        named = [p for p in function.params if not p.variadic and p.name not in ("", "void")]
        more = [p for p in wide.params if p.name not in {q.name for q in named}] if wide else []
        for p in [*named, *more]:
            given = words.param(p.name)
            common = self.parameters.get(p.name)
            if not given and common:
                self.used.add(p.name)
            if not (given or common):
                self.problems.add(words.where, f"{function.name}: its parameter {p.name} has no words")
                continue
            way, text = given or common
            role = roles.role(function.name, p)
            family = constants_of(role.of, self.constants) if role else []
            if family and not re.search(r"\bMPI_", text):
                text += ": " + ", ".join(family[:-1]) + " or " + family[-1]
            items.append(roff.item(f"\\fI{p.name}\\fR ({way or direction(function, p)})", text))
        known = {p.name for p in [*named, *more]}
        for name in [*words.params, *words.family.params]:
            if name not in known and (name in words.params or not self.in_family(words.family, name)):
                self.problems.add(words.where, f"{function.name} has no parameter {name}")
        if wide and not wide.params == function.params:
            changed = [f"*{p.name}*" for p in named for q in wide.params
                       if p.name == q.name and p.type != q.type and "_function" not in p.type]
            items.append(f".PP\n{roff.lines(self.large_text(changed, wide))}")
        return "\n".join(items)

    def in_family(self, family, name):
        return any(p.name == name for f in family.members if f in self.table for p in self.table[f].params)

    def large_text(self, changed, wide):
        names = " and ".join(filter(None, [", ".join(changed[:-1]), *changed[-1:]]))
        text = f"{wide.name} has wider types for {names}, for values that an int cannot hold." if changed else \
            f"{wide.name} is for large counts."
        if any(wide.name in bodies for bodies in self.fortran.values()):
            text += " In Fortran the name without _c takes these types too."
        return text

    def errors(self, function, words):
        if function.returns != "int" or self.no_error(function):
            return roff.lines(self.phrases["errors"]["none"])
        classes = words.key("errors") + ([] if is_tool(function) else error_classes(function))
        prefix = "MPI_T_ERR_" if is_tool(function) else "MPI_ERR_"
        taken = {c.removeprefix("-") for c in classes if c.startswith("-")}
        items = []
        for name in sorted({c for c in classes if not c.startswith("-")} - taken):
            text = self.phrases["tool classes" if is_tool(function) else "classes"].get(name)
            if not text:
                self.problems.add(words.where, f"{function.name}: the error class {name} has no row in phrases.txt")
                continue
            items.append(roff.item(f"\\fB{prefix}{name}\\fR", text))
        if is_tool(function):
            intro = self.phrases["errors"]["tool"]
        else:
            owners = [HANDLERS[p.type] for p in function.params if p.type in HANDLERS]
            intro = self.phrases["errors"]["object" if owners else "self"].replace("{object}", "".join(owners[:1]))
        return "\n".join([roff.lines(intro), *items])

    @staticmethod
    def no_error(function):
        return function.name.endswith(("_toint", "_fromint"))

    def see_also(self, function, words):
        near = words.family.members if len(words.family.members) <= 12 else []
        names = {*words.key("see"), *near, *forms(function.name)} - {function.name}
        for name in words.key("see"):
            if without_form(name) not in self.table and not name.startswith("shmem_"):
                self.problems.add(words.where, f"{function.name}: see: {name} is no function")
        shown = sorted(n for n in names if n in self.ready or n.startswith("shmem_"))
        sections = {"weft\\-settings": 7}
        if words.key("settings"):
            shown.append("weft\\-settings")
        return roff.see_also(shown, sections)

    def page(self, function):
        words = self.words[function.name]
        wide = self.table.get(function.name + "_c")
        names = [function.name] + ([wide.name] if wide and wide.name in self.ready else [])
        texts = [t for t in words.text if t] + [t for t in words.family.text if t]
        if function.deprecated_in:
            texts.insert(0, f"Deprecated since MPI-{function.deprecated_in}.")
        texts.append(self.phrase("call", words, function))
        return roff.page(function.name, [
            roff.section("NAME", f"{', '.join(names)} \\- {roff.escaped(words.brief)}"),
            roff.section("SYNOPSIS", self.synopsis(function, wide)),
            roff.section("PARAMETERS", self.parameters_text(function, wide, words)),
            roff.section("DESCRIPTION", roff.paragraphs(texts)),
            roff.section("THREADS", roff.lines(self.phrase("threads", words, function))),
            roff.section("ERRORS", self.errors(function, words)),
            roff.section("WEFT", roff.settings(words, self.settings, self.problems)),
            roff.section("SEE ALSO", self.see_also(function, words)),
        ])

    def all(self):
        """(name, text) of each page and link."""
        for name in self.table:
            short = without_form(name)
            if name.endswith("_c") and short in self.table:
                if name in self.ready:
                    yield name, roff.link(short)
            elif name in self.words:
                text = self.page(self.table[name])  # words are checked before their function is there
                if name in self.ready:
                    yield name, text


def forms(name):
    """Names that the blocking, nonblocking and persistent forms of an operation have, whether they exist or not."""
    stem = name.removeprefix("MPI_").removesuffix("_init")
    stem = stem.removeprefix("File_") if stem.startswith("File_") else stem
    if name.startswith("MPI_File_"):
        plain = stem.removesuffix("_begin").removesuffix("_end").removeprefix("i")
        return [f"MPI_File_{form}" for form in (plain, "i" + plain, plain + "_begin", plain + "_end")]
    plain = stem[1:].capitalize() if re.match(r"I[a-z]+", stem) and stem not in ("Info", "Init") else stem
    return [f"MPI_{plain}", f"MPI_I{plain[0].lower()}{plain[1:]}", f"MPI_{plain}_init"]


def fortran_bodies(text):
    """The interface of each function in a module: its call, and the declarations of its arguments."""
    found = {}
    body = re.compile(r"^ *(?:[\w() ]+ )?(subroutine|function) (MPI_\w+) ?\(([^)]*)\)[^\n]*\n(.*?)^ *end \1\b",
                      re.MULTILINE | re.DOTALL)
    for kind, name, arguments, rest in body.findall(re.sub(r" *& *\n *&? *", " ", text)):
        name = re.sub(r"_(f08(ts)?|fts)$", "", name)
        declared = [line.strip() for line in rest.splitlines() if "::" in line and "!" not in line and "import" not in line]
        call = f"{'call ' if kind == 'subroutine' else 'result = '}{name}({arguments.strip()})"
        if name not in found and f"interface {name}\n" not in text.replace(f"interface {name.removesuffix('_c')}\n", ""):
            found[name] = "\n".join([folded(call), *(folded("  " + line) for line in declared if f":: {name}" not in line)])
    return found


def folded(text, width=78):
    result = []
    while len(text) > width and ", " in text[8:width]:
        cut = text.rindex(", ", 8, width) + 1
        result.append(text[:cut] + " &")
        text = "      " + text[cut:].lstrip()
    return "\n".join([*result, text])
