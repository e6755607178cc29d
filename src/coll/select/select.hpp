// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Which algorithm a collective operation takes: a table. A row says which communicators it is for, up to how many
// bytes, and names an algorithm. Rows are looked at in their order, and the first that fits decides:
//
//   1. WEFT_<COLL>_ALGORITHM and WEFT_<COLL>_SHORT_MSG, as rows
//   2. the file of WEFT_TUNING (coll/select/table.hpp)
//   3. default_rows() of select.cpp
//
// A row whose algorithm cannot do an operation is passed over: `leaders` where hosts make no difference, `bruck` where
// blocks have different sizes. The facts that decide are the same on all ranks: rows (compared when the job starts),
// communicator, bytes, and the algorithms that can do the operation.
//
// A communicator's first collective operation looks through the table once and keeps the rows that may fit it
// (Choices), so that an operation takes a few comparisons. Communicators of one shape share that.

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/object/comm.hpp"
#include "core/object/identity.hpp"

namespace weft::coll {

// The meaning of a row's bytes: bcast, reduce, allreduce, scan (and exscan): the data of a rank; gather, scatter,
// alltoall: a block; allgather(v), reduce_scatter: the blocks of all ranks. A barrier has none. In gatherv, scatterv
// and alltoallv no rank knows all blocks: the first row that fits decides, whatever its bytes, and for a tree of
// gatherv and scatterv they say how large a block may be that goes along it.
enum class Collective : uint8_t {
  barrier,
  bcast,
  gather,
  scatter,
  allgather,
  alltoall,
  reduce,
  allreduce,
  reduce_scatter,
  scan,
  gatherv,
  scatterv,
  allgatherv,
  alltoallv,
};
inline constexpr size_t collective_count = 14;

// Whether ranks know the bytes that a row is compared with; otherwise those are 0.
[[nodiscard]] constexpr bool knows_bytes(Collective one) {
  return one != Collective::gatherv && one != Collective::scatterv && one != Collective::alltoallv;
}
// The collective that moves the same data in blocks of one size.
[[nodiscard]] constexpr Collective regular_form(Collective one) {
  return one == Collective::gatherv      ? Collective::gather
         : one == Collective::scatterv   ? Collective::scatter
         : one == Collective::allgatherv ? Collective::allgather
         : one == Collective::alltoallv  ? Collective::alltoall
                                         : one;
}

enum class Algorithm : uint8_t {
  automatic,      // the table chooses an algorithm
  direct,         // gather, scatter: each rank with the root
  flat,           // barrier, allreduce: all with rank 0
  tree,           // bcast, reduce, gather, scatter: binomial
  dissemination,  // barrier
  doubling,       // allreduce, scan, allgather: recursive doubling
  ring,           // allgather, reduce, allreduce
  neighbours,     // allgather: with the rank above and the rank below in turn
  chain,          // bcast, scan: from rank to rank, in pieces
  bruck,          // allgather, alltoall: logarithmic, data packed
  pairwise,       // allgather, alltoall: all pairs at once; reduce_scatter: each rank gets its block from all
  halving,        // reduce_scatter: recursive halving of the blocks
  root,           // reduce_scatter: reduced at rank 0, handed out
  split,          // bcast, reduce, allreduce: each rank sees to a part of the data first
  leaders,        // one rank of each host communicates with other hosts
  shared,         // on one host: in memory that all ranks map, without messages; nonblocking operations: small data
  single_copy,    // the same, and each rank reads from the buffers of the others
  peer_copy,      // nonblocking and persistent operations on one host: each rank copies from and to others' buffers
  offload,        // blocking barrier, bcast, allreduce: by the fabric (coll/offload/offload.hpp)
};
inline constexpr size_t algorithm_count = 19;

// "allreduce", "doubling"; as they stand in files and settings.
[[nodiscard]] const char* name(Collective collective);
[[nodiscard]] const char* name(Algorithm algorithm);
// The algorithms of a collective; the first is automatic.
[[nodiscard]] std::span<const Algorithm> algorithms_of(Collective collective);
[[nodiscard]] bool find_collective(std::string_view name, Collective& collective);
// Finds an algorithm of this collective by its name; automatic is not found.
[[nodiscard]] bool find_algorithm(Collective collective, std::string_view name, Algorithm& algorithm);

inline constexpr int64_t any_bytes = std::numeric_limits<int64_t>::max();

// Numbers that a row is for, both ends included.
struct Between {
  int32_t low = 1;
  int32_t high = std::numeric_limits<int32_t>::max();

  bool has(int32_t number) const { return number >= low && number <= high; }
  bool operator==(const Between&) const = default;
};

struct Row {
  Collective collective = Collective::barrier;
  Algorithm algorithm = Algorithm::automatic;
  bool crowded = false;  // only where the ranks of a job on one host outnumber its processors
  bool uneven = false;   // only where ranks are no power of two
  Between ranks = {};
  Between hosts = {};
  Between ranks_per_host = {};
  int64_t bytes = any_bytes;  // up to so many

  bool operator==(const Row&) const = default;
};

// The facts that a row is compared with.
struct Shape {
  int32_t ranks = 1;
  int32_t hosts = 1;
  int32_t ranks_per_host = 1;  // rounded up where hosts have different numbers
  bool leaders = false;        // whether it knows its hosts, and they make a difference
  bool crowded = false;
  bool shared = false;   // whether all ranks may map memory of one of them
  bool offload = false;  // whether a component may do its operations

  bool operator==(const Shape&) const = default;
};

// Whether the ranks of a job on one host outnumber its processors: then switching between them costs more than messages
// do, and the pattern with the fewest ranks to wait for one after the other is the fastest: all sign in at rank 0,
// which answers. All ranks get the same answer.
inline bool crowded() {
  return core::identity->job.one_host() && core::identity->job.local_ranks > core::identity->job.local_cpus;
}

// A communicator with more ranks has no shared region.
inline constexpr int32_t most_sharing = 128;

// Algorithms, as a set.
class Algorithms {
 public:
  // The algorithms that any plan can name: they use messages.
  static constexpr Algorithms all() { return blocking().without(Algorithm::shared).without(Algorithm::single_copy); }
  // blocking() adds shared memory to these, and nonblocking() copies between the buffers of ranks. Nonblocking
  // operations on small data may take shared memory by with().
  static constexpr Algorithms blocking() { return any().without(Algorithm::offload).without(Algorithm::peer_copy); }
  static constexpr Algorithms nonblocking() {
    return any().without(Algorithm::offload).without(Algorithm::shared).without(Algorithm::single_copy);
  }
  static constexpr Algorithms any() { return Algorithms(~0U); }
  [[nodiscard]] constexpr Algorithms without(Algorithm one, bool left_out = true) const {
    return Algorithms(bits_ & ~(static_cast<uint32_t>(left_out) << static_cast<uint32_t>(one)));
  }
  [[nodiscard]] constexpr Algorithms with(Algorithm one, bool taken_in = true) const {
    return Algorithms(bits_ | static_cast<uint32_t>(taken_in) << static_cast<uint32_t>(one));
  }
  [[nodiscard]] constexpr bool has(Algorithm one) const { return (bits_ >> static_cast<uint32_t>(one) & 1U) != 0; }

 private:
  explicit constexpr Algorithms(uint32_t bits) : bits_(bits) {}
  uint32_t bits_;
};

// A bcast, reduce or allreduce of fewer bytes or elements than ranks cannot be parted among them.
[[nodiscard]] constexpr Algorithms without_parts(Algorithms able, Collective collective, bool few) {
  few = few &&
        (collective == Collective::bcast || collective == Collective::reduce || collective == Collective::allreduce);
  return able.without(Algorithm::split, few).without(Algorithm::ring, few);
}

// Instead of an error class, of blocking operations that do not begin in shared memory: they go by messages; or may be
// offloaded, which is to be tried first.
inline constexpr int32_t go_by_messages = -1;
inline constexpr int32_t ask_offload = -2;

struct Choice {
  int64_t bytes;  // up to so many
  Algorithm algorithm;
};

// The remaining choices in communicators of one shape, by collective. Each list ends with an algorithm that can always
// be taken, for any number of bytes.
struct Choices {
  std::vector<Choice> lists[collective_count];
  bool nonblocking_shared[collective_count] = {};  // some nonblocking ones are done in shared memory
  bool in_regions = false;                         // some operations are done in shared memory, and none is offloaded
  bool regions_behind = false;                     // some in shared memory, and some are offloaded
  int32_t otherwise = go_by_messages;              // without `in_regions`; or ask_offload

  [[nodiscard]] const Choice& find(Collective collective, int64_t bytes, Algorithms able) const {
    const Choice* choice = lists[static_cast<size_t>(collective)].data();
    while (bytes > choice->bytes || !able.has(choice->algorithm)) ++choice;
    return *choice;
  }
  [[nodiscard]] Algorithm choose(Collective collective, int64_t bytes, Algorithms able = Algorithms::all()) const {
    return find(collective, bytes, able).algorithm;
  }
};

// Blocks of gatherv and scatterv up to so many bytes go along a tree, in slots of that size; larger ones do not. Where
// no row says how many, few, as each slot is sent whole.
[[nodiscard]] constexpr int64_t slot_of(const Choice& choice) {
  constexpr int64_t unsaid = 64;
  constexpr int64_t most = 1 << 20;
  return choice.bytes == any_bytes ? unsaid : choice.bytes < most ? choice.bytes : most;
}

// The choices that `rows`, those in front of the others first, and the default rows leave for a shape.
[[nodiscard]] Choices compile(const Shape& shape, std::span<const Row> rows);

// Whether a row is for communicators of this shape.
[[nodiscard]] bool fits(const Row& row, const Shape& shape);

// The rows that the settings add, and the file that WEFT_TUNING names; empty: none. After base::load_settings().
[[nodiscard]] std::vector<Row> rows_of_settings();
[[nodiscard]] std::string tuning_file();

// WEFT_REPRODUCIBLE: reductions are fixed (reducer.hpp).
[[nodiscard]] bool reproducible();

// The rows of an unchanged table.
[[nodiscard]] std::span<const Row> default_rows();

// When the job starts (coll/runtime/start.hpp): the rows of the file of WEFT_TUNING, and the name of the component that
// does the algorithm `offload`; nullptr: there is none. Returns a number that stands for all rows before the default
// ones, and is not 0.
[[nodiscard]] uint64_t open_choices(std::vector<Row> file, const char* component);
// The rows before the default ones, from then on.
[[nodiscard]] std::vector<Row> rows_in_force();

// Finds out the choices for this communicator now.
[[nodiscard]] const Choices& find_choices(const core::Comm& comm);

[[nodiscard]] inline const Choices& choices_of(const core::Comm& comm) {
  const Choices* choices = comm.choices.load(std::memory_order_acquire);
  return choices != nullptr ? *choices : find_choices(comm);
}

// The algorithm for an operation on `bytes`; `able`: those that can do it.
[[nodiscard]] inline const Choice& find_choice(const core::Comm& comm, Collective collective, int64_t bytes,
                                               Algorithms able = Algorithms::all()) {
  return choices_of(comm).find(collective, bytes, able);
}
[[nodiscard]] inline Algorithm choose(const core::Comm& comm, Collective collective, int64_t bytes,
                                      Algorithms able = Algorithms::all()) {
  return find_choice(comm, collective, bytes, able).algorithm;
}

}  // namespace weft::coll
