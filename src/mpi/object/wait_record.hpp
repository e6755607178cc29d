// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Notes of MPI's calls for records of waits (core/diagnose/wait_record.hpp).

#include "core/diagnose/wait_record.hpp"
#include "mpi/object/object.hpp"

namespace weft::mpi {

using core::Doing;
using core::WaitKind;
using core::WaitRecord;

// A function for WaitRecord::name: it names a communicator that has one of MPI's objects.
void name_comm(const core::Comm& comm, char* text, uint64_t room);

// Makes the record for the next operation that all ranks of a communicator call.
WaitRecord wait_record_of_all(const char* call, Comm& comm);

}  // namespace weft::mpi
