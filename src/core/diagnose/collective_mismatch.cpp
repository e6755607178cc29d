// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/diagnose/collective_mismatch.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/lock.hpp"
#include "base/setting.hpp"
#include "core/diagnose/wait_record.hpp"
#include "core/message/handler.hpp"
#include "core/message/send_queue.hpp"
#include "core/object/comm.hpp"
#include "core/object/failure.hpp"
#include "core/object/identity.hpp"
#include "core/peer/peer.hpp"

namespace weft::core {

namespace {

constinit base::IntSetting disagree_seconds{
    {.name = "WEFT_DISAGREE_SECONDS",
     .help = "wait in a collective operation after which a rank asks others whether they are in the same one; 0: never",
     .unit = base::Unit::seconds,
     .subject = base::Subject::waiting,
     .change = base::Change::before_start},
    30,
    {0, 1000000}};
WEFT_SETTING(disagree_seconds);

using base::second;
constexpr int32_t asks_of_a_wait = 3;
constexpr int32_t asked_at_once = 64;   // of a larger communicator, those at distances of powers of two
constexpr int32_t most_operations = 8;  // of those that one wait is for

// A call that a rank is in, or was.
constexpr uint8_t say_kind = 22;
struct Say {
  uint32_t context;
  uint32_t order;
  int64_t bytes;
  int32_t root;
  int32_t from;   // rank in the job
  uint32_t asks;  // 1: the one who says it waits, and wants to know of other calls
  char call[36];
};
static_assert(sizeof(Say) == 64 && offsetof(Say, call) == 28);

struct Heard {
  Say say{};
  uint32_t times = 0;
  uint32_t answered = 0;
};

constinit base::Lock lock;  // of what was heard
constexpr uint32_t most_heard = 64;
constinit Heard heard[most_heard];
constinit uint32_t heard_next = 0;
constinit std::atomic<uint32_t> comms_gone{0};

constinit std::atomic<CallOf> call_of{nullptr};

// The state of a thread: the first of its calls (past_ring) that may be of a communicator that is still there, and its
// questions in a wait.
struct OfThread {
  uint32_t comms_gone = 0;
  uint32_t valid_from = 0;
  uint64_t wait_ns = 0;  // when the wait began
  uint64_t asked_ns = 0;
  int32_t asked = 0;
};
constinit thread_local OfThread mine;

Say say_of(const Past& past, bool asks) {
  Say say{past.context, past.order, past.bytes, past.root, identity->rank, asks ? 1U : 0U, ""};
  strncpy(say.call, past.call, sizeof say.call - 1);
  return say;
}

// Whether all ranks of a call say the same number of bytes. The name is that of the nonblocking or persistent form,
// too.
bool has_one_size(std::string_view call) {
  constexpr std::string_view names[] = {"bcast",      "gather",   "scatter",        "allgather",
                                        "allgatherv", "alltoall", "reduce",         "allreduce",
                                        "scan",       "exscan",   "reduce_scatter", "reduce_scatter_block"};
  constexpr std::string_view prefix = "MPI_";
  constexpr std::string_view suffix = "_init";
  if (!call.starts_with(prefix) || call.size() == prefix.size()) return false;
  call.remove_prefix(prefix.size());
  if (call.ends_with(suffix)) call.remove_suffix(suffix.size());
  const auto is = [&](std::string_view name) {
    if (call.size() == name.size() + 1) return call[0] == 'I' && call.substr(1) == name;
    return call.size() == name.size() && call.substr(1) == name.substr(1) && (call[0] | 0x20) == name[0];
  };
  return std::any_of(std::begin(names), std::end(names), is);
}

bool is_same_operation(const Past& past, const Say& say) {
  return past.order != 0 && past.order == say.order && past.context == say.context;
}

bool differ(const Past& past, const Say& say) {
  if (strncmp(past.call, say.call, sizeof say.call - 1) != 0 || past.root != say.root) return true;
  return past.bytes != say.bytes && has_one_size(past.call);
}

// The call of this thread that stands for the same operation, and is another one.
const Past* other_call(const Say& say) {
  const PastRing& ring = past_ring;
  const uint32_t gone = comms_gone.load(std::memory_order_acquire);
  if (mine.comms_gone != gone) {
    mine.comms_gone = gone;
    mine.valid_from = ring.next;
  }
  const uint32_t kept = std::min(ring.next - mine.valid_from, past_kept);
  for (uint32_t i = ring.next - kept; i != ring.next; ++i) {
    const Past& past = ring.past[i % past_kept];
    if (is_same_operation(past, say)) return differ(past, say) ? &past : nullptr;
  }
  return nullptr;
}

void tell(int32_t job_rank, const Past& past, bool asks) {
  const Say say = say_of(past, asks);
  send_control(peers->of(job_rank), 0, say_kind, &say, sizeof say);
}

Heard* place_of(const Say& say) {
  for (Heard& h : heard) {
    if (h.times != 0 && memcmp(&h.say, &say, sizeof say) == 0) return &h;
  }
  Heard& h = heard[heard_next++ % most_heard];
  h = {say, 0, 0};
  return &h;
}

void on_say(const transport::Arrival& arrival) {
  Say say = payload_of<Say>(arrival);
  if (!is_from(arrival, say.from)) return;
  say.call[sizeof say.call - 1] = 0;
  const Past* other = say.asks != 0 ? other_call(say) : nullptr;
  {
    std::lock_guard guard(lock);
    Heard& h = *place_of(say);
    ++h.times;
    if (other != nullptr) h.answered = h.times;
  }
  if (other != nullptr) tell(say.from, *other, false);
}

constinit const Handler say_handler{
    .kind = say_kind, .least_bytes = sizeof(Say), .name = "call of a rank that waits", .take = on_say};
WEFT_HANDLER(say_handler);

// Questions that another thread took, whose calls are others.
void answer() {
  for (Heard& h : heard) {
    Say say;
    const Past* other = nullptr;
    {
      std::lock_guard guard(lock);
      if (h.times == 0 || h.say.asks == 0 || h.answered == h.times) continue;
      other = other_call(h.say);
      if (other == nullptr) continue;
      h.answered = h.times;
      say = h.say;
    }
    tell(say.from, *other, false);
  }
}

std::string text_of(const char* call, int32_t root, int64_t bytes, bool with_root, bool with_bytes) {
  std::string text = call;
  if (with_root) text.append(" with root ").append(std::to_string(root));
  if (with_bytes) text.append(" of ").append(std::to_string(bytes)).append(" bytes");
  return text;
}

[[noreturn]] void end_job(const WaitRecord& wait_record, const Comm& comm, const Past& ours, const Say& theirs) {
  const bool root = ours.root != theirs.root;
  const bool bytes = has_one_size(ours.call) && ours.bytes != theirs.bytes;
  char name[64] = "";
  if (wait_record.name != nullptr) wait_record.name(comm, name, sizeof name);
  failed(FailureCause::protocol, theirs.from,
         {.cause = "ranks disagree about collective operation " + std::to_string(ours.order) + " of " +
                   (name[0] != 0        ? std::string(name)
                    : ours.context == 0 ? "MPI_COMM_WORLD"
                                        : "communicator " + std::to_string(ours.context / 2)) +
                   ": rank " + std::to_string(identity->rank) + " waits in " +
                   text_of(ours.call, ours.root, ours.bytes, root, bytes) + ", rank " + std::to_string(theirs.from) +
                   " calls " + text_of(theirs.call, theirs.root, theirs.bytes, root, bytes),
          .remedy = "call the same operations in the same order, with the same sizes and root, on all ranks"});
}

void judge(const WaitRecord& wait_record, const Comm& comm, const Past& ours) {
  Say theirs;
  {
    std::lock_guard guard(lock);
    const auto* const found = std::find_if(std::begin(heard), std::end(heard), [&](const Heard& h) {
      return h.times > 1 && is_same_operation(ours, h.say) && differ(ours, h.say);
    });
    if (found == std::end(heard)) return;
    theirs = found->say;
  }
  end_job(wait_record, comm, ours, theirs);
}

void ask(const Comm& comm, const Past& ours) {
  const auto tell_rank = [&](int64_t r) {
    const auto rank = static_cast<int32_t>((r + comm.size) % comm.size);
    if (rank != comm.rank) tell(comm.job_rank(rank), ours, true);
  };
  if (comm.size <= asked_at_once) {
    for (int32_t r = 0; r < comm.size; ++r) tell_rank(r);
    return;
  }
  for (int64_t distance = 1; distance < comm.size; distance *= 2) {
    tell_rank(comm.rank + distance);
    tell_rank(comm.rank - distance);
  }
  if (ours.root >= 0) tell_rank(ours.root);
}

// Calls `look` with each collective operation that the wait is for.
template <class Look>
void each_operation(const WaitRecord& wait_record, Look look) {
  const auto look_at = [&](const Comm* comm, const Past& past) {
    if (comm != nullptr && comm->size > 1 && !comm->is_inter() && !comm->several_jobs) look(*comm, past);
  };
  if (wait_record.kind == WaitKind::collective && wait_record.order != 0 && wait_record.comm != nullptr) {
    return look_at(wait_record.comm, {wait_record.call, wait_record.comm->context, wait_record.order, wait_record.root,
                                      wait_record.bytes});
  }
  const CallOf call = call_of.load(std::memory_order_relaxed);
  if (wait_record.kind != WaitKind::all || wait_record.request == nullptr || call == nullptr) return;
  int32_t found = 0;
  for (int32_t i = 0; i < wait_record.count && found < most_operations; ++i) {
    const Request* r = wait_record.request(wait_record.requests, i);
    const Past* past = r != nullptr ? call(*r) : nullptr;
    if (past == nullptr || past->order == 0) continue;
    ++found;
    look_at(r->comm, *past);
  }
}

}  // namespace

void ask_others(const WaitRecord& wait_record, uint64_t since_ns, uint64_t now_ns) {
  const auto after_ns = static_cast<uint64_t>(disagree_seconds.value()) * second;
  const uint64_t waited_ns = now_ns - since_ns;
  if (after_ns == 0 || waited_ns < second) return;
  answer();
  if (waited_ns < after_ns) return;
  if (mine.wait_ns != since_ns) {
    mine.wait_ns = since_ns;
    mine.asked_ns = 0;
    mine.asked = 0;
  }
  const bool asks = mine.asked < asks_of_a_wait && now_ns - mine.asked_ns >= second;
  if (asks) {
    mine.asked_ns = now_ns;
    ++mine.asked;
  }
  each_operation(wait_record, [&](const Comm& comm, const Past& ours) {
    judge(wait_record, comm, ours);
    if (asks) ask(comm, ours);
  });
}

void set_call_of(CallOf function) {
  call_of.store(function, std::memory_order_relaxed);
}

void forget_calls(uint32_t context) {
  comms_gone.fetch_add(1, std::memory_order_release);
  std::lock_guard guard(lock);
  for (Heard& h : heard) {
    if (h.say.context == context) h = {};
  }
}

}  // namespace weft::core
