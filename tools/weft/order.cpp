// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "weft/order.hpp"

#include <algorithm>
#include <cstdio>

#include "base/message.hpp"
#include "base/setting.hpp"
#include "boot/job/environment.hpp"
#include "weft/commands.hpp"
#include "weft/grid_plan.hpp"
#include "weft/json_object.hpp"
#include "weft/text_file.hpp"

namespace weft::tool {
namespace {

constexpr const char* order_usage =
    "usage: weft order [-R | -C] -g X,Y,... [-c NX,NY,...] [-n RANKS | -H HOSTS] [-o FILE] [--picture FILE.svg] "
    "[--json]\n"
    "       weft order --from FILE [-n RANKS[,RANKS...]] [--metric NAME] [--levels A[,B...]] [-o FILE] [--json]\n\n"
    "Writes an order of ranks for WEFT_RANK_REORDER_METHOD=3, in which few neighbours of a grid are on other hosts.\n\n"
    "  -R              ranks are numbered by rows, as MPI_Cart_create does (the default)\n"
    "  -C              ranks are numbered by columns: the first coordinate changes fastest\n"
    "  -g X,Y,...      the sides of the grid\n"
    "  -c NX,NY,...    the sides of the cell of ranks that a host gets\n"
    "  -n, -N RANKS    ranks of each host; without -c the best cell is looked for\n"
    "  -H HOSTS        the same, said in hosts\n"
    "  -o FILE         writes the order there, MPICH_RANK_ORDER for instance, and prints a summary here\n"
    "  --picture FILE  draws the grid coloured by host, as SVG\n"
    "  --json          prints the order and its numbers as JSON\n\n"
    "From the messages of a run, looks for a grid and compares orders:\n"
    "  --from FILE     who sent how many bytes to whom: the file of WEFT_STATS_FILE, or lines of \"from to bytes\"\n"
    "  -n, -N, --ranks-per-host RANKS,...\n"
    "                  a table for each; without it, the hosts of the run\n"
    "  --metric NAME   sent (the default): few bytes leave hosts; time: hosts compute equally long; hybrid: both\n"
    "  --levels A,B    a host's ranks come in parts of A ranks (NUMA domains), these in parts of B (caches)\n"
    "  -o, --output FILE\n"
    "                  where the order goes: MPICH_RANK_ORDER.Grid otherwise; of several tables .RANKS is added\n"
    "  --json          prints the tables as JSON\n";

using Sides = std::vector<int32_t>;

struct Request {
  bool help = false;
  bool rows = false;
  bool columns = false;
  bool json = false;
  Sides grid;
  Sides cell;
  int32_t per_host = 0;
  int32_t hosts = 0;
  std::string file;
  std::string picture;
};

}  // namespace

std::string read_count(const std::string& text, int32_t& count) {
  int64_t number = 0;
  std::string wrong = base::parse_number(text, base::Unit::none, number);
  if (!wrong.empty()) return wrong;
  if (number < 1 || number > boot::most_ranks) {
    return base::quoted(text) + " is out of range: 1 to " + std::to_string(boot::most_ranks);
  }
  count = static_cast<int32_t>(number);
  return {};
}

std::string read_sides(const std::string& text, Sides& sides) {
  constexpr size_t most_dimensions = 8;
  sides.clear();
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    if (sides.size() == most_dimensions) return base::quoted(text) + " has more than 8 dimensions";
    std::string wrong = read_count(text.substr(at, comma - at), sides.emplace_back());
    if (!wrong.empty()) return wrong;
    at = comma + 1;
  }
  return {};
}

std::string read_name(const std::string& text, std::string& name) {
  name = text;
  return text.empty() ? "it is no name of a file" : "";
}

namespace {

struct Option {
  const char* name;
  const char* example;
  std::string (*take)(Request& request, const std::string& value);
};

std::string take_per_host(Request& request, const std::string& value) {
  return read_count(value, request.per_host);
}

constexpr Option options[] = {
    {"-g", "-g 16,2,8", [](Request& r, const std::string& value) { return read_sides(value, r.grid); }},
    {"-c", "-c 4,2,4", [](Request& r, const std::string& value) { return read_sides(value, r.cell); }},
    {"-n", "-n 32", take_per_host},
    {"-N", "-N 32", take_per_host},
    {"-H", "-H 8", [](Request& r, const std::string& value) { return read_count(value, r.hosts); }},
    {"-o", "-o MPICH_RANK_ORDER", [](Request& r, const std::string& value) { return read_name(value, r.file); }},
    {"--picture", "--picture order.svg",
     [](Request& r, const std::string& value) { return read_name(value, r.picture); }},
};

const Option* option_of(const std::string& name) {
  for (const Option& option : options) {
    if (name == option.name) return &option;
  }
  return nullptr;
}

bool read_words(const Words& words, Request& request, base::Problem& problem) {
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "-R") {
      request.rows = true;
    } else if (word == "-C") {
      request.columns = true;
    } else if (word == "--json") {
      request.json = true;
    } else if (word == "-h" || word == "--help") {
      request.help = true;
    } else if (const Option* option = option_of(word)) {
      const std::string remedy = std::string("write it as in ") + option->example;
      if (++i == words.size()) return refuse(problem, word + " needs a value", remedy);
      const std::string wrong = option->take(request, words[i]);
      if (!wrong.empty()) {
        return refuse(problem, std::string(option->name) + " cannot be used: " + wrong, remedy);
      }
    } else {
      return refuse(problem, base::quoted(word) + " is not known", "see weft order --help");
    }
  }
  return true;
}

int64_t product(const Sides& sides) {
  int64_t ranks = 1;
  for (const int32_t side : sides) {
    if (__builtin_mul_overflow(ranks, int64_t{side}, &ranks)) return INT64_MAX;
  }
  return ranks;
}

// The options as a whole.
bool check(const Request& request, base::Problem& problem) {
  if (request.rows && request.columns) {
    return refuse(problem, "-R and -C are both given", "number ranks by rows (-R) or by columns (-C)");
  }
  if (request.grid.empty()) return refuse(problem, "the grid is missing", "give its sides, as in -g 16,2,8");
  const int64_t size = product(request.grid);
  if (size > boot::most_ranks) {
    return refuse(problem, "-g " + shown_sides(request.grid, ",") + " has too many ranks",
                  "give a grid of at most " + std::to_string(boot::most_ranks));
  }
  const std::string cell = "-c " + shown_sides(request.cell, ",");
  if (!request.cell.empty() && request.cell.size() != request.grid.size()) {
    return refuse(problem, cell + " has not as many dimensions as -g " + shown_sides(request.grid, ","),
                  "give a side of the cell for each side of the grid");
  }
  for (size_t d = 0; d < request.cell.size(); ++d) {
    if (request.cell[d] <= request.grid[d]) continue;
    return refuse(problem, cell + " is larger than the grid in dimension " + std::to_string(d + 1),
                  "give at most " + std::to_string(request.grid[d]) + " there");
  }
  if (request.per_host != 0 && request.hosts != 0) {
    return refuse(problem, "-n and -H are both given",
                  "say how many ranks a host has (-n) or how many hosts there are (-H)");
  }
  if (request.hosts != 0 && size % request.hosts != 0) {
    return refuse(
        problem,
        "-H " + std::to_string(request.hosts) + " hosts cannot have equal shares of " + std::to_string(size) + " ranks",
        "say with -n how many ranks a host has; the last one may have fewer");
  }
  if (request.picture.empty()) return true;
  if (request.cell.empty() && request.per_host == 0 && request.hosts == 0) {
    return refuse(problem, "--picture has no hosts to show", "give a cell (-c), ranks per host (-n) or hosts (-H)");
  }
  if (size > most_in_picture) {
    return refuse(problem, "--picture cannot show " + std::to_string(size) + " ranks",
                  "leave it out, or draw a smaller grid; it shows at most " + std::to_string(most_in_picture));
  }
  return true;
}

GridPlan plan_of(const Request& request) {
  GridPlan plan;
  plan.grid = {request.grid, Sides(request.grid.size())};
  plan.by_columns = request.columns;
  plan.cell = request.cell;
  plan.per_host = request.hosts != 0 ? plan.grid.size() / request.hosts : request.per_host;
  if (plan.per_host == 0 && !plan.cell.empty()) plan.per_host = static_cast<int32_t>(product(plan.cell));
  make_plan(plan);
  return plan;
}

// How the order was made, as comments.
std::string description(const Request& request, const GridPlan& plan) {
  std::string text = std::string("# weft order ") + (plan.by_columns ? "-C" : "-R");
  text += " -g " + shown_sides(request.grid, ",");
  if (!request.cell.empty()) text += " -c " + shown_sides(request.cell, ",");
  if (request.per_host != 0) text += " -n " + std::to_string(request.per_host);
  if (request.hosts != 0) text += " -H " + std::to_string(request.hosts);
  text += "\n# " + std::to_string(plan.grid.size()) + " ranks in a " + shown_sides(plan.grid.dims) +
          " grid, numbered by " + (plan.by_columns ? "columns" : "rows") + ", ";
  if (plan.cell.empty()) {
    text += "in parts of different shapes: no cell of " + std::to_string(plan.per_host) + " ranks tiles the grid";
  } else {
    text += "in cells of " + shown_sides(plan.cell);
  }
  if (plan.shapes > 0) {
    text += plan.shapes == 1 ? ", the only shape of " : ", best of the " + std::to_string(plan.shapes) + " shapes of ";
    text += std::to_string(plan.per_host) + " ranks that " + (plan.shapes == 1 ? "tiles the grid" : "tile the grid");
  }
  text += "\n";
  if (plan.hosts == 0) return text;
  const Neighbours neighbours = count_neighbours(plan);
  const int32_t rest = plan.grid.size() % plan.per_host;
  text += "# " + std::to_string(plan.hosts) + " hosts of " + std::to_string(plan.per_host) + " ranks" +
          (rest != 0 ? " (the last: " + std::to_string(rest) + ")" : "") + ": a host has at most " +
          std::to_string(neighbours.most) + " off-node neighbours; all together " +
          std::to_string(neighbours.off_node) + " off-node, " + std::to_string(neighbours.on_node) + " on-node\n";
  return text;
}

std::string listed(const GridPlan& plan) {
  std::string text;
  for (const auto& line : plan.lines) {
    for (const int32_t place : line) text += std::to_string(plan.rank_at(place)) + ",";
    text.back() = '\n';
  }
  return text;
}

std::string as_json(const GridPlan& plan) {
  const auto numbers = [](const auto& list, auto&& number) {
    std::vector<std::string> texts;
    texts.reserve(list.size());
    for (const int32_t one : list) texts.push_back(std::to_string(number(one)));
    return json_list(texts, ", ");
  };
  const auto same = [](int32_t number) { return number; };
  std::vector<std::string> lines;
  lines.reserve(plan.lines.size());
  for (const auto& line : plan.lines)
    lines.push_back(numbers(line, [&](int32_t place) { return plan.rank_at(place); }));
  JsonObject answer;
  answer.value("grid", numbers(plan.grid.dims, same))
      .text("numbered_by", plan.by_columns ? "columns" : "rows")
      .value("cell", numbers(plan.cell, same))
      .list("order", lines);
  if (plan.hosts == 0) return answer.json();
  const Neighbours neighbours = count_neighbours(plan);
  return answer.whole("hosts", plan.hosts)
      .whole("ranks_per_host", plan.per_host)
      .whole("most_off_node", neighbours.most)
      .whole("off_node", neighbours.off_node)
      .whole("on_node", neighbours.on_node)
      .json();
}

}  // namespace

int order(const Words& words) {
  if (std::find(words.begin(), words.end(), "--from") != words.end()) return order_from(words);
  Request request;
  base::Problem problem;
  if (!read_words(words, request, problem) || (!request.help && !check(request, problem))) {
    fprintf(stderr, "weft: order: %s\n", base::describe(problem).c_str());
    return 2;
  }
  if (request.help) return fputs(order_usage, stdout) < 0 ? 1 : 0;
  const GridPlan plan = plan_of(request);
  const std::string what = description(request, plan);
  if (!request.file.empty() && !write_text("order", "-o", request.file, what + listed(plan))) return 1;
  if (!request.picture.empty() && !write_text("order", "--picture", request.picture, picture_of(plan))) return 1;
  if (request.json) return write_text("order", "", "", as_json(plan) + "\n") ? 0 : 1;
  return write_text("order", "", "", request.file.empty() ? what + listed(plan) : what) ? 0 : 1;
}

}  // namespace weft::tool
