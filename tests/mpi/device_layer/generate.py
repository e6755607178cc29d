#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the calls of the device layer (layer.hpp) that take buffers: generate.py OUT, from the table of MPI's functions."""
import pathlib
import re
import sys

sys.dont_write_bytecode = True  # a source tree may be read-only
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "abi"))

import table  # noqa: E402
from table import declare  # noqa: E402

ONE = "blocks(1, count, datatype)"
OTHERS, IN, OUT = "ranks(comm)", "sources(comm)", "destinations(comm)"
ROOT, PART = "is_root(comm, root)", "has_part(comm, root)"


def exchange(sends, receives, form=""):
    """The two buffers of a collective operation; the number of blocks in each, and how they lie: "", "v" or "w"."""
    ways = {"": "blocks({n}, {side}count, {side}type)", "v": "vector({n}, {side}counts, {places}, {side}type)",
            "w": "mixed({n}, {side}counts, {places}, {side}types)"}
    send_form, receive_form = (form.split("|") * 2)[:2]
    both = "v" in (send_form, receive_form) and send_form != receive_form  # one array of displacements
    return {"sendbuf": ("sent", ways[send_form].format(n=sends, side="send", places="displs" if both else "sdispls")),
            "recvbuf": ("received", ways[receive_form].format(n=receives, side="recv", places="displs" if both else "rdispls"))}


def reduction(sends, receives):
    return {"sendbuf": ("sent", f"blocks({sends}, count, datatype)"), "recvbuf": ("received", f"blocks({receives}, count, datatype)")}


def packing(elements, packed):
    """Of elements and their packed bytes, each the buffer "in" or "out"."""
    way = {"in": "sent", "out": "received"}
    return {f"{elements}buf": (way[elements], f"blocks(1, {elements}count, datatype)"),
            f"{packed}buf": (way[packed], f"blocks(1, {packed}size, MPI_BYTE)")}


# By operation: each buffer, whether it is sent or received, and its data.
OPERATIONS = {
    "send": {"buf": ("sent", ONE)},
    "recv": {"buf": ("received", ONE)},
    "sendrecv": exchange("1", "1"),
    "sendrecv_replace": {"buf": ("received", ONE)},
    "bcast": {"buffer": (None, ONE)},
    "gather": exchange(PART, f"{ROOT} * {OTHERS}"),
    "gatherv": exchange(PART, f"{ROOT} * {OTHERS}", "|v"),
    "scatter": exchange(f"{ROOT} * {OTHERS}", PART),
    "scatterv": exchange(f"{ROOT} * {OTHERS}", PART, "v|"),
    "allgather": exchange("1", OTHERS),
    "allgatherv": exchange("1", OTHERS, "|v"),
    "alltoall": exchange(OTHERS, OTHERS),
    "alltoallv": exchange(OTHERS, OTHERS, "v"),
    "alltoallw": exchange(OTHERS, OTHERS, "w"),
    "neighbor_allgather": exchange("1", IN),
    "neighbor_allgatherv": exchange("1", IN, "|v"),
    "neighbor_alltoall": exchange(OUT, IN),
    "neighbor_alltoallv": exchange(OUT, IN, "v"),
    "neighbor_alltoallw": exchange(OUT, IN, "w"),
    "reduce": reduction(PART, ROOT),
    "allreduce": reduction("1", "1"),
    "scan": reduction("1", "1"),
    "exscan": reduction("1", "1"),
    "reduce_scatter_block": {
        "sendbuf": ("sent", "blocks(own_ranks(comm), recvcount, datatype)"),
        "recvbuf": ("received", "blocks(sendbuf == MPI_IN_PLACE ? own_ranks(comm) : 1, recvcount, datatype)")},
    "reduce_scatter": {
        "sendbuf": ("sent", "blocks(1, total(own_ranks(comm), recvcounts), datatype)"),
        "recvbuf": ("received", "blocks(1, sendbuf == MPI_IN_PLACE ? total(own_ranks(comm), recvcounts) : "
                                "recvcounts[own_rank(comm)], datatype)")},
    "reduce_local": {"inbuf": ("sent", ONE), "inoutbuf": ("received", ONE)},
    "pack": packing("in", "out"),
    "pack_external": packing("in", "out"),
    "unpack": packing("out", "in"),
    "unpack_external": packing("out", "in"),
    "psend": {"buf": ("sent", "partitioned(partitions, count, datatype)")},
    "precv": {"buf": ("received", "partitioned(partitions, count, datatype)")},
}


def operation(name):
    short = name.removeprefix("MPI_").removesuffix("_c").removesuffix("_init").lower()
    short = short[1:] if short.startswith("i") else short
    return re.sub("^(m(?=recv)|[bsr](?=send$))", "", short)


def call(function, buffers):
    request = any(p.name == "request" for p in function.params)
    moves = []
    for name, (way, data) in buffers.items():
        old = next(p for p in function.params if p.name == name)
        value = f"call.{way}({name}, {data})" if way else \
            f"is_root(comm, root) ? const_cast<void*>(call.sent({name}, {data})) : call.received({name}, {data})"
        moves.append(f"  {declare(old.type, 'device_' + name)} = {value};")
    head, params = function.prototype()
    given = ", ".join(f"device_{p.name}" if p.name in buffers else p.name for p in function.params)
    end = "end" if not request else "described" if "_init" in function.name else "started"
    last = ", request" if request else ""
    return "\n".join([f"{head}({', '.join(params)}) {{", "  layer::Call call;", *moves,
                      f"  return call.{end}(P{function.name}({given}){last});", "}\n"])


def main():
    text = ['#include "layer.hpp"\n\nusing namespace layer;\n\nextern "C" {\n']
    seen = set()
    for function in table.functions():
        name = operation(function.name)
        if name not in OPERATIONS or not all(any(p.name == b for p in function.params) for b in OPERATIONS[name]):
            continue
        seen.add(name)
        text.append(call(function, OPERATIONS[name]))
    missing = set(OPERATIONS) - seen
    if missing:
        sys.exit(f"no function for {missing}")
    pathlib.Path(sys.argv[1]).write_text("\n".join(text) + '\n}  // extern "C"\n')


main()
