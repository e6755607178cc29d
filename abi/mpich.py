# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""The face of MPICH's ABI: its entry points, tables of its values, its exports, and a header for tests
(docs/mpich-abi.md)."""
import hashlib
import json
import re

import roles
from build_files import BANNER, definition
from table import HERE, Function, declare, wrap

ENTRY_FILES = 4

# Written by hand in src/mpich: callbacks, attributes, and what depends on other arguments.
BY_HAND = re.compile(r"""MPI_(
    Init(_thread)? | Isend | Put | Get | (Comm|Win|Session|File)_create_errhandler | Op_create(_c)? | Grequest_start
  | Register_datarep(_c)? | (Comm|Type|Win)_create_keyval | Keyval_create | (Comm|Win)_get_attr | Attr_get
  | Type_get_contents(_c)? | Type_create_struct | Type_get_name | \w+_(toint|fromint) | T_(source|event)_get_info | T_pvar_handle_alloc
  | (Comm|Session)_attach_buffer(_c)? | Buffer_attach(_c)? | T_event_(register_callback|handle_free|set_dropped_handler) | Comm_spawn_multiple
  | Abi_get_version | Get_library_version
)""", re.X)

# In libweft.so but not in MPICH's ABI: MPICH's own libraries do not have them either.
NOT_IN_MPICH = {"MPI_Psend_init_c", "MPI_Precv_init_c"}

FAMILIES = {  # name: which constants; the first column of the tables is MPICH's value
    "rank": r"MPI_(ANY_SOURCE|PROC_NULL|ROOT)",
    "tag": r"MPI_ANY_TAG",
    "error": r"MPI_SUCCESS|MPI_ERR_(?!LASTCODE).*|MPI_T_ERR_.*",
    "keyval": r"MPI_(KEYVAL_INVALID|TAG_UB|IO|HOST|WTIME_IS_GLOBAL|APPNUM|LASTUSEDCODE|UNIVERSE_SIZE|WIN_(BASE|DISP_UNIT|SIZE|"
              r"CREATE_FLAVOR|MODEL))",
    "lock": r"MPI_LOCK_.*",
    "split": r"MPI_COMM_TYPE_.*",
    "order": r"MPI_ORDER_.*",
    "distribution": r"MPI_DISTRIBUTE_(?!DFLT).*",
    "distribution_argument": r"MPI_DISTRIBUTE_DFLT_DARG",
    "typeclass": r"MPI_TYPECLASS_.*",
    "combiner": r"MPI_COMBINER_.*",
    "thread": r"MPI_THREAD_.*",
    "comparison": r"MPI_(IDENT|CONGRUENT|SIMILAR|UNEQUAL)",
    "topology": r"MPI_(CART|GRAPH|DIST_GRAPH)",
    "seek": r"MPI_SEEK_.*",
    "flavor": r"MPI_WIN_FLAVOR_.*",
    "model": r"MPI_WIN_(UNIFIED|SEPARATE)",
    "verbosity": r"MPI_T_VERBOSITY_.*",
    "bind": r"MPI_T_BIND_.*",
    "scope": r"MPI_T_SCOPE_.*",
    "pvar_class": r"MPI_T_PVAR_CLASS_.*",
    "cb_safety": r"MPI_T_CB_.*",
    "source_order": r"MPI_T_SOURCE_.*",
    "displacement": r"MPI_DISPLACEMENT_CURRENT",
}
BITS = {
    "assertion": r"MPI_MODE_(NOCHECK|NOPRECEDE|NOPUT|NOSTORE|NOSUCCEED)",
    "access": r"MPI_MODE_(APPEND|CREATE|DELETE_ON_CLOSE|EXCL|RDONLY|RDWR|SEQUENTIAL|UNIQUE_OPEN|WRONLY)",
}
INT_HANDLES = sorted(roles.HANDLES - {"MPI_File"})
TOOL_ENUMS = {"MPI_T_cb_safety", "MPI_T_source_order"}


def load():
    return json.loads((HERE / "mpich.json").read_text())


def value_of(constant):
    value = constant["value"]
    return int(value, 16) if isinstance(value, str) and value.startswith("0x") else value


def extra_functions(data):
    """Those that the standard does not have: all written by hand."""
    made = [Function(row) for row in data["functions"]]
    for function in made:
        function.extra = True
    return made


def refused_functions(data):
    """Those whose calls raise an error, so that programs that name them load. Callers pass what they like: nothing is read."""
    made = [Function({"name": name, "returns": "int", "params": []}) for name in data["refused"]]
    for function in made:
        function.reason = data["refused"][function.name]
    return made


def raw(type_):
    """The type of a parameter as a program of MPICH's ABI passes it: handles are int, MPI_File and the tools' pointers."""
    base = re.search(r"MPI_\w+", type_)
    if base is None:
        return type_
    name = base[0]
    if name in INT_HANDLES or name in TOOL_ENUMS or name == "MPI_Fint":
        return type_.replace(name, "int")
    if name == "MPI_Status" or name == "MPI_F08_status":
        return type_.replace(name, "Status")
    if re.search(r"_(function|fn)(_c)?$", name) and not name.startswith("MPI_T_"):
        return type_.replace(name, name.removeprefix("MPI_"))
    return type_


def raw_params(function, variadic=True):
    return ["..." if p.variadic else declare(raw(p.type), p.name) for p in function.params if variadic or not p.variadic]


def by_hand(function):
    return getattr(function, "extra", False) or BY_HAND.fullmatch(function.name) is not None


def argument(function, param):
    """The expression that converts an argument on its way to the function behind the entry point."""
    role = roles.role(function.name, param)
    if role is None:
        raise SystemExit(f"abi/roles.py: no role for {param.name} of {function.name}; or write {function.name} by hand")
    name = param.name
    return {
        "plain": name,
        "handle": f"in<{role.of}>({name})",
        "handle_out": f"Out<{role.of}>({name})",
        "handle_inout": f"InOut<{role.of}>({name})",
        "handles_in": f"HandlesIn<{role.of}>({role.length}, {name})",
        "handles_inout": f"HandlesInOut<{role.of}>({role.length}, {name})",
        "status_in": f"StatusIn({name})",
        "status_out": f"StatusOut({name})",
        "status_inout": f"StatusInOut({name})",
        "statuses_out": f"StatusesOut({role.length}, {name})",
        "buffer": f"buffer_in({name})",
        "buffer_out": f"BufferOut({name})",
        "cb_safety": f"static_cast<MPI_T_cb_safety>(cb_safety_in({name}))",
        "file": f"in_file({name})",
        "file_out": f"FileOut({name})",
        "value": f"{role.of}_in({name})",
        "value_out": f"ValueOut<{role.of}_out>({name})",
        "value_inout": f"ValueInOut<{role.of}_in, {role.of}_out>({name})",
        "values_in": f"ValuesIn<{role.of}_in>({role.length}, {name})",
        "values_out": f"ValuesOut<{role.of}_out>({role.length}, {name})",
        "string_out": f"StringOut<{role.of}, limits::{limit_name(role.of)}>({name})",
    }[role.kind]


def entry_body(function):
    reason = getattr(function, "reason", None)
    if reason:
        if function.name.startswith("QMPI_"):  # tools register before MPI starts, where a raised error would end the program
            return "return error_out(MPI_ERR_UNSUPPORTED_OPERATION);"
        return f"return refuse(\"{function.name}\", \"{reason}\");"
    if by_hand(function):
        names = ", ".join(p.name for p in function.params if not p.variadic)
        return f"return mpich::{function.inner}({names});"
    args = ", ".join(argument(function, p) for p in function.params if not p.variadic)
    call = f"face.{(function.wide or function).inner}({args})"
    return f"return error_out({call});" if function.returns == "int" else f"return {call};"


# Functions with a road of their own for the common arguments; it calls nothing but the function behind, so that no
# register is saved for what is rare.
QUICK = {"MPI_Irecv", "MPI_Send"}


def quick_body(function, short):
    checks, args, made = [], [], ""
    for p in function.params:
        role = roles.role(function.name, p)
        if role.kind == "handle":
            checks.append(f"is_quick<{role.of}>({p.name})")
            args.append(f"quick_in<{role.of}>({p.name})")
        elif role.kind == "value":
            checks.append(f"{p.name} >= 0")
            args.append(p.name)
        elif role.kind == "handle_out":
            checks.append(f"!no_place({p.name})")
            args.append("&made")
            made = p.name
        elif role.kind == "buffer":
            checks.append(f"!is_named_buffer({p.name})")
            args.append(p.name)
        else:
            args.append(p.name)
    call = f"face.{(function.wide or function).inner}({', '.join(args)})"
    names = ", ".join(p.name for p in function.params)
    lines = [f"  if (!({' && '.join(checks)})) [[unlikely]]\n    return rare_{short}({names});"]
    if made:
        lines += ["  MPI_Request made;", f"  const int error = {call};",
                  f"  if (error == MPI_SUCCESS) *{made} = out_object(made);", "  return error_out(error);"]
    else:
        lines.append(f"  return error_out({call});")
    return "\n".join(lines)


def entry_cpp(functions):
    """The names on the C side stand in assembler labels, because mpi.h declares them with the standard's types."""
    lines = [BANNER + '#include "mpich/array.hpp"\n#include "mpich/by_hand.hpp"\n#include "mpich/convert.hpp"\n#include "mpich/refuse.hpp"\n\n'
             "namespace weft::mpich {\n\n"
             "#define WEFT_ENTRY(name) extern \"C\" __attribute__((visibility(\"default\")))\n"]
    for f in functions:
        short = f.name.removeprefix("MPI_") if f.name.startswith("MPI_") else f.name
        head = f"extern \"C\" {raw(f.returns)} p_{short}"
        params = raw_params(f)
        tail = f"\n    __asm__(\"P{f.name}\") WEFT_EXPORTED;"
        lines.append(definition(head, params, tail))
        lines.append(definition(f"extern \"C\" {raw(f.returns)} m_{short}", params,
                                f"\n    __asm__(\"{f.name}\") WEFT_ALIAS(P{f.name});"))
        body = wrap_body(entry_body(f))
        if f.name in QUICK:
            lines.append(definition(f"[[gnu::cold, gnu::noinline]] static {raw(f.returns)} rare_{short}", params,
                                    f" {{\n{body}\n}}"))
            body = quick_body(f, short)
        lines.append(definition(f"{raw(f.returns)} p_{short}", params, f" {{\n{body}\n}}") + "\n")
    lines.append("}  // namespace weft::mpich\n")
    text = "\n".join(lines)
    return text.replace("#define WEFT_ENTRY(name) extern \"C\" __attribute__((visibility(\"default\")))\n",
                        "#define WEFT_EXPORTED __attribute__((visibility(\"default\")))\n"
                        "#define WEFT_ALIAS(of) __attribute__((weak, alias(#of), visibility(\"default\")))\n")


def wrap_body(text, width=120):
    if len(text) + 2 <= width:
        return "  " + text
    head, _, rest = text.partition("(")
    pieces = rest.split(", ")
    return wrap("  " + head, pieces[:-1] + [pieces[-1].removesuffix(";")[:-1]], ";", width)


def entry_files(functions, ready, data):
    chosen = {f.name for f in ready} - NOT_IN_MPICH
    share = -(-len(functions) // ENTRY_FILES)
    for i in range(ENTRY_FILES):
        part = [f for f in functions[i * share:(i + 1) * share] if f.name in chosen]
        if i == ENTRY_FILES - 1:
            part += extra_functions(data) + refused_functions(data)
        yield f"mpich_entry_{i}.cpp", entry_cpp(part)


def types_hpp(constants):
    lines = [BANNER + "#pragma once\n\n#include <mpi.h>\n\n#include \"mpich/status.hpp\"\n\n"
             "// The callbacks of a program of MPICH's ABI: with its handles and its status.\nnamespace weft::mpich {\n"]
    for row in constants["callbacks"]:
        if row["name"].startswith("MPI_T_"):
            continue
        params = ", ".join(raw(p) for p in row["params"].split(", "))
        lines.append(f"using {row['name'].removeprefix('MPI_')} = {row['returns']}({params});")
    return "\n".join(lines) + "\n\n}  // namespace weft::mpich\n"


def by_hand_hpp(functions, data):
    lines = [BANNER + "#pragma once\n\n#include \"mpich/types.hpp\"\n\n"
             "// The entry points that src/mpich writes itself; arguments are those of the program.\nnamespace weft::mpich {\n"]
    for f in functions + extra_functions(data):
        if by_hand(f):
            lines.append(definition(f"{raw(f.returns)} {f.inner}", raw_params(f, variadic=False), ";"))
    return "\n".join(lines) + "\n\n}  // namespace weft::mpich\n"


def limit_name(name):
    """"max_port_name" of MPI_MAX_PORT_NAME, which is a macro in mpi.h."""
    return name.removeprefix("MPI_").lower()


def place_of(value, mask):
    """Where a handle stands in its table: its low bits (src/mpich/handle.hpp)."""
    return value & mask


# Handles whose low bits others share, and null handles beside predefined ones, stand in a second list.
def handle_rows(handles, mask):
    first, second = {}, []
    for theirs, standard, name in sorted(handles, key=lambda h: h[0] >> 30 != 1):
        place = place_of(theirs, mask)
        if place in first:
            second.append((theirs, standard, name))
        else:
            first[place] = (theirs, standard, name)
    return [first.get(i) for i in range(mask + 1)], second


def values_hpp(constants, data):
    theirs = {c["name"]: value_of(c) for c in data["constants"]}
    standard = constants["constants"]
    lines = [BANNER + "#pragma once\n\n#include <cstdint>\n\n// Values of the two ABIs beside each other.\nnamespace weft::mpich {\n\n"
             "struct HandleRow {\n  uint32_t theirs;\n  uint32_t standard;\n};\n\n"
             "struct ValueRow {\n  int theirs;\n  int standard;\n};\n"]
    to_theirs = {}
    by_name = {c["name"]: c["value"] for c in standard}
    for type_ in INT_HANDLES:
        handles = []
        for c in standard:
            if c["type"] == type_ and c["name"] in theirs:
                handles.append((theirs[c["name"]], c["value"], c["name"]))
                to_theirs[c["value"]] = (theirs[c["name"]], c["name"])
        for c in data["only_mpich"]:
            if c["type"] == type_ and "same_as" in c:
                handles.append((value_of(c), by_name[c["same_as"]], c["name"]))
                # Programs are given this one: most know no other.
                to_theirs[by_name[c["same_as"]]] = (value_of(c), c["name"])
        mask = 0xff if type_ == "MPI_Datatype" else 0xf
        first, second = handle_rows(handles, mask)
        lines.append(f"inline constexpr HandleRow {type_}_rows[] = {{")
        # An empty place holds a value that stands elsewhere, so that nothing matches it.
        lines += [f"    {{0x{row[0]:08x}, 0x{row[1]:03x}}},  // {row[2]}" if row
                  else f"    {{{'0xffffffff' if place != mask else '0x00000000'}, 0}},"
                  for place, row in enumerate(first)]
        lines.append(f"}};\ninline constexpr HandleRow {type_}_others[] = {{")
        lines += [f"    {{0x{a:08x}, 0x{b:03x}}},  // {n}" for a, b, n in second] or ["    {},"]
        lines.append("};\n")
    lines.append("// MPICH's handles of the standard's predefined ones.\ninline constexpr uint32_t predefined_theirs[] = {")
    for i in range(max(to_theirs) + 1):
        lines.append(f"    0x{to_theirs[i][0]:08x},  // {to_theirs[i][1]}" if i in to_theirs else "    0,")
    lines.append("};\n")
    for name, pattern in {**FAMILIES, **BITS}.items():
        lines.append(f"inline constexpr ValueRow {name}_rows[] = {{")
        lines += [f"    {{{theirs[c['name']]}, {c['value']}}},  // {c['name']}" for c in standard
                  if c["name"] in theirs and re.fullmatch(pattern, c["name"])]
        lines.append("};\n")
    lines.append("namespace limits {")
    lines += [f"inline constexpr int {limit_name(n)} = {v};" for n, v in theirs.items() if n.startswith("MPI_MAX_")]
    lines.append("}  // namespace limits")
    return "\n".join(lines) + "\n\n}  // namespace weft::mpich\n"


def face_hpp(ready):
    """The functions of libweft.so as one table of pointers: for its entry points, and for other faces."""
    lines = [BANNER + '#pragma once\n\n#include "mpi/object/foreign.hpp"\n#include "mpi/functions.hpp"\n\n'
             "// The functions of libweft.so, for its entry points and for the libraries of other ABIs, which cannot call them\n"
             "// by name: MPI_Send is a name of theirs, too. Statistics put those that count in their places.\nnamespace weft::mpi {\n\nstruct Face {", "  FaceHooks hooks;"]
    lines += [f"  decltype(&mpi::{n}) {n};" for n in face_names(ready)]
    return "\n".join(lines) + "\n};\n\n}  // namespace weft::mpi\n\n" \
        f"// Named after its contents: libraries of another build do not load.\n#define WEFT_FACE {face_symbol(ready)}\n" \
        "extern \"C\" __attribute__((visibility(\"default\"))) weft::mpi::Face WEFT_FACE;\n" \
        "// The same by a name that needs no look-up; in libweft.so alone.\n" \
        "extern \"C\" __attribute__((visibility(\"hidden\"))) weft::mpi::Face weft_calls;\n"


def face_names(ready):
    return list(dict.fromkeys((f.wide or f).inner for f in ready))


def face_symbol(ready):
    hooks = (HERE.parent / "src" / "mpi" / "object" / "foreign.hpp").read_text()
    return "weft_abi_face_" + hashlib.sha256((hooks + " ".join(face_names(ready))).encode()).hexdigest()[:12]


def face_cpp(ready):
    lines = [BANNER + '#include "mpi/face.hpp"\n\nweft::mpi::Face WEFT_FACE = {', "    .hooks = weft::mpi::face_hooks,"]
    lines += [f"    .{n} = weft::mpi::{n}," for n in face_names(ready)]
    return "\n".join(lines) + f"\n}};\n\nextern \"C\" __attribute__((alias(\"{face_symbol(ready)}\"))) weft::mpi::Face weft_calls;\n"


def map_file(functions, ready, data):
    chosen = [f.name for f in ready if f.name not in NOT_IN_MPICH] + [f.name for f in extra_functions(data) + refused_functions(data)]
    names = "".join(f"    {n};\n    P{n};\n" for n in chosen)
    names += "".join(f"    {n};\n" for n in data["symbols"])
    return "{\n  global:\n" + names + "  local:\n    *;\n};\n"


def header(functions, ready, constants, data):
    """MPICH's ABI for src/fortran and for the programs in tests/mpich, which are built without MPICH's header."""
    lines = ["/* Generated by abi/generate.py; do not edit. MPICH's ABI, for the build and for tests; not installed. */",
             "#ifndef WEFT_MPICH_HEADER_H", "#define WEFT_MPICH_HEADER_H", "#include <stdint.h>",
             "#ifdef __cplusplus", 'extern "C" {', "#endif",
             "#define MPI_VERSION 4", "#define MPI_SUBVERSION 1", "#define MPICH_NAME 4",
             "typedef long MPI_Aint;", "typedef int MPI_Fint;", "typedef long long MPI_Count;", "typedef long long MPI_Offset;"]
    lines += [f"typedef int {t};" for t in INT_HANDLES]
    lines += ["typedef struct ADIOI_FileD *MPI_File;"]
    lines += [f"typedef struct weft_test_{n} *MPI_T_{n};" for n in
              ("enum", "cvar_handle", "pvar_handle", "pvar_session", "event_registration", "event_instance")]
    lines += [f"typedef int {t};" for t in sorted(TOOL_ENUMS)]
    lines += ["typedef struct MPI_Status {", "  int count_lo;", "  int count_hi_and_cancelled;", "  int MPI_SOURCE;",
              "  int MPI_TAG;", "  int MPI_ERROR;", "} MPI_Status;", "typedef MPI_Status MPI_F08_status;"]
    for row in constants["callbacks"]:
        lines.append(f"typedef {row['returns']} ({row['name']})({row['params']});")
    lines.append("typedef void (MPI_Handler_function)(MPI_Comm *comm, int *error_code, ...);")
    lines += ["int MPIR_Dup_fn(MPI_Comm, int, void *, void *, void *, int *);"]
    lines += ["extern int *const MPI_UNWEIGHTED;", "extern int *const MPI_WEIGHTS_EMPTY;",
              "extern MPI_Fint *MPI_F_STATUS_IGNORE;", "extern MPI_Fint *MPI_F_STATUSES_IGNORE;",
              "extern MPI_F08_status *MPI_F08_STATUS_IGNORE;", "extern MPI_F08_status *MPI_F08_STATUSES_IGNORE;",
              "extern MPI_T_pvar_handle const MPI_T_PVAR_ALL_HANDLES;"]
    for c in data["constants"] + data["only_mpich"]:
        lines.append(f"#define {c['name']} (({c['type']}){c['value']})" if c["type"] != "int"
                     else f"#define {c['name']} ({c['value']})")
    lines += [f"#define {c['name']} {c['value']}" for c in constants["constants"]
              if c["type"] == "alias" and not c["name"].startswith("MPI_ABI")]
    for f in [f for f in ready if f.name not in NOT_IN_MPICH] + extra_functions(data) + refused_functions(data):
        for prefix in ("", "P"):
            head, params = f.prototype(prefix)
            lines.append(wrap(head, params, ";"))
    return "\n".join(lines) + "\n#ifdef __cplusplus\n}\n#endif\n#endif\n"


def build_files(functions, ready, constants):
    """Pairs of a name in the build folder and its text."""
    data = load()
    yield "mpich/types.hpp", types_hpp(constants)
    yield "mpich/by_hand.hpp", by_hand_hpp(functions, data)
    yield "mpich/values.hpp", values_hpp(constants, data)
    yield "mpich_header/mpi.h", header(functions, ready, constants, data)
    yield "mpi/face.hpp", face_hpp(ready)
    yield "face.cpp", face_cpp(ready)
    yield "libmpich.map", map_file(functions, ready, data)
    yield from entry_files(functions, ready, data)
