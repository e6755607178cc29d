// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/file/pointer.hpp"

#include <vector>

#include "coll/coll.hpp"
#include "io/collective_access.hpp"
#include "io/disk.hpp"
#include "mpi/file/view.hpp"
#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"

namespace weft::mpi {
namespace {

// One operation on the number; the value before it.
int64_t update(const File& file, int64_t value, MPI_Op op) {
  int64_t before = 0;
  const MPI_Win win = win_handle(file.pointer);
  (void)fetch_and_op(&value, &before, MPI_INT64_T, 0, 0, op, win);  // its errors are fatal: the window is ours
  (void)win_flush(0, win);
  return before;
}

}  // namespace

int start_pointers(const char* function, File& file) {
  int64_t offset = 0;
  if ((file.amode & MPI_MODE_APPEND) != 0) {
    if (int error = raise(function, file, io::size_of(file.fd(), offset))) return error;
  }
  file.position.store(offset, std::memory_order_relaxed);
  file.pointer_alone.store(offset, std::memory_order_relaxed);
  if (file.comm->size == 1) return MPI_SUCCESS;
  MPI_Win win = MPI_WIN_NULL;
  int64_t* memory = nullptr;
  auto* comm = static_cast<Comm*>(file.comm);
  const MPI_Aint bytes = comm->rank == 0 ? sizeof(int64_t) : 0;
  comm->kind = base::Kind::communicator;
  if (int error = win_allocate_c(bytes, 1, MPI_INFO_NULL, handle_of<MPI_Comm>(comm), static_cast<void*>(&memory), &win))
    return error;
  file.pointer = win_of(win);
  (void)win_lock_all(MPI_MODE_NOCHECK, win);
  if (comm->rank == 0) set_shared_pointer(file, offset);
  if (const int32_t error = coll::barrier(*comm); error != core::no_error)
    return fail(&file, function, error, "the ranks could not wait for each other");
  return MPI_SUCCESS;
}

void end_pointers(File& file) {
  if (file.pointer == nullptr) return;
  MPI_Win win = win_handle(file.pointer);
  (void)win_unlock_all(win);
  (void)win_free(&win);
  file.pointer = nullptr;
}

int64_t move_shared_pointer(File& file, int64_t etypes) {
  if (file.pointer == nullptr) return file.pointer_alone.fetch_add(etypes, std::memory_order_relaxed);
  return update(file, etypes, MPI_SUM);
}

void set_shared_pointer(File& file, int64_t offset) {
  if (file.pointer == nullptr) return file.pointer_alone.store(offset, std::memory_order_relaxed);
  (void)update(file, offset, MPI_REPLACE);
}

io::Result order_by_rank(File& file, int64_t etypes, const io::Result& given, int64_t& offset) {
  core::Comm& comm = *file.comm;
  io::drain(file);
  struct PointerShare {
    int64_t etypes;
    int32_t error;
  };
  const PointerShare mine{etypes, given.error};
  std::vector<PointerShare> all(static_cast<size_t>(comm.size));
  Type& bytes = byte_type;
  int32_t error = coll::allgather(comm, {const_cast<PointerShare*>(&mine), sizeof mine, &bytes},
                                  coll::Blocks(all.data(), sizeof mine, bytes));
  int64_t before = 0;
  int64_t total = 0;
  io::Result result;
  for (int32_t r = 0; r < comm.size; ++r) {
    const PointerShare& share = all[static_cast<size_t>(r)];
    if (r < comm.rank) before += share.etypes;
    total += share.etypes;
    if (share.error != io::no_error && !result.failed())
      result = {.error = share.error, .act = io::Act::arguments, .rank = r};
  }
  if (result.failed()) return result;
  int64_t base = comm.rank == 0 ? move_shared_pointer(file, total) : 0;
  if (error == core::no_error) error = coll::bcast(comm, &base, sizeof base, bytes, 0);
  offset = base + before;
  return error == core::no_error ? io::Result{} : io::failure(error, io::Act::exchange);
}

namespace {

// The offset that a seek means, in etypes.
int64_t target_of(FileCheck& check, MPI_Offset offset, int whence, int64_t current) {
  if (check.failed()) return 0;
  const File& file = check.file();
  int64_t from = 0;
  if (whence == MPI_SEEK_CUR) {
    from = current;
  } else if (whence == MPI_SEEK_END) {
    int64_t size = 0;
    check.take(io::size_of(file.fd(), size));
    const int64_t unit = etype_bytes(file);
    from = (file.view.position_at(size) + unit - 1) / unit;
  } else if (whence != MPI_SEEK_SET) {
    check.fail(MPI_ERR_ARG, "whence is %d: it must be MPI_SEEK_SET, MPI_SEEK_CUR or MPI_SEEK_END", whence);
  }
  int64_t target = 0;
  if (check.failed()) return 0;
  if (__builtin_add_overflow(from, offset, &target) || target < 0) {
    check.fail(MPI_ERR_ARG, "offset is %lld from %lld: the pointer cannot lie before the view or beyond 64 bits",
               static_cast<long long>(offset), static_cast<long long>(from));
  }
  return target;
}

}  // namespace

int file_seek(MPI_File fh, MPI_Offset offset, int whence) {
  FileCheck check("MPI_File_seek", fh);
  if (check.failed()) return check.error();
  check.not_sequential();
  std::atomic<int64_t>& pointer = check.file().position;
  const int64_t target = target_of(check, offset, whence, pointer.load(std::memory_order_relaxed));
  if (!check.failed()) pointer.store(target, std::memory_order_relaxed);
  return check.error();
}

int file_get_position(MPI_File fh, MPI_Offset* offset) {
  FileCheck check("MPI_File_get_position", fh);
  check.pointer(offset, "offset");
  if (!check.failed()) check.not_sequential();
  if (!check.failed()) *offset = check.file().position.load(std::memory_order_relaxed);
  return check.error();
}

// Collective: all ranks give the same.
int file_seek_shared(MPI_File fh, MPI_Offset offset, int whence) {
  FileCheck check("MPI_File_seek_shared", fh);
  if (check.failed()) return check.error();
  File& file = check.file();
  io::drain(file);
  check.not_sequential();
  // Everybody has come before the pointer moves, and nobody goes on before it has.
  const bool same = io::same_on_all(*file.comm, offset) && io::same_on_all(*file.comm, whence);
  if (!same && !check.failed()) check.fail(MPI_ERR_NOT_SAME, "the ranks do not give the same offset and whence");
  const int64_t current = file.comm->rank == 0 ? move_shared_pointer(file, 0) : 0;
  const int64_t target = file.comm->rank == 0 ? target_of(check, offset, whence, current) : 0;
  if (file.comm->rank == 0 && !check.failed()) set_shared_pointer(file, target);
  check.take(io::agree(*file.comm, check.told()));
  return check.error();
}

int file_get_position_shared(MPI_File fh, MPI_Offset* offset) {
  FileCheck check("MPI_File_get_position_shared", fh);
  check.pointer(offset, "offset");
  if (!check.failed()) check.not_sequential();
  if (!check.failed()) *offset = move_shared_pointer(check.file(), 0);
  return check.error();
}

}  // namespace weft::mpi
