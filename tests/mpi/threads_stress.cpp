// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Many threads of many ranks send each other everything, by chance from a seed: sizes, tags, communicators, blocking,
// nonblocking, persistent and partitioned; receives with and without wildcards, probes, cancels; all calls of
// completion, by the thread that issued a request or by another. Every message is checked: its bytes, that it came
// where it was sent, and that it came in order. At the end nothing is missing and nothing left.
//
// usage: threads_stress [--seconds S] [--threads T] [--seed N] [--soak] [--no-partitioned]
//   --soak runs for S seconds in turns of 20, each with a seed of its own; a turn that fails says how to repeat it.
//
// It cannot deadlock, because of three rules. A thread blocks only for what a thread of a higher number must do. The
// thread of the highest number never blocks. Every thread that does not block serves all it receives over and over.
#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "threads.hpp"

using expect::rank;
using expect::size;
using threads::Random;

namespace {

int thread_count = 4;

enum Kind {
  pair,    // names source and tag; the tag names both threads
  tagged,  // any source, the tag names the receiver
  source,  // a source, any tag, on the receiver's own communicator
  wild,    // any source, any tag, on another communicator of the receiver's
  shared,  // any source, any tag, received by all threads of a rank
  kinds
};
constexpr size_t limits[kinds] = {16 << 10, 100 << 10, 300 << 10, 1 << 20, 1 << 20};  // the largest messages
constexpr size_t depths[kinds] = {2, 2, 2, 4, 2};                                     // posted receives
constexpr int classes = 2;           // tags of one pair of threads, and of one `tagged` receiver
constexpr int spread = 32;           // tags a sender chooses from where the receiver takes any
constexpr uint32_t sync_every = 16;  // every so many messages the sender waits until the receiver has caught up
constexpr int window = 12;           // open sends of a thread

struct Head {
  uint32_t number;  // among the messages of its thread to this target; of the last one: how many there were
  uint32_t to;      // address() of the target
  uint32_t bytes;
  uint16_t rank;
  uint8_t thread;
  uint8_t last;
};
static_assert(sizeof(Head) == 16);

uint32_t address(int to, Kind kind, int receiver, int c) {
  return static_cast<uint32_t>(to << 16 | kind << 12 | receiver << 4 | c);
}
uint64_t salt_of(int from, int thread, uint32_t to, uint32_t number) {
  return Random((static_cast<uint64_t>(from * 64 + thread) << 32 | number) * 7 + to).next();
}

// Where a thread sends to.
struct Target {
  Kind kind;
  int to, receiver, c;
  uint32_t sent = 0;
  bool ended = false;
  std::atomic<bool> waiting = false;  // for a synchronous send
  Target(Kind k, int t, int r, int cl) : kind(k), to(t), receiver(r), c(cl) {}
};

struct Out {
  std::vector<unsigned char> data;
  MPI_Request request = MPI_REQUEST_NULL;
  Target* target = nullptr;
  std::atomic<int>* open = nullptr;  // its thread's count
  bool synchronous = false, persistent = false;
};

// A posted receive.
struct Slot {
  std::vector<unsigned char> data;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  bool persistent = false, cancelled = false;
  bool found = false;    // by a probe: cannot be cancelled
  bool refused = false;  // must not receive anything any more
  std::atomic<bool> lent = false, done = false, cancel = false;
};

// What a thread receives with one pattern. Receives are looked at in the order they were posted.
struct Channel {
  Kind kind;
  MPI_Comm comm;
  int source_pattern, tag_pattern;
  int receiver, c, sender;  // sender: its thread where the tag names it, else -1
  int ends_left;
  std::deque<Slot*> posted;
  std::vector<Slot*> unused;
  std::vector<uint32_t> next;  // by rank and thread
  bool over = false;
};

// Partitioned messages to the right neighbour's thread of the same number.
struct Parts {
  enum { send_parts = 8, receive_parts = 4 };
  std::vector<unsigned char> out, in;
  MPI_Request send = MPI_REQUEST_NULL, receive = MPI_REQUEST_NULL;
  uint64_t round_out = 0, round_in = 0;
  bool sending = false, receiving = false, last_out = false, send_over = false, receive_over = false;
  std::atomic<int> not_ready = 0, not_arrived = 0;
};

// Work that any thread of the rank may do.
struct Task {
  enum What { complete_receive, complete_send, ready, arrived } what;
  Slot* slot;
  Out* out;
  Parts* parts;
  int partition;
};

struct Turn {
  uint64_t seed;
  double end;
  bool with_parts;
  MPI_Comm pairs, tags, everybody, parted;
  std::vector<MPI_Comm> by_source, by_any;  // by receiver
  std::mutex box_lock;
  std::vector<Task> box;
  std::atomic<int> working;
  std::atomic<int> shared_ends;
  std::atomic<uint64_t> shared_got = 0, shared_sum = 0, shared_wanted = 0, shared_wanted_sum = 0;
  std::atomic<uint64_t> sent = 0, got = 0, bytes = 0, cancels = 0, lent = 0, partitions = 0;
  threads::Watch* watch = nullptr;
};

class Worker {
 public:
  Worker(Turn& turn, int me) : turn_(turn), me_(me), random_(turn.seed * 1009 + static_cast<uint64_t>(rank * 64 + me)) {
    for (int to = 0; to < size; ++to) {
      for (int u = 0; u < thread_count; ++u) {
        for (int c = 0; c < classes; ++c) {
          targets_.push_back(std::make_unique<Target>(pair, to, u, c));
          targets_.push_back(std::make_unique<Target>(tagged, to, u, c));
        }
        targets_.push_back(std::make_unique<Target>(source, to, u, 0));
        targets_.push_back(std::make_unique<Target>(wild, to, u, 0));
      }
      targets_.push_back(std::make_unique<Target>(shared, to, 0, 0));
      for (int t = 0; t < thread_count; ++t) {
        for (int c = 0; c < classes; ++c)
          add_channel(pair, turn.pairs, to, (t * thread_count + me) * classes + c, c, t, 1);
      }
      add_channel(source, turn.by_source[static_cast<size_t>(me)], to, MPI_ANY_TAG, 0, -1, thread_count);
    }
    for (int c = 0; c < classes; ++c) {
      add_channel(tagged, turn.tags, MPI_ANY_SOURCE, me * classes + c, c, -1, size * thread_count);
    }
    add_channel(wild, turn.by_any[static_cast<size_t>(me)], MPI_ANY_SOURCE, MPI_ANY_TAG, 0, -1, size * thread_count);
    add_channel(shared, turn.everybody, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, -1, 0);
  }

  void run() {
    if (turn_.with_parts) start_parts();
    while (!finished()) {
      const bool moved = step();
      if (!moved) sched_yield();
    }
    free_slots();
    --turn_.working;
    // The others may still need somebody for what is in the box.
    while (turn_.working > 0) {
      if (!serve_box()) sched_yield();
    }
  }

  std::string state() const { return where_.load(); }

 private:
  void add_channel(Kind kind, MPI_Comm comm, int from, int tag, int c, int sender, int ends) {
    Channel channel{kind, comm, from, tag, kind == shared ? 0 : me_, c, sender, ends, {}, {}, {}};
    channel.next.resize(static_cast<size_t>(size * thread_count));
    channels_.push_back(std::move(channel));
  }

  bool step() {
    bool moved = false;
    for (Channel& channel : channels_) moved |= serve(channel);
    moved |= send_something();
    moved |= complete_something();
    moved |= serve_box();
    if (turn_.with_parts) moved |= serve_parts();
    if (random_.one_in(50)) cancel_something();
    if (random_.one_in(500)) cancel_nothing();
    threads::random_delay(random_);
    if (expect::failures > 10) {
      fprintf(stderr, "rank %d: too many failures; seed %llu\n", rank, static_cast<unsigned long long>(turn_.seed));
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return moved;
  }

  bool finished() const {
    if (!ended_ || open_ > 0 || !mine_.empty()) return false;
    if (turn_.with_parts && !(parts_.send_over && parts_.receive_over)) return false;
    return std::all_of(channels_.begin(), channels_.end(), [](const Channel& c) { return c.over && c.posted.empty(); });
  }

  // ---- sending

  MPI_Comm comm_of(const Target& t) const {
    switch (t.kind) {
      case pair:
        return turn_.pairs;
      case tagged:
        return turn_.tags;
      case source:
        return turn_.by_source[static_cast<size_t>(t.receiver)];
      case wild:
        return turn_.by_any[static_cast<size_t>(t.receiver)];
      default:
        return turn_.everybody;
    }
  }
  int tag_of(const Target& t) {
    if (t.kind == pair) return (me_ * thread_count + t.receiver) * classes + t.c;
    if (t.kind == tagged) return t.receiver * classes + t.c;
    return me_ + thread_count * random_.below(spread);
  }
  size_t random_bytes(Kind kind) {
    const size_t least = kind == tagged || kind == shared ? sizeof(Head) : 0;
    size_t bytes;
    switch (random_.below(40)) {
      case 0:
        bytes = static_cast<size_t>(random_.below(1 << 20)) + 1;
        break;
      case 1:
      case 2:
        bytes = static_cast<size_t>(random_.below(150 << 10));
        break;
      case 3:
      case 4:
      case 5:
      case 6:
        bytes = static_cast<size_t>(random_.below(20 << 10));
        break;
      case 7:
        bytes = 0;
        break;
      default:
        bytes = static_cast<size_t>(random_.below(300));
    }
    return std::clamp(bytes, least, limits[kind]);
  }
  // May we block until somebody has received a message to there?
  bool may_block_for(const Target& t) const { return t.kind == shared ? me_ + 1 < thread_count : t.receiver > me_; }

  void write(Out& out, bool last) {
    Target& t = *out.target;
    const uint32_t to = address(t.to, t.kind, t.receiver, t.c);
    unsigned char* data = out.data.data();
    const uint64_t salt = salt_of(rank, me_, to, t.sent);
    if (out.data.size() < sizeof(Head)) {
      threads::fill(data, out.data.size(), salt);
    } else {
      const Head head{t.sent,
                      to,
                      static_cast<uint32_t>(out.data.size()),
                      static_cast<uint16_t>(rank),
                      static_cast<uint8_t>(me_),
                      static_cast<uint8_t>(last)};
      memcpy(data, &head, sizeof head);
      threads::fill(data + sizeof head, out.data.size() - sizeof head, salt);
    }
    if (!last) {
      ++t.sent;
      ++turn_.sent;
      turn_.bytes += out.data.size();
    }
  }

  bool send_something() {
    if (ended_ || open_ >= window) return false;
    const bool last = threads::now() > turn_.end;
    if (last) {
      // One after the other; then there is nothing more.
      while (ending_ < targets_.size() && targets_[ending_]->ended) ++ending_;
      if (ending_ == targets_.size()) {
        ended_ = true;
        return true;
      }
      targets_[ending_]->ended = true;
      start_send(*targets_[ending_], sizeof(Head) + static_cast<size_t>(random_.below(50)), true);
      return true;
    }
    Target& t = *targets_[static_cast<size_t>(random_.below(static_cast<int>(targets_.size())))];
    if (t.waiting) return false;
    start_send(t, random_bytes(t.kind), false);
    return true;
  }

  void start_send(Target& t, size_t bytes, bool last) {
    auto* out = new Out;
    out->data.resize(bytes);
    out->target = &t;
    out->open = &open_;
    out->synchronous = !last && (t.sent % sync_every == sync_every - 1 || random_.one_in(16));
    write(*out, last);
    const void* data = out->data.data();
    const int count = static_cast<int>(bytes), tag = tag_of(t);
    const MPI_Comm comm = comm_of(t);
    if (may_block_for(t) && random_.one_in(4)) {
      where_ = "blocking send";
      OK((out->synchronous ? MPI_Ssend : MPI_Send)(data, count, MPI_BYTE, t.to, tag, comm));
      where_ = "running";
      turn_.watch->moved();
      delete out;
      return;
    }
    if (out->synchronous) t.waiting = true;
    ++open_;
    out->persistent = !last && random_.one_in(6);
    if (out->persistent) {
      OK((out->synchronous ? MPI_Ssend_init : MPI_Send_init)(data, count, MPI_BYTE, t.to, tag, comm, &out->request));
      if (random_.one_in(2)) {
        OK(MPI_Start(&out->request));
      } else {
        OK(MPI_Startall(1, &out->request));
      }
    } else {
      OK((out->synchronous ? MPI_Issend : MPI_Isend)(data, count, MPI_BYTE, t.to, tag, comm, &out->request));
    }
    if (random_.one_in(4)) {
      ++turn_.lent;
      put({Task::complete_send, nullptr, out, nullptr, 0});
    } else {
      mine_.push_back(out);
    }
  }

  // Of whatever thread. The request is null, or persistent and inactive.
  void sent(Out* out) {
    turn_.watch->moved();
    if (out->persistent) OK(MPI_Request_free(&out->request));
    if (out->synchronous) out->target->waiting = false;
    std::atomic<int>* open = out->open;
    delete out;
    --*open;
  }
  // One of ours, which may begin anew.
  void sent_mine(Out* out) {
    Target& t = *out->target;
    const bool again = out->persistent && !t.ended && !ended_ && threads::now() < turn_.end && random_.one_in(2) &&
                       (out->synchronous || (!t.waiting && t.sent % sync_every != sync_every - 1));
    if (again) {
      turn_.watch->moved();
      write(*out, false);
      OK(MPI_Start(&out->request));
      return;
    }
    mine_.erase(std::find(mine_.begin(), mine_.end(), out));
    sent(out);
  }

  // ---- receiving

  bool serve(Channel& channel) {
    bool moved = false;
    while (!channel.posted.empty() && channel.posted.front()->done) {
      Slot* slot = channel.posted.front();
      channel.posted.pop_front();
      if (!slot->cancelled) {
        EXPECT(!slot->refused, "a receive that could not match was not cancelled; kind %d", channel.kind);
        check(channel, slot->data.data(), slot->status);
      }
      slot->done = slot->cancelled = slot->cancel = slot->lent = false;
      if (slot->found) {
        delete slot;
      } else {
        channel.unused.push_back(slot);
      }
      moved = true;
    }
    const bool all_here = channel.kind == shared ? turn_.shared_ends == 0 : channel.ends_left == 0;
    if (all_here) {
      if (!channel.over) {
        channel.over = true;
        for (Slot* slot : channel.posted) {
          // Of what all threads receive, something may have been given to this receive long ago.
          slot->refused = channel.kind != shared;
          cancel(slot);
        }
      }
      return moved;
    }
    if (channel.posted.size() >= depths[channel.kind]) return moved;
    if (random_.one_in(5)) return probe(channel) || moved;
    if (channel.posted.empty() || random_.one_in(3)) post(channel);
    return moved;
  }

  void post(Channel& channel) {
    Slot* slot;
    if (channel.unused.empty()) {
      slot = new Slot;
      slot->data.resize(limits[channel.kind]);
    } else {
      slot = channel.unused.back();
      channel.unused.pop_back();
    }
    if (!slot->persistent && random_.one_in(6)) {
      slot->persistent = true;
      OK(MPI_Recv_init(slot->data.data(), static_cast<int>(slot->data.size()), MPI_BYTE, channel.source_pattern,
                       channel.tag_pattern, channel.comm, &slot->request));
    }
    if (slot->persistent) {
      OK(MPI_Start(&slot->request));
    } else {
      OK(MPI_Irecv(slot->data.data(), static_cast<int>(slot->data.size()), MPI_BYTE, channel.source_pattern,
                   channel.tag_pattern, channel.comm, &slot->request));
    }
    channel.posted.push_back(slot);
    if (random_.one_in(5)) {
      ++turn_.lent;
      slot->lent = true;
      put({Task::complete_receive, slot, nullptr, nullptr, 0});
    }
  }

  // Receives a message that is here and that no posted receive wants. True when there was one.
  bool probe(Channel& channel) {
    MPI_Status status;
    MPI_Message message = MPI_MESSAGE_NULL;
    int flag = 0, count = 0;
    // Between Iprobe and the receive nobody else may take it.
    const bool by_message = channel.kind == shared || random_.one_in(2);
    if (by_message) {
      OK(MPI_Improbe(channel.source_pattern, channel.tag_pattern, channel.comm, &flag, &message, &status));
    } else {
      OK(MPI_Iprobe(channel.source_pattern, channel.tag_pattern, channel.comm, &flag, &status));
    }
    if (flag == 0) return false;
    MPI_Get_count(&status, MPI_BYTE, &count);
    if (count < 0 || static_cast<size_t>(count) > limits[channel.kind]) {
      EXPECT(false, "a message of %d bytes was found", count);
      return false;
    }
    auto* slot = new Slot;
    slot->found = true;
    slot->data.resize(static_cast<size_t>(count));
    where_ = "receive of a message found";
    if (by_message && random_.one_in(2)) {
      OK(MPI_Imrecv(slot->data.data(), count, MPI_BYTE, &message, &slot->request));
      if (random_.one_in(2)) OK(MPI_Wait(&slot->request, &slot->status));
    } else if (by_message) {
      OK(MPI_Mrecv(slot->data.data(), count, MPI_BYTE, &message, &slot->status));
    } else {
      OK(MPI_Recv(slot->data.data(), count, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, channel.comm, &slot->status));
    }
    where_ = "running";
    slot->done = slot->request == MPI_REQUEST_NULL;
    // All posted before it have their messages, so its place is behind them.
    channel.posted.push_back(slot);
    return true;
  }

  void check(Channel& channel, const unsigned char* data, const MPI_Status& status) {
    int count = -1;
    MPI_Get_count(&status, MPI_BYTE, &count);
    turn_.watch->moved();
    const int from = status.MPI_SOURCE, tag = status.MPI_TAG;
    const auto seed = static_cast<unsigned long long>(turn_.seed);
    const bool plausible = from >= 0 && from < size && count >= 0 &&
                           static_cast<size_t>(count) <= limits[channel.kind] &&
                           (channel.source_pattern == MPI_ANY_SOURCE || channel.source_pattern == from) &&
                           (channel.tag_pattern == MPI_ANY_TAG || channel.tag_pattern == tag);
    EXPECT(plausible, "kind %d: source %d, tag %d, %d bytes; seed %llu", channel.kind, from, tag, count, seed);
    if (!plausible) return;
    const size_t bytes = static_cast<size_t>(count);
    const uint32_t to = address(rank, channel.kind, channel.receiver, channel.c);
    Head head{};
    int thread = channel.sender >= 0 ? channel.sender : channel.kind == tagged ? -1 : tag % thread_count;
    if (bytes >= sizeof head) {
      memcpy(&head, data, sizeof head);
      const bool right = head.rank == from && (thread < 0 || head.thread == thread) && head.thread < thread_count &&
                         head.to == to && head.bytes == bytes;
      EXPECT(right,
             "kind %d, thread %d: from %d, tag %d, %zu bytes came what says: from %d, thread %d, to %x, %u bytes; "
             "seed %llu",
             channel.kind, me_, from, tag, bytes, head.rank, head.thread, head.to, head.bytes, seed);
      if (!right) return;
      thread = head.thread;
    }
    if (thread < 0) {
      EXPECT(false, "a message without a head, of %zu bytes; seed %llu", bytes, seed);
      return;
    }
    uint32_t& next = channel.next[static_cast<size_t>(from * thread_count + thread)];
    if (bytes < sizeof head) head.number = next;
    const bool in_order = channel.kind == shared ? head.number >= next : head.number == next;
    EXPECT(in_order, "kind %d, thread %d: message %u of rank %d, thread %d, tag %d came instead of %u; seed %llu",
           channel.kind, me_, head.number, from, thread, tag, next, seed);
    const size_t skip = bytes < sizeof head ? 0 : sizeof head;
    const long wrong = threads::wrong_at(data + skip, bytes - skip, salt_of(from, thread, to, head.number));
    EXPECT(wrong < 0, "kind %d, thread %d: message %u of rank %d, thread %d, %zu bytes, is wrong at %ld; seed %llu",
           channel.kind, me_, head.number, from, thread, bytes, wrong, seed);
    if (head.last != 0) {
      if (channel.kind == shared) {
        turn_.shared_wanted += head.number;
        turn_.shared_wanted_sum += static_cast<uint64_t>(head.number) * (head.number + 1) / 2;
        --turn_.shared_ends;
      } else {
        --channel.ends_left;
      }
      return;
    }
    next = head.number + 1;
    ++turn_.got;
    if (channel.kind == shared) {
      ++turn_.shared_got;
      turn_.shared_sum += head.number + 1;
    }
  }

  void cancel(Slot* slot) {
    if (slot->found || slot->cancel || slot->done) return;
    slot->cancel = true;
    if (!slot->lent) OK(MPI_Cancel(&slot->request));
  }
  void cancel_something() {
    Channel& channel = channels_[static_cast<size_t>(random_.below(static_cast<int>(channels_.size())))];
    if (channel.posted.empty()) return;
    cancel(channel.posted[static_cast<size_t>(random_.below(static_cast<int>(channel.posted.size())))]);
  }
  // A receive nobody sends to.
  void cancel_nothing() {
    MPI_Request request;
    MPI_Status status;
    int word, cancelled = 0;
    OK(MPI_Irecv(&word, 1, MPI_INT, random_.one_in(2) ? MPI_ANY_SOURCE : rank, 1 << 14, turn_.pairs, &request));
    OK(MPI_Cancel(&request));
    OK(MPI_Wait(&request, &status));
    MPI_Test_cancelled(&status, &cancelled);
    EXPECT(cancelled, "a receive that could not match was not cancelled; tag %d", status.MPI_TAG);
    ++turn_.cancels;
  }
  // Of whatever thread.
  void received(Slot* slot) {
    int cancelled = 0;
    MPI_Test_cancelled(&slot->status, &cancelled);
    slot->cancelled = cancelled != 0;
    if (slot->cancelled) ++turn_.cancels;
    turn_.watch->moved();
    slot->done = true;
  }

  // ---- completing

  // Whose request stands where in the arrays of a completion call.
  struct Ref {
    Slot* slot;
    Out* out;
  };

  bool complete_something() {
    std::vector<MPI_Request> requests;
    std::vector<Ref> refs;
    bool waits_for_higher = false;
    for (Channel& channel : channels_) {
      for (Slot* slot : channel.posted) {
        if (slot->lent || slot->done) continue;
        requests.push_back(slot->request);
        refs.push_back({slot, nullptr});
      }
    }
    for (Out* out : mine_) {
      requests.push_back(out->request);
      refs.push_back({nullptr, out});
      waits_for_higher |= may_block_for(*out->target);
    }
    if (requests.empty()) return false;
    const int count = static_cast<int>(requests.size());
    std::vector<int> indices(requests.size(), -1);
    std::vector<MPI_Status> statuses(requests.size());
    int done = 0, index = MPI_UNDEFINED, flag = 0;
    const int way = random_.below(waits_for_higher ? 10 : 6);
    switch (way) {
      case 0:
        for (int i = 0; i < count; ++i) {
          const size_t at = static_cast<size_t>(i);
          if (!random_.one_in(3)) continue;
          OK(MPI_Test(&requests[at], &flag, &statuses[static_cast<size_t>(done)]));
          if (flag != 0) indices[static_cast<size_t>(done++)] = i;
        }
        break;
      case 1:
        OK(MPI_Testany(count, requests.data(), &index, &flag, statuses.data()));
        if (flag != 0 && index != MPI_UNDEFINED) indices[static_cast<size_t>(done++)] = index;
        break;
      case 2: {  // Testall of some in a row
        const int first = random_.below(count), some = 1 + random_.below(std::min(3, count - first));
        OK(MPI_Testall(some, &requests[static_cast<size_t>(first)], &flag, statuses.data()));
        for (int i = 0; flag != 0 && i < some; ++i) indices[static_cast<size_t>(done++)] = first + i;
        break;
      }
      case 6:
        where_ = "Waitany";
        OK(MPI_Waitany(count, requests.data(), &index, statuses.data()));
        if (index != MPI_UNDEFINED) indices[static_cast<size_t>(done++)] = index;
        break;
      case 7:
        where_ = "Waitsome";
        OK(MPI_Waitsome(count, requests.data(), &done, indices.data(), statuses.data()));
        break;
      case 8:
      case 9: {  // all sends to higher threads
        std::vector<MPI_Request> some;
        for (int i = 0; i < count; ++i) {
          const Out* out = refs[static_cast<size_t>(i)].out;
          if (out == nullptr || !may_block_for(*out->target)) continue;
          indices[static_cast<size_t>(done++)] = i;
          some.push_back(requests[static_cast<size_t>(i)]);
        }
        where_ = "Waitall";
        OK(MPI_Waitall(done, some.data(), way == 8 ? MPI_STATUSES_IGNORE : statuses.data()));
        for (int i = 0; i < done; ++i) {
          requests[static_cast<size_t>(indices[static_cast<size_t>(i)])] = some[static_cast<size_t>(i)];
        }
        break;
      }
      default:
        OK(MPI_Testsome(count, requests.data(), &done, indices.data(), statuses.data()));
    }
    where_ = "running";
    if (done == MPI_UNDEFINED) done = 0;
    for (int i = 0; i < done; ++i) {
      const size_t at = static_cast<size_t>(indices[static_cast<size_t>(i)]);
      if (refs[at].slot != nullptr) {
        refs[at].slot->request = requests[at];
        refs[at].slot->status = statuses[static_cast<size_t>(i)];
        received(refs[at].slot);
      } else {
        refs[at].out->request = requests[at];
        sent_mine(refs[at].out);
      }
    }
    return done > 0;
  }

  // ---- what any thread may do

  void put(const Task& task) {
    const std::lock_guard<std::mutex> hold(turn_.box_lock);
    turn_.box.push_back(task);
  }
  bool serve_box() {
    Task task;
    {
      const std::lock_guard<std::mutex> hold(turn_.box_lock);
      if (turn_.box.empty()) return false;
      const size_t at = static_cast<size_t>(random_.below(static_cast<int>(turn_.box.size())));
      task = turn_.box[at];
      turn_.box[at] = turn_.box.back();
      turn_.box.pop_back();
    }
    int flag = 0;
    switch (task.what) {
      case Task::complete_receive:
        OK(MPI_Test(&task.slot->request, &flag, &task.slot->status));
        if (flag == 0 && task.slot->cancel) {
          OK(MPI_Cancel(&task.slot->request));
          where_ = "wait for a cancelled receive";
          OK(MPI_Wait(&task.slot->request, &task.slot->status));
          where_ = "running";
          flag = 1;
        }
        if (flag != 0) received(task.slot);
        break;
      case Task::complete_send:
        if (may_block_for(*task.out->target) && random_.one_in(8)) {
          where_ = "wait for another thread's send";
          OK(MPI_Wait(&task.out->request, MPI_STATUS_IGNORE));
          where_ = "running";
          flag = 1;
        } else {
          OK(MPI_Test(&task.out->request, &flag, MPI_STATUS_IGNORE));
        }
        if (flag != 0) sent(task.out);
        break;
      case Task::ready:
        OK(MPI_Pready(task.partition, task.parts->send));
        --task.parts->not_ready;
        flag = 1;
        break;
      case Task::arrived:
        OK(MPI_Parrived(task.parts->receive, task.partition, &flag));
        if (flag != 0) {
          check_part(*task.parts, task.partition);
          --task.parts->not_arrived;
        }
    }
    if (flag == 0) put(task);
    return flag != 0;
  }

  // ---- partitioned

  // A partition's salt; the neighbour computes the same.
  uint64_t part_salt(int from, uint64_t round) const { return turn_.seed + round * 31 + static_cast<uint64_t>(from); }

  void start_parts() {
    static constexpr size_t sizes[] = {512, 32 << 10, 320 << 10, 2048};
    const size_t bytes = sizes[me_ % 4];
    const int to = (rank + 1) % size, from = (rank + size - 1) % size;
    parts_.out.resize(bytes);
    parts_.in.resize(bytes);
    OK(MPI_Psend_init(parts_.out.data(), Parts::send_parts, static_cast<MPI_Count>(bytes / Parts::send_parts), MPI_BYTE,
                      to, me_, turn_.parted, MPI_INFO_NULL, &parts_.send));
    OK(MPI_Precv_init(parts_.in.data(), Parts::receive_parts, static_cast<MPI_Count>(bytes / Parts::receive_parts),
                      MPI_BYTE, from, me_, turn_.parted, MPI_INFO_NULL, &parts_.receive));
  }

  void check_part(const Parts& parts, int partition) {
    const size_t bytes = parts.in.size() / Parts::receive_parts, first = bytes * static_cast<size_t>(partition);
    // The first byte of all says whether it is the last round.
    const uint64_t salt = part_salt((rank + size - 1) % size, parts.round_in);
    bool right = true;
    for (size_t i = std::max<size_t>(first, 1); i < first + bytes && right; ++i) {
      right = parts.in[i] == threads::byte_at(salt, i);
    }
    EXPECT(right, "partition %d of round %llu is wrong; seed %llu", partition,
           static_cast<unsigned long long>(parts.round_in), static_cast<unsigned long long>(turn_.seed));
    ++turn_.partitions;
  }

  bool serve_parts() {
    bool moved = false;
    int flag = 0;
    if (!parts_.sending && !parts_.send_over && random_.one_in(8)) {
      parts_.last_out = threads::now() > turn_.end;
      threads::fill(parts_.out.data(), parts_.out.size(), part_salt(rank, parts_.round_out));
      parts_.out[0] = parts_.last_out;
      OK(MPI_Start(&parts_.send));
      parts_.sending = moved = true;
      parts_.not_ready = Parts::send_parts;
      const int shift = random_.below(Parts::send_parts);
      for (int i = 0; i < Parts::send_parts; ++i) {
        put({Task::ready, nullptr, nullptr, &parts_, (i * 3 + shift) % Parts::send_parts});
      }
    } else if (parts_.sending && parts_.not_ready == 0) {
      OK(MPI_Test(&parts_.send, &flag, MPI_STATUS_IGNORE));
      if (flag != 0) {
        parts_.sending = false;
        ++parts_.round_out;
        moved = true;
        if (parts_.last_out) {
          parts_.send_over = true;
          OK(MPI_Request_free(&parts_.send));
        }
      }
    }
    if (!parts_.receiving && !parts_.receive_over) {
      OK(MPI_Start(&parts_.receive));
      parts_.receiving = moved = true;
      parts_.not_arrived = Parts::receive_parts;
      for (int i = 0; i < Parts::receive_parts; ++i) put({Task::arrived, nullptr, nullptr, &parts_, i});
    } else if (parts_.receiving && parts_.not_arrived == 0) {
      OK(MPI_Test(&parts_.receive, &flag, MPI_STATUS_IGNORE));
      if (flag != 0) {
        parts_.receiving = false;
        ++parts_.round_in;
        moved = true;
        turn_.watch->moved();
        if (parts_.in[0] != 0) {
          parts_.receive_over = true;
          OK(MPI_Request_free(&parts_.receive));
        }
      }
    }
    return moved;
  }

  void free_slots() {
    for (Channel& channel : channels_) {
      for (Slot* slot : channel.unused) {
        if (slot->request != MPI_REQUEST_NULL) OK(MPI_Request_free(&slot->request));
        delete slot;
      }
    }
  }

  Turn& turn_;
  const int me_;
  Random random_;
  std::vector<std::unique_ptr<Target>> targets_;
  std::deque<Channel> channels_;
  std::vector<Out*> mine_;
  std::atomic<int> open_ = 0;
  size_t ending_ = 0;
  bool ended_ = false;
  Parts parts_;
  std::atomic<const char*> where_ = "running";
};

void expect_nothing_left(MPI_Comm& comm, uint64_t seed) {
  int flag = 0;
  MPI_Status status;
  OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &status));
  EXPECT(!flag, "a message of %d, tag %d, was left; seed %llu", status.MPI_SOURCE, status.MPI_TAG,
         static_cast<unsigned long long>(seed));
  MPI_Comm_free(&comm);
}

void run_turn(uint64_t seed, double seconds, bool with_parts, bool talk) {
  Turn turn;
  turn.seed = seed;
  turn.with_parts = with_parts;
  turn.working = thread_count;
  turn.shared_ends = size * thread_count;
  for (MPI_Comm* comm : {&turn.pairs, &turn.tags, &turn.everybody, &turn.parted}) MPI_Comm_dup(MPI_COMM_WORLD, comm);
  for (int i = 0; i < thread_count; ++i) {
    turn.by_source.emplace_back();
    MPI_Comm_dup(MPI_COMM_WORLD, &turn.by_source.back());
    turn.by_any.emplace_back();
    MPI_Comm_dup(MPI_COMM_WORLD, &turn.by_any.back());
  }
  std::vector<std::unique_ptr<Worker>> workers;
  for (int i = 0; i < thread_count; ++i) workers.push_back(std::make_unique<Worker>(turn, i));
  {
    threads::Watch watch(60, [&] {
      std::string text = "seed " + std::to_string(seed) + ":";
      for (const auto& worker : workers) text += " " + worker->state() + ",";
      return text + " still working: " + std::to_string(turn.working);
    });
    turn.watch = &watch;
    turn.end = threads::now() + seconds;
    std::vector<std::thread> running;
    for (const auto& worker : workers) running.emplace_back([&worker] { worker->run(); });
    for (std::thread& t : running) t.join();
    watch.moved();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  EXPECT(turn.box.empty(), "%zu tasks were left", turn.box.size());
  EXPECT(turn.shared_got == turn.shared_wanted && turn.shared_sum == turn.shared_wanted_sum,
         "all threads together got %llu messages of %llu; seed %llu", static_cast<unsigned long long>(turn.shared_got),
         static_cast<unsigned long long>(turn.shared_wanted), static_cast<unsigned long long>(seed));
  uint64_t mine[6] = {turn.sent, turn.got, turn.bytes, turn.cancels, turn.lent, turn.partitions}, all[6];
  MPI_Allreduce(mine, all, 6, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  EXPECT(all[0] == all[1], "%llu messages were sent, %llu came; seed %llu", static_cast<unsigned long long>(all[0]),
         static_cast<unsigned long long>(all[1]), static_cast<unsigned long long>(seed));
  for (MPI_Comm* comm : {&turn.pairs, &turn.tags, &turn.everybody}) expect_nothing_left(*comm, seed);
  for (MPI_Comm& comm : turn.by_source) expect_nothing_left(comm, seed);
  for (MPI_Comm& comm : turn.by_any) expect_nothing_left(comm, seed);
  MPI_Comm_free(&turn.parted);
  if (talk) {
    printf(
        "seed %llu: %llu messages, %.1f MB, %llu cancels, %llu requests completed by another thread, %llu partitions\n",
        static_cast<unsigned long long>(seed), static_cast<unsigned long long>(all[0]),
        static_cast<double>(all[2]) * 1e-6, static_cast<unsigned long long>(all[3]),
        static_cast<unsigned long long>(all[4]), static_cast<unsigned long long>(all[5]));
    fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  threads::start(&argc, &argv);
  double seconds = 4;
  uint64_t seed = 0;
  bool soak = false, with_parts = true;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "0";
    if (option == "--soak") {
      soak = true;
    } else if (option == "--no-partitioned") {
      with_parts = false;
    } else if (option == "--seconds") {
      seconds = strtod(value, nullptr), ++i;
    } else if (option == "--threads") {
      thread_count = std::clamp(atoi(value), 1, 32), ++i;
    } else if (option == "--seed") {
      seed = strtoull(value, nullptr, 10), ++i;
    } else {
      fprintf(stderr, "threads_stress: what is %s?\n", argv[i]);
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
  }
  if (seed == 0) seed = static_cast<uint64_t>(threads::now() * 1e6) % 1000000007;
  MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  seconds *= threads::scale();
  const double begin = threads::now();
  for (;;) {
    const double left = seconds - (threads::now() - begin);
    if (rank == 0) {
      printf("threads_stress --seconds %.0f --threads %d --seed %llu%s, on %d ranks\n", soak ? 20 : seconds,
             thread_count, static_cast<unsigned long long>(seed), with_parts ? "" : " --no-partitioned", size);
      fflush(stdout);
    }
    run_turn(seed, soak ? std::min(20.0, std::max(left, 1.0)) : seconds, with_parts, rank == 0);
    int state[2] = {expect::failures > 0, threads::now() - begin > seconds}, all[2];
    MPI_Allreduce(state, all, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (all[0] != 0 && rank == 0) fprintf(stderr, "failed with seed %llu\n", static_cast<unsigned long long>(seed));
    if (!soak || all[0] != 0 || all[1] != 0) break;
    ++seed;
  }
  return expect::finish();
}
