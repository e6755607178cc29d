// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// WEFT_OFFLOAD=ofi: the collective operations of libfabric, by whichever provider has them (tcp;ofi_rxm, cxi). A
// communicator has an endpoint of its own (transport/ofi/collective.hpp). Data go through buffers of ours, piece by
// piece: leftovers of a provider that failed, and its work under way, are in no memory of the program. The
// endpoint stays until all know of a failure, so that theirs is not that it went.
#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "base/copy.hpp"
#include "coll/agree/agree.hpp"
#include "coll/offload/faults.hpp"
#include "coll/offload/offload.hpp"
#include "coll/offload/wait.hpp"
#include "coll/plan/scratch.hpp"
#include "transport/ofi/collective.hpp"
#include "transport/select/hosts.hpp"

namespace weft::coll::offload {

namespace {

namespace ofi = transport::ofi;

// ofi_rxm 1.17 never ends an operation whose messages are larger than its buffers, of which the smallest have 2 KiB.
constexpr size_t piece_most = 1024;
constexpr int64_t bytes_most = 8192;

constinit fi_info* provider = nullptr;
constinit const std::string* provider_state = nullptr;

bool open(base::Problem& problem) {
  if (!read_faults(problem)) return false;
  if (provider_state != nullptr) return true;
  if (transport::net::choose_library().by != transport::net::NetworkLibrary::ofi) ofi::ask_for_small_buffers();
  std::string why_not;
  provider = ofi::find_collectives(why_not);
  provider_state = new std::string(provider != nullptr ? ofi::name_of(*provider) : why_not);
  return true;
}

ComponentState state() {
  return {provider != nullptr, *provider_state};
}

// The kind of an element, for the operations that it may take part in.
enum class Of : uint8_t { integers, reals, pairs };

struct OfiTypeRow {
  fi_datatype type;
  datatype::Basic basic;
  Of of;
};
constexpr OfiTypeRow types[] = {
    {FI_INT8, datatype::Basic::int8, Of::integers},
    {FI_INT16, datatype::Basic::int16, Of::integers},
    {FI_INT32, datatype::Basic::int32, Of::integers},
    {FI_INT64, datatype::Basic::int64, Of::integers},
    {FI_UINT8, datatype::Basic::byte, Of::integers},
    {FI_UINT8, datatype::Basic::uint8, Of::integers},
    {FI_UINT16, datatype::Basic::uint16, Of::integers},
    {FI_UINT32, datatype::Basic::uint32, Of::integers},
    {FI_UINT64, datatype::Basic::uint64, Of::integers},
    {FI_FLOAT, datatype::Basic::float32, Of::reals},
    {FI_DOUBLE, datatype::Basic::float64, Of::reals},
    {FI_FLOAT_COMPLEX, datatype::Basic::complex64, Of::pairs},
    {FI_DOUBLE_COMPLEX, datatype::Basic::complex128, Of::pairs},
};

// Operations whose results libfabric says are ours (docs/design/operations.md): it tells nothing of NaN in a minimum,
// nor of infinities in a complex product. A row is for elements up to `most`.
struct OfiOperationRow {
  fi_op op;
  datatype::Reduction reduction;
  Of most;
};
constexpr OfiOperationRow operations[] = {
    {FI_SUM, datatype::Reduction::sum, Of::pairs},      {FI_PROD, datatype::Reduction::prod, Of::reals},
    {FI_MIN, datatype::Reduction::min, Of::integers},   {FI_MAX, datatype::Reduction::max, Of::integers},
    {FI_BAND, datatype::Reduction::band, Of::integers}, {FI_BOR, datatype::Reduction::bor, Of::integers},
    {FI_BXOR, datatype::Reduction::bxor, Of::integers}, {FI_LAND, datatype::Reduction::land, Of::integers},
    {FI_LOR, datatype::Reduction::lor, Of::integers},   {FI_LXOR, datatype::Reduction::lxor, Of::integers},
};

// The type and the operation as libfabric calls them.
struct OfiReduction {
  fi_datatype type = FI_UINT8;
  fi_op op = FI_SUM;
};

bool find_kind(const Reducer& reducer, OfiReduction& kind) {
  if (!reducer.type->predefined) return false;
  const auto* type = std::find_if(std::begin(types), std::end(types),
                                  [&](const OfiTypeRow& row) { return row.basic == reducer.type->basic; });
  const auto* operation = std::find_if(std::begin(operations), std::end(operations),
                                       [&](const OfiOperationRow& row) { return row.reduction == reducer.reduction; });
  if (type == std::end(types) || operation == std::end(operations) || type->of > operation->most) return false;
  kind = {type->type, operation->op};
  return true;
}

// A rank's part in a communicator's operations.
class OfiGroup {
 public:
  explicit OfiGroup(core::Comm& comm) : comm_(comm), fabric_(*provider) {}

  ofi::MemberName name() { return fabric_.name(); }

  // False: this rank's part failed.
  bool join(const std::vector<ofi::MemberName>& names) {
    fabric_.join(names);
    sent_.resize(piece_most + static_cast<size_t>(comm_.size));
    received_.resize(sent_.size());
    if (!wait()) return false;
    barriers_ = fabric_.most(FI_BARRIER, FI_UINT8, FI_SUM) != 0;
    bcast_most_ = std::min(fabric_.most(FI_BROADCAST, FI_UINT8, FI_SUM), piece_most);
    return true;
  }

  bool can(const OffloadOperation& operation) {
    if (!faults().takes(operation) || operation.bytes() > bytes_most) return false;
    OfiReduction kind;
    switch (operation.collective) {
      case Collective::barrier:
        return barriers_;
      case Collective::bcast:
        return bcast_most_ != 0;
      default:
        return find_kind(*operation.reducer, kind) && fabric_.most(FI_ALLREDUCE, kind.type, kind.op) != 0;
    }
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
        fabric_.barrier();
        done = wait();
    }
    return {done, why_};
  }

 private:
  // Until an operation is done. False: it never will be, as `why_` says, or since another rank failed.
  bool wait() {
    const WaitEnd end = wait_in_library(comm_, [&] { return fabric_.finished(); });
    failed_ = end == WaitEnd::others_failed;
    why_ = end == WaitEnd::late ? not_all_came() : fabric_.error();
    return !failed_ && why_.empty();
  }

  // A provider may take a piece in as many parts as there are ranks, and fill the last one.
  bool bcast(const OffloadOperation& operation) {
    const int64_t bytes = operation.bytes();
    const bool is_root = comm_.rank == operation.root;
    const Block data{operation.receive, operation.count, operation.type};
    Scratch scratch;
    auto* packed = static_cast<unsigned char*>(scratch.bytes(bytes));
    if (packed == nullptr) return no_memory();
    const Block whole{packed, bytes, &byte_type};
    if (is_root) (void)copy_block(data, whole);
    const auto ranks = static_cast<size_t>(comm_.size);
    for (size_t at = 0; at < static_cast<size_t>(bytes);) {
      const size_t piece = std::min(static_cast<size_t>(bytes) - at, bcast_most_);
      if (is_root) base::copy(sent_.data(), packed + at, piece);
      fabric_.bcast(sent_.data(), (piece + ranks - 1) / ranks * ranks, operation.root);
      if (!wait()) return false;
      if (!is_root) base::copy(packed + at, sent_.data(), piece);
      at += piece;
    }
    if (!is_root) (void)copy_block(whole, data);
    return true;
  }

  bool allreduce(const OffloadOperation& operation) {
    OfiReduction kind;
    (void)find_kind(*operation.reducer, kind);
    const auto size = static_cast<size_t>(operation.type->size);
    const size_t most = std::min(fabric_.most(FI_ALLREDUCE, kind.type, kind.op), piece_most / size);
    const auto* from = static_cast<const unsigned char*>(operation.send);
    auto* to = static_cast<unsigned char*>(operation.receive);
    for (size_t left = static_cast<size_t>(operation.count); left > 0;) {
      const size_t count = std::min(left, most);
      base::copy(sent_.data(), from, count * size);
      fabric_.allreduce(sent_.data(), received_.data(), count, kind.type, kind.op);
      if (!wait()) return false;
      base::copy(to, received_.data(), count * size);
      from += count * size;
      to += count * size;
      left -= count;
    }
    return true;
  }

  bool no_memory() {
    why_ = "no memory";
    return false;
  }

  core::Comm& comm_;
  ofi::OfiCollectiveGroup fabric_;
  std::vector<unsigned char> sent_, received_;
  int64_t done_ = 0;
  bool barriers_ = false;
  size_t bcast_most_ = 0;
  bool failed_ = false;  // another rank did
  std::string why_;
};

void* join(core::Comm& comm) {
  std::unique_ptr<OfiGroup> group;
  if (provider != nullptr && comm.rank != faults().alone) group.reset(new (std::nothrow) OfiGroup(comm));
  const ofi::MemberName ours = group != nullptr ? group->name() : ofi::MemberName();
  std::vector<ofi::MemberName> names(static_cast<size_t>(comm.size));
  if (gather_all(comm, &ours, sizeof ours, names.data()) != core::no_error) return nullptr;
  // All see the same names, so none waits for a rank that has none.
  const auto absent = [](const ofi::MemberName& name) { return name.bytes == 0 || name.bytes > sizeof name.text; };
  if (std::any_of(names.begin(), names.end(), absent) || !group->join(names)) return nullptr;
  return group.release();
}

void leave(void* group) {
  delete static_cast<OfiGroup*>(group);
}

bool can(void* group, const OffloadOperation& operation) {
  return static_cast<OfiGroup*>(group)->can(operation);
}

OffloadOutcome perform(void* group, const OffloadOperation& operation) {
  return static_cast<OfiGroup*>(group)->perform(operation);
}

constexpr Component libfabric{
    .name = "ofi", .open = open, .state = state, .join = join, .leave = leave, .can = can, .perform = perform};
WEFT_OFFLOAD_COMPONENT(libfabric);

}  // namespace

}  // namespace weft::coll::offload
