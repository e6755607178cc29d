// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/own_cpus.hpp"

#include <cstdlib>
#include <string_view>

namespace weft::base {
namespace {

constinit CpuSet given_own;
constinit CpuSet given_service;

bool openmp_binds() {
  const char* bind = getenv("OMP_PROC_BIND");
  if (bind != nullptr) return std::string_view(bind) != "false" && std::string_view(bind) != "FALSE";
  return getenv("OMP_PLACES") != nullptr || getenv("GOMP_CPU_AFFINITY") != nullptr || getenv("KMP_AFFINITY") != nullptr;
}

}  // namespace

void set_own_cpus(const CpuSet& own, const CpuSet& service) {
  given_own = own;
  given_service = service;
}

CpuSet own_cpus() {
  const CpuSet mask = affinity();
  const bool within = !given_own.empty() && given_own.both(mask) == mask;
  return within && openmp_binds() ? given_own : mask;
}

CpuSet service_cpus() {
  return given_service;
}

void enter_service_cpus() {
  const CpuSet cpus = given_service.empty() ? own_cpus() : given_service;
  if (cpus != affinity()) (void)set_affinity(cpus);
}

}  // namespace weft::base
