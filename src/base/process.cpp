// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "base/process.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace weft::base {

// The C library has a function for it from 2.30 on.
pid_t kernel_thread() {
  return static_cast<pid_t>(syscall(SYS_gettid));
}

#if defined(SYS_pidfd_open) && defined(SYS_pidfd_getfd)
int open_process(int pid) {
  return static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
}

int descriptor_of(int process, int descriptor) {
  return static_cast<int>(syscall(SYS_pidfd_getfd, process, descriptor, 0));
}

void signal_process(int process, int signal) {
  (void)syscall(SYS_pidfd_send_signal, process, signal, nullptr, 0);
}
#else
int open_process(int /*pid*/) {
  errno = ENOSYS;
  return -1;
}

int descriptor_of(int /*process*/, int /*descriptor*/) {
  errno = ENOSYS;
  return -1;
}

void signal_process(int /*process*/, int /*signal*/) {}
#endif

}  // namespace weft::base
