// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/net/lifeline.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/clock.hpp"
#include "base/hex.hpp"
#include "base/message.hpp"
#include "base/process.hpp"
#include "base/setting.hpp"
#include "boot/start/join.hpp"
#include "transport/api/failure.hpp"
#include "transport/api/turned_away.hpp"
#include "transport/net/network.hpp"

namespace weft::transport::net {
namespace {

constexpr const char* place_key = "weft-lifeline";
constexpr uint64_t ms = 1000000;            // nanoseconds
constexpr uint64_t start_ns = 20000 * ms;   // for all connections to be made
constexpr uint64_t attempt_ns = 2000 * ms;  // for one address to answer
constexpr uint64_t caller_ns = 10000 * ms;  // for a caller to say who it is: its word may be lost and sent again
constexpr uint64_t pause_ns = 10 * ms;      // between two rounds of all addresses
constexpr size_t most_callers = 64;

// When a process of another host has ended, its host is alive and its launcher knows more than we: its signal. When a
// host is lost, the one nearer to the root says so; the others, if it does not.
constexpr int launcher_first_ms = 1500;
constexpr int upper_first_ms = 700;
constexpr int others_end_ms = 1000;  // for the launcher to end us, after it was said why

constexpr const char* process_remedy = "see what that host says of the process: a signal, a crash, no memory";

// Whose words to say when this process ends the job: end_whole_job() has no other way to it.
constinit std::atomic<Lifelines*> current{nullptr};

void sleep_ms(int milliseconds) {
  (void)::poll(nullptr, 0, milliseconds);
}

enum class Got : uint8_t { nothing, word, end };

// Looks for a whole word on a connection, and leaves it there: other ranks of this host look too. `error`: why there
// will be none, 0 when the other side has closed it.
Got look_for_word(const Socket& socket, Word& word, int& error) {
  error = 0;
  const ssize_t there = ::recv(socket.descriptor(), &word, sizeof word, MSG_PEEK | MSG_DONTWAIT);
  if (there == static_cast<ssize_t>(sizeof word)) return Got::word;
  if (there < 0) {
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return Got::nothing;
    error = errno;
    return Got::end;
  }
  if (there == 0) return Got::end;
  // A part of a word: more may come, unless the connection has ended.
  pollfd end{socket.descriptor(), POLLRDHUP, 0};
  if (::poll(&end, 1, 0) <= 0) return Got::nothing;
  error = error_of(socket);
  return Got::end;
}

// Looks for a whole word likewise, and takes it off the connection.
Got take_word(const Socket& socket, Word& word, int& error) {
  const Got got = look_for_word(socket, word, error);
  if (got == Got::word) (void)!::recv(socket.descriptor(), &word, sizeof word, MSG_DONTWAIT);
  return got;
}

// A word is smaller than what any socket takes at once.
bool send_word(const Socket& socket, const Word& word) {
  return socket.is_intact() && ::send(socket.descriptor(), &word, sizeof word, MSG_DONTWAIT | MSG_NOSIGNAL) ==
                                   static_cast<ssize_t>(sizeof word);
}

std::string text_of(const Word& word) {
  std::string text(word.text, word.bytes);
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 32 || c > 126; }, '?');
  return text;
}

}  // namespace

Key line_key(const Key& secret, uint32_t lower, uint32_t upper, uint64_t lower_nonce, uint64_t upper_nonce,
             uint64_t place) {
  return secret.derived(Purpose::lifeline, {pair_of(lower, upper), lower_nonce, upper_nonce, place});
}

namespace {

uint64_t proof_of(Word word, const Key& key) {
  word.proof = 0;
  uint64_t words[sizeof word / sizeof(uint64_t)];
  std::memcpy(words, &word, sizeof word);
  return key.proof(words, std::size(words));
}

}  // namespace

Word word_of(LifelineNews news, uint32_t from, const Key& key, std::string_view text, uint64_t nonce) {
  Word word{.magic = word_magic,
            .origin = from,
            .proof = 0,
            .nonce = nonce,
            .news = news,
            .reserved = 0,
            .bytes = static_cast<uint16_t>(std::min(text.size(), sizeof word.text)),
            .text = {}};
  text.copy(word.text, word.bytes);
  word.proof = proof_of(word, key);
  return word;
}

bool is_word(const Word& word, uint32_t ranks) {
  return word.magic == word_magic && word.origin < ranks && word.bytes <= sizeof word.text &&
         word.news >= LifelineNews::challenge && word.news <= LifelineNews::ending;
}

bool is_proved(const Word& word, const Key& key) {
  return word.news != LifelineNews::challenge && word.proof == proof_of(word, key);
}

// The hosts below host h are 2h + 1 and 2h + 2.
TreeNeighbours neighbours_of(size_t host, const std::vector<int>& first) {
  TreeNeighbours found;
  if (host > 0) found.above = first[(host - 1) / 2];
  for (size_t below = 2 * host + 1; below <= 2 * host + 2 && below < first.size(); ++below) {
    found.below.push_back(first[below]);
  }
  return found;
}

// Our attempts to reach the host above us in the tree: its addresses in turn, until one answers with a proof.
class Lifelines::Parent {
 public:
  Parent(Lifelines& owner, int rank) : owner_(owner), rank_(rank) {
    std::string bytes;
    if (!base::from_hex(owner.start_.directory.published(rank, place_key), bytes) || !place_.parse(bytes)) {
      fail_for_good({.cause = "the value that rank " + std::to_string(rank) + " published is no address to connect to",
                     .remedy = "give all ranks the same Weft library and the same WEFT_LOST_AFTER"});
    }
  }

  pollfd waits_for() const {
    return {socket_.descriptor(), static_cast<short>(stage_ == Stage::connecting ? POLLOUT : POLLIN), 0};
  }

  void go_on(bool ready) {
    if (stage_ == Stage::held) return;
    if (ready && !advance()) until_ns_ = 0;
    if (stage_ != Stage::held && base::now_ns() > until_ns_) next();
  }

 private:
  enum class Stage : uint8_t { connecting, connected, greeted, held };

  void next() {
    int error = 0;
    socket_ = connect_in_turn(place_, turn_, error);
    until_ns_ = base::now_ns() + (socket_ ? attempt_ns : pause_ns);
    stage_ = Stage::connecting;
  }
  // false: this is not what we look for.
  bool advance() {
    if (stage_ == Stage::connecting) {
      stage_ = Stage::connected;
      return error_of(socket_) == 0;
    }
    Word word;
    int error = 0;
    const Got got = take_word(socket_, word, error);
    if (got != Got::word) return got == Got::nothing;
    return stage_ == Stage::connected ? answer_challenge(word) : hear(word);
  }
  bool answer_challenge(const Word& word) {
    if (!is_word(word, static_cast<uint32_t>(owner_.start_.ranks)) || word.news != LifelineNews::challenge)
      return false;
    if (static_cast<int>(word.origin) != rank_) return false;
    const uint64_t nonce = fresh_nonce();
    key_ = line_key(owner_.secret_, static_cast<uint32_t>(owner_.start_.keeper), word.origin, nonce, word.nonce,
                    far_end(socket_));
    stage_ = Stage::greeted;
    return send_word(socket_, owner_.say(LifelineNews::hello, key_, nonce));
  }
  bool hear(const Word& word) {
    if (!owner_.understood(word, rank_, key_) || word.news != LifelineNews::hello) return false;
    if (!send_word(socket_, owner_.say(LifelineNews::confirmed, key_))) return false;
    owner_.adopt(std::move(socket_), key_, word, true);
    stage_ = Stage::held;
    return true;
  }

  Lifelines& owner_;
  int rank_;
  ListenAddresses place_;
  Socket socket_;
  Key key_;
  size_t turn_ = 0;  // of the address that is next
  Stage stage_ = Stage::connecting;
  uint64_t until_ns_ = 0;
};

Lifelines::Lifelines(Start start) : start_(std::move(start)), secret_(Key::of_secret(start_.secret)) {
  lines_.reserve(boot::HostPage::most_lines);  // they stay where they are: tell_of_end() may come in any thread
  if (keeps()) publish();
  current.store(this, std::memory_order_release);
  boot::before_end(tell_of_end);
}

Lifelines::~Lifelines() {
  boot::before_end(nullptr);
  current.store(nullptr, std::memory_order_release);
}

void Lifelines::publish() {
  ListenAddresses place;
  place.addresses = allowed_addresses();
  listeners_ = listen_at(place);
  for (const Socket& listener : listeners_) lose_after(listener, start_.lost_after);  // and all that it accepts
  start_.directory.publish(place_key, base::to_hex(place.bytes()));
}

bool Lifelines::holds(int rank) const {
  return std::any_of(lines_.begin(), lines_.end(), [&](const Lifeline& line) { return line.rank == rank; });
}

bool Lifelines::complete() const {
  const auto& [above, below] = start_.neighbours;
  return (above < 0 || holds(above)) &&
         std::all_of(below.begin(), below.end(), [this](int rank) { return holds(rank); });
}

void Lifelines::meet() {
  if (!keeps()) return;
  const uint64_t until_ns = base::now_ns() + start_ns;
  std::vector<Parent> parent;  // none for the root
  if (start_.neighbours.above >= 0) parent.emplace_back(*this, start_.neighbours.above);
  while (!complete() && base::now_ns() < until_ns && !told_of_end()) {
    std::vector<pollfd> news;
    for (Parent& one : parent) {
      one.go_on(false);
      news.push_back(one.waits_for());
    }
    for (const Socket& listener : listeners_) news.push_back({listener.descriptor(), POLLIN, 0});
    for (const Caller& caller : callers_) news.push_back({caller.socket.descriptor(), POLLIN, 0});
    (void)::poll(news.data(), news.size(), 50);
    for (Parent& one : parent) one.go_on(news[0].revents != 0);
    welcome();
  }
  listeners_.clear();
  share();
  if (complete()) return callers_.clear();
  // A caller that was answered may have confirmed that by now, and hold the connection: it is to see no end of it
  // before the job's.
  std::erase_if(callers_, [](const Caller& caller) { return caller.rank < 0; });
  warn_of_missing();
}

void Lifelines::warn_of_missing() const {
  std::string missing;
  std::vector<int> wanted = start_.neighbours.below;
  if (start_.neighbours.above >= 0) wanted.push_back(start_.neighbours.above);
  for (int rank : wanted) {
    if (!holds(rank)) missing += (missing.empty() ? "" : " and that of ") + std::to_string(rank);
  }
  base::warn({.cause = "no connection to the host of rank " + missing +
                       ", by which would be noticed that it is lost: the job goes on without",
              .remedy = "let the hosts of the job reach each other over TCP at any port; if they are to use a certain "
                        "network, name it with WEFT_NETWORKS; WEFT_LOST_AFTER=0 does without such connections"});
}

// Admits callers that prove that they are of this job. Other processes cannot keep all places: when these are full, the
// caller that has waited longest is dropped.
void Lifelines::welcome() {
  for (const Socket& listener : listeners_) {
    for (size_t i = 0; i < most_callers; ++i) {  // then those that are in are heard
      Socket socket = accept_one(listener);
      if (!socket && no_descriptor(errno) && !callers_.empty()) callers_.erase(callers_.begin());
      if (!socket) break;
      if (callers_.size() == most_callers) callers_.erase(callers_.begin());
      const uint64_t nonce = fresh_nonce();
      (void)send_word(socket, say(LifelineNews::challenge, {}, nonce));
      callers_.push_back({std::move(socket), nonce, base::now_ns() + caller_ns});
    }
  }
  std::erase_if(callers_, [&](Caller& caller) { return welcome(caller); });
}

// Whether this caller is dealt with.
bool Lifelines::welcome(Caller& caller) {
  Word word;
  int error = 0;
  const Got got = take_word(caller.socket, word, error);
  const bool answered = caller.rank >= 0;
  if (got == Got::nothing && (answered || base::now_ns() < caller.until_ns)) return false;
  if (got == Got::word && answered && understood(word, caller.rank, caller.key) &&
      word.news == LifelineNews::confirmed) {
    adopt(std::move(caller.socket), caller.key, caller.hello, false);
    return true;
  }
  // It holds the connection, and would see an end of it.
  if (got == Got::word && answered) report_changed(caller.rank, text_of(caller.hello));
  if (got == Got::word && !answered) greet(caller, word);
  // A caller that goes without a word may be a rank that has called anew.
  if (!answered && caller.rank < 0 && got != Got::end) {
    count_turned_away();
    if (strangers_++ == 0) base::warn(unproved_connection());
  }
  return answered || caller.rank < 0;
}

// Answers a hello of a host below us.
void Lifelines::greet(Caller& caller, const Word& hello) {
  const std::vector<int>& below = start_.neighbours.below;
  const auto rank = static_cast<int>(hello.origin);
  const Key key = line_key(secret_, hello.origin, static_cast<uint32_t>(start_.keeper), hello.nonce, caller.nonce,
                           near_end(caller.socket));
  if (!understood(hello, rank, key) || hello.news != LifelineNews::hello) return;
  if (std::find(below.begin(), below.end(), rank) == below.end()) return;
  caller.hello = hello;
  caller.key = key;
  if (send_word(caller.socket, say(LifelineNews::hello, key))) caller.rank = rank;
}

void Lifelines::adopt(Socket socket, const Key& key, const Word& hello, bool above) {
  const int rank = static_cast<int>(hello.origin);
  std::erase_if(lines_, [&](const Lifeline& line) { return line.rank == rank; });
  lose_after(socket, start_.lost_after);
  lines_.push_back({std::move(socket), key, rank, text_of(hello), above});
}

Word Lifelines::say(LifelineNews news, const Key& key, uint64_t nonce) const {
  return word_of(news, static_cast<uint32_t>(start_.keeper), key, news == LifelineNews::hello ? start_.host : "",
                 nonce);
}

bool Lifelines::understood(const Word& word, int rank, const Key& key) const {
  return is_word(word, static_cast<uint32_t>(start_.ranks)) && static_cast<int>(word.origin) == rank &&
         is_proved(word, key);
}

bool Lifelines::post(const Lifeline& line, LifelineNews news) const {
  return send_word(line.socket, say(news, line.key));
}

// Lets the other ranks of this host look at our lines.
void Lifelines::share() {
  for (size_t i = 0; i < boot::HostPage::most_lines; ++i) {
    boot::HeldLine& held = start_.page->lines[i];
    held.descriptor = -1;
    if (i >= lines_.size()) continue;
    const Lifeline& line = lines_[i];
    held.descriptor = line.socket.descriptor();
    held.rank = line.rank;
    held.above = line.above ? 1 : 0;
    std::copy(std::begin(line.key.words), std::end(line.key.words), held.key);
    held.host[line.host.copy(held.host, sizeof held.host - 1)] = 0;
  }
  start_.page->keeper.store(getpid(), std::memory_order_release);
}

// Copies the keeper's lines. Only a rank that waits long does so, once; where the system does not allow it, the keeper
// alone looks.
void Lifelines::borrow() {
  const int keeper = start_.page->keeper.load(std::memory_order_acquire);  // pairs with the release in share()
  if (keeper == 0 || keeps()) return;
  asked_keeper_ = true;
  keeper_ = Socket(base::open_process(keeper));
  if (!keeper_) return;
  for (const boot::HeldLine& held : start_.page->lines) {
    if (held.descriptor < 0) continue;
    Socket socket(base::descriptor_of(keeper_.descriptor(), held.descriptor));
    if (!socket) break;
    lines_.push_back({std::move(socket), {{held.key[0], held.key[1]}}, held.rank, held.host, held.above != 0});
  }
  // It says that it leaves before it closes them: as it has not, these are its lines, and not what came after under
  // their numbers.
  if (keeper_left()) lines_.clear();
}

void Lifelines::look_at_keeper() {
  pollfd end{keeper_.descriptor(), POLLIN, 0};
  if (!keeper_.is_intact() || ::poll(&end, 1, 0) <= 0) return;
  if (keeper_left()) return keeper_.close();
  wait_for_cause(launcher_first_ms);
  if (!begin_end()) end_with_others();
  keeper_.close();
  fail(start_.keeper,
       {.cause = "the first rank on host " + start_.host + " ended without MPI_Finalize; noticed by rank " +
                 std::to_string(start_.rank) + ", on the same host",
        .remedy = process_remedy});
}

void Lifelines::look() {
  if (looking_.exchange(true, std::memory_order_acquire)) return;
  if (told_of_end()) end_with_others();
  if (!asked_keeper_) borrow();
  look_at_keeper();
  for (Lifeline& line : lines_) {
    if (line.socket) line.socket.check();
    read(line);
  }
  looking_.store(false, std::memory_order_release);
}

void Lifelines::read(Lifeline& line) {
  if (!line.socket) return;
  Word word;
  int error = 0;
  switch (look_for_word(line.socket, word, error)) {
    case Got::nothing:
      return;
    case Got::end:
      return keeper_left() ? line.socket.close() : lose(line, error);
    case Got::word:
      break;
  }
  if (!understood(word, line.rank, line.key)) return lose(line, EBADMSG);
  if (word.news == LifelineNews::ending) end_with_others();
  // The keeper's stays open, for the other ranks know it by its number; the goodbye is found again.
  if (word.news == LifelineNews::goodbye && !keeps()) line.socket.close();
}

bool Lifelines::told_of_end() {
  return start_.page->ending.load(std::memory_order_relaxed) != 0;
}

// Whether we are the first on this host to end the job; the first ranks of the neighbours are told then.
bool Lifelines::begin_end() {
  uint32_t living = 0;
  return start_.page->ending.compare_exchange_strong(living, 1, std::memory_order_relaxed);
}

// Errors from here on are consequences. The launcher ends us, as a rule.
void Lifelines::end_with_others() {
  (void)begin_end();
  tell_of_end();
  sleep_ms(others_end_ms);
  base::end_job(1);
}

void Lifelines::tell_of_end() {
  Lifelines* const self = current.exchange(nullptr, std::memory_order_acq_rel);
  if (self == nullptr) return;  // told already
  (void)self->begin_end();
  for (const Lifeline& line : self->lines_) {
    if (line.socket) (void)self->post(line, LifelineNews::ending);
  }
}

// The job is at its end; returns when nobody else has said why.
void Lifelines::wait_for_cause(int milliseconds) {
  const uint64_t until_ns = base::now_ns() + static_cast<uint64_t>(milliseconds) * ms;
  while (base::now_ns() < until_ns) {
    if (told_of_end()) end_with_others();
    for (Lifeline& line : lines_) {
      Word word;
      int error = 0;
      if (!line.socket || look_for_word(line.socket, word, error) != Got::word) continue;
      if (understood(word, line.rank, line.key) && word.news == LifelineNews::ending) end_with_others();
    }
    sleep_ms(20);
  }
}

void Lifelines::lose(Lifeline& line, int error) {
  const std::string host = std::exchange(line.host, {});
  const bool process = error == 0 || error == ECONNRESET || error == EPIPE;
  line.socket.close();
  wait_for_cause(process ? launcher_first_ms : line.above ? upper_first_ms : 0);
  if (error == EBADMSG) return report_changed(line.rank, host);
  if (!begin_end()) end_with_others();
  const std::string noticed = "; noticed by rank " + std::to_string(start_.rank) + " on host " + start_.host;
  if (process) {  // which closes its connection; the kernel of a host that has waited too long for ours resets it
    const std::string reset =
        ", or has heard nothing from here for " + std::to_string(start_.lost_after) + " s: its connection was reset";
    return fail(line.rank,
                {.cause = "rank " + std::to_string(line.rank) + " on host " + host + " ended without MPI_Finalize" +
                          (error == 0 ? ": its connection was closed" : reset) + noticed,
                 .remedy = process_remedy});
  }
  const bool silent = error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH;
  const std::string why = silent ? "nothing was heard from it for " + std::to_string(start_.lost_after) + " s"
                                 : "its connection failed: " + text_of_error(error);
  fail(line.rank,
       {.cause = "host " + host + " is lost: " + why + noticed,
        .remedy = "see whether that host is up and the network between the two works; WEFT_LOST_AFTER says how "
                  "many seconds a host may be silent"});
}

void Lifelines::report_changed(int rank, const std::string& host) {
  if (!begin_end()) end_with_others();
  fail(rank, {.cause = "data were changed on their way from rank " + std::to_string(rank) + " on host " + host +
                       " to rank " + std::to_string(start_.rank) + " on host " + start_.host +
                       ", over the connection by which hosts notice that others are lost",
              .remedy = "look for a broken cable, adapter or switch between the two hosts, or for somebody who changes "
                        "what is sent"});
}

void Lifelines::say_goodbye() {
  boot::before_end(nullptr);
  current.store(nullptr, std::memory_order_release);
  if (!keeps()) return;
  start_.page->keeper.store(0, std::memory_order_release);
  for (Lifeline& line : lines_) {
    if (line.socket) (void)post(line, LifelineNews::goodbye);
    line.socket.close();
  }
  for (const Caller& caller : callers_) (void)send_word(caller.socket, say(LifelineNews::goodbye, caller.key));
  callers_.clear();
}

void wait_for_news() {
  constexpr int rounds = 20;
  for (int i = 0; i < rounds; ++i) {
    Lifelines* const self = current.load(std::memory_order_acquire);
    if (self == nullptr) return;
    self->look();
    sleep_ms(100);
  }
}

}  // namespace weft::transport::net
