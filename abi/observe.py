# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Statistics of calls (docs/design/statistics.md): the table of counted calls, and for each function of MPI one that counts the
call, its data and its partner around the function itself."""
import re

import shmem_build
from build_files import BANNER, definition
from table import wrap

# Never counted: answers without work, and the interface of tools.
NOT_COUNTED = re.compile(r"MPI_(T_\w+|Wtime|Wtick|Aint_\w+|\w+_(toint|fromint|c2f|f2c|c2f08|f082c|f2f08|f082f)|Pcontrol)")

KINDS = [  # the first that matches
    ("send", r"i?[bsr]?send|start(all)?|pready\w*"),
    ("receive", r"i?m?recv|i?sendrecv(_replace)?"),
    ("completion", r"(wait|test)(all|any|some)?|i?m?probe|request_get_status\w*|parrived"),
    ("collective", r"barrier|bcast|(all)?gatherv?|scatterv?|alltoall[vw]?|(all)?reduce|reduce_scatter(_block)?|(ex)?scan|"
                   r"neighbor_(all(gatherv?|toall[vw]?))"),
    ("one_sided", r"r?(put|get|accumulate|get_accumulate)|fetch_and_op|compare_and_swap|"
                  r"win_(fence|(un)?lock(_all)?|flush\w*|sync|start|complete|post|wait|test)"),
    ("file", r"file_\w+"),
]


def call_name(function):
    return function.name.removesuffix("_c")


def kind(name):
    short = name.removeprefix("MPI_")
    return next((k for k, pattern in KINDS if re.fullmatch(pattern, short, re.I)), "other")


def counted(ready):
    """The functions that have a counting form, each once however many entry points share it."""
    seen = {}
    for f in ready:
        inner = f.wide or f
        if inner.returns == "int" and not NOT_COUNTED.fullmatch(inner.name):
            seen.setdefault(inner.inner, inner)
    return list(seen.values())


def call_names(ready):
    return list(dict.fromkeys(call_name(f) for f in counted(ready)))


def word(name):
    return name.removeprefix("MPI_").lower() + "_"


def calls_hpp(ready, shmem):
    mpi = call_names(ready)
    names = mpi + shmem_build.call_names(shmem)
    kinds = [kind(n) for n in mpi] + [shmem_build.kind(n) for n in names[len(mpi):]]
    rows = [f"    {{\"{n}\", CallKind::{k}}}," for n, k in zip(names, kinds)]
    return "\n".join([BANNER + "#pragma once\n\n#include <cstdint>\n\n// The calls that statistics count, those of MPI before those of "
                      "OpenSHMEM. A function of MPI and its form of\n// large counts are one call; so are the functions of OpenSHMEM that "
                      "differ in type, element size and context alone.\nnamespace weft::stats {\n",
                      "enum class CallKind : uint8_t { send, receive, completion, collective, one_sided, file, other };\n",
                      "enum class Call : uint16_t {", *[f"  {word(n)}," for n in names], "};", f"inline constexpr int mpi_call_count = {len(mpi)};",
                      f"inline constexpr int call_count = {len(names)};\n",
                      "struct CallInfo {\n  const char* name;\n  CallKind kind;\n};\n",
                      "inline constexpr CallInfo call_info[call_count] = {", *rows, "};\n\n}  // namespace weft::stats"]) + "\n"


def is_scalar(param):
    return param is not None and param.type in ("int", "MPI_Count")


def notes(function):
    """Statements that tell of the call's data and partner."""
    p = {q.name: q for q in function.params}
    name = call_name(function).removeprefix("MPI_")
    lines = []
    if "comm" in p and p["comm"].type == "MPI_Comm":
        lines.append("here.on(comm);")
    if "win" in p and p["win"].type == "MPI_Win":
        lines.append("here.on(win);")
    moves_data = not name.endswith("_init")
    if moves_data:
        lines += data_notes(name, p)
        if "comm" in p and "dest" in p:
            lines.append("here.to(comm, dest);")
        elif "win" in p and "target_rank" in p:
            lines.append("here.to(win, target_rank);")
        if name in ("Send", "Ssend", "Rsend"):
            lines.append("here.awaits_receive();")
        if name in ("Bcast", "Gather", "Scatter", "Reduce"):
            lines.append("here.from(comm, root);")
        if "comm" in p and "source" in p and name in ("Recv", "Probe", "Mprobe"):
            lines.append("here.awaits(comm, source);")
    if name == "Start":
        lines.append("here.starts(1, request);")
    if name == "Startall":
        lines.append("here.starts(count, array_of_requests);")
    if name == "Wait":
        lines.append("here.awaits(request);")
    return lines


def data_notes(name, p):
    """Notes of the data that the calling rank gives to the call; for receives, of the size of the buffer."""
    buffer = any(b in p for b in ("buf", "buffer", "sendbuf", "recvbuf", "inbuf"))
    ranks = "here.neighbours(comm)" if "eighbor" in name else "here.ranks(comm)"
    if "origin_count" in p:
        return ["here.data(origin_count, origin_datatype);"]
    if name in ("Fetch_and_op", "Compare_and_swap"):
        return ["here.data(1, datatype);"]
    if re.fullmatch(r"i?scatterv?", name, re.I):
        own = "own_in_place(recvbuf, sendcounts, sendtype, comm, root)" if "sendcounts" in p else "in_place(recvbuf, sendcount, sendtype)"
        return ["here.data(recvbuf, recvcount, recvtype);", f"here.{own};"]
    if "sendtypes" in p:
        return both_sides(name, "counts", "types", f", {ranks}")
    if "sendcounts" in p:
        return both_sides(name, "counts", "type", f", {ranks}")
    if re.fullmatch(r"i?(all)?gatherv", name, re.I):
        root = ", root" if "root" in p else ""
        return ["here.data(sendbuf, sendcount, sendtype);", f"here.own_in_place(sendbuf, recvcounts, recvtype, comm{root});"]
    if is_scalar(p.get("sendcount")) and "sendtype" in p:
        return both_sides(name, "count", "type", f", {ranks}" if name.lower().endswith("alltoall") else "")
    if "recvcounts" in p and "datatype" in p:
        return ["here.data(nullptr, recvcounts, datatype, here.own_ranks(comm));"]
    if is_scalar(p.get("recvcount")) and "datatype" in p:
        return ["here.data(recvcount, datatype, here.own_ranks(comm));"]
    if buffer and is_scalar(p.get("count")) and "datatype" in p and p["datatype"].type == "MPI_Datatype":
        return ["here.data(count, datatype);"]
    return []


def both_sides(name, counts, types, ranks):
    """The data by the sender's arguments, of a collective operation in place by the receiver's."""
    lines = [f"here.data(sendbuf, send{counts}, send{types}{ranks});"]
    if re.fullmatch(r"i?((all)?gather|alltoall[vw]?)", name, re.I):
        lines.append(f"here.in_place(sendbuf, recv{counts}, recv{types}{ranks});")
    return lines


def observed_cpp(ready, names):
    """`names`: the functions of the table of calls, in its order."""
    functions = counted(ready)
    lines = [BANNER + '#include "mpi/face.hpp"\n#include "mpi/observe/observed.hpp"\n\nnamespace weft::mpi {\nnamespace observed {\nnamespace {\n']
    for f in functions:
        head, params = f.prototype(name=f.inner, variadic=False)
        params = [] if params == ["void"] else params
        args = ", ".join(q.name for q in f.params if not q.variadic)
        body = "".join(f"  {note}\n" for note in notes(f))
        lines.append(definition(head, params, " {") + f"\n  Observed here(stats::Call::{word(call_name(f))});\n{body}"
                     f"  return here.end(mpi::{f.inner}({args}));\n}}\n")
    chosen = {f.inner for f in functions}
    lines.append("}  // namespace\n}  // namespace observed\n\nconst Face observed_calls = {\n    .hooks = {},")
    lines += [f"    .{n} = {'observed' if n in chosen else 'mpi'}::{n}," for n in names]
    return "\n".join(lines) + "\n};\n\n}  // namespace weft::mpi\n"
