// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Datatypes: the contents of one, where constants stand among numbers; the functions that MPI-3.0 removed and other
// libraries still have, and with them the markers MPI_LB and MPI_UB.

#include <algorithm>
#include <cstring>

#include "foreign/array.hpp"
#include "foreign/by_hand.hpp"

namespace weft::foreign {
namespace {

// Constants among the integers of a type's constructor (MPI-5.0, 5.1.13). `sizes_counted`: the global sizes of a
// distributed array are among the large counts.
void convert_integers(int combiner, bool sizes_counted, int* integers, int count) {
  if (combiner != MPI_COMBINER_SUBARRAY && combiner != MPI_COMBINER_DARRAY) return;
  integers[count - 1] = order_out(integers[count - 1]);
  if (combiner != MPI_COMBINER_DARRAY) return;
  const int dimensions = integers[2];
  int* distributions = integers + 3 + (sizes_counted ? 0 : dimensions);
  for (int i = 0; i < dimensions; ++i) {
    distributions[i] = distribution_out(distributions[i]);
    distributions[dimensions + i] = distribution_argument_out(distributions[dimensions + i]);
  }
}

void give_types(ArrayMemory<MPI_Datatype>& types, Handle* place) {
  for (size_t i = 0; i < types.count(); ++i) {
    if (types[i] != nullptr) place[i] = out(types[i]);
  }
}

void clear(ArrayMemory<MPI_Datatype>& types) {
  std::fill_n(types.data(), types.count(), nullptr);
}

bool is_marker(Handle type) {
  return marker_of(type) != Marker::none;
}

// A structure with markers: the structure of its other parts, with the bounds that the markers say (MPI-2.2, 4.1.6).
int make_marked(int count, const int* lengths, const MPI_Aint* displacements, const Handle* types,
                MPI_Datatype* newtype) {
  ArrayMemory<int> kept_lengths(count);
  ArrayMemory<MPI_Aint> kept_displacements(count);
  ArrayMemory<MPI_Datatype> kept_types(count);
  int kept = 0;
  MPI_Aint lower = 0;
  MPI_Aint upper = 0;
  bool has_lower = false;
  bool has_upper = false;
  for (int i = 0; i < count; ++i) {
    if (!is_marker(types[i])) {
      kept_lengths[static_cast<size_t>(kept)] = lengths[i];
      kept_displacements[static_cast<size_t>(kept)] = displacements[i];
      kept_types[static_cast<size_t>(kept++)] = in<MPI_Datatype>(types[i]);
    } else if (lengths[i] <= 0) {
      continue;
    } else if (marker_of(types[i]) == Marker::lower) {
      lower = has_lower ? std::min(lower, displacements[i]) : displacements[i];
      has_lower = true;
    } else {
      upper = has_upper ? std::max(upper, displacements[i]) : displacements[i];
      has_upper = true;
    }
  }
  MPI_Datatype bare = MPI_DATATYPE_NULL;
  int error = face.type_create_struct(kept, kept_lengths.data(), kept_displacements.data(), kept_types.data(), &bare);
  if (error != MPI_SUCCESS) return error;
  MPI_Count own_lower = 0;
  MPI_Count own_extent = 0;
  error = face.type_get_extent_c(bare, &own_lower, &own_extent);
  if (error != MPI_SUCCESS) return error;
  if (!has_lower) lower = own_lower;
  if (!has_upper) upper = own_lower + own_extent;
  error = face.type_create_resized(bare, lower, upper - lower, newtype);
  const int freed = face.type_free(&bare);
  return error != MPI_SUCCESS ? error : freed;
}

int bounds(Handle datatype, MPI_Aint* lower, MPI_Aint* extent) {
  return error_out(face.type_get_extent(in<MPI_Datatype>(datatype), lower, extent));
}

}  // namespace

int type_get_contents(Handle datatype, int max_integers, int max_addresses, int max_datatypes, int array_of_integers[],
                      MPI_Aint array_of_addresses[], Handle array_of_datatypes[]) {
  const auto type = in<MPI_Datatype>(datatype);
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = 0;
  if (int error = face.type_get_envelope(type, &integers, &addresses, &types, &combiner)) return error_out(error);
  ArrayMemory<MPI_Datatype> made(max_datatypes);
  clear(made);
  const int error = face.type_get_contents(type, max_integers, max_addresses, max_datatypes, array_of_integers,
                                           array_of_addresses, no_place(array_of_datatypes) ? nullptr : made.data());
  if (error != MPI_SUCCESS) return error_out(error);
  convert_integers(combiner, false, array_of_integers, integers);
  give_types(made, array_of_datatypes);
  return MPI_SUCCESS;
}

int type_get_contents_c(Handle datatype, MPI_Count max_integers, MPI_Count max_addresses, MPI_Count max_large_counts,
                        MPI_Count max_datatypes, int array_of_integers[], MPI_Aint array_of_addresses[],
                        MPI_Count array_of_large_counts[], Handle array_of_datatypes[]) {
  const auto type = in<MPI_Datatype>(datatype);
  MPI_Count integers = 0;
  MPI_Count addresses = 0;
  MPI_Count large_counts = 0;
  MPI_Count types = 0;
  int combiner = 0;
  if (int error = face.type_get_envelope_c(type, &integers, &addresses, &large_counts, &types, &combiner)) {
    return error_out(error);
  }
  ArrayMemory<MPI_Datatype> made(max_datatypes);
  clear(made);
  const int error = face.type_get_contents_c(type, max_integers, max_addresses, max_large_counts, max_datatypes,
                                             array_of_integers, array_of_addresses, array_of_large_counts,
                                             no_place(array_of_datatypes) ? nullptr : made.data());
  if (error != MPI_SUCCESS) return error_out(error);
  convert_integers(combiner, large_counts != 0, array_of_integers, static_cast<int>(integers));
  give_types(made, array_of_datatypes);
  return MPI_SUCCESS;
}

int type_create_struct(int count, const int array_of_blocklengths[], const MPI_Aint array_of_displacements[],
                       const Handle array_of_types[], Handle* newtype) {
  const bool arrays =
      count > 0 && !no_place(array_of_blocklengths) && !no_place(array_of_displacements) && !no_place(array_of_types);
  if (arrays && std::any_of(array_of_types, array_of_types + count, is_marker)) {
    return error_out(
        make_marked(count, array_of_blocklengths, array_of_displacements, array_of_types, Out<MPI_Datatype>(newtype)));
  }
  return error_out(face.type_create_struct(count, array_of_blocklengths, array_of_displacements,
                                           HandlesIn<MPI_Datatype>(count, array_of_types), Out<MPI_Datatype>(newtype)));
}

int type_struct(int count, int array_of_blocklengths[], MPI_Aint array_of_displacements[], Handle array_of_types[],
                Handle* newtype) {
  return type_create_struct(count, array_of_blocklengths, array_of_displacements, array_of_types, newtype);
}

int type_hindexed(int count, int array_of_blocklengths[], MPI_Aint array_of_displacements[], Handle oldtype,
                  Handle* newtype) {
  return error_out(face.type_create_hindexed(count, array_of_blocklengths, array_of_displacements,
                                             in<MPI_Datatype>(oldtype), Out<MPI_Datatype>(newtype)));
}

int type_hvector(int count, int blocklength, MPI_Aint stride, Handle oldtype, Handle* newtype) {
  return error_out(
      face.type_create_hvector(count, blocklength, stride, in<MPI_Datatype>(oldtype), Out<MPI_Datatype>(newtype)));
}

namespace {

// The other libraries know these types by the second of their two names.
constexpr struct {
  const char* standard;
  const char* theirs;
} second_names[] = {{"MPI_LONG_LONG", "MPI_LONG_LONG_INT"}, {"MPI_C_FLOAT_COMPLEX", "MPI_C_COMPLEX"}};

void call_by_second_name(char* type_name, int* resultlen) {
  for (const auto& names : second_names) {
    if (strcmp(type_name, names.standard) != 0) continue;
    *resultlen = static_cast<int>(strlen(names.theirs));
    memcpy(type_name, names.theirs, static_cast<size_t>(*resultlen) + 1);
    return;
  }
}

}  // namespace

// The markers have a name, if nothing else.
int type_get_name(Handle datatype, char* type_name, int* resultlen) {
  if (!is_marker(datatype) || no_place(type_name) || no_place(resultlen)) {
    const auto type = in<MPI_Datatype>(datatype);
    const int error = face.type_get_name(type, StringOut<MPI_MAX_OBJECT_NAME, limits::max_object_name>(type_name),
                                         LengthOut<limits::max_object_name>(resultlen));
    if (error == MPI_SUCCESS && reinterpret_cast<uintptr_t>(type) < mpi::predefined_limit)
      call_by_second_name(type_name, resultlen);
    return error_out(error);
  }
  memcpy(type_name, marker_of(datatype) == Marker::lower ? "MPI_LB" : "MPI_UB", sizeof "MPI_LB");
  *resultlen = sizeof "MPI_LB" - 1;
  return MPI_SUCCESS;
}

int type_extent(Handle datatype, MPI_Aint* extent) {
  MPI_Aint lower = 0;
  return bounds(datatype, &lower, extent);
}

int type_lb(Handle datatype, MPI_Aint* displacement) {
  MPI_Aint extent = 0;
  return bounds(datatype, displacement, &extent);
}

int type_ub(Handle datatype, MPI_Aint* displacement) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  if (int error = bounds(datatype, &lower, no_place(displacement) ? nullptr : &extent)) return error;
  *displacement = lower + extent;
  return MPI_SUCCESS;
}

int address(void* location, MPI_Aint* address) {
  return error_out(face.get_address(location, address));
}

}  // namespace weft::foreign
