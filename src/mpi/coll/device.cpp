// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/coll/device.hpp"

#include <algorithm>
#include <new>

#include "mpi/p2p/p2p.hpp"

namespace weft::mpi {

int Stands::add(std::vector<Twin::TwinData> pieces, BufferUse use) {
  stands_.emplace_back(new (std::nothrow) Stand{Twin(std::move(pieces)), use == BufferUse::received});
  if (stands_.back() == nullptr || !stands_.back()->twin.has_memory()) return MPI_ERR_NO_MEM;
  problem_ = stands_.back()->twin.fetch();
  return problem_.empty() ? MPI_SUCCESS : MPI_ERR_OTHER;
}

int Stands::fetch() {
  for (const auto& stand : stands_) {
    problem_ = stand->twin.fetch();
    if (!problem_.empty()) return MPI_ERR_OTHER;
  }
  return MPI_SUCCESS;
}

int Stands::store() {
  for (const auto& stand : stands_) {
    if (stand->written) problem_ = stand->twin.store();
    if (!problem_.empty()) return MPI_ERR_OTHER;
  }
  return MPI_SUCCESS;
}

OnDevice::OnDevice(const Form& form, MPI_Comm comm)
    : comm_(comm_of(comm)), stands_(new (std::nothrow) Stands), form_(form) {
  form_.stands = &stands_;
  if (stands_ == nullptr) error_ = MPI_ERR_NO_MEM;
}

bool OnDevice::replace(const void*& buffer, std::vector<Twin::TwinData> pieces, BufferUse use) {
  if (comm_ != nullptr && comm_->host_memory) return false;
  const bool there = std::any_of(pieces.begin(), pieces.end(), [](const Twin::TwinData& piece) {
    return datatype::are_on_device(*piece.type, piece.count, piece.buffer);
  });
  if (!there || error_ != MPI_SUCCESS) return there;
  error_ = stands_->add(std::move(pieces), use);
  if (error_ == MPI_SUCCESS) buffer = stands_->host(buffer);
  return true;
}

bool OnDevice::take(DataArgument& data, BufferUse use) {
  Operation op;
  if (!good_data(op, data.buffer, data.count, data.datatype) || data.buffer == MPI_IN_PLACE) return false;
  return replace(data.buffer, {{data.buffer, data.count, op.type}}, use);
}

bool OnDevice::take(BlocksArgument& blocks, int32_t number, BufferUse use) {
  if (!blocks.complete || blocks.buffer == MPI_IN_PLACE) return false;
  std::vector<Twin::TwinData> pieces;
  for (int32_t i = 0; i < number; ++i) {
    const int64_t count = blocks.counts[i];
    Operation op;
    if (!good_data(op, blocks.buffer, count, blocks.typed ? blocks.datatypes[i] : blocks.datatype)) return false;
    if (op.bytes == 0) continue;
    const int64_t offset = blocks.typed     ? blocks.displacements[i]
                           : blocks.by_rank ? blocks.displacements[i] * op.type->extent
                                            : i * count * op.type->extent;
    const uintptr_t place = reinterpret_cast<uintptr_t>(blocks.buffer) + static_cast<uintptr_t>(offset);
    pieces.push_back({reinterpret_cast<void*>(place), count, op.type});
  }
  return replace(blocks.buffer, std::move(pieces), use);
}

bool OnDevice::take(ReductionArgument& data, int64_t sent, int64_t received) {
  if (sent > 0 && received > 0 && data.send == data.receive && data.send != MPI_BOTTOM) return false;  // an error
  if (data.send == MPI_IN_PLACE) received = std::max(sent, received);
  const void* result = data.receive;
  DataArgument mine{data.send, sent, data.datatype}, all{result, received, data.datatype};
  const bool mine_there = take(mine, BufferUse::sent), all_there = take(all, BufferUse::received);
  data.send = mine.buffer;
  data.receive = const_cast<void*>(all.buffer);
  return mine_there || all_there;
}

int OnDevice::failed() const {
  if (error_ == MPI_ERR_NO_MEM) return no_memory(comm_, form_.function);
  return device_failed(comm_, form_.function, stands_->problem());
}

}  // namespace weft::mpi
