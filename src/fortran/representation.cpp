// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Data representations of files whose conversions are procedures of Fortran.

#include "fortran/convert.hpp"

extern "C" {
// Stand for the absence of a conversion; programs only name them.
__attribute__((visibility("default"))) void mpi_conversion_fn_null_() {}
__attribute__((visibility("default"))) void mpi_conversion_fn_null_c_() {}
}

namespace weft::fortran {
namespace {

template <class Count>
using Conversion = void(void*, MPI_Fint*, Count*, void*, MPI_Offset*, MPI_Aint*, MPI_Fint*);
using Extent = void(MPI_Fint*, MPI_Aint*, MPI_Aint*, MPI_Fint*);

// Kept until the process ends, like the representation.
template <class Count>
struct FortranRepresentation {
  Conversion<Count>* read;
  Conversion<Count>* write;
  Extent* extent;
  MPI_Aint extra_state;
};

template <class Count>
int convert(Conversion<Count>* conversion, void* user, MPI_Datatype datatype, Count count, void* file,
            MPI_Offset position, MPI_Aint extra_state) {
  MPI_Fint handle = Convert<MPI_Datatype>::out(datatype);
  MPI_Fint error = MPI_SUCCESS;
  conversion(user, &handle, &count, file, &position, &extra_state, &error);
  return error;
}

template <class Count>
int convert_read(void* user, MPI_Datatype datatype, Count count, void* file, MPI_Offset position, void* state) {
  const auto& representation = *static_cast<FortranRepresentation<Count>*>(state);
  return convert<Count>(representation.read, user, datatype, count, file, position, representation.extra_state);
}

template <class Count>
int convert_write(void* user, MPI_Datatype datatype, Count count, void* file, MPI_Offset position, void* state) {
  const auto& representation = *static_cast<FortranRepresentation<Count>*>(state);
  return convert<Count>(representation.write, user, datatype, count, file, position, representation.extra_state);
}

template <class Count>
int file_extent(MPI_Datatype datatype, MPI_Aint* extent, void* state) {
  const auto& representation = *static_cast<FortranRepresentation<Count>*>(state);
  MPI_Fint handle = Convert<MPI_Datatype>::out(datatype);
  MPI_Aint extra_state = representation.extra_state;
  MPI_Fint error = MPI_SUCCESS;
  representation.extent(&handle, extent, &extra_state, &error);
  return error;
}

template <class Count, class Function>
using Register = int(const char*, Function*, Function*, MPI_Datarep_extent_function*, void*);

template <class Count, class Function>
int register_representation(Register<Count, Function>* call, const char* name, FortranRepresentation<Count> given,
                            void (*none)()) {
  auto* kept = new (std::nothrow) FortranRepresentation<Count>(given);
  if (kept == nullptr) return MPI_ERR_NO_MEM;
  auto* absent = reinterpret_cast<Conversion<Count>*>(none);
  const int error = call(name, given.read == absent ? nullptr : convert_read<Count>,
                         given.write == absent ? nullptr : convert_write<Count>, file_extent<Count>, kept);
  if (error != MPI_SUCCESS) delete kept;
  return error;
}

}  // namespace

#define WEFT_REGISTER(symbol, function, Count, none)                                          \
  extern "C" __attribute__((visibility("default"))) void symbol(                              \
      const char* datarep, Conversion<Count>* read, Conversion<Count>* write, Extent* extent, \
      const MPI_Aint* extra_state, MPI_Fint* ierror, size_t datarep_length) {                 \
    give(ierror, register_representation<Count>(function, StringIn(datarep, datarep_length),  \
                                                {read, write, extent, *extra_state}, none));  \
  }
WEFT_REGISTER(mpi_register_datarep_, MPI_Register_datarep, MPI_Fint, mpi_conversion_fn_null_)
WEFT_REGISTER(pmpi_register_datarep_, PMPI_Register_datarep, MPI_Fint, mpi_conversion_fn_null_)
WEFT_REGISTER(mpi_register_datarep_c_f08_, MPI_Register_datarep_c, MPI_Count, mpi_conversion_fn_null_c_)
WEFT_REGISTER(pmpi_register_datarep_c_f08_, PMPI_Register_datarep_c, MPI_Count, mpi_conversion_fn_null_c_)
WEFT_F08(mpi_register_datarep)
WEFT_F08(pmpi_register_datarep)

}  // namespace weft::fortran
