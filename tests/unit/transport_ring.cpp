// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The receive ring: under a scheduler that permutes interleavings, and with real threads.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <chrono>
#include <deque>
#include <list>
#include <memory>
#include <thread>

#include "schedule.hpp"
#include "transport/shm/ring.hpp"

namespace weft::transport::shm {
namespace {

using test::Memory;
using test::Random;
using test::Schedule;

constexpr uint8_t message_kind = 7;
constexpr uint8_t forged_kind = 9;  // no message has it: only what a message's data looks like

uint64_t hash(uint64_t a, uint64_t b) {
  return Random(a * 1000003 + b).next();
}

// The contents of message `sequence` of `writer`: all of it follows from the two numbers.
struct Content {
  Envelope envelope;
  uint32_t bytes;
  unsigned char data[8192];

  Content(int writer, int sequence, uint32_t most, uint32_t cells_log2) {
    const uint64_t h = hash(static_cast<uint64_t>(writer), static_cast<uint64_t>(sequence));
    bytes = static_cast<uint32_t>(h % 3 == 0 ? h / 3 % 9 : h / 3 % (most + 1));  // a third of them small
    envelope = {static_cast<uint32_t>(writer), sequence, static_cast<int32_t>(bytes), 0, h >> 11};
    for (uint32_t i = 0; i < bytes; ++i)
      data[i] = static_cast<unsigned char>(h >> (i % 8 * 8)) ^ static_cast<unsigned char>(i);
    // Where the words of the following cells will lie, the data pretends to be messages of this and the next laps.
    for (uint32_t i = inline_bytes; i + 8 <= bytes; i += cell_bytes) {
      const uint64_t forged = word_of((h + i) % (6u << cells_log2), forged_kind, 0);
      std::memcpy(data + i, &forged, sizeof forged);
    }
  }

  bool is(const Arrival& a) const {
    return a.kind == message_kind && a.bytes == bytes && std::memcmp(&a.envelope, &envelope, sizeof envelope) == 0 &&
           std::memcmp(a.data, data, bytes) == 0;
  }
};

// Writes as core sends: a small message at times by the inlined attempt first.
template <template <class> class Atomic>
Post write(RingWriter<Atomic>& writer, const Content& m) {
  if (m.bytes <= inline_bytes && m.envelope.stamp % 2 == 0) {
    uint64_t position;
    Cell<Atomic>* cell;
    if (writer.try_reserve(&cell, &position)) {
      writer.fill(cell, position, message_kind, m.envelope, m.data, m.bytes);
      return Post::done;
    }
  }
  return writer.write(message_kind, m.envelope, m.data, m.bytes);
}

template <template <class> class Atomic>
struct Ring {
  explicit Ring(uint32_t log2) : cells_log2(log2), cells(new Cell<Atomic>[size_t{1} << log2]()) {}
  uint32_t cells_log2;
  RingControl<Atomic> control{};
  std::unique_ptr<Cell<Atomic>[]> cells;
  RingWriter<Atomic> writer() { return {&control, cells.get(), cells_log2}; }
  RingReader<Atomic> reader() { return {&control, cells.get(), cells_log2}; }
};

// Returns the size of the largest message that always fits into a drained ring, whatever its pad.
constexpr uint32_t most_bytes(uint32_t cells_log2) {
  const uint32_t size = 1u << cells_log2;
  const uint32_t cells = (size - (size / 4 - 1) + 1) / 2;  // pad of cells - 1, and what the reader has not given back
  const uint32_t bytes = cells * cell_bytes - static_cast<uint32_t>(data_offset);
  return bytes < 200 ? bytes : 200;
}
static_assert(cells_for(most_bytes(3)) == 4 && most_bytes(5) == 200);

// The reader's record: each writer's messages in their order, whole, once.
struct Ledger {
  std::vector<int> next;
  uint32_t most;
  uint32_t cells_log2;
  bool right = true;
  int total = 0;

  void take(const Arrival& a) {
    const int writer = static_cast<int>(a.envelope.context);
    if (writer < 0 || writer >= static_cast<int>(next.size())) {
      right = false;
      return;
    }
    right = right && Content(writer, next[static_cast<size_t>(writer)]++, most, cells_log2).is(a);
    ++total;
  }
};

// The data in a cell are plain memory, of which weak orders are not seen. So each side says in a place of its own how
// far it is, and looks there how far the other must be by what the ring has told it: with weak memory it reads an old
// value unless the ring's own orders make that impossible.
struct Progress {
  explicit Progress(int writers) : written(static_cast<size_t>(writers)) {}
  std::deque<test::Atomic<uint64_t>> written;  // messages, by each writer, before it gives them to the ring
  test::Atomic<uint64_t> taken;                // cells of messages, by the reader, before it gives them back
};

struct Outcome {
  Schedule::Result result;
  bool right;
  int full;  // how often a writer found the ring full
};

// `shared`: all writers use one RingWriter, as threads of a process do.
Outcome play(uint64_t seed, Memory memory, int writers, int messages, uint32_t cells_log2, bool shared) {
  Ring<test::Atomic> ring(cells_log2);
  Ledger ledger{std::vector<int>(static_cast<size_t>(writers)), most_bytes(cells_log2), cells_log2};
  Schedule schedule(seed, memory);
  // Memory that threads store to must outlive their stacks: the stores may become visible later.
  RingWriter<test::Atomic> common = ring.writer();
  std::list<RingWriter<test::Atomic>> own;
  RingReader<test::Atomic> reader = ring.reader();
  Progress progress(writers);
  bool known = true;
  const uint64_t cells = uint64_t{1} << cells_log2;
  int full = 0;
  for (int w = 0; w < writers; ++w) {
    RingWriter<test::Atomic>& writer = shared ? common : own.emplace_back();
    if (!shared) writer.open(&ring.control, ring.cells.get(), cells_log2);
    schedule.add([&, w] {
      uint64_t used = 0;
      for (int i = 0; i < messages; ++i) {
        const Content m(w, i, ledger.most, cells_log2);
        used += cells_for(m.bytes);
        progress.written[static_cast<size_t>(w)].store(static_cast<uint64_t>(i) + 1, std::memory_order_relaxed);
        while (write(writer, m) == Post::retry) {
          ++full;
          Schedule::yield();
        }
        known = known && progress.taken.load(std::memory_order_relaxed) + cells >= used;
      }
    });
  }
  schedule.add([&] {
    uint64_t taken = 0;
    while (ledger.right && ledger.total < writers * messages) {
      const auto take = [&](const Arrival& a) {
        ledger.take(a);
        if (!ledger.right) return;
        const size_t writer = a.envelope.context;
        const auto count = static_cast<uint64_t>(ledger.next[writer]);
        known = known && progress.written[writer].load(std::memory_order_relaxed) >= count;
        taken += cells_for(a.bytes);
        progress.taken.store(taken, std::memory_order_relaxed);
      };
      if (!reader.read(take)) Schedule::yield();
    }
    for (int i = 0; i < 3; ++i) {  // nothing comes that nobody sent
      if (reader.read([&](const Arrival&) { ledger.right = false; })) break;
    }
  });
  const Schedule::Result result = schedule.run();
  return {result, known && ledger.right && ledger.total == writers * messages, full};
}

void play_all(Memory memory) {
#ifdef WEFT_TSAN
  GTEST_SKIP() << "one real thread: nothing for the thread sanitizer, which does not follow its changes of stack";
#endif
  int full = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    const int writers = 1 + static_cast<int>(seed % 3);
    const uint32_t cells_log2 = 3 + static_cast<uint32_t>(seed / 3 % 3);
    const bool shared = seed / 9 % 2 == 1;
    const Outcome outcome = play(seed, memory, writers, 25, cells_log2, shared);
    ASSERT_EQ(outcome.result, Schedule::Result::finished) << "seed " << seed;
    ASSERT_TRUE(outcome.right) << "seed " << seed;
    full += outcome.full;
  }
  EXPECT_GT(full, 1000) << "the rings were to be small enough to be full at times";
}

TEST(Ring, BringsEveryMessageOnceWholeAndInOrderUnderAnyInterleaving) {
  play_all(Memory::sequential);
}

TEST(Ring, BringsEveryMessageOnceWholeAndInOrderWithStoreBuffers) {
  play_all(Memory::store_buffers);
}

TEST(Ring, BringsEveryMessageOnceWholeAndInOrderWithWeakMemory) {
  play_all(Memory::weak);
}

// Orders that weak memory shows to two threads, and those that it does not: the tests with it can fail.
struct Seen {
  int stale = 0;  // the flag was there, and the data behind it were not
  int both = 0;   // each thread missed the other's store
};
Seen litmus(std::memory_order store, std::memory_order load) {
  Seen seen;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    test::Atomic<uint32_t> data, flag, one, other;
    uint32_t at_one = 1, at_other = 1, last = 0;
    bool stale = false;
    Schedule schedule(seed, Memory::weak);
    schedule.add([&] {
      for (uint32_t i = 1; i <= 3; ++i) data.store(i, std::memory_order_relaxed);
      flag.store(1, store);
      one.store(1, store);
      at_one = other.load(load);
    });
    schedule.add([&] {
      for (int i = 0; i < 3; ++i) {  // of one place nothing is read backwards
        const uint32_t now = data.load(std::memory_order_relaxed);
        EXPECT_GE(now, last);
        last = now;
      }
      if (flag.load(load) == 1) stale = data.load(std::memory_order_relaxed) != 3;
      other.store(1, store);
      at_other = one.load(load);
    });
    EXPECT_EQ(schedule.run(), Schedule::Result::finished);
    seen.stale += stale ? 1 : 0;
    seen.both += at_one == 0 && at_other == 0 ? 1 : 0;
  }
  return seen;
}

TEST(WeakMemory, ShowsWhatTheOrdersAllow) {
#ifdef WEFT_TSAN
  GTEST_SKIP();
#endif
  const Seen relaxed = litmus(std::memory_order_relaxed, std::memory_order_relaxed);
  EXPECT_GT(relaxed.stale, 0);
  EXPECT_GT(relaxed.both, 0);
  const Seen pairs = litmus(std::memory_order_release, std::memory_order_acquire);
  EXPECT_EQ(pairs.stale, 0);
  EXPECT_GT(pairs.both, 0);
  const Seen total = litmus(std::memory_order_seq_cst, std::memory_order_seq_cst);
  EXPECT_EQ(total.stale, 0);
  EXPECT_EQ(total.both, 0);
}

TEST(Ring, SaysFullAndGoesOnAfterDraining) {
  Ring<std::atomic> ring(4);
  auto writer = ring.writer();
  auto reader = ring.reader();
  const uint64_t value = 42;
  int sent = 0;
  int seen = 0;
  for (int round = 0; round < 100; ++round) {
    int now = 0;
    while (writer.write(message_kind, {0, sent, 0, 0}, &value, sizeof value) == Post::done) {
      ++sent;
      ++now;
      ASSERT_LE(now, 16);
    }
    EXPECT_GE(now, 13) << "at most a quarter less one is not given back";
    while (reader.read([&](const Arrival& a) { EXPECT_EQ(a.envelope.source, seen++); })) {
    }
    EXPECT_TRUE(reader.empty());
    EXPECT_EQ(seen, sent);
  }
}

// A writer fills cells with anything: the reader looks at the ring and at the memory promised behind it, no further,
// and writes into the ring alone. Behind that is memory that nobody may touch.
TEST(Ring, GarbageStaysInsideIt) {
  constexpr uint32_t cells_log2 = 9;
  constexpr size_t ring_bytes = cell_bytes << cells_log2;
  constexpr size_t page = 4096;
  static_assert(garbage_bytes <= 4 * page && ring_bytes % page == 0);
  auto* const memory = static_cast<unsigned char*>(
      mmap(nullptr, ring_bytes + 5 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  ASSERT_EQ(mprotect(memory + ring_bytes, 4 * page, PROT_READ), 0);
  ASSERT_EQ(mprotect(memory + ring_bytes + 4 * page, page, PROT_NONE), 0);
  auto* const cells = reinterpret_cast<Cell<>*>(memory);
  RingControl<> control{};
  Random random(1);
  RingReader<> reader(&control, cells, cells_log2);
  uint64_t came = 0;
  uint64_t looked_at = 0;
  for (int round = 0; round < 300000; ++round) {
    const uint64_t head = reader.head();
    Cell<>* const cell = cells + (head & ((1U << cells_log2) - 1));
    const uint64_t word = random.next();
    const uint64_t named = random.below(16) == 0 ? word : (word & ~uint64_t{0xffffff}) | name_of(head);
    cell->word.store(random.below(8) == 0 ? (named & ~uint64_t{0x1f000000}) | uint64_t{pad_kind} << 24 : named);
    (void)reader.read([&](const Arrival& a) {
      ++came;
      const auto* data = static_cast<const unsigned char*>(a.data);
      looked_at += a.bytes == 0 ? 0 : uint64_t{data[0]} + data[a.bytes - 1] + 1;
    });
    EXPECT_LE(control.head.load(), reader.head());
  }
  EXPECT_GT(came, 200000U);
  EXPECT_GT(looked_at, 0U);
  munmap(memory, ring_bytes + 5 * page);
}

TEST(Ring, TakesMessagesOfEverySize) {
  Ring<std::atomic> ring(11);
  auto writer = ring.writer();
  auto reader = ring.reader();
  std::vector<unsigned char> data(mailbox_limit(1));
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<unsigned char>(i * 7 + i / 256);
  for (uint32_t bytes = 0; bytes <= mailbox_limit(1); ++bytes) {
    ASSERT_EQ(writer.write(message_kind, {1, 2, 3, 0, bytes}, data.data(), bytes), Post::done);
    bool came = reader.read([&](const Arrival& a) {
      EXPECT_EQ(a.bytes, bytes);
      EXPECT_EQ(a.envelope.stamp, bytes);
      EXPECT_EQ(std::memcmp(a.data, data.data(), bytes), 0) << bytes;
    });
    ASSERT_TRUE(came);
    ASSERT_FALSE(reader.read([](const Arrival&) {}));
  }
}

// Real threads: races that the scheduler cannot show, on the machine's own memory, and the thread sanitizer's. The ring
// is small, and each time that it is full or empty costs a turn of all that runs on the machine: a busy one does less.
void race(bool shared) {
#ifdef WEFT_TSAN
  constexpr int messages = 20000;
#else
  constexpr int messages = 100000;
#endif
  constexpr int writers = 3;
  constexpr uint32_t cells_log2 = 6;
  Ring<std::atomic> ring(cells_log2);
  RingWriter<> common = ring.writer();
  std::vector<std::thread> threads;
  std::atomic<bool> enough = false;
  std::atomic<bool> stop = false;
  std::atomic<int> written = 0;  // by the writers that have ended
  std::atomic<int> writing = writers;
  for (int w = 0; w < writers; ++w) {
    threads.emplace_back([&, w] {
      RingWriter<> own = ring.writer();
      RingWriter<>& writer = shared ? common : own;
      int i = 0;
      for (; i < messages && !enough; ++i) {
        const Content m(w, i, 200, cells_log2);
        while (!stop && write(writer, m) == Post::retry) std::this_thread::yield();
      }
      written += i;
      --writing;
    });
  }
  Ledger ledger{std::vector<int>(writers), 200, cells_log2};
  RingReader<> reader = ring.reader();
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  int idle = 0;
  while (ledger.right && (writing != 0 || ledger.total < written) && idle < 10000000) {
    if (reader.read([&](const Arrival& a) { ledger.take(a); })) {
      idle = 0;
    } else {
      ++idle;
      std::this_thread::yield();
      enough = enough || std::chrono::steady_clock::now() > until;
    }
  }
  stop = true;
  for (auto& thread : threads) thread.join();
  EXPECT_TRUE(ledger.right);
  EXPECT_EQ(ledger.total, written);
  EXPECT_TRUE(enough || written == writers * messages);
}

TEST(Ring, KeepsItsPromisesBetweenRealThreads) {
  race(false);
}

TEST(Ring, KeepsItsPromisesWhenThreadsShareAWriter) {
  race(true);
}

// ---- sleeping. A model of arm(), sleep() and the sender's look at `attention`, with the ring's publication word.

struct SleepModel {
  test::Atomic<uint64_t> word;
  test::Atomic<uint32_t> attention;
  bool fences = true;

  static constexpr uint32_t asleep = 1;

  void send(uint64_t value) {
    word.store(value, std::memory_order_release);
    if (attention.load(std::memory_order_relaxed) & asleep) {
      if (attention.fetch_and(~asleep, std::memory_order_acq_rel) & asleep) Schedule::wake(&attention);
    }
  }
  void receive(uint64_t value) {
    for (int polls = 0; word.load(std::memory_order_acquire) < value;) {
      if (++polls < 2) continue;
      attention.fetch_or(asleep, std::memory_order_seq_cst);
      if (fences) Schedule::fence_all();
      if (word.load(std::memory_order_acquire) < value && (attention.load(std::memory_order_relaxed) & asleep)) {
        Schedule::sleep_if(&attention, [this] { return (attention.visible() & asleep) != 0; });
      }
      attention.fetch_and(~asleep, std::memory_order_relaxed);
      polls = 0;
    }
  }
};

int lost_wakeups(Memory memory, bool fences) {
  int lost = 0;
  for (uint64_t seed = 0; seed < 5000; ++seed) {
    SleepModel model;
    model.fences = fences;
    SleepModel back;
    back.fences = fences;
    Schedule schedule(seed, memory);
    constexpr uint64_t rounds = 3;  // there and back: both sleep and both send
    schedule.add([&] {
      for (uint64_t i = 1; i <= rounds; ++i) {
        model.send(i);
        back.receive(i);
      }
      model.send(rounds + 1);
    });
    schedule.add([&] {
      for (uint64_t i = 1; i <= rounds; ++i) {
        model.receive(i);
        back.send(i);
      }
      model.receive(rounds + 1);
    });
    lost += schedule.run() != Schedule::Result::finished;
  }
  return lost;
}

TEST(Sleep, LosesNoWakeUp) {
#ifdef WEFT_TSAN
  GTEST_SKIP();
#endif
  EXPECT_EQ(lost_wakeups(Memory::sequential, true), 0);
  EXPECT_EQ(lost_wakeups(Memory::store_buffers, true), 0);
  EXPECT_EQ(lost_wakeups(Memory::weak, true), 0);
}

// The membarrier is what stands in for a fence in the sender; the model must see what is lost without it.
TEST(Sleep, ModelLosesWakeUpsWithoutTheFence) {
#ifdef WEFT_TSAN
  GTEST_SKIP();
#endif
  EXPECT_GT(lost_wakeups(Memory::store_buffers, false), 0);
  EXPECT_GT(lost_wakeups(Memory::weak, false), 0);
}

}  // namespace
}  // namespace weft::transport::shm
