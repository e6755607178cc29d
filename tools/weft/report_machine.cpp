// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The machine of a run on its page: hosts, packages, last-level caches and cores as boxes in one another, and on each
// core its rank with how much longer than the mean it computes.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "base/cpus.hpp"
#include "base/format.hpp"
#include "stats/machine.hpp"
#include "weft/report_page.hpp"

namespace weft::tool {
namespace {

using base::append;

constexpr size_t most_cores = 256;  // that are drawn
constexpr double cell_width = 62, cell_height = 30, gap = 5, title_height = 15, page_width = 900;

// A part of the picture that is drawn from its own corner.
struct Box {
  double width = 0;
  double height = 0;
  std::string svg;
};

// Boxes side by side in a frame, in as many rows as the width needs.
Box framed(const std::vector<Box>& parts, const std::string& title, double width) {
  Box out;
  double x = gap, y = title_height, tall = 0;
  for (const Box& part : parts) {
    if (x > gap && x + part.width + gap > width) {
      x = gap;
      y += tall + gap;
      tall = 0;
    }
    append(out.svg, "<g transform=\"translate(%.0f,%.0f)\">", x, y);
    out.svg += part.svg + "</g>";
    x += part.width + gap;
    out.width = std::max(out.width, x);
    tall = std::max(tall, part.height);
  }
  out.height = y + tall + gap;
  std::string frame;
  append(frame,
         "<rect width=\"%.0f\" height=\"%.0f\" fill=\"none\" stroke=\"#666\"/><text x=\"4\" y=\"11\">%s</text>\n",
         out.width, out.height, title.c_str());
  out.svg.insert(0, frame);
  return out;
}

double computes(const RankStatistics& rank) {
  return std::max(0.0, rank.seconds - rank.mpi);
}

double mean_of(const std::vector<RankStatistics>& ranks) {
  double sum = 0;
  for (const RankStatistics& rank : ranks) sum += computes(rank);
  return ranks.empty() ? 0 : sum / static_cast<double>(ranks.size());
}

// A core with its ranks, or a rank that may run anywhere.
Box cell(const std::vector<const RankStatistics*>& ranks, double mean) {
  Box out{.width = cell_width, .height = cell_height};
  if (ranks.empty()) {
    append(out.svg, "<rect width=\"%.0f\" height=\"%.0f\" fill=\"#fff\" stroke=\"#bbb\"/>", cell_width, cell_height);
    return out;
  }
  constexpr size_t most_told = 4;
  out.svg = "<title>";
  double longest = 0;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const RankStatistics& rank = *ranks[i];
    longest = std::max(longest, computes(rank));
    if (i < most_told)
      append(out.svg, "%srank %lld: program %.4g s, MPI %.4g s, waiting %.4g s", i == 0 ? "" : "; ",
             static_cast<long long>(rank.rank), computes(rank), rank.mpi, rank.waiting);
  }
  if (ranks.size() > most_told) append(out.svg, "; and %zu more", ranks.size() - most_told);
  // From half of the mean, and less, to one and a half, and more.
  constexpr double lightest = 97, darkest = 30, white_text_below = 60;
  const double dark = mean > 0 ? std::clamp(longest / mean - 0.5, 0.0, 1.0) : 0;
  const double light = lightest - (lightest - darkest) * dark;
  const char* ink = light < white_text_below ? "#fff" : "#111";
  append(out.svg, "</title><rect width=\"%.0f\" height=\"%.0f\" fill=\"hsl(30,60%%,%.0f%%)\" stroke=\"#333\"/>",
         cell_width, cell_height, light);
  append(out.svg, "<text x=\"3\" y=\"12\" fill=\"%s\">%lld", ink, static_cast<long long>(ranks[0]->rank));
  if (ranks.size() > 1) append(out.svg, " +%zu", ranks.size() - 1);
  out.svg += "</text>";
  if (mean > 0)
    append(out.svg, "<text x=\"3\" y=\"25\" fill=\"%s\">%+ld %%</text>", ink, std::lround(100 * (longest / mean - 1)));
  return out;
}

struct Host {
  int64_t first = 0;
  const MachineStatistics* machine = nullptr;
  std::vector<const RankStatistics*> ranks;
};

std::vector<Host> hosts_of(const RunStatistics& run) {
  std::map<int64_t, Host> hosts;
  for (const MachineStatistics& machine : run.machines) {
    for (const int64_t first : machine.hosts) hosts[first] = {first, &machine, {}};
  }
  for (const RankStatistics& rank : run.by_rank) {
    const auto found = hosts.find(rank.host);
    if (found != hosts.end()) found->second.ranks.push_back(&rank);
  }
  std::vector<Host> list;
  for (auto& [first, host] : hosts) {
    if (!host.ranks.empty()) list.push_back(std::move(host));
  }
  // Hosts of the ranks that compute longest come first, so that they are shown where not all of them fit.
  const auto longest = [](const Host& host) {
    double most = 0;
    for (const RankStatistics* rank : host.ranks) most = std::max(most, computes(*rank));
    return most;
  };
  std::stable_sort(list.begin(), list.end(), [&](const Host& a, const Host& b) { return longest(a) > longest(b); });
  return list;
}

// The ranks of each core, and behind these those that may run on all of them, or of which that is not known.
std::vector<std::vector<const RankStatistics*>> ranks_of_cores(const Host& host,
                                                               const std::vector<stats::MachineCore>& cores) {
  std::vector<std::vector<const RankStatistics*>> on(cores.size() + 1);
  for (const RankStatistics* rank : host.ranks) {
    base::CpuSet set;
    const bool known = !rank->processors.empty() && base::parse_cpu_list(rank->processors, set).empty();
    std::vector<size_t> own;
    for (size_t c = 0; known && c < cores.size(); ++c) {
      const std::vector<int>& cpus = cores[c].processors;
      if (std::any_of(cpus.begin(), cpus.end(), [&](int cpu) { return set.has(cpu); })) own.push_back(c);
    }
    if (own.empty() || (own.size() == cores.size() && cores.size() > 1)) own = {cores.size()};
    for (const size_t c : own) on[c].push_back(rank);
  }
  return on;
}

Box host_box(const Host& host, const std::vector<stats::MachineCore>& cores, double mean) {
  const auto on = ranks_of_cores(host, cores);
  std::vector<Box> packages, caches, cells;
  for (size_t c = 0; c < cores.size(); ++c) {
    cells.push_back(cell(on[c], mean));
    const bool last = c + 1 == cores.size();
    if (last || cores[c + 1].cache != cores[c].cache) {
      caches.push_back(framed(cells, "cache " + std::to_string(cores[c].cache), page_width - 4 * gap));
      cells.clear();
    }
    if (last || cores[c + 1].package != cores[c].package) {
      packages.push_back(framed(caches, "package " + std::to_string(cores[c].package), page_width - 2 * gap));
      caches.clear();
    }
  }
  for (const RankStatistics* rank : on.back()) cells.push_back(cell({rank}, mean));
  if (!cells.empty()) packages.push_back(framed(cells, "on any core", page_width - 2 * gap));
  return framed(packages, "host of rank " + std::to_string(host.first), page_width);
}

}  // namespace

void add_machine(std::string& page, const RunStatistics& run) {
  const std::vector<Host> hosts = hosts_of(run);
  const double mean = mean_of(run.by_rank);
  std::vector<Box> boxes;
  size_t drawn = 0;
  for (const Host& host : hosts) {
    const std::vector<stats::MachineCore> cores = stats::parse_machine(host.machine->cores);
    const size_t more = std::max(cores.size(), host.ranks.size());
    if (cores.empty() || (drawn != 0 && drawn + more > most_cores) || more > 4 * most_cores) continue;
    drawn += more;
    boxes.push_back(host_box(host, cores, mean));
  }
  if (boxes.empty()) return;
  page +=
      "<h2>Ranks on the machine</h2>\n<p>Boxes in one another are hosts, packages, last-level caches and cores. A core "
      "has "
      "its rank, and by how much that computes longer than the mean; the darker, the longer.";
  if (boxes.size() < hosts.size())
    append(page, " These are %zu of the %zu hosts that are listed, those of the longest first.", boxes.size(),
           hosts.size());
  if (static_cast<int64_t>(run.by_rank.size()) < run.ranks)
    append(page, " Of %lld ranks %zu are listed.", static_cast<long long>(run.ranks), run.by_rank.size());
  const Box whole = framed(boxes, "", page_width + 2 * gap);
  append(page, "</p>\n<svg viewBox=\"0 0 %.0f %.0f\" style=\"max-width:%.0fpx\" role=\"img\" ", whole.width + 1,
         whole.height + 1, whole.width);
  page += "aria-label=\"Ranks on the machine\">\n" + whole.svg + "</svg>\n";
}

}  // namespace weft::tool
