// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The performance variables there are: counters that core's lanes and threads keep anyway. docs/guide/tools.md lists
// them.
#include "base/copy_threads.hpp"
#include "coll/offload/offload.hpp"
#include "core/lane/counters.hpp"
#include "core/lane/lane.hpp"
#include "core/progress/waiting.hpp"
#include "device/api/traffic.hpp"
#include "io/collective_access.hpp"
#include "io/disk.hpp"
#include "io/ring.hpp"
#include "mpi/tools/tool.hpp"

namespace weft::mpi::tool {
namespace {

using base::Subject;
using core::counters;
using core::kept_messages;

template <core::Path path>
void messages(const Comm*, uint64_t* values) {
  *values = counters().sent[static_cast<int>(path)].messages;
}

template <core::Path path>
void bytes(const Comm*, uint64_t* values) {
  *values = counters().sent[static_cast<int>(path)].bytes;
}

template <auto member>
void counted(const Comm*, uint64_t* values) {
  *values = counters().*member;
}

template <auto member>
void kept(const Comm*, uint64_t* values) {
  *values = kept_messages().*member;
}

template <auto member>
void under_way(const Comm*, uint64_t* values) {
  *values = static_cast<uint64_t>(core::requests_under_way(nullptr).*member);
}

void under_way_on(const Comm* comm, uint64_t* values) {
  *values = static_cast<uint64_t>(core::requests_under_way(comm).all());
}

void arrived(const Comm*, uint64_t* values) {
  static_assert(most_elements == transport::max_lanes);
  const core::Counters now = counters();
  std::copy(std::begin(now.arrived), std::end(now.arrived), values);
}

void flow(const Comm*, uint64_t* values) {
  *values = core::lanes->saturated.load(std::memory_order_relaxed) > 0 ? 1 : 0;
}

void helped(const Comm*, uint64_t* values) {
  *values = base::helped_copies();
}

void read_from_cache(const Comm*, uint64_t* values) {
  *values = io::cached_reads();
}

void moved_past_cache(const Comm*, uint64_t* values) {
  *values = io::direct_calls();
}

void moved_by_lists(const Comm*, uint64_t* values) {
  *values = io::list_calls();
}

void accessed_behind(const Comm*, uint64_t* values) {
  *values = io::rounds_behind_exchanges();
}

void read_by_kernel(const Comm*, uint64_t* values) {
  *values = io::ring_reads();
}

template <device::CopyMethod way, std::atomic<uint64_t> device::Traffic::*member>
void by_device(const Comm*, uint64_t* values) {
  *values = (device::traffic[static_cast<int>(way)].*member).load(std::memory_order_relaxed);
}

template <auto member>
void offloaded(const Comm*, uint64_t* values) {
  *values = coll::offload::counts().*member;
}

constexpr const char* flow_words[] = {"open", "saturated"};

constexpr PerformanceRow pvar_rows[] = {
    {"weft_e0_messages", "messages sent by path E0: envelope and data in the receiver's ring", Subject::messages,
     MPI_T_PVAR_CLASS_COUNTER, messages<core::Path::mailbox>, MPI_T_VERBOSITY_USER_BASIC},
    {"weft_e0_bytes", "bytes of data sent by path E0", Subject::messages, MPI_T_PVAR_CLASS_AGGREGATE,
     bytes<core::Path::mailbox>, MPI_T_VERBOSITY_USER_BASIC},
    {"weft_e1_messages", "messages sent by path E1: data in a staging buffer of the sender", Subject::messages,
     MPI_T_PVAR_CLASS_COUNTER, messages<core::Path::buffer>, MPI_T_VERBOSITY_USER_BASIC},
    {"weft_e1_bytes", "bytes of data sent by path E1", Subject::messages, MPI_T_PVAR_CLASS_AGGREGATE,
     bytes<core::Path::buffer>, MPI_T_VERBOSITY_USER_BASIC},
    {"weft_r0_messages", "messages sent by path R0: copied from the sender's memory to the receiver's",
     Subject::messages, MPI_T_PVAR_CLASS_COUNTER, messages<core::Path::get>, MPI_T_VERBOSITY_USER_BASIC},
    {"weft_r0_bytes", "bytes of data sent by path R0", Subject::messages, MPI_T_PVAR_CLASS_AGGREGATE,
     bytes<core::Path::get>, MPI_T_VERBOSITY_USER_BASIC},
    {"weft_r1_messages", "messages sent by path R1: in chunks through staging buffers", Subject::messages,
     MPI_T_PVAR_CLASS_COUNTER, messages<core::Path::stream>, MPI_T_VERBOSITY_USER_BASIC},
    {"weft_r1_bytes", "bytes of data sent by path R1", Subject::messages, MPI_T_PVAR_CLASS_AGGREGATE,
     bytes<core::Path::stream>, MPI_T_VERBOSITY_USER_BASIC},
    {"weft_r1_placed_bytes", "bytes of data received by path R1 that their sender wrote straight into the receive",
     Subject::messages, MPI_T_PVAR_CLASS_AGGREGATE, counted<&core::Counters::bytes_placed>},
    {"weft_failed_writes",
     "chunks of path R1 sent as messages because writing them into their receiver's memory failed halfway",
     Subject::messages, MPI_T_PVAR_CLASS_COUNTER, counted<&core::Counters::writes_failed>},
    {"weft_failed_reads", "messages received by path R1 because reading them from their sender's memory failed halfway",
     Subject::messages, MPI_T_PVAR_CLASS_COUNTER, counted<&core::Counters::reads_failed>},
    {"weft_stale_messages", "answers that came too late or named no operation of this process, and were dropped",
     Subject::messages, MPI_T_PVAR_CLASS_COUNTER, counted<&core::Counters::stale>},
    {"weft_helped_copies", "large copies that other threads of the process took part in (WEFT_COPY_THREADS)",
     Subject::messages, MPI_T_PVAR_CLASS_COUNTER, helped},
    {"weft_file_cached_reads", "nonblocking reads of files that the page cache answered at once", Subject::general,
     MPI_T_PVAR_CLASS_COUNTER, read_from_cache},
    {"weft_file_overlapped_rounds", "rounds of collective accesses that accessed the file while another was exchanged",
     Subject::general, MPI_T_PVAR_CLASS_COUNTER, accessed_behind},
    {"weft_file_direct_calls", "reads and writes of files past the page cache (hints direct_read and direct_write)",
     Subject::general, MPI_T_PVAR_CLASS_COUNTER, moved_past_cache},
    {"weft_file_list_calls", "reads and writes of files that moved a list of pieces of memory", Subject::general,
     MPI_T_PVAR_CLASS_COUNTER, moved_by_lists},
    {"weft_file_ring_reads", "nonblocking reads of files that the kernel made by itself (WEFT_IO_URING)",
     Subject::general, MPI_T_PVAR_CLASS_COUNTER, read_by_kernel},
    {"weft_device_mapped_messages", "messages that a device copied from their sender's memory, which it had mapped",
     Subject::messages, MPI_T_PVAR_CLASS_COUNTER, by_device<device::CopyMethod::mapped, &device::Traffic::copies>},
    {"weft_device_mapped_bytes", "bytes of data of such messages", Subject::messages, MPI_T_PVAR_CLASS_AGGREGATE,
     by_device<device::CopyMethod::mapped, &device::Traffic::bytes>},
    {"weft_device_packed_copies", "times data of a device were packed or unpacked", Subject::messages,
     MPI_T_PVAR_CLASS_COUNTER, by_device<device::CopyMethod::packed, &device::Traffic::copies>},
    {"weft_device_packed_bytes", "bytes of data of a device that were packed or unpacked", Subject::messages,
     MPI_T_PVAR_CLASS_AGGREGATE, by_device<device::CopyMethod::packed, &device::Traffic::bytes>},
    {"weft_device_host_copies", "copies between a device and the host memory that stands for a buffer there",
     Subject::messages, MPI_T_PVAR_CLASS_COUNTER, by_device<device::CopyMethod::stood_in, &device::Traffic::copies>},
    {"weft_device_host_bytes", "bytes of data of such copies", Subject::messages, MPI_T_PVAR_CLASS_AGGREGATE,
     by_device<device::CopyMethod::stood_in, &device::Traffic::bytes>},
    {"weft_device_straight_messages",
     "messages that a network's adapter has read from memory of a device, or put there", Subject::messages,
     MPI_T_PVAR_CLASS_COUNTER, by_device<device::CopyMethod::straight, &device::Traffic::copies>},
    {"weft_device_straight_bytes", "bytes of data of such messages", Subject::messages, MPI_T_PVAR_CLASS_AGGREGATE,
     by_device<device::CopyMethod::straight, &device::Traffic::bytes>},
    {"weft_offloaded", "collective operations that a component did (WEFT_OFFLOAD)", Subject::messages,
     MPI_T_PVAR_CLASS_COUNTER, offloaded<&coll::offload::Counts::done>},
    {"weft_offloads_failed", "collective operations that a component failed to do, done by another algorithm",
     Subject::messages, MPI_T_PVAR_CLASS_COUNTER, offloaded<&coll::offload::Counts::failed>},
    {"weft_unexpected_messages", "messages that came before their receive", Subject::messages, MPI_T_PVAR_CLASS_COUNTER,
     counted<&core::Counters::unexpected>, MPI_T_VERBOSITY_USER_BASIC},
    {"weft_unexpected_now", "messages that wait for their receive now", Subject::messages, MPI_T_PVAR_CLASS_LEVEL,
     kept<&core::UnexpectedCount::messages>, MPI_T_VERBOSITY_USER_BASIC},
    {"weft_unexpected_highest", "most messages that waited for their receive at the same time, in one lane",
     Subject::messages, MPI_T_PVAR_CLASS_HIGHWATERMARK, kept<&core::UnexpectedCount::most_messages>},
    {"weft_receives_now", "receives that are posted, or whose data is under way", Subject::messages,
     MPI_T_PVAR_CLASS_LEVEL, under_way<&core::UnderWay::receives>},
    {"weft_sends_now", "sends that are started and not complete", Subject::messages, MPI_T_PVAR_CLASS_LEVEL,
     under_way<&core::UnderWay::sends>},
    {"weft_comm_requests_now", "operations of a communicator that are started and not complete", Subject::messages,
     MPI_T_PVAR_CLASS_LEVEL, under_way_on, MPI_T_VERBOSITY_USER_DETAIL, Measure::number, 1, MPI_T_BIND_MPI_COMM},
    {"weft_queued_sends", "sends and protocol messages that found the way to their receiver full", Subject::messages,
     MPI_T_PVAR_CLASS_COUNTER, counted<&core::Counters::retries>},
    {"weft_dropped_messages", "messages and answers that named what was gone, and were dropped", Subject::messages,
     MPI_T_PVAR_CLASS_COUNTER, counted<&core::Counters::stale>, MPI_T_VERBOSITY_USER_DETAIL},
    {"weft_lanes", "lanes of this process", Subject::lanes, MPI_T_PVAR_CLASS_SIZE,
     [](const Comm*, uint64_t* values) { *values = counters().lanes; }},
    {"weft_lane_messages", "messages that came on each lane, those of protocols included", Subject::lanes,
     MPI_T_PVAR_CLASS_COUNTER, arrived, MPI_T_VERBOSITY_TUNER_DETAIL, Measure::number, most_elements},
    {"weft_lane_lock_waits", "times a thread had to wait for the lock of a lane", Subject::lanes,
     MPI_T_PVAR_CLASS_COUNTER, counted<&core::Counters::lock_waits>, MPI_T_VERBOSITY_TUNER_DETAIL},
    {"weft_lane_settlements", "times all lanes were looked at together, for a receive with MPI_ANY_TAG", Subject::lanes,
     MPI_T_PVAR_CLASS_COUNTER, counted<&core::Counters::settlements>, MPI_T_VERBOSITY_TUNER_DETAIL},
    {"weft_unexpected_bytes", "memory for data of messages that wait for their receive now", Subject::memory,
     MPI_T_PVAR_CLASS_LEVEL, kept<&core::UnexpectedCount::bytes>, MPI_T_VERBOSITY_USER_BASIC},
    {"weft_unexpected_bytes_highest", "most memory that such data took at the same time, in one lane", Subject::memory,
     MPI_T_PVAR_CLASS_HIGHWATERMARK, kept<&core::UnexpectedCount::most_bytes>},
    {"weft_flow", "whether this process asks its senders for envelopes only, its memory for data being used up",
     Subject::memory, MPI_T_PVAR_CLASS_STATE, flow, MPI_T_VERBOSITY_USER_DETAIL, Measure::state, 1,
     MPI_T_BIND_NO_OBJECT, flow_words},
    {"weft_saturations", "times a lane's part of that memory was used up", Subject::memory, MPI_T_PVAR_CLASS_COUNTER,
     counted<&core::Counters::saturations>},
    {"weft_sleeps", "waits that went to sleep in the kernel", Subject::waiting, MPI_T_PVAR_CLASS_COUNTER,
     counted<&core::Counters::sleeps>},
    {"weft_sleep_time", "seconds that threads slept in waits", Subject::waiting, MPI_T_PVAR_CLASS_TIMER,
     counted<&core::Counters::slept_ns>, MPI_T_VERBOSITY_USER_DETAIL, Measure::part},
};

}  // namespace

std::span<const PerformanceRow> performance_variables() {
  return pvar_rows;
}

}  // namespace weft::mpi::tool
