// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/diagnose/wait_record.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "base/copy.hpp"
#include "base/process.hpp"
#include "boot/job/segment.hpp"
#include "core/diagnose/call_site.hpp"
#include "core/diagnose/collective_mismatch.hpp"
#include "core/lane/lane.hpp"
#include "core/object/comm.hpp"
#include "core/object/identity.hpp"
#include "core/peer/peer.hpp"
#include "core/thread/thread.hpp"
#include "transport/api/turned_away.hpp"

namespace weft::core {

constinit thread_local const Teller* current_teller = nullptr;
constinit thread_local PastRing past_ring;

namespace {

using boot::MessageKind;
using boot::PageComm;
using boot::PageMessage;
using boot::PagePast;
using boot::PageWait;
using boot::WaitPage;

constinit base::Lock page_lock;  // of all that follows
WaitPage* page = nullptr;
uint32_t waits_there = 0;  // on it
bool refused = false;      // there is no memory for it
uint64_t waits_written = 0;

void copy_text(char* to, size_t room, const char* from) {
  strncpy(to, from, room - 1);
  to[room - 1] = 0;
}

// The descriptor stays open: it is the way to the page.
WaitPage* make_page() {
  const int fd = memfd_create(boot::wait_file, MFD_CLOEXEC);
  if (fd < 0) return nullptr;
  waits_there = threads->multiple ? WaitPage::most_waits : WaitPage::fewer_waits;
  const size_t bytes = WaitPage::bytes_with(waits_there);
  void* memory = MAP_FAILED;
  if (fchmod(fd, 0600) == 0 && boot::reserve_segment(fd, 0, bytes))
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) {
    close(fd);
    return nullptr;
  }
  auto* made = static_cast<WaitPage*>(memory);
  made->bytes = static_cast<uint32_t>(bytes);
  made->pid = static_cast<uint32_t>(getpid());
  made->rank = identity->rank;
  made->size = identity->size;
  made->concurrent = threads->multiple ? 1 : 0;
  copy_text(made->job, sizeof made->job, identity->job.id.c_str());
  std::atomic_ref(made->magic).store(boot::wait_magic, std::memory_order_release);
  return made;
}

// With page_lock. A child of fork() has its parent's page, and must not write on it. Spawned processes have none yet:
// readers know the ranks that a job began with.
bool has_page() {
  if (identity->first != 0) return false;
  if (page == nullptr && !refused) {
    page = make_page();
    refused = page == nullptr;
  }
  return page != nullptr && page->pid == static_cast<uint32_t>(getpid());
}

// Readers that see an odd number, or another one at their end, have read nothing.
class Writing {
 public:
  Writing() {
    std::atomic_ref(page->sequence).store(page->sequence + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
  }
  ~Writing() { std::atomic_ref(page->sequence).store(page->sequence + 1, std::memory_order_release); }
  Writing(const Writing&) = delete;
  Writing& operator=(const Writing&) = delete;
};

int32_t told(int32_t job_rank) {
  return job_rank < identity->size ? job_rank : boot::no_rank;
}

int32_t in_job(const Comm* comm, int32_t rank) {
  if (rank == any_source) return boot::any_rank;
  return comm != nullptr && rank >= 0 && rank < comm->size ? told(comm->job_rank(rank)) : boot::no_rank;
}

MessageKind kind_of(const Request& r) {
  if (r.role == Role::receive) return MessageKind::receive;
  if (r.role == Role::composite) return MessageKind::operation;
  return r.mode == Mode::synchronous ? MessageKind::synchronous_send : MessageKind::send;
}

// A request that waits, of the calling thread, or of any where threads take turns.
PageMessage describe(const Request& r) {
  PageMessage m{.kind = static_cast<uint32_t>(kind_of(r)),
                .context = r.match.context,
                .peer = boot::no_rank,
                .rank = boot::no_rank,
                .tag = r.match.tag,
                .reserved = 0,
                .bytes = r.bytes};
  if (r.role == Role::receive) {
    m.rank = r.match.source;
    m.peer = in_job(r.comm, r.match.source);
  } else if (r.role == Role::send) {
    m.peer = r.peer != nullptr ? told(r.peer->rank) : boot::no_rank;
  } else if (r.comm != nullptr) {
    m.context = r.comm->context + 1;
    m.tag = any_tag;
  }
  return m;
}

// Sources of messages of other communicators than a request's are not known by their ranks in the job, but for
// MPI_COMM_WORLD's.
PageMessage describe(const Unexpected& message, const Comm* comm) {
  const Envelope& e = message.envelope;
  const bool known = comm != nullptr && (e.context | 1) == (comm->context | 1);
  return {.kind = static_cast<uint32_t>(MessageKind::arrived),
          .context = e.context,
          .peer = known                  ? in_job(comm, e.source)
                  : (e.context | 1) == 1 ? e.source
                                         : boot::no_rank,
          .rank = e.source,
          .tag = e.tag,
          .reserved = 0,
          .bytes = message.message_bytes};
}

void describe(const Comm& comm, const WaitRecord& wait_record, PageComm& to) {
  to = {.context = comm.context, .size = comm.size, .rank = comm.rank, .first = comm.first, .stride = comm.stride};
  if (comm.table != nullptr) {
    to.stride = 0;
    to.listed = static_cast<uint32_t>(std::min<int32_t>(comm.size, PageComm::most));
    base::copy(to.members, comm.table, to.listed * sizeof(int32_t));
  }
  if (wait_record.name != nullptr) wait_record.name(comm, to.name, sizeof to.name);
}

// The part of the page beside the waits, gathered before the page is locked.
struct PageLists {
  uint32_t open = 0;
  uint32_t open_listed = 0;
  uint32_t arrived = 0;
  uint32_t arrived_listed = 0;
  uint32_t locks_listed = 0;
  PageMessage open_messages[WaitPage::most_listed];
  PageMessage arrived_messages[WaitPage::most_listed];
  boot::PageLock locks[WaitPage::most_listed];
};

// With several threads, the requests of others may be starting or ending just now: the lists are a moment old, and
// nothing is read of a communicator that may be gone.
[[gnu::noinline, gnu::no_sanitize_thread]] void add_open(PageLists& lists, const Request& r) {
  if (r.done || (r.flags.persistent && !r.flags.active)) return;
  if (lists.open++ >= WaitPage::most_listed) return;
  PageMessage& m = lists.open_messages[lists.open_listed++];
  m = {.kind = static_cast<uint32_t>(r.role == Role::receive       ? MessageKind::receive
                                     : r.role == Role::composite   ? MessageKind::operation
                                     : r.mode == Mode::synchronous ? MessageKind::synchronous_send
                                                                   : MessageKind::send),
       .context = r.match.context,
       .peer = boot::no_rank,
       .rank = r.role == Role::receive ? r.match.source : boot::no_rank,
       .tag = r.match.tag,
       .reserved = 0,
       .bytes = r.bytes};
}

void gather(PageLists& lists, const Comm* comm) {
  const auto add = [](const Request& r, const void* about) {
    PageLists& to = *static_cast<PageLists*>(const_cast<void*>(about));
    if (threads->concurrent) {
      add_open(to, r);
    } else if (!r.done && (r.flags.active || !r.flags.persistent)) {
      if (to.open++ < WaitPage::most_listed) to.open_messages[to.open_listed++] = describe(r);
    }
    return false;
  };
  (void)any_request(add, &lists);
  for (uint32_t i = 0; i < lanes->map.lanes(); ++i) {
    Lane& lane = lanes->all[i];
    const LaneGuard guard(lane, LaneGuard::TryTag{});
    if (!guard.held()) continue;
    for (const Unexpected* u = lane.matcher.first_unexpected(); u != nullptr; u = u->next) {
      if (lists.arrived++ < WaitPage::most_listed) lists.arrived_messages[lists.arrived_listed++] = describe(*u, comm);
    }
  }
  lists.locks_listed = list_locks(lists.locks, WaitPage::most_listed);
}

// With the page.
void show(const PageLists& lists, const WaitRecord& wait_record) {
  page->turned_away = transport::turned_away();
  page->open = lists.open;
  page->open_listed = lists.open_listed;
  page->arrived = lists.arrived;
  page->arrived_listed = lists.arrived_listed;
  page->locks_listed = lists.locks_listed;
  base::copy(page->open_messages, lists.open_messages, lists.open_listed * sizeof(PageMessage));
  base::copy(page->arrived_messages, lists.arrived_messages, lists.arrived_listed * sizeof(PageMessage));
  base::copy(page->locks, lists.locks, lists.locks_listed * sizeof(boot::PageLock));
  uint32_t listed = 0;
  const uint32_t first = past_ring.next < past_kept ? 0 : past_ring.next - past_kept;
  for (uint32_t i = first; i != past_ring.next; ++i) {
    const Past& past = past_ring.past[i % past_kept];
    if (past.order == 0) continue;  // of no communicator
    const bool is_ours = wait_record.comm != nullptr && wait_record.order != 0 && past.order == wait_record.order &&
                         past.context == wait_record.comm->context;
    if (is_ours) continue;
    PagePast& to = page->past[listed++];
    to = {.context = past.context,
          .order = past.order,
          .root = past.root,
          .reserved = 0,
          .bytes = past.bytes,
          .call = ""};
    copy_text(to.call, sizeof to.call, past.call);
  }
  page->past_listed = listed;
}

// One message that the wait is for.
void add(PageWait& wait, const PageMessage& message) {
  ++wait.messages;
  if (wait.listed < PageWait::most) wait.message[wait.listed++] = message;
}

void list_requests(const WaitRecord& wait_record, const Request* request, PageWait& wait) {
  wait.messages = wait.listed = 0;
  if (request != nullptr) add(wait, describe(*request));
  for (int32_t i = 0; wait_record.request != nullptr && i < wait_record.count; ++i) {
    const Request* r = wait_record.request(wait_record.requests, i);
    if (r == nullptr || r == request || is_done(*r)) continue;
    add(wait, describe(*r));
  }
  if (wait_record.wanted != nullptr) {
    const Envelope& e = *wait_record.wanted;
    add(wait, {.kind = static_cast<uint32_t>(MessageKind::receive),
               .context = e.context,
               .peer = in_job(wait_record.comm, e.source),
               .rank = e.source,
               .tag = e.tag,
               .reserved = 0,
               .bytes = -1});
  }
}

const char* call_without_record(const Request* request) {
  if (request == nullptr) return "a call";
  return request->role == Role::receive ? "a receive" : request->role == Role::send ? "a send" : "an operation";
}

}  // namespace

void WaitRecorder::write(const Request* request, uint64_t now_ns) {
  looked_ns_ = now_ns;
  if (!identity->running) return;
  WaitRecord wait_record{.kind = request != nullptr ? WaitKind::all : WaitKind::other,
                         .call = call_without_record(request)};
  if (current_teller != nullptr) current_teller->tell(wait_record);
  ask_others(wait_record, began_ns_, now_ns);
  const Comm* comm = wait_record.comm != nullptr ? wait_record.comm : request != nullptr ? request->comm : nullptr;
  PageLists lists;
  gather(lists, comm);
  const uint64_t site = place_ == 0 ? call_site().address : 0;
  std::lock_guard guard(page_lock);
  if (!has_page()) return;
  const Writing writing;
  show(lists, wait_record);
  const bool first = place_ == 0;
  for (uint32_t i = 0; place_ == 0 && i < waits_there; ++i) {
    if (page->waits[i].kind == static_cast<uint32_t>(WaitKind::none)) place_ = i + 1;
  }
  if (place_ == 0) {
    ++page->untold;
    return;
  }
  PageWait& wait = page->waits[place_ - 1];
  if (first) {
    wait.number = ++waits_written;
    wait.site = site;
  }
  wait.kind = static_cast<uint32_t>(wait_record.kind);
  wait.thread = static_cast<uint32_t>(base::kernel_thread());
  wait.since_ns = began_ns_;
  copy_text(wait.call, sizeof wait.call, wait_record.call);
  wait.target = told(wait_record.target);
  wait.root = wait_record.root;
  wait.bytes = wait_record.bytes;
  wait.order = wait_record.order;
  list_requests(wait_record, request, wait);
  wait.comm.size = 0;
  if (comm != nullptr) describe(*comm, wait_record, wait.comm);
}

void WaitRecorder::erase() {
  std::lock_guard guard(page_lock);
  const Writing writing;
  page->waits[place_ - 1].kind = static_cast<uint32_t>(WaitKind::none);
  page->untold = 0;
  place_ = 0;
}

}  // namespace weft::core
