// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Two ranks with a carrier that carries inside this process, and reads and writes when it is told to.

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "transport/net/reading.hpp"
#include "transport/net/transport.hpp"

namespace weft::transport::net {

struct InProcessMemory {
  const unsigned char* memory;
  size_t bytes;
};

class InProcess final : public Carrier {
 public:
  struct Pending {
    const unsigned char* from;
    void* to;
    size_t bytes;
    Read* read;
  };

  struct Writing {
    Buffer* buffer;
    const void* from;
    unsigned char* to;
    size_t bytes;
  };

  InProcess(InProcess*& place, bool reads) : reads_(reads) { place = this; }

  const char* name() const override { return "inside"; }
  std::string address(uint32_t) override {
    InProcess* me = this;
    return {reinterpret_cast<const char*>(&me), sizeof me};
  }
  bool insert(std::string_view bytes, Address& address) override {
    std::memcpy(&address, bytes.data(), sizeof address);
    return bytes.size() == sizeof address;
  }
  int send(uint32_t, Buffer* buffer, const void* start, size_t bytes, Address to) override {
    if (full) return EAGAIN;
    if (broken != 0) return broken;
    const auto* from = static_cast<const unsigned char*>(start);
    reinterpret_cast<InProcess*>(to)->came_.emplace_back(from, from + bytes);
    left_.push_back(buffer);
    return 0;
  }
  bool pushes() const override { return reads_; }
  int push(Buffer* buffer, const void* data, size_t bytes, Address to) override {
    const auto* from = static_cast<const unsigned char*>(data);
    auto& whole = reinterpret_cast<InProcess*>(to)->came_.emplace_back(buffer->bytes, buffer->bytes + sizeof(Header));
    whole.insert(whole.end(), from, from + bytes);
    left_.push_back(buffer);
    return 0;
  }
  void bring(Events& events, const std::vector<unsigned char>& item) {
    Header header{};
    std::memcpy(&header, item.data(), std::min(sizeof header, item.size()));  // some are shorter
    if (header.magic != pushed_magic) {
      in_turn = events.came(0, item.data(), item.size()) == Events::Came::in_turn;
      return;
    }
    PushDestination room;
    if (!events.pushing(0, header, room)) {
      ++refused;
    } else if (room.read != nullptr) {
      std::memcpy(room.to, item.data() + sizeof header, std::min<size_t>(room.bytes, header.bytes));
      events.have_pushed(*room.read);
    }
  }
  int poll(uint32_t, Events& events) override {
    int count = 0;
    for (; !left_.empty(); ++count, left_.pop_front()) events.sent(0, left_.front(), 0);
    for (; !came_.empty(); ++count, came_.pop_front()) bring(events, came_.front());
    for (; reads_to_end > 0 && !pending.empty(); ++count, --reads_to_end) {
      const Pending one = pending.front();
      pending.pop_front();
      if (error == 0) std::memcpy(one.to, one.from, one.bytes);
      events.have_read(*one.read, error);
    }
    for (; writes_to_end > 0 && !writing.empty(); ++count, --writes_to_end) {
      const Writing one = writing.front();
      writing.pop_front();
      if (error == 0) std::memcpy(one.to, one.from, one.bytes);
      events.have_written(0, one.buffer, error);
    }
    return count;
  }
  std::string error_text(int) const override { return "none"; }

  bool reads() const override { return reads_; }
  bool register_memory(void* memory, size_t bytes, Access, MemoryRef& ref) override {
    if (refuse_to_register) return false;
    ref = {0, next_key++};  // its addresses begin at 0
    registered[ref.key] = {static_cast<const unsigned char*>(memory), bytes};
    return true;
  }
  void deregister(uint64_t key) override { registered.erase(key); }
  size_t read_most() const override { return most; }
  int read(uint32_t, Address from, const MemoryRef& memory, size_t at, void* to, size_t bytes, Read& read) override {
    if (pending.size() == 2) return EAGAIN;
    const auto& theirs = reinterpret_cast<InProcess*>(from)->registered;
    const auto known = theirs.find(memory.key);
    if (known == theirs.end() || at + bytes > known->second.bytes) return EINVAL;
    pending.push_back({known->second.memory + memory.address + at, to, bytes, &read});
    return 0;
  }

  bool writes() const override { return reads_; }
  int write(uint32_t, Buffer* buffer, const void* start, size_t bytes, Address to, const MemoryRef& memory,
            size_t at) override {
    if (writing.size() == writes_most) return EAGAIN;
    const auto& theirs = reinterpret_cast<InProcess*>(to)->registered;
    const auto known = theirs.find(memory.key);
    if (known == theirs.end() || at + bytes > known->second.bytes) return EINVAL;
    writing.push_back({buffer, start, const_cast<unsigned char*>(known->second.memory) + memory.address + at, bytes});
    return 0;
  }

  std::map<uint64_t, InProcessMemory> registered;
  std::deque<Pending> pending;
  int reads_to_end = 0;
  std::deque<Writing> writing;
  size_t writes_most = SIZE_MAX;  // under way
  int writes_to_end = 0;
  bool in_turn = true;  // the last frame that came
  bool full = false;    // takes no frame
  int broken = 0;       // the error of every send, when not 0
  int refused = 0;      // pushed, and nothing to be believed
  int error = 0;
  bool refuse_to_register = false;
  size_t most = SIZE_MAX;

  std::deque<std::vector<unsigned char>>& came() { return came_; }

 private:
  bool reads_;
  uint64_t next_key = 5;
  std::deque<std::vector<unsigned char>> came_;
  std::deque<Buffer*> left_;
};

inline std::map<std::string, std::string> published[2];
inline int publisher;
inline int questions;

inline Directory directory() {
  return {[](const std::string& key, const std::string& value) { published[publisher][key] = value; },
          [](int rank, const std::string& key) {
            ++questions;
            return published[rank][key];
          },
          1000, [] {}};
}

struct Two {
  explicit Two(bool reads, bool both_know = true, bool encrypt = false) {
    for (int rank : {0, 1}) {
      published[rank].clear();
      publisher = rank;
      transports[rank] = std::make_unique<NetTransport>(std::make_unique<InProcess>(carriers[rank], reads),
                                                        Opening{.rank = rank,
                                                                .ranks = 2,
                                                                .lanes = {},
                                                                .secret = std::string(32, '7'),
                                                                .sleeps = false,
                                                                .directory = directory(),
                                                                .encrypt = encrypt});
    }
    way = transports[0]->connect(1);
    if (both_know) back = transports[1]->connect(0);
  }
  InProcess* carriers[2] = {};
  std::unique_ptr<NetTransport> transports[2];
  Endpoint* way = nullptr;
  Endpoint* back = nullptr;
};

struct NotedRead : Read {
  int ended = 0;
  int error = -1;
  NotedRead()
      : Read{[](Read& read, int why) {
          ++static_cast<NotedRead&>(read).ended;
          static_cast<NotedRead&>(read).error = why;
        }} {}
};

inline std::vector<Envelope> seen;
inline void record(const Arrival& a) {
  seen.push_back(a.envelope);
}

}  // namespace weft::transport::net
