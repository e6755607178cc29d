// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "device/select/adapter.hpp"

#include "device/api/device.hpp"
#include "device/cuda/engine.hpp"
#include "device/cuda/library.hpp"

namespace weft::device {

using namespace by_cuda;

Maker maker() {
  return active == &cuda ? Maker::nvidia : active == &hip ? Maker::amd : Maker::none;
}

std::string offer(const void* address, int& number) {
  if (maker() == Maker::none) return "adapters do not know memory of this driver";
  const CudaAddress place = place_of(address);
  if (!place.on_device) return "the address is not in memory of a device";
  number = place.device;
  return set_sync_memops(address);
}

// Where the device sees such writes at once, the driver does nothing.
void settle(const void* address) {
  constexpr int of_current_context = 0, for_all_devices = 200;  // CUflushGPUDirectRDMAWritesTarget, ...Scope
  if (maker() == Maker::none || library.flush_writes == nullptr) return;
  ContextStream lane{};
  std::string problem;
  if (!find_lane(place_of(address), lane, problem)) return;
  const Current current(lane.context);
  (void)library.flush_writes(of_current_context, for_all_devices);
}

InContext::InContext(const void* address) {
  if (address == nullptr || maker() == Maker::none) return;
  const CudaAddress place = place_of(address);
  ContextStream lane{};
  std::string problem;
  if (!place.on_device || !find_lane(place, lane, problem)) return;
  Context now = nullptr;
  pushed_ = (library.current(&now) != success || now != lane.context) && library.push(lane.context) == success;
}

InContext::~InContext() {
  Context was = nullptr;
  if (pushed_) (void)library.pop(&was);
}

}  // namespace weft::device
