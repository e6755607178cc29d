// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Partitioned communication (MPI-5.0, chapter 4).
//
// A send and a receive are paired when they are initialised: the sender's Psend_init sends a small message with the
// geometry of its partitions, the receiver's Precv_init posts the receive of one. Both go by the user's tag on a
// context of their own, so pairs form in the order of the init calls and never with other traffic. The data of each
// partition of the sender is one message with a tag of its own on a second context. The receiver posts all of them at
// MPI_Start, or, if the sender was not initialised by then, when its geometry comes.
#include <climits>
#include <mutex>
#include <new>
#include <vector>

#include "core/message/completion.hpp"
#include "core/message/send_now.hpp"
#include "datatype/on_device.hpp"
#include "datatype/pack.hpp"
#include "mpi/datatype/type.hpp"
#include "mpi/object/check.hpp"
#include "mpi/p2p/p2p.hpp"

namespace weft::mpi {

namespace {

uint32_t setup_context(const core::Comm& comm) {
  return comm.context | core::partitioned_contexts;
}
uint32_t data_context(const core::Comm& comm) {
  return comm.collective_context() | core::partitioned_contexts;
}

// The sender's message to the receiver.
struct Geometry {
  int64_t partitions = 0;
  int64_t bytes = 0;  // of each
  int32_t tag = 0;    // of the first partition's messages, those of the others follow
  int32_t unused = 0;
};

// One side of a partitioned operation; lives as long as its request.
struct Side {
  Request* request = nullptr;  // the user's
  Type* type = nullptr;
  void* buffer = nullptr;
  int64_t partitions = 0;  // on this side
  int64_t count = 0;       // elements in each
  bool sender = false;
  bool on_device = false;
  int32_t user_tag = 0;
  Geometry sent;                  // the sender's, which the receiver learns
  std::atomic<int64_t> open = 0;  // partitions of the sender that are not through in this round
  // The state that Pready and Parrived ask for, with an entry for each of the sender's partitions. At a receiver it is
  // valid only when `counted` is set. See is_through().
  std::vector<uint8_t> through;
  std::atomic<bool> counted = false;
  // The lock `meeting` guards these four members.
  Request* setup = nullptr;  // the receiver's request for the geometry
  bool met = false;          // the receiver has the geometry
  bool waiting = false;      // the receiver was started, and goes on when the geometry comes
  Side* next = nullptr;      // the next in the list of all living senders

  int64_t bytes() const { return partitions * count * type->size; }

  // Threads mark and ask at the same time.
  void set_through(int64_t i) { std::atomic_ref(through[static_cast<size_t>(i)]).store(1, std::memory_order_release); }
  bool is_through(int64_t i) const {
    auto& flag = const_cast<uint8_t&>(through[static_cast<size_t>(i)]);
    return std::atomic_ref(flag).load(std::memory_order_acquire) !=
           0;  // pairs with the release above: the data is here
  }
};

constinit base::Lock meeting;  // guards the pairing of sides, and the two variables below
constinit Side* senders = nullptr;
constinit int32_t next_tag = 0;

// A range of tags that no living sender of this process uses.
int32_t take_tags(int64_t partitions) {
  for (;;) {
    if (next_tag > INT32_MAX - partitions) next_tag = 0;
    const Side* taken = senders;
    while (taken != nullptr &&
           (taken->sent.tag >= next_tag + partitions || taken->sent.tag + taken->sent.partitions <= next_tag)) {
      taken = taken->next;
    }
    const int32_t tag = next_tag;
    if (taken == nullptr) {
      next_tag = static_cast<int32_t>(tag + partitions);
      return tag;
    }
    const int64_t behind = taken->sent.tag + taken->sent.partitions;
    next_tag = behind > INT32_MAX ? 0 : static_cast<int32_t>(behind);
  }
}

void* offset(void* base, int64_t bytes) {
  return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(base) + static_cast<uintptr_t>(bytes));
}

// ---- the sender

// The last thing done to a side in a round: the user may have freed it, so it may be gone afterwards.
void end_partition(Side& side) {
  Request* request = side.request;
  if (side.open.fetch_sub(1, std::memory_order_acq_rel) == 1) core::complete(*request);
}

bool partition_left(Request& r) {
  auto* side = static_cast<Side*>(r.owner);
  core::free_request(&r);
  end_partition(*side);
  return false;
}

int send_partition(Side& side, int64_t partition) {
  Comm& comm = *static_cast<Comm*>(side.request->comm);
  const int32_t dest = side.request->partner;
  side.set_through(partition);
  if (dest == MPI_PROC_NULL) {
    end_partition(side);
    return MPI_SUCCESS;
  }
  void* data = offset(side.buffer, partition * side.count * side.type->extent);
  const auto tag = static_cast<int32_t>(side.sent.tag + partition);
  if (side.type->contiguous && !side.on_device &&
      core::send_now(comm, data_context(comm), data, side.sent.bytes, dest, tag)) {
    end_partition(side);
    return MPI_SUCCESS;
  }
  Request* r = core::new_request(comm, core::Role::send);
  if (r == nullptr) return no_memory(&comm, "MPI_Pready");
  core::set_buffer(*r, data, side.count, *side.type);
  r->owner = &side;
  r->on_done = partition_left;
  core::start_send(*r, data_context(comm), dest, tag);
  return MPI_SUCCESS;
}

int start_sending(Request& request) {
  Side& side = *static_cast<Side*>(request.owner);
  side.open = side.partitions;
  side.through.assign(side.through.size(), 0);
  request.source = MPI_PROC_NULL;
  request.tag = MPI_ANY_TAG;
  request.received = 0;
  if (side.open == 0) core::complete(request);
  return MPI_SUCCESS;
}

bool geometry_left(Request& r) {
  delete static_cast<Geometry*>(r.owner);
  core::free_request(&r);
  return false;
}

int announce(Comm& comm, Side& side, int32_t dest) {
  Type& byte = *type_of(MPI_BYTE);
  auto* copy = new (std::nothrow) Geometry(side.sent);
  Request* r = copy == nullptr ? nullptr : core::new_request(comm, core::Role::send);
  if (r == nullptr) {
    delete copy;
    return no_memory(&comm, "MPI_Psend_init");
  }
  core::set_buffer(*r, copy, sizeof *copy, byte);
  r->owner = copy;
  r->on_done = geometry_left;
  core::start_send(*r, setup_context(comm), dest, side.user_tag);
  return MPI_SUCCESS;
}

// ---- the receiver

// A piece that ends inside an element of a layout with gaps is unpacked from here when it came.
struct PartitionPiece {
  Side* side;
  int64_t index;
  unsigned char* packed;  // nullptr if the piece is received in place
};

int64_t room_of(const Side& side, int64_t index) {
  const int64_t left = side.bytes() - index * side.sent.bytes;
  if (left <= 0) return 0;
  return left < side.sent.bytes ? left : side.sent.bytes;
}

bool piece_came(Request& r) {
  auto* piece = static_cast<PartitionPiece*>(r.owner);
  Side& side = *piece->side;
  Request& request = *side.request;
  if (piece->packed != nullptr) {
    datatype::unpacking(side.on_device)(*side.type, side.partitions * side.count, side.buffer,
                                        piece->index * side.sent.bytes, piece->packed, r.received);
    if (side.on_device && device::take_failure()) r.error = MPI_ERR_OTHER;
    delete[] piece->packed;
  }
  if (r.error != MPI_SUCCESS) std::atomic_ref(request.error).store(r.error, std::memory_order_relaxed);
  std::atomic_ref(request.received).fetch_add(r.received, std::memory_order_relaxed);
  side.set_through(piece->index);
  delete piece;
  core::free_request(&r);
  end_partition(side);
  return false;
}

// Describes where a piece goes; false when there is no memory.
bool place_piece(Side& side, PartitionPiece& piece, Request& r) {
  const int64_t position = piece.index * side.sent.bytes;
  const int64_t room = room_of(side, piece.index);
  const int64_t size = side.type->size;
  Type& byte = *type_of(MPI_BYTE);
  if (room == 0) {
    core::set_buffer(r, nullptr, 0, byte);
  } else if (side.type->contiguous) {
    core::set_buffer(r, offset(side.buffer, position), room, byte);
  } else if (position % size == 0 && room % size == 0) {
    core::set_buffer(r, offset(side.buffer, position / size * side.type->extent), room / size, *side.type);
  } else {
    piece.packed = new (std::nothrow) unsigned char[static_cast<size_t>(room)];
    if (piece.packed == nullptr) return false;
    core::set_buffer(r, piece.packed, room, byte);
  }
  return true;
}

int receive_pieces(Side& side) {
  Comm& comm = *static_cast<Comm*>(side.request->comm);
  const int64_t pieces = side.sent.partitions;
  const int32_t source = side.request->partner;
  const int32_t first_tag = side.sent.tag;
  side.through.assign(static_cast<size_t>(pieces), 0);
  side.open = pieces;
  side.request->limit = pieces * side.sent.bytes;  // for the error of a message that is too long
  side.request->bytes = side.bytes();
  side.counted.store(true, std::memory_order_release);
  if (pieces == 0) core::complete(*side.request);
  // The last piece may end the side, also one that was here before.
  for (int64_t i = 0; i < pieces; ++i) {
    auto* piece = new (std::nothrow) PartitionPiece{&side, i, nullptr};
    Request* r = piece == nullptr ? nullptr : core::new_request(comm, core::Role::receive);
    if (r == nullptr || !place_piece(side, *piece, *r)) {
      delete piece;
      if (r != nullptr) core::free_request(r);
      return no_memory(&comm, "MPI_Start");
    }
    r->owner = piece;
    r->on_done = piece_came;
    core::start_receive(*r, data_context(comm), source, static_cast<int32_t>(first_tag + i));
  }
  return MPI_SUCCESS;
}

// A receiver's request was freed before the sender's geometry came: it is still to be taken, for the next pair's sake.
struct Setup {
  Side* side;
  Geometry geometry;
};

bool geometry_came(Request& r) {
  auto* setup = static_cast<Setup*>(r.owner);
  Side* waiting = nullptr;
  {
    std::lock_guard guard(meeting);
    if (Side* side = setup->side) {
      side->setup = nullptr;
      side->met = true;
      side->sent = setup->geometry;
      if (side->waiting) waiting = side;
      side->waiting = false;
    }
  }
  delete setup;
  core::free_request(&r);
  if (waiting != nullptr) (void)receive_pieces(*waiting);
  return false;
}

int await_geometry(Comm& comm, Side& side, int32_t source) {
  auto* setup = new (std::nothrow) Setup{&side, {}};
  Request* r = setup == nullptr ? nullptr : core::new_request(comm, core::Role::receive);
  if (r == nullptr) {
    delete setup;
    return no_memory(&comm, "MPI_Precv_init");
  }
  core::set_buffer(*r, &setup->geometry, sizeof setup->geometry, *type_of(MPI_BYTE));
  r->owner = setup;
  r->on_done = geometry_came;
  side.setup = r;
  core::start_receive(*r, setup_context(comm), source, side.user_tag);
  return MPI_SUCCESS;
}

int start_receiving(Request& request) {
  Side& side = *static_cast<Side*>(request.owner);
  request.source = request.partner;
  request.tag = side.user_tag;
  request.received = 0;
  if (request.partner == MPI_PROC_NULL) {
    request.tag = MPI_ANY_TAG;
    core::complete(request);
    return MPI_SUCCESS;
  }
  {
    std::lock_guard guard(meeting);
    side.waiting = !side.met;
    if (side.waiting) return MPI_SUCCESS;
  }
  return receive_pieces(side);
}

// Whether the sender's partitions that hold a partition of the receiver are all here.
bool has_arrived(const Side& side, int64_t partition) {
  if (!side.counted.load(std::memory_order_acquire)) return false;
  const int64_t mine = side.count * side.type->size;
  const int64_t theirs = side.sent.bytes;
  int64_t first = partition;
  int64_t last = partition;
  if (mine > 0 && theirs > 0) {
    first = partition * mine / theirs;
    last = ((partition + 1) * mine - 1) / theirs;
  } else if (side.sent.partitions != side.partitions) {
    first = 0;
    last = side.sent.partitions - 1;
  }
  for (int64_t i = first; i <= last && i < side.sent.partitions; ++i) {
    if (!side.is_through(i)) return false;
  }
  return last < side.sent.partitions || side.open == 0;
}

// ---- both

void end_side(Request& request) {
  auto* side = static_cast<Side*>(request.owner);
  std::lock_guard guard(meeting);
  if (side->setup != nullptr) static_cast<Setup*>(side->setup->owner)->side = nullptr;
  for (Side** at = &senders; *at != nullptr; at = &(*at)->next) {
    if (*at != side) continue;
    *at = side->next;
    break;
  }
  delete side;
}

Request* new_side(const Operation& op, const void* buf, int partitions, MPI_Count count, int partner, int tag,
                  bool sender) {
  auto* side = new (std::nothrow) Side;
  Request* r = side == nullptr ? nullptr : core::new_request(*op.comm, core::Role::composite);
  if (r == nullptr) {
    delete side;
    return nullptr;
  }
  r->flags = {.active = false, .persistent = true};
  r->partner = partner;
  r->owner = side;
  r->on_free = end_side;
  r->on_start = sender ? start_sending : start_receiving;
  r->type = op.type->predefined ? nullptr : hold_type(op.type);
  side->request = r;
  side->type = op.type;
  side->buffer = const_cast<void*>(buf);
  side->partitions = partitions;
  side->count = count;
  side->sender = sender;
  side->on_device = !op.comm->host_memory && datatype::are_on_device(*op.type, partitions * count, buf);
  side->user_tag = tag;
  return r;
}

// Checks beyond those of a send or receive.
int check_init(const char* function, const void* buf, int partitions, MPI_Count count, MPI_Datatype datatype,
               MPI_Comm comm, const MPI_Request* request) {
  const Comm* c = comm_of(comm);
  if (no_address(request)) return null_argument(c, function, "request");
  if (partitions < 0) return negative(c, function, MPI_ERR_COUNT, "partitions", partitions);
  int64_t all = 0;
  if (__builtin_mul_overflow(count, int64_t{partitions}, &all)) {
    return fail(c, function, MPI_ERR_COUNT, "%d partitions of %lld elements are more than 64 bits count", partitions,
                static_cast<long long>(count));
  }
  return explain_data(c, function, buf, all, datatype);
}

}  // namespace

bool is_partitioned(const Request& request) {
  return request.on_free == end_side;
}

namespace {

// The side behind a request; nullptr, with the error raised, when it is not of this kind.
Side* side_of(const char* function, MPI_Request handle, bool sender, int* error) {
  Request* r = request_of(handle);
  if (r == nullptr) {
    *error = bad_handle(nullptr, function, MPI_ERR_REQUEST, "request", handle);
    return nullptr;
  }
  Side* side = is_partitioned(*r) ? static_cast<Side*>(r->owner) : nullptr;
  if (side != nullptr && side->sender == sender) return side;
  *error = fail(static_cast<Comm*>(r->comm), function, MPI_ERR_REQUEST, "the request is not a partitioned %s",
                sender ? "send" : "receive");
  return nullptr;
}

int bad_partition(const Side& side, const char* function, int64_t partition) {
  return fail(static_cast<Comm*>(side.request->comm), function, MPI_ERR_ARG, "partition %lld is not one of %lld",
              static_cast<long long>(partition), static_cast<long long>(side.partitions));
}

// Why a partition cannot be marked ready; MPI_SUCCESS when it can.
int check_ready(const Side& side, const char* function, int64_t partition) {
  const auto* comm = static_cast<Comm*>(side.request->comm);
  if (partition < 0 || partition >= side.partitions) return bad_partition(side, function, partition);
  if (!side.request->flags.active) {
    return fail(comm, function, MPI_ERR_REQUEST, "the partitioned send is not started");
  }
  if (side.is_through(partition)) {
    return fail(comm, function, MPI_ERR_ARG, "partition %lld was marked ready already",
                static_cast<long long>(partition));
  }
  return MPI_SUCCESS;
}

int ready(Side& side, const char* function, int64_t partition) {
  if (int error = check_ready(side, function, partition)) return error;
  return send_partition(side, partition);
}

int ready_range(const char* function, int low, int high, MPI_Request request) {
  int error = MPI_SUCCESS;
  Side* side = side_of(function, request, true, &error);
  if (side == nullptr) return error;
  if (high < low) {
    return fail(static_cast<Comm*>(side->request->comm), function, MPI_ERR_ARG, "partitions %d to %d are no range", low,
                high);
  }
  for (int64_t i = low; i <= high && error == MPI_SUCCESS; ++i) error = ready(*side, function, i);
  return error;
}

}  // namespace

int psend_init_c(const void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm, MPI_Info, MPI_Request* request) {
  const char* function = "MPI_Psend_init";
  if (int error = explain_send(function, buf, count, datatype, dest, tag, comm)) return error;
  if (int error = check_init(function, buf, partitions, count, datatype, comm, request)) return error;
  const Operation op = operation_of(comm, datatype);
  Request* r = new_side(op, buf, partitions, count, dest, tag, true);
  if (r == nullptr) return no_memory(op.comm, function);
  Side& side = *static_cast<Side*>(r->owner);
  side.through.assign(static_cast<size_t>(partitions), 0);
  {
    std::lock_guard guard(meeting);
    side.sent = {partitions, count * op.type->size, take_tags(partitions), 0};
    side.next = senders;
    senders = &side;
  }
  int error = dest == MPI_PROC_NULL ? MPI_SUCCESS : announce(*op.comm, side, dest);
  if (error != MPI_SUCCESS) {
    release(*r);
  } else {
    *request = handle_of<MPI_Request>(r);
  }
  return error;
}

int precv_init_c(void* buf, int partitions, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
                 MPI_Info, MPI_Request* request) {
  const char* function = "MPI_Precv_init";
  if (source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG) {
    return fail(comm_of(comm), function, source == MPI_ANY_SOURCE ? MPI_ERR_RANK : MPI_ERR_TAG,
                "a partitioned receive names its source and its tag: no wildcards (MPI-5.0, 4.2)");
  }
  if (int error = explain_receive(function, buf, count, datatype, source, tag, comm)) return error;
  if (int error = check_init(function, buf, partitions, count, datatype, comm, request)) return error;
  const Operation op = operation_of(comm, datatype);
  Request* r = new_side(op, buf, partitions, count, source, tag, false);
  if (r == nullptr) return no_memory(op.comm, function);
  int error = source == MPI_PROC_NULL ? MPI_SUCCESS : await_geometry(*op.comm, *static_cast<Side*>(r->owner), source);
  if (error != MPI_SUCCESS) {
    release(*r);
  } else {
    *request = handle_of<MPI_Request>(r);
  }
  return error;
}

int pready(int partition, MPI_Request request) {
  return ready_range("MPI_Pready", partition, partition, request);
}

int pready_range(int partition_low, int partition_high, MPI_Request request) {
  return ready_range("MPI_Pready_range", partition_low, partition_high, request);
}

int pready_list(int length, const int array_of_partitions[], MPI_Request request) {
  const char* function = "MPI_Pready_list";
  int error = MPI_SUCCESS;
  Side* side = side_of(function, request, true, &error);
  if (side == nullptr) return error;
  const auto* comm = static_cast<Comm*>(side->request->comm);
  if (length < 0) return negative(comm, function, MPI_ERR_COUNT, "length", length);
  if (length > 0 && no_address(array_of_partitions)) return null_argument(comm, function, "array_of_partitions");
  for (int i = 0; i < length && error == MPI_SUCCESS; ++i) error = ready(*side, function, array_of_partitions[i]);
  return error;
}

int parrived(MPI_Request request, int partition, int* flag) {
  const char* function = "MPI_Parrived";
  if (no_address(flag)) return null_argument(nullptr, function, "flag");
  if (request == MPI_REQUEST_NULL) {
    *flag = 1;
    return MPI_SUCCESS;
  }
  int error = MPI_SUCCESS;
  Side* side = side_of(function, request, false, &error);
  if (side == nullptr) return error;
  if (partition < 0 || partition >= side->partitions) return bad_partition(*side, function, partition);
  const Request& r = *side->request;
  auto arrived = [&] { return !r.flags.active || core::is_done(r) || has_arrived(*side, partition); };
  if (!arrived()) (void)core::progress();
  *flag = arrived() ? 1 : 0;
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
