// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/job/notes.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "boot/job/segment.hpp"

namespace weft::boot {
namespace {

bool take_bytes(std::string_view& text, size_t count, std::string_view& bytes) {
  if (count > text.size()) return false;
  bytes = text.substr(0, count);
  text.remove_prefix(count);
  return true;
}

}  // namespace

bool take_number(std::string_view& text, size_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const auto digits = static_cast<size_t>(end - text.data());
  if (error != std::errc() || digits == text.size() || *end != ':') return false;
  text.remove_prefix(digits + 1);
  return true;
}

void add_note(std::string& record, std::string_view before, std::string_view note) {
  const auto differ = std::mismatch(before.begin(), before.end(), note.begin(), note.end());
  const auto alike = static_cast<size_t>(differ.second - note.begin());
  record.append(std::to_string(alike)).append(":").append(std::to_string(note.size() - alike)).append(":");
  record.append(note.substr(alike));
}

bool find_note(std::string_view record, int place, std::string& note) {
  note.clear();
  for (int at = 0; at <= place; ++at) {
    size_t alike = 0;
    size_t bytes = 0;
    std::string_view rest;
    if (!take_number(record, alike) || !take_number(record, bytes) || !take_bytes(record, bytes, rest)) return false;
    if (alike > note.size()) return false;
    note.resize(alike);
    note.append(rest);
  }
  return true;
}

std::string entry_of(std::string_view key, std::string_view value) {
  std::string entry = std::to_string(key.size()) + ":" + std::to_string(value.size()) + ":";
  return entry.append(key).append(value);
}

bool find_entry(std::string_view text, std::string_view key, std::string_view& value) {
  bool found = false;
  while (!text.empty()) {
    size_t key_bytes = 0;
    size_t value_bytes = 0;
    std::string_view one_key;
    std::string_view one_value;
    if (!take_number(text, key_bytes) || !take_number(text, value_bytes) || !take_bytes(text, key_bytes, one_key) ||
        !take_bytes(text, value_bytes, one_value)) {
      return false;
    }
    if (one_key == key) {
      value = one_value;
      found = true;
    }
  }
  return found;
}

bool Notes::open(const base::Descriptor& segment, int places, int ranks, int place) {
  segment_ = segment;
  places_ = places;
  place_ = place;
  // A rank that waits for a note looks at its beginning.
  constexpr size_t beginning = 64;
  for (int i = 0; i < (place == 0 ? ranks : 1); ++i) {
    if (!reserve(i, beginning)) return false;
  }
  if (!reserve(place, beginning)) return false;
  void* memory =
      mmap(nullptr, head_bytes(places), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, segment_.needed(), 0);
  if (memory == MAP_FAILED) return false;
  head_ = memory;
  notes_ = reinterpret_cast<Note*>(static_cast<char*>(memory) + notes_offset(places));
  return true;
}

void Notes::close() {
  if (head_ != nullptr) munmap(head_, head_bytes(places_));
  head_ = nullptr;
  notes_ = nullptr;
}

HostPage* Notes::host_page() const {
  if (!reserve_segment(segment_.needed(), host_page_offset(places_), sizeof(HostPage))) return nullptr;
  return reinterpret_cast<HostPage*>(static_cast<char*>(head_) + host_page_offset(places_));
}

bool Notes::reserve(int place, size_t bytes) const {
  return reserve_segment(segment_.needed(), notes_offset(places_) + static_cast<size_t>(place) * sizeof(Note), bytes);
}

bool Notes::write(std::string_view key, std::string_view value) {
  const std::string entry = entry_of(key, value);
  if (entry.size() > Note::room - bytes_) {
    errno = ENOBUFS;
    return false;
  }
  if (!reserve(place_, offsetof(Note, text) + bytes_ + entry.size())) return false;
  entry.copy(notes_[place_].text + bytes_, entry.size());
  bytes_ += static_cast<uint32_t>(entry.size());
  return true;
}

void Notes::turn_outward() {
  notes_[place_].outward = bytes_;
}

void Notes::end_turn(uint32_t turn) {
  notes_[place_].whole.store(uint64_t{turn} << 32 | bytes_, std::memory_order_release);
}

bool Notes::has_ended(int place, uint32_t turn) const {
  return notes_[place].whole.load(std::memory_order_acquire) >> 32 >= turn;
}

std::string_view Notes::text(int place) const {
  const auto bytes = static_cast<uint32_t>(notes_[place].whole.load(std::memory_order_relaxed));
  return {notes_[place].text, std::min<size_t>(bytes, Note::room)};
}

std::string_view Notes::outward_text(int place) const {
  const std::string_view all = text(place);
  return all.substr(std::min<size_t>(notes_[place].outward, all.size()));
}

}  // namespace weft::boot
