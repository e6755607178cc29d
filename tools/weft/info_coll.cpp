// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// "weft info coll": the algorithms that collective operations take, and the rows that decide so.
#include <algorithm>
#include <cstdio>

#include "base/cpus.hpp"
#include "base/message.hpp"
#include "base/setting.hpp"
#include "boot/job/environment.hpp"
#include "coll/offload/offload.hpp"
#include "coll/select/table.hpp"
#include "coll/shm/exchange_buffers.hpp"
#include "weft/commands.hpp"
#include "weft/json_object.hpp"

namespace weft::tool {
namespace {

using coll::Collective;
using coll::Row;

constexpr const char* info_coll_usage =
    "usage: weft info coll [--ranks N] [--ppn N] [--bytes BYTES] [--json]\n\n"
    "Prints the algorithm of each collective operation under the settings in force, and the row that decides.\n\n"
    "  --ranks N      of the communicator (default: 2)\n"
    "  --ppn N        so many on each host (default: all)\n"
    "  --bytes BYTES  the data of a rank; of a gather, scatter or alltoall a block; of an allgather or\n"
    "                 reduce_scatter the blocks of all ranks (default: 8)\n"
    "  --json         prints it as JSON\n";

struct Case {
  int64_t ranks = 2;
  int64_t ranks_per_host = 0;
  int64_t bytes = 8;
};

// Rows in the order in which they are looked at; the source of those up to each place.
struct Table {
  std::vector<Row> rows;
  size_t settings = 0;
  size_t file = 0;
};

bool read_rows(Table& table, base::Problem& problem) {
  table.rows = coll::rows_of_settings();
  table.settings = table.file = table.rows.size();
  if (const std::string path = coll::tuning_file(); !path.empty()) {
    std::vector<Row> of_file;
    if (!coll::read_table(path, of_file, problem)) return false;
    table.rows.insert(table.rows.end(), of_file.begin(), of_file.end());
    table.file = table.rows.size();
  }
  const std::span<const Row> defaults = coll::default_rows();
  table.rows.insert(table.rows.end(), defaults.begin(), defaults.end());
  return true;
}

std::string in_words(const char* what, const coll::Between& range) {
  const coll::Between any;
  if (range == any) return {};
  const std::string begin = std::string(", ") + what + " ";
  if (range.low == range.high) return begin + std::to_string(range.low);
  if (range.high == any.high) return begin + std::to_string(range.low) + " and more";
  if (range.low == any.low) return begin + "up to " + std::to_string(range.high);
  return begin + std::to_string(range.low) + " to " + std::to_string(range.high);
}

std::string why(const Table& table, size_t place) {
  const Row& row = table.rows[place];
  std::string text = place < table.settings ? "a setting" : place < table.file ? "the file of WEFT_TUNING" : "default";
  if (row.bytes != coll::any_bytes) text += ", up to " + std::to_string(row.bytes) + " bytes";
  text += in_words("ranks", row.ranks) + in_words("hosts", row.hosts) + in_words("ranks on a host", row.ranks_per_host);
  if (row.uneven) text += ", no power of two";
  if (row.crowded) text += ", more ranks than processors";
  return text;
}

// The component, as in a job that starts now.
bool find_component(const coll::offload::Component*& component, base::Problem& problem) {
  if (!coll::offload::find_wanted(component, problem)) return false;
  return component == nullptr || component->open(problem);
}

// The place of the first row that fits.
size_t decide(const Table& table, const coll::Shape& shape, Collective collective, int64_t bytes,
              coll::Algorithms able) {
  size_t at = 0;
  for (; at + 1 < table.rows.size(); ++at) {
    const Row& row = table.rows[at];
    if (row.collective == collective && bytes <= row.bytes && able.has(row.algorithm) && coll::fits(row, shape)) break;
  }
  return at;
}

bool read_words(const Words& words, Case& asked, bool& help, base::Problem& problem) {
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    help = help || word == "--help" || word == "-h";
    if (help) return true;
    int64_t* const number = word == "--ranks"   ? &asked.ranks
                            : word == "--ppn"   ? &asked.ranks_per_host
                            : word == "--bytes" ? &asked.bytes
                                                : nullptr;
    std::string wrong;
    if (number == nullptr) {
      wrong = base::quoted(word) + " is not known";
    } else if (++i == words.size()) {
      wrong = word + " needs a value";
    } else {
      const bool counts_bytes = word == "--bytes";
      wrong = base::parse_number(words[i], counts_bytes ? base::Unit::bytes : base::Unit::none, *number);
      if (wrong.empty() && (*number < (counts_bytes ? 0 : 1) || (!counts_bytes && *number > boot::most_ranks))) {
        wrong = base::quoted(words[i]) + " is out of range";
      }
      if (!wrong.empty()) wrong.insert(0, word + ": ");
    }
    if (wrong.empty()) continue;
    problem = {.cause = wrong, .remedy = "see weft info coll --help"};
    return false;
  }
  return true;
}

void tell_of(const coll::offload::Component& component, const coll::offload::ComponentState& state) {
  printf("WEFT_OFFLOAD: component %s (%s)", component.name, state.text.c_str());
  if (!state.able) {
    printf(" can do nothing on this host: all operations go the other way\n\n");
  } else {
    printf("; operations that it refuses, and all of a communicator on which it failed, go the other way\n\n");
  }
}

// Returns how many of the bytes that the table asks for a rank of a nonblocking operation has for others.
int64_t laid_bytes(Collective collective, int64_t bytes, int64_t ranks) {
  if (!coll::knows_bytes(collective)) return 0;  // data that do not fit into a place follow in messages
  const Collective data = coll::regular_form(collective);
  if (data == Collective::allgather) return bytes / ranks;
  return data == Collective::alltoall || data == Collective::scatter ? bytes * ranks : bytes;
}

struct Choice {
  Collective collective;
  size_t place;        // of the row that decides
  size_t otherwise;    // where no component does it
  size_t nonblocking;  // of such an operation
};

coll::Shape shape_of(const Case& asked, bool offload) {
  const int64_t per_host = asked.ranks_per_host == 0 ? asked.ranks : std::min(asked.ranks_per_host, asked.ranks);
  const int64_t hosts = (asked.ranks + per_host - 1) / per_host;
  coll::Shape shape{.ranks = static_cast<int32_t>(asked.ranks),
                    .hosts = static_cast<int32_t>(hosts),
                    .ranks_per_host = static_cast<int32_t>(per_host),
                    .leaders = hosts > 1 && per_host > 1};
  shape.crowded = hosts == 1 && asked.ranks > base::usable_cpus();
  shape.offload = offload && asked.ranks > 1;
  shape.shared = hosts == 1 && asked.ranks > 1 && asked.ranks <= coll::most_sharing;
  return shape;
}

std::vector<Choice> choices_of(const Table& table, const Case& asked, const coll::Shape& shape) {
  std::vector<Choice> choices;
  for (size_t c = 0; c < coll::collective_count; ++c) {
    const auto collective = static_cast<Collective>(c);
    const bool few = asked.bytes < asked.ranks;
    const int64_t bytes = coll::knows_bytes(collective) ? asked.bytes : 0;
    const auto place_of = [&](coll::Algorithms able) {
      return decide(table, shape, collective, bytes, coll::without_parts(able, collective, few));
    };
    const bool lays = laid_bytes(collective, bytes, asked.ranks) <= coll::ExchangeBuffers::place_bytes;
    choices.push_back({collective, place_of(coll::Algorithms::any()), place_of(coll::Algorithms::blocking()),
                       place_of(coll::Algorithms::nonblocking().with(coll::Algorithm::shared, lays))});
  }
  return choices;
}

void show(const Table& table, const Case& asked, const coll::offload::Component* component) {
  const coll::offload::ComponentState state =
      component != nullptr ? component->state() : coll::offload::ComponentState();
  const coll::Shape shape = shape_of(asked, component != nullptr && state.able);
  printf("%lld bytes, %d ranks, %d on a host%s\n\n", static_cast<long long>(asked.bytes), shape.ranks,
         shape.ranks_per_host, shape.crowded ? ", more than processors" : "");
  if (component != nullptr) tell_of(*component, state);
  printf("%-15s %-14s %s\n", "operation", "algorithm", "decided by");
  const auto line = [&](const char* what, size_t place) {
    printf("%-15s %-14s %s\n", what, coll::name(table.rows[place].algorithm), why(table, place).c_str());
  };
  for (const Choice& choice : choices_of(table, asked, shape)) {
    line(coll::name(choice.collective), choice.place);
    if (choice.place != choice.otherwise) line("  otherwise", choice.otherwise);
    if (choice.otherwise != choice.nonblocking) line("  nonblocking", choice.nonblocking);
  }
}

std::string as_json(const Table& table, const Case& asked, const coll::offload::Component* component) {
  const coll::offload::ComponentState state =
      component != nullptr ? component->state() : coll::offload::ComponentState();
  const coll::Shape shape = shape_of(asked, component != nullptr && state.able);
  const auto row = [&](size_t place) {
    return JsonObject()
        .text("algorithm", coll::name(table.rows[place].algorithm))
        .text("decided_by", why(table, place))
        .json();
  };
  std::vector<std::string> operations;
  for (const Choice& choice : choices_of(table, asked, shape)) {
    operations.push_back(JsonObject()
                             .text("operation", coll::name(choice.collective))
                             .value("chosen", row(choice.place))
                             .value("otherwise", row(choice.otherwise))
                             .value("nonblocking", row(choice.nonblocking))
                             .json());
  }
  JsonObject answer;
  answer.whole("bytes", asked.bytes).whole("ranks", shape.ranks).whole("ranks_per_host", shape.ranks_per_host);
  answer.flag("more_than_processors", shape.crowded);
  if (component != nullptr) {
    answer.value(
        "offload",
        JsonObject().text("component", component->name).text("state", state.text).flag("able", state.able).json());
  }
  return answer.list("operations", operations).json();
}

}  // namespace

int info_coll(const Words& words, bool json) {
  Case asked;
  Table table;
  base::Problem problem;
  bool help = false;
  const coll::offload::Component* component = nullptr;
  base::load_settings();
  if (!read_words(words, asked, help, problem) ||
      (!help && (!read_rows(table, problem) || !find_component(component, problem)))) {
    fprintf(stderr, "weft: info coll: %s\n", base::describe(problem).c_str());
    return 2;
  }
  if (help) return fputs(info_coll_usage, stdout), 0;
  if (json) return puts(as_json(table, asked, component).c_str()) < 0 ? 1 : 0;
  show(table, asked, component);
  return 0;
}

}  // namespace weft::tool
