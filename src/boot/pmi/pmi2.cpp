// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/pmi/pmi2.hpp"

#include <cerrno>
#include <climits>

#include "base/setting.hpp"
#include "boot/pmi/line.hpp"

namespace weft::boot {

bool Pmi2::fail(const std::string& cause, int error) {
  problem_ = {.cause = "the launcher (PMI-2) cannot be used: " + cause,
              .error = error,
              .remedy = "start the program with Weft's mpiexec, or with a launcher that serves PMI-1.1 or PMI-2"};
  return false;
}

bool Pmi2::send(const std::string& fields) {
  if (!wire_.is_open()) return fail("there is no connection");
  return wire_.send(Pmi2Message::framed(fields)) || fail(wire_.cause(), wire_.error());
}

bool Pmi2::read_message(bool wait, bool& there) {
  for (;;) {
    const std::string_view come = wire_.text();
    there = false;
    if (come.size() >= Pmi2Message::length_size) {
      const int length = Pmi2Message::length_of(come.substr(0, Pmi2Message::length_size));
      if (length < 0) return fail("it sent " + base::quoted(come) + ", which is not PMI-2");
      const size_t end = Pmi2Message::length_size + static_cast<size_t>(length);
      there = come.size() >= end;
      if (there) {
        text_ = come.substr(Pmi2Message::length_size, static_cast<size_t>(length));
        wire_.take(end);
        return reply_.parse(text_) || fail("its message " + base::quoted(text_) + " is not PMI-2");
      }
    }
    const Wire::ReceiveResult came = wire_.read(wait);
    if (came == Wire::ReceiveResult::nothing) return true;
    if (came == Wire::ReceiveResult::failed) return fail(wire_.cause(), wire_.error());
  }
}

bool Pmi2::ask(const std::string& command, const std::string& fields) {
  bool there = false;
  return send("cmd=" + command + ";" + fields) && read_message(true, there) && answered(command);
}

bool Pmi2::answered(const std::string& command) {
  if (reply_.value("cmd") != command + "-response")
    return fail("it answered " + base::quoted(text_) + " to cmd=" + command);
  // Some replies leave rc out: that is success.
  if (reply_.has("rc") && reply_.number("rc", INT_MIN, INT_MAX, -1) != 0)
    return fail("it refused cmd=" + command + ": " + base::quoted(text_));
  return true;
}

// The first words of both sides are lines of PMI-1.
bool Pmi2::greet() {
  if (!wire_.send("cmd=init pmi_version=2 pmi_subversion=0\n")) return fail(wire_.cause(), wire_.error());
  size_t end = std::string_view::npos;
  while ((end = wire_.text().find('\n')) == std::string_view::npos) {
    if (wire_.full()) return fail("it sent a line without an end");
    if (wire_.read(true) == Wire::ReceiveResult::failed) return fail(wire_.cause(), wire_.error());
  }
  const std::string line(wire_.text().substr(0, end));
  wire_.take(end + 1);
  PmiLine reply;
  if (!reply.parse(line) || reply.value("cmd") != "response_to_init")
    return fail("it answered " + base::quoted(line) + " to cmd=init");
  if (reply.has("rc") && reply.number("rc", INT_MIN, INT_MAX, -1) != 0)
    return fail("it refused cmd=init: " + base::quoted(line));
  return true;
}

bool Pmi2::begin(Offer& offer) {
  wire_.open(offer.fd);
  if (!greet()) return false;
  // Slurm wants the job's name, Hydra has told none; an empty one would end its job.
  const std::string job = offer.id.empty() ? "" : "pmijobid=" + offer.id + ";";
  if (!ask("fullinit", job + "pmirank=" + std::to_string(offer.rank) + ";threaded=FALSE;")) return false;
  offer.size = reply_.number("size", 1, most_ranks, offer.size);
  offer.rank = reply_.number("rank", 0, offer.size - 1, offer.rank);
  if (offer.rank >= offer.size) return fail("it does not tell our rank and the number of ranks");
  size_ = offer.size;
  rank_ = offer.rank;
  app_number_ = reply_.number("appnum", 0, INT_MAX, -1);
  if (!ask("job-getid")) return false;
  job_ = reply_.value("jobid");
  if (job_.empty() || job_.size() > most_value) return fail("it gave no name for the job");
  std::string universe;
  if (attribute("universeSize", universe)) universe_size_ = reply_.number("value", 1, INT_MAX, -1);
  return true;
}

bool Pmi2::put(const std::string& key, const std::string& value) {
  const std::string full = key_of(rank_, key);
  if (full.size() > most_key || value.empty() || value.size() > most_value)
    return fail("a value to publish is too long for it, or empty");
  return ask("kvs-put", "key=" + full + ";value=" + value + ";");
}

std::string Pmi2::question(const std::string& key) const {
  return "cmd=kvs-get;jobid=" + job_ + ";srcid=-1;key=" + key + ";";
}

bool Pmi2::get(int rank, const std::string& key, std::string& value) {
  const std::string full = key_of(rank, key);
  bool there = false;
  if (!send(question(full)) || !read_message(true, there) || !answered("kvs-get")) return false;
  if (reply_.value("found") == "FALSE") return fail("it does not know " + base::quoted(full));
  value = reply_.value("value");
  return true;
}

bool Pmi2::start_barrier() {
  ++turn_;
  step_ = BarrierStep::coming;
  next_ = 1;
  return put("weft-come-" + std::to_string(turn_), "1") && send("cmd=kvs-fence;");
}

// A fence alone is no barrier: Hydra answers it at once, and keeps only callers that ask for a key that is not there
// yet. So rank 0 asks for everybody's sign, then gives its own, for which the others wait. Everybody makes two fences.
bool Pmi2::end_barrier(bool wait, bool& over) {
  over = false;
  for (bool there = false;;) {
    if (!read_message(wait, there)) return false;
    if (!there) return true;
    const bool fence = step_ == BarrierStep::coming || step_ == BarrierStep::going;
    if (!answered(fence ? "kvs-fence" : "kvs-get")) return false;
    if (!fence && reply_.value("found") == "FALSE") return fail("it lost a key of a barrier");
    if (step_ == BarrierStep::last) break;
    if (!take_step()) return false;
  }
  over = true;
  return true;
}

bool Pmi2::take_step() {
  const std::string turn = std::to_string(turn_);
  if (step_ == BarrierStep::gathering) ++next_;
  if (step_ == BarrierStep::going) {
    step_ = BarrierStep::last;
    return send(question(key_of(0, "weft-go-" + turn)));
  }
  if (rank_ == 0 && next_ < size_) {
    step_ = BarrierStep::gathering;
    return send(question(key_of(next_, "weft-come-" + turn)));
  }
  step_ = BarrierStep::going;
  return (rank_ != 0 || put("weft-go-" + turn, "1")) && send("cmd=kvs-fence;");
}

bool Pmi2::attribute(const std::string& key, std::string& value) {
  if (!ask("info-getjobattr", "key=" + key + ";wait=FALSE;") || reply_.value("found") != "TRUE") return false;
  value = reply_.value("value");
  return true;
}

bool Pmi2::local_ranks(std::vector<int>& ranks) {
  std::string mapping;
  if (!attribute("PMI_process_mapping", mapping) || !mapping_.parse(mapping, size_)) return false;
  ranks = mapping_.ranks_on(mapping_.node_of(rank_));
  return true;
}

void Pmi2::finish() {
  if (!wire_.is_open()) return;
  if (!ask("finalize") && wire_.error() == EBADF) base::warn(problem_);
  wire_.close();
}

void Pmi2::abort(int status) {
  if (wire_.is_open()) (void)send("cmd=abort;isworld=TRUE;exitcode=" + std::to_string(status) + ";msg=MPI_Abort;");
}

}  // namespace weft::boot
