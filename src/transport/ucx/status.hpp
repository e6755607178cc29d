// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What UCX's functions return and take, in Weft's words and back.

#include <cstdint>

#include "device/select/adapter.hpp"
#include "transport/ucx/library.hpp"

namespace weft::transport::ucx {

// Nothing (it is done), a request, or a status.
inline bool is_error(ucs_status_ptr_t result) {
  return reinterpret_cast<uintptr_t>(result) >= static_cast<uintptr_t>(static_cast<intptr_t>(UCS_ERR_LAST));
}
inline ucs_status_t status_of(ucs_status_ptr_t result) {
  return static_cast<ucs_status_t>(reinterpret_cast<intptr_t>(result));
}

// Statuses are handed out as errors from here on, none of which is EAGAIN.
inline constexpr int error_base = 1 << 16;
inline int error_of(ucs_status_t status) {
  return status == UCS_OK ? 0 : error_base - static_cast<int>(status);
}

// UCX's word for memory of such devices.
constexpr ucs_memory_type_t memory_type_of(device::Maker maker) {
  return maker == device::Maker::amd      ? UCS_MEMORY_TYPE_ROCM
         : maker == device::Maker::nvidia ? UCS_MEMORY_TYPE_CUDA
                                          : UCS_MEMORY_TYPE_HOST;
}

}  // namespace weft::transport::ucx
