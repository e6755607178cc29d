// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <unistd.h>

#include "mpiexec/command.hpp"
#include "mpiexec/output.hpp"

namespace weft::mpiexec {
namespace {

Command parsed(const std::vector<std::string>& words) {
  Command command;
  EXPECT_EQ(parse_command(words, command), "");
  return command;
}

TEST(ParseCommand, OptionsEndWhereTheProgramBegins) {
  Command command = parsed({"-n", "2", "prog", "-n", "3", "--quiet"});
  ASSERT_EQ(command.programs.size(), 1u);
  EXPECT_EQ(command.programs[0].ranks, 2);
  EXPECT_EQ(command.programs[0].words, (std::vector<std::string>{"prog", "-n", "3", "--quiet"}));
  EXPECT_FALSE(command.quiet);
}

TEST(ParseCommand, ProgramsAreSeparatedByColons) {
  Command command = parsed({"-n", "2", "a", "x", ":", "-np", "3", "-x", "V=1", "b"});
  ASSERT_EQ(command.programs.size(), 2u);
  EXPECT_EQ(command.ranks(), 5);
  EXPECT_TRUE(command.programs[0].variables.empty());
  EXPECT_EQ(command.programs[1].variables, (std::vector<Variable>{{"V", "1"}}));
}

TEST(ParseCommand, WhatAProgramBeginsWithGoesIntoItsEnvironment) {
  Command command = parsed({"-initial-errhandler", "mpi_errors_return", "a", ":", "--memory-alloc-kinds=system", "b"});
  EXPECT_EQ(command.programs[0].variables, (std::vector<Variable>{{"WEFT_INITIAL_ERRHANDLER", "mpi_errors_return"}}));
  EXPECT_EQ(command.programs[1].variables, (std::vector<Variable>{{"WEFT_MEMORY_ALLOC_KINDS", "system"}}));
}

TEST(ParseCommand, ThreadsComeFromTheOptionThenFromOpenMp) {
  unsetenv("OMP_NUM_THREADS");
  EXPECT_EQ(parsed({"p"}).binding.threads, 0);
  EXPECT_EQ(parsed({"-genv", "OMP_NUM_THREADS", "3", "p"}).binding.threads, 3);
  EXPECT_EQ(parsed({"-x", "OMP_NUM_THREADS=2,4", "p", ":", "-x", "OMP_NUM_THREADS=5", "q"}).binding.threads, 5);
  setenv("OMP_NUM_THREADS", "4,2", 1);
  EXPECT_EQ(parsed({"p"}).binding.threads, 4);
  EXPECT_EQ(parsed({"-x", "OMP_NUM_THREADS=2", "p"}).binding.threads, 2);
  EXPECT_EQ(parsed({"--threads", "6", "p"}).binding.threads, 6);
  for (const char* nothing : {"1", "0", "-2", "many", "", "99999999999"}) {
    setenv("OMP_NUM_THREADS", nothing, 1);
    EXPECT_EQ(parsed({"p"}).binding.threads, 0) << nothing;
  }
  unsetenv("OMP_NUM_THREADS");
}

TEST(ParseCommand, ALayoutNeedsNoProgram) {
  EXPECT_TRUE(parsed({"--show-layout", "-n", "3"}).programs[0].words.empty());
  Command wrong;
  EXPECT_NE(parse_command({"-n", "3"}, wrong), "");
  EXPECT_NE(parse_command({"--show-layout", "--machine", "core:2", "p"}, wrong), "");
}

TEST(ParseCommand, TimesAreTakenWithFractionsAndSuffixes) {
  EXPECT_EQ(parsed({"--timeout", "10", "p"}).timeout_us, 10000000);
  setenv("MPIEXEC_TIMEOUT", "7", 1);
  EXPECT_EQ(parsed({"p"}).timeout_us, 7000000);
  EXPECT_EQ(parsed({"--timeout", "10", "p"}).timeout_us, 10000000);
  for (const char* none : {"0", "-1"}) {
    setenv("MPIEXEC_TIMEOUT", none, 1);
    EXPECT_EQ(parsed({"p"}).timeout_us, 0);
  }
  Command wrong;
  setenv("MPIEXEC_TIMEOUT", "soon", 1);
  EXPECT_NE(parse_command({"p"}, wrong).find("MPIEXEC_TIMEOUT: "), std::string::npos);
  unsetenv("MPIEXEC_TIMEOUT");
  EXPECT_EQ(parsed({"--timeout", "0.25", "p"}).timeout_us, 250000);
  EXPECT_EQ(parsed({"--timeout", ".5", "p"}).timeout_us, 500000);
  EXPECT_EQ(parsed({"--timeout=250ms", "p"}).timeout_us, 250000);
  EXPECT_EQ(parsed({"--timeout", "1.0000019", "p"}).timeout_us, 1000001);
}

TEST(ParseCommand, TooManyRanksInAllAreRefused) {
  Command command;
  std::string most = std::to_string(most_ranks);
  EXPECT_EQ(parse_command({"-n", most, "a"}, command), "");
  EXPECT_NE(parse_command({"-n", most, "a", ":", "b"}, command), "");
}

// A sink that writes into a pipe.
class Streams : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(pipe(ends_), 0); }
  void TearDown() override {
    close(ends_[0]);
    close(ends_[1]);
  }
  std::string written(Sink& sink) {
    sink.write_some();
    char buffer[65536];
    ssize_t n = sink.fd() >= 0 ? read(ends_[0], buffer, sizeof buffer) : 0;
    return {buffer, static_cast<size_t>(n > 0 ? n : 0)};
  }
  int ends_[2];
};

TEST_F(Streams, LinesOfTwoRanksStayWhole) {
  Sink sink(ends_[1]);
  LineStream a(0, "", &sink);
  LineStream b(1, "", &sink);
  a.take("one ", 0);
  b.take("two\nthr", 0);
  a.take("two\n", 0);
  b.take("ee\n", 0);
  EXPECT_EQ(written(sink), "two\none two\nthree\n");
}

TEST_F(Streams, AFlushedPieceIsNotGluedToAnothersLine) {
  Sink sink(ends_[1]);
  LineStream a(0, "[0] ", &sink);
  LineStream b(1, "[1] ", &sink);
  a.take("prompt", 0);
  a.flush();
  b.take("x\n", 0);
  EXPECT_EQ(written(sink), "[0] prompt\n[1] x\n");
  a.take("> ", 0);
  a.flush();
  a.take("done\n", 0);
  EXPECT_EQ(written(sink), "[0] > done\n") << "another rank wrote between";
  b.take("half", 0);
  b.flush();
  b.take(" of it\n", 0);
  EXPECT_EQ(written(sink), "[1] half of it\n") << "nobody wrote between";
}

TEST_F(Streams, AnInterruptedLineLeavesNoBlankLine) {
  for (const char* tag : {"", "[0] "}) {
    Sink sink(ends_[1]);
    LineStream a(0, tag, &sink);
    LineStream b(1, "", &sink);
    a.take("begun", 0);
    a.flush();
    b.take("x\n", 0);
    a.take("\nnext\n", 0);
    EXPECT_EQ(written(sink), std::string(tag) + "begun\nx\n" + tag + "next\n");
    a.take("begun", 0);
    a.flush();
    b.take("x", 0);
    b.flush();
    a.take("\n", 0);
    b.take("y\n", 0);
    a.take("\n", 0);
    EXPECT_EQ(written(sink), std::string(tag) + "begun\nxy\n" + tag + "\n") << "a blank line that was meant";
  }
}

TEST_F(Streams, AnotherProcessInTheSamePlaceBeginsALine) {
  Sink sink(ends_[1]);
  LineStream before(0, "[0] ", &sink);
  before.take("unfinished", 0);
  before.flush();
  LineStream after(0, "[0] ", &sink);
  after.take("x\n", 0);
  EXPECT_EQ(written(sink), "[0] unfinished\n[0] x\n");
}

TEST_F(Streams, APieceWaitsLongerWhenAFullBufferCutIt) {
  Sink sink(ends_[1]);
  LineStream a(0, "", &sink);
  a.take("short", 1000);
  EXPECT_EQ(a.flush_due(), 1000 + LineStream::patience_ns);
  a.flush();
  a.take(std::string(LineStream::stdio_buffer, 'x'), 2000);
  EXPECT_EQ(a.flush_due(), 2000 + LineStream::long_patience_ns);
  a.take("rest", 3000);
  EXPECT_EQ(a.flush_due(), 2000 + LineStream::patience_ns);
}

TEST_F(Streams, MemoryForALineIsBounded) {
  Sink sink(ends_[1]);
  LineStream a(0, "", &sink);
  std::string piece(1000, 'x');
  for (int i = 0; i < 1000; ++i) a.take(piece, 0);
  EXPECT_TRUE(sink.full());
}

}  // namespace
}  // namespace weft::mpiexec
