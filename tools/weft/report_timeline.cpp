// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The phases of a run on its page: a table of them, all ranks as an area over time, and groups of ranks as strips.

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/format.hpp"
#include "weft/report_page.hpp"

namespace weft::tool {
namespace {

using base::append;

using Shares = std::array<double, timeline_parts>;

constexpr size_t most_slices = 256;
constexpr size_t most_strips = 64;
constexpr size_t most_phases = 10;
constexpr const char* names[timeline_parts] = {"program", "MPI between two ranks", "collective MPI", "other MPI",
                                               "waiting"};
// Steps of lightness, and hatching for waiting: as in the bars of ranks.
constexpr const char* fills[timeline_parts] = {"#fff", "#ccc", "#999", "#555", "url(#hatch)"};

// Shares of one, where there are any.
Shares normal(Shares shares) {
  double whole = 0;
  for (const double share : shares) whole += share;
  for (double& share : shares) share = whole > 0 ? share / whole : 0;
  return shares;
}

// All ranks together, by slice; empty where groups do not have the same slices.
std::vector<Shares> together(const std::vector<TimelineGroup>& groups) {
  const size_t slices = groups.empty() ? 0 : groups[0].slices.size();
  if (slices == 0 || slices > most_slices || groups.size() > most_strips) return {};
  std::vector<Shares> all(slices, Shares{});
  for (const TimelineGroup& group : groups) {
    if (group.slices.size() != slices) return {};
    for (size_t s = 0; s < slices; ++s) {
      const Shares shares = normal(group.slices[s]);
      for (size_t p = 0; p < timeline_parts; ++p) all[s][p] += shares[p] * static_cast<double>(group.ranks);
    }
  }
  for (Shares& shares : all) shares = normal(shares);
  return all;
}

double distance(const Shares& a, const Shares& b) {
  double sum = 0;
  for (size_t p = 0; p < timeline_parts; ++p) sum += std::abs(a[p] - b[p]);
  return sum;
}

struct Phase {
  size_t begin;
  size_t end;
  Shares shares;  // the mean
};

void join(std::vector<Phase>& phases, size_t at) {
  Phase& one = phases[at];
  const Phase& next = phases[at + 1];
  const auto mine = static_cast<double>(one.end - one.begin);
  const auto theirs = static_cast<double>(next.end - next.begin);
  for (size_t p = 0; p < timeline_parts; ++p) {
    one.shares[p] = (one.shares[p] * mine + next.shares[p] * theirs) / (mine + theirs);
  }
  one.end = next.end;
  phases.erase(phases.begin() + static_cast<ptrdiff_t>(at) + 1);
}

// Slices that follow each other and are alike: the two most alike neighbours are joined again and again.
std::vector<Phase> phases_of(const std::vector<Shares>& slices) {
  constexpr double alike = 0.3;  // of a sum of differences that is at most 2
  std::vector<Phase> phases;
  for (size_t s = 0; s < slices.size(); ++s) phases.push_back({s, s + 1, slices[s]});
  while (phases.size() > 1) {
    size_t nearest = 0;
    for (size_t i = 1; i + 1 < phases.size(); ++i) {
      if (distance(phases[i].shares, phases[i + 1].shares) <
          distance(phases[nearest].shares, phases[nearest + 1].shares)) {
        nearest = i;
      }
    }
    const bool are_alike = distance(phases[nearest].shares, phases[nearest + 1].shares) < alike;
    if (!are_alike && phases.size() <= most_phases) break;
    join(phases, nearest);
  }
  return phases;
}

void add_phases(std::string& page, const std::vector<Phase>& phases, double slice) {
  page += "<table><tr><th>seconds</th>";
  for (const char* name : names) page.append("<th>").append(name).append("</th>");
  page += "</tr>\n";
  for (const Phase& phase : phases) {
    append(page, "<tr><td>%.3g to %.3g</td>", static_cast<double>(phase.begin) * slice,
           static_cast<double>(phase.end) * slice);
    for (const double share : phase.shares) append(page, "<td>%.0f %%</td>", 100 * share);
    page += "</tr>\n";
  }
  page += "</table>\n";
}

constexpr double left = 70;
constexpr double width = 830;

// Shows a stretch of a picture's time: buttons enlarge it, dragging moves it. Without scripts the buttons stay hidden.
constexpr const char* script = R"(<script>
{
  const part = document.currentScript.previousElementSibling;
  const picture = part.querySelector("svg"), time = picture.querySelector("svg");
  const width = time.width.baseVal.value, seconds = Number(part.dataset.seconds);
  const ends = picture.querySelectorAll(".end"), [more, less, all] = part.querySelectorAll("button");
  const paths = [...time.querySelectorAll("path")].map(path => [path, path.getAttribute("d")]);
  let from = 0, shown = width, dragged = null;
  const show = (middle, wanted) => {
    shown = Math.min(width, Math.max(width / 32, wanted));
    from = Math.min(width - shown, Math.max(0, middle - shown / 2));
    const place = (_, command, x) => command + (command == "M" ? x - from : x) * width / shown;
    for (const [path, whole] of paths) path.setAttribute("d", whole.replace(/(M|h-?)([\d.]+)/g, place));
    ends.forEach((end, i) => end.textContent = Number(((from + i * shown) / width * seconds).toPrecision(4)) + " s");
  };
  more.onclick = () => show(from + shown / 2, shown / 2);
  less.onclick = () => show(from + shown / 2, shown * 2);
  all.onclick = () => show(0, width);
  picture.onpointerdown = event => { dragged = event.clientX; picture.setPointerCapture(event.pointerId); };
  picture.onpointermove = event => {
    if (dragged === null) return;
    const pixels = picture.getScreenCTM().a * width;
    show(from + shown / 2 - (event.clientX - dragged) / pixels * shown, shown);
    dragged = event.clientX;
  };
  picture.onpointerup = picture.onpointercancel = () => dragged = null;
  picture.style = "cursor:grab;user-select:none;touch-action:pan-y";
  more.parentNode.hidden = false;
}
</script>
)";

// One path for each part, so that a slice takes few bytes.
void add_columns(std::string& page, const std::vector<Shares>& slices, double top, double height) {
  const double step = width / static_cast<double>(slices.size());
  for (size_t p = 0; p < timeline_parts; ++p) {
    std::string path;
    for (size_t s = 0; s < slices.size(); ++s) {
      double below = 0;
      for (size_t q = 0; q < p; ++q) below += slices[s][q];
      const double tall = slices[s][p] * height;
      if (tall < 0.05) continue;
      append(path, "M%.1f %.1fh%.1fv-%.1fh-%.1fz", static_cast<double>(s) * step, top + height - below * height, step,
             tall, step);
    }
    if (path.empty()) continue;
    append(page, "<path fill=\"%s\" d=\"", fills[p]);
    page.append(path).append("\"/>");
  }
}

// It stays where it is when time is enlarged.
void add_frame(std::string& page, double top, double height) {
  append(page,
         "<rect x=\"%.0f\" y=\"%.1f\" width=\"%.0f\" height=\"%.1f\" fill=\"none\" stroke=\"#333\" "
         "stroke-width=\".5\"/>\n",
         left, top, width, height);
}

void add_picture(std::string& page, const RunStatistics& run, const std::vector<Shares>& all) {
  constexpr double tall = 120;
  constexpr double gap = 12;
  const size_t strips = run.timeline.size() > 1 ? run.timeline.size() : 0;
  const double strip = std::clamp(320.0 / static_cast<double>(std::max<size_t>(strips, 1)), 8.0, 20.0);
  const double bottom = tall + gap + strip * static_cast<double>(strips);
  append(page, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"Phases of the run\">\n", left + width + 4,
         bottom + 16);
  append(page, "<svg x=\"%.0f\" width=\"%.0f\" height=\"%.0f\">\n", left, width, bottom);
  add_columns(page, all, 1, tall);
  std::string frames = "<text x=\"0\" y=\"14\">all ranks</text>";
  add_frame(frames, 1, tall);
  for (size_t i = 0; i < strips; ++i) {
    const TimelineGroup& group = run.timeline[i];
    const double top = tall + gap + strip * static_cast<double>(i);
    std::vector<Shares> slices;
    slices.reserve(group.slices.size());
    for (const Shares& shares : group.slices) slices.push_back(normal(shares));
    append(page, "<g><title>rank %lld", static_cast<long long>(group.first));
    if (group.ranks > 1) append(page, " to %lld", static_cast<long long>(group.first + group.ranks - 1));
    page += "</title>";
    add_columns(page, slices, top, strip - 1);
    page += "</g>\n";
    add_frame(frames, top, strip - 1);
    if (strip >= 10 || i % 2 == 0) {
      append(frames, "<text x=\"0\" y=\"%.1f\">rank %lld</text>", top + std::min(strip, 11.0),
             static_cast<long long>(group.first));
    }
  }
  page += "</svg>\n" + frames;
  append(page,
         "<text class=\"end\" x=\"%.0f\" y=\"%.1f\">0 s</text><text class=\"end\" x=\"%.0f\" y=\"%.1f\" "
         "text-anchor=\"end\">%.3g s</text></svg>\n",
         left, bottom + 13, left + width, bottom + 13, run.timeline_seconds);
}

}  // namespace

void add_timeline(std::string& page, const RunStatistics& run) {
  const std::vector<Shares> all = together(run.timeline);
  if (all.empty()) return;
  page +=
      "<h2>Phases</h2>\n<p>Time from left to right. From below: white: the program; light grey: MPI between two ranks; "
      "grey: collective MPI; dark: other MPI; hatched: waiting for others.";
  if (static_cast<int64_t>(run.timeline.size()) < run.ranks) page += " A strip is the mean of several ranks.";
  append(page, "</p>\n<div data-seconds=\"%.6g\">\n", run.timeline_seconds);
  page +=
      "<p hidden><button>enlarge</button> <button>reduce</button> <button>whole run</button> Dragging moves the "
      "enlarged "
      "picture.</p>\n";
  add_picture(page, run, all);
  page.append("</div>").append(script);
  add_phases(page, phases_of(all), run.timeline_seconds / static_cast<double>(all.size()));
}

}  // namespace weft::tool
