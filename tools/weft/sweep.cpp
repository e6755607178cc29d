// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// "weft sweep": a program under several layouts of ranks and threads, and values of settings, in turn and repeated; a
// table, the best first.

#include <regex.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "base/clock.hpp"
#include "base/cpus.hpp"
#include "base/json.hpp"
#include "base/message.hpp"
#include "base/setting.hpp"
#include "weft/commands.hpp"
#include "weft/job.hpp"
#include "weft/median.hpp"
#include "weft/reach.hpp"
#include "weft/sweep_picture.hpp"
#include "weft/text_file.hpp"

namespace weft::tool {
namespace {

constexpr const char* sweep_usage =
    "usage: weft sweep [options] -- program [arguments]\n\n"
    "Runs a program under each layout and setting, in turn and repeated, and prints a table, the best first.\n\n"
    "  --layouts L     auto: all pairs of ranks and threads that use the processors here, and those that use one\n"
    "                  hardware thread of each core where cores have several; all: also those that leave cores free,\n"
    "                  by half and half again; or a list: 24x2,12x4,8x6\n"
    "  --bindings B,C  each layout under these bindings of mpiexec (core, pack, numa, none), unless they place ranks\n"
    "                  alike; and at the end the cores, caches and NUMA domains that slow layouts reach, and the\n"
    "                  layout that gets more\n"
    "  --set NAME=A,B  also with each of these values of an environment variable; may be repeated\n"
    "  --metric REGEX  not the time of a run but the number that the first group of REGEX matches in its output; the\n"
    "                  last match counts\n"
    "  --more          more of it is better\n"
    "  --repeat N      runs of each (3)\n"
    "  --mpiexec WORDS more options for mpiexec\n"
    "  --out FILE      keeps each run as a line of JSON; runs that are there already are not repeated\n"
    "  --machine M     of another machine (a file of hwloc's or \"numa:2 core:4 pu:2\"): runs nothing, shows the runs\n"
    "                  that --out kept, or without a program what layouts reach\n"
    "  --json          the table as JSON\n"
    "  --plot FILE     draws the table, as SVG: medians as bars, with the least and the most\n";

struct Variable {
  std::string name;
  std::vector<std::string> values;
};

struct Wanted {
  std::vector<Layout> layouts;
  std::vector<Variable> variables;
  std::string metric;
  std::string out;
  std::string plot;
  std::string machine;                  // it is empty for this one
  std::vector<topo::Binding> bindings;  // if there are none, mpiexec chooses
  Words mpiexec;
  Words program;
  int repeat = 3;
  bool more = false;
  bool json = false;
};

// mpiexec's status when it cannot start a program, or finds none.
constexpr int mpiexec_not_started = 126;
constexpr int mpiexec_not_found = 127;

constexpr int most_of_layout = 16384;  // ranks, and threads of each

// A layout with one value for each variable.
struct Case {
  Layout layout;
  std::vector<std::string> values;
  std::string name;  // "12x4 WEFT_EAGER_LIMIT=8K"
  std::vector<double> results;
  int failures = 0;
};

bool number_in(const std::string& text, int least, int& value) {
  const char* end = text.data() + text.size();
  const auto [at, wrong] = std::from_chars(text.data(), end, value);
  return wrong == std::errc() && at == end && value >= least;
}

// All pairs with this product.
void add_pairs(int product, std::vector<Layout>& layouts) {
  for (int ranks = product; ranks >= 1; --ranks) {
    if (product % ranks == 0) layouts.push_back({ranks, product / ranks});
  }
}

// Returns layouts of all hardware threads, and of one of each core; with `less` also of half the cores, a quarter and
// so on.
std::vector<Layout> layouts_of(const topo::Machine& machine, bool less) {
  std::vector<Layout> all;
  const int cores = static_cast<int>(machine.cores.size());
  const int processors = cores == 0 ? base::affinity().count() : machine.allowed.count();
  if (processors != cores) add_pairs(processors, all);
  for (int used = cores; used >= 1; used /= 2) {
    add_pairs(used, all);
    if (!less) break;
  }
  return all;
}

bool read_layouts(const std::string& text, const topo::Machine& machine, std::vector<Layout>& layouts) {
  if (text == "auto" || text == "all") {
    layouts = layouts_of(machine, text == "all");
    return true;
  }
  for (const std::string& part : parts_of(text)) {
    const size_t x = part.find('x');
    Layout layout{};
    if (x == std::string::npos || !number_in(part.substr(0, x), 1, layout.ranks) ||
        !number_in(part.substr(x + 1), 1, layout.threads) || layout.ranks > most_of_layout ||
        layout.threads > most_of_layout) {
      return false;
    }
    layouts.push_back(layout);
  }
  return true;
}

bool read_bindings(const std::string& text, std::vector<topo::Binding>& bindings) {
  for (const std::string& part : parts_of(text)) {
    topo::BindingRequest request;
    if (!topo::parse_binding(part, request).empty() || request.binding == topo::Binding::list) return false;
    bindings.push_back(request.binding);
  }
  return !bindings.empty();
}

// Each layout under each binding, less those that place ranks as an earlier one.
std::vector<Layout> with_bindings(const std::vector<Layout>& layouts, const std::vector<topo::Binding>& bindings,
                                  const topo::Machine& machine) {
  std::vector<Layout> all;
  for (Layout layout : layouts) {
    for (const topo::Binding binding : bindings) {
      layout.binding = binding;
      if (!is_placed_as_one_of(machine, layout, all)) all.push_back(layout);
    }
  }
  return all;
}

bool read_variable(const std::string& text, std::vector<Variable>& variables) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return false;
  variables.push_back({text.substr(0, equals), parts_of(text.substr(equals + 1))});
  return true;
}

Words words_of(const std::string& text) {
  Words words;
  for (size_t at = 0; at < text.size();) {
    const size_t space = std::min(text.find(' ', at), text.size());
    if (space > at) words.push_back(text.substr(at, space - at));
    at = space + 1;
  }
  return words;
}

// mpiexec's own binding has no name, so that runs that were kept without one count as such.
std::string name_of(const Layout& layout) {
  std::string name = std::to_string(layout.ranks) + "x" + std::to_string(layout.threads);
  if (layout.binding != topo::Binding::core) name.append(" ").append(topo::name_of(layout.binding));
  return name;
}

std::vector<Case> cases_of(const Wanted& wanted) {
  std::vector<Case> cases;
  for (const Layout& layout : wanted.layouts) {
    cases.push_back({layout, {}, name_of(layout), {}, 0});
  }
  for (const Variable& variable : wanted.variables) {
    std::vector<Case> more;
    for (const Case& one : cases) {
      for (const std::string& value : variable.values) {
        more.push_back(one);
        more.back().values.push_back(value);
        more.back().name.append(" ").append(variable.name).append("=").append(value);
      }
    }
    cases = std::move(more);
  }
  return cases;
}

// The runs that an earlier sweep kept. Lines of other programs, or that cannot be read, are passed over.
void take_earlier(const Wanted& wanted, const std::string& command, std::vector<Case>& cases) {
  std::ifstream file(wanted.out);
  for (std::string line; std::getline(file, line);) {
    base::Json run;
    base::JsonProblem problem;
    if (!base::parse_json(line, run, problem)) continue;
    const base::Json* name = run.find("case");
    const base::Json* program = run.find("command");
    const base::Json* result = run.find("result");
    if (name == nullptr || program == nullptr || result == nullptr || program->text != command) continue;
    for (Case& one : cases) {
      if (one.name == name->text) one.results.push_back(strtod(result->text.c_str(), nullptr));
    }
  }
}

// A regular expression of POSIX's extended form, with a group around the number.
class Metric {
 public:
  Metric() = default;
  Metric(const Metric&) = delete;
  Metric& operator=(const Metric&) = delete;
  ~Metric() {
    if (good_) regfree(&expression_);
  }
  bool compile(const std::string& text) {
    good_ = regcomp(&expression_, text.c_str(), REG_EXTENDED | REG_NEWLINE) == 0;
    return good_ && expression_.re_nsub >= 1;
  }
  // The last number that it matches.
  bool find(const std::string& output, double& value) const {
    bool found = false;
    regmatch_t match[2];
    for (const char* at = output.c_str(); regexec(&expression_, at, 2, match, 0) == 0;) {
      char* rest = nullptr;
      const double number = strtod(at + match[1].rm_so, &rest);
      if (match[1].rm_so >= 0 && rest > at + match[1].rm_so) {
        value = number;
        found = true;
      }
      at += match[0].rm_eo;
      if (match[0].rm_eo == match[0].rm_so && *at++ == '\0') break;
    }
    return found;
  }

 private:
  regex_t expression_{};
  bool good_ = false;
};

enum class Run { good, failed, not_started };

Run run_case(const Wanted& wanted, const Case& one, const Metric& metric, double& result) {
  for (size_t i = 0; i < wanted.variables.size(); ++i) {
    setenv(wanted.variables[i].name.c_str(), one.values[i].c_str(), 1);
  }
  setenv("OMP_NUM_THREADS", std::to_string(one.layout.threads).c_str(), 1);
  Words words = {own_folder() + "/mpiexec", "-n", std::to_string(one.layout.ranks), "--threads",
                 std::to_string(one.layout.threads)};
  if (!wanted.bindings.empty()) words.insert(words.end(), {"--bind", topo::name_of(one.layout.binding)});
  words.insert(words.end(), wanted.mpiexec.begin(), wanted.mpiexec.end());
  words.insert(words.end(), wanted.program.begin(), wanted.program.end());
  std::string output;
  base::Problem problem;
  const uint64_t begin = base::now_ns();
  int status = 0;
  const bool ran = run(words, output, problem, &status);
  result = static_cast<double>(base::now_ns() - begin) * 1e-9;
  if (!ran) {
    fprintf(stderr, "weft sweep: %s failed: %s\n", one.name.c_str(), problem.cause.c_str());
    const bool can_start = status != mpiexec_not_started && status != mpiexec_not_found;
    return can_start ? Run::failed : Run::not_started;
  }
  if (wanted.metric.empty() || metric.find(output, result)) return Run::good;
  fprintf(stderr, "weft sweep: %s: nothing in the program's output matches --metric\n", one.name.c_str());
  return Run::failed;
}

// Largest less smallest, in percent of the median.
double spread(const std::vector<double>& values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double middle = std::abs(median(values));
  return middle > 0 ? 100 * (*most - *least) / middle : 0;
}

void print_table(const Wanted& wanted, const std::vector<Case>& cases, const topo::Machine& machine) {
  const bool reaches = !wanted.bindings.empty();
  const char* unit = wanted.metric.empty() ? "seconds" : "metric";
  printf("%-40s %12s %10s %8s %6s", "ranks x threads", unit, "to best", "spread", "runs");
  printf("%s\n", reaches ? "  cores caches domains" : "");
  double best = 0;
  for (const Case& one : cases) {
    if (one.results.empty()) {
      printf("%-40s %12s %10s %8s %6s", one.name.c_str(), wanted.machine.empty() ? "failed" : "-", "", "", "");
    } else {
      const double value = median(one.results);
      if (best == 0) best = value;
      printf("%-40s %12.6g %10.2f %7.0f%% %6zu", one.name.c_str(), value, best != 0 ? value / best : 1.0,
             spread(one.results), one.results.size());
    }
    if (reaches) {
      const Reach reach = reach_of(machine, one.layout);
      printf(" %6d %6d %7d", reach.cores, reach.caches, reach.domains);
    }
    putchar('\n');
  }
}

// Returns the share of the speed of the best case, which comes first; 0 if a case has none.
double share_of_best(const Wanted& wanted, const std::vector<Case>& cases, const Case& one) {
  const double best = median(cases[0].results), value = median(one.results);
  const double share = wanted.more ? value / best : best / value;
  return std::isfinite(share) ? share : 0;
}

// Only cases with the best one's values of settings count: others differ by more than their layout.
void print_advice(const Wanted& wanted, const std::vector<Case>& cases, const topo::Machine& machine) {
  if (cases[0].results.empty()) return;
  std::vector<LayoutResult> results;
  for (const Case& one : cases) {
    if (one.results.empty() || one.values != cases[0].values) continue;
    results.push_back({.layout = one.layout,
                       .name = one.name,
                       .reach = reach_of(machine, one.layout),
                       .share = share_of_best(wanted, cases, one),
                       .spread = spread(one.results) / 100});
  }
  printf("\n%s", advice(results, reach_of(machine)).c_str());
}

void print_json(const std::vector<Case>& cases) {
  fputs("[", stdout);
  for (const Case& one : cases) {
    printf("%s{\"case\": %s, \"ranks\": %d, \"threads\": %d, \"binding\": \"%s\", \"failures\": %d, \"results\": [",
           &one == cases.data() ? "" : ",\n ", base::json_text(one.name).c_str(), one.layout.ranks, one.layout.threads,
           topo::name_of(one.layout.binding), one.failures);
    for (const double& value : one.results) printf("%s%.9g", &value == one.results.data() ? "" : ", ", value);
    fputs("]}", stdout);
  }
  fputs("]\n", stdout);
}

bool keep(const Wanted& wanted, const std::string& command, const Case& one, double result) {
  if (wanted.out.empty()) return true;
  std::ofstream file(wanted.out, std::ios::app);
  char number[32];
  snprintf(number, sizeof number, "%.9g", result);
  file << "{\"command\": " << base::json_text(command) << ", \"case\": " << base::json_text(one.name)
       << ", \"result\": " << number << "}\n";
  return static_cast<bool>(file.flush());
}

std::string progress_bar(size_t done, size_t all) {
  constexpr size_t width = 20;
  const size_t filled = done * width / all;
  return "[" + std::string(filled, '#') + std::string(width - filled, ' ') + "]";
}

// False: a run cannot be kept, or the program cannot be started.
bool run_cases(const Wanted& wanted, const Metric& metric, const std::string& command, std::vector<Case>& cases) {
  const size_t all = cases.size() * static_cast<size_t>(wanted.repeat);
  size_t done = 0;
  for (int turn = 0; turn < wanted.repeat; ++turn) {
    for (Case& one : cases) {
      ++done;
      if (one.results.size() + static_cast<size_t>(one.failures) > static_cast<size_t>(turn)) continue;
      if (isatty(STDERR_FILENO) != 0)
        fprintf(stderr, "\r%s %zu of %zu: %-50s", progress_bar(done - 1, all).c_str(), done, all, one.name.c_str());
      double result = 0;
      const Run run = run_case(wanted, one, metric, result);
      if (run == Run::not_started) {
        fprintf(stderr, "weft sweep: no other layout is run, as the program cannot be started. Remedy: see above\n");
        return false;
      }
      if (run == Run::failed) {
        ++one.failures;
      } else {
        one.results.push_back(result);
        if (!keep(wanted, command, one, result)) {
          base::tell({.cause = "a run cannot be written to " + wanted.out,
                      .error = errno,
                      .remedy = "give --out a file that can be written"});
          return false;
        }
      }
    }
  }
  if (isatty(STDERR_FILENO) != 0) fputs("\r\033[K", stderr);
  return true;
}

int sweep(const Wanted& wanted, const Metric& metric, const topo::Machine& machine) {
  std::string command;
  for (const std::string& word : wanted.program) command.append(command.empty() ? "" : " ").append(word);
  std::vector<Case> cases = cases_of(wanted);
  if (!wanted.out.empty()) take_earlier(wanted, command, cases);
  if (wanted.machine.empty() && !run_cases(wanted, metric, command, cases)) return 2;
  std::stable_sort(cases.begin(), cases.end(), [&](const Case& a, const Case& b) {
    if (a.results.empty() || b.results.empty()) return !a.results.empty() && b.results.empty();
    return wanted.more ? median(a.results) > median(b.results) : median(a.results) < median(b.results);
  });
  if (!wanted.plot.empty()) {
    std::vector<SweptCase> swept;
    for (const Case& one : cases) {
      SweptCase& bar = swept.emplace_back();
      bar.name = one.name;
      if (one.results.empty()) continue;
      const auto [least, most] = std::minmax_element(one.results.begin(), one.results.end());
      bar = {one.name, median(one.results), *least, *most, share_of_best(wanted, cases, one), true};
    }
    const std::string title = command + (wanted.metric.empty() ? ": seconds" : ": metric");
    if (!write_text("sweep", "--plot", wanted.plot, picture_of(title, swept))) return 2;
  }
  if (wanted.json) {
    print_json(cases);
  } else {
    print_table(wanted, cases, machine);
    if (!wanted.bindings.empty()) print_advice(wanted, cases, machine);
  }
  const bool failed = std::any_of(cases.begin(), cases.end(), [](const Case& one) { return one.results.empty(); });
  return failed && wanted.machine.empty() ? 1 : 0;
}

int wrong(const std::string& message) {
  fprintf(stderr, "weft sweep: %s. Remedy: see weft sweep --help\n", message.c_str());
  return 2;
}

}  // namespace

int sweep(const Words& words) {
  Wanted wanted;
  std::string layouts = "auto";
  size_t at = 0;
  for (; at < words.size() && words[at] != "--"; ++at) {
    const std::string& word = words[at];
    if (word == "--help" || word == "-h") {
      fputs(sweep_usage, stdout);
      return 0;
    }
    if (word == "--json") {
      wanted.json = true;
      continue;
    }
    if (word == "--more") {
      wanted.more = true;
      continue;
    }
    if (word != "--layouts" && word != "--set" && word != "--metric" && word != "--repeat" && word != "--mpiexec" &&
        word != "--out" && word != "--plot" && word != "--bindings" && word != "--machine") {
      return wrong("there is no option \"" + word.substr(0, 60) + "\"");
    }
    if (at + 1 == words.size()) return wrong(word + " needs a value");
    const std::string& value = words[++at];
    if (word == "--layouts") layouts = value;
    if (word == "--metric") wanted.metric = value;
    if (word == "--out") wanted.out = value;
    if (word == "--plot") wanted.plot = value;
    if (word == "--machine") wanted.machine = value;
    if (word == "--bindings" && !read_bindings(value, wanted.bindings))
      return wrong("--bindings wants some of core,pack,numa,none, not \"" + value + "\"");
    if (word == "--mpiexec") wanted.mpiexec = words_of(value);
    if (word == "--set" && !read_variable(value, wanted.variables))
      return wrong("--set wants NAME=A,B, not \"" + value + "\"");
    if (word == "--repeat" && !number_in(value, 1, wanted.repeat)) return wrong("--repeat wants a number from 1 on");
  }
  if (at < words.size()) wanted.program.assign(words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end());
  const bool elsewhere = !wanted.machine.empty();
  if (wanted.program.empty() && !elsewhere) return wrong("there is no program behind --");
  topo::Machine machine;
  std::string problem;
  if (elsewhere || layouts == "all" || layouts == "auto" || !wanted.bindings.empty()) {
    machine = elsewhere ? topo::machine_of(wanted.machine, problem) : topo::this_machine(topo::Caches::known);
    if (!problem.empty()) return wrong("--machine " + base::quoted(wanted.machine) + problem);
    if (machine.cores.empty() && (layouts != "auto" || !wanted.bindings.empty()))
      return wrong("hwloc does not tell the cores of this machine: leave out --bindings and --layouts all");
  }
  if (!read_layouts(layouts, machine, wanted.layouts))
    return wrong("--layouts wants auto, all or a list as 24x2,12x4, not \"" + layouts + "\"");
  if (!wanted.bindings.empty()) wanted.layouts = with_bindings(wanted.layouts, wanted.bindings, machine);
  Metric metric;
  if (!wanted.metric.empty() && !metric.compile(wanted.metric)) {
    return wrong("--metric wants a regular expression with a group in brackets around the number");
  }
  return sweep(wanted, metric, machine);
}

}  // namespace weft::tool
