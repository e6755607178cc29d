// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Every mode and form of send, sizes around every threshold, contiguous and strided on either side, posted before and
// after the message comes: the data arrives, nothing beside it is touched, the status is right.
#include "p2p.h"

enum {
  mode_send,
  mode_ssend,
  mode_rsend,
  mode_isend,
  mode_issend,
  mode_irsend,
  mode_send_init,
  mode_ssend_init,
  mode_rsend_init,
  mode_count
};
static const char* const mode_names[] = {"Send",   "Ssend",     "Rsend",      "Isend",     "Issend",
                                         "Irsend", "Send_init", "Ssend_init", "Rsend_init"};

static const int sizes[] = {0,
                            1,
                            7,
                            8,
                            9,
                            24,
                            40,
                            41,
                            100,
                            101,
                            8135,
                            8136,
                            8137,
                            8151,
                            8152,
                            8153,
                            8192,
                            8193,
                            32 << 10,
                            64 << 10,
                            (64 << 10) + 1,
                            (128 << 10) + 1,
                            1 << 20,
                            4 << 20,
                            (4 << 20) + 1};
enum { size_count = sizeof sizes / sizeof *sizes, largest = (4 << 20) + 1, tag_data = 17, tag_go = 18, guard = 64 };

// Strided: as many pieces of 8, 7, 3 or 1 bytes as there are without a rest, 5 bytes between them.
enum { gap = 5 };

static int piece_of(int bytes) {
  return bytes % 8 == 0 ? 8 : bytes % 7 == 0 ? 7 : bytes % 3 == 0 ? 3 : 1;
}

static int64_t span(int bytes, int strided) {
  return strided ? (int64_t)(bytes / piece_of(bytes)) * (piece_of(bytes) + gap) : bytes;
}

static int64_t place(int64_t i, int piece) {
  return piece ? i / piece * (piece + gap) + i % piece : i;
}

static MPI_Datatype layout(int bytes, int strided) {
  if (!strided) return MPI_BYTE;
  MPI_Datatype pieces;
  const int piece = piece_of(bytes);
  MPI_Type_vector(bytes / piece, piece, piece + gap, MPI_BYTE, &pieces);
  MPI_Type_commit(&pieces);
  return pieces;
}

static unsigned char* buffer;

static void send(int mode, int bytes, int strided, uint64_t salt) {
  unsigned char* data = buffer + guard;
  memset(buffer, 0xcc, (size_t)span(bytes, strided) + 2 * guard);
  const int piece = strided ? piece_of(bytes) : 0;
  for (int i = 0; i < bytes; ++i) data[place(i, piece)] = byte_at(salt, i);
  MPI_Datatype type = layout(bytes, strided);
  const int count = strided ? 1 : bytes;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm world = MPI_COMM_WORLD;
  switch (mode) {
    case mode_send:
      OK(MPI_Send(data, count, type, 1, tag_data, world));
      break;
    case mode_ssend:
      OK(MPI_Ssend(data, count, type, 1, tag_data, world));
      break;
    case mode_rsend:
      OK(MPI_Rsend(data, count, type, 1, tag_data, world));
      break;
    case mode_isend:
      OK(MPI_Isend(data, count, type, 1, tag_data, world, &request));
      break;
    case mode_issend:
      OK(MPI_Issend(data, count, type, 1, tag_data, world, &request));
      break;
    case mode_irsend:
      OK(MPI_Irsend(data, count, type, 1, tag_data, world, &request));
      break;
    case mode_send_init:
      OK(MPI_Send_init(data, count, type, 1, tag_data, world, &request));
      break;
    case mode_ssend_init:
      OK(MPI_Ssend_init(data, count, type, 1, tag_data, world, &request));
      break;
    default:
      OK(MPI_Rsend_init(data, count, type, 1, tag_data, world, &request));
  }
  if (strided) MPI_Type_free(&type);  // the operation keeps it
  if (mode < mode_isend) return;
  if (mode >= mode_send_init) OK(MPI_Start(&request));
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  if (mode >= mode_send_init) {
    EXPECT(request != MPI_REQUEST_NULL);
    OK(MPI_Request_free(&request));
  }
  EXPECT(request == MPI_REQUEST_NULL);
}

static void check(const char* what, int mode, int bytes, int room, int strided, uint64_t salt,
                  const MPI_Status* status) {
  const unsigned char* data = buffer + guard;
  if (!is_message(status, 0, tag_data, bytes)) {
    MPI_Count count;
    MPI_Get_count_c(status, MPI_BYTE, &count);
    failed(__FILE__, __LINE__, "%s, %s, %d bytes: the status says source %d, tag %d, %lld bytes", mode_names[mode],
           what, bytes, status->MPI_SOURCE, status->MPI_TAG, (long long)count);
  }
  // The bytes between the pieces, before and behind are as they were.
  const int piece = strided ? piece_of(room) : 0;
  int64_t next = 0;  // of the message's bytes
  int in_piece = 0;
  for (int64_t at = -guard; at < span(room, strided) + guard; ++at) {
    const int is_data = at >= 0 && next < bytes && (!strided || in_piece < piece);
    const unsigned char wanted = is_data ? byte_at(salt, next++) : 0xee;
    if (at >= 0 && ++in_piece == piece + gap) in_piece = 0;
    if (data[at] == wanted) continue;
    failed(__FILE__, __LINE__, "%s, %s, %d bytes, strided %d: at %lld is %02x, not %02x", mode_names[mode], what, bytes,
           strided, (long long)at, data[at], wanted);
    return;
  }
}

static void receive(int mode, int bytes, int strided, int posted, int exact, uint64_t salt) {
  // If the buffer is larger than the message, the status says how much came.
  const int room = exact ? bytes : bytes + 19;
  memset(buffer, 0xee, (size_t)span(room, strided) + 2 * guard);
  MPI_Datatype type = layout(room, strided);
  const int count = strided ? 1 : room;
  MPI_Status status = dirty();
  if (posted) {
    MPI_Request request;
    OK(MPI_Irecv(buffer + guard, count, type, 0, tag_data, MPI_COMM_WORLD, &request));
    OK(MPI_Send(NULL, 0, MPI_BYTE, 0, tag_go, MPI_COMM_WORLD));
    OK(MPI_Wait(&request, &status));
    EXPECT(request == MPI_REQUEST_NULL);
  } else {
    MPI_Status probed = dirty();
    OK(MPI_Probe(0, tag_data, MPI_COMM_WORLD, &probed));  // now it is here, and unexpected
    EXPECT(is_message(&probed, 0, tag_data, bytes));
    OK(MPI_Recv(buffer + guard, count, type, 0, tag_data, MPI_COMM_WORLD, &status));
  }
  check(posted ? "posted" : "unexpected", mode, bytes, room, strided, salt, &status);
  if (strided) MPI_Type_free(&type);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  buffer = malloc((size_t)(largest + 64) * (1 + gap) + 4 * guard);
  uint64_t salt = 0;
  for (int s = 0; s < size_count; ++s) {
    for (int mode = 0; mode < mode_count; ++mode) {
      for (int variant = 0; variant < 8; ++variant) {
        const int posted = variant & 1, strided_out = variant >> 1 & 1, strided_in = variant >> 2;
        const int ready = mode == mode_rsend || mode == mode_irsend || mode == mode_rsend_init;
        if (ready && !posted) continue;
        const int a_few = mode == mode_send || mode == mode_issend || mode == mode_ssend_init;
        if (sizes[s] >= 1 << 20 && (strided_out != strided_in || !a_few)) continue;  // large ones take their time
        ++salt;
        if (me == 0) {
          if (posted) OK(MPI_Recv(NULL, 0, MPI_BYTE, 1, tag_go, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
          send(mode, sizes[s], strided_out, salt);
        } else if (me == 1) {
          receive(mode, sizes[s], strided_in, posted, salt % 3 != 0, salt);
        }
      }
    }
  }
  free(buffer);
  return finish();
}
