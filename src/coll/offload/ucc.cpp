// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// WEFT_OFFLOAD=ucc: the collective operations of UCC, where it is installed. A communicator has a context and a team of
// its own (transport/ucc/collective.hpp). Data go through buffers of ours: leftovers of an operation that failed are in
// no memory of the program, and such a group stays until the process ends.
#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "base/copy.hpp"
#include "coll/offload/faults.hpp"
#include "coll/offload/offload.hpp"
#include "coll/offload/rounds.hpp"
#include "coll/offload/wait.hpp"
#include "coll/plan/scratch.hpp"
#include "core/thread/thread.hpp"
#include "transport/ucc/collective.hpp"

namespace weft::coll::offload {

namespace {

namespace ucc = transport::ucc;
namespace abi = transport::ucc::abi;

constexpr size_t piece_most = size_t{256} << 10;

constinit bool able = false;
constinit const std::string* library_state = nullptr;

bool open(base::Problem& problem) {
  if (!read_faults(problem)) return false;
  if (library_state != nullptr) return true;
  std::string why_not;
  const ucc::UccLibrary* library = ucc::try_library(why_not);
  able = library != nullptr;
  library_state = new std::string(able ? std::string("UCC ") + library->get_version_string() : why_not);
  return true;
}

ComponentState state() {
  return {able, *library_state};
}

struct UccTypeRow {
  abi::Type type;
  datatype::Basic basic;
  bool integer;
};
constexpr UccTypeRow types[] = {
    {abi::int8, datatype::Basic::int8, true},        {abi::int16, datatype::Basic::int16, true},
    {abi::int32, datatype::Basic::int32, true},      {abi::int64, datatype::Basic::int64, true},
    {abi::uint8, datatype::Basic::byte, true},       {abi::uint8, datatype::Basic::uint8, true},
    {abi::uint16, datatype::Basic::uint16, true},    {abi::uint32, datatype::Basic::uint32, true},
    {abi::uint64, datatype::Basic::uint64, true},    {abi::float32, datatype::Basic::float32, false},
    {abi::float64, datatype::Basic::float64, false},
};

// Operations whose results are ours (docs/design/operations.md): UCC tells nothing of NaN in a minimum.
struct UccOperationRow {
  abi::ReductionOp op;
  datatype::Reduction reduction;
  bool of_integers_alone;
};
constexpr UccOperationRow operations[] = {
    {abi::ReductionOp::sum, datatype::Reduction::sum, false},
    {abi::ReductionOp::prod, datatype::Reduction::prod, false},
    {abi::ReductionOp::min, datatype::Reduction::min, true},
    {abi::ReductionOp::max, datatype::Reduction::max, true},
    {abi::ReductionOp::band, datatype::Reduction::band, true},
    {abi::ReductionOp::bor, datatype::Reduction::bor, true},
    {abi::ReductionOp::bxor, datatype::Reduction::bxor, true},
    {abi::ReductionOp::land, datatype::Reduction::land, true},
    {abi::ReductionOp::lor, datatype::Reduction::lor, true},
    {abi::ReductionOp::lxor, datatype::Reduction::lxor, true},
};

// The type and the operation as UCC calls them.
struct UccReduction {
  abi::Type type = abi::uint8;
  abi::ReductionOp op = abi::ReductionOp::sum;
};

bool find_kind(const Reducer& reducer, UccReduction& kind) {
  if (!reducer.type->predefined) return false;
  const auto* type = std::find_if(std::begin(types), std::end(types),
                                  [&](const UccTypeRow& row) { return row.basic == reducer.type->basic; });
  const auto* operation = std::find_if(std::begin(operations), std::end(operations),
                                       [&](const UccOperationRow& row) { return row.reduction == reducer.reduction; });
  if (type == std::end(types) || operation == std::end(operations)) return false;
  if (operation->of_integers_alone && !type->integer) return false;
  kind = {type->type, operation->op};
  return true;
}

// Memory that grows, and loses its contents then.
class GrowingBuffer {
 public:
  bool has_room(size_t bytes) {
    if (bytes <= size_) return true;
    size_ = 0;
    memory_.reset(new (std::nothrow) unsigned char[bytes]);
    if (memory_ != nullptr) size_ = bytes;
    return memory_ != nullptr;
  }
  [[nodiscard]] unsigned char* data() const { return memory_.get(); }

 private:
  std::unique_ptr<unsigned char[]> memory_;
  size_t size_ = 0;
};

// A rank's part in a communicator's operations.
class UccGroup {
 public:
  explicit UccGroup(core::Comm& comm) : comm_(comm) {}

  // False: this rank's part failed. In any case all exchanges that it has started are over.
  bool create(abi::Library* library, Rounds& rounds) {
    const core::WaitRecord wait_record{
        .kind = core::WaitKind::collective, .call = "an offloaded operation", .comm = &comm_};
    const core::Doing doing(wait_record);
    ucc_.create(library, comm_.size, comm_.rank, rounds);
    for (;;) {
      settle(rounds);
      bool over = false;
      const WaitEnd end = wait_in_library(comm_, [&] {
        over = ucc_.finished();
        return over || rounds.has_work();
      });
      if (end == WaitEnd::done && !over) continue;
      settle(rounds);
      return end == WaitEnd::done && ucc_.error().empty();
    }
  }

  // Until no exchange is under way; others may need this rank in the library meanwhile.
  void settle(Rounds& rounds) {
    while (rounds.is_under_way()) {
      rounds.advance();
      core::wait_for_any_memory([&] {
        (void)ucc_.finished();
        return rounds.has_work() || !rounds.is_under_way();
      });
    }
  }

  static bool can(const OffloadOperation& operation) {
    UccReduction kind;
    return faults().takes(operation) &&
           (operation.collective != Collective::allreduce || find_kind(*operation.reducer, kind));
  }

  OffloadOutcome perform(const OffloadOperation& operation) {
    if (faults().fail_at(done_++, comm_.rank)) return {false, "WEFT_OFFLOAD_FAULTS says so"};
    bool done = false;
    switch (operation.collective) {
      case Collective::bcast:
        done = bcast(operation);
        break;
      case Collective::allreduce:
        done = allreduce(operation);
        break;
      default:
        ucc_.barrier();
        done = wait();
    }
    return {done, why_};
  }

  [[nodiscard]] bool may_be_under_way() const { return ucc_.may_be_under_way(); }

 private:
  // Until an operation is done. False: it never will be, as `why_` says, or since another rank failed.
  bool wait() {
    const WaitEnd end = wait_in_library(comm_, [&] { return ucc_.finished(); });
    why_ = end == WaitEnd::late ? not_all_came() : ucc_.error();
    return end == WaitEnd::done && why_.empty();
  }

  bool bcast(const OffloadOperation& operation) {
    const int64_t bytes = operation.bytes();
    const bool is_root = comm_.rank == operation.root;
    const Block data{operation.receive, operation.count, operation.type};
    Scratch scratch;
    void* packed = operation.receive;
    if (!operation.type->contiguous) {
      packed = scratch.bytes(bytes);
      if (packed == nullptr) return no_memory();
      if (is_root) (void)copy_block(data, {packed, bytes, &byte_type});
    }
    auto* at = static_cast<unsigned char*>(packed);
    for (auto left = static_cast<size_t>(bytes); left > 0;) {
      const size_t piece = std::min(left, piece_most);
      if (!sent_.has_room(piece)) return no_memory();
      if (is_root) base::copy(sent_.data(), at, piece);
      ucc_.bcast(sent_.data(), piece, operation.root);
      if (!wait()) return false;
      if (!is_root) base::copy(at, sent_.data(), piece);
      at += piece;
      left -= piece;
    }
    if (packed != operation.receive && !is_root) (void)copy_block({packed, bytes, &byte_type}, data);
    return true;
  }

  bool allreduce(const OffloadOperation& operation) {
    UccReduction kind;
    (void)find_kind(*operation.reducer, kind);
    const auto size = static_cast<size_t>(operation.type->size);
    const auto* from = static_cast<const unsigned char*>(operation.send);
    auto* to = static_cast<unsigned char*>(operation.receive);
    for (auto left = static_cast<size_t>(operation.bytes()); left > 0;) {
      const size_t piece = std::min(left, piece_most);
      if (!sent_.has_room(piece) || !received_.has_room(piece)) return no_memory();
      base::copy(sent_.data(), from, piece);
      ucc_.allreduce(sent_.data(), received_.data(), piece / size, kind.type, kind.op);
      if (!wait()) return false;
      base::copy(to, received_.data(), piece);
      from += piece;
      to += piece;
      left -= piece;
    }
    return true;
  }

  bool no_memory() {
    why_ = "no memory";
    return false;
  }

  core::Comm& comm_;
  GrowingBuffer sent_, received_;
  ucc::UccCollectiveGroup ucc_;
  int64_t done_ = 0;
  std::string why_;
};

// Its memory may be written to as long as the process lives, and its end would wait for ranks that do not end theirs.
void give_up(void* group) {
  static std::mutex mutex;
  static auto* const kept = new std::vector<UccGroup*>();
  const std::lock_guard lock(mutex);
  kept->push_back(static_cast<UccGroup*>(group));
}

void leave(void* group) {
  auto* ours = static_cast<UccGroup*>(group);
  if (ours == nullptr) return;
  if (ours->may_be_under_way()) return give_up(ours);
  delete ours;
}

// All ranks end together. One that fails when others may wait for it in the library tells them; in the first round all
// wait for words alone.
void* join(core::Comm& comm) {
  Rounds rounds(comm);
  UccGroup* group = nullptr;
  std::string why_not;
  abi::Library* library = nullptr;
  if (able && comm.rank != faults().alone) library = ucc::start_library(core::threads->concurrent, why_not);
  if (library != nullptr) group = new (std::nothrow) UccGroup(comm);
  const bool well = group != nullptr && group->create(library, rounds);
  bool told = false;
  const auto tell = [&] {
    if (!told) tell_others(comm);
    told = true;
  };
  if (!rounds.is_last()) {
    if (!well && rounds.count() > 0) tell();
    rounds.end(well);
    if (well) {
      group->settle(rounds);
    } else {
      rounds.settle();
    }
  }
  if (rounds.all_well()) return group;
  if (rounds.count() > 1) {
    tell();
    hear_others(comm);
    if (group != nullptr) give_up(group);
    return nullptr;
  }
  leave(group);
  return nullptr;
}

bool can(void* /*group*/, const OffloadOperation& operation) {
  return UccGroup::can(operation);
}

OffloadOutcome perform(void* group, const OffloadOperation& operation) {
  return static_cast<UccGroup*>(group)->perform(operation);
}

constexpr Component ucc_component{.name = "ucc",
                                  .open = open,
                                  .state = state,
                                  .join = join,
                                  .leave = leave,
                                  .give_up = give_up,
                                  .can = can,
                                  .perform = perform};
WEFT_OFFLOAD_COMPONENT(ucc_component);

}  // namespace

}  // namespace weft::coll::offload
