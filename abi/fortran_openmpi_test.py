# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""mpif.h and modules of Open MPI's ABI for tests alone: a program built with them has the symbols, values and calls of one
that was built with Open MPI's. The modules' own objects are not linked: libmpi_mpifh.so.40 stands in."""
import fortran
import fortran_buffer
import fortran_f08
import fortran_foreign_test as foreign_test
import roles
import table
from foreign_openmpi import OPENMPI

PLACES = {"MPI_STATUS_SIZE": 6, "MPI_SOURCE": 1, "MPI_TAG": 2, "MPI_ERROR": 3}
BLOCKS = {name: (f"mpi_fortran_{block}", shape) for name, (block, shape) in fortran.COMMONS.items() if name != "MPI_BUFFER_AUTOMATIC"}
STATUS = """  type, bind(C) :: MPI_Status
    integer :: MPI_SOURCE, MPI_TAG, MPI_ERROR
    integer, private :: cancelled, bytes(2)
  end type MPI_Status"""
KINDS = {"character": "character", "logical": "logical", "int8": "integer(1)", "int16": "integer(2)", "int32": "integer(4)",
         "int64": "integer(8)", "real32": "real(4)", "real64": "real(8)", "complex32": "complex(4)", "complex64": "complex(8)"}
RANKS = {"scalar": "", "r1": "(*)", "r2": "(1, *)"}


def constants():
    """In the form of table.constants()."""
    data = OPENMPI.data
    rows = [{**c, "value": c["fortran"]} if c["type"] in roles.HANDLES else c for c in data["constants"] + data["only_theirs"]
            if c["type"] not in roles.HANDLES or "fortran" in c]
    known = {c["name"] for c in rows}
    rows += [c for c in table.constants()["constants"] if c["name"] not in known and
             (c["type"] == "alias" or c["name"] in ("MPI_VERSION", "MPI_SUBVERSION"))]
    return {"constants": rows, "status_places": PLACES, "commons": {block: {name: shape} for name, (block, shape) in BLOCKS.items()}}


def sizes():
    """MPI_Sizeof, with one procedure for each type and rank."""
    bodies = []
    for kind, type_ in KINDS.items():
        for rank, shape in RANKS.items():
            name = f"MPI_Sizeof_{kind}_{rank}"
            bodies.append(f"    subroutine {name}(x, size, ierror)\n      {type_} :: x{shape}\n      integer, intent(out) :: size\n"
                          f"      integer, optional, intent(out) :: ierror\n    end subroutine {name}")
    return fortran_f08.generic("MPI_Sizeof", bodies) + "\n"


def types_module(name):
    return foreign_test.types_module(name, STATUS, lambda type_, word: f"ompi_{foreign_test.lower(type_)}_op_{word}")


def mpi_module(functions):
    body = fortran.module_mpi(fortran.chosen(functions), constants(), "mpi_types", sizes(), descriptors=False)
    return fortran.FORTRAN_BANNER + types_module("mpi_types") + body.removeprefix(fortran.FORTRAN_BANNER)


def constants_module():
    lines = ["module mpi_f08_constants", "  use mpi_f08_types", "  implicit none", *fortran_f08.parameters(constants())]
    lines = [line.replace(".true.", ".false.") for line in lines]
    for name, (block, shape) in BLOCKS.items():
        kind = fortran_f08.ADDRESSES[name]
        lines.append(f'  {kind}, bind(C, name="{block}_"), target :: {name}{fortran_f08.f08_shape(name, shape)}')
    return "\n".join(lines) + "\nend module mpi_f08_constants\n"


def f08_body(function, prefix):
    arguments = []
    for p in fortran_f08.signature(function):
        if fortran_buffer.is_choice(p):
            arguments.append((p.name, f"!GCC$ ATTRIBUTES NO_ARG_CHECK :: {p.name}\n      type(*), dimension(*)"))
        else:
            name, kind = fortran_f08.declaration(function, p)
            arguments.append((name, kind.replace("type(*)", "logical") if p.name in fortran.LOGICAL else kind))
    return fortran_f08.body(f"{prefix}{function.name}_f08", None, arguments, function.name not in fortran_f08.WITHOUT_IERROR)


def f08_modules(functions):
    text = fortran.FORTRAN_BANNER + types_module("mpi_f08_types") + constants_module() + foreign_test.f08_callbacks("mpi_f08_constants")
    lines = ["module mpi_f08", "  use, intrinsic :: iso_c_binding, only: c_ptr", "  use mpi_f08_types", "  use mpi_f08_constants",
             "  use mpi_f08_callbacks", "  implicit none", "  private :: c_ptr", sizes()]
    for prefix in ("", "P"):
        for f in fortran_f08.chosen(functions):
            if not f.name.endswith("_c"):
                lines.append(fortran_f08.generic(prefix + f.name, [f08_body(f, prefix)]))
        for name, found in fortran_f08.more_interfaces(prefix):
            if not name.endswith(("Sizeof", "sync_reg")):
                lines.append(fortran_f08.generic(name, found))
    return text + "\n".join(lines) + "\nend module mpi_f08\n"


def build_files(ready):
    functions = OPENMPI.functions(ready)
    yield "openmpi_header/mpif.h", fortran.mpif_h(constants())
    yield "openmpi_header/mpi.f90", mpi_module(functions)
    yield "openmpi_header/mpi_f08.f90", f08_modules(functions)
