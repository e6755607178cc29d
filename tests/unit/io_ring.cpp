// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The ring of small reads: each read ends once, in whole by the kernel or by a worker, with faults and a kernel that
// takes no more; results are believed of reads under way alone.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <set>
#include <thread>
#include <vector>

#include "io/calls.hpp"
#include "io/kernel_ring.hpp"
#include "io/reads_under_way.hpp"
#include "io/ring.hpp"

namespace weft::io {
namespace {

constexpr int64_t piece = 512;
constexpr int64_t pieces = 1000;  // more than the kernel is given at the same time

uint8_t byte_at(int64_t offset) {
  return static_cast<uint8_t>(offset * 7 + (offset >> 9));
}

struct Ends {
  std::atomic<int> whole = 0;
  std::atomic<int> again = 0;  // by a worker
};

class Read final : public PieceJob {
 public:
  Read() = default;
  ~Read() override = default;
  [[nodiscard]] bool begin(Ends& ends, int fd, uint8_t* data, int64_t bytes, int64_t offset) {
    ends_ = &ends;
    piece_ = {fd, data, bytes, offset};
    return submit(*this);
  }
  void read() override { ++ends_->whole; }
  void run() override { ++ends_->again; }

 private:
  Ends* ends_ = nullptr;
};

constexpr Calls with_faults(int (*strike)(size_t&, bool)) {
  Calls none{};
  none.strike = strike;
  return none;
}

class RingOfReads : public testing::Test {
 protected:
  void SetUp() override {
    if (!why_no_ring().empty()) GTEST_SKIP() << why_no_ring();
    file_ = memfd_create("reads", MFD_CLOEXEC);
    std::vector<uint8_t> bytes(piece * pieces);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = byte_at(static_cast<int64_t>(i));
    ASSERT_EQ(write(file_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  void TearDown() override {
    stop_ring();
    stop_workers();
    set_calls(nullptr);
    if (file_ >= 0) close(file_);
  }
  // All pieces of the file, until they are over.
  void read_all(int fd) {
    std::vector<Read> reads(pieces);
    const int before = ends_.whole + ends_.again;
    for (int64_t i = 0; i < pieces; ++i) {
      ASSERT_TRUE(reads[i].begin(ends_, fd, &data_[i * piece], piece, i * piece));
    }
    wait_for(before + pieces);
  }
  void wait_for(int64_t all) {
    while (ends_.whole + ends_.again < all) std::this_thread::yield();
  }
  void check_data() {
    for (int64_t i = 0; i < piece * pieces; ++i) ASSERT_EQ(data_[i], byte_at(i)) << i;
  }

  int file_ = -1;
  Ends ends_;
  std::vector<uint8_t> data_ = std::vector<uint8_t>(piece * pieces);
};

TEST_F(RingOfReads, MakesMoreReadsThanTheKernelTakesAtOnceAndStartsAgain) {
  const uint64_t before = ring_reads();
  for (int times = 1; times <= 3; ++times) {
    data_.assign(data_.size(), 0);
    read_all(file_);
    EXPECT_EQ(ends_.whole, times * pieces);
    EXPECT_EQ(ends_.again, 0);
    check_data();
    stop_ring();
  }
  EXPECT_EQ(ring_reads() - before, 3U * pieces);
}

TEST_F(RingOfReads, LeavesShortInterruptedAndFailedReadsToWorkers) {
  static std::atomic<int> calls_made;
  calls_made = 0;
  static constexpr Calls faulty = with_faults([](size_t& bytes, bool) {
    switch (calls_made++ % 5) {
      case 0:
        return EINTR;
      case 1:
        return EIO;
      case 2:
        return ECANCELED;
      case 3:
        bytes /= 2;
        return 0;
      default:
        return 0;
    }
  });
  set_calls(&faulty);
  read_all(file_);
  EXPECT_EQ(ends_.whole, pieces / 5);
  EXPECT_EQ(ends_.again, pieces - pieces / 5);
}

TEST_F(RingOfReads, LeavesTheEndOfTheFileAndBadArgumentsToWorkers) {
  Read reads[4];
  EXPECT_TRUE(reads[0].begin(ends_, file_, data_.data(), piece, piece * pieces - 1));
  EXPECT_TRUE(reads[1].begin(ends_, file_, data_.data(), piece, piece * pieces + 1));
  EXPECT_TRUE(reads[2].begin(ends_, -1, data_.data(), piece, 0));
  EXPECT_TRUE(reads[3].begin(ends_, file_, nullptr, piece, 0));
  wait_for(4);
  EXPECT_EQ(ends_.whole, 0);
}

// Here the program closes what another thread uses, by calls that the thread sanitizer does not see: it would tell of a
// race.
TEST_F(RingOfReads, EndsTheReadsOfARingThatTheProgramCloses) {
  read_all(file_);
  std::set<int> rings;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    if (std::filesystem::read_symlink(entry.path(), error).string().find("io_uring") != std::string::npos) {
      rings.insert(std::stoi(entry.path().filename().string()));
    }
  }
  ASSERT_EQ(rings.size(), 1U);
  EXPECT_EQ(syscall(SYS_close, *rings.begin()), 0);
  // From some point on there is no ring.
  std::vector<Read> reads(pieces);
  int64_t begun = 0;
  while (begun < pieces && reads[begun].begin(ends_, file_, data_.data(), piece, 0)) ++begun;
  wait_for(pieces + begun);
  EXPECT_EQ(ends_.whole + ends_.again, pieces + begun);
}

// The last one: there is no ring in this process afterwards.
TEST_F(RingOfReads, LeavesFilesOfAProgramThatHasClosedAllAlone) {
  read_all(file_);
  const int own = memfd_create("of the program", MFD_CLOEXEC);
  std::vector<int> files;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int number = std::stoi(entry.path().filename().string());
    if (number > STDERR_FILENO && number != file_ && number != own) files.push_back(number);
  }
  for (const int number : files) ASSERT_EQ(syscall(SYS_dup3, own, number, 0), number);
  Read read;
  if (read.begin(ends_, file_, data_.data(), piece, 0)) wait_for(pieces + 1);
  stop_ring();
  for (const int number : files) EXPECT_EQ(syscall(SYS_close, number), 0) << number << " was closed";
  EXPECT_EQ(lseek(own, 0, SEEK_END), 0) << "it was written to";
  close(own);
}

TEST(KernelRing, GivesBackWhatItHasNotHandedOver) {
  KernelRing ring;
  if (const int error = ring.open(); error != 0) GTEST_SKIP() << error;
  uint64_t tag = 0;
  EXPECT_FALSE(ring.take_back(tag));
  for (uint64_t i = 1; i <= KernelRing::entries; ++i) ring.poll(0, i);
  for (uint64_t i = KernelRing::entries; i > 0; --i) {
    ASSERT_TRUE(ring.take_back(tag));
    EXPECT_EQ(tag, i);
  }
  EXPECT_FALSE(ring.take_back(tag));
  uint8_t byte = 0;
  ring.read(-1, &byte, 1, 0, 77);
  EXPECT_EQ(ring.enter(), 0);
  int32_t result = 0;
  ASSERT_TRUE(ring.take(tag, result));
  EXPECT_EQ(tag, 77U);
  EXPECT_EQ(result, -EBADF);
  EXPECT_FALSE(ring.take(tag, result));
}

TEST(ReadsUnderWay, BelieveTagsOfReadsUnderWayAlone) {
  ReadsUnderWay reads;
  Read jobs[ReadsUnderWay::most];
  std::vector<uint64_t> tags;
  for (Read& job : jobs) tags.push_back(reads.add(job));
  EXPECT_EQ(std::set<uint64_t>(tags.begin(), tags.end()).size(), tags.size());
  EXPECT_EQ(reads.count(), ReadsUnderWay::most);
  EXPECT_EQ(reads.end(ReadsUnderWay::no_read), nullptr);
  EXPECT_EQ(reads.end(ReadsUnderWay::most), nullptr);
  EXPECT_EQ(reads.end(tags[3] + (uint64_t{1} << 32)), nullptr);
  EXPECT_EQ(reads.end(tags[3]), &jobs[3]);
  EXPECT_EQ(reads.end(tags[3]), nullptr);
  const uint64_t again = reads.add(jobs[0]);  // in the place of the one that is over
  EXPECT_EQ(reads.end(tags[3]), nullptr);
  EXPECT_EQ(reads.end(again), &jobs[0]);
  EXPECT_EQ(reads.count(), ReadsUnderWay::most - 1);
}

}  // namespace
}  // namespace weft::io
