// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "weft/run_statistics.hpp"

#include <charconv>
#include <cmath>

#include "base/json.hpp"
#include "base/setting.hpp"
#include "weft/text_file.hpp"

namespace weft::tool {
namespace {

constexpr const char* remedy = "give the file that WEFT_STATS_FILE names, from a run with WEFT_STATS=calls or full";

// All of `text` as a number from 0 on.
template <typename Number>
bool read(std::string_view text, Number& number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end && number >= 0 && std::isfinite(static_cast<double>(number));
}

class Hearer {
 public:
  explicit Hearer(RunStatistics& run) : run_(run) {}

  std::string hear(const base::JsonEvent& e) {
    if (e.depth == 0) return e.kind == Kind::object ? "" : "an object is expected";
    if (e.depth == 1) return top(e);
    if (part_ == "matrix" || e.end) return {};
    if (part_ == "run") return in_spread(e, run_.run);
    if (part_ == "mpi") return in_spread(e, run_.mpi);
    if (part_ == "waiting") return in_spread(e, run_.waiting);
    if (part_ == "advice" && e.depth == 2 && e.kind == Kind::text) run_.advice.emplace_back(e.text);
    if (part_ == "settings" && e.depth == 2) run_.settings.emplace_back(e.name, e.text);
    if (part_ == "calls") return in_calls(e);
    if (part_ == "timeline") return in_timeline(e);
    if (part_ == "energy") return in_energy(e);
    if (part_ == "communicators") return in_communicators(e);
    if (part_ == "sites") return in_sites(e);
    if (part_ == "machines") return in_machines(e);
    return part_ == "by_rank" ? in_ranks(e) : "";
  }

 private:
  using Kind = base::Json::ValueKind;

  template <typename Number>
  static std::string take(const base::JsonEvent& e, Number& number) {
    if (e.kind == Kind::number && read(e.text, number)) return {};
    return base::quoted(e.name) + " is no number from 0 on";
  }

  std::string top(const base::JsonEvent& e) {
    part_ = e.end ? "" : e.name;
    if (e.name == "matrix") run_.has_matrix = true;
    if (e.name == "settings") run_.has_settings = true;
    if (e.name == "end" && e.kind == Kind::text) run_.end = e.text;
    if (e.name == "program" && e.kind == Kind::text) run_.program = e.text;
    if (e.name == "crowded") return take(e, run_.crowded);
    return e.name == "ranks" && e.kind == Kind::number ? take(e, run_.ranks) : "";
  }

  static std::string in_spread(const base::JsonEvent& e, Spread& spread) {
    if (e.name == "sum") return take(e, spread.sum);
    if (e.name == "mean") return take(e, spread.mean);
    if (e.name == "deviation") return take(e, spread.deviation);
    if (e.name == "min") return take(e, spread.least);
    if (e.name == "max") return take(e, spread.most);
    if (e.name == "min_rank") return take(e, spread.least_rank);
    return e.name == "max_rank" ? take(e, spread.most_rank) : "";
  }

  std::string in_calls(const base::JsonEvent& e) {
    if (e.depth == 2) {
      run_.calls.emplace_back();
      return {};
    }
    CallStatistics& call = run_.calls.back();
    if (e.depth == 3) {
      inner_ = e.name;
      if (e.name == "call" && e.kind == Kind::text) call.call = e.text;
      if (e.name == "calls") return take(e, call.calls);
      return e.name == "bytes" ? take(e, call.bytes) : "";
    }
    if (inner_ == "seconds") return in_spread(e, call.seconds);
    if (inner_ == "waiting") return in_spread(e, call.waiting);
    if (inner_ != "sizes") return {};
    if (e.depth == 4) {
      call.sizes.emplace_back(-1, 0);
      return {};
    }
    auto& [size, count] = call.sizes.back();
    return take(e, size < 0 ? size : count);
  }

  std::string in_energy(const base::JsonEvent& e) {
    if (e.name == "unknown" && e.kind == Kind::text) run_.energy_unknown = e.text;
    if (e.name == "joules") return take(e, run_.joules);
    if (e.name == "in_mpi") return take(e, run_.joules_in_mpi);
    return e.name == "waiting_awake" ? take(e, run_.joules_waiting_awake) : "";
  }

  std::string in_timeline(const base::JsonEvent& e) {
    if (e.depth == 2) {
      inner_ = e.name;
      return e.name == "seconds" ? take(e, run_.timeline_seconds) : "";
    }
    if (inner_ != "groups") return {};
    if (e.depth == 3) {
      run_.timeline.emplace_back();
      number_ = 0;
      return {};
    }
    TimelineGroup& group = run_.timeline.back();
    if (e.depth == 4 && e.name == "first") return take(e, group.first);
    if (e.depth == 4 && e.name == "ranks") return take(e, group.ranks);
    if (e.depth == 5) {
      group.slices.emplace_back();
      number_ = 0;
    }
    if (e.depth != 6 || group.slices.empty()) return {};
    if (number_ == timeline_parts) return "a slice has more than " + std::to_string(timeline_parts) + " parts";
    return take(e, group.slices.back()[number_++]);
  }

  std::string in_communicators(const base::JsonEvent& e) {
    if (e.depth == 2) {
      run_.communicators.emplace_back();
      return {};
    }
    CommStatistics& comm = run_.communicators.back();
    if (e.depth > 3) return {};
    if (e.name == "size") return take(e, comm.size);
    return e.name == "seconds" ? take(e, comm.seconds) : "";
  }

  std::string in_ranks(const base::JsonEvent& e) {
    if (e.depth == 2) {
      run_.by_rank.emplace_back();
      return {};
    }
    RankStatistics& rank = run_.by_rank.back();
    if (e.depth > 3) return {};
    if (e.name == "processors" && e.kind == Kind::text) rank.processors = e.text;
    if (e.name == "rank") return take(e, rank.rank);
    if (e.name == "host") return take(e, rank.host);
    if (e.name == "seconds") return take(e, rank.seconds);
    if (e.name == "mpi") return take(e, rank.mpi);
    return e.name == "waiting" ? take(e, rank.waiting) : "";
  }

  std::string in_sites(const base::JsonEvent& e) {
    if (e.depth == 2) {
      run_.sites.emplace_back();
      return {};
    }
    SiteStatistics& site = run_.sites.back();
    if (e.depth > 3) return {};
    if (e.name == "call" && e.kind == Kind::text) site.call = e.text;
    if (e.name == "site" && e.kind == Kind::text) site.site = e.text;
    if (e.name == "calls") return take(e, site.calls);
    if (e.name == "bytes") return take(e, site.bytes);
    if (e.name == "seconds") return take(e, site.seconds);
    return e.name == "waiting" ? take(e, site.waiting) : "";
  }

  std::string in_machines(const base::JsonEvent& e) {
    if (e.depth == 2) {
      run_.machines.emplace_back();
      return {};
    }
    MachineStatistics& machine = run_.machines.back();
    if (e.depth == 3 && e.name == "cores" && e.kind == Kind::text) machine.cores = e.text;
    if (e.depth == 3) inner_ = e.name;
    if (e.depth != 4 || inner_ != "hosts") return {};
    machine.hosts.push_back(0);
    return take(e, machine.hosts.back());
  }

  RunStatistics& run_;
  std::string part_;   // the member of the whole that is being read
  std::string inner_;  // in an item of a list
  size_t number_ = 0;  // of a value in its list
};

}  // namespace

bool parse_statistics(std::string_view text, const std::string& name, RunStatistics& run, base::Problem& problem) {
  run = {};
  run.path = name;
  Hearer hearer(run);
  base::JsonProblem wrong;
  if (!base::hear_json(
          text, most_bytes_of_file, [&](const base::JsonEvent& event) { return hearer.hear(event); }, wrong)) {
    problem = {.cause = "the statistics in " + base::quoted(name) + ", line " + std::to_string(wrong.line) +
                        ", cannot be used: " + wrong.what,
               .remedy = remedy};
    return false;
  }
  if (run.calls.empty() && !run.has_matrix) {
    problem = {.cause = "the statistics in " + base::quoted(name) + " have neither \"calls\" nor \"matrix\"",
               .remedy = remedy};
    return false;
  }
  return !run.has_matrix || parse_traffic(text, name, run.traffic, problem);
}

bool read_statistics(const std::string& path, RunStatistics& run, base::Problem& problem) {
  std::string text;
  if (const int error = read_text(path, text)) {
    problem = {
        .cause = "the statistics in " + base::quoted(path) + " cannot be read", .error = error, .remedy = remedy};
    return false;
  }
  return parse_statistics(text, path, run, problem);
}

}  // namespace weft::tool
