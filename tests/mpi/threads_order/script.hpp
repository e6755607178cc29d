// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A script: sends and receives in an order, each with the thread that makes it, and which message each receive must
// get.

#include <string>
#include <vector>

#include "threads_team.hpp"

namespace order {

using threads::Random;

struct Send {
  int thread = 0, tag = 0;
  size_t bytes = 8;
  bool synchronous = false;
  bool blocking = false;
};
enum class Kind { irecv, persistent, recv, probe, iprobe, mprobe, improbe };
constexpr int kinds = 7;
struct Receive {
  int thread = 0, tag = 0;  // or MPI_ANY_TAG
  bool any_source = false;
  Kind kind = Kind::irecv;
  int message = -1;  // that must be received
  bool waits() const { return kind != Kind::irecv && kind != Kind::persistent; }
};
enum class Form { messages_first, receives_first, free };

struct Script {
  std::string text;
  uint64_t seed = 0;
  Form form = Form::free;
  std::vector<Send> sends;
  std::vector<Receive> receives;
};

// How many scripts have names; script_of() knows them by number.
extern const int case_count;

// The script is equal on both sides. `named`: a script by its number, or -1 for one of chance.
Script script_of(uint64_t seed, int round, int named);

}  // namespace order
