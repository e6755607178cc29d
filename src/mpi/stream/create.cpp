// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Streams as objects of the program, and communicators that have one.
#include <cstring>

#include "base/hex.hpp"
#include "base/setting.hpp"
#include "core/thread/thread.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/env/info.hpp"
#include "mpi/functions.hpp"
#include "mpi/object/check.hpp"
#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"
#include "mpi/stream/enqueue.hpp"
#include "mpi/stream/stream.hpp"

namespace weft::mpi {
namespace {

int bad_stream(const char* function, ErrorsOn on, MPIX_Stream stream) {
  return bad_handle(on, function, MPI_ERR_ARG, "stream", stream);
}

// The driver's stream that an info object names; raises the error of one that is none.
int read_stream(const char* function, const Info& info, void*& stream) {
  const std::optional<std::string> type = info.find("type"), value = info.find("value");
  if (!type || *type != device::active->stream_type) {
    return fail(nullptr, function, MPI_ERR_INFO_VALUE,
                "the value of type is %s: streams of the driver in use, %s, are %s",
                type ? base::quoted(*type).c_str() : "not given", device::active->name, device::active->stream_type);
  }
  std::string bytes;
  if (!value && device::active == &device::mock) return MPI_SUCCESS;
  if (!value || !base::from_hex(*value, bytes) || bytes.size() != sizeof stream) {
    return fail(nullptr, function, MPI_ERR_INFO_VALUE,
                "the value of value is %s: it is set by MPIX_Info_set_hex with the address and the size of a stream",
                value ? base::quoted(*value).c_str() : "not given");
  }
  std::memcpy(&stream, bytes.data(), sizeof stream);
  return MPI_SUCCESS;
}

}  // namespace

int info_set_hex(MPI_Info info, const char* key, const void* value, int value_size) {
  static const char* function = "MPIX_Info_set_hex";
  if (value_size < 0) return negative(nullptr, function, MPI_ERR_ARG, "value_size", value_size);
  if (no_address(value)) return null_argument(nullptr, function, "value");
  const std::string bytes(static_cast<const char*>(value), static_cast<size_t>(value_size));
  return info_set(info, key, base::to_hex(bytes).c_str());
}

int stream_create(MPI_Info info, MPIX_Stream* stream) {
  static const char* function = "MPIX_Stream_create";
  if (!is_running()) return not_running(function);
  if (no_address(stream)) return null_argument(nullptr, function, "stream");
  const Info* given = info_of(info);
  if (given == nullptr) return bad_info(nullptr, function, info);
  if (!device::on()) {
    return fail(nullptr, function, MPI_ERR_UNSUPPORTED_OPERATION,
                "no driver of devices is in use: set WEFT_DEVICES, or load the driver before MPI starts");
  }
  if (device::active->stream_type == nullptr) {
    return fail(nullptr, function, MPI_ERR_UNSUPPORTED_OPERATION, "operations cannot be enqueued on streams of %s yet",
                device::active->name);
  }
  if (!core::threads->multiple) {
    return fail(nullptr, function, MPI_ERR_OTHER,
                "a thread performs the operations of a stream: start MPI by MPI_Init_thread with MPI_THREAD_MULTIPLE");
  }
  void* of_driver = nullptr;
  if (int error = read_stream(function, *given, of_driver)) return error;
  std::string problem;
  Stream* const made = open_stream(of_driver, problem);
  if (made == nullptr)
    return fail(nullptr, function, MPI_ERR_OTHER, "operations cannot be enqueued on this stream: %s", problem.c_str());
  *stream = handle_of<MPIX_Stream>(made);
  return MPI_SUCCESS;
}

int stream_free(MPIX_Stream* stream) {
  static const char* function = "MPIX_Stream_free";
  if (no_address(stream)) return null_argument(nullptr, function, "stream");
  Stream* const its = stream_of(*stream);
  if (its == nullptr) return bad_stream(function, nullptr, *stream);
  wait_for_all(*its);
  const int error = its->failed.exchange(MPI_SUCCESS, std::memory_order_relaxed);
  its->kind = base::Kind::free;  // the handle is dead, communicators may go on
  drop(its);
  *stream = MPIX_STREAM_NULL;
  return error;
}

int stream_comm_create(MPI_Comm comm, MPIX_Stream stream, MPI_Comm* newcomm) {
  static const char* function = "MPIX_Stream_comm_create";
  Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm(function, comm);
  Stream* const its = stream_of(stream);
  if (its == nullptr && stream != MPIX_STREAM_NULL) return bad_stream(function, c, stream);
  if (c->is_inter()) return fail(c, function, MPI_ERR_COMM, "an inter-communicator cannot have a stream");
  if (int error = comm_dup(comm, newcomm)) return error;
  Comm& made = *comm_of(*newcomm);
  drop_stream(made);
  made.stream = hold(its);
  return MPI_SUCCESS;
}

int comm_get_stream(MPI_Comm comm, int index, MPIX_Stream* stream) {
  static const char* function = "MPIX_Comm_get_stream";
  const Comm* c = comm_of(comm);
  if (c == nullptr) return bad_comm(function, comm);
  if (no_address(stream)) return null_argument(c, function, "stream");
  if (index != 0) return fail(c, function, MPI_ERR_ARG, "index is %d: a communicator has one stream, 0", index);
  const bool there = c->stream != nullptr && c->stream->kind == base::Kind::stream;
  *stream = there ? handle_of<MPIX_Stream>(c->stream) : MPIX_STREAM_NULL;
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
