// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/thread/stamp.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#include "base/message.hpp"
#include "base/setting.hpp"
#include "core/thread/thread.hpp"

namespace weft::core {

namespace {

constexpr const char* clock_names[] = {"auto", "clock", "counter"};
constinit base::ChoiceSetting clock_setting{
    {.name = "WEFT_STAMPS",
     .help = "what orders messages of several threads to one rank: the processor's clock, or a counter they share",
     .subject = base::Subject::lanes,
     .change = base::Change::before_start},
    0,
    clock_names,
    3};
WEFT_SETTING(clock_setting);

std::atomic<uint64_t> own_count = 0;  // of messages to ourselves, without a trusted clock

// Other processors' clocks tick 24 million times a second and up: two sends that follow each other can read the same.
#if defined(__x86_64__)
constexpr bool has_clock = true;
#else
constexpr bool has_clock = false;
#endif

uint64_t read_clock() {
#if defined(__x86_64__)
  // The fence lets all earlier loads, with which this thread may have synchronised, complete first.
  uint32_t low;
  uint32_t high;
  asm volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high)::"memory");
  return uint64_t{high} << 32 | low;
#else
  return 0;
#endif
}

// The kernel takes the time-stamp counter for its own clock only while it agrees across processors.
bool kernel_trusts_clock() {
#if defined(__x86_64__)
  char name[16] = "";
  const int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const ssize_t length = read(fd, name, sizeof name - 1);
  close(fd);
  return length >= 3 && std::strncmp(name, "tsc", 3) == 0;
#else
  return false;
#endif
}

}  // namespace

constinit Thread no_thread;
constinit Thread several_threads;

uint64_t (*stamp_clock)() = nullptr;

uint64_t own_stamp() {
  return stamp_clock != nullptr ? stamp_clock() : own_count.fetch_add(1, std::memory_order_acq_rel) + 1;
}

void open_stamps() {
  const bool asked = clock_setting.value() == 1;
  if (asked && !has_clock) {
    base::warn({.cause = "WEFT_STAMPS=clock: the clock of this kind of processor is too coarse to order messages; a "
                         "counter does it",
                .remedy = "leave WEFT_STAMPS alone"});
  }
  const bool trusted = has_clock && (asked || (clock_setting.value() == 0 && kernel_trusts_clock()));
  stamp_clock = trusted ? read_clock : nullptr;
}

}  // namespace weft::core
