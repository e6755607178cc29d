#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""settings_page.py WEFT [--check]: writes docs/guide/settings.md from the settings that WEFT (the command `weft`) lists.

With --check it writes nothing, and fails when the page is not what it would write."""

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs/guide/settings.md"
HEAD = """<!-- SPDX-FileCopyrightText: 2026 the Weft authors -->
<!-- SPDX-License-Identifier: BSD-3-Clause -->
<!-- Written by tools/dev/settings_page.py from the rows of the settings. -->
# Settings

Settings are environment variables, read when a program starts. Numbers of bytes take the suffixes
K, M, G and T; times take `us`, `ms` and `s`. A value out of range ends the program with a message;
a name that is not known is warned about. An empty value means the default. Settings are control
variables of MPI_T too ([tools.md](tools.md)).

    weft info            # the settings with value, default and source
    weft info --all      # those for experts too
    mpiexec -genv WEFT_STATS summary -n 4 ./program

*e* marks settings for experts; a default is in bold.
"""
# Settings that builds without tests do not have.
FOR_TESTS = {"WEFT_MOCK", "WEFT_IO_FAULTS", "WEFT_OFFLOAD_FAULTS"}
# The first group whose expression fits has the setting.
GROUPS = [
    ("Algorithms of collective operations", r"_(ALGORITHM|SHORT_MSG)$", "See [tune.md](tune.md#algorithms-of-collective-operations). A "
     "cut-off (`..._SHORT_MSG`) is in bytes; -1 leaves it to the table of algorithms."),
    ("Statistics and diagnosis", r"^WEFT_(STATS|ENERGY|WHY|CHECK$|DISAGREE|IO_STATS)",
     "See [slow.md](slow.md), [why.md](why.md), [threads.md](threads.md#calls-that-the-level-forbids) and [files.md](files.md#statistics)."),
    ("Start and placement", r"^WEFT_(LAUNCHER|REMOTE_LAUNCHER|RSH|RANK|REORDER|RESERVE|INITIAL|ERRORS|CONNECT_TIMEOUT|PORTS)",
     "See [run.md](run.md), [rank-order.md](rank-order.md) and [spawn.md](spawn.md)."),
    ("Several hosts", r"^WEFT_(NETWORK|OFI|UCX|LIBFABRIC|LIBUCP|RDMA|ENCRYPT|LOST|CHECK_DATA|CONNECT$|COLL_LEADERS)",
     "See [hosts.md](hosts.md)."),
    ("Threads, progress and waiting", r"^WEFT_(LANES|PROGRESS|SPIN|YIELDS|THREAD|STAMPS|COPY)", "See [threads.md](threads.md)."),
    ("Memory", r"^WEFT_(ALLOC|MEMORY|HEAP|HUGE|MINIMUM|RING|STAGING|UNEXPECTED)", "See [memory.md](memory.md)."),
    ("Devices", r"^WEFT_(DEVICE|GDRCOPY)", "See [devices.md](devices.md)."),
    ("Files", r"^WEFT_IO_", "See [files.md](files.md)."),
    ("Collective operations", r"^WEFT_(TUNING|OFFLOAD|REPRODUCIBLE|LIBUCC)", "See [tune.md](tune.md)."),
    ("Paths of messages", r".", "See [tune.md](tune.md#paths-of-messages)."),
]


def cell(text):
    """A text of the rows as a cell of a table: names of settings and functions in backquotes."""
    text = text.replace("|", "\\|")
    return re.sub(r"\b((?:WEFT|MPI|MPICH|MPIR|I_MPI|SHMEM)_\w+)", r"`\1`", text)


def values(row):
    """The range of a setting with its default in bold."""
    words, default = row["range"], row["default"]
    if not default:
        return words
    marked, found = re.subn(rf"(?<![\w.]){re.escape(default)}(?![\w.])", f"**{default}**", words, count=1)
    return marked if found and " to " not in words else f"{words}; **{default}**"


def page(settings):
    parts = []
    left = [row for row in settings if row["name"] not in FOR_TESTS]
    for title, expression, see in GROUPS:
        members = [row for row in left if re.search(expression, row["name"])]
        left = [row for row in left if row not in members]
        if not members:
            continue
        brief = title.startswith("Algorithms")  # whose rows differ in their values alone
        part = f"\n## {title}\n\n{textwrap.fill(see, 100)}\n\n"
        part += "| setting | values |\n|---|---|\n" if brief else "| setting | meaning | values |\n|---|---|---|\n"
        for row in members:
            names = ", ".join([f"`{row['name']}`", *(f"`{name}`" for name in row["also"])])
            expert = " *e*" if row["expert"] else ""
            if brief:
                part += f"| {names} | {cell(row['range'])} |\n"
            else:
                meaning = re.sub(r" \(also [A-Z_0-9]+\)", "", row["help"])
                part += f"| {names}{expert} | {cell(meaning)} | {values(row)} |\n"
        parts.append(part)
    return HEAD + "".join(parts[1:] + parts[:1])  # the long table of algorithms comes last


def main():
    words = [word for word in sys.argv[1:] if word != "--check"]
    if len(words) != 1:
        sys.exit(__doc__)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("WEFT_", "MPICH_", "MPIR_"))}
    done = subprocess.run([words[0], "info", "--all", "--json"], capture_output=True, text=True, check=True, env=environment)
    text = page(json.loads(done.stdout))
    if "--check" in sys.argv:
        if PAGE.read_text() != text:
            sys.exit(f"{PAGE.name} is not what the settings say: run tools/dev/settings_page.py {words[0]}")
        print("settings_page.py: the page has all settings")
    else:
        PAGE.write_text(text)


if __name__ == "__main__":
    main()
