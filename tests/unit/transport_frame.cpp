// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "transport/net/frame.hpp"

namespace weft::transport::net {
namespace {

constexpr const char* secret = "000102030405060708090a0b0c0d0e0f";
constexpr uint32_t ranks = 5, lanes = 2;

std::vector<unsigned char> frame_of(uint32_t from, uint32_t to, uint64_t number, uint32_t bytes, uint32_t staged) {
  Header h{.magic = magic,
           .sequence = static_cast<uint16_t>(number),
           .origin = from,
           .proof = 0,
           .bytes = bytes,
           .staged = static_cast<uint16_t>(staged),
           .kind = 3,
           .lane = 1};
  h.proof = proof_of(h, number, frame_key(Key::of_secret(secret), from, to));
  std::vector<unsigned char> frame(sizeof h + bytes + staged);
  std::memcpy(frame.data(), &h, sizeof h);
  return frame;
}

bool taken_by(uint32_t rank, const std::vector<unsigned char>& frame, uint64_t number = 70000,
              const char* known = secret) {
  const Header* h = check_frame(frame.data(), frame.size(), {rank, ranks, lanes});
  return h != nullptr && h->proof == proof_of(*h, number, frame_key(Key::of_secret(known), h->origin, rank));
}

TEST(Frame, FromARankOfTheJobIsTaken) {
  EXPECT_TRUE(taken_by(2, frame_of(1, 2, 70000, 0, 0)));
  EXPECT_TRUE(taken_by(2, frame_of(4, 2, 70000, 100, 3000)));
}

TEST(Frame, FromStrangersIsNot) {
  EXPECT_FALSE(taken_by(3, frame_of(1, 2, 70000, 8, 0))) << "the proof is for another receiver";
  EXPECT_FALSE(taken_by(2, frame_of(1, 2, 70000, 8, 0), 70000, "ff0102030405060708090a0b0c0d0e0f"));
  EXPECT_FALSE(taken_by(2, frame_of(5, 2, 70000, 8, 0))) << "there is no such rank";
  EXPECT_FALSE(taken_by(2, frame_of(2, 2, 70000, 8, 0))) << "a rank sends itself nothing so";
  EXPECT_FALSE(taken_by(2, frame_of(1, 2, 70000 - 65536, 8, 0))) << "the same sequence, and long ago";
  EXPECT_FALSE(taken_by(2, std::vector<unsigned char>(47)));
  EXPECT_FALSE(taken_by(2, {}));
}

// If any byte of the header changes, or the length, the frame is turned away.
TEST(Frame, DamagedIsNot) {
  const std::vector<unsigned char> good = frame_of(1, 2, 70000, 8, 16);
  for (size_t at = 0; at < sizeof(Header); ++at) {
    std::vector<unsigned char> bad = good;
    bad[at] ^= 0x80;
    EXPECT_FALSE(taken_by(2, bad)) << "byte " << at;
  }
  for (size_t cut = 1; cut < good.size(); ++cut) {
    EXPECT_FALSE(taken_by(2, std::vector<unsigned char>(good.begin(), good.end() - static_cast<ptrdiff_t>(cut))));
  }
}

TEST(Key, DiffersByPurposeAndByWhose) {
  const Key of_job = Key::of_secret(secret);
  const auto words = [](const Key& key) { return std::vector<uint64_t>(std::begin(key.words), std::end(key.words)); };
  EXPECT_NE(words(frame_key(of_job, 1, 2)), words(frame_key(of_job, 2, 1)));
  EXPECT_NE(words(frame_key(of_job, 1, 2)), words(frame_key(of_job, 1, 3)));
  EXPECT_NE(words(frame_key(of_job, 1, 2)), words(of_job.derived(Purpose::connection, {pair_of(1, 2)})));
  EXPECT_NE(of_job.derived(Purpose::frames, {}).words[0], of_job.derived(Purpose::frames, {}).words[1]);
  EXPECT_NE(of_job.proof({1}), of_job.proof({1, 0}));
}

// The authors' test vectors under the key whose bytes are 0, 1, .. 15 in memory, for the bytes 0, 1, .. in memory.
TEST(Key, ProvesAsSipHash) {
  const Key theirs = Key::of_secret("07060504030201000f0e0d0c0b0a0908");
  EXPECT_EQ(theirs.proof({}), 0x726fdb47dd0e0e31u);
  EXPECT_EQ(theirs.proof({0x0706050403020100}), 0x93f5f5799a932462u);
  EXPECT_EQ(theirs.proof({0x0706050403020100, 0x0f0e0d0c0b0a0908}), 0x3f2acc7f57c29bdbu);
}

}  // namespace
}  // namespace weft::transport::net
