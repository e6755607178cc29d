# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""mpif.h and modules of MPICH's ABI for tests alone: a program built with them has the symbols, values and
descriptors of one that was built with MPICH's. The modules' own objects are not linked: libmpifort.so.12 stands in."""
import re

import foreign
import fortran
import fortran_f08
import fortran_foreign_test as foreign_test
import roles
import table
from foreign_mpich import MPICH

PLACES = {"MPI_STATUS_SIZE": 5, "MPI_SOURCE": 3, "MPI_TAG": 4, "MPI_ERROR": 5}
COMMONS = {
    "MPIFCMB5": {"MPI_UNWEIGHTED": "(1)"}, "MPIFCMB9": {"MPI_WEIGHTS_EMPTY": "(1)"}, "MPIFCMBA": {"MPI_BUFFER_AUTOMATIC": ""},
    "MPIPRIV1": {"MPI_BOTTOM": "", "MPI_IN_PLACE": "", "MPI_STATUS_IGNORE": "(MPI_STATUS_SIZE)"},
    "MPIPRIV2": {"MPI_STATUSES_IGNORE": "(MPI_STATUS_SIZE,1)", "MPI_ERRCODES_IGNORE": "(1)"},
    "MPIPRIVC": {"MPI_ARGVS_NULL": "(1,1)", "MPI_ARGV_NULL": "(1)"},
}
SIZES = {"i": "integer(4)", "i1": "integer(1)", "i2": "integer(2)", "i8": "integer(8)", "r": "real(4)", "d": "real(8)",
         "cx": "complex(4)", "l": "logical", "ch": "character"}
F08_SIZES = {"xint8": "integer(1)", "xint16": "integer(2)", "xint32": "integer(4)", "xint64": "integer(8)",
             "xreal32": "real(4)", "xreal64": "real(8)", "xcomplex32": "complex(4)", "xcomplex64": "complex(8)",
             "logical": "logical", "character": "character"}


def constants():
    """In the form of table.constants()."""
    def signed(value):
        return value - (1 << 32) if value >= 1 << 31 else value

    def value(row):
        of = foreign.value_of(row)
        if row["type"] in roles.HANDLES:
            return signed(of)
        # Keys of predefined attributes have another number in Fortran: they say that the value is wanted.
        return of + 1 if re.fullmatch(foreign.FAMILIES["keyval"], row["name"]) and row["name"] != "MPI_KEYVAL_INVALID" else of

    data = MPICH.data
    rows = [{**c, "value": value(c)} for c in data["constants"] + data["only_theirs"] if "same_as" not in c]
    rows += [c for c in table.constants()["constants"] if c["type"] == "alias" or c["name"] in ("MPI_VERSION", "MPI_SUBVERSION")]
    for row in rows:
        if row["type"] == "MPI_File":
            row["value"] = 0
    return {"constants": rows, "status_places": PLACES, "commons": COMMONS}


def sizes(kinds, shape):
    rows = []
    for name, kind in kinds.items():
        for suffix, place in shape.items():
            rows.append(f"""  subroutine MPI_Sizeof_{name}{suffix}(x, size, ierror)
    {kind} :: x{place}
    integer :: size
    integer, optional :: ierror
    size = 0
    if (present(ierror)) ierror = 0
  end subroutine""")
    names = [f"MPI_Sizeof_{n}{s}" for n in kinds for s in shape]
    return fortran.continued(f"  interface MPI_Sizeof\n    module procedure {', '.join(names)}") + "\n  end interface\n", rows


STATUS = """  type, bind(C) :: MPI_Status
    integer :: count_lo, count_hi_and_cancelled, MPI_SOURCE, MPI_TAG, MPI_ERROR
  end type MPI_Status"""


# Procedures of the module mpi_f08_types; the bodies are not linked.
STATUS_CONVERSIONS = ["""  subroutine MPI_Status_f2f08(f_status, f08_status, ierror)
    integer, intent(in) :: f_status(5)
    type(MPI_Status), intent(out) :: f08_status
    integer, optional, intent(out) :: ierror
    f08_status = MPI_Status(f_status(1), 0, 0, 0, 0)
    if (present(ierror)) ierror = 0
  end subroutine""", """  subroutine MPI_Status_f082f(f08_status, f_status, ierror)
    type(MPI_Status), intent(in) :: f08_status
    integer, intent(out) :: f_status(5)
    integer, optional, intent(out) :: ierror
    f_status = f08_status%MPI_TAG
    if (present(ierror)) ierror = 0
  end subroutine"""]


def mpi_modules(functions):
    """The module mpi and those that it uses."""
    own = [t for t in foreign_test.TYPES if t != "MPI_Session"]
    rows, names = [], {"==": [], "/=": []}
    for t in own:
        for sign, word in (("==", "eq"), ("/=", "neq")):
            names[sign].append(f"{foreign_test.lower(t)}{word}")
            rows.append(foreign_test.comparison(f"{foreign_test.lower(t)}{word}", (f"type({t})", f"type({t})"), sign))
    text = fortran.FORTRAN_BANNER + "module mpi_constants\n  implicit none\n" + "\n".join([*foreign_test.handle_types(), STATUS]) + "\n"
    for sign, found in names.items():
        text += fortran.continued(f"  interface operator({sign})\n    module procedure {', '.join(found)}") + "\n  end interface\n"
    text += foreign_test.functions_in_module(rows) + "\nend module mpi_constants\n"
    head, rows = sizes(SIZES, {"": "", "v": "(*)"})
    text += "module mpi_sizeofs\n  implicit none\n" + head + foreign_test.functions_in_module(rows) + "\nend module mpi_sizeofs\n"
    body = fortran.module_mpi(fortran.chosen(functions), constants(), "mpi_constants\n  use mpi_sizeofs", "", descriptors=False)
    return text + body.removeprefix(fortran.FORTRAN_BANNER)


def f08_types():
    rows, names = [], {"==": [], "/=": []}
    for t in foreign_test.TYPES:
        for sign, word in (("==", "eq"), ("/=", "neq")):
            handle = f"type({t})"
            for suffix, types in ((f"_{word}", (handle, handle)), (f"_f08_{word}_f", (handle, "integer")),
                                  (f"_f_{word}_f08", ("integer", handle))):
                names[sign].append(t + suffix)
                rows.append(foreign_test.comparison(t + suffix, types, sign))
    head, more = sizes(F08_SIZES, {"": ", dimension(..)"})
    head = head.replace(" :: x, dimension(..)", ", dimension(..) :: x")
    more = [r.replace(" :: x, dimension(..)", ", dimension(..) :: x") for r in more]
    text = "module mpi_f08_types\n  implicit none\n" + "\n".join([*foreign_test.handle_types(), STATUS]) + "\n"
    for sign, found in names.items():
        text += fortran.continued(f"  interface operator({sign})\n    module procedure {', '.join(found)}") + "\n  end interface\n"
    return text + head + foreign_test.functions_in_module(rows + more + STATUS_CONVERSIONS) + "\nend module mpi_f08_types\n"


def link_constants():
    c_names = {"MPI_BOTTOM": "MPIR_F08_MPI_BOTTOM", "MPI_IN_PLACE": "MPIR_F08_MPI_IN_PLACE",
               "MPI_STATUS_IGNORE": "MPIR_F08_MPI_STATUS_IGNORE_OBJ", "MPI_STATUSES_IGNORE": "MPIR_F08_MPI_STATUSES_IGNORE_OBJ"}
    shapes = {"MPI_STATUSES_IGNORE": "(1)", "MPI_ERRCODES_IGNORE": "(1)", "MPI_ARGV_NULL": "(1)", "MPI_ARGVS_NULL": "(1, 1)"}
    lines = ["module mpi_f08_link_constants", "  use mpi_f08_types", "  implicit none"]
    for name, kind in fortran_f08.ADDRESSES.items():
        bind = f', bind(C, name="{c_names[name]}")' if name in c_names else ""
        shape = shapes.get(name, "(1)" if name in ("MPI_UNWEIGHTED", "MPI_WEIGHTS_EMPTY") else "")
        lines.append(f"  {kind}{bind}, target :: {name}{shape}")
    return "\n".join(lines) + "\nend module mpi_f08_link_constants\n"


def f08_interface(function, prefix):
    name = prefix + function.name
    if name.endswith("_c") and function.name not in fortran_f08.OWN_NAME:
        name = fortran_f08.specific(name.removesuffix("_c"), fortran_f08.has_buffer(function)) + "_large"
    else:
        name = fortran_f08.specific(name, fortran_f08.has_buffer(function))
    name = name.replace("PMPI_", "PMPIR_")
    arguments = [fortran_f08.declaration(function, p) for p in fortran_f08.signature(function)]
    return fortran_f08.body(name, None, arguments, function.name not in fortran_f08.WITHOUT_IERROR)


def f08_modules(functions):
    lines = ["module mpi_f08_compile_constants", "  use mpi_f08_types", "  implicit none"]
    lines += fortran_f08.parameters(constants())
    text = fortran.FORTRAN_BANNER + f08_types() + "\n".join(lines) + "\nend module mpi_f08_compile_constants\n"
    text += link_constants() + foreign_test.f08_callbacks("mpi_f08_compile_constants")
    lines = ["module mpi_f08", "  use, intrinsic :: iso_c_binding, only: c_ptr", "  use mpi_f08_types", "  use mpi_f08_compile_constants",
             "  use mpi_f08_link_constants", "  use mpi_f08_callbacks", "  implicit none", "  private :: c_ptr", "  interface",
             "  end interface"]
    for prefix in ("", "P"):
        bodies = {}
        for f in fortran_f08.chosen(functions):
            name = f.name if f.name in fortran_f08.OWN_NAME else f.name.removesuffix("_c")
            bodies.setdefault(prefix + name, []).append(f08_interface(f, prefix))
        lines += [fortran_f08.generic(name, found) for name, found in bodies.items()]
        for name, found in fortran_f08.more_interfaces(prefix):
            if name.endswith("Sizeof") or "Status_f" in name:
                continue
            unbound = [b.replace(' bind(C, name="mpi_f_sync_reg_f08ts_")', "").replace("PMPI_", "PMPIR_") for b in found]
            if not (prefix and "sync_reg" in name):
                lines.append(fortran_f08.generic(name, unbound))
    return text + "\n".join(lines) + "\nend module mpi_f08\n"


def build_files(functions):
    yield "mpich_header/mpif.h", fortran.mpif_h(constants())
    yield "mpich_header/mpi.f90", mpi_modules(functions)
    yield "mpich_header/mpi_f08.f90", f08_modules(functions)
