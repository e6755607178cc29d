// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "mpiexec/allocation.hpp"

namespace weft::mpiexec {
namespace {

constexpr const char* all_variables[] = {"SLURM_JOB_ID", "SLURM_JOB_NODELIST", "SLURM_TASKS_PER_NODE", "SLURM_NTASKS",
                                         "PBS_NODEFILE", "LSB_MCPU_HOSTS",     "PE_HOSTFILE",          "WEFT_RANK"};

using Variables = std::vector<Variable>;

// "Slurm 5: a:2,b:3", or "wrong".
std::string allocation_of(const Variables& variables) {
  for (const char* name : all_variables) unsetenv(name);
  for (const Variable& one : variables) setenv(one.first.c_str(), one.second.c_str(), 1);
  Allocation allocation;
  if (!read_allocation(allocation).empty()) return "wrong";
  return allocation.system + " " + std::to_string(allocation.ranks) + ": " + listed(allocation.hosts);
}

Variables slurm(const char* nodes, const char* tasks, const char* ranks = nullptr) {
  Variables variables{{"SLURM_JOB_ID", "7"}, {"SLURM_JOB_NODELIST", nodes}, {"SLURM_TASKS_PER_NODE", tasks}};
  if (ranks != nullptr) variables.emplace_back("SLURM_NTASKS", ranks);
  return variables;
}

TEST(Allocation, OfSlurm) {
  EXPECT_EQ(allocation_of({{"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "4"}, {"SLURM_JOB_NODELIST", "a"}}), "Slurm 4: a:1");
  EXPECT_EQ(allocation_of(slurm("n[01-03,7],login", "4(x2),3,1(x2)")), "Slurm 13: n01:4,n02:4,n03:3,n7:1,login:1");
  EXPECT_EQ(allocation_of(slurm("r[1-2]n[0-1]", "2(x4)", "6")), "Slurm 6: r1n0:2,r1n1:2,r2n0:2,r2n1:2");
  EXPECT_EQ(allocation_of(slurm("n[09-11]", "1(x3)")), "Slurm 3: n09:1,n10:1,n11:1");
}

TEST(Allocation, OfSlurmThatCannotBeUsed) {
  for (const auto& [nodes, tasks] : {std::pair("n[1-", "1"),
                                     {"n[3-1]", "1"},
                                     {"n[1-2]", "1"},
                                     {"n[1-2]", "x"},
                                     {"n[1-2]", "1(x3)"},
                                     {"n[1-2]", "1(x"},
                                     {"n[0-999999999]", "1"},
                                     {"n[0-9999]m[0-9999]", "1"},
                                     {"n]", "1"},
                                     {"n[a]", "1"}}) {
    EXPECT_EQ(allocation_of(slurm(nodes, tasks)), "wrong") << nodes << " " << tasks;
  }
  EXPECT_EQ(allocation_of(slurm("n1", "1", "0")), "wrong");
  EXPECT_EQ(allocation_of(slurm("n1", "1", "99999999")), "wrong");
}

TEST(Allocation, OfOthers) {
  const std::string path = testing::TempDir() + "weft_allocation";
  std::ofstream(path) << "a\na\nb\n";
  EXPECT_EQ(allocation_of({{"PBS_NODEFILE", path}}), "PBS 3: a:2,b:1");
  EXPECT_EQ(allocation_of({{"LSB_MCPU_HOSTS", "a 4 b 2"}}), "LSF 6: a:4,b:2");
  std::ofstream(path) << "a.site 4 all.q@a <NULL>\nb.site 2 all.q@b UNDEFINED\n";
  EXPECT_EQ(allocation_of({{"PE_HOSTFILE", path}}), "Grid Engine 6: a.site:4,b.site:2");
  std::ofstream(path) << "a.site\n";
  EXPECT_EQ(allocation_of({{"PE_HOSTFILE", path}}), "wrong");
  unlink(path.c_str());
  EXPECT_EQ(allocation_of({{"PE_HOSTFILE", path}}), "wrong");
  EXPECT_EQ(allocation_of({{"PBS_NODEFILE", path}}), "wrong");
  EXPECT_EQ(allocation_of({{"LSB_MCPU_HOSTS", "a 4 b"}}), "wrong");
  EXPECT_EQ(allocation_of({{"LSB_MCPU_HOSTS", "a -4"}}), "wrong");
  EXPECT_EQ(allocation_of({}), " 0: ");
}

// The ranks and hosts of a command in an allocation of a:2,b:2, on host a.
std::string command_of(std::vector<std::string> words) {
  words.emplace_back("program");
  Command command;
  EXPECT_EQ(parse_command(words, command), "");
  command.quiet = true;
  EXPECT_EQ(take_allocation(command, "a"), "");
  EXPECT_EQ(count_per_host(command), "");
  return std::to_string(command.ranks()) + " " + listed(command.hosts);
}

TEST(Allocation, FillsWhatACommandLeavesOpen) {
  (void)allocation_of(slurm("a,b", "2(x2)"));
  EXPECT_EQ(command_of({}), "4 a:2,b:2");
  EXPECT_EQ(command_of({"-n", "2"}), "2 ") << "they fit on this host";
  EXPECT_EQ(command_of({"-n", "3"}), "3 a:2,b:2");
  EXPECT_EQ(command_of({"-n", "9"}), "9 a,b");
  EXPECT_EQ(command_of({"-hosts", "c"}), "1 c");
  EXPECT_EQ(command_of({"--map-by", "node", "-n", "2"}), "2 a:2,b:2") << "each host gets one";
  EXPECT_EQ(command_of({"-N", "1"}), "2 a:1,b:1");
  EXPECT_EQ(command_of({"-N", "1", "-n", "2"}), "2 a:1,b:1");
  EXPECT_EQ(command_of({"-N", "3", "-n", "4"}), "4 a:2,b:2");
  EXPECT_EQ(command_of({"-N", "3", "--oversubscribe"}), "6 a:3,b:3");
  Command command;
  EXPECT_EQ(parse_command({"-N", "3", "p"}, command), "");
  EXPECT_NE(take_allocation(command, "a").find("the allocation of Slurm: \"a\" takes 2 ranks"), std::string::npos);
  setenv("WEFT_RANK", "0", 1);
  EXPECT_EQ(command_of({}), "1 ") << "of a rank";
  (void)allocation_of({});
  EXPECT_EQ(command_of({}), "1 ");
}

}  // namespace
}  // namespace weft::mpiexec
