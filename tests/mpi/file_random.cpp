// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Random views, memory layouts and forms of access against a model of the file, from a seed. Each rank owns the bytes
// whose block number modulo the ranks is its own, so that no two ranks write the same bytes and every byte of the file
// is known. With WEFT_IO_FAULTS calls of the system fail: then an access that succeeded moved all of its data, and no
// call hangs.
#include <algorithm>
#include <random>

#include "files.hpp"

using expect::rank;
using expect::size;

namespace {

bool faults = false;
int rounds = 40;

// `common` gives equal numbers on all ranks, `own` is of each rank.
std::mt19937 common, own;

int draw(std::mt19937& from, int low, int high) {
  return low + static_cast<int>(from() % static_cast<unsigned>(high - low + 1));
}

uint8_t byte_of(int r, int64_t position, int round) {
  return static_cast<uint8_t>(position * 7 + r * 31 + round * 101 + (position >> 8));
}

// A view: rank r has blocks of `block` bytes in turn, and in each the bytes that a random pattern takes.
struct View {
  int block;
  int disp;
  std::vector<int> starts, lengths;  // in the block
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int data = 0;  // bytes in a block

  void draw_it() {
    block = draw(common, 1, 4) == 1 ? draw(common, 1, 3000) : draw(common, 1, 60);
    disp = draw(common, 0, 100);
    starts.clear();
    lengths.clear();
    data = 0;
    for (int at = draw(common, 0, 2); at < block;) {
      const int length = std::min(block - at, draw(common, 1, std::max(1, block / 2)));
      starts.push_back(at);
      lengths.push_back(length);
      data += length;
      at += length + draw(common, 0, 3) * draw(common, 0, 5);
    }
    if (data == 0) {
      starts.push_back(0);
      lengths.push_back(block);
      data = block;
    }
    MPI_Datatype pattern;
    MPI_Type_indexed(static_cast<int>(starts.size()), lengths.data(), starts.data(), MPI_BYTE, &pattern);
    MPI_Type_create_resized(pattern, 0, MPI_Aint{block} * size, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&pattern);
  }
  int64_t offset_of(int r, int64_t position) const {
    const int64_t tile = position / data;
    int64_t inside = position % data;
    size_t i = 0;
    while (inside >= lengths[i]) inside -= lengths[i++];
    return disp + (tile * size + r) * block + starts[i] + inside;
  }
};

// The file as it must be; of faults, bytes that are not known.
std::vector<int> model;

void note_write(const View& view, int r, int64_t position, int64_t bytes, int round, bool known) {
  for (int64_t p = position; p < position + bytes; ++p) {
    const auto at = static_cast<size_t>(view.offset_of(r, p));
    if (at >= model.size()) model.resize(at + 1, 0);
    model[at] = known ? byte_of(r, p, round) : -1;
  }
}

// The access of a rank in a round: drawn by all for all.
struct Part {
  int64_t position;
  int64_t bytes;
};

// Memory with random gaps, `bytes` of data.
struct Memory {
  std::vector<uint8_t> bytes;
  MPI_Datatype type = MPI_BYTE;
  int count;
  int block = 1, stride = 1;

  explicit Memory(int64_t data) : count(static_cast<int>(data)) {
    if (data == 0 || draw(own, 0, 1) == 0) {
      bytes.resize(static_cast<size_t>(data) + 1, 0xee);
      return;
    }
    block = draw(own, 1, 9);
    while (data % block != 0) --block;
    stride = block + draw(own, 1, 7);
    MPI_Type_vector(static_cast<int>(data / block), block, stride, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    count = 1;
    bytes.resize(static_cast<size_t>(data / block * stride) + 1, 0xee);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    if (type != MPI_BYTE) MPI_Type_free(&type);
  }
  uint8_t& at(int64_t i) { return bytes[static_cast<size_t>(i / block * stride + i % block)]; }
};

// One access in the form that was drawn; its error.
int access(MPI_File file, bool writes, int form, const Part& part, Memory& memory, int64_t& moved) {
  MPI_Status status;
  MPI_Request request = MPI_REQUEST_NULL;
  void* at = memory.bytes.data();
  const MPI_Offset p = part.position;
  const int n = memory.count;
  const MPI_Datatype t = memory.type;
  int error = MPI_SUCCESS;
  moved = 0;
  switch (form) {
    case 0:
      error = writes ? MPI_File_write_at(file, p, at, n, t, &status) : MPI_File_read_at(file, p, at, n, t, &status);
      break;
    case 1:
      error =
          writes ? MPI_File_write_at_all(file, p, at, n, t, &status) : MPI_File_read_at_all(file, p, at, n, t, &status);
      break;
    case 2:
      error = MPI_File_seek(file, p, MPI_SEEK_SET);
      if (error != MPI_SUCCESS) return error;
      error = writes ? MPI_File_write_all(file, at, n, t, &status) : MPI_File_read_all(file, at, n, t, &status);
      break;
    case 3:
      error = writes ? MPI_File_iwrite_at(file, p, at, n, t, &request) : MPI_File_iread_at(file, p, at, n, t, &request);
      break;
    case 4:
      error = writes ? MPI_File_iwrite_at_all(file, p, at, n, t, &request)
                     : MPI_File_iread_at_all(file, p, at, n, t, &request);
      break;
    default:
      error = writes ? MPI_File_write_at_all_begin(file, p, at, n, t) : MPI_File_read_at_all_begin(file, p, at, n, t);
      if (error != MPI_SUCCESS) return error;
      error = writes ? MPI_File_write_at_all_end(file, at, &status) : MPI_File_read_at_all_end(file, at, &status);
  }
  if (error == MPI_SUCCESS && (form == 3 || form == 4)) error = MPI_Wait(&request, &status);
  if (error == MPI_SUCCESS) moved = files::bytes_of(status);
  return error;
}

MPI_Info random_hints() {
  static const char* const choices[] = {"automatic", "enable", "disable"};
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "romio_cb_write", choices[draw(common, 0, 2)]);
  MPI_Info_set(info, "romio_cb_read", choices[draw(common, 0, 2)]);
  MPI_Info_set(info, "romio_ds_read", choices[draw(common, 0, 2)]);
  MPI_Info_set(info, "cb_buffer_size", draw(common, 0, 1) == 0 ? "4096" : "20000");
  MPI_Info_set(info, "cb_nodes", std::to_string(draw(common, 1, size)).c_str());
  MPI_Info_set(info, "striping_unit", std::to_string(draw(common, 1, 5000)).c_str());
  MPI_Info_set(info, "ind_rd_buffer_size", "4096");
  if (draw(common, 0, 5) == 0) MPI_Info_set(info, "direct_write", "true");
  if (draw(common, 0, 5) == 0) MPI_Info_set(info, "direct_read", "true");
  return info;
}

void round(MPI_File file, View& view, int number) {
  const bool writes = draw(common, 0, 2) != 0;
  const int form = draw(common, 0, 5);
  std::vector<Part> parts(static_cast<size_t>(size));
  for (Part& part : parts) {
    part.position = draw(common, 0, 4000);
    part.bytes = draw(common, 0, 5) == 0 ? 0 : draw(common, 1, 9000);
  }
  const Part& mine = parts[static_cast<size_t>(rank)];
  Memory memory(mine.bytes);
  if (writes) {
    for (int64_t i = 0; i < mine.bytes; ++i) memory.at(i) = byte_of(rank, mine.position + i, number);
  }
  int64_t moved = 0;
  const int error = access(file, writes, form, mine, memory, moved);
  EXPECT(error == MPI_SUCCESS || faults, "error %d in round %d, form %d", error, number, form);
  // Collective forms end alike on all ranks.
  int failed[2] = {error != MPI_SUCCESS, error == MPI_SUCCESS};
  MPI_Allreduce(MPI_IN_PLACE, failed, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  EXPECT(form == 0 || form == 3 || failed[0] != failed[1], "round %d, form %d: ranks differ", number, form);
  std::vector<int> all(static_cast<size_t>(size));
  MPI_Allgather(&error, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD);
  if (writes) {
    EXPECT(error != MPI_SUCCESS || moved == mine.bytes, "%lld of %lld bytes, round %d, form %d",
           static_cast<long long>(moved), static_cast<long long>(mine.bytes), number, form);
    for (int r = 0; r < size; ++r) {
      const Part& part = parts[static_cast<size_t>(r)];
      note_write(view, r, part.position, part.bytes, number, all[static_cast<size_t>(r)] == MPI_SUCCESS);
    }
    return;
  }
  if (error != MPI_SUCCESS) return;
  int64_t there = 0;
  while (there < mine.bytes && view.offset_of(rank, mine.position + there) < static_cast<int64_t>(model.size()))
    ++there;
  EXPECT(moved == there || faults, "%lld bytes instead of %lld, round %d, form %d", static_cast<long long>(moved),
         static_cast<long long>(there), number, form);
  for (int64_t i = 0; i < std::min(moved, there); ++i) {
    const int wanted = model[static_cast<size_t>(view.offset_of(rank, mine.position + i))];
    EXPECT(wanted < 0 || memory.at(i) == wanted, "round %d, form %d: %d at %lld, not %d", number, form, memory.at(i),
           static_cast<long long>(i), wanted);
    if (wanted >= 0 && memory.at(i) != wanted) return;
  }
}

void whole_file(const std::string& path) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    FILE* file = fopen(path.c_str(), "rb");
    std::vector<uint8_t> found(model.size() + 10);
    const size_t bytes = file == nullptr ? 0 : fread(found.data(), 1, found.size(), file);
    if (file != nullptr) fclose(file);
    EXPECT(bytes == model.size() || faults, "%zu bytes instead of %zu", bytes, model.size());
    for (size_t i = 0; i < std::min(bytes, model.size()); ++i) {
      EXPECT(model[i] < 0 || found[i] == model[i], "the file has %d at %zu, not %d", found[i], i, model[i]);
      if (model[i] >= 0 && found[i] != model[i]) break;
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  const unsigned seed = argc > 1 ? static_cast<unsigned>(atoi(argv[1])) : 1;
  if (argc > 2) rounds = atoi(argv[2]);
  const char* plan = getenv("WEFT_IO_FAULTS");
  faults = plan != nullptr && (strstr(plan, "enospc") != nullptr || strstr(plan, "eio") != nullptr);
  common.seed(seed);
  own.seed(seed * 1000 + static_cast<unsigned>(rank));
  {
    files::Folder folder;
    for (int k = 0; k < 6; ++k) {
      model.clear();
      const std::string path = folder.path("random");
      MPI_Info info = random_hints();
      files::File file(path, files::read_write, info);
      MPI_Info_free(&info);
      for (int i = 0; i < rounds / 6; ++i) {
        View view;
        view.draw_it();
        OK(MPI_File_set_view(file, view.disp + MPI_Offset{view.block} * rank, MPI_BYTE, view.type, "native",
                             MPI_INFO_NULL));
        for (int j = 0; j < 6; ++j) round(file, view, (k * 100 + i) * 6 + j);
        MPI_Type_free(&view.type);
      }
      whole_file(path);
    }
  }
  return expect::finish();
}
