// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/file/hints.hpp"

#include <mutex>

#include "io/collective_access.hpp"
#include "mpi/env/memory.hpp"
#include "mpi/file/file.hpp"
#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"

namespace weft::mpi {

namespace {

constexpr const char* asserted_kinds = "mpi_assert_memory_alloc_kinds";

const Comm& comm_of(const File& file) {
  return static_cast<const Comm&>(*file.comm);
}

}  // namespace

void take_hints(File& file, const Comm& comm, const Info* info) {
  if (info == nullptr) return;
  // Hints may be ignored (MPI-5.0, 14.2.8); MPI_File_get_info shows which values are in force.
  (void)io::take_hints(
      file.hints, [&](const char* key) { return info->find(key); }, !file.descriptor.is_open());
  std::optional<std::string> asserted = info->find(asserted_kinds);
  if (!asserted || !kinds_are_among(*asserted, kinds_of(comm))) return;
  file.host_memory = kinds_are_host(*asserted);
  std::lock_guard lock(details);
  file.memory_asserted = std::move(asserted);
}

int file_set_info(MPI_File fh, MPI_Info info) {
  FileCheck check("MPI_File_set_info", fh);
  if (check.failed()) return check.error();
  io::drain(check.file());
  const Info* given = info_of(info);
  if (given == nullptr) check.fail(MPI_ERR_INFO, "info is no info object");
  const io::Result result = io::agree(*check.file().comm, check.told());
  check.take(result);
  if (check.failed()) return check.error();
  take_hints(check.file(), comm_of(check.file()), given);
  check.take(io::share_hints(check.file()));
  return check.error();
}

int file_get_info(MPI_File fh, MPI_Info* info_used) {
  FileCheck check("MPI_File_get_info", fh);
  check.pointer(info_used, "info_used");
  if (check.failed()) return check.error();
  Info* info = make_info();
  if (info == nullptr) return no_memory(&check.file(), check.function(), "an info object");
  io::show_hints(io::hints_in_force(check.file()),
                 [&](const char* key, const std::string& value) { info->set(key, value); });
  info->set("mpi_memory_alloc_kinds", kinds_of(comm_of(check.file())));
  {
    std::lock_guard lock(details);
    if (check.file().memory_asserted) info->set(asserted_kinds, *check.file().memory_asserted);
  }
  *info_used = handle_of<MPI_Info>(info);
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
