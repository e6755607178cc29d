// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// R0 of layouts with gaps. The kernel copies large runs straight between the two buffers. Small ones it would copy
// slowly: on the machine of docs/measurements/choices.md process_vm_readv moved a list of runs of 256 bytes at 2.3
// GB/s, of 1 KiB at 3.0, of 4 KiB at 4.8, and one run of 256 KiB at 12.5. So for those it moves the packed bytes of a
// chunk in one run, through a buffer that stays in this core's second cache, and our own kernels do the rest there.
#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "core/protocol/protocol.hpp"
#include "datatype/pack.hpp"
#include "datatype/runs.hpp"

namespace weft::core {
namespace {

constexpr int64_t chunk_bytes = lane_chunk_bytes;
constexpr int64_t run_from = 16 << 10;  // a system call for each run costs less from here on

// The runs of the next bytes of a request, when all of them are large. A count of 0: some are small.
struct LargeRuns {
  static constexpr int most = 16;
  iovec run[most];
  datatype::Runs listed;

  LargeRuns(const Request& r, int64_t position, int64_t bytes)
      : listed(datatype::list_runs(*r.layout, r.count, r.buffer, position, bytes, run, most)) {
    if (listed.bytes < bytes && listed.bytes < most * run_from) listed.count = 0;
    if (listed.count > 1 && listed.bytes < listed.count * run_from) listed.count = 0;
  }
};

// Moves [position, position + bytes) of a request's data: `straight` moves a run of our buffer, `packed` the packed
// bytes at a position by way of the chunk.
template <class Straight, class Packed>
int move_data(Lane& lane, const Request& r, int64_t position, int64_t bytes, Straight&& straight, Packed&& packed) {
  if (r.layout == nullptr) return straight(static_cast<char*>(r.buffer) + position, position, bytes);
  while (bytes > 0) {
    int64_t some = std::min(bytes, chunk_bytes);
    const LargeRuns large(r, position, some);
    int error = 0;
    if (large.listed.count > 0) {
      some = large.listed.bytes;
      int64_t at = position;
      for (int i = 0; error == 0 && i < large.listed.count; ++i) {
        const auto length = static_cast<int64_t>(large.run[i].iov_len);
        error = straight(static_cast<char*>(large.run[i].iov_base), at, length);
        at += length;
      }
    } else {
      char* chunk = chunk_of(lane);
      error = chunk == nullptr ? ENOMEM : packed(chunk, position, some);
    }
    if (error != 0) return error;
    position += some;
    bytes -= some;
  }
  return 0;
}

}  // namespace

char* chunk_of(Lane& lane) {
  if (lane.chunk == nullptr) lane.chunk = static_cast<char*>(std::aligned_alloc(4096, lane_chunk_bytes));
  return lane.chunk;
}

int get_layout(Lane& lane, Peer& peer, const MemoryRef& from, const Request& r, int64_t position, int64_t bytes) {
  if (r.flags.on_device) return get_to_device(lane, peer, from, r, position, bytes);
  const auto straight = [&](char* to, int64_t at, int64_t length) {
    return peer.endpoint->get(transport::advanced(from, static_cast<uint64_t>(at)), to, static_cast<size_t>(length));
  };
  return move_data(lane, r, position, bytes, straight, [&](char* chunk, int64_t at, int64_t length) {
    const int error = straight(chunk, at, length);
    if (error == 0) unpack_data(r, at, chunk, length);
    return error;
  });
}

int put_data(Lane& lane, Peer& peer, const MemoryRef& to, const Request& r, int64_t position, int64_t bytes) {
  const auto straight = [&](char* from, int64_t at, int64_t length) {
    return peer.endpoint->put(transport::advanced(to, static_cast<uint64_t>(at)), from, static_cast<size_t>(length));
  };
  return move_data(lane, r, position, bytes, straight, [&](char* chunk, int64_t at, int64_t length) {
    pack_data(r, at, chunk, length);
    return straight(chunk, at, length);
  });
}

void copy_own(const Request& send, const Request& receive, int64_t bytes) {
  char* to = static_cast<char*>(receive.buffer);
  const bool on_device = send.flags.on_device || receive.flags.on_device;
  if (send.layout == nullptr) {
    datatype::unpacking(on_device)(*receive.layout, receive.count, to, 0, send.buffer, bytes);
  } else if (receive.layout == nullptr) {
    datatype::packing(on_device)(*send.layout, send.count, send.buffer, 0, to, bytes);
  } else {
    datatype::copying(on_device)(*send.layout, send.count, send.buffer, *receive.layout, receive.count, to, bytes);
  }
}

}  // namespace weft::core
