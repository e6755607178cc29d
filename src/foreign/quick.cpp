// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The calls with a budget of instructions (bench/CMakeLists.txt). Common arguments take a fast path, which calls
// nothing but the function behind it, so that no register is saved for what is rare.

#include "foreign/by_hand.hpp"
#include "foreign/convert.hpp"

namespace weft::foreign {
namespace {

[[gnu::cold, gnu::noinline]] int rare_isend(const void* buf, int count, Handle datatype, int dest, int tag, Handle comm,
                                            Handle* request) {
  return error_out(face.isend_c(buffer_in(buf), count, in<MPI_Datatype>(datatype), rank_in(dest), tag_in(tag),
                                in<MPI_Comm>(comm), Out<MPI_Request>(request)));
}

[[gnu::cold, gnu::noinline]] int rare_put(const void* origin_addr, int origin_count, Handle origin_datatype,
                                          int target_rank, MPI_Aint target_disp, int target_count,
                                          Handle target_datatype, Handle win) {
  return error_out(face.put_c(buffer_in(origin_addr), origin_count, in<MPI_Datatype>(origin_datatype),
                              rank_in(target_rank), target_disp, target_count, in<MPI_Datatype>(target_datatype),
                              in<MPI_Win>(win)));
}

[[gnu::cold, gnu::noinline]] int rare_get(void* origin_addr, int origin_count, Handle origin_datatype, int target_rank,
                                          MPI_Aint target_disp, int target_count, Handle target_datatype, Handle win) {
  return error_out(face.get_c(buffer_in(origin_addr), origin_count, in<MPI_Datatype>(origin_datatype),
                              rank_in(target_rank), target_disp, target_count, in<MPI_Datatype>(target_datatype),
                              in<MPI_Win>(win)));
}

[[gnu::always_inline]] inline bool quick_access(const void* origin_addr, int origin_count, Handle origin_datatype,
                                                int target_rank, int target_count, Handle target_datatype, Handle win) {
  return !is_named_buffer(origin_addr) && origin_datatype == target_datatype && origin_count == target_count &&
         target_rank >= 0 && is_quick<MPI_Datatype>(origin_datatype) && is_quick<MPI_Win>(win);
}

}  // namespace

int isend(const void* buf, int count, Handle datatype, int dest, int tag, Handle comm, Handle* request) {
  if ((dest | tag) < 0 || is_named_buffer(buf) || !is_quick<MPI_Datatype>(datatype) || !is_quick<MPI_Comm>(comm) ||
      no_place(request)) [[unlikely]] {
    return rare_isend(buf, count, datatype, dest, tag, comm, request);
  }
  const uintptr_t made =
      face.hooks.isend(buf, count, quick_in<MPI_Datatype>(datatype), dest, tag, quick_in<MPI_Comm>(comm));
  if ((made & 1) != 0) [[unlikely]]
    return error_out(static_cast<int>(made >> 1));
  *request = out_object(reinterpret_cast<void*>(made));
  return MPI_SUCCESS;
}

int put(const void* origin_addr, int origin_count, Handle origin_datatype, int target_rank, MPI_Aint target_disp,
        int target_count, Handle target_datatype, Handle win) {
  if (!quick_access(origin_addr, origin_count, origin_datatype, target_rank, target_count, target_datatype, win))
      [[unlikely]] {
    return rare_put(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype,
                    win);
  }
  return error_out(face.hooks.put(origin_addr, origin_count, quick_in<MPI_Datatype>(origin_datatype), target_rank,
                                  target_disp, quick_in<MPI_Win>(win)));
}

int get(void* origin_addr, int origin_count, Handle origin_datatype, int target_rank, MPI_Aint target_disp,
        int target_count, Handle target_datatype, Handle win) {
  if (!quick_access(origin_addr, origin_count, origin_datatype, target_rank, target_count, target_datatype, win))
      [[unlikely]] {
    return rare_get(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count, target_datatype,
                    win);
  }
  return error_out(face.hooks.get(origin_addr, origin_count, quick_in<MPI_Datatype>(origin_datatype), target_rank,
                                  target_disp, quick_in<MPI_Win>(win)));
}

}  // namespace weft::foreign
