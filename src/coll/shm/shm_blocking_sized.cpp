// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// gatherv and scatterv in a shared region: blocks whose sizes only the root and one other rank know.
#include <cstring>

#include "coll/plan/channel.hpp"
#include "coll/plan/pieces.hpp"
#include "coll/shm/shm_blocking.hpp"

namespace weft::coll::shm_blocking {

namespace {

// A block whose size only two ranks know. A line has the size, and the data where they are few. More are in the chunk
// of the same phase, or go by message.
class Sized {
 public:
  static constexpr int64_t most = SharedRegion::line_bytes - static_cast<int64_t>(sizeof(int64_t));

  static int64_t size(const unsigned char* line) {
    int64_t bytes = 0;
    std::memcpy(&bytes, line, sizeof bytes);
    return bytes;
  }
  static const unsigned char* data(const unsigned char* line) { return line + sizeof(int64_t); }
  // True: the data are in the line.
  static bool put(const Block& block, int64_t bytes, unsigned char* line) {
    std::memcpy(line, &bytes, sizeof bytes);
    if (bytes > most) return false;
    if (bytes > 0) pack_piece(block, 0, line + sizeof bytes, bytes);
    return true;
  }
};

// A rank's block out of its line or, of up to `most` bytes, out of `chunk`.
void take_sized(SharedRegion& region, Channel& channel, int32_t rank, const unsigned char* line,
                const unsigned char* chunk, int64_t most, const Block& to) {
  const int64_t bytes = Sized::size(line);
  if (bytes > most) return channel.receive(to, rank);
  if (bytes < 0 || bytes > to.bytes()) return region.truncate(rank, bytes, to.bytes());
  if (bytes > Sized::most) return take_piece(const_cast<unsigned char*>(chunk), to, 0, bytes);
  if (bytes > 0) unpack_piece(Sized::data(line), to, 0, bytes);
}

}  // namespace

int32_t gatherv(Comm& comm, SharedRegion& region, const Block& mine, const Blocks& all, int32_t root) {
  const int64_t most = region.place_bytes();
  Channel channel(comm, Tag::gather);
  const int64_t phase = region.next();
  if (region.rank() != root) {
    const int64_t bytes = mine.bytes();
    unsigned char* const line = region.open_line(phase);
    if (line == nullptr) return region.end();
    if (!Sized::put(mine, bytes, line) && bytes <= most) {
      unsigned char* const chunk = region.open(phase);
      if (chunk == nullptr) return region.end();
      pack_piece(mine, 0, chunk, bytes);
    }
    if (!region.post_and_pass(phase, root)) return region.end();
    if (bytes > most) channel.send(mine, root);
    return channel.finish();
  }
  for (int32_t i = 1; i < region.size() && region.end() == core::no_error; ++i) {
    const int32_t r = (root + i) % region.size();
    const unsigned char* const line = region.await_line(r, phase);
    if (line != nullptr) take_sized(region, channel, r, line, region.chunk(r, phase), most, all[r]);
  }
  if (region.end() != core::no_error) {
    (void)channel.finish();
    return region.end();
  }
  region.pass(phase);
  if (!mine.in_place()) channel.copy(mine, all[root]);
  return channel.finish();
}

int32_t scatterv(Comm& comm, SharedRegion& region, const Blocks& all, const Block& mine, int32_t root) {
  const int64_t most =
      region.place_bytes() / region.size() / 64 * 64;  // of a chunk's part for a rank; they begin cache lines
  Channel channel(comm, Tag::scatter);
  const int64_t phase = region.next();
  if (region.rank() != root) {
    const unsigned char* const line = region.await_handed(root, phase);
    if (line == nullptr) return region.end();
    take_sized(region, channel, root, line, region.chunk(root, phase) + region.rank() * most, most, mine);
    if (region.end() != core::no_error) return region.end();
    region.pass(phase);
    return channel.finish();
  }
  if (region.open_line(phase) == nullptr) return region.end();
  unsigned char* chunk = nullptr;
  for (int32_t r = 0; r < region.size(); ++r) {
    if (r == root) continue;
    const Block block = all[r];
    const int64_t bytes = block.bytes();
    if (!Sized::put(block, bytes, region.line_for(r, phase)) && bytes <= most) {
      if (chunk == nullptr) chunk = region.open(phase);
      if (chunk == nullptr) return region.end();
      pack_piece(block, 0, chunk + r * most, bytes);
    }
    region.hand(r, phase);
  }
  if (!region.post_and_pass(phase, SharedRegion::everybody)) return region.end();
  for (int32_t r = 0; r < region.size(); ++r) {
    const Block block = all[r];
    if (r != root && block.bytes() > most) channel.send(block, r);
  }
  if (!mine.in_place()) channel.copy(all[root], mine);
  return channel.finish();
}

}  // namespace weft::coll::shm_blocking
