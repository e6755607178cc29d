// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "io/access.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include "base/copy.hpp"
#include "datatype/runs.hpp"

namespace weft::io {
namespace {

constexpr int batch = 256;                // runs looked at together
constexpr int64_t stage_bytes = 4 << 20;  // of a stream whose memory has gaps

Result no_buffer(int64_t bytes) {
  return {.error = no_memory, .system = ENOMEM, .act = Act::buffer, .bytes = bytes};
}

// The bytes of the file from the first to behind the last that the transfer touches; of a view that does not rise, all.
Run span_of(const FileTransfer& transfer) {
  const int64_t bytes = transfer.memory.bytes();
  if (!transfer.view.rising) return {0, 0};
  const int64_t first = transfer.view.offset_of(transfer.position);
  const int64_t last = transfer.view.offset_of(transfer.position + bytes - 1);
  return {first, last + 1 - first};
}

// Runs [from, to) whose gaps are small enough to move them as one.
int end_of_group(const Run* runs, int from, int count, int64_t gap, int64_t most) {
  int to = from + 1;
  while (to < count) {
    const int64_t between = runs[to].offset - (runs[to - 1].offset + runs[to - 1].bytes);
    const int64_t whole = runs[to].offset + runs[to].bytes - runs[from].offset;
    if (between < 0 || between > gap || whole > most) break;
    ++to;
  }
  return to;
}

// Moves a part of a stream that lies in one piece of memory.
class StreamMover {
 public:
  explicit StreamMover(const FileTransfer& transfer) : transfer_(transfer) {}

  Result write(int64_t position, const char* data, int64_t bytes, int64_t& done) {
    return move(position, bytes, done, transfer_.sieving.writes ? transfer_.sieving.write_buffer : 0,
                [&](const Run* runs, int count, int64_t at, int64_t& part) {
                  return count == 1 ? write_all(transfer_.disk, data + at, runs[0].bytes, runs[0].offset, part)
                                    : change(runs, count, data + at, part);
                });
  }

  // Stops at the end of the file.
  Result read(int64_t position, char* data, int64_t bytes, int64_t& done) {
    return move(position, bytes, done, transfer_.sieving.reads ? transfer_.sieving.buffer : 0,
                [&](const Run* runs, int count, int64_t at, int64_t& part) {
                  return count == 1 ? read_all(transfer_.disk, data + at, runs[0].bytes, runs[0].offset, part)
                                    : sieve(runs, count, data + at, part);
                });
  }

 private:
  // Calls one(runs, count, at, part) for groups of runs, which says how many bytes of the stream it moved; ends when
  // that is less than the group has. `most` 0: each run is a group.
  template <class One>
  Result move(int64_t position, int64_t bytes, int64_t& done, int64_t most, One&& one) {
    done = 0;
    Run whole{};
    int64_t covered = 0;
    if (transfer_.view.list(position, bytes, &whole, 1, covered) == 1 && covered == bytes)
      return one(&whole, 1, 0, done);
    return move_runs(position, bytes, done, most, one);
  }

  template <class One>
  [[gnu::noinline]] Result move_runs(int64_t position, int64_t bytes, int64_t& done, int64_t most, One& one) {
    Run runs[batch];
    while (done < bytes) {
      int64_t covered = 0;
      const int count = transfer_.view.list(position + done, bytes - done, runs, batch, covered);
      if (count == 0) return {};
      for (int i = 0; i < count;) {
        const int end = most == 0 ? i + 1 : end_of_group(runs, i, count, transfer_.sieving.gap, most);
        int64_t wanted = 0;
        for (int k = i; k < end; ++k) wanted += runs[k].bytes;
        int64_t part = 0;
        const Result result = one(runs + i, end - i, done, part);
        done += part;
        if (result.failed() || part < wanted) return result;
        i = end;
      }
    }
    return {};
  }

  bool has_sieve(int64_t bytes) {
    if (bytes <= room_) return true;
    sieve_ = allocate(bytes);
    room_ = sieve_ != nullptr ? bytes : 0;
    return sieve_ != nullptr;
  }

  Result sieve(const Run* runs, int count, char* data, int64_t& part) {
    const int64_t base = runs[0].offset;
    const int64_t whole = runs[count - 1].offset + runs[count - 1].bytes - base;
    if (!has_sieve(whole)) return no_buffer(whole);
    int64_t got = 0;
    const Result result = read_all(transfer_.disk, sieve_.get(), whole, base, got);
    for (int i = 0; i < count; ++i) {
      const int64_t from = runs[i].offset - base;
      const int64_t there = std::clamp<int64_t>(got - from, 0, runs[i].bytes);
      base::copy(data + part, sieve_.get() + from, static_cast<size_t>(there));
      part += there;
      if (there < runs[i].bytes) break;
    }
    return result;
  }

  // The bytes between the runs are written back as they were read. The lock keeps others that take locks from changing
  // them in between, unless the transfer has locked them already.
  Result change(const Run* runs, int count, const char* data, int64_t& part) {
    const int64_t base = runs[0].offset;
    const int64_t whole = runs[count - 1].offset + runs[count - 1].bytes - base;
    if (!has_sieve(whole)) return no_buffer(whole);
    RangeLock lock;
    if (!transfer_.locks) {
      if (const Result result = lock.take(transfer_.disk.fd, true, base, whole); result.failed()) return result;
    }
    int64_t got = 0;
    if (const Result result = read_all(transfer_.disk, sieve_.get(), whole, base, got); result.failed()) return result;
    std::memset(sieve_.get() + got, 0, static_cast<size_t>(whole - got));
    int64_t wanted = 0;
    for (int i = 0; i < count; wanted += runs[i++].bytes) {
      base::copy(sieve_.get() + (runs[i].offset - base), data + wanted, static_cast<size_t>(runs[i].bytes));
    }
    int64_t written = 0;
    const Result result = write_all(transfer_.disk, sieve_.get(), whole, base, written);
    if (!result.failed()) part = wanted;
    return result;
  }

  const FileTransfer& transfer_;
  Bytes sieve_;
  int64_t room_ = 0;
};

// Calls piece(position in the stream of memory, bytes, data) for parts of the memory without gaps, until one is not
// moved as a whole.
template <class Piece>
Result for_each_piece(const FileTransfer& transfer, int64_t& done, bool writes, Piece&& piece) {
  const Memory& memory = transfer.memory;
  const int64_t total = memory.bytes();
  if (memory.is_contiguous()) return piece(0, total, memory.at(0), done);
  const Bytes stage = allocate(std::min(total, stage_bytes));
  if (stage == nullptr) return no_buffer(std::min(total, stage_bytes));
  while (done < total) {
    const int64_t bytes = std::min(total - done, stage_bytes);
    if (writes) memory.take_out(done, stage.get(), bytes);
    if (memory.copy_failed()) return failure(other_error, Act::copy);
    int64_t moved = 0;
    const Result result = piece(done, bytes, stage.get(), moved);
    if (!writes) memory.put_in(done, stage.get(), moved);
    if (memory.copy_failed()) return failure(other_error, Act::copy);
    done += moved;
    if (result.failed() || moved < bytes) return result;
  }
  return {};
}

// Whether the system gets lists of the pieces of memory, for the runs of the view one by one. Pieces and runs are like
// the first ones, as far as this can tell. Small pieces are copied sooner than listed, and small gaps are sieved.
bool goes_by_lists(const FileTransfer& transfer, bool writes) {
  const Memory& memory = transfer.memory;
  if (memory.is_contiguous() || memory.on_device) return false;
  if (transfer.disk.direct != nullptr && transfer.disk.direct->moves(writes)) return false;
  constexpr int sample = 16;
  constexpr int64_t least_piece = 4096;
  iovec pieces[sample];
  const datatype::Runs listed =
      datatype::list_runs(*memory.type, memory.count, memory.buffer, 0, memory.bytes(), pieces, sample);
  if (listed.bytes < listed.count * least_piece) return false;
  const Sieving& sieving = transfer.sieving;
  if (writes ? !sieving.writes : !sieving.reads) return true;
  Run runs[sample];
  int64_t covered = 0;
  const int count = transfer.view.list(transfer.position, memory.bytes(), runs, sample, covered);
  return end_of_group(runs, 0, count, sieving.gap, writes ? sieving.write_buffer : sieving.buffer) == 1;
}

// One run of the view, at a position in the stream of memory.
Result move_run(const FileTransfer& transfer, const Run& run, int64_t position, bool writes, int64_t& done) {
  const Memory& memory = transfer.memory;
  iovec parts[IOV_MAX];
  for (done = 0; done < run.bytes;) {
    const datatype::Runs listed = datatype::list_runs(*memory.type, memory.count, memory.buffer, position + done,
                                                      run.bytes - done, parts, IOV_MAX);
    int64_t part = 0;
    const Result result = writes ? write_all(transfer.disk, parts, listed.count, run.offset + done, part)
                                 : read_all(transfer.disk, parts, listed.count, run.offset + done, part);
    done += part;
    if (result.failed() || part < listed.bytes) return result;
  }
  return {};
}

Result move_by_lists(const FileTransfer& transfer, bool writes, int64_t& done) {
  const int64_t total = transfer.memory.bytes();
  Run runs[batch];
  while (done < total) {
    int64_t covered = 0;
    const int count = transfer.view.list(transfer.position + done, total - done, runs, batch, covered);
    if (count == 0) return {};
    for (int i = 0; i < count; ++i) {
      int64_t part = 0;
      const Result result = move_run(transfer, runs[i], done, writes, part);
      done += part;
      if (result.failed() || part < runs[i].bytes) return result;
    }
  }
  return {};
}

Result lock(const FileTransfer& transfer, bool exclusive, RangeLock& lock) {
  if (!transfer.locks) return {};
  const Run span = span_of(transfer);
  return lock.take(transfer.disk.fd, exclusive, span.offset, span.bytes);
}

}  // namespace

Result write(const FileTransfer& transfer, int64_t& done) {
  done = 0;
  if (transfer.memory.bytes() == 0) return {};
  RangeLock range;
  if (const Result result = lock(transfer, true, range); result.failed()) return result;
  if (goes_by_lists(transfer, true)) return move_by_lists(transfer, true, done);
  StreamMover mover(transfer);
  return for_each_piece(transfer, done, true, [&](int64_t position, int64_t bytes, const char* data, int64_t& moved) {
    return mover.write(transfer.position + position, data, bytes, moved);
  });
}

Result read(const FileTransfer& transfer, int64_t& done) {
  done = 0;
  if (transfer.memory.bytes() == 0) return {};
  RangeLock range;
  if (const Result result = lock(transfer, false, range); result.failed()) return result;
  if (goes_by_lists(transfer, false)) return move_by_lists(transfer, false, done);
  StreamMover mover(transfer);
  return for_each_piece(transfer, done, false, [&](int64_t position, int64_t bytes, char* data, int64_t& moved) {
    return mover.read(transfer.position + position, data, bytes, moved);
  });
}

}  // namespace weft::io
