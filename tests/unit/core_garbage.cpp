// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Messages of a rank that writes garbage: each is taken, dropped, or ends the job with a message. None is followed to
// memory that is not there; the address sanitizer looks on. TEST_ROUNDS sets how many.
#include <gtest/gtest.h>

#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "core/object/failure.hpp"
#include "core/peer/peer.hpp"
#include "core/peer/request_number.hpp"
#include "core/protocol/pending.hpp"
#include "core/protocol/wire.hpp"
#include "core/rma/create.hpp"
#include "core/rma/outbox.hpp"
#include "core/rma/window.hpp"
#include "core/rma/wire.hpp"
#include "core_messages.hpp"

// A handler that is jumped out of leaves its memory behind.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0:allocator_may_return_null=1";
}

namespace weft::core {
namespace {

using test::Random;
using test::Ranks;

jmp_buf out;
uint64_t refused = 0;

void jump_out(const base::Problem& /*problem*/) {
  ++refused;
  longjmp(out, 1);
}

uint64_t rounds() {
  const char* said = getenv("TEST_ROUNDS");
  return said != nullptr ? strtoull(said, nullptr, 10) : 1000000;
}

// A rank with receives posted and sends announced, and messages made for it.
class Target {
 public:
  Target(Comm& comm, transport::Transport& peers, uint64_t seed) : comm_(comm), peers_(peers), random_(seed) {
    for (int i = 0; i < 4; ++i) {
      data_.emplace_back(i % 2 == 0 ? 20000 : 100);
      Request& r = *new_request(comm_, Role::send);
      r.mode = Mode::synchronous;
      set_buffer(r, data_.back().data(), static_cast<int64_t>(data_.back().size()), byte_type());
      start_send(r, comm_.context, 1, i);
      sends_.push_back(&r);
    }
  }

  void post_receives() {
    for (auto& [request, room] : receives_) {
      if (request != nullptr && !is_done(*request)) continue;
      if (request != nullptr) free_request(request);
      room.assign(64 << random_.below(8), 0);
      request = new_request(comm_, Role::receive);
      set_buffer(*request, room.data(), static_cast<int64_t>(room.size()), byte_type());
      start_receive(*request, comm_.context, random_.below(2) == 0 ? 1 : any_source,
                    random_.below(2) == 0 ? any_tag : static_cast<int32_t>(random_.below(3)));
    }
  }

  void arrive() {
    const auto kind = static_cast<uint8_t>(random_.below(16) == 0 ? random_.below(256) : 1 + random_.below(15));
    std::vector<unsigned char> body = contents(kind);
    if (random_.below(8) == 0) body.resize(random_.below(200));
    const transport::Envelope envelope{random_.below(8) == 0 ? word32() : comm_.context,
                                       random_.below(8) == 0 ? static_cast<int32_t>(word32()) : 1,
                                       static_cast<int32_t>(random_.below(8) == 0 ? word32() : random_.below(3)), 0, 0};
    transport::PushDestination room;
    const bool pushed = random_.below(16) == 0 ? kind != wire::pushed : kind == wire::pushed;
    const void* data = pushed ? static_cast<const void*>(&room) : body.data();
    on_arrival({kind, envelope, data, static_cast<uint32_t>(body.size()), 1, pushed});
    if (room.read == nullptr) return;
    if (room.bytes != 0) std::memset(room.to, 1, room.bytes);
    room.read->over(*room.read, 0);
  }

 private:
  uint32_t word32() { return static_cast<uint32_t>(random_.next()); }
  // Small, near a limit, or anything.
  uint64_t number() {
    switch (random_.below(4)) {
      case 0:
        return random_.below(300);
      case 1:
        return (uint64_t{1} << random_.below(17)) - 1 + random_.below(3);
      case 2:
        return ~uint64_t{0} - random_.below(300);
      default:
        return uint64_t{1} << 46 | random_.next();
    }
  }
  // The number of a send of ours, as it is now or was, or of a stream that may be open.
  uint64_t send_number() {
    const uint64_t right = number_of(*sends_[random_.below(sends_.size())]);
    switch (random_.below(4)) {
      case 0:
        return number();
      case 1:
        return right + (random_.below(3) << 32);
      case 2:
        return random_.below(3);
      default:
        return right;
    }
  }
  // Returns a handle of the sender's staging memory, or at times any number.
  uint64_t handle() {
    if (random_.below(8) == 0) return number();
    const transport::Staging fresh = peers_.reserve_staging(300);
    if (fresh.memory != nullptr) last_handle_ = fresh.handle;
    return last_handle_;
  }
  int32_t rank() { return random_.below(8) == 0 ? static_cast<int32_t>(number()) : 1; }
  uint32_t lane() { return random_.below(8) == 0 ? word32() : 0; }

  template <class Payload>
  static std::vector<unsigned char> bytes_of(const Payload& payload, size_t more = 0) {
    std::vector<unsigned char> bytes(sizeof payload + more);
    std::memcpy(bytes.data(), &payload, sizeof payload);
    return bytes;
  }

  std::vector<unsigned char> contents(uint8_t kind) {
    const transport::MemoryRef memory{number(), random_.below(2) == 0 ? transport::MemoryRef::no_key : number()};
    switch (kind) {
      case wire::eager_sync:
        return bytes_of(wire::Sync{send_number(), rank(), lane()}, random_.below(300));
      case wire::buffered:
        return bytes_of(wire::Buffered{handle(), number(), rank(), 0});
      case wire::rts:
      case wire::rts_stream:
        return bytes_of(wire::Rts{send_number(), number(), memory, rank(), static_cast<uint16_t>(random_.below(3)),
                                  static_cast<uint16_t>(lane())});
      case wire::cts:
        return bytes_of(wire::Cts{send_number(), number(), memory, lane(), 0});
      case wire::chunk:
        return bytes_of(wire::Chunk{send_number(), number(), handle(), static_cast<uint32_t>(number()), rank()});
      case wire::fin:
        return bytes_of(wire::Fin{send_number()});
      case wire::help:
        return bytes_of(wire::Help{send_number(), number(), number(), number(), static_cast<uint8_t>(random_.below(80)),
                                   static_cast<uint8_t>(random_.below(2)), static_cast<uint16_t>(lane()), word32(),
                                   static_cast<uint32_t>(number()), rank()});
      case wire::helped:
        return bytes_of(wire::Helped{random_.below(8), static_cast<uint32_t>(random_.below(2)), 0});
      case wire::recall:
        return bytes_of(wire::Recall{send_number(), rank(), lane()});
      case wire::recalled:
        return bytes_of(wire::Recalled{send_number(), static_cast<uint32_t>(random_.below(2)), 0});
      default:
        break;
    }
    std::vector<unsigned char> any(random_.below(500));
    for (unsigned char& byte : any) byte = static_cast<unsigned char>(random_.next());
    return any;
  }

  Comm& comm_;
  transport::Transport& peers_;  // the sender's
  uint64_t last_handle_ = 0;
  Random random_;
  std::vector<std::vector<unsigned char>> data_;
  std::vector<Request*> sends_;
  std::pair<Request*, std::vector<unsigned char>> receives_[4];
};

// The loop around setjmp keeps nothing in registers.
[[gnu::noinline]] void arrive_or_be_refused(Target& target) {
  if (setjmp(out) == 0) target.arrive();
}

TEST(GarbageForWindows, OfAPeerIsTakenDroppedOrRefused) {
  constexpr uint64_t messages = 1000;  // then a new world: most of them are kept as unexpected
  uint64_t taken = 0;
  refused = 0;
  for (uint64_t seed = 1; seed <= (rounds() + messages - 1) / messages; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Ranks ranks({.seed = seed, .wire = {.room = 1 << 20, .memory = false}});
    core::enter(&ranks.world(0));
    Target target(ranks.comm(0), ranks.world(1).peers.transports.to(0), seed);
    set_end(jump_out);
    for (uint64_t i = 0; i < messages; ++i, ++taken) {
      target.post_receives();
      arrive_or_be_refused(target);
      (void)progress();
    }
    set_end(nullptr);
    (void)end_pending(core::peers->of(1), 1);
  }
  EXPECT_GT(refused, taken / 20);
  EXPECT_LT(refused, taken);
}

// A window of this process alone, of 256 bytes, and frames of records and answers made for it.
class Garbage : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    core::start(false, [] { return uint64_t{1}; });
  }
  static void TearDownTestSuite() { core::stop(); }

  void open(rma::Flavor flavor) {
    comm_.context = 64;
    comm_.size = 1;
    window_.comm = &comm_;
    window_.bytes = 256;
    rma::WindowPart part{};
    rma::prepare(window_, flavor, part);
    ASSERT_EQ(part.error, no_error);
    rma::open(window_, {0}, {part}, part.generation);
    if (flavor == rma::Flavor::dynamic) {
      ASSERT_EQ(rma::attach(window_, attached_.data(), attached_.size(), false), no_error);
    }
  }

  uint64_t offset() {
    const uint64_t first = window_.flavor == rma::Flavor::dynamic ? reinterpret_cast<uint64_t>(attached_.data()) : 0;
    return first + (random_.below(8) == 0 ? random_.next() : random_.below(272));
  }

  // Most are sound in most of what they say.
  std::vector<char> records() {
    std::vector<char> all;
    for (uint64_t count = 1 + random_.below(3); count != 0; --count) {
      rma::Record record{};
      record.action = static_cast<rma::Action>(random_.below(16));
      record.offset = offset();
      record.cookie = random_.below(2) == 0 ? 0 : uint64_t{1} << 32 | random_.below(3);
      // A tag of transfers: data that one gives are not those that another takes, as both are ours.
      record.position = random_.below(64) + (record.action == rma::Action::give ? 100 : 0);
      record.bytes = static_cast<uint32_t>(random_.below(16) == 0 ? random_.next() : 4 * random_.below(70));
      record.element = static_cast<uint8_t>(random_.below(70));
      record.value = static_cast<uint8_t>(random_.below(8) == 0 ? random_.below(70) : 0);
      record.index = record.value;
      record.reduction = static_cast<uint8_t>(random_.below(16));
      const uint64_t runs = record.action <= rma::Action::compare && random_.below(2) == 0 ? random_.below(4) : 0;
      record.runs = static_cast<uint32_t>(random_.below(32) == 0 ? random_.next() : runs);
      append(all, record);
      uint64_t left = record.bytes;
      for (uint64_t i = 0; i < runs; ++i) {
        const uint64_t bytes = i + 1 == runs ? left : random_.below(left + 1);
        append(all, rma::Run{offset(), random_.below(16) == 0 ? random_.next() : bytes});
        left -= bytes;
      }
      if (record.bytes < 8192) all.resize(all.size() + (random_.below(4) + 1) / 2 * rma::padded(record.bytes));
    }
    return all;
  }

  void arrive() {
    std::vector<char> message;
    const bool answers = random_.below(4) == 0;
    if (answers) {
      append(message, rma::Answer{uint64_t{1} << 32 | random_.below(20), random_.below(80),
                                  static_cast<uint32_t>(random_.below(100)),
                                  random_.below(8) == 0 ? static_cast<int32_t>(random_.next()) : 0});
      message.resize(message.size() + random_.below(120));
    } else {
      const std::vector<char> all = records();
      const uint64_t said = random_.below(16) == 0 ? random_.next() : all.size();
      append(message, rma::Frame{64, window_.generation, random_.below(16) == 0 ? 1 : 0, static_cast<uint32_t>(said)});
      message.insert(message.end(), all.begin(), all.end());
    }
    on_arrival({answers ? rma::wire::answers : rma::wire::records,
                {},
                message.data(),
                static_cast<uint32_t>(message.size()),
                0});
  }

  [[gnu::noinline]] void arrive_or_be_refused() {
    if (setjmp(out) == 0) arrive();
  }

  void expect_none_hurts(rma::Flavor flavor) {
    open(flavor);
    if (HasFatalFailure()) return;
    refused = 0;
    const uint64_t all = rounds() / 4;
    set_end(jump_out);
    for (uint64_t i = 0; i < all; ++i) arrive_or_be_refused();
    set_end(nullptr);
    EXPECT_GT(refused, all / 20);
    EXPECT_LT(refused, all);
    rma::close(window_);
  }

 private:
  template <class Part>
  static void append(std::vector<char>& to, const Part& part) {
    to.insert(to.end(), reinterpret_cast<const char*>(&part), reinterpret_cast<const char*>(&part + 1));
  }

  Random random_{1};
  Comm comm_;
  rma::Window window_;
  std::vector<char> attached_ = std::vector<char>(256);
};

TEST_F(Garbage, GarbageIsTakenDroppedOrRefused) {
  expect_none_hurts(rma::Flavor::allocate);
}

TEST_F(Garbage, GarbageIsTakenDroppedOrRefusedByDynamicWindows) {
  expect_none_hurts(rma::Flavor::dynamic);
}

}  // namespace
}  // namespace weft::core
