// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The statistics of a file as people and programs read them, and the changes that they suggest.

#include <cstdio>

#include "base/bytes.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "io/statistics.hpp"

namespace weft::io {
namespace {

using base::format;

std::string shown(int64_t bytes) {
  return base::shown_bytes(static_cast<uint64_t>(std::max<int64_t>(bytes, 0)));
}

long long wide(int64_t number) {
  return static_cast<long long>(number);
}

double seconds(int64_t ns) {
  return static_cast<double>(ns) * 1e-9;
}

int64_t mean(int64_t sum, int64_t count) {
  return count == 0 ? 0 : sum / count;
}

long long percent(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : wide((100 * part + whole / 2) / whole);
}

bool interleaves(const FileReport::Reached& reached) {
  return reached.spans > (reached.high - reached.low) + (reached.high - reached.low) / 2;
}

// "4096 from 4.0 KiB on": the classes that hold accesses, from the smallest on.
std::string sizes_text(const AccessTally& side) {
  std::string text;
  for (int k = 0; k < AccessTally::size_classes; ++k) {
    if (side.sizes[k] == 0) continue;
    text += format("%s%lld from %s on", text.empty() ? "" : ", ", wide(side.sizes[k]), shown(int64_t{1} << k).c_str());
  }
  return text;
}

std::string order_text(const AccessTally& side, const FileReport::Reached& reached) {
  std::string text = format("%lld %% in sequence", percent(side.sequential, side.accesses));
  text += format(", %lld %% strided", percent(side.strided, side.accesses));
  if (reached.stride > 0 && side.strided > 0) text += " by " + shown(reached.stride);
  text += format(", %lld %% elsewhere", percent(side.random, side.accesses));
  if (interleaves(reached)) text += "; the ranks' parts interleave";
  return text;
}

std::string side_text(const FileReport& report, bool writes) {
  const AccessTally& side = writes ? report.all.writes : report.all.reads;
  if (side.accesses == 0) return "";
  std::string text = format(
      "  %-9s %lld accesses of %s each, %s in all: %lld %% collective (%lld %% in two phases), %lld %% with gaps\n",
      writes ? "writes" : "reads", wide(side.accesses), shown(mean(side.bytes, side.accesses)).c_str(),
      shown(side.bytes).c_str(), percent(side.collective, side.accesses), percent(side.two_phase, side.accesses),
      percent(side.with_gaps, side.accesses));
  text += "            sizes: " + sizes_text(side) + "\n";
  text += "            order: " + order_text(side, report.reached[writes ? 1 : 0]) + "\n";
  text += format("            system: %lld calls of %s each, %lld %% aligned to 4 KiB, %.3f s\n", wide(side.calls),
                 shown(mean(side.call_bytes, side.calls)).c_str(), percent(side.aligned, side.calls),
                 seconds(side.disk_ns));
  return text;
}

constexpr int64_t small = 64 << 10;  // accesses whose system call costs as much as their bytes
constexpr int64_t many = 64;         // accesses; fewer are not worth a change

void advise(const FileReport& report, bool writes, std::vector<std::string>& list) {
  const AccessTally& side = writes ? report.all.writes : report.all.reads;
  const FileReport::Reached& reached = report.reached[writes ? 1 : 0];
  const HintChoice choice = writes ? report.hints.collective_writes : report.hints.collective_reads;
  const int64_t independent = side.accesses - side.collective;
  const int64_t size = mean(side.bytes, side.accesses);
  const char* verb = writes ? "write" : "read";
  if (side.accesses < many || mean(side.call_bytes, side.calls) >= small) return;
  if (report.ranks > 1 && interleaves(reached) && independent * 2 > side.accesses && size < report.exchanged_below) {
    const int64_t window = report.hints.collective_buffer;
    const int64_t calls = std::max((reached.high - reached.low + window - 1) / window, report.aggregators);
    list.push_back(
        format("most %ss are independent, of %s, and those of the ranks interleave: MPI_File_%s_all would make "
               "%lld call%s of the %lld",
               verb, shown(size).c_str(), verb, wide(calls), calls == 1 ? "" : "s", wide(side.calls)));
  } else if (side.collective * 2 > side.accesses && side.two_phase == 0 && choice == HintChoice::disable) {
    list.push_back(
        format("the hint romio_cb_%s=disable leaves collective %ss of %s to each rank: without it the ranks "
               "would exchange data and %s larger pieces",
               verb, verb, shown(size).c_str(), verb));
  } else if (side.with_gaps * 2 > side.accesses && side.calls > 4 * side.accesses) {
    list.push_back(format("%ss with gaps became %lld calls of %s each: collective calls%s would move larger pieces",
                          verb, wide(side.calls), shown(mean(side.call_bytes, side.calls)).c_str(),
                          writes ? ", or romio_ds_write=enable where no other process writes between," : ""));
  } else if (side.sequential * 2 > side.accesses && side.calls >= side.accesses) {
    list.push_back(format("%lld %ss of %s follow each other: collect the data and %s %s or more at once",
                          wide(side.sequential), verb, shown(size).c_str(), verb, shown(int64_t{1} << 20).c_str()));
  }
}

std::string side_json(const FileReport& report, bool writes) {
  const AccessTally& side = writes ? report.all.writes : report.all.reads;
  const FileReport::Reached& reached = report.reached[writes ? 1 : 0];
  std::string sizes;
  for (int k = 0; k < AccessTally::size_classes; ++k) {
    if (side.sizes[k] == 0) continue;
    sizes += format("%s[%lld, %lld]", sizes.empty() ? "" : ", ", wide(int64_t{1} << k), wide(side.sizes[k]));
  }
  std::string text =
      format("{\"accesses\": %lld, \"bytes\": %lld, \"collective\": %lld, \"two_phase\": %lld, \"with_gaps\": %lld, ",
             wide(side.accesses), wide(side.bytes), wide(side.collective), wide(side.two_phase), wide(side.with_gaps));
  text += format("\"sequential\": %lld, \"strided\": %lld, \"random\": %lld, \"stride\": %lld, \"interleaved\": %s, ",
                 wide(side.sequential), wide(side.strided), wide(side.random), wide(reached.stride),
                 interleaves(reached) ? "true" : "false");
  text += "\"sizes\": [" + sizes + "], ";
  return text + format("\"calls\": %lld, \"call_bytes\": %lld, \"aligned\": %lld, \"disk_seconds\": %.9f}",
                       wide(side.calls), wide(side.call_bytes), wide(side.aligned), seconds(side.disk_ns));
}

}  // namespace

std::vector<std::string> advice(const FileReport& report) {
  std::vector<std::string> list;
  advise(report, true, list);
  advise(report, false, list);
  return list;
}

std::string as_text(const FileReport& report) {
  std::string text = "\nWeft: file " + report.path;
  text += format(", %d rank%s, open for %.3f s\n", report.ranks, report.ranks == 1 ? "" : "s", report.seconds);
  const std::string sides = side_text(report, true) + side_text(report, false);
  if (sides.empty()) return text + "  no data were read or written\n";
  text += sides;
  text += format("  time      disk %.3f s, exchange %.3f s (of the rank with the most of each); %lld aggregator%s\n",
                 seconds(report.slowest_disk_ns), seconds(report.slowest_exchange_ns), wide(report.aggregators),
                 report.aggregators == 1 ? "" : "s");
  const std::vector<std::string> list = advice(report);
  for (const std::string& line : list) text += "  to try    " + line + "\n";
  if (list.empty()) text += "  to try    nothing stands out\n";
  return text;
}

std::string as_json(const FileReport& report) {
  std::string text = "{\"file\": " + base::json_text(report.path);
  text += format(", \"ranks\": %d, \"seconds\": %.9f, \"aggregators\": %lld, ", report.ranks, report.seconds,
                 wide(report.aggregators));
  text += "\"writes\": " + side_json(report, true) + ", \"reads\": " + side_json(report, false);
  text += format(", \"slowest\": {\"disk_seconds\": %.9f, \"exchange_seconds\": %.9f}, \"advice\": [",
                 seconds(report.slowest_disk_ns), seconds(report.slowest_exchange_ns));
  bool first = true;
  for (const std::string& line : advice(report)) {
    text += (first ? "" : ", ") + base::json_text(line);
    first = false;
  }
  return text + "]}";
}

}  // namespace weft::io
