// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/memory/update.hpp"

#include <sched.h>

#include "base/clock.hpp"
#include "core/world.hpp"

namespace weft::core::memory {
namespace {

bool by_processor(const Region& region, const Element& element, const char* at) {
  const auto size = static_cast<uintptr_t>(element.extent());
  return region.atomics && !element.has_gaps() && size <= 8 && (size & (size - 1)) == 0 &&
         (reinterpret_cast<uintptr_t>(at) & (size - 1)) == 0;
}

template <class Word>
void update_words(const Update& update, const void* in, char* at, void* old, int64_t count) {
  const auto* from = static_cast<const char*>(in);
  auto* before = static_cast<char*>(old);
  for (int64_t i = 0; i < count; ++i, from += sizeof(Word), at += sizeof(Word)) {
    std::atomic_ref<Word> word(*reinterpret_cast<Word*>(at));
    Word was = word.load(std::memory_order_relaxed);
    if (update.reduction != datatype::Reduction::no_op) {
      Word now;
      do {
        now = was;
        update.kernel(from, &now, 1);
      } while (!word.compare_exchange_weak(was, now, std::memory_order_acq_rel, std::memory_order_relaxed));
    }
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
    if (old != nullptr) std::memcpy(old, at, static_cast<size_t>(count * element.size()));
    return update.kernel(in, at, count);
  }
  alignas(element_most) unsigned char operand[element_most];
  if (old != nullptr) element.pack(at, old);
  if (update.reduction == datatype::Reduction::no_op) return;  // there is nothing to put in
  element.unpack(in, operand);
  update.kernel(operand, at, 1);
}

void swap_plain(const Element& element, const void* value, const void* compare, char* at, void* old) {
  element.pack(at, old);
  if (std::memcmp(old, compare, static_cast<size_t>(element.size())) == 0) element.unpack(value, at);
}

}  // namespace

Updating::Updating(UpdateLock& lock) : lock_(lock) {
  constexpr int patience = 200;
  for (int looked = 0;; ++looked) {
    if (lock.load(std::memory_order_relaxed) == 0 && lock.exchange(1, std::memory_order_acquire) == 0) {
      return;
    }
    if (looked < patience) {
      base::cpu_relax();
    } else {
      sched_yield();  // its holder may want the processor
    }
  }
}

void update_here(const Region& region, const Update& update, const void* in, char* at, void* old, int64_t count) {
  if (update.alone) return update_plain(update, in, at, old, count);
  if (by_processor(region, update.element, at)) {
    switch (update.element.extent()) {
      case 1:
        return update_words<uint8_t>(update, in, at, old, count);
      case 2:
        return update_words<uint16_t>(update, in, at, old, count);
      case 4:
        return update_words<uint32_t>(update, in, at, old, count);
      default:
        return update_words<uint64_t>(update, in, at, old, count);
    }
  }
  const Updating held(*region.updating);
  update_plain(update, in, at, old, count);
}

void swap_here(const Region& region, const Element& element, const void* value, const void* compare, char* at,
               void* old) {
  if (by_processor(region, element, at)) {
    switch (element.extent()) {
      case 1:
        return swap_word<uint8_t>(value, compare, at, old);
      case 2:
        return swap_word<uint16_t>(value, compare, at, old);
      case 4:
        return swap_word<uint32_t>(value, compare, at, old);
      default:
        return swap_word<uint64_t>(value, compare, at, old);
    }
  }
  const Updating held(*region.updating);
  swap_plain(element, value, compare, at, old);
}

}  // namespace weft::core::memory
