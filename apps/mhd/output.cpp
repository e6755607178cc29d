// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "output.hpp"

#include <mpi.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>

namespace mhd {
namespace {

int my_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

// Keeps the first error of a file, on whichever rank it is, and says it once.
class Outcome {
 public:
  void operator()(int code) {
    if (code_ == MPI_SUCCESS) code_ = code;
  }
  // Collective.
  [[nodiscard]] bool good(const char* what, const std::string& path, const char* remedy) {
    struct {
      int bad, rank;
    } mine = {code_ != MPI_SUCCESS ? 1 : 0, my_rank()}, worst = {};
    MPI_Allreduce(&mine, &worst, 1, MPI_2INT, MPI_MAXLOC, MPI_COMM_WORLD);
    if (worst.bad == 0) return true;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (mine.rank == worst.rank) MPI_Error_string(code_, text, &length);
    MPI_Bcast(text, sizeof text, MPI_CHAR, worst.rank, MPI_COMM_WORLD);
    if (mine.rank == 0) std::fprintf(stderr, "mhd: cannot %s %s: %s. %s\n", what, path.c_str(), text, remedy);
    return false;
  }

 private:
  int code_ = MPI_SUCCESS;
};

template <class Cell>
void own_cells(const Patch& p, Cell cell) {
  for (int k = 0; k < p.n[2]; ++k) {
    for (int j = 0; j < p.n[1]; ++j) {
      for (int i = 0; i < p.n[0]; ++i) cell(i, j, k);
    }
  }
}

std::size_t own_count(const Patch& p) {
  return static_cast<std::size_t>(p.n[0]) * p.n[1] * p.n[2];
}

std::vector<double> own_values(const Domain& domain, const State& state) {
  const Patch& p = domain.patch;
  std::vector<double> values(own_count(p) * fields * static_cast<std::size_t>(state.count));
  const Box own = {{0, 0, 0}, p.n};
  for (int i = 0; i < state.count; ++i) {
    pack(p, own, state.patch(domain, state.first + i),
         values.data() + own_count(p) * fields * static_cast<std::size_t>(i));
  }
  return values;
}

// Patches by MPI_DOUBLE would overflow an int count at 2 GiB of a rank: one patch is one element.
class PatchType {
 public:
  explicit PatchType(const Patch& p) {
    MPI_Type_contiguous(static_cast<int>(own_count(p)) * fields, MPI_DOUBLE, &type_);
    MPI_Type_commit(&type_);
  }
  ~PatchType() { MPI_Type_free(&type_); }
  PatchType(const PatchType&) = delete;
  PatchType& operator=(const PatchType&) = delete;
  [[nodiscard]] MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

MPI_Offset place(const Patch& p, int patch) {
  return static_cast<MPI_Offset>(sizeof(Head) +
                                 own_count(p) * fields * sizeof(double) * static_cast<std::size_t>(patch));
}

// Whether rank 0 has written a picture; it says why not.
bool written(const std::string& path, bool done) {
  int all = done ? 1 : 0;
  if (!done) std::fprintf(stderr, "mhd: cannot write %s: %s\n", path.c_str(), std::strerror(errno));
  MPI_Bcast(&all, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return all != 0;
}

}  // namespace

bool write_checkpoint(const std::string& path, const char* problem, const Domain& domain, const State& state) {
  Head head = {};
  std::memcpy(head.magic, "weftmhd1", sizeof head.magic);
  std::snprintf(head.problem, sizeof head.problem, "%s", problem);
  head.dims = domain.patch.dims;
  head.patch = domain.patch.n[0];
  for (int d = 0; d < 3; ++d) head.counts[d] = domain.counts()[d];
  head.step = state.step;
  head.time = state.time;
  head.longest = state.longest;
  head.digest = digest(domain, state);

  const std::string fresh = path + ".new";
  const std::vector<double> values = own_values(domain, state);
  const PatchType patch(domain.patch);
  Outcome outcome;
  MPI_File file = MPI_FILE_NULL;
  outcome(MPI_File_open(MPI_COMM_WORLD, fresh.c_str(), MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
  if (!outcome.good("create", fresh, "The last checkpoint, if there is one, is as it was.")) return false;
  if (my_rank() == 0) outcome(MPI_File_write_at(file, 0, &head, sizeof head, MPI_BYTE, MPI_STATUS_IGNORE));
  outcome(MPI_File_write_at_all(file, place(domain.patch, state.first), values.data(), state.count, patch.get(),
                                MPI_STATUS_IGNORE));
  outcome(MPI_File_set_size(file, place(domain.patch, domain.patches())));  // an interrupted run may have left more
  outcome(MPI_File_sync(file));
  outcome(MPI_File_close(&file));
  if (!outcome.good("write", fresh, "The last checkpoint, if there is one, is as it was.")) {
    if (my_rank() == 0) MPI_File_delete(fresh.c_str(), MPI_INFO_NULL);
    return false;
  }
  int renamed = 1;
  if (my_rank() == 0 && std::rename(fresh.c_str(), path.c_str()) != 0) {
    std::fprintf(stderr, "mhd: cannot rename %s to %s: %s\n", fresh.c_str(), path.c_str(), std::strerror(errno));
    renamed = 0;
  }
  MPI_Bcast(&renamed, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return renamed != 0;
}

bool read_head(const std::string& path, Head* head) {
  Outcome outcome;
  MPI_File file = MPI_FILE_NULL;
  outcome(MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
  if (!outcome.good("open", path, "Name a checkpoint that -k has written.")) return false;
  MPI_Offset size = 0;
  outcome(MPI_File_get_size(file, &size));
  if (size >= static_cast<MPI_Offset>(sizeof *head))
    outcome(MPI_File_read_at_all(file, 0, head, sizeof *head, MPI_BYTE, MPI_STATUS_IGNORE));
  outcome(MPI_File_close(&file));
  if (!outcome.good("read", path, "Name a checkpoint that -k has written.")) return false;
  bool known = size >= static_cast<MPI_Offset>(sizeof *head) && std::memcmp(head->magic, "weftmhd1", 8) == 0 &&
               std::memchr(head->problem, 0, sizeof head->problem) != nullptr && (head->dims == 2 || head->dims == 3) &&
               head->patch >= Patch::high && head->patch <= 4096 && head->step >= 0 && head->longest > 0;
  double patches = 1;
  for (const int count : head->counts) patches *= count, known = known && count > 0;
  if (known && patches < 1e9) {
    const Patch patch(head->dims, head->patch);
    known = size == place(patch, static_cast<int>(patches));
  } else {
    known = false;
  }
  if (!known && my_rank() == 0) {
    std::fprintf(stderr, "mhd: %s is no complete checkpoint of this program (%lld bytes)\n", path.c_str(),
                 static_cast<long long>(size));
  }
  return known;
}

bool read_checkpoint(const std::string& path, const Head& head, const Domain& domain, State* state) {
  const Patch& p = domain.patch;
  const PatchType patch(p);
  std::vector<double> values(own_count(p) * fields * static_cast<std::size_t>(state->count));
  Outcome outcome;
  MPI_File file = MPI_FILE_NULL;
  outcome(MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
  if (!outcome.good("open", path, "")) return false;
  outcome(
      MPI_File_read_at_all(file, place(p, state->first), values.data(), state->count, patch.get(), MPI_STATUS_IGNORE));
  outcome(MPI_File_close(&file));
  if (!outcome.good("read", path, "")) return false;
  const Box own = {{0, 0, 0}, p.n};
  for (int i = 0; i < state->count; ++i) {
    unpack(p, own, values.data() + own_count(p) * fields * static_cast<std::size_t>(i),
           state->patch(domain, state->first + i));
  }
  state->step = head.step;
  state->time = head.time;
  state->longest = head.longest;
  const bool same = digest(domain, *state) == head.digest;
  if (!same && my_rank() == 0)
    std::fprintf(stderr, "mhd: the data of %s are not what was written: take an older checkpoint\n", path.c_str());
  return same;
}

bool write_vtk(const std::string& path, double gamma, const Domain& domain, const State& state) {
  const Patch& p = domain.patch;
  // Rows of all patches in the order of the file.
  struct Row {
    int64_t cell;
    int patch, j, k;
  };
  std::vector<Row> rows;
  for (int i = state.first; i < state.first + state.count; ++i) {
    const Three at = domain.position(i);
    for (int k = 0; k < p.n[2]; ++k) {
      for (int j = 0; j < p.n[1]; ++j) {
        const int64_t y = at[1] * p.n[1] + j, z = at[2] * p.n[2] + k;
        rows.push_back({(z * domain.cells(1) + y) * domain.cells(0) + at[0] * p.n[0], i, j, k});
      }
    }
  }
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.cell < b.cell; });

  char text[512];
  int length =
      std::snprintf(text, sizeof text,
                    "# vtk DataFile Version 3.0\nmhd, time %.9g\nBINARY\nDATASET STRUCTURED_POINTS\n"
                    "DIMENSIONS %d %d %d\nORIGIN 0 0 0\nSPACING %.9g %.9g %.9g\nCELL_DATA %lld\n",
                    state.time, domain.cells(0) + 1, domain.cells(1) + 1, p.dims == 3 ? domain.cells(2) + 1 : 1,
                    domain.spacing[0], domain.spacing[1], domain.spacing[2],
                    static_cast<long long>(domain.cells(0)) * domain.cells(1) * domain.cells(2));
  const MPI_Offset cells = static_cast<MPI_Offset>(domain.cells(0)) * domain.cells(1) * domain.cells(2);
  Outcome outcome;
  MPI_File file = MPI_FILE_NULL;
  outcome(MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
  if (!outcome.good("create", path, "")) return false;
  outcome(MPI_File_set_size(file, 0));
  MPI_Offset at = 0;
  const auto words = [&](const char* begin, int count) {
    outcome(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    if (my_rank() == 0) outcome(MPI_File_write_at(file, at, begin, count, MPI_BYTE, MPI_STATUS_IGNORE));
    at += count;
  };
  words(text, length);
  struct Variable {
    const char* head;
    int components;
  };
  int number = 0;
  for (const Variable& variable : {Variable{"SCALARS density float 1\nLOOKUP_TABLE default\n", 1},
                                   Variable{"\nSCALARS pressure float 1\nLOOKUP_TABLE default\n", 1},
                                   Variable{"\nVECTORS velocity float\n", 3}, Variable{"\nVECTORS field float\n", 3}}) {
    words(variable.head, static_cast<int>(std::strlen(variable.head)));
    std::vector<uint32_t> values;  // big endian, as the form wants it
    std::vector<MPI_Aint> offsets;
    for (const Row& row : rows) {
      offsets.push_back(static_cast<MPI_Aint>(row.cell) * variable.components * 4);
      const double* of = state.patch(domain, row.patch);
      for (int i = 0; i < p.n[0]; ++i) {
        const auto u = [&](int f, std::ptrdiff_t shift) {
          return of[p.volume * static_cast<std::size_t>(f) + static_cast<std::size_t>(p.at(i, row.j, row.k) + shift)];
        };
        const auto mean = [&](int d) {
          return d < p.dims ? 0.5 * (u(field + d, 0) + u(field + d, p.stride[d])) : u(field + d, 0);
        };
        const double rho = u(density, 0);
        for (int c = 0; c < variable.components; ++c) {
          double value = rho;
          if (number == 1) {
            double twice = 0;
            for (int d = 0; d < 3; ++d) twice += u(momentum + d, 0) * u(momentum + d, 0) / rho + mean(d) * mean(d);
            value = (gamma - 1) * (u(energy, 0) - 0.5 * twice);
          } else if (number == 2) {
            value = u(momentum + c, 0) / rho;
          } else if (number == 3) {
            value = mean(c);
          }
          const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
          values.push_back(std::endian::native == std::endian::big ? bits : __builtin_bswap32(bits));
        }
      }
    }
    MPI_Datatype view = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed_block(static_cast<int>(offsets.size()), p.n[0] * variable.components, offsets.data(),
                                   MPI_UINT32_T, &view);
    MPI_Type_commit(&view);
    outcome(MPI_File_set_view(file, at, MPI_UINT32_T, view, "native", MPI_INFO_NULL));
    outcome(MPI_File_write_all(file, values.data(), static_cast<int>(values.size()), MPI_UINT32_T, MPI_STATUS_IGNORE));
    MPI_Type_free(&view);
    at += cells * variable.components * 4;
    ++number;
  }
  outcome(MPI_File_close(&file));
  return outcome.good("write", path, "");
}

std::vector<float> middle_plane(const Domain& domain, const State& state) {
  const Patch& p = domain.patch;
  const int middle = domain.cells(2) / 2, width = domain.cells(0);
  const auto in_plane = [&](int patch) { return domain.position(patch)[2] == middle / p.n[2]; };
  std::vector<float> mine;
  for (int i = state.first; i < state.first + state.count; ++i) {
    if (!in_plane(i)) continue;
    for (int j = 0; j < p.n[1]; ++j) {
      for (int c = 0; c < p.n[0]; ++c)
        mine.push_back(static_cast<float>(state.patch(domain, i)[p.at(c, j, middle % p.n[2])]));
    }
  }
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<int> counts(static_cast<std::size_t>(ranks)), before(static_cast<std::size_t>(ranks));
  const int count = static_cast<int>(mine.size());
  MPI_Gather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int r = 1; r < ranks; ++r)
    before[static_cast<std::size_t>(r)] =
        before[static_cast<std::size_t>(r) - 1] + counts[static_cast<std::size_t>(r) - 1];
  const std::size_t points = my_rank() == 0 ? static_cast<std::size_t>(width) * domain.cells(1) : 0;
  std::vector<float> all(points), plane(points);
  MPI_Gatherv(mine.data(), count, MPI_FLOAT, all.data(), counts.data(), before.data(), MPI_FLOAT, 0, MPI_COMM_WORLD);
  std::size_t from = 0;
  for (int i = 0; points > 0 && i < domain.patches(); ++i) {
    if (!in_plane(i)) continue;
    const Three at = domain.position(i);
    for (int j = 0; j < p.n[1]; ++j) {
      const std::size_t to =
          static_cast<std::size_t>(at[1] * p.n[1] + j) * width + static_cast<std::size_t>(at[0] * p.n[0]);
      std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(from), p.n[0],
                  plane.begin() + static_cast<std::ptrdiff_t>(to));
      from += static_cast<std::size_t>(p.n[0]);
    }
  }
  return plane;
}

bool write_picture(const std::string& path, const Domain& domain, const State& state) {
  const std::vector<float> plane = middle_plane(domain, state);
  return written(path, plane.empty() || common::save_field(path.c_str(), plane, domain.cells(0), domain.cells(1)));
}

void Film::start(double time, double end) {
  end_ = end;
  while (next_ < pictures && at(next_) < time) ++next_;
}

void Film::add(const Domain& domain, const State& state) {
  while (due(state.time)) ++next_;
  const std::vector<float> plane = middle_plane(domain, state);
  if (!plane.empty()) strip_.add(plane, domain.cells(0), domain.cells(1));
}

bool Film::write(const std::string& path) const {
  return written(path, my_rank() != 0 || strip_.save(path.c_str()));
}

uint64_t digest(const Domain& domain, const State& state) {
  const Patch& p = domain.patch;
  uint64_t sum = 0, all = 0;
  for (int i = state.first; i < state.first + state.count; ++i) {
    const Three at = domain.position(i);
    const double* of = state.patch(domain, i);
    own_cells(p, [&](int x, int y, int z) {
      const auto cell = (static_cast<uint64_t>(at[2] * p.n[2] + z) * static_cast<uint64_t>(domain.cells(1)) +
                         static_cast<uint64_t>(at[1] * p.n[1] + y)) *
                            static_cast<uint64_t>(domain.cells(0)) +
                        static_cast<uint64_t>(at[0] * p.n[0] + x);
      for (std::size_t f = 0; f < fields; ++f) {
        // splitmix64 of the bits, moved by the position: a sum of these has no order.
        uint64_t h = std::bit_cast<uint64_t>(of[p.volume * f + static_cast<std::size_t>(p.at(x, y, z))]);
        h ^= (cell * fields + f + 1) * 0x9E3779B97F4A7C15U;
        h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9U;
        h = (h ^ (h >> 27)) * 0x94D049BB133111EBU;
        sum += h ^ (h >> 31);
      }
    });
  }
  MPI_Allreduce(&sum, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

Measure measure(const Domain& domain, const State& state) {
  constexpr int numbers = sizeof(Measure) / sizeof(double);
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<Measure> mine, all(my_rank() == 0 ? static_cast<std::size_t>(domain.patches()) : 0);
  for (int i = state.first; i < state.first + state.count; ++i)
    mine.push_back(measure_patch(domain, state.patch(domain, i)));
  std::vector<int> counts, before;
  for (int r = 0; r < ranks; ++r) {
    before.push_back(domain.first_of(r) * numbers);
    counts.push_back(domain.first_of(r + 1) * numbers - before.back());
  }
  MPI_Gatherv(mine.data(), state.count * numbers, MPI_DOUBLE, all.data(), counts.data(), before.data(), MPI_DOUBLE, 0,
              MPI_COMM_WORLD);
  Measure sum;
  sum.least = std::numeric_limits<double>::max();
  for (const Measure& m : all) {
    sum.kinetic += m.kinetic;
    sum.magnetic += m.magnetic;
    sum.internal += m.internal;
    sum.mass += m.mass;
    sum.divergence = std::max(sum.divergence, m.divergence);
    sum.least = std::min(sum.least, m.least);
    sum.most = std::max(sum.most, m.most);
  }
  return sum;
}

}  // namespace mhd
