// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A library in front of UCX that takes memory of the device which fake_cuda.cpp stands for, as UCX does that was built
// with CUDA. Such memory must be called so, be prepared for adapters on both sides, and a context of the device be
// current. Data that have come are in the device's memory when its writes by adapters are flushed, and not before. With
// FAKE_UCX=none UCX knows no memory of devices; with FAKE_UCX=full it
// refuses to send or to receive any.
#include <dlfcn.h>
#include <ucp/api/ucp.h>

#include <cstring>
#include <list>
#include <memory>
#include <mutex>

#include "fake_adapter.hpp"

using namespace fake_adapter;

namespace {

template <class Function>
Function* real(Function* /*ours*/, const char* name) {
  static void* const library = dlopen("libucp.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  return reinterpret_cast<Function*>(dlsym(library, name));
}

// Data on their way into memory of the device: UCX fills `bytes`.
struct Landing {
  char* to;
  std::unique_ptr<char[]> bytes;
  size_t count;
  ucp_am_recv_data_nbx_callback_t call;
  void* argument;
  bool complete = false;
};
std::mutex mutex;
std::list<Landing> landings;

void flush() {
  const std::lock_guard guard(mutex);
  landings.remove_if([](const Landing& landing) {
    if (landing.complete) std::memcpy(landing.to, landing.bytes.get(), landing.count);
    return landing.complete;
  });
}

void on_landed(void* request, ucs_status_t status, size_t bytes, void* argument) {
  auto* const landing = static_cast<Landing*>(argument);
  const auto call = landing->call;
  void* const whose = landing->argument;
  {
    const std::lock_guard guard(mutex);
    landing->complete = true;
  }
  call(request, status, bytes, whose);
}

// The place of memory of the device for the processor; nullptr: it is memory of the host.
char* place_of(const void* memory, const ucp_request_param_t* about) {
  const bool said = (about->op_attr_mask & UCP_OP_ATTR_FIELD_MEMORY_TYPE) != 0;
  char* const there = on_device(memory);
  if (there == nullptr) {
    if (said && about->memory_type != UCS_MEMORY_TYPE_HOST) wrong("fake UCX: memory of the host was called another");
    return nullptr;
  }
  if (!said || about->memory_type != UCS_MEMORY_TYPE_CUDA) wrong("fake UCX: memory of a device was called the host's");
  if (!is_offered(memory)) wrong("fake UCX: memory of a device was not prepared for adapters");
  if (!has_context()) wrong("fake UCX: no context is current");
  return there;
}

}  // namespace

extern "C" {

ucs_status_t ucp_context_query(ucp_context_h context, ucp_context_attr_t* attributes) {
  const ucs_status_t status = real(ucp_context_query, "ucp_context_query")(context, attributes);
  if ((attributes->field_mask & UCP_ATTR_FIELD_MEMORY_TYPES) != 0 && !is_set("FAKE_UCX", "none"))
    attributes->memory_types |= UCS_BIT(UCS_MEMORY_TYPE_CUDA);
  at_flush(flush);
  return status;
}

ucs_status_ptr_t ucp_am_send_nbx(ucp_ep_h endpoint, unsigned id, const void* header, size_t header_bytes,
                                 const void* data, size_t bytes, const ucp_request_param_t* about) {
  const auto send = real(ucp_am_send_nbx, "ucp_am_send_nbx");
  char* const there = place_of(data, about);
  if (there == nullptr) return send(endpoint, id, header, header_bytes, data, bytes, about);
  if (is_set("FAKE_UCX", "full")) return UCS_STATUS_PTR(UCS_ERR_NO_MEMORY);
  ucp_request_param_t copy = *about;
  copy.memory_type = UCS_MEMORY_TYPE_HOST;
  return send(endpoint, id, header, header_bytes, there, bytes, &copy);
}

ucs_status_ptr_t ucp_am_recv_data_nbx(ucp_worker_h worker, void* description, void* data, size_t bytes,
                                      const ucp_request_param_t* about) {
  const auto receive = real(ucp_am_recv_data_nbx, "ucp_am_recv_data_nbx");
  char* const there = place_of(data, about);
  if (there == nullptr) return receive(worker, description, data, bytes, about);
  if (is_set("FAKE_UCX", "full")) return UCS_STATUS_PTR(UCS_ERR_NO_MEMORY);
  Landing* landing = nullptr;
  {
    const std::lock_guard guard(mutex);
    landings.push_back({there, std::make_unique<char[]>(bytes), bytes, about->cb.recv_am, about->user_data});
    landing = &landings.back();
  }
  ucp_request_param_t copy = *about;
  copy.memory_type = UCS_MEMORY_TYPE_HOST;
  copy.cb.recv_am = on_landed;
  copy.user_data = landing;
  return receive(worker, description, landing->bytes.get(), bytes, &copy);
}

}  // extern "C"
