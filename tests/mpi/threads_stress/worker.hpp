// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// A thread of the stress test. It cannot deadlock, because of three rules. A thread blocks only for what a thread of a
// higher number must do. The thread of the highest number never blocks. Every thread that does not block serves all it
// receives over and over.

#include <memory>
#include <string>

#include "threads_stress/traffic.hpp"

namespace stress {

class Worker {
 public:
  Worker(Turn& turn, int me);

  void run();
  std::string state() const { return where_.load(); }

 private:
  void add_channel(Kind kind, MPI_Comm comm, int from, int tag, int c, int sender, int ends);
  bool step();
  bool finished() const;
  void free_slots();

  // ---- sending

  MPI_Comm comm_of(const Target& t) const;
  int tag_of(const Target& t);
  size_t random_bytes(Kind kind);
  // May we block until somebody has received a message to there?
  bool may_block_for(const Target& t) const;
  void write(Out& out, bool last);
  bool send_something();
  void start_send(Target& t, size_t bytes, bool last);
  // The send may be of any thread. Its request is null, or persistent and inactive.
  void sent(Out* out);
  // One of ours, which may begin anew.
  void sent_mine(Out* out);

  // ---- receiving

  bool serve(Channel& channel);
  void post(Channel& channel);
  // Receives a message that is here and that no posted receive wants. True when there was one.
  bool probe(Channel& channel);
  void cancel(Slot* slot);
  void cancel_something();
  // A receive nobody sends to.
  void cancel_nothing();
  // The receive may be of any thread.
  void received(Slot* slot);
  void check(Channel& channel, const unsigned char* data, const MPI_Status& status);

  // ---- completing, and what any thread may do

  bool complete_something();
  void put(const Task& task);
  bool serve_box();

  // ---- partitioned

  // A partition's salt; the neighbour computes the same.
  uint64_t part_salt(int from, uint64_t round) const;
  void start_parts();
  void check_part(const Parts& parts, int partition);
  bool serve_parts();

  Turn& turn_;
  const int me_;
  Random random_;
  std::vector<std::unique_ptr<Target>> targets_;
  std::deque<Channel> channels_;
  std::vector<Out*> mine_;
  std::atomic<int> open_ = 0;
  size_t ending_ = 0;
  bool ended_ = false;
  Parts parts_;
  std::atomic<const char*> where_ = "running";
};

}  // namespace stress
