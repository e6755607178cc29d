// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/object/wait_record.hpp"

#include <cstring>
#include <mutex>

#include "base/lock.hpp"

namespace weft::mpi {

void name_comm(const core::Comm& comm, char* text, uint64_t room) {
  std::lock_guard lock(details);
  const std::string& name = static_cast<const Comm&>(comm).name;
  strncpy(text, name.c_str(), room - 1);
  text[room - 1] = 0;
}

WaitRecord wait_record_of_all(const char* call, Comm& comm) {
  return {.kind = WaitKind::collective, .call = call, .comm = &comm, .order = ++comm.collectives, .name = name_comm};
}

}  // namespace weft::mpi
