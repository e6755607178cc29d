// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The memory all ranks of a host share: a memfd, so that nothing stays behind in whichever way the job ends.

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/descriptor.hpp"

namespace weft::boot {

// A new, empty segment, mode 0600; -1 and errno when there is none.
[[nodiscard]] int create_segment(bool inherited);

// A file like that of huge pages of `page` bytes, a power of two; -1 and errno: the system has none of them.
[[nodiscard]] int create_huge_file(size_t page, size_t bytes);

// Whether this descriptor is such a segment.
[[nodiscard]] bool is_segment(int fd);

// Gives it its size; every rank does, with the same size. False and errno on failure; EINVAL when it has another size.
[[nodiscard]] bool size_segment(int fd, size_t bytes);

// Takes memory for a part of it, so that touching it cannot fail later. False and errno when there is none.
[[nodiscard]] bool reserve_segment(int fd, size_t offset, size_t bytes);

// The text by which another process of this host opens our segment: "pid:fd:device:inode".
std::string segment_address(int fd);
// Opens it; -1 and errno on failure, EINVAL for an address that is none.
[[nodiscard]] int open_segment(const std::string& address);
// The process in such an address; 0: that is none.
[[nodiscard]] int process_in(const std::string& address);
// Whether a descriptor, from wherever, is the segment with this address.
[[nodiscard]] bool is_segment_at(int fd, const std::string& address);

// Keeps the job's segment. If the program closes it, it is opened again from the process with this address; empty:
// there is none.
[[nodiscard]] base::Descriptor keep_segment(int fd, const std::string& address);

// The inode of the namespace in which our process has its number: in another one that number is another process. 0:
// unknown.
[[nodiscard]] uint64_t namespace_of_processes();

// Ends the job with a message that says this of its segment, and the cause as errno has it.
[[noreturn]] void die_of_segment(const char* what, int error);

// Names this host: boot id and host name. Characters that launchers' protocols do not carry are replaced.
std::string host_identity();

}  // namespace weft::boot
