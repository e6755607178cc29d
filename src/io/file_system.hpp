// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The file system that a file lies on, as far as accesses depend on it.

#include <cstdint>
#include <string_view>

namespace weft::io {

enum class Storage : uint8_t {
  other,
  host,  // a page cache of this host is all there is between the file and its storage
  nfs,   // each host has a cache of its own; they agree when a lock is taken and when it is released
  lustre,
};

struct FileSystem {
  Storage storage = Storage::other;
  bool in_memory = false;    // and there is no storage (tmpfs)
  bool local_locks = false;  // locks hold on this host alone (NFS mounted with nolock or local_lock)
};

// The file system of an open file or folder.
[[nodiscard]] FileSystem file_system_of(int fd);

// Whether the mount of a device has an option that keeps locks on the host. `mounts`: the text of /proc/self/mountinfo.
[[nodiscard]] bool has_local_locks(std::string_view mounts, uint32_t major, uint32_t minor);

}  // namespace weft::io
