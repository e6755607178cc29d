// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Staging buffers that the ranks of a host share: each process has a view of its own of one file.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "boot/job/status.hpp"
#include "transport/shm/shared_staging.hpp"

namespace weft::transport::shm {
namespace {

constexpr size_t buffer = 4096;

// The memory of a host with `places` ranks that share `buffers`.
struct Host {
  Host(int ranks, int buffers) : places(ranks), segment(memfd_create("weft-test", MFD_CLOEXEC)) {
    layout.staging_buffers = buffers;
    layout.staging_buffer = buffer;
    layout.first_pool = boot::job_header_bytes(places);
    layout.pool_buffers = 65536 + 2048;
    layout.pool = layout.pool_buffers + buffer * static_cast<size_t>(buffers + places);
    EXPECT_EQ(ftruncate(segment, static_cast<off_t>(layout.first_pool + layout.pool)), 0);
  }
  ~Host() { close(segment); }
  std::unique_ptr<SharedStaging> view() const { return std::make_unique<SharedStaging>(layout, segment, places); }
  void note(int place, boot::Phase phase) const {
    const auto word = static_cast<uint32_t>(phase);
    const size_t at = sizeof(boot::RankStatus) * static_cast<size_t>(place) + offsetof(boot::RankStatus, phase);
    EXPECT_EQ(pwrite(segment, &word, sizeof word, static_cast<off_t>(at)), static_cast<ssize_t>(sizeof word));
  }

  SegmentLayout layout{};
  const int places;
  const int segment;
};

size_t number_of(const SharedStaging& staging, const Staging& claimed) {
  return static_cast<size_t>(static_cast<char*>(claimed.memory) - static_cast<char*>(staging.memory().begin)) / buffer;
}

bool has(const Staging& claimed) {
  return claimed.memory != nullptr;
}

TEST(SharedStaging, TheOwnBufferIsLeftWhenOthersHaveTheSharedOnes) {
  const Host host(3, 2);
  const auto first = host.view(), second = host.view();
  const Staging low = first->claim(0, 1);
  EXPECT_EQ(number_of(*first, low), 0u);
  EXPECT_EQ(number_of(*first, first->claim(0, buffer)), 1u);
  EXPECT_EQ(number_of(*first, first->claim(0, 1)), 2u) << "its own";
  EXPECT_FALSE(has(first->claim(0, 1)));
  EXPECT_EQ(number_of(*second, second->claim(1, 1)), 3u) << "its own";
  EXPECT_FALSE(has(second->claim(1, 1)));
  second->free(0, low.handle, 1);  // by the receiver
  EXPECT_EQ(number_of(*second, second->claim(1, 1)), 0u);
}

TEST(SharedStaging, SeveralBuffersLieInARowOrNoneIsTaken) {
  const Host host(2, 5);
  const auto staging = host.view();
  std::vector<Staging> claimed;
  for (int i = 0; i < 5; ++i) claimed.push_back(staging->claim(0, 1));
  for (const size_t i : {0u, 1u, 3u, 4u}) staging->free(0, claimed[i].handle, 1);
  EXPECT_FALSE(has(staging->claim(1, 3 * buffer))) << "2 lies between";
  staging->free(0, claimed[2].handle, 1);
  const Staging row = staging->claim(1, 5 * buffer);
  EXPECT_EQ(number_of(*staging, row), 0u) << "what did not suffice before was given back";
  EXPECT_FALSE(has(staging->claim(0, 2 * buffer))) << "there is one of its own";
  staging->free(1, row.handle, 5 * buffer);
  EXPECT_EQ(number_of(*staging, staging->claim(0, 2 * buffer + 1)), 0u);
  EXPECT_FALSE(has(staging->claim(0, 6 * buffer))) << "there are five";
}

TEST(SharedStaging, AMessageNamesOnlyWhatItsSenderHasClaimed) {
  const Host host(2, 4);
  const auto sender = host.view(), receiver = host.view();
  const Staging claimed = sender->claim(0, 2 * buffer);
  std::memset(claimed.memory, 7, 2 * buffer);
  const auto* const bytes = static_cast<const char*>(receiver->find(0, claimed.handle, 2 * buffer));
  ASSERT_NE(bytes, nullptr);
  EXPECT_EQ(bytes[2 * buffer - 1], 7);
  EXPECT_EQ(receiver->find(1, claimed.handle, buffer), nullptr) << "another rank's";
  EXPECT_EQ(receiver->find(0, claimed.handle, 2 * buffer + 1), nullptr) << "too many bytes";
  EXPECT_EQ(receiver->find(0, claimed.handle, SIZE_MAX), nullptr);
  EXPECT_EQ(receiver->find(0, claimed.handle + 1000, 1), nullptr) << "no buffer";
  EXPECT_EQ(receiver->find(0, UINT64_MAX, 1), nullptr);
  receiver->free(1, claimed.handle, 2 * buffer);
  EXPECT_NE(receiver->find(0, claimed.handle, 2 * buffer), nullptr) << "another rank's is not freed";
  receiver->free(0, claimed.handle, 2 * buffer);
  EXPECT_EQ(receiver->find(0, claimed.handle, 1), nullptr) << "freed";
  const Staging again = sender->claim(0, 1);
  ASSERT_EQ(again.memory, claimed.memory);
  EXPECT_EQ(receiver->find(0, claimed.handle, 1), nullptr) << "an earlier claim of that buffer";
  receiver->free(0, claimed.handle, 1);
  EXPECT_NE(receiver->find(0, again.handle, 1), nullptr) << "freed for an earlier claim";
}

TEST(SharedStaging, TheNextProcessInAPlaceHasWhatTheOneBeforeHeld) {
  const Host host(2, 2);
  const auto staging = host.view();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(has(staging->claim(1, 1)));
  EXPECT_FALSE(has(staging->claim(1, 1)));
  staging->free_all(1);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(has(staging->claim(1, 1)));
}

// The process has claimed buffers without end, and is killed wherever it is.
TEST(SharedStaging, AKilledProcessStopsNoOther) {
  for (int round = 0; round < 20; ++round) {
    const Host host(2, 8);
    int started[2];
    ASSERT_EQ(pipe(started), 0);
    const pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      const auto theirs = host.view();
      for (size_t i = 0;; ++i) {
        const Staging one = theirs->claim(1, 1), row = theirs->claim(1, 3 * buffer);
        if (i == 100) (void)!::write(started[1], "", 1);
        if (has(one)) theirs->free(1, one.handle, 1);
        if (has(row) && i % 1000 != 0) theirs->free(1, row.handle, 3 * buffer);
      }
    }
    char byte;
    ASSERT_EQ(read(started[0], &byte, 1), 1);
    const auto ours = host.view();
    for (int i = 0; i < 1000; ++i) {
      const Staging one = ours->claim(0, 1);
      ASSERT_TRUE(has(one));
      ours->free(0, one.handle, 1);
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    host.note(1, boot::Phase::lost);
    const auto after = host.view();  // has not looked for lost processes yet
    for (size_t i = 0; i < 9; ++i)
      ASSERT_TRUE(has(after->claim(0, 1))) << "buffer " << i << " was lost with its process";
    close(started[0]);
    close(started[1]);
  }
}

TEST(SharedStaging, BuffersOfAProcessThatLivesAreNotFreed) {
  const Host host(2, 1);
  const auto staging = host.view();
  const Staging theirs = staging->claim(1, 1);
  host.note(1, boot::Phase::leaving);
  EXPECT_EQ(number_of(*staging, staging->claim(0, 1)), 1u) << "its own";
  EXPECT_FALSE(has(staging->claim(0, 1)));
  EXPECT_NE(staging->find(1, theirs.handle, 1), nullptr);
}

// Threads of a process claim at the same time: the thread sanitizer sees the order of what they write.
TEST(SharedStaging, NoTwoHaveOneBufferAtATime) {
  constexpr int places = 4;
  const Host host(places, 6);
  const auto staging = host.view();
  std::atomic<int> overlaps = 0;
  std::vector<std::thread> ranks;
  for (int place = 0; place < places; ++place) {
    ranks.emplace_back([&staging, &overlaps, place] {
      for (int i = 0; i < 3000; ++i) {
        const size_t bytes = static_cast<size_t>(i % 3 + 1) * buffer;
        const Staging claimed = staging->claim(place, bytes);
        if (!has(claimed)) continue;
        auto* const at = static_cast<unsigned char*>(claimed.memory);
        std::memset(at, place, bytes);
        for (size_t b = 0; b < bytes; b += 512) overlaps += at[b] != place;
        staging->free(place, claimed.handle, bytes);
      }
    });
  }
  for (std::thread& rank : ranks) rank.join();
  EXPECT_EQ(overlaps.load(), 0);
  EXPECT_TRUE(has(staging->claim(0, 6 * buffer))) << "all are free in the end";
}

}  // namespace
}  // namespace weft::transport::shm
