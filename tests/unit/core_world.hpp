// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Several ranks of a job in one process: a World for each, over a transport made of queues, without a launcher.
//
// Each rank's program is a coroutine of a Schedule. Ranks change places where the transport is called, and nowhere
// else; which rank runs next, how many messages a poll delivers and when the way is full all follow from the seed. A
// rank that sleeps runs again when it is woken: a wake-up that is lost shows as a deadlock.

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/setting.hpp"
#include "core/lane/counters.hpp"
#include "core/lane/lane.hpp"
#include "core/message/handler.hpp"
#include "core/peer/peer.hpp"
#include "core/protocol/p2p.hpp"
#include "core/protocol/protocol.hpp"
#include "core/runtime/world.hpp"
#include "schedule.hpp"
#include "transport/self/transport.hpp"

namespace weft::test {

// How messages travel between the ranks of a test.
struct Wire {
  size_t room = 16;          // messages that a lane's queue holds; then the way is full
  uint64_t full_one_in = 0;  // and so often for no reason; 0: never
  size_t staging = 8;        // staging buffers of a rank
  bool memory = true;        // ranks reach each other's memory
  bool drains = true;        // Capabilities::drains; otherwise a lane may stand still while others move
};

class Switchboard {
 public:
  Switchboard(int32_t ranks, const Wire& how, uint64_t seed)
      : wire(how), random(seed ^ 0x5eed), stations(static_cast<size_t>(ranks)) {}

  struct Message {
    uint8_t kind;
    int32_t from;
    transport::Envelope envelope;
    std::vector<unsigned char> data;
  };
  // The queues of one rank.
  struct Station {
    std::deque<Message> lanes[transport::max_lanes];
    std::atomic<uint32_t> attention = 0;
    std::map<uint64_t, size_t> staging;  // bytes of those in use, by handle
    transport::Claim claims[transport::claim_slots] = {};
    bool woken = false;
  };

  // Another rank may run meanwhile, in a world of its own.
  template <class Act>
  static void away(Act&& act) {
    core::World* const world = core::world;
    core::Thread* const thread = core::own_thread;
    act();
    core::enter(world);
    core::own_thread = thread;
  }
  static void step() { away(Schedule::step); }

  Wire wire;
  Random random;
  std::vector<Station> stations;
  transport::LaneMap lanes;
};

class QueueEndpoint final : public transport::Endpoint {
 public:
  QueueEndpoint(Switchboard& board, int32_t from, int32_t to)
      : board_(board), from_(from), to_(board.stations[static_cast<size_t>(to)]) {
    attention_ = &to_.attention;
  }

  transport::LaneMap lanes() const override { return board_.lanes; }
  transport::Post send(uint8_t kind, transport::Envelope envelope, const void* data, uint32_t bytes) override {
    Switchboard::step();
    auto& queue = to_.lanes[envelope.lane];
    const bool full = board_.wire.full_one_in != 0 && board_.random.below(board_.wire.full_one_in) == 0;
    if (full || queue.size() >= board_.wire.room) return transport::Post::retry;
    const auto* first = static_cast<const unsigned char*>(data);
    queue.push_back(
        {kind, from_, envelope, bytes == 0 ? std::vector<unsigned char>() : std::vector(first, first + bytes)});
    if ((to_.attention.fetch_and(~transport::Transport::asleep) & transport::Transport::asleep) != 0) {
      Switchboard::away([&] { Schedule::wake(&to_); });
    }
    return transport::Post::done;
  }
  transport::Post send_staged(uint8_t kind, transport::Envelope envelope, const void* data, uint32_t bytes,
                              const transport::Staging&, size_t) override {
    return send(kind, envelope, data, bytes);
  }
  int get(const transport::MemoryRef& from, void* to, size_t bytes) override {
    if (!board_.wire.memory) return EPERM;
    std::memcpy(to, reinterpret_cast<const void*>(from.address), bytes);
    return 0;
  }
  int put(const transport::MemoryRef& to, const void* from, size_t bytes) override {
    if (!board_.wire.memory) return EPERM;
    std::memcpy(reinterpret_cast<void*>(to.address), from, bytes);
    return 0;
  }
  std::optional<const void*> staging(const transport::Arrival&, uint64_t handle, size_t bytes) override {
    const auto at = to_.staging.find(handle);
    if (at == to_.staging.end() || bytes > at->second) return std::nullopt;
    return reinterpret_cast<const void*>(handle);
  }
  void release_staging(uint64_t handle, size_t) override {
    if (to_.staging.erase(handle) != 0) delete[] reinterpret_cast<char*>(handle);
  }
  transport::Claim* claim(uint32_t slot) override {
    return slot < transport::claim_slots ? &to_.claims[slot] : nullptr;
  }

 private:
  Switchboard& board_;
  int32_t from_;
  Switchboard::Station& to_;
};

class QueueTransport final : public transport::Transport {
 public:
  QueueTransport(Switchboard& board, int32_t rank)
      : board_(board), rank_(rank), own_(board.stations[static_cast<size_t>(rank)]) {
    capabilities_ = {.names_senders = true,
                     .drains = board.wire.drains,
                     .get_put = true,
                     .read = true,
                     .claims = true,
                     .wakes = true,
                     .staging_most = 4096};
  }

  const char* name() const override { return "queues"; }
  bool reaches(int rank) const override { return rank >= 0 && rank < static_cast<int>(board_.stations.size()); }
  transport::Endpoint* connect(int rank) override {
    return ways_.emplace_back(std::make_unique<QueueEndpoint>(board_, rank_, rank)).get();
  }
  int poll(uint32_t lane, transport::Sink sink) override {
    Switchboard::step();
    if (!board_.wire.drains && board_.random.below(4) != 0) return 0;
    return deliver(lane, 1 + board_.random.below(4), sink);
  }
  void drain(uint32_t lane, transport::Sink sink) override { (void)deliver(lane, own_.lanes[lane].size(), sink); }
  bool looks_empty(uint32_t lane) const override {
    Switchboard::step();
    return own_.lanes[lane].empty();
  }
  transport::Staging reserve_staging(size_t bytes) override {
    if (own_.staging.size() >= board_.wire.staging) return {};
    char* memory = new char[bytes];
    const auto handle = reinterpret_cast<uint64_t>(memory);
    own_.staging[handle] = bytes;
    return {memory, handle};
  }
  void drop_staging(const transport::Staging& staging, size_t) override {
    delete[] static_cast<char*>(staging.memory);
    own_.staging.erase(staging.handle);
  }
  transport::Claim* claim(uint32_t slot) override { return &own_.claims[slot]; }
  void set_congested(bool on) override {
    if (on) {
      own_.attention.fetch_or(saturated);
    } else {
      own_.attention.fetch_and(~saturated);
    }
  }
  void arm() override { own_.attention.fetch_or(asleep); }
  void disarm() override { own_.attention.fetch_and(~asleep); }
  // Time passes when nobody looks: a short sleep ends by itself.
  void sleep(uint64_t timeout_ns) override {
    constexpr uint64_t second = 1000000000;
    if (timeout_ns < second) return Switchboard::away(Schedule::yield);
    Switchboard::away([this] { Schedule::sleep_if(&own_, [this] { return looks_quiet(); }); });
    own_.woken = false;
  }
  void wake() override {
    own_.woken = true;
    Switchboard::away([this] { Schedule::wake(&own_); });
  }

 private:
  // Asked in one step with falling asleep. A sender that found us armed while we were on our way has left a message;
  // one that came before that is not this transport's to notice.
  bool looks_quiet() const { return !own_.woken && (own_.attention.load() & asleep) != 0; }

  int deliver(uint32_t lane, uint64_t most, transport::Sink sink) {
    int delivered = 0;
    auto& queue = own_.lanes[lane];
    for (; most != 0 && !queue.empty(); --most, ++delivered) {
      const Switchboard::Message message = std::move(queue.front());
      queue.pop_front();
      static const unsigned char nothing = 0;
      const void* data = message.data.empty() ? &nothing : message.data.data();
      sink({message.kind, message.envelope, data, static_cast<uint32_t>(message.data.size()), message.from});
    }
    return delivered;
  }

  Switchboard& board_;
  int32_t rank_;
  Switchboard::Station& own_;
  std::vector<std::unique_ptr<QueueEndpoint>> ways_;
};

// A setting changed for the length of a test.
class Setting {
 public:
  Setting(std::string_view name, int64_t value) {
    for (base::SettingRow* row : base::all_settings()) {
      if (row->text().name == name) row_ = row;
    }
    EXPECT_NE(row_, nullptr) << name;
    before_ = row_->number();
    EXPECT_TRUE(row_->set_number(value)) << name;
  }
  ~Setting() { EXPECT_TRUE(row_->set_number(before_)); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  base::SettingRow* row_ = nullptr;
  int64_t before_ = 0;
};

// The job of a test.
struct Plan {
  int32_t ranks = 2;
  uint64_t seed = 1;
  uint32_t lanes = 1;        // MPI_THREAD_MULTIPLE has several
  bool by_tag = true;        // messages of a communicator take several of them
  uint32_t mailbox = 256;    // E0 up to so many bytes
  uint32_t spin_rounds = 4;  // then a wait sleeps
  Wire wire = {};
};

class Ranks {
 public:
  explicit Ranks(const Plan& plan) : plan_(plan), board_(plan.ranks, plan.wire, plan.seed) {
    for (int32_t rank = 0; rank < plan.ranks; ++rank) open(rank);
    core::enter(before_);
  }
  ~Ranks() {
    for (auto& one : ranks_) {
      core::enter(&one->world);
      core::own_thread = nullptr;
      one->world.close();
      one->world.peers.transports.close();
      while (core::Thread* thread = one->world.threads.first) {
        one->world.threads.first = thread->next;
        delete thread;
      }
    }
    core::enter(before_);
    core::own_thread = nullptr;
  }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  // Runs the program of each rank until all are through, and what they sent is.
  void run(const std::function<void(int32_t rank)>& program) {
    Schedule schedule(plan_.seed);
    unfinished_ = plan_.ranks;
    int32_t running = plan_.ranks;
    for (int32_t rank = 0; rank < plan_.ranks; ++rank) {
      schedule.add([&, rank] {
        core::enter(&world(rank));
        core::own_thread = nullptr;
        program(rank);
        --running;
        if (ranks_[static_cast<size_t>(rank)]->dead) return;
        core::wait_until([] { return core::lanes->sends_open() == 0 && core::peers->queues_waiting.load() == 0; });
        --unfinished_;
        while (running != 0 || unfinished_ != 0) {
          (void)core::progress();
          Switchboard::away(Schedule::yield);
        }
      });
    }
    ASSERT_EQ(schedule.run(), Schedule::Result::finished) << "seed " << plan_.seed;
    for (const auto& one : ranks_) {
      if (one->dead) return;
    }
    for (const auto& station : board_.stations)
      EXPECT_EQ(station.staging.size(), 0U) << "staging memory was not returned";
  }

  // For a program that returns next: its rank makes no progress any more.
  void die(int32_t rank) {
    ranks_[static_cast<size_t>(rank)]->dead = true;
    --unfinished_;
  }

  core::World& world(int32_t rank) { return ranks_[static_cast<size_t>(rank)]->world; }
  core::Comm& comm(int32_t rank) { return ranks_[static_cast<size_t>(rank)]->comm; }
  core::Counters counters(int32_t rank) {
    core::World* const now = core::enter(&world(rank));
    const core::Counters counted = core::counters();
    core::enter(now);
    return counted;
  }
  uint64_t sent(int32_t rank, core::Path path) { return counters(rank).sent[static_cast<int>(path)].messages; }

 private:
  struct Rank {
    core::World world;
    core::Comm comm;
    bool dead = false;
  };

  void open(int32_t rank) {
    auto& one = *ranks_.emplace_back(new Rank);
    core::enter(&one.world);
    core::own_thread = nullptr;
    const bool threads = plan_.lanes > 1;  // one thread in truth: locks are taken, and always free
    board_.lanes = {plan_.lanes - 1, threads && plan_.by_tag ? ~0U : 0};
    one.world.open({.rank = rank,
                    .size = plan_.ranks,
                    .multiple = threads,
                    .concurrent = threads,
                    .mailbox_limit = plan_.mailbox,
                    .lane_map = board_.lanes,
                    .spin_rounds = plan_.spin_rounds,
                    .yield_rounds = 0});
    one.world.waits.fences_own_threads = true;  // there is nobody to fence
    one.world.peers.transports.add(new transport::self::SelfTransport(core::on_counted_arrival, rank, board_.lanes));
    one.world.peers.transports.add(new QueueTransport(board_, rank));
    one.comm.context = 8;
    one.comm.rank = rank;
    one.comm.size = plan_.ranks;
  }

  Plan plan_;
  int32_t unfinished_ = 0;  // ranks that live and wait for what they sent
  core::World* before_ = core::world;
  Switchboard board_;
  std::vector<std::unique_ptr<Rank>> ranks_;
};

}  // namespace weft::test
