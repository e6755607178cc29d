// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Notes of MPI's calls for accounts of waits (core/diagnose/account.hpp).

#include "core/diagnose/account.hpp"
#include "mpi/object/object.hpp"

namespace weft::mpi {

using core::Account;
using core::Doing;
using core::WaitKind;

// For Account::name, of a communicator that has one of MPI's objects.
void name_comm(const core::Comm& comm, char* text, uint64_t room);

// Of the next operation that all ranks of a communicator call.
Account account_of_all(const char* call, Comm& comm);

}  // namespace weft::mpi
