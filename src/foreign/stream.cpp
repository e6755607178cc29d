// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// MPICH's streams of the program's threads. A stream promises that calls on it come one after the other, of which the
// runtime makes nothing: a communicator with a stream is a duplicate that knows which. Streams of devices are refused.

#include <mutex>
#include <set>

#include "foreign/by_hand.hpp"
#include "foreign/convert.hpp"
#include "foreign/refuse.hpp"

namespace weft::foreign {
namespace {

constexpr int null_stream = 0x3c000000;
constexpr int first_stream = static_cast<int>(0xbc000000);
constexpr int most_streams = 1 << 20;

constinit std::mutex streams_guard;
constinit std::set<int>* streams = nullptr;     // all streams that are not freed
constinit int stream_key = MPI_KEYVAL_INVALID;  // the attribute key of a communicator's stream

bool is_stream(int stream) {
  if (stream == null_stream) return true;
  std::lock_guard lock(streams_guard);
  return streams != nullptr && streams->contains(stream);
}

int bad_stream(const char* function) {
  return refuse_argument(function, MPI_ERR_ARG, "the stream is none, or it was freed");
}

// The key under which communicators have their stream; a duplicate has the same.
int find_key(int& key) {
  std::lock_guard lock(streams_guard);
  if (stream_key == MPI_KEYVAL_INVALID) {
    if (int error = face.comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &stream_key, nullptr))
      return error;
  }
  key = stream_key;
  return MPI_SUCCESS;
}

}  // namespace

int mpix_stream_create(int info, int* stream) {
  static constexpr const char* function = "MPIX_Stream_create";
  if (no_place(stream)) return refuse_argument(function, MPI_ERR_ARG, "stream is a null pointer");
  if (in<MPI_Info>(info) != MPI_INFO_NULL) {
    int length = 0;
    int is_given = 0;
    if (int error = face.info_get_valuelen(in<MPI_Info>(info), "type", &length, &is_given)) return error_out(error);
    if (is_given != 0) return refuse(function, "streams of a device are not supported");
  }
  std::lock_guard lock(streams_guard);
  if (streams == nullptr) streams = new std::set<int>;
  int made = first_stream;
  for (const int live : *streams) {
    if (live != made) break;
    ++made;
  }
  if (made - first_stream >= most_streams) return refuse_argument(function, MPI_ERR_OTHER, "too many streams");
  streams->insert(made);
  *stream = made;
  return MPI_SUCCESS;
}

int mpix_stream_free(int* stream) {
  if (no_place(stream)) return refuse_argument("MPIX_Stream_free", MPI_ERR_ARG, "stream is a null pointer");
  bool freed = false;
  {
    std::lock_guard lock(streams_guard);
    freed = streams != nullptr && streams->erase(*stream) == 1;
  }
  if (!freed) return bad_stream("MPIX_Stream_free");
  *stream = null_stream;
  return MPI_SUCCESS;
}

int mpix_stream_progress(int stream) {
  if (!is_stream(stream)) return bad_stream("MPIX_Stream_progress");
  int found = 0;
  return error_out(face.iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &found, MPI_STATUS_IGNORE));
}

int mpix_stream_comm_create(int comm, int stream, int* newcomm) {
  static constexpr const char* function = "MPIX_Stream_comm_create";
  if (!is_stream(stream)) return bad_stream(function);
  if (no_place(newcomm)) return refuse_argument(function, MPI_ERR_ARG, "newcomm is a null pointer");
  int key = MPI_KEYVAL_INVALID;
  if (int error = find_key(key)) return error_out(error);
  MPI_Comm made = MPI_COMM_NULL;
  if (int error = face.comm_dup(in<MPI_Comm>(comm), &made)) return error_out(error);
  if (int error = face.comm_set_attr(made, key, as_given<void>(reinterpret_cast<void*>(static_cast<intptr_t>(stream)))))
    return error_out(error);
  *newcomm = out(made);
  return MPI_SUCCESS;
}

int mpix_comm_get_stream(int comm, int idx, int* stream) {
  static constexpr const char* function = "MPIX_Comm_get_stream";
  if (no_place(stream)) return refuse_argument(function, MPI_ERR_ARG, "stream is a null pointer");
  int key = MPI_KEYVAL_INVALID;
  if (int error = find_key(key)) return error_out(error);
  void* value = nullptr;
  int is_set = 0;
  if (int error = face.comm_get_attr(in<MPI_Comm>(comm), key, &value, &is_set)) return error_out(error);
  if (idx != 0) return refuse_argument(function, MPI_ERR_ARG, "a communicator has one stream, of index 0");
  *stream = is_set != 0 ? static_cast<int>(reinterpret_cast<intptr_t>(value)) : null_stream;
  return MPI_SUCCESS;
}

int mpix_comm_test_threadcomm(int comm, int* flag) {
  int size = 0;
  if (int error = face.comm_size(in<MPI_Comm>(comm), &size)) return error_out(error);
  if (no_place(flag)) return refuse_argument("MPIX_Comm_test_threadcomm", MPI_ERR_ARG, "flag is a null pointer");
  *flag = 0;
  return MPI_SUCCESS;
}

// ---- Messages: the indices of streams are those of a communicator with one, 0 or -1 for any

namespace {

// MPI_SUCCESS for a communicator of one stream.
int check_indices(const char* function, int source_stream_index, int dest_stream_index) {
  if (source_stream_index >= -1 && source_stream_index <= 0 && dest_stream_index == 0) return MPI_SUCCESS;
  return refuse_argument(function, MPI_ERR_ARG, "a communicator has one stream, of index 0");
}

}  // namespace

int mpix_stream_send_c(const void* buf, MPI_Count count, int datatype, int dest, int tag, int comm,
                       int source_stream_index, int dest_stream_index) {
  if (int error = check_indices("MPIX_Stream_send", source_stream_index, dest_stream_index)) return error;
  return error_out(
      face.send_c(buffer_in(buf), count, in<MPI_Datatype>(datatype), rank_in(dest), tag_in(tag), in<MPI_Comm>(comm)));
}
int mpix_stream_send(const void* buf, int count, int datatype, int dest, int tag, int comm, int source_stream_index,
                     int dest_stream_index) {
  return mpix_stream_send_c(buf, count, datatype, dest, tag, comm, source_stream_index, dest_stream_index);
}

int mpix_stream_isend_c(const void* buf, MPI_Count count, int datatype, int dest, int tag, int comm,
                        int source_stream_index, int dest_stream_index, int* request) {
  if (int error = check_indices("MPIX_Stream_isend", source_stream_index, dest_stream_index)) return error;
  return error_out(face.isend_c(buffer_in(buf), count, in<MPI_Datatype>(datatype), rank_in(dest), tag_in(tag),
                                in<MPI_Comm>(comm), Out<MPI_Request>(request)));
}
int mpix_stream_isend(const void* buf, int count, int datatype, int dest, int tag, int comm, int source_stream_index,
                      int dest_stream_index, int* request) {
  return mpix_stream_isend_c(buf, count, datatype, dest, tag, comm, source_stream_index, dest_stream_index, request);
}

int mpix_stream_recv_c(void* buf, MPI_Count count, int datatype, int source, int tag, int comm, int source_stream_index,
                       int dest_stream_index, Status* status) {
  if (int error = check_indices("MPIX_Stream_recv", source_stream_index, dest_stream_index)) return error;
  MPI_Status filled = {};
  prepare_status(filled);
  const int error = face.recv_c(buffer_in(buf), count, in<MPI_Datatype>(datatype), rank_in(source), tag_in(tag),
                                in<MPI_Comm>(comm), &filled);
  if (!no_place(status)) give_filled_status(*status, filled);
  return error_out(error);
}
int mpix_stream_recv(void* buf, int count, int datatype, int source, int tag, int comm, int source_stream_index,
                     int dest_stream_index, Status* status) {
  return mpix_stream_recv_c(buf, count, datatype, source, tag, comm, source_stream_index, dest_stream_index, status);
}

int mpix_stream_irecv_c(void* buf, MPI_Count count, int datatype, int source, int tag, int comm,
                        int source_stream_index, int dest_stream_index, int* request) {
  if (int error = check_indices("MPIX_Stream_irecv", source_stream_index, dest_stream_index)) return error;
  return error_out(face.irecv_c(buffer_in(buf), count, in<MPI_Datatype>(datatype), rank_in(source), tag_in(tag),
                                in<MPI_Comm>(comm), Out<MPI_Request>(request)));
}
int mpix_stream_irecv(void* buf, int count, int datatype, int source, int tag, int comm, int source_stream_index,
                      int dest_stream_index, int* request) {
  return mpix_stream_irecv_c(buf, count, datatype, source, tag, comm, source_stream_index, dest_stream_index, request);
}

}  // namespace weft::foreign
