// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The failure detector: how the hosts of a job notice that one of them is lost. The first rank of each host holds TCP
// connections, lifelines, to the first ranks of up to three others: the hosts, in the order of their first ranks, are a
// binary tree. They say nothing while all is well: the kernel asks by itself whether the other side is still there
// (WEFT_LOST_AFTER), and answers while ranks compute. Ranks look at them where they wait; the other ranks of a host
// look at those of the first, if the system lets them have its descriptors, so that it may compute meanwhile. A
// lifeline that ends without a goodbye ends the job, with a message that names the lost ranks; the others learn of it
// through the launcher, the host's page and the other lifelines.
//
// It is independent of the carrier of the messages. docs/design/hosts.md, "When a host or a rank is lost".

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "boot/job/host_page.hpp"
#include "transport/net/frame.hpp"
#include "transport/net/opening.hpp"
#include "transport/net/socket.hpp"

namespace weft::transport::net {

// A message on a lifeline, little-endian. At the start the upper host says a challenge, the lower one hello, the upper
// one hello too, and the lower one confirms: then both know that the other knows the job's secret, and holds this
// connection and no earlier one. Later one more word at most comes each way.
enum class LifelineNews : uint8_t {
  challenge = 1,  // proves nothing yet
  hello,          // `text` says which host that is, for people
  confirmed,
  goodbye,  // the job has ended as it should
  ending,   // the job ends, and it was said why
};
struct Word {
  uint32_t magic;   // what and which version
  uint32_t origin;  // the sender's rank in the job
  uint64_t proof;   // of all the rest, by the key of the connection
  uint64_t nonce;   // in the challenge, and in the lower host's hello
  LifelineNews news;
  uint8_t reserved;
  uint16_t bytes;  // of text
  char text[228];
};
static_assert(sizeof(Word) == 256 && offsetof(Word, text) == 28);

inline constexpr uint32_t word_magic = 0x024c4557;  // "WEL" in memory, and the version

// The key of a connection: of the ranks that hold it, of a number from each that was never said before, and of where it
// is answered, as each side sees it.
[[nodiscard]] Key line_key(const Key& secret, uint32_t lower, uint32_t upper, uint64_t lower_nonce,
                           uint64_t upper_nonce, uint64_t place);
[[nodiscard]] Word word_of(LifelineNews news, uint32_t from, const Key& key, std::string_view text, uint64_t nonce = 0);
// Whether a word can be understood, and whether its proof is good.
bool is_word(const Word& word, uint32_t ranks);
bool is_proved(const Word& word, const Key& key);

// Where a host is in the tree: the first ranks of the host above it, -1 when it is the root, and of those below it.
struct TreeNeighbours {
  int above = -1;
  std::vector<int> below;
};
// `first` are the first ranks of all hosts in order, `host` is a place among them.
[[nodiscard]] TreeNeighbours neighbours_of(size_t host, const std::vector<int>& first);

class Lifelines {
 public:
  struct Start {
    int rank;
    int ranks;
    int keeper;                 // the first rank of this host: words come from it and go to it
    TreeNeighbours neighbours;  // of the keeper
    std::string host;           // this one, for people: "h2 (ranks 2 and 3)"
    std::string secret;         // of the job, as in Opening
    int lost_after;             // seconds
    Directory directory;
    boot::HostPage* page;
  };
  explicit Lifelines(Start start);
  ~Lifelines();
  Lifelines(const Lifelines&) = delete;
  Lifelines& operator=(const Lifelines&) = delete;

  // Makes the connections, after a barrier; all first ranks do so together. One that cannot be had is a warning.
  void meet();

  // Looks at everything once, and ends the job when somebody is lost or it ends elsewhere. Cheap, but system calls: not
  // more often than needed. Thread-safe.
  void look();

  // The job has ended as it should: from now on nobody is missed.
  void say_goodbye();

  size_t held() const { return lines_.size(); }

 private:
  struct Lifeline {
    Socket socket;
    Key key;
    int rank = -1;     // at the other end
    std::string host;  // for people
    bool above = false;
  };
  struct Caller {  // a process that has connected
    Socket socket;
    uint64_t nonce;     // of our challenge
    uint64_t until_ns;  // to say who it is
    Word hello{};
    Key key{};
    int rank = -1;  // once it has said hello, and was answered: it confirms, ends, or comes again
  };
  class Parent;

  static void tell_of_end();
  bool keeps() const { return start_.rank == start_.keeper; }
  bool holds(int rank) const;
  bool complete() const;
  void warn_of_missing() const;
  void publish();
  void welcome();
  bool welcome(Caller& caller);
  void greet(Caller& caller, const Word& hello);
  void adopt(Socket socket, const Key& key, const Word& hello, bool above);
  Word say(LifelineNews news, const Key& key, uint64_t nonce = 0) const;
  bool understood(const Word& word, int rank, const Key& key) const;
  bool post(const Lifeline& line, LifelineNews news) const;
  void read(Lifeline& line);
  void share();
  void borrow();
  void look_at_keeper();
  bool keeper_left() const { return start_.page->keeper.load(std::memory_order_acquire) == 0; }
  void lose(Lifeline& line, int error);
  void report_changed(int rank, const std::string& host);
  void wait_for_cause(int milliseconds);
  bool told_of_end();
  bool begin_end();
  [[noreturn]] void end_with_others();

  Start start_;
  const Key secret_;
  std::vector<Socket> listeners_;
  std::vector<Caller> callers_;
  std::vector<Lifeline> lines_;
  std::atomic<bool> looking_ = false;
  // The keeper's process, in the other ranks of its host: they look at its lines too, if the system gives them these.
  Socket keeper_;
  bool asked_keeper_ = false;
  int strangers_ = 0;
};

// A message to another host cannot be delivered: the reason may be that a host or a rank was lost. Gives a process that
// knows of it a moment to report it and end the job; returns when none has.
void wait_for_news();

}  // namespace weft::transport::net
