// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/connect/packet.hpp"

#include <cstring>

namespace weft::boot {

Packet& Packet::put(std::string_view text) {
  const auto length = static_cast<uint32_t>(text.size());
  bytes_.append(reinterpret_cast<const char*>(&length), sizeof length).append(text);
  return *this;
}

Packet& Packet::put(int64_t number) {
  return put(std::string_view(reinterpret_cast<const char*>(&number), sizeof number));
}

std::string Packet::take_text() {
  uint32_t length = 0;
  bad_ = bad_ || bytes_.size() - at_ < sizeof length;
  if (bad_) return {};
  std::memcpy(&length, bytes_.data() + at_, sizeof length);
  bad_ = bytes_.size() - at_ - sizeof length < length;
  if (bad_) return {};
  std::string text = bytes_.substr(at_ + sizeof length, length);
  at_ += sizeof length + length;
  return text;
}

int64_t Packet::take_number(int64_t low, int64_t high) {
  const std::string text = take_text();
  int64_t number = 0;
  if (text.size() == sizeof number) std::memcpy(&number, text.data(), sizeof number);
  bad_ = bad_ || text.size() != sizeof number || number < low || number > high;
  return bad_ ? 0 : number;
}

std::string Packet::framed() const {
  const auto length = static_cast<uint32_t>(bytes_.size());
  std::string frame(reinterpret_cast<const char*>(&length), sizeof length);
  return frame.append(bytes_);
}

bool Packet::unframe(std::string& received, Packet& packet, bool& bad) {
  uint32_t length = 0;
  if (received.size() < sizeof length) return false;
  std::memcpy(&length, received.data(), sizeof length);
  bad = length > most_bytes;
  if (bad || received.size() - sizeof length < length) return false;
  packet = Packet(received.substr(sizeof length, length));
  received.erase(0, sizeof length + length);
  return true;
}

}  // namespace weft::boot
