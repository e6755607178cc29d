// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "run.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <thread>

#include "balance.hpp"
#include "team.hpp"

namespace mhd {
namespace {

// A thread without work gives its core to one that has some.
class Idle {
 public:
  void rest() {
    if (++rounds_ < 50) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }
  void reset() { rounds_ = 0; }

 private:
  int rounds_ = 0;
};

}  // namespace

Run::Run(const Options& options, Domain* domain, State* state, Place* place)
    : options_(options),
      domain_(*domain),
      state_(state),
      place_(*place),
      times_(static_cast<std::size_t>(options.threads)),
      exchange_(Exchange::make(options.way, *domain, *place, options.threads)) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  place_.bring(state_);
}

// Sets what follows from the patches of this rank, with no thread in work().
void Run::begin_leg() {
  order_.clear();
  for (const bool edge : {true, false}) {
    for (int i = state_->first; i < state_->first + state_->count; ++i) {
      bool away = false;
      for (int d = 0; d < domain_.directions(); ++d) away = away || domain_.rank_of(domain_.neighbour(i, d)) != rank_;
      if (away == edge) order_.push_back(i);
    }
  }
  const auto count = static_cast<std::size_t>(state_->count);
  claims_ = std::vector<Claim>(count);
  for (Claim& one : claims_) one.step = -1;
  longest_.assign(count, 0);
  load_.assign(count, 0);
  sent_ = 0;
  leg_ = state_->step;
}

// The length of the first step, from a state that is not a checkpoint's.
bool Run::first_step() {
  if (state_->longest == 0) {
    double mine = 1e300;
    for (int i = 0; i < state_->count; ++i)
      mine = std::min(mine, place_.scheme(0).longest_step(place_.patch(state_->first + i)));
    MPI_Allreduce(&mine, &state_->longest, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  }
  begun_ = state_->step;
  step_ = state_->step;
  choose_step();
  return !stop_;
}

// From the state to dt_, last_ and stop_.
void Run::choose_step() {
  if (!(state_->longest > 0)) {
    if (rank_ == 0) {
      std::fprintf(stderr,
                   "mhd: after step %lld the density or the pressure of a cell is not positive. Take a smaller Courant "
                   "number (-c, here %g). The last checkpoint, if there is one, is as it was\n",
                   static_cast<long long>(state_->step), options_.courant);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);  // until rank 0 has ended the job: borders are still under way
  }
  dt_ = options_.courant * state_->longest;
  if (state_->time >= options_.end || state_->step >= options_.steps) {
    stop_ = true;
    return;  // last_ stays: late threads still compare with it
  }
  if (state_->step + 1 >= options_.steps) last_ = state_->step;
  if (state_->time + dt_ >= options_.end) {
    dt_ = options_.end - state_->time;
    last_ = state_->step;
  }
}

// A patch whose ghosts are there and that nobody has taken; -1: none.
int Run::claim(int64_t step) {
  for (const int index : order_) {
    std::atomic<int64_t>& next = claims_[static_cast<std::size_t>(index - state_->first)].step;
    int64_t expected = step;
    if (next.load(std::memory_order_relaxed) != step || !exchange_->ready(index, step)) continue;
    if (next.compare_exchange_strong(expected, step + 1, std::memory_order_acquire, std::memory_order_relaxed))
      return index;
  }
  return -1;
}

void Run::advance(int thread, int index, int64_t step) {
  Times* times = &times_[static_cast<std::size_t>(thread)];
  Scheme& scheme = place_.scheme(thread);
  double* cells = place_.patch(index);
  const auto slot = static_cast<std::size_t>(index - state_->first);
  exchange_->take(thread, index, step, cells, times);
  const double before = times->computing;
  Times::add(&times->computing, [&] {
    scheme.advance(dt_, cells);
    longest_[slot] = scheme.longest_step(cells);
  });
  load_[slot] += times->computing - before;
  if (!is_last(step)) exchange_->send(thread, index, step + 1, cells, times);
}

void Run::end_step(int thread, int64_t step) {
  Times* times = &times_[static_cast<std::size_t>(thread)];
  exchange_->step_ends(step, times);
  const double mine = *std::min_element(longest_.begin(), longest_.end());
  Times::add(&times->waiting, [&] { MPI_Allreduce(&mine, &state_->longest, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD); });
  state_->time = is_last(step) && options_.end - state_->time == dt_ ? options_.end : state_->time + dt_;
  ++state_->step;
  choose_step();
  const bool filmed = film();
  if (status_ == 0 && (!stop_ || filmed)) {
    if (filmed || state_->step % options_.report == 0) report();
    if (!stop_ && !options_.checkpoint.empty() && state_->step % options_.keep == 0) {
      place_.fetch(state_);
      if (!write_checkpoint(options_.checkpoint, options_.problem->name, domain_, *state_))
        status_ = 1;  // the run goes on: the next may succeed, and the result is wanted
    }
  }
  finished_.store(0, std::memory_order_relaxed);
  step_.store(step + 1, std::memory_order_release);
}

void Run::work(int thread) {
  place_.enter();
  Times* times = &times_[static_cast<std::size_t>(thread)];
  int64_t step = leg_;
  for (int next = sent_.fetch_add(1); next < state_->count; next = sent_.fetch_add(1)) {
    const int index = order_[static_cast<std::size_t>(next)];
    exchange_->send(thread, index, step, place_.patch(index), times);
    // Now it may change. Release: pairs with the acquire of claim().
    claims_[static_cast<std::size_t>(index - state_->first)].step.store(step, std::memory_order_release);
  }
  const bool funnelled = options_.way == Way::funnelled;
  Idle idle;
  while (true) {
    exchange_->poll(thread, step, is_last(step), times);
    const int index = claim(step);
    bool ends = false;
    if (index >= 0) {
      idle.reset();
      advance(thread, index, step);
      // Release and acquire: the thread that counts the last patch sees what the others have computed.
      ends = finished_.fetch_add(1, std::memory_order_acq_rel) + 1 == state_->count && !funnelled;
    }
    if (funnelled && thread == 0) ends = finished_.load(std::memory_order_acquire) == state_->count;
    if (ends) {
      end_step(thread, step);
    } else if (index < 0 && step_.load(std::memory_order_acquire) == step) {
      Times::add(&times->waiting, [&] { idle.rest(); });
      continue;
    }
    // The length of a new step and its end may be read only after this load.
    const int64_t now = step_.load(std::memory_order_acquire);
    if (now != step) {
      step = now;  // more than one step later, if the other threads needed no help
      if (stop_ || ends_leg(now - 1)) return;
    }
  }
}

int Run::go() {
  if (!first_step()) return conclude(0);
  film_.start(state_->time, options_.end);
  (void)film();
  if (begun_ == 0) report();  // the faces between patches of a checkpoint's state come with the first step
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  while (true) {
    begin_leg();
    parallel(options_.threads, [this](int thread) { work(thread); });
    exchange_->finish();
    if (stop_) break;
    balance();
  }
  const double seconds = MPI_Wtime() - begin;
  return conclude(seconds);
}

// Gives each rank the same load. Loads of equal patches measure a few percent apart: a gain of less than 5 % of the
// largest load moves nothing.
void Run::balance() {
  const std::vector<double> loads =
      options_.wave ? wave_loads(domain_.patches(), state_->step) : gather_loads(load_, domain_);
  const std::vector<int> ranges = equal_ranges(loads, ranks_, domain_.most());
  ++chances_;
  if (largest_load(loads, ranges) >= 0.95 * largest_load(loads, domain_.ranges())) return;
  ++moves_;
  place_.fetch(state_);
  received_ += move_patches(ranges, &domain_, state_);
  place_.bring(state_);
  exchange_->follow();
}

// Collective: adds a picture to the film strip if one is due.
bool Run::film() {
  if (options_.film.empty() || !film_.due(state_->time)) return false;
  place_.fetch(state_);
  film_.add(domain_, *state_);
  return true;
}

void Run::report() {
  place_.fetch(state_);
  const Measure m = measure(domain_, *state_);
  if (rank_ != 0 || options_.quiet) return;
  if (state_->step == 0)
    std::printf(
        "    step       time   kinetic     magnetic    internal    all               density            div B\n");
  std::printf("%8lld  %9.6f  %.4e  %.4e  %.4e  %.10e  %.4f to %.4f  %.1e\n", static_cast<long long>(state_->step),
              state_->time, m.kinetic, m.magnetic, m.internal, m.kinetic + m.magnetic + m.internal, m.least, m.most,
              m.divergence);
  std::fflush(stdout);
}

int Run::conclude(double seconds) {
  place_.fetch(state_);
  const auto kept = [&](bool done) {
    if (!done) status_ = 1;
  };
  if (!options_.checkpoint.empty())
    kept(write_checkpoint(options_.checkpoint, options_.problem->name, domain_, *state_));
  if (!options_.vtk.empty()) kept(write_vtk(options_.vtk, options_.problem->gamma, domain_, *state_));
  if (!options_.picture.empty()) kept(write_picture(options_.picture, domain_, *state_));
  if (!options_.film.empty()) kept(film_.write(options_.film));
  const uint64_t hash = digest(domain_, *state_);
  const Measure m = measure(domain_, *state_);
  double mine = 0, lost = 0;
  for (int i = 0; i < state_->count; ++i)
    mine += distance(*options_.problem, domain_, state_->first + i, state_->patch(domain_, state_->first + i));
  MPI_Reduce(&mine, &lost, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  Times sum;
  for (const Times& t : times_) {
    sum.computing += t.computing;
    sum.copying += t.copying;
    sum.in_mpi += t.in_mpi;
    sum.waiting += t.waiting;
    sum.messages += t.messages;
    sum.bytes += t.bytes;
  }
  const auto received = static_cast<double>(received_);
  std::array<double, 7> own = {sum.computing, sum.copying, sum.in_mpi, sum.waiting, sum.messages, sum.bytes, received},
                        all = {};
  MPI_Reduce(own.data(), all.data(), static_cast<int>(own.size()), MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank_ != 0) return status_;
  const double cells = static_cast<double>(domain_.cells(0)) * domain_.cells(1) * domain_.cells(2);
  const double total = all[0] + all[1] + all[2] + all[3] + 1e-300, steps = static_cast<double>(state_->step - begun_);
  std::printf("end: step %lld, time %.6f, energy %.10e, mass %.10e\n", static_cast<long long>(state_->step),
              state_->time, m.kinetic + m.magnetic + m.internal, m.mass);
  std::printf("density: %.6f to %.6f; divergence of B: ", m.least, m.most);
  if (steps > 0 || begun_ == 0) {
    std::printf("%.2e (largest, times the spacing of cells)\n", m.divergence);
  } else {
    std::printf("not known before a step\n");
  }
  std::printf("distance to the start: %.6e (mean over cells and fields)\n", lost / cells / fields);
  std::printf("state: %016llx\n", static_cast<unsigned long long>(hash));
  std::printf("threads: computing %.1f %%, copying borders %.1f %%, in MPI %.1f %%, waiting %.1f %%\n",
              100 * all[0] / total, 100 * all[1] / total, 100 * all[2] / total, 100 * all[3] / total);
  std::printf("borders between ranks: %.0f of %.0f bytes\n", all[4], all[4] > 0 ? all[5] / all[4] : 0);
  if (options_.move > 0)
    std::printf("patches moved: %.0f, at %lld of %lld occasions\n", all[6], static_cast<long long>(moves_),
                static_cast<long long>(chances_));
  std::printf("speed: %.3f million cells per second (%.3f s, %.1f ms a step)\n",
              1e-6 * cells * steps / std::max(seconds, 1e-9), seconds, steps > 0 ? 1e3 * seconds / steps : 0);
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  if (static_cast<long>(ranks_) * options_.threads > cores)
    std::printf("(%d ranks of %d threads; the machine has %ld cores)\n", ranks_, options_.threads, cores);
  return status_;
}

}  // namespace mhd
