// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause

// weft crowd: a program alone, then many copies of it at once: how much they hold each other up, and by what.

#include <charconv>
#include <cstdio>

#include "base/cpus.hpp"
#include "base/json.hpp"
#include "base/setting.hpp"
#include "weft/commands.hpp"
#include "weft/crowd_copies.hpp"

namespace weft::tool {
namespace {

constexpr int most_copies = 1000;
constexpr int most_turns = 1000;

struct Options {
  int copies = 2;
  int repeat = 3;
  bool json = false;
  Words program;
};

const char* crowd_usage =
    R"(usage: weft crowd [options] -- program [arguments]
Runs a program (mpiexec with its ranks, usually) alone, then many copies of it at once, and says how much longer they
take, how far they are apart, and which resource of this host they fight for. Nothing else should run here meanwhile.
A cause is named where the effect is larger than the noise of the runs.

  -n COPIES    copies at once; 2 otherwise
  --repeat K   so many times alone, and so many times at once; 3 otherwise, and one tells nothing of the noise
  --json       the result as JSON
)";

bool number_in(const std::string& text, int most, int& value) {
  const char* const end = text.data() + text.size();
  const auto [at, wrong] = std::from_chars(text.data(), end, value);
  return wrong == std::errc() && at == end && value >= 1 && value <= most;
}

bool take(const Words& words, Options& options, std::string& wrong) {
  size_t at = 0;
  for (; at < words.size() && words[at] != "--"; ++at) {
    if (words[at] == "--json") {
      options.json = true;
      continue;
    }
    const bool copies = words[at] == "-n";
    if ((!copies && words[at] != "--repeat") || at + 1 == words.size()) {
      wrong = "the option " + base::quoted(words[at]) + " is not known or has no value";
      return false;
    }
    const std::string& value = words[++at];
    if (!number_in(value, copies ? most_copies : most_turns, copies ? options.copies : options.repeat)) {
      wrong = words[at - 1] + ": " + base::quoted(value) + " is out of range: 1 to 1000";
      return false;
    }
  }
  options.program.assign(words.begin() + static_cast<ptrdiff_t>(std::min(at + 1, words.size())), words.end());
  if (options.program.empty()) wrong = "there is no program behind --";
  return wrong.empty();
}

// False, with a message: copies could not be started, or one failed.
bool run_turns(const Options& options, int copies, std::vector<CrowdTurn>& turns) {
  for (int i = 0; i < options.repeat; ++i) {
    CrowdTurn turn;
    base::Problem problem;
    if (!run_copies(options.program, copies, turn, problem)) {
      fprintf(stderr, "weft: crowd: %s\n", base::describe(problem).c_str());
      return false;
    }
    for (const CopyRun& copy : turn.copies) {
      if (copy.failure.empty()) continue;
      fprintf(stderr, "weft: crowd: a copy of %s %s\n", base::quoted(options.program[0]).c_str(), copy.failure.c_str());
      return false;
    }
    turns.push_back(std::move(turn));
  }
  return true;
}

void print_row(const char* name, const Summary& sum, const Summary& alone) {
  printf("%-8s %10.3f %9.1f%% %10.3f %10.3f", name, sum.seconds.mean, sum.deviation * 100, sum.slowest,
         sum.cpu_seconds.mean);
  printf(" %8.2f\n", alone.seconds.mean > 0 ? sum.seconds.mean / alone.seconds.mean : 0);
}

void print_waiting(const Summary& sum) {
  if (!sum.waiting) {
    printf("null");
    return;
  }
  printf("{\"processors\": %.6g, \"disk\": %.6g, \"memory\": %.6g}", sum.waiting->processors.mean,
         sum.waiting->disk.mean, sum.waiting->memory.mean);
}

void print_json(const char* name, const Summary& sum) {
  printf("\"%s\": {\"seconds\": %.9g, \"deviation\": %.6g, \"slowest\": %.9g, \"cpu_seconds\": %.9g, ", name,
         sum.seconds.mean, sum.deviation, sum.slowest, sum.cpu_seconds.mean);
  printf("\"major_faults\": %.6g, \"waiting\": ", sum.major_faults);
  print_waiting(sum);
  printf("}");
}

void print_verdict(const Verdict& verdict, const Summary& alone) {
  if (verdict.noisy && alone.turns < 2) {
    puts("\nOne run tells nothing of the noise, so nothing can be said. Remedy: --repeat 3 or more");
  } else if (verdict.noisy) {
    printf(
        "\nThe host is too noisy to tell (spread %.0f %%). Remedy: end other programs, give --repeat more, or a\n"
        "program that runs longer\n",
        verdict.noise * 100);
  } else if (verdict.causes.empty() && !verdict.slower) {
    puts("\nNothing is seen that the copies fight for.");
  } else if (verdict.causes.empty()) {
    puts("\nThe copies hold each other up, and nothing that is measured here says by what.");
    if (alone.waiting && alone.waiting->processors.mean > 0.5)
      printf("Beside one copy some task waited for a processor %.0f %% of the time: end other programs.\n",
             alone.waiting->processors.mean * 100);
  } else {
    puts("\nThe copies fight for");
  }
  for (const std::string& cause : verdict.causes) {
    const size_t remedy = cause.find(" Remedy: ");
    printf("- %s\n %s\n", cause.substr(0, remedy).c_str(), cause.substr(remedy).c_str());
  }
}

}  // namespace

int crowd(const Words& words) {
  if (words.size() == 1 && (words[0] == "--help" || words[0] == "-h")) return fputs(crowd_usage, stdout), 0;
  Options options;
  std::string wrong;
  if (!take(words, options, wrong)) {
    fprintf(stderr, "weft: crowd: %s. Remedy: see weft crowd --help\n", wrong.c_str());
    return 2;
  }
  std::vector<CrowdTurn> single;
  std::vector<CrowdTurn> many;
  if (!run_turns(options, 1, single) || !run_turns(options, options.copies, many)) return 1;
  const Summary alone = summary_of(single);
  const Summary crowd = summary_of(many);
  const Verdict verdict = contended(alone, crowd, options.copies, static_cast<int>(base::affinity().count()));
  if (options.json) {
    printf("{\"copies\": %d, \"repeat\": %d,\n ", options.copies, options.repeat);
    print_json("alone", alone);
    printf(",\n ");
    print_json("at_once", crowd);
    printf(",\n \"spread\": %.6g, \"noisy\": %s, \"contended\": [", verdict.noise, verdict.noisy ? "true" : "false");
    for (const std::string& cause : verdict.causes) {
      printf("%s%s", &cause == verdict.causes.data() ? "" : ", ", base::json_text(cause).c_str());
    }
    puts("]}");
    return 0;
  }
  printf("%d copies at once, %d times, and one alone as often; seconds\n", options.copies, options.repeat);
  puts("             mean  deviation    slowest  processor to alone");
  print_row("alone", alone, alone);
  print_row("at once", crowd, alone);
  print_verdict(verdict, alone);
  if (!crowd.waiting) puts("This kernel does not count waiting for processors, disk and memory (/proc/pressure).");
  return 0;
}

}  // namespace weft::tool
