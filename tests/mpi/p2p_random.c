// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Random traffic from a seed that all ranks know: peers, tags, sizes, modes, wildcards, completion calls. Each message
// carries who sent it and its number among those of its tag; a receive takes the first sent of all that match
// (no overtaking), and every byte is checked.
//
// usage: p2p_random [seed] [messages per rank] [largest size]
#include "p2p.h"

enum { tags = 4, most_open = 40, header = 24 };

static uint64_t state;
static uint64_t next_random(void) {
  uint64_t z = (state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
static int below(int n) {
  return (int)(next_random() % (uint64_t)n);
}

typedef struct {
  int to, tag, bytes, mode;
} Message;

static int largest = 200000;

static Message random_message(void) {
  static const int edges[] = {header, 40, 41, 8152, 8153, 8192, 8193, 32768, 32769, 131072, 131073};
  Message m = {below(ranks), below(tags), 0, below(4)};
  switch (below(8)) {
    case 0:
      m.bytes = edges[below(sizeof edges / sizeof *edges)];
      break;
    case 1:
      m.bytes = header + below(20000);
      break;
    case 2:
      m.bytes = header + below(largest);
      break;
    default:
      m.bytes = header + below(200);
  }
  return m;
}

// The data that rank `from` sends: the same on every rank that asks.
static Message* plan_of(uint64_t seed, int from, int messages) {
  Message* plan = malloc(sizeof *plan * (size_t)messages);
  state = seed * 1000 + (uint64_t)from;
  for (int i = 0; i < messages; ++i) plan[i] = random_message();
  return plan;
}

static uint64_t salt_of(int from, int index) {
  return (uint64_t)from * 100003 + (uint64_t)index;
}

typedef struct {
  unsigned char* data;
  int expected_source, expected_tag;  // as asked for, wildcards included
} Slot;

static int* seen;        // [from][tag]: how many of plan[from] to us with this tag have come
static Message** plans;  // of all ranks

// Index in plan[from] of our nth message with this tag; -1 when there is none.
static int find_nth(int from, int tag, int n, int messages) {
  static int* cache;  // the lists, made once: [from][tag][n]
  static int* counts;
  if (cache == NULL) {
    cache = malloc(sizeof(int) * (size_t)(ranks * tags * messages));
    counts = calloc((size_t)(ranks * tags), sizeof(int));
    for (int r = 0; r < ranks; ++r) {
      for (int i = 0; i < messages; ++i) {
        if (plans[r][i].to != me) continue;
        const int list = r * tags + plans[r][i].tag;
        cache[list * messages + counts[list]++] = i;
      }
    }
  }
  const int list = from * tags + tag;
  return n < counts[list] ? cache[list * messages + n] : -1;
}

static void check(const Slot* slot, const MPI_Status* status, int messages) {
  const int from = status->MPI_SOURCE, tag = status->MPI_TAG;
  if (from < 0 || from >= ranks || tag < 0 || tag >= tags) {
    failed(__FILE__, __LINE__, "the status says source %d, tag %d", from, tag);
    return;
  }
  EXPECT(slot->expected_source == MPI_ANY_SOURCE || slot->expected_source == from);
  EXPECT(slot->expected_tag == MPI_ANY_TAG || slot->expected_tag == tag);
  const int index = find_nth(from, tag, seen[from * tags + tag]++, messages);
  int64_t told[3];
  memcpy(told, slot->data, sizeof told);
  if (index < 0 || told[0] != from || told[1] != index) {
    failed(__FILE__, __LINE__, "from %d with tag %d came number %lld of %lld, not number %d", from, tag,
           (long long)told[1], (long long)told[0], index);
    return;
  }
  const int bytes = plans[from][index].bytes;
  EXPECT(is_message(status, from, tag, bytes));
  const int64_t wrong = wrong_at(slot->data + header, bytes - header, salt_of(from, index));
  if (wrong >= 0)
    failed(__FILE__, __LINE__, "message %d of %d, %d bytes: wrong at %lld", index, from, bytes, (long long)wrong);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  const int messages = argc > 2 ? atoi(argv[2]) : 1500;
  if (argc > 3) largest = atoi(argv[3]);
  plans = malloc(sizeof *plans * (size_t)ranks);
  for (int r = 0; r < ranks; ++r) plans[r] = plan_of(seed, r, messages);
  seen = calloc((size_t)(ranks * tags), sizeof *seen);
  // Receives are posted in the order of the senders' plans: an earlier sender is never behind a later one, so no choice
  // of windows and synchronous sends can end in a deadlock.
  int total = 0;
  int* sources = malloc(sizeof(int) * (size_t)(ranks * messages));
  int* wanted_tags = malloc(sizeof(int) * (size_t)(ranks * messages));
  for (int i = 0; i < messages; ++i) {
    for (int r = 0; r < ranks; ++r) {
      if (plans[r][i].to != me) continue;
      sources[total] = r;
      wanted_tags[total++] = plans[r][i].tag;
    }
  }
  state = seed * 7919 + 13 * (uint64_t)me;

  MPI_Request requests[2 * most_open];
  Slot slots[most_open];
  unsigned char* out[most_open];
  for (int i = 0; i < 2 * most_open; ++i) requests[i] = MPI_REQUEST_NULL;
  for (int i = 0; i < most_open; ++i) {
    slots[i].data = malloc((size_t)largest + 140000);
    out[i] = malloc((size_t)largest + 140000);
  }
  // A wildcard among specific receives could take the message of one posted later, which then waits for ever: a rank
  // has one style.
  const int style = (int)((seed + (uint64_t)me) % 3);  // 0 specific, 1 any tag of a source, 2 anything
  int sent = 0, posted = 0, received = 0, sends_open = 0;
  int order[most_open], open = 0;  // the slots of this round as they were posted
  while (sent < messages || received < total || sends_open > 0) {
    for (int i = 0; i < most_open && posted < total; ++i) {
      if (requests[i] != MPI_REQUEST_NULL || below(3) == 0) continue;
      const int from = sources[posted], tag = wanted_tags[posted];
      slots[i].expected_source = style == 2 ? MPI_ANY_SOURCE : from;
      slots[i].expected_tag = style >= 1 ? MPI_ANY_TAG : tag;
      OK(MPI_Irecv(slots[i].data, largest + 140000, MPI_BYTE, slots[i].expected_source, slots[i].expected_tag,
                   MPI_COMM_WORLD, &requests[i]));
      order[open++] = i;
      ++posted;
    }
    for (int i = 0; i < most_open && sent < messages; ++i) {
      if (requests[most_open + i] != MPI_REQUEST_NULL || below(3) == 0) continue;
      const Message* m = &plans[me][sent];
      const int64_t told[3] = {me, sent, m->bytes};
      memcpy(out[i], told, sizeof told);
      fill(out[i] + header, m->bytes - header, salt_of(me, sent));
      MPI_Request* request = &requests[most_open + i];
      if (m->mode == 0) {
        OK(MPI_Issend(out[i], m->bytes, MPI_BYTE, m->to, m->tag, MPI_COMM_WORLD, request));
      } else {
        OK(MPI_Isend(out[i], m->bytes, MPI_BYTE, m->to, m->tag, MPI_COMM_WORLD, request));
      }
      ++sends_open;
      ++sent;
    }
    int indices[2 * most_open], count = 0;
    MPI_Status statuses[2 * most_open];
    const int way = below(3);
    int done_sends = 0;
    if (way == 0) {
      OK(MPI_Testsome(most_open, requests + most_open, &count, indices, statuses));
      done_sends = count == MPI_UNDEFINED ? 0 : count;
    } else if (way == 1) {
      int index, flag;
      OK(MPI_Testany(most_open, requests + most_open, &index, &flag, statuses));
      done_sends = flag && index != MPI_UNDEFINED;
    } else {
      for (int i = 0; i < most_open; ++i) {
        int flag = 0;
        if (requests[most_open + i] == MPI_REQUEST_NULL) continue;
        OK(MPI_Test(&requests[most_open + i], &flag, MPI_STATUS_IGNORE));
        done_sends += flag;
      }
    }
    sends_open -= done_sends;
    // A round of receives ends when all of them are here. Messages of one source and tag were matched in the order of
    // posting.
    int all = 0;
    OK(MPI_Testall(most_open, requests, &all, statuses));
    if (!all) continue;
    for (int i = 0; i < open; ++i) check(&slots[order[i]], &statuses[order[i]], messages);
    received += open;
    open = 0;
    if (failures > 20) break;
  }
  if (failures > 20) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  int flag = 1;
  OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
  EXPECT(!flag);
  for (int i = 0; i < most_open; ++i) {
    free(slots[i].data);
    free(out[i]);
  }
  for (int r = 0; r < ranks; ++r) free(plans[r]);
  free(plans);
  free(seen);
  free(sources);
  free(wanted_tags);
  return finish();
}
