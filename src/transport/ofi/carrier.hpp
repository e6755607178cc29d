// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Frames carried by libfabric: one reliable datagram endpoint for each lane, in one domain. What a provider does of
// matching, atomics or tags is not used.

#include <memory>
#include <vector>

#include "transport/net/carrier.hpp"
#include "transport/ofi/library.hpp"

namespace weft::transport::ofi {

class OfiCarrier final : public net::Carrier {
 public:
  // `sleeps`: with a wait descriptor, which costs a few system calls for each message. Ends the job with a message when
  // no provider works.
  OfiCarrier(uint32_t lanes, bool sleeps);
  ~OfiCarrier() override;

  const char* name() const override { return "ofi"; }
  std::string address(uint32_t lane) override;
  bool insert(std::string_view bytes, net::Address& address) override;
  int send(uint32_t lane, net::Buffer* buffer, const void* start, size_t bytes, net::Address to) override;
  int poll(uint32_t lane, net::Events& events) override;
  int wait_descriptor() const override { return wait_descriptor_; }
  bool may_sleep() override;
  std::string error_text(int error) const override { return ofi::error_text(error); }

 private:
  // Waits for what comes in. libfabric knows it by its first member, as it does a net::Buffer.
  struct Incoming {
    fi_context context;
    Incoming* next;
    alignas(64) unsigned char bytes[net::frame_most];
  };
  struct Port {
    fid_ep* endpoint = nullptr;
    fid_cq* completions = nullptr;
    std::unique_ptr<Incoming[]> incoming;
    Incoming* unposted = nullptr;  // which libfabric would not take; by who polls alone

    bool is_incoming(const void* context) const;
  };

  void open_port(Port& port, bool sleeps);
  void listen(Port& port, Incoming* buffer);
  void failed(uint32_t lane, net::Events& events);

  fi_info* info_;
  fid_fabric* fabric_ = nullptr;
  fid_domain* domain_ = nullptr;
  fid_av* addresses_ = nullptr;
  std::vector<Port> ports_;
  int wait_descriptor_ = -1;  // of the one lane, where the provider has one
};

}  // namespace weft::transport::ofi
