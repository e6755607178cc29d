// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The basics that an element is made of, in the order of the packed data, for external32, MPI_Get_elements and checks
// of signatures. A type of one basic says so itself (Type::basic); a type of several has a signature, run by run, where
// a run may be another signature many times. Signatures never change and are shared by the types derived from a type.

#include "base/count.hpp"
#include "datatype/predefined.hpp"
#include "datatype/type.hpp"

namespace weft::datatype {

// `count` items, a pair of MINLOC and MAXLOC being one item.
struct SignatureRun {
  int64_t count;
  Basic basic;              // none: `inside` repeated
  const Signature* inside;  // owned
  int64_t bytes_before;     // in the runs before this one
  int64_t basics_before;    // basic elements, a pair being two
};

struct Signature {
  base::HolderCount references;
  int64_t bytes;
  int64_t basics;  // basic elements, a pair being two
  int64_t count;   // of runs
  [[nodiscard]] const SignatureRun* runs() const { return reinterpret_cast<const SignatureRun*>(this + 1); }
};

void hold(const Signature* signature);
void drop(const Signature* signature);

// Bytes of one item, and of how many basic elements it consists.
[[nodiscard]] inline int64_t item_bytes(Basic basic) {
  const BasicSize size = basic_size(basic);
  return size.first + size.second;
}
[[nodiscard]] inline int64_t basics_per_item(Basic basic) {
  return basic_size(basic).second != 0 ? 2 : 1;
}

template <class Visit>
void for_each_run(const Signature& signature, Visit& visit) {
  for (const SignatureRun* run = signature.runs(); run != signature.runs() + signature.count; ++run) {
    if (run->inside == nullptr) {
      visit(run->basic, run->count);
      continue;
    }
    for (int64_t i = 0; i < run->count; ++i) for_each_run(*run->inside, visit);
  }
}

// Calls visit(Basic, int64_t items) for the runs of basics in one element, in the order of the packed data: the packed
// bytes are those items one after another. Two runs may name the same basic.
template <class Visit>
void for_each_basic(const Type& type, Visit&& visit) {
  if (type.size == 0) return;
  if (type.signature == nullptr) {
    visit(type.basic, type.size / item_bytes(type.basic));
    return;
  }
  for (int64_t i = type.size / type.signature->bytes; i > 0; --i) for_each_run(*type.signature, visit);
}

// Complete basic elements in the first `bytes` of elements of this type; -1 when they end inside a basic element.
[[nodiscard]] int64_t basics_in(const Type& type, int64_t bytes);

// The reverse: bytes of the first `basics` basic elements of elements of this type; -1 when that leaves 64 bits.
[[nodiscard]] int64_t bytes_of_basics(const Type& type, int64_t basics);

// A signature under construction.
class SignatureList {
 public:
  SignatureList() = default;
  SignatureList(const SignatureList&) = delete;
  SignatureList& operator=(const SignatureList&) = delete;
  ~SignatureList();

  // The basics of `count` elements, which are not empty. false: no memory.
  [[nodiscard]] bool add(const Type& type, int64_t count);

  // Whether all that was added is of one basic, which `basic` then is; none when nothing was added.
  [[nodiscard]] bool uniform(Basic& basic) const;

  // The signature, with one reference; nullptr: no memory. Not when uniform.
  [[nodiscard]] const Signature* finish();

 private:
  bool push(int64_t count, Basic basic, const Signature* inside);

  SignatureRun* runs_ = nullptr;
  int64_t count_ = 0;
  int64_t room_ = 0;
};

}  // namespace weft::datatype
