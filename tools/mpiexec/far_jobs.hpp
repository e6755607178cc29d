// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The jobs of other hosts that this one is connected with by a port (docs/design/spawn.md, "Two hosts"). There is a
// line to the mpiexec of each (far_line.hpp). Over it go requests for ports, as processes of this host make them; the
// lines of the ranks whenever they have changed (far_mirror.hpp); and words that two processes say to each other before
// they have a way of their own. When the line ends, the copy says so.
//
// Each of the two jobs chooses a number for the other one. A slot for the numbers of communicators is the same for
// both: the listener chooses one of those that are free at the caller.

#include <poll.h>

#include <array>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "boot/connect/job_number.hpp"
#include "boot/connect/packet.hpp"
#include "mpiexec/far_line.hpp"
#include "mpiexec/far_mirror.hpp"
#include "mpiexec/service.hpp"

namespace weft::mpiexec {

class FarJobs {
 public:
  using Caller = Service::Caller;

  // This job, and what it does with requests.
  struct Home {
    std::string id;
    int places = 0;
    int started = 0;
    int segment = -1;
    std::function<void(Caller, const boot::Packet&)> answer;  // to a process of ours
    // A process of a far job connects to a port of ours; answered by answer().
    std::function<void(Caller, int number, const std::string& id, boot::Packet&)> asked;
    std::function<void(Caller)> gone;  // without its answer
  };

  FarJobs() = default;
  FarJobs(const FarJobs&) = delete;
  FarJobs& operator=(const FarJobs&) = delete;

  void begin(Home home) {
    home_ = std::move(home);
    own_lines_.begin(home_.segment, home_.places);
  }

  // Listens, with the first port. How a port's name ends by which others reach it, empty: `why` they cannot.
  [[nodiscard]] std::string listen(std::string& why);
  // The secret by which the port is reached; and no more.
  void add_port(const std::string& port, const std::string& secret) { secrets_[port] = secret; }
  void remove_port(const std::string& port) { secrets_.erase(port); }

  // Requests of our processes. Each is answered once, here or later.
  void reach(Caller caller, const std::string& port);
  void tell_facts(Caller caller, int index);
  void connect(Caller caller, int index, const std::string& port, int place, int64_t generation, int64_t most_us);
  // `place` and `generation`: the other process's.
  void exchange(Caller caller, int index, int64_t meeting, int64_t place, int64_t generation, const std::string& text);
  void forget(Caller caller);

  // Requests of processes of far jobs.
  [[nodiscard]] static bool is_far(Caller caller) { return caller >= first_far_caller; }
  void answer(Caller caller, const boot::Packet& packet);

  void add_to(std::vector<pollfd>& polled);
  void take(const std::vector<pollfd>& polled);
  [[nodiscard]] uint64_t next_due() const;
  void look_at_time(uint64_t now);
  // Whether there is one that is connected: then places are not given again.
  [[nodiscard]] bool any() const;
  // The job ends: says how its ranks have ended, and waits a moment until that has left.
  void leave();

 private:
  static constexpr Caller first_far_caller = Caller{1} << 63;

  // It holds the texts of two processes that connect at a port; one of them is of this job.
  struct Exchange {
    Caller waits = 0;
    int64_t place = 0;  // the far one's
    int64_t generation = 0;
    int answered = 0;
    std::list<std::string> heard;
  };
  struct Far {
    std::unique_ptr<FarLine> line;
    std::string port;  // by whose name it was called; of a caller
    std::string id;
    int places = 0;
    int started = 0;
    int64_t alike = 0;
    int theirs = 0;  // our number there
    int slot = -1;
    uint64_t offered = 0;  // slots of which the listener chooses one, a bit for each
    bool up = false;
    bool over = false;
    uint64_t until_ns = 0;       // when it is to be up
    FarMirror mirror;            // of its ranks
    std::vector<uint64_t> told;  // the status of each of our ranks that it knows
    std::vector<Caller> reaching;
    std::map<int64_t, Caller> asked;        // by us, by ticket
    std::map<int64_t, Caller> asked_of_us;  // likewise
    std::map<int64_t, Exchange> exchanges;  // by meeting
  };

  void refuse(Caller caller, const std::string& why) const;
  int free_index() const;
  uint64_t free_slots() const;
  uint64_t offer_slots(Far& far);
  boot::Packet own_facts(int index, int64_t slots) const;
  [[nodiscard]] bool take_facts(Far& far, boot::Packet& packet, int64_t& slots);
  void hear(int index, boot::Packet& packet);
  void hear_facts(int index, boot::Packet& packet);
  void hear_lines(int index, boot::Packet& packet);
  void hear_question(int index, boot::Packet& packet);
  void hear_answer(int index, boot::Packet& packet);
  void hear_words(int index, boot::Packet& packet);
  void end_vain_waits(Far& far);
  void hand_over(Far& far, int64_t meeting, Exchange& with);
  void tell_lines(Far& far);
  void come_up(int index);
  void advance(int index);
  void end(int index, const std::string& why);
  void take_guests();

  Home home_;
  OwnLines own_lines_;
  std::string address_;
  std::vector<transport::net::Socket> listeners_;
  std::map<std::string, std::string> secrets_;  // by port
  std::list<std::unique_ptr<FarLine>> guests_;
  std::array<std::unique_ptr<Far>, boot::far_jobs> jobs_;
  std::map<Caller, std::pair<int, int64_t>> far_callers_;  // job and ticket
  Caller next_caller_ = first_far_caller;
  int64_t next_ticket_ = 1;
  uint64_t look_ns_ = 0;
  size_t first_polled_ = 0;
  size_t listeners_polled_ = 0;
  std::vector<int> polled_;
};

}  // namespace weft::mpiexec
