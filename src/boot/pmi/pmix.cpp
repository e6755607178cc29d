// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/pmi/pmix.hpp"

#include <climits>
#include <cstdlib>
#include <cstring>

#include "base/setting.hpp"
#include "boot/pmi/process_mapping.hpp"

namespace weft::boot {
namespace {

pmix::PmixInfo switched_on(const char* key) {
  pmix::PmixInfo info = {};
  strncpy(info.key, key, sizeof info.key - 1);
  info.value.type = pmix::type_bool;
  info.value.data.flag = true;
  return info;
}

// Launchers differ in the types of the numbers they tell.
std::string text_of(const pmix::PmixValue& value) {
  switch (value.type) {
    case pmix::type_string:
      return value.data.string ? value.data.string : "";
    case pmix::type_bytes:
      return value.data.bytes.start ? std::string(value.data.bytes.start, value.data.bytes.size) : "";
    case pmix::type_int:
    case pmix::type_int32:
      return std::to_string(value.data.integer);
    case pmix::type_uint16:
      return std::to_string(value.data.uint16);
    case pmix::type_uint:
    case pmix::type_uint32:
      return std::to_string(value.data.uint32);
    case pmix::type_size:
    case pmix::type_uint64:
      return std::to_string(value.data.uint64);
    default:
      return {};
  }
}

// The library gives values away, in memory from malloc.
std::string taken_text(pmix::PmixValue* value) {
  if (!value) return {};
  std::string text = text_of(*value);
  if (value->type == pmix::type_string) free(value->data.string);
  if (value->type == pmix::type_bytes) free(value->data.bytes.start);
  free(value);
  return text;
}

}  // namespace

bool Pmix::fail(const std::string& cause) {
  problem_ = {.cause = "the launcher (PMIx) cannot be used: " + cause,
              .remedy = "start the program with Weft's mpiexec; or, with Slurm, with \"srun --mpi=pmi2\""};
  return false;
}

bool Pmix::check(int status, const char* function) {
  if (status == pmix::success) return true;
  const char* text = library_->error_text(status);
  return fail(std::string(function) + " failed: " + (text ? text : "unknown error") + " (" + std::to_string(status) +
              ")");
}

bool Pmix::begin(Offer& offer) {
  std::string said;
  library_ = pmix::load(&said);
  if (!library_) {
    problem_ = {.cause = "this process was started by a PMIx launcher, but PMIx's library cannot be loaded: " + said,
                .remedy =
                    "install libpmix2 (libpmix.so.2, where LD_LIBRARY_PATH or the system finds it), or start the "
                    "program with Weft's mpiexec; or set WEFT_LAUNCHER=singleton if each process shall run "
                    "alone"};
    return false;
  }
  if (!check(library_->init(&self_, nullptr, 0), "PMIx_Init")) return false;
  begun_ = true;
  self_.job[sizeof self_.job - 1] = 0;
  job_ = self_.job;
  size_ = look_up_number(pmix::rank_wildcard, pmix::key::job_size, 1, -1);
  if (size_ < 1 || size_ > most_ranks) return fail("it does not tell the number of ranks");
  if (self_.rank >= static_cast<uint32_t>(size_))
    return fail("it calls this process rank " + std::to_string(self_.rank) + " of " + std::to_string(size_));
  offer.size = size_;
  offer.rank = static_cast<int>(self_.rank);
  app_number_ = look_up_number(self_.rank, pmix::key::app_number, 0, -1);
  universe_size_ = look_up_number(pmix::rank_wildcard, pmix::key::universe_size, 1, -1);
  collect_ = switched_on(pmix::key::collect_data);
  return true;
}

bool Pmix::look_up(uint32_t rank, const char* key, std::string& text) {
  pmix::Process process = self_;
  process.rank = rank;
  const pmix::PmixInfo optional = switched_on(pmix::key::optional);
  pmix::PmixValue* value = nullptr;
  if (library_->get(&process, key, &optional, 1, &value) != pmix::success) return false;
  text = taken_text(value);
  return !text.empty();
}

int Pmix::look_up_number(uint32_t rank, const char* key, int low, int fallback) {
  std::string text;
  int64_t number = 0;
  const bool known = look_up(rank, key, text) && base::parse_number(text, base::Unit::none, number).empty() &&
                     number >= low && number <= INT_MAX;
  return known ? static_cast<int>(number) : fallback;
}

bool Pmix::put(const std::string& key, const std::string& value) {
  pmix::PmixValue copied = {};
  // Bytes: with strings of 2000 characters, jobs of prterun 5.0 on two hosts hung.
  copied.type = pmix::type_bytes;
  copied.data.bytes = {const_cast<char*>(value.data()), value.size()};  // read, and copied
  put_ = true;
  return check(library_->put(pmix::scope_global, key.c_str(), &copied), "PMIx_Put");
}

bool Pmix::get(int rank, const std::string& key, std::string& value) {
  pmix::Process process = self_;
  process.rank = static_cast<uint32_t>(rank);
  pmix::PmixValue* found = nullptr;
  const int status = library_->get(&process, key.c_str(), nullptr, 0, &found);
  if (status != pmix::success) return check(status, ("PMIx_Get of " + key).c_str());
  value = taken_text(found);
  return true;
}

void Pmix::note_end(int status, void* self) {
  std::atomic<int>& barrier = static_cast<Pmix*>(self)->barrier_;
  barrier.store(status > 0 ? pmix::success : status, std::memory_order_release);
  barrier.notify_all();
}

bool Pmix::start_barrier() {
  if (put_ && !check(library_->commit(), "PMIx_Commit")) return false;
  put_ = false;
  barrier_.store(under_way, std::memory_order_relaxed);
  const int status = library_->fence(nullptr, 0, &collect_, 1, note_end, this);
  if (status == pmix::success) return true;
  barrier_.store(pmix::success, std::memory_order_relaxed);
  return status == pmix::operation_succeeded || check(status, "PMIx_Fence_nb");
}

bool Pmix::end_barrier(bool wait, bool& over) {
  if (wait) barrier_.wait(under_way, std::memory_order_acquire);
  const int status = barrier_.load(std::memory_order_acquire);
  over = status != under_way;
  return !over || check(status, "PMIx_Fence_nb");
}

bool Pmix::local_ranks(std::vector<int>& ranks) {
  std::string list;
  return look_up(pmix::rank_wildcard, pmix::key::local_peers, list) &&
         ranks_of_list(static_cast<int>(self_.rank), size_, list, ranks);
}

void Pmix::finish() {
  if (begun_) (void)library_->finalize(nullptr, 0);
  begun_ = false;
}

void Pmix::abort(int status) {
  if (!begun_) return;
  const std::string message = "rank " + std::to_string(self_.rank) + " ended the job";
  (void)library_->abort(status, message.c_str(), nullptr, 0);
}

}  // namespace weft::boot
