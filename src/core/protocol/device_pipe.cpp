// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/protocol/device_pipe.hpp"

#include "base/setting.hpp"

namespace weft::core {
namespace {

constinit base::IntSetting chunk{
    {.name = "WEFT_DEVICE_CHUNK",
     .help = "chunks in which messages go between a device and the host's memory; 0: by WEFT_TUNING, or 128 KiB",
     .unit = base::Unit::bytes,
     .subject = base::Subject::messages,
     .change = base::Change::always},
    0,
    {0, most_device_chunk}};
WEFT_SETTING(chunk);

constinit base::IntSetting depth{
    {.name = "WEFT_DEVICE_DEPTH",
     .help = "chunks of a message that are copied from a device at a time; 0: by WEFT_TUNING, or 2",
     .unit = base::Unit::count,
     .subject = base::Subject::messages,
     .change = base::Change::always},
    0,
    {0, most_device_depth}};
WEFT_SETTING(depth);

constinit std::vector<DevicePipe>* table = nullptr;  // kept until the process ends

}  // namespace

DevicePipe device_pipe(int64_t bytes) {
  DevicePipe pipe{INT64_MAX, most_device_chunk, 2};
  if (table != nullptr) {
    for (const DevicePipe& row : *table) {
      if (bytes > row.bytes) continue;
      pipe = row;
      break;
    }
  }
  if (const int64_t wanted = chunk.value()) pipe.chunk = wanted < least_device_chunk ? least_device_chunk : wanted;
  if (const int64_t wanted = depth.value()) pipe.depth = static_cast<int32_t>(wanted);
  return pipe;
}

void set_device_pipes(std::vector<DevicePipe> rows) {
  if (table == nullptr) table = new std::vector<DevicePipe>;
  *table = std::move(rows);
}

}  // namespace weft::core
