// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// All that the generated entry points call.

#include "shmem/atomic.hpp"
#include "shmem/collective.hpp"
#include "shmem/counted.hpp"
#include "shmem/heap.hpp"
#include "shmem/lock.hpp"
#include "shmem/order.hpp"
#include "shmem/rma.hpp"
#include "shmem/setup.hpp"
#include "shmem/state.hpp"
#include "shmem/team.hpp"
#include "shmem/wait.hpp"
