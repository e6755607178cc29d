// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>

#include "weft/grid_plan.hpp"

namespace weft::tool {
namespace {

[[gnu::format(printf, 2, 3)]] void add(std::string& out, const char* form, ...) {
  char text[512];
  va_list values;
  va_start(values, form);
  vsnprintf(text, sizeof text, form, values);
  va_end(values);
  out += text;
}

// Light enough for black numbers on it. The golden angle keeps the hues of consecutive hosts far apart, three
// lightnesses those that come near again.
std::string colour_of(int32_t host) {
  const double hue = std::fmod(host * 137.508, 360);
  const double lightness = 0.62 + host % 3 * 0.1;
  constexpr double saturation = 0.7;
  // From hue, saturation, lightness to red, green, blue; not every viewer does it.
  const auto part = [&](int from) {
    const double k = std::fmod(from + hue / 30, 12);
    const double chroma = saturation * std::min(lightness, 1 - lightness);
    return static_cast<int>(255 * (lightness - chroma * std::clamp(std::min(k - 3, 9 - k), -1.0, 1.0)));
  };
  std::string text;
  add(text, "#%02x%02x%02x", part(0), part(8), part(4));
  return text;
}

// Where things are, in pixels.
struct Sheet {
  explicit Sheet(const mpi::Grid& grid) {
    const size_t ndims = grid.dims.size();
    columns = grid.dims[ndims - 1];
    rows = ndims > 1 ? grid.dims[ndims - 2] : 1;
    slices = grid.size() / (rows * columns);
    square = std::clamp(1200 / columns, 8, 30);
    across = std::clamp(1200 / (columns * square + gap), 1, slices);
    width = std::max(margin * 2 + across * (columns * square + gap), 760);
    legend_top = top + ((slices - 1) / across + 1) * (rows * square + gap) + gap;
  }
  [[nodiscard]] int left_of(int slice) const { return margin + slice % across * (columns * square + gap); }
  [[nodiscard]] int top_of(int slice) const { return top + gap + slice / across * (rows * square + gap); }

  static constexpr int margin = 20;
  static constexpr int gap = 28;  // between slices, holds their names
  static constexpr int top = 64;  // below the title
  int columns, rows, slices;
  int square;  // the side of a rank's square
  int across;  // slices beside each other
  int width;
  int legend_top;
};

// The coordinates that all ranks of a slice share: "slice 3", "slice 0,3".
std::string name_of_slice(const mpi::Grid& grid, int slice) {
  std::vector<int32_t> at(grid.dims.size() - 2);
  for (size_t d = at.size(); d-- > 0; slice /= grid.dims[d]) at[d] = slice % grid.dims[d];
  return "slice " + shown_sides(at, ",");
}

class Picture {
 public:
  explicit Picture(const GridPlan& plan) : plan_(plan), sheet_(plan.grid) {}

  std::string draw() {
    for (int slice = 0; slice < sheet_.slices; ++slice) draw_slice(slice);
    const int height = draw_legend();
    std::string head;
    add(head, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" ",
        sheet_.width, height, sheet_.width, height);
    head += "font-family=\"sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
    return head + title() + body_ + borders_ + "</svg>\n";
  }

 private:
  [[nodiscard]] std::string title() const {
    const Neighbours neighbours = count_neighbours(plan_);
    std::string text;
    add(text, "<text x=\"%d\" y=\"30\" font-size=\"20\">%s grid, %d ranks on %d hosts", Sheet::margin,
        shown_sides(plan_.grid.dims).c_str(), plan_.grid.size(), plan_.hosts);
    if (!plan_.cell.empty()) add(text, ", cells %s", shown_sides(plan_.cell).c_str());
    add(text,
        "</text>\n<text x=\"%d\" y=\"52\">A host has at most %lld off-node neighbours; all together %lld off-node, "
        "%lld on-node.</text>\n",
        Sheet::margin, static_cast<long long>(neighbours.most), static_cast<long long>(neighbours.off_node),
        static_cast<long long>(neighbours.on_node));
    return text;
  }

  [[nodiscard]] int32_t host_at(int32_t place) const { return plan_.host_of_place[static_cast<size_t>(place)]; }

  void draw_slice(int slice) {
    if (sheet_.slices > 1) {
      add(body_, "<text x=\"%d\" y=\"%d\">%s</text>\n", sheet_.left_of(slice), sheet_.top_of(slice) - 6,
          name_of_slice(plan_.grid, slice).c_str());
    }
    for (int row = 0; row < sheet_.rows; ++row) {
      for (int column = 0; column < sheet_.columns; ++column) draw_rank(slice, row, column);
    }
  }

  // A square with its rank, and lines where another host begins.
  void draw_rank(int slice, int row, int column) {
    const int32_t place = (slice * sheet_.rows + row) * sheet_.columns + column;
    const int x = sheet_.left_of(slice) + column * sheet_.square;
    const int y = sheet_.top_of(slice) + row * sheet_.square;
    const int side = sheet_.square;
    const int32_t host = host_at(place);
    add(body_, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\" stroke=\"white\"/>", x, y, side, side,
        colour_of(host).c_str());
    constexpr int least_for_numbers = 20;
    if (side >= least_for_numbers) {
      add(body_, "<text x=\"%d\" y=\"%d\" font-size=\"9\" text-anchor=\"middle\">%d</text>", x + side / 2,
          y + side / 2 + 3, plan_.rank_at(place));
    }
    if (column > 0 && host_at(place - 1) != host) draw_line(x, y, x, y + side);
    if (row > 0 && host_at(place - sheet_.columns) != host) draw_line(x, y, x + side, y);
    body_ += '\n';
  }

  void draw_line(int x1, int y1, int x2, int y2) {
    add(borders_, "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"black\" stroke-width=\"2\"/>\n", x1, y1, x2,
        y2);
  }

  // The colours' hosts; returns the height of the sheet.
  int draw_legend() {
    constexpr int most_shown = 64;
    constexpr int entry = 90;
    constexpr int line = 24;
    const int shown = std::min(plan_.hosts, most_shown);
    const int per_line = (sheet_.width - 2 * Sheet::margin) / entry;
    int y = sheet_.legend_top;
    for (int host = 0; host < shown; ++host) {
      const int x = Sheet::margin + host % per_line * entry;
      y = sheet_.legend_top + host / per_line * line;
      add(body_, "<rect x=\"%d\" y=\"%d\" width=\"14\" height=\"14\" fill=\"%s\"/>", x, y, colour_of(host).c_str());
      add(body_, "<text x=\"%d\" y=\"%d\">host %d</text>\n", x + 20, y + 12, host);
    }
    y += line;
    std::string note = "Squares are ranks";
    if (sheet_.slices > 1) note += "; slices are cut across the first coordinates, rows and columns are the last two";
    if (shown < plan_.hosts) note += "; " + std::to_string(plan_.hosts - shown) + " more hosts are not named";
    add(body_, "<text x=\"%d\" y=\"%d\">%s.</text>\n", Sheet::margin, y + 12, note.c_str());
    return y + line + Sheet::margin;
  }

  const GridPlan& plan_;
  const Sheet sheet_;
  std::string body_;
  std::string borders_;  // lines between hosts, above the squares
};

}  // namespace

std::string picture_of(const GridPlan& plan) {
  return Picture(plan).draw();
}

}  // namespace weft::tool
