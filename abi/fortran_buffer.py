# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Procedures of mpi_f08 with choice buffers: how each buffer's descriptor becomes an argument of C (src/fortran/buffer.hpp)."""
import re

import fortran
from build_files import definition

NOT_CHOICE = {"baseptr", "buffer_addr", "extra_state", "attribute_val"}

# Buffers with a block for each rank, which lie one behind another: a datatype for all of them cannot leave out gaps.
SIDES = {"gather": "recvbuf", "scatter": "sendbuf", "allgather": "recvbuf", "alltoall": "sendbuf recvbuf",
         "neighbor_allgather": "recvbuf", "neighbor_alltoall": "sendbuf recvbuf"}
# Buffers of bytes.
BYTES = {("MPI_Pack", "outbuf"), ("MPI_Unpack", "inbuf"), ("MPI_Pack_external", "outbuf"), ("MPI_Unpack_external", "inbuf")}
# A conversion goes by the basic types, which the bytes of a described section do not tell.
CONVERTED = {("MPI_Pack_external", "inbuf"), ("MPI_Unpack_external", "outbuf")}


def is_choice(param):
    return param.type in ("void *", "const void *") and param.name not in NOT_CHOICE


def plain_name(function):
    return function.name.removesuffix("_c")


def makes_request(function):
    return any(p.type == "MPI_Request *" for p in function.params) and plain_name(function) not in ("MPI_Start",)


# Functions without a request whose buffers the library uses after the call.
KEPT = re.compile(r"""MPI_((Win|Buffer|Comm_attach|Session_attach)_\w+ | Put | Get | Accumulate | Get_accumulate | Fetch_and_op
  | Compare_and_swap | File_\w+_(begin|end) | Free_mem | Get_address)""", re.X)


def is_asynchronous(function, param):
    """Of a buffer, an array or a handle that the library may use after the call."""
    if is_choice(param):
        return makes_request(function) or KEPT.fullmatch(plain_name(function)) is not None
    if param.name == "newcomm":
        return makes_request(function)
    return makes_request(function) and "[]" in param.type and param.type.startswith("const ") and \
        any(is_choice(p) for p in function.params)


def way(function, position):
    """How a buffer is given on: raw, buffer (a count and a datatype follow), parts (of a partitioned message) or scratch."""
    params = function.params
    param, name = params[position], plain_name(function)
    following = [p.type for p in params[position + 1:position + 3]]
    if (name, param.name) in BYTES | CONVERTED:
        return "scratch"
    if name in ("MPI_Psend_init", "MPI_Precv_init"):
        return "parts"
    operation = re.fullmatch(r"MPI_(?:I(?=[a-z]))?(\w+?)(?:_init)?", name).group(1).lower()
    if any(p.name == "sendbuf" for p in params) and any(p.name == "recvbuf" for p in params):
        if any(p.type == "MPI_Op" for p in params) or "[]" in following[0]:
            return "scratch"
        if param.name in SIDES.get(operation, "").split():
            return "scratch"
    if name == "MPI_Reduce_local":
        return "scratch"
    return "buffer" if following in (["int", "MPI_Datatype"], ["MPI_Count", "MPI_Datatype"]) else "raw"


def native_param(param, text):
    return f"const NativeArray* {param.name}_array" if is_choice(param) else text


def quick(function, arguments, call_with, rare, given_name):
    """The call without gaps in its buffers: the rest is apart, so that it takes no registers here."""
    described = [name for name, argument in arguments.items() if argument.endswith(".address")]
    tests = " && ".join(f"contiguous({given_name(name)}, &{name}_at)" for name in described)
    given = arguments | {name: f"{name}_at" for name in described}
    given |= {name: f"address_of({given_name(name)})" for name, argument in arguments.items() if argument == f"address_of({name})"}
    names = ", ".join([given_name(p.name) if is_choice(p) else p.name for p in function.params] + ["ierror"])
    return "\n".join([" {", *(f"  void* {name}_at;" for name in described),
                      f"  if (!({tests})) [[unlikely]]", f"    return {rare}({names});",
                      f"  give(ierror, {call_with(given)});", "}"])


def procedure(function, prefix, converted, native=False):
    """native: arrays and strings come as gfortran passes them to procedures that are not bind(C)."""
    params, before, arguments, troubled, replaced = [], [], {}, [], {}
    scratch = False
    for i, p in enumerate(function.params):
        base = fortran.split(p)[0]
        if is_choice(p):
            params.append(f"const Section* {p.name}")
            kind = way(function, i)
            if kind in ("buffer", "parts"):
                skip = 1 if kind == "parts" else 0
                count, type_ = function.params[i + 1 + skip].name, function.params[i + 2 + skip].name
                parts = "*partitions, " if skip else ""
                before.append(f"  FortranBuffer {p.name}_at({p.name}, {parts}*{count}, *{type_});")
                troubled.append(f"{p.name}_at")
                arguments[p.name] = f"{p.name}_at.address"
                replaced |= {count: f"{p.name}_at.count", type_: f"{p.name}_at.type"}
            elif kind == "scratch":
                stores = "false" if p.type.startswith("const") else "true"
                before += [] if scratch else ["  ContiguousCopies scratch;"]
                before.append(f"  void* const {p.name}_at = scratch.of({p.name}, {stores});")
                troubled += [] if scratch else ["scratch"]
                scratch = True
                arguments[p.name] = f"{p.name}_at"
            else:
                arguments[p.name] = f"address_of({p.name})"
        elif base == "char" and not native:
            params.append(f"const Section* {p.name}")
            arguments[p.name] = f"StringIn(static_cast<const char*>({p.name}->address), {p.name}->element)"
        else:
            declared, argument = converted(function, p)
            params.append(declared)
            arguments[p.name] = argument
    def call_with(given):
        return f"{prefix}{function.name}({', '.join(given[p.name] for p in function.params)})"

    call = call_with(arguments | replaced)
    lines = before
    for name in troubled:
        lines.append(f"  if ({name}.trouble.error != MPI_SUCCESS) [[unlikely]]\n"
                     f"    return give(ierror, raise(\"{function.name}\", {name}.trouble));")
    if scratch and makes_request(function):
        lines += ["  scratch.arm();", f"  const int code = {call};", "  scratch.made();", "  give(ierror, code);"]
    else:
        lines.append(f"  give(ierror, {call});")
    head = f'extern "C" __attribute__((visibility("default"))) void {(prefix + function.name).lower()}_f08ts_'
    lengths = [f"size_t {p.name}_length" for p in function.params if native and fortran.split(p)[0] == "char"]
    given = [native_param(p, text) for p, text in zip(function.params, params)] if native else params
    given = given + ["MPI_Fint* ierror"] + lengths
    sections = [f"  const IsoDescriptor {p.name}_descriptor({p.name}_array);\n"
                f"  const Section* const {p.name} = {p.name}_descriptor.section();\n"
                for p in function.params if native and is_choice(p)]
    whole = " {\n" + "".join(sections) + "\n".join(lines) + "\n}"
    # The module mpi has the same procedure under another name.
    alias = "" if native or function.name.endswith("_c") else f"\nWEFT_FTS({(prefix + function.name).lower()})"
    if scratch or not replaced:
        return definition(head, given, whole) + alias
    rare = f"rare_{(prefix + function.name).lower()}"
    apart = definition(f"[[gnu::cold, gnu::noinline]] static void {rare}", given, whole)
    return apart + "\n" + definition(head, given, quick(function, arguments, call_with, rare, "{}_array".format if native else str)) + alias
