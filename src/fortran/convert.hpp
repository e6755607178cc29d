// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Arguments of Fortran programs on their way to the C functions and back. Each class lives for one call: results go
// back to the program when it is destroyed.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#if defined WEFT_MPICH_ABI
#include "fortran/abi_mpich.hpp"
#elif defined WEFT_OPENMPI_ABI
#include "fortran/abi_openmpi.hpp"
#else
#include "fortran/abi_standard.hpp"
#endif

namespace weft::fortran {

// A function that fails stores no handle: the program's variable stays as it was.
template <typename H>
class Out {
 public:
  explicit Out(MPI_Fint* place) : place_(place) {}
  Out(const Out&) = delete;
  Out& operator=(const Out&) = delete;
  ~Out() {
    if (made_ != H{}) *place_ = Convert<H>::out(made_);
  }  // NOLINT(clang-analyzer-optin.mpi.MPI-Checker): a request is completed by the program
  operator H*() { return &made_; }

 private:
  MPI_Fint* place_;
  H made_{};
};

template <typename H>
class InOut {
 public:
  explicit InOut(MPI_Fint* place) : place_(place), before_(Convert<H>::in(*place)), value_(before_) {}
  InOut(const InOut&) = delete;
  InOut& operator=(const InOut&) = delete;
  ~InOut() {
    if (value_ != before_) *place_ = Convert<H>::out(value_);
  }
  operator H*() { return &value_; }

 private:
  MPI_Fint* place_;
  H before_;
  H value_;
};

// Without memory for the handles the C function is given no array, and reports that.
template <typename H>
class HandlesIn {
 public:
  HandlesIn(int64_t length, const MPI_Fint* values) : length_(std::max<int64_t>(length, 0)) {
    if (length_ > small) more_.reset(new (std::nothrow) H[static_cast<size_t>(length_)]);
    handles_ = length_ > small ? more_.get() : few_;
    if (handles_ == nullptr) return;
    for (int64_t i = 0; i < length_; ++i) handles_[i] = Convert<H>::in(values[i]);
  }
  HandlesIn(const HandlesIn&) = delete;
  HandlesIn& operator=(const HandlesIn&) = delete;
  operator const H*() const { return handles_; }

 protected:
  static constexpr int small = 64;
  int64_t length_;
  H few_[small];
  std::unique_ptr<H[]> more_;
  H* handles_;
};

template <typename H>
class HandlesInOut : public HandlesIn<H> {
 public:
  HandlesInOut(int64_t length, MPI_Fint* values) : HandlesIn<H>(length, values), values_(values) {}
  ~HandlesInOut() {
    if (this->handles_ == nullptr) return;
    for (int64_t i = 0; i < this->length_; ++i) values_[i] = Convert<H>::out(this->handles_[i]);
  }
  operator H*() { return this->handles_; }

 private:
  MPI_Fint* values_;
};

// An array of handles that a function stores, which may store fewer than `length`.
template <typename H>
class HandlesOut {
 public:
  HandlesOut(int64_t length, MPI_Fint* places) : length_(std::max<int64_t>(length, 0)), places_(places) {
    if (length_ > 0) made_.reset(new (std::nothrow) H[static_cast<size_t>(length_)]());
  }
  HandlesOut(const HandlesOut&) = delete;
  HandlesOut& operator=(const HandlesOut&) = delete;
  ~HandlesOut() {
    if (!made_) return;
    for (int64_t i = 0; i < length_; ++i)
      if (made_[static_cast<size_t>(i)] != H{}) places_[i] = Convert<H>::out(made_[static_cast<size_t>(i)]);
  }
  operator H*() { return made_.get(); }

 private:
  int64_t length_;
  MPI_Fint* places_;
  std::unique_ptr<H[]> made_;
};

// An index of Fortran counts from 1.
class IndexOut {
 public:
  explicit IndexOut(MPI_Fint* place) : place_(place) {}
  IndexOut(const IndexOut&) = delete;
  IndexOut& operator=(const IndexOut&) = delete;
  ~IndexOut() {
    if (made_ != unset) *place_ = made_ == MPI_UNDEFINED ? made_ : made_ + 1;
  }
  operator int*() { return &made_; }

 private:
  static constexpr int unset = -1;
  MPI_Fint* place_;
  int made_ = unset;
};

// Indices of Testsome and its like; a call that fails has stored none.
class IndicesOut {
 public:
  IndicesOut(MPI_Fint* places, MPI_Fint* length) : places_(places), length_(length) { *length = 0; }
  IndicesOut(const IndicesOut&) = delete;
  IndicesOut& operator=(const IndicesOut&) = delete;
  ~IndicesOut() {
    if (*length_ == MPI_UNDEFINED) return;
    for (int i = 0; i < *length_; ++i) ++places_[i];
  }
  operator int*() { return places_; }

 private:
  MPI_Fint* places_;
  MPI_Fint* length_;
};

// A string of Fortran is filled with blanks; C's ends with a zero. Blanks in front count, except in keys and values of
// info objects (MPI-5.0, section 10).
class StringIn {
 public:
  StringIn(const char* text, size_t length, bool skip_front = false) {
    while (length > 0 && text[length - 1] == ' ') --length;
    for (; skip_front && length > 0 && *text == ' '; --length) ++text;
    if (length >= sizeof few_) more_.reset(new (std::nothrow) char[length + 1]);
    string_ = length >= sizeof few_ ? more_.get() : few_;
    if (string_ == nullptr) return;
    if (length > 0) std::memcpy(string_, text, length);
    string_[length] = 0;
  }
  StringIn(const StringIn&) = delete;
  StringIn& operator=(const StringIn&) = delete;
  operator const char*() const { return string_; }

 private:
  char few_[256];
  std::unique_ptr<char[]> more_;
  char* string_;
};

// A string that the C function does not touch (a key that is not there) stays as it was.
class StringOut {
 public:
  StringOut(char* text, size_t length, size_t longest)
      : text_(text), length_(length), made_(new (std::nothrow) char[std::max(length, longest) + 1]) {
    if (made_) std::memcpy(made_.get(), untouched, sizeof untouched);
  }
  StringOut(const StringOut&) = delete;
  StringOut& operator=(const StringOut&) = delete;
  ~StringOut() {
    if (!made_ || std::memcmp(made_.get(), untouched, sizeof untouched) == 0) return;
    const size_t used = std::min(std::strlen(made_.get()), length_);
    std::memcpy(text_, made_.get(), used);
    std::memset(text_ + used, ' ', length_ - used);
  }
  operator char*() { return made_.get(); }

 private:
  static constexpr char untouched[2] = {1, 0};
  char* text_;
  size_t length_;
  std::unique_ptr<char[]> made_;
};

// Where C stores an address of which Fortran makes no use.
class Ignored {
 public:
  operator void*() { return &place_; }

 private:
  void* place_ = nullptr;
};

// Programs of mpi_f08 may leave out ierror.
inline void give(MPI_Fint* ierror, int code) {
  if (ierror != nullptr) *ierror = code;
}

// A procedure that mpi_f08 has too, with arguments that are laid out alike.
#define WEFT_F08(name) \
  extern "C" decltype(name##_) name##_f08_ __attribute__((alias(#name "_"), visibility("default")));

// The name of the module mpi for a procedure of mpi_f08 with choice buffers.
#define WEFT_FTS(name) \
  extern "C" decltype(name##_f08ts_) name##_fts_ __attribute__((alias(#name "_f08ts_"), visibility("default")));

// Whether a tool has a function of a name of MPI's. Without one, both names are one function.
template <class Function>
bool is_replaced(Function* function, Function* own) {
  asm("" : "+r"(function));  // or the compiler takes two names for two functions
  return function != own;
}

struct ExchangeCounts {
  int destinations;
  int sources;
};

// How many ranks the calling one sends to and receives from in collective operations.
ExchangeCounts ranks_of(MPI_Comm comm);
ExchangeCounts neighbours_of(MPI_Comm comm);

}  // namespace weft::fortran
