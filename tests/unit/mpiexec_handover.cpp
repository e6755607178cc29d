// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "mpiexec/handover.hpp"

namespace weft::mpiexec {
namespace {

using Words = std::vector<std::string>;

Command handed_over(const Words& words) {
  Command command;
  EXPECT_EQ(parse_command(words, command), "");
  EXPECT_EQ(spread(command.hosts, command.ranks(), command.oversubscribe), "");
  return command;
}

std::string hydra(const Words& words, const std::string& shell = "") {
  std::string line;
  for (const std::string& word :
       translate(handed_over(words), {Remote::hydra, "/p/bin/mpiexec.hydra", "/h", shell}, {"HOME", "A"})) {
    line += (line.empty() ? "" : " ") + word;
  }
  return line;
}

std::string prterun(const Words& words, const Words& inherited = {}, const std::string& shell = "") {
  std::string line;
  for (const std::string& word :
       translate(handed_over(words), {Remote::prterun, "/p/bin/prterun", "", shell}, inherited)) {
    line += (line.empty() ? "" : " ") + word;
  }
  return line;
}

TEST(Hydra, RanksAndHosts) {
  EXPECT_EQ(hydra({"-hosts", "a,b", "-n", "4", "./p", "x"}), "/p/bin/mpiexec.hydra -machinefile /h -n 4 ./p x");
  EXPECT_EQ(hydra({"-n", "2", "-H", "b:4", "p"}, "/x/rsh"),
            "/p/bin/mpiexec.hydra -launcher ssh -launcher-exec /x/rsh -machinefile /h -n 2 p");
}

TEST(Hydra, ProgramsKeepTheirVariablesAndFolders) {
  EXPECT_EQ(hydra({"-hosts", "a,b", "-genv", "G", "1", "-x", "A=b c", "p", ":", "-wdir", "/d", "-n", "3", "q"}),
            "/p/bin/mpiexec.hydra -machinefile /h -genv G 1 -n 1 -env A b c p : -n 3 env --chdir=/d q");
}

TEST(Hydra, OutputAndBindingWhenAskedFor) {
  EXPECT_EQ(hydra({"-hosts", "a", "-l", "--bind", "numa", "p"}),
            "/p/bin/mpiexec.hydra -machinefile /h -prepend-rank -bind-to numa -n 1 p");
}

TEST(Hydra, CoresForThreads) {
  EXPECT_EQ(hydra({"-hosts", "a", "--threads", "4", "p"}),
            "/p/bin/mpiexec.hydra -machinefile /h -bind-to core:4 -n 1 p");
}

class Prterun : public testing::Test {
 protected:
  void SetUp() override { setenv("LD_LIBRARY_PATH", "/l", 1); }
  void TearDown() override { unsetenv("LD_LIBRARY_PATH"); }
};

TEST_F(Prterun, RanksHostsAndShell) {
  EXPECT_EQ(prterun({"-hosts", "a,b", "-n", "4", "p"}, {}, "/x/rsh"),
            "/p/bin/prterun --prefix /p --prtemca plm_ssh_agent /x/rsh --host a:2,b:2 --bind-to none -n 4 "
            "-x LD_LIBRARY_PATH=/l p");
}

TEST_F(Prterun, CoresForThreads) {
  EXPECT_EQ(prterun({"-hosts", "a", "--threads", "4", "p"}),
            "/p/bin/prterun --prefix /p --host a:1 --map-by slot:PE=4 --bind-to core -n 1 -x LD_LIBRARY_PATH=/l p");
}

TEST_F(Prterun, TheEnvironmentTravelsWithoutWhatIsThisHosts) {
  EXPECT_EQ(
      prterun({"-hosts", "a", "p"}, {"WEFT_SPIN", "PWD", "HOSTNAME", "PMIX_RANK", "LD_LIBRARY_PATH", "F%%", "FI_X"}),
      "/p/bin/prterun --prefix /p --host a:1 --bind-to none -n 1 -x WEFT_SPIN -x FI_X -x LD_LIBRARY_PATH=/l p");
}

TEST_F(Prterun, AVariableIsNamedOnce) {
  EXPECT_EQ(prterun({"-hosts", "a", "-genv", "A", "2", "-genv", "LD_LIBRARY_PATH", "/m", "p"}, {"A", "B"}),
            "/p/bin/prterun --prefix /p --host a:1 --bind-to none -n 1 -x B -x A=2 -x LD_LIBRARY_PATH=/m p");
}

TEST_F(Prterun, ProgramsKeepTheirVariablesAndFolders) {
  EXPECT_EQ(
      prterun({"-hosts", "a", "--tag-output", "--bind", "core", "-x", "A=1", "p", ":", "-wdir", "/d", "-n", "3", "q"}),
      "/p/bin/prterun --prefix /p --host a:4 --output tag --bind-to core -n 1 -x LD_LIBRARY_PATH=/l env A=1 p : "
      "-n 3 --wdir /d -x LD_LIBRARY_PATH=/l q");
}

// Programs named as launchers are, in a folder that is PATH.
class FindRemoteLauncher : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(mkdtemp(folder_), nullptr);
    old_path_ = getenv("PATH");
    setenv("PATH", folder_, 1);
  }
  void TearDown() override {
    setenv("PATH", old_path_.c_str(), 1);
    for (const char* name : {"mpiexec.hydra", "prterun", "mpiexec", "mpirun"}) unlink(path(name).c_str());
    rmdir(folder_);
  }
  std::string path(const std::string& name) const { return std::string(folder_) + "/" + name; }
  void make(const std::string& name) const {
    std::ofstream(path(name)) << "#!/bin/sh\n";
    chmod(path(name).c_str(), 0755);
  }
  char folder_[32] = "/tmp/test-unit-XXXXXX";
  std::string old_path_;
  RemoteLauncher found_;
};

TEST_F(FindRemoteLauncher, HydraComesBeforePrterun) {
  EXPECT_NE(find_remote_launcher("", found_).find("neither mpiexec.hydra nor prterun"), std::string::npos);
  make("prterun");
  EXPECT_EQ(find_remote_launcher("", found_), "");
  EXPECT_EQ(found_.kind, Remote::prterun);
  make("mpiexec.hydra");
  EXPECT_EQ(find_remote_launcher("", found_), "");
  EXPECT_EQ(found_.kind, Remote::hydra);
  EXPECT_EQ(found_.path, path("mpiexec.hydra"));
}

TEST_F(FindRemoteLauncher, TheOneThatIsNamed) {
  make("mpiexec.hydra");
  make("prterun");
  make("mpirun");
  EXPECT_EQ(find_remote_launcher("prterun", found_), "");
  EXPECT_EQ(found_.kind, Remote::prterun);
  ASSERT_EQ(symlink("mpiexec.hydra", path("mpiexec").c_str()), 0);
  EXPECT_EQ(find_remote_launcher(path("mpiexec"), found_), "");
  EXPECT_EQ(found_.kind, Remote::hydra) << "by the file that the link names";
  EXPECT_NE(find_remote_launcher("mpirun", found_).find("neither"), std::string::npos);
  EXPECT_NE(find_remote_launcher("/nowhere/prterun", found_).find("/nowhere/prterun"), std::string::npos);
}

}  // namespace
}  // namespace weft::mpiexec
