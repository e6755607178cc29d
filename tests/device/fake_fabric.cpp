// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A library in front of libfabric that makes its providers offer FI_HMEM for memory of the device that fake_cuda.cpp
// stands for, as an adapter does that reads and writes it. Memory of the device must be registered as such, and be
// prepared for adapters, on both sides of a read. Data that have been read are in the device's memory when its writes
// by adapters are flushed, and not before. With FAKE_FABRIC=none nothing is offered; with FAKE_FABRIC=full memory of
// the device is offered, and registering it is refused.
#include <dlfcn.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <algorithm>
#include <cstring>
#include <list>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "fake_adapter.hpp"

using namespace fake_adapter;

namespace {

template <class Function>
Function* real(Function* /*ours*/, const char* name) {
  static void* const library = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function*>(dlsym(library, name));
}

// A read into memory of the device: the provider reads into `bytes`.
struct Landing {
  char* to;
  std::unique_ptr<char[]> bytes;
  size_t count;
  const void* context;
  bool complete = false;
};
std::mutex mutex;
std::list<Landing> landings;
std::vector<std::pair<const char*, size_t>> registered;  // of the device; those that were closed too

void flush() {
  const std::lock_guard guard(mutex);
  landings.remove_if([](const Landing& landing) {
    if (landing.complete) std::memcpy(landing.to, landing.bytes.get(), landing.count);
    return landing.complete;
  });
}

// The question to the provider, and the description to open it by: without what it does not have. Keys stand for
// offsets, as its addresses are not those that are told.
fi_info* without_devices(const fi_info* info) {
  fi_info* const copy = real(fi_dupinfo, "fi_dupinfo")(info);
  copy->caps &= ~FI_HMEM;
  copy->domain_attr->mr_mode &= ~(FI_MR_HMEM | FI_MR_VIRT_ADDR);
  copy->domain_attr->caps &= ~FI_HMEM;
  return copy;
}

// ---- Functions in the tables of what is opened. All of a kind have one table.

fi_ops_fabric of_fabric, real_fabric;
fi_ops_domain of_domain, real_domain;
fi_ops_mr of_memory, real_memory;
fi_ops_rma of_reads, real_reads;
fi_ops_cq of_queue, real_queue;

int register_memory(fid* domain, const fi_mr_attr* attributes, uint64_t flags, fid_mr** handle) {
  const auto* const at = static_cast<const char*>(attributes->mr_iov->iov_base);
  char* const there = on_device(at);
  if ((attributes->iface == FI_HMEM_CUDA) != (there != nullptr))
    wrong("fake fabric: memory was registered as what it is not");
  if (there == nullptr) return real_memory.regattr(domain, attributes, flags, handle);
  if (attributes->device.cuda != 0) wrong("fake fabric: there is no such device");
  if (!is_offered(at)) wrong("fake fabric: memory of a device was not prepared for adapters");
  if (is_set("FAKE_FABRIC", "full")) return -FI_ENOSPC;
  {
    const std::lock_guard guard(mutex);
    registered.emplace_back(at, attributes->mr_iov->iov_len);
  }
  const iovec piece{there, attributes->mr_iov->iov_len};
  fi_mr_attr copy = *attributes;
  copy.mr_iov = &piece;
  copy.iface = FI_HMEM_SYSTEM;
  return real_memory.regattr(domain, &copy, flags, handle);
}

ssize_t read(fid_ep* endpoint, void* buffer, size_t bytes, void* name, fi_addr_t from, uint64_t at, uint64_t key,
             void* context) {
  char* const there = on_device(buffer);
  if (there == nullptr) return real_reads.read(endpoint, buffer, bytes, name, from, at, key, context);
  const auto* const begin = static_cast<const char*>(buffer);
  const std::lock_guard guard(mutex);
  if (std::none_of(registered.begin(), registered.end(),
                   [&](const auto& one) { return begin >= one.first && begin + bytes <= one.first + one.second; }))
    wrong("fake fabric: a read fills memory of the device that was not registered");
  landings.push_back({there, std::make_unique<char[]>(bytes), bytes, context});
  const ssize_t result = real_reads.read(endpoint, landings.back().bytes.get(), bytes, nullptr, from, at, key, context);
  if (result != 0) landings.pop_back();
  return result;
}

ssize_t read_queue(fid_cq* queue, void* entries, size_t count) {
  const ssize_t found = real_queue.read(queue, entries, count);
  const auto* const done = static_cast<const fi_cq_msg_entry*>(entries);
  const std::lock_guard guard(mutex);
  for (ssize_t i = 0; i < found; ++i) {
    for (Landing& landing : landings) landing.complete = landing.complete || landing.context == done[i].op_context;
  }
  return found;
}

int open_endpoint(fid_domain* domain, fi_info* info, fid_ep** endpoint, void* context) {
  fi_info* const asked = without_devices(info);
  const int result = real_domain.endpoint(domain, asked, endpoint, context);
  fi_freeinfo(asked);
  if (result != 0 || (*endpoint)->rma == nullptr) return result;
  real_reads = of_reads = *(*endpoint)->rma;
  of_reads.read = read;
  (*endpoint)->rma = &of_reads;
  return 0;
}

int open_queue(fid_domain* domain, fi_cq_attr* attributes, fid_cq** queue, void* context) {
  const int result = real_domain.cq_open(domain, attributes, queue, context);
  if (result != 0) return result;
  real_queue = of_queue = *(*queue)->ops;
  of_queue.read = read_queue;
  (*queue)->ops = &of_queue;
  return 0;
}

int open_domain(fid_fabric* fabric, fi_info* info, fid_domain** domain, void* context) {
  fi_info* const asked = without_devices(info);
  const int result = real_fabric.domain(fabric, asked, domain, context);
  fi_freeinfo(asked);
  if (result != 0) return result;
  real_domain = of_domain = *(*domain)->ops;
  of_domain.endpoint = open_endpoint;
  of_domain.cq_open = open_queue;
  (*domain)->ops = &of_domain;
  real_memory = of_memory = *(*domain)->mr;
  of_memory.regattr = register_memory;
  (*domain)->mr = &of_memory;
  at_flush(flush);
  return 0;
}

}  // namespace

extern "C" {

uint32_t fi_version() {
  return real(fi_version, "fi_version")();
}
void fi_freeinfo(fi_info* info) {
  real(fi_freeinfo, "fi_freeinfo")(info);
}
fi_info* fi_dupinfo(const fi_info* info) {
  return real(fi_dupinfo, "fi_dupinfo")(info);
}
const char* fi_strerror(int error) {
  return real(fi_strerror, "fi_strerror")(error);
}
int fi_getinfo(uint32_t version, const char* node, const char* service, uint64_t flags, const fi_info* hints,
               fi_info** info) {
  const auto ask = real(fi_getinfo, "fi_getinfo");
  if (hints == nullptr || (hints->caps & FI_HMEM) == 0) return ask(version, node, service, flags, hints, info);
  if (is_set("FAKE_FABRIC", "none")) return -FI_ENODATA;
  fi_info* const asked = without_devices(hints);
  const int result = ask(version, node, service, flags, asked, info);
  fi_freeinfo(asked);
  for (fi_info* one = result == 0 ? *info : nullptr; one != nullptr; one = one->next) {
    one->caps |= FI_HMEM;
    one->domain_attr->mr_mode |= FI_MR_HMEM;
  }
  return result;
}
int fi_fabric(fi_fabric_attr* attributes, fid_fabric** fabric, void* context) {
  const int result = real(fi_fabric, "fi_fabric")(attributes, fabric, context);
  if (result != 0) return result;
  real_fabric = of_fabric = *(*fabric)->ops;
  of_fabric.domain = open_domain;
  (*fabric)->ops = &of_fabric;
  return 0;
}

}  // extern "C"
