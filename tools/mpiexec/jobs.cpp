// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The tree of jobs: a job, below it the worlds that its ranks have spawned, below these what they have spawned. Each
// mpiexec describes its own; `mpiexec --jobs` asks all of the user's.
#include "mpiexec/jobs.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "boot/connect/job_number.hpp"
#include "boot/connect/service.hpp"
#include "boot/connect/ties.hpp"
#include "mpiexec/launch.hpp"

namespace weft::mpiexec {
namespace {

std::string words_of(const Program& program) {
  constexpr size_t longest = 60;
  std::string text;
  for (const std::string& word : program.words) {
    if (!text.empty()) text += ' ';
    text += word;
  }
  if (text.size() > longest) text.replace(longest - 3, std::string::npos, "...");
  return text;
}

}  // namespace

std::string Launch::running(const World* world, int number) const {
  const auto runs =
      std::count_if(ranks_.begin(), ranks_.end(), [&](const Rank& rank) { return rank.alive && rank.world == world; });
  return std::to_string(runs) + " of " + std::to_string(number) + (number == 1 ? " process runs" : " processes run");
}

// Whether a process of the world and one of `parent` have something in common, so that they end together.
bool Launch::is_connected(const World& world, const World* parent) const {
  const std::vector<int> with = connected_with(world.first);
  return std::any_of(with.begin(), with.end(), [&](int place) {
    const Rank& rank = ranks_[static_cast<size_t>(place)];
    return rank.alive && rank.world == parent;
  });
}

void Launch::describe_worlds(const World* parent, size_t depth, std::string& text) const {
  const auto is_there = [this](uint32_t number) {
    return std::any_of(worlds_.begin(), worlds_.end(), [number](const World& world) { return world.number == number; });
  };
  for (const World& world : worlds_) {
    // A world whose own parents have ended stands below the job.
    const bool is_below = parent != nullptr ? world.parent == parent->number : !is_there(world.parent);
    if (!is_below) continue;
    text.append(2 * depth, ' ').append("spawned world ").append(std::to_string(world.number)).append(", by ");
    text.append(world.spawned_by).append(": ").append(running(&world, world.size));
    if (!is_connected(world, parent)) text.append(", independent of it");
    const char* before = ": ";
    for (const Spawned& spawned : world.programs)
      text.append(std::exchange(before, ", ")).append(words_of(spawned.program));
    text += '\n';
    describe_worlds(&world, depth + 1, text);
  }
}

std::string Launch::tree() const {
  std::string text = "job " + job_id() + " (mpiexec " + std::to_string(getpid()) + "): ";
  text.append(running(nullptr, command_.ranks())).append(on_several_hosts() ? " on this host" : "");
  const char* before = ": ";
  for (const Program& program : command_.programs) text.append(std::exchange(before, ", ")).append(words_of(program));
  text += '\n';
  describe_worlds(nullptr, 1, text);
  return text;
}

int show_jobs() {
  constexpr int patience_s = 5;
  std::vector<std::string> sockets;
  for (int number = 1; number < boot::job_numbers; ++number) sockets.push_back(boot::socket_of_job(number));
  std::vector<boot::Packet> answers = boot::ask_launchers(
      sockets, boot::Packet().put(boot::request::tree), [] {}, patience_s);
  int shown = 0;
  for (boot::Packet& answer : answers) {
    const bool refused = answer.take_number(0, 1) != 0;
    (void)answer.take_text();
    const std::string text = answer.take_text();
    if (refused || answer.is_bad()) continue;
    fputs(text.c_str(), stdout);
    ++shown;
  }
  if (shown == 0) puts("no job of this user runs on this host");
  return 0;
}

}  // namespace weft::mpiexec
