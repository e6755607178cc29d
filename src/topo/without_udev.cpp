// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// hwloc asks libudev for the models of disks. Tools that have hwloc inside (WEFT_STATIC_HWLOC) do without that library,
// which not every machine has: hwloc then knows no models, and nothing here asks for them.

struct udev;
struct udev_device;

extern "C" {
udev* udev_new() {
  return nullptr;
}
udev* udev_unref(udev* /*udev*/) {
  return nullptr;
}
udev_device* udev_device_new_from_subsystem_sysname(udev* /*udev*/, const char* /*subsystem*/, const char* /*name*/) {
  return nullptr;
}
udev_device* udev_device_unref(udev_device* /*device*/) {
  return nullptr;
}
const char* udev_device_get_property_value(udev_device* /*device*/, const char* /*key*/) {
  return nullptr;
}
}
