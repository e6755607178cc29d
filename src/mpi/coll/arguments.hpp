// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The arguments of collective calls, as given and as checked.

#include <memory>
#include <vector>

#include "coll/plan/block.hpp"
#include "coll/plan/reducer.hpp"
#include "mpi/object/check.hpp"
#include "mpi/object/overlap.hpp"
#include "mpi/object/wait_record.hpp"

namespace weft::mpi {

class Stands;  // device.hpp

// How a collective operation is called.
struct Form {
  enum class CallForm : uint8_t { blocking, nonblocking, persistent };

  CallForm kind;
  const char* function;
  MPI_Info info = MPI_INFO_NULL;  // of the persistent form; its hints are not needed
  MPI_Request* request = nullptr;
  std::unique_ptr<Stands>* stands = nullptr;  // for data on a device: kept by the operation's request

  bool is_blocking() const { return kind == CallForm::blocking; }
  bool was_seen() const { return stands != nullptr; }  // by OnDevice: the buffers are the host's now
};
inline Form blocking(const char* function) {
  return {.kind = Form::CallForm::blocking, .function = function};
}
inline Form nonblocking(const char* function, MPI_Request* request) {
  return {.kind = Form::CallForm::nonblocking, .function = function, .request = request};
}
inline Form persistent(const char* function, MPI_Info info, MPI_Request* request) {
  return {.kind = Form::CallForm::persistent, .function = function, .info = info, .request = request};
}

// An operation on a datatype. It keeps what it needs of the operation, which may be freed before it is used: only the
// type must live.
struct OpReducer : coll::Reducer {
  datatype::Kernel kernel = nullptr;  // of a predefined operation
  MPI_User_function* narrow = nullptr;
  MPI_User_function_c* wide = nullptr;
  const ForeignCalls* foreign = nullptr;      // of both
  MPI_Datatype datatype = MPI_DATATYPE_NULL;  // what the user's function is told
};

// The blocks of all ranks, or neighbours: one count for all, or arrays.
struct BlocksArgument {
  const void* buffer;
  coll::Array counts;
  coll::Array displacements;
  MPI_Datatype datatype = MPI_DATATYPE_NULL;  // of all blocks
  const MPI_Datatype* datatypes = nullptr;    // or one each
  bool by_rank = false;                       // arrays are given
  bool typed = false;                         // of types, too
  bool complete = true;                       // no array is missing
};

inline BlocksArgument uniform(const void* buffer, MPI_Count count, MPI_Datatype datatype) {
  return {.buffer = buffer, .counts = coll::Array(int64_t{count}), .displacements = {}, .datatype = datatype};
}
template <class Count, class Displacement>
BlocksArgument arrays(const void* buffer, const Count* counts, const Displacement* displacements,
                      MPI_Datatype datatype) {
  return {.buffer = buffer,
          .counts = coll::Array(counts),
          .displacements = coll::Array(displacements),
          .datatype = datatype,
          .by_rank = true,
          .complete = counts != nullptr && displacements != nullptr};
}
template <class Count, class Displacement>
BlocksArgument arrays(const void* buffer, const Count* counts, const Displacement* displacements,
                      const MPI_Datatype* datatypes) {
  return {.buffer = buffer,
          .counts = coll::Array(counts),
          .displacements = coll::Array(displacements),
          .datatypes = datatypes,
          .by_rank = true,
          .typed = true,
          .complete = counts != nullptr && displacements != nullptr && datatypes != nullptr};
}

// The buffers of a reduction.
struct ReductionArgument {
  const void* send;
  void* receive;
  MPI_Datatype datatype;
  MPI_Op op;
};

// The elements of all ranks' parts of a result.
struct CountsArgument {
  coll::Array counts;
  bool complete = true;

  int64_t total(int32_t number) const {
    auto sum = static_cast<uint64_t>(number) * static_cast<uint64_t>(counts.uniform());  // 0 of an array
    for (int32_t i = 0; i < number && !counts.is_uniform(); ++i) sum += static_cast<uint64_t>(counts[i]);
    return static_cast<int64_t>(sum);
  }
};
inline CountsArgument same(MPI_Count count) {
  return {coll::Array(int64_t{count})};
}
template <class Count>
CountsArgument by_rank(const Count* counts) {
  return {coll::Array(counts), counts != nullptr};
}

// ---- Checked

// The checks of collective calls beside those of all.
class CollCheck : public Check, private core::Teller {
 public:
  explicit CollCheck(const char* function) : Check(function), Teller(tell_all) { *past_ = {function, 0, 0, -1, -1}; }
  CollCheck(const Form& form, MPI_Comm comm);
  void root(int rank) {
    if (!failed() && !comm_->is_inter()) past_->root = rank;  // the two sides name different ones
    Check::root(rank);
  }

  // Checks the count and the type, and that there is a buffer other than MPI_IN_PLACE.
  Type* data(const DataArgument& data);
  // Checks the counts and the buffer of `number` blocks of one type as data() does.
  Type* blocks(const void* buffer, const coll::Array& counts, int32_t number, MPI_Datatype datatype);
  // Fills `reducer`: the operation must be defined for the type.
  void reducer(OpReducer& reducer, MPI_Op op, Type* type, MPI_Datatype datatype);
  // The buffers of a reduction must not overlap.
  void apart(const void* send, MPI_Count sent, const void* receive, MPI_Count received, const Type* type) {
    if (failed()) return;
    const auto extent = static_cast<uint64_t>(type->extent);
    if (may_overlap(send, static_cast<uint64_t>(sent) * extent, receive, static_cast<uint64_t>(received) * extent))
        [[unlikely]]
      compare_elements(send, sent, receive, received, *type);
  }
  [[gnu::cold, gnu::noinline]] void fail_overlap(const Filled& send, const Filled& receive);
  void one_group();  // an intercommunicator will not do
  void topology();   // the communicator must have one

  // The result of the operation, as the MPI call returns it.
  [[nodiscard]] int done(int32_t error);

  // For records of waits.
  const core::Past& past() const { return *past_; }

 private:
  static void tell_all(const Teller& self, WaitRecord& wait_record);
  [[gnu::noinline]] void compare_elements(const void* send, MPI_Count sent, const void* receive, MPI_Count received,
                                          const Type& type);

  core::Past* const past_ = &core::new_past();
};

// A failed part is empty, and the check says so.

[[nodiscard]] coll::Block take(CollCheck& check, const DataArgument& mine);

// `number` blocks. `types` keeps the types of blocks that have one each.
[[nodiscard]] coll::Blocks take(CollCheck& check, const BlocksArgument& all, int32_t number, std::vector<Type*>& types);

// The data that a rank sends or receives: one block, or those of all ranks or neighbours.
class DataSide {
 public:
  explicit DataSide(const coll::Block& block) : block_(&block) {}
  DataSide(const coll::Blocks& blocks, int32_t number) : blocks_(&blocks), number_(number) {}
  DataSide(const coll::Blocks& blocks, const std::vector<int32_t>& neighbours)
      : blocks_(&blocks), number_(static_cast<int32_t>(neighbours.size())), neighbours_(neighbours.data()) {}

  bool in_place() const { return block_ != nullptr ? block_->in_place() : blocks_->in_place(); }
  // Does what Blocks::as_one() does. The blocks of neighbours that are MPI_PROC_NULL are included.
  bool as_one(const void*& begin, uint64_t& bytes) const {
    if (block_ == nullptr) return blocks_->as_one(number_, begin, bytes);
    begin = block_->data;
    bytes = static_cast<uint64_t>(block_->bytes());
    return block_->type->contiguous;
  }
  // Calls `visit` with the memory of each block that has data without gaps.
  template <class Visit>
  void visit(Visit&& visit) const {
    for (int32_t i = 0; i < number_; ++i) {
      if (neighbours_ != nullptr && neighbours_[i] == MPI_PROC_NULL) continue;
      const coll::Block block = block_ != nullptr ? *block_ : (*blocks_)[i];
      const Filled memory = filled(block.data, block.count, *block.type);
      if (memory.bytes > 0) visit(memory);
    }
  }

 private:
  const coll::Block* block_ = nullptr;
  const coll::Blocks* blocks_ = nullptr;
  int32_t number_ = 1;
  const int32_t* neighbours_ = nullptr;
};

// No block that is sent may overlap one that is received.
void check_each_apart(CollCheck& check, const DataSide& send, const DataSide& receive);
inline void check_apart(CollCheck& check, const DataSide& send, const DataSide& receive) {
  if (check.failed() || send.in_place() || receive.in_place()) return;
  const void *from = nullptr, *to = nullptr;
  uint64_t sent = 0, received = 0;
  if (!send.as_one(from, sent) || !receive.as_one(to, received) || may_overlap(from, sent, to, received)) [[unlikely]]
    check_each_apart(check, send, receive);
}

}  // namespace weft::mpi
