// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "layer.hpp"

namespace layer {
namespace {

constexpr MPI_Aint capacity = MPI_Aint{96} << 20;
constexpr MPI_Aint smallest = 255;
constexpr int renewals = 64;
constexpr char untouched = 0x5a;

[[noreturn]] void give_up(const char* reason) {
  std::fprintf(stderr, "device layer: %s\n", reason);
  std::abort();
}

// Memory of the device, which is one allocation, and where this layer reaches it: the mock maps its memory a second
// time. Whenever nothing of it is in use it begins anew, and from time to time it is given back and allocated again, so
// that what the library knows about it grows old. Pieces have powers of two bytes, and lists of free ones.
class Arena {
 public:
  char* take(MPI_Aint bytes) {
    std::lock_guard lock(mutex_);
    if (memory_ == nullptr) allocate();
    if (used_ == 0) renew();
    const size_t order = std::bit_width(static_cast<size_t>(std::max(bytes, smallest)));  // with a byte to spare
    std::vector<char*>& pieces = free_[order];
    if (pieces.empty()) {
      const MPI_Aint size = MPI_Aint{1} << order;
      if (capacity - end_ < size) return nullptr;
      pieces.push_back(memory_ + end_);
      end_ += size;
    }
    char* place = pieces.back();
    pieces.pop_back();
    ++used_;
    orders_[place] = order;
    return place;
  }

  void give_back(char* place) {
    std::lock_guard lock(mutex_);
    const auto found = orders_.find(place);
    free_[found->second].push_back(place);
    orders_.erase(found);
    --used_;
  }

  char* mirror(char* place) const { return place + distance_; }
  bool has(const void* address) const {
    const auto* at = static_cast<const char*>(address);
    return memory_ != nullptr && at >= memory_ && at < memory_ + capacity;
  }

  void end() {
    std::lock_guard lock(mutex_);
    if (memory_ != nullptr && used_ == 0) PMPI_Free_mem(memory_);
  }

 private:
  void renew() {
    for (auto& pieces : free_) pieces.clear();
    end_ = 0;
    if (++turns_ % renewals != 0) return;
    PMPI_Free_mem(memory_);
    allocate();
  }

  void allocate() {
    MPI_Info info;
    PMPI_Info_create(&info);
    PMPI_Info_set(info, "weft_mem_device", "mock");
    PMPI_Alloc_mem(capacity, info, &memory_);
    PMPI_Info_free(&info);
    distance_ = find_distance();
  }

  // From the memory to its second mapping: the lines of one file, of which one may not be touched.
  ptrdiff_t find_distance() const {
    FILE* maps = std::fopen("/proc/self/maps", "re");
    if (maps == nullptr) give_up("/proc/self/maps cannot be read");
    struct Mapping {
      unsigned long begin, end, offset, inode;
      char rights[8];
    };
    std::vector<Mapping> found;
    char line[1024];
    while (std::fgets(line, sizeof line, maps) != nullptr) {
      Mapping m{};
      if (std::sscanf(line, "%lx-%lx %7s %lx %*s %lu", &m.begin, &m.end, m.rights, &m.offset, &m.inode) == 5)
        found.push_back(m);
    }
    std::fclose(maps);
    const auto place = reinterpret_cast<uintptr_t>(memory_);
    for (const Mapping& mine : found) {
      if (place < mine.begin || place >= mine.end) continue;
      for (const Mapping& other : found) {
        if (other.inode != mine.inode || std::strncmp(other.rights, "rw", 2) != 0 || other.offset > mine.offset)
          continue;
        return static_cast<ptrdiff_t>(other.begin - other.offset - (mine.begin - mine.offset));
      }
    }
    give_up("the memory of the mock device has no second mapping");
  }

  std::mutex mutex_;
  char* memory_ = nullptr;
  ptrdiff_t distance_ = 0;
  std::vector<char*> free_[64];  // by the logarithm of their size
  std::unordered_map<char*, size_t> orders_;
  MPI_Aint end_ = 0;  // of the pieces
  int used_ = 0, turns_ = 0;
};

Arena arena;
std::atomic<long> moved, left;

// For packing: errors return here, whatever the program does with its own.
MPI_Comm quiet() {
  static const MPI_Comm comm = [] {
    MPI_Comm made;
    PMPI_Comm_split(MPI_COMM_SELF, 0, 0, &made);
    PMPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
    return made;
  }();
  return comm;
}

bool is_usable() {
  int begun = 0, ended = 0;
  PMPI_Initialized(&begun);
  PMPI_Finalized(&ended);
  return begun != 0 && ended == 0;
}

bool is_dense(MPI_Datatype type) {
  MPI_Count size, low, extent, true_low, true_extent;
  PMPI_Type_size_c(type, &size);
  PMPI_Type_get_extent_c(type, &low, &extent);
  PMPI_Type_get_true_extent_c(type, &true_low, &true_extent);
  return size == extent && size == true_extent && low == 0 && true_low == 0;
}

bool is_empty(const Piece& piece) {
  return piece.count <= 0 || piece.type == MPI_DATATYPE_NULL;
}

// A piece's data from one place to another; false: the library refuses the type, and will say so itself.
bool copy(const Piece& piece, char* to, const char* from, std::vector<char>& room) {
  if (is_empty(piece)) return true;
  MPI_Count size = 0;
  PMPI_Type_size_c(piece.type, &size);
  if (is_dense(piece.type)) {
    std::memcpy(to, from, static_cast<size_t>(size * piece.count));
    return true;
  }
  MPI_Count most = 0, written = 0, read = 0;
  if (PMPI_Pack_size_c(piece.count, piece.type, quiet(), &most) != MPI_SUCCESS) return false;
  room.resize(static_cast<size_t>(most));
  return PMPI_Pack_c(from, piece.count, piece.type, room.data(), most, &written, quiet()) == MPI_SUCCESS &&
         PMPI_Unpack_c(room.data(), written, &read, to, piece.count, piece.type, quiet()) == MPI_SUCCESS;
}

}  // namespace

std::unique_ptr<Moved> Moved::move(const void* buffer, Pieces pieces, bool received) {
  if (buffer == MPI_IN_PLACE || arena.has(buffer) || !is_usable()) return nullptr;
  MPI_Aint high = 0, low = 0, data = 0;
  bool any = false, gaps = false;
  if (std::all_of(pieces.begin(), pieces.end(), is_empty)) return nullptr;
  for (const Piece& piece : pieces) {
    if (is_empty(piece)) continue;
    MPI_Count size, low_bound, extent, first, length;
    PMPI_Type_size_c(piece.type, &size);
    if (size == 0) continue;
    PMPI_Type_get_extent_c(piece.type, &low_bound, &extent);
    PMPI_Type_get_true_extent_c(piece.type, &first, &length);
    const MPI_Count last = (piece.count - 1) * extent;
    const MPI_Aint begin = piece.offset + std::min<MPI_Count>(0, last) + first;
    const MPI_Aint end = piece.offset + std::max<MPI_Count>(0, last) + first + length;
    low = any ? std::min(low, begin) : begin;
    high = any ? std::max(high, end) : end;
    data += size * piece.count;
    gaps = gaps || !is_dense(piece.type);
    any = true;
  }
  // A null pointer is an error of the program, but not MPI_BOTTOM with absolute addresses.
  if (!any || reinterpret_cast<uintptr_t>(buffer) + static_cast<uintptr_t>(low) < 4096) return nullptr;
  char* place = std::max(high - low, data) > capacity ? nullptr : arena.take(high - low);
  if (place == nullptr) {
    ++left;
    return nullptr;
  }
  std::unique_ptr<Moved> made(
      new Moved(const_cast<char*>(static_cast<const char*>(buffer)), std::move(pieces), received));
  made->device_ = place;
  made->low_ = low;
  made->span_ = high - low;
  made->gaps_ = gaps || data != high - low;
  made->to_device();
  ++moved;
  return made;
}

Moved::~Moved() {
  arena.give_back(device_);
  for (Piece& piece : pieces_) {
    if (kept_ && piece.type != MPI_DATATYPE_NULL) PMPI_Type_free(&piece.type);
  }
}

// Not by pointer arithmetic: the buffer may be MPI_BOTTOM.
void* Moved::address() const {
  return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(device_) - static_cast<uintptr_t>(low_));
}

// One buffer twice in a call is an error that the library must see.
void* Moved::address_if_same(const Moved& other) const {
  if (buffer_ + low_ != other.buffer_ + other.low_) return nullptr;
  return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(other.device_) - static_cast<uintptr_t>(low_));
}

// By a type around it, as a duplicate would call the program's functions that copy attributes.
void Moved::keep_types() {
  for (Piece& piece : pieces_) {
    if (piece.type == MPI_DATATYPE_NULL) continue;
    MPI_Datatype around;
    PMPI_Type_contiguous(1, piece.type, &around);
    PMPI_Type_commit(&around);
    piece.type = around;
  }
  kept_ = true;
}

void Moved::to_device() const {
  char* image = arena.mirror(device_);
  std::vector<char> room;
  if (gaps_) std::memset(image, untouched, static_cast<size_t>(span_));
  for (const Piece& piece : pieces_) copy(piece, image - low_ + piece.offset, buffer_ + piece.offset, room);
  if (received_) before_.assign(image, image + span_);
}

// Bytes that have changed alone: a program may describe a receive that is larger than its memory.
void Moved::to_program() const {
  if (!received_) return;
  char* image = arena.mirror(device_);
  for (MPI_Aint i = 0; i < span_; ++i) {
    if (image[i] != before_[static_cast<size_t>(i)]) buffer_[low_ + i] = image[i];
  }
  if (!gaps_) return;
  std::vector<char> room;
  std::vector<char> blank(static_cast<size_t>(span_), untouched);
  for (const Piece& piece : pieces_) copy(piece, image - low_ + piece.offset, blank.data() - low_ + piece.offset, room);
  if (std::memcmp(image, blank.data(), static_cast<size_t>(span_)) != 0)
    give_up("bytes between the data of a buffer were written");
}

void Moved::to_device(int piece) const {
  if (piece < 0 || piece >= static_cast<int>(pieces_.size())) return;  // an error, for the library to find
  const Piece& one = pieces_[static_cast<size_t>(piece)];
  std::vector<char> room;
  copy(one, arena.mirror(device_) - low_ + one.offset, buffer_ + one.offset, room);
}

void Moved::to_program(int piece) const {
  if (!received_ || piece < 0 || piece >= static_cast<int>(pieces_.size())) return;
  const Piece& one = pieces_[static_cast<size_t>(piece)];
  std::vector<char> room;
  copy(one, buffer_ + one.offset, arena.mirror(device_) - low_ + one.offset, room);
}

void end_moving(bool judged) {
  if (judged) {
    if (moved == 0) give_up("no buffer was moved to the device");
    std::fprintf(stderr, "device layer: %ld buffers moved, %ld left on the host\n", moved.load(), left.load());
  }
  arena.end();
}

}  // namespace layer
