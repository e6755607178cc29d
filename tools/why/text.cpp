// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A judged snapshot as text and as JSON.
#include "base/json.hpp"
#include "why/findings.hpp"
#include "why/words.hpp"

namespace weft::why {
namespace {

using base::json_text;

std::string list_of(const std::vector<int32_t>& numbers) {
  std::string text = "[";
  for (size_t i = 0; i < numbers.size(); ++i) text.append(i == 0 ? "" : ", ").append(std::to_string(numbers[i]));
  return text + "]";
}

std::string list_of(const std::vector<std::string>& texts) {
  std::string text = "[";
  for (size_t i = 0; i < texts.size(); ++i) text.append(i == 0 ? "" : ", ").append(json_text(texts[i]));
  return text + "]";
}

std::string as_json(const Snapshot& snapshot, const Wait& wait) {
  const uint64_t waited = wait.since_ns != 0 && wait.since_ns < snapshot.now_ns ? snapshot.now_ns - wait.since_ns : 0;
  return "{\"call\": " + json_text(wait.call) + ", \"place\": " + json_text(wait.place) +
         ", \"purpose\": " + json_text(purpose_text(wait)) + ", \"thread\": " + std::to_string(wait.thread) +
         ", \"communicator\": " + json_text(wait.comm.size > 0 ? comm_text(wait.comm) : "") +
         ", \"seconds\": " + std::to_string(waited / 1000000000) + "}";
}

constexpr const char* states[] = {"unknown", "starting", "running",   "sleeping", "waiting",
                                  "stopped", "locked",   "finalized", "ended"};

}  // namespace

std::string as_text(const Snapshot& snapshot) {
  std::string text;
  constexpr size_t most = 3;  // of findings
  size_t shown = 0;
  for (const Finding& f : find_causes(snapshot)) {
    if (shown++ == most) break;
    text.append(f.text).append("\n");
    for (const std::string& line : f.lines) text.append("  ").append(line).append("\n");
  }
  text.append("job ").append(snapshot.job.empty() ? "(no name)" : snapshot.job);
  text.append(", ").append(std::to_string(snapshot.size)).append(snapshot.size == 1 ? " rank" : " ranks");
  const auto here = static_cast<int32_t>(snapshot.processes.size());
  if (here < snapshot.size) {
    text.append(", of which ").append(std::to_string(here)).append(" on ");
    text.append(snapshot.hosts.empty() ? "this host; to ask all: weft why --hosts A,B,..." : snapshot.host);
  }
  text.append("\n");
  for (const std::string& line : describe_ranks(snapshot)) text.append("  ").append(line).append("\n");
  return text;
}

std::string as_json(const Snapshot& snapshot) {
  std::string text = "{\"job\": " + json_text(snapshot.job) + ", \"host\": " + json_text(snapshot.host) +
                     ", \"size\": " + std::to_string(snapshot.size) + ", \"findings\": [";
  const char* between = "";
  for (const Finding& f : find_causes(snapshot)) {
    text.append(between).append("{\"cause\": ").append(json_text(name(f.cause)));
    text.append(", \"certain\": ").append(is_certain(f.cause) ? "true" : "false");
    text.append(", \"text\": ").append(json_text(f.text)).append(", \"lines\": ").append(list_of(f.lines));
    text.append(", \"ranks\": ").append(list_of(f.ranks)).append("}");
    between = ", ";
  }
  text.append("], \"ranks\": [");
  between = "";
  for (const Process& p : snapshot.processes) {
    text.append(between).append("{\"rank\": ").append(std::to_string(p.rank));
    text.append(", \"pid\": ").append(std::to_string(p.pid));
    if (!p.host.empty()) text.append(", \"host\": ").append(json_text(p.host));
    text.append(", \"state\": ").append(json_text(states[static_cast<int>(p.state)])).append(", \"waits\": [");
    const char* inner = "";
    for (const Wait& wait : p.page.waits) {
      text.append(inner).append(as_json(snapshot, wait));
      inner = ", ";
    }
    text.append("], \"threads\": [");
    inner = "";
    for (const ThreadWait& wait : p.thread_waits) {
      text.append(inner).append("{\"thread\": ").append(std::to_string(wait.thread)).append(", \"call\": ");
      text.append(json_text(wait.call)).append(", \"place\": ").append(json_text(wait.place)).append("}");
      inner = ", ";
    }
    text.append("]}");
    between = ", ";
  }
  return text + "]}";
}

}  // namespace weft::why
