// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Receives posted without a lock beside the progress thread (src/core/progress/progress_thread_post.hpp), for spin.
// run.py says how it is run and which faults it must find.
//
// The poster posts POSTS receives, each on the short path, or with the lane's lock where the progress thread is at work.
// That thread does ROUNDS rounds. Asserted: nobody works on the matcher while a receive is being posted on the short path,
// and a thread that does sees all that was posted before.
//
// Memory: the stores of either thread wait in its buffer, in their order, and reach memory at any later time. Taking a lock
// empties the own buffer; membarrier empties both.
//
// BROKEN_x leaves one rule out; the run must then fail.

#define POSTS 3
#define ROUNDS 3

#define POSTING 0
#define ATTENDED 1
#define POSTED 2

byte memory[3];
chan of_poster = [4] of { byte, byte };
chan of_progress = [4] of { byte, byte };

bool locked;
bool on_short_road;  // the poster is in the matcher without the lock
byte written;        // receives, in memory or not yet

inline flush(buffer) {
  do
  :: buffer ? place, value -> memory[place] = value
  :: empty(buffer) -> break
  od;
  place = 0; value = 0
}

inline lock(buffer) {
  atomic { !locked -> locked = true; flush(buffer) }
}

// Stores reach memory at any time.
active proctype buffers() {
  byte place, value;
end:
  do
  :: atomic { of_poster ? place, value -> memory[place] = value; place = 0; value = 0 }
  :: atomic { of_progress ? place, value -> memory[place] = value; place = 0; value = 0 }
  od
}

active proctype poster() {
  byte place, value;
  do
  :: written == POSTS -> break
  :: else ->
#ifndef BROKEN_FLAG
     of_poster ! POSTING, true;
#endif
     if
     :: memory[ATTENDED] == 0 ->
        on_short_road = true;
#ifdef BROKEN_END
        of_poster ! POSTING, false;
#endif
        atomic { written++; of_poster ! POSTED, written };
        on_short_road = false
#ifndef BROKEN_END
        ; of_poster ! POSTING, false
#endif
     :: else ->
        of_poster ! POSTING, false;
        lock(of_poster);
        atomic { written++; of_poster ! POSTED, written };
        atomic { flush(of_poster); locked = false }
     fi
  od
}

active proctype progress_thread() {
  byte place, value, round;
  do
  :: round == ROUNDS -> break
  :: else ->
     round++;
     lock(of_progress);
#ifndef BROKEN_BIT
     of_progress ! ATTENDED, true;
#endif
     locked = false;
#ifdef BROKEN_BARRIER
     atomic { flush(of_progress) };
#else
     atomic { flush(of_progress); flush(of_poster) };
#endif
     if
#ifndef BROKEN_LOOK
     :: memory[POSTING] != 0
     :: memory[POSTING] == 0 ->
#else
     :: true ->
#endif
        lock(of_progress);
        atomic { assert(!on_short_road); assert(memory[POSTED] == written) };
        assert(!on_short_road);
        locked = false
     fi;
     lock(of_progress);
     of_progress ! ATTENDED, false;
     locked = false
  od
}
