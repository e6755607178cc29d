// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/message.hpp"
#include "base/setting.hpp"
#include "boot/job/environment.hpp"
#include "weft/commands.hpp"
#include "weft/simulation.hpp"

namespace weft::tool {
namespace {

constexpr const char* simulate_usage =
    "usage: weft simulate --coll NAME --ranks N,... [--ppn N] [--domain N] [--size BYTES] [--algorithm NAME]\n"
    "                     [--measured FILE] [--model NAME=VALUE,...] [--json] [--picture FILE]\n\n"
    "Plays a collective operation by each of its algorithms, rank by rank, under a model of a machine (LogGP with\n"
    "hosts), and prints how long each takes.\n\n"
    "  --coll NAME     barrier, bcast, gather(v), scatter(v), allgather(v), alltoall(v), reduce, allreduce,\n"
    "                  reduce_scatter, scan\n"
    "  --ranks N,...   up to 1048576; of several numbers each is simulated\n"
    "  --ppn N         ranks on a host (default: all)\n"
    "  --domain N      ranks in a NUMA domain of a host (default: all of the host)\n"
    "  --size BYTES    the data of a rank, or a block (default: 8)\n"
    "  --algorithm NAME  this one alone (default: each)\n"
    "  --measured FILE the model that weft tune measured\n"
    "  --model ...     parts of the model, times in seconds: latency, overhead, per_byte (between hosts), "
    "local_latency,\n"
    "                  local_overhead, local_per_byte, far_latency, far_overhead, far_per_byte (between domains), gap "
    "(of a host's network interface), copy (for each byte),\n"
    "                  unexpected (for a message that comes before its receive), incast (for one that finds others\n"
    "                  waiting to enter its host): latency=2e-6,gap=1e-7\n"
    "  --json          a list with an object for each algorithm; times in seconds\n"
    "  --picture FILE  draws times over ranks, as an SVG\n\n"
    "* is the algorithm of the default table.\n";

constexpr int64_t room = int64_t{1} << 30;  // for all plans; messages under way come on top

struct Wish {
  bool help = false;
  bool json = false;
  bool has_collective = false;
  std::string algorithm;
  std::string picture;
  std::vector<int32_t> ranks;
  Operation operation{coll::Collective::barrier, 0, 0, 0, 8};  // its ranks are those of each in turn
  Model model;
};

bool refuse(base::Problem& problem, const std::string& cause) {
  problem = {.cause = cause, .remedy = "see weft simulate --help"};
  return false;
}

bool read_collective(const std::string& text, Wish& wish, base::Problem& problem) {
  wish.has_collective = coll::find_collective(text, wish.operation.collective);
  return wish.has_collective || refuse(problem, "--coll: " + base::quoted(text) + " is no collective of the table");
}

bool read_count(const std::string& word, const std::string& text, int64_t least, int64_t most, int64_t& number,
                base::Problem& problem) {
  const base::Unit unit = word == "--size" ? base::Unit::bytes : base::Unit::none;
  std::string wrong = base::parse_number(text, unit, number);
  if (wrong.empty() && (number < least || number > most)) {
    wrong = base::quoted(text) + " is out of range: " + std::to_string(least) + " to " + std::to_string(most);
  }
  return wrong.empty() || refuse(problem, word + " cannot be used: " + wrong);
}

bool read_ranks(const std::string& text, Wish& wish, base::Problem& problem) {
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    int64_t number = 0;
    if (!read_count("--ranks", text.substr(at, comma - at), 2, boot::most_ranks, number, problem)) return false;
    wish.ranks.push_back(static_cast<int32_t>(number));
    at = comma + 1;
  }
  std::sort(wish.ranks.begin(), wish.ranks.end());
  wish.ranks.erase(std::unique(wish.ranks.begin(), wish.ranks.end()), wish.ranks.end());
  return true;
}

bool read_words(const Words& words, Wish& wish, base::Problem& problem) {
  Operation& operation = wish.operation;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--help" || word == "-h") {
      wish.help = true;
      return true;
    }
    if (word == "--json") {
      wish.json = true;
      continue;
    }
    constexpr const char* with_value[] = {"--coll",  "--ranks",     "--ppn",      "--domain", "--size",
                                          "--model", "--algorithm", "--measured", "--picture"};
    if (std::find(std::begin(with_value), std::end(with_value), word) == std::end(with_value)) {
      return refuse(problem, base::quoted(word) + " is not known");
    }
    if (++i == words.size()) return refuse(problem, word + " needs a value");
    int64_t number = 0;
    if (word == "--coll") {
      if (!read_collective(words[i], wish, problem)) return false;
    } else if (word == "--algorithm") {
      wish.algorithm = words[i];
    } else if (word == "--picture") {
      wish.picture = words[i];
    } else if (word == "--ranks") {
      if (!read_ranks(words[i], wish, problem)) return false;
    } else if (word == "--measured") {
      if (!read_model_file(words[i], wish.model, problem)) return false;
    } else if (word == "--model") {
      if (!read_model(words[i], wish.model, problem)) return false;
    } else if (word == "--size") {
      if (!read_count(word, words[i], 0, most_bytes / boot::most_ranks, operation.bytes, problem)) return false;
    } else if (!read_count(word, words[i], 1, boot::most_ranks, number, problem)) {
      return false;
    } else {
      (word == "--ppn" ? operation.ranks_per_host : operation.ranks_per_domain) = static_cast<int32_t>(number);
    }
  }
  if (!wish.has_collective) return refuse(problem, "--coll is missing: which operation?");
  if (!wish.algorithm.empty() && !coll::find_algorithm(operation.collective, wish.algorithm, operation.only)) {
    return refuse(problem, "--algorithm: " + base::quoted(wish.algorithm) + " is no algorithm of " +
                               coll::name(operation.collective));
  }
  if (wish.ranks.empty()) return refuse(problem, "--ranks is missing: how many?");
  return true;
}

void print_json(const Simulated& simulated, bool& any) {
  for (const Outcome& o : simulated.outcomes) {
    if (!o.left_out.empty()) continue;
    printf(
        "%s\n {\"ranks\": %d, \"algorithm\": \"%s\", \"time\": %.9g, \"messages\": %lld, \"bytes_between_hosts\": "
        "%lld, "
        "\"busiest_rank\": %d, \"messages_of_busiest\": %lld, \"plan_bytes\": %lld, \"checked\": %s, "
        "\"default\": %s}",
        any ? "," : "[", simulated.ranks, coll::name(o.algorithm), o.time, static_cast<long long>(o.messages),
        static_cast<long long>(o.bytes_between_hosts), o.busiest, static_cast<long long>(o.messages_of_busiest),
        static_cast<long long>(o.plan_bytes), o.data == Data::right ? "true" : "false",
        o.is_default ? "true" : "false");
    any = true;
  }
}

void print_table(const Operation& operation, const std::vector<Outcome>& outcomes) {
  printf("%s of %lld bytes, %d ranks, %d on a host\n\n", coll::name(operation.collective),
         static_cast<long long>(operation.bytes), operation.ranks, operation.ranks_per_host);
  printf("  %-14s %14s %12s %20s %16s %14s  %s\n", "algorithm", "microseconds", "messages", "bytes between hosts",
         "busiest: rank", "its messages", "data");
  for (const Outcome& o : outcomes) {
    if (!o.left_out.empty()) {
      printf("%s %-14s left out: %s\n", o.is_default ? "*" : " ", coll::name(o.algorithm), o.left_out.c_str());
      continue;
    }
    printf("%s %-14s %14.2f %12lld %20lld %16d %14lld  %s\n", o.is_default ? "*" : " ", coll::name(o.algorithm),
           o.time * 1e6, static_cast<long long>(o.messages), static_cast<long long>(o.bytes_between_hosts), o.busiest,
           static_cast<long long>(o.messages_of_busiest), o.data == Data::right ? "right" : "not checked");
  }
}

// All ranks on one host, and those of a host in one domain, unless something else is said.
Operation of_ranks(Operation operation, int32_t ranks) {
  const auto at_most = [](int32_t number, int32_t most) { return number == 0 || number > most ? most : number; };
  operation.ranks = ranks;
  operation.ranks_per_host = at_most(operation.ranks_per_host, ranks);
  operation.ranks_per_domain = at_most(operation.ranks_per_domain, operation.ranks_per_host);
  return operation;
}

bool write_picture(const Wish& wish, const std::vector<Simulated>& all, base::Problem& problem) {
  const std::string svg = picture_of(of_ranks(wish.operation, wish.ranks.back()), all);
  FILE* file = fopen(wish.picture.c_str(), "we");
  bool done = file != nullptr && fwrite(svg.data(), 1, svg.size(), file) == svg.size();
  if (file != nullptr) done = fclose(file) == 0 && done;
  if (!done) {
    problem = {.cause = "--picture " + base::quoted(wish.picture) + " cannot be written",
               .error = errno,
               .remedy = "name a file that you may write, in a folder that exists, on a disk with free space"};
  }
  return done;
}

}  // namespace

int simulate(const Words& words) {
  Wish wish;
  base::Problem problem;
  if (!read_words(words, wish, problem)) {
    fprintf(stderr, "weft: simulate: %s\n", base::describe(problem).c_str());
    return 2;
  }
  if (wish.help) {
    fputs(simulate_usage, stdout);
    return 0;
  }
  std::vector<Simulated> all;
  bool any = false;
  for (const int32_t ranks : wish.ranks) {
    const Operation operation = of_ranks(wish.operation, ranks);
    const Simulated& one = all.emplace_back(Simulated{ranks, simulate(operation, wish.model, room)});
    if (wish.json) {
      print_json(one, any);
    } else {
      if (ranks != wish.ranks.front()) puts("");
      print_table(operation, one.outcomes);
    }
    for (const Outcome& o : one.outcomes) {
      any = any || o.left_out.empty();
      if (wish.json && !o.left_out.empty()) {
        fprintf(stderr, "weft: simulate: %s is left out: %s\n", coll::name(o.algorithm), o.left_out.c_str());
      }
    }
  }
  if (wish.json) puts(any ? "\n]" : "[]");
  if (!wish.picture.empty() && !write_picture(wish, all, problem)) {
    fprintf(stderr, "weft: simulate: %s\n", base::describe(problem).c_str());
    return 1;
  }
  return any ? 0 : 1;
}

}  // namespace weft::tool
