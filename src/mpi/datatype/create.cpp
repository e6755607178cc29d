// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Constructors of datatypes (MPI-5.0, 5.1.2 and 5.1.7). The narrow and the large form differ in what is remembered.

#include "datatype/pack.hpp"
#include "mpi/datatype/type.hpp"
#include "mpi/functions.hpp"
#include "mpi/object/check.hpp"

namespace weft::mpi {
namespace {

int check(const char* function, MPI_Count count, MPI_Count blocklength, MPI_Datatype oldtype,
          const MPI_Datatype* newtype) {
  if (count < 0) return negative(nullptr, function, MPI_ERR_COUNT, "count", count);
  if (blocklength < 0) return negative(nullptr, function, MPI_ERR_ARG, "blocklength", blocklength);
  if (type_of(oldtype) == nullptr) return bad_type(nullptr, function, oldtype);
  if (no_address(newtype)) return null_argument(nullptr, function, "newtype");
  return MPI_SUCCESS;
}

int make_contiguous(const char* function, MPI_Count count, MPI_Datatype oldtype, TypeRecord&& record,
                    MPI_Datatype* newtype) {
  if (int error = check(function, count, 0, oldtype, newtype)) return error;
  Type* old = type_of(oldtype);
  record.combiner = MPI_COMBINER_CONTIGUOUS;
  record.types = {old};
  return give_type(function, datatype::contiguous(count, *old), std::move(record), newtype);
}

int make_vector(const char* function, MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype,
                TypeRecord&& record, MPI_Datatype* newtype) {
  if (int error = check(function, count, blocklength, oldtype, newtype)) return error;
  Type* old = type_of(oldtype);
  int64_t bytes = 0;
  bool fits = !__builtin_mul_overflow(stride, old->extent, &bytes);
  record.combiner = MPI_COMBINER_VECTOR;
  record.types = {old};
  Type* made = fits ? datatype::vector(count, blocklength, bytes, *old) : nullptr;
  return give_type(function, made, std::move(record), newtype);
}

int make_hvector(const char* function, MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype,
                 TypeRecord&& record, MPI_Datatype* newtype) {
  if (int error = check(function, count, blocklength, oldtype, newtype)) return error;
  Type* old = type_of(oldtype);
  record.combiner = MPI_COMBINER_HVECTOR;
  record.types = {old};
  return give_type(function, datatype::vector(count, blocklength, stride, *old), std::move(record), newtype);
}

int make_resized(const char* function, MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent, TypeRecord&& record,
                 MPI_Datatype* newtype) {
  if (int error = check(function, 0, 0, oldtype, newtype)) return error;
  Type* old = type_of(oldtype);
  record.combiner = MPI_COMBINER_RESIZED;
  record.types = {old};
  return give_type(function, datatype::resized(*old, lb, extent), std::move(record), newtype);
}

}  // namespace

int type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return make_contiguous("MPI_Type_contiguous", count, oldtype, {.integers = {count}}, newtype);
}

int type_contiguous_c(MPI_Count count, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return make_contiguous("MPI_Type_contiguous_c", count, oldtype, {.large_counts = {count}}, newtype);
}

int type_vector(int count, int blocklength, int stride, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return make_vector("MPI_Type_vector", count, blocklength, stride, oldtype, {.integers = {count, blocklength, stride}},
                     newtype);
}

int type_vector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype,
                  MPI_Datatype* newtype) {
  return make_vector("MPI_Type_vector_c", count, blocklength, stride, oldtype,
                     {.large_counts = {count, blocklength, stride}}, newtype);
}

int type_create_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return make_hvector("MPI_Type_create_hvector", count, blocklength, stride, oldtype,
                      {.integers = {count, blocklength}, .addresses = {stride}}, newtype);
}

int type_create_hvector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype,
                          MPI_Datatype* newtype) {
  return make_hvector("MPI_Type_create_hvector_c", count, blocklength, stride, oldtype,
                      {.large_counts = {count, blocklength, stride}}, newtype);
}

int type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent, MPI_Datatype* newtype) {
  return make_resized("MPI_Type_create_resized", oldtype, lb, extent, {.addresses = {lb, extent}}, newtype);
}

int type_create_resized_c(MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent, MPI_Datatype* newtype) {
  return make_resized("MPI_Type_create_resized_c", oldtype, lb, extent, {.large_counts = {lb, extent}}, newtype);
}

}  // namespace weft::mpi
