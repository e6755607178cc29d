// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Frames carried by UCX: one worker for each lane, and an endpoint for each peer's lane that is sent to. A frame is one
// active message; UCX's matching and atomics are not used.
//
// A worker takes one thread at a time, and calls us back while it makes progress. Its frames are kept until its lock is
// released, because their handler may need a lock of a thread that waits to send.

#include <deque>
#include <memory>
#include <vector>

#include "base/lock.hpp"
#include "transport/net/carrier.hpp"
#include "transport/net/lent.hpp"
#include "transport/ucx/context.hpp"
#include "transport/ucx/library.hpp"
#include "transport/ucx/reads.hpp"

namespace weft::transport::ucx {

class UcxCarrier final : public net::Carrier {
 public:
  // `ranks` of the job, for UCX to choose transports by. `sleeps`: with a wait descriptor. Ends the job with a message
  // when UCX cannot be had.
  UcxCarrier(uint32_t lanes, int ranks, bool sleeps);
  ~UcxCarrier() override;

  const char* name() const override { return "ucx"; }
  std::string address(uint32_t lane) override;
  bool insert(std::string_view bytes, net::Address& address) override;
  void register_buffers(void* memory, size_t bytes) override;
  int send(uint32_t lane, net::Buffer* buffer, const void* start, size_t bytes, net::Address to) override;
  bool reads() const override { return context_.reads; }
  bool reaches_devices() const override { return context_.takes_devices; }
  size_t read_most() const override { return SIZE_MAX; }
  bool register_memory(void* memory, size_t bytes, Access access, MemoryRef& ref) override;
  void deregister(uint64_t key) override { registered_.remove(key); }
  int read(uint32_t lane, net::Address from, const MemoryRef& memory, size_t at, void* to, size_t bytes,
           Read& read) override;
  int poll(uint32_t lane, net::Events& events) override;
  int wait_descriptor() const override { return wait_descriptor_; }
  bool may_sleep() override;
  std::string error_text(int error) const override;

 private:
  struct UcxPort;
  // The memory for a frame that UCX does not bring before it is asked for.
  struct FrameFetch {
    alignas(64) unsigned char frame[net::frame_most];
    UcxPort* port;
    size_t bytes;
  };
  // A frame that has come in, in memory of UCX or of a fetch.
  struct Arrived {
    void* data;
    size_t bytes;
    FrameFetch* fetch;
  };
  struct LeftBuffer {
    net::Buffer* buffer;
    int error;
  };
  struct UcxPort {
    base::Lock lock;  // of all but the last three
    ucp_worker_h worker = nullptr;
    std::vector<Arrived> arrived;
    std::vector<LeftBuffer> left;
    std::vector<FrameFetch*> free_fetches;
    std::vector<std::unique_ptr<FrameFetch>> fetches;
    Reads reads;
    std::vector<Arrived> arrived_before;  // of the polling thread alone: its reports
    std::vector<LeftBuffer> left_before;
    std::vector<Reads::Over> over_before;
  };
  // The route from a lane of ours to one of a peer.
  struct UcxEndpoint {
    ucp_ep_h endpoint = nullptr;
    ucs_status_t error = UCS_OK;  // since when nothing can be sent
  };
  struct UcxPeer {
    std::string address;
    std::unique_ptr<UcxEndpoint[]> ways;
  };
  void open_port(UcxPort& port);
  bool is_open(UcxPort& port, const UcxPeer& peer, UcxEndpoint& way);
  ucs_status_t open_way(UcxPort& port, const UcxPeer& peer, UcxEndpoint& way);
  static void release(UcxPort& port, std::vector<Arrived>& frames);
  static ucs_status_t on_frame(void* port, const void* header, size_t header_bytes, void* data, size_t bytes,
                               const ucp_am_recv_param_t* about);
  static void on_fetched(void* request, ucs_status_t status, size_t bytes, void* fetch);
  static void on_sent(void* request, ucs_status_t status, void* buffer);
  static void on_failure(void* way, ucp_ep_h endpoint, ucs_status_t status);

  const UcxContext context_;
  net::Registered registered_;
  net::Lent<ucp_mem_h> lent_;  // buffers of frames
  std::unique_ptr<UcxPort[]> ports_;
  uint32_t lanes_;
  int wait_descriptor_ = -1;  // of the one lane; UCX's own
  base::Lock lock_;           // of what follows
  std::deque<UcxPeer> peers_;
};

}  // namespace weft::transport::ucx
