// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The promises of every carrier of frames between hosts (transport/net/carrier.hpp), asked of each of them: two of a
// kind in this process, over this host's own network.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/setting.hpp"
#include "transport/ofi/carrier.hpp"
#include "transport/tcp/carrier.hpp"
#include "transport/ucx/carrier.hpp"

namespace weft::transport::net {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto patience = std::chrono::seconds(120);  // it ends what hangs, and judges no speed

struct Kind {
  const char* name;
  const char* variable;  // of the environment, or nullptr
  const char* value;
  bool reads = false;  // memory of peers
  bool writes = false;
};

void PrintTo(const Kind& kind, std::ostream* out) {
  *out << kind.name;
}

constexpr size_t buffer_count = 64;

unsigned char byte_of(uint32_t number, size_t at) {
  return static_cast<unsigned char>(at * 31 + at / 251 + number * 17);
}

// A carrier with its buffers, and what it has reported.
struct Side final : Events {
  std::unique_ptr<OwnBuffer[]> buffers = std::make_unique<OwnBuffer[]>(buffer_count);
  std::vector<Buffer*> free;
  std::map<uint32_t, size_t> arrived;                           // the bytes of a frame by its number
  std::vector<std::pair<const unsigned char*, size_t>> intake;  // where large frames come in to, where that is known
  size_t wrong = 0;
  int error = 0;
  std::mutex* taken_by_who_takes = nullptr;
  std::unique_ptr<Carrier> carrier;  // goes first

  explicit Side(std::unique_ptr<Carrier> one) : carrier(std::move(one)) {
    carrier->register_buffers(buffers.get(), buffer_count * sizeof(OwnBuffer));
    for (size_t i = 0; i < buffer_count; ++i) free.push_back(&buffers[i]);
  }

  Came came(uint32_t lane, const unsigned char* frame, size_t bytes) override {
    std::unique_lock<std::mutex> held;
    if (taken_by_who_takes != nullptr) held = std::unique_lock(*taken_by_who_takes);
    Header header = {};
    bool good = lane == 0 && bytes >= sizeof header && reinterpret_cast<uintptr_t>(frame) % alignof(Header) == 0;
    if (good) std::memcpy(&header, frame, sizeof header);
    const uint32_t number = header.origin;
    if (!intake.empty() && bytes > 4096) {
      good = good && std::any_of(intake.begin(), intake.end(), [&](const auto& piece) {
               return frame >= piece.first && frame + bytes <= piece.first + piece.second;
             });
    }
    for (size_t i = sizeof header; good && i < bytes; ++i) good = frame[i] == byte_of(number, i);
    if (!good || !arrived.emplace(number, bytes).second) ++wrong;
    return Came::in_turn;
  }
  void sent(uint32_t lane, Buffer* buffer, int failed) override {
    if (lane != 0) ++wrong;
    if (failed != 0) error = failed;
    free.push_back(buffer);
  }

  void have_written(uint32_t lane, Buffer* buffer, int failed) override {
    if (lane != 0) ++wrong;
    ++writes_ended;
    if (failed != 0) write_error = failed;
    free.push_back(buffer);
  }
  int writes_ended = 0;
  int write_error = 0;

  // A buffer full of what byte_of() says of `number`, to `at`.
  int write(Address to, uint32_t number, const MemoryRef& memory, size_t at) {
    if (free.empty()) return EAGAIN;
    Buffer* buffer = free.back();
    for (size_t i = 0; i < staging_most; ++i) buffer->staging()[i] = byte_of(number, i);
    const int result = carrier->write(0, buffer, buffer->staging(), staging_most, to, memory, at);
    if (result == 0) free.pop_back();
    return result;
  }

  void have_read(Read& read, int failed) override { read.over(read, failed); }
  bool pushing(uint32_t lane, const Header& header, PushDestination& room) override {
    if (lane != 0 || header.origin != landings.size()) ++wrong;
    auto& landing = landings.emplace_back(std::make_unique<Landing>(header.bytes, header.tag));
    if (header.tag >= 0) room = {landing->data.data(), static_cast<size_t>(header.tag), landing.get()};
    return true;
  }
  void have_pushed(Read& read) override { read.over(read, 0); }
  void lost_pushed(uint32_t rank, int failed) override { lost = {rank, failed}; }

  // The pushed data; `tag` says how much of it is wanted, if any.
  struct Landing : Read {
    Landing(uint32_t bytes, int32_t room)
        : Read{[](Read& read, int) { ++static_cast<Landing&>(read).over_times; }},
          data(std::max(room, 0) + size_t{8}, 0xee),
          bytes_pushed(bytes) {}
    std::vector<unsigned char> data;  // 8 more than the buffer has
    uint32_t bytes_pushed;
    int over_times = 0;
  };
  std::vector<std::unique_ptr<Landing>> landings;
  std::pair<uint32_t, int> lost;

  void poll() { (void)carrier->poll(0, *this); }

  // 0, or the error; EAGAIN too when no buffer is free.
  int send(Address to, uint32_t number, size_t bytes) {
    if (free.empty()) return EAGAIN;
    Buffer* buffer = free.back();
    unsigned char* start = buffer->bytes + (frame_most - bytes) / 16 * 16;  // anywhere in it
    Header header = {.magic = magic};
    header.origin = number;
    header.bytes = static_cast<uint32_t>(bytes - sizeof header);
    std::memcpy(start, &header, sizeof header);
    for (size_t i = sizeof header; i < bytes; ++i) start[i] = byte_of(number, i);
    const int result = carrier->send(0, buffer, start, bytes, to);
    if (result == 0) free.pop_back();
    return result == Carrier::gone ? 0 : result;
  }
};

class Carriers : public ::testing::TestWithParam<Kind> {
 protected:
  static void SetUpTestSuite() {
    if (const char* file = std::getenv("TEST_LIBFABRIC")) set("WEFT_LIBFABRIC", file);
  }
  void SetUp() override {
    const Kind& kind = GetParam();
    std::string why_not;
    if (is_ofi()) {
      if (dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL) == nullptr) GTEST_SKIP() << dlerror();
    } else if (std::string(kind.name).starts_with("ucx") && !ucx::try_library(why_not)) {
      GTEST_SKIP() << why_not;
    }
    if (kind.variable != nullptr) setenv(kind.variable, kind.value, 1);
    if (kind.reads) set("WEFT_RDMA", "on");
    a = std::make_unique<Side>(make(0));
    b = std::make_unique<Side>(make(1));
    ASSERT_TRUE(a->carrier->insert(b->carrier->address(0), to_b));
    ASSERT_TRUE(b->carrier->insert(a->carrier->address(0), to_a));
  }
  void TearDown() override {
    a.reset();
    b.reset();
    if (GetParam().variable != nullptr) unsetenv(GetParam().variable);
    if (GetParam().reads) set("WEFT_RDMA", "auto");
  }
  static bool is_ofi() { return std::string(GetParam().name).starts_with("ofi"); }
  static void set(const std::string& name, const char* value) {
    for (base::SettingRow* row : base::all_settings()) {
      if (name == row->text().name) {
        ASSERT_EQ(row->parse(value), "");
      }
    }
  }
  static std::unique_ptr<Carrier> make(int rank) {
    const std::string kind = GetParam().name;
    if (kind == "tcp") return std::make_unique<tcp::TcpCarrier>(1, rank, 2, "0123456789abcdef0123456789abcdef");
    if (is_ofi()) return std::make_unique<ofi::OfiCarrier>(1, false);
    return std::make_unique<ucx::UcxCarrier>(1, 2, false);
  }

  // Polls both until it holds.
  template <class Condition>
  [[nodiscard]] bool wait(Condition condition) {
    const auto until = Clock::now() + patience;
    while (!condition()) {
      if (a != nullptr) a->poll();
      if (b != nullptr) b->poll();
      if (Clock::now() > until) return false;
    }
    return true;
  }
  void send(Side& from, Address to, uint32_t number, size_t bytes) {
    int result = EAGAIN;
    ASSERT_TRUE(wait([&] { return (result = from.send(to, number, bytes)) != EAGAIN; }));
    ASSERT_EQ(result, 0) << from.carrier->error_text(result);
  }

  std::unique_ptr<Side> a, b;
  Address to_a = 0, to_b = 0;
};

TEST_P(Carriers, BringFramesOfAllSizesWholeBothWays) {
  const size_t sizes[] = {sizeof(Header), 49,   64,    100,   1000,           4096,      8191,
                          8192,           8193, 16384, 32768, frame_most - 1, frame_most};
  uint32_t number = 0;
  for (size_t bytes : sizes) {
    for (int i = 0; i < 3; ++i, ++number) {
      ASSERT_NO_FATAL_FAILURE(send(*a, to_b, number, bytes));
      ASSERT_NO_FATAL_FAILURE(send(*b, to_a, number, bytes));
    }
  }
  ASSERT_TRUE(wait([&] { return a->arrived.size() == number && b->arrived.size() == number; }));
  for (uint32_t n = 0; n < number; ++n) {
    EXPECT_EQ(a->arrived[n], sizes[n / 3]);
    EXPECT_EQ(b->arrived[n], sizes[n / 3]);
  }
  EXPECT_EQ(a->wrong + b->wrong, 0u);
}

TEST_P(Carriers, BringFramesIntoTheMemoryThatTheyName) {
  static std::vector<std::pair<const unsigned char*, size_t>> named;
  named.clear();
  b->carrier->each_intake(
      [](void* memory, size_t bytes) { named.emplace_back(static_cast<unsigned char*>(memory), bytes); });
  if (named.empty()) GTEST_SKIP() << "frames come in to memory of a library";
  b->intake = named;
  for (uint32_t i = 0; i < 300; ++i) ASSERT_NO_FATAL_FAILURE(send(*a, to_b, i, i % 2 == 0 ? frame_most : 5000 + i));
  ASSERT_TRUE(wait([&] { return b->arrived.size() == 300; }));
  EXPECT_EQ(b->wrong, 0u);
}

TEST_P(Carriers, GiveEveryBufferBack) {
  for (uint32_t i = 0; i < 1000; ++i) ASSERT_NO_FATAL_FAILURE(send(*a, to_b, i, i % 7 == 0 ? frame_most : 60 + i));
  ASSERT_TRUE(wait([&] { return b->arrived.size() == 1000 && a->free.size() == buffer_count; }));
  for (int i = 0; i < 100; ++i) a->poll();
  EXPECT_EQ(a->free.size(), buffer_count) << "one came back twice";
  EXPECT_EQ(a->error, 0);
  EXPECT_EQ(b->wrong, 0u);
}

// One thread sends with a lock in its hand that another, which polls, wants before it takes a frame.
TEST_P(Carriers, DoNotHoldUpWhoSendsWhileAFrameIsTaken) {
  constexpr uint32_t count = 300;
  std::mutex lock;
  b->taken_by_who_takes = &lock;
  std::atomic<bool> over = false;
  std::thread sender([&] {
    for (uint32_t number = 0; !over && number < count;) {
      {
        const std::lock_guard guard(lock);
        if (b->send(to_a, number, 64) == 0) ++number;
      }
      std::this_thread::yield();  // the thread that polls gets the lock, also on one processor
    }
  });
  struct Guarded final : Events {
    Side& side;
    std::mutex& lock;
    Guarded(Side& s, std::mutex& l) : side(s), lock(l) {}
    Came came(uint32_t lane, const unsigned char* frame, size_t bytes) override {
      return side.came(lane, frame, bytes);
    }
    void sent(uint32_t lane, Buffer* buffer, int failed) override {
      const std::lock_guard guard(lock);
      side.sent(lane, buffer, failed);
    }
  } guarded(*b, lock);
  const auto until = Clock::now() + patience;
  for (uint32_t number = 0; (number < count || b->arrived.size() < count || a->arrived.size() < count);) {
    if (number < count && a->send(to_b, number, 64 + number) == 0) ++number;
    a->poll();
    (void)b->carrier->poll(0, guarded);
    if (Clock::now() > until) break;
  }
  over = true;
  sender.join();
  EXPECT_EQ(a->arrived.size(), count);
  EXPECT_EQ(b->arrived.size(), count);
  EXPECT_EQ(a->wrong + b->wrong, 0u);
}

struct NotedRead : Read {
  bool ended = false;
  int error = 0;
  NotedRead()
      : Read{[](Read& read, int why) {
          static_cast<NotedRead&>(read).ended = true;
          static_cast<NotedRead&>(read).error = why;
        }} {}
};

// Many at the same time, with frames between them.
TEST_P(Carriers, ReadTheMemoryThatAPeerExposes) {
  if (!GetParam().reads) GTEST_SKIP() << "asked with reads alone";
  ASSERT_TRUE(a->carrier->reads()) << "libfabric's tcp emulates reads";
  constexpr size_t piece = 300001;
  constexpr size_t pieces = 12;
  constexpr size_t bytes = piece * pieces;
  std::vector<unsigned char> theirs(bytes);
  for (size_t i = 0; i < bytes; ++i) theirs[i] = byte_of(9, i);
  MemoryRef ref{};
  MemoryRef other{};
  ASSERT_TRUE(b->carrier->register_memory(theirs.data(), bytes, Access::read, ref));
  ASSERT_TRUE(b->carrier->register_memory(theirs.data() + 1, bytes - 1, Access::read, other))
      << "memory may be registered twice";
  EXPECT_NE(ref.key, other.key);
  ASSERT_GE(a->carrier->read_most(), piece);
  std::vector<unsigned char> ours(bytes + 2, 0xee);
  NotedRead reads[pieces];
  for (size_t i = 0; i < pieces; ++i) {
    int result = EAGAIN;
    ASSERT_TRUE(wait([&] {
      result = a->carrier->read(0, to_b, ref, i * piece, &ours[1 + i * piece], piece, reads[i]);
      return result != EAGAIN;
    }));
    ASSERT_EQ(result, 0) << a->carrier->error_text(result);
    ASSERT_NO_FATAL_FAILURE(send(*b, to_a, static_cast<uint32_t>(i), 5000));
  }
  ASSERT_TRUE(wait([&] {
    bool all = a->arrived.size() == pieces;
    for (const NotedRead& read : reads) all = all && read.ended;
    return all;
  }));
  for (const NotedRead& read : reads) EXPECT_EQ(read.error, 0) << a->carrier->error_text(read.error);
  EXPECT_EQ(ours.front(), 0xee);
  EXPECT_EQ(ours.back(), 0xee);
  EXPECT_TRUE(std::equal(theirs.begin(), theirs.end(), ours.begin() + 1));
  b->carrier->deregister(ref.key);
  NotedRead second;
  ASSERT_EQ(a->carrier->read(0, to_b, other, 10, ours.data(), 100, second), 0);
  ASSERT_TRUE(wait([&] { return second.ended; }));
  EXPECT_EQ(second.error, 0) << "what was deregistered was not this";
  EXPECT_TRUE(std::equal(ours.begin(), ours.begin() + 100, theirs.begin() + 11));
  b->carrier->deregister(other.key);
  EXPECT_EQ(a->wrong + b->wrong, 0u);
}

TEST_P(Carriers, ReadNothingThatIsConcealed) {
  if (!GetParam().reads) GTEST_SKIP() << "asked with reads alone";
  std::vector<unsigned char> theirs(100000, 7);
  std::vector<unsigned char> ours(100000, 8);
  MemoryRef ref{};
  ASSERT_TRUE(b->carrier->register_memory(theirs.data(), theirs.size(), Access::read, ref));
  b->carrier->deregister(ref.key);
  NotedRead read;
  int result = EAGAIN;
  ASSERT_TRUE(wait([&] {
    result = a->carrier->read(0, to_b, ref, 0, ours.data(), ours.size(), read);
    return result != EAGAIN;
  }));
  ASSERT_TRUE(wait([&] { return result != 0 || read.ended; }));
  EXPECT_TRUE(result != 0 || read.error != 0);
  EXPECT_EQ(ours, std::vector<unsigned char>(100000, 8));
}

// The peer does not answer any more.
TEST_P(Carriers, EndReadsOfAPeerThatIsGone) {
  if (!GetParam().reads) GTEST_SKIP() << "asked with reads alone";
  ASSERT_NO_FATAL_FAILURE(send(*a, to_b, 0, 100));
  ASSERT_TRUE(wait([&] { return b->arrived.size() == 1; }));
  std::vector<unsigned char> theirs(100000, 7);
  std::vector<unsigned char> ours(100000, 8);
  MemoryRef ref{};
  ASSERT_TRUE(b->carrier->register_memory(theirs.data(), theirs.size(), Access::read, ref));
  NotedRead read;
  ASSERT_EQ(a->carrier->read(0, to_b, ref, 0, ours.data(), ours.size(), read), 0);
  b.reset();
  EXPECT_TRUE(wait([&] { return read.ended; }));
  EXPECT_NE(read.error, 0);
}

// As many at the same time as there are buffers, with frames between them, sent in the same buffers.
TEST_P(Carriers, WriteIntoTheMemoryThatAPeerOffers) {
  EXPECT_EQ(a->carrier->writes(), GetParam().writes);
  if (!GetParam().writes) GTEST_SKIP() << "writes nothing";
  constexpr uint32_t count = 200;
  std::vector<unsigned char> theirs(count * staging_most + 2, 0xee);
  MemoryRef ref{};
  MemoryRef other{};
  ASSERT_TRUE(b->carrier->register_memory(theirs.data() + 1, count * staging_most, Access::write, ref));
  ASSERT_TRUE(b->carrier->register_memory(theirs.data(), theirs.size(), Access::read, other))
      << "the same memory, to be read";
  for (uint32_t n = 0; n < count; ++n) {
    int result = EAGAIN;
    ASSERT_TRUE(wait([&] { return (result = a->write(to_b, n, ref, n * staging_most)) != EAGAIN; }));
    ASSERT_EQ(result, 0) << a->carrier->error_text(result);
    if (n % 3 == 0) {
      ASSERT_NO_FATAL_FAILURE(send(*a, to_b, n, 5000));
    }
  }
  ASSERT_TRUE(wait([&] { return a->writes_ended == count && a->free.size() == buffer_count; }));
  ASSERT_TRUE(wait([&] { return b->arrived.size() == (count + 2) / 3; }));
  EXPECT_EQ(a->write_error, 0) << a->carrier->error_text(a->write_error);
  EXPECT_EQ(theirs.front(), 0xee);
  EXPECT_EQ(theirs.back(), 0xee);
  for (uint32_t n = 0; n < count; ++n) {
    size_t good = 0;
    while (good < staging_most && theirs[1 + n * staging_most + good] == byte_of(n, good)) ++good;
    ASSERT_EQ(good, staging_most) << "of " << n;
  }
  b->carrier->deregister(ref.key);
  b->carrier->deregister(other.key);
  EXPECT_EQ(a->wrong + b->wrong, 0u);
}

TEST_P(Carriers, WriteNothingWhereMemoryIsToBeRead) {
  if (!GetParam().writes) GTEST_SKIP() << "writes nothing";
  std::vector<unsigned char> theirs(100000, 7);
  MemoryRef ref{};
  ASSERT_TRUE(b->carrier->register_memory(theirs.data(), theirs.size(), Access::read, ref));
  int result = EAGAIN;
  ASSERT_TRUE(wait([&] { return (result = a->write(to_b, 1, ref, 0)) != EAGAIN; }));
  ASSERT_TRUE(wait([&] { return result != 0 || a->writes_ended == 1; }));
  EXPECT_TRUE(result != 0 || a->write_error != 0);
  EXPECT_EQ(theirs, std::vector<unsigned char>(100000, 7));
}

TEST_P(Carriers, WriteNothingThatIsConcealed) {
  if (!GetParam().writes) GTEST_SKIP() << "writes nothing";
  std::vector<unsigned char> theirs(100000, 7);
  MemoryRef ref{};
  ASSERT_TRUE(b->carrier->register_memory(theirs.data(), theirs.size(), Access::write, ref));
  b->carrier->deregister(ref.key);
  int result = EAGAIN;
  ASSERT_TRUE(wait([&] { return (result = a->write(to_b, 1, ref, 0)) != EAGAIN; }));
  ASSERT_TRUE(wait([&] { return result != 0 || a->writes_ended == 1; }));
  EXPECT_TRUE(result != 0 || a->write_error != 0);
  EXPECT_EQ(theirs, std::vector<unsigned char>(100000, 7));
}

// Data of all sizes are pushed, also into buffers that are too small, with frames between them: each comes to its
// place, and no byte behind that. Small buffers may be written to at once, and larger ones when that was told.
TEST_P(Carriers, PushDataToWhereTheyShallBe) {
  if (!a->carrier->pushes()) GTEST_SKIP() << "pushes nothing";
  constexpr uint32_t count = 400;
  const size_t sizes[] = {1,     16,     48,         4000, 4048, 4096, 5003, staging_most, staging_most + 1,
                          65536, 100001, pushed_most};
  std::vector<unsigned char> data(pushed_most);
  static int under_way;
  static size_t posted;
  under_way = 0;
  posted = 0;
  for (uint32_t n = 0; n < count; ++n) {
    const size_t bytes = sizes[n % std::size(sizes)];
    for (size_t i = 0; i < bytes; ++i) data[i] = byte_of(n, i);
    ASSERT_TRUE(wait([&] { return !a->free.empty(); }));
    Buffer* buffer = a->free.back();
    Header header = {.magic = pushed_magic, .origin = n, .bytes = static_cast<uint32_t>(bytes)};
    header.tag = n % 7 == 3 ? -1 : static_cast<int32_t>(n % 5 == 2 ? bytes / 2 : bytes);
    std::memcpy(buffer->bytes, &header, sizeof header);
    buffer->left = {[](void*) { --under_way; }, nullptr};
    int result = EAGAIN;
    ASSERT_TRUE(wait([&] { return (result = a->carrier->push(buffer, data.data(), bytes, to_b)) != EAGAIN; }));
    ASSERT_LE(result, 0);
    if (result != Carrier::gone) a->free.pop_back();
    if (result == 0) {
      ASSERT_GT(bytes, staging_most) << "a small one is copied";
      ASSERT_NE(buffer->left.call, nullptr);
      ++posted;
      const size_t free = a->free.size();
      ASSERT_TRUE(wait([&] { return a->free.size() > free; }));
    } else if (result == Carrier::copied) {
      ASSERT_EQ(buffer->left.call, nullptr);
    }
    std::fill(data.begin(), data.end(), 0xdd);
    if (n % 3 == 0) {
      ASSERT_NO_FATAL_FAILURE(send(*a, to_b, 1000 + n, n % 2 == 0 ? 100 : frame_most));
    }
  }
  ASSERT_TRUE(wait([&] { return b->landings.size() == count && b->arrived.size() == (count + 2) / 3; }));
  ASSERT_TRUE(wait([&] { return b->landings.back()->over_times != 0; }));
  for (uint32_t n = 0; n < count; ++n) {
    const Side::Landing& landing = *b->landings[n];
    EXPECT_EQ(landing.over_times, n % 7 == 3 ? 0 : 1);
    EXPECT_EQ(landing.bytes_pushed, sizes[n % std::size(sizes)]);
    const size_t room = landing.data.size() - 8;
    size_t good = 0;
    while (good < room && landing.data[good] == byte_of(n, good)) ++good;
    EXPECT_EQ(good, room) << "of " << n;
    EXPECT_EQ(std::count(landing.data.begin() + static_cast<ptrdiff_t>(room), landing.data.end(), 0xee), 8);
  }
  EXPECT_GT(posted, 0u) << "the first, before there is a connection";
  EXPECT_EQ(b->wrong, 0u);
}

TEST_P(Carriers, SayThatTheRestOfPushedDataWillNotCome) {
  if (!a->carrier->pushes()) GTEST_SKIP() << "pushes nothing";
  ASSERT_NO_FATAL_FAILURE(send(*a, to_b, 0, 100));
  ASSERT_TRUE(wait([&] { return b->arrived.size() == 1; }));
  const std::vector<unsigned char> data(pushed_most, 1);
  const Header header = {.magic = pushed_magic, .tag = pushed_most, .bytes = pushed_most};
  int result = 0;
  while (result != EAGAIN && !a->free.empty()) {  // until the system takes no more
    Buffer* buffer = a->free.back();
    a->free.pop_back();
    std::memcpy(buffer->bytes, &header, sizeof header);
    result = a->carrier->push(buffer, data.data(), data.size(), to_b);
    ASSERT_TRUE(result <= 0 || result == EAGAIN);
  }
  a.reset();
  EXPECT_TRUE(wait([&] { return b->lost.second != 0; }));
  EXPECT_EQ(b->lost.first, 0u);
  EXPECT_EQ(b->landings.back()->over_times, 0);
}

TEST_P(Carriers, SayThatAPeerIsGone) {
  ASSERT_NO_FATAL_FAILURE(send(*a, to_b, 0, 100));
  ASSERT_TRUE(wait([&] { return b->arrived.size() == 1 && a->free.size() == buffer_count; }));
  b.reset();
  uint32_t number = 1;
  EXPECT_TRUE(wait([&] {
    const int result = a->send(to_b, number, 100);
    if (result == 0) ++number;
    if (result != 0 && result != EAGAIN) a->error = result;
    return a->error != 0;
  }));
  EXPECT_FALSE(a->carrier->error_text(a->error).empty());
  EXPECT_NE(a->error, EAGAIN);
}

INSTANTIATE_TEST_SUITE_P(All, Carriers,
                         ::testing::Values(Kind{"tcp", nullptr, nullptr, true}, Kind{"ofi", nullptr, nullptr},
                                           Kind{"ofi_reading", nullptr, nullptr, true, true},
                                           Kind{"ucx", nullptr, nullptr}, Kind{"ucx_reading", nullptr, nullptr, true},
                                           Kind{"ucx_fetching", "UCX_RNDV_THRESH", "1000"}),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace weft::transport::net
