// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Hints of files (MPI-5.0, 14.2.8): the standard's and ROMIO's names.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/lustre.hpp"

namespace weft::io {

enum class HintChoice : uint8_t { automatic, enable, disable };

struct Hints {
  HintChoice collective_reads = HintChoice::automatic;   // romio_cb_read, whether reads use two phases
  HintChoice collective_writes = HintChoice::automatic;  // romio_cb_write
  HintChoice sieve_reads = HintChoice::automatic;        // romio_ds_read
  HintChoice sieve_writes = HintChoice::automatic;  // romio_ds_write; automatic is disable, see docs/guide/files.md
  int64_t aggregators = 0;                          // cb_nodes; 0: as many as placement says
  int64_t collective_buffer = 16 << 20;             // cb_buffer_size, of each aggregator
  int64_t per_host = 0;                             // cb_config_list: aggregators on a host; 0: not given
  int64_t read_buffer = 4 << 20;                    // ind_rd_buffer_size
  int64_t write_buffer = 512 << 10;                 // ind_wr_buffer_size
  int64_t block = 0;           // striping_unit: domains begin at multiples; 0: the file system's block
  int64_t permissions = -1;    // file_perm, octal; -1: 0666 less the umask
  bool direct_reads = false;   // direct_read: past the page cache
  bool direct_writes = false;  // direct_write
  Striping striping;           // striping_factor, start_iodevice
};

using FindHint = std::function<std::optional<std::string>(const char* key)>;
using ShowHint = std::function<void(const char* key, const std::string& value)>;

// Takes the known ones that `find` gives; a value that is none is left out, and its key returned. `opening`: those too
// that mean something only then.
std::vector<std::string> take_hints(Hints& hints, const FindHint& find, bool opening);

// The values in force.
void show_hints(const Hints& hints, const ShowHint& show);

}  // namespace weft::io
