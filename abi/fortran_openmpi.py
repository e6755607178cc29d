# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Fortran of Open MPI's ABI: the procedures of libmpi_mpifh.so.40 and its like, and other names that programs have for
them (docs/design/foreign-abis.md). The procedures are those of fortran.py over the functions of libmpi.so.40; the module mpi_f08
calls the same, since it passes addresses and no descriptors."""
import fortran
import fortran_f08
import fortran_foreign
import roles
import table
from build_files import BANNER
from foreign_openmpi import OPENMPI

ENTRY_FILES = 3

# The kinds of variables of MPI_Sizeof, with their bytes, and the ranks of each.
SIZES = {"character": 1, "logical": 4, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "real32": 4, "real64": 8,
         "real128": 16, "complex32": 8, "complex64": 16, "complex128": 32}
RANKS = ["scalar", *(f"r{i}" for i in range(1, 16))]


# Written by hand (src/fortran/openmpi_quick.cpp).
BY_HAND = {"MPI_Isend"}


def entry_files(functions):
    plain = [f for f in fortran.chosen(functions) if f.name not in BY_HAND]
    share = -(-len(plain) // ENTRY_FILES)
    for i in range(ENTRY_FILES):
        yield f"openmpi_fortran_{i}.cpp", fortran.entry_cpp(plain[i * share:(i + 1) * share])
    # mpi_f08 stores the address of a buffer that is detached, mpif.h does not.
    lines = [BANNER + '#include "fortran/convert.hpp"\n\nnamespace weft::fortran {\n']
    lines += [fortran_f08.procedure(f, prefix) for f in plain if any(p.name == "buffer_addr" for p in f.params) for prefix in ("", "P")]
    yield "openmpi_fortran_f08.cpp", "\n".join(lines) + "\n\n}  // namespace weft::fortran\n"


def aliases(functions):
    """Pairs of a name in programs and that of the procedure."""
    yield from fortran_foreign.other_manglings(functions, [])
    done = {f.name for f in fortran.chosen(functions) if fortran.has_f08(f)}
    procedures = {f.name for f in fortran.chosen(functions)} | {*fortran.BY_HAND}
    for f in fortran_f08.chosen(functions):
        if f.name in procedures and f.name not in done and fortran_f08.has_buffer(f):
            yield from ((f"{p}{f.name.lower()}_f08_", f"{p}{f.name.lower()}_") for p in ("", "p"))
    for p in ("", "p"):
        yield from ((f"{p}mpi_{name}_f08_", f"{p}mpi_{name}_") for name in ("status_f2f08", "status_f082f", "f_sync_reg"))
        yield from ((f"{p}mpi_{name}_cptr_", f"{p}mpi_{name}_") for name in fortran_foreign.WITH_POINTER)
        yield from ((f"{p}mpix_{name}_init_{f08}", f"{p}mpi_{name}_init_") for name in persistent() for f08 in ("", "f08_"))
    for name in fortran_foreign.PREDEFINED + ["mpi_conversion_fn_null"]:
        yield f"__mpi_f08_callbacks_MOD_{name}", f"{name}_"
    for kind, size in SIZES.items():
        yield from ((f"mpi_sizeof_{kind}_{rank}_", f"weft_sizeof_{size}") for rank in RANKS)


def persistent():
    """The collective operations that Open MPI 4 has as MPIX_<name>_init."""
    return [name.removeprefix("MPIX_").removesuffix("_init").lower() for name in OPENMPI.data["same_as"]]


def of_kind(type_):
    return {c["fortran"]: c["value"] for c in OPENMPI.predefined() if c["type"] == type_ and "fortran" in c}


def numbers_hpp():
    """The symbols of predefined handles by Fortran's number of them."""
    lines = [BANNER + "#pragma once\n\n#include <mpi.h>\n\n#include <cstdint>\n\nnamespace weft::fortran {\n\n",
             "template <typename H>\nstruct Predefined;"]
    for type_ in sorted(roles.HANDLES):
        lines.append(f"template <>\nstruct Predefined<{type_}> {{\n  static constexpr uint32_t count = {max(of_kind(type_)) + 1};\n"
                     "  static char* const handles[count];\n};")
    return "\n".join(lines) + "\n\n}  // namespace weft::fortran\n"


def constants_cpp():
    lines = [BANNER + '#include "fortran_numbers.hpp"\n\nnamespace weft::fortran {\n']
    for type_ in sorted(roles.HANDLES):
        rows = of_kind(type_)
        lines.append(f"char* const Predefined<{type_}>::handles[count] = {{")
        lines += [f"    {rows[i]}," if i in rows else "    nullptr," for i in range(max(rows) + 1)]
        lines.append("};")
    lines += ["\n}  // namespace weft::fortran\n",
              "// Handles of the module mpi_f08, as programs find them in its library: by the names of 4.0.2 and older, too.",
              '#define WEFT_HANDLE(name, value)                                                                                   \\',
              '  extern "C" __attribute__((visibility("default"))) const int weft_##name __asm__("__mpi_f08_types_MOD_" #name);  \\',
              '  const int weft_##name = value;                                                                                  \\',
              '  extern "C" __attribute__((visibility("default"), alias("__mpi_f08_types_MOD_" #name))) const int ompi_f08_##name;\n']
    handles = {c["name"]: c["fortran"] for c in OPENMPI.data["constants"] + OPENMPI.data["only_theirs"] if "fortran" in c}
    handles |= {c["name"]: handles[c["value"]] for c in table.constants()["constants"]
                if c["type"] == "alias" and c["value"] in handles}
    lines += [f"WEFT_HANDLE({name.lower()}, {value})" for name, value in handles.items()]
    return "\n".join(lines) + "\n"


def build_files(ready):
    functions = OPENMPI.functions(ready)
    yield from entry_files(functions)
    yield "openmpi_header/fortran_numbers.hpp", numbers_hpp()
    yield "openmpi_fortran_constants.cpp", constants_cpp()
    yield "openmpi_fortran.ld", fortran_foreign.linker_script(aliases(functions))
