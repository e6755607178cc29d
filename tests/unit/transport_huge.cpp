// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Explicit huge pages, where the administrator has set some aside; otherwise these tests are skipped.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "boot/job/notes.hpp"
#include "pages/size.hpp"
#include "transport/shm/memory.hpp"

using namespace weft;
using namespace weft::transport::shm;

namespace {

constexpr size_t page = size_t{2} << 20;

uint64_t free_pages() {
  for (const pages::HugePages& huge : pages::sizes_here().huge) {
    if (huge.bytes == page) return huge.free;
  }
  return 0;
}

class Huge : public ::testing::Test {
 protected:
  void SetUp() override {
    if (free_pages() < 4) GTEST_SKIP() << "less than four huge pages of 2M are free: raise vm.nr_hugepages";
    ASSERT_EQ(ftruncate(fd, static_cast<off_t>(layout.total)), 0);
    control.pid.store(getpid());
    owner.publish_in(&control);
  }
  void TearDown() override { close(fd); }

  const int fd = memfd_create("weft-test", MFD_CLOEXEC);
  const SegmentLayout layout = layout_for(2);
  Control control{};
  SegmentMemory owner{layout, 0, fd};
};

TEST_F(Huge, PagesAreReservedReachedByPeersAndGivenBack) {
  const uint64_t before = free_pages();
  const pages::Grant grant = owner.grant(3 * page - 5, {.policy = pages::Policy::mandatory, .page = 2 * page});
  ASSERT_NE(grant.memory, nullptr) << grant.problem;
  EXPECT_EQ(grant.page, page);
  EXPECT_FALSE(grant.transparent);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(grant.memory) % (2 * page), 0u);
  EXPECT_EQ(free_pages(), before - 3);
  auto* const memory = static_cast<char*>(grant.memory);
  PeerMemory peer(layout, 0, fd, &control);
  const uint64_t key = owner.key_of(memory + page, page);
  ASSERT_NE(key, transport::MemoryRef::no_key);
  char* const theirs = peer.find(key, page);
  ASSERT_NE(theirs, nullptr);
  theirs[7] = 42;
  EXPECT_EQ(memory[page + 7], 42);
  EXPECT_EQ(peer.find(huge_key | uint64_t{1} << huge_file_shift, 1), nullptr);
  EXPECT_EQ(peer.find(huge_key | uint64_t{7} << huge_file_shift, 1), nullptr);
  EXPECT_EQ(peer.find(key, page * 100), nullptr);
  EXPECT_EQ(owner.key_of(memory + 3 * page, 1), transport::MemoryRef::no_key);
  pages::Grant told;
  EXPECT_TRUE(owner.granted(memory + 5, told));
  EXPECT_EQ(told.page, page);
  EXPECT_TRUE(owner.release(memory));
  EXPECT_FALSE(owner.release(memory));
  EXPECT_EQ(free_pages(), before);  // touched or not
}

TEST_F(Huge, TooFewAreAnErrorOrAFallback) {
  const size_t bytes = (free_pages() + 1) * page;
  const pages::Grant none = owner.grant(bytes, {.policy = pages::Policy::mandatory, .page = page});
  EXPECT_EQ(none.memory, nullptr);
  EXPECT_NE(none.problem.find("Mandatory"), std::string::npos) << none.problem;
}

}  // namespace
