// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Messages of all ranks to all, from and into memory of every sort: of the host, of a device, pinned, managed. Sizes,
// layouts, modes and the order of calls follow from a seed, which both sides know. Every byte of the receive buffers is
// checked, also those that no message may touch.
//   transfers PLACE,PLACE... ROUNDS SEED
#include "../mpi/counters.h"
#include "place.h"

enum { SLOT = 3 << 20, GUARD = 0xEE, MAX_RANKS = 16, MAX_SORTS = 5 };

struct buffer {
  enum place sort;
  unsigned char *out, *in;  // a slot for each rank
};

struct message {
  int sort_out, sort_in;
  size_t offset, blocks, block, stride;  // bytes
  int synchronous, late;
};

static struct buffer buffers[MAX_SORTS];
static int rank, ranks, sorts;
static uint64_t seed;

static uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static struct message message_of(int round, int from, int to) {
  uint64_t x = mixed(seed * 0x9e3779b97f4a7c15u + (uint64_t)round * 65536 + (uint64_t)from * 256 + (uint64_t)to);
  struct message m = {.sort_out = (int)(x % (uint64_t)sorts), .sort_in = (int)(x / 8 % (uint64_t)sorts)};
  m.offset = x / 64 % 300;
  m.synchronous = x / 65536 % 4 == 0;
  m.late = x / 262144 % 3 == 0;
  x = mixed(x);
  const int magnitude = (int)(x % 21);
  const size_t bytes = ((size_t)1 << magnitude) + (x / 32) % ((size_t)1 << magnitude);
  x = mixed(x);
  if (x % 2 == 0) {
    m.blocks = 1;
    m.block = m.stride = bytes;
  } else {
    m.block = 1 + x / 2 % 64 * (x / 128 % 8);
    m.stride = m.block + x / 1024 % 3 * 8;
    m.blocks = bytes / m.stride % 2000 + 1;  // a library may copy them one by one
  }
  return m;
}

static size_t span(const struct message* m) {
  return m->offset + (m->blocks - 1) * m->stride + m->block;
}

static unsigned char byte_of(size_t i, int round, int from, int to) {
  return (unsigned char)(i * 37 + (i >> 8) * 11 + (size_t)(round * 5 + from * 3 + to));
}

// The bytes of a slot: those of the message, in a row through all blocks, and the guard everywhere else.
static void lay_out(unsigned char* slot, size_t bytes, const struct message* m, int round, int from, int to) {
  memset(slot, GUARD, bytes);
  size_t i = 0;
  for (size_t b = 0; b < m->blocks; ++b) {
    for (size_t k = 0; k < m->block; ++k) slot[m->offset + b * m->stride + k] = byte_of(i++, round, from, to);
  }
}

static MPI_Datatype type_of(const struct message* m) {
  MPI_Datatype type;
  MPI_Type_vector((int)m->blocks, (int)m->block, (int)m->stride, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  return type;
}

static unsigned char* slot_of(unsigned char* buffer, int peer) {
  return buffer + (size_t)peer * SLOT;
}

static void receive(int round, int from, int late, MPI_Request* request) {
  const struct message m = message_of(round, from, rank);
  if (m.late != late) return;
  MPI_Datatype type = type_of(&m);
  MPI_Irecv(slot_of(buffers[m.sort_in].in, from) + m.offset, 1, type, from, round, MPI_COMM_WORLD, request);
  MPI_Type_free(&type);
}

static void send(int round, int to, MPI_Request* request) {
  const struct message m = message_of(round, rank, to);
  MPI_Datatype type = type_of(&m);
  const void* data = slot_of(buffers[m.sort_out].out, to) + m.offset;
  if (m.synchronous) {
    MPI_Issend(data, 1, type, to, round, MPI_COMM_WORLD, request);
  } else {
    MPI_Isend(data, 1, type, to, round, MPI_COMM_WORLD, request);
  }
  MPI_Type_free(&type);
}

static void prepare(int round) {
  for (int peer = 0; peer < ranks; ++peer) {
    const struct message out = message_of(round, rank, peer), in = message_of(round, peer, rank);
    places.mine = buffers[out.sort_out].sort;
    unsigned char* slot = slot_of(buffers[out.sort_out].out, peer);
    lay_out(place_room(slot, span(&out)), span(&out), &out, round, rank, peer);
    place_write(slot, span(&out));
    places.mine = buffers[in.sort_in].sort;
    slot = slot_of(buffers[in.sort_in].in, peer);
    memset(place_room(slot, span(&in) + 64), GUARD, span(&in) + 64);
    place_write(slot, span(&in) + 64);
  }
}

static int wrong(int round) {
  static unsigned char wanted[SLOT];
  for (int peer = 0; peer < ranks; ++peer) {
    const struct message m = message_of(round, peer, rank);
    const size_t bytes = span(&m) + 64;
    lay_out(wanted, bytes, &m, round, peer, rank);
    places.mine = buffers[m.sort_in].sort;
    const unsigned char* seen = place_read(slot_of(buffers[m.sort_in].in, peer), bytes);
    for (size_t i = 0; i < bytes; ++i) {
      if (seen[i] == wanted[i]) continue;
      fprintf(stderr,
              "rank %d, round %d: byte %zu of the slot of rank %d is %d, not %d (%zu blocks of %zu bytes, %zu apart, "
              "from %zu; sorts %d to %d)\n",
              rank, round, i, peer, seen[i], wanted[i], m.blocks, m.block, m.stride, m.offset,
              (int)buffers[m.sort_out].sort, (int)buffers[m.sort_in].sort);
      return 1;
    }
  }
  return 0;
}

static int run(int round) {
  MPI_Request requests[2 * MAX_RANKS];
  prepare(round);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int peer = 0; peer < ranks; ++peer) receive(round, peer, 0, &requests[peer]);
  for (int peer = 0; peer < ranks; ++peer) send(round, peer, &requests[ranks + peer]);
  MPI_Barrier(MPI_COMM_WORLD);  // the late receives find messages that are here
  for (int peer = 0; peer < ranks; ++peer) receive(round, peer, 1, &requests[peer]);
  MPI_Waitall(2 * ranks, requests, MPI_STATUSES_IGNORE);
  return wrong(round);
}

static void parse(int argc, char** argv, int* rounds) {
  if (argc != 4) bench_die("usage: transfers PLACE,PLACE... ROUNDS SEED");
  for (const char* at = argv[1]; sorts < MAX_SORTS; ++sorts) {
    const size_t length = strcspn(at, ",");
    buffers[sorts].sort = place_named(at, length);
    if (at[length] != ',') break;
    at += length + 1;
  }
  if (++sorts > MAX_SORTS) bench_die("too many places");
  *rounds = atoi(argv[2]);
  seed = strtoull(argv[3], NULL, 10);
}

int main(int argc, char** argv) {
  int rounds, by_driver = 0, failures = 0;
  parse(argc, argv, &rounds);
  for (int s = 0; s < sorts; ++s) by_driver |= place_by_driver(buffers[s].sort);
  const char* reason = by_driver ? cu_load() : NULL;
  if (reason) {
    fprintf(stderr, "skipped: %s\n", reason);
    return BENCH_SKIP;
  }
  MPI_Init(&argc, &argv);
  counters_start();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks > MAX_RANKS) bench_die("too many ranks");
  if (by_driver && (reason = cu_open(rank))) bench_die(reason);
  for (int s = 0; s < sorts; ++s) {
    places.mine = buffers[s].sort;
    buffers[s].out = place_buffer((size_t)ranks * SLOT);
    buffers[s].in = place_buffer((size_t)ranks * SLOT);
  }
  for (int round = 0; round < rounds && failures == 0; ++round) {
    const int mine = run(round);
    MPI_Allreduce(&mine, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  for (int s = 0; s < sorts; ++s) {
    places.mine = buffers[s].sort;
    place_free(buffers[s].out);
    place_free(buffers[s].in);
  }
  failures += counters_failed();
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
