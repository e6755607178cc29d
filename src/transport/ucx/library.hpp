// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// UCX, loaded when a job that wants it has ranks on several hosts and not before. Its headers are compiled in.

#include <ucp/api/ucp.h>

#include <string>

namespace weft::transport::ucx {

struct UcxLibrary {
  decltype(&ucp_get_version) get_version;
  decltype(&ucp_get_version_string) get_version_string;
  decltype(&ucp_config_read) config_read;
  decltype(&ucp_config_modify) config_modify;
  decltype(&ucp_config_release) config_release;
  decltype(&ucp_init_version) init_version;
  decltype(&ucp_context_query) context_query;
  decltype(&ucp_cleanup) cleanup;
  decltype(&ucp_mem_map) mem_map;
  decltype(&ucp_mem_unmap) mem_unmap;
  decltype(&ucp_worker_create) worker_create;
  decltype(&ucp_worker_destroy) worker_destroy;
  decltype(&ucp_worker_query) worker_query;
  decltype(&ucp_worker_release_address) worker_release_address;
  decltype(&ucp_worker_progress) worker_progress;
  decltype(&ucp_worker_get_efd) worker_get_efd;
  decltype(&ucp_worker_arm) worker_arm;
  decltype(&ucp_worker_set_am_recv_handler) worker_set_am_recv_handler;
  decltype(&ucp_am_send_nbx) am_send_nbx;
  decltype(&ucp_am_recv_data_nbx) am_recv_data_nbx;
  decltype(&ucp_am_data_release) am_data_release;
  decltype(&ucp_ep_create) ep_create;
  decltype(&ucp_ep_close_nbx) ep_close_nbx;
  decltype(&ucp_request_free) request_free;
  decltype(&ucs_status_string) status_string;
};

// The library; ends the job with a message where it cannot be loaded. Not for several threads at once.
const UcxLibrary& library();

// Ends the job with a message when UCX refuses a call that must work.
void must(const char* call, ucs_status_t status);

// Whether it can be loaded; otherwise says why not.
[[nodiscard]] bool try_library(std::string& why_not);

}  // namespace weft::transport::ucx
