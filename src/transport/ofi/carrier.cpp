// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ofi/carrier.hpp"

#include <cerrno>
#include <functional>
#include <utility>

#include "base/message.hpp"
#include "transport/ofi/provider.hpp"

namespace weft::transport::ofi {
namespace {

constexpr size_t incoming_buffers = 64;   // of a lane
constexpr size_t completions_most = 128;  // that a lane's queue has room for
static_assert(sizeof(fi_context) <= sizeof net::Buffer::context);

[[noreturn]] void die_of(const char* call, int64_t error) {
  base::die({.cause = std::string("libfabric refused ") + call + ": " + ofi::error_text(error),
             .remedy = "choose another provider with WEFT_OFI_PROVIDER (fi_info lists them)"});
}
void must(const char* call, int64_t result) {
  if (result != 0) die_of(call, result);
}

}  // namespace

OfiCarrier::OfiCarrier(uint32_t lanes, bool sleeps) : info_(choose_provider()), ports_(lanes) {
  must("fi_fabric", library().fabric(info_->fabric_attr, &fabric_, nullptr));
  must("fi_domain", fi_domain(fabric_, info_, &domain_, nullptr));
  fi_av_attr attributes = {};
  attributes.type = FI_AV_TABLE;
  must("fi_av_open", fi_av_open(domain_, &attributes, &addresses_, nullptr));
  for (Port& port : ports_) open_port(port, sleeps);
  if (!sleeps || ports_.size() != 1) return;
  if (fi_control(&ports_[0].completions->fid, FI_GETWAIT, &wait_descriptor_) != 0) wait_descriptor_ = -1;
}

bool OfiCarrier::may_sleep() {
  fid* queue = &ports_[0].completions->fid;
  return wait_descriptor_ < 0 || fi_trywait(fabric_, &queue, 1) == 0;
}

OfiCarrier::~OfiCarrier() {
  for (const Port& port : ports_) {
    fi_close(&port.endpoint->fid);
    fi_close(&port.completions->fid);
  }
  fi_close(&addresses_->fid);
  fi_close(&domain_->fid);
  fi_close(&fabric_->fid);
  library().freeinfo(info_);
}

void OfiCarrier::open_port(Port& port, bool sleeps) {
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
  port.incoming = std::make_unique_for_overwrite<Incoming[]>(incoming_buffers);
  for (size_t i = 0; i < incoming_buffers; ++i) listen(port, &port.incoming[i]);
}

bool OfiCarrier::Port::is_incoming(const void* context) const {
  const std::less<const void*> before;
  return !before(context, &incoming[0]) && before(context, &incoming[0] + incoming_buffers);
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

void OfiCarrier::listen(Port& port, Incoming* buffer) {
  const auto result =
      fi_recv(port.endpoint, buffer->bytes, sizeof buffer->bytes, nullptr, FI_ADDR_UNSPEC, &buffer->context);
  if (result == 0) return;
  if (result != -FI_EAGAIN) die_of("fi_recv", result);
  buffer->next = port.unposted;
  port.unposted = buffer;
}

int OfiCarrier::send(uint32_t lane, net::Buffer* buffer, const void* start, size_t bytes, net::Address to) {
  const auto result = fi_send(ports_[lane].endpoint, start, bytes, nullptr, to, buffer);
  return static_cast<int>(result == -FI_EAGAIN ? EAGAIN : -result);
}

int OfiCarrier::poll(uint32_t lane, net::Events& events) {
  Port& port = ports_[lane];
  for (Incoming* waiting = std::exchange(port.unposted, nullptr); waiting != nullptr;) {
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
      auto* buffer = static_cast<Incoming*>(context);
      events.came(lane, buffer->bytes, done[i].len);
      listen(port, buffer);
    } else {
      events.sent(lane, static_cast<net::Buffer*>(context), 0);
    }
  }
  return static_cast<int>(count);
}

// A completion with an error.
void OfiCarrier::failed(uint32_t lane, net::Events& events) {
  Port& port = ports_[lane];
  fi_cq_err_entry entry = {};
  if (fi_cq_readerr(port.completions, &entry, 0) < 1) return;
  if (!port.is_incoming(entry.op_context)) {
    events.sent(lane, static_cast<net::Buffer*>(entry.op_context), entry.err);
  } else if (entry.err != FI_ECANCELED) {
    listen(port, static_cast<Incoming*>(entry.op_context));
  }
}

}  // namespace weft::transport::ofi
