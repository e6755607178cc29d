// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A process that was started without a launcher, or the ranks of a host in a job that another launcher has started, get
// one of ours when they ask for the first thing that needs one (a spawn, a port): the mpiexec beside this library
// serves the spare places of the segment that the processes have already, as if it had started them itself. The first
// rank that needs it starts it; the others learn of it by the segment's first line. docs/design/spawn.md.

#include "base/message.hpp"
#include "boot/job/job.hpp"

namespace weft::boot {

// The first word of that mpiexec's command line. Behind it: the number of our process, how many places the job has, how
// many ranks it began with, both on this host, whether it is on one host (1) or several (2), and its name.
inline constexpr const char* attach_option = "--attach";
// Its descriptors: the segment, and a line to us over which it says its socket's name in hexadecimal digits and a
// newline.
inline constexpr int attach_segment = 3;
inline constexpr int attach_line = 4;
// Said over the line when the process leaves the job; a line that ends without it means nothing.
inline constexpr char attach_left = 'L';

// Spare places of a job when nobody has said how many: as many processes may be spawned at a time. They cost nothing
// before they are used.
[[nodiscard]] constexpr int usual_spare_places(int started) {
  constexpr int usual = 512;
  constexpr int most_with_slots = 2048;  // transport/shm/layout.cpp: with more, there is no large memory for windows
  return started > most_with_slots || most_with_slots - started > usual ? usual : most_with_slots - started;
}

// Whether Weft's mpiexec is the launcher, or would be.
[[nodiscard]] constexpr bool has_own_launcher(Launcher launcher) {
  return launcher == Launcher::mpiexec || launcher == Launcher::singleton;
}

// Sets `job.service` and `job.number`. `meanwhile` is called again and again. False: `problem` says why there is no
// launcher.
[[nodiscard]] bool start_own_launcher(Job& job, void (*meanwhile)(), base::Problem& problem);
// Sets them if another rank of the job has started one. Thread-safe.
void learn_own_launcher(Job& job);
// The process leaves the job. Nothing where no launcher was started.
void leave_own_launcher(Job& job);

}  // namespace weft::boot
