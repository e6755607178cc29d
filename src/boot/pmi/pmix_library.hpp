// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The part of libpmix.so.2 that is used, loaded when a PMIx launcher is there and not before. Types and constants are
// declared here as PMIx has had them since version 2.1: so the library builds everywhere in the same way, and no
// header's macros call functions that would have to be linked. tests/unit/boot_pmix.cpp compares them with PMIx's own
// header where there is one.

#include <cstddef>
#include <cstdint>
#include <string>

namespace weft::boot::pmix {

inline constexpr int success = 0;
inline constexpr int operation_succeeded = -157;  // done at once: there will be no call back

inline constexpr uint32_t rank_wildcard = UINT32_MAX - 1;  // for facts about the whole job
inline constexpr uint8_t scope_global = 3;

enum PmixType : uint16_t {
  type_bool = 1,
  type_string = 3,
  type_size = 4,
  type_int = 6,
  type_int32 = 9,
  type_uint = 11,
  type_uint16 = 13,
  type_uint32 = 14,
  type_uint64 = 15,
  type_bytes = 27,
};

namespace key {
inline constexpr const char* job_size = "pmix.job.size";
inline constexpr const char* app_number = "pmix.appnum";
inline constexpr const char* universe_size = "pmix.univ.size";
inline constexpr const char* local_peers = "pmix.lpeers";
inline constexpr const char* collect_data = "pmix.collect";
inline constexpr const char* optional = "pmix.optional";  // answer from local knowledge, send no question
}  // namespace key

struct Process {
  char job[256];
  uint32_t rank;
};

struct PmixValue {
  uint16_t type;
  union {
    bool flag;
    char* string;
    size_t size;
    int32_t integer;
    uint16_t uint16;
    uint32_t uint32;
    uint64_t uint64;
    struct {
      char* start;
      size_t size;
    } bytes;
    struct {
      char* name;
      char* value;
      char separator;
    } variable;  // the largest of all members
  } data;
};

struct PmixInfo {
  char key[512];
  uint32_t flags;
  PmixValue value;
};

static_assert(sizeof(Process) == 260 && offsetof(Process, rank) == 256);
static_assert(sizeof(PmixValue) == 32 && offsetof(PmixValue, data) == 8);
static_assert(sizeof(PmixInfo) == 552 && offsetof(PmixInfo, flags) == 512 && offsetof(PmixInfo, value) == 520);

extern "C" using Done = void(int status, void* argument);

// The functions, all there or none.
struct PmixFunctions {
  int (*init)(Process* self, const PmixInfo* info, size_t infos);
  int (*finalize)(const PmixInfo* info, size_t infos);
  int (*abort)(int status, const char* message, const Process* processes, size_t count);
  int (*put)(uint8_t scope, const char* key, PmixValue* value);
  int (*commit)();
  int (*fence)(const Process* processes, size_t count, const PmixInfo* info, size_t infos, Done* done, void* argument);
  int (*get)(const Process* process, const char* key, const PmixInfo* info, size_t infos, PmixValue** value);
  const char* (*error_text)(int status);
};

// Loads it once. nullptr: it is not there, and `problem`, if given, says what the loader said.
[[nodiscard]] const PmixFunctions* load(std::string* problem);

}  // namespace weft::boot::pmix
