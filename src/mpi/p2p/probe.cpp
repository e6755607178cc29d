// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Probing for messages and receiving matched ones (MPI-5.0, 3.8.1 and 3.8.2).
#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"
#include "mpi/object/wait_record.hpp"
#include "mpi/p2p/p2p.hpp"
#include "mpi/p2p/status.hpp"

namespace weft::mpi {

namespace {

// Checks the arguments of a probe. `*nobody`: the source is MPI_PROC_NULL, whose message is always there and empty.
int check(const char* function, int source, int tag, MPI_Comm comm, bool* nobody) {
  *nobody = source == MPI_PROC_NULL;
  return explain_receive(function, nullptr, 0, MPI_BYTE, source, tag, comm);
}

int null_output(const char* function, MPI_Comm comm, const char* name) {
  return null_argument(comm_of(comm), function, name);
}

void show(MPI_Status* status, const core::Outcome& outcome) {
  set_status(status, outcome.source, outcome.tag, outcome.bytes, false);
}

// Takes a message if there is one now; `*error` when there is no memory for its handle.
bool try_take(const char* function, int source, int tag, Comm& comm, MPI_Message* message, MPI_Status* status,
              int* error) {
  core::Outcome outcome;
  core::Unexpected* found = core::take_message(comm.context, source, tag, &outcome);
  if (found == nullptr) return false;
  auto* made = base::make_object<Message>();
  if (made == nullptr) {
    *error = no_memory(&comm, function);
    return true;
  }
  made->kind = base::Kind::message;
  made->unexpected = found;
  made->comm = &comm;
  *message = handle_of<MPI_Message>(made);
  show(status, outcome);
  return true;
}

// The record of a probe.
WaitRecord wait_record_of(const char* function, const core::Envelope& wanted, const Comm& comm) {
  return {.kind = WaitKind::probe, .call = function, .comm = &comm, .wanted = &wanted, .name = name_comm};
}

int bad_message(const char* function, MPI_Message handle) {
  return bad_handle(nullptr, function, MPI_ERR_REQUEST, "matched message", handle);
}

}  // namespace

int iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  bool nobody = false;
  if (int error = check("MPI_Iprobe", source, tag, comm, &nobody)) return error;
  if (no_address(flag)) return null_output("MPI_Iprobe", comm, "flag");
  core::Outcome outcome;
  *flag = nobody || core::probe(comm_of(comm)->context, source, tag, &outcome);
  if (*flag) show(status, outcome);
  return MPI_SUCCESS;
}

int probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  bool nobody = false;
  if (int error = check("MPI_Probe", source, tag, comm, &nobody)) return error;
  core::Outcome outcome;
  const uint32_t context = comm_of(comm)->context;
  const core::Envelope wanted{.context = context, .source = source, .tag = tag, .lane = 0};
  const WaitRecord wait_record = wait_record_of("MPI_Probe", wanted, *comm_of(comm));
  const Doing doing(wait_record);
  if (!nobody) core::wait_until([&] { return core::probe(context, source, tag, &outcome); });
  show(status, outcome);
  return MPI_SUCCESS;
}

int improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  bool nobody = false;
  if (int error = check("MPI_Improbe", source, tag, comm, &nobody)) return error;
  if (no_address(flag) || no_address(message)) return null_output("MPI_Improbe", comm, "flag or message");
  *flag = 1;
  if (nobody) {
    *message = MPI_MESSAGE_NO_PROC;
    show(status, {});
    return MPI_SUCCESS;
  }
  int error = MPI_SUCCESS;
  *flag = try_take("MPI_Improbe", source, tag, *comm_of(comm), message, status, &error);
  return error;
}

int mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  bool nobody = false;
  if (int error = check("MPI_Mprobe", source, tag, comm, &nobody)) return error;
  if (no_address(message)) return null_output("MPI_Mprobe", comm, "message");
  if (nobody) {
    *message = MPI_MESSAGE_NO_PROC;
    show(status, {});
    return MPI_SUCCESS;
  }
  int error = MPI_SUCCESS;
  const core::Envelope wanted{.context = comm_of(comm)->context, .source = source, .tag = tag, .lane = 0};
  const WaitRecord wait_record = wait_record_of("MPI_Mprobe", wanted, *comm_of(comm));
  const Doing doing(wait_record);
  bool taken = false;  // the condition may be asked again after it held, and must not take a second message
  core::wait_until([&] {
    taken = taken || try_take("MPI_Mprobe", source, tag, *comm_of(comm), message, status, &error);
    return taken;
  });
  return error;
}

namespace {

int receive_later(const char* function, void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Message* message,
                  MPI_Request* request) {
  if (no_address(message)) return null_argument(nullptr, function, "message");
  if (no_address(request)) return null_argument(nullptr, function, "request");
  if (*message == MPI_MESSAGE_NO_PROC) {
    *message = MPI_MESSAGE_NULL;
    *request = done_request();
    return MPI_SUCCESS;
  }
  Message* m = message_of(*message);
  if (m == nullptr) return bad_message(function, *message);
  Operation op{m->comm, nullptr, 0};
  if (!good_data(op, buf, count, datatype)) return explain_data(m->comm, function, buf, count, datatype);
  Request* r = new_request(op, core::Role::receive, buf, count);
  if (r == nullptr) return no_memory(m->comm, function);
  *request = handle_of<MPI_Request>(r);
  core::Unexpected* unexpected = m->unexpected;
  base::destroy_object(m);
  *message = MPI_MESSAGE_NULL;
  core::receive_matched(*r, unexpected);
  return MPI_SUCCESS;
}

}  // namespace

int imrecv_c(void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Message* message, MPI_Request* request) {
  return receive_later("MPI_Imrecv", buf, count, datatype, message, request);
}

int mrecv_c(void* buf, MPI_Count count, MPI_Datatype datatype, MPI_Message* message, MPI_Status* status) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (int error = receive_later("MPI_Mrecv", buf, count, datatype, message, &request)) return error;
  Request& r = *request_of(request);
  wait_for(r, "MPI_Mrecv");
  return finish("MPI_Mrecv", &request, r, status);
}

}  // namespace weft::mpi
