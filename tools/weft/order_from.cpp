// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdio>

#include "base/format.hpp"
#include "base/json.hpp"
#include "base/message.hpp"
#include "base/setting.hpp"
#include "weft/grid_plan.hpp"
#include "weft/host_orders.hpp"
#include "weft/order.hpp"
#include "weft/partition.hpp"
#include "weft/text_file.hpp"

namespace weft::tool {
namespace {

using base::append;

struct Request {
  std::string from;
  std::string file;  // it is empty for the default one
  std::vector<int32_t> per_host;
  std::vector<int32_t> levels;
  Metric metric = Metric::sent;
  bool json = false;
};

std::string read_metric(const std::string& text, Metric& metric) {
  for (const auto& [name, value] :
       {std::pair("sent", Metric::sent), std::pair("time", Metric::time), std::pair("hybrid", Metric::hybrid)}) {
    if (text != name) continue;
    metric = value;
    return {};
  }
  return base::quoted(text) + " is none of sent, time and hybrid";
}

struct Option {
  const char* name;
  const char* example;
  std::string (*take)(Request& request, const std::string& value);
};

std::string take_per_host(Request& r, const std::string& value) {
  return read_sides(value, r.per_host);
}
std::string take_file(Request& r, const std::string& value) {
  return read_name(value, r.file);
}

constexpr Option options[] = {
    {"--from", "--from stats.json", [](Request& r, const std::string& value) { return read_name(value, r.from); }},
    {"-n", "-n 4,16", take_per_host},
    {"-N", "-N 4,16", take_per_host},
    {"--ranks-per-host", "--ranks-per-host 4,16", take_per_host},
    {"--metric", "--metric hybrid", [](Request& r, const std::string& value) { return read_metric(value, r.metric); }},
    {"--levels", "--levels 8,4", [](Request& r, const std::string& value) { return read_sides(value, r.levels); }},
    {"-o", "-o MPICH_RANK_ORDER", take_file},
    {"--output", "--output MPICH_RANK_ORDER", take_file},
};

bool read_words(const Words& words, Request& request, base::Problem& problem) {
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--json") {
      request.json = true;
      continue;
    }
    const auto* const option =
        std::find_if(std::begin(options), std::end(options), [&](const Option& o) { return word == o.name; });
    if (option == std::end(options)) {
      return refuse(problem, base::quoted(word) + " is not known beside --from", "see weft order --help");
    }
    const std::string remedy = std::string("write it as in ") + option->example;
    if (++i == words.size()) return refuse(problem, word + " needs a value", remedy);
    const std::string wrong = option->take(request, words[i]);
    if (!wrong.empty()) return refuse(problem, std::string(option->name) + " cannot be used: " + wrong, remedy);
  }
  return true;
}

// The options with the file.
bool check(const Request& request, const Traffic& traffic, base::Problem& problem) {
  if (request.per_host.empty() && traffic.ranks_per_host.empty()) {
    return refuse(problem, base::quoted(request.from) + " does not say how many ranks a host has",
                  "say it, as in -n 16");
  }
  if (request.metric != Metric::sent && traffic.user_seconds.empty()) {
    return refuse(problem, base::quoted(request.from) + " has not the times of all ranks, which --metric needs",
                  "take the file of WEFT_STATS_FILE from a run that came to its end, or --metric sent");
  }
  if (!request.levels.empty() && !can_partition()) {
    return refuse(problem, "--levels needs METIS, and this weft was built without it",
                  "install METIS (apt-get install libmetis-dev) and build Weft again");
  }
  std::vector<int32_t> most = request.per_host;
  if (most.empty()) most = {*std::max_element(traffic.ranks_per_host.begin(), traffic.ranks_per_host.end())};
  for (const int32_t per_host : most) {
    if (request.levels.empty() || request.levels[0] <= per_host) continue;
    return refuse(problem,
                  "--levels has parts of " + std::to_string(request.levels[0]) + " ranks, and a host has " +
                      std::to_string(per_host),
                  "give parts that fit on a host, NUMA domains first, as in -n 16 --levels 8,4");
  }
  for (size_t i = 1; i < request.levels.size(); ++i) {
    if (request.levels[i] <= request.levels[i - 1]) continue;
    return refuse(problem, "--levels has larger parts inside smaller ones",
                  "give the ranks of a NUMA domain first, then those of a cache, as in --levels 8,4");
  }
  return true;
}

double share_of(int64_t bytes, const Traffic& traffic) {
  return traffic.bytes == 0 ? 1 : static_cast<double>(bytes) / static_cast<double>(traffic.bytes);
}

std::vector<int32_t> sides_of(const FoundGrid& grid) {
  std::vector<int32_t> sides;
  for (const Dimension& d : grid.dimensions) sides.push_back(d.side);
  return sides;
}

// "dimension 1", "dimensions 1 and 3" of those for which `has` holds.
template <typename Has>
std::string numbered(const FoundGrid& grid, const Has& has) {
  std::string text;
  size_t count = 0;
  for (size_t d = 0; d < grid.dimensions.size(); ++d) {
    if (!has(grid.dimensions[d])) continue;
    if (count++ > 0) text += " and ";
    text += std::to_string(d + 1);
  }
  return (count > 1 ? "dimensions " : "dimension ") + text;
}

std::string grid_said(const FoundGrid& grid) {
  if (grid.dimensions.empty()) return "No grid was found in the order of the ranks.\n";
  const std::vector<int32_t> sides = sides_of(grid);
  std::string text = "A grid of " + shown_sides(sides, " x ") + " was found. ";
  const auto wraps = [](const Dimension& d) { return d.periodic; };
  const auto closed = std::count_if(grid.dimensions.begin(), grid.dimensions.end(), wraps);
  const auto is_silent = [](const Dimension& d) { return d.silent; };
  const auto silent = std::count_if(grid.dimensions.begin(), grid.dimensions.end(), is_silent);
  if (closed == 0) {
    text += "It does not wrap around.\n";
  } else if (static_cast<size_t>(closed + silent) == grid.dimensions.size()) {
    text += "It wraps around (is periodic).\n";
  } else {
    text += "It wraps around (is periodic) in " + numbered(grid, wraps) + ".\n";
  }
  if (silent > 0) {
    int64_t parts = 1;
    for (const Dimension& d : grid.dimensions) parts *= d.silent ? d.side : 1;
    text += "No messages go along " + numbered(grid, is_silent) + ": these are " + std::to_string(parts) +
            " separate grids of " + std::to_string(static_cast<int64_t>(grid.dimensions.size()) - silent) +
            (static_cast<int64_t>(grid.dimensions.size()) - silent == 1 ? " dimension.\n" : " dimensions.\n");
  }
  append(text, "%.2f %% of the bytes go to neighbours along a dimension, %.2f %% to diagonal ones.\n",
         100 * grid.neighbours, 100 * grid.diagonal);
  if (sides.size() > 1) {
    const std::vector<int32_t> columns(sides.rbegin(), sides.rend());
    text += "Ranks are numbered by rows, the last coordinate changes fastest: -R -g " + shown_sides(sides, ",") +
            " (the same by columns: -C -g " + shown_sides(columns, ",") + ").\n";
  }
  return text;
}

std::string hosts_said(const std::vector<int32_t>& hosts) {
  const auto [least, most] = std::minmax_element(hosts.begin(), hosts.end());
  std::string text = std::to_string(hosts.size()) + (hosts.size() == 1 ? " host of " : " hosts of ");
  const bool last = hosts.size() > 1 && *least != *most &&
                    std::all_of(hosts.begin(), hosts.end() - 1, [&](int32_t h) { return h == hosts[0]; });
  if (last) return text + std::to_string(hosts[0]) + " ranks (the last: " + std::to_string(hosts.back()) + ")";
  if (*least != *most) text += std::to_string(*least) + " to ";
  return text + std::to_string(*most) + " ranks";
}

std::string table_said(const Request& request, const Traffic& traffic, const OrderTable& table) {
  std::string text = hosts_said(table.hosts) + ":\n";
  const bool timed = request.metric != Metric::sent;
  std::string above;
  std::string below;
  append(above, "  %-10s  %12s  %9s  %14s", "Rank", "On-host", "Share of", "WEFT_RANK_");
  append(below, "  %-10s  %12s  %9s  %14s", "order", "bytes/rank", "all bytes", "REORDER_METHOD");
  for (const int32_t size : request.levels) {
    append(above, "  %13s", "Share inside");
    append(below, "  %10d ranks", size);
  }
  if (timed) {
    above += "  User seconds of a host";
    below += "       most  above mean";
  }
  text += above + "\n" + below + "\n";
  for (const HostOrder& order : table.orders) {
    append(text, "  %-10s  %12.3e  %7.2f %%  %14d", order.name, static_cast<double>(order.bytes) / traffic.ranks,
           100 * share_of(order.bytes, traffic), order.method);
    for (const int64_t bytes : order.inside) append(text, "  %11.2f %%", 100 * share_of(bytes, traffic));
    if (timed) {
      append(text, "  %9.3f  %8.2f %%", order.busiest, table.mean > 0 ? 100 * (order.busiest / table.mean - 1) : 0.0);
    }
    text += "\n";
  }
  return text;
}

std::string custom_said(const Request& request, const FoundGrid& grid, const OrderTable& table) {
  std::string text = "Custom: " + table.custom + ".\n";
  if (!table.cell.empty()) {
    text += "The same order: weft order -R -g " + shown_sides(sides_of(grid), ",") + " -c " +
            shown_sides(table.cell, ",") + " -n " + std::to_string(table.hosts[0]) + "\n";
  }
  const auto as_good = std::find_if(table.orders.begin() + 1, table.orders.end(),
                                    [&](const HostOrder& order) { return order.bytes == table.orders[0].bytes; });
  if (table.hosts.size() == 1) {
    text += "All ranks are on one host, so no bytes leave it: -n says how many ranks a host has in other jobs.\n";
  } else if (request.metric == Metric::sent && as_good != table.orders.end() && request.levels.empty()) {
    append(text, "No better order than %s was found (", as_good->name);
    if (as_good->method == 1) {
      text += "the default).\n";
    } else {
      append(text, "WEFT_RANK_REORDER_METHOD=%d needs no file).\n", as_good->method);
    }
  }
  if (!can_partition() && request.metric != Metric::time) {
    text +=
        "This weft was built without METIS: only cells of a grid were compared (apt-get install libmetis-dev, build "
        "again).\n";
  }
  return text;
}

// The lines of a text as comments.
std::string commented(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    out += end > at ? "# " : "#";
    out.append(text, at, end - at);
    out += '\n';
    at = end + 1;
  }
  return out;
}

std::string said_of_run(const Traffic& traffic) {
  std::string text;
  if (!traffic.program.empty()) text += "Program: " + base::quoted(traffic.program) + "\n";
  append(text, "%d ranks sent %.4g bytes to each other.\n", traffic.ranks, static_cast<double>(traffic.bytes));
  return text;
}

std::string order_file(const Request& request, const OrderTable& table, const std::string& explanation,
                       const std::string& path) {
  std::string text =
      "The Custom order of the table below. To run with it:\n"
      "  export WEFT_RANK_REORDER_METHOD=3 WEFT_RANK_REORDER_FILE=" +
      base::quoted(path) + "\n" + "Made by: weft order --from " + base::quoted(request.from) +
      (request.per_host.empty() ? std::string() : " -n " + std::to_string(table.hosts[0]));
  if (request.metric == Metric::time) text += " --metric time";
  if (request.metric == Metric::hybrid) text += " --metric hybrid";
  if (!request.levels.empty()) text += " --levels " + shown_sides(request.levels, ",");
  text = commented(text + "\n\n" + explanation);
  const std::vector<int32_t>& ranks = table.orders[0].ranks;
  size_t slot = 0;
  for (const int32_t count : table.hosts) {
    for (int32_t i = 0; i < count; ++i) text += std::to_string(ranks[slot++]) + ",";
    text.back() = '\n';
  }
  return text;
}

std::string json_grid(const FoundGrid& grid) {
  if (grid.dimensions.empty()) return "null";
  std::string text = "{\"sides\": [" + shown_sides(sides_of(grid), ", ") + "], \"periodic\": [";
  const char* comma = "";
  for (const Dimension& d : grid.dimensions) {
    append(text, "%s%s", comma, d.periodic ? "true" : "false");
    comma = ", ";
  }
  text += "], \"silent\": [";
  comma = "";
  for (const Dimension& d : grid.dimensions) {
    append(text, "%s%s", comma, d.silent ? "true" : "false");
    comma = ", ";
  }
  append(text, "], \"neighbours\": %.6f, \"diagonal\": %.6f}", grid.neighbours, grid.diagonal);
  return text;
}

std::string json_table(const Traffic& traffic, const OrderTable& table, const std::string& path) {
  std::string text = "{\"hosts\": [" + shown_sides(table.hosts, ", ") +
                     "], \"custom\": " + base::json_text(table.custom) + ", \"file\": " + base::json_text(path) +
                     ", \"orders\": [";
  const char* comma = "";
  for (const HostOrder& order : table.orders) {
    append(text, "%s{\"order\": \"%s\", \"method\": %d, \"bytes_per_rank\": %.9g, \"share\": %.6f", comma, order.name,
           order.method, static_cast<double>(order.bytes) / traffic.ranks, share_of(order.bytes, traffic));
    text += ", \"inside\": [";
    comma = "";
    for (const int64_t bytes : order.inside) {
      append(text, "%s%.6f", comma, share_of(bytes, traffic));
      comma = ", ";
    }
    text += "]";
    if (!traffic.user_seconds.empty()) {
      append(text, ", \"busiest_seconds\": %.9g, \"mean_seconds\": %.9g", order.busiest, table.mean);
    }
    text += "}";
    comma = ", ";
  }
  return text + "]}";
}

}  // namespace

int order_from(const Words& words) {
  Request request;
  Traffic traffic;
  base::Problem problem;
  if (!read_words(words, request, problem) || !read_traffic(request.from, traffic, problem) ||
      !check(request, traffic, problem)) {
    fprintf(stderr, "weft: order: %s\n", base::describe(problem).c_str());
    return 2;
  }
  const FoundGrid grid = find_grid(traffic);
  const std::string run = said_of_run(traffic) + grid_said(grid);
  std::string out = run;
  std::string json = "{\"program\": " + base::json_text(traffic.program) +
                     ", \"ranks\": " + std::to_string(traffic.ranks) + ", \"bytes\": " + std::to_string(traffic.bytes) +
                     ", \"grid\": " + json_grid(grid) + ", \"tables\": [";
  std::vector<std::vector<int32_t>> cases;
  for (const int32_t per_host : request.per_host)
    cases.push_back(equal_hosts(traffic.ranks, std::min(per_host, traffic.ranks)));
  if (cases.empty()) cases.push_back(traffic.ranks_per_host);
  for (size_t i = 0; i < cases.size(); ++i) {
    const OrderTable table = compare_orders(traffic, grid, cases[i], request.levels, request.metric);
    std::string path = request.file.empty() ? "MPICH_RANK_ORDER.Grid" : request.file;
    if (cases.size() > 1) path += "." + std::to_string(request.per_host[i]);
    const std::string said = "\n" + table_said(request, traffic, table) + custom_said(request, grid, table);
    if (!write_text("order", "-o", path, order_file(request, table, run + said, path))) return 1;
    out += said + base::quoted(path) +
           " has it: WEFT_RANK_REORDER_METHOD=3 WEFT_RANK_REORDER_FILE=" + base::quoted(path) + "\n";
    json += (i > 0 ? ", " : "") + json_table(traffic, table, path);
  }
  return write_text("order", "", "", request.json ? json + "]}\n" : out) ? 0 : 1;
}

}  // namespace weft::tool
