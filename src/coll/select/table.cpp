// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/select/table.hpp"

#include <cerrno>
#include <cstdio>

#include "base/json.hpp"
#include "base/setting.hpp"

namespace weft::coll {

namespace {

using base::Json;

// Reads rows and keeps the first thing that is wrong.
class TableReader {
 public:
  explicit TableReader(std::vector<Row>& rows) : rows_(rows) {}

  bool file(const Json& value) {
    if (value.kind != Json::ValueKind::object) return fail(value, "the file is no JSON object");
    const Json* version = value.find("weft_tuning");
    int64_t number = 0;
    if (version == nullptr) return fail(value, "\"weft_tuning\" is missing: it is no table of algorithms");
    if (!version->whole(number) || number != 1)
      return fail(*version, "\"weft_tuning\" is not 1, the only version known");
    for (size_t i = 0; i < value.names.size(); ++i) {
      const std::string& name = value.names[i];
      const Json& member = value.items[i];
      if (name == "rows") {
        if (!rows(member)) return false;
      } else if (name == "devices") {
        if (!devices(member)) return false;
      } else if (name != "weft_tuning" && name != "measured") {
        return fail(member, base::quoted(name) + " is not known: a table has weft_tuning, rows, devices and measured");
      }
    }
    return value.find("rows") != nullptr || fail(value, "\"rows\" is missing");
  }

  int line() const { return line_; }
  const std::string& what() const { return what_; }
  std::vector<core::DevicePipe> pipes;

 private:
  bool fail(const Json& where, const std::string& what) {
    line_ = where.line;
    what_ = what;
    return false;
  }

  bool rows(const Json& list) {
    if (list.kind != Json::ValueKind::list) return fail(list, "\"rows\" is no list");
    for (const Json& item : list.items) {
      if (!row(item)) return false;
    }
    return true;
  }

  bool devices(const Json& list) {
    if (list.kind != Json::ValueKind::list) return fail(list, "\"devices\" is no list");
    for (const Json& item : list.items) {
      if (item.kind != Json::ValueKind::object) return fail(item, "a row of \"devices\" is no JSON object");
      core::DevicePipe pipe{INT64_MAX, 0, 0};
      int64_t depth = 0;
      for (size_t i = 0; i < item.names.size(); ++i) {
        const std::string& name = item.names[i];
        const Json& member = item.items[i];
        int64_t* const number = name == "bytes"   ? &pipe.bytes
                                : name == "chunk" ? &pipe.chunk
                                : name == "depth" ? &depth
                                                  : nullptr;
        if (number == nullptr)
          return fail(member, base::quoted(name) + " is not known: a row of devices has bytes, chunk and depth");
        if (!member.whole(*number) || *number < 0) return fail(member, "\"" + name + "\" is no number");
      }
      if (pipe.chunk < core::least_device_chunk || pipe.chunk > core::most_device_chunk)
        return fail(item, "a row of \"devices\" has no \"chunk\" from 4096 to 131072 bytes");
      if (depth < 1 || depth > core::most_device_depth)
        return fail(item, "a row of \"devices\" has no \"depth\" from 1 to 8 chunks");
      if (!pipes.empty() && pipe.bytes <= pipes.back().bytes)
        return fail(item, "the \"bytes\" of \"devices\" do not rise from row to row");
      pipe.depth = static_cast<int32_t>(depth);
      pipes.push_back(pipe);
    }
    return true;
  }

  bool row(const Json& value) {
    if (value.kind != Json::ValueKind::object) return fail(value, "a row is no JSON object");
    Row row;
    if (!names(value, row)) return false;
    for (size_t i = 0; i < value.names.size(); ++i) {
      const std::string& name = value.names[i];
      const Json& member = value.items[i];
      if (name == "ranks") {
        if (!between(name, member, row.ranks)) return false;
      } else if (name == "hosts") {
        if (!between(name, member, row.hosts)) return false;
      } else if (name == "ranks_per_host") {
        if (!between(name, member, row.ranks_per_host)) return false;
      } else if (name == "bytes") {
        if (!member.whole(row.bytes) || row.bytes < 0) return fail(member, "\"bytes\" is no number of bytes");
      } else if (name == "crowded") {
        if (member.kind != Json::ValueKind::boolean) return fail(member, "\"crowded\" is not true or false");
        row.crowded = member.flag;
      } else if (name != "collective" && name != "algorithm" && name != "measured") {
        return fail(member, base::quoted(name) +
                                " is not known: a row has collective, algorithm, ranks, hosts, "
                                "ranks_per_host, bytes, crowded and measured");
      }
    }
    rows_.push_back(row);
    return true;
  }

  bool names(const Json& value, Row& row) {
    const Json* collective = value.find("collective");
    if (collective == nullptr) return fail(value, "a row has no \"collective\"");
    if (!find_collective(collective->text, row.collective) || collective->kind != Json::ValueKind::text) {
      return fail(*collective,
                  base::quoted(collective->text) + " is no collective of the table: it has " + all_collectives());
    }
    const Json* algorithm = value.find("algorithm");
    if (algorithm == nullptr) return fail(value, "a row has no \"algorithm\"");
    if (!find_algorithm(row.collective, algorithm->text, row.algorithm) || algorithm->kind != Json::ValueKind::text) {
      return fail(*algorithm, base::quoted(algorithm->text) + " is no algorithm of " + name(row.collective) +
                                  ": it has " + all_algorithms(row.collective));
    }
    return true;
  }

  bool number(const Json& value, int32_t& number) {
    int64_t whole = 0;
    if (!value.whole(whole) || whole < 1 || whole > std::numeric_limits<int32_t>::max()) return false;
    number = static_cast<int32_t>(whole);
    return true;
  }

  bool between(const std::string& name, const Json& value, Between& between) {
    if (value.kind == Json::ValueKind::list && value.items.size() == 2) {
      if (number(value.items[0], between.low) && number(value.items[1], between.high) && between.low <= between.high) {
        return true;
      }
    } else if (number(value, between.low)) {
      between.high = between.low;
      return true;
    }
    return fail(value, "\"" + name + "\" is neither a number from 1 on nor a range of such, as [3, 8]");
  }

  static std::string all_collectives() {
    std::string text;
    for (size_t i = 0; i < collective_count; ++i) {
      text += std::string(i == 0 ? "" : ", ") + name(static_cast<Collective>(i));
    }
    return text;
  }
  static std::string all_algorithms(Collective collective) {
    std::string text;
    for (const Algorithm one : algorithms_of(collective).subspan(1))
      text += (text.empty() ? "" : ", ") + std::string(name(one));
    return text;
  }

  std::vector<Row>& rows_;
  int line_ = 0;
  std::string what_;
};

constexpr const char* remedy =
    "correct it (docs/guide/tune.md has the form), write it anew with \"weft tune\", or unset WEFT_TUNING";

// A byte more than a JSON text may have is enough to be told so.
constexpr size_t most_bytes = (1 << 20) + 1;

}  // namespace

bool parse_table(std::string_view text, const std::string& name, std::vector<Row>& rows, base::Problem& problem,
                 std::vector<core::DevicePipe>* pipes) {
  rows.clear();
  const auto refuse = [&](int line, const std::string& wrong) {
    rows.clear();
    problem = {.cause = "the table of algorithms " + base::quoted(name) + ", line " + std::to_string(line) +
                        ", cannot be used: " + wrong,
               .remedy = remedy};
    return false;
  };
  Json value;
  base::JsonProblem wrong;
  if (!base::parse_json(text, value, wrong)) return refuse(wrong.line, wrong.what);
  TableReader reader(rows);
  if (!reader.file(value)) return refuse(reader.line(), reader.what());
  if (pipes != nullptr) *pipes = std::move(reader.pipes);
  return true;
}

bool read_table(const std::string& path, std::vector<Row>& rows, base::Problem& problem,
                std::vector<core::DevicePipe>* pipes) {
  FILE* file = fopen(path.c_str(), "re");
  std::string text;
  int error = file == nullptr ? errno : 0;
  if (file != nullptr) {
    text.resize(most_bytes);
    text.resize(fread(text.data(), 1, text.size(), file));
    if (ferror(file) != 0) error = errno;
    fclose(file);
  }
  if (error == 0) return parse_table(text, path, rows, problem, pipes);
  problem = {.cause = "the table of algorithms " + base::quoted(path) + " cannot be read",
             .error = error,
             .remedy = "write it with \"weft tune\", give the path that it has on all hosts, or unset WEFT_TUNING"};
  return false;
}

}  // namespace weft::coll
