// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Ranks of other hosts. Messages are frames (frame.hpp) in buffers of ours, which a carrier brings over; here is what
// makes a channel for messages of them: order, flow control, trust.

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/lock.hpp"
#include "transport/api/transport.hpp"
#include "transport/net/carrier.hpp"
#include "transport/net/cipher.hpp"
#include "transport/net/opening.hpp"

namespace weft::transport::net {

class NetTransport;

// Frames that came before their turn, by number.
using Early = std::map<uint64_t, std::vector<unsigned char>>;

// A lane's record of one sender.
struct Sender {
  Key key;                         // of its proofs
  std::unique_ptr<Cipher> cipher;  // where messages are encrypted
  uint64_t expected = 0;           // the number of the frame that is next
  uint64_t told = 0;               // up to where the sender knows that we have taken what it sent
  std::unique_ptr<Early> early;    // while there are some
  NetEndpoint* peer = nullptr;     // the way to it, once something was sent there
};

// A lane of ours.
struct LanePort {
  base::Lock lock;  // of the buffers
  Buffer* free = nullptr;
  uint32_t free_count = 0;
  struct Buffers {
    std::unique_ptr<OwnBuffer[]> all;
    size_t bytes;
  };
  std::vector<Buffers> buffers;
  std::map<uint32_t, Sender> senders;  // by rank; used by the polling thread alone
  bool behind = false;                 // some sender should be told what was taken, and could not; likewise
  std::atomic<uint32_t> outgoing = 0;  // buffers being sent, or whose contents are written
  Buffer* written = nullptr;           // whose messages could not be sent yet; used by the polling thread alone
  Sink sink = nullptr;                 // of the poll under way
  // The frame that is delivered, where messages are encrypted; the polling thread alone uses it.
  std::unique_ptr<unsigned char[]> opened;
};

class NetEndpoint final : public Endpoint {
 public:
  NetEndpoint(NetTransport& owner, int rank, LaneMap lanes);

  LaneMap lanes() const override { return lanes_; }
  Post send(uint8_t kind, Envelope envelope, const void* data, uint32_t bytes) override;
  Post send_staged(uint8_t kind, Envelope envelope, const void* data, uint32_t bytes, const Staging& staging,
                   size_t staged) override;
  Post write(uint8_t kind, Envelope envelope, const void* data, uint32_t bytes, const Staging& staging, size_t staged,
             const MemoryRef& to, size_t at, uint32_t lane, Written told) override;
  Post push(uint8_t kind, Envelope envelope, const void* data, size_t bytes, Left left) override;
  Post read(const MemoryRef& from, size_t at, void* to, size_t& bytes, uint32_t lane, Read& read) override;
  // The data lie behind their header; nothing staged behind them: it was written to where it belongs.
  std::optional<const void*> staging(const Arrival& arrival, uint64_t, size_t bytes) override {
    const uint32_t staged = (static_cast<const Header*>(arrival.data) - 1)->staged;
    if (staged == 0) return nullptr;
    if (staged < bytes) return std::nullopt;
    return static_cast<const char*>(arrival.data) + arrival.bytes;
  }
  void release_staging(uint64_t, size_t) override {}

 private:
  friend class NetTransport;
  Post post(LanePort& port, Buffer* buffer, unsigned char* start, size_t bytes, uint32_t lane);
  Post post_next(LanePort& port, Buffer* buffer, unsigned char* start, size_t bytes, uint32_t lane);
  Post post_encrypted(LanePort& port, Buffer* buffer, const unsigned char* start, size_t bytes, uint32_t lane);
  Post post_written(const Header& header, Buffer* buffer);
  Post hand_over(LanePort& port, Buffer* buffer, const void* start, size_t bytes, uint32_t lane);
  Post failed(int error);
  Header header(uint8_t kind, const Envelope& envelope, uint32_t bytes, size_t staged) const;
  static void write_check(unsigned char* start, size_t bytes);
  void seal(unsigned char* start, uint64_t number) const;
  // A frame of the transport itself: not counted.
  Post send_own(uint8_t kind, Envelope envelope);
  // Asks the peer to send envelopes alone, or no longer, unless it knows.
  bool tell_congestion(bool on);
  void hear_congestion(uint32_t number);

  NetTransport& owner_;
  int rank_;
  LaneMap lanes_;
  Key key_;        // of our proofs
  uint32_t mask_;  // of the origin of frames
  // The route to one of the peer's lanes. Threads that send to different lanes share no lock.
  struct LanePath {
    base::Lock lock;  // numbers are given in the order of sending
    Address address = 0;
    std::unique_ptr<Cipher> cipher;   // where messages are encrypted, under the lock
    uint64_t sent = 0;                // frames, under the lock
    uint64_t placing = 0;             // messages to be sent when their contents are written; likewise
    std::atomic<uint64_t> taken = 0;  // of what was sent, as far as the peer has told

    // The frames that the peer has not taken yet. A frame counts from the start of its send: were it to wait for space
    // in the window, both sides could wait for each other with no buffer left in which to report what they have taken.
    uint64_t under_way() const { return sent + placing - taken.load(std::memory_order_relaxed); }
  };
  struct alignas(64) WayOfLane {
    LanePath way;
  };
  LanePath& way_to_lane(uint32_t lane) { return ways_ == nullptr ? way_ : ways_[lane].way; }
  LanePath way_;                       // where the peer has one lane; a job may have very many peers
  std::unique_ptr<WayOfLane[]> ways_;  // otherwise
  std::atomic<uint32_t> word_ = 0;     // the peer's request, which is saturated or 0
  std::atomic<uint32_t> held_ = 0;     // buffers in flight to it
  std::atomic<bool> lost_ = false;     // the peer is lost, which was reported
  // The numbers of the last control frame on congestion that was sent, and received. They may come in any order; odd
  // ones ask for envelopes alone.
  uint32_t told_ = 0, heard_ = 0;
};

class NetTransport final : public Transport, private Events {
 public:
  NetTransport(std::unique_ptr<Carrier> carrier, const Opening& opening);

  // After a barrier: sees that rank 0 has the same carrier, and ends the job with a message when it has not.
  void meet();

  const char* name() const override { return carrier_->name(); }
  bool encrypts() const { return receiver_.encrypted; }
  ~NetTransport() override;
  bool reaches(int rank) const override { return rank != rank_ && rank >= 0 && rank < ranks_; }
  Endpoint* connect(int rank) override;
  int poll(uint32_t lane, Sink sink) override;
  bool looks_empty(uint32_t) const override { return false; }  // nobody knows without looking
  Staging reserve_staging(size_t bytes) override;
  void drop_staging(const Staging& staging, size_t bytes) override;
  int64_t eager_bytes() const override;
  MemoryRef register_memory(void* address, size_t bytes, Access access) override;
  void deregister(const MemoryRef& memory) override { carrier_->deregister(memory.key); }
  void set_congested(bool on) override;
  int wait_descriptor() const override { return carrier_->wait_descriptor(); }
  bool may_sleep() override { return carrier_->may_sleep(); }

  bool all_sent() const override;
  void leave() override {
    leaving_.store(true, std::memory_order_relaxed);
    last_barrier_.store(true, std::memory_order_relaxed);
  }
  void resume() override { last_barrier_.store(false, std::memory_order_relaxed); }

 private:
  friend class NetEndpoint;
  Came came(uint32_t lane, const unsigned char* frame, size_t bytes) override;
  bool believes(uint32_t lane, const Header& header) override;
  void changed(uint32_t rank, const std::string& link) override;
  void sent(uint32_t lane, Buffer* buffer, int error) override;
  void have_read(Read& read, int error) override;
  void have_written(uint32_t lane, Buffer* buffer, int error) override;
  bool pushing(uint32_t lane, const Header& header, PushDestination& room) override;
  void have_pushed(Read& read) override { read.over(read, 0); }
  void lost_pushed(uint32_t rank, int error) override;
  void lost(uint32_t rank, int error) override;
  std::string protocol() const;
  void publish_address();
  [[nodiscard]] bool read_address(int rank, NetEndpoint& endpoint, size_t characters);
  void fail_of_carrier(int rank, const std::string& theirs) const;
  NetEndpoint* endpoint(int rank);
  Buffer* take(uint32_t lane, uint32_t held, Carrier::Use use = Carrier::Use::message);
  bool has_room(uint32_t lane, uint32_t held);
  void add_buffers(LanePort& port, size_t count);
  void give(LanePort& port, Buffer* buffer);
  LanePort& port_for(uint32_t lane) { return ports_[lane & lanes_.mask]; }
  void take_in(const Header& header, uint64_t number, Sender& sender);
  void deliver(const Header& header, const void* data);
  Sender* proved(const Header& header, bool in_turn, uint64_t& number);
  void deliver_early(Sender& sender);
  void have_taken(uint32_t lane, uint32_t origin, Sender& sender);
  NetEndpoint* way_to(uint32_t origin, Sender& sender);
  void tell_written(LanePort& port, Buffer* buffer);
  void tell_written_again(LanePort& port);
  void hear_word(const Header& header, Sender& sender);
  void refuse(uint32_t lane, const unsigned char* frame, size_t bytes);
  bool was_here(const Header& header) const;
  bool is_with_origin(Header header, uint32_t lane, uint32_t from) const;
  void turn_away(size_t bytes);
  std::string shown(int rank);
  bool tell_taken(uint32_t lane, uint32_t origin, Sender& sender);
  void tell_taken_again(LanePort& port, uint32_t lane);
  void lose(NetEndpoint* peer, int error, const char* which);
  void report_lost(int rank, int error, const char* which) const;
  bool knows(int rank);
  bool too_late_for(uint32_t origin);
  void tell_congestion();

  // A rank of the peers, as the process knows it.
  int known_as(int rank) const { return rank ^ renumber_; }

  int rank_;
  int ranks_;
  int renumber_;
  bool threads_;
  LaneMap lanes_;
  const Key secret_;
  const Receiver receiver_;
  Directory directory_;
  std::unique_ptr<LanePort[]> ports_;
  std::unique_ptr<Carrier> carrier_;  // goes before the buffers that it sends
  const bool lends_;                  // the carrier, its buffers; there are none of ours
  // Credits: the frames that a sender may have in flight to a lane. Providers take in every message and keep those
  // without a buffer of ours in memory of their own, without bound. A sender without credit looks at incoming frames,
  // such as that the peer is congested.
  const uint64_t window_;
  const uint64_t tell_every_;  // frames
  base::Lock lock_;            // of what follows
  std::map<int, NetEndpoint> endpoints_;
  std::atomic<bool> leaving_ = false;       // from now on peers may go
  std::atomic<bool> last_barrier_ = false;  // until resume()
  std::atomic<bool> congested_ = false;
  std::atomic<bool> reads_ = false;      // what peers have may be read: the carrier can, and has not failed to
  std::atomic<bool> writes_ = false;     // likewise written
  std::atomic<bool> to_tell_ = false;    // some peer does not know yet whether we are congested
  std::atomic<uint64_t> strangers_ = 0;  // frames turned away: not from a rank of this job
};

}  // namespace weft::transport::net
