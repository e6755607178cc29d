// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What `weft tune` makes of measured times: rows for the table of algorithms (coll/select/select.hpp), a file of them,
// a table for people.

#include <string>
#include <vector>

#include "coll/select/select.hpp"

namespace weft::tool {

// One algorithm for one size: microseconds of a call, a number for each round.
struct Timed {
  coll::Algorithm algorithm;
  std::vector<double> us;
};

struct Measured {
  coll::Collective collective;
  int64_t bytes = 0;
  std::vector<Timed> timed;
  coll::Algorithm fallback = coll::Algorithm::automatic;  // what the default rows take
  coll::Algorithm best = coll::Algorithm::automatic;      // what is to be taken
};

// One job's.
struct JobMeasured {
  coll::Shape shape;
  int32_t above = 1;            // its rows are for so many ranks on, up to its own number
  std::vector<Measured> sizes;  // by collective, sizes rising
};

[[nodiscard]] double median_of(const Measured& measured, coll::Algorithm algorithm);

// Reads the output of weft-measure. False: it is none, `wrong` is the line.
[[nodiscard]] bool read_measured(const std::string& output, JobMeasured& job, std::string& wrong);

// Decides for each size: another algorithm than the default one when it takes at most 0.95 of its time by the median of
// the rounds, and is the faster one in three of four rounds.
void decide(JobMeasured& job);

// The file, for WEFT_TUNING. `model`: the members of an object (weft/model.hpp), or empty. `where` says on which hosts.
[[nodiscard]] std::string tuning_file(const std::vector<JobMeasured>& jobs, const std::string& model,
                                      const std::string& where);

// Where the default changes, and by how much.
[[nodiscard]] std::string changes_text(const JobMeasured& job);

}  // namespace weft::tool
