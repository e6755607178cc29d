// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Which contexts new communicators get. No process may be in two communicators of one context, ever, also when threads
// make several at the same time.
//
// Communicators are numbered; core/object/comm.hpp says which contexts number n has. Each process owns the numbers that
// leave its rank when divided by the ranks of the job. To make a communicator every member offers a number of its own
// that is not on offer elsewhere. The team agrees on the smallest offer: its owner has given that number away, the
// others take theirs back.
//
// So two creations never agree on the same number, whichever threads of whichever processes run them in whatever order:
// their offers differ. One reduction is enough; there is nothing to try again, and no creation waits for another one.
// Taking the smallest wears the members' numbers evenly: a team has as many as its members together. Spawned processes
// have numbers of a range of their own, the largest, so that those of the others do not depend on how much a job may
// grow. Members of several jobs (core/object/other_jobs.hpp) offer numbers of one more range, which is divided by jobs
// first; where these are on two hosts, of a range that is divided by pairs of jobs.
//
// A process that makes a communicator alone takes a number from a second range, which every process has to itself:
// nobody else will ever see that context.
//
// A number returns to its owner, which may then offer it again, when no member of the team uses it any more: members
// that got a communicator have freed it and have no operation in flight on it; the others never used it. They report so
// along a tree whose root is the owner: a member that has released the number, and has heard the same from all below
// it, sends a notice to the one above. No process waits. Two lives of a number do not overlap in any process: the
// second begins after the root has heard of all.

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/lock.hpp"
#include "core/object/comm.hpp"

namespace weft::core {

// The numbers of one process. Thread-safe.
class ContextNumbers {
 public:
  static constexpr uint32_t first_shared = 2;                           // 0 is MPI_COMM_WORLD, 1 is MPI_COMM_SELF
  static constexpr uint32_t first_far = 1U << 27;                       // between jobs of two hosts
  static constexpr uint32_t first_alone = first_far + (1U << 26);       // behind those
  static constexpr uint32_t first_spawned = first_far - (1U << 24);     // below first_far
  static constexpr uint32_t first_common = first_spawned - (1U << 26);  // below first_spawned, between jobs of one host
  static constexpr uint32_t end = 1U << 28;
  static constexpr uint32_t none = UINT32_MAX;  // offered when all are given away

  ContextNumbers(int32_t rank, int32_t size)
      : fresh_(first_shared + static_cast<uint32_t>(rank)), step_(static_cast<uint32_t>(size)) {}
  // The numbers of a spawned process; its place is counted from the end of those that the job began with.
  struct SpawnedTag {};
  ContextNumbers(SpawnedTag /*unused*/, int32_t place, int32_t places)
      : fresh_(first_spawned + static_cast<uint32_t>(place)), step_(static_cast<uint32_t>(places)), end_(first_far) {}

  // The numbers of this process for communicators with processes of other jobs.
  struct Common {
    uint32_t first;
    uint32_t step;
    uint32_t end;
  };
  static constexpr bool is_common(uint32_t number) { return number >= first_common && number < first_spawned; }
  // offer() of one of these.
  [[nodiscard]] uint32_t offer_common(const Common& range);

  // Numbers for communicators of two jobs of different hosts. Each such pair of jobs has a slot that is no other's of
  // either job, and each of the two a half of it.
  static constexpr uint32_t far_slots = 64;
  static constexpr uint32_t far_slot_size = (first_alone - first_far) / far_slots;
  static constexpr bool is_far(uint32_t number) { return number >= first_far && number < first_alone; }
  // offer() of one of these; the range is this process's part of a slot.
  [[nodiscard]] uint32_t offer_far(uint32_t slot, const Common& range);
  // The slot may be another pair's from now on: no communicator has a number of it.
  void forget_far(uint32_t slot);

  // A number for a communicator of `members` processes to be. Exactly one settle() must follow, unless the creation
  // fails before it is known what the team agreed on: then the number is lost.
  [[nodiscard]] uint32_t offer(int32_t members);

  // Ends an offer: `agreed` is the smallest of all members.
  void settle(uint32_t offered, uint32_t agreed);

  // No process: see hold() and release().
  static constexpr int32_t nobody = -1;

  // A team agreed on this number: this process is a part of the tree, `up` the job rank above it (`nobody`: it is the
  // owner), and `below` members report to it. Releases may have come before.
  void hold(uint32_t number, int32_t up, int32_t below, uint32_t up_generation = 0);

  // This process, or a member below it, has released the number. Returns the job rank to report to, or `nobody`; and
  // the generation of its process (core/dynamic/processes.hpp).
  [[nodiscard]] int32_t release(uint32_t number, uint32_t* up_generation = nullptr);

  // All members have released the number, and know it of each other.
  void release_by_all(uint32_t number);

 private:
  // A number of a team that this process is in.
  struct NumberUse {
    int32_t open = 0;  // of this process and those right below it, how many still hold it
    int32_t up = nobody;
    uint32_t up_generation = 0;
  };
  void give_back(uint32_t number) {
    if (is_far(number)) return far_[(number - first_far) / far_slot_size].returned.push_back(number);
    (number >= first_alone ? returned_alone_ : is_common(number) ? returned_common_ : returned_).push_back(number);
  }

  base::Lock lock_;
  uint32_t fresh_;  // the first one that was never offered
  uint32_t step_;
  uint32_t end_ = first_common;  // of the fresh ones
  uint32_t fresh_common_ = 0;
  uint32_t alone_ = first_alone;
  std::vector<uint32_t> returned_;        // not taken, or given back
  std::vector<uint32_t> returned_alone_;  // the same of the second range
  std::vector<uint32_t> returned_common_;
  std::unordered_map<uint32_t, NumberUse> uses_;
  struct Far {
    uint32_t fresh = 0;
    std::vector<uint32_t> returned;
  };
  std::unordered_map<uint32_t, Far> far_;  // by slot
};

// ---- The numbers of this process, and the notices that release them

// An offer as one word, of which the smallest of a team counts: the number, and behind it who in the team offers it.
// settle_offer() ends it. `common`: the team has members of several jobs.
[[nodiscard]] uint64_t offer_context(int32_t members, int32_t place, bool common);
// Makes the offer of a team with members of the job of another host that has this rank.
[[nodiscard]] uint64_t offer_far_context(int32_t far_rank, int32_t place);
// The job is not known any more: its numbers may be another's.
void forget_far_contexts(uint32_t slot);
// Whether what a team agreed on may be used by members of several jobs.
[[nodiscard]] bool is_common_offer(uint64_t agreed);
[[nodiscard]] inline int32_t owner_in(uint64_t offer) {
  return static_cast<int32_t>(offer & UINT32_MAX);
}

// The vote of a team that makes no communicator after all.
inline constexpr uint64_t no_offer = UINT64_MAX;

// Ends an offer by what the team agreed on. False when that is no number: no member had one left.
[[nodiscard]] bool settle_offer(uint64_t offer, uint64_t agreed);

// The number agreed on is in use from now on by a team, one of which offered it. Returns the context. The tree is of
// the team with its owner as the root; `above` is a job rank, or ContextNumbers::nobody.
[[nodiscard]] uint32_t hold_context(uint64_t agreed, int32_t above, int32_t below);

// This process has no more use for a context that it held; or it is none.
void release_context(uint32_t context);
// Releases a context after a barrier of all members behind their last use: nobody needs to be told.
void release_context_by_all(uint32_t context);

// Releases matter no more: the process is about to leave the job, and its peers, which may leave before, must not be
// sent notices.
void end_releases();
// The process goes on: ranks of this host that have not left the job are told again.
void resume_releases();

// ---- Contexts that no number has

// The context of a communicator that has none yet: no rank ever receives there.
inline constexpr uint32_t no_context = partitioned_contexts | creation_contexts | local_contexts;

// The context and tag by which processes that have no communicator in common make one. They are 59 bits of the hash of
// a string that these processes know, so that messages of two strings do not match.
struct MeetingPoint {
  uint32_t context;
  int32_t tag;
};
[[nodiscard]] MeetingPoint meeting_point(const char* name);

}  // namespace weft::core
