// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A libfabric that asks of us what adapters ask, and tcp does not: it stands before the real one, whose provider for
// tcp does the work, and refuses what an adapter would. For tests within one process, where it knows both sides.
//
//   STRICT_FABRIC=endpoint  memory is bound to an endpoint and enabled before it can be read or written; keys are the
//                           provider's, addresses virtual
//   STRICT_FABRIC=local     the same without endpoints; memory of sends and receives must be registered
#include <dlfcn.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace {

void* real() {
  static void* const handle = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);
  return handle;
}
template <class Function>
Function* real(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(real(), name));
}
#define REAL(name) real(&name, #name)

bool local() {
  const char* asked = std::getenv("STRICT_FABRIC");
  return asked != nullptr && std::strcmp(asked, "local") == 0;
}
int modes() {
  return FI_MR_VIRT_ADDR | FI_MR_PROV_KEY | FI_MR_ALLOCATED | (local() ? FI_MR_LOCAL : FI_MR_ENDPOINT);
}

// The registered memory, by key.
struct Registered {
  const char* begin;
  size_t bytes;
  uint64_t access;
  fid_ep* bound;
  bool enabled;
};
std::mutex mutex;
std::map<uint64_t, Registered> registered;
uint64_t next_key = 1000;

bool holds(const Registered& r, const void* memory, size_t bytes) {
  const char* at = static_cast<const char*>(memory);
  return at >= r.begin && at + bytes <= r.begin + r.bytes;
}

// Whether our own memory may be used so.
bool may_use(const void* memory, size_t bytes, const void* name, uint64_t access) {
  if (!local()) return true;
  std::lock_guard guard(mutex);
  for (const auto& [key, one] : registered) {
    if (name == one.begin) return holds(one, memory, bytes) && (one.access & access) != 0;
  }
  return false;
}

// Whether a peer's memory may be used so, and where the real library has it.
int reach(uint64_t& address, size_t bytes, uint64_t key, uint64_t access) {
  std::lock_guard guard(mutex);
  const auto known = registered.find(key);
  if (known == registered.end()) return -FI_EKEYREJECTED;
  const Registered& one = known->second;
  if (!one.enabled || (one.access & access) == 0) return -FI_EACCES;
  if (!holds(one, reinterpret_cast<const void*>(address), bytes)) return -FI_EINVAL;
  address -= reinterpret_cast<uint64_t>(one.begin);
  return 0;
}

fi_ops mr_ops, real_mr_ops;
fi_ops_mr registering, real_registering;
fi_ops_domain domain_ops, real_domain_ops;
fi_ops_fabric fabric_ops, real_fabric_ops;
fi_ops_msg messages, real_messages;
fi_ops_rma direct, real_direct;

uint64_t key_of(fid* memory) {
  return reinterpret_cast<fid_mr*>(memory)->key;
}

int close_memory(fid* memory) {
  {
    std::lock_guard guard(mutex);
    registered.erase(key_of(memory));
  }
  return real_mr_ops.close(memory);
}

int bind_memory(fid* memory, fid* endpoint, uint64_t) {
  std::lock_guard guard(mutex);
  registered[key_of(memory)].bound = reinterpret_cast<fid_ep*>(endpoint);
  return 0;
}

int control_memory(fid* memory, int command, void*) {
  std::lock_guard guard(mutex);
  Registered& one = registered[key_of(memory)];
  if (command != FI_ENABLE || one.bound == nullptr) return -FI_EINVAL;
  one.enabled = true;
  return 0;
}

int register_memory(fid* domain, const fi_mr_attr* asked, uint64_t flags, fid_mr** made) {
  if (asked->requested_key != 0 || asked->offset != 0) return -FI_EKEYREJECTED;  // the provider's
  if (asked->iov_count != 1 || asked->iface != FI_HMEM_SYSTEM) return -FI_EINVAL;
  std::lock_guard guard(mutex);
  const uint64_t key = next_key++;
  fi_mr_attr easy = *asked;
  easy.requested_key = key;
  const int result = real_registering.regattr(domain, &easy, flags, made);
  if (result != 0) return result;
  real_mr_ops = *(*made)->fid.ops;
  mr_ops = real_mr_ops;
  mr_ops.close = close_memory;
  mr_ops.bind = bind_memory;
  mr_ops.control = control_memory;
  (*made)->fid.ops = &mr_ops;
  const iovec& piece = *asked->mr_iov;
  (*made)->mem_desc = piece.iov_base;
  registered[key] = {static_cast<const char*>(piece.iov_base), piece.iov_len, asked->access, nullptr, local()};
  return 0;
}

ssize_t send(fid_ep* endpoint, const void* memory, size_t bytes, void* name, fi_addr_t to, void* context) {
  if (!may_use(memory, bytes, name, FI_SEND)) return -FI_EACCES;
  return real_messages.send(endpoint, memory, bytes, nullptr, to, context);
}

ssize_t receive(fid_ep* endpoint, void* memory, size_t bytes, void* name, fi_addr_t from, void* context) {
  if (!may_use(memory, bytes, name, FI_RECV)) return -FI_EACCES;
  return real_messages.recv(endpoint, memory, bytes, nullptr, from, context);
}

ssize_t read(fid_ep* endpoint, void* memory, size_t bytes, void* name, fi_addr_t from, uint64_t address, uint64_t key,
             void* context) {
  if (!may_use(memory, bytes, name, FI_READ)) return -FI_EACCES;
  if (const int error = reach(address, bytes, key, FI_REMOTE_READ)) return error;
  return real_direct.read(endpoint, memory, bytes, nullptr, from, address, key, context);
}

ssize_t write(fid_ep* endpoint, const fi_msg_rma* message, uint64_t flags) {
  if (message->iov_count != 1 || message->rma_iov_count != 1 || (flags & FI_DELIVERY_COMPLETE) == 0) return -FI_EINVAL;
  const iovec& from = *message->msg_iov;
  fi_rma_iov target = *message->rma_iov;
  if (from.iov_len != target.len) return -FI_EINVAL;
  if (!may_use(from.iov_base, from.iov_len, *message->desc, FI_WRITE)) return -FI_EACCES;
  if (const int error = reach(target.addr, target.len, target.key, FI_REMOTE_WRITE)) return error;
  fi_msg_rma easy = *message;
  easy.desc = nullptr;
  easy.rma_iov = &target;
  return real_direct.writemsg(endpoint, &easy, flags);
}

int open_endpoint(fid_domain* domain, fi_info* info, fid_ep** endpoint, void* context) {
  const int result = real_domain_ops.endpoint(domain, info, endpoint, context);
  if (result != 0) return result;
  real_messages = messages = *(*endpoint)->msg;
  messages.send = send;
  messages.recv = receive;
  (*endpoint)->msg = &messages;
  real_direct = direct = *(*endpoint)->rma;
  direct.read = read;
  direct.writemsg = write;
  (*endpoint)->rma = &direct;
  return 0;
}

int open_domain(fid_fabric* fabric, fi_info* info, fid_domain** domain, void* context) {
  fi_info* easy = REAL(fi_dupinfo)(info);
  easy->domain_attr->mr_mode = 0;
  const int result = real_fabric_ops.domain(fabric, easy, domain, context);
  REAL(fi_freeinfo)(easy);
  if (result != 0) return result;
  real_domain_ops = domain_ops = *(*domain)->ops;
  domain_ops.endpoint = open_endpoint;
  (*domain)->ops = &domain_ops;
  real_registering = registering = *(*domain)->mr;
  registering.regattr = register_memory;
  (*domain)->mr = &registering;
  return 0;
}

}  // namespace

extern "C" {

uint32_t fi_version() {
  return REAL(fi_version)();
}

int fi_getinfo(uint32_t version, const char* node, const char* service, uint64_t flags, const fi_info* hints,
               fi_info** info) {
  if (hints != nullptr && (hints->domain_attr->mr_mode & modes()) != modes()) return -FI_ENODATA;
  fi_info* easy = hints != nullptr ? REAL(fi_dupinfo)(hints) : nullptr;
  if (easy != nullptr) easy->domain_attr->mr_mode = 0;
  const int result = REAL(fi_getinfo)(version, node, service, flags, easy, info);
  if (easy != nullptr) REAL(fi_freeinfo)(easy);
  if (result == 0 && hints != nullptr) (*info)->domain_attr->mr_mode = modes();
  return result;
}

void fi_freeinfo(fi_info* info) {
  REAL(fi_freeinfo)(info);
}

fi_info* fi_dupinfo(const fi_info* info) {
  return REAL(fi_dupinfo)(info);
}

int fi_fabric(fi_fabric_attr* attributes, fid_fabric** fabric, void* context) {
  const int result = REAL(fi_fabric)(attributes, fabric, context);
  if (result != 0) return result;
  real_fabric_ops = fabric_ops = *(*fabric)->ops;
  fabric_ops.domain = open_domain;
  (*fabric)->ops = &fabric_ops;
  return 0;
}

const char* fi_strerror(int error) {
  return REAL(fi_strerror)(error);
}

}  // extern "C"
