// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Apertures: memory of CUDA's devices that is mapped for the processor by GDRCopy (libgdrapi and its kernel module), so
// that it copies small data itself and waits for no engine of the device.

#include <cstddef>
#include <string>

namespace weft::device {

// The largest copies that go so, to a device and from it; 0: none does.
extern size_t aperture_most_to, aperture_most_from;

// Looks for GDRCopy, once CUDA's driver is in use.
void open_apertures();
// Empty: there is GDRCopy, otherwise the reason why not.
[[nodiscard]] std::string why_no_apertures();

// Copies between the host and a device. false: nothing was copied, as it is too much, or lies in memory that cannot be
// mapped, or within the device. Thread-safe.
[[nodiscard]] bool copy_by_aperture(void* to, const void* from, size_t bytes);

}  // namespace weft::device
