// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause

// Processes that ranks spawn: the part of Launch by which a job grows. docs/design/spawn.md.

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/clock.hpp"
#include "base/message.hpp"
#include "base/setting.hpp"
#include "boot/connect/job_number.hpp"
#include "boot/connect/own_launcher.hpp"
#include "boot/connect/port_files.hpp"
#include "boot/connect/service.hpp"
#include "boot/connect/ties.hpp"
#include "boot/job/segment.hpp"
#include "boot/job/status.hpp"
#include "mpiexec/hosts.hpp"
#include "mpiexec/launch.hpp"

namespace weft::mpiexec {
namespace {

constexpr int64_t most_commands = 1 << 16;
constexpr int64_t most_words = 1 << 20;

std::vector<std::string> take_texts(boot::Packet& packet) {
  std::vector<std::string> texts;
  for (int64_t left = packet.take_number(0, most_words); left > 0 && !packet.is_bad(); --left) {
    texts.push_back(packet.take_text());
  }
  return texts;
}

std::string no_place(int wanted, int most, int spare, int started) {
  return base::describe(
      {.cause = "no places for " + std::to_string(wanted) + " more processes: of the " + std::to_string(spare) +
                " that this job may have beside those it began with, " + std::to_string(most) + " can be started now",
       .remedy = "start it with mpiexec --universe N, N being the most processes it has at a time (at "
                 "least " +
                 std::to_string(started + wanted) + "); a process that has ended frees its place"});
}

}  // namespace

int Launch::spare_places() const {
  const int started = command_.ranks();
  if (attached_ != nullptr) return attached_->places - started;
  return command_.universe != 0 ? std::max(command_.universe - started, 0) : boot::usual_spare_places(started);
}

void Launch::asked(Service::Caller caller, boot::Packet& packet) {
  const std::string kind = packet.take_text();
  if (asked_from_outside(caller, kind, packet)) return;
  const auto place = static_cast<size_t>(packet.take_number(0, static_cast<int64_t>(ranks_.size()) - 1));
  const int64_t generation = packet.take_number(0, INT32_MAX);
  if (packet.is_bad() || !ranks_[place].alive || ranks_[place].generation != static_cast<uint32_t>(generation)) {
    return refuse(caller, "mpiexec was asked by no process of its job");
  }
  if (kind == boot::request::leave) return let_go(caller, static_cast<int>(place));
  // A process that is being ended starts no others and connects to none, since they would be left. It does not live to
  // need an answer.
  if (ending_ || ranks_[place].ending) return;
  if (kind == boot::request::spawn) return spawn(caller, static_cast<int>(place), packet);
  if (kind == boot::request::ready) return note_ready(caller, static_cast<int>(place));
  if (kind == boot::request::describe) return describe(caller, static_cast<int>(place));
  serve_port(caller, kind, static_cast<int>(place), packet);
}

void Launch::caller_gone(Service::Caller caller) {
  for (World& world : worlds_) {
    if (world.caller == caller) world.caller = 0;
  }
  ports_.stop_waiting(caller);
  far_.forget(caller);
}

void Launch::answer(Service::Caller caller, const boot::Packet& packet) {
  FarJobs::is_far(caller) ? far_.answer(caller, packet) : service_.answer(caller, packet);
}

void Launch::refuse(Service::Caller caller, const std::string& why) {
  answer(caller, boot::Packet().put(1).put(why));
}

// The first of so many free places in a row; -1: there is none. A place is free when its whole world has ended: a
// process that is slow to leave the barrier of MPI_Finalize still reads what those that have left wrote into their
// memory, which a new process would clear.
int Launch::find_places(int count) const {
  int run = 0;
  for (size_t place = static_cast<size_t>(command_.ranks()); place < ranks_.size(); ++place) {
    const Rank& rank = ranks_[place];
    // Processes of other hosts cannot tell two apart that have the same place one after the other.
    const bool used_up = (on_several_hosts() || far_.any()) && rank.uses != 0;
    const bool free =
        !used_up && !rank.alive && rank.world == nullptr && rank.streams[0].fd < 0 && rank.streams[1].fd < 0;
    run = free ? run + 1 : 0;
    if (run == count) return static_cast<int>(place) + 1 - count;
  }
  return -1;
}

int Launch::most_free_places() const {
  int most = 0;
  while (find_places(most + 1) >= 0) ++most;
  return most;
}

// Places of the members of the communicator, the description of the job's hosts; then for each command its program,
// arguments, variables, folder, folders to look in, a host, and the numbers of processes that may be started, the one
// wished first, then smaller ones.
bool Launch::read_spawn(boot::Packet& packet, World& world, std::vector<int>& members) const {
  const auto most_places = static_cast<int64_t>(ranks_.size());
  for (int64_t left = packet.take_number(1, most_places); left > 0 && !packet.is_bad(); --left) {
    members.push_back(static_cast<int>(packet.take_number(0, most_places - 1)));
  }
  world.description = packet.take_text();
  for (int64_t left = packet.take_number(1, most_commands); left > 0 && !packet.is_bad(); --left) {
    Spawned& spawned = world.programs.emplace_back();
    spawned.program.words = take_texts(packet);
    for (const std::string& variable : take_texts(packet)) {
      const size_t equals = variable.find('=');
      if (equals == 0 || equals == std::string::npos) return false;
      spawned.program.variables.emplace_back(variable.substr(0, equals), variable.substr(equals + 1));
    }
    spawned.program.folder = packet.take_text();
    spawned.folders = take_texts(packet);
    spawned.host = packet.take_text();
    for (int64_t counts = packet.take_number(1, most_words); counts > 0 && !packet.is_bad(); --counts) {
      spawned.counts.push_back(static_cast<int>(packet.take_number(0, INT32_MAX)));
    }
    if (spawned.program.words.empty() || spawned.counts.empty()) return false;
  }
  return !packet.is_bad();
}

// Chooses the numbers of processes: as many as wished if places are free, otherwise the most that is allowed; the last
// command is the first to get fewer. Returns false if there are no places for the least numbers.
bool Launch::choose_counts(World& world, std::string& why) const {
  const int64_t free = most_free_places();
  int64_t total = 0;
  for (Spawned& spawned : world.programs) total += spawned.program.ranks = spawned.counts.front();
  const auto wished = static_cast<int>(std::min<int64_t>(total, INT32_MAX));
  for (auto spawned = world.programs.rbegin(); spawned != world.programs.rend(); ++spawned) {
    for (size_t i = 0; total > free && i < spawned->counts.size(); ++i) {
      total += spawned->counts[i] - spawned->program.ranks;
      spawned->program.ranks = spawned->counts[i];
    }
  }
  world.size = static_cast<int>(std::min<int64_t>(total, INT32_MAX));
  if (total > 0 && total <= free) return true;
  const int started = command_.ranks();
  why = total == 0 ? "not one process is to be started"
                   : no_place(wished, static_cast<int>(free), static_cast<int>(ranks_.size()) - started, started);
  return false;
}

bool Launch::find_spawned(Spawned& spawned, std::string& why) const {
  const std::string& name = spawned.program.words[0];
  char host[256] = "";
  (void)gethostname(host, sizeof host - 1);
  std::vector<Host> hosts;
  if (!spawned.host.empty()) {
    const std::string wrong = parse_hosts(spawned.host, hosts);
    if (!wrong.empty() || !all_are_here(hosts, host)) {
      why = "processes cannot be spawned on " + base::quoted(spawned.host) + (wrong.empty() ? "" : " (" + wrong + ")") +
            ": they start on the host of the rank that asks for them, which is " + host +
            ". Remedy: leave the info key host out, or let a rank of that host be the root";
      return false;
    }
  }
  for (const std::string& folder : spawned.folders) {
    spawned.path = find_program(std::string(folder).append("/").append(name), spawned.program.folder);
    if (!spawned.path.empty()) return true;
  }
  spawned.path = find_program(name, spawned.program.folder);
  if (!spawned.path.empty()) return true;
  why = base::describe({.cause = "cannot find the program " + base::quoted_path(name) +
                                 (name.find('/') == std::string::npos ? " in PATH" : ""),
                        .error = errno,
                        .remedy = "check its name, and the info keys path and wdir if given"});
  return false;
}

void Launch::spawn(Service::Caller caller, int root, boot::Packet& packet) {
  forget_worlds();
  World& world = worlds_.emplace_back();
  std::vector<int> members;
  std::string why = "mpiexec cannot read the request: is it of the library's version?";
  bool good = read_spawn(packet, world, members) && choose_counts(world, why);
  for (Spawned& spawned : world.programs) good = good && find_spawned(spawned, why);
  if (!good) {
    worlds_.pop_back();
    return refuse(caller, why);
  }
  world.number = ++last_world_;
  world.root = root;
  const World* const parent = ranks_[static_cast<size_t>(root)].world;
  world.parent = parent != nullptr ? parent->number : 0;
  world.spawned_by = label_of(root);
  world.caller = caller;
  world.first = find_places(world.size);
  const std::vector<Variable>& inherited = ranks_[static_cast<size_t>(root)].program->variables;
  int place = world.first;
  int app = 0;
  for (Spawned& spawned : world.programs) {
    std::vector<Variable>& own = spawned.program.variables;
    own.insert(own.begin(), inherited.begin(), inherited.end());
    for (int i = 0; i < spawned.program.ranks; ++i, ++place) {
      Rank& rank = ranks_[static_cast<size_t>(place)];
      rank.generation = rank.uses++;
      rank.program = &spawned.program;
      rank.path = &spawned.path;
      rank.app = app;
      rank.world = &world;
      rank.ending = false;
      if (give_place(place, members) && start_one(place)) continue;
      why = base::describe(
          {.cause = "cannot start process " + std::to_string(place - world.first) + " of " + std::to_string(world.size),
           .error = errno,
           .remedy = "check the limits of processes and open files (ulimit -u, ulimit -n)"});
      return fail_spawn(world, why);
    }
    ++app;
  }
}

// Writes the segment's line and row of a place before its process starts.
bool Launch::give_place(int place, const std::vector<int>& members) const {
  const Rank& rank = ranks_[static_cast<size_t>(place)];
  boot::RankStatus line{};
  line.generation = rank.generation;
  line.world = rank.world->number;
  const off_t at = static_cast<off_t>(sizeof line) * place;
  const uint32_t grown = 1;
  if (pwrite(segment_, &line, sizeof line, at) != static_cast<ssize_t>(sizeof line) ||
      pwrite(segment_, &grown, sizeof grown, offsetof(boot::RankStatus, grown)) != sizeof grown) {
    return false;
  }
  const boot::Ties ties(segment_, static_cast<int>(ranks_.size()), command_.ranks());
  return ties.clear(place) &&
         std::all_of(members.begin(), members.end(), [&](int member) { return ties.tie(place, member); });
}

// A spawned process that has ended is connected with nobody. Started ranks, whose places are not given again, have left
// all others when they end.
void Launch::cut_ties(int place) const {
  if (place >= command_.ranks()) {
    (void)boot::Ties(segment_, static_cast<int>(ranks_.size()), command_.ranks()).clear(place);
  }
}

void Launch::describe(Service::Caller caller, int place) {
  const World* const world = ranks_[static_cast<size_t>(place)].world;
  if (world == nullptr) return refuse(caller, "this process was not spawned");
  service_.answer(caller, boot::Packet().put(int64_t{0}).put("").put(world->description));
}

void Launch::note_ready(Service::Caller caller, int place) {
  World* const world = ranks_[static_cast<size_t>(place)].world;
  if (world == nullptr) return refuse(caller, "the spawn has failed");
  service_.answer(caller, boot::Packet().put(int64_t{0}).put(""));
  if (++world->ready != world->size || world->caller == 0) return;
  boot::Packet answer;
  answer.put(int64_t{0}).put("").put(world->number).put(world->first).put(static_cast<int64_t>(world->programs.size()));
  for (const Spawned& spawned : world->programs) answer.put(spawned.program.ranks);
  service_.answer(world->caller, answer);
  world->caller = 0;
}

// None of a world stays when one of its processes does not come.
void Launch::fail_spawn(World& world, const std::string& why) {
  if (world.caller != 0) refuse(world.caller, why);
  world.caller = 0;
  world.failed = true;
  for (Rank& rank : ranks_) {
    if (rank.world != &world || !rank.alive) continue;
    rank.ending = true;
    kill(-rank.pid, SIGKILL);
  }
}

void Launch::forget_worlds() {
  worlds_.remove_if([this](const World& world) {
    const bool used = std::any_of(ranks_.begin(), ranks_.end(), [&](const Rank& rank) {
      return rank.world == &world && (rank.alive || rank.streams[0].fd >= 0 || rank.streams[1].fd >= 0);
    });
    if (used) return false;
    for (Rank& rank : ranks_) {
      if (rank.world == &world) rank.world = nullptr;
    }
    return true;
  });
}

// ---- Ports and names

void Launch::serve_port(Service::Caller caller, const std::string& kind, int place, boot::Packet& packet) {
  namespace request = boot::request;
  if (kind == request::accept || kind == request::connect) {
    const Ports::Waiter ours{
        .caller = caller, .place = place, .generation = ranks_[static_cast<size_t>(place)].generation};
    return wait_at_port(ours, kind == request::accept, packet);
  }
  if (kind == request::met) return note_met(caller, packet);
  if (serve_far(caller, kind, place, packet)) return;
  boot::Packet answer;
  answer.put(int64_t{0}).put("");
  if (kind == request::open_port) return service_.answer(caller, answer.put(open_port(place)));
  const std::string first = packet.take_text();
  std::string wrong;
  std::string port;
  if (kind == request::close_port) {
    wrong = ports_.close(first);
    end_port_waits(-1);
  } else if (kind == request::publish) {
    const std::string published = packet.take_text();
    wrong = ports_.publish(first, published, place);
    if (wrong.empty() && ports_.is_open(published) && boot::write_port_name(first, published))
      kept_names_.emplace_back(first, published);
  } else if (kind == request::unpublish) {
    wrong = ports_.unpublish(first, packet.take_text());
  } else if (kind == request::look_up) {
    wrong = ports_.look_up(first, port);
    answer.put(port);
  } else {
    wrong = "mpiexec does not know the request " + base::quoted(kind) + ": is it of the library's version?";
  }
  forget_port_files(false);
  wrong.empty() ? service_.answer(caller, answer) : refuse(caller, wrong);
}

// ---- Jobs of other hosts

void Launch::begin_far_jobs() {
  if (number_ == 0 || on_several_hosts()) return;
  far_.begin({.id = job_id(),
              .places = static_cast<int>(ranks_.size()),
              .started = command_.ranks(),
              .segment = segment_,
              .answer = [this](Service::Caller caller, const boot::Packet& packet) { answer(caller, packet); },
              .asked =
                  [this](Service::Caller caller, int number, const std::string& id, boot::Packet& packet) {
                    if (ending_) return refuse(caller, "the job " + job_id() + " is ending");
                    Ports::Waiter waiter{.caller = caller};
                    waiter.job = id;
                    waiter.number = number;
                    waiter.place = static_cast<int>(packet.take_number(0, boot::most_places_of_a_job - 1));
                    waiter.generation = static_cast<uint32_t>(packet.take_number(0, INT32_MAX));
                    wait_at_port(waiter, false, packet);
                  },
              .gone = [this](Service::Caller caller) { ports_.stop_waiting(caller); }});
}

// Jobs of other hosts reach it where the network and a folder of secrets are there. Without them it is for this host.
std::string Launch::open_port(int place) {
  std::string why;
  std::string address;
  if (on_several_hosts()) return ports_.open(place, boot::mark_of_several_hosts);
  if (number_ != 0) {
    base::load_known_settings();
    if (kept_ports_.empty()) boot::remove_stale_port_files();
    address = far_.listen(why);
  }
  std::string port = ports_.open(place, address);
  if (address.empty()) return port;
  const std::string secret = boot::make_port_secret(port, why);
  if (secret.empty()) return port;
  far_.add_port(port, secret);
  kept_ports_.push_back(port);
  return port;
}

// Removes the files of closed ports and of names that are published no more, or the files of all.
void Launch::forget_port_files(bool all) {
  std::erase_if(kept_names_, [&](const auto& name) {
    if (!all && ports_.is_published(name.first, name.second)) return false;
    boot::remove_port_name(name.first, name.second);
    return true;
  });
  std::erase_if(kept_ports_, [&](const std::string& port) {
    if (!all && ports_.is_open(port)) return false;
    far_.remove_port(port);
    boot::remove_port_secret(port);
    return true;
  });
}

// True: this was such a request.
bool Launch::serve_far(Service::Caller caller, const std::string& kind, int place, boot::Packet& packet) {
  namespace request = boot::request;
  const bool reaches = kind == request::reach;
  if (!reaches && kind != request::facts && kind != request::exchange && kind != request::connect_far) return false;
  if (number_ == 0 || on_several_hosts()) {
    refuse(caller,
           "this job cannot be connected with jobs of other hosts: it is on several hosts itself, or has no "
           "number");
    return true;
  }
  base::load_known_settings();
  const int index = reaches ? 0 : static_cast<int>(packet.take_number(0, boot::far_jobs - 1));
  const bool exchanges = kind == request::exchange;
  const int64_t meeting = exchanges ? packet.take_number(0, INT64_MAX) : 0;
  const int64_t other = exchanges ? packet.take_number(0, boot::most_places_of_a_job - 1) : 0;
  const int64_t generation = exchanges ? packet.take_number(0, INT32_MAX) : 0;
  const std::string text = kind == request::facts ? std::string() : packet.take_text();
  const int64_t most_us = kind == request::connect_far ? packet.take_number(0, INT64_MAX / 1000) : 0;
  if (packet.is_bad()) {
    refuse(caller, "mpiexec cannot read the request: is it of the library's version?");
  } else if (reaches) {
    far_.reach(caller, text);
  } else if (kind == request::facts) {
    far_.tell_facts(caller, index);
  } else if (exchanges) {
    far_.exchange(caller, index, meeting, other, generation, text);
  } else {
    far_.connect(caller, index, text, place, ranks_[static_cast<size_t>(place)].generation, most_us);
  }
  return true;
}

// Processes of other jobs of this user look at what there is, and connect. True: this was such a request.
bool Launch::asked_from_outside(Service::Caller caller, const std::string& kind, boot::Packet& packet) {
  namespace request = boot::request;
  const bool visits = kind == request::visit;
  const bool looks = kind == request::look_up_here;
  if (kind == request::tree) {
    service_.answer(caller, boot::Packet().put(int64_t{0}).put("").put(tree()));
    return true;
  }
  if (!visits && !looks && kind != request::connect_here) return false;
  const auto answer = [&](const boot::Packet& good) { service_.answer(caller, good); };
  const boot::Packet good = boot::Packet().put(int64_t{0}).put("");
  if (ending_) {
    refuse(caller, "the job " + job_id() + " is ending");
  } else if (on_several_hosts() && !looks) {
    refuse(caller, boot::no_other_job(job_id()));
  } else if (visits) {
    answer(boot::Packet(good)
               .put(job_id())
               .put(static_cast<int64_t>(ranks_.size()))
               .put(command_.ranks())
               .put(boot::segment_address(segment_)));
  } else if (looks) {
    std::string port;
    const std::string wrong = ports_.look_up(packet.take_text(), port);
    wrong.empty() ? answer(boot::Packet(good).put(port)) : refuse(caller, wrong);
  } else {
    Ports::Waiter waiter{.caller = caller};
    waiter.job = packet.take_text();
    waiter.number = static_cast<int>(packet.take_number(1, boot::job_numbers - 1));
    waiter.place = static_cast<int>(packet.take_number(0, boot::most_places_of_a_job - 1));
    waiter.generation = static_cast<uint32_t>(packet.take_number(0, INT32_MAX));
    if (packet.is_bad()) {
      refuse(caller, "mpiexec cannot read the request: are both jobs of one version of Weft?");
    } else {
      wait_at_port(waiter, false, packet);
    }
  }
  return true;
}

// Each process of a connection at a port learns of the other: its job, if it is another one, its place and generation,
// and the meeting's number.
void Launch::tell_of(const Ports::Waiter& to, const Ports::Waiter& of) {
  const bool apart = to.number != of.number;
  boot::Packet answer;
  answer.put(int64_t{0}).put("");
  answer.put(!apart ? 0 : of.number != 0 ? of.number : number_);
  answer.put(!apart ? "" : of.number != 0 ? of.job : job_id());
  answer.put(of.place).put(of.generation).put(static_cast<int64_t>(last_meeting_));
  this->answer(to.caller, answer);
}

// The port, how many microseconds the caller waits at most (0: as long as it takes), and, of one that accepts, how many
// processes of this host do so with it.
void Launch::wait_at_port(Ports::Waiter ours, bool accepts, boot::Packet& packet) {
  const std::string port = packet.take_text();
  const int64_t most_us = packet.take_number(0, INT64_MAX / 1000);
  if (accepts) ours.callers = static_cast<int>(packet.take_number(0, most_ranks));
  if (most_us != 0) ours.due_ns = base::now_ns() + static_cast<uint64_t>(most_us) * 1000;
  Ports::Waiter theirs;
  bool matched = false;
  const std::string wrong = ports_.wait(port, accepts, ours, matched, theirs);
  if (!wrong.empty()) return refuse(ours.caller, wrong);
  if (!matched) return end_vain_accepts();
  ++last_meeting_;
  // A process of another job looks after its peer by itself.
  if (ours.number == 0 && theirs.number == 0)
    meetings_.push_back({.number = last_meeting_, .places = {ours.place, theirs.place}});
  tell_of(ours, theirs);
  tell_of(theirs, ours);
}

void Launch::note_met(Service::Caller caller, boot::Packet& packet) {
  const auto number = static_cast<uint64_t>(packet.take_number(0, INT64_MAX));
  meetings_.remove_if([number](Meeting& meeting) { return meeting.number == number && --meeting.still == 0; });
  service_.answer(caller, boot::Packet().put(int64_t{0}).put(""));
}

void Launch::end_port_waits(int owner) {
  Ports::Waiter waiter;
  while (ports_.end_owner(owner, waiter)) {
    refuse(waiter.caller, owner < 0 ? "the port was closed" : "the process that had opened the port has ended");
  }
  forget_port_files(false);
}

// No other job connects with a job on several hosts: its accepts end with an error.
void Launch::end_vain_accepts() {
  Ports::Waiter waiter;
  while (on_several_hosts() && ports_.take_vain(alive_, waiter))
    refuse(waiter.caller, "no process can come to the port, as all that the job has on this host accept: " +
                              boot::no_other_job(job_id()));
}

void Launch::take_due_waits(uint64_t now) {
  Ports::Waiter waiter;
  while (ports_.take_due(now, waiter)) {
    refuse(waiter.caller, "nobody came to the port within the time of the info key timeout or of WEFT_CONNECT_TIMEOUT");
  }
}

std::vector<int> Launch::connected_with(int place) const {
  const boot::Ties ties(segment_, static_cast<int>(ranks_.size()), command_.ranks());
  std::vector<int> found = ties.connected_with(place);
  const auto is_found = [&found](int other) { return std::find(found.begin(), found.end(), other) != found.end(); };
  for (bool more = true; more;) {
    more = false;
    for (const Meeting& meeting : meetings_) {
      const bool first = is_found(meeting.places[0]);
      if (first == is_found(meeting.places[1])) continue;
      const std::vector<int> others = ties.connected_with(meeting.places[first ? 1 : 0]);
      found.insert(found.end(), others.begin(), others.end());
      more = true;
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace weft::mpiexec
