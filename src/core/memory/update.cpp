// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/memory/update.hpp"

#include <sched.h>

#include <algorithm>
#include <bit>

#include "base/clock.hpp"
#include "base/copy.hpp"
#include "base/fence.hpp"
#include "core/memory/words.hpp"
#include "core/thread/thread.hpp"

namespace weft::core::memory {
namespace {

enum UpdateMethod : uint32_t { words, changing, locks };  // Updates::way

constexpr int block_log2 = 16;
constexpr uint64_t block = uint64_t{1} << block_log2;

void pause(int& looked) {
  constexpr int patience = 200;
  if (++looked < patience) {
    base::cpu_relax();
  } else {
    sched_yield();  // the one that is waited for may want the processor
  }
}

// Notes that this process updates elements by the processor's instructions.
class Noted {
 public:
  explicit Noted(Busy& busy) : busy_(busy) {
    if (threads->concurrent) {
      busy_.fetch_add(1, std::memory_order_seq_cst);
    } else {
      busy_.store(1, std::memory_order_relaxed);
      std::atomic_signal_fence(std::memory_order_seq_cst);  // nothing below is loaded before: see fence_others()
    }
  }
  ~Noted() {
    if (threads->concurrent) {
      busy_.fetch_sub(1, std::memory_order_release);
    } else {
      busy_.store(0, std::memory_order_release);
    }
  }
  Noted(const Noted&) = delete;
  Noted& operator=(const Noted&) = delete;

 private:
  Busy& busy_;
};

bool by_processor(const Region& region, int64_t bytes, const char* at) {
  const auto size = static_cast<uintptr_t>(bytes);
  return region.atomics && size - 1 < 8 && (size & (size - 1)) == 0 &&
         (reinterpret_cast<uintptr_t>(at) & (size - 1)) == 0;
}

// The bytes of an element that may be a word of the processor; 0: with its gaps it is none.
int64_t word_of(const Element& element) {
  return element.has_gaps() ? 0 : element.size();
}

bool is_integer(datatype::Basic basic) {
  using datatype::Basic;
  switch (basic) {
    case Basic::int8:
    case Basic::int16:
    case Basic::int32:
    case Basic::int64:
    case Basic::uint8:
    case Basic::uint16:
    case Basic::uint32:
    case Basic::uint64:
      return true;
    default:
      return false;
  }
}

// An operation that the processor has an instruction for, which asks for the line once, to write it; a compare-and-swap
// asks for it to read first.
bool is_at_once(datatype::Reduction reduction, datatype::Basic basic) {
  using datatype::Reduction;
  return reduction == Reduction::no_op || reduction == Reduction::replace ||
         (reduction == Reduction::sum && is_integer(basic));
}

template <class Word>
Word update_at_once(datatype::Reduction reduction, const void* in, char* at) {
  using datatype::Reduction;
  std::atomic_ref<Word> word(*reinterpret_cast<Word*>(at));
  if (reduction == Reduction::no_op) return word.load(std::memory_order_relaxed);
  Word operand;
  std::memcpy(&operand, in, sizeof operand);
  return reduction == Reduction::sum ? word.fetch_add(operand, std::memory_order_acq_rel)
                                     : word.exchange(operand, std::memory_order_acq_rel);
}

template <class Word>
Word update_in_a_loop(const Update& update, const void* in, char* at) {
  std::atomic_ref<Word> word(*reinterpret_cast<Word*>(at));
  Word was = word.load(std::memory_order_relaxed);
  Word now;
  do {
    now = was;
    update.kernel(in, &now, 1);
  } while (!word.compare_exchange_weak(was, now, std::memory_order_acq_rel, std::memory_order_relaxed));
  return was;
}

template <class Word>
void update_words(const Update& update, const void* in, char* at, void* old, int64_t count) {
  const auto* from = static_cast<const char*>(in);
  auto* before = static_cast<char*>(old);
  const bool at_once = is_at_once(update.reduction, update.element.basic);
  for (int64_t i = 0; i < count; ++i, from += sizeof(Word), at += sizeof(Word)) {
    const Word was =
        at_once ? update_at_once<Word>(update.reduction, from, at) : update_in_a_loop<Word>(update, from, at);
    if (before != nullptr) {
      std::memcpy(before, &was, sizeof was);
      before += sizeof was;
    }
  }
}

template <class Word>
void swap_word(const void* value, const void* compare, char* at, void* old) {
  Word now;
  Word was;
  std::memcpy(&now, value, sizeof now);
  std::memcpy(&was, compare, sizeof was);
  (void)std::atomic_ref<Word>(*reinterpret_cast<Word*>(at))
      .compare_exchange_strong(was, now, std::memory_order_acq_rel, std::memory_order_acquire);
  std::memcpy(old, &was, sizeof was);
}

void update_plain(const Update& update, const void* in, char* at, void* old, int64_t count) {
  const Element& element = update.element;
  if (!element.has_gaps()) {
    if (old != nullptr) base::copy(old, at, static_cast<size_t>(count * element.size()));
    return update.kernel(in, at, count);
  }
  alignas(element_most) unsigned char operand[element_most];
  if (old != nullptr) element.pack(at, old);
  if (update.reduction == datatype::Reduction::no_op) return;  // there is nothing to put in
  element.unpack(in, operand);
  update.kernel(operand, at, 1);
}

// Does it with the unsigned type of so many bytes, if elements are still updated so. False: under locks, from now on.
template <class Do>
bool with_words(const Region& region, int64_t bytes, const char* at, Busy& busy, const Do& act) {
  if (!by_processor(region, bytes, at)) return false;
  Updates& updates = *region.updates;
  {
    const Noted noted(busy);
    if (updates.way.load(std::memory_order_acquire) == words) [[likely]] {
      switch (bytes) {
        case 1:
          act(uint8_t{});
          break;
        case 2:
          act(uint16_t{});
          break;
        case 4:
          act(uint32_t{});
          break;
        default:
          act(uint64_t{});
      }
      return true;
    }
  }
  for (int looked = 0; updates.way.load(std::memory_order_acquire) != locks;) pause(looked);
  return false;
}

void swap_plain(const Element& element, const void* value, const void* compare, char* at, void* old) {
  element.pack(at, old);
  if (std::memcmp(old, compare, static_cast<size_t>(element.size())) == 0) element.unpack(value, at);
}

}  // namespace

void update_elements(const Update& update, const void* in, char* there, int64_t count) {
  const Element& element = update.element;
  if (!element.has_gaps()) return update.kernel(in, there, count);
  for (int64_t i = 0; i < count; ++i) {
    alignas(element_most) unsigned char operand[element_most];
    element.unpack(static_cast<const char*>(in) + i * element.size(), operand);
    update.kernel(operand, there + i * element.extent(), 1);
  }
}

void pack_elements(const Element& element, const char* there, char* packed, int64_t count) {
  if (!element.has_gaps()) {
    base::copy(packed, there, static_cast<size_t>(count * element.size()));
    return;
  }
  for (int64_t i = 0; i < count; ++i) element.pack(there + i * element.extent(), packed + i * element.size());
}

Stripes stripes_of(uint64_t offset, uint64_t bytes) {
  Stripes stripes = 0;
  const uint64_t first = offset >> block_log2;
  const uint64_t last = (offset + std::max<uint64_t>(bytes, 1) - 1) >> block_log2;
  for (uint64_t at = first; at <= last && at < first + Updates::locks; ++at) stripes |= 1U << (at % Updates::locks);
  return stripes;
}

// In the order of their numbers, as all do.
Updating::Updating(Updates& updates, Stripes stripes) : updates_(updates), stripes_(stripes) {
  for (Stripes left = stripes; left != 0; left &= left - 1) {
    std::atomic<uint32_t>& held = updates.held[std::countr_zero(left)];
    for (int looked = 0;
         held.load(std::memory_order_relaxed) != 0 || held.exchange(1, std::memory_order_acquire) != 0;) {
      pause(looked);
    }
  }
}

Updating::~Updating() {
  for (Stripes left = stripes_; left != 0; left &= left - 1) {
    updates_.held[std::countr_zero(left)].store(0, std::memory_order_release);
  }
}

namespace {

// Whether it falls to the caller to change the way; otherwise another has, and it is changed.
bool begin_change(Updates& updates) {
  uint32_t found = updates.way.load(std::memory_order_acquire);
  if (found == words && updates.way.compare_exchange_strong(found, changing, std::memory_order_seq_cst)) {
    base::fence_others();
    return true;
  }
  for (int looked = 0; updates.way.load(std::memory_order_acquire) != locks;) pause(looked);
  return false;
}

void await_idle(const Busy& busy) {
  for (int looked = 0; busy.load(std::memory_order_acquire) != 0;) pause(looked);
}

}  // namespace

void change_way(Updates& updates, const std::vector<const Busy*>& processes) {
  if (!begin_change(updates)) return;
  for (const Busy* busy : processes) await_idle(*busy);
  updates.way.store(locks, std::memory_order_release);
}

void update_here(const Region& region, const Update& update, const void* in, char* at, void* old, int64_t count) {
  if (update.alone) return update_plain(update, in, at, old, count);
  const auto by_word = [&](auto word) { update_words<decltype(word)>(update, in, at, old, count); };
  if (with_words(region, word_of(update.element), at, update.busy, by_word)) return;
  const int64_t extent = update.element.extent();
  while (count > 0) {
    const uint64_t offset = offset_of(region, at);
    const auto left = static_cast<int64_t>(block - offset % block);
    const int64_t some = std::min(count, (left + extent - 1) / extent);  // those that begin in this block
    {
      const Updating held(*region.updates, stripes_of(offset, 1));
      update_plain(update, in, at, old, some);
    }
    const int64_t bytes = some * update.element.size();
    in = static_cast<const char*>(in) + bytes;
    if (old != nullptr) old = static_cast<char*>(old) + bytes;
    at += some * extent;
    count -= some;
  }
}

bool update_word_here(const Region& region, datatype::Basic basic, int64_t bytes, datatype::Reduction reduction,
                      Busy& busy, const void* in, char* at, void* old) {
  return is_at_once(reduction, basic) && with_words(region, bytes, at, busy, [&](auto word) {
           const auto was = update_at_once<decltype(word)>(reduction, in, at);
           if (old != nullptr) std::memcpy(old, &was, sizeof was);
         });
}

bool swap_word_here(const Region& region, int64_t bytes, Busy& busy, const void* value, const void* compare, char* at,
                    void* old) {
  return with_words(region, bytes, at, busy, [&](auto word) { swap_word<decltype(word)>(value, compare, at, old); });
}

void swap_here(const Region& region, const Element& element, Busy& busy, const void* value, const void* compare,
               char* at, void* old) {
  if (swap_word_here(region, word_of(element), busy, value, compare, at, old)) return;
  const Updating held(*region.updates, stripes_of(offset_of(region, at), 1));
  swap_plain(element, value, compare, at, old);
}

}  // namespace weft::core::memory
