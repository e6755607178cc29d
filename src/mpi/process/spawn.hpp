// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Processes that others start: docs/design/spawn.md.

#include "boot/connect/packet.hpp"
#include "mpi/object/object.hpp"

namespace weft::mpi {

// The end of MPI_Init in a process that was spawned: makes the intercommunicator with those that spawned it. Collective
// over MPI_COMM_WORLD. Nothing in others.
[[nodiscard]] int meet_parents(const char* function);

// The code in array_of_errcodes for a process that was not started, for faces with other numbers than MPI_ERR_SPAWN's.
void set_code_of_not_started(int code);

// The first fields of a request to the launcher: its kind, and who asks.
[[nodiscard]] boot::Packet question_of(const char* kind);

// Asks the launcher while messages go on. False: `why` says why there is no answer, or what the answer refuses.
[[nodiscard]] bool ask(const boot::Packet& question, boot::Packet& answer, std::string& why);

// The same at the socket of any mpiexec of this user, for so many seconds at most (0: as long as it takes).
[[nodiscard]] bool ask_at(const std::string& socket, int most_s, const boot::Packet& question, boot::Packet& answer,
                          std::string& why);

// Before ask(): a process without a launcher starts one. Why there is none that serves requests; empty: there is.
[[nodiscard]] std::string need_service();

}  // namespace weft::mpi
