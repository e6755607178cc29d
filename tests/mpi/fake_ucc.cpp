// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A library that stands for UCC on one host, with the functions that Weft uses, as few systems have UCC: barriers,
// bcasts and allreduces over memory that the members of a team share. Members tell each other of that memory by the
// exchange that the user gives, in two rounds, and then use it together. All goes on in calls of ucc_context_progress
// and ucc_team_create_test alone. FAKE_UCC has it fail: old (version 1.4), library (ucc_init), context=P, begin=P,
// `meet=P` (teams of the member at place P, before and after the exchanges), post=N and run=N (the operation behind N
// ones of a team, of the member at place 1), stall=N (that operation never ends there).
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "transport/ucc/abi.hpp"

namespace abi = weft::transport::ucc::abi;
using abi::Status;

namespace {

// The number that FAKE_UCC gives to a fault, or -1.
int64_t fault(std::string_view name) {
  const char* const set = std::getenv("FAKE_UCC");
  const std::string_view text = set == nullptr ? "" : set;
  if (text == name) return 0;
  if (!text.starts_with(name) || text.substr(name.size(), 1) != "=") return -1;
  return std::atoll(text.data() + name.size() + 1);
}

[[noreturn]] void wrong(const char* text) {
  std::fprintf(stderr, "fake ucc: %s\n", text);
  std::abort();
}

constexpr size_t members_most = 16;
constexpr size_t piece_bytes = 4096;

// Memory that a team shares. Members count themselves in and out of each turn; nobody comes to a turn before all have
// left the last.
struct Shared {
  std::atomic<uint64_t> came;
  std::atomic<uint64_t> left;
  unsigned char data[members_most][piece_bytes];
};

struct Name {
  int32_t pid;
  int32_t file;
};

}  // namespace

namespace weft::transport::ucc::abi {

struct Library {};
struct LibraryConfig {};
struct ContextConfig {};
struct Context {
  std::vector<Team*> teams;
};

}  // namespace weft::transport::ucc::abi

namespace {

struct Operation : abi::CollectiveRequest {
  abi::Team* team = nullptr;
  abi::Arguments arguments{};
  size_t moved = 0;
  bool posted = false;
};

template <class T>
void combine(abi::ReductionOp op, const T* in, T* inout, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const T a = in[i];
    T& b = inout[i];
    using abi::ReductionOp;
    if (op == ReductionOp::sum) b = static_cast<T>(a + b);
    if (op == ReductionOp::prod) b = static_cast<T>(a * b);
    if (op == ReductionOp::max) b = a > b ? a : b;
    if (op == ReductionOp::min) b = a < b ? a : b;
    if (op == ReductionOp::land) b = static_cast<T>(a != 0 && b != 0);
    if (op == ReductionOp::lor) b = static_cast<T>(a != 0 || b != 0);
    if (op == ReductionOp::lxor) b = static_cast<T>((a != 0) != (b != 0));
    if constexpr (!std::is_floating_point_v<T>) {
      if (op == ReductionOp::band) b = static_cast<T>(a & b);
      if (op == ReductionOp::bor) b = static_cast<T>(a | b);
      if (op == ReductionOp::bxor) b = static_cast<T>(a ^ b);
    }
  }
}

struct TypeRow {
  abi::Type type;
  size_t size;
  void (*combine)(abi::ReductionOp op, const void* in, void* inout, size_t count);
};
template <class T>
constexpr TypeRow row_of(abi::Type type) {
  return {type, sizeof(T), [](abi::ReductionOp op, const void* in, void* inout, size_t count) {
            combine(op, static_cast<const T*>(in), static_cast<T*>(inout), count);
          }};
}
constexpr TypeRow types[] = {row_of<int8_t>(abi::int8),     row_of<int16_t>(abi::int16),
                             row_of<int32_t>(abi::int32),   row_of<int64_t>(abi::int64),
                             row_of<uint8_t>(abi::uint8),   row_of<uint16_t>(abi::uint16),
                             row_of<uint32_t>(abi::uint32), row_of<uint64_t>(abi::uint64),
                             row_of<float>(abi::float32),   row_of<double>(abi::float64)};
const TypeRow& row_of_type(abi::Type type) {
  for (const TypeRow& row : types) {
    if (row.type == type) return row;
  }
  wrong("a type that it does not have");
}

}  // namespace

struct weft::transport::ucc::abi::Team {
  enum class Stage { begin, names, meet, made };

  Context* context;
  OutOfBand exchange;
  size_t members;
  size_t place;
  Stage stage = Stage::begin;
  void* request = nullptr;
  int file = -1;
  Name mine{};
  Name all[members_most] = {};
  Shared* shared = nullptr;
  uint64_t turns = 0;  // ours: those that have begun
  bool in = false;     // counted in
  Operation* current = nullptr;
  int64_t operations = 0;

  // True: all have come to our turn, with data.
  template <class Write>
  bool come(Write&& write) {
    if (!in) {
      if (shared->left.load() != turns * members) return false;
      write();
      shared->came.fetch_add(1);
      in = true;
    }
    return shared->came.load() == (turns + 1) * members;
  }
  void go() {
    shared->left.fetch_add(1);
    ++turns;
    in = false;
  }

  Status begin() {
    if (fault("begin") == static_cast<int64_t>(place)) return abi::no_message;
    if (place == 0) {
      file = memfd_create("fake ucc", 0);
      if (file < 0 || ftruncate(file, sizeof(Shared)) != 0) return abi::no_memory;
    }
    mine = {getpid(), file};
    stage = Stage::names;
    return exchange.allgather(&mine, all, sizeof mine, exchange.info, &request);
  }

  Status map() {
    const std::string path = "/proc/" + std::to_string(all[0].pid) + "/fd/" + std::to_string(all[0].file);
    const int opened = place == 0 ? file : open(path.c_str(), O_RDWR);
    if (opened < 0) return abi::no_message;
    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
    if (opened != file) close(opened);
    if (memory == MAP_FAILED) return abi::no_memory;
    shared = static_cast<Shared*>(memory);
    stage = Stage::meet;
    return exchange.allgather(&mine, all, sizeof mine, exchange.info, &request);
  }

  Status exchanged() {
    const Status status = exchange.test(request);
    if (status == abi::ok) (void)exchange.free(std::exchange(request, nullptr));
    return status;
  }

  // The last exchange is over for all when all have counted themselves in.
  Status create() {
    if (request != nullptr) {
      const Status status = exchanged();
      if (status != abi::ok) return status;
    }
    Status started = abi::ok;
    if (stage == Stage::begin)
      started = begin();
    else if (stage == Stage::names)
      started = map();
    else if (stage == Stage::meet) {
      if (fault("meet") == static_cast<int64_t>(place)) return abi::no_message;
      if (!come([] {})) return abi::in_progress;
      go();
      stage = Stage::made;
    }
    if (started != abi::ok) return started;
    return stage == Stage::made ? abi::ok : abi::in_progress;
  }

  void progress() {
    if (current == nullptr || current->status != abi::in_progress) return;
    if (place == 1 && fault("stall") == operations - 1) return;
    if (place == 1 && fault("run") == operations - 1) {
      current->status = abi::no_message;
      return;
    }
    Operation& operation = *current;
    const abi::Arguments& a = operation.arguments;
    const bool reduces = a.collective == abi::CollectiveType::allreduce;
    const bool is_root = a.collective == abi::CollectiveType::bcast && a.root == place;
    const size_t size = a.collective == abi::CollectiveType::barrier ? 1 : row_of_type(a.from.type).size;
    const size_t bytes = a.from.count * size;
    const size_t piece = std::min(bytes - operation.moved, piece_bytes);
    auto* from = static_cast<unsigned char*>(a.from.data) + operation.moved;
    const auto write = [&] {
      if (piece > 0 && (reduces || is_root)) std::memcpy(shared->data[place], from, piece);
    };
    if (!come(write)) return;
    if (reduces && piece > 0) {
      auto* to = static_cast<unsigned char*>(a.to.data) + operation.moved;
      std::memcpy(to, shared->data[0], piece);
      for (size_t m = 1; m < members; ++m)
        row_of_type(a.from.type).combine(a.reduction, shared->data[m], to, piece / size);
    } else if (piece > 0 && !is_root) {
      std::memcpy(from, shared->data[a.root], piece);
    }
    operation.moved += piece;
    go();
    if (operation.moved == bytes) operation.status = abi::ok;
  }

  ~Team() {
    if (shared != nullptr) munmap(shared, sizeof(Shared));
    if (file >= 0) close(file);
  }
};

extern "C" {

void ucc_get_version(unsigned* major, unsigned* minor, unsigned* release) {
  *major = 1;
  *minor = fault("old") == 0 ? 4 : 5;
  *release = 0;
}

const char* ucc_get_version_string() {
  return fault("old") == 0 ? "1.4.0" : "1.5.0 (not UCC: a library for tests)";
}

const char* ucc_status_string(Status status) {
  return status == abi::no_message ? "a fault of a test" : "an error";
}

Status ucc_lib_config_read(const char* /*prefix*/, const char* /*file*/, abi::LibraryConfig** config) {
  *config = new abi::LibraryConfig();
  return abi::ok;
}

void ucc_lib_config_release(abi::LibraryConfig* config) {
  delete config;
}

Status ucc_init_version(unsigned major, unsigned minor, const abi::LibraryParams* params,
                        const abi::LibraryConfig* /*config*/, abi::Library** library) {
  if (major != 1 || minor < 5 || params->mask != abi::LibraryParams::has_threads) wrong("ucc_init");
  if (fault("library") == 0) return abi::no_message;
  *library = new abi::Library();
  return abi::ok;
}

Status ucc_context_config_read(abi::Library* /*library*/, const char* /*file*/, abi::ContextConfig** config) {
  *config = new abi::ContextConfig();
  return abi::ok;
}

void ucc_context_config_release(abi::ContextConfig* config) {
  delete config;
}

Status ucc_context_create(abi::Library* /*library*/, const abi::ContextParams* /*params*/,
                          const abi::ContextConfig* /*config*/, abi::Context** context) {
  const char* const rank = std::getenv("WEFT_RANK");
  if (rank != nullptr && fault("context") == std::atoll(rank)) return abi::no_message;
  *context = new abi::Context();
  return abi::ok;
}

Status ucc_context_progress(abi::Context* context) {
  for (abi::Team* team : context->teams) team->progress();
  return abi::ok;
}

Status ucc_context_destroy(abi::Context* context) {
  if (!context->teams.empty()) wrong("a context ends before its team");
  delete context;
  return abi::ok;
}

Status ucc_team_create_post(abi::Context** contexts, uint32_t count, const abi::TeamParams* params, abi::Team** team) {
  const abi::OutOfBand& exchange = params->out_of_band;
  const bool agrees = exchange.members == params->size && exchange.place == params->place;
  if (count != 1 || !agrees || params->size < 2 || params->size > members_most) wrong("ucc_team_create_post");
  *team = new abi::Team{.context = contexts[0], .exchange = exchange, .members = params->size, .place = params->place};
  contexts[0]->teams.push_back(*team);
  return abi::ok;
}

Status ucc_team_create_test(abi::Team* team) {
  return team->create();
}

Status ucc_team_destroy(abi::Team* team) {
  if (team->current != nullptr) wrong("a team ends before its operation");
  std::erase(team->context->teams, team);
  delete team;
  return abi::ok;
}

Status ucc_collective_init(abi::Arguments* arguments, abi::CollectiveRequest** request, abi::Team* team) {
  if (team->stage != abi::Team::Stage::made || team->current != nullptr) wrong("ucc_collective_init");
  auto* operation = new Operation();
  operation->status = static_cast<Status>(2);
  operation->team = team;
  operation->arguments = *arguments;
  *request = operation;
  team->current = operation;
  return abi::ok;
}

Status ucc_collective_post(abi::CollectiveRequest* request) {
  auto& operation = *static_cast<Operation*>(request);
  const int64_t before = operation.team->operations++;
  if (operation.team->place == 1 && fault("post") == before) return abi::no_message;
  operation.status = abi::in_progress;
  return abi::ok;
}

Status ucc_collective_finalize(abi::CollectiveRequest* request) {
  if (request->status == abi::in_progress) wrong("an operation is finalized before its end");
  auto* operation = static_cast<Operation*>(request);
  operation->team->current = nullptr;
  delete operation;
  return abi::ok;
}
}
