// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Files of rows for the table of algorithms (coll/select/select.hpp), as `weft tune` writes them and WEFT_TUNING names
// them:
//
//   {"weft_tuning": 1,
//    "rows": [
//      {"collective": "allreduce", "ranks": [3, 4], "hosts": 2, "bytes": 16384, "algorithm": "leaders"},
//      {"collective": "allreduce", "ranks": [3, 4], "hosts": 2, "algorithm": "split"}]}
//
// A row may have "ranks", "hosts" and "ranks_per_host", each a number or the two ends of a range, "bytes" (up to so
// many) and "crowded" (true: only where the ranks of a job on one host outnumber its processors). A missing key matches
// anything. "devices" has rows of chunks for messages from devices (core/protocol/device_pipe.hpp):
//
//    "devices": [{"bytes": 262144, "chunk": 65536, "depth": 4}, {"chunk": 131072, "depth": 2}]
//
// "measured", in a row or in the file, is for people: it is not looked at.

#include <string>
#include <string_view>
#include <vector>

#include "base/message.hpp"
#include "coll/select/select.hpp"
#include "core/protocol/device_pipe.hpp"

namespace weft::coll {

// False: the text is no such table, and `problem` says what is wrong and in which line; `rows` is empty then. `name` is
// the file's, for that message. `pipes`, if it is not nullptr, gets the rows for devices.
[[nodiscard]] bool parse_table(std::string_view text, const std::string& name, std::vector<Row>& rows,
                               base::Problem& problem, std::vector<core::DevicePipe>* pipes = nullptr);
[[nodiscard]] bool read_table(const std::string& path, std::vector<Row>& rows, base::Problem& problem,
                              std::vector<core::DevicePipe>* pipes = nullptr);

}  // namespace weft::coll
