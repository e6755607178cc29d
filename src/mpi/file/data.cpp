// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/file/data.hpp"

#include "mpi/file/view.hpp"
#include "mpi/p2p/status.hpp"

namespace weft::mpi {
namespace {

// A checked call.
struct Data {
  io::Memory memory;
  int64_t bytes = 0;
  int64_t position = 0;  // in the stream of the view
};

Data check_call(FileCheck& check, const DataCall& call) {
  Data data;
  Type* type = check.data({call.buffer, call.count, call.datatype}, data.bytes);
  if (call.writes) {
    check.writes();
  } else {
    check.reads();
  }
  if (call.pointer != Pointer::shared) check.not_sequential();
  if (call.pointer == Pointer::none) check.offset(call.offset, "offset");
  if (check.failed()) return {};
  data.memory = {call.buffer, call.count, type};
  const int64_t unit = etype_bytes(check.file());
  if (data.bytes % unit != 0) {
    check.fail(MPI_ERR_ARG, "the data have %lld bytes, which are no whole etypes of %lld bytes",
               static_cast<long long>(data.bytes), static_cast<long long>(unit));
  }
  return data;
}

// Turns an offset in etypes into a position.
void place(FileCheck& check, Data& data, int64_t offset) {
  if (check.failed()) return;
  const File& file = check.file();
  if (__builtin_mul_overflow(offset, etype_bytes(file), &data.position) ||
      !file.view.reaches(data.position, data.bytes)) {
    check.fail(MPI_ERR_ARG, "offset is %lld: %lld bytes there are beyond what a file can have",
               static_cast<long long>(offset), static_cast<long long>(data.bytes));
  }
}

}  // namespace

int run(const DataCall& call, MPI_Status* status) {
  FileCheck check(call.function, call.fh);
  if (check.failed()) return check.error();
  Data data = check_call(check, call);
  if (check.failed()) return check.error();
  File& file = check.file();
  place(check, data, call.offset);
  if (check.failed()) return check.error();
  int64_t done = 0;
  check.take(call.writes ? io::write_at(file, data.position, data.memory, done)
                         : io::read_at(file, data.position, data.memory, done));
  set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, done, false);
  return check.error();
}

}  // namespace weft::mpi
