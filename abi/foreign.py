# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Libraries of ABIs that are not the standard's: their entry points, tables of their values, their exports, and a header
for tests (docs/design/foreign-abis.md). foreign_mpich.py and foreign_openmpi.py hold the differences between them."""
import json
import re

import roles
from build_files import BANNER, definition
from table import HERE, Function, declare, wrap

ENTRY_FILES = 4

# Written by hand in src/foreign: callbacks, attributes, and functions in which an argument says what another one is.
BY_HAND = r"""MPI_(
    Init(_thread)? | Isend | Put | Get | (Comm|Win|Session|File)_create_errhandler | Op_create(_c)? | Grequest_start
  | Register_datarep(_c)? | (Comm|Type|Win)_create_keyval | Keyval_create | (Comm|Win)_get_attr | Attr_get
  | Type_get_contents(_c)? | Type_create_struct | Type_get_name | \w+_(toint|fromint) | T_(source|event)_get_info | T_pvar_handle_alloc
  | (Comm|Session)_attach_buffer(_c)? | Buffer_attach(_c)? | T_event_(register_callback|handle_free|set_dropped_handler) | Comm_spawn_multiple
  | Abi_get_version | Get_library_version
)"""

# In libweft.so, but in no library of another ABI.
NOT_THERE = {"MPI_Psend_init_c", "MPI_Precv_init_c"}

FAMILIES = {  # name: its constants; the first column of the tables is the value of the other ABI
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
TOOL_ENUMS = {"MPI_T_cb_safety", "MPI_T_source_order"}


def value_of(constant):
    value = constant["value"]
    return int(value, 16) if isinstance(value, str) and value.startswith("0x") else value


def limit_name(name):
    """"max_port_name" of MPI_MAX_PORT_NAME, which is a macro in mpi.h."""
    return name.removeprefix("MPI_").lower()


class Abi:
    """An ABI: its table abi/NAME.json, and what the generator has to know of it."""

    name = ""  # of the table, of generated files, and of the folder of generated headers
    by_hand = BY_HAND  # an expression of the names of functions that are written by hand
    objects_pass = False  # whether handles of objects are the standard's

    def __init__(self):
        self.data = json.loads((HERE / f"{self.name}.json").read_text())
        self.values = {c["name"]: value_of(c) for c in self.data["constants"]}

    def functions(self, ready):
        return [f for f in ready if f.name not in NOT_THERE]

    def extra_functions(self):
        """Functions that the standard does not have, all written by hand."""
        shared = json.loads((HERE / "foreign.json").read_text())["functions"]
        made = [Function(row) for row in shared + self.data["functions"]]
        for function in made:
            function.extra = True
        return made

    def refused_functions(self):
        """Functions whose calls raise an error, so that programs that name them load. Callers pass what they like:
        nothing is read."""
        made = [Function({"name": name, "returns": "int", "params": []}) for name in self.data["refused"]]
        for function in made:
            function.reason = self.data["refused"][function.name]
        return made

    def is_by_hand(self, function):
        return getattr(function, "extra", False) or re.fullmatch(self.by_hand, function.name, re.X) is not None

    def constants_of(self, standard, pattern):
        """Pairs of this ABI's constant and the standard's of a family; those that this ABI lacks have a stand-in, or
        keep the standard's value where it has none of the family."""
        names = {c["name"]: c["value"] for c in standard if re.fullmatch(pattern, c["name"]) and c["type"] != "alias"}
        rows = [(self.values[n], value, n) for n, value in names.items() if n in self.values]
        if not rows:
            return [(value, value, n) for n, value in names.items()]
        stand_ins = self.data.get("stand_ins", {})
        return rows + [(self.values[stand_ins[n]], value, n) for n, value in names.items() if n in stand_ins]


def raw(type_):
    """The type of a parameter as a program of such an ABI passes it."""
    base = re.search(r"MPI_\w+", type_)
    if base is None:
        return type_
    name = base[0]
    if name in roles.HANDLES:
        return type_.replace(name, "FileHandle" if name == "MPI_File" else "Handle")
    if name in TOOL_ENUMS or name == "MPI_Fint":
        return type_.replace(name, "int")
    if name in ("MPI_Status", "MPI_F08_status"):
        return type_.replace(name, "Status")
    if re.search(r"_(function|fn)(_c)?$", name) and not name.startswith("MPI_T_"):
        return type_.replace(name, name.removeprefix("MPI_"))
    return type_


def raw_params(function, variadic=True):
    return ["..." if p.variadic else declare(raw(p.type), p.name) for p in function.params if variadic or not p.variadic]


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
        "pvar": f"pvar_in({name})",
        "weights": f"weights_in({name})",
        "value": f"{role.of}_in({name})",
        "value_out": f"ValueOut<{role.of}_out>({name})",
        "value_inout": f"ValueInOut<{role.of}_in, {role.of}_out>({name})",
        "values_in": f"ValuesIn<{role.of}_in>({role.length}, {name})",
        "values_out": f"ValuesOut<{role.of}_out>({role.length}, {name})",
        "string_out": f"StringOut<{role.of}, limits::{limit_name(role.of)}>({name})",
        "length_out": f"LengthOut<limits::{limit_name(role.of)}>({name})",
    }[role.kind]


def entry_body(abi, function):
    reason = getattr(function, "reason", None)
    if reason:
        if function.name.startswith("QMPI_"):  # tools register before MPI starts, where a raised error would end the program
            return "return error_out(MPI_ERR_UNSUPPORTED_OPERATION);"
        return f"return refuse(\"{function.name}\", \"{reason}\");"
    if abi.is_by_hand(function):
        names = ", ".join(p.name for p in function.params if not p.variadic)
        return f"return foreign::{function.inner}({names});"
    args = ", ".join(argument(function, p) for p in function.params if not p.variadic)
    call = f"face.{(function.wide or function).inner}({args})"
    return f"return error_out({call});" if function.returns == "int" else f"return {call};"


# These functions have a path of their own for the common arguments. It calls nothing but the function behind, so that no
# register is saved for rare cases.
QUICK = {"MPI_Irecv", "MPI_Send"}


def quick_body(abi, function, short):
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
            if abi.objects_pass:  # the function itself refuses a pointer that is none
                args.append(f"as_given<{role.of}>({p.name})")
            else:
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


def short_name(name):
    return name.removeprefix("MPI_") if name.startswith("MPI_") else name


def entry_cpp(abi, functions):
    """The names on the C side stand in assembler labels, because mpi.h declares them with the standard's types."""
    lines = [BANNER + '#include "foreign/array.hpp"\n#include "foreign/by_hand.hpp"\n#include "foreign/convert.hpp"\n'
             '#include "foreign/refuse.hpp"\n\nnamespace weft::foreign {\n\n'
             "#define WEFT_EXPORTED __attribute__((visibility(\"default\")))\n"
             "#define WEFT_ALIAS(of) __attribute__((weak, alias(#of), visibility(\"default\")))\n"]
    for f in functions:
        short, returns, params = short_name(f.name), raw(f.returns), raw_params(f)
        lines.append(definition(f"extern \"C\" {returns} p_{short}", params, f"\n    __asm__(\"P{f.name}\") WEFT_EXPORTED;"))
        names = [f.name] + [other for name, of in abi.data.get("same_as", {}).items() if of == f.name for other in (name, "P" + name)]
        for name in names:
            lines.append(definition(f"extern \"C\" {returns} m_{short_name(name)}", params,
                                    f"\n    __asm__(\"{name}\") WEFT_ALIAS(P{f.name});"))
        body = wrap_body(entry_body(abi, f))
        if f.name in QUICK:
            lines.append(definition(f"[[gnu::cold, gnu::noinline]] static {returns} rare_{short}", params, f" {{\n{body}\n}}"))
            body = quick_body(abi, f, short)
        lines.append(definition(f"{returns} p_{short}", params, f" {{\n{body}\n}}") + "\n")
    lines.append("}  // namespace weft::foreign\n")
    return "\n".join(lines)


def wrap_body(text, width=120):
    if len(text) + 2 <= width:
        return "  " + text
    head, _, rest = text.partition("(")
    pieces = rest.split(", ")
    return wrap("  " + head, pieces[:-1] + [pieces[-1].removesuffix(";")[:-1]], ";", width)


def entry_files(abi, functions, ready):
    chosen = {f.name for f in abi.functions(ready)}
    share = -(-len(functions) // ENTRY_FILES)
    for i in range(ENTRY_FILES):
        part = [f for f in functions[i * share:(i + 1) * share] if f.name in chosen]
        if i == ENTRY_FILES - 1:
            part += abi.extra_functions() + abi.refused_functions()
        yield f"{abi.name}_entry_{i}.cpp", entry_cpp(abi, part)


def types_hpp(constants):
    lines = [BANNER + "#pragma once\n\n#include <mpi.h>\n\n#include \"foreign/handle.hpp\"\n\n"
             "// The callbacks of a program: with its handles and its status.\nnamespace weft::foreign {\n"]
    for row in constants["callbacks"]:
        if row["name"].startswith("MPI_T_"):
            continue
        params = ", ".join(raw(p) for p in row["params"].split(", "))
        lines.append(f"using {row['name'].removeprefix('MPI_')} = {row['returns']}({params});")
    return "\n".join(lines) + "\n\n}  // namespace weft::foreign\n"


def by_hand_hpp(abi, functions):
    lines = [BANNER + "#pragma once\n\n#include \"foreign/types.hpp\"\n\n"
             "// The entry points that src/foreign writes itself; arguments are those of the program.\nnamespace weft::foreign {\n"]
    for f in functions + abi.extra_functions():
        if abi.is_by_hand(f):
            lines.append(definition(f"{raw(f.returns)} {f.inner}", raw_params(f, variadic=False), ";"))
    return "\n".join(lines) + "\n\n}  // namespace weft::foreign\n"


def values_hpp(abi, standard):
    lines = [BANNER + "#pragma once\n\n#include <cstdint>\n\n// Values of the two ABIs beside each other.\nnamespace weft::foreign {\n\n"
             "struct ValueRow {\n  int theirs;\n  int standard;\n};\n", *abi.handle_lines(standard)]
    for name, pattern in {**FAMILIES, **BITS}.items():
        lines.append(f"inline constexpr ValueRow {name}_rows[] = {{")
        lines += [f"    {{{theirs}, {value}}},  // {n}" for theirs, value, n in abi.constants_of(standard, pattern)]
        lines.append("};\n")
    lines.append(f"inline constexpr int their_last_code = {abi.values['MPI_ERR_LASTCODE']};\n")
    lines.append("namespace limits {")
    lines += [f"inline constexpr int {limit_name(n)} = {v};" for n, v in abi.values.items() if n.startswith("MPI_MAX_")]
    lines.append("}  // namespace limits")
    return "\n".join(lines) + "\n\n}  // namespace weft::foreign\n"


def map_file(abi, ready):
    chosen = [f.name for f in abi.functions(ready) + abi.extra_functions() + abi.refused_functions()] + list(abi.data.get("same_as", {}))
    names = "".join(f"    {n};\n    P{n};\n" for n in chosen)
    names += "".join(f"    {n};\n" for n in abi.symbols())
    return "{\n  global:\n" + names + "  local:\n    *;\n};\n"


def header(abi, ready, constants):
    """A header of the ABI for src/fortran and for the programs in tests/foreign, which are built without those of others."""
    guard = f"WEFT_{abi.name.upper()}_HEADER_H"
    lines = [f"/* Generated by abi/generate.py; do not edit. {abi.title}, for the build and for tests; not installed. */",
             f"#ifndef {guard}", f"#define {guard}", "#include <stdint.h>",
             "#ifdef __cplusplus", 'extern "C" {', "#endif",
             "#define MPI_VERSION 4", "#define MPI_SUBVERSION 1",
             "typedef long MPI_Aint;", "typedef int MPI_Fint;", "typedef long long MPI_Count;", "typedef long long MPI_Offset;"]
    lines += [f"typedef struct weft_test_{n} *MPI_T_{n};" for n in
              ("enum", "cvar_handle", "pvar_handle", "pvar_session", "event_registration", "event_instance")]
    lines += [f"typedef int {t};" for t in sorted(TOOL_ENUMS)]
    lines += abi.header_types()
    lines.append("typedef MPI_Status MPI_F08_status;")
    for row in constants["callbacks"]:
        lines.append(f"typedef {row['returns']} ({row['name']})({row['params']});")
    lines.append("typedef void (MPI_Handler_function)(MPI_Comm *comm, int *error_code, ...);")
    lines += ["extern MPI_Fint *MPI_F_STATUS_IGNORE;", "extern MPI_Fint *MPI_F_STATUSES_IGNORE;",
              "extern MPI_F08_status *MPI_F08_STATUS_IGNORE;", "extern MPI_F08_status *MPI_F08_STATUSES_IGNORE;"]
    functions = abi.functions(ready) + abi.extra_functions() + abi.refused_functions()
    for f in functions:
        for prefix in ("", "P"):
            head, params = f.prototype(prefix)
            lines.append(wrap(head, params, ";"))
    by_name = {f.name: f for f in functions}
    for other, name in abi.data.get("same_as", {}).items():
        lines.append(wrap(*by_name[name].prototype(name=other), ";"))
    lines += abi.header_constants(constants["constants"])
    lines += [f"#define {c['name']} {c['value']}" for c in constants["constants"]
              if c["type"] == "alias" and not c["name"].startswith("MPI_ABI")]
    return "\n".join(lines) + "\n#ifdef __cplusplus\n}\n#endif\n#endif\n"


def build_files(abi, functions, ready, constants):
    """Pairs of a name in the build folder and its text."""
    yield f"{abi.name}/foreign/types.hpp", types_hpp(constants)
    yield f"{abi.name}/foreign/by_hand.hpp", by_hand_hpp(abi, functions)
    yield f"{abi.name}/foreign/values.hpp", values_hpp(abi, constants["constants"])
    yield f"{abi.name}_header/mpi.h", header(abi, ready, constants)
    yield f"lib{abi.name}.map", map_file(abi, ready)
    yield from entry_files(abi, functions, ready)
