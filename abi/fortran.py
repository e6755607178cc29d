# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Fortran's mpif.h and module mpi, and the procedures behind both in libweft_mpifort.so (docs/design/fortran.md)."""
import re

import roles
from build_files import BANNER, definition

ENTRY_FILES = 2

# Written by hand in src/fortran, with their interfaces: arguments of C and Fortran differ.
BY_HAND = {
    "MPI_Init": "ierror",
    "MPI_Init_thread": "required, provided, ierror",
    "MPI_Pcontrol": "level",
    "MPI_Info_create_env": "info, ierror",
    "MPI_Comm_get_attr": "comm, comm_keyval, attribute_val, flag, ierror",
    "MPI_Win_get_attr": "win, win_keyval, attribute_val, flag, ierror",
    "MPI_Attr_get": "comm, keyval, attribute_val:integer, flag, ierror",
    "MPI_Info_get_string": "info, key, buflen, value, flag, ierror",
    "MPI_Session_get_nth_pset": "session, info, n, pset_len, pset_name, ierror",
    "MPI_F_sync_reg": "buf",
    "MPI_Op_create": "user_fn:external, commute:logical, op, ierror",
    "MPI_Comm_create_errhandler": "comm_errhandler_fn:external, errhandler, ierror",
    "MPI_Win_create_errhandler": "win_errhandler_fn:external, errhandler, ierror",
    "MPI_File_create_errhandler": "file_errhandler_fn:external, errhandler, ierror",
    "MPI_Session_create_errhandler": "session_errhandler_fn:external, errhandler, ierror",
    "MPI_Grequest_start": "query_fn:external, free_fn:external, cancel_fn:external, extra_state, request, ierror",
    "MPI_Comm_create_keyval": "comm_copy_attr_fn:external, comm_delete_attr_fn:external, comm_keyval, extra_state, ierror",
    "MPI_Type_create_keyval": "type_copy_attr_fn:external, type_delete_attr_fn:external, type_keyval, extra_state, ierror",
    "MPI_Win_create_keyval": "win_copy_attr_fn:external, win_delete_attr_fn:external, win_keyval, extra_state, ierror",
    "MPI_Keyval_create": "copy_fn:external, delete_fn:external, keyval, extra_state:integer, ierror",
    "MPI_Comm_set_attr": "comm, comm_keyval, attribute_val, ierror",
    "MPI_Type_set_attr": "datatype, type_keyval, attribute_val, ierror",
    "MPI_Win_set_attr": "win, win_keyval, attribute_val, ierror",
    "MPI_Register_datarep": "datarep, read_conversion_fn:external, write_conversion_fn:external, "
                            "dtype_file_extent_fn:external, extra_state, ierror",
    "MPI_Attr_put": "comm, keyval, attribute_val:integer, ierror",
    "MPI_Type_get_attr": "datatype, type_keyval, attribute_val, flag, ierror",
    "MPI_Comm_spawn": "command:character(len=*), argv:character(len=*)(*), maxprocs, info, root, comm, intercomm, "
                      "array_of_errcodes:integer(*), ierror",
    "MPI_Comm_spawn_multiple": "count, array_of_commands:character(len=*)(*), array_of_argv:character(len=*)(*), "
                               "array_of_maxprocs:integer(*), array_of_info:integer(*), root, comm, intercomm, "
                               "array_of_errcodes:integer(*), ierror",
}
ADDRESSES = ("attribute_val", "attribute_val_in", "attribute_val_out", "extra_state")
KINDS = {**dict.fromkeys(ADDRESSES, "integer(MPI_ADDRESS_KIND)"), "key": "character(len=*)", "value": "character(len=*)",
         "pset_name": "character(len=*)", "datarep": "character(len=*)",
         "flag": "logical"}

# The predefined functions of attributes are procedures of the same interface as the program's.
COPY = "object, keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror"
DELETE = "object, keyval, attribute_val, extra_state, ierror"
ATTRIBUTE_FUNCTIONS = {f"MPI_{kind}_{name}": text for kind in ("COMM", "TYPE", "WIN")
                       for name, text in (("NULL_COPY_FN", COPY), ("DUP_FN", COPY), ("NULL_DELETE_FN", DELETE))}
ATTRIBUTE_FUNCTIONS |= {f"MPI_{name}": re.sub(r"(extra_state|attribute_val\w*)", r"\1:integer", text)
                        for name, text in (("NULL_COPY_FN", COPY), ("DUP_FN", COPY), ("NULL_DELETE_FN", DELETE))}

# MPI_T and conversions are for C alone.
LEFT_OUT = re.compile(r"""MPI_(T_\w+ | \w+_(toint|fromint|c2f|f2c|c2f08|f082c|f2f08|f082f)
  | Aint_(add|diff) | Wtime | Wtick)""", re.X)

LOGICAL = {"flag", "periods", "reorder", "remain_dims", "high", "weighted", "commute", "is_set"}
WEIGHTS = {"weights", "sourceweights", "destweights"}
INFO_STRINGS = {"key", "value"}
LONGEST = {"string": "MPI_MAX_ERROR_STRING", "comm_name": "MPI_MAX_OBJECT_NAME", "type_name": "MPI_MAX_OBJECT_NAME",
           "win_name": "MPI_MAX_OBJECT_NAME", "port_name": "MPI_MAX_PORT_NAME",
           "name": "MPI_MAX_PROCESSOR_NAME", "datarep": "MPI_MAX_DATAREP_STRING",
           "version": "MPI_MAX_LIBRARY_VERSION_STRING", "key": "MPI_MAX_INFO_KEY",
           "value": "static_cast<size_t>(std::max(*valuelen, 0))"}
WIDE = {"MPI_Aint": "MPI_ADDRESS_KIND", "MPI_Offset": "MPI_OFFSET_KIND", "MPI_Count": "MPI_COUNT_KIND"}


def chosen(functions):
    return [f for f in functions if not f.name.endswith("_c") and f.name not in BY_HAND and not LEFT_OUT.fullmatch(f.name)]


def split(param):
    """The base of a parameter's type, and whether the C function takes a pointer or an array of it."""
    base = param.type.removeprefix("const ").partition(" [")[0].rstrip("* ").strip()
    return base, "*" in param.type or "[" in param.type, param.type.startswith("const ")


def converted(function, param):
    """A parameter of the C procedure, the argument that it gives to the function of C, and its declaration in Fortran."""
    name = param.name
    base, pointer, const = split(param)
    if base == "void":
        if name == "buffer_addr":
            return "void*", "Ignored()", None
        kind = "void*" if not const else "const void*"
        argument = name if name == "baseptr" else f"buffer_in({name})"
        return f"{kind} {name}", argument, None
    if base == "char":
        if const:
            strip = ", true" if name in INFO_STRINGS and function.name.startswith("MPI_Info_") else ""
            return f"const char* {name}", f"StringIn({name}, {name}_length{strip})", "character(len=*), intent(in)"
        return f"char* {name}", f"StringOut({name}, {name}_length, {LONGEST[name]})", "character(len=*)"
    if base == "MPI_Status":
        array = "(MPI_STATUS_SIZE, *)" if name.startswith("array") else "(MPI_STATUS_SIZE)"
        return f"MPI_Fint* {name}", f"status_in({name})", "integer" + array
    if base in roles.HANDLES:
        return handle(function, param, base, pointer)
    kind = f"integer({WIDE[base]})" if base in WIDE else "logical" if name in LOGICAL else "integer"
    type_ = base if base in WIDE else "MPI_Fint"
    if not pointer:
        return f"const {type_}* {name}", f"*{name}", kind + ", intent(in)"
    array = "(3, *)" if "[3]" in param.type else "(*)" if "[" in param.type else ""
    argument = name
    if name == "indx" and array == "":
        argument = f"IndexOut({name})"
    elif name == "array_of_indices":
        argument = f"IndicesOut({name}, outcount)"
    elif name in WEIGHTS:
        argument = f"weights_in({name})"
    c_type = f"{'const ' if const else ''}{type_} {name}[][3]" if "[3]" in param.type else \
        f"{'const ' if const else ''}{type_}* {name}"
    return c_type, argument, kind + array


def handle(function, param, base, pointer):
    name, role = param.name, roles.role(function.name, param)
    if not pointer:
        return f"const MPI_Fint* {name}", f"Convert<{base}>::in(*{name})", "integer, intent(in)"
    length = role.length
    if length and "(comm)" in length:
        length = length.replace("(comm)", "(Convert<MPI_Comm>::in(*comm))")
    elif length:
        length = "*" + length
    return {
        "handle_out": (f"MPI_Fint* {name}", f"Out<{base}>({name})", "integer"),
        "file_out": (f"MPI_Fint* {name}", f"{'InOut' if function.name == 'MPI_File_close' else 'Out'}<{base}>({name})", "integer"),
        "handle_inout": (f"MPI_Fint* {name}", f"InOut<{base}>({name})", "integer"),
        "handles_in": (f"const MPI_Fint* {name}", f"HandlesIn<{base}>({length}, {name})", "integer(*), intent(in)"),
        "handles_inout": (f"MPI_Fint* {name}", f"HandlesInOut<{base}>({length}, {name})", "integer(*)"),
        "handles_out": (f"MPI_Fint* {name}", f"HandlesOut<{base}>({length}, {name})", "integer(*)"),
    }[role.kind]


def has_f08(function):
    """Whether the module mpi_f08 has the same procedure under another name: without choice buffers."""
    return not any(split(p)[0] == "void" and p.name != "baseptr" for p in function.params) and \
        not function.name.startswith(("MPI_Attr_", "MPI_Keyval_"))


def entry_cpp(functions):
    lines = [BANNER + '#include "fortran/convert.hpp"\n\nnamespace weft::fortran {\n']
    for f in functions:
        parts = [converted(f, p) for p in f.params]
        lengths = [f"size_t {p.name}_length" for p in f.params if split(p)[0] == "char"]
        params = [c for c, _, _ in parts] + ["MPI_Fint* ierror"] + lengths
        for prefix in ("", "P"):
            head = f'extern "C" __attribute__((visibility("default"))) void {(prefix + f.name).lower()}_'
            call = f"{prefix}{f.name}({', '.join(a for _, a, _ in parts)})"
            lines.append(definition(head, params, f" {{\n  give(ierror, {call});\n}}"))
            if has_f08(f):
                lines.append(f"WEFT_F08({(prefix + f.name).lower()})")
    return "\n".join(lines) + "\n\n}  // namespace weft::fortran\n"


def constants_lines(constants):
    """Pairs of a declaration and the name and value of a constant."""
    places = constants.get("status_places", {"MPI_STATUS_SIZE": 8, "MPI_SOURCE": 1, "MPI_TAG": 2, "MPI_ERROR": 3})
    rows = [("integer", n, v) for n, v in (*places.items(), ("MPI_ADDRESS_KIND", 8), ("MPI_OFFSET_KIND", 8),
                                          ("MPI_COUNT_KIND", 8), ("MPI_INTEGER_KIND", 4))]
    rows += [("logical", n, ".false.") for n in ("MPI_SUBARRAYS_SUPPORTED", "MPI_ASYNC_PROTECTS_NONBLOCKING")]
    values = {c["name"]: c["value"] for c in constants["constants"]}
    for c in constants["constants"]:
        name, type_ = c["name"], c["type"]
        if name.startswith(("MPI_T_", "MPI_ABI_Count")):
            continue
        value = values.get(c["value"]) if type_ == "alias" else c["value"]
        if type_ == "MPI_Offset":
            rows.append(("integer(MPI_OFFSET_KIND)", name, value))
        elif type_ in roles.HANDLES or type_ in ("int", "alias"):
            # The longest string of Fortran has no zero at its end.
            rows.append(("integer", name, value - 1 if name.startswith("MPI_MAX_") else value))
    return rows


COMMONS = {"MPI_BOTTOM": ("bottom", ""), "MPI_ERRCODES_IGNORE": ("errcodes_ignore", "(1)"),
           "MPI_ARGV_NULL": ("argv_null", "(1)"), "MPI_ARGVS_NULL": ("argvs_null", "(1,1)"),
           "MPI_IN_PLACE": ("in_place", ""), "MPI_BUFFER_AUTOMATIC": ("buffer_automatic", ""),
           "MPI_UNWEIGHTED": ("unweighted", "(1)"), "MPI_WEIGHTS_EMPTY": ("weights_empty", "(1)"),
           "MPI_STATUS_IGNORE": ("status_ignore", "(MPI_STATUS_SIZE)"),
           "MPI_STATUSES_IGNORE": ("statuses_ignore", "(MPI_STATUS_SIZE,1)")}


def declarations(constants):
    """Lines that are right in the fixed and in the free form."""
    lines = []
    for kind, name, value in constants_lines(constants):
        lines += [f"      {kind} {name}", f"      parameter ({name}={value})"]
    blocks = constants.get("commons", {f"weft_fortran_{block}": {name: shape} for name, (block, shape) in COMMONS.items()})
    for block, names in blocks.items():
        lines += [f"      {'character*1' if 'ARGV' in name else 'integer'} {name}{shape}" for name, shape in names.items()]
        lines.append(f"      common /{block}/ {', '.join(names)}")
    return "\n".join(lines) + "\n"


FORTRAN_BANNER = """! SPDX-FileCopyrightText: 2026 the Weft authors
! SPDX-License-Identifier: BSD-3-Clause
! Generated by abi/generate.py; do not edit.
"""


def mpif_h(constants):
    functions = "".join(f"      {kind} {p}{name}\n      external {p}{name}\n" for p in ("", "P")
                        for kind, name in (("double precision", "MPI_WTIME"), ("double precision", "MPI_WTICK"),
                                           ("integer(MPI_ADDRESS_KIND)", "MPI_AINT_ADD"),
                                           ("integer(MPI_ADDRESS_KIND)", "MPI_AINT_DIFF")))
    functions += "".join(f"      external {name}\n" for name in [*ATTRIBUTE_FUNCTIONS, "MPI_CONVERSION_FN_NULL"])
    return FORTRAN_BANNER + declarations(constants) + functions


def continued(text, width=120):
    lines = []
    while len(text) > width:
        cut = text.rindex(", ", 0, width) + 1
        lines.append(text[:cut] + " &")
        text = "        " + text[cut:].lstrip()
    return "\n".join([*lines, text])


def interface(name, arguments, tail=""):
    lines = [continued(f"    subroutine {name}({', '.join(n for n, _ in arguments)}){tail}"),
             "      import :: MPI_STATUS_SIZE, MPI_ADDRESS_KIND, MPI_OFFSET_KIND, MPI_COUNT_KIND"]
    for argument, kind in arguments:
        if kind is None:
            lines += [f"      !GCC$ ATTRIBUTES NO_ARG_CHECK :: {argument}", f"      !DIR$ IGNORE_TKR {argument}",
                      f"      type(*), dimension(*) :: {argument}"]
            continue
        if kind == "external":
            lines.append(f"      external :: {argument}")
            continue
        if kind.startswith("type(*)"):
            lines.append(f"      {kind} :: {argument}")
            continue
        head, array, tail = re.fullmatch(r"(\w+(?:\(MPI_[A-Z]+_KIND\)|\(len=\*\))?)(\([^,)]+(?:, \*)?\)|\(\*\))?(.*)", kind).groups()
        lines.append(f"      {head}{tail} :: {argument}{array or ''}")
    return "\n".join([*lines, f"    end subroutine {name}"])


def described_kind(kind):
    """Of an argument of a procedure that is bind(C): with `-std=f2008` and its kin gfortran takes no default logical there,
    and so no module that has one. The address is the same."""
    return "type(*)" if kind.startswith("logical") else kind


def described(name, arguments):
    """Of a procedure whose buffers come as descriptors; its name is that of MPI-5.0, table 19.1."""
    arguments = [(argument, described_kind(kind)) for argument, kind in arguments]
    body = interface(f"{name}_fts", arguments, f' bind(C, name="{name.lower()}_fts_")')
    return f"  interface {name}\n{body}\n  end interface {name}\n"


def described_module(functions):
    """The interfaces of the module mpi with choice buffers, and the functions without."""
    import fortran_buffer  # which imports this
    found, rest = "", []
    for f in functions:
        if not any(fortran_buffer.is_choice(p) for p in f.params):
            rest.append(f)
            continue
        arguments = []
        for p in f.params:
            kind = converted(f, p)[2]
            if fortran_buffer.is_choice(p):
                kind = "type(*), dimension(..)" + (", intent(in)" if p.type.startswith("const") else "") + \
                    (", asynchronous" if fortran_buffer.is_asynchronous(f, p) else "")
            arguments.append((p.name, kind))
        found += "".join(described(prefix + f.name, [*arguments, ("ierror", "integer")]) for prefix in ("", "P"))
    for prefix in ("", "P"):
        found += described(f"{prefix}MPI_F_sync_reg", [("buf", "type(*), dimension(..), asynchronous")])
    return found, rest


def status_conversion(name):
    there, back = ("f_status(MPI_STATUS_SIZE)", "integer"), ("f08_status", "type(MPI_Status)")
    given, made = (there, back) if name.endswith("f2f08") else (back, there)
    return f"""    subroutine {name}({given[0].partition('(')[0]}, {made[0].partition('(')[0]}, ierror)
      import :: MPI_STATUS_SIZE, MPI_Status
      {given[1]}, intent(in) :: {given[0]}
      {made[1]}, intent(out) :: {made[0]}
      integer, intent(out) :: ierror
    end subroutine {name}"""


def sizeof():
    """The descriptor of a variable of any type and rank tells its size."""
    return "".join(f"""  interface {p}MPI_Sizeof
    subroutine {p}MPI_Sizeof_f08ts(x, size, ierror) bind(C, name="{p.lower()}mpi_sizeof_f08ts_")
      type(*), dimension(..), intent(in) :: x
      integer, intent(out) :: size
      integer, intent(out) :: ierror
    end subroutine {p}MPI_Sizeof_f08ts
  end interface {p}MPI_Sizeof
""" for p in ("", "P"))


def module_mpi(functions, constants, uses="weft_mpi_types", more=None, descriptors=True):
    """With `descriptors` procedures get those of choice buffers, else addresses, as MPICH's module has it."""
    interfaces = []
    found = ""
    if descriptors:
        found, functions = described_module(functions)
    for prefix in ("", "P"):
        for f in functions:
            arguments = [(p.name, converted(f, p)[2]) for p in f.params] + [("ierror", "integer")]
            interfaces.append(interface(prefix + f.name, arguments))
        by_hand = BY_HAND if prefix else BY_HAND | ATTRIBUTE_FUNCTIONS
        for name, text in by_hand.items():
            if descriptors and name == "MPI_F_sync_reg":
                continue
            arguments = [a.partition(":")[::2] for a in text.split(", ")]
            interfaces.append(interface(prefix + name, [(a, None if a == "buf" else kind or KINDS.get(a, "integer"))
                                                        for a, kind in arguments]))
        for name in ("Wtime", "Wtick"):
            interfaces.append(f"    double precision function {prefix}MPI_{name}()\n    end function {prefix}MPI_{name}")
        for name in ("add", "diff"):
            head = f"function {prefix}MPI_Aint_{name}"
            interfaces.append(f"    {head}(base, disp)\n      import :: MPI_ADDRESS_KIND\n"
                              f"      integer(MPI_ADDRESS_KIND), intent(in) :: base, disp\n"
                              f"      integer(MPI_ADDRESS_KIND) :: {prefix}MPI_Aint_{name}\n    end {head}")
        for name in ("MPI_Status_f2f08", "MPI_Status_f082f"):
            interfaces.append(status_conversion(prefix + name))
    declared = declarations(constants)
    if descriptors:
        declared = re.sub(r"(MPI_(SUBARRAYS_SUPPORTED|ASYNC_PROTECTS_NONBLOCKING))=.false.", r"\1=.true.", declared)
    return FORTRAN_BANNER + f"module mpi\n  use {uses}\n  implicit none\n  public\n" + declared + \
        "  external MPI_CONVERSION_FN_NULL\n" + (sizeof() if more is None else more) + found + \
        "  interface\n" + "\n".join(interfaces) + "\n  end interface\nend module mpi\n"


def build_files(functions, constants):
    ready = chosen(functions)
    share = -(-len(ready) // ENTRY_FILES)
    for i in range(ENTRY_FILES):
        yield f"fortran_entry_{i}.cpp", entry_cpp(ready[i * share:(i + 1) * share])
    yield "fortran/mpif.h", mpif_h(constants)
    yield "fortran/mpi.f90", module_mpi(ready, constants)
