// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "weft/report_page.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

#include "base/format.hpp"
#include "weft/advice_lines.hpp"
#include "weft/call_sites.hpp"
#include "weft/grid_find.hpp"
#include "weft/grid_plan.hpp"
#include "weft/markup.hpp"
#include "weft/report_matrix.hpp"

namespace weft::tool {
namespace {

using base::append;

constexpr size_t most_bars = 128;    // of ranks
constexpr size_t most_calls = 20;    // in a table
constexpr size_t most_advice = 100;  // lines

constexpr const char* head =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>A run with Weft</title>\n<style>\n"
    "body{font:15px/1.45 system-ui,sans-serif;color:#111;background:#fff;max-width:62em;margin:2em auto;padding:0 "
    "1em}\n"
    "h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}\n"
    "table{border-collapse:collapse}th,td{padding:.15em .7em;border-bottom:1px solid #ccc;text-align:right}\n"
    "th:first-child,td:first-child{text-align:left}svg{max-width:100%;height:auto}text{font:11px "
    "system-ui,sans-serif}\n"
    "</style></head><body>\n"
    "<svg width=\"0\" height=\"0\" aria-hidden=\"true\" style=\"position:absolute\"><defs><pattern id=\"hatch\" "
    "width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><rect width=\"5\" "
    "height=\"5\" fill=\"#fff\"/><rect width=\"2\" height=\"5\" fill=\"#b33\"/></pattern></defs></svg>\n";

std::string shown(const std::string& text) {
  return as_markup(text);
}

std::string bytes_shown(double bytes) {
  constexpr const char* units[] = {"", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(units); ++unit) bytes /= 1024;
  std::string text;
  append(text, unit == 0 || bytes >= 100 ? "%.0f%s" : "%.1f%s", bytes, units[unit]);
  return text;
}

double percent(double part, double whole) {
  return whole > 0 ? 100 * part / whole : 0;
}

void add_summary(std::string& page, const RunStatistics& run) {
  append(page, "<p>%lld ranks, %.3f s. ", static_cast<long long>(run.ranks), run.run.mean);
  append(page, "<b>%.1f %%</b> of the time is in MPI, %.1f %% is waiting for other ranks.",
         percent(run.mpi.sum, run.run.sum), percent(run.waiting.sum, run.run.sum));
  page += run.end.empty() ? "</p>\n" : " The run ended by " + shown(run.end) + ".</p>\n";
}

void add_energy(std::string& page, const RunStatistics& run) {
  if (!run.energy_unknown.empty()) page += "<p>The energy is not known: " + shown(run.energy_unknown) + ".</p>\n";
  if (run.joules <= 0) return;
  append(
      page,
      "<p>The hosts took %.4g J: %.4g J of that in MPI, where waiting awake took %.4g J, which sleep would save.</p>\n",
      run.joules, run.joules_in_mpi, run.joules_waiting_awake);
}

void add_advice(std::string& page, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  page += "<h2>Advice</h2>\n<ul>\n";
  for (size_t i = 0; i < std::min(lines.size(), most_advice); ++i)
    page.append("<li>").append(shown(lines[i])).append("</li>\n");
  page += "</ul>\n";
}

std::vector<CallStatistics> longest_calls(const RunStatistics& run) {
  std::vector<CallStatistics> calls = run.calls;
  std::stable_sort(calls.begin(), calls.end(),
                   [](const CallStatistics& a, const CallStatistics& b) { return a.seconds.sum > b.seconds.sum; });
  if (calls.size() > most_calls) calls.resize(most_calls);
  return calls;
}

void add_calls(std::string& page, const RunStatistics& run) {
  if (run.calls.empty()) return;
  page +=
      "<h2>Calls</h2>\n<table><tr><th>call</th><th>calls</th><th>bytes</th><th>share of MPI</th><th>seconds of a "
      "rank</th><th>most</th><th>waiting</th></tr>\n";
  for (const CallStatistics& c : longest_calls(run)) {
    page.append("<tr><td>").append(shown(c.call)).append("</td>");
    append(page,
           "<td>%lld</td><td>%s</td><td>%.1f %%</td><td>%.4g</td><td>%.4g (rank %lld)</td><td>%.1f %%</td></tr>\n",
           static_cast<long long>(c.calls), bytes_shown(static_cast<double>(c.bytes)).c_str(),
           percent(c.seconds.sum, run.mpi.sum), c.seconds.mean, c.seconds.most,
           static_cast<long long>(c.seconds.most_rank), percent(c.waiting.sum, c.seconds.sum));
  }
  page += "</table>\n";
  if (run.calls.size() > most_calls) append(page, "<p>%zu more took less.</p>\n", run.calls.size() - most_calls);
}

// Ranks that stand for one bar: means.
struct Group {
  int64_t first = 0, last = 0;
  double user = 0, moving = 0, waiting = 0;
};

std::vector<Group> groups_of(const RunStatistics& run) {
  const size_t ranks = run.by_rank.size();
  const size_t each = (ranks + most_bars - 1) / most_bars;
  std::vector<Group> groups;
  for (size_t i = 0; i < ranks; ++i) {
    const RankStatistics& r = run.by_rank[i];
    if (i % each == 0) groups.push_back({.first = r.rank});
    Group& g = groups.back();
    const double share = 1.0 / static_cast<double>(std::min(each, ranks - i / each * each));
    g.last = r.rank;
    g.user += std::max(0.0, r.seconds - r.mpi) * share;
    g.moving += std::max(0.0, r.mpi - r.waiting) * share;
    g.waiting += r.waiting * share;
  }
  return groups;
}

void add_ranks(std::string& page, const RunStatistics& run) {
  const std::vector<Group> groups = groups_of(run);
  double most = 0;
  for (const Group& g : groups) most = std::max(most, g.user + g.moving + g.waiting);
  if (most <= 0) return;
  constexpr double width = 900, height = 180;
  const double step = width / static_cast<double>(groups.size());
  page +=
      "<h2>Time of each rank</h2>\n<p>From below: white: the program; grey: MPI at work; hatched: waiting for "
      "others.";
  if (groups.size() < run.by_rank.size())
    append(page, " A bar is the mean of up to %zu ranks.", (run.by_rank.size() + most_bars - 1) / most_bars);
  append(page, "</p>\n<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"Time of each rank\">\n", width + 60,
         height + 20);
  for (size_t i = 0; i < groups.size(); ++i) {
    const Group& g = groups[i];
    append(page, "<g><title>rank %lld", static_cast<long long>(g.first));
    if (g.last != g.first) append(page, " to %lld", static_cast<long long>(g.last));
    append(page, ": program %.4g s, MPI %.4g s, waiting %.4g s</title>", g.user, g.moving, g.waiting);
    double top = height;
    for (const auto& [seconds, fill] :
         {std::pair(g.user, "#fff"), std::pair(g.moving, "#999"), std::pair(g.waiting, "url(#hatch)")}) {
      const double tall = seconds / most * (height - 10);
      top -= tall;
      append(page,
             "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" stroke=\"#333\" "
             "stroke-width=\".5\"/>",
             50 + static_cast<double>(i) * step, top, step * 0.9, tall, fill);
    }
    page += "</g>\n";
  }
  append(page,
         "<text x=\"0\" y=\"14\">%.3g s</text><text x=\"50\" y=\"%.0f\">rank %lld</text><text x=\"%.0f\" y=\"%.0f\" "
         "text-anchor=\"end\">%lld</text></svg>\n",
         most, height + 14, static_cast<long long>(groups.front().first), width + 50, height + 14,
         static_cast<long long>(groups.back().last));
}

void add_sites(std::string& page, const RunStatistics& run) {
  if (run.sites.empty()) return;
  page +=
      "<h2>Call sites</h2>\n<table><tr><th>call</th><th>in the program</th><th>calls</th><th>bytes</th><th>seconds</th>"
      "<th>waiting</th></tr>\n";
  for (const SiteStatistics& site : longest_sites(run, most_calls)) {
    page.append("<tr><td>").append(shown(site.call)).append("</td><td>");
    page.append(shown(with_lines(site.site, run))).append("</td>");
    append(page, "<td>%lld</td><td>%s</td><td>%.4g</td><td>%.1f %%</td></tr>\n", static_cast<long long>(site.calls),
           bytes_shown(static_cast<double>(site.bytes)).c_str(), site.seconds, percent(site.waiting, site.seconds));
  }
  page += "</table>\n";
}

void add_sizes(std::string& page, const RunStatistics& run) {
  std::map<int64_t, int64_t> sizes;
  for (const CallStatistics& c : run.calls) {
    for (const auto& [size, count] : c.sizes) sizes[size] += count;
  }
  constexpr size_t most_sizes = 64;
  if (sizes.empty() || sizes.size() > most_sizes) return;
  int64_t most = 0;
  for (const auto& [size, count] : sizes) most = std::max(most, count);
  page += "<h2>Sizes</h2>\n<table><tr><th>bytes from</th><th>calls</th><th></th></tr>\n";
  for (const auto& [size, count] : sizes) {
    append(page,
           "<tr><td>%s</td><td>%lld</td><td style=\"text-align:left\"><svg width=\"300\" height=\"12\" "
           "aria-hidden=\"true\"><rect "
           "width=\"%.1f\" height=\"12\" fill=\"#557\"/></svg></td></tr>\n",
           bytes_shown(static_cast<double>(size)).c_str(), static_cast<long long>(count),
           300.0 * static_cast<double>(count) / static_cast<double>(std::max<int64_t>(most, 1)));
  }
  page += "</table>\n";
}

void add_matrix(std::string& page, const RunStatistics& run) {
  const SentMatrix matrix = sent_matrix(run.traffic);
  if (matrix.most == 0) return;
  page +=
      "<h2>Bytes between ranks</h2>\n<p>Rows are senders, columns receivers; the darker, the more, on a logarithmic "
      "scale.";
  if (matrix.each > 1)
    append(page, " Ranks are grouped: a cell is the sum of %d by %d ranks.", matrix.each, matrix.each);
  const FoundGrid grid = find_grid(run.traffic);
  std::vector<int32_t> sides;
  for (const Dimension& d : grid.dimensions) sides.push_back(d.side);
  if (!sides.empty()) {
    page += " A grid of " + shown_sides(sides, " x ") +
            " was found: <code>weft order --from</code> compares orders of ranks for it.";
  }
  page += "</p>\n" + matrix_picture(matrix) + matrix_table(matrix);
}

void add_settings(std::string& page, const RunStatistics& run) {
  if (run.settings.empty()) return;
  page += "<h2>Settings</h2>\n<table><tr><th>setting</th><th>value</th></tr>\n";
  for (const auto& [name, value] : run.settings) {
    page.append("<tr><td>").append(shown(name)).append("</td><td>").append(shown(value)).append("</td></tr>\n");
  }
  page += "</table>\n";
}

void add_run(std::string& page, const RunStatistics& run, const Machine& machine) {
  add_summary(page, run);
  add_energy(page, run);
  add_advice(page, advice_lines(run, machine));
  add_timeline(page, run);
  add_calls(page, run);
  add_ranks(page, run);
  add_machine(page, run);
  add_sites(page, run);
  add_sizes(page, run);
  add_matrix(page, run);
  add_settings(page, run);
}

void add_comparison(std::string& page, const RunStatistics& before, const RunStatistics& after) {
  page += "<h2>Comparison</h2>\n<p>Seconds of a rank, on average.</p>\n<table><tr><th></th><th>" + shown(before.path) +
          "</th><th>" + shown(after.path) + "</th><th>change</th></tr>\n";
  for (const Change& change : compare(before, after)) {
    page.append("<tr><td>").append(shown(change.name)).append("</td>");
    append(page, "<td>%.4g</td><td>%.4g</td>", change.before, change.after);
    if (change.before > 0) {
      append(page, "<td>%+.1f %%</td></tr>\n", 100 * (change.after / change.before - 1));
    } else {
      page += "<td></td></tr>\n";
    }
  }
  page += "</table>\n";
}

}  // namespace

std::vector<Change> compare(const RunStatistics& before, const RunStatistics& after) {
  std::vector<Change> changes = {{"run", before.run.mean, after.run.mean},
                                 {"in MPI", before.mpi.mean, after.mpi.mean},
                                 {"waiting for others", before.waiting.mean, after.waiting.mean}};
  std::map<std::string, std::pair<double, double>> calls;
  for (const CallStatistics& c : longest_calls(before)) calls[c.call].first = c.seconds.mean;
  for (const CallStatistics& c : longest_calls(after)) calls[c.call].second = c.seconds.mean;
  for (const auto& [name, seconds] : calls) changes.push_back({name, seconds.first, seconds.second});
  return changes;
}

std::string page_of(std::span<const RunStatistics> runs, const Machine& machine) {
  std::string page = head;
  page += runs.size() > 1 ? "<h1>Two runs</h1>\n" : "<h1>" + shown(runs[0].path) + "</h1>\n";
  if (runs.size() > 1) add_comparison(page, runs[0], runs[1]);
  for (const RunStatistics& run : runs) {
    if (runs.size() > 1) page += "<h1>" + shown(run.path) + "</h1>\n";
    add_run(page, run, machine);
  }
  return page + "</body></html>\n";
}

}  // namespace weft::tool
