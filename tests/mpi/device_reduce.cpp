// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Reductions of data that all ranks, or some, have on devices: the numbers of the same reduction in the host's memory,
// and on all ranks the same bits.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "expect.hpp"

namespace {

const char* driver = "mock";
bool by_kernels_alone = false;  // only what devices do without memory of the host

void* allocate_on_device(size_t bytes) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "weft_mem_device", driver);
  void* memory = nullptr;
  if (MPI_Alloc_mem(static_cast<MPI_Aint>(bytes), info, &memory) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 3);
  MPI_Info_free(&info);
  return memory;
}

void move(void* to, const void* from, size_t bytes) {
  MPI_Sendrecv(from, static_cast<int>(bytes), MPI_BYTE, 0, 9, to, static_cast<int>(bytes), MPI_BYTE, 0, 9,
               MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

using Bytes = std::vector<unsigned char>;

// Bytes on the device or, `here`, in the host's memory, at an offset into an allocation.
class Data {
 public:
  Data(const Bytes& bytes, bool here, size_t offset = 64) : bytes_(bytes.size()), here_(here), offset_(offset) {
    if (here_) {
      host_ = bytes;
      return;
    }
    memory_ = static_cast<unsigned char*>(allocate_on_device(bytes_ + offset_));
    move(get(), bytes.data(), bytes_);
  }
  Data(const Data&) = delete;
  Data& operator=(const Data&) = delete;
  ~Data() {
    if (memory_ != nullptr) MPI_Free_mem(memory_);
  }
  void* get() { return here_ ? host_.data() : memory_ + offset_; }
  Bytes read() {
    if (here_) return host_;
    Bytes bytes(bytes_);
    move(bytes.data(), get(), bytes_);
    return bytes;
  }

 private:
  Bytes host_;
  unsigned char* memory_ = nullptr;
  size_t bytes_;
  bool here_;
  size_t offset_;
};

struct Kind {
  const char* name;
  MPI_Datatype type;
  MPI_Op op;
  size_t size;
  bool exact;  // the order in which ranks are combined changes no bit
};
const Kind kinds[] = {
    {"MPI_SUM of MPI_INT", MPI_INT, MPI_SUM, 4, true},
    {"MPI_MAX of MPI_DOUBLE", MPI_DOUBLE, MPI_MAX, 8, true},
    {"MPI_SUM of MPI_FLOAT", MPI_FLOAT, MPI_SUM, 4, false},
    {"MPI_BXOR of MPI_INT8_T", MPI_INT8_T, MPI_BXOR, 1, true},
    {"MPI_MAXLOC of MPI_FLOAT_INT", MPI_FLOAT_INT, MPI_MAXLOC, 8, true},
    {"MPI_MINLOC of MPI_DOUBLE_INT, which has gaps", MPI_DOUBLE_INT, MPI_MINLOC, 16, true},
    {"MPI_SUM of MPI_C_DOUBLE_COMPLEX", MPI_C_DOUBLE_COMPLEX, MPI_SUM, 16, false},
    {"MPI_PROD of MPI_LONG_DOUBLE, which devices do not have", MPI_LONG_DOUBLE, MPI_PROD, 16, true},
};

// Returns small whole numbers, so that sums are exact in any order, but for the kinds that are not `exact`.
Bytes numbers(const Kind& kind, size_t count, int from) {
  Bytes bytes(count * kind.size);
  for (size_t i = 0; i < count; ++i) {
    const auto n = static_cast<int>((i * 7 + static_cast<size_t>(from) * 13) % 101) - 50;
    unsigned char* const at = bytes.data() + i * kind.size;
    if (kind.type == MPI_INT) {
      std::memcpy(at, &n, sizeof n);
    } else if (kind.type == MPI_INT8_T) {
      *at = static_cast<unsigned char>(n);
    } else if (kind.type == MPI_FLOAT || kind.type == MPI_FLOAT_INT) {
      const float value = static_cast<float>(n) * (kind.exact ? 1.0F : 0.1F);
      std::memcpy(at, &value, sizeof value);
      if (kind.type == MPI_FLOAT_INT) std::memcpy(at + 4, &from, sizeof from);
    } else if (kind.type == MPI_LONG_DOUBLE) {
      const long double value = n % 3;
      std::memcpy(at, &value, sizeof value);
    } else {
      const double value = kind.exact ? n : n * 0.1;
      std::memcpy(at, &value, sizeof value);
      if (kind.type == MPI_DOUBLE_INT) {
        std::memcpy(at + 8, &from, sizeof from);
        std::memset(at + 12, 0x11, 4);
      }
      if (kind.type == MPI_C_DOUBLE_COMPLEX) std::memcpy(at + 8, &value, sizeof value);
    }
  }
  return bytes;
}

// Without the bytes of a long double that are no part of its value.
Bytes values(const Kind& kind, Bytes bytes) {
  if (kind.type != MPI_LONG_DOUBLE) return bytes;
  for (size_t at = 0; at < bytes.size(); at += 16) std::memset(bytes.data() + at + 10, 0, 6);
  return bytes;
}

// Floats that are not exact may differ a little.
bool is_close(const Kind& kind, const Bytes& is, const Bytes& wanted) {
  if (kind.exact) return values(kind, is) == values(kind, wanted);
  for (size_t at = 0; at < is.size(); at += kind.type == MPI_FLOAT ? 4 : 8) {
    double a = 0, b = 0;
    if (kind.type == MPI_FLOAT) {
      float x, y;
      std::memcpy(&x, is.data() + at, 4);
      std::memcpy(&y, wanted.data() + at, 4);
      a = x;
      b = y;
    } else {
      std::memcpy(&a, is.data() + at, 8);
      std::memcpy(&b, wanted.data() + at, 8);
    }
    if (std::fabs(a - b) > 1e-4) return false;
  }
  return true;
}

void expect_result(const Kind& kind, const char* call, const char* where, const Bytes& is, const Bytes& wanted) {
  EXPECT(is_close(kind, is, wanted), "%s, %s, %s: other numbers than in the host's memory", call, kind.name, where);
}

// All ranks have the same bits.
void expect_alike(const Kind& kind, const char* where, const Bytes& is) {
  Bytes first = is;
  MPI_Bcast(first.data(), static_cast<int>(first.size()), MPI_BYTE, 0, MPI_COMM_WORLD);
  EXPECT(values(kind, first) == values(kind, is), "%s, %s: other bits than on rank 0", kind.name, where);
}

// `here`: this rank's data stay in the host's memory.
void check(const Kind& kind, int count, const char* where, bool here) {
  const auto n = static_cast<size_t>(count), ranks = static_cast<size_t>(expect::size);
  const Bytes mine = numbers(kind, n, expect::rank), blank(mine.size(), 0x11);
  Bytes wanted = blank;
  MPI_Allreduce(mine.data(), wanted.data(), count, kind.type, kind.op, MPI_COMM_WORLD);
  {
    Data send(mine, here), receive(blank, here, 16);
    MPI_Allreduce(send.get(), receive.get(), count, kind.type, kind.op, MPI_COMM_WORLD);
    const Bytes result = receive.read();
    expect_result(kind, "MPI_Allreduce", where, result, wanted);
    expect_alike(kind, where, result);
    EXPECT(send.read() == mine, "%s: MPI_Allreduce changed what it reads", kind.name);
    Data both(mine, here);
    MPI_Allreduce(MPI_IN_PLACE, both.get(), count, kind.type, kind.op, MPI_COMM_WORLD);
    EXPECT(values(kind, both.read()) == values(kind, result), "%s: other bits in place", kind.name);
  }
  for (const int root : {0, expect::size - 1}) {
    Data send(mine, here), receive(expect::rank == root ? blank : Bytes(1), here);
    MPI_Reduce(send.get(), receive.get(), count, kind.type, kind.op, root, MPI_COMM_WORLD);
    if (expect::rank == root) expect_result(kind, "MPI_Reduce", where, receive.read(), wanted);
    Data both(mine, here);
    MPI_Reduce(expect::rank == root ? MPI_IN_PLACE : both.get(), expect::rank == root ? both.get() : nullptr, count,
               kind.type, kind.op, root, MPI_COMM_WORLD);
    if (expect::rank == root) expect_result(kind, "MPI_Reduce in place", where, both.read(), wanted);
  }
  const Bytes all = numbers(kind, n * ranks, expect::rank);
  Bytes block = blank;
  MPI_Reduce_scatter_block(all.data(), block.data(), count, kind.type, kind.op, MPI_COMM_WORLD);
  Data send(all, here), receive(blank, here);
  MPI_Reduce_scatter_block(send.get(), receive.get(), count, kind.type, kind.op, MPI_COMM_WORLD);
  expect_result(kind, "MPI_Reduce_scatter_block", where, receive.read(), block);
  if (by_kernels_alone) return;
  Data both(all, here);
  MPI_Reduce_scatter_block(MPI_IN_PLACE, both.get(), count, kind.type, kind.op, MPI_COMM_WORLD);
  Bytes first = both.read();
  first.resize(block.size());
  expect_result(kind, "MPI_Reduce_scatter_block in place", where, first, block);
}

// The ranks in another order, and not all of them.
void other_communicators() {
  const Kind& kind = kinds[0];
  constexpr int count = 20000;
  MPI_Comm part;
  MPI_Comm_split(MPI_COMM_WORLD, expect::rank % 2, -expect::rank, &part);
  const Bytes mine = numbers(kind, count, expect::rank);
  Bytes wanted(mine.size());
  MPI_Allreduce(mine.data(), wanted.data(), count, kind.type, kind.op, part);
  Data send(mine, false), receive(mine, false);
  MPI_Allreduce(send.get(), receive.get(), count, kind.type, kind.op, part);
  EXPECT(receive.read() == wanted, "%s", "other numbers in a part of the ranks");
  MPI_Comm_free(&part);
}

// Memory that was freed and allocated anew is not taken for what was there.
void memory_anew() {
  const Kind& kind = kinds[0];
  constexpr int count = 9000;
  for (int turn = 0; turn < 6; ++turn) {
    const Bytes mine = numbers(kind, count, expect::rank + turn);
    Bytes wanted(mine.size());
    MPI_Allreduce(mine.data(), wanted.data(), count, kind.type, kind.op, MPI_COMM_WORLD);
    Data gap(Bytes(static_cast<size_t>(turn * 1000 + 1)), false), send(mine, false), receive(mine, false);
    MPI_Allreduce(send.get(), receive.get(), count, kind.type, kind.op, MPI_COMM_WORLD);
    EXPECT(receive.read() == wanted, "other numbers in turn %d", turn);
  }
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  if (argc > 1) driver = argv[1];
  by_kernels_alone = argc > 2;
  for (const Kind& kind : kinds) {
    if (by_kernels_alone) {
      if (std::strstr(kind.name, "which") == nullptr) check(kind, 33333, "all on devices", false);
      continue;
    }
    for (const int count : {3, 2500, 33333}) {
      check(kind, count, "all on devices", false);
      check(kind, count, "one in the host's memory", expect::rank == expect::size - 1);
    }
  }
  if (!by_kernels_alone) other_communicators();
  memory_anew();
  return expect::finish();
}
