// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// MPIX_Type_iov and its kin: the contiguous pieces of one element of a datatype.

#include <sys/uio.h>

#include <algorithm>

#include "foreign/by_hand.hpp"
#include "foreign/convert.hpp"
#include "foreign/refuse.hpp"

namespace weft::foreign {
namespace {

constexpr int at_once = 64;

// Calls `take` with each piece, from the first one on, until it returns false.
template <class Take>
void for_each_piece(MPI_Datatype datatype, Take take) {
  iovec pieces[at_once];
  for (MPI_Count position = 0;;) {
    const datatype::Runs runs = face.hooks.list_runs(datatype, 1, position, pieces, at_once);
    if (runs.count == 0) return;
    for (int i = 0; i < runs.count; ++i) {
      if (!take(pieces[i])) return;
    }
    position += runs.bytes;
  }
}

// Whether `datatype` is one; the error otherwise.
int check_type(MPI_Datatype datatype) {
  MPI_Count size = 0;
  return error_out(face.type_size_c(datatype, &size));
}

}  // namespace

int mpix_type_iov_len(int datatype, MPI_Count max_iov_bytes, MPI_Count* iov_len, MPI_Count* actual_iov_bytes) {
  if (no_place(iov_len)) return refuse_argument("MPIX_Type_iov_len", MPI_ERR_ARG, "iov_len is a null pointer");
  const auto type = in<MPI_Datatype>(datatype);
  if (int error = check_type(type)) return error;
  MPI_Count pieces = 0;
  MPI_Count bytes = 0;
  for_each_piece(type, [&](const iovec& piece) {
    const auto length = static_cast<MPI_Count>(piece.iov_len);
    if (max_iov_bytes >= 0 && length > max_iov_bytes - bytes) return false;
    ++pieces;
    bytes += length;
    return true;
  });
  *iov_len = pieces;
  if (!no_place(actual_iov_bytes)) *actual_iov_bytes = bytes;
  return MPI_SUCCESS;
}

int mpix_type_iov(int datatype, MPI_Count iov_offset, void* iov, MPI_Count max_iov_len, MPI_Count* actual_iov_len) {
  static constexpr const char* function = "MPIX_Type_iov";
  if (no_place(actual_iov_len)) return refuse_argument(function, MPI_ERR_ARG, "actual_iov_len is a null pointer");
  if (iov_offset < 0 || max_iov_len < 0 || (max_iov_len > 0 && no_place(iov)))
    return refuse_argument(function, MPI_ERR_ARG, "a negative offset or length, or iov is a null pointer");
  const auto type = in<MPI_Datatype>(datatype);
  if (int error = check_type(type)) return error;
  auto* place = static_cast<iovec*>(iov);
  MPI_Count number = 0;
  MPI_Count listed = 0;
  for_each_piece(type, [&](const iovec& piece) {
    if (number++ < iov_offset) return true;
    if (listed == max_iov_len) return false;
    place[listed++] = piece;
    return true;
  });
  *actual_iov_len = listed;
  return MPI_SUCCESS;
}

}  // namespace weft::foreign
