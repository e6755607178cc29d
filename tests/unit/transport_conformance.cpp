// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The promises of every transport (transport/api), checked for each of them.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "transport/mock/transport.hpp"
#include "transport/self/transport.hpp"
#include "transport/shm/transport.hpp"

namespace weft::transport {
namespace {

using Clock = std::chrono::steady_clock;

struct Seen {
  uint8_t kind;
  Envelope envelope;
  std::vector<unsigned char> data;
};

// A sink is a plain function: its arrivals go here.
std::vector<Seen> seen;

void record(const Arrival& a) {
  const auto* data = static_cast<const unsigned char*>(a.data);
  seen.push_back({a.kind, a.envelope, {data, data + a.bytes}});
}

std::vector<unsigned char> pattern(size_t bytes, uint64_t salt) {
  std::vector<unsigned char> data(bytes);
  for (size_t i = 0; i < bytes; ++i) data[i] = static_cast<unsigned char>((i * 31 + i / 251 + salt * 17) ^ (salt >> 8));
  return data;
}

// A sender and a receiver of one transport; for `self` they are one.
struct Pair {
  virtual ~Pair() = default;
  virtual Transport& sender() = 0;
  virtual Transport& receiver() = 0;
  virtual Endpoint& way() = 0;                      // from the sender to the receiver
  virtual Endpoint& back() = 0;                     // from the receiver to the sender
  virtual void* shared(size_t) { return nullptr; }  // the sender's memory that the receiver maps
};

struct SelfPair final : Pair {
  self::SelfTransport transport{record};
  Transport& sender() override { return transport; }
  Transport& receiver() override { return transport; }
  Endpoint& way() override { return *transport.connect(0); }
  Endpoint& back() override { return *transport.connect(0); }
};

struct ShmPair final : Pair {
  explicit ShmPair(const mock::MockPlan* plan) {
    fd = memfd_create("weft-test", MFD_CLOEXEC);
    EXPECT_EQ(ftruncate(fd, static_cast<off_t>(shm::segment_bytes(2))), 0);
    for (int rank : {0, 1}) {
      shared_memory[rank] = std::make_unique<shm::ShmTransport>(rank, 2, fd);
      mocked[rank].reset(plan != nullptr ? mock::wrap(shared_memory[rank].get(), *plan) : nullptr);
    }
    ways[0] = of(0).connect(1);
    ways[1] = of(1).connect(0);
  }
  ~ShmPair() override {
    for (int rank : {0, 1}) {
      mocked[rank].reset();
      shared_memory[rank].reset();
    }
    close(fd);
  }
  Transport& of(int rank) { return mocked[rank] ? *mocked[rank] : static_cast<Transport&>(*shared_memory[rank]); }
  Transport& sender() override { return of(0); }
  Transport& receiver() override { return of(1); }
  Endpoint& way() override { return *ways[0]; }
  Endpoint& back() override { return *ways[1]; }
  void* shared(size_t bytes) override { return shared_memory[0]->allocate(bytes, 1); }

  int fd = -1;
  std::unique_ptr<shm::ShmTransport> shared_memory[2];
  std::unique_ptr<Transport> mocked[2];
  Endpoint* ways[2];
};

struct Kind {
  const char* name;
  bool direct;   // peers reach each other's memory
  bool bounded;  // the way can be full
  bool sleeps;
  const char* plan;  // of a mock in front, or nullptr
};

void PrintTo(const Kind& kind, std::ostream* out) {
  *out << kind.name;
}

class Conformance : public ::testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    seen.clear();
    if (std::string(GetParam().name) == "self") {
      pair = std::make_unique<SelfPair>();
    } else if (GetParam().plan != nullptr) {
      ASSERT_EQ(mock::parse(GetParam().plan, plan), "");
      pair = std::make_unique<ShmPair>(&plan);
    } else {
      pair = std::make_unique<ShmPair>(nullptr);
    }
  }

  void poll(int times = 8) {
    for (int i = 0; i < times; ++i) (void)pair->receiver().poll(0, record);
  }

  // Sends, making the receiver take what is there whenever the way is full.
  void send(uint8_t kind, const Envelope& envelope, const void* data, uint32_t bytes) {
    for (int tried = 0; pair->way().send(kind, envelope, data, bytes) == Post::retry; ++tried) {
      ASSERT_LT(tried, 100) << "the way stays full though the receiver polls";
      poll();
    }
  }

  mock::MockPlan plan;
  std::unique_ptr<Pair> pair;
};

TEST_P(Conformance, BringsMessagesWholeAndInOrder) {
  for (int i = 0; i < 5000; ++i) {
    const auto bytes = static_cast<size_t>(i * 37 % 500);
    const auto data = pattern(bytes, static_cast<uint64_t>(i));
    send(static_cast<uint8_t>(1 + i % 9), {1, i, -i, 0, 99}, data.data(), static_cast<uint32_t>(bytes));
  }
  poll(5000);
  ASSERT_EQ(seen.size(), 5000u);
  for (int i = 0; i < 5000; ++i) {
    const Seen& s = seen[static_cast<size_t>(i)];
    ASSERT_EQ(s.kind, 1 + i % 9);
    ASSERT_EQ(s.envelope.context, 1u);
    ASSERT_EQ(s.envelope.source, i);
    ASSERT_EQ(s.envelope.tag, -i);
    ASSERT_EQ(s.envelope.stamp, 99u);
    ASSERT_EQ(s.data, pattern(static_cast<size_t>(i * 37 % 500), static_cast<uint64_t>(i)));
  }
}

TEST_P(Conformance, BringsEverySizeUpToTheMailboxLimit) {
  uint32_t next = 0;
  for (uint32_t bytes = 0; bytes <= mailbox_limit(1); ++bytes) {
    const auto data = pattern(bytes, bytes);
    send(3, {0, 0, static_cast<int32_t>(bytes), 0}, data.data(), bytes);
    poll();
    for (const Seen& s : seen) {
      ASSERT_EQ(s.envelope.tag, static_cast<int32_t>(next));
      ASSERT_EQ(s.data, pattern(next, next));
      ++next;
    }
    seen.clear();
  }
  EXPECT_EQ(next, mailbox_limit(1) + 1);
}

TEST_P(Conformance, SaysFullAndGoesOnWhenDrained) {
  if (!GetParam().bounded) GTEST_SKIP() << "its way is never full";
  const auto data = pattern(1000, 5);
  int sent = 0;
  int received = 0;
  for (int round = 0; round < 20; ++round) {
    int refused = 0;
    while (refused < 4) {  // a mock refuses now and then, a full ring every time
      if (pair->way().send(2, {0, sent, 0, 0}, data.data(), 1000) == Post::done) {
        ++sent;
        refused = 0;
      } else {
        ++refused;
      }
      ASSERT_LT(sent, 100000) << "nothing bounds it";
    }
    poll(1000);
    for (const Seen& s : seen) {
      ASSERT_EQ(s.envelope.source, received++);
      ASSERT_EQ(s.data, data);
    }
    seen.clear();
    ASSERT_EQ(received, sent);
  }
  EXPECT_GT(sent, 20 * 100);
}

TEST_P(Conformance, LendsStagingMemoryThatThePeerReads) {
  Transport& owner = pair->sender();
  ASSERT_GE(owner.capabilities().staging_most, 128u << 10) << "the largest eager message must fit";
  for (size_t bytes : {size_t{1}, size_t{8192}, size_t{32768}, size_t{32769}, size_t{128} << 10}) {
    Staging staging = owner.reserve_staging(bytes);
    if (staging.memory == nullptr) staging = owner.reserve_staging(bytes);  // a mock says no at times
    ASSERT_NE(staging.memory, nullptr);
    const auto data = pattern(bytes, bytes);
    std::memcpy(staging.memory, data.data(), bytes);
    EXPECT_EQ(std::memcmp(pair->back().staging({}, staging.handle, bytes).value(), data.data(), bytes), 0);
    pair->back().release_staging(staging.handle, bytes);
  }
}

TEST_P(Conformance, HasNoStagingMemoryTwice) {
  if (!GetParam().bounded) GTEST_SKIP() << "its staging memory is the heap";
  Transport& owner = pair->sender();
  for (size_t bytes : {size_t{1000}, size_t{100} << 10, size_t{32} << 10}) {
    std::vector<Staging> held;
    for (int round = 0; round < 3; ++round) {
      for (int refused = 0; refused < 3;) {
        const Staging staging = owner.reserve_staging(bytes);
        refused = staging.memory == nullptr ? refused + 1 : 0;
        if (staging.memory == nullptr) continue;
        std::memset(staging.memory, static_cast<int>(held.size() + 1), bytes);
        held.push_back(staging);
        ASSERT_LT(held.size(), 1000u) << "nothing bounds it";
      }
      EXPECT_GE(held.size(), bytes > 32768 ? 16u : 60u);  // of buffers in a row, some of which are left between others
      for (size_t i = 0; i < held.size(); ++i) {
        const auto* at = static_cast<const unsigned char*>(pair->back().staging({}, held[i].handle, bytes).value());
        for (size_t b = 0; b < bytes; b += 997) ASSERT_EQ(at[b], static_cast<unsigned char>(i + 1)) << "overlaps";
        ASSERT_EQ(at[bytes - 1], static_cast<unsigned char>(i + 1));
      }
      for (size_t i = 0; i < held.size(); ++i) {  // both ways back
        if (i % 2 == 0) {
          owner.drop_staging(held[i], bytes);
        } else {
          pair->back().release_staging(held[i].handle, bytes);
        }
      }
      held.clear();
    }
  }
}

TEST_P(Conformance, RefusesStagingMemoryLargerThanAll) {
  if (!GetParam().bounded) GTEST_SKIP() << "its staging memory is the heap";
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pair->sender().reserve_staging(size_t{64} << 20).memory, nullptr);
}

// The receiver reads and writes the sender's memory as an announcement describes it.
void copy_both_ways(Pair& pair, unsigned char* memory, size_t bytes, bool direct) {
  const auto data = pattern(bytes, 3);
  std::memcpy(memory, data.data(), bytes);
  const MemoryRef ref = pair.sender().register_memory(memory, bytes, Access::named);
  std::vector<unsigned char> here(bytes + 2, 0xee);
  const int got = pair.back().get(ref, here.data() + 1, bytes);
  if (!direct) {
    EXPECT_EQ(got, EPERM);
    EXPECT_EQ(pair.back().put(ref, here.data() + 1, bytes), EPERM);
    return;
  }
  ASSERT_EQ(got, 0) << strerror(got);
  EXPECT_EQ(here[0], 0xee);
  EXPECT_EQ(here[bytes + 1], 0xee);
  EXPECT_EQ(std::memcmp(here.data() + 1, data.data(), bytes), 0);
  const auto other = pattern(bytes, 4);
  ASSERT_EQ(pair.back().put(ref, other.data(), bytes), 0);
  EXPECT_EQ(std::memcmp(memory, other.data(), bytes), 0);
}

TEST_P(Conformance, ReadsAndWritesPrivateMemory) {
  for (size_t bytes : {size_t{1}, size_t{4097}, size_t{5} << 20}) {
    std::vector<unsigned char> memory(bytes);
    copy_both_ways(*pair, memory.data(), bytes, GetParam().direct);
  }
}

TEST_P(Conformance, ReadsAndWritesSharedMemory) {
  constexpr size_t bytes = (3 << 20) + 77;
  void* first = pair->shared(100);
  void* memory = pair->shared(bytes);
  if (memory == nullptr) GTEST_SKIP() << "it has none";
  EXPECT_NE(first, memory);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 4096, 0u);
  copy_both_ways(*pair, static_cast<unsigned char*>(memory), bytes, GetParam().direct);
  copy_both_ways(*pair, static_cast<unsigned char*>(memory) + 4099, 5000, GetParam().direct);
}

// A read that notes how it ended.
struct NotedRead : Read {
  int ended = 0;
  int error = 0;
  NotedRead() : Read{note} {}
  static void note(Read& read, int why) {
    auto& noted = static_cast<NotedRead&>(read);
    ++noted.ended;
    noted.error = why;
  }
};

// A piece after the other, each as it says where it ended.
TEST_P(Conformance, ReadsPrivateMemoryWhileItIsPolled) {
  constexpr size_t bytes = (1 << 20) + 77;
  constexpr size_t from = 1000;
  std::vector<unsigned char> memory = pattern(bytes + from, 3);
  const MemoryRef ref = pair->sender().register_memory(memory.data(), memory.size(), Access::read);
  std::vector<unsigned char> here(bytes + 2, 0xee);
  size_t at = 0;
  for (int tried = 0; at < bytes; ++tried) {
    ASSERT_LT(tried, 1000) << "it goes on failing";
    NotedRead read;
    size_t some = bytes - at;
    const Post begun = pair->back().read(ref, from + at, here.data() + 1 + at, some, 0, read);
    if (!GetParam().direct) {
      ASSERT_EQ(begun, Post::unsupported);
      return;
    }
    ASSERT_NE(begun, Post::unsupported);
    if (begun == Post::retry) continue;
    EXPECT_EQ(read.ended, 0) << "told before anybody asked";
    ASSERT_GT(some, 0u);
    ASSERT_LE(some, bytes - at);
    for (int i = 0; begun == Post::posted && read.ended == 0 && i < 100; ++i) poll(1);
    ASSERT_EQ(read.ended, begun == Post::posted ? 1 : 0);
    poll(20);
    ASSERT_EQ(read.ended, begun == Post::posted ? 1 : 0) << "told twice";
    if (read.error == 0) at += some;
  }
  EXPECT_EQ(here[0], 0xee);
  EXPECT_EQ(here[bytes + 1], 0xee);
  EXPECT_EQ(std::memcmp(here.data() + 1, memory.data() + from, bytes), 0);
  if (ref.key != MemoryRef::no_key) pair->sender().deregister(ref);
}

TEST_P(Conformance, SaysWhenMemoryCannotBeReached) {
  if (!GetParam().bounded) GTEST_SKIP() << "a wrong address of our own is a fault";
  char here[64];
  void* nowhere = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(pair->back().get({reinterpret_cast<uint64_t>(nowhere), MemoryRef::no_key}, here, sizeof here), 0);
  munmap(nowhere, 4096);
}

TEST_P(Conformance, TellsSendersThatItIsCongested) {
  if (!GetParam().bounded) GTEST_SKIP() << "who sends to itself knows";
  EXPECT_FALSE(pair->way().congested());
  pair->receiver().set_congested(true);
  EXPECT_TRUE(pair->way().congested());
  EXPECT_FALSE(pair->back().congested());
  pair->receiver().arm();
  EXPECT_TRUE(pair->way().congested()) << "arming changes nothing else";
  pair->receiver().disarm();
  EXPECT_TRUE(pair->way().congested());
  pair->receiver().set_congested(false);
  EXPECT_FALSE(pair->way().congested());
}

// A transport leads to the ranks that it says, each by one way, which is its own.
TEST_P(Conformance, ReachesItsPeerByOneWay) {
  const int peer = pair->sender().capabilities().same_process ? 0 : 1;
  EXPECT_TRUE(pair->sender().reaches(peer));
  EXPECT_FALSE(pair->sender().reaches(1 - peer));
  EXPECT_EQ(pair->sender().connect(peer), &pair->way());
}

// A transport does all that it declares, and says so of the rest that it does not.
TEST_P(Conformance, DeclaresWhatItCanDo) {
  const Capabilities& can = pair->sender().capabilities();
  EXPECT_EQ(can.same_process, std::string(GetParam().name) == "self");
  EXPECT_EQ(can.memory, host_memory);
  EXPECT_GT(can.staging_most, 0u);

  unsigned char here[16] = {}, there[16] = {7};
  const MemoryRef named = pair->sender().register_memory(there, sizeof there, Access::named);
  const int got = pair->back().get(named, here, sizeof here);
  EXPECT_EQ(got == unsupported, !can.get_put);
  EXPECT_EQ(here[0], can.get_put && GetParam().direct ? 7 : 0);

  void* const shared = pair->sender().allocate(100, 1);
  EXPECT_TRUE(shared != nullptr || !can.map);
  if (can.map) {
    const MemoryRef ref = pair->sender().register_memory(shared, 100, Access::named);
    auto* const mapped = static_cast<std::atomic<int>*>(pair->back().map(ref));
    ASSERT_NE(mapped, nullptr);
    *static_cast<int*>(shared) = 40;
    ASSERT_TRUE(can.atomics);
    EXPECT_EQ(mapped->fetch_add(2), 40);
    EXPECT_EQ(*static_cast<int*>(shared), 42);
  } else {
    EXPECT_EQ(pair->back().map(named), nullptr);
  }
  EXPECT_EQ(pair->sender().release(shared), shared != nullptr);
  EXPECT_FALSE(pair->sender().release(here));

  EXPECT_EQ(pair->sender().claim(0) != nullptr, can.claims);
  EXPECT_EQ(pair->back().claim(0) != nullptr, can.claims);

  const MemoryRef target = pair->sender().register_memory(there, sizeof there, Access::write);
  EXPECT_EQ(target.key != MemoryRef::no_key, can.write);
  if (can.write) pair->sender().deregister(target);
  if (!can.write) {
    EXPECT_EQ(pair->back().write(1, {}, nullptr, 0, {}, 0, target, 0, 0, {}), Post::unsupported);
  }
  if (can.push_most == 0) {
    EXPECT_EQ(pair->way().push(1, {}, here, sizeof here, {}), Post::unsupported);
  }
}

// A sleep that somebody ends takes less than this, half of its time.
constexpr double ended_by_somebody = 20;
constexpr uint64_t long_ns = 40000000000;

// The transport must be armed.
double sleep_seconds(Transport& transport, uint64_t ns) {
  const auto start = Clock::now();
  transport.sleep(ns);
  return std::chrono::duration<double>(Clock::now() - start).count();
}

TEST_P(Conformance, SleepsUntilTheTimeIsUp) {
  if (!GetParam().sleeps) GTEST_SKIP();
  pair->receiver().arm();
  const double slept = sleep_seconds(pair->receiver(), 50000000);
  EXPECT_GE(slept, 0.045);
  EXPECT_LT(slept, ended_by_somebody);
}

TEST_P(Conformance, SleepIsEndedByAMessage) {
  if (!GetParam().sleeps) GTEST_SKIP();
  std::atomic<bool> sends = false;
  pair->receiver().arm();
  std::thread sender([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    sends = true;
    (void)pair->way().send(2, {}, nullptr, 0);
  });
  const double slept = sleep_seconds(pair->receiver(), long_ns);
  EXPECT_TRUE(sends);
  sender.join();
  EXPECT_LT(slept, ended_by_somebody);
  poll();
  EXPECT_EQ(seen.size(), 1u);
}

TEST_P(Conformance, SleepIsEndedByAStagingBufferThatComesBack) {
  if (!GetParam().sleeps) GTEST_SKIP();
  const Staging staging = pair->sender().reserve_staging(100);
  ASSERT_NE(staging.memory, nullptr);
  std::atomic<bool> releases = false;
  pair->sender().arm();
  std::thread receiver([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    releases = true;
    pair->back().release_staging(staging.handle, 100);
  });
  const double slept = sleep_seconds(pair->sender(), long_ns);
  EXPECT_TRUE(releases);
  receiver.join();
  EXPECT_LT(slept, ended_by_somebody);
}

TEST_P(Conformance, AMessageBetweenArmingAndSleepingEndsTheSleep) {
  if (!GetParam().sleeps) GTEST_SKIP();
  pair->receiver().arm();
  (void)pair->way().send(2, {}, nullptr, 0);
  EXPECT_LT(sleep_seconds(pair->receiver(), long_ns), ended_by_somebody);
}

// A thousand messages there and back between two threads that sleep as soon as they can: a lost wake-up would take
// longer than all of them.
TEST_P(Conformance, NoWakeUpIsLostBetweenThreads) {
  if (!GetParam().sleeps) GTEST_SKIP();
  static std::atomic<int> arrived[2];
  arrived[0] = arrived[1] = 0;
  auto side = [&](int me) {
    Transport& mine = me == 0 ? pair->sender() : pair->receiver();
    Endpoint& out = me == 0 ? pair->way() : pair->back();
    const Sink count =
        me == 0 ? Sink([](const Arrival&) { ++arrived[0]; }) : Sink([](const Arrival&) { ++arrived[1]; });
    for (int i = 1; i <= 1000; ++i) {
      if (me == 0) {
        EXPECT_EQ(out.send(1, {}, nullptr, 0), Post::done);
      }
      while (arrived[me] < i) {
        mine.arm();
        if (mine.poll(0, count) > 0) {
          mine.disarm();
        } else {
          EXPECT_LT(sleep_seconds(mine, long_ns), ended_by_somebody);
        }
      }
      if (me == 1) {
        EXPECT_EQ(out.send(1, {}, nullptr, 0), Post::done);
      }
    }
  };
  std::thread other(side, 1);
  side(0);
  other.join();
}

INSTANTIATE_TEST_SUITE_P(Transports, Conformance,
                         ::testing::Values(Kind{"self", true, false, false, nullptr},
                                           Kind{"shm", true, true, true, nullptr}, Kind{"mock", true, true, true, ""},
                                           Kind{"mock_full", true, true, false, "full=3"},
                                           Kind{"mock_denied", false, true, false, "denied=1"},
                                           Kind{"mock_nostaging", true, true, false, "nostaging=2"},
                                           Kind{"mock_delay", true, true, false, "delay=3"},
                                           Kind{"mock_late", true, true, false, "late=3,full=5"},
                                           Kind{"mock_lost", true, true, false, "late=2,lost=3"}),
                         [](const ::testing::TestParamInfo<Kind>& row) { return std::string(row.param.name); });

TEST(Mock, LosesPermissionFromTheNthAccessOn) {
  mock::MockPlan plan;
  ASSERT_EQ(mock::parse("denied=3", plan), "");
  ShmPair pair(&plan);
  char from[16] = "fifteen letters";
  char to[16] = "";
  const MemoryRef ref = pair.sender().register_memory(from, sizeof from, Access::read);
  EXPECT_EQ(ref.key, MemoryRef::no_key);
  EXPECT_EQ(pair.back().get(ref, to, sizeof to), 0);
  EXPECT_EQ(pair.back().put(ref, to, sizeof to), 0);
  EXPECT_EQ(pair.back().get(ref, to, sizeof to), EPERM);
  EXPECT_EQ(pair.back().get(ref, to, sizeof to), EPERM);
}

TEST(Mock, LateReadsComeLateAndLostOnesFail) {
  mock::MockPlan plan;
  ASSERT_EQ(mock::parse("late=3,lost=2", plan), "");
  ShmPair pair(&plan);
  char from[16] = "fifteen letters";
  char to[2][16] = {};
  const MemoryRef ref = pair.sender().register_memory(from, sizeof from, Access::read);
  NotedRead reads[2];
  for (int i : {0, 1}) {
    size_t bytes = sizeof from;
    ASSERT_EQ(pair.back().read(ref, 0, to[i], bytes, 0, reads[i]), Post::posted);
    EXPECT_EQ(bytes, sizeof from);
  }
  EXPECT_FALSE(pair.receiver().looks_empty(0));
  for (int look = 0; look < 2; ++look) EXPECT_EQ(pair.receiver().poll(0, record), 0);
  EXPECT_EQ(reads[0].ended + reads[1].ended, 0);
  EXPECT_EQ(pair.receiver().poll(0, record), 2);
  EXPECT_EQ(reads[0].ended + reads[1].ended, 2);
  EXPECT_EQ(reads[0].error, 0);
  EXPECT_STREQ(to[0], from);
  EXPECT_EQ(reads[1].error, EIO);
  EXPECT_TRUE(pair.receiver().looks_empty(0));
  pair.sender().deregister(ref);
  EXPECT_EQ(pair.receiver().claim(0), nullptr);
  EXPECT_EQ(pair.back().claim(0), nullptr);
}

TEST(Mock, EndsTheJobWhenMemoryStaysRegistered) {
  mock::MockPlan plan;
  ASSERT_EQ(mock::parse("late=1", plan), "");
  char memory[16] = "";
  EXPECT_EXIT(
      {
        ShmPair pair(&plan);
        (void)pair.sender().register_memory(memory, sizeof memory, Access::read);
      },
      ::testing::ExitedWithCode(1), "memory was registered 1 times more");
}

TEST(Mock, PlanIsReadOrExplained) {
  mock::MockPlan plan;
  EXPECT_EQ(mock::parse("full=3,denied=5,nostaging=2,delay=7,late=4,lost=6", plan), "");
  EXPECT_EQ(plan.full, 3u);
  EXPECT_EQ(plan.denied, 5u);
  EXPECT_EQ(plan.nostaging, 2u);
  EXPECT_EQ(plan.delay, 7u);
  EXPECT_EQ(plan.late, 4u);
  EXPECT_EQ(plan.lost, 6u);
  EXPECT_EQ(mock::parse("", plan), "");
  EXPECT_EQ(mock::parse("full=0", plan), "");
  EXPECT_EQ(plan.full, 0u);
  for (const char* wrong : {"full", "=3", "fuller=3", "full=", "full=x", "full=3x", "full=-1", ",", "full=3,,delay=2",
                            "full=3 delay=2", "full=99999999999999999999999", "full=1", "nostaging=1", "lost=3"}) {
    mock::MockPlan fresh;
    EXPECT_NE(mock::parse(wrong, fresh), "") << wrong;
  }
}

TEST(MailboxLimit, FollowsTheTable) {
  const std::pair<int64_t, uint32_t> table[] = {
      {1, 8152},    {2, 8152},    {512, 8152},       {513, 2008},           {1024, 2008},           {1025, 472},
      {16383, 472}, {16384, 216}, {256 * 1024, 216}, {256 * 1024 + 1, 100}, {int64_t{1} << 31, 100}};
  for (auto [ranks, bytes] : table) EXPECT_EQ(mailbox_limit(ranks), bytes) << ranks;
}

}  // namespace
}  // namespace weft::transport
