// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/dynamic/context.hpp"

#include <atomic>
#include <mutex>
#include <utility>

#include "core/diagnose/collective_mismatch.hpp"
#include "core/dynamic/processes.hpp"
#include "core/message/handler.hpp"
#include "core/message/send_queue.hpp"
#include "core/object/identity.hpp"
#include "core/object/other_jobs.hpp"
#include "core/peer/peer.hpp"

namespace weft::core {

uint32_t ContextNumbers::offer(int32_t members) {
  std::lock_guard lock(lock_);
  std::vector<uint32_t>& returned = members == 1 ? returned_alone_ : returned_;
  if (!returned.empty()) {
    const uint32_t number = returned.back();
    returned.pop_back();
    return number;
  }
  if (members == 1) return alone_ < end ? alone_++ : none;
  return fresh_ < end_ ? std::exchange(fresh_, fresh_ + step_) : none;
}

uint32_t ContextNumbers::offer_common(const Common& range) {
  std::lock_guard lock(lock_);
  if (!returned_common_.empty()) {
    const uint32_t number = returned_common_.back();
    returned_common_.pop_back();
    return number;
  }
  if (fresh_common_ == 0) fresh_common_ = range.first;
  return fresh_common_ < range.end ? std::exchange(fresh_common_, fresh_common_ + range.step) : none;
}

uint32_t ContextNumbers::offer_far(uint32_t slot, const Common& range) {
  std::lock_guard lock(lock_);
  Far& far = far_[slot];
  if (!far.returned.empty()) {
    const uint32_t number = far.returned.back();
    far.returned.pop_back();
    return number;
  }
  if (far.fresh == 0) far.fresh = range.first;
  return far.fresh < range.end ? std::exchange(far.fresh, far.fresh + range.step) : none;
}

void ContextNumbers::forget_far(uint32_t slot) {
  std::lock_guard lock(lock_);
  far_.erase(slot);
  std::erase_if(
      uses_, [slot](const auto& use) { return is_far(use.first) && (use.first - first_far) / far_slot_size == slot; });
}

void ContextNumbers::settle(uint32_t offered, uint32_t agreed) {
  if (offered == agreed || offered == none) return;
  std::lock_guard lock(lock_);
  give_back(offered);
}

void ContextNumbers::hold(uint32_t number, int32_t up, int32_t below, uint32_t up_generation) {
  std::lock_guard lock(lock_);
  NumberUse& use = uses_[number];
  use.up = up;
  use.up_generation = up_generation;
  use.open += below + 1;
}

int32_t ContextNumbers::release(uint32_t number, uint32_t* up_generation) {
  std::lock_guard lock(lock_);
  const auto place = uses_.try_emplace(number).first;  // a member below may be faster than we are
  if (--place->second.open != 0) return nobody;
  const int32_t up = place->second.up;
  if (up_generation != nullptr) *up_generation = place->second.up_generation;
  uses_.erase(place);
  if (up == nobody) give_back(number);
  return up;
}

void ContextNumbers::release_by_all(uint32_t number) {
  std::lock_guard lock(lock_);
  const auto use = uses_.find(number);
  if (use == uses_.end()) return;
  if (use->second.up == nobody) give_back(number);
  uses_.erase(use);
}

namespace {

// Made with the first communicator, kept until the process ends.
ContextNumbers& numbers() {
  const int32_t started = identity->job.started;
  static auto* const ours =
      identity->first == 0
          ? new ContextNumbers(identity->rank, identity->size)
          : new ContextNumbers(ContextNumbers::SpawnedTag{}, identity->rank - started, identity->places - started);
  return *ours;
}

constinit std::atomic<bool> ended = false;
constinit std::atomic<bool> resumed = false;  // ranks may have left the job

// The notice to the process above that no process below the sender uses the number any more.
constexpr uint8_t release_kind = 20;
struct Release {
  uint32_t number;
  uint32_t unused;
};
static_assert(sizeof(Release) == 8);

// For this process, or for one below it.
void release_number(uint32_t number) {
  if (ended.load(std::memory_order_relaxed)) return;
  uint32_t generation = 0;
  const int32_t up = numbers().release(number, &generation);
  if (up == ContextNumbers::nobody || (is_foreign(up) && !is_there(up, generation))) return;
  // It may be gone; should it live, it does without this number.
  if (is_foreign_afar(up) || (resumed.load(std::memory_order_relaxed) && has_gone(up))) return;
  const Release release{number, 0};
  send_control(peers->of(up), 0, release_kind, &release, sizeof release);
}

constinit const Handler release_handler{
    .kind = release_kind,
    .least_bytes = sizeof(Release),
    .name = "release of a context number",
    .take = [](const transport::Arrival& a) { release_number(payload_of<Release>(a).number); }};
WEFT_HANDLER(release_handler);

uint32_t number_in(uint64_t offer) {
  return static_cast<uint32_t>(offer >> 32);
}

}  // namespace

uint64_t offer_context(int32_t members, int32_t place, bool common) {
  constexpr uint32_t of_a_job = (ContextNumbers::first_spawned - ContextNumbers::first_common) / boot::job_numbers;
  const uint32_t first = ContextNumbers::first_common + of_a_job * static_cast<uint32_t>(identity->job.number);
  const uint32_t number = common ? numbers().offer_common({first + static_cast<uint32_t>(identity->rank),
                                                           static_cast<uint32_t>(identity->places), first + of_a_job})
                                 : numbers().offer(members);
  return uint64_t{number} << 32 | static_cast<uint32_t>(place);
}

uint64_t offer_far_context(int32_t far_rank, int32_t place) {
  const FarPart part = far_part(far_rank);
  constexpr uint32_t half = ContextNumbers::far_slot_size / 2;
  const uint32_t first =
      ContextNumbers::first_far + part.slot * ContextNumbers::far_slot_size + (part.senior ? 0 : half);
  const uint32_t number = numbers().offer_far(part.slot, {first + static_cast<uint32_t>(identity->rank),
                                                          static_cast<uint32_t>(identity->places), first + half});
  return uint64_t{number} << 32 | static_cast<uint32_t>(place);
}

void forget_far_contexts(uint32_t slot) {
  numbers().forget_far(slot);
}

bool is_common_offer(uint64_t agreed) {
  return ContextNumbers::is_common(number_in(agreed)) || ContextNumbers::is_far(number_in(agreed));
}

bool settle_offer(uint64_t offer, uint64_t agreed) {
  numbers().settle(number_in(offer), number_in(agreed));
  return number_in(agreed) != ContextNumbers::none;
}

uint32_t hold_context(uint64_t agreed, int32_t above, int32_t below) {
  const uint32_t generation = above != ContextNumbers::nobody ? generation_of(above) : 0;
  numbers().hold(number_in(agreed), above, below, generation);
  return 2 * number_in(agreed);
}

void release_context(uint32_t context) {
  forget_calls(context);
  if (context != no_context) release_number(context / 2);
}

void release_context_by_all(uint32_t context) {
  forget_calls(context);
  if (context != no_context) numbers().release_by_all(context / 2);
}

void end_releases() {
  ended.store(true, std::memory_order_relaxed);
}

void resume_releases() {
  resumed.store(true, std::memory_order_relaxed);
  ended.store(false, std::memory_order_relaxed);
}

MeetingPoint meeting_point(const char* name) {
  uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (; *name != '\0'; ++name) hash = (hash ^ static_cast<unsigned char>(*name)) * 0x100000001b3u;
  constexpr uint32_t collective = 1;
  return {no_context | (static_cast<uint32_t>(hash >> 31) & ~no_context) | collective,
          static_cast<int32_t>(hash & INT32_MAX)};
}

}  // namespace weft::core
