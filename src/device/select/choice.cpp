// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "device/select/choice.hpp"

#include "base/message.hpp"
#include "base/setting.hpp"
#include "device/api/device.hpp"

namespace weft::device {
namespace {

enum : int { choice_off, choice_auto, choice_cuda, choice_hip, choice_ze, choice_mock, choice_any };
constexpr const char* words[] = {"off", "auto", "cuda", "hip", "ze", "mock", "on"};
constinit base::ChoiceSetting devices{
    {.name = "WEFT_DEVICES",
     .help =
         "whose memory buffers may lie in; auto: CUDA's, HIP's or Level Zero's, if the process has loaded its library "
         "when MPI starts; cuda, hip, ze: load that; on: load what is there; off: none; mock: memory that faults when "
         "the processor touches it, for tests",
     .level = base::SettingLevel::basic,
     .alias = "MPICH_GPU_SUPPORT_ENABLED",
     .other_alias = "MPICH_RDMA_ENABLED_CUDA",
     .subject = base::Subject::memory},
    choice_auto,
    words,
    7};
WEFT_SETTING(devices);

std::string open(const Driver& driver, bool alone) {
  std::string problem = driver.open(alone);
  if (!problem.empty()) return problem;
  active = &driver;
  if (at_open != nullptr) at_open();
  return {};
}

std::string open(bool load_always) {
  const int choice = devices.value();
  if (active != nullptr || choice == choice_off) return {};
  if (choice == choice_mock) return open(mock, false);
  const bool alone = choice == choice_auto && !load_always;
  std::string problem;
  const struct {
    int word;
    const Driver& driver;
  } rows[] = {{choice_cuda, cuda}, {choice_hip, hip}, {choice_ze, ze}};
  for (const auto& [word, driver] : rows) {
    if (choice != word && choice != choice_auto && choice != choice_any) continue;
    const std::string its = open(driver, alone);
    if (its.empty()) return {};
    problem.append(problem.empty() ? "" : "; ").append(its);
  }
  return alone ? std::string() : problem;
}

}  // namespace

void (*at_open)() = nullptr;

bool everywhere() {
  return on() && devices.value() != choice_auto;
}

std::string open() {
  std::string problem = open(false);
  if (problem.empty() || !devices.by_alias()) return problem;
  base::warn_for_job(devices.variable(), {.cause = std::string(devices.variable()) +
                                                   " has no effect, and buffers may lie in the host's "
                                                   "memory alone: " +
                                                   problem,
                                          .remedy = "install the driver, or unset it"});
  return {};
}

std::string open_for_tool() {
  return open(true);
}

}  // namespace weft::device
