// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Notes that the ranks of a host exchange in their shared segment at the start, so that one of them, the first, speaks
// to the launcher for all: each writes a note, keys and values, and the first publishes those of all as one record.
//
// A note grows at its end. Its rank says with `whole` (release) how far it goes in that turn; the first reads it then
// (acquire). Messages of the first to the others go the same way. Memory is reserved before it is touched.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"
#include "boot/job/host_page.hpp"
#include "boot/job/status.hpp"

namespace weft::boot {

struct alignas(64) Note {
  static constexpr size_t room = 16384 - 16;

  std::atomic<uint64_t> whole;  // turn << 32 | bytes of `text` at its end
  uint32_t outward;             // where in `text` the part for other hosts begins; set before it is whole for them
  uint32_t reserved;
  char text[room];
};
static_assert(sizeof(Note) == 16384);

// Where the notes lie in the segment, behind the lines of status, and the page behind them; together with the ties they
// are its head.
constexpr size_t notes_offset(int ranks) {
  return job_header_bytes(ranks);
}
constexpr size_t host_page_offset(int ranks) {
  return notes_offset(ranks) + static_cast<size_t>(ranks) * sizeof(Note);
}
// Behind them, who is connected with whom (boot/connect/ties.hpp): a bit for each pair of places.
constexpr size_t ties_offset(int ranks) {
  return host_page_offset(ranks) + sizeof(HostPage);
}
constexpr size_t ties_row_bytes(int ranks) {
  return (static_cast<size_t>(ranks) + 63) / 64 * sizeof(uint64_t);
}
constexpr size_t head_bytes(int ranks) {
  return (ties_offset(ranks) + static_cast<size_t>(ranks) * ties_row_bytes(ranks) + 4095) & ~size_t{4095};
}

// The text of a note, and of a record: "<bytes of the key>:<bytes of the value>:" key value, again and again.
[[nodiscard]] std::string entry_of(std::string_view key, std::string_view value);
// The last value of a key; false when there is none, or the text is none of these.
[[nodiscard]] bool find_entry(std::string_view text, std::string_view key, std::string_view& value);

// A record has the notes of a host's ranks in order: "<bytes that it begins with like the one before>:<bytes that
// follow>:" and those. Ranks of a host differ in little more than the ends of their addresses.
void add_note(std::string& record, std::string_view before, std::string_view note);
// The note of a place in a record; false when there is none, or the record is none.
[[nodiscard]] bool find_note(std::string_view record, int place, std::string& note);
// Takes a number and the colon behind it off the front.
[[nodiscard]] bool take_number(std::string_view& text, size_t& value);

// A rank's view of the notes of its host.
class Notes {
 public:
  // False, with errno: there is no address space, or no memory.
  // `ranks`: that take part, in the first of the segment's `places`.
  [[nodiscard]] bool open(const base::Descriptor& segment, int places, int ranks, int place);
  void close();

  // The page behind the notes; nullptr, with errno: there is no memory.
  [[nodiscard]] HostPage* host_page() const;

  // False, with errno: there is no space for it.
  [[nodiscard]] bool write(std::string_view key, std::string_view value);
  // The text so far is for this host alone.
  void turn_outward();
  // Our note is whole for this turn.
  void end_turn(uint32_t turn);

  bool has_ended(int place, uint32_t turn) const;
  // They return the text of a place whose turn has ended: all of it, and the part for other hosts.
  std::string_view text(int place) const;
  std::string_view outward_text(int place) const;

 private:
  [[nodiscard]] bool reserve(int place, size_t bytes) const;

  void* head_ = nullptr;
  Note* notes_ = nullptr;
  base::Descriptor segment_;
  int places_ = 0;
  int place_ = 0;
  uint32_t bytes_ = 0;  // of our text
};

}  // namespace weft::boot
