// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "weft/report_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/bytes.hpp"
#include "base/format.hpp"

namespace weft::tool {
namespace {

using base::append;

constexpr double left = 80, top = 40, width = 480;  // of the cells in the picture
constexpr size_t most_rows = 100;                   // of the table

// "rank 3", "ranks 4-7"
std::string group_name(const SentMatrix& matrix, int32_t group) {
  const int64_t first = int64_t{group} * matrix.each;
  const int64_t last = std::min<int64_t>(first + matrix.each, matrix.ranks) - 1;
  if (first == last) return "rank " + std::to_string(first);
  return "ranks " + std::to_string(first) + "-" + std::to_string(last);
}

std::string shown_bytes(double bytes) {
  return base::shown_bytes(static_cast<uint64_t>(bytes));
}

// Lightness alone tells the bytes, so that the picture can be read without colour.
std::string colour_of(double place) {
  std::string colour;
  append(colour, "hsl(220,50%%,%.0f%%)", 92 - 77 * place);
  return colour;
}

void add_cells(std::string& svg, const SentMatrix& matrix) {
  append(svg, "<g transform=\"translate(%.0f,%.0f) scale(%.4f)\">\n", left, top, width / matrix.side);
  for (int32_t from = 0; from < matrix.side; ++from) {
    for (int32_t to = 0; to < matrix.side; ++to) {
      const SentCell& cell = matrix.at(from, to);
      if (cell.bytes == 0) continue;
      const auto bytes = static_cast<double>(cell.bytes);
      append(svg, "<path d=\"M%d %dh1v1h-1z\" fill=\"%s\"><title>%s to %s: %s", to, from,
             colour_of(place_on_scale(matrix, bytes)).c_str(), group_name(matrix, from).c_str(),
             group_name(matrix, to).c_str(), shown_bytes(bytes).c_str());
      if (cell.messages > 0) append(svg, " in %.0f message%s", cell.messages, cell.messages > 1 ? "s" : "");
      svg += "</title></path>\n";
    }
  }
  svg += "</g>\n";
}

// The first rank of every eighth of the side, or of every group.
void add_axes(std::string& svg, const SentMatrix& matrix) {
  append(svg, "<rect x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\" fill=\"none\" stroke=\"#333\"/>\n", left, top,
         width, width);
  append(svg,
         "<text x=\"%.0f\" y=\"14\" text-anchor=\"middle\">receiver</text><text x=\"0\" y=\"%.0f\">sender</text>\n",
         left + width / 2, top + width / 2);
  const double cell = width / matrix.side;
  for (int32_t group = 0; group < matrix.side; group += (matrix.side + 7) / 8) {
    const double middle = (group + 0.5) * cell;
    const int64_t rank = int64_t{group} * matrix.each;
    append(svg, "<text x=\"%.1f\" y=\"%.0f\" text-anchor=\"middle\">%lld</text>", left + middle, top - 6,
           static_cast<long long>(rank));
    append(svg, "<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%lld</text>\n", left - 6, top + middle + 4,
           static_cast<long long>(rank));
  }
}

void add_scale(std::string& svg, const SentMatrix& matrix) {
  const auto least = static_cast<double>(matrix.least);
  const auto most = static_cast<double>(matrix.most);
  const int steps = most > least ? 5 : 1;
  constexpr double step = width / 5, y = top + width + 12;
  for (int i = 0; i < steps; ++i) {
    const bool last = i + 1 == steps;  // as it is, without the error of the power
    const double bytes = last ? most : least * std::pow(most / least, static_cast<double>(i) / (steps - 1));
    append(svg, "<rect x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"12\" fill=\"%s\"/>", left + i * step, y, step,
           colour_of(place_on_scale(matrix, bytes)).c_str());
    append(svg, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"middle\">%s</text>\n", left + (i + 0.5) * step, y + 26,
           shown_bytes(bytes).c_str());
  }
}

}  // namespace

SentMatrix sent_matrix(const Traffic& traffic) {
  SentMatrix matrix;
  matrix.ranks = traffic.ranks;
  matrix.each = std::max(1, (traffic.ranks + most_matrix_cells - 1) / most_matrix_cells);
  matrix.side = (traffic.ranks + matrix.each - 1) / matrix.each;
  matrix.cells.resize(static_cast<size_t>(matrix.side) * static_cast<size_t>(matrix.side));
  for (const Sent& sent : traffic.sends) {
    if (sent.from == sent.to) continue;
    const size_t row = static_cast<size_t>(sent.from / matrix.each) * static_cast<size_t>(matrix.side);
    SentCell& cell = matrix.cells[row + static_cast<size_t>(sent.to / matrix.each)];
    cell.bytes += sent.bytes;
    cell.messages += static_cast<double>(sent.messages);
  }
  for (const SentCell& cell : matrix.cells) {
    if (cell.bytes == 0) continue;
    matrix.least = matrix.least == 0 ? cell.bytes : std::min(matrix.least, cell.bytes);
    matrix.most = std::max(matrix.most, cell.bytes);
  }
  return matrix;
}

double place_on_scale(const SentMatrix& matrix, double bytes) {
  const auto least = static_cast<double>(matrix.least);
  const auto most = static_cast<double>(matrix.most);
  return most > least ? std::clamp(std::log(bytes / least) / std::log(most / least), 0.0, 1.0) : 1;
}

std::string matrix_picture(const SentMatrix& matrix) {
  std::string svg;
  append(svg,
         "<svg viewBox=\"0 0 %.0f %.0f\" style=\"max-width:42em\" role=\"img\" aria-label=\"Bytes between ranks\">\n",
         left + width + 4, top + width + 44);
  add_cells(svg, matrix);
  add_axes(svg, matrix);
  add_scale(svg, matrix);
  return svg + "</svg>\n";
}

std::string matrix_table(const SentMatrix& matrix) {
  std::vector<std::tuple<int64_t, int32_t, int32_t>> rows;
  for (int32_t from = 0; from < matrix.side; ++from) {
    for (int32_t to = 0; to < matrix.side; ++to) {
      if (matrix.at(from, to).bytes > 0) rows.emplace_back(-matrix.at(from, to).bytes, from, to);
    }
  }
  std::sort(rows.begin(), rows.end());
  std::string html =
      "<details><summary>Numbers</summary>\n<table><tr><th>sender</th><th>receiver</th><th>bytes</th><th>messages</th>"
      "</tr>\n";
  for (size_t i = 0; i < std::min(rows.size(), most_rows); ++i) {
    const auto [bytes, from, to] = rows[i];
    append(html, "<tr><td>%s</td><td>%s</td><td>%lld</td>", group_name(matrix, from).c_str(),
           group_name(matrix, to).c_str(), static_cast<long long>(-bytes));
    const double messages = matrix.at(from, to).messages;
    html += messages > 0 ? base::format("<td>%.0f</td></tr>\n", messages) : "<td></td></tr>\n";
  }
  html += "</table>\n";
  if (rows.size() > most_rows) append(html, "<p>%zu more sent less.</p>\n", rows.size() - most_rows);
  return html + "</details>\n";
}

}  // namespace weft::tool
