// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// An open file (MPI-5.0, chapter 14): a descriptor on each rank, the rank's view and pointer, and a communicator of its
// own, on which the ranks agree. Functions named `..._collectively` are collective; their result is the same on all
// ranks.

#include <atomic>
#include <memory>
#include <string>

#include "base/descriptor.hpp"
#include "base/lock.hpp"
#include "coll/coll.hpp"
#include "core/object/comm.hpp"
#include "io/access.hpp"
#include "io/file_system.hpp"
#include "io/hints.hpp"
#include "io/result.hpp"
#include "io/view.hpp"

namespace weft::io {

// How a file is opened; the values travel between ranks.
struct OpenMode {
  bool reads = false;
  bool writes = false;
  bool create = false;
  bool exclusive = false;
  bool delete_on_close = false;
  bool append = false;
};

class CollectiveAccess;  // collective_access.hpp

// Runs of this many bytes are accessed by each rank alone, as one call of the system moves them as fast as an exchange
// of data would: in the page cache of the host, and on storage that hosts share.
inline constexpr int64_t large_run_of_host = 2 << 10;
inline constexpr int64_t large_run = 256 << 10;

struct File : base::Object {
  core::Comm* comm = nullptr;  // the file's own
  std::string path;
  OpenMode mode;
  base::Descriptor descriptor;
  Storage storage = Storage::other;
  bool one_host = true;          // all ranks are on it
  bool local = false;            // on a disk or in memory of the one host that all ranks are on
  bool in_memory = false;        // there is no storage for which a read would wait
  bool shared_by_locks = false;  // on NFS, with ranks on several hosts: their caches agree at locks
  bool locks_of_host = false;    // and a lock holds on one host alone
  bool regular = false;          // no device or pipe: a read may be repeated
  Direct direct;
  View view;
  std::atomic<int64_t> position = 0;  // the individual pointer, in etypes
  bool atomic = false;
  Hints hints;
  std::atomic<bool> dirty = false;    // written to since the last sync
  std::atomic<int64_t> pending = 0;   // accesses in the background
  CollectiveAccess* first = nullptr;  // collective accesses in their order: the first is under way
  CollectiveAccess* last = nullptr;
  // Memory of collective accesses in two phases, kept for the next one. Rounds use them in turn.
  struct PhaseMemory {
    Bytes window;
    Bytes stage;
    int64_t window_bytes = 0;
    int64_t stage_bytes = 0;
  };
  PhaseMemory phase_memory[2];
  std::unique_ptr<Tally> tally;  // counts where WEFT_IO_STATS is on, or nullptr
  base::Lock guard;              // one atomic access of this process at a time: locks are the open file's

  // -1: the program has closed the descriptor, and calls of the system fail with EBADF.
  [[nodiscard]] int fd() const { return descriptor.number(); }
  // An access holds a lock on its bytes.
  [[nodiscard]] bool locks() const { return atomic || shared_by_locks; }
  [[nodiscard]] int64_t exchanged_below() const { return local ? large_run_of_host : large_run; }
  [[nodiscard]] Disk disk() { return {fd(), tally.get(), direct.descriptor.is_open() ? &direct : nullptr}; }
};

// Opens the file on all ranks: rank 0 first, which creates it where that is asked for. `given`: an error that this rank
// already has, so that no rank waits for one that cannot take part. `alike` must be the same on all. The hints become
// rank 0's.
[[nodiscard]] Result open_collectively(File& file, const Result& given, int64_t alike);

// The data written are on the storage device, the file is closed, and removed where it was opened so.
[[nodiscard]] Result close_collectively(File& file);

// Removes a file by its path.
[[nodiscard]] Result remove(const std::string& path);

[[nodiscard]] Result resize_collectively(File& file, int64_t size, const Result& given);
// The file has `size` bytes at least, and storage for them.
[[nodiscard]] Result reserve_collectively(File& file, int64_t size, const Result& given);
[[nodiscard]] Result sync_collectively(File& file);

// The first failure of all ranks, by rank, with the rank that it is of; `mine` is ours.
[[nodiscard]] Result agree(core::Comm& comm, const Result& mine);

// Whether all ranks give the same.
[[nodiscard]] bool same_on_all(core::Comm& comm, int64_t value);

// Atomic mode on or off, where locks can keep the promise.
[[nodiscard]] Result set_atomic_collectively(File& file, bool atomic);

// The hints of which this rank makes use.
[[nodiscard]] Hints hints_in_force(const File& file);

// The hints become rank 0's: decisions of all ranks depend on them.
[[nodiscard]] Result share_hints(File& file);

// Access of this rank alone, at `position` bytes into the stream of a view of the file. Any thread.
[[nodiscard]] Result access_alone(File& file, bool writes, const View& view, int64_t position, const Memory& memory,
                                  int64_t& done);
// Counts an access of the program.
void count_access(File& file, bool writes, const View& view, int64_t position, int64_t bytes, bool collective,
                  bool two_phase);
// Both: an independent access.
[[nodiscard]] Result access_at(File& file, bool writes, const View& view, int64_t position, const Memory& memory,
                               int64_t& done);

}  // namespace weft::io
