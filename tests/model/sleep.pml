// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Sleeping and waking (docs/design/threads.md, "Waiting"), for spin. run.py says how it is run and what must be found.
//
// One process with THREADS threads that each wait for one request, and one that polls once and goes. Another process
// sends the messages that complete these requests; their order does not matter, as the threads are alike. The property
// is that every run ends: a thread that sleeps although its request is done, or although a message lies in the ring and
// all sleep, stays asleep and is reported as an invalid end state.
//
// Memory: a store waits in its thread's buffer of one entry and reaches memory at any later time, as on a processor
// that lets loads pass stores. Atomic exchanges and system calls empty their thread's buffer; membarrier empties all.
// All actions under the lock of the list of sleepers are one step, since everybody else takes that lock to see it;
// `sleepers`, `done`, `attention` and the ring are read without.
//
// BROKEN_x leaves one rule out; the run must then fail.

#define THREADS 3
#define NOBODY 7

byte published;  // messages in memory; message i completes request i
byte head;       // messages read; under the lane's lock
bool lane_taken;

bool done[THREADS];
byte sleepers;  // length of the list
bool listed[THREADS];
byte sentinel = NOBODY;
bool attention;  // armed: the sentinel sleeps or is about to
bool word[THREADS];    // armed: the same, of the others
bool asleep[THREADS];  // the kernel's view

// The stores that wait in store buffers.
bool publish_buffered;
byte done_buffered[THREADS + 1] = NOBODY;  // the last is the poller's

inline flush(me) {
  if
  :: done_buffered[me] != NOBODY -> done[done_buffered[me]] = true; done_buffered[me] = NOBODY
  :: else
  fi
}
inline flush_sender() {
  if
  :: publish_buffered -> published++; publish_buffered = false
  :: else
  fi
}

// Stores reach memory at any time.
active proctype memory() {
  byte i;
end:
  do
  :: atomic { publish_buffered -> flush_sender() }
  :: atomic { done_buffered[0] != NOBODY -> flush(0) }
  :: atomic { done_buffered[1] != NOBODY -> flush(1) }
  :: atomic { done_buffered[2] != NOBODY -> flush(2) }
  :: atomic { done_buffered[3] != NOBODY -> flush(3) }
  od
}

inline membarrier() {
  atomic {
#ifdef BROKEN_BARRIER
    flush(me)
#else
    flush_sender(); flush(0); flush(1); flush(2); flush(3)
#endif
  }
}

// Under the list's lock. The word changes first, so that a thread on its way into the kernel does not fall asleep.
inline wake(thread) {
  if
  :: sentinel == thread -> attention = false
  :: else -> word[thread] = false
  fi;
  asleep[thread] = false
}

// Reads one message under the lane's lock and completes its request. The lane's lock is taken.
inline read_message(me) {
  request = head;
  head++;
  atomic { flush(me); done_buffered[me] = request };  // the store of `done`, with no fence behind it
  if
  :: sleepers == 0
  :: atomic {
       sleepers != 0 -> flush(me);
       if
       :: listed[request] -> wake(request)
       :: else
       fi
     }
  fi;
  atomic { flush(me); lane_taken = false; request = 0 }
}

// When nobody is sentinel, some sleeper must become it.
inline hand_over() {
  if
  :: sentinel == NOBODY && listed[0] -> wake(0)
  :: sentinel == NOBODY && listed[1] -> wake(1)
  :: sentinel == NOBODY && listed[2] -> wake(2)
  :: else
  fi
}

proctype waiter(byte me) {
  byte request;
  bool entered;       // the list, at any time in this wait
  bool was_sentinel;  // in this wait
  bool looks_done;
  bool looks_full;

  do
  :: done[me] || done_buffered[me] == me -> break  // its own store it sees at once
  :: atomic { published > head && !lane_taken -> lane_taken = true; flush(me) };
     read_message(me)
  :: atomic {  // goes to sleep: the list's lock
       !done[me] && done_buffered[me] != me;
       flush(me);
       listed[me] = true; sleepers++; entered = true;
       if
       :: sentinel == NOBODY -> sentinel = me; attention = true; was_sentinel = true
       :: else -> word[me] = true
       fi
     };
     membarrier();
     looks_done = done[me];  // the second look
     looks_full = sentinel == me && published > head;
     if
#ifndef BROKEN_LOOK
     :: looks_done
#endif
#ifndef BROKEN_RINGS
     :: !looks_done && looks_full
#endif
     :: else ->
        atomic {  // futex: sleeps if the word is still armed
          if
          :: (sentinel == me && attention) || (sentinel != me && word[me]) -> asleep[me] = true
          :: else
          fi
        };
        !asleep[me]
     fi;
     atomic {  // the thread is awake and takes the list's lock
       looks_done = false; looks_full = false;
       listed[me] = false; sleepers--; word[me] = false;
       if
       :: sentinel == me -> sentinel = NOBODY; attention = false
       :: else
       fi
     }
  od;
  atomic {  // leaves its wait: the list's lock
    flush(me);
    if
#ifdef BROKEN_HANDOVER
    :: false
#elif defined(BROKEN_HEIR)
    :: was_sentinel -> hand_over()  // an heir whose request is done by now passes the role to nobody
#else
    :: entered -> hand_over()
#endif
    :: else
    fi
  }
}

// Polls once, as in MPI_Test, and has nothing to do with sleeping otherwise.
proctype poller(byte me) {
  byte request;
  if
  :: atomic { published > head && !lane_taken -> lane_taken = true };
     read_message(me)
  :: true
  fi
}

// Sends one message for each request. Looks at the attention word after each, with no fence before it.
proctype sender() {
  byte sent;
  do
  :: sent < THREADS ->
     atomic {
       flush_sender();
       publish_buffered = true; sent++
     };
     if
     :: !attention
     :: attention ->
#ifndef BROKEN_WORD
        atomic { flush_sender(); attention = false };
#endif
        atomic {  // futex: wakes whoever sleeps on the attention word
          flush_sender();
          if
          :: sentinel != NOBODY -> asleep[sentinel] = false
          :: else
          fi
        }
     fi
  :: else -> break
  od
}

init {
  atomic { run sender(); run poller(THREADS); run waiter(0); run waiter(1); run waiter(2) }
}
