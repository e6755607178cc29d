// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The table of algorithms: the choices of the default rows, the rows before them, and files of rows.
#include <gtest/gtest.h>

#include <cstdio>
#include <utility>

#include "base/json.hpp"
#include "base/setting.hpp"
#include "coll/select/select.hpp"
#include "coll/select/table.hpp"

namespace {

using namespace weft;
using coll::Algorithm;
using coll::Algorithms;
using coll::Choices;
using coll::Collective;
using coll::Row;
using coll::Shape;

constexpr Shape one_host{.ranks = 8};
constexpr Shape two_hosts{.ranks = 8, .hosts = 2, .ranks_per_host = 4, .leaders = true};
constexpr int64_t much = int64_t{1} << 40;

Algorithm chosen(const Shape& shape, Collective collective, int64_t bytes, const std::vector<Row>& rows = {},
                 Algorithms able = Algorithms::all()) {
  return coll::compile(shape, rows).choose(collective, bytes, able);
}

// A setting for the time of a test.
class Set {
 public:
  Set(const char* name, const char* value) {
    for (base::SettingRow* row : base::all_settings()) {
      if (std::string(name) == row->text().name) row_ = row;
    }
    EXPECT_NE(row_, nullptr) << name;
    before_ = row_->shown();
    EXPECT_EQ(row_->parse(value), "");
  }
  ~Set() { EXPECT_EQ(row_->parse(before_), ""); }

 private:
  base::SettingRow* row_ = nullptr;
  std::string before_;
};

TEST(DefaultRows, ChooseOnOneHost) {
  EXPECT_EQ(chosen({.ranks = 32}, Collective::barrier, 0), Algorithm::flat);
  EXPECT_EQ(chosen({.ranks = 33}, Collective::barrier, 0), Algorithm::dissemination);
  EXPECT_EQ(chosen(one_host, Collective::bcast, much), Algorithm::tree);
  EXPECT_EQ(chosen(one_host, Collective::gather, 1), Algorithm::direct);
  EXPECT_EQ(chosen(one_host, Collective::scatter, 1), Algorithm::direct);
  EXPECT_EQ(chosen(one_host, Collective::allgather, 16 * 1024), Algorithm::bruck);
  EXPECT_EQ(chosen(one_host, Collective::allgather, 16 * 1024 + 1), Algorithm::ring);
  EXPECT_EQ(chosen(one_host, Collective::alltoall, 1), Algorithm::pairwise);
  EXPECT_EQ(chosen(one_host, Collective::reduce, 16 * 1024), Algorithm::tree);
  EXPECT_EQ(chosen(one_host, Collective::reduce, much), Algorithm::tree);
  EXPECT_EQ(chosen({.ranks = 64}, Collective::reduce, much), Algorithm::split);
  EXPECT_EQ(chosen({.ranks = 64}, Collective::bcast, much), Algorithm::split);
  EXPECT_EQ(chosen(one_host, Collective::allreduce, 8), Algorithm::doubling);
  EXPECT_EQ(chosen(one_host, Collective::reduce_scatter, 8), Algorithm::halving);
  EXPECT_EQ(chosen(one_host, Collective::reduce_scatter, 8, {},
                   Algorithms::all().without(Algorithm::halving).without(Algorithm::pairwise)),
            Algorithm::root);
}

TEST(DefaultRows, ChooseSharedMemoryForBlockingOperations) {
  const Shape two{.ranks = 2, .shared = true};
  const Choices choices = coll::compile(two, {});
  EXPECT_TRUE(choices.in_regions);
  EXPECT_FALSE(coll::compile({.ranks = 33, .shared = true}, {}).in_regions);
  EXPECT_FALSE(coll::compile({.ranks = 2}, {}).in_regions);
  const Algorithms blocking = Algorithms::blocking();
  EXPECT_EQ(choices.choose(Collective::allreduce, 8 * 1024, blocking), Algorithm::shared);
  EXPECT_EQ(choices.choose(Collective::allreduce, 64 * 1024 + 1, blocking), Algorithm::shared);
  const Algorithms without_chunks = blocking.without(Algorithm::shared);
  EXPECT_EQ(choices.choose(Collective::allreduce, 64 * 1024 + 1, without_chunks), Algorithm::single_copy);
  EXPECT_EQ(choices.choose(Collective::allreduce, much, without_chunks.without(Algorithm::single_copy)),
            Algorithm::ring);
  const Choices many = coll::compile({.ranks = 9, .shared = true}, {});
  EXPECT_EQ(many.choose(Collective::gather, 8 * 1024, blocking), Algorithm::shared);
  EXPECT_EQ(many.choose(Collective::gather, 8 * 1024 + 1, blocking), Algorithm::direct);  // the root would copy all
  EXPECT_EQ(many.choose(Collective::scan, 8 * 1024 + 1, blocking), Algorithm::single_copy);
  EXPECT_EQ(many.choose(Collective::alltoallv, 0, blocking), Algorithm::shared);
  const Choices crowd = coll::compile({.ranks = 8, .crowded = true, .shared = true}, {});
  EXPECT_EQ(crowd.choose(Collective::allreduce, 8 * 1024 + 1, blocking), Algorithm::shared);
  EXPECT_EQ(choices.choose(Collective::allreduce, 8), Algorithm::doubling);  // a plan's steps
  const Row row{Collective::barrier, Algorithm::flat};
  EXPECT_EQ(coll::compile(two, {&row, 1}).choose(Collective::barrier, 0, Algorithms::blocking()), Algorithm::flat);
}

TEST(DefaultRows, ChooseCopiesBetweenBuffersForLargeNonblockingOperations) {
  const Choices two = coll::compile({.ranks = 2, .shared = true}, {});
  const Algorithms nonblocking = Algorithms::nonblocking();
  for (const auto& [one, kib] : {std::pair(Collective::reduce, 512), std::pair(Collective::allreduce, 64),
                                 std::pair(Collective::allgather, 64), std::pair(Collective::allgatherv, 64),
                                 std::pair(Collective::alltoall, 32), std::pair(Collective::reduce_scatter, 2048)}) {
    EXPECT_NE(two.choose(one, int64_t{kib} * 1024, nonblocking), Algorithm::peer_copy);
    EXPECT_EQ(two.choose(one, int64_t{kib} * 1024 + 1, nonblocking), Algorithm::peer_copy);
    EXPECT_NE(two.choose(one, much), Algorithm::peer_copy);
    EXPECT_NE(two.choose(one, much, Algorithms::blocking()), Algorithm::peer_copy);
    EXPECT_NE(coll::compile({.ranks = 2}, {}).choose(one, much, nonblocking), Algorithm::peer_copy);
    EXPECT_NE(coll::compile({.ranks = 33, .shared = true}, {}).choose(one, much, nonblocking), Algorithm::peer_copy);
  }
  // Small data stay with messages where the order of ranks counts, too.
  const Algorithms in_order = nonblocking.without(Algorithm::halving).without(Algorithm::pairwise);
  EXPECT_EQ(two.choose(Collective::reduce_scatter, 8, in_order), Algorithm::root);
  const Row row{Collective::reduce, Algorithm::peer_copy};
  const Choices forced = coll::compile({.ranks = 2, .shared = true}, {&row, 1});
  EXPECT_EQ(forced.choose(Collective::reduce, 8, nonblocking), Algorithm::peer_copy);
  EXPECT_EQ(forced.choose(Collective::reduce, 8, Algorithms::blocking()), Algorithm::shared);
  EXPECT_TRUE(forced.in_regions);
}

TEST(Rows, OfOffloadAreForBlockingOperationsWithAComponent) {
  const Row row{.collective = Collective::allreduce, .algorithm = Algorithm::offload, .bytes = 100};
  const Shape two{.ranks = 2, .shared = true, .offload = true};
  const Choices choices = coll::compile(two, {&row, 1});
  EXPECT_EQ(choices.choose(Collective::allreduce, 100, Algorithms::any()), Algorithm::offload);
  EXPECT_EQ(choices.choose(Collective::allreduce, 101, Algorithms::any()), Algorithm::shared);
  EXPECT_EQ(choices.choose(Collective::allreduce, 100, Algorithms::blocking()), Algorithm::shared);
  EXPECT_EQ(choices.choose(Collective::allreduce, 100), Algorithm::doubling);
  EXPECT_EQ(choices.otherwise, coll::ask_offload);
  EXPECT_TRUE(choices.regions_behind && !choices.in_regions);
  const Choices without = coll::compile({.ranks = 2, .shared = true}, {&row, 1});
  EXPECT_EQ(without.choose(Collective::allreduce, 100, Algorithms::any()), Algorithm::shared);
  EXPECT_EQ(without.otherwise, coll::go_by_messages);
  EXPECT_TRUE(without.in_regions && !without.regions_behind);
  const Choices defaults = coll::compile(two, {});
  EXPECT_EQ(defaults.otherwise, coll::go_by_messages);
}

TEST(DefaultRows, ChooseWhereRanksShareProcessors) {
  EXPECT_EQ(chosen({.ranks = 32, .crowded = true}, Collective::allreduce, 4096), Algorithm::flat);
  EXPECT_EQ(chosen({.ranks = 32, .crowded = true}, Collective::allreduce, 4097), Algorithm::doubling);
  EXPECT_EQ(chosen({.ranks = 33, .crowded = true}, Collective::allreduce, 8), Algorithm::doubling);
}

TEST(DefaultRows, ChooseLeadersBetweenHosts) {
  for (const Collective one : {Collective::barrier, Collective::bcast, Collective::reduce, Collective::allreduce}) {
    EXPECT_EQ(chosen(two_hosts, one, 16 * 1024), Algorithm::leaders) << coll::name(one);
    EXPECT_EQ(chosen(two_hosts, one, much), one == Collective::barrier ? Algorithm::leaders : Algorithm::split)
        << coll::name(one);
  }
  for (const Collective one : {Collective::gather, Collective::scatter}) {
    EXPECT_EQ(chosen(two_hosts, one, 1024), Algorithm::leaders) << coll::name(one);
    EXPECT_EQ(chosen(two_hosts, one, 1025), Algorithm::direct) << coll::name(one);
  }
  EXPECT_EQ(chosen(two_hosts, Collective::allgather, 64 * 1024), Algorithm::leaders);
  EXPECT_EQ(chosen({.ranks = 64, .hosts = 64}, Collective::allgather, 64 * 1024), Algorithm::doubling);
  EXPECT_EQ(chosen(two_hosts, Collective::allgather, 64 * 1024 + 1), Algorithm::neighbours);
  EXPECT_EQ(chosen(two_hosts, Collective::allgather, 512 * 1024 + 1), Algorithm::ring);
  EXPECT_EQ(chosen(two_hosts, Collective::allgatherv, 64 * 1024), Algorithm::leaders);
  EXPECT_EQ(chosen(two_hosts, Collective::allgatherv, 64 * 1024 + 1), Algorithm::ring);
  EXPECT_EQ(chosen(two_hosts, Collective::scan, 64 * 1024 + 1), Algorithm::chain);
  EXPECT_EQ(chosen(two_hosts, Collective::alltoall, 256), Algorithm::bruck);
  EXPECT_EQ(chosen({.ranks = 8, .hosts = 8}, Collective::allgather, much), Algorithm::pairwise);
  const Algorithms out_of_order = Algorithms::all().without(Algorithm::leaders);
  EXPECT_EQ(chosen(two_hosts, Collective::allreduce, 8, {}, out_of_order), Algorithm::doubling);
}

TEST(Rows, OfBlocksThatDifferSizeTheSlotsOfATree) {
  constexpr Shape many{.ranks = 100};
  const auto slot = [&](const std::vector<Row>& rows) {
    const coll::Choices choices = coll::compile(many, rows);
    const coll::Choice& choice = choices.find(Collective::gatherv, 0, Algorithms::all());
    EXPECT_EQ(choice.algorithm, Algorithm::tree);
    return coll::slot_of(choice);
  };
  EXPECT_EQ(slot({}), 64);
  EXPECT_EQ(slot({{Collective::gatherv, Algorithm::tree}}), 64);
  EXPECT_EQ(slot({{.collective = Collective::gatherv, .algorithm = Algorithm::tree, .bytes = 500}}), 500);
  EXPECT_EQ(slot({{.collective = Collective::gatherv, .algorithm = Algorithm::tree, .bytes = much}}), 1 << 20);
  {
    const Set set("WEFT_GATHERV_SHORT_MSG", "200");
    EXPECT_EQ(slot(coll::rows_of_settings()), 200);
    const Set also("WEFT_GATHERV_ALGORITHM", "tree");
    EXPECT_EQ(slot(coll::rows_of_settings()), 200);
  }
  const Set none("WEFT_GATHERV_SHORT_MSG", "0");
  EXPECT_EQ(chosen(many, Collective::gatherv, 0, coll::rows_of_settings()), Algorithm::direct);
  EXPECT_EQ(chosen(many, Collective::allgatherv, 0), Algorithm::bruck);
}

TEST(Rows, TheFirstThatFitsDecides) {
  const std::vector<Row> rows{
      {.collective = Collective::bcast, .algorithm = Algorithm::leaders, .bytes = 10},
      {.collective = Collective::bcast, .algorithm = Algorithm::split, .ranks = {5, 8}, .hosts = {2, 2}, .bytes = 100},
      {.collective = Collective::bcast, .algorithm = Algorithm::tree, .ranks_per_host = {4, 4}, .bytes = 1000},
  };
  EXPECT_EQ(chosen(two_hosts, Collective::bcast, 10, rows), Algorithm::leaders);
  EXPECT_EQ(chosen(two_hosts, Collective::bcast, 11, rows), Algorithm::split);
  EXPECT_EQ(chosen(two_hosts, Collective::bcast, 101, rows), Algorithm::tree);
  EXPECT_EQ(chosen(two_hosts, Collective::bcast, 1001, rows), Algorithm::leaders);
  EXPECT_EQ(chosen(two_hosts, Collective::bcast, 11, rows, Algorithms::all().without(Algorithm::split)),
            Algorithm::tree);
  const Shape three_hosts{.ranks = 8, .hosts = 3, .ranks_per_host = 3, .leaders = true};
  EXPECT_EQ(chosen(three_hosts, Collective::bcast, 11, rows), Algorithm::leaders);
  EXPECT_EQ(chosen(one_host, Collective::bcast, 5, rows), Algorithm::tree);
}

Algorithm chosen_by_settings(Collective collective, int64_t bytes, Algorithms able = Algorithms::all()) {
  core::Comm comm;
  comm.size = 8;
  return coll::choose(comm, collective, bytes, able);
}

TEST(Settings, NameAnAlgorithm) {
  EXPECT_EQ(chosen_by_settings(Collective::allreduce, 8), Algorithm::doubling);
  const Set split("WEFT_ALLREDUCE_ALGORITHM", "split");
  EXPECT_EQ(chosen_by_settings(Collective::allreduce, 8), Algorithm::split);
  EXPECT_EQ(chosen_by_settings(Collective::allreduce, 8, Algorithms::all().without(Algorithm::split)),
            Algorithm::doubling);
  EXPECT_EQ(chosen_by_settings(Collective::bcast, 8), Algorithm::tree);
}

TEST(Settings, GiveACutOff) {
  const Set few("WEFT_ALLTOALL_SHORT_MSG", "100");
  EXPECT_EQ(chosen_by_settings(Collective::alltoall, 100), Algorithm::bruck);
  EXPECT_EQ(chosen_by_settings(Collective::alltoall, 101), Algorithm::pairwise);
  const Set none("WEFT_ALLGATHER_SHORT_MSG", "0");
  EXPECT_EQ(chosen_by_settings(Collective::allgather, 8), Algorithm::ring);
  const Set large("WEFT_BCAST_SHORT_MSG", "64K");
  EXPECT_EQ(chosen_by_settings(Collective::bcast, 65536), Algorithm::tree);
  EXPECT_EQ(chosen_by_settings(Collective::bcast, 65537), Algorithm::split);
  const Set parts("WEFT_REDUCE_SCATTER_SHORT_MSG", "64");
  EXPECT_EQ(chosen_by_settings(Collective::reduce_scatter, 64), Algorithm::root);
  EXPECT_EQ(chosen_by_settings(Collective::reduce_scatter, 65), Algorithm::pairwise);
}

TEST(Settings, ActInCommunicatorsThatHaveNotBegun) {
  core::Comm begun;
  begun.size = 8;
  EXPECT_EQ(coll::choose(begun, Collective::alltoall, 8), Algorithm::pairwise);
  const Set bruck("WEFT_ALLTOALL_ALGORITHM", "bruck");
  EXPECT_EQ(coll::choose(begun, Collective::alltoall, 8), Algorithm::pairwise);
  EXPECT_EQ(chosen_by_settings(Collective::alltoall, 8), Algorithm::bruck);
}

std::vector<Row> parsed(const std::string& text) {
  std::vector<Row> rows;
  base::Problem problem;
  EXPECT_TRUE(coll::parse_table(text, "table", rows, problem)) << problem.cause;
  return rows;
}

TEST(File, HasRows) {
  const std::vector<Row> rows = parsed(R"({"weft_tuning": 1, "measured": {"any": ["thing", null, 1.5e3]}, "rows": [
    {"collective": "allreduce", "ranks": [3, 4], "hosts": 2, "ranks_per_host": [1, 2], "bytes": 16384,
     "algorithm": "leaders", "measured": [1]},
    {"algorithm": "flat", "collective": "barrier", "crowded": true}]})");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0], (Row{Collective::allreduce, Algorithm::leaders, false, false, {3, 4}, {2, 2}, {1, 2}, 16384}));
  EXPECT_EQ(rows[1], (Row{.collective = Collective::barrier, .algorithm = Algorithm::flat, .crowded = true}));
  EXPECT_TRUE(parsed(R"({"weft_tuning": 1, "rows": []})").empty());
}

TEST(File, IsRefusedWithItsLine) {
  const struct {
    const char* text;
    const char* line;
    const char* what;
  } cases[] = {
      {"", "line 1,", "a value is expected"},
      {"[]", "line 1,", "no JSON object"},
      {"{\n}", "line 1,", "\"weft_tuning\" is missing"},
      {"{\n\"weft_tuning\":\n2, \"rows\": []}", "line 3,", "only version known"},
      {"{\"weft_tuning\": 1}", "line 1,", "\"rows\" is missing"},
      {"{\"weft_tuning\": 1,\n\"rws\": []}", "line 2,", "\"rws\" is not known"},
      {"{\"weft_tuning\": 1, \"rows\": [\n3]}", "line 2,", "no JSON object"},
      {"{\"weft_tuning\": 1, \"rows\": [\n{\"algorithm\": \"flat\"}]}", "line 2,", "no \"collective\""},
      {"{\"weft_tuning\": 1, \"rows\": [\n{\"collective\": \"barrier\"}]}", "line 2,", "no \"algorithm\""},
      {"{\"weft_tuning\": 1, \"rows\": [{\"collective\":\n\"bcst\"}]}", "line 2,", "\"bcst\" is no collective"},
      {"{\"weft_tuning\": 1, \"rows\": [{\"collective\": \"bcast\",\n\"algorithm\": \"flat\"}]}", "line 2,",
       "it has shared, leaders, tree, split"},
      {"{\"weft_tuning\": 1, \"rows\": [{\"collective\": \"bcast\", \"algorithm\": \"auto\"}]}", "line 1,",
       "no algorithm of bcast"},
      {"{\"weft_tuning\": 1, \"rows\": [{\"collective\": \"bcast\", \"algorithm\": \"tree\",\n\"ranks\": [4, 3]}]}",
       "line 2,", "\"ranks\" is neither"},
      {"{\"weft_tuning\": 1, \"rows\": [{\"collective\": \"bcast\", \"algorithm\": \"tree\",\n\"hosts\": 0}]}",
       "line 2,", "\"hosts\" is neither"},
      {"{\"weft_tuning\": 1, \"rows\": [{\"collective\": \"bcast\", \"algorithm\": \"tree\",\n\"bytes\": 1.5}]}",
       "line 2,", "\"bytes\" is no number"},
      {"{\"weft_tuning\": 1, \"rows\": [{\"collective\": \"bcast\", \"algorithm\": \"tree\",\n\"size\": 1}]}",
       "line 2,", "\"size\" is not known"},
      {"{\"weft_tuning\": 1,\n\"rows\": [\n{]}", "line 3,", "the name of a member"},
  };
  for (const auto& one : cases) {
    std::vector<Row> rows{{}};
    base::Problem problem;
    EXPECT_FALSE(coll::parse_table(one.text, "table", rows, problem)) << one.text;
    EXPECT_TRUE(rows.empty());
    EXPECT_NE(problem.cause.find(one.line), std::string::npos) << problem.cause;
    EXPECT_NE(problem.cause.find(one.what), std::string::npos) << problem.cause;
    EXPECT_NE(problem.remedy, "");
  }
}

TEST(Text, RowsOfDevicesAreGivenApart) {
  std::vector<Row> rows;
  std::vector<core::DevicePipe> pipes;
  base::Problem problem;
  EXPECT_TRUE(
      coll::parse_table("{\"weft_tuning\": 1, \"rows\": [], \"devices\": [{\"bytes\": 65536, \"chunk\": "
                        "16384, \"depth\": 4}, {\"chunk\": 131072, \"depth\": 1}]}",
                        "table", rows, problem, &pipes))
      << problem.cause;
  ASSERT_EQ(pipes.size(), 2U);
  core::set_device_pipes(pipes);
  EXPECT_EQ(core::device_pipe(65536).chunk, 16384);
  EXPECT_EQ(core::device_pipe(65536).depth, 4);
  EXPECT_EQ(core::device_pipe(65537).chunk, 131072);
  EXPECT_EQ(core::device_pipe(65537).depth, 1);
  core::set_device_pipes({});
  EXPECT_EQ(core::device_pipe(1).chunk, core::most_device_chunk);
  for (const char* row : {"{\"chunk\": 1, \"depth\": 1}", "{\"chunk\": 131073, \"depth\": 1}", "{\"chunk\": 8192}",
                          "{\"chunk\": 8192, \"depth\": 9}", "{\"chunk\": 8192, \"depth\": 1, \"size\": 1}", "1",
                          "{\"chunk\": 8192, \"depth\": 1}, {\"chunk\": 8192, \"depth\": 1}"}) {
    const std::string text = std::string("{\"weft_tuning\": 1, \"rows\": [], \"devices\": [") + row + "]}";
    EXPECT_FALSE(coll::parse_table(text, "table", rows, problem, &pipes)) << row;
    EXPECT_NE(problem.cause.find("line 1,"), std::string::npos) << problem.cause;
  }
}

TEST(File, ThatIsNotThereIsSaid) {
  std::vector<Row> rows;
  base::Problem problem;
  EXPECT_FALSE(coll::read_table("/no/such/table", rows, problem));
  EXPECT_EQ(problem.error, ENOENT);
}

TEST(File, OfAllNamesIsTaken) {
  std::string text;
  std::vector<Row> wanted;
  for (size_t c = 0; c < coll::collective_count; ++c) {
    const auto collective = static_cast<Collective>(c);
    for (const Algorithm one : coll::algorithms_of(collective).subspan(1)) {
      text += std::string(text.empty() ? "" : ",") + "{\"collective\": \"" + coll::name(collective) +
              "\", \"algorithm\": \"" + coll::name(one) + "\"}";
      wanted.push_back({collective, one});
    }
  }
  EXPECT_EQ(parsed("{\"weft_tuning\": 1, \"rows\": [" + text + "]}"), wanted);
}

}  // namespace
