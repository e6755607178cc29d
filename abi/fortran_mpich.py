# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Fortran of MPICH's ABI: the procedures of libmpifort.so.12, and other names that programs have for them
(docs/design/foreign-abis.md). The procedures are those of fortran.py and fortran_f08.py over the functions of libmpi.so.12."""
import foreign
import fortran
import fortran_buffer
import fortran_f08
import fortran_foreign
import fortran_mpich_test
import table
from build_files import BANNER
from foreign_mpich import INT_HANDLES, MPICH

ENTRY_FILES = 6

# These procedures of mpi_f08 are written by hand for the standard's ABI alone.
NOT_BY_HAND = {"MPI_Isend"}

# Procedures that MPICH adds.
QUERIES = ["MPIX_Query_cuda_support", "MPIX_Query_hip_support", "MPIX_Query_ze_support", "MPIX_GPU_query_support"]


def chosen(ready):
    return [f for f in ready if f.name not in foreign.NOT_THERE]


def f08_procedures(functions):
    """Functions whose procedures of mpi_f08 are no other names of those of mpif.h."""
    in_mpif = {f.name for f in fortran.chosen(functions)}
    by_hand = fortran_f08.BY_HAND - NOT_BY_HAND
    return [f for f in fortran_f08.chosen(functions)
            if f.name not in by_hand and (fortran_f08.has_buffer(f) or not fortran_f08.is_alias(f, in_mpif))]


def f08_procedure(function, prefix):
    if fortran_f08.has_buffer(function):
        return fortran_buffer.procedure(function, prefix, fortran_f08.converted, native=True)
    return fortran_f08.procedure(function, prefix)


def entry_files(functions):
    plain, f08 = fortran.chosen(functions), f08_procedures(functions)
    half = ENTRY_FILES // 2
    for i in range(half):
        share = -(-len(plain) // half)
        yield f"mpich_fortran_{i}.cpp", fortran.entry_cpp(plain[i * share:(i + 1) * share])
    for i in range(half):
        share = -(-len(f08) // half)
        part = f08[i * share:(i + 1) * share]
        lines = [BANNER + '#include "fortran/native_array.hpp"\n\nnamespace weft::fortran {\n']
        lines += [f08_procedure(f, prefix) for f in part for prefix in ("", "P")]
        yield f"mpich_fortran_{half + i}.cpp", "\n".join(lines) + "\n\n}  // namespace weft::fortran\n"


def of_module(module, name):
    """The names that gfortran, flang and Intel's compilers give to a procedure of a module."""
    return f"__{module}_MOD_{name}", f"_QM{module}P{name}", f"{module}_mp_{name}_"


def aliases(functions):
    """Pairs of a name in programs and that of the procedure."""
    yield from fortran_foreign.other_manglings(functions, QUERIES)
    for f in fortran_f08.chosen(functions):
        own = fortran_f08.specific(f.name, fortran_f08.has_buffer(f)).lower() + "_"
        theirs = own
        if f.name.endswith("_c") and f.name not in fortran_f08.OWN_NAME:
            theirs = own.replace("_c_f08", "_f08").removesuffix("_") + "_large_"
            yield theirs, own
        for name in dict.fromkeys((own, theirs)):  # in an order that is always the same
            yield "pmpir" + name.removeprefix("mpi"), "p" + own
    for name in ("mpi_wtime", "mpi_wtick", "mpi_aint_add", "mpi_aint_diff"):
        yield f"pmpir{name.removeprefix('mpi')}_f08_", f"p{name}_f08_"
    for name in fortran_foreign.PREDEFINED:
        yield from ((other, f"{name}_") for other in of_module("mpi_f08_callbacks", name))
    for name in ("mpi_conversion_fn_null", "mpi_conversion_fn_null_c"):
        yield from ((other, f"{name}_") for other in of_module("mpi_f08_callbacks", name))
    for name in fortran_foreign.WITH_POINTER:
        for prefix in ("", "p"):
            yield f"{prefix}mpi_{name}_cptr_", f"{prefix}mpi_{name}_"
    for name in ("f2f08", "f082f"):
        yield from ((other, f"mpi_status_{name}_") for other in of_module("mpi_f08_types", f"mpi_status_{name}"))
    yield "pmpir_f_sync_reg_f08ts_", "pmpi_f_sync_reg_f08ts_"


def constants_cpp(data):
    gfortran, flang, intel = (f"{head}mpi_f08_compile_constants{tail}" for head, tail in (("__", "_MOD_"), ("_QM", "EC"), ("", "_mp_")))
    lines = [BANNER + "// Handles of the module mpi_f08, as programs find them in its library.\n",
             "#define WEFT_EXPORTED(name) extern \"C\" __attribute__((visibility(\"default\"))) const int name",
             f'#define WEFT_OWN(name) "{gfortran}" #name',
             "#define WEFT_HANDLE(name, value)                                                       \\",
             "  WEFT_EXPORTED(f08_##name) __asm__(WEFT_OWN(name));                                   \\",
             "  const int f08_##name = static_cast<int>(value);                                      \\",
             f'  WEFT_EXPORTED(flang_##name) __asm__("{flang}" #name) __attribute__((alias(WEFT_OWN(name)))); \\',
             f'  WEFT_EXPORTED(intel_##name) __asm__("{intel}" #name "_") __attribute__((alias(WEFT_OWN(name))));\n']
    handles = {c["name"]: c["value"] for c in data["constants"] + data["only_theirs"]
               if c["type"] in INT_HANDLES or c["type"] == "MPI_File"}
    handles |= {c["name"]: handles[c["value"]] for c in table.constants()["constants"]
                if c["type"] == "alias" and c["value"] in handles}
    lines += [f"WEFT_HANDLE({name.lower()}, {value})" for name, value in handles.items()]
    return "\n".join(lines) + "\n"


def build_files(ready):
    functions = chosen(ready)
    yield from entry_files(functions)
    yield "mpich_fortran_constants.cpp", constants_cpp(MPICH.data)
    yield "mpich_fortran.ld", fortran_foreign.linker_script(aliases(functions))
    yield from fortran_mpich_test.build_files(functions)
