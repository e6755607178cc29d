// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz.hpp"
#include "topo/placement.hpp"

using namespace weft;

namespace {

void one(fuzz::Random& random, const std::string& text) {
  static const topo::Machine machine = topo::synthetic_machine("numa:2 core:4 pu:2", {});
  base::CpuSet set;
  if (base::parse_cpu_list(text, set).empty()) {
    FUZZ_CHECK(!set.empty());
    base::CpuSet again;
    FUZZ_CHECK(base::parse_cpu_list(base::shown_cpu_list(set), again).empty() && again == set);
  } else {
    FUZZ_CHECK(set.empty());
  }
  topo::BindingRequest request;
  if (!topo::parse_binding(text, request).empty()) return;
  int ranks = static_cast<int>(random.below(20)) + 1;
  topo::Placement placement = topo::place(machine, ranks, request);
  if (!placement.wrong.empty()) return;
  FUZZ_CHECK(placement.sets.size() == static_cast<size_t>(ranks));
  for (const base::CpuSet& share : placement.sets) FUZZ_CHECK(share.both(machine.allowed) == share);
}

}  // namespace

int main(int argc, char** argv) {
  return fuzz::run(argc, argv,
                   {"core", "numa", "none", "0-3,8:4-7", "0", "15", "1:2:3", "4095", "0-15", ",", ":", "-", ""}, one);
}
