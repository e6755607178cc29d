// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "base/format.hpp"
#include "weft/simulation.hpp"

namespace weft::tool {
namespace {

struct Point {
  int32_t ranks;
  double us;
};

using base::format;

constexpr const char* colours[] = {"#0b6cb8", "#d1572a", "#23884a", "#8a4fb0", "#b8860b",
                                   "#4d4d4d", "#c2185b", "#00838f", "#6d8b00", "#795548"};

// Both axes by factors.
class Axes {
 public:
  Axes(double least_ranks, double most_ranks, double least_us, double most_us)
      : x_(std::log(least_ranks), std::log(std::max(most_ranks, least_ranks * 1.01))),
        y_(std::floor(std::log10(least_us)), std::ceil(std::log10(most_us) + 1e-9)) {
    if (y_.second <= y_.first) y_.second = y_.first + 1;
  }
  double x(double ranks) const { return left + (std::log(ranks) - x_.first) / (x_.second - x_.first) * width; }
  double y(double us) const { return top + (y_.second - std::log10(us)) / (y_.second - y_.first) * height; }
  int first_decade() const { return static_cast<int>(y_.first); }
  int last_decade() const { return static_cast<int>(y_.second); }

  static constexpr int left = 80, top = 60, width = 560, height = 360, right = 140, bottom = 60;

 private:
  std::pair<double, double> x_;
  std::pair<double, double> y_;
};

}  // namespace

std::string picture_of(const Operation& operation, const std::vector<Simulated>& simulated) {
  std::map<coll::Algorithm, std::vector<Point>> lines;
  std::vector<int32_t> ranks;
  double least = 0;
  double most = 0;
  for (const Simulated& one : simulated) {
    ranks.push_back(one.ranks);
    for (const Outcome& outcome : one.outcomes) {
      const double us = outcome.time * 1e6;
      if (!outcome.left_out.empty() || us <= 0) continue;
      lines[outcome.algorithm].push_back({one.ranks, us});
      least = least == 0 ? us : std::min(least, us);
      most = std::max(most, us);
    }
  }
  const Axes axes(ranks.front(), ranks.back(), least > 0 ? least : 1, most > 0 ? most : 10);
  std::string svg = format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
      "font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
      Axes::left + Axes::width + Axes::right, Axes::top + Axes::height + Axes::bottom,
      Axes::left + Axes::width + Axes::right, Axes::top + Axes::height + Axes::bottom);
  svg += format(
      "<text x=\"%d\" y=\"30\" font-size=\"18\">%s of %lld bytes, up to %d ranks on a host, simulated</text>\n",
      Axes::left, coll::name(operation.collective), static_cast<long long>(operation.bytes), operation.ranks_per_host);
  for (int decade = axes.first_decade(); decade <= axes.last_decade(); ++decade) {
    const double y = axes.y(std::pow(10, decade));
    svg += format("<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#ddd\"/>", Axes::left, y,
                  Axes::left + Axes::width, y);
    svg += format("<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g us</text>\n", Axes::left - 8, y + 4,
                  std::pow(10, decade));
  }
  double last_label = 0;
  for (const int32_t r : ranks) {
    const double x = axes.x(r);
    constexpr double apart = 44;
    svg += format("<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"#ddd\"/>\n", x, Axes::top, x,
                  Axes::top + Axes::height);
    if (last_label != 0 && x - last_label < apart) continue;
    last_label = x;
    svg += format("<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%d</text>\n", x, Axes::top + Axes::height + 20, r);
  }
  svg += format("<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">ranks</text>\n", Axes::left + Axes::width / 2,
                Axes::top + Axes::height + 44);
  size_t n = 0;
  for (const auto& [algorithm, points] : lines) {
    const char* colour = colours[n++ % std::size(colours)];
    std::string path;
    for (const Point& point : points) path += format("%.1f,%.1f ", axes.x(point.ranks), axes.y(point.us));
    svg +=
        "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"" + std::string(colour) + "\" points=\"" + path + "\"/>\n";
    for (const Point& point : points) {
      svg += format("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>", axes.x(point.ranks), axes.y(point.us),
                    colour);
    }
    svg += format("\n<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>\n", Axes::left + Axes::width + 14,
                  Axes::top + 18 * static_cast<int>(n), colour, coll::name(algorithm));
  }
  return svg + "</svg>\n";
}

}  // namespace weft::tool
