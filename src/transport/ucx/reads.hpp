// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Reading a peer's memory through UCX: the peer is asked for a piece, and sends it from where it lies by a rendezvous
// of UCX's, which brings it to where it shall go by the adapters, also from and to memory of devices. UCX's own keys
// would let us read without asking; they are longer than an RTS.
//
// A lane has one of these. All but what constructs it is called with the lane's lock.

#include <cstddef>
#include <cstdint>
#include <list>
#include <vector>

#include "transport/net/registered.hpp"
#include "transport/ucx/library.hpp"

namespace weft::transport::ucx {

class Reads {
 public:
  struct Over {
    Read* read;
    int error;  // error_of()
  };

  // Peers may ask for what is registered.
  void open(ucp_worker_h worker, const net::Registered& registered);

  // Asks for bytes of a peer, over an endpoint that is good until `broken` says otherwise. 0: the read will be among
  // those that are over. EAGAIN: not now. Any other error: never.
  [[nodiscard]] int ask(ucp_ep_h endpoint, const ucs_status_t& broken, const MemoryRef& memory, size_t at, void* to,
                        size_t bytes, Read& read);
  // Ends those that wait for a peer that is gone.
  void look();
  // Reads that are over, and have not been reported.
  std::vector<Over> over;

  // Memory of a device that UCX is at; nullptr: none.
  [[nodiscard]] const void* on_device() const;

 private:
  // Messages from one process to the other, each in two copies with a check, as a reader waits for ever when one is
  // changed on its way. UCX does not say who has sent them.
  template <class Message, uint32_t word>
  struct Twice {
    struct MessageCopy {
      uint32_t magic;  // the kind and the version
      uint32_t check;  // CRC32C of the message
      Message message;
    };
    MessageCopy copies[2];

    static Twice of(const Message& message);
    // A copy that is whole; nullptr: there is none.
    const Message* whole() const;
  };
  struct UcxReadRequest {
    uint64_t key;
    uint64_t address;
    uint64_t bytes;
    uint64_t number;  // of the read; nobody can foresee it
  };
  struct UcxReadAnswer {
    uint64_t number;
    uint64_t refused;  // 0: the bytes come with it
  };
  using Asks = Twice<UcxReadRequest, 0x01415557>;    // "WUA" in memory, and the version
  using Answers = Twice<UcxReadAnswer, 0x01525557>;  // "WUR"

  struct Reading {
    enum class ReadState : uint8_t { asked, coming, over };
    Reads* owner;
    Read* read;
    const ucs_status_t* broken;
    void* to;
    bool to_device;
    ReadState state;
    bool asking;  // UCX has not sent the question yet
    Asks asks;
    const UcxReadRequest& ask() const { return asks.copies[0].message; }
  };
  struct Answering {
    Reads* owner;
    const void* from;
    bool of_device;
    Answers answers;
  };

  static ucs_status_t on_ask(void* owner, const void* header, size_t header_bytes, void* data, size_t bytes,
                             const ucp_am_recv_param_t* about);
  static ucs_status_t on_answer(void* owner, const void* header, size_t header_bytes, void* data, size_t bytes,
                                const ucp_am_recv_param_t* about);
  static void on_asked(void* request, ucs_status_t status, void* reading);
  static void on_answered(void* request, ucs_status_t status, void* answering);
  static void on_come(void* request, ucs_status_t status, size_t bytes, void* reading);
  void end(Reading& reading, ucs_status_t status);
  void forget_if_done(Reading& reading);
  bool answer(ucp_ep_h endpoint, const UcxReadRequest& ask, bool refused);

  ucp_worker_h worker_ = nullptr;
  const net::Registered* registered_ = nullptr;
  std::list<Reading> readings_;
  std::list<Answering> answering_;
};

}  // namespace weft::transport::ucx
