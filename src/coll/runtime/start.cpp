// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/runtime/start.hpp"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "coll/offload/offload.hpp"
#include "coll/select/table.hpp"
#include "core/object/failure.hpp"
#include "core/object/identity.hpp"

namespace weft::coll {

namespace {

std::vector<Row> read_tuning_file() {
  std::vector<Row> rows;
  const std::string path = tuning_file();
  if (path.empty()) return rows;
  base::Problem problem;
  std::vector<core::DevicePipe> pipes;
  if (!read_table(path, rows, problem, &pipes)) {
    if (core::identity->rank != 0) ::sleep(2);  // rank 0 says so, unless its file is another one, and ends the job
    core::failed(core::FailureCause::start, problem);
  }
  core::set_device_pipes(std::move(pipes));
  return rows;
}

bool chooses_offload(const std::vector<Row>& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.algorithm == Algorithm::offload; });
}

}  // namespace

uint64_t start() {
  std::vector<Row> rows = read_tuning_file();
  base::Problem problem;
  if (!offload::open(problem)) core::failed(core::FailureCause::start, problem);
  const offload::Component* const component = offload::active();
  const uint64_t sum = open_choices(std::move(rows), component != nullptr ? component->name : nullptr);
  offload::tell_unused(chooses_offload(rows_of_settings()), chooses_offload(rows_in_force()));
  return sum;
}

}  // namespace weft::coll
