// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Ranks of other hosts, through libfabric: one reliable datagram endpoint for each lane, in one domain. Messages are
// frames (frame.hpp) in buffers of ours; what a provider does of matching, atomics or tags is not used.

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/lock.hpp"
#include "transport/api/transport.hpp"
#include "transport/ofi/frame.hpp"
#include "transport/ofi/library.hpp"
#include "transport/ofi/open.hpp"

namespace weft::transport::ofi {

class OfiTransport;

// A buffer that is being sent, or that waits for what comes in. libfabric knows it by its first member.
struct Buffer {
  fi_context context;
  bool incoming;
  int32_t rank;  // where it goes to
  Buffer* next;
  alignas(64) unsigned char bytes[frame_most];

  unsigned char* staging() { return bytes + sizeof(Header) + staged_data_most; }
};

// A frame that came before its turn.
struct Early {
  std::vector<unsigned char> frame;
};

// What a lane knows of one sender.
struct Sender {
  uint16_t expected = 0;            // the sequence number that is next
  uint16_t told = 0;                // up to where the sender knows that we have taken what it sent
  std::map<uint16_t, Early> early;  // by theirs
};

// A lane of ours: its endpoint, and the buffers of it.
struct Port {
  fid_ep* endpoint = nullptr;
  fid_cq* completions = nullptr;
  base::Lock lock;  // of the free buffers
  Buffer* free = nullptr;
  Buffer* unposted = nullptr;          // incoming ones that libfabric would not take; by who polls alone
  std::map<uint32_t, Sender> senders;  // by rank; likewise
  bool behind = false;                 // some sender should be told what was taken, and could not; likewise
  std::atomic<uint32_t> outgoing = 0;  // buffers being sent
  std::unique_ptr<Buffer[]> buffers;
};

class OfiEndpoint final : public Endpoint {
 public:
  OfiEndpoint(OfiTransport& owner, int rank, LaneMap lanes);

  LaneMap lanes() const override { return lanes_; }
  Post send(uint8_t kind, Envelope envelope, const void* data, uint32_t bytes) override;
  Post send_staged(uint8_t kind, Envelope envelope, const void* data, uint32_t bytes, const Staging& staging,
                   size_t staged) override;
  int get(const MemoryRef&, void*, size_t) override { return ENOTSUP; }
  int put(const MemoryRef&, const void*, size_t) override { return ENOTSUP; }
  const void* staging(const Arrival& arrival, uint64_t) override {
    return static_cast<const char*>(arrival.data) + arrival.bytes;
  }
  void release_staging(uint64_t, size_t) override {}
  Claim* claim(uint32_t) override { return nullptr; }

 private:
  friend class OfiTransport;
  Post post(Port& port, Buffer* buffer, unsigned char* start, size_t bytes, uint32_t lane);
  Post hand_over(Port& port, Buffer* buffer, const void* start, size_t bytes, uint32_t lane);
  Header header(uint8_t kind, const Envelope& envelope, uint32_t bytes, size_t staged) const;
  // A frame of the transport itself: not counted.
  Post send_own(uint8_t kind, Envelope envelope);
  void congest(bool on) { word_.store(on ? saturated : 0, std::memory_order_relaxed); }

  OfiTransport& owner_;
  int rank_;
  LaneMap lanes_;
  uint64_t proof_;
  // To one of the peer's lanes.
  struct Way {
    fi_addr_t address = FI_ADDR_UNSPEC;
    uint16_t sent = 0;                // frames, under lock_
    std::atomic<uint16_t> taken = 0;  // of them, as far as the peer has told
  };
  std::unique_ptr<Way[]> ways_;
  base::Lock lock_;                 // numbers are given in the order of sending
  std::atomic<uint32_t> word_ = 0;  // what it has asked for
  bool told_ = false;               // whether we asked it to send envelopes alone
};

class OfiTransport final : public Transport {
 public:
  OfiTransport(int rank, int ranks, LaneMap lanes, const std::string& secret, const Directory& directory);
  ~OfiTransport() override;

  const char* name() const override { return "ofi"; }
  Endpoint* connect(int rank) override;
  int poll(uint32_t lane, Sink sink) override;
  void drain(uint32_t lane, Sink sink) override;
  bool looks_empty(uint32_t) const override { return false; }  // nobody knows without looking
  Staging reserve_staging(size_t bytes) override;
  void drop_staging(const Staging& staging, size_t bytes) override;
  size_t staging_limit() const override { return staging_most; }
  MemoryRef describe(const void* address, size_t) const override {
    return {reinterpret_cast<uint64_t>(address), MemoryRef::no_key};
  }
  Claim* claim(uint32_t) override { return nullptr; }
  void set_congested(bool on) override;
  void arm() override {}
  void sleep(uint64_t) override {}
  void disarm() override {}
  void wake() override {}

  bool all_sent() const override;
  void leave() override { leaving_.store(true, std::memory_order_relaxed); }

 private:
  friend class OfiEndpoint;
  void open_port(Port& port);
  void publish_address();
  void read_address(int rank, OfiEndpoint& endpoint);
  LaneMap read_lanes(int rank);
  OfiEndpoint& endpoint(int rank);
  Buffer* take(uint32_t lane);
  void give(Port& port, Buffer* buffer);
  Port& port_for(uint32_t lane) { return ports_[lane & lanes_.mask]; }
  void listen(Port& port, Buffer* buffer);
  void handle(uint32_t lane, const unsigned char* frame, size_t bytes, Sink sink);
  void deliver(const Header& header, Sink sink);
  bool tell_taken(uint32_t lane, uint32_t origin, Sender& sender);
  void tell_taken_again(Port& port, uint32_t lane);
  void failed(Port& port);
  bool knows(int rank);
  void tell_congestion();

  int rank_;
  int ranks_;
  LaneMap lanes_;
  Proofs proofs_;
  Directory directory_;
  fi_info* info_ = nullptr;
  fid_fabric* fabric_ = nullptr;
  fid_domain* domain_ = nullptr;
  fid_av* addresses_ = nullptr;
  std::unique_ptr<Port[]> ports_;
  base::Lock lock_;  // of what follows
  std::map<int, std::unique_ptr<OfiEndpoint>> endpoints_;
  std::atomic<bool> leaving_ = false;
  std::atomic<bool> congested_ = false;
  std::atomic<bool> to_tell_ = false;    // some peer does not know yet whether we are congested
  std::atomic<uint64_t> strangers_ = 0;  // frames turned away: not from a rank of this job
};

}  // namespace weft::transport::ofi
