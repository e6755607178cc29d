# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Reads the words of the manual pages, abi/manual/*.txt (docs/design/abi.md). The form:

  # a comment
  [send]                                 a family: its keys and its text go into the page of each function below
  call: blocking
  Text of the family, one paragraph until an empty line.

  MPI_Send: send a message               a function: name and the line of NAME; keys and text are indented
      Text of the function.
      param dest: words that replace those of parameters.txt

Keys: call and threads (names of phrases), errors (classes without MPI_ERR_), settings, see (functions), param NAME, and
for OpenSHMEM covers (families of abi/shmem_table.py). A key of a function replaces its family's; errors, settings and see
add to it. In the text *name* is a parameter."""
import dataclasses
import re

ADDED = ("errors", "settings", "see")
KEYS = re.compile(r"(call|threads|errors|settings|see|covers|param \w+(?: \((?:in|out|in/out)\))?): (.*)")
HEAD = re.compile(r"(\w+): (.+)")


class Problems:
    """All that is wrong with the words, told at once."""

    def __init__(self):
        self.found = []

    def add(self, where, text):
        self.found.append(f"{where}: {text}")


@dataclasses.dataclass
class Words:
    name: str
    where: str
    brief: str = ""
    text: list = dataclasses.field(default_factory=list)    # paragraphs
    keys: dict = dataclasses.field(default_factory=dict)
    params: dict = dataclasses.field(default_factory=dict)  # name: (direction or "", words)
    family: "Words" = None
    members: list = dataclasses.field(default_factory=list)

    def key(self, key):
        """A function's value of a key, or its family's."""
        own, of_family = self.keys.get(key, ""), self.family.keys.get(key, "")
        return " ".join([of_family, own]).split() if key in ADDED else own or of_family

    def param(self, name):
        return self.params.get(name) or self.family.params.get(name)

    def take(self, line, problems, where):
        match = KEYS.fullmatch(line)
        if not match:
            self.text[-1:] = [(self.text[-1] + " " + line).strip()] if self.text else [line]
        elif match[1].startswith("param "):
            name, _, direction = match[1].removeprefix("param ").partition(" ")
            if name in self.params:
                problems.add(where, f"{self.name}: the words of {name} stand here twice")
            self.params[name] = (direction.strip("()"), match[2])
        elif match[1] in self.keys:
            problems.add(where, f"{self.name}: {match[1]} stands here twice")
        else:
            self.keys[match[1]] = match[2]


def chapter(path, problems):
    """The words of the functions of a file, in its order."""
    family, entry = None, None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        where = f"{path.name}:{number}"
        if line.startswith("#"):
            continue
        if not line.strip():
            if entry and entry.text and entry.text[-1]:
                entry.text.append("")
        elif line.startswith("["):
            family = entry = Words(line.strip("[] "), where)
        elif not family:
            problems.add(where, "no [family] above this line")
        elif line.startswith(" ") or entry is family and not is_head(line):
            entry.take(line.strip(), problems, where)
        elif HEAD.fullmatch(line):
            name, brief = HEAD.fullmatch(line).groups()
            entry = Words(name, where, brief, family=family)
            family.members.append(name)
            yield entry
        else:
            problems.add(where, f"neither a key, a function nor text of one: {line}")


def is_head(line):
    return not KEYS.fullmatch(line) and re.match(r"(?:MPI_|shmem_|start_pes)\w*: ", line)


def rows(path, problems):
    """name: words, or name (direction): words, of a file of parameters."""
    found = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = re.fullmatch(r"(\w+)(?: \((in|out|in/out)\))?: (.+)", line)
        if match and match[1] not in found:
            found[match[1]] = (match[2] or "", match[3])
        elif line and not line.startswith("#"):
            problems.add(f"{path.name}:{number}", f"no row `name: words`, or a second one of that name: {line}")
    return found


def phrases(path, problems):
    """The phrases of a file by their groups: `[call]`, then rows."""
    groups, group = {}, None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = re.fullmatch(r"([\w-]+): (.+)", line)
        if line.startswith("["):
            group = groups.setdefault(line.strip("[] "), {})
        elif match and group is not None:
            group[match[1]] = match[2]
        elif line and not line.startswith("#"):
            problems.add(f"{path.name}:{number}", f"no row `name: words`: {line}")
    return groups


def settings(path):
    """Name and help of each setting, as roff, from the manual page that `weft info --man` writes."""
    return dict(re.findall(r"^\.B (WEFT_\w+)\n(.+)$", path.read_text(), re.MULTILINE))
