// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Collective operations on data that lie on a device: the same operation is run on host memory that stands for them.
// Each operation asks at its beginning, and calls itself with the other arguments:
//
//   if (may_be_on_device(comm)) [[unlikely]] {
//     OnDevice there(form, comm);
//     DataArgument mine = data;
//     if (there.take(mine, BufferUse::sent)) return there.run([&] { return run_...(there.form(), mine, ..., comm); });
//   }
//
// Arguments that are wrong stay as they are, for the operation to find.

#include "mpi/coll/arguments.hpp"
#include "mpi/object/twin.hpp"

namespace weft::mpi {

enum class BufferUse : uint8_t { sent, received };  // the operation reads a buffer, or writes it

// The host memory that stands in for the device buffers of an operation.
class Stands {
 public:
  // Adds host memory for checked data that are on a device. Returns an error class.
  [[nodiscard]] int add(std::vector<Twin::TwinData> pieces, BufferUse use);
  // The host address that stands in for `address`, which is in the buffer added last.
  void* host(const void* address) const { return stands_.back()->twin.host(address); }

  // fetch() copies all data from the device again, before an operation is started once more; store() copies the results
  // to the device. Both return an error class.
  [[nodiscard]] int fetch();
  [[nodiscard]] int store();
  bool empty() const { return stands_.empty(); }
  const std::string& problem() const { return problem_; }

 private:
  struct Stand {
    Twin twin;
    bool written;
  };
  std::vector<std::unique_ptr<Stand>> stands_;
  std::string problem_;
};

// Whether data of operations on the communicator may lie on a device.
inline bool may_be_on_device(MPI_Comm comm) {
  if (!device::on()) [[likely]]
    return false;
  const Comm* c = comm_of(comm);
  return c == nullptr || !c->host_memory;
}

class OnDevice {
 public:
  OnDevice(const Form& form, MPI_Comm comm);

  // Replaces a buffer that is on a device by host memory; a buffer of blocks has `number` of them. Returns whether the
  // buffer was on a device, or this failed.
  bool take(DataArgument& data, BufferUse use);
  bool take(BlocksArgument& blocks, int32_t number, BufferUse use);
  bool take(ReductionArgument& data, int64_t sent, int64_t received);
  int32_t size() const { return comm_ == nullptr ? 0 : comm_->size; }
  int32_t rank() const { return comm_ == nullptr ? 0 : comm_->rank; }
  bool is_inter() const { return comm_ != nullptr && comm_->is_inter(); }
  const Comm* comm() const { return comm_; }
  // Whether this rank has the blocks of all.
  bool is_root(int root) const { return is_inter() ? root == MPI_ROOT : root == rank(); }

  // For the operation on the host's memory, and its end.
  const Form& form() const { return form_; }
  template <class Run>
  int run(Run&& operation) {
    if (error_ != MPI_SUCCESS) return failed();
    const int error = operation();
    if (error != MPI_SUCCESS || !form_.is_blocking()) return error;
    error_ = stands_->store();
    return error_ == MPI_SUCCESS ? MPI_SUCCESS : failed();
  }

 private:
  bool replace(const void*& buffer, std::vector<Twin::TwinData> pieces, BufferUse use);
  int failed() const;

  Comm* comm_;
  std::unique_ptr<Stands> stands_;
  Form form_;
  int error_ = MPI_SUCCESS;
};

}  // namespace weft::mpi
