// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "observe/statistics.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/message.hpp"
#include "base/setting.hpp"
#include "core/lane/counters.hpp"
#include "core/protocol/p2p.hpp"
#include "stats/energy.hpp"

namespace weft::observe {

namespace {

constinit base::TextSetting file_row{
    {.name = "WEFT_STATS_FILE",
     .help = "file for WEFT_STATS=summary, calls and full: NAME.json gets JSON, another name text and JSON beside it",
     .subject = base::Subject::messages}};
WEFT_SETTING(file_row);

constinit base::TextSetting energy_row{
    {.name = "WEFT_ENERGY",
     .help = "on: the statistics of calls (WEFT_STATS) have the energy of the hosts, by the counters in "
             "/sys/class/powercap or perf's in /sys/bus/event_source/devices/power, or in a folder like one of these "
             "that is named here; off otherwise",
     .subject = base::Subject::messages}};
WEFT_SETTING(energy_row);

constexpr int counters_tag = 0x7e57;

void tell_without_calls(const char* name) {
  base::warn_for_job(name, {.cause = std::string(name) + " has no effect: it belongs to the statistics of calls, and "
                                                         "WEFT_STATS asks for none",
                            .remedy = "set WEFT_STATS to summary, calls or full, or unset " + std::string(name)});
}

// Messages received by lane, eight to a line.
void print_lanes(const std::vector<core::Counters>& ranks, size_t most_rows) {
  constexpr uint32_t in_a_line = 8;
  fprintf(stderr, "  %-12s messages that came on lanes 0, 1, ...\n", "rank");
  for (size_t r = 0; r < std::min(ranks.size(), most_rows); ++r) {
    for (uint32_t lane = 0; lane < ranks[r].lanes; ++lane) {
      if (lane == 0) {
        fprintf(stderr, "  %-12zu", r);
      } else if (lane % in_a_line == 0) {
        fprintf(stderr, "\n  %-12s", "");
      }
      fprintf(stderr, " %11llu", static_cast<unsigned long long>(ranks[r].arrived[lane]));
    }
    fputc('\n', stderr);
  }
}

void print(const std::vector<core::Counters>& ranks) {
  core::Counters all;
  for (const core::Counters& one : ranks) {
    for (int p = 0; p < core::path_count; ++p) {
      all.sent[p].messages += one.sent[p].messages;
      all.sent[p].bytes += one.sent[p].bytes;
    }
    all.unexpected += one.unexpected;
    all.retries += one.retries;
    all.sleeps += one.sleeps;
    all.lock_waits += one.lock_waits;
    all.settlements += one.settlements;
    all.lanes = std::max(all.lanes, one.lanes);
  }
  uint64_t bytes = 0;
  for (const core::PathCount& path : all.sent) bytes += path.bytes;
  fprintf(stderr, "\nWeft: messages sent by %zu ranks\n  %-12s %12s %12s %8s\n", ranks.size(), "path", "messages",
          "bytes", "share");
  for (int p = 0; p < core::path_count; ++p) {
    const core::PathCount& path = all.sent[p];
    fprintf(stderr, "  %-12s %12llu %12s %7.1f%%\n", core::path_names[p],
            static_cast<unsigned long long>(path.messages), base::shown_bytes(path.bytes).c_str(),
            bytes == 0 ? 0.0 : 100.0 * static_cast<double>(path.bytes) / static_cast<double>(bytes));
  }
  fprintf(stderr, "  before their receive %llu, sends that found the way full %llu, waits that slept %llu\n",
          static_cast<unsigned long long>(all.unexpected), static_cast<unsigned long long>(all.retries),
          static_cast<unsigned long long>(all.sleeps));
  if (all.lanes > 1) {
    fprintf(stderr, "  waits for a lane's lock %llu, looks at all lanes for MPI_ANY_TAG %llu\n",
            static_cast<unsigned long long>(all.lock_waits), static_cast<unsigned long long>(all.settlements));
  }
  constexpr size_t most_rows = 16;
  fprintf(stderr, "  %-12s %12s %12s %12s %12s\n", "rank", "E0", "E1", "R0", "R1");
  for (size_t r = 0; r < std::min(ranks.size(), most_rows); ++r) {
    fprintf(stderr, "  %-12zu", r);
    for (const core::PathCount& path : ranks[r].sent) fprintf(stderr, " %12s", base::shown_bytes(path.bytes).c_str());
    fputc('\n', stderr);
  }
  if (all.lanes > 1) print_lanes(ranks, most_rows);
  if (ranks.size() > most_rows) fprintf(stderr, "  ... and %zu more ranks\n", ranks.size() - most_rows);
}

}  // namespace

std::string energy_folders() {
  const std::string_view word = energy_row.value();
  if (word == "on" || word == "1") return stats::energy_folders;
  if (word.starts_with('/')) return std::string(word);
  if (!word.empty() && word != "off" && word != "0") {
    base::warn_for_job("WEFT_ENERGY", {.cause = "WEFT_ENERGY=" + base::quoted(word) + " has no effect",
                                       .remedy = "give on, off or the path of a folder like /sys/class/powercap"});
  }
  return {};
}

const char* statistics_file() {
  return file_row.value();
}

void tell_settings_without_calls() {
  if (!energy_folders().empty()) tell_without_calls(energy_row.text().name);
  if (*file_row.value() != '\0') tell_without_calls(file_row.text().name);
}

void print_counters(core::Comm& world) {
  const core::Counters mine = core::counters();  // before the messages of this summary
  const uint32_t context = world.collective_context();
  constexpr auto size = static_cast<int64_t>(sizeof mine);
  if (world.rank != 0) {
    (void)core::send(world, context, &mine, size, datatype::byte_type, 0, counters_tag);
    return;
  }
  std::vector<core::Counters> ranks(static_cast<size_t>(world.size));
  ranks[0] = mine;
  for (int r = 1; r < world.size; ++r) {
    (void)core::receive(world, context, &ranks[static_cast<size_t>(r)], size, datatype::byte_type, r, counters_tag);
  }
  print(ranks);
}

}  // namespace weft::observe
