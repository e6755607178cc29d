// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/mock/transport.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <deque>
#include <memory>
#include <string_view>

#include "base/message.hpp"
#include "base/setting.hpp"

namespace weft::transport::mock {

namespace {

constinit base::TextSetting mock_setting{
    {.name = "WEFT_MOCK",
     .help = "faults to play in tests: full=N,denied=N,nostaging=N,delay=N,late=N,lost=N",
     .subject = base::Subject::messages}};
WEFT_SETTING(mock_setting);

// Counts events and picks every Nth. Thread-safe.
class EveryNth {
 public:
  explicit EveryNth(uint64_t n) : n_(n) {}
  bool hit() { return n_ != 0 && (count_.fetch_add(1, std::memory_order_relaxed) + 1) % n_ == 0; }

 private:
  uint64_t n_;
  std::atomic<uint64_t> count_ = 0;
};

struct Faults {
  explicit Faults(const Plan& asked)
      : plan(asked), full(asked.full), nostaging(asked.nostaging), delay(asked.delay), lost(asked.lost) {}
  bool denied() { return plan.denied != 0 && accesses.fetch_add(1, std::memory_order_relaxed) + 1 >= plan.denied; }

  Plan plan;
  EveryNth full;
  EveryNth nostaging;
  EveryNth delay;
  EveryNth lost;
  std::atomic<uint64_t> accesses = 0;
};

// A read that is to be done later.
struct LateRead {
  Read* read;
  Endpoint* from;
  MemoryRef memory;
  size_t at;
  void* to;
  size_t bytes;
  uint64_t looks;  // left
};
// The key of private memory that is lent. Offsets in the shared segment are smaller, also behind its beginning.
constexpr uint64_t lent_key = uint64_t{1} << 63;
bool is_lent(const MemoryRef& memory) {
  return memory.key != MemoryRef::no_key && memory.key >= lent_key;
}

struct LateReads {
  std::deque<LateRead> list;        // by who may poll the lane
  std::atomic<uint32_t> count = 0;  // of it; any thread may look
};

class MockEndpoint final : public Endpoint {
 public:
  MockEndpoint(Endpoint* inner, Faults& faults, LateReads* late) : inner_(inner), faults_(faults), late_(late) {
    attention_ = attention_of(*inner);
  }

  LaneMap lanes() const override { return inner_->lanes(); }
  Post send(uint8_t kind, Envelope envelope, const void* data, uint32_t bytes) override {
    if (faults_.full.hit()) return Post::retry;
    return inner_->send(kind, envelope, data, bytes);
  }
  Post send_prompt(uint8_t kind, Envelope envelope, const void* data, uint32_t bytes) override {
    if (faults_.full.hit()) return Post::retry;
    return inner_->send_prompt(kind, envelope, data, bytes);
  }
  Post send_staged(uint8_t kind, Envelope envelope, const void* data, uint32_t bytes, const Staging& staging,
                   size_t staged) override {
    if (faults_.full.hit()) return Post::retry;
    return inner_->send_staged(kind, envelope, data, bytes, staging, staged);
  }
  int get(const MemoryRef& from, void* to, size_t bytes) override {
    if (is_lent(from)) return ENOTSUP;  // as between hosts
    return faults_.denied() ? EPERM : inner_->get(from, to, bytes);
  }
  int put(const MemoryRef& to, const void* from, size_t bytes) override {
    return faults_.denied() ? EPERM : inner_->put(to, from, bytes);
  }
  Begun begin_get(const MemoryRef& from, size_t at, void* to, size_t& bytes, uint32_t lane, Read& read) override {
    if (faults_.plan.late == 0) return Endpoint::begin_get(from, at, to, bytes, lane, read);
    if (faults_.full.hit()) return Begun::retry;
    if (faults_.denied()) return Begun::refused;
    constexpr size_t piece = 64 << 10;
    bytes = std::min(bytes, piece);
    const uint64_t key = is_lent(from) ? MemoryRef::no_key : from.key;
    late_[lane].list.push_back({&read, inner_.get(), {from.address, key}, at, to, bytes, faults_.plan.late});
    late_[lane].count.fetch_add(1, std::memory_order_relaxed);
    return Begun::posted;
  }
  void* map(const MemoryRef& memory) override { return inner_->map(memory); }
  const void* staging(const Arrival& arrival, uint64_t handle) override { return inner_->staging(arrival, handle); }
  void release_staging(uint64_t handle, size_t bytes) override { inner_->release_staging(handle, bytes); }
  Claim* claim(uint32_t slot) override { return faults_.plan.late != 0 ? nullptr : inner_->claim(slot); }

 private:
  std::unique_ptr<Endpoint> inner_;
  Faults& faults_;
  LateReads* late_;  // by lane
};

class MockTransport final : public Transport {
 public:
  MockTransport(Transport* inner, const Plan& plan) : inner_(inner), faults_(plan) {}
  ~MockTransport() override {
    const int64_t lent = lent_.load(std::memory_order_relaxed);
    if (lent == 0) return;
    base::die({.cause = "memory was lent " + std::to_string(lent) + " times more than it was taken back",
               .remedy = "this is a defect of Weft: please report it with the program"});
  }

  const char* name() const override { return "mock"; }
  Endpoint* connect(int rank) override { return new MockEndpoint(inner_->connect(rank), faults_, late_); }
  int poll(uint32_t lane, Sink sink) override {
    const int reads = end_reads(lane);
    if (faults_.plan.delay != 0 && !faults_.delay.hit()) return reads;
    return reads + inner_->poll(lane, sink);
  }
  void drain(uint32_t lane, Sink sink) override { inner_->drain(lane, sink); }
  bool looks_empty(uint32_t lane) const override {
    return inner_->looks_empty(lane) && late_[lane].count.load(std::memory_order_relaxed) == 0;
  }
  Staging reserve_staging(size_t bytes) override {
    return faults_.nostaging.hit() ? Staging{} : inner_->reserve_staging(bytes);
  }
  void drop_staging(const Staging& staging, size_t bytes) override { inner_->drop_staging(staging, bytes); }
  size_t staging_limit() const override { return inner_->staging_limit(); }
  MemoryRef describe(const void* address, size_t bytes, bool lend) override {
    MemoryRef memory = inner_->describe(address, bytes, lend);
    if (faults_.plan.denied != 0) memory.key = MemoryRef::no_key;  // no shared heap: the kernel must be asked
    if (lend && faults_.plan.late != 0 && memory.key == MemoryRef::no_key) {
      memory.key = lent_key;
      lent_.fetch_add(1, std::memory_order_relaxed);
    }
    return memory;
  }
  void take_back(const MemoryRef& memory) override {
    if (!is_lent(memory)) return inner_->take_back(memory);
    lent_.fetch_sub(1, std::memory_order_relaxed);
  }
  Claim* claim(uint32_t slot) override { return faults_.plan.late != 0 ? nullptr : inner_->claim(slot); }
  void set_congested(bool on) override { inner_->set_congested(on); }
  void arm() override { inner_->arm(); }
  void sleep(uint64_t timeout_ns) override {
    // What a delayed look left in the ring, or a late read, wakes nobody.
    constexpr uint64_t shortly = 100000;
    const bool held_back = faults_.plan.delay != 0 || faults_.plan.full != 0 || faults_.plan.late != 0;
    inner_->sleep(held_back ? shortly : timeout_ns);
  }
  void disarm() override { inner_->disarm(); }
  void wake() override { inner_->wake(); }
  void wake_on(int descriptor) override { inner_->wake_on(descriptor); }

 private:
  int end_reads(uint32_t lane) {
    std::deque<LateRead>& late = late_[lane].list;
    int ended = 0;
    for (LateRead& one : late) --one.looks;
    while (!late.empty() && late.front().looks == 0) {
      const LateRead one = late.front();
      late.pop_front();
      late_[lane].count.fetch_sub(1, std::memory_order_relaxed);
      const bool lost = faults_.lost.hit();
      const int error = one.from->get(advanced(one.memory, one.at), one.to, lost ? one.bytes / 2 : one.bytes);
      one.read->over(*one.read, lost ? EIO : error);
      ++ended;
    }
    return ended;
  }

  Transport* inner_;
  Faults faults_;
  LateReads late_[max_lanes];
  std::atomic<int64_t> lent_ = 0;
};

}  // namespace

std::string parse(const char* text, Plan& plan) {
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
  if (plan.lost != 0 && plan.late == 0) return "lost=N is about the reads that late=N makes";
  if (plan.full == 1 || plan.nostaging == 1) return "full=1 and nostaging=1 would never let anything through";
  return {};
}

Transport* wrap(Transport* inner, const Plan& plan) {
  return new MockTransport(inner, plan);
}

Transport* wrap_if_asked(Transport* inner) {
  if (*mock_setting.value() == '\0') return inner;
  Plan plan;
  if (std::string wrong = parse(mock_setting.value(), plan); !wrong.empty()) {
    base::die({.cause = "WEFT_MOCK: " + wrong, .remedy = "see weft info --all"});
  }
  return wrap(inner, plan);
}

}  // namespace weft::transport::mock
