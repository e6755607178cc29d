// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "observe/counted_call.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/ticks.hpp"
#include "core/diagnose/call_site.hpp"
#include "observe/block.hpp"

namespace weft::observe {
namespace {

// The next slot of a table that holds the key, or that gets it; nullptr when no slot near is free.
template <class Slot, class Key, class Fill>
Slot* slot_of(Slot* slots, uint32_t count, uint64_t hash, Key Slot::*key, uint64_t wanted, Fill&& fill) {
  constexpr uint32_t most_tries = 16;
  for (uint32_t i = 0; i < most_tries; ++i) {
    Slot& slot = slots[(hash + i) % count];
    std::atomic_ref word(slot.*key);
    uint64_t found = word.load(std::memory_order_acquire);
    if (found == 0 && word.compare_exchange_strong(found, wanted, std::memory_order_acq_rel)) {
      fill(slot);
      return &slot;
    }
    if (found == wanted) return &slot;
  }
  return nullptr;
}

uint64_t hash_of(uint64_t key) {
  return key * 0x9e3779b97f4a7c15ULL >> 32;
}

// "function+0x12 program+0x1234": the address itself where nothing is known of it.
void describe_site(char (&text)[208], uintptr_t address) {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(address), &info) == 0 || info.dli_fname == nullptr) {
    snprintf(text, sizeof text, "0x%lx", static_cast<unsigned long>(address));
    return;
  }
  const char* slash = strrchr(info.dli_fname, '/');
  const char* file = slash != nullptr ? slash + 1 : info.dli_fname;
  // One byte before the return address lies in the call.
  const auto offset = static_cast<unsigned long>(address - reinterpret_cast<uintptr_t>(info.dli_fbase) - 1);
  if (info.dli_sname != nullptr) {
    snprintf(text, sizeof text, "%.100s+0x%lx %.60s+0x%lx", info.dli_sname,
             static_cast<unsigned long>(address - reinterpret_cast<uintptr_t>(info.dli_saddr) - 1), file, offset);
  } else {
    snprintf(text, sizeof text, "%.160s+0x%lx", file, offset);
  }
}

// Between the program and this library may stand another one: Fortran's, MPICH's. The stack is walked once for each of
// its calls and place in the program, and after that the distance to the program's frame is known. Where that turns out
// to change, the stack is walked each time.
struct KnownCaller {
  uint64_t address;
  uint32_t known;
  int32_t distance;  // of the stack pointers; -1: it changes
};
KnownCaller callers[stats::site_count];
// A caller and the place in the program from where a walk came to it, mixed.
struct Walked {
  uint64_t pair;
};
Walked walked[stats::site_count];

#if defined(__x86_64__)
// The address that a call has pushed.
uintptr_t returns_to(uintptr_t stack) {
  return reinterpret_cast<const uintptr_t*>(stack)[-1];
}
#endif

int32_t distance_to(const core::CallSite& site, uintptr_t stack) {
#if defined(__x86_64__)
  constexpr uint64_t most = 1 << 20;
  if (site.stack >= stack && site.stack - stack < most && returns_to(site.stack) == site.address)
    return static_cast<int32_t>(site.stack - stack);
#endif
  return -1;
}

[[gnu::cold, gnu::noinline]] uintptr_t walk_to_program(uintptr_t caller) {
  const core::CallSite site = core::call_site();
  return site.address == 0 ? caller : site.address;
}

uintptr_t find_program(uintptr_t address, uintptr_t stack) {
  KnownCaller* caller =
      slot_of(callers, stats::site_count, hash_of(address), &KnownCaller::address, address, [&](KnownCaller& fresh) {
        const core::CallSite site = core::call_site();
        fresh.distance = site.address == address ? 0 : distance_to(site, stack);
        std::atomic_ref(fresh.known).store(1, std::memory_order_release);
      });
  if (caller == nullptr || std::atomic_ref(caller->known).load(std::memory_order_acquire) == 0)
    return walk_to_program(address);
  if (caller->distance == 0) return address;
#if defined(__x86_64__)
  const int32_t distance = std::atomic_ref(caller->distance).load(std::memory_order_relaxed);
  if (distance > 0) {
    const uintptr_t program = returns_to(stack + static_cast<uintptr_t>(distance));
    const uint64_t pair = hash_of(address) ^ program;
    bool is_new = false;
    if (slot_of(walked, stats::site_count, hash_of(pair), &Walked::pair, pair, [&](Walked&) { is_new = true; }) !=
            nullptr &&
        !is_new)
      return program;
    const uintptr_t found = walk_to_program(address);
    if (found != program) std::atomic_ref(caller->distance).store(-1, std::memory_order_relaxed);
    return found;
  }
#endif
  return walk_to_program(address);
}

}  // namespace

void CountedCall::begin() {
  Observer& me = own_observer;
  if (me.block == nullptr) [[unlikely]]
    enter_block();
  detailed_ = observation.detailed;
  idle_before_ = me.clock->ticks;
  asleep_before_ = me.clock->asleep;
  since_ = base::ticks();
  if (me.depth++ == 0 && !me.shared) {
    std::atomic_ref(me.block->idle_before).store(idle_before_, std::memory_order_relaxed);
    std::atomic_ref(me.block->asleep_before).store(asleep_before_, std::memory_order_relaxed);
    std::atomic_ref(me.block->since).store(since_, std::memory_order_relaxed);
    std::atomic_ref(me.block->now).store(1 + static_cast<uint32_t>(call_), std::memory_order_release);
  }
}

void CountedCall::finish() {
  const uint64_t now = base::ticks();
  const uint64_t taken = now > since_ ? now - since_ : 0;
  const uint64_t idle = std::min(own_observer.clock->ticks - idle_before_, taken);
  if (own_observer.shared) [[unlikely]] {
    count<true>(taken, idle);
  } else {
    count<false>(taken, idle);
  }
  if (detailed_) count_details(taken, idle);
  const uint64_t refreshed = std::atomic_ref(observation.area->head.refreshed).load(std::memory_order_relaxed);
  if (now - refreshed > observation.refresh_ticks) [[unlikely]]
    refresh(now, {since_, taken, idle, call_});
}

template <bool shared>
void CountedCall::count(uint64_t taken, uint64_t idle) {
  Observer& me = own_observer;
  stats::CallRow& row = me.block->rows[static_cast<size_t>(call_)];
  add<shared>(row.calls, 1);
  add<shared>(row.ticks, taken);
  if (idle != 0) add<shared>(row.idle, idle);
  if (me.clock->asleep != asleep_before_) [[unlikely]]
    add<shared>(row.asleep, std::min(me.clock->asleep - asleep_before_, idle));
  if (idle < observation.prompt_ticks) add<shared>(row.prompt, 1);
  if (root_ != Root::none) {
    me.turn.ended = since_ + taken;
    if (root_ == Root::next) add<shared>(row.turns, 1);
  }
  if (bytes_ != 0) add<shared>(row.bytes, bytes_);
  add<shared>(row.sizes[stats::size_class(bytes_)], 1);
  std::atomic_ref longest(row.longest);
  if (longest.load(std::memory_order_relaxed) < taken) longest.store(taken, std::memory_order_relaxed);
  if (--me.depth != 0) return;
  add<shared>(me.block->ticks, taken);
  if (idle != 0) add<shared>(me.block->idle, idle);
  if (!shared) std::atomic_ref(me.block->now).store(0, std::memory_order_relaxed);
}

void CountedCall::count_details(uint64_t taken, uint64_t idle) {
  stats::Area& area = *observation.area;
  if (partner_ >= 0) add_message(partner_, bytes_);
  if (awaited_ >= 0 && idle != 0) {
    stats::Partner& awaited = stats::partners_of(&area)[awaited_];
    add<true>(of_send_ ? awaited.idle_sends : awaited.idle, idle);
  }
  if (comm_ != nullptr) {
    add<true>(comm_->calls, 1);
    add<true>(comm_->ticks, taken);
    add<true>(comm_->idle, idle);
    add<true>(comm_->bytes, bytes_);
  }
  if (!observation.sites) return;
  // One slot for each call site: two call sites never return to the same address.
  const uintptr_t program = find_program(caller_, stack_);
  stats::Site* site =
      slot_of(area.sites, stats::site_count, hash_of(program), &stats::Site::address, program, [&](stats::Site& fresh) {
        fresh.call = static_cast<uint32_t>(call_);
        describe_site(fresh.text, program);
        std::atomic_ref(fresh.ready).store(1, std::memory_order_release);
      });
  if (site == nullptr) return add<true>(area.head.sites_lost, 1);
  add<true>(site->calls, 1);
  add<true>(site->ticks, taken);
  add<true>(site->idle, idle);
  add<true>(site->bytes, bytes_);
}

stats::CommCounts* CountedCall::count_on(const core::Comm& comm) {
  const uint64_t key = uint64_t{1} + comm.context;
  stats::CommCounts* made = nullptr;
  comm_ = slot_of(observation.area->comms, stats::comm_count, hash_of(key), &stats::CommCounts::key, key,
                  [&](stats::CommCounts& fresh) {
                    fresh.size = comm.size;
                    made = &fresh;
                  });
  if (comm_ == nullptr) add<true>(observation.area->head.comms_lost, 1);
  return made;
}

void CountedCall::add_message(int32_t rank, uint64_t bytes) {
  stats::Partner& partner = stats::partners_of(observation.area)[rank];
  add<true>(partner.messages, 1);
  add<true>(partner.bytes, bytes);
}

void CountedCall::turns(const core::Comm& comm, int root) {
  Turn& last = own_observer.turn;
  const bool next = last.call == call_ && last.context == comm.context && root == (last.root + 1) % comm.size;
  root_ = next && since_ - last.ended < observation.prompt_ticks ? Root::next : Root::other;
  last = {.call = call_, .context = comm.context, .root = root, .ended = since_};
}

}  // namespace weft::observe
