// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Frames carried by way of the host proxy of the rank's host (host_proxy.hpp): the ranks of a host share its endpoint,
// its buffers and its connections (docs/design/scale.md).

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "base/lock.hpp"
#include "transport/net/carrier.hpp"
#include "transport/relay/host_proxy.hpp"
#include "transport/relay/memory.hpp"
#include "transport/shm/bell.hpp"

namespace weft::transport::relay {

// The place of a rank on its host, and what the ranks there share.
struct Host {
  base::Descriptor segment;             // its memory,
  size_t offset;                        // and where the relay's part begins in it
  int place;                            // of this rank,
  std::vector<int> here;                // among these, in order
  HostBuffers buffers;                  // for large messages of all
  std::function<void(int place)> wake;  // ends the sleep of a rank
};

class RelayCarrier final : public net::Carrier {
 public:
  // `make` makes the carrier between hosts, for the first rank of each. With one lane. Without `threads` one at a time
  // calls. Ends the job with a message when it cannot be had.
  RelayCarrier(const Host& host, const HostProxy::Make& make, bool threads);
  ~RelayCarrier() override;

  const char* name() const override { return "relay"; }
  std::string address(uint32_t lane) override;
  bool insert(std::string_view bytes, net::Address& address) override;
  bool lends() const override { return true; }
  net::Buffer* lend(Use use) override;
  void take_back(net::Buffer* buffer) override;
  uint64_t window() const override { return credits; }
  size_t staged_most() const override { return memory_.layout().large; }
  int send(uint32_t lane, net::Buffer* buffer, const void* start, size_t bytes, net::Address to) override;
  bool all_sent() const override;
  int poll(uint32_t lane, net::Events& events) override;
  bool wakes() const override { return true; }
  std::string error_text(int error) const override;

 private:
  // A buffer that was lent, or was before.
  struct LentBuffer : net::Buffer {
    uint32_t number = 0;  // of the buffer, or of the word
    Use use = Use::message;
    bool is_here = false;  // not sent
  };
  // An Address stands for its number among these, and the rank.
  struct RelayPeer {
    std::string address;
    bool announced = false;
  };

  bool find_buffer(Use use, uint32_t& number);
  bool find_word(uint32_t& number);
  bool announce(uint32_t number);
  void put(const Item& item);
  void call();
  void take(const Item& item, net::Events& events);
  void report_wrong();

  const uint32_t rank_;
  const uint32_t place_;
  const bool threads_;
  const uint32_t staged_most_;
  RelayMemory memory_;
  RankPage& page_;
  std::unique_ptr<HostProxy> proxy_;  // of the first rank alone
  shm::Bell bell_;
  ItemRingReader inward_;  // read by the polling thread alone
  bool wrong_ = false;
  mutable base::Lock lock_;  // of what follows
  ItemRingWriter outward_;
  std::vector<RelayPeer> hosts_;
  std::deque<LentBuffer> lent_;
  net::Buffer* free_ = nullptr;
  uint32_t staged_ = 0;  // lent for staging, and not sent
  uint32_t sent_ = 0;    // frames given to the host proxy
};

}  // namespace weft::transport::relay
