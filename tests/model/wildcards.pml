// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Matching across lanes (docs/design/matching.md, "Several lanes"), for spin. run.py says how it is run and what must be
// found.
//
// A process of two threads sends three messages to a process of two threads and two lanes: one source, one
// communicator, tags 0 and 1, each tag its lane. Which thread sends which message with which tag, and which of them wait
// for the one before, is chosen freely. The receives are those of SCENARIO, below. With QUEUE a ring is full once, at
// any time.
//
// All actions under one lane's lock are one step: others see a lane's state under its lock only, the list of receives with
// MPI_ANY_TAG changes under all locks only, and the one word shared with senders, a published cell, stays as it is until
// read.
//
// BROKEN_x leaves one rule out; the run must then fail.

#define MESSAGES 3
#define RECEIVES 3
#define NONE 7

// Receives in the order of posting: thread 0 posts the first `OF_FIRST`, thread 1 the others, at any time.
// Kinds: a receive of tag 0, of tag 1, with MPI_ANY_TAG, or with MPI_ANY_SOURCE and tag 0 or 1.
#define ANY 2
#define FROM_ANY_0 3
#define FROM_ANY_1 4
#if SCENARIO == 1  // wildcards of both threads
#define KIND_0 ANY
#define KIND_1 ANY
#define KIND_2 ANY
#define OF_FIRST 2
#elif SCENARIO == 2  // specific receives behind a wildcard
#define KIND_0 ANY
#define KIND_1 0
#define KIND_2 1
#define OF_FIRST 2
#elif SCENARIO == 3  // a wildcard between specific receives
#define KIND_0 0
#define KIND_1 ANY
#define KIND_2 0
#define OF_FIRST 3
#elif SCENARIO == 4  // a specific receive between wildcards
#define KIND_0 ANY
#define KIND_1 0
#define KIND_2 ANY
#define OF_FIRST 3
#elif SCENARIO == 5  // both kinds of wildcards
#define KIND_0 FROM_ANY_0
#define KIND_1 ANY
#define KIND_2 FROM_ANY_0
#define OF_FIRST 2
#elif SCENARIO == 6  // MPI_ANY_TAG behind both kinds of receives of the second lane
#define KIND_0 FROM_ANY_1
#define KIND_1 1
#define KIND_2 ANY
#define OF_FIRST 3
#endif

#define matches(r, m) (kind[r] == ANY || kind[r] == tag[m] || kind[r] == tag[m] + FROM_ANY_0)
#define is_wild(r) (kind[r] >= ANY)
#define is_across(r) (kind[r] == ANY)                             // of all lanes
#define lane_of(r) (is_wild(r) -> kind[r] - FROM_ANY_0 : kind[r])  // of the others

// ---- messages ----
bit tag[MESSAGES];        // and lane
bit thread_of[MESSAGES];
bit waits[MESSAGES];      // for the message before to be sent
byte before[MESSAGES];    // the messages that happen before it, a bit each
byte stamp[MESSAGES];
bool sent[MESSAGES];      // the send has returned
byte matched[MESSAGES] = NONE;
byte place[MESSAGES];     // in its lane's order; 0: not read
bool kept[MESSAGES];      // unexpected because MPI_ANY_TAG was ahead, and not settled

// ---- the sender's slot: clock and counts ----
#define NOBODY 2
#define SHARED 3
byte slot = NOBODY;
byte count;
byte clock = 1;

// ---- rings ----
typedef Ring {
  byte tail;
  byte head;
  byte cell[MESSAGES + 1] = NONE  // published message
};
Ring ring[2];
byte queue[MESSAGES];  // the peer's queue: sends that found a ring full
byte queued;
byte unqueued;
byte still_queued;     // what a sending thread looks at
bool was_full;

// ---- receives ----
byte kind[RECEIVES];
bool posted[RECEIVES];
byte taken[RECEIVES] = NONE;  // the message
byte epoch[RECEIVES];
byte post_order[RECEIVES];    // among specific receives
byte now_epoch[2];            // of each lane
byte now_order;
byte any_tags;                // posted with MPI_ANY_TAG: the counter of the context

bool locked[2];
byte arrived;  // messages of all lanes
byte ended;    // threads

// These are used within one d_step only.
hidden byte k;
hidden byte m_;
hidden byte specific;
hidden byte found;
hidden byte next;

// ================ sending ================

inline draw_stamp(m) {
  if
  :: slot == NOBODY -> slot = me; count = clock  // a compare-and-swap
  :: slot == 1 - me ->
#ifndef BROKEN_SHARED
     slot = SHARED
#endif
  :: else
  fi;
  if
  :: slot == me -> stamp[m] = count; count++;
#ifndef BROKEN_COUNTER
     clock = clock + 2  // a send takes longer than a tick
#endif
  :: else -> stamp[m] = clock; clock++
  fi;
  printf("message %d: thread %d, tag %d, stamp %d\n", m, me, tag[m], stamp[m])
}

// To the ring: reserve, publish.
inline reserve(m) { atomic { at = ring[tag[m]].tail; ring[tag[m]].tail++ } }
inline publish(m) {
  ring[tag[m]].cell[at] = m;
  printf("message %d: published in ring %d, cell %d\n", m, tag[m], at)
}

inline next_message() {
  do
  :: m < MESSAGES && thread_of[m] != me -> m++
  :: else -> break
  od
}

proctype sender(bit me) {
  byte m;
  byte at;
  d_step { next_message(); at = 0 };
  do
  :: d_step {
       m < MESSAGES && (!waits[m] || sent[m - 1]) ->
       draw_stamp(m)
     }
     if
#ifdef QUEUE
     :: d_step {  // behind what is queued already, or because the ring is full
          still_queued != 0 || !was_full -> was_full = true;
          queue[queued] = m; queued++; still_queued++;
          printf("message %d: queued\n", m);
          sent[m] = true; m++; next_message(); at = 0
        }
#endif
     :: still_queued == 0 ->
        reserve(m);
        d_step { publish(m); sent[m] = true; m++; next_message(); at = 0 }
     fi
  :: m == MESSAGES -> break
  od
}

// Moves the peer's queue into the rings, under the queue's lock.
proctype mover() {
  byte at;
end:
  do
  :: unqueued < queued ->
#ifdef BROKEN_QUEUE
     still_queued--;
#endif
     reserve(queue[unqueued]);
     d_step {
       publish(queue[unqueued]);
       unqueued++; at = 0;
#ifndef BROKEN_QUEUE
       still_queued--
#endif
     }
  od
}

// ================ matching ================

// The message goes to the receive. Asserted are the rules of MPI-5.0, 3.5: no message sent before may wait that this
// receive could take, and no receive posted before (by the same thread) that could take this message.
inline match(r, m) {
  assert(posted[r] && taken[r] == NONE && matched[m] == NONE && matches(r, m));
  k = 0;
  do
  :: k < MESSAGES -> assert(!(before[m] & (1 << k)) || matched[k] != NONE || !matches(r, k)); k++
  :: else -> break
  od;
  k = 0;
  do
  :: k < r -> assert((k < OF_FIRST) != (r < OF_FIRST) || taken[k] != NONE || !matches(k, m)); k++
  :: else -> break
  od;
  matched[m] = r;
  taken[r] = m;
  kept[m] = false;
  printf("message %d: taken by receive %d\n", m, r);
  if
  :: is_across(r) -> any_tags--
  :: else
  fi
}

inline post(r) {
  posted[r] = true;
  printf("receive %d: posted\n", r);
  if
  :: is_across(r) ->
     any_tags++;
#ifdef BROKEN_ALL_EPOCHS
     epoch[r] = now_epoch[0] + 1;
#else
     epoch[r] = (now_epoch[0] > now_epoch[1] -> now_epoch[0] : now_epoch[1]) + 1;
#endif
#ifndef BROKEN_ADVANCE
     now_epoch[0] = epoch[r];
     now_epoch[1] = epoch[r]
#endif
  :: is_wild(r) && !is_across(r) -> now_epoch[lane_of(r)]++; epoch[r] = now_epoch[lane_of(r)]
  :: else -> epoch[r] = now_epoch[lane_of(r)]; now_order++; post_order[r] = now_order
  fi
}

#define waits_for(r, m) (posted[r] && taken[r] == NONE && matches(r, m))
#define unexpected(m) (place[m] != 0 && matched[m] == NONE)

// found: the receive posted first among those that match, or NONE.
inline find_receive(m) {
  specific = NONE;
  found = NONE;
  k = 0;
  do
  :: k < RECEIVES ->
     if
     :: waits_for(k, m) && !is_wild(k) && (specific == NONE || post_order[k] < post_order[specific]) -> specific = k
     :: waits_for(k, m) && is_wild(k) && (found == NONE || epoch[k] < epoch[found]) -> found = k
     :: else
     fi;
     k++
  :: else -> break
  od;
  if
#ifdef BROKEN_EPOCH
  :: specific != NONE && (found == NONE || epoch[specific] <= epoch[found]) -> found = specific
#else
  :: specific != NONE && (found == NONE || epoch[specific] < epoch[found]) -> found = specific
#endif
  :: else
  fi
}

#define kept_in(lane, m) (kept[m] && tag[m] == lane)
#define anything_kept(lane) (kept_in(lane, 0) || kept_in(lane, 1) || kept_in(lane, 2))

// Reads the next message of a lane, whose lock is held.
inline arrive(lane) {
  m_ = ring[lane].cell[ring[lane].head];
  ring[lane].head++;
  arrived++;
  place[m_] = ring[lane].head;
  printf("message %d: read\n", m_);
  find_receive(m_);
  if
#ifndef BROKEN_BEHIND
  :: anything_kept(lane) -> kept[m_] = true
#endif
  :: else ->
     if
     :: found == NONE
     :: found != NONE && kind[found] == ANY -> kept[m_] = true
     :: found != NONE && kind[found] != ANY -> match(found, m_)
     fi
  fi
}

// next: of the kept messages the one with the smallest stamp; when none is kept, that of the unexpected ones that match
// the receive `r` (NONE: no receive).
inline choose(r) {
  next = NONE;
  k = 0;
  do
  :: k < MESSAGES ->
     if
     :: kept[k] && (next == NONE || stamp[k] <= stamp[next]) -> next = k
     :: else
     fi;
     k++
  :: else -> break
  od;
  k = 0;
  do
  :: next == NONE && r != NONE ->
     specific = NONE;
     do
     :: k < MESSAGES ->
        if
        :: unexpected(k) && matches(r, k) && (specific == NONE || stamp[k] <= stamp[specific]) -> specific = k
        :: else
        fi;
        k++
     :: else -> break
     od;
     next = specific;
     break
  :: else -> break
  od
}

#define published(lane) (ring[lane].cell[ring[lane].head] != NONE)
#define full_cell(lane, at, tail) (at >= tail || ring[lane].cell[at] != NONE)
#define all_published(lane, tail) (full_cell(lane, 0, tail) && full_cell(lane, 1, tail) && full_cell(lane, 2, tail))

// Reads every ring to its tail; waits for the writers between their two steps.
inline read_tails() {
#ifdef BROKEN_TAIL
  if
  :: choice == NONE -> tail0 = ring[0].tail; tail1 = ring[1].tail
  :: else  // those of the first look
  fi
#else
  tail0 = ring[0].tail;
  tail1 = ring[1].tail
#endif
}
#ifdef BROKEN_UNPUBLISHED
#define can_drain true
#else
#define can_drain (all_published(0, tail0) && all_published(1, tail1))
#endif
inline drain() {
  do
  :: ring[0].head < tail0 && published(0) -> arrive(0)
  :: ring[1].head < tail1 && published(1) -> arrive(1)
  :: else -> break
  od
}

// After a look, a message that was the choice before it and still is may be given away; a new choice needs another look.
inline give() {
  choose(wanted);
#ifdef BROKEN_RELOOK
  choice = next;
#endif
  if
  :: next == choice && choice != NONE ->
     if
     :: kept[choice] ->
        find_receive(choice);
        kept[choice] = false;
        if
        :: found == NONE
#ifdef BROKEN_KEPT
        :: found != NONE && !is_wild(found)
        :: found != NONE && is_wild(found) -> match(found, choice)
#else
        :: found != NONE -> match(found, choice)
#endif
        fi
     :: else -> post(wanted); match(wanted, choice); wanted = NONE
     fi;
     choose(wanted)
  :: else
  fi;
  choice = next
}

// found: the first unexpected message of a specific receive.
inline find_message(r) {
  found = NONE;
  k = 0;
  do
  :: k < MESSAGES ->
     if
     :: unexpected(k) && matches(r, k) && (found == NONE || place[k] < place[found]) -> found = k
     :: else
     fi;
     k++
  :: else -> break
  od
}

inline take_or_post(r) {
  find_message(r);
  if
  :: found != NONE -> posted[r] = true; match(r, found)
  :: else -> post(r)
  fi
}

// At the end nobody waits in vain: no receive beside a message that it matches.
inline judge() {
  r = 0;
  do
  :: r < RECEIVES ->
     m_ = 0;
     do
     :: m_ < MESSAGES -> assert(!kept[m_] && (matched[m_] != NONE || !waits_for(r, m_))); m_++
     :: else -> break
     od;
     r++
  :: else -> break
  od
}

#define IDLE 0
#define ARRIVED 1   // a message was kept: settle
#define SPECIFIC 2  // a receive of one lane found a message that may be one's with MPI_ANY_TAG
#define WILD 3      // posting one with MPI_ANY_TAG

// Posts its receives, and progresses the lanes at any time.
proctype receiver(byte r; byte end) {
  byte task;
  byte wanted = NONE;  // the receive with MPI_ANY_TAG that is being posted
  byte choice = NONE;
  byte tail0;
  byte tail1;
  do
  :: d_step {  // under one lane's lock
       task == IDLE && r < end && !is_across(r) && !locked[lane_of(r)] ->
       find_message(r);
       if
#ifndef BROKEN_SPECIFIC
       :: found != NONE && any_tags != 0 -> task = SPECIFIC
#endif
       :: else -> take_or_post(r); r++
       fi
     }
  :: d_step {
       task == IDLE && !locked[0] && published(0) -> arrive(0);
       if
       :: kept[m_] -> task = ARRIVED
       :: else
       fi
     }
  :: d_step {
       task == IDLE && !locked[1] && published(1) -> arrive(1);
       if
       :: kept[m_] -> task = ARRIVED
       :: else
       fi
     }
  :: d_step {  // under all locks, while no message is kept: MPI_ANY_TAG is posted at once
       task == IDLE && r < end && is_across(r) && !locked[0] && !locked[1] ->
       if
#ifndef BROKEN_AT_ONCE
       :: !unexpected(0) && !unexpected(1) && !unexpected(2) -> post(r); r++
       :: else
#else
       :: post(r); r++
#endif
       fi
     }
  :: d_step {  // under all locks
       (task != IDLE || (r < end && is_across(r))) && !locked[0] && !locked[1] ->
       locked[0] = true; locked[1] = true;
       if
       :: task == IDLE -> task = WILD; wanted = r
       :: else
       fi
     }
     do
     :: read_tails();
        d_step {
          can_drain -> drain(); give();
          if
          :: choice != NONE
          :: else ->  // settled
             if
             :: task == SPECIFIC -> take_or_post(r); r++
             :: task == WILD && wanted != NONE -> post(wanted); r++
             :: task == WILD && wanted == NONE -> r++
             :: else
             fi;
             task = IDLE; wanted = NONE; tail0 = 0; tail1 = 0;
             locked[0] = false; locked[1] = false
          fi
        }
        if
        :: task == IDLE -> break
        :: else
        fi
     od
  :: d_step {
       r == end && arrived == MESSAGES && task == IDLE -> ended++;
       if
       :: ended == 2 -> judge()
       :: else
       fi
     }
     break
  od
}

inline choose_message(m) {
  if
  :: tag[m] = 0
  :: tag[m] = 1
  fi;
  if
  :: thread_of[m] = 0
  :: m != 0 -> thread_of[m] = 1
  fi;
  if
  :: m != 0 && thread_of[m] != thread_of[m - 1] -> waits[m] = true
#ifdef QUEUE  // for fewer states
  :: m == 0 || thread_of[m] == thread_of[m - 1]
#else
  :: true
#endif
  fi
}

init {
  atomic {
    kind[0] = KIND_0; kind[1] = KIND_1; kind[2] = KIND_2;
    choose_message(0);
    choose_message(1);
    choose_message(2);
    if
    :: waits[1] || thread_of[1] == thread_of[0] -> before[1] = 1
    :: else
    fi;
    if
    :: waits[2] || thread_of[2] == thread_of[1] -> before[2] = 2 | before[1]
    :: else
    fi;
    if
    :: thread_of[2] == thread_of[0] -> before[2] = before[2] | 1
    :: else
    fi;
    run sender(0); run sender(1);
#ifdef QUEUE
    run mover();
#endif
    run receiver(0, OF_FIRST); run receiver(OF_FIRST, RECEIVES)
  }
}
