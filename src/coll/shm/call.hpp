// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A rank's call of a collective operation as one word: the function, the root, the reduction with its type, the bytes.
// Ranks of an operation in shared memory compare their words. The types of operations that do not reduce are not
// compared, as ranks may describe the same data by different types. Where the words differ, the ranks disagree, and the
// words name both calls.

#include <cstdint>
#include <string>

#include "coll/plan/reducer.hpp"
#include "coll/select/select.hpp"
#include "core/object/comm.hpp"

namespace weft::coll::call {

inline constexpr uint64_t by_messages = uint64_t{1} << 60;  // the data go so
inline constexpr uint64_t single_copy = by_messages >> 1;   // the data are read from the ranks' buffers
inline constexpr int collective_shift = 54;
inline constexpr uint64_t collective_most = 31;

// The root, the reduction and the type, 17 bits.
inline constexpr int details_shift = 37;
inline constexpr int root_shift = 47;
inline constexpr uint64_t root_most = 127;  // an operation without a root has this value
inline constexpr int reduction_shift = 43;
inline constexpr uint64_t reduction_most = 15;
inline constexpr int basic_shift = details_shift;
inline constexpr uint64_t basic_most = 63;
// The lower bits of their number.
inline constexpr uint64_t bytes = (uint64_t{1} << details_shift) - 1;

// The details of a reduction. Types of a user's function are not compared.
[[nodiscard]] inline uint64_t details_of(const Reducer& reducer) {
  const auto reduction = static_cast<uint64_t>(reducer.reduction);
  if (reducer.reduction == datatype::Reduction::no_op) return reduction << reduction_shift;
  return reduction << reduction_shift | static_cast<uint64_t>(reducer.type->basic) << basic_shift;
}

// `root` is -1 where there is none.
[[nodiscard]] inline uint64_t word(Collective collective, int64_t size, int32_t root, uint64_t of_reducer) {
  return uint64_t{static_cast<uint8_t>(collective)} << collective_shift |
         (static_cast<uint64_t>(root) & root_most) << root_shift | of_reducer | (static_cast<uint64_t>(size) & bytes);
}

// The error class of ranks whose words differ: MPI_ERR_TRUNCATE where the bytes alone do.
[[nodiscard]] int32_t error_of(uint64_t one, uint64_t other);

// Both words as facts of a communicator's failed operation: another rank's call, and ours, or that of a third rank.
enum class Whose : uint8_t { ours, of_another };
[[nodiscard]] core::Truncation difference(int32_t rank, uint64_t theirs, uint64_t second, Whose whose = Whose::ours);
// Whether it is that, and what a person reads then.
[[nodiscard]] bool is_difference(const core::Truncation& truncation);
[[nodiscard]] std::string text(const core::Truncation& truncation);

}  // namespace weft::coll::call
