// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The process that the user starts, in front of the one that runs the job: nothing outlives the job even if one of the
// two is killed. Both are subreapers: each process that a rank starts, in sessions of its own too, becomes a child of
// the job's process when its parent ends, and of the front when the job's process has gone.

#include <csignal>
#include <functional>

namespace weft::mpiexec {

// Tells the job's process that the front was killed.
inline constexpr int front_is_gone = SIGPWR;

// The signals that both processes take by themselves.
inline constexpr int watched_signals[] = {SIGCHLD, SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1,      SIGUSR2,
                                          SIGTSTP, SIGCONT, SIGTTIN, SIGTTOU, SIGPIPE, front_is_gone};

// The job's process calls it, so that the shell sees the front stop and go on. The job's process itself does not stop:
// a front that followed it would stay stopped when somebody else stops and continues all processes, as batch systems
// do.
void signal_front(int signal);

// Runs the job in a process of its own, which gets the signals that come here; returns its status, 128 + signal when it
// was killed: then nothing that the job has started is left, nor the process with the descriptor `adopted`, if there is
// one that is of the job and no child.
int run_behind_front(const std::function<int()>& job, int adopted = -1);

}  // namespace weft::mpiexec
