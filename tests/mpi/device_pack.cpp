// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Packing by hand and partitioned messages with either side, or both, on a device.
#include <numeric>

#include "on_device.hpp"

namespace {

using namespace on_device;

constexpr int counts[] = {1, 7, 3000, 60000};

// Every third integer.
MPI_Datatype third(int count) {
  MPI_Datatype type;
  MPI_Type_vector(count, 1, 3, MPI_INT, &type);
  MPI_Type_commit(&type);
  return type;
}

std::vector<int> thirds(size_t count, int from) {
  std::vector<int> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = from + static_cast<int>(i) * 9;
  return values;
}

std::vector<int> between(const std::vector<int>& values, int gap) {
  std::vector<int> all(values.size() * 3, gap);
  for (size_t i = 0; i < values.size(); ++i) all[i * 3] = values[i];
  return all;
}

void packing() {
  for (const int count : counts) {
    const auto all = static_cast<size_t>(count) * 3;
    const int bytes = count * static_cast<int>(sizeof(int));
    MPI_Datatype type = third(count);
    for (const Where from : places) {
      for (const Where to : places) {
        Data elements(from, numbered(all, 5)), packed(to, std::vector<int>(static_cast<size_t>(count) + 2, -1));
        int position = sizeof(int);
        MPI_Pack(elements.get(), 1, type, packed.get(), bytes + 8, &position, MPI_COMM_WORLD);
        EXPECT(position == bytes + 4, "MPI_Pack ends at byte %d", position);
        std::vector<int> wanted = thirds(static_cast<size_t>(count), 5);
        wanted.insert(wanted.begin(), -1);
        wanted.push_back(-1);
        expect_same("MPI_Pack", packed.values(), wanted);
        Data out(from, std::vector<int>(all, -2));
        position = sizeof(int);
        MPI_Unpack(packed.get(), bytes + 8, &position, out.get(), 1, type, MPI_COMM_WORLD);
        EXPECT(position == bytes + 4, "MPI_Unpack ends at byte %d", position);
        expect_same("MPI_Unpack", out.values(), between(thirds(static_cast<size_t>(count), 5), -2));
      }
    }
    MPI_Type_free(&type);
  }
}

void external() {
  for (const int count : counts) {
    const auto all = static_cast<size_t>(count) * 3;
    const MPI_Aint bytes = count * static_cast<MPI_Aint>(sizeof(int));
    MPI_Datatype type = third(count);
    std::vector<int> wanted(static_cast<size_t>(count) + 1, -1);
    for (const Where from : places) {
      for (const Where to : places) {
        Data elements(from, numbered(all, 5)), packed(to, std::vector<int>(static_cast<size_t>(count) + 1, -1));
        MPI_Aint position = 0;
        MPI_Pack_external("external32", elements.get(), 1, type, packed.get(), bytes + 4, &position);
        EXPECT(position == bytes, "MPI_Pack_external ends at byte %ld", static_cast<long>(position));
        if (from == Where::host && to == Where::host) wanted = packed.values();
        expect_same("MPI_Pack_external", packed.values(), wanted);
        Data out(from, std::vector<int>(all, -2));
        position = 0;
        MPI_Unpack_external("external32", packed.get(), bytes + 4, &position, out.get(), 1, type);
        expect_same("MPI_Unpack_external", out.values(), between(thirds(static_cast<size_t>(count), 5), -2));
      }
    }
    MPI_Type_free(&type);
  }
}

// Partitions that are cut otherwise at the receiver: `theirs` of the sender, `ours` of the receiver.
struct Cut {
  int theirs;
  int ours;
};
constexpr Cut cuts[] = {{4, 4}, {2, 6}, {6, 2}, {1, 4}};

void partitioned(bool gaps) {
  const int next = (expect::rank + 1) % expect::size, before = (expect::rank + expect::size - 1) % expect::size;
  for (const int elements : {12, 12000, 360000}) {
    for (const Cut& cut : cuts) {
      for (const Where from : places) {
        for (const Where to : places) {
          const auto all = static_cast<size_t>(elements) * (gaps ? 3 : 1);
          MPI_Datatype type = MPI_INT;
          if (gaps) {
            MPI_Datatype one;
            MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &one);
            MPI_Type_contiguous(1, one, &type);
            MPI_Type_commit(&type);
            MPI_Type_free(&one);
          }
          Data out(from, numbered(all, expect::rank * 1000)), in(to, std::vector<int>(all, -1));
          MPI_Request requests[2];
          MPI_Psend_init(out.get(), cut.theirs, elements / cut.theirs, type, next, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                         &requests[0]);
          MPI_Precv_init(in.get(), cut.ours, elements / cut.ours, type, before, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                         &requests[1]);
          for (int turn = 0; turn < 2; ++turn) {
            in.set(std::vector<int>(all, -1));
            MPI_Startall(2, requests);
            for (int i = cut.theirs - 1; i >= 0; --i) MPI_Pready(i, requests[0]);
            int there = 0;
            while (there == 0) MPI_Parrived(requests[1], 0, &there);
            MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
            std::vector<int> wanted = numbered(all, before * 1000);
            for (size_t i = 0; gaps && i < all; ++i) wanted[i] = i % 3 == 0 ? wanted[i] : -1;
            expect_same(gaps ? "MPI_Psend_init with gaps" : "MPI_Psend_init", in.values(), wanted);
          }
          for (MPI_Request& request : requests) MPI_Request_free(&request);
          if (gaps) MPI_Type_free(&type);
        }
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  if (argc > 1) driver = argv[1];
  packing();
  external();
  partitioned(false);
  partitioned(true);
  return expect::finish();
}
