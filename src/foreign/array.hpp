// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Arrays of handles, constants and statuses, converted for the duration of a call.

#include <cstdlib>

#include "foreign/convert.hpp"

namespace weft::foreign {

inline mpi::Exchanges ranks_of(Handle comm) {
  return face.hooks.exchanges(in<MPI_Comm>(comm), false);
}
inline mpi::Exchanges neighbours_of(Handle comm) {
  return face.hooks.exchanges(in<MPI_Comm>(comm), true);
}

[[noreturn, gnu::cold]] void no_memory_for_array(size_t bytes);

// Memory for `count` elements, on the stack if they are few. The function that is called reports a count below 0.
template <class T>
class ArrayMemory {
 public:
  explicit ArrayMemory(int64_t count) : count_(count > 0 ? static_cast<size_t>(count) : 0) {
    if (count_ <= few) return;
    constexpr size_t each = sizeof(T);  // NOLINT(bugprone-sizeof-expression): handles are pointers
    data_ = static_cast<T*>(malloc(count_ * each));
    if (data_ == nullptr) no_memory_for_array(count_ * each);
  }
  ~ArrayMemory() {
    if (data_ != few_) free(data_);
  }
  ArrayMemory(const ArrayMemory&) = delete;
  ArrayMemory& operator=(const ArrayMemory&) = delete;
  T* data() { return data_; }
  size_t count() const { return count_; }
  T& operator[](size_t i) { return data_[i]; }

 private:
  static constexpr size_t few = 16;
  size_t count_;
  T few_[few];
  T* data_ = few_;
};

template <class H>
class HandlesIn {
 public:
  HandlesIn(int64_t count, const Handle* handles) : handles_(handles), converted_(no_place(handles) ? 0 : count) {
    for (size_t i = 0; i < converted_.count(); ++i) converted_[i] = in<H>(handles[i]);
  }
  operator const H*() { return no_place(handles_) ? as_given<const H>(handles_) : converted_.data(); }

 private:
  const Handle* handles_;
  ArrayMemory<H> converted_;
};

// An array of handles for a function that changes some: the changed handles are given back.
template <class H>
class HandlesInOut {
 public:
  HandlesInOut(int64_t count, Handle* handles)
      : handles_(handles),
        converted_(no_place(handles) ? 0 : count),
        before_(static_cast<int64_t>(converted_.count())) {
    for (size_t i = 0; i < converted_.count(); ++i) converted_[i] = before_[i] = in<H>(handles[i]);
  }
  ~HandlesInOut() {
    for (size_t i = 0; i < converted_.count(); ++i) {
      if (converted_[i] != before_[i]) handles_[i] = out(converted_[i]);
    }
  }
  HandlesInOut(const HandlesInOut&) = delete;
  HandlesInOut& operator=(const HandlesInOut&) = delete;
  operator H*() { return no_place(handles_) ? as_given<H>(handles_) : converted_.data(); }

 private:
  Handle* handles_;
  ArrayMemory<H> converted_;
  ArrayMemory<H> before_;
};

class StatusesOut {
 public:
  StatusesOut(int64_t count, Status* statuses) : statuses_(statuses), filled_(no_place(statuses) ? 0 : count) {
    for (size_t i = 0; i < filled_.count(); ++i) prepare_status(filled_[i]);
  }
  ~StatusesOut() {
    for (size_t i = 0; i < filled_.count(); ++i) give_filled_status(statuses_[i], filled_[i]);
  }
  StatusesOut(const StatusesOut&) = delete;
  StatusesOut& operator=(const StatusesOut&) = delete;
  operator MPI_Status*() { return no_place(statuses_) ? MPI_STATUSES_IGNORE : filled_.data(); }

 private:
  Status* statuses_;
  ArrayMemory<MPI_Status> filled_;
};

template <int (*convert)(int)>
class ValuesIn {
 public:
  ValuesIn(int64_t count, const int* values) : values_(values), converted_(no_place(values) ? 0 : count) {
    for (size_t i = 0; i < converted_.count(); ++i) converted_[i] = convert(values[i]);
  }
  operator const int*() { return no_place(values_) ? values_ : converted_.data(); }

 private:
  const int* values_;
  ArrayMemory<int> converted_;
};

template <int (*convert)(int)>
class ValuesOut {
 public:
  ValuesOut(int64_t count, int* values) : values_(values), filled_(no_place(values) ? 0 : count) {
    for (size_t i = 0; i < filled_.count(); ++i) filled_[i] = unset_field;
  }
  ~ValuesOut() {
    for (size_t i = 0; i < filled_.count(); ++i) {
      if (filled_[i] != unset_field) values_[i] = convert(filled_[i]);
    }
  }
  ValuesOut(const ValuesOut&) = delete;
  ValuesOut& operator=(const ValuesOut&) = delete;
  operator int*() { return no_place(values_) ? values_ : filled_.data(); }

 private:
  int* values_;
  ArrayMemory<int> filled_;
};

}  // namespace weft::foreign
