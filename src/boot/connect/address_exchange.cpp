// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/connect/address_exchange.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "base/lock.hpp"
#include "boot/job/notes.hpp"

namespace weft::boot {
namespace {

constinit base::Lock lock;
constinit std::string* own = nullptr;
constinit std::map<int, std::string>* others = nullptr;  // by rank

}  // namespace

void add_own_address(std::string_view key, std::string_view value) {
  const std::lock_guard guard(lock);
  if (own == nullptr) own = new std::string;
  own->append(entry_of(key, value));
}

std::string own_addresses() {
  const std::lock_guard guard(lock);
  return own != nullptr ? *own : std::string();
}

void set_addresses(int rank, std::string text) {
  const std::lock_guard guard(lock);
  if (others == nullptr) others = new std::map<int, std::string>;
  (*others)[rank] = std::move(text);
}

void forget_addresses(int first, int end) {
  const std::lock_guard guard(lock);
  if (others != nullptr) others->erase(others->lower_bound(first), others->lower_bound(end));
}

bool has_addresses(int rank) {
  const std::lock_guard guard(lock);
  return others != nullptr && others->contains(rank);
}

std::string known_address(int rank, std::string_view key) {
  const std::lock_guard guard(lock);
  std::string_view value;
  if (others == nullptr) return {};
  const auto found = others->find(rank);
  return found != others->end() && find_entry(found->second, key, value) ? std::string(value) : std::string();
}

}  // namespace weft::boot
