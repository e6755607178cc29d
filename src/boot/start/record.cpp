// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/start/record.hpp"

#include <utility>

#include "boot/job/notes.hpp"

namespace weft::boot {
namespace {

std::string key_of(const std::string& turn, size_t piece) {
  return "weft-notes" + turn + "-" + std::to_string(piece);
}

}  // namespace

bool Records::publish(Kvs& kvs, std::string record, uint32_t turn_number) {
  const std::string turn = std::to_string(turn_number);
  if (record == published_) return kvs.put(key_of(turn, 0), "*" + published_in_);
  published_ = std::move(record);
  published_in_ = turn;
  const std::string text = std::to_string(published_.size()) + ":" + published_;
  const size_t most = kvs.longest_value();
  for (size_t piece = 0; piece * most < text.size(); ++piece) {
    if (!kvs.put(key_of(turn, piece), text.substr(piece * most, most))) return false;
  }
  return true;
}

bool Records::fetch(Kvs& kvs, int first, uint32_t turn_number) {
  if (fetched_of_ == first && fetched_in_ == turn_number) return true;
  std::string turn = std::to_string(turn_number);
  std::string text;
  if (!kvs.get(first, key_of(turn, 0), text)) return false;
  if (text.starts_with('*')) {
    turn = text.substr(1);
    if (!kvs.get(first, key_of(turn, 0), text)) return false;
  }
  std::string_view rest = text;
  size_t bytes = 0;
  fetched_.clear();
  if (take_number(rest, bytes)) fetched_ = rest;
  for (size_t piece = 1; fetched_.size() < bytes && !text.empty(); ++piece) {
    if (!kvs.get(first, key_of(turn, piece), text)) return false;
    fetched_ += text;
  }
  fetched_of_ = first;
  fetched_in_ = turn_number;
  return true;
}

}  // namespace weft::boot
