// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "device/api/device.hpp"

#include <mutex>
#include <utility>

namespace weft::device {

const Driver* active = nullptr;

namespace {

thread_local bool failed = false;
std::mutex problem_mutex;
std::string* problem_text = nullptr;

}  // namespace

void fail(const std::string& problem) {
  failed = true;
  std::lock_guard guard(problem_mutex);
  if (problem_text == nullptr) problem_text = new std::string;
  *problem_text = problem;
}

bool take_failure() {
  return std::exchange(failed, false);
}

std::string last_problem() {
  std::lock_guard guard(problem_mutex);
  return problem_text == nullptr ? std::string() : *problem_text;
}

}  // namespace weft::device
