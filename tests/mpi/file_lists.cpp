// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Memory in large pieces goes to the system as lists (TEST_EXPECT counts the calls), through views with one run and
// with many, up to the end of the file; small pieces do not. `failing`: all calls of the system fail (WEFT_IO_FAULTS).
#include "files.hpp"

using expect::rank;
using expect::size;

namespace {

constexpr int pieces = 2560;

// Pieces with gaps of 64 bytes between them.
class Pieces {
 public:
  explicit Pieces(int piece)
      : piece_(piece), memory_(static_cast<size_t>(pieces) * (static_cast<size_t>(piece) + gap)) {
    MPI_Type_vector(pieces, piece, piece + gap, MPI_BYTE, &type_);
    MPI_Type_commit(&type_);
  }
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;
  ~Pieces() { MPI_Type_free(&type_); }

  [[nodiscard]] MPI_Datatype type() const { return type_; }
  [[nodiscard]] int64_t bytes() const { return int64_t{pieces} * piece_; }
  void* data() { return memory_.data(); }

  void fill(int round) {
    for (size_t i = 0; i < memory_.size(); ++i) memory_[i] = is_gap(i) ? 0xee : value(i, round);
  }
  void clear() { memory_.assign(memory_.size(), 0xee); }
  // The first bytes are those of a round, the others, and the gaps, as clear() left them.
  void check(int round, int64_t bytes, const char* what) {
    int64_t before = 0;
    for (size_t i = 0; i < memory_.size(); ++i) {
      const uint8_t wanted = is_gap(i) || before >= bytes ? 0xee : value(i, round);
      if (!is_gap(i)) ++before;
      if (memory_[i] == wanted) continue;
      EXPECT(false, "%s: %d at %zu, not %d", what, memory_[i], i, wanted);
      return;
    }
  }

 private:
  static constexpr int gap = 64;
  [[nodiscard]] bool is_gap(size_t i) const {
    return i % (static_cast<size_t>(piece_) + gap) >= static_cast<size_t>(piece_);
  }
  static uint8_t value(size_t i, int round) {
    return static_cast<uint8_t>(i * 7 + (i >> 8) * 3 + static_cast<size_t>(100 * round + rank));
  }

  int piece_;
  std::vector<uint8_t> memory_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

void there_and_back(MPI_File file, MPI_Offset offset, Pieces& memory, int round, const char* what) {
  MPI_Status status;
  MPI_Count moved = 0;
  memory.fill(round);
  OK(MPI_File_write_at(file, offset, memory.data(), 1, memory.type(), &status));
  MPI_Get_elements_c(&status, MPI_BYTE, &moved);
  EXPECT(moved == memory.bytes(), "%s: %lld bytes written", what, static_cast<long long>(moved));
  memory.clear();
  OK(MPI_File_read_at(file, offset, memory.data(), 1, memory.type(), &status));
  MPI_Get_elements_c(&status, MPI_BYTE, &moved);
  EXPECT(moved == memory.bytes(), "%s: %lld bytes read", what, static_cast<long long>(moved));
  memory.check(round, memory.bytes(), what);
}

// 3 calls each: a list has at most 1024 pieces.
void one_run(const files::Folder& folder) {
  files::File file(folder.path("one"));
  Pieces memory(4096);
  there_and_back(file, rank * memory.bytes(), memory, 1, "one run");
}

// 160 calls each: one for each run.
void many_runs(const files::Folder& folder) {
  files::File file(folder.path("many"));
  constexpr int run = 65536;
  MPI_Datatype bytes, view;
  MPI_Type_contiguous(run, MPI_BYTE, &bytes);
  MPI_Type_create_resized(bytes, 0, MPI_Aint{2} * run * size, &view);
  MPI_Type_commit(&view);
  OK(MPI_File_set_view(file, MPI_Offset{2} * run * rank, MPI_BYTE, view, "native", MPI_INFO_NULL));
  Pieces memory(4096);
  there_and_back(file, 0, memory, 2, "many runs");
  MPI_Type_free(&view);
  MPI_Type_free(&bytes);
}

// One call of a list.
void end_of_file(const files::Folder& folder) {
  files::File file(folder.path(("end" + std::to_string(rank)).c_str()), files::read_write, MPI_INFO_NULL,
                   MPI_COMM_SELF);
  Pieces memory(4096);
  constexpr int there = 1000000;
  memory.fill(3);
  std::vector<uint8_t> packed(static_cast<size_t>(memory.bytes()));
  int position = 0;
  MPI_Pack(memory.data(), 1, memory.type(), packed.data(), static_cast<int>(packed.size()), &position, MPI_COMM_SELF);
  OK(MPI_File_write_at(file, 0, packed.data(), there, MPI_BYTE, MPI_STATUS_IGNORE));
  memory.clear();
  MPI_Status status;
  MPI_Count moved = 0;
  OK(MPI_File_read_at(file, 0, memory.data(), 1, memory.type(), &status));
  MPI_Get_elements_c(&status, MPI_BYTE, &moved);
  EXPECT(moved == there, "%lld bytes", static_cast<long long>(moved));
  memory.check(3, there, "end of the file");
}

void small_pieces(const files::Folder& folder) {
  files::File file(folder.path("small"));
  Pieces memory(512);
  there_and_back(file, rank * memory.bytes(), memory, 4, "small pieces");
}

void failing(const files::Folder& folder, int wanted) {
  files::File file(folder.path(("failing" + std::to_string(rank)).c_str()), files::read_write, MPI_INFO_NULL,
                   MPI_COMM_SELF);
  Pieces memory(4096);
  memory.fill(5);
  EXPECT_CLASS(MPI_File_write_at(file, 0, memory.data(), 1, memory.type(), MPI_STATUS_IGNORE), wanted);
  if (wanted != MPI_ERR_IO) return;
  EXPECT_CLASS(MPI_File_read_at(file, 0, memory.data(), 1, memory.type(), MPI_STATUS_IGNORE), wanted);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  {
    const files::Folder folder;
    const std::string mode = argc > 1 ? argv[1] : "";
    if (mode == "full" || mode == "broken") {
      failing(folder, mode == "full" ? MPI_ERR_NO_SPACE : MPI_ERR_IO);
    } else {
      one_run(folder);
      many_runs(folder);
      end_of_file(folder);
      small_pieces(folder);
    }
  }
  return expect::finish();
}
