// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Processes that others start: docs/design/spawn.md.

#include "boot/connect/packet.hpp"
#include "mpi/object/object.hpp"

namespace weft::mpi {

// Ends MPI_Init in a spawned process: makes the intercommunicator with the processes that spawned it. Collective over
// MPI_COMM_WORLD. In other processes it does nothing.
[[nodiscard]] int meet_parents(const char* function);

// The code in array_of_errcodes for a process that was not started, for faces with other numbers than MPI_ERR_SPAWN's.
void set_code_of_not_started(int code);

// The first fields of a request to the launcher: its kind, and who asks.
[[nodiscard]] boot::Packet question_of(const char* kind);

// Asks the launcher while messages go on. False: `why` says why there is no answer, or what the answer refuses.
[[nodiscard]] bool ask(const boot::Packet& question, boot::Packet& answer, std::string& why);

// Asks at the socket of any mpiexec of this user, and waits `most_s` seconds at most (0: without a limit).
[[nodiscard]] bool ask_at(const std::string& socket, int most_s, const boot::Packet& question, boot::Packet& answer,
                          std::string& why);

// Must be called before ask(): a process without a launcher starts one. Returns why no launcher serves requests; empty:
// one does.
[[nodiscard]] std::string need_service();

}  // namespace weft::mpi
