// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Giant buffers that need little memory.

#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

// Addresses for `bytes`, all of which are the same few pages.
class Repeated {
 public:
  explicit Repeated(MPI_Count bytes) : bytes_(bytes) {
    const int pages = memfd_create("pages", MFD_CLOEXEC);
    if (pages < 0 || ftruncate(pages, static_cast<off_t>(chunk)) != 0) return;
    void* range =
        mmap(nullptr, static_cast<size_t>(room()), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range != MAP_FAILED) base_ = static_cast<char*>(range);
    for (MPI_Count at = 0; base_ != nullptr && at < room(); at += chunk) {
      if (mmap(base_ + at, chunk, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, pages, 0) == MAP_FAILED)
        base_ = nullptr;
    }
    close(pages);
  }
  Repeated(const Repeated&) = delete;
  Repeated& operator=(const Repeated&) = delete;
  ~Repeated() { munmap(base_, static_cast<size_t>(room())); }

  char* get() const { return base_; }
  static constexpr MPI_Count chunk = 4 << 20;

 private:
  MPI_Count room() const { return (bytes_ + chunk - 1) / chunk * chunk; }
  MPI_Count bytes_;
  char* base_ = nullptr;
};
