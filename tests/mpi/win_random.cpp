// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Random one-sided operations against a model in memory: calls, operations, types, layouts, counts, displacements,
// units of displacement and ways to synchronize come from a seed that all ranks know, so each knows what its memory and
// the results of its own calls must be.
//
// win_random SEED ROUNDS
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "windows.hpp"

using expect::rank;
using expect::size;

namespace {

uint64_t seed = 1;

// The window of a rank: a part for each rank, where that one alone writes, then a part where all add.
constexpr int part = 600;    // elements
constexpr int common = 300;  // elements

enum Epoch { fence, lock_all, lock, posts, epochs };
enum Kind { put, get, accumulate, exchange, fetch, swap, add, kinds };

// One call of rank `origin`. Elements lie `stride` apart at the target, from `first` on; at the origin they are
// together or, if `gaps`, two apart.
struct Step {
  Kind kind;
  int origin, target, first, count, stride;
  bool gaps, request, flush;
  int op;
  std::vector<int> values;
};

const std::vector<MPI_Op>& ops() {
  static const std::vector<MPI_Op> all = {MPI_SUM, MPI_REPLACE, MPI_MIN, MPI_MAX, MPI_NO_OP};
  return all;
}

template <class T>
T apply(int op, T a, T b) {
  switch (op) {
    case 0:
      return static_cast<T>(a + b);
    case 1:
      return a;
    case 2:
      return std::min(a, b);
    case 3:
      return std::max(a, b);
    default:
      return b;
  }
}

// The actions of a rank in a round: the same wherever it is computed. Puts and gets have places of their own, each in
// its own slice of the part; accumulating operations share one slice, where their order decides.
std::vector<Step> plan(int round, int origin, Epoch epoch) {
  std::mt19937_64 random(seed * 1000003 + static_cast<uint64_t>(round) * 1009 + static_cast<uint64_t>(origin));
  auto below = [&](int n) { return static_cast<int>(random() % static_cast<uint64_t>(n)); };
  std::vector<Step> steps;
  static constexpr int slices = 6;
  static constexpr int slice = part / slices;
  std::vector<std::vector<bool>> used(static_cast<size_t>(size), std::vector<bool>(slices - 1, false));
  for (int n = below(14); n >= 0; --n) {
    Step step{};
    step.kind = static_cast<Kind>(below(kinds));
    step.origin = origin;
    step.target = below(size);
    step.gaps = below(3) == 0;
    step.request = (epoch == lock_all || epoch == lock) && below(3) == 0;
    step.flush = (epoch == lock_all || epoch == lock) && below(4) == 0;
    step.op = below(5);
    step.stride = below(2) == 0 ? 1 : 1 + below(3);
    step.count = below(5) == 0 ? 0 : 1 + below(slice / 3);
    int start = origin * part;
    if (step.kind == put || step.kind == get) {
      const int mine = below(slices - 1);
      if (used[static_cast<size_t>(step.target)][static_cast<size_t>(mine)]) continue;
      used[static_cast<size_t>(step.target)][static_cast<size_t>(mine)] = true;
      start += mine * slice;
    } else if (step.kind == add) {
      step.op = 0;
      start = size * part;
      step.count = below(2) == 0 ? 1 + below(5) : 1 + below(common / 3);
    } else {
      start += (slices - 1) * slice;
      if (step.kind == accumulate && step.op == 4) step.op = 1;
      if (step.kind == fetch || step.kind == swap) step.count = 1;
    }
    const int space = (step.kind == add ? common : slice) - (step.count == 0 ? 1 : (step.count - 1) * step.stride + 1);
    step.first = start + below(space + 1);
    for (int i = 0; i < step.count; ++i) step.values.push_back(below(50));
    if (step.kind == swap) step.op = below(3);  // to be compared with: often 0, which is often there
    steps.push_back(step);
  }
  return steps;
}

template <class T>
struct Round {
  Round(MPI_Datatype of, int unit_seed) : type(of) {
    static const int units[] = {1, 2, 4, 8};
    for (int r = 0; r < size; ++r) units_of.push_back(std::min<int>(units[(r + unit_seed) % 4], sizeof(T)));
    count = size * part + common;
    OK(MPI_Win_allocate(static_cast<MPI_Aint>(static_cast<size_t>(count) * sizeof(T)),
                        units_of[static_cast<size_t>(rank)], MPI_INFO_NULL, MPI_COMM_WORLD, static_cast<void*>(&memory),
                        &window));
    OK(MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN));
    std::fill_n(memory, count, T(0));
    model.assign(static_cast<size_t>(size), std::vector<T>(static_cast<size_t>(count), T(0)));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;
  ~Round() { OK(MPI_Win_free(&window)); }

  MPI_Datatype type;
  std::vector<int> units_of;
  int count = 0;
  T* memory = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  std::vector<std::vector<T>> model;  // of every rank's memory

  // Buffers of one call; they live until the round ends.
  struct Buffers {
    std::vector<T> out, in, wanted, compare;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  static MPI_Datatype strided(int n, int stride, MPI_Datatype of) {
    MPI_Datatype made;
    MPI_Type_vector(n, 1, stride, of, &made);
    MPI_Type_commit(&made);
    return made;
  }

  void call(const Step& s, Buffers& b) {
    const size_t gap = s.gaps ? 2 : 1, n = static_cast<size_t>(s.count);
    b.out.assign(n * gap + 1, T(77));
    b.in.assign(n * gap + 1, T(88));
    b.wanted = b.in;
    b.compare.assign(1, T(s.op));
    for (size_t i = 0; i < n; ++i) b.out[i * gap] = T(s.values[i]);
    MPI_Datatype from = s.gaps ? strided(s.count, 2, type) : type,
                 to = s.stride > 1 ? strided(s.count, s.stride, type) : type;
    const int from_count = s.gaps ? 1 : s.count, to_count = s.stride > 1 ? 1 : s.count;
    const auto at =
        static_cast<MPI_Aint>(static_cast<size_t>(s.first) * sizeof(T)) / units_of[static_cast<size_t>(s.target)];
    const MPI_Op op = ops()[static_cast<size_t>(s.op)];
    switch (s.kind) {
      case put:
        if (s.request) {
          OK(MPI_Rput(b.out.data(), from_count, from, s.target, at, to_count, to, window, &b.request));
        } else {
          OK(MPI_Put(b.out.data(), from_count, from, s.target, at, to_count, to, window));
        }
        break;
      case get:
        if (s.request) {
          OK(MPI_Rget(b.in.data(), from_count, from, s.target, at, to_count, to, window, &b.request));
        } else {
          OK(MPI_Get(b.in.data(), from_count, from, s.target, at, to_count, to, window));
        }
        break;
      case accumulate:
      case add:
        if (s.request) {
          OK(MPI_Raccumulate(b.out.data(), from_count, from, s.target, at, to_count, to, op, window, &b.request));
        } else {
          OK(MPI_Accumulate(b.out.data(), from_count, from, s.target, at, to_count, to, op, window));
        }
        break;
      case exchange:
        if (s.request) {
          OK(MPI_Rget_accumulate(b.out.data(), from_count, from, b.in.data(), from_count, from, s.target, at, to_count,
                                 to, op, window, &b.request));
        } else {
          OK(MPI_Get_accumulate(b.out.data(), from_count, from, b.in.data(), from_count, from, s.target, at, to_count,
                                to, op, window));
        }
        break;
      case fetch:
        OK(MPI_Fetch_and_op(b.out.data(), b.in.data(), type, s.target, at, op, window));
        break;
      default:
        if constexpr (std::is_integral_v<T>) {
          OK(MPI_Compare_and_swap(b.out.data(), b.compare.data(), b.in.data(), type, s.target, at, window));
        } else {
          OK(MPI_Fetch_and_op(b.out.data(), b.in.data(), type, s.target, at, op, window));
        }
    }
    if (s.gaps) MPI_Type_free(&from);
    if (s.stride > 1) MPI_Type_free(&to);
  }

  // Applies the step to the model; `b` is null for the calls of others.
  void predict(const Step& s, Buffers* b) {
    const size_t gap = s.gaps ? 2 : 1;
    for (int i = 0; i < s.count; ++i) {
      const auto k = static_cast<size_t>(i);
      T& there = model[static_cast<size_t>(s.target)][static_cast<size_t>(s.first + i * s.stride)];
      const T value = T(s.values[k]);
      if (b != nullptr && s.kind != put && s.kind != accumulate && s.kind != add) b->wanted[k * gap] = there;
      if (s.kind == put) {
        there = value;
      } else if (s.kind == swap && std::is_integral_v<T>) {
        if (there == T(s.op)) there = value;
      } else if (s.kind != get) {
        there = apply(s.op, value, there);
      }
    }
  }

  void open(Epoch epoch, MPI_Group all) {
    switch (epoch) {
      case fence:
        OK(MPI_Win_fence(0, window));
        break;
      case lock_all:
        OK(MPI_Win_lock_all(0, window));
        break;
      case lock:
        for (int r = 0; r < size; ++r) OK(MPI_Win_lock(MPI_LOCK_SHARED, r, 0, window));
        break;
      default:
        OK(MPI_Win_post(all, 0, window));
        OK(MPI_Win_start(all, 0, window));
    }
  }
  void close(Epoch epoch) {
    switch (epoch) {
      case fence:
        OK(MPI_Win_fence(0, window));
        break;
      case lock_all:
        OK(MPI_Win_unlock_all(window));
        break;
      case lock:
        for (int r = 0; r < size; ++r) OK(MPI_Win_unlock(r, window));
        break;
      default:
        OK(MPI_Win_complete(window));
        OK(MPI_Win_wait(window));
    }
  }

  void run(int round, Epoch epoch, MPI_Group all, const char* name) {
    open(epoch, all);
    const std::vector<Step> mine = plan(round, rank, epoch);
    std::vector<Buffers> buffers(mine.size());
    for (size_t i = 0; i < mine.size(); ++i) {
      call(mine[i], buffers[i]);
      if (mine[i].flush) OK(i % 2 == 0 ? MPI_Win_flush(mine[i].target, window) : MPI_Win_flush_local_all(window));
    }
    for (Buffers& b : buffers) {
      if (b.request != MPI_REQUEST_NULL) OK(MPI_Wait(&b.request, MPI_STATUS_IGNORE));
    }
    close(epoch);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int r = 0; r < size; ++r) {
      const std::vector<Step> steps = r == rank ? mine : plan(round, r, epoch);
      for (size_t i = 0; i < steps.size(); ++i) predict(steps[i], r == rank ? &buffers[i] : nullptr);
    }
    for (size_t i = 0; i < mine.size(); ++i) {
      EXPECT(buffers[i].in == buffers[i].wanted,
             "seed %d, round %d of %s, epoch %d: call %zu of kind %d brought something else", static_cast<int>(seed),
             round, name, epoch, i, mine[i].kind);
    }
    OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window));  // to look
    const std::vector<T>& wanted = model[static_cast<size_t>(rank)];
    for (int i = 0; i < count; ++i) {
      EXPECT(memory[i] == wanted[static_cast<size_t>(i)], "seed %d, round %d of %s, epoch %d: element %d is %g, not %g",
             static_cast<int>(seed), round, name, epoch, i, static_cast<double>(memory[i]),
             static_cast<double>(wanted[static_cast<size_t>(i)]));
    }
    OK(MPI_Win_unlock(rank, window));
    MPI_Barrier(MPI_COMM_WORLD);
  }
};

template <class T>
void rounds(MPI_Datatype type, const char* name, int first, int count) {
  Round<T> all(type, first);
  MPI_Group group;
  OK(MPI_Win_get_group(all.window, &group));
  for (int i = 0; i < count; ++i) {
    all.run(first + i, static_cast<Epoch>((static_cast<int>(seed) + first + i) % epochs), group, name);
  }
  MPI_Group_free(&group);
}

}  // namespace

int main(int argc, char** argv) {
  windows::start(&argc, &argv);
  if (argc > 1) seed = strtoull(argv[1], nullptr, 10);
  const int count = argc > 2 ? atoi(argv[2]) : 20;
  rounds<int64_t>(MPI_INT64_T, "MPI_INT64_T", 0, count);
  rounds<int>(MPI_INT, "MPI_INT", 1000, count);
  rounds<double>(MPI_DOUBLE, "MPI_DOUBLE", 2000, count);
  rounds<uint16_t>(MPI_UINT16_T, "MPI_UINT16_T", 3000, count);
  rounds<float>(MPI_FLOAT, "MPI_FLOAT", 4000, count);
  return expect::finish();
}
