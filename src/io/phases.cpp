// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "io/phases.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "base/copy.hpp"
#include "core/object/identity.hpp"
#include "io/disk.hpp"

namespace weft::io {
namespace {

constexpr int64_t block_bytes = 4096;       // domains begin at multiples, unless a hint gives another size
constexpr int64_t domain_least = 64 << 10;  // a smaller domain is not worth a rank's messages
constexpr int64_t gap_to_read = 8192;       // of a read: such gaps are read along

coll::Block bytes_at(void* data, int64_t bytes) {
  return {data, bytes, &datatype::byte_type};
}

bool overlap(const ByteRange& a, const ByteRange& b) {
  return a.low < b.high && b.low < a.high && a.bytes() > 0 && b.bytes() > 0;
}

// Aggregators of a host unless hints say otherwise: writes to one file take turns in the kernel.
int64_t usual_per_host(const core::Comm& comm, int64_t ranks) {
  const int cpus = comm.several_jobs ? 1 : core::identity->cpus;  // another job may have others
  return std::min<int64_t>(ranks, std::max(1, cpus / 2));
}

}  // namespace

std::vector<int32_t> choose_aggregators(const core::Comm& comm, const Hints& hints, int64_t bytes) {
  const core::Hosts* hosts = comm.hosts;
  // Without a table all ranks are on one host, or each has one to itself.
  const bool apart = hosts == nullptr && comm.size > 1 && (!core::identity->job.one_host() || comm.several_jobs);
  const int32_t host_count = hosts != nullptr ? hosts->count() : apart ? comm.size : 1;
  const int64_t on_host = hosts != nullptr ? hosts->ranks_on(0) : apart ? 1 : comm.size;
  const int64_t given = hints.per_host != 0 ? hints.per_host : hints.aggregators != 0 ? INT32_MAX : 0;
  const int64_t per_host = given != 0 ? given : usual_per_host(comm, on_host);
  int64_t most = hints.aggregators != 0 ? hints.aggregators : INT32_MAX;
  most = std::clamp<int64_t>(most, 1, std::max<int64_t>(1, bytes / domain_least));
  std::vector<int32_t> chosen;
  // Host by host in turn, so that few aggregators are on as many hosts.
  for (int32_t place = 0; place < per_host && static_cast<int64_t>(chosen.size()) < most; ++place) {
    const size_t before = chosen.size();
    for (int32_t h = 0; h < host_count && static_cast<int64_t>(chosen.size()) < most; ++h) {
      if (hosts != nullptr) {
        if (place < hosts->ranks_on(h)) chosen.push_back(hosts->rank_at(hosts->start(h) + place));
      } else if (apart ? place == 0 : place < comm.size) {
        chosen.push_back(apart ? h : place);
      }
    }
    if (chosen.size() == before) break;
  }
  return chosen;
}

Phases::Phases(File& file, bool writes, const View& view, int64_t position, const Memory& memory, int64_t bytes,
               const ByteRange& whole, std::vector<ByteRange> spans)
    : file_(file), writes_(writes), view_(view), memory_(memory), rank_spans_(std::move(spans)) {
  const core::Comm& comm = *file.comm;
  aggregators_ = choose_aggregators(comm, file.hints, whole.bytes());
  const int64_t block = file.hints.block != 0 ? file.hints.block : block_bytes;
  base_ = whole.low - whole.low % block;
  const auto count = static_cast<int64_t>(aggregators_.size());
  const int64_t share = (whole.high - base_ + count - 1) / count;
  domain_bytes_ = (share + block - 1) / block * block;
  end_ = whole.high;
  const int64_t window_bytes = file.hints.collective_buffer;
  rounds_ = (std::min(domain_bytes_, whole.high - base_) + window_bytes - 1) / window_bytes;
  for (size_t i = 0; i < aggregators_.size(); ++i) {
    if (aggregators_[i] == comm.rank) domain_ = static_cast<int32_t>(i);
  }
  list_ours(position, bytes);
  if (domain_ < 0) return;
  for (int32_t r = 0; r < comm.size; ++r) {
    if (!overlap(rank_spans_[static_cast<size_t>(r)], domain(domain_))) continue;
    sources_.push_back({.rank = r});
    if (r != comm.rank) continue;
    for (const DataTarget& target : targets_) {
      if (target.rank == r) sources_.back().groups = target.groups;
    }
  }
}

ByteRange Phases::domain(int32_t index) const {
  const int64_t low = base_ + index * domain_bytes_;
  return {std::min(low, end_), std::min(low + domain_bytes_, end_)};
}

ByteRange Phases::window(int32_t index, int64_t round) const {
  const ByteRange all = domain(index);
  const int64_t bytes = file_.hints.collective_buffer;
  const int64_t low = std::min(all.low + round * bytes, all.high);
  return {low, std::min(low + bytes, all.high)};
}

// Our runs, by the domain that they lie in.
void Phases::list_ours(int64_t position, int64_t bytes) {
  const ByteRange& ours = rank_spans_[static_cast<size_t>(file_.comm->rank)];
  for (size_t i = 0; i < aggregators_.size(); ++i) {
    const auto index = static_cast<int32_t>(i);
    if (overlap(ours, domain(index))) targets_.push_back({.rank = aggregators_[i], .domain = index});
  }
  constexpr int batch = 256;
  Run runs[batch];
  size_t at = 0;
  for (int64_t listed = 0; listed < bytes;) {
    int64_t covered = 0;
    const int count = view_.list(position + listed, bytes - listed, runs, batch, covered);
    if (count == 0) break;
    for (int i = 0; i < count; ++i) {
      Run run = runs[i];
      while (run.bytes > 0) {
        while (run.offset >= domain(targets_[at].domain).high) targets_[++at].position = listed;
        const int64_t part = std::min(run.bytes, domain(targets_[at].domain).high - run.offset);
        add_run(targets_[at].groups, {run.offset, part});
        run.offset += part;
        run.bytes -= part;
        listed += part;
      }
    }
  }
  for (DataTarget& target : targets_) {
    target.head.count = static_cast<int64_t>(target.groups.size());
    const size_t inlined = std::min<size_t>(target.groups.size(), inline_groups);
    std::copy_n(target.groups.begin(), inlined, target.head.first);
    target.cursor = Cursor(target.groups);
  }
}

void Phases::exchange_heads(coll::Schedule& way) {
  for (Source& source : sources_) {
    if (source.rank != file_.comm->rank) way.receive(bytes_at(&source.head, sizeof source.head), source.rank);
  }
  for (DataTarget& target : targets_) {
    if (target.rank != file_.comm->rank) way.send(bytes_at(&target.head, sizeof target.head), target.rank);
  }
}

void Phases::exchange_lists(coll::Schedule& way) {
  for (Source& source : sources_) {
    if (source.rank == file_.comm->rank) continue;
    const int64_t count = source.head.count;
    if (count < 0 || count > domain_bytes_) {
      note(failure(internal_error, Act::exchange));
      continue;
    }
    source.groups.resize(static_cast<size_t>(count));
    std::copy_n(source.head.first, std::min<int64_t>(count, inline_groups), source.groups.begin());
    const int64_t more = count - inline_groups;
    if (more <= 0) continue;
    way.receive(bytes_at(&source.groups[inline_groups], more * static_cast<int64_t>(sizeof(StridedRuns))), source.rank);
  }
  for (DataTarget& target : targets_) {
    const int64_t more = target.head.count - inline_groups;
    if (target.rank == file_.comm->rank || more <= 0) continue;
    way.send(bytes_at(&target.groups[inline_groups], more * static_cast<int64_t>(sizeof(StridedRuns))), target.rank);
  }
}

void Phases::take_lists() {
  for (Source& source : sources_) {
    const ByteRange range = domain(domain_);
    if (!are_sound(source.groups, range.low, range.high)) {
      note(failure(internal_error, Act::exchange));
      source.groups.clear();
    }
    source.cursor = Cursor(source.groups);
  }
}

namespace {

// Makes `memory` at least `bytes` large, and keeps it for the next round.
bool grow(Bytes& memory, int64_t& room, int64_t bytes) {
  if (bytes <= room) return true;
  memory = allocate_pages(bytes);
  room = memory != nullptr ? bytes : 0;
  return memory != nullptr;
}

}  // namespace

void Phases::prepare() {
  Round& now = round(prepared_);
  now = {.range = aggregates() ? window(domain_, prepared_) : ByteRange{}, .late = result_.failed()};
  for (DataTarget& target : targets_) {
    const int64_t bytes = target.cursor.skip(window(target.domain, prepared_).high);
    now.targets.push_back({.rank = target.rank, .position = target.position, .bytes = bytes});
    target.position += bytes;
  }
  for (Source& source : sources_) {
    IncomingData in{.rank = source.rank, .cursor = source.cursor};
    Cursor first = source.cursor;
    in.bytes = source.cursor.skip(now.range.high);
    Run run{};
    in.direct = in.bytes > 0 && first.next(now.range.high, run) && run.bytes == in.bytes;
    in.at = run.offset - now.range.low;
    now.sources.push_back(in);
  }
  place(now, file_.phase_memory[prepared_ % 2]);
  ++prepared_;
}

// The memory of a round's data.
void Phases::place(Round& round, File::PhaseMemory& room) {
  const int32_t rank = file_.comm->rank;
  int64_t staged = 0;
  for (const OutgoingData& target : round.targets) staged += memory_.is_contiguous() ? 0 : target.bytes;
  for (const IncomingData& source : round.sources) staged += source.rank != rank && !source.direct ? source.bytes : 0;
  const int64_t bytes = round.range.bytes();
  round.broken = !grow(room.window, room.window_bytes, bytes) || !grow(room.stage, room.stage_bytes, staged);
  if (round.broken) note({.error = no_memory, .system = ENOMEM, .act = Act::buffer, .bytes = bytes + staged});
  round.window = room.window.get();
  char* free = room.stage.get();
  char* own = nullptr;
  for (OutgoingData& target : round.targets) {
    if (memory_.is_contiguous()) {
      target.data = memory_.at(target.position);
    } else {
      target.data = free;
      free += round.broken ? 0 : target.bytes;
    }
    if (target.rank == rank) own = target.data;
  }
  for (IncomingData& source : round.sources) {
    if (source.rank == rank) {
      source.data = own;
      source.direct = false;  // its data are copied, not received
    } else if (source.direct) {
      source.data = round.broken ? nullptr : round.window + source.at;
    } else {
      source.data = free;
      free += round.broken ? 0 : source.bytes;
    }
  }
}

void Phases::exchange(coll::Schedule& way) {
  const Round& now = round(exchanged_);
  if (writes_ && !memory_.is_contiguous() && !now.broken) {
    for (const OutgoingData& target : now.targets) memory_.take_out(target.position, target.data, target.bytes);
    if (memory_.copy_failed()) note(failure(other_error, Act::copy));
  }
  // Without memory the messages have no data, and a receiver of more says that they were cut off.
  for (const IncomingData& source : now.sources) {
    if (source.rank == file_.comm->rank || source.bytes == 0) continue;
    const coll::Block block = bytes_at(source.data, now.broken ? 0 : source.bytes);
    if (writes_) {
      way.receive(block, source.rank);
    } else {
      way.send(block, source.rank);
    }
  }
  for (const OutgoingData& target : now.targets) {
    if (target.rank == file_.comm->rank || target.bytes == 0) continue;
    const coll::Block block = bytes_at(target.data, now.broken && !memory_.is_contiguous() ? 0 : target.bytes);
    if (writes_) {
      way.send(block, target.rank);
    } else {
      way.receive(block, target.rank);
    }
  }
}

void Phases::exchanged() {
  const Round& now = round(exchanged_++);
  if (writes_ || memory_.is_contiguous() || now.broken) return;
  for (const OutgoingData& target : now.targets) memory_.put_in(target.position, target.data, target.bytes);
  if (memory_.copy_failed()) note(failure(other_error, Act::copy));
}

void Phases::access() {
  Round& now = round(accessed_);
  if (now.broken) return;
  RangeLock lock;
  std::unique_lock guard(file_.guard, std::defer_lock);
  if (file_.shared_by_locks) {
    guard.lock();
    now.result = lock.take(file_.fd(), writes_, now.range.low, now.range.bytes());
  }
  if (now.result.failed()) return;
  if (writes_) {
    fill_window(now);
    if (!now.late) write_window(now);
  } else {
    read_window(now);
    empty_window(now);
  }
}

void Phases::accessed() {
  const Round& now = round(accessed_++);
  note(now.result);
  end_found_ = std::min(end_found_, now.end_found);
}

// The runs of all sources in the window, rising; those with at most `gap` bytes between them are one.
void Phases::find_spans(Round& round, int64_t gap) {
  std::vector<Run>& spans = round.spans;
  for (const IncomingData& source : round.sources) {
    if (source.bytes == 0) continue;
    const auto middle = static_cast<std::ptrdiff_t>(spans.size());
    Cursor cursor = source.cursor;
    for (Run run{}; cursor.next(round.range.high, run);) {
      const bool touches = static_cast<std::ptrdiff_t>(spans.size()) > middle &&
                           run.offset - (spans.back().offset + spans.back().bytes) <= gap;
      if (touches) {
        spans.back().bytes = run.offset + run.bytes - spans.back().offset;
      } else {
        spans.push_back(run);
      }
    }
    std::inplace_merge(spans.begin(), spans.begin() + middle, spans.end(),
                       [](const Run& a, const Run& b) { return a.offset < b.offset; });
  }
  size_t kept = 0;
  for (const Run& run : spans) {
    Run* last = kept > 0 ? &spans[kept - 1] : nullptr;
    if (last != nullptr && run.offset - (last->offset + last->bytes) <= gap) {
      last->bytes = std::max(last->bytes, run.offset + run.bytes - last->offset);
    } else {
      spans[kept++] = run;
    }
  }
  spans.resize(kept);
}

// Data that two ranks write to the same bytes are those of the higher one.
void Phases::fill_window(const Round& round) {
  for (const IncomingData& source : round.sources) {
    if (source.bytes == 0 || source.direct) continue;
    const char* from = source.data;
    Cursor cursor = source.cursor;
    for (Run run{}; cursor.next(round.range.high, run); from += run.bytes) {
      base::copy(round.window + (run.offset - round.range.low), from, static_cast<size_t>(run.bytes));
    }
  }
}

void Phases::write_window(Round& round) {
  find_spans(round, 0);
  for (const Run& span : round.spans) {
    int64_t done = 0;
    const char* from = round.window + (span.offset - round.range.low);
    round.result = write_all(file_.disk(), from, span.bytes, span.offset, done);
    if (round.result.failed()) return;
  }
}

void Phases::read_window(Round& round) {
  find_spans(round, gap_to_read);
  for (const Run& span : round.spans) {
    int64_t done = 0;
    char* at = round.window + (span.offset - round.range.low);
    const Result result = read_all(file_.disk(), at, span.bytes, span.offset, done);
    if (!round.result.failed()) round.result = result;
    if (done == span.bytes) continue;
    std::memset(at + done, 0, static_cast<size_t>(span.bytes - done));
    round.end_found = std::min(round.end_found, span.offset + done);
  }
}

void Phases::empty_window(const Round& round) {
  for (const IncomingData& source : round.sources) {
    if (source.bytes == 0 || source.direct) continue;
    char* to = source.data;
    Cursor cursor = source.cursor;
    for (Run run{}; cursor.next(round.range.high, run); to += run.bytes) {
      base::copy(to, round.window + (run.offset - round.range.low), static_cast<size_t>(run.bytes));
    }
  }
}

void Phases::note(const Result& result) {
  if (!result_.failed()) result_ = result;
}

}  // namespace weft::io
