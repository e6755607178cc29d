// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "why/part.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "base/clock.hpp"
#include "base/hex.hpp"
#include "boot/job/environment.hpp"

namespace weft::why {
namespace {

// job SIZE NOW HOST NAME, process RANK PID STATE ACTS PAGE, wait NUMBER PLACE and thread NUMBER CALL PLACE of that
// process, end; texts and pages are hexadecimal, "-" is an empty one.
constexpr std::string_view first_word = "weft-why-part";

std::string shown(std::string_view bytes) {
  return bytes.empty() ? "-" : base::to_hex(bytes);
}

class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}
  std::string_view next() {
    const size_t end = std::min(rest_.find(' '), rest_.size());
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return word;
  }
  template <class Number>
  bool number(Number& value, Number least, Number most) {
    const std::string_view word = next();
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc() && end == word.data() + word.size() && value >= least && value <= most;
  }
  bool bytes(std::string& value) {
    const std::string_view word = next();
    value.clear();
    return word == "-" || base::from_hex(word, value);
  }
  // Control characters are replaced, so that the text may be printed.
  bool text(std::string& value) {
    if (!bytes(value)) return false;
    std::replace_if(
        value.begin(), value.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, '?');
    return true;
  }

 private:
  std::string_view rest_;
};

bool read_process(Words& words, int32_t size, Process& p) {
  int state = 0;
  int acts = 0;
  if (!words.number(p.rank, 0, size - 1) || !words.number(p.pid, 1, INT32_MAX) ||
      !words.number(state, 0, static_cast<int>(State::ended)) || !words.number(acts, 0, 1) ||
      !words.bytes(p.raw_page)) {
    return false;
  }
  p.state = static_cast<State>(state);
  p.threads_act = acts != 0;
  if (p.raw_page.empty()) return true;
  return read_page(p.raw_page.data(), p.raw_page.size(), p.page);
}

// The waits of a page that the host has found to last; the others are left out.
struct Lasting {
  uint64_t number;
  std::string place;
};

void keep_lasting(Process& p, const std::vector<Lasting>& lasting) {
  std::erase_if(p.page.waits, [&](Wait& wait) {
    const auto found =
        std::find_if(lasting.begin(), lasting.end(), [&](const Lasting& one) { return one.number == wait.number; });
    if (found != lasting.end()) wait.place = found->place;
    return found == lasting.end();
  });
  if (p.state == State::waiting && p.page.waits.empty()) p.state = State::running;
}

// Reads lines up to "end".
bool read_part(std::string_view& text, Snapshot& part) {
  std::vector<Lasting> lasting;
  const auto close = [&] {
    if (!part.processes.empty()) keep_lasting(part.processes.back(), lasting);
    lasting.clear();
  };
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    Words words(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string_view word = words.next();
    if (word == "process") {
      close();
      if (!read_process(words, part.size, part.processes.emplace_back())) return false;
      part.processes.back().host = part.host;
    } else if (word == "wait") {
      Lasting& one = lasting.emplace_back();
      if (part.processes.empty() || !words.number(one.number, uint64_t{0}, UINT64_MAX) || !words.text(one.place))
        return false;
    } else if (word == "thread") {
      if (part.processes.empty()) return false;
      ThreadWait& one = part.processes.back().thread_waits.emplace_back();
      if (!words.number(one.thread, uint32_t{0}, UINT32_MAX) || !words.text(one.call) || !words.text(one.place))
        return false;
    } else {
      close();
      return word == "end";
    }
  }
  return false;
}

const Process* process_of(const std::vector<Snapshot>& parts, const Snapshot& part, const Process& wanted) {
  for (const Snapshot& other : parts) {
    if (other.host != part.host || (other.job != part.job && !other.job.empty())) continue;
    for (const Process& p : other.processes) {
      if (p.rank == wanted.rank && p.pid == wanted.pid) return &p;
    }
  }
  return nullptr;
}

// Leaves out the waits that the host had not found at first.
void compare(const std::vector<Snapshot>& earlier, const Snapshot& part, Process& p) {
  if (p.state != State::waiting) return;
  const Process* before = process_of(earlier, part, p);
  std::erase_if(p.page.waits, [&](const Wait& wait) {
    return before == nullptr || std::none_of(before->page.waits.begin(), before->page.waits.end(),
                                             [&](const Wait& w) { return w.number == wait.number; });
  });
  if (p.page.waits.empty()) p.state = State::running;
}

// Whether some part of the job tells of a rank of this part as another process.
bool overlaps(const std::vector<Snapshot>& parts, const std::string& job, const Snapshot& part) {
  return std::any_of(parts.begin(), parts.end(), [&](const Snapshot& other) {
    return other.job == job && other.size == part.size &&
           std::any_of(other.processes.begin(), other.processes.end(), [&](const Process& one) {
             return std::any_of(part.processes.begin(), part.processes.end(),
                                [&](const Process& p) { return p.rank == one.rank && p.pid != one.pid; });
           });
  });
}

// Under other launchers than mpiexec a job's name stands on the pages of ranks that wait. A part without a name is of
// the only job of its size that lacks its ranks.
void name_parts(std::vector<Snapshot>& parts) {
  for (Snapshot& part : parts) {
    if (!part.job.empty()) continue;
    std::set<std::string> fitting;
    for (const Snapshot& other : parts) {
      if (!other.job.empty() && other.size == part.size && !overlaps(parts, other.job, part)) fitting.insert(other.job);
    }
    if (fitting.size() == 1) part.job = *fitting.begin();
  }
}

// A rank that two hosts tell of, as they share processes: the one that tells more.
bool tells_more(const Process& one, const Process& other) {
  return other.state != State::waiting && one.state == State::waiting;
}

}  // namespace

std::string as_part(const Snapshot& snapshot) {
  std::string text(first_word);
  text.append(" ").append(std::to_string(snapshot.size)).append(" ").append(std::to_string(snapshot.now_ns));
  text.append(" ").append(shown(snapshot.host)).append(" ").append(shown(snapshot.job)).append("\n");
  for (const Process& p : snapshot.processes) {
    text.append("process ").append(std::to_string(p.rank)).append(" ").append(std::to_string(p.pid));
    text.append(" ").append(std::to_string(static_cast<int>(p.state))).append(p.threads_act ? " 1 " : " 0 ");
    text.append(shown(p.raw_page)).append("\n");
    for (const Wait& wait : p.page.waits) {
      text.append("wait ").append(std::to_string(wait.number)).append(" ").append(shown(wait.place)).append("\n");
    }
    for (const ThreadWait& wait : p.thread_waits) {
      text.append("thread ").append(std::to_string(wait.thread)).append(" ").append(shown(wait.call));
      text.append(" ").append(shown(wait.place)).append("\n");
    }
  }
  return text + "end\n";
}

bool read_parts(std::string_view text, std::vector<Snapshot>& parts) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    Words words(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (words.next() != first_word) continue;
    Snapshot part;
    if (!words.number(part.size, 1, boot::most_ranks) || !words.number(part.now_ns, uint64_t{0}, UINT64_MAX) ||
        !words.text(part.host) || !words.text(part.job) || !read_part(text, part)) {
      return false;
    }
    parts.push_back(std::move(part));
  }
  return true;
}

std::vector<Snapshot> join_parts(const std::vector<Snapshot>& earlier, std::vector<Snapshot> later) {
  name_parts(later);
  std::map<std::pair<std::string, int32_t>, Snapshot> jobs;
  const uint64_t now_ns = base::now_ns();
  for (const Snapshot& part : later) {
    Snapshot& job = jobs[{part.job, part.size}];
    job.job = part.job;
    job.size = part.size;
    job.now_ns = now_ns;
    if (std::find(job.hosts.begin(), job.hosts.end(), part.host) == job.hosts.end()) job.hosts.push_back(part.host);
    for (Process p : part.processes) {
      compare(earlier, part, p);
      // Hosts have clocks of their own.
      for (Wait& wait : p.page.waits) {
        const uint64_t waited = part.now_ns > wait.since_ns ? part.now_ns - wait.since_ns : 0;
        wait.since_ns = wait.since_ns != 0 && waited < now_ns ? now_ns - waited : 0;
      }
      const auto known = std::find_if(job.processes.begin(), job.processes.end(),
                                      [&](const Process& other) { return other.rank == p.rank; });
      if (known == job.processes.end()) {
        job.processes.push_back(std::move(p));
      } else if (tells_more(p, *known)) {
        *known = std::move(p);
      }
    }
  }
  std::vector<Snapshot> joined;
  for (auto& [key, job] : jobs) {
    std::sort(job.processes.begin(), job.processes.end(),
              [](const Process& a, const Process& b) { return a.rank < b.rank; });
    std::sort(job.hosts.begin(), job.hosts.end());
    for (const std::string& host : job.hosts) job.host += (job.host.empty() ? "" : ", ") + host;
    joined.push_back(std::move(job));
  }
  return joined;
}

}  // namespace weft::why
