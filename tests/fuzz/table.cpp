// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "coll/select/table.hpp"

#include "base/json.hpp"
#include "fuzz.hpp"

using namespace weft;

namespace {

void one(fuzz::Random& random, const std::string& text) {
  std::vector<coll::Row> rows;
  base::Problem problem;
  base::Json value;
  base::JsonProblem wrong;
  const bool is_json = base::parse_json(text, value, wrong);
  FUZZ_CHECK(is_json || (wrong.line >= 1 && !wrong.what.empty()));
  FUZZ_CHECK(base::parse_json(base::json_text(text), value, wrong) || text.size() > (1U << 17));
  if (!coll::parse_table(text, "table", rows, problem)) {
    FUZZ_CHECK(rows.empty());
    FUZZ_CHECK(problem.cause.size() > 40 && problem.cause.size() < 500 && !problem.remedy.empty());
    return;
  }
  FUZZ_CHECK(is_json);
  // With any rows, there is an algorithm for everything.
  const coll::Shape shape{.ranks = 1 + static_cast<int32_t>(random.below(100)),
                          .hosts = 1 + static_cast<int32_t>(random.below(5)),
                          .ranks_per_host = 1 + static_cast<int32_t>(random.below(9)),
                          .leaders = random.below(2) == 0,
                          .crowded = random.below(2) == 0};
  const coll::Choices choices = coll::compile(shape, rows);
  for (size_t c = 0; c < coll::collective_count; ++c) {
    const auto collective = static_cast<coll::Collective>(c);
    const coll::Algorithm algorithm = choices.choose(collective, static_cast<int64_t>(random.next() >> 1));
    FUZZ_CHECK(algorithm != coll::Algorithm::automatic);
    FUZZ_CHECK(shape.leaders || algorithm != coll::Algorithm::leaders);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return fuzz::run(
      argc, argv,
      {R"({"weft_tuning": 1, "rows": [{"collective": "allreduce", "ranks": [3, 4], "hosts": 2, "bytes": 16384,
  "algorithm": "leaders", "measured": [{"bytes": 8, "us": {"flat": 1.25}}]}]})",
       R"({"weft_tuning": 1, "rows": [{"collective": "barrier", "algorithm": "flat", "crowded": true},
  {"collective": "bcast", "ranks_per_host": 3, "algorithm": "split"}], "measured": {"where": "a"}})",
       R"({"weft_tuning": 1, "rows": []})", R"({"collective": "reduce", "algorithm": "tree"})",
       R"("\u00e9\ud83d\ude00\n")", "[[[[1, -2.5e3, true, null]]]]", "9223372036854775808", "\"", "{", "", "\n", ",",
       "[1, 2]"},
      one);
}
