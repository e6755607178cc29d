// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Memory as a program asks for it, and as it got it.

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/cpus.hpp"

namespace weft::pages {

// Kinds of NUMA nodes. Memory that is neither, as behind a CXL link, is `other`: it is taken
// by its number alone.
enum class MemoryKind : uint8_t { ddr, hbm, other };

// Where memory shall lie: wherever the system puts it, on nodes of a kind, or on one node.
enum class Affinity : uint8_t { system, ddr, hbm, node };

// How strictly. `interleave` spreads pages over all nodes of the affinity, and falls back as `preferred`.
enum class Policy : uint8_t { preferred, mandatory, interleave };

inline constexpr size_t base_page = 4096;

struct Wish {
  size_t alignment = 1;  // a power of two; memory begins at a page in any case
  Affinity affinity = Affinity::system;
  int node = -1;  // for Affinity::node, the system's number
  Policy policy = Policy::preferred;
  size_t page = base_page;  // a power of two
};

struct Grant {
  void* memory = nullptr;  // nullptr: there is none, and `problem` says why
  std::string problem;     // for people, with the remedy

  // These say how it was obtained.
  Affinity affinity = Affinity::system;
  Policy policy = Policy::preferred;
  base::CpuSet nodes;       // that it is bound to, or prefers; empty: where it is first touched
  size_t page = base_page;  // that backs it, or may back it when transparent
  bool transparent = false;
  size_t aligned = base_page;
  std::string fallback;  // for people: wishes that were not granted, and why; empty: all were
};

}  // namespace weft::pages
