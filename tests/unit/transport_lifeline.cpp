// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <thread>

#include "base/clock.hpp"
#include "base/hex.hpp"
#include "transport/net/lifeline.hpp"

namespace weft::transport::net {
namespace {

constexpr const char* job_secret = "000102030405060708090a0b0c0d0e0f";
constexpr int hosts = 5, ranks_each = 2;

std::map<std::pair<int, std::string>, std::string>& board() {
  static std::map<std::pair<int, std::string>, std::string> entries;
  return entries;
}
thread_local int publishing_rank = 0;

const Directory of_board{[](const std::string& key, const std::string& value) {
                           board()[{publishing_rank, key}] = value;
                         },
                         [](int rank, const std::string& key) {
                           return board().at({rank, key});
                         },
                         1000, [] {}};

// The first ranks of all hosts in one process.
struct Tree {
  Tree() {
    for (int h = 0; h < hosts; ++h) leaders.push_back(h * ranks_each);
    for (int h = 0; h < hosts; ++h) {
      publishing_rank = leaders[static_cast<size_t>(h)];
      pages.push_back(std::make_unique<boot::HostPage>());
      all.push_back(
          std::make_unique<Lifelines>(Lifelines::Start{.rank = publishing_rank,
                                                       .ranks = hosts * ranks_each,
                                                       .keeper = publishing_rank,
                                                       .neighbours = neighbours_of(static_cast<size_t>(h), leaders),
                                                       .host = "h" + std::to_string(h),
                                                       .secret = job_secret,
                                                       .lost_after = 1,
                                                       .directory = of_board,
                                                       .page = pages.back().get()}));
    }
  }
  void meet() {
    std::vector<std::thread> threads;
    for (auto& one : all) threads.emplace_back([&one] { one->meet(); });
    for (std::thread& thread : threads) thread.join();
  }
  void look() {
    for (auto& one : all) one->look();
  }

  std::vector<int> leaders;
  std::vector<std::unique_ptr<boot::HostPage>> pages;
  std::vector<std::unique_ptr<Lifelines>> all;
};

ListenAddresses place_of(int rank) {
  ListenAddresses place;
  std::string bytes;
  EXPECT_TRUE(base::from_hex(board().at({rank, "weft-lifeline"}), bytes) && place.parse(bytes));
  return place;
}

Socket call(const ListenAddresses& place) {
  int error = 0;
  Socket socket = begin_connect(place.addresses[0], place.port, error);
  EXPECT_EQ(error, 0);
  return socket;
}

const Key key{{3, 4}};

TEST(Word, OfARankOfTheJobIsTaken) {
  const Word word = word_of(LifelineNews::hello, 4, key, "a host");
  EXPECT_TRUE(is_word(word, 5) && is_proved(word, key));
  EXPECT_EQ(std::string(word.text, word.bytes), "a host");
}

TEST(Word, OfStrangersIsNot) {
  auto refused = [&](auto spoil) {
    Word word = word_of(LifelineNews::ending, 4, key, "");
    spoil(word);
    return !is_word(word, 5) || !is_proved(word, key);
  };
  EXPECT_FALSE(refused([](Word&) {}));
  EXPECT_TRUE(refused([](Word& w) { w.magic += 1 << 24; })) << "another version";
  EXPECT_TRUE(refused([](Word& w) { w.proof ^= 1; }));
  EXPECT_TRUE(refused([](Word& w) { w.origin = 5; }));
  EXPECT_TRUE(refused([](Word& w) { w.origin = 3; })) << "another's proof";
  EXPECT_TRUE(refused([](Word& w) { w.nonce = 1; }));
  EXPECT_TRUE(refused([](Word& w) { w.text[227] = 1; }));
  EXPECT_TRUE(refused([](Word& w) { w.bytes = sizeof w.text + 1; }));
  EXPECT_TRUE(refused([](Word& w) { w.news = LifelineNews(0); }));
  EXPECT_TRUE(refused([](Word& w) { w.news = LifelineNews(6); }));
  EXPECT_TRUE(refused([](Word& w) { w.news = LifelineNews::goodbye; }));
  EXPECT_FALSE(is_proved(word_of(LifelineNews::challenge, 4, key, ""), key)) << "it says nothing of who says it";
}

TEST(Word, IsGoodForOneConnection) {
  const Key of_job = Key::of_secret(job_secret);
  const auto key_of = [&](uint32_t lower, uint32_t upper, uint64_t one, uint64_t other, uint64_t place) {
    return line_key(of_job, lower, upper, one, other, place);
  };
  const Word word = word_of(LifelineNews::hello, 4, key_of(4, 2, 10, 20, 30), "h");
  EXPECT_TRUE(is_proved(word, key_of(4, 2, 10, 20, 30)));
  EXPECT_FALSE(is_proved(word, key_of(4, 1, 10, 20, 30)));
  EXPECT_FALSE(is_proved(word, key_of(4, 2, 10, 21, 30))) << "to another challenge";
  EXPECT_FALSE(is_proved(word, key_of(4, 2, 11, 20, 30)));
  EXPECT_FALSE(is_proved(word, key_of(4, 2, 10, 20, 31))) << "at another place";
}

// A caller of rank 0, as bytes on a connection. It waits for the challenge, which comes while somebody else is in
// `meet()`.
struct Caller {
  const uint32_t rank;
  const char* const known;
  Socket socket = call(place_of(0));
  Key of_line{};

  bool say(LifelineNews news, size_t bytes = sizeof(Word), uint64_t nonce = 0) const {
    const Word word = word_of(news, rank, of_line, "h", nonce);
    return send(socket.descriptor(), &word, bytes, MSG_NOSIGNAL) == static_cast<ssize_t>(bytes);
  }
  bool hear(Word& word) const {
    pollfd there{socket.descriptor(), POLLIN, 0};
    return poll(&there, 1, 30000) == 1 && recv(socket.descriptor(), &word, sizeof word, MSG_WAITALL) == sizeof word;
  }
  // Hello, also half of it, or without having heard the challenge.
  bool hello(bool heard = true, size_t bytes = sizeof(Word)) {
    Word challenge{};
    if (heard && !hear(challenge)) return false;
    of_line = line_key(Key::of_secret(known), rank, 0, 77, challenge.nonce, far_end(socket));
    return say(LifelineNews::hello, bytes, 77);
  }
};

TEST(Lifelines, HostsHoldATree) {
  Tree tree;
  tree.meet();
  const size_t held[] = {2, 3, 1, 1, 1};  // 0 has 1 and 2 below it, 1 has 3 and 4
  for (size_t h = 0; h < hosts; ++h) EXPECT_EQ(tree.all[h]->held(), held[h]) << h;
  tree.look();
  for (auto& page : tree.pages) EXPECT_EQ(page->ending.load(), 0u);
  for (auto& one : tree.all) one->say_goodbye();
}

TEST(Lifelines, AfterAGoodbyeNobodyIsMissed) {
  Tree tree;
  tree.meet();
  tree.all[1]->say_goodbye();
  tree.all[1].reset();
  tree.all[0]->look();
  tree.all[3]->look();
  tree.all[0]->look();
  for (auto& page : tree.pages) EXPECT_EQ(page->ending.load(), 0u);
}

// Another rank of the host borrows the lines late: one host has said goodbye, and the first rank has opened other
// sockets.
TEST(Lifelines, WhoBorrowsThemLateFindsThemStill) {
  Tree tree;
  tree.meet();
  tree.all[1]->say_goodbye();
  tree.all[1].reset();
  tree.all[0]->look();
  tree.all[0]->look();
  std::vector<Socket> others;
  for (int i = 0; i < 8; ++i) others.emplace_back(::socket(AF_INET, SOCK_STREAM, 0));
  Lifelines second(Lifelines::Start{.rank = 1,
                                    .ranks = hosts * ranks_each,
                                    .keeper = 0,
                                    .neighbours = {},
                                    .host = "h0",
                                    .secret = job_secret,
                                    .lost_after = 1,
                                    .directory = of_board,
                                    .page = tree.pages[0].get()});
  second.look();
  if (second.held() == 0) GTEST_SKIP() << "the system does not let a process have another's descriptors";
  EXPECT_EQ(second.held(), 2u);
  second.look();
  EXPECT_EQ(tree.pages[0]->ending.load(), 0u);
  tree.all[0]->say_goodbye();
  second.look();
  EXPECT_EQ(tree.pages[0]->ending.load(), 0u);
}

// Callers that say nothing, nonsense, or half a word, more than are heard at once: the ranks of the job come in.
TEST(Lifelines, StrangersAreTurnedAway) {
  Tree tree;
  std::vector<Socket> strangers;
  for (int i = 0; i < 150; ++i) {
    Caller stranger{2, "ff0102030405060708090a0b0c0d0e0f"};
    if (i % 3 != 0) {
      EXPECT_TRUE(stranger.hello(false, i % 3 == 1 ? sizeof(Word) : 100));
    }
    strangers.push_back(std::move(stranger.socket));
  }
  const uint64_t from_ns = base::now_ns();
  tree.meet();
  EXPECT_LT(base::now_ns() - from_ns, 10000000000u) << "as long as an unproven caller may take to say something";
  EXPECT_EQ(tree.all[0]->held(), 2u);
  for (auto& one : tree.all) one->say_goodbye();
}

// A caller that waits too long for an answer calls again: the connection that it gave up is not taken for the one it
// holds.
TEST(Lifelines, AConnectionThatWasGivenUpIsNotHeld) {
  Tree tree;
  std::vector<std::unique_ptr<Caller>> early;
  for (int i = 0; i < 3; ++i) early.push_back(std::make_unique<Caller>(Caller{2, job_secret}));
  std::thread all([&] { tree.meet(); });
  for (auto& one : early) {
    (void)one->hello();  // the true one may have been taken already
    one->socket.close();
  }
  all.join();
  tree.look();
  tree.look();
  EXPECT_EQ(tree.all[0]->held(), 2u);
  for (auto& page : tree.pages) EXPECT_EQ(page->ending.load(), 0u);
  for (auto& one : tree.all) one->say_goodbye();
}

// Its confirmation comes late: it holds the connection, and must not find it closed. Words that are lost and sent again
// take as long: a caller that is silent for so long, or gives up, is not reported as one that proves nothing.
TEST(Lifelines, WhoWasAnsweredMayTakeItsTime) {
  Tree tree;
  testing::internal::CaptureStderr();
  const Socket silent = call(place_of(0));
  (void)call(place_of(0));
  Caller slow{4, job_secret};
  Word answer;
  std::thread late([&] {
    EXPECT_TRUE(slow.hello());
    EXPECT_TRUE(slow.hear(answer) && answer.news == LifelineNews::hello && is_proved(answer, slow.of_line));
    std::this_thread::sleep_for(std::chrono::milliseconds(2300));
    EXPECT_TRUE(slow.say(LifelineNews::confirmed));
  });
  std::vector<std::thread> others;
  for (const size_t h : {0, 1, 3, 4}) others.emplace_back([&tree, h] { tree.all[h]->meet(); });
  for (std::thread& thread : others) thread.join();
  late.join();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(tree.all[0]->held(), 2u);
  EXPECT_EQ(recv(slow.socket.descriptor(), &answer, sizeof answer, MSG_DONTWAIT), -1) << "it is closed";
  for (auto& one : tree.all) one->say_goodbye();
}

TEST(LifelinesDeathTest, AClosedConnectionEndsTheJobWithNames) {
  Tree tree;
  tree.meet();
  tree.all[2].reset();
  EXPECT_EXIT(tree.all[0]->look(), testing::ExitedWithCode(1),
              "rank 4 on host h2 ended without MPI_Finalize: its connection was closed; noticed by rank 0 on host h0");
  EXPECT_EXIT(
      {
        tree.pages[0]->ending = 1;
        tree.all[0]->look();
      },
      testing::ExitedWithCode(1), "^$")
      << "it was said why already";
  for (auto& one : tree.all) {
    if (one != nullptr) one->say_goodbye();
  }
}

// The kernel of a host does so if nothing comes through to it.
TEST(LifelinesDeathTest, AConnectionThatIsResetMayBeTheFaultOfTheNetwork) {
  Tree tree;
  tree.meet();
  const uint16_t port = place_of(0).port;
  for (int descriptor = 0; descriptor < 256; ++descriptor) {
    sockaddr_in peer = {};
    socklen_t bytes = sizeof peer;
    const linger reset = {1, 0};
    if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &bytes) == 0 && ntohs(peer.sin_port) == port) {
      EXPECT_EQ(setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &reset, sizeof reset), 0);
    }
  }
  tree.all[2].reset();
  EXPECT_EXIT(
      tree.all[0]->look(), testing::ExitedWithCode(1),
      "rank 4 on host h2 ended without MPI_Finalize, or has heard nothing from here for 1 s: its connection was "
      "reset; noticed by rank 0 on host h0");
  for (auto& one : tree.all) {
    if (one != nullptr) one->say_goodbye();
  }
}

}  // namespace
}  // namespace weft::transport::net
