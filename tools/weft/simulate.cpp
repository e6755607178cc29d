// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/message.hpp"
#include "base/setting.hpp"
#include "boot/environment.hpp"
#include "weft/commands.hpp"
#include "weft/simulation.hpp"

namespace weft::tool {
namespace {

constexpr const char* usage =
    "usage: weft simulate --coll NAME --ranks N [--ppn N] [--size BYTES] [--algorithm NAME]\n"
    "                     [--model NAME=VALUE,...] [--json]\n\n"
    "Plays a collective operation by each of its algorithms, rank by rank, under a model of a machine (LogGP with\n"
    "hosts), and prints how long each takes.\n\n"
    "  --coll NAME     barrier, bcast, gather(v), scatter(v), allgather(v), alltoall(v), reduce, allreduce,\n"
    "                  reduce_scatter, scan\n"
    "  --ranks N       up to 1048576\n"
    "  --ppn N         ranks on a host (default: all)\n"
    "  --size BYTES    the data of a rank, or a block (default: 8)\n"
    "  --algorithm NAME  this one alone (default: each)\n"
    "  --model ...     parts of the model, times in seconds: latency, overhead, per_byte (between hosts), "
    "local_latency,\n"
    "                  local_overhead, local_per_byte, gap (of a host's network interface), copy (for each byte),\n"
    "                  unexpected (for a message that comes before its receive), incast (for one that finds others\n"
    "                  waiting to enter its host): latency=2e-6,gap=1e-7\n"
    "  --json          a list with an object for each algorithm; times in seconds\n\n"
    "* is the algorithm of the default table.\n";

constexpr int64_t room = int64_t{1} << 30;  // for all plans; messages under way come on top

struct Wish {
  bool help = false;
  bool json = false;
  bool has_collective = false;
  std::string algorithm;
  Operation operation{coll::Collective::barrier, 0, 0, 8};
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

bool read_model(const std::string& text, Model& model, base::Problem& problem) {
  const struct {
    const char* name;
    double* value;
  } parts[] = {{"latency", &model.between.latency},
               {"overhead", &model.between.overhead},
               {"per_byte", &model.between.per_byte},
               {"local_latency", &model.within.latency},
               {"local_overhead", &model.within.overhead},
               {"local_per_byte", &model.within.per_byte},
               {"gap", &model.gap},
               {"copy", &model.copy},
               {"unexpected", &model.unexpected},
               {"incast", &model.incast}};
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, comma - at);
    at = comma + 1;
    const size_t equals = part.find('=');
    double* value = nullptr;
    for (const auto& known : parts) {
      if (part.substr(0, equals) == known.name) value = known.value;
    }
    if (value == nullptr || equals == std::string::npos) {
      return refuse(problem, "--model: " + base::quoted(part) + " is not a part of the model and its value");
    }
    const std::string number = part.substr(equals + 1);
    char* end = nullptr;
    const double seconds = strtod(number.c_str(), &end);
    if (number.empty() || *end != '\0' || !(seconds >= 0 && seconds <= 1)) {
      return refuse(problem, "--model: " + base::quoted(part) + ": a time of 0 to 1 second is wanted");
    }
    *value = seconds;
  }
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
    if (word != "--coll" && word != "--ranks" && word != "--ppn" && word != "--size" && word != "--model" &&
        word != "--algorithm") {
      return refuse(problem, base::quoted(word) + " is not known");
    }
    if (++i == words.size()) return refuse(problem, word + " needs a value");
    int64_t number = 0;
    if (word == "--coll") {
      if (!read_collective(words[i], wish, problem)) return false;
    } else if (word == "--algorithm") {
      wish.algorithm = words[i];
    } else if (word == "--model") {
      if (!read_model(words[i], wish.model, problem)) return false;
    } else if (word == "--size") {
      if (!read_count(word, words[i], 0, most_bytes / boot::most_ranks, operation.bytes, problem)) return false;
    } else if (!read_count(word, words[i], word == "--ppn" ? 1 : 2, boot::most_ranks, number, problem)) {
      return false;
    } else {
      (word == "--ppn" ? operation.ranks_per_host : operation.ranks) = static_cast<int32_t>(number);
    }
  }
  if (!wish.has_collective) return refuse(problem, "--coll is missing: which operation?");
  if (!wish.algorithm.empty() && !coll::find_algorithm(operation.collective, wish.algorithm, operation.only)) {
    return refuse(problem, "--algorithm: " + base::quoted(wish.algorithm) + " is no algorithm of " +
                               coll::name(operation.collective));
  }
  if (operation.ranks == 0) return refuse(problem, "--ranks is missing: how many?");
  if (operation.ranks_per_host == 0 || operation.ranks_per_host > operation.ranks) {
    operation.ranks_per_host = operation.ranks;
  }
  return true;
}

void print_json(const std::vector<Outcome>& outcomes) {
  const char* before = "[";
  for (const Outcome& o : outcomes) {
    if (!o.left_out.empty()) continue;
    printf(
        "%s\n {\"algorithm\": \"%s\", \"time\": %.9g, \"messages\": %lld, \"bytes_between_hosts\": %lld, "
        "\"busiest_rank\": %d, \"messages_of_busiest\": %lld, \"plan_bytes\": %lld, \"checked\": %s, "
        "\"default\": %s}",
        before, coll::name(o.algorithm), o.time, static_cast<long long>(o.messages),
        static_cast<long long>(o.bytes_between_hosts), o.busiest, static_cast<long long>(o.messages_of_busiest),
        static_cast<long long>(o.plan_bytes), o.data == Data::right ? "true" : "false",
        o.is_default ? "true" : "false");
    before = ",";
  }
  puts(*before == '[' ? "[]" : "\n]");
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

}  // namespace

int simulate(const Words& words) {
  Wish wish;
  base::Problem problem;
  if (!read_words(words, wish, problem)) {
    fprintf(stderr, "weft: simulate: %s\n", base::describe(problem).c_str());
    return 2;
  }
  if (wish.help) {
    fputs(usage, stdout);
    return 0;
  }
  const std::vector<Outcome> outcomes = simulate(wish.operation, wish.model, room);
  bool any = false;
  for (const Outcome& o : outcomes) any = any || o.left_out.empty();
  if (wish.json) {
    print_json(outcomes);
  } else {
    print_table(wish.operation, outcomes);
  }
  for (const Outcome& o : outcomes) {
    if (wish.json && !o.left_out.empty()) {
      fprintf(stderr, "weft: simulate: %s is left out: %s\n", coll::name(o.algorithm), o.left_out.c_str());
    }
  }
  return any ? 0 : 1;
}

}  // namespace weft::tool
