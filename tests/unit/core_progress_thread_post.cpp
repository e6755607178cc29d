// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Receives that are posted without a lock beside the progress thread, whose part a thread of the test plays.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <mutex>

#include "core/lane/lane.hpp"
#include "core/progress/progress_thread.hpp"
#include "core/progress/progress_thread_post.hpp"
#include "core/runtime/world.hpp"
#include "core/thread/thread.hpp"

namespace weft::core {
namespace {

constexpr int32_t tag = 3;

class Beside : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("WEFT_PROGRESS", "thread", 1);
    core::start(false, [] { return uint64_t{1}; });
    end_progress_thread();
  }
  static void TearDownTestSuite() { core::stop(); }

  void SetUp() override {
    comm_.context = 64;
    comm_.size = 1;
    offer();
  }
  void TearDown() override { threads->main.free_requests = nullptr; }

  // All requests are free again.
  void offer() {
    threads->main.free_requests = nullptr;
    for (size_t i = requests_.size(); i-- > 0;) {
      requests_[i].next = threads->main.free_requests;
      threads->main.free_requests = &requests_[i];
    }
  }
  Request* try_post() { return try_post_with_thread(*lanes, comm_, nullptr, 0, 0, tag); }
  Request* take() {
    const std::lock_guard guard(lane().lock);
    return lane().matcher.take_receive({comm_.context, 0, tag, 0}, lanes->any_tags);
  }
  static Lane& lane() { return lanes->all[0]; }
  static bool posting() { return threads->main.posting; }

  Comm comm_;
  std::array<Request, 64> requests_;
};

TEST_F(Beside, APostKeepsTheProgressThreadFromWork) {
  threads->main.posting = true;
  EXPECT_FALSE(AtWork().may());
  EXPECT_FALSE(lane().matcher.keeps_any());
  threads->main.posting = false;
  EXPECT_TRUE(AtWork().may());
}

TEST_F(Beside, AHeldLaneKeepsTheProgressThreadFromWork) {
  lane().lock.lock();
  EXPECT_FALSE(AtWork().may());
  lane().lock.unlock();
  EXPECT_TRUE(AtWork().may());
}

TEST_F(Beside, ReceivesTakeTheLockWhileTheProgressThreadIsAtWork) {
  {
    const AtWork work;
    ASSERT_TRUE(work.may());
    EXPECT_EQ(try_post(), nullptr);
    EXPECT_TRUE(posting());
    did_not_post();
    EXPECT_FALSE(posting());
  }
  Request* const r = try_post();
  EXPECT_EQ(r, &requests_[0]);
  EXPECT_FALSE(posting());
  EXPECT_EQ(take(), r);
}

}  // namespace
}  // namespace weft::core
