// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The part of UCC's interface that Weft uses, declared here, as few systems have UCC's header: layouts and numbers of
// its version 1.5 and newer, which grew at their ends only. tests/mpi/ucc_header.cpp compares them with the header
// where there is one. `more` is space at the end of what the library reads: a newer one may copy a longer structure.

#include <cstddef>
#include <cstdint>

namespace weft::transport::ucc::abi {

inline constexpr unsigned version_major = 1;
inline constexpr unsigned version_minor = 5;

// Negative: an error.
enum Status : int32_t { ok = 0, in_progress = 1, not_supported = -1, no_memory = -4, no_message = -6 };

// Handles; none but these are looked into.
struct Library;
struct LibraryConfig;
struct Context;
struct ContextConfig;
struct Team;
struct CollectiveRequest {
  Status status;
};

enum class Threads : uint32_t { single = 0, multiple = 2 };

struct LibraryParams {
  static constexpr uint64_t has_threads = 1;
  uint64_t mask;
  Threads threads;
  uint64_t collectives;
  uint64_t reductions;
  uint32_t sync;
  unsigned char more[192];
};

// How the library exchanges small data before it can send messages of its own.
struct OutOfBand {
  Status (*allgather)(void* mine, void* all, size_t bytes, void* info, void** request);
  Status (*test)(void* request);
  Status (*free)(void* request);
  void* info;
  uint32_t members;
  uint32_t place;
};

struct Segments {
  void* segments;
  uint64_t count;
};

struct ContextParams {
  static constexpr uint64_t has_type = 1;
  uint64_t mask;
  uint32_t type;  // 0 is exclusive
  uint32_t sync;
  OutOfBand out_of_band;
  uint64_t id;
  Segments segments;
  unsigned char more[192];
};

struct TeamParams {
  static constexpr uint64_t has_place = 4, has_range = 16, has_size = 32, has_out_of_band = 128;
  uint64_t mask;
  uint64_t flags;
  uint32_t ordering;
  uint64_t outstanding;
  uint64_t place;
  uint64_t* places;
  uint32_t range;  // 0: places are 0 to size - 1
  uint64_t size;
  uint32_t sync;
  OutOfBand out_of_band;
  void* connections[5];
  Segments segments;
  struct {
    uint32_t type;
    uint64_t count;
    uint64_t of_type[2];
  } map;
  uint64_t id;
  unsigned char more[192];
};

enum class CollectiveType : uint32_t { allreduce = 4, barrier = 32, bcast = 64 };

// The number of a predefined type, shifted.
using Type = uint64_t;
constexpr Type predefined(uint64_t number) {
  return number << 3;
}
inline constexpr Type int8 = predefined(0), int16 = predefined(1), int32 = predefined(2), int64 = predefined(3);
inline constexpr Type uint8 = predefined(5), uint16 = predefined(6), uint32 = predefined(7), uint64 = predefined(8);
inline constexpr Type float32 = predefined(11), float64 = predefined(12);

enum class ReductionOp : uint32_t { sum, prod, max, min, land, lor, lxor, band, bor, bxor };

struct BufferInfo {
  void* data;
  uint64_t count;
  Type type;
  uint32_t memory;      // 0 is the host's
  void* of_v_forms[1];  // whose buffers have one word more
};

struct Arguments {
  uint64_t mask;
  CollectiveType collective;
  BufferInfo from;
  BufferInfo to;
  ReductionOp reduction;
  uint64_t flags;
  uint64_t root;
  uint32_t error_type;
  uint16_t tag;
  void* work;
  struct {
    void (*function)(void* of, Status status);
    void* of;
  } at_end;
  double timeout;
  struct {
    uint64_t start;
    int64_t stride;
    uint64_t size;
  } active;
  void* handles[2];
  unsigned char more[192];
};

using GetVersion = void(unsigned* major, unsigned* minor, unsigned* release);
using GetVersionString = const char*();
using StatusString = const char*(Status status);
using LibraryConfigRead = Status(const char* prefix, const char* file, LibraryConfig** config);
using LibraryConfigRelease = void(LibraryConfig* config);
using InitVersion = Status(unsigned major, unsigned minor, const LibraryParams* params, const LibraryConfig* config,
                           Library** library);
using ContextConfigRead = Status(Library* library, const char* file, ContextConfig** config);
using ContextConfigRelease = void(ContextConfig* config);
using ContextCreate = Status(Library* library, const ContextParams* params, const ContextConfig* config,
                             Context** context);
using ContextProgress = Status(Context* context);
using ContextDestroy = Status(Context* context);
using TeamCreatePost = Status(Context** contexts, uint32_t count, const TeamParams* params, Team** team);
using TeamCreateTest = Status(Team* team);
using TeamDestroy = Status(Team* team);
using CollectiveInit = Status(Arguments* arguments, CollectiveRequest** request, Team* team);
using CollectivePost = Status(CollectiveRequest* request);
using CollectiveFinalize = Status(CollectiveRequest* request);

}  // namespace weft::transport::ucc::abi
