// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// One job from its start to its end: starts the ranks, passes on output, input and signals, and sees to it that the job
// ends as a whole. A single loop that sleeps in poll().

#include <sys/types.h>

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "mpiexec/attached.hpp"
#include "mpiexec/command.hpp"
#include "mpiexec/far_jobs.hpp"
#include "mpiexec/other_mpi.hpp"
#include "mpiexec/output.hpp"
#include "mpiexec/ports.hpp"
#include "mpiexec/process.hpp"
#include "mpiexec/service.hpp"
#include "mpiexec/standstill.hpp"
#include "mpiexec/statistics.hpp"

namespace weft::boot {
struct RankStatus;
}

namespace weft::mpiexec {

inline constexpr int status_not_found = 127;
inline constexpr int status_not_started = 126;
inline constexpr int status_timeout = 124;
inline constexpr int status_output_lost = 1;
inline constexpr int status_other_mpi = 1;

class Launch {
 public:
  // `attached`: the ranks run already, and one of them has started us.
  explicit Launch(const Command& command, const Attached* attached = nullptr);
  // Runs the job; the result is mpiexec's exit status.
  int run();
  // Shows where ranks would run; the result is mpiexec's exit status.
  int show();

 private:
  struct Stream {
    int fd = -1;  // our end of the pipe, -1 when it has ended
    LineStream lines;
  };
  // A program to spawn, as a rank asked for it.
  struct Spawned {
    Program program;
    std::vector<std::string> folders;  // to look for it in before others
    std::string host;
    std::vector<int> counts;  // of processes that may be started, the one wished first
    std::string path;
  };
  // Processes that were spawned together.
  struct World {
    uint32_t number = 0;
    std::string description;  // the facts for its processes, of a job on several hosts (boot/start/spare_places.hpp)
    std::vector<Spawned> programs;
    int first = 0;  // place
    int size = 0;
    int root = 0;            // the place of the rank that asked
    uint32_t parent = 0;     // the number of its world; 0: of those that the job began with
    std::string spawned_by;  // its label
    int ready = 0;           // processes that are in MPI_Init
    bool failed = false;
    Service::Caller caller = 0;  // the request, until it is answered
  };
  struct Rank {
    const Program* program = nullptr;
    const std::string* path = nullptr;
    int app = 0;
    World* world = nullptr;  // nullptr: of those that the job began with
    uint32_t generation = 0;
    uint32_t uses = 0;
    bool ending = false;   // we are ending it
    bool adopted = false;  // not started by us: no child of ours, nor the leader of its process group
    bool left = false;     // of an adopted one: it has said that it is in the job no more
    int process = -1;      // of an adopted one: a descriptor of it, readable when it has ended
    pid_t pid = -1;
    bool alive = false;
    uint64_t mpi_loaded_ns = 0;   // when another MPI's library was first seen in it; 0: never
    bool only_loads_mpi = false;  // that was long ago, and it has not been started
    int wait_status = 0;
    Stream streams[2];  // stdout, stderr
  };
  // How a job fails, worst first: decides which of several simultaneous failures is reported.
  enum class Failure { start, killed, aborted, status, unfinished, none };

  bool find_programs();
  bool prepare();
  bool place();
  bool order();
  void note_sharing();
  bool start_all();
  bool start_one(int rank);
  bool adopt();
  bool adopt_rank(int place, const boot::RankStatus& line);
  void let_go(Service::Caller caller, int place);
  void watch_adopted(std::vector<pollfd>& polled);
  void take_adopted(const std::vector<pollfd>& polled, size_t at);
  int spare_places() const;
  void asked(Service::Caller caller, boot::Packet& packet);
  void caller_gone(Service::Caller caller);
  void answer(Service::Caller caller, const boot::Packet& packet);
  void refuse(Service::Caller caller, const std::string& why);
  bool on_several_hosts() const { return attached_ != nullptr && attached_->several_hosts; }
  int find_places(int count) const;
  int most_free_places() const;
  bool read_spawn(boot::Packet& packet, World& world, std::vector<int>& members) const;
  bool choose_counts(World& world, std::string& why) const;
  bool find_spawned(Spawned& spawned, std::string& why) const;
  void spawn(Service::Caller caller, int root, boot::Packet& packet);
  void cut_ties(int place) const;
  bool give_place(int place, const std::vector<int>& members) const;
  void describe(Service::Caller caller, int place);
  void note_ready(Service::Caller caller, int place);
  void fail_spawn(World& world, const std::string& why);
  void forget_worlds();
  void serve_port(Service::Caller caller, const std::string& kind, int place, boot::Packet& packet);
  void begin_far_jobs();
  std::string open_port(int place);
  void forget_port_files(bool all);
  bool serve_far(Service::Caller caller, const std::string& kind, int place, boot::Packet& packet);
  bool asked_from_outside(Service::Caller caller, const std::string& kind, boot::Packet& packet);
  void wait_at_port(Ports::Waiter ours, bool accepts, boot::Packet& packet);
  void tell_of(const Ports::Waiter& to, const Ports::Waiter& of);
  void note_met(Service::Caller caller, boot::Packet& packet);
  void end_port_waits(int owner);
  void end_vain_accepts();
  void take_due_waits(uint64_t now);
  std::vector<int> connected_with(int place) const;

  std::string running(const World* world, int number) const;
  bool is_connected(const World& world, const World* parent) const;
  void describe_worlds(const World* parent, size_t depth, std::string& text) const;
  std::string tree() const;

  std::string job_id() const;
  void tell(const std::string& text);
  void tell_why(const std::string& lines);
  int stop_early(int status);

  void wait_for_events();
  int poll_timeout(uint64_t now) const;
  void read_stream(Stream& stream);
  void close_stream(Stream& stream);
  void note_lost_output();
  void tell_lost_output(const Sink& sink);
  void flush_due(uint64_t now);
  void read_input();
  void write_input();
  void end_input();

  void take_signals();
  void pass_on(int signal);
  void abandon(int status);
  void reap();
  void take_ends(const std::vector<int>& ended);
  Failure failure_of(const Rank& rank) const;
  void report(int rank, Failure failure);
  std::string how_it_ended(int rank, Failure failure) const;
  std::string label_of(int rank) const;
  std::string short_label_of(int rank) const;
  bool takes_as_failed_spawn(int rank, Failure failure);
  uint32_t phase_of(int rank) const;
  bool has_joined(int rank) const;
  void tell_other_library();
  void look_for_other_mpi(uint64_t now);
  int first_aborted() const;
  void await_first_aborted(std::vector<int>& ended);
  void note_gone(int rank) const;
  void note_lost(int rank) const;
  void take_start_failures();

  void end_job(int status);
  bool end_connected(int rank, int status);
  static void signal_rank(const Rank& rank, int signal);
  void signal_ranks(int signal);
  void check_clocks(uint64_t now);
  void end_orphans(uint64_t now);
  bool finished() const;

  const Command& command_;
  const Attached* attached_;
  bool line_ended_ = false;  // of `attached_`
  int first_ = 0;            // the place of the rank that has started us
  std::list<Program> adopted_programs_;
  std::vector<int> adopted_polled_;  // the places whose processes are polled
  std::string host_;
  std::vector<std::string> paths_;  // of each program
  std::vector<Rank> ranks_;         // by place, spare ones behind those of the command
  std::list<World> worlds_;
  uint32_t last_world_ = 0;
  int number_ = 0;  // by which other jobs find this one; 0: not at all
  Service service_;
  Ports ports_;
  FarJobs far_;
  std::vector<std::string> kept_ports_;                          // that have files: boot/connect/port_files.hpp
  std::vector<std::pair<std::string, std::string>> kept_names_;  // services and ports that have files
  // Processes that are about to connect, before the segment says that they are connected.
  struct Meeting {
    uint64_t number = 0;
    int places[2] = {};
    int still = 2;  // that have not reported
  };
  std::list<Meeting> meetings_;
  uint64_t last_meeting_ = 0;
  topo::Machine machine_;  // looked at only for what is asked: see place()
  topo::Placement placement_;
  std::string kinds_;  // of NUMA nodes, where ranks would not find them; docs/guide/memory.md
  Sink out_{1};
  Sink err_{2};
  Statistics statistics_;

  int segment_ = -1;
  int signals_ = -1;
  int null_ = -1;
  int failures_[2] = {-1, -1};  // pipe of StartFailure
  int input_ = -1;              // our end of rank 0's stdin, when it is not simply ours
  bool output_loss_told_ = false;
  std::string input_pending_;
  bool input_paused_ = false;  // we are in the terminal's background
  sigset_t old_mask_{};
  rlimit old_files_{};
  int alive_ = 0;

  bool ending_ = false;
  int status_ = 0;
  uint64_t interrupted_at_ = 0;
  int passed_on_ = 0;       // the signal passed on last that is meant to end programs
  bool abandoned_ = false;  // told twice: do not wait for readers of our output
  bool started_other_mpi_ = false;
  uint64_t kill_at_ = 0;  // when what is left is killed; 0: not set
  uint64_t timeout_at_ = 0;
  uint64_t orphans_since_ = 0;
  LookTimes looks_;  // for other MPI libraries
  Standstill standstill_;
};

}  // namespace weft::mpiexec
