// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The statistics of a file name the way in which it was accessed, and the change that would help. The argument names
// the pattern; the row's PASS the text that must come. The line of JSON has the same counts.
#include <cstdlib>
#include <fstream>
#include <string>

#include "files.hpp"

using expect::rank;
using expect::size;

namespace {

constexpr int pieces = 64;  // of each rank
constexpr int piece = 512;

// Small pieces of all ranks in turn.
void interleaved(MPI_File file, const std::vector<char>& data) {
  for (int i = 0; i < pieces; ++i) {
    OK(MPI_File_write_at(file, static_cast<MPI_Offset>(i * size + rank) * piece, data.data(), piece, MPI_BYTE,
                         MPI_STATUS_IGNORE));
  }
}

// The pieces are written by a view and one collective call.
void collective(MPI_File file, const std::vector<char>& data) {
  MPI_Datatype block, every;
  MPI_Type_contiguous(piece, MPI_BYTE, &block);
  MPI_Type_create_resized(block, 0, static_cast<MPI_Aint>(piece) * size, &every);
  MPI_Type_commit(&every);
  OK(MPI_File_set_view(file, static_cast<MPI_Offset>(rank) * piece, MPI_BYTE, every, "native", MPI_INFO_NULL));
  OK(MPI_File_write_at_all(file, 0, data.data(), pieces * piece, MPI_BYTE, MPI_STATUS_IGNORE));
  MPI_Type_free(&block);
  MPI_Type_free(&every);
}

// Each rank a part of its own, piece after piece.
void sequential(MPI_File file, const std::vector<char>& data) {
  OK(MPI_File_seek(file, static_cast<MPI_Offset>(rank) * pieces * piece, MPI_SEEK_SET));
  for (int i = 0; i < pieces; ++i) OK(MPI_File_write(file, data.data(), piece, MPI_BYTE, MPI_STATUS_IGNORE));
}

void large(MPI_File file, const std::vector<char>& data) {
  OK(MPI_File_write_at(file, static_cast<MPI_Offset>(rank) * pieces * piece, data.data(), pieces * piece, MPI_BYTE,
                       MPI_STATUS_IGNORE));
}

std::string first_line(const char* path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string pattern = argc > 1 ? argv[1] : "";
  expect::start(&argc, &argv);
  const std::vector<char> data(static_cast<size_t>(pieces) * piece, 'w');
  {
    const files::Folder folder;
    files::File file(folder.path("counted"));
    if (pattern == "interleaved") interleaved(file, data);
    if (pattern == "collective") collective(file, data);
    if (pattern == "sequential") sequential(file, data);
    if (pattern == "large") large(file, data);
  }
  const char* json = getenv("WEFT_IO_STATS_FILE");
  if (rank == 0 && json != nullptr) {
    const bool few = pattern == "collective" || pattern == "large";
    const std::string accesses = "\"accesses\": " + std::to_string(few ? size : size * pieces) + ", ";
    const std::string bytes = "\"bytes\": " + std::to_string(size * pieces * piece) + ", ";
    const std::string line = first_line(json);
    EXPECT(line.find("\"writes\": {" + accesses + bytes) != std::string::npos, "%s", line.c_str());
    remove(json);
  }
  return expect::finish();
}
