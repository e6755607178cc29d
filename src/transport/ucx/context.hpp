// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// UCX opened on what it may use of this host.

#include "transport/ucx/library.hpp"

namespace weft::transport::ucx {

struct UcxContext {
  ucp_context_h handle = nullptr;  // the caller's
  bool reads = false;              // memory of peers
  bool takes_devices = false;      // and that of the devices in use
};

// For a job of so many ranks. `sleeps`: with wait descriptors; `several_workers`: used by threads at the same time.
// Ends the job with a message when there is nothing that UCX can use.
UcxContext open_context(int ranks, bool sleeps, bool several_workers);

}  // namespace weft::transport::ucx
