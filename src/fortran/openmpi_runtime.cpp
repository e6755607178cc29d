// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Hooks of the runtime for Fortran of Open MPI's ABI: the files that include its mpi.h cannot see the declarations of
// the runtime, which have the types of the standard ABI.

#include "foreign/abi_openmpi.hpp"
#include "foreign/value.hpp"
#include "fortran/calls.hpp"
#include "fortran/object_number.hpp"

namespace weft::fortran {

void mark_errhandler(void* errhandler);
void mark_op(void* op);

namespace {

template <class H>
struct Numbers;
#define WEFT_NUMBERS(type)                                       \
  template <>                                                    \
  struct Numbers<type> {                                         \
    static constexpr const auto& rows = foreign::type##_numbers; \
  };
WEFT_NUMBERS(MPI_Comm)
WEFT_NUMBERS(MPI_Datatype)
WEFT_NUMBERS(MPI_File)
WEFT_NUMBERS(MPI_Session)
WEFT_NUMBERS(MPI_Win)
#undef WEFT_NUMBERS

struct OpenmpiHandles {
  template <class H>
  static int handle(H handle) {
    const auto value = reinterpret_cast<uintptr_t>(handle);
    return value < first_number ? foreign::fortran_number(value, Numbers<H>::rows)
                                : static_cast<int>(number_of_object(value));
  }
  static int code(int code) { return foreign::error_out(code); }
};

}  // namespace

void mark_errhandler(void* errhandler) {
  foreign::face.hooks.mark_errhandler(static_cast<MPI_Errhandler>(errhandler), &FortranCalls<OpenmpiHandles>::table);
}

void mark_op(void* op) {
  foreign::face.hooks.mark_op(static_cast<MPI_Op>(op), &FortranCalls<OpenmpiHandles>::table);
}

}  // namespace weft::fortran
