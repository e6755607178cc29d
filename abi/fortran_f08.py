# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""The Fortran module mpi_f08 and the procedures behind it (docs/design/fortran.md); fortran.py makes mpif.h and the module mpi."""
import re

import fortran
import fortran_buffer
import roles
from build_files import BANNER, definition

ENTRY_FILES = 4

# MPI_T and conversions of handles are for C alone; what MPI-2.0 deprecated is not in this module (MPI-5.0, 19.1.2).
LEFT_OUT = re.compile(r"MPI_(T_\w+|\w+_(toint|fromint)|(Attr|Keyval)_\w+)")

# A generic name cannot tell these from the narrow ones by their arguments; two have names of their own (MPI-5.0, 19.2).
OWN_NAME = {"MPI_Op_create_c", "MPI_Register_datarep_c"}

# Written by hand in src/fortran, with the symbols that a generated one has.
BY_HAND = {*fortran.BY_HAND, "MPI_Isend", "MPI_Op_create_c", "MPI_Register_datarep", "MPI_Register_datarep_c"}

FUNCTIONS = {"MPI_Wtime": ("double precision", []), "MPI_Wtick": ("double precision", []),
             "MPI_Aint_add": ("integer(MPI_ADDRESS_KIND)", ["base", "disp"]),
             "MPI_Aint_diff": ("integer(MPI_ADDRESS_KIND)", ["addr1", "addr2"])}

STRINGS = {"argv": "(*)", "array_of_commands": "(*)", "array_of_argv": "(count, *)"}  # arrays of them

# Names of arguments that the header of C spells in another way.
RENAMED = {"indx": "index"}
C_POINTERS = {"baseptr", "buffer_addr"}
WITHOUT_IERROR = {"MPI_Pcontrol"}

# Arrays whose C declaration does not say that the function stores to them, or does not tell that it does not.
STORED = {"coords", "dims", "periods", "index", "edges", "neighbors", "sources", "sourceweights", "destinations",
          "destweights", "array_of_indices", "array_of_integers", "array_of_addresses", "array_of_large_counts", "ranks2"}
# Where the standard's intent does not follow from C's declaration (MPI-5.0, appendix A.4).
INTENTS = {("MPI_Cancel", "request"): "in", ("MPI_Imrecv", "request"): "out", ("MPI_Imrecv_c", "request"): "out",
           ("MPI_Dist_graph_neighbors", "sourceweights"): "", ("MPI_Dist_graph_neighbors", "destweights"): "",
           ("MPI_Free_mem", "base"): "in", ("MPI_Get_address", "location"): "", ("MPI_Win_detach", "base"): "",
           **{(f"MPI_Comm_spawn{more}", "array_of_errcodes"): "" for more in ("", "_multiple")},
           **{(f"MPI_Comm_spawn{more}", name): "in" for more in ("", "_multiple") for name in STRINGS},
           ("MPI_Abi_set_fortran_booleans", "logical_true"): "in",
           ("MPI_Abi_set_fortran_booleans", "logical_false"): "in"}


def signature(function):
    """The parameters that Fortran has."""
    left_out = set() if "_spawn" in function.name else {"argc", "argv"}
    return [p for p in function.params if p.name not in left_out and not p.variadic and p.name != "void"]


def has_buffer(function):
    return any(fortran_buffer.is_choice(p) for p in signature(function))


def specific(name, choice):
    """The name of the procedure that the linker sees (MPI-5.0, table 19.1)."""
    return f"{name}_f08ts" if choice else f"{name}_f08"


def widths(function):
    """The kinds of a function's arguments: what a generic name goes by."""
    return [fortran.WIDE.get(fortran.split(p)[0], "") != "" for p in signature(function)]


def chosen(functions):
    """Functions that are procedures of the module."""
    by_name = {f.name: f for f in functions}
    result = []
    for f in functions:
        if LEFT_OUT.fullmatch(f.name) or f.name in FUNCTIONS:
            continue
        narrow = by_name.get(f.name.removesuffix("_c"))
        if f.name.endswith("_c") and f.name not in OWN_NAME and widths(f) == widths(narrow):
            continue
        result.append(f)
    return result


# ---- Declarations

def intent(function, param):
    name = RENAMED.get(param.name, param.name)
    base, pointer, const = fortran.split(param)
    if base == "MPI_Status":
        return "in" if const else ""
    if (function.name, name) in INTENTS:
        return INTENTS[function.name, name]
    if name in C_POINTERS or base == "char":
        return "in" if const else "out"
    if name in ("extra_state", "attribute_val"):
        return "out" if "_get_" in function.name else "in"
    if not pointer or const:
        return "in"
    kind = roles.role(function.name, param)
    reads = kind and kind.kind in ("handle_inout", "handles_inout", "value_inout")
    if reads or name in ("position", "buflen", "pset_len") or function.name == "MPI_File_close" or \
            (function.name == "MPI_Dims_create" and name == "dims"):
        return "inout"
    return "in" if "[" in param.type and name not in STORED and base not in roles.HANDLES else "out"


def declaration(function, param):
    name = RENAMED.get(param.name, param.name)
    base, pointer, const = fortran.split(param)
    more = ", asynchronous" if fortran_buffer.is_asynchronous(function, param) else ""
    if fortran_buffer.is_choice(param):
        with_intent = INTENTS.get((function.name, name), "in" if const else "")
        return name, "type(*), dimension(..)" + (f", intent({with_intent})" if with_intent else "") + more
    if base.endswith(("_function", "_function_c")):
        return name, f"procedure({base})"
    array = "(3, *)" if "[3]" in param.type else "(*)" if "[" in param.type or name == "array_of_statuses" else ""
    if base == "char":
        kind = "character(len=*)"
        array = STRINGS.get(name, "")
    elif name in C_POINTERS:
        kind = "type(c_ptr)"
    elif base == "void":
        kind = "integer(MPI_ADDRESS_KIND)"
    elif base in roles.HANDLES or base == "MPI_Status":
        kind = f"type({base})"
    else:
        kind = f"integer({fortran.WIDE[base]})" if base in fortran.WIDE else \
            "logical" if param.name in fortran.LOGICAL else "integer"
    if has_buffer(function) and fortran.described_kind(kind) != kind:
        return name, fortran.described_kind(kind)  # which has no intent(out)
    with_intent = intent(function, param)
    return name + array, kind + (f", intent({with_intent})" if with_intent else "") + more


def body(name, symbol, arguments, ierror=True):
    """An interface body; `symbol` is the linker's name where the call is one of C's."""
    names = [a.partition("(")[0] for a, _ in arguments] + (["ierror"] if ierror else [])
    tail = f' bind(C, name="{symbol}")' if symbol else ""
    lines = [fortran.continued(f"    subroutine {name}({', '.join(names)}){tail}"), "      import"]
    lines += [f"      {kind} :: {argument}" for argument, kind in arguments]
    lines += ["      integer, optional, intent(out) :: ierror"] if ierror else []
    return "\n".join([*lines, f"    end subroutine {name}"])


def interface(function, prefix):
    name = specific(prefix + function.name, has_buffer(function))
    symbol = name.lower() + "_" if has_buffer(function) else None
    arguments = [declaration(function, p) for p in signature(function)]
    return body(name, symbol, arguments, function.name not in WITHOUT_IERROR)


def generic(name, bodies):
    return "\n".join([f"  interface {name}", *bodies, f"  end interface {name}"])


ATTRIBUTE = [("keyval", "integer"), ("extra_state", "integer(MPI_ADDRESS_KIND)")]
VALUE = "integer(MPI_ADDRESS_KIND)"


def copy_arguments(type_):
    return [("object", f"type({type_})"), *ATTRIBUTE, ("attribute_val_in", VALUE), ("attribute_val_out", VALUE),
            ("flag", "logical"), ("ierror", "integer")]


def delete_arguments(type_):
    return [("object", f"type({type_})"), ATTRIBUTE[0], ("attribute_val", VALUE), ATTRIBUTE[1], ("ierror", "integer")]


def callbacks():
    """Interfaces of the procedures that programs give."""
    extra = ("extra_state", VALUE)
    pointers = [("invec", "type(c_ptr), value"), ("inoutvec", "type(c_ptr), value")]
    result = {}
    for suffix, kind in (("", "integer"), ("_c", "integer(MPI_COUNT_KIND)")):
        result[f"MPI_User_function{suffix}"] = [*pointers, ("len", kind), ("datatype", "type(MPI_Datatype)")]
        result[f"MPI_Datarep_conversion_function{suffix}"] = [
            ("userbuf", "type(c_ptr), value"), ("datatype", "type(MPI_Datatype)"), ("count", kind),
            ("filebuf", "type(c_ptr), value"), ("position", "integer(MPI_OFFSET_KIND)"), extra, ("ierror", "integer")]
    for short, type_ in (("Comm", "MPI_Comm"), ("Type", "MPI_Datatype"), ("Win", "MPI_Win")):
        result[f"MPI_{short}_copy_attr_function"] = copy_arguments(type_)
        result[f"MPI_{short}_delete_attr_function"] = delete_arguments(type_)
    for short in ("Comm", "Win", "File", "Session"):
        result[f"MPI_{short}_errhandler_function"] = [("object", f"type(MPI_{short})"), ("error_code", "integer")]
    result["MPI_Grequest_query_function"] = [extra, ("status", "type(MPI_Status)"), ("ierror", "integer")]
    result["MPI_Grequest_free_function"] = [extra, ("ierror", "integer")]
    result["MPI_Grequest_cancel_function"] = [extra, ("complete", "logical"), ("ierror", "integer")]
    result["MPI_Datarep_extent_function"] = [("datatype", "type(MPI_Datatype)"), ("extent", VALUE), extra,
                                             ("ierror", "integer")]
    return result


def predefined():
    """Predefined procedures, which programs give as callbacks."""
    functions = callbacks()
    result = {}
    for upper, short in (("COMM", "Comm"), ("TYPE", "Type"), ("WIN", "Win")):
        result[f"MPI_{upper}_NULL_COPY_FN"] = result[f"MPI_{upper}_DUP_FN"] = functions[f"MPI_{short}_copy_attr_function"]
        result[f"MPI_{upper}_NULL_DELETE_FN"] = functions[f"MPI_{short}_delete_attr_function"]
    result["MPI_CONVERSION_FN_NULL"] = functions["MPI_Datarep_conversion_function"]
    result["MPI_CONVERSION_FN_NULL_C"] = functions["MPI_Datarep_conversion_function_c"]
    return result


# Procedures that C does not have.
STATUS_CONVERSIONS = {"MPI_Status_f2f08": [("f_status(MPI_STATUS_SIZE)", "integer, intent(in)"),
                                           ("f08_status", "type(MPI_Status), intent(out)")],
                      "MPI_Status_f082f": [("f08_status", "type(MPI_Status), intent(in)"),
                                           ("f_status(MPI_STATUS_SIZE)", "integer, intent(out)")]}
SIZEOF = [("x", "type(*), dimension(..), intent(in)"), ("size", "integer, intent(out)")]


def more_interfaces(prefix):
    for name, arguments in STATUS_CONVERSIONS.items():
        yield prefix + name, [body(specific(prefix + name, False), None, arguments)]
    yield f"{prefix}MPI_Sizeof", [body(f"{prefix}MPI_Sizeof_f08ts", f"{prefix.lower()}mpi_sizeof_f08ts_", SIZEOF)]
    yield f"{prefix}MPI_F_sync_reg", [body(f"{prefix}MPI_F_sync_reg_f08ts", f"{prefix.lower()}mpi_f_sync_reg_f08ts_",
                                           [("buf", "type(*), dimension(..), asynchronous")], ierror=False)]
    for name, (kind, arguments) in FUNCTIONS.items():
        function = f"{prefix}{name}_f08"
        lines = [f"    {kind} function {function}({', '.join(arguments)})", "      import",
                 *(f"      {kind}, intent(in) :: {a}" for a in arguments), f"    end function {function}"]
        yield prefix + name, ["\n".join(lines)]


def operators():
    """== and /= of handles: elemental, so that they take arrays."""
    for sign, word in (("==", "equal"), ("/=", "unequal")):
        bodies = []
        for type_ in sorted(roles.HANDLES):
            name = f"weft_{type_[4:].lower()}_{word}"
            bodies.append(f"    elemental logical function {name}(a, b)\n      import\n"
                          f"      type({type_}), intent(in) :: a, b\n    end function {name}")
        yield generic(f"operator({sign})", bodies)


# ---- The modules

def types_module():
    """Types that the modules mpi and mpi_f08 share: a program may use both."""
    lines = [fortran.FORTRAN_BANNER + "module weft_mpi_types", "  implicit none"]
    lines += [f"  type, bind(C) :: {t}\n    integer :: MPI_VAL\n  end type {t}" for t in sorted(roles.HANDLES)]
    lines += ["  type, bind(C) :: MPI_Status\n    integer :: MPI_SOURCE, MPI_TAG, MPI_ERROR\n"
              "    integer, private :: weft_internal(5)\n  end type MPI_Status"]
    lines += list(operators())
    return "\n".join(lines) + "\nend module weft_mpi_types\n"


# Variables whose addresses stand for constants of C.
ADDRESSES = {"MPI_BOTTOM": "integer", "MPI_IN_PLACE": "integer", "MPI_BUFFER_AUTOMATIC": "integer",
             "MPI_UNWEIGHTED": "integer", "MPI_WEIGHTS_EMPTY": "integer", "MPI_ERRCODES_IGNORE": "integer",
             "MPI_STATUS_IGNORE": "type(MPI_Status)", "MPI_STATUSES_IGNORE": "type(MPI_Status)",
             "MPI_ARGV_NULL": "character(len=1)", "MPI_ARGVS_NULL": "character(len=1)"}


def parameters(constants):
    handles = {c["name"]: c["type"] for c in constants["constants"]}
    values = {c["name"]: c for c in constants["constants"]}
    lines = []
    for kind, name, value in fortran.constants_lines(constants):
        type_ = handles.get(name)
        if type_ == "alias":
            type_ = values[values[name]["value"]]["type"]
        if type_ in roles.HANDLES:
            kind, value = f"type({type_})", f"{type_}({value})"
        if name in ("MPI_SUBARRAYS_SUPPORTED", "MPI_ASYNC_PROTECTS_NONBLOCKING"):
            value = ".true."
        lines.append(f"  {kind}, parameter :: {name} = {value}")
    return lines


def variables():
    for name, kind in ADDRESSES.items():
        block, shape = fortran.COMMONS[name]
        yield f'  {kind}, bind(C, name="weft_fortran_{block}_"), target :: {name}{f08_shape(name, shape)}'


def f08_shape(name, shape):
    """A status is one variable here, and in mpif.h an array."""
    return {"MPI_STATUS_IGNORE": "", "MPI_STATUSES_IGNORE": "(1)"}.get(name, shape)


def module(functions, constants):
    lines = [fortran.FORTRAN_BANNER + "module mpi_f08", "  use, intrinsic :: iso_c_binding, only: c_ptr",
             "  use weft_mpi_types", "  implicit none", "  private :: c_ptr", *parameters(constants), *variables()]
    lines += ["  abstract interface"]
    lines += [body(name, None, arguments, ierror=False) for name, arguments in callbacks().items()]
    lines += ["  end interface", "  interface"]
    lines += [body(name, None, arguments, ierror=False) for name, arguments in predefined().items()]
    lines += ["  end interface"]
    for prefix in ("", "P"):
        bodies = {}
        for f in chosen(functions):
            name = f.name if f.name in OWN_NAME else f.name.removesuffix("_c")
            bodies.setdefault(prefix + name, []).append(interface(f, prefix))
        lines += [generic(name, found) for name, found in [*bodies.items(), *more_interfaces(prefix)]]
    return "\n".join(lines) + "\nend module mpi_f08\n"


# ---- The procedures

def converted(function, param):
    """Declaration and argument of a procedure's parameter, where mpif.h's procedure has another or none."""
    if param.name == "buffer_addr":
        return "void* buffer_addr", "buffer_addr"
    return fortran.converted(function, param)[:2]


def is_alias(function, in_mpif):
    return function.name in in_mpif and not any(p.name == "buffer_addr" for p in function.params)


def procedure(function, prefix):
    if has_buffer(function):
        return fortran_buffer.procedure(function, prefix, converted)
    parts = [converted(function, p) for p in function.params]
    lengths = [f"size_t {p.name}_length" for p in function.params if fortran.split(p)[0] == "char"]
    head = f'extern "C" __attribute__((visibility("default"))) void {(prefix + function.name).lower()}_f08_'
    call = f"{prefix}{function.name}({', '.join(a for _, a in parts)})"
    return definition(head, [c for c, _ in parts] + ["MPI_Fint* ierror"] + lengths, f" {{\n  give(ierror, {call});\n}}")


def entry_cpp(functions):
    lines = [BANNER + '#include "fortran/buffer.hpp"\n\nnamespace weft::fortran {\n']
    lines += [procedure(f, prefix) for f in functions for prefix in ("", "P")]
    return "\n".join(lines) + "\n\n}  // namespace weft::fortran\n"


def names(functions):
    """The linker's names of all procedures of the module."""
    result = [specific(f.name, has_buffer(f)).lower() + "_" for f in chosen(functions)]
    result += [specific(n, False).lower() + "_" for n in [*STATUS_CONVERSIONS, *FUNCTIONS]]
    return result + ["mpi_sizeof_f08ts_", "mpi_f_sync_reg_f08ts_"]


def build_files(functions, constants):
    in_mpif = {f.name for f in fortran.chosen(functions)}
    ready = [f for f in chosen(functions) if f.name not in BY_HAND and (has_buffer(f) or not is_alias(f, in_mpif))]
    share = -(-len(ready) // ENTRY_FILES)
    for i in range(ENTRY_FILES):
        yield f"fortran_f08_{i}.cpp", entry_cpp(ready[i * share:(i + 1) * share])
    yield "fortran/mpi_types.f90", types_module()
    yield "fortran/mpi_f08.f90", module(functions, constants)
