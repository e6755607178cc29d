// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Functions and variables that MPICH and Intel MPI add, and handles of Fortran, which are those of C.

#include "foreign/by_hand.hpp"
#include "foreign/convert.hpp"
#include "foreign/refuse.hpp"

#define WEFT_EXPORTED __attribute__((visibility("default")))

extern "C" {
WEFT_EXPORTED extern int* const weft_unweighted __asm__("MPI_UNWEIGHTED");
WEFT_EXPORTED extern int* const weft_weights_empty __asm__("MPI_WEIGHTS_EMPTY");
WEFT_EXPORTED extern MPI_T_pvar_handle const weft_all_handles __asm__("MPI_T_PVAR_ALL_HANDLES");
WEFT_EXPORTED int MPIR_Dup_fn(int handle, int keyval, void* extra_state, void* value_in, void* value_out, int* flag);
}

// Variables in MPICH's ABI, so they can have the standard's values.
int* const weft_unweighted = MPI_UNWEIGHTED;
int* const weft_weights_empty = MPI_WEIGHTS_EMPTY;
MPI_T_pvar_handle const weft_all_handles = MPI_T_PVAR_ALL_HANDLES;

// The copy function of MPICH's header that copies the value; its address is in programs.
int MPIR_Dup_fn(int /*handle*/, int /*keyval*/, void* /*extra_state*/, void* value_in, void* value_out, int* flag) {
  *static_cast<void**>(value_out) = value_in;
  *flag = 1;
  return MPI_SUCCESS;
}

namespace weft::foreign {

// The value is told in hexadecimal digits: an info object holds text alone.
int mpix_info_set_hex(int info, const char* key, const void* value, int value_size) {
  static constexpr char digits[] = "0123456789abcdef";
  constexpr int longest = (MPI_MAX_INFO_VAL - 1) / 2;
  if (value_size <= 0 || value_size > longest || no_place(value))
    return refuse_argument("MPIX_Info_set_hex", MPI_ERR_INFO_VALUE, "no value, or one that is too long");
  char text[2 * longest + 1];
  char* end = text;
  for (int i = 0; i < value_size; ++i) {
    const auto byte = static_cast<const unsigned char*>(value)[i];
    *end++ = digits[byte >> 4];
    *end++ = digits[byte & 15];
  }
  *end = '\0';
  return error_out(face.info_set(in<MPI_Info>(info), key, text));
}

// A null request, and one that is none, is complete.
int mpix_request_is_complete(int request) {
  if (request == out(MPI_REQUEST_NULL)) return 1;
  int complete = 0;
  if (face.request_get_status(in<MPI_Request>(request), &complete, MPI_STATUS_IGNORE) != MPI_SUCCESS) return 1;
  return complete;
}

// Nothing starts an operation that has a state (MPIX_Async_start).
void* mpix_async_get_state(void* /*async_thing*/) {
  (void)refuse("MPIX_Async_get_state", "operations of the program that MPI's progress calls are not supported");
  return nullptr;
}

// Buffers in the memory of accelerators are not supported.
int mpix_query_hip_support() {
  return 0;
}
int mpix_query_ze_support() {
  return 0;
}

int mpix_gpu_query_support(int gpu_type, int* is_supported) {
  constexpr int last_type = 2;  // CUDA, Level Zero, HIP
  if (gpu_type < 0 || gpu_type > last_type || no_place(is_supported)) return error_out(MPI_ERR_ARG);
  *is_supported = 0;
  return MPI_SUCCESS;
}

#define WEFT_SAME(kind)            \
  int kind##_c2f(int handle) {     \
    return handle;                 \
  }                                \
  int kind##_f2c(int handle) {     \
    return handle;                 \
  }                                \
  int kind##_toint(int handle) {   \
    return handle;                 \
  }                                \
  int kind##_fromint(int handle) { \
    return handle;                 \
  }
WEFT_SAME(comm)
WEFT_SAME(errhandler)
WEFT_SAME(group)
WEFT_SAME(info)
WEFT_SAME(message)
WEFT_SAME(op)
WEFT_SAME(request)
WEFT_SAME(session)
WEFT_SAME(type)
WEFT_SAME(win)
#undef WEFT_SAME

// The null handle is 0 in C and in Fortran.
int file_toint(MPI_File file) {
  return file == nullptr ? 0 : face.file_toint(in<MPI_File>(file));
}
MPI_File file_fromint(int file) {
  return file == 0 ? nullptr : out(face.file_fromint(file));
}
int file_c2f(MPI_File file) {
  return file_toint(file);
}
MPI_File file_f2c(int file) {
  return file_fromint(file);
}

}  // namespace weft::foreign
