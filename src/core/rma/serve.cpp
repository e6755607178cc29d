// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "core/rma/serve.hpp"

#include <cstddef>
#include <cstring>
#include <limits>
#include <mutex>

#include "base/copy.hpp"
#include "base/tsan.hpp"
#include "core/lane/lane.hpp"
#include "core/memory/on_device.hpp"
#include "core/message/handler.hpp"
#include "core/message/send_queue.hpp"
#include "core/object/failure.hpp"
#include "core/peer/peer.hpp"
#include "core/rma/lock.hpp"
#include "core/rma/names.hpp"
#include "core/rma/outbox.hpp"
#include "core/rma/transfer.hpp"
#include "core/thread/waits.hpp"
#include "device/api/device.hpp"

namespace weft::core::rma {
namespace {

using memory::Element;
using memory::element_of;
using memory::Update;

// The answers to one frame, several to a message. They go to the lane that asked: there is the table of their
// addressees.
class Answers {
 public:
  Answers(Window& window, int32_t origin, uint32_t lane) : window_(window), origin_(origin), lane_(lane) {}
  ~Answers() { send(); }
  Answers(const Answers&) = delete;
  Answers& operator=(const Answers&) = delete;

  static constexpr size_t room = 8192;  // of one message

  // Memory for the data of an answer, to be filled before the next one.
  char* add(uint64_t cookie, uint64_t position, uint32_t bytes) {
    const size_t size = sizeof(Answer) + padded(bytes);
    if (used_ + size > frame_limit()) send();
    Target& origin = window_.targets[origin_];
    const Answer answer{cookie, position, bytes, origin.failed_here.exchange(no_error, std::memory_order_relaxed)};
    std::memcpy(bytes_ + used_, &answer, sizeof answer);
    char* const data = bytes_ + used_ + sizeof answer;
    std::memset(data + bytes, 0, padded(bytes) - bytes);
    last_ = bytes_ + used_;
    used_ += static_cast<uint32_t>(size);
    return data;
  }
  // The answer added last tells the error, too.
  void tell(int32_t error) {
    if (error != no_error) std::memcpy(last_ + offsetof(Answer, error), &error, sizeof error);
  }

 private:
  void send() {
    if (used_ == 0) return;
    base::give_to_process(&window_);
    Peer& peer = peers->of(window_.comm->job_rank(origin_));
    send_control(peer, lane_ & peer.lane_map.mask, wire::answers, bytes_, used_);
    used_ = 0;
  }

  Window& window_;
  int32_t origin_;
  uint32_t lane_;
  uint32_t used_ = 0;
  char* last_ = nullptr;
  char bytes_[room];
};

// A record with what follows it.
struct ReceivedRecord {
  Record record;
  const char* runs;  // Run, of any alignment
  const char* data;

  uint32_t pieces() const { return record.runs == 0 ? 1 : record.runs; }
  Run piece(uint32_t i) const {
    if (record.runs == 0) return {record.offset, record.bytes};
    Run run;
    std::memcpy(&run, runs + i * sizeof run, sizeof run);
    return run;
  }
  // Whether the pieces are as long together as the data that the record tells of.
  bool adds_up() const {
    uint64_t left = record.bytes;
    for (uint32_t i = 0; i < pieces(); ++i) {
      const uint64_t bytes = piece(i).bytes;
      if (bytes > left) return false;
      left -= bytes;
    }
    return left == 0;
  }
};

void warn_of_failed_copy() {
  base::warn_once("device_window",
                  {.cause = "data of a window that lies on a device could not be copied: " + device::last_problem(),
                   .remedy = "see that the device's memory lives until MPI_Win_free or MPI_Win_detach"});
}

datatype::Basic basic_of(uint8_t number) {
  if (number > static_cast<uint8_t>(datatype::Basic::two_fortran_int)) refuse_frame();
  return static_cast<datatype::Basic>(number);
}

// Where `bytes` at an offset of our part lie; nullptr: not inside it, which the origin will be told.
char* place_of(Window& window, int32_t origin, uint64_t offset, uint64_t bytes) {
  bool inside = offset <= window.bytes && bytes <= window.bytes - offset;
  if (window.flavor == Flavor::dynamic) {
    uint64_t end = 0;
    std::lock_guard guard(window.attaching);
    inside = !__builtin_add_overflow(offset, bytes, &end) &&
             are_in_pieces(offset, end, static_cast<uint32_t>(window.pieces.size()),
                           [&](uint32_t i) { return window.pieces[i]; });
  }
  if (inside) return memory::place_behind(window.base, offset);
  window.targets[origin].failed_here.store(rma_range, std::memory_order_relaxed);
  return nullptr;
}

// Between our part and what came, or goes.
void copy(const Window& window, void* to, const void* from, size_t bytes) {
  if (window.on_device) [[unlikely]]
    return memory::move_bytes(to, from, bytes);
  base::copy(to, from, bytes);
}

// An error class of copies from and to our part, since the last call.
int32_t take_failure(const Window& window) {
  const bool failed = window.on_device && device::take_failure();
  if (failed) warn_of_failed_copy();
  return failed ? other_error : no_error;
}

// Calls `each` for the pieces with the position of their data. Staged runs lie in memory of the origin, which may write
// something else there after adds_up() has looked: no piece goes beyond the data.
template <class Each>
void for_pieces(const ReceivedRecord& asked, Each&& each) {
  uint64_t at = 0;
  for (uint32_t i = 0; i < asked.pieces(); ++i) {
    const Run piece = asked.piece(i);
    if (piece.bytes > asked.record.bytes - at) refuse_frame();
    each(piece, at);
    at += piece.bytes;
  }
}

void put(Window& window, int32_t origin, const ReceivedRecord& asked) {
  for_pieces(asked, [&](const Run& piece, uint64_t at) {
    if (char* to = place_of(window, origin, piece.offset, piece.bytes)) copy(window, to, asked.data + at, piece.bytes);
  });
}

void get(Window& window, int32_t origin, const ReceivedRecord& asked, Answers& answers) {
  // An error of this record goes with its answer: look before.
  for_pieces(asked, [&](const Run& piece, uint64_t) { (void)place_of(window, origin, piece.offset, piece.bytes); });
  char* const to = answers.add(asked.record.cookie, asked.record.position, asked.record.bytes);
  std::memset(to, 0, asked.record.bytes);
  for_pieces(asked, [&](const Run& piece, uint64_t at) {
    const char* from = place_of(window, origin, piece.offset, piece.bytes);
    if (from != nullptr) copy(window, to + at, from, piece.bytes);
  });
  answers.tell(take_failure(window));
}

// `old`, cleared, takes the old values; nullptr: they are not asked for.
void update_pieces(Window& window, int32_t origin, const ReceivedRecord& asked, char* old) {
  const Record& record = asked.record;
  const Element element = element_of(basic_of(record.element), basic_of(record.value), basic_of(record.index));
  const auto reduction = static_cast<datatype::Reduction>(record.reduction);
  if (reduction > datatype::Reduction::no_op) refuse_frame();
  const Target& own = window.targets[window.rank];
  const Update change{element, reduction, element.kernel(reduction), window.control->busy, is_alone(own)};
  if (change.kernel == nullptr) refuse_frame();
  auto& update_there = window.on_device ? memory::update_on_device : memory::update_here;
  prepare_update(window, own, change, record.bytes);
  for_pieces(asked, [&](const Run& piece, uint64_t position) {
    const auto size = static_cast<uint64_t>(element.size());
    if (element.has_gaps() ? piece.bytes != size : piece.bytes % size != 0) refuse_frame();
    const uint64_t in_memory = element.has_gaps() ? static_cast<uint64_t>(element.extent()) : piece.bytes;
    if (char* at = place_of(window, origin, piece.offset, in_memory)) {
      update_there(own.region, change, asked.data + position, at, old == nullptr ? nullptr : old + position,
                   element.has_gaps() ? 1 : static_cast<int64_t>(piece.bytes) / element.size());
    }
  });
}

void compare(Window& window, int32_t origin, const ReceivedRecord& asked, Answers& answers) {
  const Record& record = asked.record;
  const Element element = element_of(basic_of(record.element), datatype::Basic::none, datatype::Basic::none);
  if (element.size() == 0 || element.size() != static_cast<int64_t>(record.bytes)) refuse_frame();
  char* at = place_of(window, origin, record.offset, record.bytes);
  char* old = answers.add(record.cookie, 0, record.bytes);
  if (at == nullptr) {
    std::memset(old, 0, record.bytes);
    return;
  }
  if (window.on_device) {
    memory::swap_on_device(window.targets[window.rank].region, element, asked.data, asked.data + record.bytes, at, old);
    return answers.tell(take_failure(window));
  }
  memory::swap_here(window.targets[window.rank].region, element, window.control->busy, asked.data,
                    asked.data + record.bytes, at, old);
}

void transfer(Window& window, int32_t origin, uint32_t lane, const ReceivedRecord& asked) {
  const Record& record = asked.record;
  char* const memory = place_of(window, origin, record.offset, record.bytes);
  if (memory == nullptr) refuse_frame();  // the origin knows how large this window is
  const auto tag = static_cast<int32_t>(record.position);
  if (record.action == Action::take) {
    take_transfer(window, origin, memory, record.bytes, tag, lane, record.cookie);
  } else {
    give_transfer(window, origin, memory, record.bytes, tag);
  }
}

// How many bytes of data follow a record.
size_t data_bytes(const Record& record) {
  switch (record.action) {
    case Action::put:
    case Action::accumulate:
      return record.bytes;
    case Action::get_accumulate:
      return record.reduction == static_cast<uint8_t>(datatype::Reduction::no_op) ? 0 : record.bytes;
    case Action::compare:
      return 2 * size_t{record.bytes};
    default:
      return 0;
  }
}

void serve(Window& window, int32_t origin, uint32_t lane, const ReceivedRecord& asked, Answers& answers) {
  const Record& record = asked.record;
  Target& from = window.targets[origin];
  switch (record.action) {
    case Action::put:
      return put(window, origin, asked);
    case Action::get:
      return get(window, origin, asked, answers);
    case Action::accumulate:
      return update_pieces(window, origin, asked, nullptr);
    case Action::get_accumulate: {
      char* const old = answers.add(record.cookie, record.position, record.bytes);
      std::memset(old, 0, record.bytes);
      update_pieces(window, origin, asked, old);
      return answers.tell(take_failure(window));
    }
    case Action::compare:
      return compare(window, origin, asked, answers);
    case Action::take:
    case Action::give:
      return transfer(window, origin, lane, asked);
    case Action::lock:
      if (record.reduction < static_cast<uint8_t>(LockState::shared) ||
          record.reduction > static_cast<uint8_t>(LockState::exclusive)) {
        refuse_frame();
      }
      return lock_for(window, origin, static_cast<LockState>(record.reduction), lane, record.cookie);
    case Action::unlock:
      unlock_for(window, origin);
      (void)answers.add(record.cookie, 0, 0);
      return;
    case Action::flush:
      (void)answers.add(record.cookie, 0, 0);
      return;
    case Action::meet: {
      const TargetShape shape = shape_of(window);
      std::memcpy(answers.add(record.cookie, 0, sizeof shape), &shape, sizeof shape);
      return;
    }
    case Action::post:
      from.posts.fetch_add(1, std::memory_order_release);
      return tell_sleepers(nullptr);
    case Action::complete:
      from.completes.fetch_add(1, std::memory_order_release);
      return tell_sleepers(nullptr);
    case Action::nudge:
      try_wishes(window);
      return tell_sleepers(nullptr);
    default:
      failed(FailureCause::protocol,
             {.cause = "a record of unknown kind " + std::to_string(static_cast<int>(record.action)) +
                       " arrived for a window",
              .remedy = "run all ranks with the same version of Weft"});
  }
}

// Whether a record that moves data says of itself what is so: it is not looked at again when that is done.
bool is_sound(const ReceivedRecord& asked) {
  const Record& record = asked.record;
  if (!moves_data(record.action)) return record.runs == 0;
  const bool answered = record.action != Action::put && record.action != Action::accumulate;
  if (answered && sizeof(Answer) + padded(record.bytes) > Answers::room) return false;
  return asked.adds_up();
}

void serve_all(const transport::Arrival& arrival, const Frame& frame, const char* at) {
  const uint32_t lane = arrival.envelope.lane;
  Window* const found = find_window(frame.context, frame.generation);
  if (found == nullptr) return count(lanes->all[lane].stale);
  Window& window = *found;
  base::take_from_process(&window);  // origins order what they ask of several lanes by our answers
  base::take_from_process(&base::sent_data);
  if (frame.origin < 0 || frame.origin >= window.size) refuse_frame();
  if (!is_from(arrival, window.comm->job_rank(frame.origin))) refuse_frame();
  Answers answers(window, frame.origin, lane);
  const char* const end = at + frame.bytes;
  while (at < end) {
    ReceivedRecord asked;
    if (static_cast<size_t>(end - at) < sizeof asked.record) refuse_frame();
    std::memcpy(&asked.record, at, sizeof asked.record);
    const size_t runs = asked.record.runs * sizeof(Run);
    const size_t data = padded(data_bytes(asked.record));
    if (static_cast<size_t>(end - at) - sizeof asked.record < runs + data) refuse_frame();
    asked.runs = at + sizeof asked.record;
    asked.data = asked.runs + runs;
    at = asked.data + data;
    if (!is_sound(asked)) refuse_frame();
    serve(window, frame.origin, lane, asked, answers);
    if (window.on_device && device::take_failure()) note_failed_copy(window, frame.origin);
  }
}

}  // namespace

TargetShape shape_of(const Window& window) {
  const bool dynamic = window.flavor == Flavor::dynamic;
  return {dynamic ? std::numeric_limits<uint64_t>::max() : window.bytes, static_cast<uint64_t>(window.unit)};
}

void refuse_frame() {
  failed(FailureCause::protocol,
         {.cause = "a message for a window is not as long as it says, or names what there is not",
          .remedy = "run all ranks with the same version of Weft"});
}

void note_failed_copy(Window& window, int32_t origin) {
  warn_of_failed_copy();
  window.targets[origin].failed_here.store(other_error, std::memory_order_relaxed);
}

void answer(Window& window, int32_t origin, uint32_t lane, uint64_t cookie) {
  Answers answers(window, origin, lane);
  (void)answers.add(cookie, 0, 0);
}

namespace {

void on_frame(const transport::Arrival& arrival) {
  const auto frame = payload_of<Frame>(arrival);
  check_size(arrival, sizeof frame + frame.bytes);
  serve_all(arrival, frame, static_cast<const char*>(arrival.data) + sizeof frame);
}

void on_staged_frame(const transport::Arrival& arrival) {
  const auto staged = payload_of<StagedFrame>(arrival);
  if (!is_from(arrival, staged.job_rank)) refuse_frame();
  transport::Endpoint& from = *peers->of(staged.job_rank).endpoint;
  const std::optional<const void*> records = from.staging(arrival, staged.handle, staged.frame.bytes);
  if (records.value_or(nullptr) == nullptr) refuse_frame();
  serve_all(arrival, staged.frame, static_cast<const char*>(*records));
  from.release_staging(staged.handle, staged.frame.bytes);
}

void on_answer(const transport::Arrival& arrival) {
  const uint32_t lane = arrival.envelope.lane;
  const auto* at = static_cast<const char*>(arrival.data);
  const char* const end = at + arrival.bytes;
  while (at < end) {
    Answer answer;
    if (static_cast<size_t>(end - at) < sizeof answer) refuse_frame();
    std::memcpy(&answer, at, sizeof answer);
    const char* const data = at + sizeof answer;
    if (static_cast<size_t>(end - data) < padded(answer.bytes)) refuse_frame();
    if (answer.error != no_error && answer.error != rma_range && answer.error != other_error) refuse_frame();
    at = data + padded(answer.bytes);
    Awaited* const awaited = find_awaited(lane, answer.cookie);
    if (awaited == nullptr) {
      count(lanes->all[lane].stale);
    } else if (awaited->take(*awaited, answer, data)) {
      forget_awaited(lane, answer.cookie);
    }
  }
}

constinit const Handler records_handler{
    .kind = wire::records, .least_bytes = sizeof(Frame), .name = "records for a window", .take = on_frame};
WEFT_HANDLER(records_handler);

constinit const Handler records_staged_handler{.kind = wire::records_staged,
                                               .least_bytes = sizeof(StagedFrame),
                                               .name = "staged records for a window",
                                               .take = on_staged_frame};
WEFT_HANDLER(records_staged_handler);

constinit const Handler answers_handler{
    .kind = wire::answers, .least_bytes = sizeof(Answer), .name = "answers to records", .take = on_answer};
WEFT_HANDLER(answers_handler);

}  // namespace

}  // namespace weft::core::rma
