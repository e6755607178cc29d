// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Two real ranks of a job of 700 000, a process each: they duplicate the communicator of all ranks, make a window over
// the duplicate, and one of them puts a word into the other's part. The test measures the memory that this takes.
//
// The test plays all other ranks. In an agreement a rank exchanges votes with 40 others. The transport of this test
// gives it exactly the votes that real ranks would send. It also plays the other ranks of a host, which swap the parts
// of the window with the real rank. The memory of the transports between hosts is not measured.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "coll/agree/agree.hpp"
#include "core/message/handler.hpp"
#include "core/message/path.hpp"
#include "core/object/identity.hpp"
#include "core/peer/peer.hpp"
#include "core/protocol/p2p.hpp"
#include "core/protocol/wire.hpp"
#include "core/rma/create.hpp"
#include "core/rma/window.hpp"
#include "core/runtime/world.hpp"

namespace weft {
namespace {

using coll::Founders;
using coll::Vote;
using core::Comm;
using core::identity;
using core::peers;
using core::world;
using core::rma::Window;
using core::rma::WindowPart;
using transport::Envelope;
using transport::Post;

constexpr int32_t many = 700000;
constexpr int32_t on_a_host = 32;
constexpr int32_t origin = 0;
constexpr int32_t target = 1 << 19;  // the origin sends to it in the last round of an agreement
constexpr int32_t window_bytes = 64;
[[maybe_unused]] constexpr size_t limit_kib = 1024;  // for the duplicate and the window of a rank

int32_t turned(int32_t rank) {
  return (rank % many + many) % many;
}

// ---- The ranks that are played

// The agreements of the job, in order.
enum class Agreement : uint8_t { duplicate, window, generation, outcome };

// The outcome: no error, and the first rank that has memory in the window.
constexpr uint64_t no_errors = uint64_t{1} << 32;

uint64_t offer_of(int32_t rank, Agreement agreement) {
  const auto own = static_cast<uint32_t>(rank);
  constexpr uint32_t first = core::ContextNumbers::first_shared;
  switch (agreement) {
    case Agreement::duplicate:
      return uint64_t{first + own} << 32 | own;
    case Agreement::window:  // the duplicate has the number of rank 0
      return uint64_t{first + own + (rank == 0 ? many : 0)} << 32 | own;
    case Agreement::generation:
      return ~uint64_t{1};
    case Agreement::outcome:
      return no_errors + own;
  }
  return 0;
}

// The vote of a rank that has heard of so many ranks, itself the last of them. Offers rise from rank to rank, but for
// that of rank 0.
Vote vote_of(int32_t rank, int32_t heard, Agreement agreement) {
  const int32_t first = turned(rank - heard + 1);
  uint64_t smallest = offer_of(first, agreement);
  for (int32_t r : {0, 1}) {
    if (turned(r - first) < heard) smallest = std::min(smallest, offer_of(r, agreement));
  }
  return {smallest, 0};
}

// The part of a played rank of this host. Its memory cannot be mapped.
WindowPart part_of(int32_t rank) {
  const core::MemoryRef nowhere{0, core::MemoryRef::no_key};
  return {.memory = nowhere,
          .control = nowhere,
          .bytes = window_bytes,
          .unit = 1,
          .holder = rank,
          .error = core::no_error,
          .generation = 1,
          .fences = 0};
}

// ---- The transport: a socket to the other real rank, and a stage for the played ones

struct Packet {
  uint8_t kind = 0;
  uint32_t bytes = 0;
  Envelope envelope{};
  alignas(16) unsigned char data[on_a_host / 2 * sizeof(WindowPart)];

  [[nodiscard]] size_t size() const { return offsetof(Packet, data) + bytes; }
};

class Stage;

class Way final : public transport::Endpoint {
 public:
  Way(Stage& stage, int32_t to) : stage_(stage), to_(to) {}

  transport::LaneMap lanes() const override { return {}; }
  Post send(uint8_t kind, Envelope envelope, const void* data, uint32_t bytes) override;
  Post send_staged(uint8_t kind, Envelope envelope, const void* data, uint32_t bytes, const transport::Staging& staging,
                   size_t staged) override;
  std::optional<const void*> staging(const transport::Arrival& /*arrival*/, uint64_t /*handle*/,
                                     size_t /*bytes*/) override {
    return nullptr;
  }
  void release_staging(uint64_t /*handle*/, size_t /*bytes*/) override {}

 private:
  Stage& stage_;
  int32_t to_;
};

class Stage final : public transport::Transport {
 public:
  Stage(int32_t rank, int32_t other, int socket) : rank_(rank), other_(other), socket_(socket) {
    capabilities_ = {.staging_most = 4096};
  }

  const char* name() const override { return "stage"; }
  bool reaches(int rank) const override { return rank != rank_; }
  transport::Endpoint* connect(int rank) override {
    return ways_.emplace_back(std::make_unique<Way>(*this, rank)).get();
  }
  int poll(uint32_t /*lane*/, transport::Sink sink) override {
    Packet packet;
    if (next_ != count_) {
      packet = played_[next_++ % played_.size()];
    } else {
      const ssize_t got = recv(socket_, &packet, sizeof packet, MSG_DONTWAIT);
      if (got < 0) return 0;
      if (got == 0) other_ended();
    }
    sink({packet.kind, packet.envelope, packet.data, packet.bytes});
    return 1;
  }
  void drain(uint32_t lane, transport::Sink sink) override {
    while (poll(lane, sink) != 0) {
    }
  }
  bool looks_empty(uint32_t /*lane*/) const override {
    char first = 0;
    return next_ == count_ && recv(socket_, &first, 1, MSG_DONTWAIT | MSG_PEEK) < 0;
  }
  transport::Staging reserve_staging(size_t bytes) override {
    auto* memory = new char[bytes];
    return {memory, reinterpret_cast<uint64_t>(memory)};
  }
  void drop_staging(const transport::Staging& staging, size_t /*bytes*/) override {
    delete[] static_cast<char*>(staging.memory);
  }
  bool may_sleep() override { return false; }

  Post send(int32_t to, uint8_t kind, const Envelope& envelope, const void* data, uint32_t bytes) {
    if (to == other_) {
      Packet packet{.kind = kind, .bytes = bytes, .envelope = envelope};
      if (bytes > sizeof packet.data) ADD_FAILURE() << "a message of " << bytes << " bytes";
      std::memcpy(packet.data, data, bytes);
      if (::send(socket_, &packet, packet.size(), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
        if (errno != EAGAIN) other_ended();
        return Post::retry;
      }
    }
    sent(to, envelope, bytes);
    return Post::done;
  }

  // A message of this length went to a rank: plays the one that sends to us in the same round.
  void sent(int32_t to, const Envelope& envelope, size_t bytes) {
    if (envelope.tag != static_cast<int32_t>(coll::Tag::creation) || !core::is_internal(envelope)) return;
    if (bytes == sizeof(Vote)) {
      const int32_t distance = turned(to - rank_);
      if (distance == 1) ++agreements_;
      const int32_t from = turned(rank_ - distance);
      const Vote vote = vote_of(from, distance, static_cast<Agreement>(agreements_ - 1));
      if (from != other_) play(from, envelope, &vote, sizeof vote);
    } else {
      const auto count = static_cast<int32_t>(bytes / sizeof(WindowPart));  // distance and number of parts are the same
      const int32_t first = rank_ - rank_ % on_a_host;
      std::vector<WindowPart> parts;
      for (int32_t i = 0; i < count; ++i) parts.push_back(part_of(first + (rank_ + count + i) % on_a_host));
      play(parts[0].holder, envelope, parts.data(), bytes);
    }
  }
  int agreements() const { return agreements_; }

 private:
  void play(int32_t from, const Envelope& envelope, const void* data, size_t bytes) {
    Packet& packet = played_[count_++ % played_.size()];
    packet.kind = core::wire::eager;
    packet.bytes = static_cast<uint32_t>(bytes);
    packet.envelope = {envelope.context, from, envelope.tag, 0};
    std::memcpy(packet.data, data, bytes);
  }
  [[noreturn]] void other_ended() const {
    std::fprintf(stderr, "rank %d: the other real rank has ended\n", rank_);
    _exit(1);
  }

  int32_t rank_;
  int32_t other_;
  int socket_;
  int agreements_ = 0;
  size_t next_ = 0;  // both count up
  size_t count_ = 0;
  std::array<Packet, 4> played_{};
  std::vector<std::unique_ptr<Way>> ways_;
};

Post Way::send(uint8_t kind, Envelope envelope, const void* data, uint32_t bytes) {
  return stage_.send(to_, kind, envelope, data, bytes);
}

// To a played rank, which does not read the memory.
Post Way::send_staged(uint8_t /*kind*/, Envelope envelope, const void* /*data*/, uint32_t /*bytes*/,
                      const transport::Staging& staging, size_t staged) {
  EXPECT_FALSE(to_ == origin || to_ == target);
  stage_.drop_staging(staging, staged);
  stage_.sent(to_, envelope, staged);
  return Post::done;
}

// ---- Memory

// Memory of this process, in KiB.
struct Held {
  size_t resident = 0;   // pages that are its own: anonymous or shared memory, not those of files
  size_t allocated = 0;  // by malloc()
};

Held operator-(const Held& a, const Held& b) {
  return {a.resident - b.resident, a.allocated - b.allocated};
}

Held held() {
  char text[4096] = "";  // a stream would allocate
  const int file = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
  const ssize_t bytes = read(file, text, sizeof text - 1);
  close(file);
  EXPECT_GT(bytes, 0);
  Held now;
  for (const char* name : {"\nAnonymous:", "\nPss_Shmem:", "\nSwap:"}) {
    const char* line = std::strstr(text, name);
    EXPECT_NE(line, nullptr) << name;
    if (line != nullptr) now.resident += std::strtoull(line + std::strlen(name), nullptr, 10);
  }
  const struct mallinfo2 heap = mallinfo2();
  now.allocated = (heap.uordblks + heap.hblkhd) / 1024;
  return now;
}

// ---- A real rank

struct Figures {
  Held world;
  Held duplicate;
  Held window;
  Held put;
};

std::vector<int32_t> ranks_of_host(int32_t rank) {
  std::vector<int32_t> ranks(on_a_host);
  std::iota(ranks.begin(), ranks.end(), rank - rank % on_a_host);
  return ranks;
}

void open_world(int32_t rank, Stage& stage) {
  identity->job.here = ranks_of_host(rank);
  identity->job.local_ranks = on_a_host;
  world->open({.rank = rank,
               .size = many,
               .mailbox_limit = transport::mailbox_limit(many),
               .spin_rounds = 10,
               .yield_rounds = 1U << 30});
  const int segment = memfd_create("segment", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(segment, static_cast<off_t>(transport::segment_bytes(on_a_host))), 0);
  peers->transports.add(&stage);  // before the host's own: it plays the other ranks of the host too
  peers->transports.open({.rank = rank,
                          .ranks = many,
                          .place = identity->place_here(),
                          .places = on_a_host,
                          .place_of = [](int r) { return identity->job.place_here(r); },
                          .segment = segment,
                          .lanes = {},
                          .own_sink = core::on_counted_arrival,
                          .watched = 0});
}

// Duplicates as MPI_Comm_dup does.
Comm* duplicate(Comm& parent) {
  uint32_t context = 0;
  EXPECT_EQ(coll::agree_on_context(coll::founders_of(parent), context), core::no_error);
  auto* comm = base::make_object<Comm>();
  ++parent.group->references;
  core::describe_comm(*comm, context, parent.group);
  return comm;
}
void destroy(Comm* comm) {
  --comm->group->references;
  core::release_context(comm->context);
  base::destroy_object(comm);
}

// Makes a window as MPI_Win_allocate does: src/mpi/win/create.cpp.
Window* make_window(Comm& parent) {
  auto* window = base::make_object<Window>();
  window->comm = duplicate(parent);
  window->bytes = window_bytes;
  WindowPart part{};
  core::rma::prepare(*window, core::rma::Flavor::allocate, part);
  EXPECT_EQ(part.error, core::no_error);
  const std::vector<int32_t> here = ranks_of_host(window->rank);
  std::vector<WindowPart> parts(here.size());
  Founders team = coll::founders_of(*window->comm);
  team.size = on_a_host;
  team.place = identity->place_here();
  team.ranks = here.data();
  EXPECT_EQ(coll::gather_all(team, &part, sizeof part, parts.data()), core::no_error);
  for (size_t i = 0; i < here.size(); ++i) EXPECT_EQ(parts[i].holder, here[i]);
  Vote generation{~uint64_t{part.generation}, 0};
  EXPECT_EQ(coll::agree(coll::founders_of(*window->comm), generation), core::no_error);
  core::rma::open(*window, here, parts, static_cast<uint32_t>(~generation.offer));
  Vote outcome{no_errors + static_cast<uint64_t>(window->rank), 0};
  EXPECT_EQ(coll::agree(coll::founders_of(*window->comm), outcome), core::no_error);
  EXPECT_EQ(outcome.offer, no_errors);  // rank 0 is the first with memory
  return window;
}

// Messages of one byte between the real ranks.
void tell(Comm& comm, int32_t rank) {
  const char news = 1;
  EXPECT_EQ(core::send(comm, comm.context, &news, 1, coll::byte_type, rank, 1), core::no_error);
}
void hear(Comm& comm, int32_t rank) {
  char news = 0;
  EXPECT_EQ(core::receive(comm, comm.context, &news, 1, coll::byte_type, rank, 1), core::no_error);
  EXPECT_EQ(news, 1);
}

void put_word(Window& window, uint64_t value) {
  ASSERT_EQ(core::rma::lock(window, target, core::rma::LockState::shared, true), core::no_error);
  ASSERT_EQ(core::rma::put(window, {&value, 8, &coll::byte_type, 8}, {{8, 8, &coll::byte_type}, target}, nullptr),
            core::no_error);
  ASSERT_EQ(core::rma::unlock(window, target), core::no_error);
}

void run_rank(int32_t rank, int32_t other, int socket, Figures& figures) {
  constexpr uint64_t value = 0x0123456789abcdef;
  auto* stage = new Stage(rank, other, socket);
  const Held before = held();
  open_world(rank, *stage);
  core::Group group;
  group.size = many;
  group.rank = rank;
  group.hosts = core::find_hosts(rank, many, [](int32_t r) { return r / on_a_host; });
  Comm all;
  core::describe_comm(all, 0, &group);
  const Held opened = held();
  figures.world = opened - before;

  Comm* twin = duplicate(all);
  figures.duplicate = held() - opened;
  EXPECT_EQ(twin->context, 2 * core::ContextNumbers::first_shared);
  EXPECT_EQ(twin->hosts, all.hosts);
  Window* window = make_window(*twin);
  figures.window = held() - opened;
  EXPECT_EQ(window->comm->context, twin->context + 2);
  EXPECT_EQ(window->generation, 1U);
  EXPECT_EQ(stage->agreements(), 4);

  if (rank == origin) {
    hear(*twin, target);  // its window is open: the agreements with played ranks do not tell
    put_word(*window, value);
    tell(*twin, target);
  } else {
    tell(*twin, origin);
    hear(*twin, origin);
    uint64_t there = 0;
    std::memcpy(&there, window->base + 8, sizeof there);
    EXPECT_EQ(there, value);
  }
  figures.put = held() - opened;

  Comm* windows_own = window->comm;
  core::rma::close(*window);
  base::destroy_object(window);
  destroy(windows_own);
  destroy(twin);
  EXPECT_EQ(group.references, 1);
  tell(all, other);
  hear(all, other);
  world->close();
  peers->transports.close();
}

void report(const char* what, const Held& origins, const Held& targets) {
  std::printf("%-32s %6zu (%zu) %13zu (%zu)\n", what, origins.resident, origins.allocated, targets.resident,
              targets.allocated);
}

TEST(TwoRanksOfManyThousands, DuplicateTheWorldAndMakeAWindowWithinOneMebibyte) {
  constexpr int32_t ranks[] = {origin, target};
  int sockets[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets), 0);
  void* shared = mmap(nullptr, 2 * sizeof(Figures), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto* figures = new (shared) Figures[2];
  pid_t children[2];
  for (int i = 0; i < 2; ++i) {
    children[i] = fork();
    ASSERT_GE(children[i], 0);
    if (children[i] != 0) continue;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(sockets[1 - i]);
    run_rank(ranks[i], ranks[1 - i], sockets[i], figures[i]);
    (void)std::fflush(nullptr);
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  for (const int socket : sockets) close(socket);
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  std::printf("KiB resident (by malloc)         rank %d       rank %d\n", origin, target);
  report("world, with the hosts of all", figures[0].world, figures[1].world);
  report("a duplicate", figures[0].duplicate, figures[1].duplicate);
  report("and a window", figures[0].window, figures[1].window);
  report("and a put between the two", figures[0].put, figures[1].put);
#if !defined(WEFT_ASAN) && !defined(WEFT_TSAN)  // these have memory of their own for all that we touch
  for (int i = 0; i < 2; ++i) {
    EXPECT_GT(figures[i].window.resident, 0U);
    EXPECT_LT(figures[i].put.resident, limit_kib);
    EXPECT_LT(figures[i].put.allocated, limit_kib);
  }
#endif
  EXPECT_EQ(munmap(shared, 2 * sizeof(Figures)), 0);
}

}  // namespace
}  // namespace weft
