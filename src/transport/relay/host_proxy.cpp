// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/relay/host_proxy.hpp"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>
#include <utility>

#include "base/clock.hpp"
#include "base/message.hpp"
#include "base/own_cpus.hpp"
#include "transport/api/failure.hpp"
#include "transport/api/turned_away.hpp"

namespace weft::transport::relay {
namespace {

constexpr uint64_t soon_ns = 1000000;  // while something is in flight
constexpr uint64_t later_ns = 10000000000;
constexpr uint64_t unwoken_ns = 100000;  // where the carrier has no descriptor
// The host proxy looks so often before it sleeps: some 50 us where no other thread wants the processor. Measured in
// docs/measurements/large-jobs.md.
constexpr uint32_t looks_most = 48;
constexpr uint64_t long_ns = 200000;       // of a yield
constexpr uint32_t sleeps_crowded = 1000;  // before another one is tried
constexpr size_t spare_most = 4;

}  // namespace

HostProxy::HostProxy(const RelayMemory& memory, std::vector<int> here, const Make& make, std::function<void(int)> wake)
    : memory_(memory),
      here_(std::move(here)),
      wake_(std::move(wake)),
      places_(memory.layout().places),
      frames_(std::make_unique<OutgoingFrame[]>(memory.layout().outward)),
      words_(std::make_unique<OutgoingFrame[]>(size_t{memory.layout().places} * words_of_rank)),
      holders_(memory.layout().inward) {
  const RelayLayout& layout = memory.layout();
  memory.reserve(layout.inward_at, layout.inward * size_t{layout.inward_stride});
  for (uint32_t place = 0; place < layout.places; ++place) {
    RankPage& page = memory.page(place);
    places_[place].outward.open(page.outward, page.outward_items, outward_room);
    places_[place].inward.open(page.inward, page.inward_items, inward_room);
  }
  if (!bell_.open()) {
    fail_for_good({.cause = "the system gives no socket by which the ranks of this host wake the one that forwards for "
                            "them",
                   .error = errno,
                   .remedy = "raise the limit on open files (ulimit -n), or set WEFT_MINIMUM_MEMORY=on"});
  }
  carrier_ = make({memory.inward(0), layout.inward_stride, layout.inward});
  carrier_->register_buffers(memory.outward(0), layout.outward * size_t{layout.outward_stride});
  carrier_->register_buffers(&memory.page(0), layout.places * sizeof(RankPage));
  const std::string address = carrier_->address(0);
  if (address.size() > address_most) {
    fail_for_good({.cause = "the network's address of this host has " + std::to_string(address.size()) + " bytes",
                   .remedy = "set WEFT_MINIMUM_MEMORY=on, with which each rank has an address of its own"});
  }
  Head& head = memory.head();
  address.copy(head.address, address_most);
  head.address_bytes = static_cast<uint32_t>(address.size());
  head.bell = bell_.number();
  head.ready.store(1, std::memory_order_release);
}

HostProxy::~HostProxy() {
  if (started_) {
    ends_.store(true, std::memory_order_relaxed);
    bell_.ring(bell_.number());
    pthread_join(thread_, nullptr);
  }
  for (const Place& place : places_) {
    for (const WaitingFrame& kept : place.waiting) drop(kept);
  }
  for (unsigned char* memory : spare_) munmap(memory, memory_.layout().frame);
}

// The program's signals are not for this thread.
void HostProxy::start() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const auto body = [](void* proxy) -> void* {
    base::enter_service_cpus();
    static_cast<HostProxy*>(proxy)->run();
    return nullptr;
  };
  const int error = pthread_create(&thread_, nullptr, body, this);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) {
    fail_for_good({.cause = "the system gives no thread that forwards messages of the ranks of this host",
                   .error = error,
                   .remedy = "raise the limit on processes (ulimit -u), or set WEFT_MINIMUM_MEMORY=on"});
  }
  pthread_setname_np(thread_, "weft-relay");
  started_ = true;
}

// It shares its processor with ranks, and so yields where others would spin: an answer mostly comes soon, and a sleep
// costs both hosts a wake-up. Where a yield takes long, others compute: a thread that sleeps gets the processor sooner
// there than one that has yielded.
void HostProxy::run() {
  uint32_t idle = 0, crowded = 0;
  while (!ends_.load(std::memory_order_relaxed)) {
    if (advance()) {
      idle = 0;
    } else if (crowded == 0 && ++idle < looks_most) {
      const uint64_t before = base::now_ns();
      sched_yield();
      if (base::now_ns() - before > long_ns) crowded = sleeps_crowded;
    } else {
      sleep();
      idle = 0;
      if (crowded != 0) --crowded;
    }
  }
}

bool HostProxy::advance() {
  bool moved = take_from_ranks();
  if (!unsent_.empty()) moved |= post_again();
  if (late_ != 0) moved |= tell_late();
  moved |= carrier_->poll(0, *this) != 0;
  return moved;
}

// A rank writes to its ring, then looks whether the host proxy sleeps (RelayCarrier::call); the host proxy says so,
// then looks at the rings once more: both with a full fence in between.
void HostProxy::sleep() {
  std::atomic<uint32_t>& asleep = memory_.head().asleep;
  asleep.store(1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!advance() && carrier_->may_sleep() && !ends_.load(std::memory_order_relaxed)) {
    const int descriptor = carrier_->wait_descriptor();
    const bool open = in_flight_ != 0 || !unsent_.empty() || late_ != 0;
    bell_.wait(descriptor, descriptor < 0 ? unwoken_ns : open ? soon_ns : later_ns);
  }
  asleep.store(0, std::memory_order_relaxed);
}

bool HostProxy::take_from_ranks() {
  bool moved = false;
  for (uint32_t place = 0; place < places_.size(); ++place) {
    ItemRingReader& ring = places_[place].outward;
    Item item;
    for (uint32_t taken = 0; taken < outward_room && ring.read(item); ++taken) {
      moved = true;
      if (!take(place, item)) report_wrong(place);
    }
    if (ring.is_damaged()) [[unlikely]]
      report_wrong(place);
  }
  return moved;
}

// false: a correct rank sends nothing like that.
bool HostProxy::take(uint32_t place, const Item& item) {
  switch (item.what) {
    case ItemKind::frame:
      return item.number < memory_.layout().outward && memory_.belongs_to(place, item.number) &&
             take_frame(place, item, frames_[item.number], memory_.outward(item.number),
                        memory_.layout().outward_stride);
    case ItemKind::word:
      return item.number < words_of_rank &&
             take_frame(place, item, word_of(place, item.number), memory_.page(place).words[item.number].bytes,
                        sizeof(ControlFrame));
    case ItemKind::host:
      return take_host(place, item);
    case ItemKind::back:
      return take_back(place, item);
    default:
      return false;
  }
}

bool HostProxy::take_host(uint32_t place, const Item& item) {
  std::vector<net::Address>& hosts = places_[place].hosts;
  RankPage& page = memory_.page(place);
  if (item.number != hosts.size() || item.bytes > address_most) return false;
  const std::string text(page.address, item.bytes);
  auto known = hosts_.find(text);
  if (known == hosts_.end()) {
    net::Address address = 0;
    if (!carrier_->insert(text, address)) return false;
    known = hosts_.emplace(text, address).first;
  }
  hosts.push_back(known->second);
  page.address_in_use.store(0, std::memory_order_release);
  return true;
}

bool HostProxy::take_frame(uint32_t place, const Item& item, OutgoingFrame& out, const unsigned char* memory,
                           size_t room) {
  const std::vector<net::Address>& hosts = places_[place].hosts;
  if (out.in_flight || item.host >= hosts.size() || item.at > room || item.bytes > room - item.at ||
      item.bytes < sizeof(Prefix) || item.bytes > memory_.layout().frame)
    return false;
  out.in_flight = true;
  ++in_flight_;
  out.place = place;
  out.rank = item.rank;
  out.to = hosts[item.host];
  out.start = memory + item.at;
  out.bytes = item.bytes;
  post(out);
  return true;
}

void HostProxy::post(OutgoingFrame& out) {
  const int error = carrier_->send(0, &out.buffer, out.start, out.bytes, out.to);
  if (error == EAGAIN) {
    unsent_.push_back(&out);
  } else if (error != 0) {
    end(out, error == net::Carrier::gone ? 0 : error);
  }
}

// One that does not go, as while a connection is being made, does not keep others.
bool HostProxy::post_again() {
  const std::vector<OutgoingFrame*> again = std::exchange(unsent_, {});
  for (OutgoingFrame* out : again) post(*out);
  return unsent_.size() < again.size();
}

void HostProxy::sent(uint32_t /*lane*/, net::Buffer* buffer, int error) {
  end(*reinterpret_cast<OutgoingFrame*>(buffer), error);
}

void HostProxy::end(OutgoingFrame& out, int error) {
  out.in_flight = false;
  --in_flight_;
  RankPage& page = memory_.page(out.place);
  if (&out >= &frames_[0] && &out < &frames_[0] + memory_.layout().outward) {
    memory_.free(static_cast<uint32_t>(&out - &frames_[0]));
    page.sent.fetch_add(1, std::memory_order_release);
  } else {
    page.word_in_use[static_cast<size_t>(&out - &words_[0]) % words_of_rank].store(0, std::memory_order_release);
  }
  if (error != 0) tell(out.place, {.what = ItemKind::lost, .rank = out.rank, .error = error});
}

bool HostProxy::find_place(const unsigned char* frame, size_t bytes, uint32_t& place) {
  Prefix prefix;
  if (bytes < sizeof prefix) return false;
  std::memcpy(&prefix, frame, sizeof prefix);
  auto at = std::lower_bound(here_.begin(), here_.end(), static_cast<int64_t>(prefix.rank));
  if (at != here_.end() && *at != static_cast<int64_t>(prefix.rank)) at = here_.end();
  if (at == here_.end() || prefix.check != rank_check(prefix.rank)) [[unlikely]] {
    const auto checked = std::find_if(
        here_.begin(), here_.end(), [&](int rank) { return rank_check(static_cast<uint32_t>(rank)) == prefix.check; });
    if (checked != here_.end()) at = checked;
  }
  if (at == here_.end()) return false;
  place = static_cast<uint32_t>(at - here_.begin());
  return true;
}

// A rank that takes nothing holds a few buffers; other frames for it wait in memory of their own. Its senders' credits
// bound that.
net::Events::Came HostProxy::came(uint32_t /*lane*/, const unsigned char* frame, size_t bytes) {
  uint32_t place = 0;
  if (bytes > memory_.layout().frame || !find_place(frame, bytes, place)) {
    carrier_->renew(frame);
    count_turned_away();
    if (!std::exchange(warned_, true)) {
      base::warn({.cause = "a message of " + std::to_string(bytes) +
                           " bytes came in that is for no rank of this host; it is turned away, as others will be",
                  .remedy = ""});
    }
    return Came::refused;
  }
  Place& to = places_[place];
  if (to.held < memory_.layout().held && to.waiting.empty()) {
    hand_in(place,
            static_cast<uint32_t>(static_cast<size_t>(frame - memory_.inward(0)) / memory_.layout().inward_stride),
            static_cast<uint32_t>(bytes));
    return Came::in_turn;
  }
  to.waiting.push_back(keep(frame, bytes));
  carrier_->renew(frame);
  // It may have given all back before it could see that this one waits.
  memory_.page(place).waits.store(1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return Came::in_turn;
}

HostProxy::WaitingFrame HostProxy::keep(const unsigned char* frame, size_t bytes) {
  WaitingFrame kept{nullptr, bytes};
  if (!kept.is_mapped()) {
    kept.memory = new (std::nothrow) unsigned char[bytes];
  } else if (!spare_.empty()) {
    kept.memory = spare_.back();
    spare_.pop_back();
  } else {
    void* const mapped =
        mmap(nullptr, memory_.layout().frame, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped != MAP_FAILED) kept.memory = static_cast<unsigned char*>(mapped);
  }
  if (kept.memory == nullptr) {
    fail_for_good({.cause = "no memory for a message from another host that its rank does not take yet",
                   .error = errno,
                   .remedy = "free memory on this host, or raise the job's memory limit"});
  }
  std::memcpy(kept.memory, frame, bytes);
  return kept;
}

void HostProxy::drop(const WaitingFrame& kept) {
  if (!kept.is_mapped()) {
    delete[] kept.memory;
  } else if (spare_.size() < spare_most) {
    spare_.push_back(kept.memory);
  } else {
    munmap(kept.memory, memory_.layout().frame);
  }
}

void HostProxy::hand_in(uint32_t place, uint32_t number, uint32_t bytes) {
  ++places_[place].held;
  holders_[number] = place + 1;
  tell(place, {.what = ItemKind::frame, .number = number, .at = sizeof(Prefix), .bytes = bytes});
}

bool HostProxy::take_back(uint32_t place, const Item& item) {
  if (item.number >= holders_.size() || holders_[item.number] != place + 1) return false;
  Place& from = places_[place];
  holders_[item.number] = 0;
  --from.held;
  unsigned char* const frame = memory_.inward(item.number);
  if (from.waiting.empty()) {
    carrier_->renew(frame);
    return true;
  }
  const WaitingFrame next = from.waiting.front();
  const auto bytes = static_cast<uint32_t>(next.bytes);
  std::memcpy(frame, next.memory, bytes);
  from.waiting.pop_front();
  drop(next);
  if (from.waiting.empty()) memory_.page(place).waits.store(0, std::memory_order_relaxed);
  hand_in(place, item.number, bytes);
  return true;
}

void HostProxy::tell(uint32_t place, const Item& item) {
  Place& to = places_[place];
  if (!to.late.empty() || !to.inward.write(item)) {
    to.late.push_back(item);
    ++late_;
    return;
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);
  wake_(static_cast<int>(place));
}

bool HostProxy::tell_late() {
  const uint32_t before = late_;
  for (uint32_t place = 0; place < places_.size(); ++place) {
    Place& to = places_[place];
    const size_t waited = to.late.size();
    while (!to.late.empty() && to.inward.write(to.late.front())) to.late.pop_front();
    late_ -= static_cast<uint32_t>(waited - to.late.size());
    if (to.late.size() != waited) wake_(static_cast<int>(place));
  }
  return late_ != before;
}

void HostProxy::report_wrong(uint32_t place) {
  if (std::exchange(places_[place].wrong, true)) return;
  const std::string rank = std::to_string(here_[place]);
  fail(here_[place], {.cause = "rank " + rank +
                               " asked the first rank of its host to send, or to take back, a buffer "
                               "that it does not hold",
                      .remedy = "see whether the program writes outside of its own memory; otherwise this is a defect "
                                "of Weft: please report it"});
}

}  // namespace weft::transport::relay
