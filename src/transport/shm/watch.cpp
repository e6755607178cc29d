// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/watch.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <utility>

#include "base/process.hpp"
#include "boot/job/segment.hpp"
#include "transport/api/failure.hpp"

namespace weft::transport::shm {
namespace {

constexpr int others_most = 32;
constexpr int launcher_first_ms = 1500;  // it knows more than we: the signal

// A field of a place's Control: it need not be mapped for that.
template <class Value>
Value read_at(int segment, size_t at) {
  Value value{};
  return pread(segment, &value, sizeof value, static_cast<off_t>(at)) == sizeof value ? value : Value{};
}

}  // namespace

ProcessWatch::ProcessWatch(int place, int watched, int places, const base::Descriptor& segment,
                           std::function<int(int place)> rank_at)
    : segment_(segment), layout_(layout_for(places)), rank_at_(std::move(rank_at)) {
  for (int i = 1; i < watched && i <= others_most; ++i) others_.push_back({.place = (place + i) % watched});
}

int ProcessWatch::pid_of(int place) const {
  return read_at<int32_t>(segment_.number(), layout_.rank_at(place) + offsetof(Control, pid));
}

// A process that was there, and is no more, is noticed too (false). A number means another process, or none, in another
// namespace of processes: those are not watched, nor where the system cannot.
bool ProcessWatch::find(Seen& seen) const {
  const int pid = pid_of(seen.place);
  if (pid == 0) return true;
  seen.pid = pid;
  const size_t at = layout_.rank_at(seen.place) + offsetof(Control, namespace_of_pid);
  const uint64_t ours = boot::namespace_of_processes();
  if (ours == 0 || read_at<uint64_t>(segment_.number(), at) != ours) return true;
  seen.process = net::Socket(base::open_process(pid));
  return seen.process || errno != ESRCH;
}

void ProcessWatch::look() {
  if (looking_.exchange(true, std::memory_order_acquire)) return;
  std::vector<pollfd> news;
  for (Seen& seen : others_) {
    if (seen.pid == 0 && !find(seen) && pid_of(seen.place) == seen.pid) lose(seen);
    news.push_back({seen.process.descriptor(), POLLIN, 0});
  }
  if (::poll(news.data(), news.size(), 0) > 0) {
    for (size_t i = 0; i < news.size(); ++i) {
      if (news[i].revents == 0 || !others_[i].process.is_intact()) continue;
      if (pid_of(others_[i].place) == others_[i].pid) lose(others_[i]);
      others_[i].process.close();
    }
  }
  looking_.store(false, std::memory_order_release);
}

void ProcessWatch::lose(const Seen& seen) const {
  (void)::poll(nullptr, 0, launcher_first_ms);
  const int rank = rank_at_(seen.place);
  fail(rank, {.cause = "rank " + std::to_string(rank) + " (pid " + std::to_string(seen.pid) +
                       ", on this host) ended without MPI_Finalize",
              .remedy = "see whether a signal, a crash or a lack of memory ended it: dmesg, or the launcher's output"});
}

}  // namespace weft::transport::shm
