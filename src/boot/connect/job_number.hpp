// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Jobs of one user on one host have numbers, by which they find each other (docs/design/spawn.md, "Two jobs"). The
// number is part of the name of the socket over which the job's mpiexec takes requests. The kernel sees to it that no
// two have the same, and nothing stays when mpiexec ends.

#include <string>

namespace weft::boot {

class ListeningSocket;

inline constexpr int job_numbers = 256;  // 1 to 255; 0: a job without a number, which no other reaches
inline constexpr int job_shift = 12;
inline constexpr int most_places_of_a_job = 1 << job_shift;  // that has a number

// Jobs of other hosts have numbers behind those, which this job's mpiexec gives them, and which are good in this job
// alone; and the ranks of such a job, as this job numbers them, are a block as those of the others.
inline constexpr int far_jobs = 64;
inline constexpr int all_job_numbers = job_numbers + far_jobs;
inline constexpr int first_far_rank = job_numbers << job_shift;

// The socket of this user's job with that number, whether it is there or not.
[[nodiscard]] std::string socket_of_job(int number);
// The number in the name of such a socket; 0: it has none.
[[nodiscard]] int number_of_socket(const std::string& name);

// Opens a socket with the first free number after `begin`, or, if all are taken, one without.
void open_job_socket(ListeningSocket& socket, int begin);

}  // namespace weft::boot
