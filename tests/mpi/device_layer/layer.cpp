// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "layer.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>

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

// ---- Buffers

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

// ---- Calls and requests

namespace {

struct Operation {
  Buffers buffers;
  bool persistent;
};
std::mutex requests_mutex;
// Requests that are complete from the beginning may share a handle.
std::unordered_multimap<MPI_Request, std::shared_ptr<Operation>> requests;

void keep_operation(MPI_Request request, std::shared_ptr<Operation> operation) {
  std::lock_guard lock(requests_mutex);
  requests.emplace(request, std::move(operation));
}

// The operations of some requests. Those that may end with the call are out of the table during it: afterwards another
// thread may be given the same handles.
class Pending {
 public:
  enum class Call : uint8_t { completes, frees };
  Pending(int count, const MPI_Request* handles, Call call = Call::completes) {
    std::lock_guard lock(requests_mutex);
    for (int i = 0; i < count && handles != nullptr; ++i) {
      const auto [begin, end] = requests.equal_range(handles[i]);
      for (auto found = begin; found != end;) {
        const bool stays = found->second->persistent && call == Call::completes;
        taken_.push_back({i, stays, handles[i], found->second});
        found = stays ? std::next(found) : requests.erase(found);
      }
    }
  }
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;
  ~Pending() {
    for (Taken& one : taken_) {
      if (!one.stays && !one.operation->buffers.empty()) keep_operation(one.handle, std::move(one.operation));
    }
  }

  // The call says that request i is complete; `now` is its handle.
  void complete(int i, MPI_Request now) {
    visit(i, [&](Operation& operation) {
      if (!operation.persistent && now != MPI_REQUEST_NULL) return;  // an error kept it from being looked at
      for (const auto& buffer : operation.buffers) buffer->to_program();
      if (!operation.persistent) operation.buffers.clear();
    });
  }
  // Its data are there, and its request stays.
  void show(int i) {
    visit(i, [](Operation& operation) {
      for (const auto& buffer : operation.buffers) buffer->to_program();
    });
  }
  void start() {
    for (Taken& one : taken_) {
      for (const auto& buffer : one.operation->buffers) buffer->to_device();
    }
  }
  // Partitions that are ready to be sent, or one that has come.
  void partitions(int first, int last) {
    for (Taken& one : taken_) {
      for (const auto& buffer : one.operation->buffers) {
        for (int piece = first; piece <= last && piece < buffer->pieces(); ++piece) buffer->to_device(piece);
      }
    }
  }
  void show_partition(int piece) {
    for (Taken& one : taken_) {
      for (const auto& buffer : one.operation->buffers) buffer->to_program(piece);
    }
  }
  // A request that is freed: the library may still work on the buffers of an operation.
  void forget() {
    for (Taken& one : taken_) {
      if (!one.operation->persistent) {
        for (auto& buffer : one.operation->buffers) (void)buffer.release();
      }
      one.operation->buffers.clear();
    }
  }

 private:
  template <class Visit>
  void visit(int i, Visit&& act) {
    for (Taken& one : taken_) {
      if (one.index == i) act(*one.operation);
    }
  }

  struct Taken {
    int index;
    bool stays;  // in the table
    MPI_Request handle;
    std::shared_ptr<Operation> operation;
  };
  std::vector<Taken> taken_;
};

}  // namespace

void* Call::stand(const void* buffer, Pieces pieces, bool received) {
  std::unique_ptr<Moved> made = Moved::move(buffer, std::move(pieces), received);
  if (made == nullptr) return const_cast<void*>(buffer);
  for (const auto& other : buffers_) {
    if (void* same = made->address_if_same(*other)) return same;
  }
  buffers_.push_back(std::move(made));
  return buffers_.back()->address();
}

int Call::end(int error) {
  for (const auto& buffer : buffers_) buffer->to_program();
  return error;
}

int Call::keep(int error, const MPI_Request* request, bool persistent) {
  if (error != MPI_SUCCESS || buffers_.empty()) return error;
  if (*request == MPI_REQUEST_NULL) return end(error);
  for (auto& buffer : buffers_) buffer->keep_types();
  keep_operation(*request, std::make_shared<Operation>(Operation{std::move(buffers_), persistent}));
  return error;
}

int Call::started(int error, MPI_Request* request) {
  return keep(error, request, false);
}

int Call::described(int error, MPI_Request* request) {
  return keep(error, request, true);
}

// ---- The data of a buffer

Pieces blocks(MPI_Count number, MPI_Count count, MPI_Datatype type) {
  return {{0, number * count, type}};
}

MPI_Count extent_of(MPI_Datatype type) {
  MPI_Count low = 0, extent = 0;
  PMPI_Type_get_extent_c(type, &low, &extent);
  return extent;
}

Pieces partitioned(int partitions, MPI_Count count, MPI_Datatype type) {
  Pieces pieces;
  if (type == MPI_DATATYPE_NULL || count < 0) return pieces;
  const MPI_Count step = count * extent_of(type);
  for (int i = 0; i < partitions; ++i) pieces.push_back({static_cast<MPI_Aint>(i * step), count, type});
  return pieces;
}

namespace {

bool is_inter(MPI_Comm comm) {
  int inter = 0;
  PMPI_Comm_test_inter(comm, &inter);
  return inter != 0;
}

void degrees(MPI_Comm comm, int& in, int& out) {
  in = out = 0;
  if (comm == MPI_COMM_NULL) return;
  int topology = MPI_UNDEFINED, weighted = 0;
  PMPI_Topo_test(comm, &topology);
  if (topology == MPI_CART) {
    PMPI_Cartdim_get(comm, &in);
    in *= 2;
    out = in;
  } else if (topology == MPI_GRAPH) {
    PMPI_Graph_neighbors_count(comm, own_rank(comm), &in);
    out = in;
  } else if (topology == MPI_DIST_GRAPH) {
    PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
  }
}

}  // namespace

int own_ranks(MPI_Comm comm) {
  int size = 0;
  if (comm != MPI_COMM_NULL) PMPI_Comm_size(comm, &size);
  return size;
}

int own_rank(MPI_Comm comm) {
  int rank = 0;
  if (comm != MPI_COMM_NULL) PMPI_Comm_rank(comm, &rank);
  return rank;
}

int ranks(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL || !is_inter(comm)) return own_ranks(comm);
  int size = 0;
  PMPI_Comm_remote_size(comm, &size);
  return size;
}

int sources(MPI_Comm comm) {
  int in, out;
  degrees(comm, in, out);
  return in;
}

int destinations(MPI_Comm comm) {
  int in, out;
  degrees(comm, in, out);
  return out;
}

int is_root(MPI_Comm comm, int root) {
  if (comm == MPI_COMM_NULL) return 0;
  return is_inter(comm) ? root == MPI_ROOT : root == own_rank(comm);
}

int has_part(MPI_Comm comm, int root) {
  return comm != MPI_COMM_NULL && (!is_inter(comm) || root >= 0);
}

}  // namespace layer

// ---- Calls that complete operations, and the end

using layer::Pending;

extern "C" {

int MPI_Start(MPI_Request* request) {
  Pending(1, request).start();
  return PMPI_Start(request);
}

int MPI_Startall(int count, MPI_Request* requests) {
  Pending(count, requests).start();
  return PMPI_Startall(count, requests);
}

int MPI_Pready(int partition, MPI_Request request) {
  Pending(1, &request).partitions(partition, partition);
  return PMPI_Pready(partition, request);
}

int MPI_Pready_range(int partition_low, int partition_high, MPI_Request request) {
  Pending(1, &request).partitions(partition_low, partition_high);
  return PMPI_Pready_range(partition_low, partition_high, request);
}

int MPI_Pready_list(int length, const int array_of_partitions[], MPI_Request request) {
  for (int i = 0; i < length && array_of_partitions != nullptr; ++i)
    Pending(1, &request).partitions(array_of_partitions[i], array_of_partitions[i]);
  return PMPI_Pready_list(length, array_of_partitions, request);
}

int MPI_Parrived(MPI_Request request, int partition, int* flag) {
  const int error = PMPI_Parrived(request, partition, flag);
  if (error == MPI_SUCCESS && *flag != 0) Pending(1, &request).show_partition(partition);
  return error;
}

int MPI_Request_free(MPI_Request* request) {
  Pending pending(1, request, Pending::Call::frees);
  const int error = PMPI_Request_free(request);
  if (error == MPI_SUCCESS) pending.forget();
  return error;
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  Pending pending(1, request);
  const int error = PMPI_Wait(request, status);
  pending.complete(0, *request);
  return error;
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  Pending pending(1, request);
  const int error = PMPI_Test(request, flag, status);
  if (*flag != 0) pending.complete(0, *request);
  return error;
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  Pending pending(count, requests);
  const int error = PMPI_Waitall(count, requests, statuses);
  for (int i = 0; i < count; ++i) pending.complete(i, requests[i]);
  return error;
}

int MPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  Pending pending(count, requests);
  const int error = PMPI_Testall(count, requests, flag, statuses);
  for (int i = 0; i < count && *flag != 0; ++i) pending.complete(i, requests[i]);
  return error;
}

int MPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  Pending pending(count, requests);
  const int error = PMPI_Waitany(count, requests, index, status);
  if (*index >= 0) pending.complete(*index, requests[*index]);
  return error;
}

int MPI_Testany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  Pending pending(count, requests);
  const int error = PMPI_Testany(count, requests, index, flag, status);
  if (*flag != 0 && *index >= 0) pending.complete(*index, requests[*index]);
  return error;
}

int MPI_Waitsome(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
  Pending pending(count, requests);
  const int error = PMPI_Waitsome(count, requests, done, indices, statuses);
  for (int i = 0; i < *done; ++i) pending.complete(indices[i], requests[indices[i]]);
  return error;
}

int MPI_Testsome(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
  Pending pending(count, requests);
  const int error = PMPI_Testsome(count, requests, done, indices, statuses);
  for (int i = 0; i < *done; ++i) pending.complete(indices[i], requests[indices[i]]);
  return error;
}

int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  Pending pending(1, &request);
  const int error = PMPI_Request_get_status(request, flag, status);
  if (*flag != 0) pending.show(0);
  return error;
}

int MPI_Request_get_status_all(int count, const MPI_Request* requests, int* flag, MPI_Status* statuses) {
  Pending pending(count, requests);
  const int error = PMPI_Request_get_status_all(count, requests, flag, statuses);
  for (int i = 0; i < count && *flag != 0; ++i) pending.show(i);
  return error;
}

int MPI_Request_get_status_any(int count, const MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  Pending pending(count, requests);
  const int error = PMPI_Request_get_status_any(count, requests, index, flag, status);
  if (*flag != 0 && *index >= 0) pending.show(*index);
  return error;
}

int MPI_Request_get_status_some(int count, const MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
  Pending pending(count, requests);
  const int error = PMPI_Request_get_status_some(count, requests, done, indices, statuses);
  for (int i = 0; i < *done; ++i) pending.show(indices[i]);
  return error;
}

// A row with TEST_MOVED fails where the first rank has moved nothing.
int MPI_Finalize(void) {
  if (getenv("TEST_MOVED") != nullptr && layer::own_rank(MPI_COMM_WORLD) == 0) {
    if (layer::moved == 0) layer::give_up("no buffer was moved to the device");
    std::fprintf(stderr, "device layer: %ld buffers moved, %ld left on the host\n", layer::moved.load(),
                 layer::left.load());
  }
  layer::arena.end();
  return PMPI_Finalize();
}

}  // extern "C"
