// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpiexec/far_jobs.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <map>
#include <utility>

#include "base/clock.hpp"
#include "base/message.hpp"
#include "base/setting.hpp"
#include "boot/connect/address_exchange.hpp"
#include "boot/connect/port_files.hpp"
#include "boot/connect/service.hpp"
#include "boot/job/segment.hpp"
#include "boot/job/status.hpp"
#include "transport/net/network.hpp"

namespace weft::mpiexec {
namespace {

namespace net = transport::net;

using base::millisecond;
constexpr uint64_t look_every_ns = 20 * millisecond;
constexpr uint64_t job_patience_ns = 60'000 * millisecond;  // until a job is known
constexpr size_t most_guests = 32;
constexpr size_t most_waiting = 4096;  // requests of a far job, and meetings with it
constexpr size_t most_heard = 4;       // texts of a meeting that nobody has asked for
constexpr int64_t version = 1;         // of the words below

// The first field of each packet.
namespace word {
constexpr const char* facts = "job";  // of the sender's job, first
constexpr const char* lines = "lines";
constexpr const char* question = "question";
constexpr const char* answer = "answer";
constexpr const char* cancel = "cancel";
constexpr const char* say = "say";
constexpr const char* bye = "bye";
}  // namespace word

// The address of a port behind its name: "/10.0.0.1,10.0.0.2:4711".
bool parse_address(const std::string& port, net::ListenAddresses& place) {
  const size_t at = port.rfind('/');
  const size_t colon = port.rfind(':');
  if (at == std::string::npos || colon == std::string::npos || colon < at) return false;
  const char* const end = port.data() + port.size();
  if (std::from_chars(port.data() + colon + 1, end, place.port).ptr != end || place.port == 0) return false;
  const std::string all = port.substr(at + 1, colon - at - 1);
  for (size_t from = 0; from <= all.size();) {
    const size_t to = std::min(all.find(',', from), all.size());
    in_addr address;
    if (!net::parse_address(all.substr(from, to - from), address)) return false;
    place.addresses.push_back(address);
    from = to + 1;
  }
  return !place.addresses.empty() && place.addresses.size() <= net::addresses_most;
}

std::string has_ended(const std::string& id) {
  return "the job " + id + ", on another host, has ended, or cannot be reached any more";
}

}  // namespace

void FarJobs::refuse(Caller caller, const std::string& why) const {
  home_.answer(caller, boot::Packet().put(1).put(why));
}

std::string FarJobs::listen(std::string& why) {
  if (!address_.empty()) return address_;
  net::ListenAddresses place;
  place.addresses = net::find_addresses(why);
  if (place.addresses.empty()) return {};
  listeners_ = net::try_to_listen_at(place);
  if (listeners_.empty()) {
    why = "no TCP port can be had to listen for other hosts: " + net::text_of_error(errno);
    return {};
  }
  std::string text;
  for (const in_addr& address : place.addresses) text.append(text.empty() ? "/" : ",").append(net::text_of(address));
  address_ = text + ":" + std::to_string(place.port);
  return address_;
}

int FarJobs::free_index() const {
  for (int i = 0; i < boot::far_jobs; ++i) {
    if (jobs_[static_cast<size_t>(i)] == nullptr) return i;
  }
  return -1;
}

// A bit for each.
uint64_t FarJobs::free_slots() const {
  auto free = ~uint64_t{0};
  for (const auto& far : jobs_) {
    if (far == nullptr) continue;
    free &= ~far->offered;
    if (far->slot >= 0) free &= ~(uint64_t{1} << far->slot);
  }
  return free;
}

// Some of the free ones, which nobody else is offered meanwhile. Which these are is left to chance: the listener may
// have other ones.
uint64_t FarJobs::offer_slots(Far& far) {
  constexpr int some = 8;
  const uint64_t free = free_slots();
  auto at = static_cast<int>(net::fresh_nonce() % boot::far_jobs);
  for (int looked = 0; looked < boot::far_jobs && std::popcount(far.offered) < some; ++looked) {
    far.offered |= free & uint64_t{1} << at;
    at = (at + 1) % boot::far_jobs;
  }
  return far.offered;
}

// ---- Requests of our processes

void FarJobs::reach(Caller caller, const std::string& port) {
  const std::string why = "the port is of another host, and cannot be reached: ";
  for (auto& far : jobs_) {
    // A port of the same mpiexec: all that its names differ in is their count.
    if (far == nullptr || far->over || far->port.empty()) continue;
    if (far->port.substr(far->port.rfind('/')) != port.substr(std::min(port.rfind('/'), port.size()))) continue;
    if (!far->up) return far->reaching.push_back(caller);
    const auto index = static_cast<int64_t>(&far - jobs_.data());
    return home_.answer(caller, boot::Packet().put(int64_t{0}).put("").put(boot::job_numbers + index));
  }
  net::ListenAddresses place;
  if (!parse_address(port, place)) return refuse(caller, why + "its name has no address of that host");
  std::string wrong;
  const std::string secret = boot::read_port_secret(port, wrong);
  if (secret.empty()) return refuse(caller, why + wrong);
  const int index = free_index();
  if (index < 0) {
    return refuse(
        caller, why + "this job is connected with " + std::to_string(boot::far_jobs) + " jobs of other hosts already");
  }
  auto& far = jobs_[static_cast<size_t>(index)];
  far = std::make_unique<Far>();
  far->port = port;
  far->reaching.push_back(caller);
  far->line = std::make_unique<FarLine>(port, std::move(place), secret);
  far->until_ns = base::now_ns() + job_patience_ns;
  advance(index);
}

void FarJobs::tell_facts(Caller caller, int index) {
  const Far* const far = jobs_[static_cast<size_t>(index)].get();
  if (far == nullptr || !far->up || far->over) {
    return refuse(caller, has_ended(far != nullptr ? far->id : std::string("of that number")));
  }
  home_.answer(caller, boot::Packet()
                           .put(int64_t{0})
                           .put("")
                           .put(far->id)
                           .put(far->places)
                           .put(far->started)
                           .put(far->alike)
                           .put(far->theirs)
                           .put(far->slot)
                           .put(far->line->is_caller() ? 0 : 1)
                           .put(far->line->secret_of_jobs())
                           .put(boot::segment_address(far->mirror.descriptor())));
}

void FarJobs::connect(Caller caller, int index, const std::string& port, int place, int64_t generation,
                      int64_t most_us) {
  Far* const far = jobs_[static_cast<size_t>(index)].get();
  if (far == nullptr || !far->up || far->over) return refuse(caller, has_ended("of the port"));
  std::string why;
  const std::string secret = boot::read_port_secret(port, why);
  if (secret.empty()) return refuse(caller, why);
  tell_lines(*far);
  const int64_t ticket = next_ticket_++;
  far->asked[ticket] = caller;
  boot::Packet question;
  question.put(word::question).put(ticket).put(static_cast<int64_t>(far->line->proof_of_port(port, secret)));
  far->line->send(question.put(place).put(generation).put(port).put(most_us));
}

void FarJobs::exchange(Caller caller, int index, int64_t meeting, int64_t place, int64_t generation,
                       const std::string& text) {
  Far* const far = jobs_[static_cast<size_t>(index)].get();
  if (far == nullptr || !far->up || far->over || place >= far->places) return refuse(caller, has_ended("of the port"));
  Exchange& with = far->exchanges[meeting];
  tell_lines(*far);
  far->line->send(boot::Packet().put(word::say).put(meeting).put(text));
  with.waits = caller;
  with.place = place;
  with.generation = generation;
  hand_over(*far, meeting, with);
  end_vain_waits(*far);
}

// The process that is to say something is not there any more.
void FarJobs::end_vain_waits(Far& far) {
  for (auto& [meeting, with] : far.exchanges) {
    if (with.waits == 0) continue;
    if (far.mirror.is_there(with.place, with.generation)) continue;
    refuse(std::exchange(with.waits, 0), "the process at the other side of the port has ended");
  }
}

// The next word of the other process goes to the one that waits for it.
void FarJobs::hand_over(Far& far, int64_t meeting, Exchange& with) {
  constexpr int rounds = 2;  // mpi/process/connect.cpp
  if (with.waits == 0 || with.heard.empty()) return;
  home_.answer(std::exchange(with.waits, 0), boot::Packet().put(int64_t{0}).put("").put(with.heard.front()));
  with.heard.pop_front();
  if (++with.answered == rounds) far.exchanges.erase(meeting);
}

// It does not wait for its answer any more.
void FarJobs::forget(Caller caller) {
  for (auto& far : jobs_) {
    if (far == nullptr) continue;
    std::erase(far->reaching, caller);
    for (auto asked = far->asked.begin(); asked != far->asked.end();) {
      if (asked->second != caller) {
        ++asked;
        continue;
      }
      far->line->send(boot::Packet().put(word::cancel).put(asked->first));
      asked = far->asked.erase(asked);
    }
    for (auto& [meeting, with] : far->exchanges) {
      if (with.waits == caller) with.waits = 0;
    }
  }
}

// ---- Requests of far processes

void FarJobs::answer(Caller caller, const boot::Packet& packet) {
  const auto found = far_callers_.find(caller);
  if (found == far_callers_.end()) return;
  const auto [index, ticket] = found->second;
  far_callers_.erase(found);
  Far* const far = jobs_[static_cast<size_t>(index)].get();
  if (far == nullptr || far->asked_of_us.erase(ticket) == 0) return;
  tell_lines(*far);
  far->line->send(boot::Packet().put(word::answer).put(ticket).put(packet.bytes()));
}

void FarJobs::hear_question(int index, boot::Packet& packet) {
  Far& far = *jobs_[static_cast<size_t>(index)];
  const int64_t ticket = packet.take_number(1, INT64_MAX);
  const auto proved = static_cast<uint64_t>(packet.take_number(INT64_MIN, INT64_MAX));
  const int64_t place = packet.take_number(0, far.places - 1);
  const int64_t generation = packet.take_number(0, INT32_MAX);
  const std::string port = packet.take_text();
  const int64_t most_us = packet.take_number(0, INT64_MAX / 1000);
  if (packet.is_bad() || far.asked_of_us.contains(ticket) || far.asked_of_us.size() >= most_waiting)
    return end(index, "it asks in another way than this version of Weft");
  const Caller caller = next_caller_++;
  far.asked_of_us[ticket] = caller;
  far_callers_[caller] = {index, ticket};
  const auto secret = secrets_.find(port);
  if (secret == secrets_.end() || proved != far.line->proof_of_port(port, secret->second)) {
    return answer(caller, boot::Packet().put(1).put("there is no open port " + base::quoted(port) +
                                                    ", or its secret is another one"));
  }
  boot::Packet question;
  question.put(place).put(generation).put(port).put(most_us);
  home_.asked(caller, boot::job_numbers + index, far.id, question);
}

// The answer to a process of ours: the job that it names is the far one, whatever that calls itself.
void FarJobs::hear_answer(int index, boot::Packet& packet) {
  Far& far = *jobs_[static_cast<size_t>(index)];
  const auto asked = far.asked.find(packet.take_number(1, INT64_MAX));
  boot::Packet said(packet.take_text());
  if (packet.is_bad()) return end(index, "it answers in another way than this version of Weft");
  if (asked == far.asked.end()) return;  // nobody waits any more
  const Caller caller = asked->second;
  far.asked.erase(asked);
  const bool refused = said.take_number(0, 1) != 0;
  const std::string why = said.take_text();
  if (refused || said.is_bad()) return refuse(caller, why);
  (void)said.take_number(0, boot::all_job_numbers);
  (void)said.take_text();
  const int64_t place = said.take_number(0, far.places - 1);
  const int64_t generation = said.take_number(0, INT32_MAX);
  const int64_t meeting = said.take_number(0, INT64_MAX);
  if (said.is_bad()) return end(index, "it answers in another way than this version of Weft");
  boot::Packet answer;
  answer.put(int64_t{0}).put("").put(boot::job_numbers + index).put(far.id);
  home_.answer(caller, answer.put(place).put(generation).put(meeting));
}

void FarJobs::hear_words(int index, boot::Packet& packet) {
  Far& far = *jobs_[static_cast<size_t>(index)];
  const int64_t meeting = packet.take_number(0, INT64_MAX);
  std::string text = packet.take_text();
  if (packet.is_bad() || static_cast<int64_t>(text.size()) > boot::longest_introduction ||
      (!far.exchanges.contains(meeting) && far.exchanges.size() >= most_waiting))
    return end(index, "it says more than this version of Weft");
  Exchange& with = far.exchanges[meeting];
  if (with.heard.size() < most_heard) with.heard.push_back(std::move(text));
  hand_over(far, meeting, with);
}

// ---- What the jobs know of each other

boot::Packet FarJobs::own_facts(int index, int64_t slots) const {
  uint64_t alike = 0;
  (void)!pread(home_.segment, &alike, sizeof alike, offsetof(boot::RankStatus, alike));
  return boot::Packet()
      .put(word::facts)
      .put(version)
      .put(home_.id)
      .put(home_.places)
      .put(home_.started)
      .put(static_cast<int64_t>(alike))
      .put(boot::job_numbers + index)
      .put(slots);
}

bool FarJobs::take_facts(Far& far, boot::Packet& packet, int64_t& slots) {
  const int64_t theirs = packet.take_number(INT64_MIN, INT64_MAX);
  far.id = packet.take_text();
  far.places = static_cast<int>(packet.take_number(1, boot::most_places_of_a_job));
  far.started = static_cast<int>(packet.take_number(1, far.places));
  far.alike = packet.take_number(INT64_MIN, INT64_MAX);
  far.theirs = static_cast<int>(packet.take_number(boot::job_numbers, boot::all_job_numbers - 1));
  slots = packet.take_number(INT64_MIN, INT64_MAX);
  constexpr size_t longest_id = 256;
  if (theirs != version || packet.is_bad() || far.id.empty() || far.id.size() > longest_id) return false;
  return far.mirror.make(far.places);
}

// The caller's come first, with the slots that are free there; the listener's have the slot that it has chosen.
void FarJobs::hear_facts(int index, boot::Packet& packet) {
  Far& far = *jobs_[static_cast<size_t>(index)];
  int64_t slots = 0;
  if (far.mirror.is_made() || !take_facts(far, packet, slots))
    return end(index, "it is of another version of Weft, or there is no memory for what is known of it");
  if (far.line->is_caller()) {
    if (slots < 0 || slots >= boot::far_jobs || (far.offered >> slots & 1) == 0)
      return end(index, "it answers in another way than this version of Weft");
    far.slot = static_cast<int>(slots);
    far.offered = 0;
  } else {
    const uint64_t free = static_cast<uint64_t>(slots) & free_slots();
    if (free == 0) return end(index, "the jobs are connected with too many others");
    far.slot = std::countr_zero(free);
    far.line->send(own_facts(index, far.slot));
  }
  tell_lines(far);
}

void FarJobs::tell_lines(Far& far) {
  boot::Packet packet;
  packet.put(word::lines);
  if (own_lines_.put_news(far.told, packet)) far.line->send(packet);
}

void FarJobs::hear_lines(int index, boot::Packet& packet) {
  Far& far = *jobs_[static_cast<size_t>(index)];
  if (!far.mirror.is_made()) return end(index, "it speaks of ranks before it says who it is");
  if (!far.mirror.take_news(packet)) return end(index, "it speaks of ranks in another way than this version of Weft");
  end_vain_waits(far);
  if (!std::exchange(far.up, true)) come_up(index);
}

void FarJobs::come_up(int index) {
  Far& far = *jobs_[static_cast<size_t>(index)];
  for (const Caller caller : std::exchange(far.reaching, {}))
    home_.answer(caller, boot::Packet().put(int64_t{0}).put("").put(boot::job_numbers + index));
}

void FarJobs::hear(int index, boot::Packet& packet) {
  const std::string kind = packet.take_text();
  Far& far = *jobs_[static_cast<size_t>(index)];
  if (kind == word::facts) return hear_facts(index, packet);
  if (kind == word::lines) return hear_lines(index, packet);
  if (kind == word::bye) return end(index, has_ended(far.id));
  if (!far.up) return end(index, "it asks before it says who it is");
  if (kind == word::question) return hear_question(index, packet);
  if (kind == word::answer) return hear_answer(index, packet);
  if (kind == word::say) return hear_words(index, packet);
  if (kind == word::cancel) {
    const auto asked = far.asked_of_us.find(packet.take_number(1, INT64_MAX));
    if (asked == far.asked_of_us.end()) return;
    const Caller caller = asked->second;
    far.asked_of_us.erase(asked);
    far_callers_.erase(caller);
    return home_.gone(caller);
  }
  end(index, "it says what this version of Weft does not know");
}

// ---- Lines

void FarJobs::advance(int index) {
  auto& far = jobs_[static_cast<size_t>(index)];
  if (far == nullptr || far->over) return;
  FarLine& line = *far->line;
  const bool greeted = line.has_greeted();
  line.advance();
  if (!greeted && line.has_greeted() && line.is_caller()) {
    line.send(own_facts(index, static_cast<int64_t>(offer_slots(*far))));
  }
  boot::Packet packet;
  while (!far->over && line.next(packet)) hear(index, packet);
  if (!far->over && line.state() == FarLine::State::over) end(index, far->up ? has_ended(far->id) : line.why());
}

// Nothing of the job is known any more. Our processes see so by the copy.
void FarJobs::end(int index, const std::string& why) {
  Far& far = *jobs_[static_cast<size_t>(index)];
  if (std::exchange(far.over, true)) return;
  far.mirror.end();
  const std::string text = far.up ? why : "the port is of another host, and cannot be reached: " + why;
  for (const Caller caller : std::exchange(far.reaching, {})) refuse(caller, text);
  for (const auto& [ticket, caller] : std::exchange(far.asked, {})) refuse(caller, text);
  for (auto& [meeting, with] : far.exchanges) {
    if (with.waits != 0) refuse(std::exchange(with.waits, 0), text);
  }
  for (const auto& [ticket, caller] : std::exchange(far.asked_of_us, {})) {
    far_callers_.erase(caller);
    home_.gone(caller);
  }
}

// The number of callers that have proved nothing is limited. Beyond it, the address with the most of them loses its
// oldest one.
void FarJobs::take_guests() {
  for (const net::Socket& listener : listeners_) {
    for (net::Socket socket = net::accept_one(listener); socket; socket = net::accept_one(listener)) {
      if (guests_.size() >= most_guests) {
        std::map<uint32_t, size_t> of;
        for (const auto& guest : guests_) ++of[guest->address()];
        const auto most =
            std::max_element(of.begin(), of.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
        guests_.erase(std::find_if(guests_.begin(), guests_.end(),
                                   [&](const auto& guest) { return guest->address() == most->first; }));
      }
      guests_.push_back(std::make_unique<FarLine>(std::move(socket), [this](const std::string& port) {
        const auto found = secrets_.find(port);
        return found != secrets_.end() ? found->second : std::string();
      }));
    }
  }
}

void FarJobs::add_to(std::vector<pollfd>& polled) {
  first_polled_ = polled.size();
  polled_.clear();
  listeners_polled_ = listeners_.size();
  for (const net::Socket& listener : listeners_) polled.push_back({listener.descriptor(), POLLIN, 0});
  for (const auto& guest : guests_) polled.push_back({guest->descriptor(), guest->events(), 0});
  for (int i = 0; i < boot::far_jobs; ++i) {
    const auto& far = jobs_[static_cast<size_t>(i)];
    if (far == nullptr || far->over) continue;
    polled.push_back({far->line->descriptor(), far->line->events(), 0});
    polled_.push_back(i);
  }
}

void FarJobs::take(const std::vector<pollfd>& polled) {
  size_t at = first_polled_;
  bool called = false;
  for (size_t i = 0; i < listeners_polled_; ++i) called |= polled[at++].revents != 0;
  for (const auto& guest : guests_) {
    if (polled[at++].revents != 0) guest->advance();
  }
  for (const int index : polled_) {
    if (polled[at++].revents != 0) advance(index);
  }
  for (auto guest = guests_.begin(); guest != guests_.end();) {
    const int index = (*guest)->has_greeted() ? free_index() : -1;
    if (index >= 0) {
      auto& far = jobs_[static_cast<size_t>(index)];
      far = std::make_unique<Far>();
      far->line = std::move(*guest);
      far->until_ns = base::now_ns() + job_patience_ns;
    }
    const bool goes = (*guest) == nullptr || (*guest)->has_greeted() || (*guest)->state() == FarLine::State::over;
    guest = goes ? guests_.erase(guest) : std::next(guest);
    if (index >= 0) advance(index);
  }
  if (called) take_guests();
}

uint64_t FarJobs::next_due() const {
  uint64_t due = UINT64_MAX;
  for (const auto& guest : guests_) due = std::min(due, guest->due());
  for (const auto& far : jobs_) {
    if (far == nullptr) continue;
    const bool looked_at = far->over || far->up || far->line->state() == FarLine::State::over;
    due = std::min(due, looked_at ? look_ns_ : std::min(far->line->due(), far->until_ns));
  }
  return due;
}

void FarJobs::look_at_time(uint64_t now) {
  for (auto guest = guests_.begin(); guest != guests_.end();) {
    if (now >= (*guest)->due()) (*guest)->advance();
    guest = (*guest)->state() == FarLine::State::over ? guests_.erase(guest) : std::next(guest);
  }
  const bool looks = now >= look_ns_;
  if (looks) look_ns_ = now + look_every_ns;
  for (int i = 0; i < boot::far_jobs; ++i) {
    auto& far = jobs_[static_cast<size_t>(i)];
    if (far == nullptr) continue;
    const bool line_over = far->line->state() == FarLine::State::over;
    if (far->over) {
      far = nullptr;
    } else if (!far->up && !line_over && now >= far->until_ns) {
      end(i, "it does not answer");
    } else if (line_over || (!far->up && now >= far->line->due())) {
      advance(i);
    } else if (far->up && looks) {
      tell_lines(*far);
    }
  }
}

bool FarJobs::any() const {
  return std::any_of(jobs_.begin(), jobs_.end(), [](const auto& far) { return far != nullptr && !far->over; });
}

void FarJobs::leave() {
  constexpr uint64_t most_ns = 1000 * millisecond;
  const uint64_t until_ns = base::now_ns() + most_ns;
  for (auto& far : jobs_) {
    if (far == nullptr || far->over || !far->up) continue;
    tell_lines(*far);
    far->line->send(boot::Packet().put(word::bye));
  }
  const auto waits = [](const auto& far) {
    return far != nullptr && !far->over && far->line->state() == FarLine::State::open && !far->line->has_sent_all();
  };
  while (std::any_of(jobs_.begin(), jobs_.end(), waits) && base::now_ns() < until_ns) {
    for (auto& far : jobs_) {
      if (far != nullptr && !far->over) far->line->advance();
    }
    (void)poll(nullptr, 0, 1);
  }
}

}  // namespace weft::mpiexec
