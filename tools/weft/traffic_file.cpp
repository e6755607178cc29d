// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/json.hpp"
#include "base/setting.hpp"
#include "boot/job/environment.hpp"
#include "weft/text_file.hpp"
#include "weft/traffic.hpp"

namespace weft::tool {
namespace {

constexpr const char* matrix_remedy =
    "give the file that WEFT_STATS_FILE names, an object with \"matrix\": {\"ranks\": N, \"bytes\": [[from, to, bytes, "
    "messages], ...]}, or lines of \"from to bytes\"";

bool refuse(base::Problem& problem, const std::string& name, const std::string& where, const std::string& wrong) {
  problem = {.cause = "the matrix in " + base::quoted(name) + where + " cannot be used: " + wrong,
             .remedy = matrix_remedy};
  return false;
}

// All of `text` as a number from 0 to `most`; returns the mistake, or an empty text.
std::string read_number(std::string_view text, int64_t most, int64_t& number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc::invalid_argument || stop != end) return base::quoted(text) + " is no whole number";
  if (error != std::errc() || number < 0 || number > most) {
    return base::quoted(text) + " is out of range: 0 to " + std::to_string(most);
  }
  return {};
}

std::string read_seconds(std::string_view text, double& seconds) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seconds);
  if (error == std::errc() && stop == end && std::isfinite(seconds) && seconds >= 0) return {};
  return base::quoted(text) + " is no time in seconds";
}

// "from, to, bytes, messages", one number after the other.
class Entry {
 public:
  std::string take(std::string_view text) {
    constexpr size_t numbers = 4;
    if (count_ == numbers) return "an entry has more than four numbers: from, to, bytes, messages";
    const int64_t most = count_ < 2 ? boot::most_ranks - 1 : int64_t{1} << 62;
    return read_number(text, most, numbers_[count_++]);
  }
  // The entry is complete: adds it to the others.
  std::string add_to(std::vector<Sent>& sends) {
    if (count_ < 3) return "an entry has too few numbers: from, to and bytes are needed";
    sends.push_back({static_cast<int32_t>(numbers_[0]), static_cast<int32_t>(numbers_[1]), numbers_[2],
                     count_ > 3 ? numbers_[3] : 0});
    count_ = 0;
    return {};
  }
  [[nodiscard]] bool empty() const { return count_ == 0; }

 private:
  int64_t numbers_[4] = {};
  size_t count_ = 0;
};

// A number is negative if the file does not have it.
struct RankTimes {
  int64_t rank = -1;
  double user = -1;     // outside of MPI
  double seconds = -1;  // of the run
  double mpi = -1;
};

// The members of a file of statistics that matter here; others are passed over.
class MatrixHearer {
 public:
  explicit MatrixHearer(Traffic& traffic) : traffic_(traffic) {}

  std::string hear(const base::JsonEvent& e) {
    if (e.depth == 0) {
      return e.kind == Kind::object ? std::string() : "it is " + shown(e.kind) + ", an object is expected";
    }
    if (e.depth == 1) return top(e);
    if (part_ == "matrix") return in_matrix(e);
    if (part_ == "by_rank" || part_ == "ranks") return in_ranks(e);
    return {};
  }

  std::vector<Sent> sends;
  std::vector<RankTimes> times;
  bool has_matrix = false;
  bool has_bytes = false;

 private:
  using Kind = base::Json::ValueKind;

  static std::string shown(Kind kind) {
    constexpr const char* names[] = {"null", "a truth value", "a number", "a text", "a list", "an object"};
    return names[static_cast<size_t>(kind)];
  }
  static std::string expect(const base::JsonEvent& e, Kind kind, const std::string& what) {
    if (e.kind == kind) return {};
    return what + " is " + shown(e.kind) + ", not " + shown(kind);
  }

  std::string top(const base::JsonEvent& e) {
    part_ = e.end ? "" : e.name;
    if (e.name == "program" && e.kind == Kind::text) traffic_.program = e.text;
    if (e.name == "matrix") {
      has_matrix = true;
      return expect(e, Kind::object, "\"matrix\"");
    }
    return e.name == "by_rank" ? expect(e, Kind::list, "\"by_rank\"") : std::string();
  }

  std::string in_matrix(const base::JsonEvent& e) {
    if (e.depth == 2) {
      member_ = e.end ? "" : e.name;
      if (e.name == "ranks") {
        int64_t ranks = 0;
        std::string wrong = expect(e, Kind::number, "\"ranks\"");
        if (wrong.empty()) wrong = read_number(e.text, boot::most_ranks, ranks);
        if (wrong.empty() && ranks == 0) wrong = "a job has at least one rank";
        traffic_.ranks = static_cast<int32_t>(ranks);
        return wrong;
      }
      has_bytes = has_bytes || e.name == "bytes";
      return e.name == "bytes" || e.name == "ranks_per_host" ? expect(e, Kind::list, base::quoted(e.name))
                                                             : std::string();
    }
    if (member_ == "ranks_per_host") {
      int64_t ranks = 0;
      std::string wrong = expect(e, Kind::number, "an item of \"ranks_per_host\"");
      if (wrong.empty()) wrong = read_number(e.text, boot::most_ranks, ranks);
      if (wrong.empty() && ranks == 0) wrong = "a host has at least one rank";
      traffic_.ranks_per_host.push_back(static_cast<int32_t>(ranks));
      return wrong;
    }
    if (member_ != "bytes") return {};
    const size_t number = sends.size() + 1;
    std::string wrong;
    if (e.depth == 3) {
      wrong = expect(e, Kind::list, "it");
      if (wrong.empty() && e.end) wrong = entry_.add_to(sends);
    } else {
      wrong = expect(e, Kind::number, "it");
      if (wrong.empty()) wrong = entry_.take(e.text);
    }
    return wrong.empty() ? wrong : "entry " + std::to_string(number) + " of \"bytes\": " + wrong;
  }

  std::string in_ranks(const base::JsonEvent& e) {
    if (e.depth == 2) {
      std::string wrong = expect(e, Kind::object, "an item of " + base::quoted(part_));
      if (!wrong.empty() || !e.end) return wrong;
      if (one_.user < 0 && one_.seconds >= 0 && one_.mpi >= 0) one_.user = std::max(0.0, one_.seconds - one_.mpi);
      if (one_.rank >= 0 && one_.user >= 0) times.push_back(one_);
      one_ = {};
      return {};
    }
    double* time = e.name == "user_seconds"                     ? &one_.user
                   : e.name == "seconds"                        ? &one_.seconds
                   : e.name == "mpi" || e.name == "mpi_seconds" ? &one_.mpi
                                                                : nullptr;
    if (e.depth > 3 || (e.name != "rank" && time == nullptr)) return {};
    std::string wrong = expect(e, Kind::number, base::quoted(e.name));
    if (!wrong.empty()) return wrong;
    return time != nullptr ? read_seconds(e.text, *time) : read_number(e.text, boot::most_ranks - 1, one_.rank);
  }

  Traffic& traffic_;
  std::string part_;    // the member of the whole that is being read
  std::string member_;  // in "matrix"
  Entry entry_;
  RankTimes one_;
};

// Words of a line, up to a comment.
std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  line = line.substr(0, line.find('#'));
  constexpr const char* space = " \t\r,";
  for (size_t at = line.find_first_not_of(space); at != std::string_view::npos;) {
    const size_t end = std::min(line.find_first_of(space, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(space, end);
  }
  return words;
}

std::string take_line(const std::vector<std::string_view>& words, Traffic& traffic, std::vector<Sent>& sends) {
  if (words[0] == "ranks" && words.size() == 2) {
    int64_t ranks = 0;
    std::string wrong = read_number(words[1], boot::most_ranks, ranks);
    traffic.ranks = static_cast<int32_t>(ranks);
    return wrong.empty() && ranks == 0 ? "a job has at least one rank" : wrong;
  }
  Entry entry;
  for (const std::string_view word : words) {
    std::string wrong = entry.take(word);
    if (!wrong.empty()) return wrong;
  }
  return entry.add_to(sends);
}

bool read_lines(std::string_view text, const std::string& name, Traffic& traffic, std::vector<Sent>& sends,
                base::Problem& problem) {
  int line = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::vector<std::string_view> words = words_of(text.substr(at, end - at));
    at = end + 1;
    ++line;
    if (words.empty()) continue;
    const std::string wrong = take_line(words, traffic, sends);
    if (!wrong.empty()) return refuse(problem, name, ", line " + std::to_string(line) + ",", wrong);
  }
  return true;
}

// The times of all ranks or of none: those of a rank that died early may be missing.
std::string take_times(const std::vector<RankTimes>& times, Traffic& traffic) {
  const auto ranks = static_cast<size_t>(traffic.ranks);
  traffic.user_seconds.assign(ranks, -1);
  for (const RankTimes& one : times) {
    const auto r = static_cast<size_t>(one.rank);
    const std::string rank = "rank " + std::to_string(one.rank);
    if (r >= ranks) return rank + " is out of range: there are " + std::to_string(ranks) + " ranks";
    if (traffic.user_seconds[r] >= 0) return "the times of " + rank + " are there twice";
    traffic.user_seconds[r] = one.user;
  }
  if (times.size() < ranks) traffic.user_seconds.clear();
  return {};
}

// Checks for which all must have been read.
std::string check_whole(const std::vector<Sent>& sends, const std::vector<RankTimes>& times, Traffic& traffic) {
  int32_t most = -1;
  for (const Sent& s : sends) most = std::max({most, s.from, s.to});
  if (traffic.ranks == 0) traffic.ranks = most + 1;
  if (traffic.ranks == 0) return "it has no ranks";
  if (most >= traffic.ranks) {
    return "rank " + std::to_string(most) + " is out of range: there are " + std::to_string(traffic.ranks) + " ranks";
  }
  int64_t placed = 0;
  for (const int32_t ranks : traffic.ranks_per_host) placed += ranks;
  if (placed > traffic.ranks) {
    return "the hosts in \"ranks_per_host\" have " + std::to_string(placed) + " ranks together, more than the " +
           std::to_string(traffic.ranks) + " of the job";
  }
  if (placed < traffic.ranks) traffic.ranks_per_host.clear();  // not all ranks were counted
  std::string wrong = take_times(times, traffic);
  if (wrong.empty() && !make_links(sends, traffic)) wrong = "its bytes are more than 2^62 together";
  return wrong;
}

}  // namespace

bool parse_traffic(std::string_view text, const std::string& name, Traffic& traffic, base::Problem& problem) {
  traffic = {};
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return refuse(problem, name, "", "the file is empty");
  std::vector<Sent> sends;
  std::vector<RankTimes> times;
  if (text[begin] == '{' || text[begin] == '[' || text[begin] == '"') {
    MatrixHearer hearer(traffic);
    base::JsonProblem wrong;
    if (!base::hear_json(
            text, most_bytes_of_file, [&](const base::JsonEvent& event) { return hearer.hear(event); }, wrong)) {
      return refuse(problem, name, ", line " + std::to_string(wrong.line) + ",", wrong.what);
    }
    if (!hearer.has_matrix)
      return refuse(problem, name, "", "it has no member \"matrix\" (WEFT_STATS=calls writes it)");
    if (!hearer.has_bytes) return refuse(problem, name, "", "its \"matrix\" has no member \"bytes\"");
    sends = std::move(hearer.sends);
    times = std::move(hearer.times);
  } else if (!read_lines(text, name, traffic, sends, problem)) {
    return false;
  }
  const std::string wrong = check_whole(sends, times, traffic);
  traffic.sends = std::move(sends);
  return wrong.empty() || refuse(problem, name, "", wrong);
}

bool read_traffic(const std::string& path, Traffic& traffic, base::Problem& problem) {
  std::string text;
  const int error = read_text(path, text);
  if (error == 0) return parse_traffic(text, path, traffic, problem);
  problem = {
      .cause = "the matrix in " + base::quoted(path) + " cannot be read", .error = error, .remedy = matrix_remedy};
  return false;
}

}  // namespace weft::tool
