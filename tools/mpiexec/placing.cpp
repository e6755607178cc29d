// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause

// Where the ranks of a job run: the part of Launch that looks at the machine.

#include <cstdio>
#include <cstdlib>

#include "base/message.hpp"
#include "base/setting.hpp"
#include "boot/job/rank_order.hpp"
#include "boot/job/reserve.hpp"
#include "mpiexec/launch.hpp"
#include "topo/layout.hpp"
#include "topo/memory.hpp"

namespace weft::mpiexec {

// The machine is looked at only when there is something to divide: hwloc takes longer than starting a rank.
bool Launch::place() {
  base::load_known_settings();
  int count = command_.ranks();
  topo::BindingRequest request = command_.binding;
  if (request.reserve == 0) request.reserve = boot::wanted_reserve();
  const topo::Binding binding = request.binding;
  const bool needs_caches = command_.show_layout || command_.binding.threads > 0;
  std::string problem;
  const bool divides = binding != topo::Binding::none && (count > 1 || !topo::is_by_core(binding));
  if (divides || needs_caches || request.reserve > 0) {
    machine_ = !command_.machine.empty()
                   ? topo::machine_of(command_.machine, problem)
                   : topo::this_machine(needs_caches ? topo::Caches::known : topo::Caches::unknown);
    placement_ = topo::place(machine_, count, request);
  } else {
    placement_.sets.resize(static_cast<size_t>(count));
    placement_.cpus = placement_.cores = base::usable_cpus();
    placement_.crowded = count > placement_.cpus;
  }
  if (!problem.empty()) placement_.wrong = "--machine " + base::quoted(command_.machine) + problem;
  if (getenv("WEFT_MEMORY_NODES") == nullptr) kinds_ = topo::kinds_for_ranks();
  if (!placement_.wrong.empty()) {
    tell(base::describe({.cause = "cannot place ranks: " + placement_.wrong,
                         .remedy = "see --bind, --reserve-cores and --show-layout"}));
    status_ = status_not_started;
    return false;
  }
  if (command_.no_oversubscribe && placement_.crowded) {
    tell(base::describe({.cause = std::to_string(count) + " ranks are more than the " +
                                  std::to_string(placement_.cpus) + " processors here, which --nooversubscribe forbids",
                         .remedy = "start fewer ranks, or leave the option out"}));
    status_ = status_not_started;
    return false;
  }
  if (!order()) {
    status_ = status_not_started;
    return false;
  }
  note_sharing();
  return true;
}

void Launch::note_sharing() {
  if (command_.quiet || command_.oversubscribe) return;
  const int threads = command_.binding.threads;
  const std::string what = std::to_string(command_.ranks()) + " ranks " +
                           (threads > 0 ? "of " + std::to_string(threads) + " threads " : "") + "on " +
                           std::to_string(placement_.cores) + " cores: ";
  const bool bound = !placement_.sets.empty() && !placement_.sets[0].empty();
  if (placement_.crowded) {
    tell(what + "ranks will share cores; waiting ranks yield" +
         (bound && topo::is_by_core(command_.binding.binding) ? "; each is bound to one processor in turn" : "") +
         " (--oversubscribe hides this note" + (bound ? ", --bind none leaves ranks unbound" : "") + ")");
  } else if (command_.threads_asked && topo::is_by_core(command_.binding.binding) &&
             placement_.places == topo::Places::unsaid) {
    tell(what + "threads of a rank will share its cores (--oversubscribe hides this note)");
  }
}

int Launch::show() {
  if (!place()) return stop_early(status_);
  (void)fputs(topo::shown_layout(machine_, placement_).c_str(), stdout);
  return stop_early(0);
}

// On one host an order of ranks says who is bound where.
bool Launch::order() {
  std::vector<int> rank_of_slot;
  base::Problem problem;
  const std::vector<int> host_of_slot(placement_.sets.size(), 0);
  if (!boot::reorder(boot::wanted_rank_order(), host_of_slot, rank_of_slot, problem)) {
    tell(base::describe(problem));
    return false;
  }
  const auto sets = placement_.sets;
  for (size_t slot = 0; slot < sets.size(); ++slot) {
    placement_.sets[static_cast<size_t>(rank_of_slot[slot])] = sets[slot];
  }
  return true;
}

}  // namespace weft::mpiexec
