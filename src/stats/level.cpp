// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "stats/level.hpp"

#include <iterator>

#include "base/setting.hpp"

namespace weft::stats {
namespace {

constexpr const char* level_words[] = {"off", "on", "summary", "calls", "full"};
constinit base::ChoiceSetting level_row{
    {.name = "WEFT_STATS",
     .help = "what to print when the job ends: on, messages and bytes per path; summary, time and data of each call of "
             "MPI and OpenSHMEM, and what to change; calls, also by communicator and partner; full, also by place in "
             "the program",
     .level = base::SettingLevel::basic,
     .subject = base::Subject::messages,
     .change = base::Change::always,
     .alike = true},
    0,
    level_words,
    std::size(level_words)};
WEFT_SETTING(level_row);

}  // namespace

Level wanted_level() {
  return static_cast<Level>(level_row.value());
}

}  // namespace weft::stats
