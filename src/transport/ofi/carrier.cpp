// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/carrier.hpp"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <mutex>
#include <utility>

#include "base/message.hpp"
#include "device/api/device.hpp"
#include "device/select/adapter.hpp"
#include "transport/api/failure.hpp"
#include "transport/ofi/provider.hpp"

namespace weft::transport::ofi {
namespace {

constexpr size_t incoming_buffers = 64;   // of a lane
constexpr size_t readings_most = 32;      // under way from a lane
constexpr size_t completions_most = 160;  // that a lane's queue can hold

[[noreturn]] void fail_of(const char* call, int64_t error) {
  fail_for_good({.cause = std::string("libfabric refused ") + call + ": " + ofi::error_text(error),
                 .remedy = "choose another provider with WEFT_OFI_PROVIDER (fi_info lists them)"});
}
void must(const char* call, int64_t result) {
  if (result != 0) fail_of(call, result);
}

bool lies_in(const void* memory, const void* begin, const void* end) {
  const std::less<const void*> before;
  return !before(memory, begin) && before(memory, end);
}

// A key of so many bytes that processes outside the job cannot guess.
uint64_t new_key(size_t bytes) {
  uint64_t key = 0;
  while (getrandom(&key, std::min(bytes, sizeof key), 0) < 0) continue;
  return key;
}

// Tells the provider whose memory it is. false: it is a device's, and cannot be registered.
bool tell_place(const void* memory, fi_mr_attr& attributes) {
  if (!device::owns(memory)) return true;
  attributes.iface = device::maker() == device::Maker::nvidia ? FI_HMEM_CUDA : FI_HMEM_ROCR;
  return device::offer(memory, attributes.device.cuda).empty();
}

}  // namespace

OfiCarrier::OfiCarrier(uint32_t lanes, bool sleeps, net::Intake intake)
    : info_(choose_provider()),
      intake_(intake),
      ports_(lanes),
      reads_(reads_memory(*info_)),
      writes_(writes_memory(*info_)),
      devices_(transport::ofi::reaches_devices(*info_)) {
  info_->tx_attr->op_flags &= ~FI_DELIVERY_COMPLETE;  // of all that is sent or written, writes alone ask for that
  must("fi_fabric", library().fabric(info_->fabric_attr, &fabric_, nullptr));
  must("fi_domain", fi_domain(fabric_, info_, &domain_, nullptr));
  fi_av_attr attributes = {};
  attributes.type = FI_AV_TABLE;
  must("fi_av_open", fi_av_open(domain_, &attributes, &addresses_, nullptr));
  for (OfiPort& port : ports_) open_port(port, sleeps);
  if (!sleeps || ports_.size() != 1) return;
  if (fi_control(&ports_[0].completions->fid, FI_GETWAIT, &wait_descriptor_) != 0) wait_descriptor_ = -1;
}

bool OfiCarrier::may_sleep() {
  fid* queue = &ports_[0].completions->fid;
  return wait_descriptor_ < 0 || fi_trywait(fabric_, &queue, 1) == 0;
}

OfiCarrier::~OfiCarrier() {
  for (const auto& [key, handle] : registered_) fi_close(&handle->fid);
  for (const OfiPort& port : ports_) {
    fi_close(&port.endpoint->fid);
    fi_close(&port.completions->fid);
  }
  ours_.close([](fid_mr* handle) { fi_close(&handle->fid); });
  fi_close(&addresses_->fid);
  fi_close(&domain_->fid);
  fi_close(&fabric_->fid);
  library().freeinfo(info_);
}

void OfiCarrier::open_port(OfiPort& port, bool sleeps) {
  must("fi_endpoint", fi_endpoint(domain_, info_, &port.endpoint, nullptr));
  fi_cq_attr attributes = {};
  attributes.size = completions_most;
  attributes.format = FI_CQ_FORMAT_MSG;
  attributes.wait_obj = sleeps ? FI_WAIT_FD : FI_WAIT_NONE;
  if (fi_cq_open(domain_, &attributes, &port.completions, nullptr) != 0) {
    attributes.wait_obj = FI_WAIT_NONE;
    must("fi_cq_open", fi_cq_open(domain_, &attributes, &port.completions, nullptr));
  }
  must("fi_ep_bind (completions)", fi_ep_bind(port.endpoint, &port.completions->fid, FI_TRANSMIT | FI_RECV));
  must("fi_ep_bind (addresses)", fi_ep_bind(port.endpoint, &addresses_->fid, 0));
  must("fi_enable", fi_enable(port.endpoint));
  if (reads_) {
    port.readings = std::make_unique<OfiRead[]>(readings_most);
    for (size_t i = 0; i < readings_most; ++i) {
      port.readings[i].next = std::exchange(port.free_reading, &port.readings[i]);
    }
  }
  net::Intake intake = intake_;
  if (intake.memory == nullptr) {
    port.frames = std::make_unique_for_overwrite<FrameBuffer[]>(incoming_buffers);
    intake = {port.frames[0].bytes, sizeof(FrameBuffer), incoming_buffers};
  }
  port.incoming_count = intake.count;
  port.incoming_bytes = intake.stride;
  port.incoming = std::make_unique_for_overwrite<ReceiveContext[]>(intake.count);
  port.incoming_name = enroll_ours(intake.memory, intake.count * intake.stride);
  for (size_t i = 0; i < intake.count; ++i) {
    port.incoming[i].bytes = intake.memory + i * intake.stride;
    listen(port, &port.incoming[i]);
  }
}

bool OfiCarrier::OfiPort::is_incoming(const void* context) const {
  return lies_in(context, &incoming[0], &incoming[0] + incoming_count);
}
bool OfiCarrier::OfiPort::is_reading(const void* context) const {
  return readings != nullptr && lies_in(context, &readings[0], &readings[0] + readings_most);
}

std::string OfiCarrier::address(uint32_t lane) {
  char name[256];
  size_t bytes = sizeof name;
  must("fi_getname", fi_getname(&ports_[lane].endpoint->fid, name, &bytes));
  return {name, bytes};
}

bool OfiCarrier::insert(std::string_view bytes, net::Address& address) {
  char name[256] = {};
  if (bytes.size() > sizeof name) return false;
  bytes.copy(name, bytes.size());
  fi_addr_t inserted = FI_ADDR_UNSPEC;
  if (fi_av_insert(addresses_, name, 1, &inserted, 0, nullptr) != 1) return false;
  address = inserted;
  return true;
}

void OfiCarrier::listen(OfiPort& port, ReceiveContext* buffer) {
  const auto result =
      fi_recv(port.endpoint, buffer->bytes, port.incoming_bytes, port.incoming_name, FI_ADDR_UNSPEC, &buffer->context);
  if (result == 0) return;
  if (result != -FI_EAGAIN) fail_of("fi_recv", result);
  buffer->next = port.unposted;
  port.unposted = buffer;
}

void OfiCarrier::renew(const unsigned char* frame) {
  OfiPort& port = ports_[0];
  listen(port, &port.incoming[static_cast<size_t>(frame - intake_.memory) / intake_.stride]);
}

// Registers memory with libfabric; nullptr when that cannot be. Its users are libfabric's for us (FI_READ and the
// like).
fid_mr* OfiCarrier::enroll(const void* memory, size_t bytes, uint64_t access) {
  const iovec piece{const_cast<void*>(memory), bytes};
  fi_mr_attr attributes = {};
  attributes.mr_iov = &piece;
  attributes.iov_count = 1;
  attributes.access = access;
  if (devices_ && !tell_place(memory, attributes)) return nullptr;
  for (int tried = 0; tried < 8; ++tried) {
    fid_mr* handle = nullptr;
    attributes.requested_key = has_mode(FI_MR_PROV_KEY) ? 0 : new_key(info_->domain_attr->mr_key_size);
    const int result = fi_mr_regattr(domain_, &attributes, 0, &handle);
    if (result == -FI_ENOKEY) continue;  // in use
    if (result != 0) return nullptr;
    if (!has_mode(FI_MR_ENDPOINT)) return handle;
    if (fi_mr_bind(handle, &ports_[0].endpoint->fid, 0) == 0 && fi_mr_enable(handle) == 0) return handle;
    fi_close(&handle->fid);
    return nullptr;
  }
  return nullptr;
}

// Registers the memory of frames where libfabric wants that; returns its handle.
void* OfiCarrier::enroll_ours(void* memory, size_t bytes) {
  if (!has_mode(FI_MR_LOCAL)) return nullptr;
  fid_mr* handle = enroll(memory, bytes, FI_SEND | FI_RECV | (writes_ ? FI_WRITE : 0));
  if (handle == nullptr) fail_of("fi_mr_regattr", FI_ENOMEM);
  ours_.add(memory, bytes, handle);
  return fi_mr_desc(handle);
}

void OfiCarrier::register_buffers(void* memory, size_t bytes) {
  (void)enroll_ours(memory, bytes);
}

void OfiCarrier::each_intake(void (*call)(void* memory, size_t bytes)) {
  for (const OfiPort& port : ports_) {
    if (port.frames != nullptr) call(port.frames.get(), incoming_buffers * sizeof(FrameBuffer));
  }
}

void* OfiCarrier::name_of(const void* memory) const {
  fid_mr* const handle = ours_.handle_of(memory, nullptr);
  return handle != nullptr ? fi_mr_desc(handle) : nullptr;
}

bool OfiCarrier::register_memory(void* memory, size_t bytes, Access access, MemoryRef& ref) {
  fid_mr* handle = enroll(memory, bytes, access == Access::write ? FI_REMOTE_WRITE : FI_REMOTE_READ);
  if (handle == nullptr) return false;
  const uint64_t key = fi_mr_key(handle);
  if (key == MemoryRef::no_key) {
    fi_close(&handle->fid);
    return false;
  }
  ref = {has_mode(FI_MR_VIRT_ADDR) ? reinterpret_cast<uint64_t>(memory) : 0, key};
  std::lock_guard guard(lock_);
  registered_.emplace(key, handle);
  return true;
}

void OfiCarrier::deregister(uint64_t key) {
  fid_mr* handle = nullptr;
  {
    std::lock_guard guard(lock_);
    const auto known = registered_.find(key);
    if (known == registered_.end()) return;
    handle = known->second;
    registered_.erase(known);
  }
  fi_close(&handle->fid);
}

int OfiCarrier::read(uint32_t lane, net::Address from, const MemoryRef& memory, size_t at, void* to, size_t bytes,
                     Read& read) {
  OfiPort& port = ports_[lane];
  OfiRead* reading = port.free_reading;
  if (reading == nullptr) return EAGAIN;
  reading->read = &read;
  reading->filled = nullptr;
  if (has_mode(FI_MR_LOCAL) || (devices_ && device::owns(to))) {
    reading->filled = enroll(to, bytes, FI_READ);
    if (reading->filled == nullptr) return ENOMEM;
  }
  void* const name = reading->filled != nullptr ? fi_mr_desc(reading->filled) : nullptr;
  const auto result = fi_read(port.endpoint, to, bytes, name, from, memory.address + at, memory.key, &reading->context);
  if (result == 0) {
    port.free_reading = reading->next;
    return 0;
  }
  if (reading->filled != nullptr) fi_close(&reading->filled->fid);
  return static_cast<int>(result == -FI_EAGAIN ? EAGAIN : -result);
}

void OfiCarrier::end_read(OfiPort& port, OfiRead* reading, int error, net::Events& events) {
  Read& read = *reading->read;
  if (reading->filled != nullptr) fi_close(&reading->filled->fid);
  reading->next = std::exchange(port.free_reading, reading);
  events.have_read(read, error);
}

int OfiCarrier::send(uint32_t lane, net::Buffer* buffer, const void* start, size_t bytes, net::Address to) {
  outgoing(buffer).writes = false;
  const auto result = fi_send(ports_[lane].endpoint, start, bytes, name_of(start), to, buffer);
  return static_cast<int>(result == -FI_EAGAIN ? EAGAIN : -result);
}

int OfiCarrier::write(uint32_t lane, net::Buffer* buffer, const void* start, size_t bytes, net::Address to,
                      const MemoryRef& memory, size_t at) {
  outgoing(buffer).writes = true;
  const iovec from{const_cast<void*>(start), bytes};
  void* name = name_of(start);
  const fi_rma_iov target{memory.address + at, bytes, memory.key};
  const fi_msg_rma message{&from, &name, 1, to, &target, 1, buffer, 0};
  const auto result = fi_writemsg(ports_[lane].endpoint, &message, FI_DELIVERY_COMPLETE);
  return static_cast<int>(result == -FI_EAGAIN ? EAGAIN : -result);
}

void OfiCarrier::end_sent(uint32_t lane, net::Buffer* buffer, int error, net::Events& events) {
  if (outgoing(buffer).writes) return events.have_written(lane, buffer, error);
  events.sent(lane, buffer, error);
}

int OfiCarrier::poll(uint32_t lane, net::Events& events) {
  OfiPort& port = ports_[lane];
  for (ReceiveContext* waiting = std::exchange(port.unposted, nullptr); waiting != nullptr;) {
    listen(port, std::exchange(waiting, waiting->next));
  }
  constexpr size_t most = 16;
  fi_cq_msg_entry done[most];
  const auto count = fi_cq_read(port.completions, done, most);
  if (count == -FI_EAGAIN) return 0;
  if (count < 0) {
    failed(lane, events);
    return 0;
  }
  for (int i = 0; i < count; ++i) {
    void* context = done[i].op_context;
    if (port.is_incoming(context)) {
      auto* buffer = static_cast<ReceiveContext*>(context);
      events.came(lane, buffer->bytes, done[i].len);
      if (intake_.memory == nullptr) listen(port, buffer);
    } else if (port.is_reading(context)) {
      end_read(port, static_cast<OfiRead*>(context), 0, events);
    } else {
      end_sent(lane, static_cast<net::Buffer*>(context), 0, events);
    }
  }
  return static_cast<int>(count);
}

// A completion with an error.
void OfiCarrier::failed(uint32_t lane, net::Events& events) {
  OfiPort& port = ports_[lane];
  fi_cq_err_entry entry = {};
  if (fi_cq_readerr(port.completions, &entry, 0) < 1) return;
  if (port.is_reading(entry.op_context)) {
    end_read(port, static_cast<OfiRead*>(entry.op_context), entry.err != 0 ? entry.err : EIO, events);
  } else if (entry.op_context == nullptr) {
    fail_for_good(
        {.cause = std::string("libfabric reports an error that belongs to no message: ") + ofi::error_text(entry.err),
         .remedy = "look for a broken cable, adapter or switch between the hosts, or set "
                   "WEFT_NETWORK_LIBRARY=tcp, with which Weft checks all that comes in"});
  } else if (!port.is_incoming(entry.op_context)) {
    end_sent(lane, static_cast<net::Buffer*>(entry.op_context), entry.err, events);
  } else if (entry.err != FI_ECANCELED) {
    listen(port, static_cast<ReceiveContext*>(entry.op_context));
  }
}

}  // namespace weft::transport::ofi
