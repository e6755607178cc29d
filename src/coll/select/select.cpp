// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/select/select.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <utility>

#include "base/lock.hpp"
#include "base/setting.hpp"
#include "core/object/hosts.hpp"
#include "device/select/choice.hpp"

namespace weft::coll {

namespace {

using enum Algorithm;

constexpr Between up_to(int32_t high) {
  return {1, high};
}

constexpr int64_t kib = 1024;

// Rows for blocking operations on one host: always, and where ranks share processors.
constexpr Row in_region(Collective collective, Algorithm algorithm, int64_t bytes = any_bytes) {
  return {.collective = collective, .algorithm = algorithm, .ranks = up_to(32), .bytes = bytes};
}
constexpr Row in_crowd(Collective collective, Algorithm algorithm, int64_t bytes = any_bytes) {
  Row row = in_region(collective, algorithm, bytes);
  row.crowded = true;
  return row;
}

// A row for messages within one host.
constexpr Row within(int32_t most_ranks, Collective collective, Algorithm algorithm, int64_t bytes = any_bytes) {
  return {
      .collective = collective, .algorithm = algorithm, .ranks = up_to(most_ranks), .hosts = up_to(1), .bytes = bytes};
}
constexpr Row within_crowd(Collective collective, Algorithm algorithm, int64_t bytes = any_bytes) {
  Row row = within(32, collective, algorithm, bytes);
  row.crowded = true;
  return row;
}

// Where hosts make a difference their leaders speak for them. Rows of allgather are for allgatherv too.
constexpr Row written_defaults[] = {
    // Data of any size through chunks (docs/measurements/choices.md, "Collective operations in shared memory"). A root
    // would copy all data of a gather or scatter, where messages have each rank copy its own; in a scan the last rank
    // would combine those of all.
    in_region(Collective::barrier, shared),
    in_region(Collective::bcast, shared),
    in_crowd(Collective::gather, shared),
    within(2, Collective::gather, shared),
    in_region(Collective::gather, shared, 8 * kib),
    in_crowd(Collective::scatter, shared),
    within(2, Collective::scatter, shared),
    in_region(Collective::scatter, shared, 8 * kib),
    in_region(Collective::gatherv, shared),
    in_region(Collective::scatterv, shared),
    in_region(Collective::allgather, shared),
    in_region(Collective::allgather, single_copy),
    in_region(Collective::alltoall, shared),
    in_region(Collective::alltoall, single_copy),
    in_region(Collective::alltoallv, shared),
    in_region(Collective::alltoallv, single_copy),
    in_region(Collective::reduce, shared),
    in_region(Collective::reduce, single_copy),
    in_region(Collective::allreduce, shared),
    in_region(Collective::allreduce, single_copy),
    in_region(Collective::reduce_scatter, shared),
    in_region(Collective::reduce_scatter, single_copy),
    within(8, Collective::scan, shared),
    in_region(Collective::scan, shared, 8 * kib),
    in_region(Collective::scan, single_copy),
    {Collective::barrier, leaders},
    // Every other rank is switched to twice at most, which is what counts when ranks outnumber cores. Beyond, the first
    // would be the bottleneck.
    {.collective = Collective::barrier, .algorithm = flat, .ranks = up_to(32), .hosts = up_to(1)},
    {Collective::barrier, dissemination},
    // For more ranks than shared regions are for, and for several hosts, the rows below are those that `weft simulate`
    // found
    // best (docs/measurements/choices.md, "Collective operations between hosts").
    {.collective = Collective::bcast, .algorithm = leaders, .bytes = 64 * kib},
    {.collective = Collective::bcast, .algorithm = tree, .bytes = 128 * kib},
    {.collective = Collective::bcast, .algorithm = split, .hosts = {2}},
    {.collective = Collective::bcast, .algorithm = split, .ranks = {33}},
    {Collective::bcast, tree},
    // A rank's block goes together with others up to so many bytes: a message costs more than to copy so much twice.
    {.collective = Collective::gather, .algorithm = leaders, .ranks = up_to(2000), .bytes = 1 * kib},
    {.collective = Collective::gather, .algorithm = tree, .ranks = {64}, .bytes = 64},
    {.collective = Collective::gather, .algorithm = leaders, .bytes = 1 * kib},
    {Collective::gather, direct},
    {.collective = Collective::gatherv, .algorithm = tree, .ranks = {64}, .bytes = 64},
    {Collective::gatherv, direct},
    {.collective = Collective::scatter, .algorithm = leaders, .ranks = up_to(2000), .bytes = 1 * kib},
    {.collective = Collective::scatter, .algorithm = tree, .ranks = {64}, .bytes = 64},
    {.collective = Collective::scatter, .algorithm = leaders, .bytes = 1 * kib},
    {Collective::scatter, direct},
    {.collective = Collective::scatterv, .algorithm = tree, .ranks = {64}, .bytes = 64},
    {Collective::scatterv, direct},
    // Up to so many bytes in all, steps cost more than copies.
    {.collective = Collective::allgather,
     .algorithm = pairwise,
     .ranks = up_to(32),
     .hosts = {2},
     .ranks_per_host = up_to(1)},
    {.collective = Collective::allgather,
     .algorithm = doubling,
     .hosts = {33},
     .ranks_per_host = up_to(1),
     .bytes = 128 * kib},
    {.collective = Collective::allgather, .algorithm = leaders, .ranks = {512}, .bytes = 256 * kib},
    {.collective = Collective::allgather, .algorithm = leaders, .bytes = 64 * kib},
    {.collective = Collective::allgather,
     .algorithm = bruck,
     .hosts = {32},
     .ranks_per_host = up_to(1),
     .bytes = 512 * kib},
    {.collective = Collective::allgather,
     .algorithm = bruck,
     .hosts = {2},
     .ranks_per_host = up_to(1),
     .bytes = 128 * kib},
    {.collective = Collective::allgather, .algorithm = bruck, .ranks = {33}, .bytes = 64 * kib},
    {.collective = Collective::allgather, .algorithm = bruck, .bytes = 16 * kib},
    // Copies between buffers, of nonblocking operations, pay from so many bytes on: more where ranks share processors
    // (docs/measurements/choices.md, "Nonblocking operations on one host").
    within_crowd(Collective::allgather, ring, 512 * kib),
    within(32, Collective::allgather, ring, 64 * kib),
    in_region(Collective::allgather, peer_copy),
    {.collective = Collective::allgather,
     .algorithm = neighbours,
     .ranks = up_to(128),
     .hosts = {2},
     .ranks_per_host = {2},
     .bytes = 512 * kib},
    {Collective::allgather, ring},
    {.collective = Collective::alltoall, .algorithm = bruck, .hosts = {2}, .ranks_per_host = {2}, .bytes = 256},
    {.collective = Collective::alltoall, .algorithm = bruck, .ranks = {64}, .bytes = 16},
    within_crowd(Collective::alltoall, pairwise),
    within(32, Collective::alltoall, pairwise, 32 * kib),
    in_region(Collective::alltoall, peer_copy),
    {Collective::alltoall, pairwise},
    {Collective::alltoallv, pairwise},
    {.collective = Collective::reduce, .algorithm = leaders, .bytes = 16 * kib},
    {.collective = Collective::reduce, .algorithm = tree, .bytes = 16 * kib},
    within(32, Collective::reduce, tree, 512 * kib),
    in_region(Collective::reduce, peer_copy),
    // On one host a parent reads its children's data, which costs less than the steps of parts.
    {.collective = Collective::reduce, .algorithm = tree, .ranks = up_to(32), .hosts = up_to(1)},
    // Halving has ranks beyond a power of two send and take all data once more.
    {.collective = Collective::reduce, .algorithm = ring, .ranks = up_to(2)},
    {.collective = Collective::reduce, .algorithm = split, .bytes = 512 * kib},
    {.collective = Collective::reduce, .algorithm = ring, .uneven = true, .ranks = up_to(127)},
    {.collective = Collective::reduce, .algorithm = split},
    {Collective::reduce, tree},
    {.collective = Collective::allreduce, .algorithm = leaders, .bytes = 16 * kib},
    {.collective = Collective::allreduce, .algorithm = flat, .crowded = true, .ranks = up_to(32), .bytes = 4 * kib},
    {.collective = Collective::allreduce, .algorithm = doubling, .ranks = up_to(32), .bytes = 16 * kib},
    within_crowd(Collective::allreduce, split, 128 * kib),
    within(32, Collective::allreduce, split, 64 * kib),
    in_region(Collective::allreduce, peer_copy),
    {.collective = Collective::allreduce, .algorithm = doubling, .bytes = 4 * kib},
    {.collective = Collective::allreduce, .algorithm = ring, .ranks = up_to(2)},
    {.collective = Collective::allreduce, .algorithm = split, .bytes = 512 * kib},
    {.collective = Collective::allreduce, .algorithm = ring, .uneven = true, .ranks = up_to(127)},
    {.collective = Collective::allreduce, .algorithm = split},
    {Collective::allreduce, doubling},
    // Between hosts halving begins with the largest parts, and a host's ranks share its interface.
    {.collective = Collective::reduce_scatter, .algorithm = halving, .bytes = 64 * kib},
    within(8, Collective::reduce_scatter, halving, 512 * kib),
    within(8, Collective::reduce_scatter, root, 64 * kib),  // where the order of ranks counts
    {.collective = Collective::reduce_scatter, .algorithm = peer_copy, .crowded = true, .ranks = up_to(8)},
    within(8, Collective::reduce_scatter, halving, 2048 * kib),
    {.collective = Collective::reduce_scatter, .algorithm = peer_copy, .ranks = up_to(8)},
    {.collective = Collective::reduce_scatter, .algorithm = root, .ranks = {33}, .hosts = {2}, .ranks_per_host = {2}},
    {.collective = Collective::reduce_scatter, .algorithm = pairwise, .ranks = {9, 32}},
    {.collective = Collective::reduce_scatter, .algorithm = halving},
    {Collective::reduce_scatter, root},
    // The longer the chain, the more data it takes to fill it.
    {.collective = Collective::scan, .algorithm = doubling, .bytes = 64 * kib},
    {.collective = Collective::scan, .algorithm = chain, .ranks = up_to(8), .hosts = {2}},
    {.collective = Collective::scan, .algorithm = doubling, .bytes = 256 * kib},
    {.collective = Collective::scan, .algorithm = chain, .ranks = up_to(128), .hosts = {2}},
    {Collective::scan, doubling},
};

constexpr bool is_for_both_forms(const Row& row) {
  return row.collective == Collective::allgather && row.algorithm != doubling && row.algorithm != neighbours;
}
constexpr auto defaults = [] {
  constexpr auto both = std::count_if(std::begin(written_defaults), std::end(written_defaults), is_for_both_forms);
  std::array<Row, std::size(written_defaults) + static_cast<size_t>(both)> rows{};
  auto* end = std::copy(std::begin(written_defaults), std::end(written_defaults), rows.begin());
  for (const Row& row : written_defaults) {
    if (!is_for_both_forms(row)) continue;
    *end = row;
    end++->collective = Collective::allgatherv;
  }
  return rows;
}();

// The choice of WEFT_<COLL>_SHORT_MSG: these up to so many bytes, the one for large data beyond.
constexpr Row for_short[] = {
    {Collective::bcast, leaders},
    {Collective::bcast, tree},
    {Collective::gather, leaders},
    {Collective::scatter, leaders},
    {Collective::allgather, leaders},
    {Collective::allgather, bruck},
    {Collective::gatherv, tree},
    {Collective::scatterv, tree},
    {Collective::allgatherv, leaders},
    {Collective::allgatherv, bruck},
    {Collective::alltoall, bruck},
    {Collective::allreduce, leaders},
    {.collective = Collective::allreduce, .algorithm = flat, .crowded = true, .ranks = up_to(32), .bytes = 4096},
    {Collective::allreduce, doubling},
    {Collective::reduce_scatter, root},
    {Collective::scan, doubling},
};
constexpr Algorithm for_large[collective_count] = {automatic, split,    direct, direct, ring,   pairwise, automatic,
                                                   split,     pairwise, chain,  direct, direct, ring,     automatic};

constexpr const char* collective_names[collective_count] = {
    "barrier",   "bcast",          "gather", "scatter", "allgather", "alltoall",   "reduce",
    "allreduce", "reduce_scatter", "scan",   "gatherv", "scatterv",  "allgatherv", "alltoallv"};
constexpr const char* algorithm_names[algorithm_count] = {
    "auto",     "direct",  "flat", "tree",  "dissemination", "doubling", "ring",        "neighbours", "chain",  "bruck",
    "pairwise", "halving", "root", "split", "leaders",       "shared",   "single_copy", "peer_copy",  "offload"};

constexpr Algorithm barrier_algorithms[] = {automatic, shared, leaders, flat, dissemination, offload};
constexpr Algorithm bcast_algorithms[] = {automatic, shared, leaders, tree, split, chain, offload};
constexpr Algorithm gather_algorithms[] = {automatic, shared, leaders, direct, tree};
constexpr Algorithm scatter_algorithms[] = {automatic, shared, leaders, direct, tree};
constexpr Algorithm allgather_algorithms[] = {automatic, shared, single_copy, peer_copy, leaders,
                                              bruck,     ring,   pairwise,    doubling,  neighbours};
constexpr Algorithm alltoall_algorithms[] = {automatic, shared, single_copy, peer_copy, pairwise, bruck};
constexpr Algorithm reduce_algorithms[] = {automatic, shared, single_copy, peer_copy, leaders, tree, split, ring};
constexpr Algorithm allreduce_algorithms[] = {automatic, shared,   single_copy, peer_copy, leaders,
                                              flat,      doubling, split,       ring,      offload};
constexpr Algorithm reduce_scatter_algorithms[] = {automatic, shared, single_copy, peer_copy, root, pairwise, halving};
constexpr Algorithm scan_algorithms[] = {automatic, shared, single_copy, doubling, chain};
constexpr Algorithm gatherv_algorithms[] = {automatic, shared, direct, tree};
constexpr Algorithm scatterv_algorithms[] = {automatic, shared, direct, tree};
constexpr Algorithm allgatherv_algorithms[] = {automatic, shared, single_copy, peer_copy,
                                               leaders,   bruck,  ring,        pairwise};
constexpr Algorithm alltoallv_algorithms[] = {automatic, shared, single_copy, pairwise};

template <size_t N>
constexpr std::array<const char*, N> words_of(const Algorithm (&algorithms)[N]) {
  std::array<const char*, N> words{};
  for (size_t i = 0; i < N; ++i) words[i] = algorithm_names[static_cast<size_t>(algorithms[i])];
  return words;
}

// A value written while the program runs acts in communicators that have done no collective operation yet.
#define WEFT_COLL_ALGORITHM(coll, variable, function)                                                              \
  constexpr auto coll##_words = words_of(coll##_algorithms);                                                       \
  constinit base::ChoiceSetting coll##_setting{                                                                    \
      {.name = (variable),                                                                                         \
       .help = "the algorithm of " function ", where it can do the operation; auto: the table of algorithms says", \
       .subject = base::Subject::messages,                                                                         \
       .change = base::Change::always,                                                                             \
       .alike = true},                                                                                             \
      0,                                                                                                           \
      coll##_words.data(),                                                                                         \
      static_cast<int>(coll##_words.size())};                                                                      \
  WEFT_SETTING(coll##_setting)
WEFT_COLL_ALGORITHM(barrier, "WEFT_BARRIER_ALGORITHM", "MPI_Barrier");
WEFT_COLL_ALGORITHM(bcast, "WEFT_BCAST_ALGORITHM", "MPI_Bcast");
WEFT_COLL_ALGORITHM(gather, "WEFT_GATHER_ALGORITHM", "MPI_Gather");
WEFT_COLL_ALGORITHM(scatter, "WEFT_SCATTER_ALGORITHM", "MPI_Scatter");
WEFT_COLL_ALGORITHM(allgather, "WEFT_ALLGATHER_ALGORITHM", "MPI_Allgather");
WEFT_COLL_ALGORITHM(alltoall, "WEFT_ALLTOALL_ALGORITHM", "MPI_Alltoall");
WEFT_COLL_ALGORITHM(reduce, "WEFT_REDUCE_ALGORITHM", "MPI_Reduce");
WEFT_COLL_ALGORITHM(allreduce, "WEFT_ALLREDUCE_ALGORITHM", "MPI_Allreduce");
WEFT_COLL_ALGORITHM(reduce_scatter, "WEFT_REDUCE_SCATTER_ALGORITHM", "MPI_Reduce_scatter and its block form");
WEFT_COLL_ALGORITHM(scan, "WEFT_SCAN_ALGORITHM", "MPI_Scan and MPI_Exscan");
WEFT_COLL_ALGORITHM(gatherv, "WEFT_GATHERV_ALGORITHM", "MPI_Gatherv");
WEFT_COLL_ALGORITHM(scatterv, "WEFT_SCATTERV_ALGORITHM", "MPI_Scatterv");
WEFT_COLL_ALGORITHM(allgatherv, "WEFT_ALLGATHERV_ALGORITHM", "MPI_Allgatherv");
WEFT_COLL_ALGORITHM(alltoallv, "WEFT_ALLTOALLV_ALGORITHM", "MPI_Alltoallv and MPI_Alltoallw");

#define WEFT_COLL_SHORT(coll, variable, other_name, what)                                            \
  constinit base::IntSetting coll##_short{                                                           \
      {.name = (variable),                                                                           \
       .help = what ", otherwise by the algorithm for large data; -1: the table of algorithms says", \
       .unit = base::Unit::bytes,                                                                    \
       .alias = (other_name),                                                                        \
       .subject = base::Subject::messages,                                                           \
       .change = base::Change::always,                                                               \
       .alike = true},                                                                               \
      -1,                                                                                            \
      {-1, int64_t{1} << 40}};                                                                       \
  WEFT_SETTING(coll##_short)
WEFT_COLL_SHORT(bcast, "WEFT_BCAST_SHORT_MSG", nullptr, "up to so many bytes MPI_Bcast goes by a tree");
WEFT_COLL_SHORT(gather, "WEFT_GATHER_SHORT_MSG", nullptr,
                "blocks up to so many bytes are gathered by the leaders of hosts");
WEFT_COLL_SHORT(scatter, "WEFT_SCATTER_SHORT_MSG", nullptr,
                "blocks up to so many bytes are scattered by the leaders of hosts");
WEFT_COLL_SHORT(allgather, "WEFT_ALLGATHER_SHORT_MSG", "MPICH_ALLGATHER_VSHORT_MSG",
                "up to so many bytes of all ranks MPI_Allgather goes by leaders or Bruck's algorithm");
WEFT_COLL_SHORT(alltoall, "WEFT_ALLTOALL_SHORT_MSG", "MPICH_ALLTOALL_SHORT_MSG",
                "up to so many bytes for each rank MPI_Alltoall goes by Bruck's algorithm");
WEFT_COLL_SHORT(allreduce, "WEFT_ALLREDUCE_SHORT_MSG", nullptr,
                "up to so many bytes MPI_Allreduce reduces all data together");
WEFT_COLL_SHORT(reduce_scatter, "WEFT_REDUCE_SCATTER_SHORT_MSG", nullptr,
                "up to so many bytes of all ranks MPI_Reduce_scatter goes by rank 0");
WEFT_COLL_SHORT(scan, "WEFT_SCAN_SHORT_MSG", nullptr, "up to so many bytes MPI_Scan and MPI_Exscan go by doubling");
WEFT_COLL_SHORT(gatherv, "WEFT_GATHERV_SHORT_MSG", "MPICH_GATHERV_SHORT_MSG",
                "blocks up to so many bytes, at most 1 MiB, go along a tree in MPI_Gatherv, in slots of that size");
WEFT_COLL_SHORT(scatterv, "WEFT_SCATTERV_SHORT_MSG", "MPICH_SCATTERV_SHORT_MSG",
                "blocks up to so many bytes, at most 1 MiB, go along a tree in MPI_Scatterv, in slots of that size");
WEFT_COLL_SHORT(allgatherv, "WEFT_ALLGATHERV_SHORT_MSG", "MPICH_ALLGATHERV_VSHORT_MSG",
                "up to so many bytes of all ranks MPI_Allgatherv goes by leaders or Bruck's algorithm");

constinit base::TextSetting tuning{{.name = "WEFT_TUNING",
                                    .help = "a file of rows for the table of algorithms, as \"weft tune\" writes it",
                                    .subject = base::Subject::start,
                                    .alike = true}};
WEFT_SETTING(tuning);

constinit base::BoolSetting same_bits{
    {.name = "WEFT_REPRODUCIBLE",
     .help = "reductions give the same bits for the same data, whatever the algorithm, the hosts and the root: slower",
     .subject = base::Subject::start,
     .change = base::Change::before_start,
     .alike = true},
    false};
WEFT_SETTING(same_bits);

struct KnownCollective {
  const char* name;
  std::span<const Algorithm> algorithms;
  const base::ChoiceSetting* wanted;
  const base::IntSetting* most_short;  // nullptr: there is no cut-off
};
constexpr KnownCollective known[collective_count] = {
    {collective_names[0], barrier_algorithms, &barrier_setting, nullptr},
    {collective_names[1], bcast_algorithms, &bcast_setting, &bcast_short},
    {collective_names[2], gather_algorithms, &gather_setting, &gather_short},
    {collective_names[3], scatter_algorithms, &scatter_setting, &scatter_short},
    {collective_names[4], allgather_algorithms, &allgather_setting, &allgather_short},
    {collective_names[5], alltoall_algorithms, &alltoall_setting, &alltoall_short},
    {collective_names[6], reduce_algorithms, &reduce_setting, nullptr},
    {collective_names[7], allreduce_algorithms, &allreduce_setting, &allreduce_short},
    {collective_names[8], reduce_scatter_algorithms, &reduce_scatter_setting, &reduce_scatter_short},
    {collective_names[9], scan_algorithms, &scan_setting, &scan_short},
    {collective_names[10], gatherv_algorithms, &gatherv_setting, &gatherv_short},
    {collective_names[11], scatterv_algorithms, &scatterv_setting, &scatterv_short},
    {collective_names[12], allgatherv_algorithms, &allgatherv_setting, &allgatherv_short},
    {collective_names[13], alltoallv_algorithms, &alltoallv_setting, nullptr},
};

const KnownCollective& known_of(Collective collective) {
  return known[static_cast<size_t>(collective)];
}

// From open_choices() on.
constinit std::vector<Row>* file_rows = nullptr;
constinit const char* offload_component = nullptr;

void add_rows_of_settings(Collective collective, std::vector<Row>& rows) {
  const KnownCollective& k = known_of(collective);
  const Algorithm wanted = k.algorithms[static_cast<size_t>(k.wanted->value())];
  const int64_t most_short = k.most_short != nullptr ? k.most_short->value() : -1;
  const bool sizes_slots = wanted == tree && !knows_bytes(collective) && most_short > 0;
  if (wanted != automatic) {
    rows.push_back({.collective = collective, .algorithm = wanted, .bytes = sizes_slots ? most_short : any_bytes});
  }
  if (most_short < 0) return;
  for (Row row : for_short) {
    if (row.collective != collective || most_short == 0) continue;
    row.bytes = std::min(row.bytes, most_short);
    rows.push_back(row);
  }
  rows.push_back({collective, for_large[static_cast<size_t>(collective)]});
}

// A row that comes later decides nothing where the same algorithm was left for as many bytes.
void add(std::vector<Choice>& list, const Row& row) {
  for (const Choice& before : list) {
    if (before.algorithm == row.algorithm && before.bytes >= row.bytes) return;
  }
  list.push_back({row.bytes, row.algorithm});
}

// Whether nonblocking operations on some numbers of bytes take shared memory.
bool takes_buffers(const std::vector<Choice>& list) {
  const auto is_for_blocking = [](Algorithm one) { return one == single_copy || one == Algorithm::offload; };
  int64_t decided = -1;  // up to so many bytes
  for (const Choice& choice : list) {
    if (choice.algorithm == shared) return choice.bytes > decided;
    if (!is_for_blocking(choice.algorithm)) decided = std::max(decided, choice.bytes);
  }
  return false;
}

// Hosts that make no difference are one for all, or one for each rank.
int32_t hosts_without_leaders(const core::Comm& comm) {
  if ((core::identity->job.one_host() && !comm.several_jobs) || comm.size < 2 || !core::hosts_wanted()) return 1;
  return core::host_of(comm.job_rank(0)) == core::host_of(comm.job_rank(1)) ? 1 : comm.size;
}

Shape shape_of(const core::Comm& comm) {
  Shape shape{.ranks = comm.size, .leaders = comm.hosts != nullptr, .crowded = crowded() && !comm.several_jobs};
  shape.hosts = shape.leaders ? comm.hosts->count() : hosts_without_leaders(comm);
  shape.ranks_per_host = (shape.ranks + shape.hosts - 1) / shape.hosts;
  shape.shared = core::identity->job.one_host() && !comm.several_jobs && shape.hosts == 1 && comm.size > 1 &&
                 comm.size <= most_sharing && !comm.is_inter();
  shape.offload = offload_component != nullptr && comm.size > 1 && !comm.is_inter();
  return shape;
}

// FNV-1a.
class FnvHash {
 public:
  void take(int64_t value) {
    for (int i = 0; i < 64; i += 8) sum_ = (sum_ ^ (static_cast<uint64_t>(value) >> i & 0xff)) * 0x100000001b3;
  }
  void take(const Between& between) {
    take(between.low);
    take(between.high);
  }
  uint64_t value() const { return sum_; }

 private:
  uint64_t sum_ = 0xcbf29ce484222325;
};

uint64_t sum_of(const std::vector<Row>& rows) {
  FnvHash sum;
  sum.take(core::hosts_wanted() ? 1 : 0);
  sum.take(reproducible() ? 1 : 0);
  sum.take(device::everywhere() ? 1 : 0);
  const std::string_view component = offload_component != nullptr ? offload_component : "";
  for (const char c : component) sum.take(c);
  for (const Row& row : rows) {
    sum.take(static_cast<int64_t>(row.collective));
    sum.take(static_cast<int64_t>(row.algorithm));
    sum.take(row.ranks);
    sum.take(row.hosts);
    sum.take(row.ranks_per_host);
    sum.take(row.bytes);
    sum.take(row.crowded ? 1 : 0);
  }
  return sum.value() | 1;
}

}  // namespace

const char* name(Collective collective) {
  return collective_names[static_cast<size_t>(collective)];
}

const char* name(Algorithm algorithm) {
  return algorithm_names[static_cast<size_t>(algorithm)];
}

std::span<const Algorithm> algorithms_of(Collective collective) {
  return known_of(collective).algorithms;
}

bool find_collective(std::string_view name, Collective& collective) {
  const auto* at = std::find(std::begin(collective_names), std::end(collective_names), name);
  if (at == std::end(collective_names)) return false;
  collective = static_cast<Collective>(at - std::begin(collective_names));
  return true;
}

bool find_algorithm(Collective collective, std::string_view name, Algorithm& algorithm) {
  for (const Algorithm one : algorithms_of(collective).subspan(1)) {
    if (name != coll::name(one)) continue;
    algorithm = one;
    return true;
  }
  return false;
}

bool fits(const Row& row, const Shape& shape) {
  return row.ranks.has(shape.ranks) && row.hosts.has(shape.hosts) && row.ranks_per_host.has(shape.ranks_per_host) &&
         (shape.crowded || !row.crowded) && !(row.uneven && std::has_single_bit(static_cast<uint32_t>(shape.ranks))) &&
         (shape.leaders || row.algorithm != leaders) &&
         (shape.shared ||
          (row.algorithm != Algorithm::shared && row.algorithm != single_copy && row.algorithm != peer_copy)) &&
         (shape.offload || row.algorithm != Algorithm::offload);
}

std::vector<Row> rows_of_settings() {
  std::vector<Row> rows;
  for (size_t c = 0; c < collective_count; ++c) add_rows_of_settings(static_cast<Collective>(c), rows);
  return rows;
}

std::vector<Row> rows_in_force() {
  std::vector<Row> rows = rows_of_settings();
  if (file_rows != nullptr) rows.insert(rows.end(), file_rows->begin(), file_rows->end());
  return rows;
}

bool reproducible() {
  return same_bits.value();
}

std::string tuning_file() {
  return tuning.value();
}

std::span<const Row> default_rows() {
  return defaults;
}

Choices compile(const Shape& shape, std::span<const Row> rows) {
  Choices choices;
  for (const std::span<const Row> part : {rows, default_rows()}) {
    for (const Row& row : part) {
      if (!fits(row, shape)) continue;
      add(choices.lists[static_cast<size_t>(row.collective)], row);
    }
  }
  for (size_t c = 0; c < collective_count; ++c) {
    const std::vector<Choice>& list = choices.lists[c];
    choices.nonblocking_shared[c] = takes_buffers(list);
    int64_t decided = -1;  // up to so many bytes, for data that suit any algorithm
    for (const Choice& choice : list) {
      if (choice.algorithm == Algorithm::offload) {  // decides nothing: the rows behind it are for those that cannot be
        choices.otherwise = ask_offload;
        continue;
      }
      if (choice.algorithm == peer_copy) continue;  // decides nothing for blocking operations
      choices.in_regions |=
          (choice.algorithm == Algorithm::shared || choice.algorithm == single_copy) && choice.bytes > decided;
      decided = std::max(decided, choice.bytes);
    }
  }
  if (choices.otherwise == ask_offload) choices.regions_behind = std::exchange(choices.in_regions, false);
  return choices;
}

uint64_t open_choices(std::vector<Row> file, const char* component) {
  file_rows = new std::vector<Row>(std::move(file));
  offload_component = component;
  return sum_of(rows_in_force());
}

const Choices& find_choices(const core::Comm& comm) {
  struct SharedTable {
    Shape shape;
    std::vector<Row> rows;
    Choices choices;
    SharedTable* next;
  };
  static constinit base::Lock lock;
  static constinit SharedTable* first = nullptr;  // they stay: there are as many as shapes
  std::lock_guard guard(lock);
  const Shape shape = shape_of(comm);
  std::vector<Row> rows = rows_in_force();
  SharedTable* found = first;
  while (found != nullptr && (found->shape != shape || found->rows != rows)) found = found->next;
  if (found == nullptr) {
    Choices choices = compile(shape, rows);
    found = first = new SharedTable{shape, std::move(rows), std::move(choices), first};
  }
  comm.choices.store(&found->choices, std::memory_order_release);
  return found->choices;
}

}  // namespace weft::coll
