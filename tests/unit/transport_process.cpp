// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Direct copies from and to a peer's process.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <thread>
#include <vector>

#include "transport/shm/layout.hpp"
#include "transport/shm/transport.hpp"

namespace weft::transport::shm {
namespace {

// The process becomes another program: its memory is another one's.
TEST(Process, IsNoLongerReadWhenItIsNotThePeer) {
  const int segment = memfd_create("weft-test", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(segment, static_cast<off_t>(segment_bytes(2))), 0);
  {
    ShmTransport here(0, 2, segment), there(1, 2, segment);
    Endpoint& way = *here.connect(1);
    std::vector<char> theirs(4096, 'x');
    std::vector<char> ours(4096);
    const MemoryRef ref{reinterpret_cast<uint64_t>(theirs.data()), MemoryRef::no_key};
    if (way.get(ref, ours.data(), ours.size()) != 0) GTEST_SKIP() << "no process may read another here";
    EXPECT_EQ(ours, theirs);
    // Where rank 1 says that it shows itself, in the memory of this process.
    uint64_t at = 0;
    const auto said_at = static_cast<off_t>(layout_for(2).rank_at(1) + offsetof(Control, token_at));
    ASSERT_EQ(pread(segment, &at, sizeof at, said_at), static_cast<ssize_t>(sizeof at));
    std::memset(reinterpret_cast<void*>(at), 0, 16);
    std::this_thread::sleep_for(std::chrono::milliseconds(1100));
    EXPECT_EQ(way.get(ref, ours.data(), ours.size()), ESRCH);
    EXPECT_EQ(way.put(ref, ours.data(), ours.size()), ESRCH);
  }
  close(segment);
}

}  // namespace
}  // namespace weft::transport::shm
