// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "io/operation.hpp"

namespace weft::io {

Operation::Operation(File& file, core::Request& request, bool writes, int64_t position, const Memory& memory)
    : file_(file), request_(request), writes_(writes), view_(file.view), position_(position), memory_(memory) {
  file.pending.fetch_add(1, std::memory_order_relaxed);
}

void Operation::run() {
  int64_t done = 0;
  result_ = access_at(file_, writes_, view_, position_, memory_, done);
  request_.received = done;
  request_.error = result_.error;
  if (result_.failed()) path_ = file_.path;
  file_.pending.fetch_sub(1, std::memory_order_release);
  complete_from_worker(request_);
}

}  // namespace weft::io
