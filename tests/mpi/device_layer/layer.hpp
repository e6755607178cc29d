// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A profiling layer which moves the buffers of each call into the memory of the device in use, so that programs written
// for host memory test the library with buffers on a device. It is loaded by LD_PRELOAD. generate.py writes the calls
// that take buffers; layer.cpp has the calls that complete them, moved.cpp what stands for a buffer.
//
// A sent buffer is copied to the device before the call. A received one is copied there too, so that bytes which the
// call does not write stay as they are, and what has changed back when the call has completed: at its end, or where its
// request completes. Only data are copied, not the gaps of a layout, and the gaps on the device must be untouched
// afterwards.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

namespace layer {

// Data of a buffer: elements at an offset from its address.
struct Piece {
  MPI_Aint offset;
  MPI_Count count;
  MPI_Datatype type;
};
using Pieces = std::vector<Piece>;

// A buffer of the program and what stands for it on the device.
class Moved {
 public:
  // Empty: the buffer stays on the host, as it has no data or does not fit.
  static std::unique_ptr<Moved> move(const void* buffer, Pieces pieces, bool received);
  ~Moved();
  Moved(const Moved&) = delete;
  Moved& operator=(const Moved&) = delete;

  void* address() const;  // for the call
  void* address_if_same(const Moved& other) const;
  void keep_types();  // the program may free its datatypes before the operation completes
  void to_device() const;
  void to_program() const;  // of a received buffer
  // These copy one piece alone, a partition.
  void to_device(int piece) const;
  void to_program(int piece) const;
  int pieces() const { return static_cast<int>(pieces_.size()); }

 private:
  Moved(char* buffer, Pieces pieces, bool received)
      : buffer_(buffer), pieces_(std::move(pieces)), received_(received) {}

  char* buffer_;
  Pieces pieces_;
  bool received_;
  bool kept_ = false;
  MPI_Aint low_ = 0;   // of the data, from the address of the buffer
  MPI_Aint span_ = 0;  // bytes of the data and their gaps
  bool gaps_ = false;
  char* device_ = nullptr;
  mutable std::vector<char> before_;  // contents of a received buffer on the device before
};
using Buffers = std::vector<std::unique_ptr<Moved>>;
// Gives the device's memory back. `judged`: the program ends where nothing was moved.
void end_moving(bool judged);

// A call with its buffers.
class Call {
 public:
  // The address that the call is made with.
  const void* sent(const void* buffer, Pieces pieces) { return stand(buffer, std::move(pieces), false); }
  void* received(void* buffer, Pieces pieces) { return stand(buffer, std::move(pieces), true); }

  int end(int error);                              // the operation is complete
  int started(int error, MPI_Request* request);    // it completes later
  int described(int error, MPI_Request* request);  // it is persistent

 private:
  void* stand(const void* buffer, Pieces pieces, bool received);
  int keep(int error, const MPI_Request* request, bool persistent);

  Buffers buffers_;
};

// ---- The data of a buffer

Pieces blocks(MPI_Count number, MPI_Count count, MPI_Datatype type);

MPI_Count extent_of(MPI_Datatype type);

Pieces partitioned(int partitions, MPI_Count count, MPI_Datatype type);  // a piece for each, also for empty ones

template <class Count, class Displacement>
Pieces vector(int number, const Count* counts, const Displacement* places, MPI_Datatype type) {
  Pieces pieces;
  if (number == 0 || counts == nullptr || places == nullptr || type == MPI_DATATYPE_NULL) return pieces;
  const MPI_Count extent = extent_of(type);
  for (int i = 0; i < number; ++i) pieces.push_back({static_cast<MPI_Aint>(places[i] * extent), counts[i], type});
  return pieces;
}

template <class Count, class Displacement>
Pieces mixed(int number, const Count* counts, const Displacement* places, const MPI_Datatype* types) {
  Pieces pieces;
  if (number == 0 || counts == nullptr || places == nullptr || types == nullptr) return pieces;
  for (int i = 0; i < number; ++i) pieces.push_back({static_cast<MPI_Aint>(places[i]), counts[i], types[i]});
  return pieces;
}

template <class Count>
MPI_Count total(int number, const Count* counts) {
  MPI_Count sum = 0;
  for (int i = 0; i < number && counts != nullptr; ++i) sum += counts[i];
  return sum;
}

int ranks(MPI_Comm comm);      // with which the calling one exchanges data
int own_ranks(MPI_Comm comm);  // of its own group
int own_rank(MPI_Comm comm);
int sources(MPI_Comm comm);  // of its topology
int destinations(MPI_Comm comm);
int is_root(MPI_Comm comm, int root);   // 1: the calling process is the root
int has_part(MPI_Comm comm, int root);  // 1: it has data beside those of the root

}  // namespace layer
