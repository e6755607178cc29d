# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Parts of the modules of Fortran for tests that MPICH's and Open MPI's ABIs have in common."""
import fortran
import fortran_f08
import roles

TYPES = sorted(roles.HANDLES)


def lower(type_):
    return type_.removeprefix("MPI_").lower()


def functions_in_module(rows):
    return "\n".join(["contains", *rows])


def comparison(name, types, sign):
    first, second = types
    return f"""  elemental pure logical function {name}(a, b)
    {first}, intent(in) :: a
    {second}, intent(in) :: b
    {name} = a{'%MPI_VAL' if 'type' in first else ''} {sign} b{'%MPI_VAL' if 'type' in second else ''}
  end function {name}"""


def handle_types():
    return [f"  type, bind(C) :: {t}\n    integer :: MPI_VAL\n  end type {t}" for t in TYPES]


def types_module(name, status, own_name):
    """The types of handles, a status, and comparisons of handles; own_name(type, word) gives the name of one."""
    rows, heads = [], ""
    for sign, word in (("==", "eq"), ("/=", "ne")):
        rows += [comparison(own_name(t, word), (f"type({t})", f"type({t})"), sign) for t in TYPES]
        heads += fortran.continued(f"  interface operator({sign})\n    module procedure {', '.join(own_name(t, word) for t in TYPES)}") + \
            "\n  end interface\n"
    head = "\n".join([f"module {name}", "  implicit none", *handle_types(), status, heads])
    return head + functions_in_module(rows) + f"\nend module {name}\n"


def f08_callbacks(constants):
    """The interfaces of procedures that programs give, and the predefined ones; `constants` is the module of constants."""
    lines = ["module mpi_f08_callbacks", "  use, intrinsic :: iso_c_binding, only: c_ptr", "  use mpi_f08_types",
             f"  use {constants}", "  implicit none", "  private :: c_ptr", "  abstract interface"]
    lines += [fortran_f08.body(name, None, arguments, ierror=False) for name, arguments in fortran_f08.callbacks().items()]
    lines += ["  end interface", "contains"]
    for name, arguments in fortran_f08.predefined().items():
        text = fortran_f08.body(name, None, arguments, ierror=False)
        lines.append(text.replace("      import\n", ""))
    return "\n".join(lines) + "\nend module mpi_f08_callbacks\n"
