// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Numbers of sends. A send that its receiver must answer (an RTS, a synchronous message) travels with a number: the
// place of its request in the object arena and a generation. The answer brings the number back, and is taken only while
// the send waits for just such an answer from just that peer; the address of a request never travels. A late or wrong
// answer finds nothing.
//
// Other sends have no number and store nothing for it. All but find_request() run with the home lane of the send held.

#include <atomic>
#include <cstdint>

#include "core/object/request.hpp"

namespace weft::core {

// The actions on a request by its number. In the low bits of Request::serial, the generation above.
enum class NumberStage : uint32_t {
  none,       // nothing: no number is out, or its answer has come
  asked,      // an answer may come: FIN, CTS, help, recalled
  streaming,  // the number names the stream (R1); no answer is expected
};

inline constexpr uint32_t stage_bits = 2;
inline constexpr uint32_t stage_mask = (1U << stage_bits) - 1;

inline NumberStage stage_of(const Request& r) {
  return static_cast<NumberStage>(r.serial & stage_mask);
}

inline void set_serial(Request& r, uint32_t generation, NumberStage stage) {
  // Any thread may look at a serial that a late message names.
  std::atomic_ref(r.serial).store(generation << stage_bits | static_cast<uint32_t>(stage), std::memory_order_relaxed);
}

// The number of a send that has one.
inline uint64_t number_of(const Request& r) {
  return uint64_t{r.serial >> stage_bits} << 32 | base::Arena::number_of(reinterpret_cast<uintptr_t>(&r));
}

// Gives a send its number, to be answered from now on. One that found the way full keeps the number it has: it never
// left.
inline uint64_t give_number(Request& r) {
  std::atomic_ref(r.joined).store(false, std::memory_order_relaxed);
  set_serial(r, (r.serial >> stage_bits) + (stage_of(r) == NumberStage::none ? 1 : 0), NumberStage::asked);
  return number_of(r);
}

inline void enter_stage(Request& r, NumberStage stage) {
  set_serial(r, r.serial >> stage_bits, stage);
}

// The send is over. Its number finds nothing any more.
inline void take_number(Request& r) {
  enter_stage(r, NumberStage::none);
}

// The calling thread does nothing until the send is done, if that is announced and not on its way: it answers a
// receiver at once.
inline void join(Request& r) {
  if (r.role == Role::send && std::atomic_ref(r.serial).load(std::memory_order_relaxed) % (stage_mask + 1) ==
                                  static_cast<uint32_t>(NumberStage::asked)) {
    std::atomic_ref(r.joined).store(true, std::memory_order_relaxed);
  }
}
inline bool is_awaited(const Request& r) {
  return r.flags.awaited || std::atomic_ref(const_cast<bool&>(r.joined)).load(std::memory_order_relaxed);
}

// The send of this number, if it is at this stage; nullptr otherwise. By any thread, for any number.
[[nodiscard]] Request* find_request(uint64_t number, NumberStage stage);

// The send that a message of `source` on a lane of ours answers; nullptr: there is none at this stage, or it is not
// that peer's to answer, or not on that lane. The lane is held.
[[nodiscard]] Request* find_send(uint64_t number, NumberStage stage, int32_t source, uint32_t lane);

}  // namespace weft::core
