// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/mock/transport.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "base/message.hpp"
#include "base/test_setting.hpp"
#include "transport/api/failure.hpp"

namespace weft::transport::mock {

namespace {

constinit base::TextSetting mock_setting{
    {.name = "WEFT_MOCK",
     .help = "faults to play in tests: full=N,denied=N,nostaging=N,delay=N,late=N,lost=N",
     .subject = base::Subject::messages}};
WEFT_TEST_SETTING(mock_setting);

// Counts events and picks every Nth. Thread-safe.
class EveryNth {
 public:
  explicit EveryNth(uint64_t n) : n_(n) {}
  bool hit() { return n_ != 0 && (count_.fetch_add(1, std::memory_order_relaxed) + 1) % n_ == 0; }

 private:
  uint64_t n_;
  std::atomic<uint64_t> count_ = 0;
};

struct MockFaults {
  explicit MockFaults(const MockPlan& asked)
      : plan(asked), full(asked.full), nostaging(asked.nostaging), delay(asked.delay), lost(asked.lost) {}
  // The one that follows is refused, too: core tries a second time at once, and only then lets a message wait.
  bool way_full() {
    if (plan.full == 0) return false;
    if (again.exchange(false, std::memory_order_relaxed)) return true;
    const bool hit = full.hit();
    if (hit) again.store(true, std::memory_order_relaxed);
    return hit;
  }
  bool denied() { return plan.denied != 0 && accesses.fetch_add(1, std::memory_order_relaxed) + 1 >= plan.denied; }

  MockPlan plan;
  EveryNth full;
  EveryNth nostaging;
  EveryNth delay;
  EveryNth lost;
  std::atomic<bool> again = false;
  std::atomic<uint64_t> accesses = 0;
};

// A step to be done later, after so many looks; false: not yet, the way is full.
struct Late {
  uint64_t looks;
  std::function<bool()> end;
};
// The key of private memory that is registered. Offsets in the shared segment are smaller, also behind its beginning.
constexpr uint64_t registered_key = uint64_t{1} << 63;
bool is_registered(const MemoryRef& memory) {
  return memory.key != MemoryRef::no_key && memory.key >= registered_key;
}

// Says that what a message names is written: the tag of no message that carries its contents.
constexpr int32_t written_tag = INT32_MIN;

struct Lates {
  std::deque<Late> list;            // by who may poll the lane
  std::atomic<uint32_t> count = 0;  // of it; any thread may look
};

class MockEndpoint final : public Endpoint {
 public:
  MockEndpoint(Endpoint* inner, Transport& owner, MockFaults& faults, Lates* late)
      : inner_(inner), owner_(owner), faults_(faults), late_(late) {
    attention_ = attention_of(*inner);
  }

  LaneMap lanes() const override { return inner_->lanes(); }
  Post send(uint8_t kind, Envelope envelope, const void* data, uint32_t bytes) override {
    if (faults_.way_full()) return Post::retry;
    return inner_->send(kind, envelope, data, bytes);
  }
  Post send_staged(uint8_t kind, Envelope envelope, const void* data, uint32_t bytes, const Staging& staging,
                   size_t staged) override {
    if (faults_.way_full()) return Post::retry;
    return inner_->send_staged(kind, envelope, data, bytes, staging, staged);
  }
  Post write(uint8_t kind, Envelope envelope, const void* data, uint32_t bytes, const Staging& staging, size_t staged,
             const MemoryRef& to, size_t at, uint32_t lane, Written told) override {
    if (faults_.way_full()) return Post::retry;
    if (!is_registered(to)) return inner_->write(kind, envelope, data, bytes, staging, staged, to, at, lane, told);
    const std::string message(static_cast<const char*>(data), bytes);
    later(lane, [=, this, tried = false, written = false]() mutable {
      const MemoryRef memory{to.address + at, MemoryRef::no_key};
      if (!std::exchange(tried, true)) {
        written = !faults_.lost.hit() && inner_->put(memory, staging.memory, staged) == 0;
      }
      Envelope tagged = envelope;
      if (written) tagged.tag = written_tag;
      const Post posted = written ? inner_->send(kind, tagged, message.data(), bytes)
                                  : inner_->send_staged(kind, envelope, message.data(), bytes, staging, staged);
      if (posted != Post::done) return false;
      if (written) owner_.drop_staging(staging, staged);
      told.call(told.whose, written);
      return true;
    });
    return Post::posted;
  }
  int get(const MemoryRef& from, void* to, size_t bytes) override {
    if (is_registered(from)) return unsupported;  // as between hosts
    return faults_.denied() ? EPERM : inner_->get(from, to, bytes);
  }
  int put(const MemoryRef& to, const void* from, size_t bytes) override {
    return faults_.denied() ? EPERM : inner_->put(to, from, bytes);
  }
  Post read(const MemoryRef& from, size_t at, void* to, size_t& bytes, uint32_t lane, Read& read) override {
    if (faults_.plan.late == 0) return Endpoint::read(from, at, to, bytes, lane, read);
    if (faults_.way_full()) return Post::retry;
    if (faults_.denied()) return Post::unsupported;
    constexpr size_t piece = 64 << 10;
    bytes = std::min(bytes, piece);
    const uint64_t key = is_registered(from) ? MemoryRef::no_key : from.key;
    later(lane, [=, this, &read, bytes = bytes] {
      const bool lost = faults_.lost.hit();
      const int error = inner_->get(advanced({from.address, key}, at), to, lost ? bytes / 2 : bytes);
      read.over(read, lost ? EIO : error);
      return true;
    });
    return Post::posted;
  }
  void* map(const MemoryRef& memory) override { return inner_->map(memory); }
  std::optional<const void*> staging(const Arrival& arrival, uint64_t handle, size_t bytes) override {
    if (arrival.envelope.tag == written_tag) return nullptr;
    return inner_->staging(arrival, handle, bytes);
  }
  void release_staging(uint64_t handle, size_t bytes) override { inner_->release_staging(handle, bytes); }
  Claim* claim(uint32_t slot) override { return faults_.plan.late != 0 ? nullptr : inner_->claim(slot); }

 private:
  void later(uint32_t lane, std::function<bool()> end) {
    late_[lane].list.push_back({faults_.plan.late, std::move(end)});
    late_[lane].count.fetch_add(1, std::memory_order_relaxed);
  }

  Endpoint* inner_;
  Transport& owner_;  // of its staging memory
  MockFaults& faults_;
  Lates* late_;  // by lane
};

class MockTransport final : public Transport {
 public:
  MockTransport(Transport* inner, const MockPlan& plan) : inner_(inner), faults_(plan) {
    capabilities_ = inner->capabilities();
    if (plan.denied != 0) capabilities_.map = capabilities_.atomics = false;
    if (plan.late == 0) return;
    capabilities_.read = capabilities_.write = true;
    capabilities_.claims = false;
  }
  ~MockTransport() override {
    const int64_t left = registered_.load(std::memory_order_relaxed);
    if (left == 0) return;
    fail_for_good({.cause = "memory was registered " + std::to_string(left) + " times more than it was deregistered",
                   .remedy = "this is a defect of Weft: please report it with the program"});
  }

  const char* name() const override { return "mock"; }
  bool reaches(int rank) const override { return inner_->reaches(rank); }
  Endpoint* connect(int rank) override {
    const std::lock_guard guard(connect_mutex_);
    std::unique_ptr<MockEndpoint>& known = endpoints_[rank];
    if (known == nullptr) known = std::make_unique<MockEndpoint>(inner_->connect(rank), *inner_, faults_, late_);
    return known.get();
  }
  void forget(int rank) override {
    const std::lock_guard guard(connect_mutex_);
    endpoints_.erase(rank);
    inner_->forget(rank);
  }
  int poll(uint32_t lane, Sink sink) override {
    const int ended = end_late(lane);
    if (faults_.plan.delay != 0 && !faults_.delay.hit()) return ended;
    return ended + inner_->poll(lane, sink);
  }
  void drain(uint32_t lane, Sink sink) override { inner_->drain(lane, sink); }
  bool looks_empty(uint32_t lane) const override {
    return inner_->looks_empty(lane) && late_[lane].count.load(std::memory_order_relaxed) == 0;
  }
  Staging reserve_staging(size_t bytes) override {
    return faults_.nostaging.hit() ? Staging{} : inner_->reserve_staging(bytes);
  }
  void drop_staging(const Staging& staging, size_t bytes) override { inner_->drop_staging(staging, bytes); }
  MemoryRef register_memory(void* address, size_t bytes, Access access) override {
    MemoryRef memory = inner_->register_memory(address, bytes, access);
    if (faults_.plan.denied != 0) memory.key = MemoryRef::no_key;  // no shared heap: the kernel must be asked
    if (faults_.plan.late == 0 || access == Access::named) return memory;
    if (access == Access::read && memory.key != MemoryRef::no_key) return memory;
    memory.key = registered_key;
    registered_.fetch_add(1, std::memory_order_relaxed);
    return memory;
  }
  void deregister(const MemoryRef& memory) override {
    if (!is_registered(memory)) return inner_->deregister(memory);
    registered_.fetch_sub(1, std::memory_order_relaxed);
  }
  Claim* claim(uint32_t slot) override { return capabilities_.claims ? inner_->claim(slot) : nullptr; }
  void* allocate(size_t bytes, size_t alignment) override { return inner_->allocate(bytes, alignment); }
  pages::Grant grant(size_t bytes, const pages::Wish& wish) override { return inner_->grant(bytes, wish); }
  bool granted(const void* memory, pages::Grant& grant) override { return inner_->granted(memory, grant); }
  bool release(void* memory) override { return inner_->release(memory); }
  void set_congested(bool on) override { inner_->set_congested(on); }
  void arm() override { inner_->arm(); }
  void watch_memory(bool on) override { inner_->watch_memory(on); }
  void sleep(uint64_t timeout_ns) override {
    // A message that a delayed look left in the ring, or a late read, wakes nobody.
    constexpr uint64_t shortly = 100000;
    const bool held_back = faults_.plan.delay != 0 || faults_.plan.full != 0 || faults_.plan.late != 0;
    inner_->sleep(held_back ? shortly : timeout_ns);
  }
  void disarm() override { inner_->disarm(); }
  void wake() override { inner_->wake(); }
  void wake_on(int descriptor) override { inner_->wake_on(descriptor); }

 private:
  int end_late(uint32_t lane) {
    std::deque<Late>& late = late_[lane].list;
    int ended = 0;
    for (Late& one : late) one.looks -= one.looks != 0 ? 1 : 0;
    while (!late.empty() && late.front().looks == 0) {
      Late one = std::move(late.front());
      late.pop_front();
      if (!one.end()) {
        late.push_front(std::move(one));
        break;
      }
      late_[lane].count.fetch_sub(1, std::memory_order_relaxed);
      ++ended;
    }
    return ended;
  }

  Transport* inner_;
  MockFaults faults_;
  Lates late_[max_lanes];
  std::mutex connect_mutex_;  // of the next
  std::map<int, std::unique_ptr<MockEndpoint>> endpoints_;
  std::atomic<int64_t> registered_ = 0;
};

}  // namespace

std::string parse(const char* text, MockPlan& plan) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(part.size() == rest.size() ? part.size() : part.size() + 1);
    const size_t equals = part.find('=');
    uint64_t* field = nullptr;
    if (equals != std::string_view::npos) {
      const std::string_view name = part.substr(0, equals);
      if (name == "full") field = &plan.full;
      if (name == "denied") field = &plan.denied;
      if (name == "nostaging") field = &plan.nostaging;
      if (name == "delay") field = &plan.delay;
      if (name == "late") field = &plan.late;
      if (name == "lost") field = &plan.lost;
    }
    if (field == nullptr)
      return "'" + std::string(part) +
             "' is no fault; known are full, denied, nostaging, delay, late, lost, each with =N";
    const char* end = part.data() + part.size();
    const auto [stop, error] = std::from_chars(part.data() + equals + 1, end, *field);
    if (error != std::errc() || stop != end) return "'" + std::string(part) + "' has no number behind the '='";
  }
  if (plan.lost != 0 && plan.late == 0) return "lost=N is about the reads and writes that late=N makes";
  if (plan.full == 1 || plan.nostaging == 1) return "full=1 and nostaging=1 would never let anything through";
  return {};
}

Transport* wrap(Transport* inner, const MockPlan& plan) {
  return new MockTransport(inner, plan);
}

Transport* wrap_if_asked(Transport* inner) {
  if (*mock_setting.value() == '\0') return inner;
  MockPlan plan;
  if (std::string wrong = parse(mock_setting.value(), plan); !wrong.empty()) {
    fail_for_good({.cause = "WEFT_MOCK: " + wrong, .remedy = "see weft info --all"});
  }
  return wrap(inner, plan);
}

}  // namespace weft::transport::mock
