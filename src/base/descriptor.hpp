// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A descriptor that Weft keeps open while the program runs. A program may close all descriptors that it does not know,
// as daemons do; their numbers then become those of the program's own files. So each use and the close ask first
// whether the number still stands for the file that Weft opened.

#include <sys/types.h>

namespace weft::base {

class Descriptor {
 public:
  Descriptor() = default;
  // Notes the open file that has this number; a negative number stands for none. Messages name the `purpose`, which
  // lives as long as the process.
  Descriptor(int number, const char* purpose = "files of the program");

  // Whether it was given a file and not closed by Weft. The program may have closed it.
  bool is_open() const { return number_ >= 0; }
  // Whether the number still stands for that file.
  bool is_intact() const { return number_ >= 0 && is_same(number_); }
  // Whether this number stands for that file.
  bool is_same(int other) const;

  // Its number; -1 with EBADF: the program has closed it, and the file is not found in another way (set_finder).
  [[nodiscard]] int number() const;
  // Its number; otherwise the job ends with a message.
  [[nodiscard]] int needed() const;
  // The number as it was, for calls that do no harm to another file.
  int unchecked() const { return number_; }

  void close();

  // The function that opens a file again which the program has closed; it returns a number, or -1.
  static void set_finder(int (*find)(const Descriptor& closed));

 private:
  int number_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  const char* purpose_ = "";
};

// Closes all descriptors from `first` on.
void close_from(int first);

}  // namespace weft::base
