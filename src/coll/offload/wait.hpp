// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// How a rank waits for the library that does offloaded operations: with progress of messages, for a limited time, and
// with an eye on the other ranks.

#include <algorithm>
#include <string>

#include "base/clock.hpp"
#include "coll/offload/offload.hpp"
#include "core/diagnose/wait_record.hpp"
#include "core/progress/waiting.hpp"

namespace weft::coll::offload {

// WEFT_OFFLOAD_SECONDS.
[[nodiscard]] uint64_t patience_ns();
[[nodiscard]] std::string not_all_came();

// So often a waiting rank looks whether another one has failed, or it is late.
inline constexpr uint64_t look_after_ns = 10000000;

enum class WaitEnd : uint8_t { done, late, others_failed };

// Until finished(), which makes progress in the library.
template <class Finished>
[[nodiscard]] WaitEnd wait_in_library(core::Comm& comm, Finished&& finished) {
  const core::WaitRecord wait_record{
      .kind = core::WaitKind::collective, .call = "an offloaded operation", .comm = &comm};
  const core::Doing doing(wait_record);
  uint64_t waited = 0;
  for (;;) {
    if (others_failed(comm)) return WaitEnd::others_failed;
    if (waited >= patience_ns()) return WaitEnd::late;
    const uint64_t from = base::now_ns();
    bool over = false;
    core::wait_for_any_memory([&] {
      over = over || finished();
      return over || base::now_ns() - from >= look_after_ns;
    });
    if (over) return WaitEnd::done;
    waited += std::min(base::now_ns() - from, 10 * look_after_ns);  // a job that was stopped is not late
  }
}

}  // namespace weft::coll::offload
