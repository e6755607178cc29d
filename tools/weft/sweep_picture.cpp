// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "weft/sweep_picture.hpp"

#include <algorithm>
#include <cstdio>

#include "base/format.hpp"
#include "weft/markup.hpp"

namespace weft::tool {
namespace {

using base::format;

constexpr int left = 300, width = 400, right = 100, top = 50, row = 24, bar = 16;

}  // namespace

std::string picture_of(const std::string& title, const std::vector<SweptCase>& cases) {
  double most = 0;
  for (const SweptCase& one : cases) most = std::max(most, one.most);
  const auto x = [&](double value) { return left + (most > 0 ? std::max(value, 0.0) / most * width : 0); };
  std::string svg = format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%zu\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
      left + width + right, static_cast<size_t>(top) + row * (cases.size() + 1));
  svg.append("<text x=\"10\" y=\"24\" font-size=\"14\">").append(as_markup(title)).append("</text>\n");
  int y = top;
  for (const SweptCase& one : cases) {
    svg += format("<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", left - 8, y + bar - 4);
    svg.append(as_markup(one.name)).append("</text>\n");
    if (one.ran) {
      svg += format("<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"#0b6cb8\"/>\n", left, y,
                    x(one.median) - left, bar);
      svg += format("<path d=\"M%.1f %dv%dM%.1f %dh%.1fM%.1f %dv%d\" stroke=\"black\" fill=\"none\"/>\n", x(one.least),
                    y + 4, bar - 8, x(one.least), y + bar / 2, x(one.most) - x(one.least), x(one.most), y + 4, bar - 8);
      svg += format("<text x=\"%.1f\" y=\"%d\">%.6g (%.0f %%)</text>\n", x(one.most) + 6, y + bar - 4, one.median,
                    100 * one.share);
    } else {
      svg += format("<text x=\"%d\" y=\"%d\">no result</text>\n", left + 6, y + bar - 4);
    }
    y += row;
  }
  return svg + "</svg>\n";
}

}  // namespace weft::tool
