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

std::vector<unsigned char> frame_of(uint32_t from, uint32_t to, uint32_t bytes, uint32_t staged) {
  Header h{.magic = magic,
           .origin = from,
           .proof = Proofs(secret).of(from, to),
           .bytes = bytes,
           .staged = staged,
           .kind = 3,
           .lane = 1};
  std::vector<unsigned char> frame(sizeof h + bytes + staged);
  std::memcpy(frame.data(), &h, sizeof h);
  return frame;
}

bool taken_by(uint32_t rank, const std::vector<unsigned char>& frame, const char* known = secret) {
  const Proofs proofs(known);
  Checker checker{&proofs, rank, ranks, lanes};
  return check_frame(frame.data(), frame.size(), checker) != nullptr;
}

TEST(Frame, FromARankOfTheJobIsTaken) {
  EXPECT_TRUE(taken_by(2, frame_of(1, 2, 0, 0)));
  EXPECT_TRUE(taken_by(2, frame_of(4, 2, 100, 3000)));
}

TEST(Frame, FromStrangersIsNot) {
  EXPECT_FALSE(taken_by(3, frame_of(1, 2, 8, 0))) << "the proof is for another receiver";
  EXPECT_FALSE(taken_by(2, frame_of(1, 2, 8, 0), "ff0102030405060708090a0b0c0d0e0f"));
  EXPECT_FALSE(taken_by(2, frame_of(5, 2, 8, 0))) << "there is no such rank";
  EXPECT_FALSE(taken_by(2, std::vector<unsigned char>(47)));
  EXPECT_FALSE(taken_by(2, {}));
}

// The proof of a sender that was heard before is kept; another sender cannot use it.
TEST(Frame, EachSenderHasAProofOfItsOwn) {
  const Proofs proofs(secret);
  Checker checker{&proofs, 2, ranks, lanes};
  const std::vector<unsigned char> one = frame_of(1, 2, 8, 0), other = frame_of(3, 2, 8, 0);
  std::vector<unsigned char> false_one = other;
  Header h;
  std::memcpy(&h, one.data(), sizeof h);
  h.origin = 3;
  std::memcpy(false_one.data(), &h, sizeof h);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NE(check_frame(one.data(), one.size(), checker), nullptr);
    EXPECT_EQ(check_frame(false_one.data(), false_one.size(), checker), nullptr) << "1 says that it is 3";
    EXPECT_NE(check_frame(other.data(), other.size(), checker), nullptr);
    EXPECT_EQ(check_frame(false_one.data(), false_one.size(), checker), nullptr);
  }
}

// If any byte of the header changes: of what is checked, the frame is turned away; the rest is data of the sender.
TEST(Frame, DamagedIsNot) {
  const std::vector<unsigned char> good = frame_of(1, 2, 8, 16);
  for (size_t at = 0; at < sizeof(Header); ++at) {
    std::vector<unsigned char> bad = good;
    bad[at] ^= 0x80;
    const bool checked =
        at < offsetof(Header, stamp) || (at >= offsetof(Header, bytes) && at < offsetof(Header, sequence));
    EXPECT_EQ(taken_by(2, bad), !checked) << "byte " << at;
  }
  for (size_t cut = 1; cut < good.size(); ++cut) {
    EXPECT_FALSE(taken_by(2, std::vector<unsigned char>(good.begin(), good.end() - static_cast<ptrdiff_t>(cut))));
  }
}

TEST(Frame, ProofsDifferByPairAndDirection) {
  const Proofs proofs(secret);
  EXPECT_NE(proofs.of(1, 2), proofs.of(2, 1));
  EXPECT_NE(proofs.of(1, 2), proofs.of(1, 3));
  // The authors' test vector for the eight bytes 0, 1, .. 7 under this key, whose bytes are 0, 1, .. 15 in memory.
  const Proofs theirs("07060504030201000f0e0d0c0b0a0908");
  EXPECT_EQ(theirs.of(0x07060504, 0x03020100), 0x93f5f5799a932462u);
}

}  // namespace
}  // namespace weft::transport::net
