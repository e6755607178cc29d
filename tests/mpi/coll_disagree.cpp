// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The last rank names another root, operation, type or count than the rest, or calls another function, on one host:
// ranks that wait end with the same error class at once, whose text names both calls, and nobody waits for another
// operation. All forms of the calls, data of all ways.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "error_texts.hpp"
#include "expect.hpp"

using expect::rank;
using expect::size;

namespace {

struct Call {
  const char* function;
  int root = 0;
  MPI_Op op = MPI_SUM;
  MPI_Datatype type = MPI_INT;
  int count = 1;
};

enum class Form : uint8_t { blocking, nonblocking, persistent };

constexpr int counts_of_blocks[] = {1, 4, 500, 60000};

struct Buffers {
  std::vector<int> in, out, counts, places;
  explicit Buffers(int most) : in(static_cast<size_t>(most) * static_cast<size_t>(size), 1), out(in) {}
  void set_blocks(int count) {
    counts.assign(static_cast<size_t>(size), count);
    places.clear();
    for (int r = 0; r < size; ++r) places.push_back(r * count);
  }
};

#define FORMS(name, in_background, ...)                                            \
  if (function == #name) {                                                         \
    MPI_Request request = MPI_REQUEST_NULL;                                        \
    if (form == Form::blocking) return MPI_##name(__VA_ARGS__, comm);              \
    if (form == Form::nonblocking) {                                               \
      const int error = MPI_I##in_background(__VA_ARGS__, comm, &request);         \
      return error != MPI_SUCCESS ? error : MPI_Wait(&request, MPI_STATUS_IGNORE); \
    }                                                                              \
    MPI_##name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, &request);                 \
    MPI_Start(&request);                                                           \
    const int error = MPI_Wait(&request, MPI_STATUS_IGNORE);                       \
    MPI_Request_free(&request);                                                    \
    return error;                                                                  \
  }

int perform(const Call& c, Form form, MPI_Comm comm, Buffers& b) {
  const std::string function = c.function;
  const int n = c.count;
  int* const in = b.in.data();
  int* const out = b.out.data();
  FORMS(Bcast, bcast, in, n, c.type, c.root)
  FORMS(Gather, gather, in, n, c.type, out, n, c.type, c.root)
  FORMS(Gatherv, gatherv, in, n, c.type, out, b.counts.data(), b.places.data(), c.type, c.root)
  FORMS(Scatter, scatter, in, n, c.type, out, n, c.type, c.root)
  FORMS(Scatterv, scatterv, in, b.counts.data(), b.places.data(), c.type, out, n, c.type, c.root)
  FORMS(Reduce, reduce, in, out, n, c.type, c.op, c.root)
  FORMS(Allreduce, allreduce, in, out, n, c.type, c.op)
  FORMS(Scan, scan, in, out, n, c.type, c.op)
  FORMS(Reduce_scatter_block, reduce_scatter_block, in, out, n / size, c.type, c.op)
  FORMS(Allgather, allgather, in, n, c.type, out, n, c.type)
  FORMS(Alltoall, alltoall, in, n, c.type, out, n, c.type)
  return MPI_Barrier(comm);
}

// `theirs`: of all ranks but the last. Where `all`, every rank gets the error; at least one does elsewhere.
void differ(const Call& theirs, const Call& last_ones, Form form, int wanted, bool all) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  static Buffers buffers((counts_of_blocks[std::size(counts_of_blocks) - 1] + 1) * size);
  buffers.set_blocks(std::max(theirs.count, last_ones.count));
  const bool last = rank == size - 1;
  const Call& mine = last ? last_ones : theirs;
  if (last) std::this_thread::sleep_for(std::chrono::milliseconds(3));
  const int error = perform(mine, form, comm, buffers);
  const int error_class = expect::class_of(error);
  EXPECT(error_class == wanted || (!all && error_class == MPI_SUCCESS), "%s of %d, others %s of %d, form %d: class %d",
         theirs.function, theirs.count, last_ones.function, last_ones.count, static_cast<int>(form), error_class);
  if (error_class == wanted) {
    const std::string text = error_texts::text_of(error);
    EXPECT(text.find("ranks disagree") != std::string::npos, "%s", text.c_str());
  }
  int found = error_class == wanted ? 1 : 0;
  int sum = 0;
  MPI_Allreduce(&found, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT(sum > 0, "%s of %d, others %s of %d, form %d: nobody sees it", theirs.function, theirs.count,
         last_ones.function, last_ones.count, static_cast<int>(form));
  MPI_Comm_free(&comm);
}

void all_of(Form form, int count) {
  for (const std::string function : {"Bcast", "Gather", "Gatherv", "Scatter", "Scatterv", "Reduce"}) {
    // Large blocks of any size go in messages, which ranks that disagree may have sent: see coll_differ.
    if (function.ends_with('v') && count > 500) continue;
    differ({.function = function.c_str(), .count = count},
           {.function = function.c_str(), .root = size - 1, .count = count}, form, MPI_ERR_ROOT, false);
    differ({.function = function.c_str(), .root = size - 1, .count = count},
           {.function = function.c_str(), .count = count}, form, MPI_ERR_ROOT, false);
  }
  for (const char* function : {"Reduce", "Allreduce", "Scan", "Reduce_scatter_block"}) {
    const bool all = strcmp(function, "Allreduce") == 0 || strcmp(function, "Reduce_scatter_block") == 0;
    differ({.function = function, .count = count * size}, {.function = function, .op = MPI_MAX, .count = count * size},
           form, MPI_ERR_OP, all);
    differ({.function = function, .count = count * size},
           {.function = function, .type = MPI_FLOAT, .count = count * size}, form, MPI_ERR_TYPE, all);
  }
  for (const char* function : {"Allreduce", "Allgather", "Alltoall"})
    differ({.function = function, .count = count}, {.function = function, .count = count + 1}, form, MPI_ERR_TRUNCATE,
           true);
  differ({.function = "Allreduce", .count = count}, {.function = "Allgather", .count = count}, form, MPI_ERR_OTHER,
         true);
  differ({.function = "Gather", .count = count}, {.function = "Reduce", .count = count}, form, MPI_ERR_OTHER, false);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  for (const Form form : {Form::blocking, Form::nonblocking, Form::persistent}) {
    for (const int count : counts_of_blocks) all_of(form, count);
  }
  return expect::finish();
}
