// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// libfabric, loaded when a job has ranks on several hosts and not before. Its headers are compiled in; most of it is
// calls through tables that these functions fill.

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <string>

namespace weft::transport::ofi {

struct OfiLibrary {
  decltype(&fi_version) version;
  decltype(&fi_getinfo) getinfo;
  decltype(&fi_freeinfo) freeinfo;
  decltype(&fi_dupinfo) dupinfo;
  decltype(&fi_fabric) fabric;
  decltype(&fi_strerror) strerror;
};

// Before the library is loaded: endpoints shall have small buffers, since nothing large is sent.
void ask_for_small_buffers();

// The library, or nullptr and why it cannot be loaded. Not for several threads at once.
const OfiLibrary* try_library(std::string& why_not);

// The library; ends the job with a message where it cannot be loaded. Likewise.
const OfiLibrary& library();

// Its name as it was asked for: WEFT_LIBFABRIC, or what the loader finds by itself.
const char* library_name();

// The text of an error that libfabric returned: positive or negative.
const char* error_text(int64_t error);

}  // namespace weft::transport::ofi
