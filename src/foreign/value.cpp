// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "foreign/value.hpp"

#include <algorithm>

#include "foreign/handle.hpp"

namespace weft::foreign {

int named_rank_in(int rank) {
  return to_standard(rank_rows, rank);
}

int named_tag_in(int tag) {
  return to_standard(tag_rows, tag);
}

int cold_error_out(int error) {
  return error >= last_code ? their_last_code + (error - last_code) : to_theirs(error_rows, error);
}

int error_in(int error) {
  const auto is_row = [&](const ValueRow& row) { return row.theirs == error; };
  if (error > 0 && error < last_numbered_error && std::none_of(std::begin(error_rows), std::end(error_rows), is_row))
    return MPI_ERR_UNKNOWN;
  return error >= their_last_code ? last_code + (error - their_last_code) : to_standard(error_rows, error);
}

}  // namespace weft::foreign
