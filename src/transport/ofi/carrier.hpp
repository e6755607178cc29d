// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Frames carried by libfabric: one reliable datagram endpoint for each lane, in one domain. A provider's matching,
// atomics and tags are not used. Large messages are read from their sender's memory, or written into their receiver's,
// where that is worth it (net/reading.hpp).

#include <memory>
#include <unordered_map>
#include <vector>

#include "base/lock.hpp"
#include "transport/net/carrier.hpp"
#include "transport/net/lent.hpp"
#include "transport/ofi/library.hpp"

namespace weft::transport::ofi {

class OfiCarrier final : public net::Carrier {
 public:
  // `sleeps`: with a wait descriptor, which costs a few system calls for each message. `intake`: with one lane alone.
  // Ends the job with a message when no provider works.
  OfiCarrier(uint32_t lanes, bool sleeps, net::Intake intake = {});
  ~OfiCarrier() override;

  const char* name() const override { return "ofi"; }
  std::string address(uint32_t lane) override;
  bool insert(std::string_view bytes, net::Address& address) override;
  int send(uint32_t lane, net::Buffer* buffer, const void* start, size_t bytes, net::Address to) override;
  void register_buffers(void* memory, size_t bytes) override;
  void each_intake(void (*call)(void* memory, size_t bytes)) override;
  void renew(const unsigned char* frame) override;
  bool reads() const override { return reads_; }
  bool reaches_devices() const override { return devices_; }
  bool register_memory(void* memory, size_t bytes, Access access, MemoryRef& ref) override;
  void deregister(uint64_t key) override;
  size_t read_most() const override { return info_->ep_attr->max_msg_size; }
  int read(uint32_t lane, net::Address from, const MemoryRef& memory, size_t at, void* to, size_t bytes,
           Read& read) override;
  bool writes() const override { return writes_; }
  int write(uint32_t lane, net::Buffer* buffer, const void* start, size_t bytes, net::Address to,
            const MemoryRef& memory, size_t at) override;
  int poll(uint32_t lane, net::Events& events) override;
  int wait_descriptor() const override { return wait_descriptor_; }
  bool may_sleep() override;
  std::string error_text(int error) const override { return ofi::error_text(error); }

 private:
  // Waits for what comes in. libfabric knows it by its first member, as it does a net::Buffer.
  struct ReceiveContext {
    fi_context context;
    ReceiveContext* next;
    unsigned char* bytes;
  };
  struct FrameBuffer {
    alignas(64) unsigned char bytes[net::frame_most];
  };
  // The use of a buffer in flight. Likewise.
  struct SendContext {
    fi_context context;
    bool writes;  // into a peer's memory
  };
  static_assert(sizeof(SendContext) <= sizeof net::Buffer::context);
  static SendContext& outgoing(net::Buffer* buffer) { return *reinterpret_cast<SendContext*>(buffer->context); }
  // A read under way. Likewise.
  struct OfiRead {
    fi_context context;
    OfiRead* next;
    Read* read;
    fid_mr* filled;  // the memory that it fills, where we have to register it
  };
  struct OfiPort {
    fid_ep* endpoint = nullptr;
    fid_cq* completions = nullptr;
    size_t incoming_count = 0;
    size_t incoming_bytes = 0;  // of each
    std::unique_ptr<ReceiveContext[]> incoming;
    std::unique_ptr<FrameBuffer[]> frames;  // their memory, unless it is the user's
    ReceiveContext* unposted = nullptr;     // which libfabric would not take; used by the polling thread alone
    void* incoming_name = nullptr;          // libfabric's name of their memory, where we have to register it
    std::unique_ptr<OfiRead[]> readings;
    OfiRead* free_reading = nullptr;  // used by the polling thread alone

    bool is_incoming(const void* context) const;
    bool is_reading(const void* context) const;
  };

  void open_port(OfiPort& port, bool sleeps);
  void listen(OfiPort& port, ReceiveContext* buffer);
  void failed(uint32_t lane, net::Events& events);
  void end_sent(uint32_t lane, net::Buffer* buffer, int error, net::Events& events);
  void end_read(OfiPort& port, OfiRead* reading, int error, net::Events& events);
  bool has_mode(int mode) const { return (info_->domain_attr->mr_mode & mode) != 0; }
  fid_mr* enroll(const void* memory, size_t bytes, uint64_t access);
  void* enroll_ours(void* memory, size_t bytes);
  void* name_of(const void* memory) const;

  fi_info* info_;
  const net::Intake intake_;
  fid_fabric* fabric_ = nullptr;
  fid_domain* domain_ = nullptr;
  fid_av* addresses_ = nullptr;
  std::vector<OfiPort> ports_;
  int wait_descriptor_ = -1;  // of the one lane, where the provider has one
  bool reads_, writes_, devices_;
  net::Lent<fid_mr*> ours_;                                // buffers of frames, where libfabric wants them registered
  base::Lock lock_;                                        // of what follows
  std::unordered_multimap<uint64_t, fid_mr*> registered_;  // by key; a provider may give one memory the same key twice
};

}  // namespace weft::transport::ofi
