// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The host proxy sends and receives for all ranks of its host: it moves their frames between the memory that they share
// (memory.hpp) and one endpoint of a carrier, which sends from that memory and receives into it. It checks the
// ways of frames and the numbers that ranks name; receivers check the contents.
//
// A thread of the host's first rank. Everything here is that thread's, from when it has started.

#include <pthread.h>

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "transport/net/carrier.hpp"
#include "transport/relay/memory.hpp"
#include "transport/shm/bell.hpp"

namespace weft::transport::relay {

class HostProxy final : private net::Events {
 public:
  using Make = std::function<std::unique_ptr<net::Carrier>(net::Intake)>;

  // For the ranks `here`, in the order of their places. `wake` ends the sleep of a place. Ends the job with a message
  // when it cannot speak.
  HostProxy(const RelayMemory& memory, std::vector<int> here, const Make& make, std::function<void(int place)> wake);
  ~HostProxy();

  void start();  // its thread

  // Does everything that there is to do now; returns whether there was anything. The thread calls it, or a test without
  // one.
  bool advance();

 private:
  // A frame that goes out.
  struct OutgoingFrame {
    net::Buffer buffer;  // the carrier knows the frame by it
    bool in_flight = false;
    uint32_t place = 0;
    uint32_t rank = 0;  // of the receiver
    net::Address to = 0;
    const unsigned char* start = nullptr;
    size_t bytes = 0;
  };
  // A frame that waits for a buffer. Large ones are pages of their own: the memory goes when the frame does, but for
  // that of a few, which others take.
  struct WaitingFrame {
    unsigned char* memory;
    size_t bytes;
    bool is_mapped() const { return bytes > 4096; }
  };
  struct Place {
    ItemRingReader outward;
    ItemRingWriter inward;
    std::vector<net::Address> hosts;
    uint32_t held = 0;                 // buffers that came in
    std::deque<WaitingFrame> waiting;  // frames for which it holds too many
    std::deque<Item> late;             // found its ring full
    bool wrong = false;                // and reported
  };

  Came came(uint32_t lane, const unsigned char* frame, size_t bytes) override;
  void sent(uint32_t lane, net::Buffer* buffer, int error) override;
  void run();
  void sleep();
  bool take_from_ranks();
  bool take(uint32_t place, const Item& item);
  bool take_host(uint32_t place, const Item& item);
  bool take_frame(uint32_t place, const Item& item, OutgoingFrame& out, const unsigned char* memory, size_t room);
  bool take_back(uint32_t place, const Item& item);
  void post(OutgoingFrame& out);
  bool post_again();
  void end(OutgoingFrame& out, int error);
  WaitingFrame keep(const unsigned char* frame, size_t bytes);
  void drop(const WaitingFrame& kept);
  void hand_in(uint32_t place, uint32_t number, uint32_t bytes);
  void tell(uint32_t place, const Item& item);
  bool tell_late();
  void report_wrong(uint32_t place);
  bool find_place(const unsigned char* frame, size_t bytes, uint32_t& place);
  OutgoingFrame& word_of(uint32_t place, uint32_t number) { return words_[place * words_of_rank + number]; }

  const RelayMemory& memory_;
  const std::vector<int> here_;
  const std::function<void(int)> wake_;
  shm::Bell bell_;
  std::vector<Place> places_;
  std::unique_ptr<OutgoingFrame[]> frames_;  // by buffer
  std::unique_ptr<OutgoingFrame[]> words_;   // by place
  std::vector<uint32_t> holders_;            // of buffers that come in: a place and one more; 0: the carrier
  std::vector<OutgoingFrame*> unsent_;       // that the carrier would not take yet
  std::vector<unsigned char*> spare_;        // pages for large frames that wait
  std::map<std::string, net::Address> hosts_;
  uint32_t in_flight_ = 0;
  uint32_t late_ = 0;  // items
  bool warned_ = false;
  std::unique_ptr<net::Carrier> carrier_;
  std::atomic<bool> ends_ = false;
  bool started_ = false;
  pthread_t thread_{};
};

}  // namespace weft::transport::relay
