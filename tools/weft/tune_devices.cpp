// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "weft/tune_devices.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <sstream>

#include "base/json.hpp"
#include "base/setting.hpp"
#include "coll/select/table.hpp"
#include "device/api/device.hpp"
#include "device/select/choice.hpp"
#include "weft/job.hpp"
#include "weft/median.hpp"
#include "weft/text_file.hpp"

namespace weft::tool {
namespace {

constexpr int64_t default_chunk = core::most_device_chunk;
constexpr int32_t default_depth = 2;

bool is_default(const DeviceTimes& one) {
  return one.chunk == default_chunk && one.depth == default_depth;
}

const DeviceTimes* default_of(const std::vector<DeviceTimes>& times, int64_t bytes) {
  for (const DeviceTimes& one : times) {
    if (one.bytes == bytes && is_default(one)) return &one;
  }
  return nullptr;
}

bool is_faster(const DeviceTimes& one, const DeviceTimes& other) {
  constexpr double least_gain = 0.95;
  size_t won = 0;
  const size_t rounds = std::min(one.us.size(), other.us.size());
  for (size_t i = 0; i < rounds; ++i) won += one.us[i] < other.us[i] ? 1 : 0;
  return median(one.us) <= least_gain * median(other.us) && won * 4 >= rounds * 3;
}

// The one to take among the chunks of a size; nullptr: none was measured.
const DeviceTimes* best_of(const std::vector<DeviceTimes>& times, int64_t bytes) {
  const DeviceTimes* const usual = default_of(times, bytes);
  const DeviceTimes* best = usual;
  for (const DeviceTimes& one : times) {
    if (one.bytes != bytes || one.chunk == 0) continue;
    const bool better = usual == nullptr || is_faster(one, *usual);
    if (best == nullptr || (better && median(one.us) < median(best->us))) best = &one;
  }
  return best;
}

std::vector<int64_t> sizes_of(const std::vector<DeviceTimes>& times) {
  std::vector<int64_t> sizes;
  for (const DeviceTimes& one : times) {
    if (sizes.empty() || sizes.back() != one.bytes) sizes.push_back(one.bytes);
  }
  return sizes;
}

double mapped_us(const std::vector<DeviceTimes>& times, int64_t bytes) {
  for (const DeviceTimes& one : times) {
    if (one.bytes == bytes && one.chunk == 0) return median(one.us);
  }
  return 0;
}

std::string text_of(const std::vector<core::DevicePipe>& rows) {
  std::string text;
  for (const core::DevicePipe& row : rows) {
    text.append(text.empty() ? "\n    {" : ",\n    {");
    if (row.bytes != INT64_MAX) text.append("\"bytes\": ").append(std::to_string(row.bytes)).append(", ");
    text.append("\"chunk\": ").append(std::to_string(row.chunk));
    text.append(", \"depth\": ").append(std::to_string(row.depth)).append("}");
  }
  return text;
}

std::string text_of(const std::vector<DeviceTimes>& times) {
  std::string text;
  char number[32];
  for (const DeviceTimes& one : times) {
    text.append(text.empty() ? "\n      [" : ",\n      [").append(std::to_string(one.bytes)).append(", ");
    text.append(std::to_string(one.chunk)).append(", ").append(std::to_string(one.depth));
    (void)snprintf(number, sizeof number, ", %.4g]", median(one.us));
    text.append(number);
  }
  return text;
}

void print(const std::vector<DeviceTimes>& times) {
  puts("     bytes      mapped     default        best   chunk depth   microseconds of a message, medians");
  for (const int64_t bytes : sizes_of(times)) {
    const DeviceTimes *usual = default_of(times, bytes), *best = best_of(times, bytes);
    if (best == nullptr) continue;
    printf("%10lld  %10.2f  %10.2f  %10.2f  %6lld %5d\n", static_cast<long long>(bytes), mapped_us(times, bytes),
           usual == nullptr ? median(best->us) : median(usual->us), median(best->us),
           static_cast<long long>(best->chunk), best->depth);
  }
}

bool measure(bool quick, std::vector<DeviceTimes>& times, base::Problem& problem) {
  base::load_settings();
  std::string reason = device::open_for_tool();
  if (reason.empty() && !device::on()) reason = "WEFT_DEVICES is off";
  if (!reason.empty()) {
    problem = {.cause = "there is no device to measure: " + reason,
               .remedy = "weft info devices says what there is; WEFT_DEVICES=mock tries the command"};
    return false;
  }
  const std::string driver = device::active->name;
  const std::string folder = own_folder();
  // A file in force would be in the way, and the driver of both ranks is named.
  unsetenv("WEFT_TUNING");
  setenv("WEFT_DEVICES", driver.c_str(), 1);
  Words words{folder + "/mpiexec", "-q", "-n", "2", folder + "/../libexec/weft/weft-measure-devices"};
  words.insert(words.end(), {quick ? "3" : "9", quick ? "1000" : "20000", driver});
  for (int64_t bytes = 8 << 10; bytes <= (quick ? 256 << 10 : 16 << 20); bytes *= 2) {
    words.push_back(std::to_string(bytes));
  }
  std::string output, wrong;
  if (!run(words, output, problem)) return false;
  if (read_device_times(output, times, wrong)) return true;
  problem = {.cause = "the measuring job printed " + base::quoted(wrong) + ", which is no result",
             .remedy = "use the weft, mpiexec and library of one installation"};
  return false;
}

}  // namespace

bool read_device_times(const std::string& output, std::vector<DeviceTimes>& times, std::string& wrong) {
  std::istringstream lines(output);
  while (std::getline(lines, wrong)) {
    std::istringstream line(wrong);
    DeviceTimes one;
    line >> one.bytes >> one.chunk >> one.depth;
    for (double us = 0; line >> us;) one.us.push_back(us);
    const bool mapped = one.chunk == 0 && one.depth == 0;
    const bool chunks = one.chunk >= core::least_device_chunk && one.chunk <= core::most_device_chunk &&
                        one.depth >= 1 && one.depth <= core::most_device_depth;
    if (one.bytes < 1 || one.us.empty() || !line.eof() || (!mapped && !chunks)) return false;
    if (!times.empty() && one.bytes < times.back().bytes) return false;
    times.push_back(std::move(one));
  }
  wrong = "nothing";
  return !times.empty();
}

std::vector<core::DevicePipe> best_pipes(const std::vector<DeviceTimes>& times) {
  std::vector<core::DevicePipe> rows;
  for (const int64_t bytes : sizes_of(times)) {
    const DeviceTimes* const best = best_of(times, bytes);
    if (best == nullptr) continue;
    if (!rows.empty() && rows.back().chunk == best->chunk && rows.back().depth == best->depth) {
      rows.back().bytes = bytes;
    } else {
      rows.push_back({bytes, best->chunk, best->depth});
    }
  }
  if (!rows.empty()) rows.back().bytes = INT64_MAX;
  return rows;
}

int64_t best_map_from(const std::vector<DeviceTimes>& times) {
  int64_t from = 0;
  for (const int64_t bytes : sizes_of(times)) {
    const DeviceTimes* const best = best_of(times, bytes);
    const double mapped = mapped_us(times, bytes);
    if (best == nullptr || mapped == 0 || mapped > median(best->us)) {
      from = 0;
    } else if (from == 0) {
      from = bytes;
    }
  }
  return from;
}

std::string device_tuning_file(const std::vector<DeviceTimes>& times, const std::string& where) {
  char when[32];
  const time_t now = time(nullptr);
  tm parts{};
  strftime(when, sizeof when, "%Y-%m-%d %H:%M", localtime_r(&now, &parts));
  return std::string("{\n  \"weft_tuning\": 1,\n  \"rows\": [],\n  \"devices\": [") + text_of(best_pipes(times)) +
         "\n  ],\n  \"measured\": {\n    \"by\": \"weft tune --devices, Weft " + WEFT_VERSION + "\", \"when\": \"" +
         when + "\", \"where\": " + base::json_text(where) +
         ",\n    \"unit\": \"bytes, chunk, depth, microseconds of a message by the median\",\n    \"devices\": [" +
         text_of(times) + "\n    ]}\n}\n";
}

bool tune_devices(bool quick, const std::string& file, bool json, base::Problem& problem) {
  std::vector<DeviceTimes> times;
  if (!measure(quick, times, problem)) return false;
  if (!json) print(times);
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  const std::string text = device_tuning_file(times, host);
  std::vector<coll::Row> rows;
  std::vector<core::DevicePipe> pipes;
  if (!coll::parse_table(text, file, rows, problem, &pipes) || !write_file(file, text, problem)) return false;
  if (json) return fputs(text.c_str(), stdout) >= 0;
  printf("\n%s has %zu rows for devices; WEFT_TUNING=%s takes them\n", file.c_str(), pipes.size(), file.c_str());
  if (const int64_t from = best_map_from(times)) {
    printf("WEFT_DEVICE_MAP_FROM=%lld     mapping is the faster way from there on\n", static_cast<long long>(from));
  } else {
    puts("WEFT_DEVICE_MAP_FROM: mapping is never the faster way of those measured");
  }
  return true;
}

}  // namespace weft::tool
