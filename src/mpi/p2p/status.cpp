// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The fields that programs read from a status, and write into those of their own requests (MPI-5.0, 3.2.5, 5.1.11 and
// 13.3).
#include "mpi/p2p/status.hpp"

#include <climits>

#include "datatype/pack.hpp"
#include "mpi/functions.hpp"
#include "mpi/object/check.hpp"

namespace weft::mpi {
namespace {

int narrow(int64_t value) {
  return value <= INT_MAX ? static_cast<int>(value) : MPI_UNDEFINED;
}

// Counts the whole elements of a datatype in the message. `count` is MPI_UNDEFINED when the message ends inside one.
int count_elements(const char* function, const MPI_Status* status, MPI_Datatype datatype, int64_t& count) {
  if (no_address(status)) return null_argument(nullptr, function, "status");
  const Type* type = type_of(datatype);
  if (type == nullptr) return bad_type(nullptr, function, datatype);
  int64_t bytes = status_bytes(*status);
  if (type->size == 0) {
    count = bytes == 0 ? 0 : MPI_UNDEFINED;
  } else {
    count = bytes % type->size == 0 ? bytes / type->size : MPI_UNDEFINED;
  }
  return MPI_SUCCESS;
}

// Basic elements in the message; MPI_UNDEFINED when it ends inside one.
int count_basics(const char* function, const MPI_Status* status, MPI_Datatype datatype, int64_t& count) {
  if (no_address(status)) return null_argument(nullptr, function, "status");
  const Type* type = type_of(datatype);
  if (type == nullptr) return bad_type(nullptr, function, datatype);
  int64_t bytes = status_bytes(*status);
  if (type->size == 0) {
    count = bytes == 0 ? 0 : MPI_UNDEFINED;
  } else if (bytes % type->size == 0) {
    count = bytes / type->size * type->basic_count;
  } else {
    int64_t basics = datatype::basics_in(*type, bytes);
    count = basics >= 0 ? basics : MPI_UNDEFINED;
  }
  return MPI_SUCCESS;
}

int set_elements(const char* function, MPI_Status* status, MPI_Datatype datatype, MPI_Count count) {
  if (no_address(status)) return null_argument(nullptr, function, "status");
  const Type* type = type_of(datatype);
  if (type == nullptr) return bad_type(nullptr, function, datatype);
  if (count < 0) return negative(nullptr, function, MPI_ERR_COUNT, "count", count);
  int64_t bytes = datatype::bytes_of_basics(*type, count);
  if (bytes < 0) {
    return fail(nullptr, function, MPI_ERR_ARG,
                "%lld basic elements of this datatype are more bytes than 64 bits can count",
                static_cast<long long>(count));
  }
  set_status_bytes(*status, bytes);
  return MPI_SUCCESS;
}

}  // namespace

int get_count(const MPI_Status* status, MPI_Datatype datatype, int* count) {
  if (no_address(count)) return null_argument(nullptr, "MPI_Get_count", "count");
  int64_t found = 0;
  if (int error = count_elements("MPI_Get_count", status, datatype, found)) return error;
  *count = narrow(found);
  return MPI_SUCCESS;
}

int get_count_c(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
  if (no_address(count)) return null_argument(nullptr, "MPI_Get_count_c", "count");
  return count_elements("MPI_Get_count_c", status, datatype, *count);
}

int get_elements(const MPI_Status* status, MPI_Datatype datatype, int* count) {
  if (no_address(count)) return null_argument(nullptr, "MPI_Get_elements", "count");
  int64_t found = 0;
  if (int error = count_basics("MPI_Get_elements", status, datatype, found)) return error;
  *count = narrow(found);
  return MPI_SUCCESS;
}

int get_elements_c(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
  if (no_address(count)) return null_argument(nullptr, "MPI_Get_elements_c", "count");
  return count_basics("MPI_Get_elements_c", status, datatype, *count);
}

int get_elements_x(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
  if (no_address(count)) return null_argument(nullptr, "MPI_Get_elements_x", "count");
  return count_basics("MPI_Get_elements_x", status, datatype, *count);
}

int status_set_elements_c(MPI_Status* status, MPI_Datatype datatype, MPI_Count count) {
  return set_elements("MPI_Status_set_elements", status, datatype, count);
}

int status_set_elements_x(MPI_Status* status, MPI_Datatype datatype, MPI_Count count) {
  return set_elements("MPI_Status_set_elements_x", status, datatype, count);
}

int status_set_cancelled(MPI_Status* status, int flag) {
  if (no_address(status)) return null_argument(nullptr, "MPI_Status_set_cancelled", "status");
  set_status_cancelled(*status, flag != 0);
  return MPI_SUCCESS;
}

int test_cancelled(const MPI_Status* status, int* flag) {
  if (no_address(status)) return null_argument(nullptr, "MPI_Test_cancelled", "status");
  if (no_address(flag)) return null_argument(nullptr, "MPI_Test_cancelled", "flag");
  *flag = status_cancelled(*status);
  return MPI_SUCCESS;
}

int status_get_source(const MPI_Status* status, int* source) {
  if (no_address(status)) return null_argument(nullptr, "MPI_Status_get_source", "status");
  if (no_address(source)) return null_argument(nullptr, "MPI_Status_get_source", "source");
  *source = status->MPI_SOURCE;
  return MPI_SUCCESS;
}

int status_get_tag(const MPI_Status* status, int* tag) {
  if (no_address(status)) return null_argument(nullptr, "MPI_Status_get_tag", "status");
  if (no_address(tag)) return null_argument(nullptr, "MPI_Status_get_tag", "tag");
  *tag = status->MPI_TAG;
  return MPI_SUCCESS;
}

int status_get_error(const MPI_Status* status, int* error) {
  if (no_address(status)) return null_argument(nullptr, "MPI_Status_get_error", "status");
  if (no_address(error)) return null_argument(nullptr, "MPI_Status_get_error", "error");
  *error = status->MPI_ERROR;
  return MPI_SUCCESS;
}

int status_set_source(MPI_Status* status, int source) {
  if (no_address(status)) return null_argument(nullptr, "MPI_Status_set_source", "status");
  status->MPI_SOURCE = source;
  return MPI_SUCCESS;
}

int status_set_tag(MPI_Status* status, int tag) {
  if (no_address(status)) return null_argument(nullptr, "MPI_Status_set_tag", "status");
  status->MPI_TAG = tag;
  return MPI_SUCCESS;
}

int status_set_error(MPI_Status* status, int error) {
  if (no_address(status)) return null_argument(nullptr, "MPI_Status_set_error", "status");
  status->MPI_ERROR = error;
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
