# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""The Fortran module mpi_f08 and the C procedures behind it (docs/fortran.md); fortran.py makes mpif.h and the module mpi."""
import roles

# Procedures that have a Fortran form: their parameters are counts, ranks, tags, handles, statuses, and buffers that their
# count and datatype follow.
READY = """Abort Barrier Bcast Bsend Comm_compare Comm_dup Comm_free Comm_group Comm_rank Comm_remote_size Comm_size Comm_split
Finalize Get_count Get_elements Group_free Group_rank Group_size Init Irecv Irsend Isend Issend Ibsend Probe Recv Recv_init
Request_free Rsend Rsend_init Send Send_init Sendrecv Ssend Ssend_init Start Type_commit Type_contiguous Type_free Type_size
Type_vector Bsend_init Wait""".split()

SHORT = {"MPI_Datatype": "Type"}  # handles whose conversions have another name
KINDS = ("      INTEGER MPI_ADDRESS_KIND, MPI_COUNT_KIND\n"
         "      INTEGER MPI_OFFSET_KIND, MPI_INTEGER_KIND\n"
         "      PARAMETER (MPI_ADDRESS_KIND=8, MPI_COUNT_KIND=8)\n"
         "      PARAMETER (MPI_OFFSET_KIND=8, MPI_INTEGER_KIND=4)\n"
         "      INTEGER MPI_STATUS_SIZE, MPI_SOURCE, MPI_TAG, MPI_ERROR\n"
         "      PARAMETER (MPI_STATUS_SIZE=8)\n"
         "      PARAMETER (MPI_SOURCE=1, MPI_TAG=2, MPI_ERROR=3)\n"
         "      LOGICAL MPI_SUBARRAYS_SUPPORTED\n"
         "      LOGICAL MPI_ASYNC_PROTECTS_NONBLOCKING\n"
         "      PARAMETER (MPI_SUBARRAYS_SUPPORTED=.FALSE.)\n"
         "      PARAMETER (MPI_ASYNC_PROTECTS_NONBLOCKING=.FALSE.)\n")
CLOCKS = {"MPI_Wtime": "wtime", "MPI_Wtick": "wtick"}
# Variables that stand for an address: C compares with theirs.
ADDRESSES = {"MPI_BOTTOM": ("bottom", "integer"), "MPI_IN_PLACE": ("in_place", "integer"),
             "MPI_STATUS_IGNORE": ("status_ignore", "type(MPI_Status)")}


def convert(type_):
    return f"MPI_{SHORT.get(type_, type_.removeprefix('MPI_'))}"


def chosen(functions):
    names = {"MPI_" + name for name in READY}
    return [f for f in functions if f.name in names]


def arguments(function):
    """(parameter, kind): kind is handle, handle_out, handle_inout, status, status_in, buffer, in or out."""
    if function.name == "MPI_Init":  # argc and argv are C's
        return []
    result = []
    for p in function.params:
        if p.name == "void":
            continue
        role = roles.role(function.name, p)
        if role.kind.startswith("handle"):
            kind = role.kind
        elif "MPI_Status" in p.type:
            kind = "status_in" if p.type.startswith("const") else "status"
        elif "void *" in p.type:
            kind = "buffer"
        elif p.type in ("int", "int *"):
            kind = "in" if p.type == "int" else "out"
        else:
            raise ValueError(f"{function.name}: no Fortran form of {p.type} {p.name}")
        result.append((p, kind))
    return result


def intent(function, param, kind):
    if kind == "buffer":
        return "in" if param.type.startswith("const") else ""
    if kind == "handle" or kind.endswith("in"):
        return "in"
    return "inout" if kind == "handle_inout" else "out" if kind == "out" or kind == "handle_out" else ""


def declaration(function, param, kind):
    if kind == "buffer":
        head = "type(*), dimension(..)"
        if function.name[4] == "I" or function.name.endswith("_init"):
            head += ", asynchronous"
    elif kind.startswith("status"):
        head = "type(MPI_Status)"
    elif kind.startswith("handle"):
        head = f"type({roles.role(function.name, param).of})"
    else:
        head = "integer"
    with_intent = intent(function, param, kind)
    return f"{head}{', intent(' + with_intent + ')' if with_intent else ''} :: {param.name}"


def interface(function):
    args = arguments(function)
    names = [p.name for p, _ in args] + ["ierror"]
    # A line of Fortran has at most 132 columns.
    lines = [f"    subroutine {function.name}( &"]
    lines += [f"        {name}{', &' if name != 'ierror' else ') &'}" for name in names]
    lines += [f'        bind(C, name="weft_fortran_{function.inner}")']
    lines += [f"      import :: {', '.join(imports(function))}"] if imports(function) else []
    lines += [f"      {declaration(function, p, kind)}" for p, kind in args]
    lines += ["      integer, optional, intent(out) :: ierror", f"    end subroutine {function.name}"]
    return "\n".join(lines)


def imports(function):
    types = {roles.role(function.name, p).of for p, kind in arguments(function) if kind.startswith("handle")}
    if any(kind.startswith("status") for _, kind in arguments(function)):
        types.add("MPI_Status")
    return sorted(types)


def values(constants):
    """(name, value, type) of integers and handles; what belongs to the tools' interface is C's alone."""
    value = {c["name"]: c for c in constants["constants"]}
    for c in constants["constants"]:
        real = value.get(c["value"]) if c["type"] == "alias" else c
        if real and "MPI_T_" not in c["name"] and (real["type"] == "int" or real["type"] in roles.HANDLES):
            yield c["name"], real["value"], real["type"]


def parameters(constants):
    lines = [KINDS]
    for name, value, type_ in values(constants):
        if type_ == "int":
            lines.append(f"      INTEGER {name}\n      PARAMETER ({name}={value})\n")
        else:
            lines.append(f"      type({type_}), parameter :: {name} = {type_}({value})\n")
    return "".join(lines)


def module(functions, constants):
    lines = ["! SPDX-FileCopyrightText: 2026 the Weft authors", "! SPDX-License-Identifier: BSD-3-Clause",
             "! Generated by abi/generate.py; do not edit.", "module mpi_f08", "  use, intrinsic :: iso_c_binding, only: c_double",
             "  implicit none", "  private :: c_double"]
    lines += [f"  type, bind(C) :: {t}\n    integer :: MPI_VAL\n  end type {t}" for t in sorted(roles.HANDLES)]
    lines += ["  type, bind(C) :: MPI_Status\n    integer :: MPI_SOURCE, MPI_TAG, MPI_ERROR\n"
              "    integer, private :: weft_internal(5)\n  end type MPI_Status"]
    lines.append(parameters(constants))
    for variable, (symbol, type_) in ADDRESSES.items():
        lines.append(f'  {type_}, bind(C, name="weft_fortran_{symbol}_"), target :: {variable}')
    lines.append("  interface")
    lines += [interface(f) for f in chosen(functions)]
    for clock, short in CLOCKS.items():
        lines.append(f'    function {clock}() bind(C, name="weft_fortran_{short}")\n      import :: c_double\n'
                     f"      real(c_double) :: {clock}\n    end function {clock}")
    return "\n".join(lines) + "\n  end interface\nend module mpi_f08\n"


def c_procedure(function):
    """A procedure that takes descriptors of buffers."""
    args = arguments(function)
    described = {}  # counts and datatypes that a buffer's description replaces
    params, before, call, after = [], [], [], []
    for i, (p, kind) in enumerate(args):
        name, of = p.name, roles.role(function.name, p).of
        if kind == "buffer":
            params.append(f"const Section *{name}")
            count, type_ = args[i + 1][0].name, args[i + 2][0].name
            before.append(f"  Buffer {name}_at = weft_fortran_buffer({name}, *{count}, MPI_Type_fromint(*{type_}));")
            after.append(f"  weft_fortran_release(&{name}_at);")
            described |= {count: f"{name}_at.count", type_: f"{name}_at.type"}
            call.append(f"{name}_at.address")
        elif name in described:
            params.append(f"const int *{name}")
            call.append(described[name])
        elif kind == "handle":
            params.append(f"const int *{name}")
            call.append(f"{convert(of)}_fromint(*{name})")
        elif kind.startswith("handle_"):
            params.append(f"int *{name}")
            start = f"{convert(of)}_fromint(*{name})" if kind == "handle_inout" else f"{of.upper()}_NULL"
            before.append(f"  {of} {name}_c = {start};")
            call.append(f"&{name}_c")
            after.append(f"  if (code == MPI_SUCCESS) *{name} = {convert(of)}_toint({name}_c);")
        elif kind.startswith("status"):
            params.append(f"MPI_Status *{name}")
            call.append(f"weft_fortran_status({name})")
        else:
            params.append(f"const int *{name}" if kind == "in" else f"int *{name}")
            call.append(f"*{name}" if kind == "in" else name)
    if function.name == "MPI_Init":
        call = ["NULL", "NULL"]
    symbol = "weft_fortran_" + function.inner
    body = before + [f"  const int code = {function.name}({', '.join(call)});"] + after
    body.append("  if (ierror) *ierror = code;")
    return "\n".join([f"void {symbol}({', '.join(params + ['int *ierror'])}) {{"] + body + ["}"]) + "\n"


def procedures_c(functions):
    lines = ["/* Generated by abi/generate.py; do not edit. */", '#include "fortran/buffer.h"', "",
             *[f"double weft_fortran_{short}(void) {{ return {clock}(); }}" for clock, short in CLOCKS.items()], ""]
    for f in chosen(functions):
        lines.append(c_procedure(f))
    return "\n".join(lines)


def build_files(functions, constants):
    yield "fortran/mpi_f08.f90", module(functions, constants)
    yield "fortran/procedures.c", procedures_c(functions)
