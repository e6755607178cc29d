// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Numbers of messages between hosts (docs/design/matching.md, "Numbers"), for spin. run.py says how it is run and what must be
// found.
//
// Two threads of one sender number MESSAGES messages with one counter and send each by any lane; taking a number and
// sending are two steps, and a lane keeps its order. Some are taken back before they leave. At the receiver any message
// may belong to a receive that names its tag; all others wait for receives with MPI_ANY_TAG, which are always posted.
// All actions under a lane's lock, or under all of them, are one step. Asserted: a receive with MPI_ANY_TAG never gets a message
// while one that was sent before is missing. And every run ends with no message left.
//
// BROKEN_x leaves one rule out; the run must then fail.

#define MESSAGES 5
#define LANES 2
#define TAKEN_BACK 100

byte counter;
byte sent;
chan lane[LANES] = [MESSAGES] of { byte };

byte came;               // of the lanes together
bool arrived[MESSAGES + 1];
bool kept[MESSAGES + 1];
bool unsettled;

// Tally of each lane, and the Watch.
byte count[LANES];
byte top[LANES];
byte watched[LANES];
byte late[LANES];
byte complete;
byte missing;

proctype sender() {
  byte mine;
  do
  :: atomic { counter < MESSAGES -> counter++; mine = counter };
     atomic {
       if
       :: lane[0] ! mine
       :: lane[1] ! mine
#ifdef BROKEN_UNSENT
       :: came++; arrived[mine] = true
#else
       :: lane[1] ! mine + TAKEN_BACK
#endif
       fi;
       mine = 0
     }
  :: else -> break
  od
}

inline add(l, n) {
  count[l]++;
  came++;
  arrived[n] = true;
  if
  :: top[l] < n -> top[l] = n
  :: else
  fi;
  if
#ifdef BROKEN_LATE
  :: watched[l] != 0 -> late[l]++; unsettled = true
#else
  :: n <= watched[l] -> late[l]++;
#ifndef BROKEN_TOLD
     unsettled = true
#endif
#endif
  :: else
  fi
}

inline set_watched(n) {
  watched[0] = n; watched[1] = n;
  late[0] = 0; late[1] = 0
}

// Whether all before `n` are there: Watches::is_next().
inline look_at(n) {
  largest = (top[0] < top[1] -> top[1] : top[0]);
  if
  :: n <= complete
  :: else ->
     if
     :: watched[0] != 0 && late[0] + late[1] == missing -> complete = watched[0]; set_watched(0)
     :: else
     fi;
     if
     :: count[0] + count[1] == largest -> complete = largest
     :: else
     fi;
     if
     :: n <= complete && watched[0] != 0 && watched[0] <= complete -> set_watched(0)
     :: n > complete && watched[0] == 0 -> missing = largest - count[0] - count[1]; set_watched(largest)
     :: else
     fi
  fi;
#ifdef BROKEN_GAPS
  complete = (complete < n -> n : complete);
#endif
  next = n <= complete
}

proctype receiver() {
  byte n, l, largest, i;
  bool next;
  do
  :: atomic {
       if
       :: nempty(lane[0]) -> l = 0
       :: nempty(lane[1]) -> l = 1
       fi;
       lane[l] ? n;
       if
       :: n > TAKEN_BACK -> n = n - TAKEN_BACK
       :: n < TAKEN_BACK                                     // of a receive that names its tag
       :: n < TAKEN_BACK -> kept[n] = true; unsettled = true  // pending
       fi;
       add(l, n);
       n = 0; l = 0
     }
  :: d_step {
       unsettled -> unsettled = false;
       n = 1;
       do
       :: n <= MESSAGES && !kept[n] -> n++
       :: n <= MESSAGES && kept[n] ->
          look_at(n);
          if
          :: next ->
             i = 1;
             do
             :: i < n -> assert(arrived[i]); i++
             :: else -> break
             od;
             kept[n] = false;
             n++
          :: else -> break
          fi
       :: n > MESSAGES -> break
       od;
       n = 0; i = 0; largest = 0; next = false
     }
  :: atomic {
       came == MESSAGES && !unsettled && empty(lane[0]) && empty(lane[1]) ->
       assert(!kept[1] && !kept[2] && !kept[3] && !kept[4] && !kept[5]);
       break
     }
  od
}

init {
  atomic {
    run sender();
    run sender();
    run receiver()
  }
}
