// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/relay/carrier.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <mutex>
#include <utility>

#include "transport/api/failure.hpp"
#include "transport/net/socket.hpp"

namespace weft::transport::relay {

RelayCarrier::RelayCarrier(const Host& host, const HostProxy::Make& make, bool threads)
    : rank_(static_cast<uint32_t>(host.here[static_cast<size_t>(host.place)])),
      place_(static_cast<uint32_t>(host.place)),
      threads_(threads),
      staged_most_(std::max(host.buffers.count / static_cast<int>(host.here.size()), 1)),
      memory_(host.segment, host.offset, layout_for(static_cast<int>(host.here.size()), host.buffers)),
      page_(memory_.page(place_)) {
  inward_.open(page_.inward, page_.inward_items, inward_room);
  outward_.open(page_.outward, page_.outward_items, outward_room);
  if (!bell_.open()) {
    fail_for_good({.cause = "the system gives no socket to wake the rank that forwards for this host",
                   .error = errno,
                   .remedy = "raise the limit on open files (ulimit -n), or set WEFT_MINIMUM_MEMORY=on"});
  }
  if (place_ != 0) return;
  proxy_ = std::make_unique<HostProxy>(memory_, host.here, make, host.wake);
  proxy_->start();
}

RelayCarrier::~RelayCarrier() = default;

// The host proxy's, and the rank's number behind it. The first rank of the host may still be opening its endpoint:
// should it fail, the job ends.
std::string RelayCarrier::address(uint32_t /*lane*/) {
  const Head& head = memory_.head();
  constexpr timespec shortly{0, 1000000};
  while (head.ready.load(std::memory_order_acquire) == 0) nanosleep(&shortly, nullptr);
  std::string text(head.address, std::min(head.address_bytes, address_most));
  text.append(reinterpret_cast<const char*>(&rank_), sizeof rank_);
  return text;
}

bool RelayCarrier::insert(std::string_view bytes, net::Address& address) {
  uint32_t rank = 0;
  if (bytes.size() <= sizeof rank || bytes.size() > address_most + sizeof rank) return false;
  const std::string_view host = bytes.substr(0, bytes.size() - sizeof rank);
  std::memcpy(&rank, bytes.data() + host.size(), sizeof rank);
  const base::LockIf guard(lock_, threads_);
  const auto known = std::find_if(hosts_.begin(), hosts_.end(), [&](const RelayPeer& h) { return h.address == host; });
  const auto number = static_cast<uint64_t>(known - hosts_.begin());
  if (known == hosts_.end()) hosts_.push_back({.address = std::string(host)});
  address = number << 32 | rank;
  return true;
}

// A rank whose frames do not leave gets another buffer while it holds fewer than are free beyond one for each other
// rank; and it holds no more that wait for peers than its share of those for large messages. Small ones take others
// first, of which most of the memory is never touched.
bool RelayCarrier::find_buffer(Use use, uint32_t& number) {
  const RelayLayout& layout = memory_.layout();
  const uint32_t in_flight = sent_ - page_.sent.load(std::memory_order_acquire);
  if (in_flight >= frames_most || (in_flight != 0 && in_flight + layout.places > memory_.free_buffers())) return false;
  if (use != Use::staging && memory_.claim(place_, layout.staged, layout.outward, number)) return true;
  if (use == Use::staging && staged_ >= staged_most_) return false;
  return memory_.claim(place_, 0, layout.staged, number);
}

bool RelayCarrier::find_word(uint32_t& number) {
  for (number = 0; number < words_of_rank; ++number) {
    std::atomic<uint32_t>& in_use = page_.word_in_use[number];
    if (in_use.load(std::memory_order_acquire) != 0) continue;
    in_use.store(1, std::memory_order_relaxed);
    return true;
  }
  return false;
}

net::Buffer* RelayCarrier::lend(Use use) {
  const base::LockIf guard(lock_, threads_);
  uint32_t number = 0;
  if (!(use == Use::word ? find_word(number) : find_buffer(use, number))) return nullptr;
  LentBuffer* lent = static_cast<LentBuffer*>(free_);
  if (lent == nullptr) {
    lent = &lent_.emplace_back();
  } else {
    free_ = lent->next;
  }
  lent->number = number;
  lent->use = use;
  lent->is_here = true;
  lent->bytes = use == Use::word ? page_.words[number].bytes + sizeof(Prefix) : memory_.outward(number) + before_frame;
  if (use == Use::staging) ++staged_;
  return lent;
}

// Not in use any more by us: the host proxy has it, or it was not sent.
void RelayCarrier::take_back(net::Buffer* buffer) {
  const base::LockIf guard(lock_, threads_);
  auto* const lent = static_cast<LentBuffer*>(buffer);
  if (std::exchange(lent->is_here, false)) {
    if (lent->use == Use::staging) --staged_;
    if (lent->use == Use::word) {
      page_.word_in_use[lent->number].store(0, std::memory_order_relaxed);
    } else {
      memory_.free(lent->number);
    }
  }
  lent->next = std::exchange(free_, lent);
}

// The host proxy learns of a host before the first frame to it.
bool RelayCarrier::announce(uint32_t number) {
  RelayPeer& host = hosts_[number];
  if (host.announced) return true;
  if (page_.address_in_use.load(std::memory_order_acquire) != 0) return false;
  page_.address_in_use.store(1, std::memory_order_relaxed);
  host.address.copy(page_.address, address_most);
  host.announced = true;
  put({.what = ItemKind::host, .number = number, .bytes = static_cast<uint32_t>(host.address.size())});
  return true;
}

int RelayCarrier::send(uint32_t /*lane*/, net::Buffer* buffer, const void* start, size_t bytes, net::Address to) {
  const base::LockIf guard(lock_, threads_);
  auto* const lent = static_cast<LentBuffer*>(buffer);
  const auto host = static_cast<uint32_t>(to >> 32);
  const auto rank = static_cast<uint32_t>(to);
  if (!announce(host)) return EAGAIN;
  const Prefix prefix{rank, rank_check(rank)};
  auto* const front = static_cast<unsigned char*>(const_cast<void*>(start)) - sizeof prefix;
  std::memcpy(front, &prefix, sizeof prefix);
  const bool is_word = lent->use == Use::word;
  const unsigned char* const memory = is_word ? page_.words[lent->number].bytes : memory_.outward(lent->number);
  lent->is_here = false;
  if (lent->use == Use::staging) --staged_;
  if (!is_word) ++sent_;
  put({.what = is_word ? ItemKind::word : ItemKind::frame,
       .number = lent->number,
       .at = static_cast<uint32_t>(front - memory),
       .bytes = static_cast<uint32_t>(bytes + sizeof prefix),
       .host = host,
       .rank = rank});
  call();
  return gone;
}

// Called under the lock. The ring has space for all that is in use, unless the host proxy counts wrongly.
void RelayCarrier::put(const Item& item) {
  if (!outward_.write(item)) report_wrong();
}

// Pairs with HostProxy::sleep.
void RelayCarrier::call() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  Head& head = memory_.head();
  if (head.asleep.load(std::memory_order_relaxed) == 0 || head.asleep.exchange(0, std::memory_order_relaxed) == 0)
    return;
  bell_.ring(head.bell);
}

bool RelayCarrier::all_sent() const {
  const base::LockIf guard(lock_, threads_);
  if (page_.sent.load(std::memory_order_acquire) != sent_) return false;
  return std::all_of(std::begin(page_.word_in_use), std::end(page_.word_in_use),
                     [](const auto& word) { return word.load(std::memory_order_relaxed) == 0; });
}

int RelayCarrier::poll(uint32_t /*lane*/, net::Events& events) {
  int count = 0;
  Item item;
  for (; count < static_cast<int>(inward_room) && inward_.read(item); ++count) take(item, events);
  if (inward_.is_damaged()) [[unlikely]]
    report_wrong();
  return count;
}

void RelayCarrier::take(const Item& item, net::Events& events) {
  if (item.what == ItemKind::lost) return events.lost(item.rank, item.error);
  if (item.what != ItemKind::frame || item.number >= memory_.layout().inward || item.at != sizeof(Prefix) ||
      item.bytes < sizeof(Prefix) || item.bytes > memory_.layout().frame)
    return report_wrong();
  (void)events.came(0, memory_.inward(item.number) + item.at, item.bytes - sizeof(Prefix));
  const base::LockIf guard(lock_, threads_);
  put({.what = ItemKind::back, .number = item.number});
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (page_.waits.load(std::memory_order_relaxed) != 0) call();
}

void RelayCarrier::report_wrong() {
  if (std::exchange(wrong_, true)) return;
  fail_for_good({.cause = "the first rank of this host, which forwards for all of it, named a buffer that there is not",
                 .remedy = "see whether the program writes outside of its own memory; otherwise this is a defect of "
                           "Weft: please report it"});
}

std::string RelayCarrier::error_text(int error) const {
  return net::text_of_error(error);
}

}  // namespace weft::transport::relay
