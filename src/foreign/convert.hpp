// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// These classes convert arguments for a function of the standard ABI, and its results for the program. The generated
// entry points name one for each parameter. An object for a result is a temporary of the call's expression: it holds
// the standard's value meanwhile, and its destructor gives the program the value that the function has stored. If a
// result was not stored, the program's variable keeps its value; a null pointer stays null, and the function reports
// it.

#include <cstring>

#include "foreign/handle.hpp"
#include "foreign/value.hpp"
#include "mpi/p2p/status.hpp"

namespace weft::foreign {

// A small number that was taken for a pointer is passed on as it is.
inline bool no_place(const void* pointer) {
  return reinterpret_cast<uintptr_t>(pointer) < 4096;
}

template <class T, class U>
inline T* as_given(U* pointer) {
  return reinterpret_cast<T*>(pointer);
}

// ---- Handles

template <class H>
class Out {
 public:
  explicit Out(Given<H>* place) : place_(place) {}
  ~Out() {
    if (value_ != H{}) *place_ = out(value_);
  }
  Out(const Out&) = delete;
  Out& operator=(const Out&) = delete;
  operator H*() { return no_place(place_) ? as_given<H>(place_) : &value_; }

 private:
  Given<H>* place_;
  H value_{};  // no function stores a null pointer
};

template <class H>
class InOut {
 public:
  explicit InOut(Given<H>* place) : place_(place), value_(no_place(place) ? H{} : in<H>(*place)), before_(value_) {}
  ~InOut() {
    if (value_ != before_) *place_ = out(value_);
  }
  InOut(const InOut&) = delete;
  InOut& operator=(const InOut&) = delete;
  operator H*() { return no_place(place_) ? as_given<H>(place_) : &value_; }

 private:
  Given<H>* place_;
  H value_;
  const H before_;
};

// ---- Constants

template <int (*convert)(int)>
class ValueOut {
 public:
  explicit ValueOut(int* place) : place_(place) {}
  ~ValueOut() {
    if (value_ != unset) *place_ = convert(value_);
  }
  ValueOut(const ValueOut&) = delete;
  ValueOut& operator=(const ValueOut&) = delete;
  operator int*() { return no_place(place_) ? place_ : &value_; }

 private:
  static constexpr int unset = INT_MIN + 1;
  int* place_;
  int value_ = unset;
};

template <int (*convert_in)(int), int (*convert_out)(int)>
class ValueInOut {
 public:
  explicit ValueInOut(int* place) : place_(place), value_(no_place(place) ? 0 : convert_in(*place)), before_(value_) {}
  ~ValueInOut() {
    if (value_ != before_) *place_ = convert_out(value_);
  }
  ValueInOut(const ValueInOut&) = delete;
  ValueInOut& operator=(const ValueInOut&) = delete;
  operator int*() { return no_place(place_) ? place_ : &value_; }

 private:
  int* place_;
  int value_;
  const int before_;
};

// ---- Buffers

// Where a buffer's address is stored that may be the automatic one.
class BufferOut {
 public:
  explicit BufferOut(void* place) : place_(static_cast<void**>(place)) {}
  ~BufferOut() {
    if (stored_) *place_ = buffer_out(*place_);
  }
  BufferOut(const BufferOut&) = delete;
  BufferOut& operator=(const BufferOut&) = delete;
  operator void*() {
    stored_ = !no_place(place_);
    if (stored_) *place_ = nullptr;
    return place_;
  }

 private:
  void** place_;
  bool stored_ = false;
};

// ---- Statuses

inline void give_status(Status& to, const MPI_Status& from) {
  set_counted(to, mpi::status_bytes(from), mpi::status_cancelled(from));
  to.MPI_SOURCE = rank_out(from.MPI_SOURCE);
  to.MPI_TAG = tag_out(from.MPI_TAG);
}

inline void take_status(MPI_Status& to, const Status& from) {
  mpi::set_status_bytes(to, counted_bytes(from));
  mpi::set_status_cancelled(to, counted_cancelled(from));
  to.MPI_SOURCE = rank_in(from.MPI_SOURCE);
  to.MPI_TAG = tag_in(from.MPI_TAG);
  to.MPI_ERROR = error_in(from.MPI_ERROR);
}

// A status to be filled. Its error field is the program's where the function does not set it.
inline constexpr int unset_field = INT_MIN + 1;

inline void prepare_status(MPI_Status& status) {
  status.MPI_SOURCE = unset_field;
  status.MPI_ERROR = unset_field;
}

inline void give_filled_status(Status& to, const MPI_Status& from) {
  if (from.MPI_SOURCE != unset_field) give_status(to, from);
  if (from.MPI_ERROR != unset_field) to.MPI_ERROR = error_out(from.MPI_ERROR);
}

class StatusOut {
 public:
  explicit StatusOut(Status* place) : place_(place) { prepare_status(status_); }
  ~StatusOut() {
    if (!no_place(place_)) give_filled_status(*place_, status_);
  }
  StatusOut(const StatusOut&) = delete;
  StatusOut& operator=(const StatusOut&) = delete;
  operator MPI_Status*() { return no_place(place_) ? MPI_STATUS_IGNORE : &status_; }

 private:
  Status* place_;
  MPI_Status status_;
};

class StatusIn {
 public:
  explicit StatusIn(const Status* place) : place_(place) {
    if (!no_place(place)) take_status(status_, *place);
  }
  operator const MPI_Status*() const { return no_place(place_) ? nullptr : &status_; }

 private:
  const Status* place_;
  MPI_Status status_;
};

class StatusInOut {
 public:
  explicit StatusInOut(Status* place) : place_(place) {
    if (!no_place(place)) take_status(status_, *place);
  }
  ~StatusInOut() {
    if (no_place(place_)) return;
    give_status(*place_, status_);
    place_->MPI_ERROR = error_out(status_.MPI_ERROR);
  }
  StatusInOut(const StatusInOut&) = delete;
  StatusInOut& operator=(const StatusInOut&) = delete;
  operator MPI_Status*() { return no_place(place_) ? nullptr : &status_; }

 private:
  Status* place_;
  MPI_Status status_;
};

// ---- Strings, and their lengths, where the greatest length is less than in the standard ABI

template <int ours, int theirs>
class StringOut {
 public:
  explicit StringOut(char* place) : place_(place) {}
  ~StringOut() {
    if (no_place(place_) || text_[0] == unset) return;
    const size_t length = strnlen(text_, theirs - 1);
    memcpy(place_, text_, length);
    place_[length] = '\0';
  }
  StringOut(const StringOut&) = delete;
  StringOut& operator=(const StringOut&) = delete;
  operator char*() { return no_place(place_) ? place_ : text_; }

 private:
  static constexpr char unset = '\1';
  char* place_;
  char text_[ours] = {unset};
};

template <int ours, int theirs>
requires(ours <= theirs) class StringOut<ours, theirs> {
 public:
  explicit StringOut(char* place) : place_(place) {}
  operator char*() { return place_; }

 private:
  char* place_;
};

template <int theirs>
class LengthOut {
 public:
  explicit LengthOut(int* place) : place_(place) {}
  ~LengthOut() {
    if (!no_place(place_) && *place_ >= theirs) *place_ = theirs - 1;
  }
  LengthOut(const LengthOut&) = delete;
  LengthOut& operator=(const LengthOut&) = delete;
  operator int*() { return place_; }

 private:
  int* place_;
};

}  // namespace weft::foreign
