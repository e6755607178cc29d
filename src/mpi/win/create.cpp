// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Making and ending windows, and their memory (MPI-5.0, 12.2.1 to 12.2.5).

#include "core/rma/create.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <vector>

#include "coll/coll.hpp"
#include "core/memory/shared.hpp"
#include "core/object/identity.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/comm/group.hpp"
#include "mpi/datatype/type.hpp"
#include "mpi/env/memory.hpp"
#include "mpi/object/attribute.hpp"
#include "mpi/object/buffer.hpp"
#include "mpi/object/errhandler.hpp"
#include "mpi/object/twin.hpp"
#include "mpi/object/wait_record.hpp"
#include "mpi/win/window.hpp"

namespace weft::mpi {
namespace {

using core::rma::Flavor;
using core::rma::Target;
using core::rma::WindowPart;

// A window as a call asks for it.
struct WantedWindow {
  const char* function;
  Flavor flavor;
  MPI_Info info;
  MPI_Comm comm;
  void* base = nullptr;
  MPI_Aint bytes = 0;
  MPI_Aint unit = 1;
};

// Which errors are the communicator's: it is set when there is one.
int check(const WantedWindow& wanted, Comm*& parent, const void* result, const char* result_name, MPI_Win* win) {
  const char* function = wanted.function;
  parent = comm_of(wanted.comm);
  if (parent == nullptr) return bad_comm(function, wanted.comm);
  if (parent->is_inter()) {
    return fail(parent, function, MPI_ERR_COMM, "%s has two groups: windows are made on intra-communicators",
                comm_text(*parent).c_str());
  }
  if (wanted.info != MPI_INFO_NULL && info_of(wanted.info) == nullptr) return bad_info(parent, function, wanted.info);
  if (wanted.bytes < 0) return negative(parent, function, MPI_ERR_SIZE, "size", wanted.bytes);
  if (wanted.unit <= 0) {
    return fail(parent, function, MPI_ERR_DISP, "disp_unit is %lld: it must be positive",
                static_cast<long long>(wanted.unit));
  }
  if (wanted.flavor == Flavor::create && no_address(wanted.base) && wanted.bytes > 0) {
    return fail(parent, function, MPI_ERR_BASE, "base is %s, for a window of %lld bytes",
                no_data_text(wanted.base).c_str(), static_cast<long long>(wanted.bytes));
  }
  if (no_address(result)) return null_argument(parent, function, result_name);
  if (no_address(win)) return null_argument(parent, function, "win");
  return MPI_SUCCESS;
}

int flavor_value(Flavor flavor) {
  switch (flavor) {
    case Flavor::create:
      return MPI_WIN_FLAVOR_CREATE;
    case Flavor::allocate:
      return MPI_WIN_FLAVOR_ALLOCATE;
    case Flavor::dynamic:
      return MPI_WIN_FLAVOR_DYNAMIC;
    case Flavor::shared:
      return MPI_WIN_FLAVOR_SHARED;
  }
  return 0;
}

// The object as this rank alone can describe it, without a communicator of its own.
int describe(const WantedWindow& wanted, Comm& parent, Win& win) {
  const Info* info = info_of(wanted.info);
  win.comm = &parent;  // until it has its own
  win.flavor = wanted.flavor;
  win.base = static_cast<char*>(wanted.base);
  win.bytes = static_cast<uint64_t>(wanted.bytes);
  win.unit = wanted.unit;
  win.size = parent.size;
  win.rank = parent.rank;
  win.drop_type = release_type;
  win.size_value = wanted.bytes;
  win.unit_value = wanted.unit <= INT_MAX ? static_cast<int>(wanted.unit) : 0;
  win.flavor_value = flavor_value(wanted.flavor);
  win.on_device = datatype::are_on_device(byte_type, wanted.bytes, wanted.base);
  set_default_hints(win);
  if (int error = take_hints(wanted.function, &parent, win, info)) return error;
  if (wanted.flavor != Flavor::allocate && wanted.flavor != Flavor::shared) return MPI_SUCCESS;
  if (const std::optional<std::string> name = device_wished(info)) {
    win.on_device = true;
    if (wanted.flavor == Flavor::allocate) return check_device(wanted.function, &parent, *name);
    return fail(&parent, wanted.function, MPI_ERR_UNSUPPORTED_OPERATION,
                "the info key weft_mem_device asks for memory of a device, which no processor can load from or store "
                "to: use MPI_Win_allocate");
  }
  return read_wish(wanted.function, &parent, info, win.wish);
}

int add_comm(const char* function, Comm& parent, Win& win) {
  uint32_t context = 0;
  if (int error = agree_on_context(function, founders_of(parent), context)) return error;
  Comm* comm = new_comm(parent, context, hold(parent.group));
  if (comm == nullptr) return no_memory(&parent, function, "a communicator");
  comm->window = &win;
  win.comm = comm;
  share_stream(parent, *comm);
  use_memory_assertion(win);
  win.errhandler = unset_handler(*errhandler_of(MPI_ERRORS_ARE_FATAL));
  win.kind = base::Kind::window;
  return MPI_SUCCESS;
}

// Ends the object, not what core has made of it.
void destroy(Win* win) {
  auto* comm = static_cast<Comm*>(win->comm);
  if (comm->window == win) {
    comm->window = nullptr;
    destroy_when_unused(comm);
  }
  drop(win->errhandler);
  base::destroy_object(win);
}

// The contributions of all ranks, by rank.
template <class T>
int32_t gather(core::Comm& comm, const T& mine, std::vector<T>& all) {
  Type& bytes = byte_type;
  all.resize(static_cast<size_t>(comm.size));
  return coll::allgather(comm, {const_cast<T*>(&mine), sizeof(T), &bytes}, coll::Blocks(all.data(), sizeof(T), bytes));
}

// ---- Memory of MPI_Win_allocate_shared

bool on_one_host(const Comm& comm) {
  if (core::identity->job.one_host() && !comm.several_jobs) return true;
  const int32_t ours = core::host_of(core::identity->rank);
  for (int32_t r = 0; r < comm.size; ++r) {
    if (core::host_of(comm.job_rank(r)) != ours) return false;
  }
  return true;
}

// The kind of memory, as a rank tells others.
struct Obtained {
  Obtained() = default;
  explicit Obtained(const pages::Grant& grant)
      : nodes(grant.nodes),
        page(grant.page),
        aligned(grant.aligned),
        affinity(grant.affinity),
        policy(grant.policy),
        transparent(grant.transparent) {
    strncpy(fallback, grant.fallback.c_str(), sizeof fallback - 1);
  }
  void tell(pages::Grant& grant) const {
    grant = {.affinity = affinity,
             .policy = policy,
             .nodes = nodes,
             .page = page,
             .transparent = transparent,
             .aligned = aligned,
             .fallback = fallback};
  }

  base::CpuSet nodes;
  size_t page = pages::base_page;
  size_t aligned = pages::base_page;
  pages::Affinity affinity = pages::Affinity::system;
  pages::Policy policy = pages::Policy::preferred;
  bool transparent = false;
  char fallback[256] = "";
};

// Where a rank's part lies: from `offset` in memory of another rank.
struct SharedPart {
  core::MemoryRef memory{0, core::MemoryRef::no_key};
  Obtained obtained;
  int32_t error = core::no_error;
};

int32_t allocate_own(Win& win, uint64_t bytes) {
  return core::rma::allocate(win, bytes) ? core::no_error : core::no_memory;
}

// All parts in one piece, which the first rank allocates, one behind the other in the order of ranks.
int32_t lay_out_together(Win& win, SharedPart& share) {
  core::Comm& comm = *win.comm;
  std::vector<uint64_t> sizes;
  if (const int32_t error = gather(comm, win.bytes, sizes)) return error;
  uint64_t total = 0;
  uint64_t before = 0;
  for (int32_t r = 0; r < comm.size; ++r) {
    if (r == comm.rank) before = total;
    if (__builtin_add_overflow(total, sizes[static_cast<size_t>(r)], &total) || total > INT64_MAX) return MPI_ERR_SIZE;
  }
  if (comm.rank == 0) {
    share.error = allocate_own(win, total);
    if (share.error == core::no_error) share.memory = core::memory::register_memory(win.base, total);
    share.obtained = Obtained(win.grant);
  }
  if (const int32_t error = coll::bcast(comm, &share, sizeof share, byte_type, 0)) return error;
  if (share.error != core::no_error || comm.rank == 0) return share.error;
  char* first = core::memory::map(comm.job_rank(0), share.memory);
  if (first == nullptr) return MPI_ERR_RMA_SHARED;
  win.base = first + before;
  share.obtained.tell(win.grant);
  share.memory = transport::advanced(share.memory, before);
  return core::no_error;
}

// ---- Making

// The ranks of a communicator that are on our host, rising.
std::vector<int32_t> ranks_here(const core::Comm& comm) {
  std::vector<int32_t> ranks;
  if (core::identity->job.one_host()) {
    for (int32_t r = 0; r < comm.size; ++r) {
      if (comm.job_rank(r) < core::identity->places) ranks.push_back(r);
    }
    return ranks;
  }
  for (int32_t r = 0; r < comm.size; ++r) {
    if (core::identity->job.place_here(comm.job_rank(r)) >= 0) ranks.push_back(r);
  }
  return ranks;
}

// Swaps parts with the ranks of our host, which reach each other without any help of the target.
int32_t swap_parts(core::Comm& comm, const WindowPart& part, const std::vector<int32_t>& ranks,
                   std::vector<WindowPart>& parts) {
  coll::Founders team = founders_of(comm);
  team.size = static_cast<int32_t>(ranks.size());
  team.place = static_cast<int32_t>(std::lower_bound(ranks.begin(), ranks.end(), comm.rank) - ranks.begin());
  team.ranks = ranks.data();
  parts.resize(ranks.size());
  return coll::gather_all(team, &part, sizeof part, parts.data());
}

// The largest generation that any rank proposes.
int32_t agree_on_generation(core::Comm& comm, const std::vector<WindowPart>& parts, uint32_t& generation) {
  generation = 0;
  for (const WindowPart& part : parts) generation = std::max(generation, part.generation);
  if (static_cast<int32_t>(parts.size()) == comm.size) return core::no_error;
  coll::Vote vote{~uint64_t{generation}, 0};
  const int32_t error = coll::agree(founders_of(comm), vote);
  generation = static_cast<uint32_t>(~vote.offer);
  return error;
}

// Agrees on the smallest error class of any rank. If no rank has an error, the ranks agree on the first rank that has
// any memory, or `size`. When this returns, the window is open on all ranks.
int32_t agree_on_outcome(Win& win, int32_t error) {
  constexpr uint64_t no_errors = uint64_t{1} << 32;
  const int32_t first = win.bytes > 0 ? win.rank : win.size;
  coll::Vote vote{error == core::no_error ? no_errors + static_cast<uint64_t>(first) : static_cast<uint64_t>(error), 0};
  const int32_t failed = coll::agree(founders_of(*win.comm), vote);
  if (failed != core::no_error) return failed;
  if (vote.offer < no_errors) return static_cast<int32_t>(vote.offer);
  win.first_part = static_cast<int32_t>(vote.offer - no_errors);
  return core::no_error;
}

// Prepares our part, and opens the window when all ranks could do so. An error class, the same on all ranks.
int32_t open_together(Win& win) {
  WindowPart part{};
  SharedPart share;
  int32_t error = core::no_error;
  const bool together = win.flavor == Flavor::shared && !is_hinted(win, "alloc_shared_noncontig");
  if (together) {
    error = lay_out_together(win, share);
  } else if (win.flavor == Flavor::shared) {
    error = allocate_own(win, win.bytes);
  }
  core::rma::prepare(win, win.flavor, part);
  if (error != core::no_error) part.error = error;
  if (together && win.rank != 0) {
    part.memory = share.memory;
    part.holder = win.comm->job_rank(0);
  }
  const std::vector<int32_t> here = ranks_here(*win.comm);
  std::vector<WindowPart> parts;
  uint32_t generation = 0;
  error = swap_parts(*win.comm, part, here, parts);
  if (error == core::no_error) error = agree_on_generation(*win.comm, parts, generation);
  for (const WindowPart& each : parts) {
    if (error == core::no_error) error = each.error;
  }
  if (error == core::no_error) core::rma::open(win, here, parts, generation);
  return agree_on_outcome(win, error);
}

// Collective on the communicator. Nobody has the handle before the window is open everywhere.
int make(const WantedWindow& wanted, const void* result, const char* result_name, MPI_Win* handle, Win*& made) {
  const char* function = wanted.function;
  Comm* parent = nullptr;
  if (int error = check(wanted, parent, result, result_name, handle)) return error;
  if (wanted.flavor == Flavor::shared && !on_one_host(*parent)) {
    return fail(parent, function, MPI_ERR_RMA_SHARED,
                "%s has ranks of several hosts, which share no memory: make one for each host with "
                "MPI_Comm_split_type(MPI_COMM_TYPE_SHARED)",
                comm_text(*parent).c_str());
  }
  Win* win = base::make_object<Win>();
  if (win == nullptr) return no_memory(parent, function, "a window");
  int error = describe(wanted, *parent, *win);
  if (error == MPI_SUCCESS) error = add_comm(function, *parent, *win);
  if (error != MPI_SUCCESS) {
    destroy(win);
    return error;
  }
  const int32_t failed = open_together(*win);
  if (failed != core::no_error) {
    const std::string problem = win->grant.problem.empty() ? error_text(failed) : win->grant.problem;
    core::rma::close(*win);
    destroy(win);
    return fail(parent, function, failed, "the ranks could not make a window, here of %lld bytes: %s",
                static_cast<long long>(wanted.bytes), problem.c_str());
  }
  made = win;
  *handle = handle_of<MPI_Win>(win);
  return MPI_SUCCESS;
}

int make_with_memory(const WantedWindow& wanted, void* baseptr, MPI_Win* handle) {
  Win* win = nullptr;
  const int error = make(wanted, baseptr, "baseptr", handle, win);
  if (error != MPI_SUCCESS || win == nullptr) return error;
  *static_cast<void**>(baseptr) = win->base;
  return MPI_SUCCESS;
}

}  // namespace

int win_create_c(void* base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win* win) {
  Win* made = nullptr;
  return make({"MPI_Win_create", Flavor::create, info, comm, base, size, disp_unit}, win, "win", win, made);
}

int win_allocate_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr, MPI_Win* win) {
  return make_with_memory({"MPI_Win_allocate", Flavor::allocate, info, comm, nullptr, size, disp_unit}, baseptr, win);
}

int win_allocate_shared_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm, void* baseptr,
                          MPI_Win* win) {
  return make_with_memory({"MPI_Win_allocate_shared", Flavor::shared, info, comm, nullptr, size, disp_unit}, baseptr,
                          win);
}

int win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* win) {
  Win* made = nullptr;
  return make({"MPI_Win_create_dynamic", Flavor::dynamic, info, comm}, win, "win", win, made);
}

// Everybody is through with all epochs before the memory goes.
int win_free(MPI_Win* win) {
  static const char* function = "MPI_Win_free";
  if (no_address(win)) return null_argument(nullptr, function, "win");
  Win* w = win_of(*win);
  if (w == nullptr) return bad_win(function, *win);
  if (!core::rma::at_rest(*w)) {
    return fail(w, function, MPI_ERR_RMA_SYNC,
                "an epoch of %s is open: end it with MPI_Win_complete, MPI_Win_wait, MPI_Win_unlock or "
                "MPI_Win_unlock_all first",
                win_text(*w).c_str());
  }
  if (int error = delete_attributes(*w))
    return fail(w, function, error, "a delete callback of an attribute returned an error");
  wait_for_stream(static_cast<const Comm&>(*w->comm));
  const WaitRecord wait_record = wait_record_of_all("MPI_Win_free", static_cast<Comm&>(*w->comm));
  const Doing doing(wait_record);
  const int32_t error = coll::barrier(*w->comm);
  if (error != core::no_error) return fail(w, function, error, "the ranks could not wait for each other");
  forget(*w);
  core::rma::close(*w);
  destroy(w);
  *win = MPI_WIN_NULL;
  return MPI_SUCCESS;
}

// ---- Memory

int win_attach(MPI_Win win, void* base, MPI_Aint size) {
  WinCheck check("MPI_Win_attach", win);
  if (check.failed()) return check.error();
  Win& w = check.win();
  if (w.flavor != Flavor::dynamic) {
    check.fail(MPI_ERR_RMA_FLAVOR, "%s was not made by MPI_Win_create_dynamic", win_text(w).c_str());
  } else if (size < 0) {
    check.fail(MPI_ERR_SIZE, "size is %lld: it must not be negative", static_cast<long long>(size));
  } else if (no_address(base) && size > 0) {
    check.fail(MPI_ERR_BASE, "base is %s, for %lld bytes", no_data_text(base).c_str(), static_cast<long long>(size));
  }
  if (check.failed()) return check.error();
  const int32_t error =
      core::rma::attach(w, base, static_cast<uint64_t>(size), datatype::are_on_device(byte_type, size, base));
  if (error == core::rma_attach) {
    check.fail(error, "%lld bytes at %p overlap memory that is attached already: detach that first",
               static_cast<long long>(size), base);
    return check.error();
  }
  return check.done(error);
}

int win_detach(MPI_Win win, const void* base) {
  WinCheck check("MPI_Win_detach", win);
  if (check.failed()) return check.error();
  Win& w = check.win();
  if (w.flavor != Flavor::dynamic) {
    check.fail(MPI_ERR_RMA_FLAVOR, "%s was not made by MPI_Win_create_dynamic", win_text(w).c_str());
  } else if (!core::rma::detach(w, base)) {
    check.fail(MPI_ERR_BASE, "no memory that begins at %p is attached to %s", base, win_text(w).c_str());
  }
  return check.error();
}

namespace {

// The part of a rank as we may load from it and store to it; no bytes, and no address, where that cannot be, as of
// memory of a device.
int query(WinCheck& check, int rank, MPI_Aint* size, MPI_Aint* unit, void* baseptr) {
  check.rank(rank, "rank");
  check.pointer(size, "size");
  check.pointer(unit, "disp_unit");
  check.pointer(baseptr, "baseptr");
  if (check.failed()) return check.error();
  Win& win = check.win();
  if (win.flavor == Flavor::dynamic) {
    check.fail(MPI_ERR_RMA_FLAVOR, "%s was made by MPI_Win_create_dynamic: it has no memory of its own",
               win_text(win).c_str());
    return check.error();
  }
  // MPI_PROC_NULL asks for the first part that has any memory, whether we can reach it or not (MPI-5.0, 12.2.3), so
  // that all who can reach it mean the same.
  if (rank == MPI_PROC_NULL) rank = win.first_part < win.size ? win.first_part : win.rank;
  const Target& target = core::rma::meet(win, rank);
  const bool reached = target.region.reach == core::rma::Reach::mapped && target.region.bytes > 0;
  *size = reached ? static_cast<MPI_Aint>(target.region.bytes) : 0;
  *unit = static_cast<MPI_Aint>(target.unit);
  *static_cast<void**>(baseptr) = reached ? target.region.mapped : nullptr;
  return MPI_SUCCESS;
}

}  // namespace

int win_shared_query_c(MPI_Win win, int rank, MPI_Aint* size, MPI_Aint* disp_unit, void* baseptr) {
  WinCheck check("MPI_Win_shared_query", win);
  return query(check, rank, size, disp_unit, baseptr);
}

int win_shared_query(MPI_Win win, int rank, MPI_Aint* size, int* disp_unit, void* baseptr) {
  WinCheck check("MPI_Win_shared_query", win);
  check.pointer(disp_unit, "disp_unit");
  MPI_Aint unit = 0;
  if (int error = query(check, rank, size, &unit, baseptr)) return error;
  if (unit > INT_MAX) {
    check.fail(MPI_ERR_VALUE_TOO_LARGE, "disp_unit is %lld, more than an int can hold: call MPI_Win_shared_query_c",
               static_cast<long long>(unit));
    return check.error();
  }
  *disp_unit = static_cast<int>(unit);
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
