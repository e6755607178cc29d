// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Ranks of one host over the shared segment. See layout.hpp for the memory, ring.hpp for the mailbox.

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "base/lock.hpp"
#include "transport/api/transport.hpp"
#include "transport/shm/bell.hpp"
#include "transport/shm/crossing.hpp"
#include "transport/shm/layout.hpp"
#include "transport/shm/memory.hpp"
#include "transport/shm/shared_staging.hpp"
#include "transport/shm/staging.hpp"

namespace weft::transport::shm {

class ShmTransport;

class ShmEndpoint final : public Endpoint {
 public:
  // To the rank at `place` of a segment, which may be that of another job; `region` is its part of it, mapped, and
  // `shared` the staging memory of its host's ranks, if they share it.
  ShmEndpoint(ShmTransport& owner, const SegmentLayout& layout, const base::Descriptor& segment, int place,
              char* region, SharedStaging* shared);

  LaneMap lanes() const override { return lanes_; }
  Post send(uint8_t kind, Envelope envelope, const void* data, uint32_t bytes) override;
  Post send_staged(uint8_t kind, Envelope envelope, const void* data, uint32_t bytes, const Staging&, size_t) override {
    return send(kind, envelope, data, bytes);
  }

  // The steps of send(), for a caller that inlines it: write to the ring, then look at the attention word and call
  // attend() when it is not zero.
  RingWriter<>& ring() { return rings_[0]; }
  RingWriter<>& ring(uint32_t lane) { return rings_[lane]; }
  const LaneMap& lane_map() const { return lanes_; }
  const std::atomic<uint32_t>& attention() const { return control_->attention; }
  void attend() {
    if (attention().load(std::memory_order_relaxed) & asleep) wake_if_asleep();
  }

  int get(const MemoryRef& from, void* to, size_t bytes) override;
  int put(const MemoryRef& to, const void* from, size_t bytes) override;
  int get_pieces(const MemoryRef& from, const MemoryPiece* pieces, size_t count, void* to) override;
  int put_pieces(const MemoryRef& to, const MemoryPiece* pieces, size_t count, const void* from) override;
  void* map(const MemoryRef& memory) override;
  std::optional<const void*> staging(const Arrival& arrival, uint64_t handle, size_t bytes) override;
  void release_staging(uint64_t handle, size_t bytes) override;
  void take_staging(uint64_t handle, const void* staged, void* to, size_t bytes) override;
  Span staging_memory() const override;
  Way way(size_t bytes) const override { return crossing_.way(bytes); }
  Way next_way(size_t bytes) override { return crossing_.next_way(bytes); }
  void note_message(Way way, size_t bytes, uint64_t ns) override { crossing_.note_message(way, bytes, ns); }
  void note_answer(Way way, size_t bytes) override { crossing_.note_answer(way, bytes); }
  Claim* claim(uint32_t slot) override { return slot < claim_slots ? &control_->claims[slot] : nullptr; }

 private:
  void give_back(uint64_t handle, size_t bytes);
  void rouse() override { wake_if_asleep(); }
  [[gnu::cold, gnu::noinline]] void wake_if_asleep();

  // The process to copy from and to, once it has shown that it is the peer, and again each second: a number means
  // another process, or none, in another namespace of processes, and a process may become another program. 0, or the
  // errno that says why not.
  int find_process(pid_t& pid) {
    pid = control_->pid.load(std::memory_order_relaxed);
    return found_s_.load(std::memory_order_acquire) == base::now_seconds() ? 0 : look_for_process();
  }
  [[gnu::cold, gnu::noinline]] int look_for_process();

  struct alignas(64) LaneWriter : RingWriter<> {};
  std::unique_ptr<LaneWriter[]> rings_;  // one for each of the peer's lanes
  LaneMap lanes_;
  Crossing crossing_;
  Control* control_;
  ShmTransport& owner_;
  const SegmentLayout& layout_;
  const int place_;
  char* region_;
  std::atomic<int64_t> found_s_ = -1;        // when the process showed who it is
  std::atomic<uint32_t>* staging_released_;  // the peer's
  SharedStaging* shared_staging_;            // instead of that
  PeerMemory memory_;
};

class ShmTransport final : public Transport {
 public:
  // The place of a rank of the job among those of this host; negative: it is on another.
  using PlaceOf = std::function<int(int rank)>;

  // `place` of `places` on this host, which `generation` processes had before. With so many lanes as `lanes` says: a
  // power of two, at most max_lanes. Without `places_of` ranks are places.
  ShmTransport(int place, int places, const base::Descriptor& segment, LaneMap lanes = {}, PlaceOf places_of = {},
               uint32_t generation = 0);
  ~ShmTransport() override;

  const char* name() const override { return "shm"; }
  bool reaches(int rank) const override {
    const int place = place_of(rank);
    return place >= 0 && place < places_ && place != rank_;
  }
  Endpoint* connect(int rank) override;
  void forget(int rank) override;
  int poll(uint32_t lane, Sink sink) override;
  void drain(uint32_t lane, Sink sink) override;
  bool looks_empty(uint32_t lane) const override { return rings_[lane].empty(); }
  Staging reserve_staging(size_t bytes) override;
  void drop_staging(const Staging& staging, size_t bytes) override;
  Span staging_memory() const override;
  MemoryRef register_memory(void* address, size_t bytes, Access access) override;
  Claim* claim(uint32_t slot) override { return &control_->claims[slot]; }
  void set_congested(bool on) override;
  void arm() override;
  void watch_memory(bool on) override;
  void sleep(uint64_t timeout_ns) override;
  void disarm() override;
  void wake() override;
  void wake_on(int descriptor) override;

  [[nodiscard]] void* allocate(size_t bytes, size_t alignment) override;
  [[nodiscard]] pages::Grant grant(size_t bytes, const pages::Wish& wish) override;
  [[nodiscard]] bool granted(const void* memory, pages::Grant& grant) override;
  [[nodiscard]] bool release(void* memory) override;

  // Moves bytes between processes through the kernel, by the settings and by what a probe found; 0 or errno.
  [[nodiscard]] int copy_across(pid_t pid, uint64_t remote, void* local, size_t bytes, bool read);
  // Moves pieces behind `remote` likewise.
  [[nodiscard]] int copy_pieces(pid_t pid, uint64_t remote, const MemoryPiece* pieces, size_t count, void* local,
                                bool read);

  RingReader<>& ring(uint32_t lane) { return rings_[lane]; }  // what poll() reads, for a caller that inlines it
  const SegmentLayout& layout() const { return layout_; }
  const base::Descriptor& segment() const { return segment_; }
  const char* cross_memory_state() const;  // for weft info and the summary

 private:
  friend class ShmEndpoint;
  char* map(size_t offset, size_t bytes, const char* what) const;
  void reserve(size_t offset, size_t bytes, const char* what) const;
  void wake(Control& sleeper) const;
  void publish_token();
  uint32_t field_of(int place, size_t offset) const;
  void clear_place() const;

  [[nodiscard]] int note_refusal(int error);

  int place_of(int rank) const { return place_of_ ? place_of_(rank) : rank; }

  int rank_;  // the place of this process on its host
  int places_;
  base::Descriptor segment_;
  SegmentLayout layout_;
  PlaceOf place_of_;
  void add_staging();
  size_t buffers_for(size_t bytes) const { return (bytes + layout_.staging_buffer - 1) / layout_.staging_buffer; }

  char* region_ = nullptr;  // our own control, ring and staging
  Control* control_ = nullptr;
  struct alignas(64) Reader : RingReader<> {};
  std::unique_ptr<Reader[]> rings_;  // ours, by lane
  LaneMap lanes_;
  base::Lock staging_lock_;  // of the pool below
  StagingPool staging_;
  std::unique_ptr<SharedStaging> shared_staging_;  // instead of that
  bool fences_others_ = false;                     // membarrier works: senders need no fence
  Bell bell_;
  std::atomic<int> descriptor_ = -1;         // that wakes us too, when there is a bell
  std::atomic<int> cross_memory_error_ = 0;  // errno of the refusal that ended cross-memory attach, 0 while it works
  uint64_t token_[2] = {};                   // Control::token_at
  SegmentMemory memory_;
  std::mutex connect_mutex_;      // of the rest
  std::map<int, char*> regions_;  // of peers that were contacted, by place
  std::map<int, std::unique_ptr<ShmEndpoint>> endpoints_;
};

}  // namespace weft::transport::shm
