// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/offload/faults.hpp"

#include <string_view>

#include "base/test_setting.hpp"

namespace weft::coll::offload {

namespace {

constinit base::TextSetting faults_setting{
    {.name = "WEFT_OFFLOAD_FAULTS",
     .help = "faults of the component of WEFT_OFFLOAD, for tests: alone=R (rank R of a communicator cannot join), "
             "refuse=B (operations of B bytes or more), fail=N (the operation behind N ones of a communicator), rank=R "
             "(fails on rank R alone)",
     .subject = base::Subject::start,
     .alike = true}};
WEFT_TEST_SETTING(faults_setting);

constinit Faults asked;

}  // namespace

bool read_faults(base::Problem& problem) {
  asked = {};
  std::string_view rest = faults_setting.value();
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(word.size() < rest.size() ? word.size() + 1 : word.size());
    const size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    int64_t* const number = name == "alone"    ? &asked.alone
                            : name == "refuse" ? &asked.refuse
                            : name == "fail"   ? &asked.fail
                            : name == "rank"   ? &asked.rank
                                               : nullptr;
    if (number != nullptr && equals != std::string_view::npos &&
        base::parse_number(word.substr(equals + 1), base::Unit::none, *number).empty() && *number >= 0)
      continue;
    problem = {.cause = "WEFT_OFFLOAD_FAULTS: " + base::quoted(word) + " is not understood",
               .remedy = "see weft info --all"};
    return false;
  }
  return true;
}

const Faults& faults() {
  return asked;
}

}  // namespace weft::coll::offload
