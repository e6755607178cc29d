// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <initializer_list>
#include <thread>
#include <utility>

#include "base/setting.hpp"
#include "boot/connect/fd_passing.hpp"
#include "boot/job/environment.hpp"
#include "boot/job/segment.hpp"
#include "boot/pmi/pmix_library.hpp"

namespace weft::boot {
namespace {

constexpr const char* known[] = {"WEFT_RANK",
                                 "WEFT_SIZE",
                                 "WEFT_SEGMENT_FD",
                                 "WEFT_APP_NUMBER",
                                 "WEFT_UNIVERSE_SIZE",
                                 "WEFT_LOCAL_RANKS",
                                 "WEFT_LOCAL_CPUS",
                                 "WEFT_JOB_ID",
                                 "PMI_FD",
                                 "PMI_RANK",
                                 "PMI_SIZE",
                                 "PMI_PORT",
                                 "PMI_ID",
                                 "PMI_JOBID",
                                 "PMIX_RANK",
                                 "PMIX_NAMESPACE",
                                 "PMIX_SERVER_URI41",
                                 "OMPI_COMM_WORLD_RANK",
                                 "OMPI_COMM_WORLD_SIZE",
                                 "SLURM_PROCID",
                                 "SLURM_STEP_NUM_TASKS"};

Offer with(std::initializer_list<std::pair<const char*, std::string>> variables) {
  for (const char* name : known) unsetenv(name);
  for (const auto& [name, value] : variables) setenv(name, value.c_str(), 1);
  Offer offer = read_environment([] { return pmix::load(nullptr) != nullptr; });
  for (const auto& [name, value] : variables) unsetenv(name);
  return offer;
}

TEST(ReadEnvironment, NothingIsASingleton) {
  Offer offer = with({});
  EXPECT_FALSE(offer.bad);
  EXPECT_EQ(offer.launcher, Launcher::singleton);
  EXPECT_EQ(offer.size, 1);
}

TEST(ReadEnvironment, OurMpiexec) {
  Offer offer = with({{"WEFT_RANK", "3"},
                      {"WEFT_SIZE", "8"},
                      {"WEFT_SEGMENT_FD", "7"},
                      {"WEFT_JOB_ID", "host-1"},
                      {"WEFT_APP_NUMBER", "1"},
                      {"WEFT_LOCAL_RANKS", "8"},
                      {"WEFT_LOCAL_CPUS", "2"}});
  EXPECT_FALSE(offer.bad);
  EXPECT_EQ(offer.launcher, Launcher::mpiexec);
  EXPECT_EQ(offer.rank, 3);
  EXPECT_EQ(offer.size, 8);
  EXPECT_EQ(offer.fd, 7);
  EXPECT_EQ(offer.app_number, 1);
  EXPECT_EQ(offer.universe_size, -1);
  EXPECT_EQ(offer.local_cpus, 2);
  EXPECT_EQ(offer.id, "host-1");
}

TEST(ReadEnvironment, Pmi1AndItsTcpForm) {
  Offer offer = with({{"PMI_FD", "5"}, {"PMI_RANK", "1"}, {"PMI_SIZE", "2"}});
  EXPECT_FALSE(offer.bad);
  EXPECT_EQ(offer.launcher, Launcher::pmi1);
  EXPECT_EQ(offer.fd, 5);
  offer = with({{"PMI_PORT", "localhost:1234"}, {"PMI_ID", "4"}});
  EXPECT_FALSE(offer.bad);
  EXPECT_EQ(offer.port, "localhost:1234");
  EXPECT_EQ(offer.pmi_id, 4);
  EXPECT_TRUE(with({{"PMI_PORT", "localhost:1234"}}).bad);
  EXPECT_TRUE(with({{"PMI_FD", "5"}}).bad) << "never a singleton";
}

TEST(ReadEnvironment, ALauncherInsideARankComesFirst) {
  std::pair<const char*, std::string> rank{"WEFT_RANK", "0"}, size{"WEFT_SIZE", "1"};
  std::pair<const char*, std::string> fd{"PMI_FD", "5"}, pmi_rank{"PMI_RANK", "1"}, pmi_size{"PMI_SIZE", "2"};
  EXPECT_EQ(with({rank, size, {"WEFT_SEGMENT_FD", "9999"}, fd, pmi_rank, pmi_size}).launcher, Launcher::pmi1);
  EXPECT_EQ(with({rank, size, {"WEFT_SEGMENT_FD", "0"}, fd, pmi_rank, pmi_size}).launcher, Launcher::pmi1)
      << "Hydra leaves our segment open";
}

TEST(ReadEnvironment, PmixNeedsItsServer) {
  std::pair<const char*, std::string> rank{"PMIX_RANK", "3"}, job{"PMIX_NAMESPACE", "job"},
      server{"PMIX_SERVER_URI41", "x"};
  Offer offer = with({rank, job, server});
  EXPECT_FALSE(offer.bad);
  EXPECT_EQ(offer.launcher, Launcher::pmix);
  EXPECT_EQ(offer.rank, 3);
  EXPECT_TRUE(with({rank, job}).bad);
  EXPECT_TRUE(with({rank, server}).bad);
  EXPECT_TRUE(with({{"PMIX_RANK", "x"}, job, server}).bad);
}

TEST(ReadEnvironment, PmiComesBeforePmixWhileItsDescriptorIsOpen) {
  std::pair<const char*, std::string> pmi_rank{"PMI_RANK", "1"}, pmi_size{"PMI_SIZE", "2"}, rank{"PMIX_RANK", "3"},
      job{"PMIX_NAMESPACE", "job"}, server{"PMIX_SERVER_URI41", "x"};
  EXPECT_EQ(with({{"PMI_FD", "0"}, pmi_rank, pmi_size, rank, job, server}).launcher, Launcher::pmi1);
  EXPECT_EQ(with({{"PMI_FD", "9999"}, pmi_rank, pmi_size, rank, job, server}).launcher, Launcher::pmix);
  EXPECT_EQ(with({{"PMI_FD", "9999"}, pmi_rank, pmi_size}).launcher, Launcher::pmi1);
}

TEST(ReadEnvironment, ProblemsHaveCauseAndRemedyAndStayShort) {
  std::string huge(100000, '9');
  for (const Offer& offer :
       {with({{"WEFT_RANK", huge}, {"WEFT_SIZE", "2"}, {"WEFT_SEGMENT_FD", "0"}}), with({{"WEFT_SIZE", "2"}}),
        with({{"PMI_FD", "3"}, {"PMI_RANK", huge}, {"PMI_SIZE", "1"}}), with({{"PMI_RANK", huge}, {"PMI_SIZE", huge}}),
        with({{"OMPI_COMM_WORLD_RANK", huge}, {"OMPI_COMM_WORLD_SIZE", "3"}}), with({{"PMIX_RANK", "1"}})}) {
    EXPECT_TRUE(offer.bad);
    EXPECT_FALSE(offer.problem.cause.empty());
    EXPECT_FALSE(offer.problem.remedy.empty());
    EXPECT_LT(offer.problem.cause.size(), 500u);
  }
}

TEST(ReadEnvironment, UniverseOfAJobThatMpiexecHasHandedOver) {
  EXPECT_EQ(with({{"PMI_FD", "3"}, {"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"WEFT_UNIVERSE_SIZE", "7"}}).universe_size,
            7);
  EXPECT_EQ(with({{"PMIX_RANK", "0"},
                  {"PMIX_NAMESPACE", "x"},
                  {"PMIX_SERVER_URI41", "x"},
                  {"OMPI_COMM_WORLD_RANK", "0"},
                  {"OMPI_COMM_WORLD_SIZE", "2"},
                  {"WEFT_UNIVERSE_SIZE", "7"}})
                .universe_size,
            7);
}

TEST(ReadEnvironment, TheUniverseOfAJobThatHasStartedTheLauncherIsNotItsJobs) {
  EXPECT_EQ(with({{"WEFT_RANK", "0"},
                  {"WEFT_SIZE", "1"},
                  {"WEFT_SEGMENT_FD", "999"},
                  {"PMI_FD", "3"},
                  {"PMI_RANK", "0"},
                  {"PMI_SIZE", "2"},
                  {"WEFT_UNIVERSE_SIZE", "7"}})
                .universe_size,
            -1);
}

TEST(ReadEnvironment, TheVariablesOfMpiexecAreKnownNames) {
  for (const char* name :
       {variable::rank, variable::size, variable::segment_fd, variable::segment_address, variable::job_id,
        variable::app_number, variable::universe_size, variable::local_ranks, variable::local_cpus}) {
    bool found = false;
    for (const base::SettingRow* row : base::all_settings()) found = found || std::string(row->text().name) == name;
    EXPECT_TRUE(found) << name;
  }
}

TEST(Segment, AddressesOfSegmentsAreChecked) {
  int fd = create_segment(false);
  ASSERT_GE(fd, 0);
  EXPECT_TRUE(is_segment(fd));
  EXPECT_FALSE(is_segment(0));
  EXPECT_FALSE(is_segment(-1));
  EXPECT_TRUE(size_segment(fd, 8192));
  EXPECT_TRUE(size_segment(fd, 8192));
  EXPECT_FALSE(size_segment(fd, 4096));
  int other = open_segment(segment_address(fd));
  EXPECT_GE(other, 0);
  for (const char* address : {"", "x", "1:2", "0:0:0:0", "-5:3:1:1", "1:1:1:1", "99999999999:1:1:1"}) {
    EXPECT_LT(open_segment(address), 0) << address;
  }
}

TEST(Segment, ProcessesThatSeeNoOtherGetItOverASocket) {
  int fd = create_segment(false);
  ASSERT_GE(fd, 0);
  ListeningSocket socket;
  socket.open();
  ASSERT_FALSE(socket.name().empty());
  std::atomic<bool> over = false;
  std::thread server([&] {
    while (!over) socket.send_fd(fd);
  });
  for (int turn = 0; turn < 200; ++turn) {
    const int given = receive_fd(socket.name());
    EXPECT_TRUE(is_segment_at(given, segment_address(fd)));
    close(given);
  }
  for (const char* name : {"", "0", "zz", "00", "3030303030303030"}) EXPECT_LT(receive_fd(name), 0) << name;
  over = true;
  server.join();
  const int other = create_segment(false);
  EXPECT_FALSE(is_segment_at(other, segment_address(fd)));
  EXPECT_FALSE(is_segment_at(fd, "1:2"));
  close(other);
  close(fd);
}

TEST(Segment, AHostsIdentityFitsIntoLaunchersProtocols) {
  std::string identity = host_identity();
  EXPECT_GT(identity.size(), 1u);
  EXPECT_EQ(identity.find_first_of(" =;/\n"), std::string::npos);
  EXPECT_EQ(identity, host_identity());
}

}  // namespace
}  // namespace weft::boot
