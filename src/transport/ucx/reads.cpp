// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "transport/ucx/reads.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/crc32c.hpp"
#include "device/api/device.hpp"
#include "device/select/adapter.hpp"
#include "transport/api/turned_away.hpp"
#include "transport/ucx/status.hpp"

namespace weft::transport::ucx {
namespace {

constexpr unsigned ask_id = 2, answer_id = 3;  // of our active messages
constexpr size_t readings_most = 32;           // at the same time

ucs_memory_type_t type_of(bool of_device) {
  return memory_type_of(of_device ? device::maker() : device::Maker::none);
}

void handle(ucp_worker_h worker, unsigned id, ucp_am_recv_callback_t call, void* owner) {
  ucp_am_handler_param_t handler = {};
  handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                       UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.id = id;
  handler.flags = UCP_AM_FLAG_WHOLE_MSG;
  handler.cb = call;
  handler.arg = owner;
  must("ucp_worker_set_am_recv_handler", library().worker_set_am_recv_handler(worker, &handler));
}

// Rejects a message of a process outside the job, or one of which both copies were changed.
ucs_status_t turn_away() {
  count_turned_away();
  return UCS_OK;
}

}  // namespace

template <class Message, uint32_t word>
auto Reads::Twice<Message, word>::of(const Message& message) -> Twice {
  const MessageCopy copy{word, base::crc32c(&message, sizeof message), message};
  return {{copy, copy}};
}

template <class Message, uint32_t word>
const Message* Reads::Twice<Message, word>::whole() const {
  for (const MessageCopy& copy : copies) {
    if (copy.magic == word && copy.check == base::crc32c(&copy.message, sizeof copy.message)) return &copy.message;
  }
  return nullptr;
}

void Reads::open(ucp_worker_h worker, const net::Registered& registered) {
  worker_ = worker;
  registered_ = &registered;
  handle(worker, ask_id, on_ask, this);
  handle(worker, answer_id, on_answer, this);
}

int Reads::ask(ucp_ep_h endpoint, const ucs_status_t& broken, const MemoryRef& memory, size_t at, void* to,
               size_t bytes, Read& read) {
  if (readings_.size() == readings_most) return EAGAIN;
  const bool to_device = device::owns(to);
  if (int number = 0; to_device && !device::offer(to, number).empty()) return error_of(UCS_ERR_NO_MEMORY);
  Reading& reading =
      readings_.emplace_back(Reading{.owner = this,
                                     .read = &read,
                                     .broken = &broken,
                                     .to = to,
                                     .to_device = to_device,
                                     .state = Reading::ReadState::asked,
                                     .asking = true,
                                     .asks = Asks::of({memory.key, memory.address + at, bytes, net::fresh_nonce()})});
  ucp_request_param_t parameters = {};
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
  parameters.flags = UCP_AM_SEND_FLAG_REPLY;
  parameters.cb.send = on_asked;
  parameters.user_data = &reading;
  const ucs_status_ptr_t sending =
      library().am_send_nbx(endpoint, ask_id, &reading.asks, sizeof reading.asks, nullptr, 0, &parameters);
  if (is_error(sending)) {
    readings_.pop_back();
    return error_of(status_of(sending));
  }
  if (sending == nullptr) reading.asking = false;
  return 0;
}

void Reads::on_asked(void* request, ucs_status_t status, void* reading) {
  auto& ours = *static_cast<Reading*>(reading);
  library().request_free(request);
  ours.asking = false;
  if (status != UCS_OK && ours.state == Reading::ReadState::asked) return ours.owner->end(ours, status);
  ours.owner->forget_if_done(ours);
}

void Reads::end(Reading& reading, ucs_status_t status) {
  reading.state = Reading::ReadState::over;
  over.push_back({reading.read, error_of(status)});
  forget_if_done(reading);
}

void Reads::forget_if_done(Reading& reading) {
  if (reading.asking || reading.state != Reading::ReadState::over) return;
  readings_.remove_if([&](const Reading& one) { return &one == &reading; });
}

// ---- The peer's side

// Memory that UCX cannot send is refused, like any that is not registered: the reader is told.
ucs_status_t Reads::on_ask(void* owner, const void* header, size_t header_bytes, void* /*data*/, size_t bytes,
                           const ucp_am_recv_param_t* about) {
  auto& ours = *static_cast<Reads*>(owner);
  Asks asks{};
  if (header_bytes != sizeof asks || bytes != 0 || (about->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP) == 0)
    return UCS_OK;
  std::memcpy(&asks, header, sizeof asks);
  if (asks.whole() == nullptr) return turn_away();
  const UcxReadRequest ask = *asks.whole();
  const bool allowed = ask.bytes != 0 && ours.registered_->allows(ask.key, ask.address, ask.bytes);
  if (!allowed || !ours.answer(about->reply_ep, ask, false)) (void)ours.answer(about->reply_ep, ask, true);
  return UCS_OK;
}

bool Reads::answer(ucp_ep_h endpoint, const UcxReadRequest& ask, bool refused) {
  const auto* const from = refused ? nullptr : reinterpret_cast<const void*>(static_cast<uintptr_t>(ask.address));
  const bool of_device = !refused && device::owns(from);
  Answering& answering =
      answering_.emplace_back(Answering{this, from, of_device, Answers::of({ask.number, refused ? 1u : 0u})});
  ucp_request_param_t parameters = {};
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS |
                            UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  parameters.flags = refused ? UCP_AM_SEND_FLAG_EAGER : UCP_AM_SEND_FLAG_RNDV;
  parameters.memory_type = type_of(of_device);
  parameters.cb.send = on_answered;
  parameters.user_data = &answering;
  const device::InContext current(of_device ? from : nullptr);
  const ucs_status_ptr_t sending = library().am_send_nbx(
      endpoint, answer_id, &answering.answers, sizeof answering.answers, from, refused ? 0 : ask.bytes, &parameters);
  if (sending == nullptr || is_error(sending)) answering_.pop_back();
  return !is_error(sending);
}

void Reads::on_answered(void* request, ucs_status_t /*status*/, void* answering) {
  auto* const ours = static_cast<Answering*>(answering);
  library().request_free(request);
  ours->owner->answering_.remove_if([&](const Answering& one) { return &one == ours; });
}

// ---- The reader's side again

ucs_status_t Reads::on_answer(void* owner, const void* header, size_t header_bytes, void* data, size_t bytes,
                              const ucp_am_recv_param_t* about) {
  auto& ours = *static_cast<Reads*>(owner);
  Answers answers{};
  if (header_bytes != sizeof answers) return UCS_OK;
  std::memcpy(&answers, header, sizeof answers);
  const UcxReadAnswer* const answer = answers.whole();
  if (answer == nullptr) return turn_away();
  const auto known = std::find_if(ours.readings_.begin(), ours.readings_.end(), [&](const Reading& one) {
    return one.state == Reading::ReadState::asked && one.ask().number == answer->number;
  });
  if (known == ours.readings_.end()) return UCS_OK;
  Reading& reading = *known;
  const bool comes = (about->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0 && bytes == reading.ask().bytes;
  if (answer->refused != 0 || !comes) {
    ours.end(reading, UCS_ERR_REJECTED);
    return UCS_OK;
  }
  ucp_request_param_t parameters = {};
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FLAG_NO_IMM_CMPL |
                            UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  parameters.memory_type = type_of(reading.to_device);
  parameters.cb.recv_am = on_come;
  parameters.user_data = &reading;
  reading.state = Reading::ReadState::coming;
  const device::InContext current(reading.to_device ? reading.to : nullptr);
  const ucs_status_ptr_t coming = library().am_recv_data_nbx(ours.worker_, data, reading.to, bytes, &parameters);
  if (is_error(coming)) ours.end(reading, status_of(coming));
  return UCS_INPROGRESS;
}

void Reads::on_come(void* request, ucs_status_t status, size_t bytes, void* reading) {
  auto& ours = *static_cast<Reading*>(reading);
  library().request_free(request);
  ours.owner->end(ours, status == UCS_OK && bytes != ours.ask().bytes ? UCS_ERR_MESSAGE_TRUNCATED : status);
}

void Reads::look() {
  for (auto at = readings_.begin(); at != readings_.end();) {
    Reading& reading = *at++;
    if (reading.state == Reading::ReadState::asked && *reading.broken != UCS_OK) end(reading, *reading.broken);
  }
}

const void* Reads::on_device() const {
  for (const Reading& reading : readings_) {
    if (reading.to_device && reading.state == Reading::ReadState::coming) return reading.to;
  }
  for (const Answering& answering : answering_) {
    if (answering.of_device) return answering.from;
  }
  return nullptr;
}

}  // namespace weft::transport::ucx
