// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Windows of core, in a job of one rank: the memory of a window of very many ranks, the names of windows, the lock
// that operations take or do not take, and the lanes of threads.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "core/lane/counters.hpp"
#include "core/lane/lane.hpp"
#include "core/message/handler.hpp"
#include "core/peer/peer.hpp"
#include "core/rma/names.hpp"
#include "core/rma/outbox.hpp"
#include "core/rma/window.hpp"
#include "core/rma/wire.hpp"
#include "core/runtime/world.hpp"
#include "core/thread/thread.hpp"
#include "core/thread/waits.hpp"

namespace weft::core::rma {
namespace {

using std::chrono::milliseconds;

class Windows : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("WEFT_LANES", "4", 1);
    core::start(true, [] { return uint64_t{1}; });
  }
  static void TearDownTestSuite() { core::stop(); }
  void TearDown() override { threads->design = Design::hot; }
};

// A window of `size` ranks, of which we are the first and the only one on this host. Each has 64 bytes.
class Made {
 public:
  explicit Made(int32_t size, uint32_t context = 64) {
    comm_.context = context;
    comm_.size = size;
    window_.comm = &comm_;
    window_.bytes = 64;
    WindowPart part{};
    prepare(window_, Flavor::allocate, part);
    EXPECT_EQ(part.error, no_error);
    open(window_, {0}, {part}, part.generation);
  }
  ~Made() { close(window_); }
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;

  Window& operator*() { return window_; }
  Window* operator->() { return &window_; }

 private:
  Comm comm_;
  Window window_;
};

Type bytes() {
  Type type;
  type.contiguous = type.predefined = type.committed = true;
  type.size = type.extent = type.true_extent = 1;
  return type;
}

int32_t put_word(Window& window, uint64_t value) {
  static Type type = bytes();
  return put(window, {&value, 8, &type, 8}, {{8, 8, &type}, 0}, nullptr);
}

// Pages of the targets that take memory.
size_t pages_held(const Window& window) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t bytes = static_cast<size_t>(window.size) * sizeof(Target);
  std::vector<unsigned char> held((bytes + page - 1) / page);
  EXPECT_EQ(mincore(window.targets, bytes, held.data()), 0);
  size_t count = 0;
  for (const unsigned char one : held) count += one & 1U;
  return count;
}

TEST_F(Windows, TakeNothingForRanksThatAreNotContacted) {
  Made window(700000);
  EXPECT_LE(pages_held(*window), 1U);
  for (int epoch = 0; epoch < 2; ++epoch) {  // nor do epochs
    ASSERT_EQ(end_fence(*window), no_error);
    begin_fence(*window, true);
    ASSERT_EQ(put_word(*window, 7), no_error);
  }
  ASSERT_EQ(end_fence(*window), no_error);
  begin_fence(*window, false);
  ASSERT_EQ(lock_all(*window, true), no_error);
  ASSERT_EQ(put_word(*window, 8), no_error);
  ASSERT_EQ(flush_all(*window, false), no_error);
  ASSERT_EQ(unlock_all(*window), no_error);
  EXPECT_LE(pages_held(*window), 1U);
  EXPECT_EQ(reinterpret_cast<uint64_t*>(window->base)[1], 8U);
}

TEST_F(Windows, HaveNamesThatNoOtherHad) {
  uint32_t generation = 0;
  {
    Made window(1);
    generation = window->generation;
    EXPECT_EQ(find_window(64, generation), &*window);
    EXPECT_EQ(find_window(64, generation + 1), nullptr);
    EXPECT_EQ(find_window(66, generation), nullptr);
  }
  EXPECT_EQ(find_window(64, generation), nullptr);
  Made again(1);
  EXPECT_GT(again->generation, generation);
  EXPECT_EQ(find_window(64, generation), nullptr);
}

// A frame of one record, or an answer, as a peer would send it.
template <class... Parts>
void arrive_on(uint32_t lane, uint8_t kind, const Parts&... parts) {
  std::vector<char> message;
  (message.insert(message.end(), reinterpret_cast<const char*>(&parts), reinterpret_cast<const char*>(&parts + 1)),
   ...);
  LaneGuard guard(lanes->all[lane]);
  on_arrival({kind, {0, 0, 0, lane}, message.data(), static_cast<uint32_t>(message.size()), 0});
}
template <class... Parts>
void arrive(uint8_t kind, const Parts&... parts) {
  arrive_on(0, kind, parts...);
}

Record put_record(uint64_t offset, uint32_t bytes) {
  Record record{};
  record.action = Action::put;
  record.offset = offset;
  record.bytes = bytes;
  return record;
}

TEST_F(Windows, DropFramesAndAnswersForWhatIsGone) {
  Made window(1);
  const uint64_t before = counters().stale;
  const uint64_t value = 5;
  const Record record = put_record(0, 8);
  constexpr uint32_t bytes = sizeof record + sizeof value;
  arrive(wire::records, Frame{64, window->generation + 1, 0, bytes}, record, value);
  arrive(wire::answers, Answer{0x1234567800000000, 0, 0, 0});
  EXPECT_EQ(counters().stale, before + 2);
  EXPECT_EQ(*reinterpret_cast<uint64_t*>(window->base), 0U);
  arrive(wire::records, Frame{64, window->generation, 0, bytes}, record, value);
  EXPECT_EQ(*reinterpret_cast<uint64_t*>(window->base), value);
  EXPECT_EQ(counters().stale, before + 2);
}

struct Counted : Awaited {
  Counted()
      : Awaited([](Awaited& awaited, const Answer&, const char*) {
          ++static_cast<Counted&>(awaited).answers;
          return true;
        }) {}
  int answers = 0;
};

TEST_F(Windows, HearAnswersByTheLaneThatAskedAlone) {
  Counted counted;
  const uint64_t cookie = cookie_of(counted, 2);
  const uint64_t before = counters().stale;
  arrive_on(1, wire::answers, Answer{cookie, 0, 0, 0});
  EXPECT_EQ(counted.answers, 0);
  EXPECT_EQ(counters().stale, before + 1);
  arrive_on(2, wire::answers, Answer{cookie, 0, 0, 0});
  EXPECT_EQ(counted.answers, 1);
  arrive_on(2, wire::answers, Answer{cookie, 0, 0, 0});  // a second one comes too late
  EXPECT_EQ(counted.answers, 1);
  EXPECT_EQ(counters().stale, before + 2);
}

// The lane by which another thread updates rank 0.
uint32_t lane_of_another(Window& window) {
  uint32_t lane = 0;
  std::thread([&] { lane = InOrder(window, 0).box.lane; }).join();
  return lane;
}

TEST_F(Windows, KeepUpdatesOnOneLaneWhileSomeAreUnderWay) {
  Made window(1);
  const uint32_t mine = box_of(*window, 0).lane;
  uint32_t theirs = mine;
  std::thread([&] { theirs = box_of(*window, 0).lane; }).join();
  ASSERT_NE(theirs, mine);
  {
    const InOrder first(*window, 0);
    EXPECT_EQ(first.box.lane, mine);
    EXPECT_EQ(lane_of_another(*window), mine);  // ours is being added
  }
  LaneBox& box = box_of(*window, 0);
  box.added = 1;
  EXPECT_EQ(lane_of_another(*window), mine);  // it is not known to be done
  box.settle(1);
  EXPECT_EQ(lane_of_another(*window), theirs);
  EXPECT_EQ(lane_of_another(*window), theirs);
  EXPECT_EQ(InOrder(*window, 0).box.lane, mine);
}

// A put, a flush, and a get of the calling thread, by messages.
void go_by_messages(Window& window, uint64_t value) {
  Record put = put_record(8, 8);
  box_of(window, 0).add(put, nullptr, {nullptr, 0, &value}, 8, Leave::later);
  EXPECT_EQ(flush(window, 0, false), no_error);
  EXPECT_EQ(reinterpret_cast<uint64_t*>(window.base)[1], value);
}

// It settles the number as another thread's flush does.
struct Settles : Awaited {
  explicit Settles(LaneBox& of)
      : Awaited([](Awaited& awaited, const Answer&, const char*) {
          auto& self = static_cast<Settles&>(awaited);
          self.box.settle(self.number);
          return true;
        }),
        box(of) {}
  LaneBox& box;
};

// A flush completes what another thread has put, too: behind an answer that it asks for, or that the thread has asked
// for.
TEST_F(Windows, CompleteRecordsOfOtherThreadsInAFlush) {
  Made window(1);
  ASSERT_EQ(lock_all(*window, true), no_error);
  ASSERT_EQ(put_word(*window, 1), no_error);
  go_by_messages(*window, 2);
  LaneBox& mine = box_of(*window, 0);
  LaneBox* theirs = nullptr;
  std::thread([&] {
    go_by_messages(*window, 3);
    theirs = &box_of(*window, 0);
  }).join();
  ASSERT_NE(theirs->lane, mine.lane);
  const auto put_by = [](LaneBox& box, uint64_t offset, uint64_t value) {
    box.add(put_record(offset, 8), nullptr, {nullptr, 0, &value}, 8, Leave::later);
  };
  Settles others_flush(*theirs);
  for (const bool asked : {false, true}) {
    const uint64_t value = asked ? 5 : 4;
    put_by(*theirs, 16, value);
    if (asked) {
      Record record{};
      record.action = Action::flush;
      record.cookie = cookie_of(others_flush, theirs->lane);
      theirs->add(record, Leave::later);
    }
    put_by(mine, 24, value + 10);
    EXPECT_EQ(flush(*window, 0, false), no_error);
    EXPECT_TRUE(theirs->is_settled());
    EXPECT_EQ(reinterpret_cast<uint64_t*>(window->base)[2], value);
    EXPECT_EQ(reinterpret_cast<uint64_t*>(window->base)[3], value + 10);
  }
  ASSERT_EQ(unlock_all(*window), no_error);
}

// Another thread's operations go on while this one holds every lock that is not of that thread's lane.
TEST_F(Windows, ShareNoLockBetweenThreadsByMessages) {
  Made window(1);
  ASSERT_EQ(lock_all(*window, true), no_error);
  ASSERT_EQ(put_word(*window, 1), no_error);
  go_by_messages(*window, 2);
  LaneBox& mine = box_of(*window, 0);
  std::atomic<int> step = 0;
  const auto reach = [&](int wanted) {
    const auto until = std::chrono::steady_clock::now() + milliseconds(30000);
    while (step < wanted && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(milliseconds(1));
    return step >= wanted;
  };
  std::atomic<uint32_t> lane = 0;
  std::thread other([&] {
    go_by_messages(*window, 3);  // makes what is made on first use
    lane = box_of(*window, 0).lane;
    step = 1;
    while (step < 2) std::this_thread::yield();
    for (uint64_t i = 0; i < 1000; ++i) go_by_messages(*window, i);
    step = 3;
  });
  ASSERT_TRUE(reach(1));
  ASSERT_NE(lane, mine.lane);
  std::vector<base::Lock*> locks{&mine.lock,   &window->guard,       &window->closing,
                                 &waits->lock, &peers->connect_lock, &threads->lock};
  for (uint32_t i = 0; i < lanes->map.lanes(); ++i) {
    if (i == lane) continue;
    locks.push_back(&lanes->all[i].lock);
    locks.push_back(&peers->send_queues[i].lock);
  }
  for (base::Lock* lock : locks) lock->lock();
  step = 2;
  EXPECT_TRUE(reach(3));
  for (base::Lock* lock : locks) lock->unlock();
  other.join();
  ASSERT_EQ(unlock_all(*window), no_error);
}

TEST_F(Windows, BeginWithATargetWithoutALockOfTheWindow) {
  Made window(1);
  ASSERT_EQ(lock_all(*window, true), no_error);
  std::atomic<bool> done = false;
  window->closing.lock();
  window->guard.lock();
  std::thread other([&] {
    EXPECT_EQ(put_word(*window, 5), no_error);
    done = true;
  });
  const auto until = std::chrono::steady_clock::now() + milliseconds(30000);
  while (!done && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(milliseconds(1));
  EXPECT_TRUE(done);
  window->guard.unlock();
  window->closing.unlock();
  other.join();
  ASSERT_EQ(unlock_all(*window), no_error);
}

TEST_F(Windows, RefuseFramesThatReachBeyondThemselves) {
  Made window(1);
  const Frame frame{64, window->generation, 0, sizeof(Record) + 8};
  EXPECT_DEATH(arrive(wire::records, frame, put_record(0, 4096), uint64_t{0}), "a message for a window");
  Record pieces = put_record(0, 8);
  pieces.runs = UINT32_MAX;
  EXPECT_DEATH(arrive(wire::records, frame, pieces, uint64_t{0}), "a message for a window");
  // The pieces are longer together than the data.
  pieces.runs = 1;
  const Frame longer{64, window->generation, 0, sizeof(Record) + sizeof(rma::Run) + 8};
  EXPECT_DEATH(arrive(wire::records, longer, pieces, rma::Run{0, 16}, uint64_t{0}), "a message for a window");
  const Frame stranger{64, window->generation, 1, sizeof(Record) + 8};
  EXPECT_DEATH(arrive(wire::records, stranger, put_record(0, 8), uint64_t{0}), "a message for a window");
}

// Whether a put of another thread ends while lane 0 is held, for so long at most.
bool ends_while_held(Window& window, milliseconds patience) {
  std::atomic<bool> done = false;
  bool ended = false;
  std::thread other;
  {
    LaneGuard guard(lanes->all[0]);
    other = std::thread([&] {
      (void)put_word(window, 9);
      done = true;
    });
    const auto until = std::chrono::steady_clock::now() + patience;
    while (!done && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(milliseconds(1));
    ended = done;
  }
  other.join();
  return ended;
}

TEST_F(Windows, TakeTheOneLockOfTheGlobalDesign) {
  threads->design = Design::global;
  Made window(1);
  ASSERT_EQ(lock_all(*window, true), no_error);
  ASSERT_EQ(put_word(*window, 1), no_error);
  EXPECT_EQ(window->targets[0].direct.load(), nullptr);  // the inlined path is closed
  EXPECT_FALSE(ends_while_held(*window, milliseconds(200)));
  EXPECT_EQ(reinterpret_cast<uint64_t*>(window->base)[1], 9U);
  ASSERT_EQ(unlock_all(*window), no_error);
}

TEST_F(Windows, TakeNoLockOtherwise) {
  Made window(1);
  ASSERT_EQ(lock_all(*window, true), no_error);
  ASSERT_EQ(put_word(*window, 1), no_error);
  EXPECT_NE(window->targets[0].direct.load(), nullptr);
  EXPECT_TRUE(ends_while_held(*window, milliseconds(30000)));
  ASSERT_EQ(unlock_all(*window), no_error);
}

}  // namespace
}  // namespace weft::core::rma
