// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpiexec/ports.hpp"

#include <algorithm>

#include "base/message.hpp"
#include "base/setting.hpp"

namespace weft::mpiexec {

std::string Ports::no_port(const std::string& port) const {
  if (port.starts_with("weft:") && !port.starts_with(prefix_)) {
    return base::describe({.cause = "the port " + base::quoted(port) + " is not of this job",
                           .remedy = "a port is closed, published and accepted at in the job that opened it, and ends "
                                     "with it"});
  }
  return base::describe({.cause = "there is no open port " + base::quoted(port),
                         .remedy = "give a name that MPI_Open_port or MPI_Lookup_name has returned, before the process "
                                   "that opened it closes it or ends"});
}

std::string Ports::open(int owner, const std::string& address) {
  std::string name = prefix_ + std::to_string(++opened_) + address;
  ports_[name].owner = owner;
  return name;
}

bool Ports::is_open(const std::string& port) const {
  const auto found = ports_.find(port);
  return found != ports_.end() && found->second.owner != closed;
}

bool Ports::is_published(const std::string& service, const std::string& port) const {
  const auto name = names_.find(service);
  return name != names_.end() && name->second.port == port;
}

std::string Ports::close(const std::string& port) {
  const auto found = ports_.find(port);
  if (found == ports_.end() || found->second.owner == closed) return no_port(port);
  if (!found->second.accepting.empty()) return "the port " + base::quoted(port) + " is in use by MPI_Comm_accept";
  found->second.owner = closed;
  return {};
}

std::string Ports::publish(const std::string& service, const std::string& port, int owner) {
  const auto [name, is_new] = names_.try_emplace(service, Name{port, owner});
  if (is_new) return {};
  return base::describe({.cause = "the name " + base::quoted(service) + " is published already, for the port " +
                                  base::quoted(name->second.port),
                         .remedy = "choose another name, or unpublish it first"});
}

std::string Ports::unpublish(const std::string& service, const std::string& port) {
  const auto name = names_.find(service);
  if (name == names_.end() || name->second.port != port) {
    return "the name " + base::quoted(service) + " is not published for the port " + base::quoted(port);
  }
  names_.erase(name);
  return {};
}

std::string Ports::look_up(const std::string& service, std::string& port) const {
  const auto name = names_.find(service);
  if (name == names_.end()) {
    return base::describe({.cause = "the name " + base::quoted(service) + " is not published in this job",
                           .remedy = "call MPI_Publish_name first, in a job of this user on this host"});
  }
  port = name->second.port;
  return {};
}

std::string Ports::wait(const std::string& port, bool accepts, const Waiter& waiter, bool& matched, Waiter& other) {
  matched = false;
  const auto found = ports_.find(port);
  if (found == ports_.end() || found->second.owner == closed) return no_port(port);
  std::list<Waiter>& ours = accepts ? found->second.accepting : found->second.connecting;
  std::list<Waiter>& theirs = accepts ? found->second.connecting : found->second.accepting;
  matched = !theirs.empty();
  if (matched) {
    other = theirs.front();
    theirs.pop_front();
  } else {
    ours.push_back(waiter);
  }
  return {};
}

void Ports::stop_waiting(uint64_t caller) {
  const auto is_it = [caller](const Waiter& waiter) { return waiter.caller == caller; };
  for (auto& [name, port] : ports_) {
    port.accepting.remove_if(is_it);
    port.connecting.remove_if(is_it);
  }
}

bool Ports::take_due(uint64_t now_ns, Waiter& waiter) {
  for (auto& [name, port] : ports_) {
    for (std::list<Waiter>* waiters : {&port.accepting, &port.connecting}) {
      const auto due = std::find_if(waiters->begin(), waiters->end(),
                                    [now_ns](const Waiter& each) { return each.due_ns <= now_ns; });
      if (due == waiters->end()) continue;
      waiter = *due;
      waiters->erase(due);
      return true;
    }
  }
  return false;
}

uint64_t Ports::next_due() const {
  uint64_t due = UINT64_MAX;
  for (const auto& [name, port] : ports_) {
    for (const Waiter& waiter : port.accepting) due = std::min(due, waiter.due_ns);
    for (const Waiter& waiter : port.connecting) due = std::min(due, waiter.due_ns);
  }
  return due;
}

bool Ports::take_vain(int processes, Waiter& waiter) {
  for (auto& [name, port] : ports_) {
    const auto vain = std::find_if(port.accepting.begin(), port.accepting.end(), [processes](const Waiter& each) {
      return each.callers > 0 && each.callers >= processes;
    });
    if (vain == port.accepting.end()) continue;
    waiter = *vain;
    port.accepting.erase(vain);
    return true;
  }
  return false;
}

bool Ports::end_owner(int owner, Waiter& waiter) {
  const auto has_ended = [owner](const Waiter& each) { return each.number == 0 && each.place == owner; };
  for (auto& [name, port] : ports_) {
    port.accepting.remove_if(has_ended);
    port.connecting.remove_if(has_ended);
  }
  std::erase_if(names_, [owner](const auto& name) { return name.second.owner == owner; });
  for (auto port = ports_.begin(); port != ports_.end();) {
    std::list<Waiter>& connecting = port->second.connecting;
    const bool ends = port->second.owner == owner || port->second.owner == closed;
    if (ends && !connecting.empty()) {
      waiter = connecting.front();
      connecting.pop_front();
      return true;
    }
    port = ends && port->second.accepting.empty() ? ports_.erase(port) : std::next(port);
  }
  return false;
}

}  // namespace weft::mpiexec
