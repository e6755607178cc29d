// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "weft/gain.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "base/bytes.hpp"
#include "base/json.hpp"
#include "base/setting.hpp"
#include "boot/job/environment.hpp"
#include "coll/select/table.hpp"
#include "stats/sizes.hpp"
#include "weft/simulation.hpp"
#include "weft/text_file.hpp"

namespace weft::tool {
namespace {

using coll::Algorithm;
using coll::Collective;

constexpr double worth = 0.05;          // of the time of all ranks: less is not worth a change
constexpr double simulated_gain = 0.8;  // the model tells factors, not some per cent
constexpr double measured_gain = 0.95;  // as weft tune decides
constexpr size_t most_lines = 5;
constexpr int64_t room = int64_t{1} << 26;  // bytes of plans: a second or two

// ---- The file of weft tune

void take_figures(const base::Json& figures, const MeasuredTimes& of, std::vector<MeasuredTimes>& times) {
  if (figures.kind == base::Json::ValueKind::list) {
    for (const base::Json& one : figures.items) take_figures(one, of, times);
    return;
  }
  const base::Json* bytes = figures.kind == base::Json::ValueKind::object ? figures.find("bytes") : nullptr;
  const base::Json* us = bytes != nullptr ? figures.find("us") : nullptr;
  MeasuredTimes one = of;
  if (us == nullptr || us->kind != base::Json::ValueKind::object || !bytes->whole(one.bytes) || one.bytes < 0) return;
  for (size_t i = 0; i < us->items.size(); ++i) {
    Algorithm algorithm{};
    const double time =
        us->items[i].kind == base::Json::ValueKind::number ? strtod(us->items[i].text.c_str(), nullptr) : 0;
    if (time > 0 && std::isfinite(time) && coll::find_algorithm(one.collective, us->names[i], algorithm)) {
      one.us.emplace_back(algorithm, time);
    }
  }
  times.push_back(std::move(one));
}

// Takes the measured times of a row, or of an entry of sizes where the default stays. They were measured in jobs with
// as many ranks as the row's upper end.
void take_entry(const base::Json& entry, std::vector<MeasuredTimes>& times) {
  if (entry.kind != base::Json::ValueKind::object) return;
  const base::Json* collective = entry.find("collective");
  const base::Json* ranks = entry.find("ranks");
  const base::Json* hosts = entry.find("hosts");
  const base::Json* figures = entry.find("measured");
  MeasuredTimes of;
  if (collective == nullptr || ranks == nullptr || figures == nullptr) return;
  if (ranks->kind == base::Json::ValueKind::list && !ranks->items.empty()) ranks = &ranks->items.back();
  if (!coll::find_collective(collective->text, of.collective) || !ranks->whole(of.ranks)) return;
  if (hosts != nullptr && !hosts->whole(of.hosts)) return;
  take_figures(*figures, of, times);
}

// ---- The run

struct Placement {
  int32_t ranks = 0;
  int32_t ranks_per_host = 0;
  int32_t hosts = 0;
  std::string unknown;  // why it cannot be simulated
};

Placement placement_of(const RunStatistics& run) {
  Placement at;
  if (run.ranks < 2 || run.ranks > boot::most_ranks) {
    at.unknown = run.ranks < 2 ? "the file names no other ranks" : "there are too many ranks";
    return at;
  }
  at.ranks = static_cast<int32_t>(run.ranks);
  if (run.by_rank.size() != static_cast<size_t>(run.ranks)) {
    at.unknown = "the file lists the hosts of " + std::to_string(run.by_rank.size()) + " ranks alone";
    return at;
  }
  const auto first = static_cast<int64_t>(std::count_if(
      run.by_rank.begin(), run.by_rank.end(), [&](const RankStatistics& r) { return r.host == run.by_rank[0].host; }));
  for (int64_t r = 0; r < run.ranks; ++r) {
    const RankStatistics& rank = run.by_rank[static_cast<size_t>(r)];
    if (rank.rank == r && rank.host == r / first * first) continue;
    at.unknown = "hosts have different numbers of ranks, or ranks that do not follow each other";
    return at;
  }
  at.ranks_per_host = static_cast<int32_t>(first);
  at.hosts = static_cast<int32_t>((run.ranks + first - 1) / first);
  return at;
}

struct Use {
  Collective collective = Collective::barrier;
  const CallStatistics* call = nullptr;
  std::vector<std::pair<int64_t, double>> sizes;  // bytes as weft simulate has them, and the number of calls
};

bool collective_of(const std::string& call, Collective& collective) {
  if (!call.starts_with("MPI_")) return false;
  std::string name = call.substr(4);
  for (char& c : name) c = static_cast<char>(tolower(static_cast<unsigned char>(c)));
  if (name == "reduce_scatter_block") name = "reduce_scatter";
  if (name == "exscan") name = "scan";
  if (name == "alltoallw") name = "alltoallv";
  return coll::find_collective(name, collective);
}

// The sizes of a call that matter; a class of sizes stands for its middle, the only one for the mean.
std::vector<std::pair<int64_t, double>> sizes_of(const CallStatistics& call, Collective collective, int32_t ranks) {
  const Collective form = coll::regular_form(collective);
  const int64_t parts = form == Collective::alltoall || form == Collective::reduce_scatter ? ranks : 1;
  const auto unit = [&](int64_t bytes) { return bytes / parts; };
  if (call.sizes.size() <= 1) {
    return {{unit(call.calls > 0 ? call.bytes / call.calls : 0), static_cast<double>(call.calls)}};
  }
  constexpr double least = 0.01;  // of the calls
  constexpr size_t most = 4;
  std::vector<std::pair<int64_t, double>> sizes;
  for (const auto& [from, count] : call.sizes) {
    if (static_cast<double>(count) < least * static_cast<double>(call.calls)) continue;
    if (from >= most_bytes / 2) continue;
    sizes.emplace_back(unit(from + from / 2), static_cast<double>(count));
  }
  // The sizes that cost most are kept: each call costs something, and so do its bytes.
  const auto weight = [](const auto& size) { return size.second * (4096 + static_cast<double>(size.first)); };
  std::sort(sizes.begin(), sizes.end(), [&](const auto& a, const auto& b) { return weight(a) > weight(b); });
  if (sizes.size() > most) sizes.resize(most);
  return sizes;
}

// ---- The choice of algorithms in the run

// False: the run's settings cannot be had here; `why` says which.
bool take_settings(const RunStatistics& run, std::vector<coll::Row>& rows, std::string& why) {
  std::string file;
  for (base::SettingRow* row : base::all_settings()) {
    const std::string name = row->text().name;
    const bool tuning = name == "WEFT_TUNING";
    if (!tuning && !name.ends_with("_ALGORITHM") && !name.ends_with("_SHORT_MSG")) continue;
    const auto given =
        std::find_if(run.settings.begin(), run.settings.end(), [&](const auto& one) { return one.first == name; });
    const std::string value = given != run.settings.end() ? given->second : tuning ? "" : row->shown_default();
    if (tuning) {
      file = value;
    } else if (const std::string wrong = row->parse(value); !wrong.empty()) {
      why.append("the run's ").append(name).append(" cannot be used here: ").append(wrong);
      return false;
    }
  }
  for (const char* name : {"WEFT_COLL_LEADERS", "WEFT_OFFLOAD", "WEFT_REPRODUCIBLE"}) {
    const bool given =
        std::any_of(run.settings.begin(), run.settings.end(), [&](const auto& one) { return one.first == name; });
    if (!given) continue;
    why = std::string("the run had ") + name + ", which changes what algorithms can be taken";
    return false;
  }
  rows = coll::rows_of_settings();
  if (file.empty()) return true;
  std::vector<coll::Row> of_file;
  base::Problem problem;
  if (!coll::read_table(file, of_file, problem)) {
    why = "the run's WEFT_TUNING cannot be read here";
    return false;
  }
  rows.insert(rows.end(), of_file.begin(), of_file.end());
  return true;
}

// Bytes as the table of algorithms has them.
int64_t table_bytes(Collective collective, int64_t bytes, int32_t ranks) {
  const Collective form = coll::regular_form(collective);
  if (!coll::knows_bytes(collective)) return 0;
  return form == Collective::allgather || form == Collective::reduce_scatter ? bytes * ranks : bytes;
}

// ---- Times

struct Candidate {
  Algorithm algorithm = Algorithm::automatic;
  double time = 0;
};

// How long all calls of a use take by each algorithm, where each size can go by it; those that cannot go the usual way.
struct Times {
  std::string unknown;
  double now = 0;
  std::vector<Algorithm> in_force;  // by size
  std::vector<Candidate> others;
};

// Times of one size: {algorithm, seconds}.
using SizeTimes = std::vector<std::pair<Algorithm, double>>;

const double* time_of(const SizeTimes& times, Algorithm algorithm) {
  const auto at = std::find_if(times.begin(), times.end(), [&](const auto& one) { return one.first == algorithm; });
  return at != times.end() ? &at->second : nullptr;
}

// False: the algorithm in force has no time for one of the sizes.
bool add_up(const Use& use, const std::vector<SizeTimes>& times, Times& sums) {
  for (size_t i = 0; i < use.sizes.size(); ++i) {
    const double* now = time_of(times[i], sums.in_force[i]);
    if (now == nullptr) return false;
    sums.now += use.sizes[i].second * *now;
  }
  for (const Algorithm one : coll::algorithms_of(use.collective).subspan(1)) {
    Candidate candidate{one, 0};
    bool differs = false;
    for (size_t i = 0; i < use.sizes.size(); ++i) {
      const double* time = time_of(times[i], one);
      differs |= time != nullptr && one != sums.in_force[i];
      if (time == nullptr) time = time_of(times[i], sums.in_force[i]);
      candidate.time += use.sizes[i].second * *time;
    }
    if (differs) sums.others.push_back(candidate);
  }
  return true;
}

// The nearest size that was measured for such a job, within a factor of four.
SizeTimes measured_times(const Machine& machine, const Use& use, const Placement& at, int64_t bytes) {
  constexpr double near = 4;
  const auto distance = [&](int64_t other) {
    return std::abs(
        std::log(static_cast<double>(std::max<int64_t>(other, 1)) / static_cast<double>(std::max<int64_t>(bytes, 1))));
  };
  const MeasuredTimes* nearest = nullptr;
  for (const MeasuredTimes& one : machine.times) {
    if (one.collective != use.collective || one.ranks != at.ranks || (one.hosts != 0 && one.hosts != at.hosts))
      continue;
    if (nearest == nullptr || distance(one.bytes) < distance(nearest->bytes)) nearest = &one;
  }
  SizeTimes times;
  if (nearest == nullptr || distance(nearest->bytes) > std::log(near)) return times;
  for (const auto& [algorithm, us] : nearest->us) times.emplace_back(algorithm, us * 1e-6);
  return times;
}

SizeTimes simulated_times(const Machine& machine, const Use& use, const Placement& at, int64_t bytes,
                          std::vector<Outcome>& outcomes) {
  const int64_t sent = std::min(bytes, most_bytes / at.ranks);
  outcomes = simulate({use.collective, at.ranks, at.ranks_per_host, at.ranks_per_host, sent}, machine.model, room);
  SizeTimes times;
  for (const Outcome& o : outcomes) {
    if (o.left_out.empty()) times.emplace_back(o.algorithm, o.time);
  }
  return times;
}

std::string percents(double part, double whole) {
  char text[16];
  snprintf(text, sizeof text, "%.0f %%", whole > 0 ? 100 * part / whole : 0);
  return text;
}

std::string factor(double value) {
  char text[16];
  snprintf(text, sizeof text, value < 0.1 ? "%.2f" : "%.1f", value);
  return text;
}

std::string size_text(const CallStatistics& call) {
  const auto count = [](int64_t number) { return static_cast<uint64_t>(std::max<int64_t>(number, 0)); };
  uint64_t sizes[stats::size_classes] = {};
  for (const auto& [low, calls] : call.sizes) sizes[stats::size_class(count(low))] += count(calls);
  if (call.sizes.empty())
    return base::shown_bytes(count(call.bytes) / std::max<uint64_t>(count(call.calls), 1)) + " on average";
  return stats::sizes_text(sizes, count(call.bytes));
}

std::string setting_of(Collective collective) {
  std::string text = std::string("WEFT_") + coll::name(collective) + "_ALGORITHM";
  for (char& c : text) c = static_cast<char>(toupper(static_cast<unsigned char>(c)));
  return text;
}

class Adviser {
 public:
  Adviser(const RunStatistics& run, const Machine& machine) : run_(run), machine_(machine), at_(placement_of(run)) {
    const bool readable = take_settings(run, rows_, why_);
    if (readable && !at_.unknown.empty()) why_ = at_.unknown;
    if (why_.empty() && has_other_communicators())
      why_ = "much of the time is in other communicators than MPI_COMM_WORLD";
  }

  std::string line(const Use& use) const {
    const CallStatistics& call = *use.call;
    std::string text = call.call;
    if (use.collective != Collective::barrier) text += " of " + size_text(call);
    text += " takes " + percents(call.seconds.sum, run_.run.sum) + " of the time, " +
            percents(call.waiting.sum, call.seconds.sum) + " of that waiting: ";
    const std::string unknown = "it cannot be known whether another algorithm would take less: ";
    if (!why_.empty()) return text + unknown + why_;
    Times times;
    for (const auto& [bytes, calls] : use.sizes) times.in_force.push_back(in_force(use.collective, bytes));
    if (by_measurement(use, times)) return text + verdict(use, times, measured_gain, measured_words());
    times.now = 0;
    times.others.clear();
    if (by_simulation(use, times)) return text + verdict(use, times, simulated_gain, simulated_words());
    return text + unknown + times.unknown;
  }

 private:
  // Whether communicators of fewer ranks have more than a tenth of the time, as far as the file tells.
  bool has_other_communicators() const {
    double all = 0;
    double world = 0;
    for (const CommStatistics& comm : run_.communicators) {
      all += comm.seconds;
      if (comm.size == run_.ranks) world += comm.seconds;
    }
    return all > 0 && world < 0.9 * all;
  }

  coll::Shape shape() const {
    coll::Shape shape{.ranks = at_.ranks, .hosts = at_.hosts, .ranks_per_host = at_.ranks_per_host};
    shape.leaders = at_.hosts > 1 && at_.ranks_per_host > 1;
    shape.crowded = at_.hosts == 1 && run_.crowded > 0;
    shape.shared = at_.hosts == 1 && at_.ranks <= coll::most_sharing;
    return shape;
  }

  Algorithm in_force(Collective collective, int64_t bytes) const {
    const coll::Algorithms able =
        coll::without_parts(coll::Algorithms::blocking(), collective, bytes < at_.ranks)
            .without(Algorithm::neighbours, at_.ranks % 2 != 0)
            .without(Algorithm::doubling, collective == Collective::allgather && (at_.ranks & (at_.ranks - 1)) != 0);
    return coll::compile(shape(), rows_).choose(collective, table_bytes(collective, bytes, at_.ranks), able);
  }

  bool by_measurement(const Use& use, Times& times) const {
    std::vector<SizeTimes> sizes;
    for (const auto& [bytes, calls] : use.sizes) {
      sizes.push_back(measured_times(machine_, use, at_, table_bytes(use.collective, bytes, at_.ranks)));
    }
    return add_up(use, sizes, times);
  }

  bool by_simulation(const Use& use, Times& times) const {
    std::vector<SizeTimes> sizes;
    for (size_t i = 0; i < use.sizes.size(); ++i) {
      const Algorithm now = times.in_force[i];
      std::vector<Outcome> outcomes;
      sizes.push_back(simulated_times(machine_, use, at_, use.sizes[i].first, outcomes));
      const auto own =
          std::find_if(outcomes.begin(), outcomes.end(), [&](const Outcome& o) { return o.algorithm == now; });
      if (own != outcomes.end() && own->left_out.empty()) continue;
      times.unknown = std::string(coll::name(now)) + ", its algorithm now, cannot be simulated" +
                      (own != outcomes.end() ? " (" + own->left_out + ")" : "") + "; weft tune -n " +
                      std::to_string(at_.ranks) + " --only " + coll::name(use.collective) +
                      " measures it and the others, for --measured FILE";
      return false;
    }
    return add_up(use, sizes, times);
  }

  std::string verdict(const Use& use, const Times& times, double enough, const std::string& source) const {
    const auto best = std::min_element(times.others.begin(), times.others.end(),
                                       [](const Candidate& a, const Candidate& b) { return a.time < b.time; });
    std::string now = coll::name(times.in_force[0]);
    for (const Algorithm one : times.in_force) {
      if (one != times.in_force[0]) now = "the table's choices";
    }
    if (best == times.others.end() || times.now <= 0 || best->time > enough * times.now) {
      return "no other algorithm would take much less than " + now + " (" + source + ")";
    }
    return setting_of(use.collective) + "=" + coll::name(best->algorithm) + " would take " +
           factor(best->time / times.now) + " of the time of " + now + " (" + source + ")";
  }

  std::string job_words() const {
    return std::to_string(at_.ranks) + " ranks, " + std::to_string(at_.ranks_per_host) + " on a host";
  }
  std::string measured_words() const { return "measured by weft tune with " + job_words() + assumptions(); }
  std::string simulated_words() const {
    return "simulated with " + job_words() + (machine_.has_model ? ", measured model" : ", default model") +
           assumptions();
  }
  std::string assumptions() const {
    std::string text;
    if (run_.communicators.empty()) text += "; as if all calls were on MPI_COMM_WORLD: WEFT_STATS=calls tells";
    if (!run_.has_settings) text += "; as if no setting chose the algorithm: the file does not tell";
    return text;
  }

  const RunStatistics& run_;
  const Machine& machine_;
  const Placement at_;
  std::vector<coll::Row> rows_;
  std::string why_;  // nothing can be known
};

}  // namespace

bool read_machine(const std::string& path, Machine& machine, base::Problem& problem) {
  machine = {};
  std::string text;
  base::Json json;
  base::JsonProblem wrong;
  const std::string named = "--measured " + base::quoted(path);
  const char* remedy = "name a file that weft tune has written";
  if (const int error = read_text(path, text)) {
    problem = {.cause = named + " cannot be read", .error = error, .remedy = remedy};
    return false;
  }
  if (!base::parse_json(text, json, wrong)) {
    problem = {.cause = named + " cannot be used: line " + std::to_string(wrong.line) + ": " + wrong.what,
               .remedy = remedy};
    return false;
  }
  const bool object = json.kind == base::Json::ValueKind::object;
  const base::Json* rows = object ? json.find("rows") : nullptr;
  const base::Json* measured = object ? json.find("measured") : nullptr;
  const bool has_measured = measured != nullptr && measured->kind == base::Json::ValueKind::object;
  const base::Json* unchanged = has_measured ? measured->find("unchanged") : nullptr;
  for (const base::Json* list : {rows, unchanged}) {
    if (list == nullptr || list->kind != base::Json::ValueKind::list) continue;
    for (const base::Json& entry : list->items) take_entry(entry, machine.times);
  }
  machine.has_model = has_measured && measured->find("model") != nullptr;
  if (machine.has_model) return read_model_file(path, machine.model, problem);
  if (!machine.times.empty()) return true;
  problem = {.cause = named + " has neither a measured model nor measured times", .remedy = remedy};
  return false;
}

std::vector<std::string> algorithm_advice(const RunStatistics& run, const Machine& machine) {
  std::vector<Use> uses;
  for (const CallStatistics& call : run.calls) {
    Use use{.call = &call};
    if (run.run.sum <= 0 || call.calls == 0 || call.seconds.sum < worth * run.run.sum) continue;
    if (!collective_of(call.call, use.collective) || run.ranks < 2 || run.ranks > boot::most_ranks) continue;
    use.sizes = sizes_of(call, use.collective, static_cast<int32_t>(run.ranks));
    if (!use.sizes.empty()) uses.push_back(std::move(use));
  }
  std::stable_sort(uses.begin(), uses.end(),
                   [](const Use& a, const Use& b) { return a.call->seconds.sum > b.call->seconds.sum; });
  if (uses.size() > most_lines) uses.resize(most_lines);
  std::vector<std::string> lines;
  if (uses.empty()) return lines;
  const Adviser adviser(run, machine);
  lines.reserve(uses.size());
  for (const Use& use : uses) lines.push_back(adviser.line(use));
  return lines;
}

}  // namespace weft::tool
