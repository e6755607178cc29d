// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A shared region: memory that all ranks of a communicator on one host map, for blocking collective operations without
// messages (coll/shm/shm_blocking.hpp). All ranks make it together in the first operation that wants it. Nonblocking
// operations use its exchange buffers, which are memory of their own (coll/shm/exchange_buffers.hpp).
//
// Operations go on in phases, which all ranks count alike. In a phase a rank may write its place and post it; others
// await it, read it, and pass the phase. Small data lie in the line that says so, one cache line for each rank and
// phase; larger ones in chunks, which are made when the first operation needs them: a rank has an area, which an
// operation cuts into two large chunks. Where ranks share processors and the data are small it cuts more, so that ranks
// may be some operations ahead, which saves switches. Each rank takes its places in turn: before it writes one again,
// all ranks have passed the phase that it was written for, and where the area is cut anew, all phases before.
//
// Two phases share a line where a rooted operation or a scan has up to 16 bytes: a rank that is ahead in such
// operations writes both halves before another one reads them, so that half as many lines cross between cores. Phases
// are numbered by half lines. A phase that has a line to itself has the number of its second half, and the half before
// it that is free stays so. Where all wait for all, the halves are no use: nobody is ahead.
//
// Where the table has an operation go by messages, ranks that would wait for each other first synchronise in a phase
// without data, since ranks that disagree about the bytes may disagree about the way too. If they agree about the way,
// the messages detect data that are too long.
//
// A rank has lines for data of one other rank as well: the reader looks at its own, and at the writer's line of the
// phase, which tells when that does something else.
//
// Large data stay where they are: a rank posts where, and the others read from there (coll/shm/single_copy.hpp), if all
// ranks can read each other's memory.
//
// A posted line tells the operation and its bytes. A reader that expects another one, or that waits for a rank that is
// lost, breaks the region: the operation ends with an error on all ranks that wait. It looks at each place where the
// other may have posted first in this operation, in a half or in a whole line. Others may be in a later operation by
// then. So each rank counts the operations that it enters, and the one that breaks the region closes these counters:
// from then on all know the same of every operation. Where all ranks wait for all, none can have ended: it begins
// again, by messages, which is why an operation in place writes nothing until all ranks have posted. Where they do not,
// it ends with an error if somebody has entered it, and goes by messages otherwise.
//
// A user's thread at a time is in a region: blocking collective operations of a communicator do not overlap.

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "coll/select/select.hpp"
#include "coll/shm/call.hpp"
#include "coll/shm/member_wakeup.hpp"
#include "core/memory/region.hpp"
#include "core/object/comm.hpp"

namespace weft::coll {

class ExchangeBuffers;

class SharedRegion {
 public:
  static constexpr int64_t lines = 64;
  static constexpr int64_t line_bytes = 48;
  static constexpr int64_t half_bytes = 16;
  static constexpr int64_t fewest_chunks = 2;
  static constexpr int64_t most_chunks = 8;  // of a small area
  // A larger area has as many chunks of this size as fit into it, or `fewest_chunks` where a block of unknown size goes
  // whole.
  static constexpr int64_t cell_bytes = 32768;
  static constexpr int64_t most_area = 512 * 1024;  // of a rank, for chunks
  static constexpr int64_t most_ahead = 2 * lines;  // operations in halves
  static constexpr int64_t most_areas = 8 << 20;    // of all ranks
  // A chunk holds an element for each rank.
  static_assert(most_areas / most_sharing / most_chunks / most_sharing >= line_bytes);
  // An error class of ours: an earlier operation broke the region, so this one goes by messages, as on the other ranks.
  static constexpr int32_t go_by_messages = coll::go_by_messages;

  // These stand for ranks.
  static constexpr int32_t everybody = -1;
  static constexpr int32_t nobody = -2;

  // The communicator's region; nullptr: it has none, on all ranks alike.
  [[nodiscard]] static SharedRegion* of(core::Comm& comm);
  // The communicator ends.
  static void leave(core::Comm& comm);
  // The exchange buffers of the communicator; nullptr: none were wanted. place_of_buffers() is where they are kept.
  [[nodiscard]] static ExchangeBuffers* buffers(const core::Comm& comm);
  [[nodiscard]] static std::unique_ptr<ExchangeBuffers>& place_of_buffers(core::Comm& comm);

  int32_t size() const { return size_; }
  int32_t rank() const { return rank_; }

  // An operation: a posted line tells the `call` (coll/shm/call.hpp). It uses lines unless it says else. `together`: no
  // rank ends it before all have posted. False: the region is broken.
  [[nodiscard]] bool begin(uint64_t call, bool together);
  // The error class of an operation in a broken region, or go_by_messages.
  [[nodiscard]] int32_t begin_broken();
  // Whether there is memory for chunks, on all ranks alike; they try to have it together. Then they know, too, whether
  // each can read the memory of all others.
  enum class Chunks : uint8_t { untried, none, here };
  Chunks chunks() const { return chunk_state_; }
  bool can_read() const { return can_read_; }
  void make_chunks();
  // A rank posts so many bytes in all; `unknown_bytes` where not all ranks know how many.
  static constexpr int64_t unknown_bytes = int64_t{1} << 62;
  void use_chunks(int64_t posted);
  // The way of this operation: the others' buffers are read.
  void use_single_copy() {
    single_copy_ = true;
    about_ |= call::single_copy;
  }
  bool is_single_copy() const { return single_copy_; }
  bool in_lines() const { return in_lines_; }
  // A rank posts so many bytes in all, in one phase; nobody waits for all. Before next().
  void use_halves(int64_t posted) {
    if (!in_lines_ || posted > half_bytes) return;
    step_ = 1;
    place_bytes_ = half_bytes;
    half_about_ = half_mark | about_ >> call::details_shift << half_call_shift | (about_ & half_bytes_most);
  }
  void leave_data_to_messages() { about_ |= call::by_messages; }
  // A phase without data: the root waits for all others, then they for it; without a root all wait for all. An error
  // class.
  [[nodiscard]] int32_t meet(int32_t root);
  // A rank posts at most so many bytes in a phase.
  int64_t place_bytes() const { return place_bytes_; }
  // The error class of the operation.
  [[nodiscard]] int32_t end() const { return error_; }

  int64_t next() { return phase_ = (phase_ + step_) | (step_ - 1); }
  // From a phase of this operation to the next one.
  int64_t step() const { return step_; }
  // So many phases may be posted before the first of them is read.
  int64_t depth() const { return depth_; }
  // Our place in a phase, once it is free; nullptr: the region is broken.
  [[nodiscard]] unsigned char* open(int64_t phase);
  void post(int64_t phase);
  // Does post() and pass() in a phase of which we read nothing. Looks at a rank, or at everybody where they are few,
  // without waiting. False: one has posted another call in this phase, and the region is broken.
  [[nodiscard]] bool post_and_pass(int64_t phase, int32_t looks_at);
  // The data that a rank posted in a phase; nullptr: the region is broken.
  [[nodiscard]] const unsigned char* await(int32_t rank, int64_t phase);
  // Our own place, once it is posted.
  const unsigned char* posted(int64_t phase) const { return place(rank_, phase); }
  // Lines of a phase, for an operation that uses chunks too: a line is free before a chunk is.
  [[nodiscard]] unsigned char* open_line(int64_t phase);
  [[nodiscard]] const unsigned char* await_line(int32_t rank, int64_t phase);
  // A line for one other rank, when our line is open; it can be read before we post.
  unsigned char* line_for(int32_t rank, int64_t phase) const { return boards_[rank].handed[turn(phase)].data; }
  void hand(int32_t rank, int64_t phase);
  [[nodiscard]] const unsigned char* await_handed(int32_t rank, int64_t phase);
  // The chunk of a rank in a phase, when its line has told of it.
  const unsigned char* chunk(int32_t rank, int64_t phase) const { return place(rank, phase); }
  // We read nothing more of this phase and of those before.
  void pass(int64_t phase);
  // All others, or this one, have passed it; false: the region is broken.
  [[nodiscard]] bool await_passed(int64_t phase);
  [[nodiscard]] bool await_passed(int32_t rank, int64_t phase);
  // All others have posted in it; false: the region is broken.
  [[nodiscard]] bool await_all(int64_t phase);

  // Memory of a rank that it said to be there; false: it cannot be read, or the region is broken.
  [[nodiscard]] bool read(int32_t rank, const transport::MemoryRef& from, void* to, int64_t bytes);
  // Memory of ours, of two parts, where there is single copy.
  std::span<unsigned char> scratch(int part) const {
    return {scratch_.get() + part * scratch_bytes, static_cast<size_t>(scratch_bytes)};
  }
  // We cannot go on; the others end with an error too.
  void give_up(int32_t error) { fail(error); }
  // A rank sent more bytes than the buffer for them holds.
  void truncate(int32_t rank, int64_t bytes, int64_t room);

 private:
  static constexpr int about_rank_shift = 24;  // of a line for one rank, whose bytes are few
  // A phase that has the line to itself has a heading of two words: the operation, then its number, stored last. Where
  // two phases share a line, each has a word, which tells both and is negative. The release store of a heading pairs
  // with the acquire load of the rank that awaits the phase.
  struct Line {
    unsigned char data[line_bytes];  // of two phases: the first and the last bytes
    std::atomic<uint64_t> heading[2];
  };
  static_assert(sizeof(Line) == 64);
  struct alignas(128) Board {
    Line line[lines];
    Line handed[lines];  // for this rank, by others: `about` tells by which
    alignas(128) std::atomic<int64_t> passed;
    std::atomic<uint64_t> entered;                         // operations, and `closed`
    uint64_t sample_at;                                    // an address of the rank's own, which the others try to read
    alignas(128) std::atomic<uint64_t> calls[most_ahead];  // of the last operations, by their numbers
  };
  static constexpr int64_t scratch_bytes = 32 * 1024;
  static constexpr uint64_t half_mark = uint64_t{1} << 63;
  // The lowest bits of a phase's number tell which line it has.
  static constexpr int half_phase_shift = 27;
  static constexpr int phase_turn_bits = 7;
  static constexpr int half_call_shift = 5;
  static constexpr uint64_t half_bytes_most = 31;
  static_assert(2 * lines == 1 << phase_turn_bits);
  static_assert(half_bytes <= half_bytes_most && collective_count <= call::collective_most);
  static constexpr uint64_t closed = uint64_t{1} << 63;
  struct alignas(128) RegionHead {
    std::atomic<uint64_t> breaks;  // the operation that breaks the region; 0: none does
    std::atomic<bool> broken;      // the counters are closed
    std::atomic<int32_t> error;    // the class of that operation
    std::atomic<int32_t> left;     // ranks that use it no more
    // Where ranks disagree: about which operation, two of them, and their calls.
    std::atomic<uint64_t> operation;
    std::atomic<int32_t> rank[2];
    std::atomic<uint64_t> call[2];
  };
  struct Peer;

  explicit SharedRegion(core::Comm& comm);
  ~SharedRegion();
  [[nodiscard]] char* share_memory(size_t bytes, void*& ours, bool* alike = nullptr);
  [[nodiscard]] bool reads_all() const;
  // The object alone.
  [[nodiscard]] static SharedRegion& made(core::Comm& comm);
  [[nodiscard]] static SharedRegion* made_with_boards(core::Comm& comm);
  [[nodiscard]] bool make_boards();
  static size_t boards_bytes(int32_t size) { return sizeof(RegionHead) + static_cast<size_t>(size) * sizeof(Board); }

  unsigned char* place(int32_t rank, int64_t phase) const {
    if (!in_lines_) return areas_ + rank * area_ + phase / 2 % depth_ * chunk_bytes_;
    const int64_t half = phase & (2 - step_);  // 0 where the line is whole
    return boards_[rank].line[turn(phase)].data + half * (line_bytes - half_bytes);
  }
  [[nodiscard]] bool free_until(int64_t phase, int64_t written);
  // The place of a phase's line among those of a rank.
  static size_t turn(int64_t phase) { return static_cast<uint64_t>(phase) / 2 % lines; }
  bool in_halves() const { return step_ == 1; }
  void write_heading(Line& line, int64_t phase, uint64_t about);
  void write_post(int64_t phase);
  uint64_t half_heading(int64_t phase) const;
  static int64_t phase_of_half(uint64_t word, int64_t at);
  [[nodiscard]] bool knows_call(int32_t rank, uint64_t operation, uint64_t& call) const;
  static bool tells(const Line& line, int64_t phase, uint64_t about);
  [[nodiscard]] bool await_posted(int32_t rank, const Line& line, int64_t phase);
  [[nodiscard]] bool agrees(int32_t rank, int64_t phase);
  [[nodiscard]] const unsigned char* await_half(int32_t rank, int64_t phase);
  template <class Posted>
  [[nodiscard]] bool await_told(int32_t rank, Posted posted);
  uint64_t other_about(int32_t rank) const;
  uint64_t about_from(int32_t rank) const { return about_ | static_cast<uint64_t>(rank) << about_rank_shift; }
  void disagree(int32_t rank, uint64_t about);
  void tell_disagreement();
  template <class Ready>
  [[nodiscard]] static bool look(Ready ready);
  template <class Ready>
  [[nodiscard]] bool wait(int32_t rank, Ready ready);
  template <class Ready>
  [[nodiscard, gnu::noinline]] bool wait_long(int32_t rank, Ready ready);
  bool is_breaking() const { return head_->breaks.load(std::memory_order_acquire) != 0; }
  [[nodiscard]] bool say(int64_t phase);
  // The difference between ranks that disagree: the other rank, and both calls of one operation.
  struct Difference {
    uint64_t operation;
    int32_t rank;
    uint64_t theirs;
    uint64_t ours;
  };
  [[nodiscard]] Difference difference_from(int32_t rank, uint64_t about) const;
  [[gnu::cold]] void fail(int32_t error, const Difference* difference = nullptr);
  void await_broken() const;
  [[nodiscard]] bool is_begun() const;

  core::Comm& comm_;
  const int32_t size_;
  const int32_t rank_;
  MemberWakeup wakeup_;
  RegionHead* head_ = nullptr;
  Board* boards_ = nullptr;
  Board* ours_ = nullptr;
  unsigned char* areas_ = nullptr;
  void* our_memory_[2] = {};  // of the rank that allocated it
  bool tried_ = false;        // to have memory
  Chunks chunk_state_ = Chunks::untried;
  bool can_read_ = false;
  bool in_lines_ = true;  // the data of this operation
  int64_t place_bytes_ = line_bytes;
  bool single_copy_ = false;
  uint64_t sample_;
  std::unique_ptr<unsigned char[]> scratch_;
  int32_t error_ = 0;
  uint64_t call_ = 0;   // as it began
  uint64_t about_ = 0;  // and the way of its data
  uint64_t half_about_ = 0;
  bool together_ = false;
  uint64_t operation_ = 0;   // the number of this one
  int64_t depth_;            // places in use
  int64_t area_ = 0;         // of each rank, for chunks; alike on all
  int64_t chunk_bytes_ = 0;  // as it was last cut
  int64_t cut_ = 0;          // behind this phase
  int64_t phase_ = 0;
  int64_t step_ = 2;    // half lines of a phase of this operation
  int64_t agreed_ = 0;  // up to this phase we know what the others did
  int64_t floor_ = 0;   // all ranks have passed this phase
  std::unique_ptr<ExchangeBuffers> buffers_;
};

}  // namespace weft::coll
