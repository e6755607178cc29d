// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The carrier over TCP: addresses, crossing connections and processes without the secret; the promises of all carriers
// are in transport_carriers.cpp.
#include "transport_tcp.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "transport/net/socket.hpp"

namespace weft::transport::tcp {
namespace {

// Connects as a process outside the job does, and sends bytes; returns the descriptor.
int call(const net::ListenAddresses& to, const void* bytes, size_t size) {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in place = {};
  place.sin_family = AF_INET;
  place.sin_addr = to.addresses[0];
  place.sin_port = htons(to.port);
  EXPECT_EQ(connect(descriptor, reinterpret_cast<sockaddr*>(&place), sizeof place), 0) << strerror(errno);
  if (size != 0) {
    EXPECT_EQ(send(descriptor, bytes, size, MSG_NOSIGNAL), static_cast<ssize_t>(size));
  }
  return descriptor;
}
// Words that came before do not matter.
bool is_closed(int descriptor) {
  char said[sizeof(Greeting)];
  ssize_t bytes = 0;
  do bytes = recv(descriptor, said, sizeof said, MSG_DONTWAIT);
  while (bytes > 0);
  return bytes == 0 || errno != EAGAIN;
}

TEST(Tcp, TriesAddressesInTurn) {
  Rank a(0), b(1);
  std::string published = b.carrier.address(0);
  in_addr nowhere;
  ASSERT_EQ(inet_pton(AF_INET, "240.0.0.1", &nowhere), 1);
  published.insert(who_bytes + sizeof(uint16_t), reinterpret_cast<const char*>(&nowhere), sizeof nowhere);
  net::Address to = 0;
  ASSERT_TRUE(a.carrier.insert(published, to));
  ASSERT_EQ(a.send(to, 7), 0);
  EXPECT_TRUE(wait({&a, &b}, [&] { return b.numbers.size() == 1; }));
}

TEST(Tcp, RefusesBytesThatAreNoAddress) {
  Rank a(0), b(1);
  const std::string good = b.carrier.address(0);
  net::Address to = 0;
  for (size_t bytes = 0; bytes < who_bytes + 6; ++bytes) EXPECT_FALSE(a.carrier.insert(good.substr(0, bytes), to));
  EXPECT_FALSE(a.carrier.insert(good + "x", to));
  EXPECT_FALSE(a.carrier.insert(std::string(good).replace(0, 4, "\xff\xff\xff\xff"), to)) << "rank 4294967295 of 3";
}

// Both connect before either has looked at the other: one connection remains, and nothing is lost or doubled.
TEST(Tcp, CrossingConnectionsBecomeOne) {
  for (int round = 0; round < 20; ++round) {
    Rank a(0), b(1);
    const net::Address to_b = a.knows(b), to_a = b.knows(a);
    ASSERT_EQ(a.send(to_b, 1), 0);
    ASSERT_EQ(b.send(to_a, 2), 0);
    Rank* first = round % 2 == 0 ? &a : &b;
    for (int i = 0; i < round / 2; ++i) first->poll();
    ASSERT_TRUE(wait({&a, &b}, [&] { return a.numbers.size() == 1 && b.numbers.size() == 1; }));
    for (uint32_t i = 10; i < 20; ++i) {
      ASSERT_TRUE(wait({&a, &b}, [&] { return a.send(to_b, i) == 0; }));
      ASSERT_TRUE(wait({&a, &b}, [&] { return b.send(to_a, i) == 0; }));
    }
    ASSERT_TRUE(wait({&a, &b}, [&] { return a.numbers.size() == 11 && b.numbers.size() == 11; }));
    EXPECT_EQ(a.numbers, (std::vector<uint32_t>{2, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}));
    EXPECT_EQ(b.numbers, (std::vector<uint32_t>{1, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19}));
    EXPECT_EQ(a.error + b.error, 0);
  }
}

// A rank with one thread stops watching a connection that alone has been heard for a while: until it sleeps, hears from
// another, or cannot send there.
TEST(Tcp, HearsAllOfWhomItNoLongerWatches) {
  Rank a(0), b(1, 1, secret, false), c(2);
  const net::Address to_b = a.knows(b), from_c = c.knows(b), to_a = b.knows(a);
  const auto readable = [&] {
    pollfd at = {.fd = b.carrier.wait_descriptor(), .events = POLLIN, .revents = 0};
    return poll(&at, 1, 1000) == 1;
  };
  uint32_t number = 0;
  const auto hear = [&](Rank& from, net::Address to) {
    ASSERT_TRUE(wait({&from}, [&] { return from.send(to, ++number) == 0; }));
    ASSERT_TRUE(wait({&from, &b}, [&] { return !b.numbers.empty() && b.numbers.back() == number; }));
  };
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 100; ++i) ASSERT_NO_FATAL_FAILURE(hear(a, to_b));
    ASSERT_NO_FATAL_FAILURE(hear(c, from_c));
    for (int i = 0; i < 100; ++i) ASSERT_NO_FATAL_FAILURE(hear(a, to_b));
    EXPECT_TRUE(b.carrier.may_sleep());
    ASSERT_EQ(a.send(to_b, ++number), 0);
    EXPECT_TRUE(readable()) << "nothing would wake it";
    ASSERT_TRUE(wait({&b}, [&] { return b.numbers.back() == number; }));
  }
  for (int i = 0; i < 100; ++i) ASSERT_NO_FATAL_FAILURE(hear(a, to_b));
  // More than the system takes: the rest leaves when there is space, whatever is heard meanwhile.
  const std::vector<char> data(net::pushed_most);
  const net::Header header = {.magic = net::pushed_magic, .bytes = static_cast<uint32_t>(data.size())};
  int pushed = 0;
  a.takes_pushed = true;
  for (const int heard_meanwhile : {0, 100}) {
    for (int result = net::Carrier::gone; result == net::Carrier::gone; ++pushed) {
      net::Buffer* buffer = b.free.back();
      std::memcpy(buffer->bytes, &header, sizeof header);
      result = b.carrier.push(buffer, data.data(), data.size(), to_a);
      ASSERT_LE(result, 0);
      if (result == 0) b.free.pop_back();
    }
    (void)b.carrier.may_sleep();
    for (int i = 0; i < heard_meanwhile; ++i) {
      ASSERT_EQ(a.send(to_b, ++number), 0);
      ASSERT_TRUE(wait({&b}, [&] { return b.numbers.back() == number; }));
    }
    EXPECT_TRUE(wait({&a, &b}, [&] { return b.free.size() == 4 && a.pushed == pushed; }));
  }
}

// Ranks need not have the same number of lanes.
TEST(Tcp, JoinsDifferentNumbersOfLanes) {
  Rank a(0), b(1, 4);
  for (uint32_t lane = 0; lane < 4; ++lane) {
    const net::Address to = a.knows(b, lane);
    ASSERT_TRUE(wait({&a}, [&] { return a.send(to, lane) == 0; }));
    b.numbers.clear();
    const auto until = Clock::now() + std::chrono::seconds(10);
    while (b.numbers.empty() && Clock::now() < until) {
      a.poll();
      if (lane != 0) (void)b.carrier.poll(0, b);  // connections come in on lane 0
      EXPECT_TRUE(lane == 0 || b.numbers.empty());
      (void)b.carrier.poll(lane, b);
    }
    EXPECT_EQ(b.numbers, std::vector<uint32_t>{lane});
  }
  const net::Address back = b.knows(a);
  ASSERT_EQ(b.send(back, 9), 0);
  EXPECT_TRUE(wait({&a}, [&] { return a.numbers == std::vector<uint32_t>{9}; }));
}

TEST(Tcp, TurnsStrangersAway) {
  Rank a(0), b(1), old(2, 1, "fedcba9876543210fedcba9876543210");
  const net::ListenAddresses place = b.place();
  const net::Key known = net::Key::of_secret(secret);
  const std::string noise(200, 'x');
  const auto said = [&](GreetingWord word, uint32_t to, uint32_t lane) {
    return greeting(word, 0, {.caller = 0, .listener = to, .lane = lane, .attempt = 1}, known);
  };
  const Greeting for_another = said(GreetingWord::hello, 2, 0);
  Greeting of_another_version = said(GreetingWord::hello, 1, 0);
  of_another_version.magic += 0x01000000;
  const Greeting too_many_lanes = said(GreetingWord::hello, 1, max_lanes);
  const Greeting answer = said(GreetingWord::welcome, 1, 0);
  const Greeting to_no_challenge = said(GreetingWord::hello, 1, 0);
  const std::vector<int> callers = {call(place, noise.data(), noise.size()),
                                    call(place, &for_another, sizeof for_another),
                                    call(place, &of_another_version, sizeof of_another_version),
                                    call(place, &too_many_lanes, sizeof too_many_lanes),
                                    call(place, &answer, sizeof answer),
                                    call(place, &to_no_challenge, sizeof to_no_challenge)};
  for (const int caller : callers) {
    EXPECT_TRUE(wait({&b}, [&] { return is_closed(caller); }));
    close(caller);
  }
  // A rank of an old job that has our port: it gets no welcome.
  const net::Address wrong = old.knows(b);
  ASSERT_EQ(old.send(wrong, 1), 0);
  EXPECT_FALSE(wait(
      {&old, &b}, [&] { return !b.numbers.empty(); }, 1));
  // And the job's own come through, also past many who say nothing.
  std::vector<int> silent;
  for (int i = 0; i < 300; ++i) silent.push_back(call(place, "", 0));
  ASSERT_EQ(a.send(a.knows(b), 5), 0);
  EXPECT_TRUE(wait({&a, &b}, [&] { return b.numbers == std::vector<uint32_t>{5}; }));
  for (const int caller : silent) close(caller);
}

// Rank 0 of the job as bytes on a connection.
struct Caller {
  const int descriptor;
  Talk talk;
  Greeting hello{};
  Caller(Rank& to, uint32_t attempt) : descriptor(call(to.place(), nullptr, 0)) {
    Greeting challenge = {};
    EXPECT_TRUE(hear(to, challenge) && challenge.word == static_cast<uint16_t>(GreetingWord::challenge));
    const net::ListenAddresses place = to.place();
    talk = {.caller = 0,
            .listener = 1,
            .lane = 0,
            .attempt = attempt,
            .caller_nonce = net::fresh_nonce(),
            .listener_nonce = challenge.nonce,
            .place = uint64_t{ntohl(place.addresses[0].s_addr)} << 16 | place.port};
    hello = greeting(GreetingWord::hello, 0, talk, known());
    say(hello);
  }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;
  ~Caller() { close(descriptor); }

  static net::Key known() { return net::Key::of_secret(secret); }
  [[nodiscard]] bool hear(Rank& at, Greeting& said) const {
    return wait({&at}, [&] { return recv(descriptor, &said, sizeof said, MSG_DONTWAIT) == sizeof said; });
  }
  template <class Bytes>
  void say(const Bytes& bytes) const {
    EXPECT_EQ(send(descriptor, &bytes, sizeof bytes, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof bytes));
  }
  void confirm() const { say(greeting(GreetingWord::confirmed, 0, talk, known())); }
  [[nodiscard]] bool is_welcome(Rank& at) const {
    Greeting answer = {};
    return hear(at, answer) && answer.word == static_cast<uint16_t>(GreetingWord::welcome) &&
           answer.proof == proof_of(GreetingWord::welcome, talk, known());
  }
};
net::Header frame(uint32_t number) {
  net::Header header = {};
  header.magic = net::magic;
  header.origin = number;
  return header;
}

// A caller without the welcome gives up and comes again, and its end of the first connection may never arrive.
TEST(Tcp, TakesAPeerThatComesAgain) {
  Rank a(0), b(1);
  ASSERT_EQ(b.send(b.knows(a), 3), 0);  // waits, for the first has not confirmed
  b.poll();
  const Caller first(b, 1);
  ASSERT_TRUE(first.is_welcome(b));
  const Caller second(b, 2);
  ASSERT_TRUE(second.is_welcome(b));
  EXPECT_TRUE(is_closed(first.descriptor));
  second.confirm();
  second.say(frame(4));
  EXPECT_TRUE(wait({&b}, [&] { return !b.numbers.empty(); }));
  EXPECT_EQ(b.numbers, std::vector<uint32_t>{4});
  net::Header header = {};
  EXPECT_EQ(recv(second.descriptor, &header, sizeof header, MSG_DONTWAIT), static_cast<ssize_t>(sizeof header));
  EXPECT_EQ(header.origin, 3u) << "not sent into the connection that was given up";
}

// A peer that computes is in no call of MPI, and may be so for as long as it likes.
TEST(Tcp, WaitsForAPeerThatIsBusy) {
  constexpr uint64_t ms = 1'000'000;
  Rank a(0, 1, secret, true, {.address = 20 * ms, .peer = 100 * ms}), b(1);
  ASSERT_EQ(a.send(a.knows(b), 7), 0);
  EXPECT_FALSE(wait(
      {&a}, [&] { return a.error != 0; }, 1));
  EXPECT_TRUE(wait({&a, &b}, [&] { return b.numbers.size() == 1; }));
  EXPECT_EQ(a.error, 0);
}

TEST(Tcp, GivesUpAPeerThatIsNowhere) {
  constexpr uint64_t ms = 1'000'000;
  Rank a(0, 1, secret, true, {.address = 20 * ms, .peer = 100 * ms});
  auto b = std::make_unique<Rank>(1);
  const net::Address to = a.knows(*b);
  b.reset();
  ASSERT_EQ(a.send(to, 7), 0);
  EXPECT_TRUE(wait({&a}, [&] { return a.error != 0; }));
}

// A hello that another process has recorded is good only for the connection that it was said on.
TEST(Tcp, TakesAHelloOnce) {
  Rank b(1);
  const Caller honest(b, 1);
  ASSERT_TRUE(honest.is_welcome(b));
  const int again = call(b.place(), &honest.hello, sizeof honest.hello);
  EXPECT_TRUE(wait({&b}, [&] { return is_closed(again); }));
  close(again);
  honest.confirm();
  honest.say(frame(4));
  EXPECT_TRUE(wait({&b}, [&] { return b.numbers == std::vector<uint32_t>{4}; }));
}

// A process without the secret listens at one of a rank's addresses and passes on what is said there: the words prove
// where they were said.
TEST(Tcp, TakesNoHelloThatWasSaidElsewhere) {
  Rank b(1);
  const Caller elsewhere(b, 1);
  ASSERT_TRUE(elsewhere.is_welcome(b));
  Talk other = elsewhere.talk;
  other.place ^= 1;
  EXPECT_NE(proof_of(GreetingWord::hello, other, Caller::known()), elsewhere.hello.proof);
  EXPECT_NE(proof_of(GreetingWord::welcome, other, Caller::known()),
            proof_of(GreetingWord::hello, other, Caller::known()));
  const net::ListenAddresses place = b.place();
  const int caller = call(place, nullptr, 0);
  Greeting challenge = {};
  ASSERT_TRUE(wait({&b}, [&] { return recv(caller, &challenge, sizeof challenge, MSG_DONTWAIT) == sizeof challenge; }));
  other.attempt = 2;
  other.listener_nonce = challenge.nonce;
  const Greeting hello = greeting(GreetingWord::hello, 0, other, Caller::known());
  ASSERT_EQ(send(caller, &hello, sizeof hello, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof hello));
  EXPECT_TRUE(wait({&b}, [&] { return is_closed(caller); }));
  close(caller);
}

// The carrier's own items are believed with a proof of this connection: here as somebody who has taken over the bytes
// of a connection would send them.
TEST(Tcp, BelievesNoItemWithoutAProof) {
  const auto is_lost = [](Rank& b, Rank& a) {
    net::Address back = 0;
    EXPECT_TRUE(b.carrier.insert(a.carrier.address(0), back));
    return wait({&b}, [&] { return b.send(back, 1) == EPROTO; });
  };
  const auto after = [&](const auto& say_it) {
    Rank a(0), b(1);
    const Caller caller(b, 1);
    EXPECT_TRUE(caller.is_welcome(b));
    caller.confirm();
    say_it(caller, keys_of(caller.talk, 0, Caller::known()).ours);
    return is_lost(b, a);
  };
  const auto ask = [](uint64_t number) {
    return Ask{.magic = ask_magic, .bytes = 8, .key = 1, .address = 4096, .number = number, .unused = 0, .proof = 0};
  };
  const Invitation invitation{.magic = invitation_magic, .port = 0, .unused = {}, .proof = 0};
  const auto proved = [](auto item, const net::Key& key) {
    item.proof = proof_of(item, key);
    return item;
  };
  EXPECT_TRUE(after([&](const Caller& c, const net::Key&) { c.say(ask(1)); }));
  EXPECT_TRUE(after([&](const Caller& c, const net::Key& key) { c.say(proved(ask(2), key)); })) << "out of turn";
  EXPECT_TRUE(after([&](const Caller& c, const net::Key& key) {
    c.say(proved(ask(1), key));
    c.say(proved(ask(1), key));
  })) << "said again";
  EXPECT_TRUE(after([&](const Caller& c, const net::Key&) { c.say(invitation); }));
  EXPECT_TRUE(after([&](const Caller& c, const net::Key& key) {
    c.say(proved(invitation, key));
    c.say(proved(invitation, key));
  }));
}

// The process has no descriptor left when a peer connects: the peer waits until there is one.
TEST(Tcp, WaitsForADescriptor) {
  Rank a(0), b(1);
  const net::Address to = a.knows(b);
  a.poll();
  b.poll();
  rlimit limit = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  ASSERT_EQ(a.send(to, 6), 0);  // has its own
  const int next = dup(0);
  close(next);
  const rlimit none = {static_cast<rlim_t>(next), limit.rlim_max};
  testing::internal::CaptureStderr();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const bool came = wait(
      {&a, &b}, [&] { return !b.numbers.empty(); }, 1);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_FALSE(came);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("no file descriptor"), std::string::npos);
  EXPECT_TRUE(wait({&a, &b}, [&] { return b.numbers == std::vector<uint32_t>{6}; }));
}

// The network brings the words of a connection that was given up after those of the one that came instead.
TEST(Tcp, DoesNotTakeWhatAPeerHasGivenUp) {
  Rank b(1);
  const Caller second(b, 2);
  ASSERT_TRUE(second.is_welcome(b));
  const Caller first(b, 1);
  EXPECT_TRUE(wait({&b}, [&] { return is_closed(first.descriptor); }));
  second.confirm();
  second.say(frame(4));
  EXPECT_TRUE(wait({&b}, [&] { return !b.numbers.empty(); }));
  EXPECT_EQ(b.numbers, std::vector<uint32_t>{4});
}

// A request to a peer that goes is reported once, at whatever point of a piece it goes; nothing is written after.
TEST(Tcp, TellsOnceOfReadsThatEndWithThePeer) {
  struct NotedRead : Read {
    int told = 0;
    NotedRead() : Read{[](Read& read, int) { ++static_cast<NotedRead&>(read).told; }} {}
  };
  for (int polls = 0; polls < 24; ++polls) {
    Rank a(0);
    auto b = std::make_unique<Rank>(1);
    constexpr size_t bytes = 512 << 10;
    std::vector<unsigned char> theirs(2 * bytes, 7);
    std::vector<unsigned char> ours(2 * bytes);
    MemoryRef ref{};
    ASSERT_TRUE(b->carrier.register_memory(theirs.data(), theirs.size(), Access::read, ref));
    const net::Address to_b = a.knows(*b);
    NotedRead reads[2];
    for (size_t i = 0; i < 2; ++i) {
      ASSERT_EQ(a.carrier.read(0, to_b, ref, i * bytes, &ours[i * bytes], bytes, reads[i]), 0);
    }
    ASSERT_TRUE(wait({&a, b.get()}, [&] { return ours[0] == 7; }));
    for (int i = 0; i < polls; ++i) (i % 3 == 0 ? *b : a).poll();
    b.reset();
    ASSERT_TRUE(wait({&a}, [&] { return reads[0].told != 0 && reads[1].told != 0; })) << polls;
    std::vector<unsigned char>().swap(ours);
    for (int i = 0; i < 100; ++i) a.poll();
    EXPECT_EQ(reads[0].told, 1);
    EXPECT_EQ(reads[1].told, 1);
  }
}

// Three ranks send to each other and look at what has come as it happens to be, among connections without a proof that
// come, send something or nothing, and go. In any order, each frame arrives once, after those that were sent before it:
// there are too few between two of them for datagrams, which may overtake.
TEST(Tcp, BringsFramesWhateverTheOrder) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    std::minstd_rand dice(seed);
    const auto below = [&](size_t count) { return static_cast<uint32_t>(dice() % count); };
    Rank a(0), b(1), c(2);
    Rank* const all[] = {&a, &b, &c};
    net::Address ways[3][3] = {};
    uint32_t sent[3][3] = {};
    std::vector<int> strangers;
    for (int step = 0; step < 150; ++step) {
      const uint32_t from = below(3), to = (from + 1 + below(2)) % 3;
      switch (below(4)) {
        case 0:
          if (ways[from][to] == 0) ways[from][to] = all[from]->knows(*all[to]);
          if (all[from]->send(ways[from][to], from * 10000 + sent[from][to]) == 0) ++sent[from][to];
          break;
        case 1: {
          const Greeting hello =
              greeting(GreetingWord::hello, from, {.caller = from, .listener = to, .attempt = 1}, net::Key{{1, 2}});
          strangers.push_back(call(all[to]->place(), &hello, below(2) * sizeof hello / (1 + below(2))));
          break;
        }
        case 2:
          if (!strangers.empty()) {
            close(strangers.back());
            strangers.pop_back();
          }
          break;
        default:
          for (uint32_t polls = below(9); polls != 0; --polls) all[from]->poll();
      }
    }
    for (uint32_t to = 0; to < 3; ++to) {
      Rank& rank = *all[to];
      const uint32_t from[] = {(to + 1) % 3, (to + 2) % 3};
      EXPECT_TRUE(wait({&a, &b, &c}, [&] { return rank.numbers.size() == sent[from[0]][to] + sent[from[1]][to]; }))
          << "seed " << seed << ", to rank " << to;
      uint32_t next[3] = {};
      for (const uint32_t number : rank.numbers) EXPECT_EQ(number % 10000, next[number / 10000]++) << "seed " << seed;
      EXPECT_EQ(rank.error, 0);
    }
    for (const int stranger : strangers) close(stranger);
  }
}

// Pushed data that nobody can have a place for end it too.
TEST(Tcp, EndsAConnectionWhosePushedDataCannotBeTaken) {
  Rank a(0), b(1);
  const net::Address to = a.knows(b);
  net::Buffer* buffer = a.free.back();
  a.free.pop_back();
  const net::Header header = {.magic = net::pushed_magic, .bytes = 16};
  std::memcpy(buffer->bytes, &header, sizeof header);
  ASSERT_LE(a.carrier.push(buffer, "sixteen bytes...", 16, to), 0);
  ASSERT_TRUE(wait({&a, &b}, [&] { return a.free.size() == 4; }));
  const net::Address back = b.knows(a);
  EXPECT_TRUE(wait({&b}, [&] { return b.send(back, 1) == EPROTO; }));  // pushing() of Events says no
}

// A peer that knows the secret and sends bytes that cannot be a frame: the connection ends, and nothing of it is told.
TEST(Tcp, EndsAConnectionThatCannotBeUnderstood) {
  Rank b(1);
  const Caller caller(b, 1);
  ASSERT_TRUE(caller.is_welcome(b));
  caller.confirm();
  std::array<unsigned char, 4096> noise;
  noise.fill(0xff);
  caller.say(noise);
  net::Address back = 0;
  Rank a(0);
  ASSERT_TRUE(b.carrier.insert(a.carrier.address(0), back));
  EXPECT_TRUE(wait({&b}, [&] { return b.send(back, 1) == EPROTO; }));
  EXPECT_TRUE(b.numbers.empty());
  EXPECT_EQ(b.ended.size(), 1u);
}

// A header that does not prove itself ends the connection, also where the bytes that it announces have not come.
TEST(Tcp, EndsAConnectionWhoseFrameIsRefused) {
  for (const uint32_t missing : {0u, 1000u}) {
    Rank b(1);
    b.refuses = true;
    const Caller caller(b, 1);
    ASSERT_TRUE(caller.is_welcome(b));
    caller.confirm();
    net::Header header = frame(4);
    header.bytes = missing;
    caller.say(header);
    EXPECT_TRUE(wait({&b}, [&] { return !b.ended.empty(); })) << missing;
    ASSERT_EQ(b.ended.size(), 1u);
    EXPECT_EQ(b.ended[0].substr(0, 3), "0: ");
    EXPECT_TRUE(b.numbers.empty());
  }
}

}  // namespace
}  // namespace weft::transport::tcp
