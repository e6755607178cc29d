// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ucx/carrier.hpp"

#include <functional>
#include <mutex>
#include <utility>

#include "device/api/device.hpp"
#include "device/select/adapter.hpp"
#include "transport/ucx/status.hpp"

namespace weft::transport::ucx {
namespace {

constexpr unsigned frame_id = 1;  // of our active messages
constexpr size_t address_most = 4096;

}  // namespace

UcxCarrier::UcxCarrier(uint32_t lanes, int ranks, bool sleeps)
    : context_(open_context(ranks, sleeps, lanes > 1)), ports_(std::make_unique<UcxPort[]>(lanes)), lanes_(lanes) {
  for (uint32_t lane = 0; lane < lanes_; ++lane) open_port(ports_[lane]);
  if (sleeps && lanes_ == 1) must("ucp_worker_get_efd", library().worker_get_efd(ports_[0].worker, &wait_descriptor_));
}

bool UcxCarrier::may_sleep() {
  if (wait_descriptor_ < 0) return true;
  UcxPort& port = ports_[0];
  std::lock_guard guard(port.lock);
  return port.arrived.empty() && port.left.empty() && port.reads.over.empty() &&
         library().worker_arm(port.worker) == UCS_OK;
}

UcxCarrier::~UcxCarrier() {
  const UcxLibrary& l = library();
  ucp_request_param_t at_once = {};
  at_once.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  at_once.flags = UCP_EP_CLOSE_FLAG_FORCE;
  for (const UcxPeer& peer : peers_) {
    for (uint32_t lane = 0; lane < lanes_; ++lane) {
      if (peer.ways[lane].endpoint == nullptr) continue;
      const ucs_status_ptr_t closing = l.ep_close_nbx(peer.ways[lane].endpoint, &at_once);
      if (closing != nullptr && !is_error(closing)) l.request_free(closing);
    }
  }
  for (uint32_t lane = 0; lane < lanes_; ++lane) {
    UcxPort& port = ports_[lane];
    release(port, port.arrived);
    l.worker_destroy(port.worker);
  }
  lent_.close([&](ucp_mem_h handle) { (void)l.mem_unmap(context_.handle, handle); });
  l.cleanup(context_.handle);
}

void UcxCarrier::open_port(UcxPort& port) {
  const UcxLibrary& l = library();
  ucp_worker_params_t parameters = {};
  parameters.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE | UCP_WORKER_PARAM_FIELD_AM_ALIGNMENT;
  parameters.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  parameters.am_alignment = alignof(net::Header);
  must("ucp_worker_create", l.worker_create(context_.handle, &parameters, &port.worker));
  ucp_am_handler_param_t handler = {};
  handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                       UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.id = frame_id;
  handler.flags = UCP_AM_FLAG_WHOLE_MSG | UCP_AM_FLAG_PERSISTENT_DATA;
  handler.cb = on_frame;
  handler.arg = &port;
  must("ucp_worker_set_am_recv_handler", l.worker_set_am_recv_handler(port.worker, &handler));
  if (context_.reads) port.reads.open(port.worker, registered_);
}

std::string UcxCarrier::address(uint32_t lane) {
  ucp_worker_attr_t attributes = {};
  attributes.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS | UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS;
  attributes.address_flags = UCP_WORKER_ADDRESS_FLAG_NET_ONLY;
  must("ucp_worker_query", library().worker_query(ports_[lane].worker, &attributes));
  std::string bytes(reinterpret_cast<const char*>(attributes.address), attributes.address_length);
  library().worker_release_address(ports_[lane].worker, attributes.address);
  return bytes;
}

// The endpoint is made when something is sent: the caller of insert() may hold locks that a polling thread waits for.
bool UcxCarrier::insert(std::string_view bytes, net::Address& address) {
  if (bytes.empty() || bytes.size() > address_most) return false;
  std::lock_guard guard(lock_);
  UcxPeer& peer = peers_.emplace_back();
  peer.address = bytes;
  peer.ways = std::make_unique<UcxEndpoint[]>(lanes_);
  address = reinterpret_cast<net::Address>(&peer);
  return true;
}

bool UcxCarrier::is_open(UcxPort& port, const UcxPeer& peer, UcxEndpoint& way) {
  if (way.endpoint == nullptr) way.error = open_way(port, peer, way);
  return way.error == UCS_OK;
}

ucs_status_t UcxCarrier::open_way(UcxPort& port, const UcxPeer& peer, UcxEndpoint& way) {
  ucp_ep_params_t parameters = {};
  parameters.field_mask =
      UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  parameters.address = reinterpret_cast<const ucp_address_t*>(peer.address.data());
  parameters.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  parameters.err_handler = {on_failure, &way};
  return library().ep_create(port.worker, &parameters, &way.endpoint);
}

void UcxCarrier::on_failure(void* way, ucp_ep_h /*endpoint*/, ucs_status_t status) {
  static_cast<UcxEndpoint*>(way)->error = status;
}

// So that adapters need not register a buffer each time it is sent from.
void UcxCarrier::register_buffers(void* memory, size_t bytes) {
  ucp_mem_map_params_t parameters = {};
  parameters.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
  parameters.address = memory;
  parameters.length = bytes;
  ucp_mem_h handle = nullptr;
  must("ucp_mem_map", library().mem_map(context_.handle, &parameters, &handle));
  lent_.add(memory, bytes, handle);
}

int UcxCarrier::send(uint32_t lane, net::Buffer* buffer, const void* start, size_t bytes, net::Address to) {
  UcxPort& port = ports_[lane];
  const UcxPeer& peer = *reinterpret_cast<const UcxPeer*>(to);
  UcxEndpoint& way = peer.ways[lane];
  std::lock_guard guard(port.lock);
  if (!is_open(port, peer, way)) return error_of(way.error);
  *reinterpret_cast<UcxPort**>(buffer->context) = &port;
  ucp_request_param_t parameters = {};
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  parameters.cb.send = on_sent;
  parameters.user_data = buffer;
#if UCP_API_VERSION >= UCP_VERSION(1, 13)
  parameters.memh = lent_.handle_of(buffer, nullptr);
  if (parameters.memh != nullptr) parameters.op_attr_mask |= UCP_OP_ATTR_FIELD_MEMH;
#endif
  const ucs_status_ptr_t sending = library().am_send_nbx(way.endpoint, frame_id, nullptr, 0, start, bytes, &parameters);
  if (is_error(sending)) return error_of(status_of(sending));
  if (sending == nullptr) port.left.push_back({buffer, 0});
  return 0;
}

bool UcxCarrier::register_memory(void* memory, size_t bytes, Access access, MemoryRef& ref) {
  if (!context_.reads || access != Access::read) return false;
  if (device::owns(memory)) {
    int number = 0;
    if (!context_.takes_devices || !device::offer(memory, number).empty()) return false;
  }
  ref = {reinterpret_cast<uint64_t>(memory), registered_.add(memory, bytes)};
  return true;
}

int UcxCarrier::read(uint32_t lane, net::Address from, const MemoryRef& memory, size_t at, void* to, size_t bytes,
                     Read& read) {
  UcxPort& port = ports_[lane];
  const UcxPeer& peer = *reinterpret_cast<const UcxPeer*>(from);
  UcxEndpoint& way = peer.ways[lane];
  std::lock_guard guard(port.lock);
  if (!is_open(port, peer, way)) return error_of(way.error);
  return port.reads.ask(way.endpoint, way.error, memory, at, to, bytes, read);
}

void UcxCarrier::on_sent(void* request, ucs_status_t status, void* buffer) {
  auto* ours = static_cast<net::Buffer*>(buffer);
  UcxPort* port = *reinterpret_cast<UcxPort**>(ours->context);
  port->left.push_back({ours, error_of(status)});
  library().request_free(request);
}

// A large frame may have to be fetched from its sender.
ucs_status_t UcxCarrier::on_frame(void* port, const void* /*header*/, size_t /*header_bytes*/, void* data, size_t bytes,
                                  const ucp_am_recv_param_t* about) {
  UcxPort& at = *static_cast<UcxPort*>(port);
  if ((about->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0) {
    at.arrived.push_back({data, bytes, nullptr});
    return UCS_INPROGRESS;
  }
  if (bytes > net::frame_most) return UCS_ERR_MESSAGE_TRUNCATED;
  if (at.free_fetches.empty()) {
    at.fetches.push_back(std::make_unique<FrameFetch>());
    at.free_fetches.push_back(at.fetches.back().get());
  }
  FrameFetch* fetch = at.free_fetches.back();
  at.free_fetches.pop_back();
  fetch->port = &at;
  fetch->bytes = bytes;
  ucp_request_param_t parameters = {};
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
  parameters.cb.recv_am = on_fetched;
  parameters.user_data = fetch;
  const ucs_status_ptr_t fetching = library().am_recv_data_nbx(at.worker, data, fetch->frame, bytes, &parameters);
  if (is_error(fetching)) at.free_fetches.push_back(fetch);  // the sender is gone: its endpoint says so
  return UCS_INPROGRESS;
}

void UcxCarrier::on_fetched(void* request, ucs_status_t status, size_t /*bytes*/, void* fetch) {
  auto* ours = static_cast<FrameFetch*>(fetch);
  if (status == UCS_OK) {
    ours->port->arrived.push_back({ours->frame, ours->bytes, ours});
  } else {
    ours->port->free_fetches.push_back(ours);
  }
  library().request_free(request);
}

int UcxCarrier::poll(uint32_t lane, net::Events& events) {
  UcxPort& port = ports_[lane];
  {
    std::lock_guard guard(port.lock);
    {
      const device::InContext current(port.reads.on_device());
      (void)library().worker_progress(port.worker);
    }
    port.reads.look();
    std::swap(port.arrived, port.arrived_before);
    std::swap(port.left, port.left_before);
    std::swap(port.reads.over, port.over_before);
  }
  for (const LeftBuffer& left : port.left_before) events.sent(lane, left.buffer, left.error);
  for (const Arrived& one : port.arrived_before)
    events.came(lane, static_cast<const unsigned char*>(one.data), one.bytes);
  for (const Reads::Over& over : port.over_before) events.have_read(*over.read, over.error);
  const size_t happened = port.left_before.size() + port.arrived_before.size() + port.over_before.size();
  port.left_before.clear();
  port.over_before.clear();
  if (!port.arrived_before.empty()) {
    std::lock_guard guard(port.lock);
    release(port, port.arrived_before);
  }
  return static_cast<int>(happened);
}

// Called under the lock of the port.
void UcxCarrier::release(UcxPort& port, std::vector<Arrived>& frames) {
  for (const Arrived& one : frames) {
    if (one.fetch != nullptr) {
      port.free_fetches.push_back(one.fetch);
    } else {
      library().am_data_release(port.worker, one.data);
    }
  }
  frames.clear();
}

std::string UcxCarrier::error_text(int error) const {
  return library().status_string(static_cast<ucs_status_t>(error_base - error));
}

}  // namespace weft::transport::ucx
