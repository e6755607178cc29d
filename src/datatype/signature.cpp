// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "datatype/signature.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "datatype/grow.hpp"

namespace weft::datatype {
namespace {

// A short signature that occurs once becomes part of the one around it.
constexpr int64_t push_most = 16;

int64_t run_bytes(const SignatureRun& run) {
  return run.count * (run.inside ? run.inside->bytes : item_bytes(run.basic));
}
int64_t run_basics(const SignatureRun& run) {
  return run.count * (run.inside ? run.inside->basics : basics_per_item(run.basic));
}

// Basic elements in `bytes` of items of one basic; -1 when they end inside one.
int64_t items_in(Basic basic, int64_t bytes) {
  const BasicSize size = basic_size(basic);
  const int64_t whole = bytes / (size.first + size.second);
  const int64_t rest = bytes % (size.first + size.second);
  if (size.second == 0) return rest == 0 ? whole : -1;
  if (rest != 0 && rest != size.first) return -1;
  return 2 * whole + (rest == 0 ? 0 : 1);
}

int64_t bytes_of_items(Basic basic, int64_t basics) {
  const BasicSize size = basic_size(basic);
  if (size.second == 0) return basics * size.first;
  return basics / 2 * (size.first + size.second) + basics % 2 * size.first;
}

// The run that holds a byte or basic element: the last that begins at or before it.
template <int64_t SignatureRun::*before>
const SignatureRun& run_at(const Signature& signature, int64_t position) {
  const SignatureRun* end = signature.runs() + signature.count;
  const auto later = [](int64_t at, const SignatureRun& run) { return at < run.*before; };
  return std::upper_bound(signature.runs(), end, position, later)[-1];
}

}  // namespace

void hold(const Signature* signature) {
  if (signature) ++const_cast<Signature*>(signature)->references;
}

void drop(const Signature* signature) {
  if (!signature || --const_cast<Signature*>(signature)->references > 0) return;
  for (int64_t i = 0; i < signature->count; ++i) drop(signature->runs()[i].inside);
  std::free(const_cast<Signature*>(signature));
}

int64_t basics_in(const Type& type, int64_t bytes) {
  if (bytes == 0) return 0;
  if (type.size == 0) return -1;
  if (!type.signature) return items_in(type.basic, bytes);
  int64_t found = 0;
  const Signature* signature = type.signature;
  while (true) {
    found += bytes / signature->bytes * signature->basics;
    bytes %= signature->bytes;
    const SignatureRun& run = run_at<&SignatureRun::bytes_before>(*signature, bytes);
    found += run.basics_before;
    bytes -= run.bytes_before;
    if (run.inside == nullptr) {
      const int64_t items = items_in(run.basic, bytes);
      return items < 0 ? -1 : found + items;
    }
    signature = run.inside;
  }
}

int64_t bytes_of_basics(const Type& type, int64_t basics) {
  if (basics == 0 || type.basic_count == 0) return 0;
  int64_t bytes = 0;
  if (__builtin_mul_overflow(basics / type.basic_count, type.size, &bytes)) return -1;
  basics %= type.basic_count;
  int64_t rest = 0;
  if (!type.signature) {
    rest = bytes_of_items(type.basic, basics);
  } else {
    const Signature* signature = type.signature;
    while (signature != nullptr) {
      rest += basics / signature->basics * signature->bytes;
      basics %= signature->basics;
      const SignatureRun& run = run_at<&SignatureRun::basics_before>(*signature, basics);
      rest += run.bytes_before;
      basics -= run.basics_before;
      if (run.inside == nullptr) rest += bytes_of_items(run.basic, basics);
      signature = run.inside;
    }
  }
  return __builtin_add_overflow(bytes, rest, &bytes) ? -1 : bytes;
}

SignatureList::~SignatureList() {
  for (int64_t i = 0; i < count_; ++i) drop(runs_[i].inside);
  std::free(runs_);
}

bool SignatureList::push(int64_t count, Basic basic, const Signature* inside) {
  if (count_ > 0) {
    SignatureRun& last = runs_[count_ - 1];
    if (last.basic == basic && last.inside == inside) {
      last.count += count;
      return true;
    }
  }
  if (!grow(runs_, count_, room_)) return false;
  hold(inside);
  runs_[count_++] = {count, basic, inside, 0, 0};
  return true;
}

bool SignatureList::add(const Type& type, int64_t count) {
  if (!type.signature) return push(type.size / item_bytes(type.basic) * count, type.basic, nullptr);
  const Signature& signature = *type.signature;
  const int64_t repeats = type.size / signature.bytes * count;
  if (repeats > 1 || signature.count > push_most) return push(repeats, Basic::none, &signature);
  for (int64_t i = 0; i < signature.count; ++i) {
    const SignatureRun& run = signature.runs()[i];
    if (!push(run.count, run.basic, run.inside)) return false;
  }
  return true;
}

bool SignatureList::uniform(Basic& basic) const {
  basic = count_ == 1 ? runs_[0].basic : Basic::none;
  return count_ == 0 || (count_ == 1 && runs_[0].inside == nullptr);
}

const Signature* SignatureList::finish() {
  if (count_ == 1 && runs_[0].inside) {  // the same many times
    hold(runs_[0].inside);
    return runs_[0].inside;
  }
  const auto count = static_cast<size_t>(count_);
  void* memory = std::malloc(sizeof(Signature) + count * sizeof(SignatureRun));
  if (!memory) return nullptr;
  auto* signature = new (memory) Signature{{}, 0, 0, count_};
  auto* runs = reinterpret_cast<SignatureRun*>(signature + 1);
  for (size_t i = 0; i < count; ++i) {
    runs[i] = runs_[i];
    runs[i].bytes_before = signature->bytes;
    runs[i].basics_before = signature->basics;
    signature->bytes += run_bytes(runs[i]);
    signature->basics += run_basics(runs[i]);
  }
  count_ = 0;  // the holds went along
  return signature;
}

}  // namespace weft::datatype
