// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The striping of files on Lustre, by Lustre's own library, which is loaded when a file there is opened.

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace weft::io {

struct Striping {
  // The fate of the hints.
  enum class HintOutcome : int32_t {
    none,        // there were none, or they are in force
    not_lustre,  // the file is elsewhere
    no_library,  // liblustreapi is not installed
    exists,      // the file was there before, with its own striping
    refused,     // by Lustre: `error`
  };

  int64_t count = 0;   // striping_factor: targets that the file is spread over; 0: as the folder says
  int64_t first = -1;  // start_iodevice: the number of the first of them; -1: Lustre chooses
  HintOutcome outcome = HintOutcome::none;
  int32_t error = 0;  // errno

  [[nodiscard]] bool wanted() const { return count != 0 || first >= 0; }
};

// Creates a file with this striping, `unit` bytes on each target in turn (0: as the folder says), and returns its
// descriptor; -1: it has to be created without, as the outcome says. Only of a path on Lustre.
[[nodiscard]] int create_striped(const std::string& path, int flags, mode_t mode, Striping& striping, int64_t unit);

// The striping of an open file on Lustre; both stay as they are where the library is not installed or cannot tell.
void look_up_striping(int fd, Striping& striping, int64_t& unit);

// The fate of the hints in words, for the info that comes back; empty when there is nothing to say.
[[nodiscard]] std::string describe(const Striping& striping);

}  // namespace weft::io
