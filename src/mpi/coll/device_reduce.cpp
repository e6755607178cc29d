// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/coll/device_reduce.hpp"

#include <string>
#include <vector>

#include "coll/coll.hpp"
#include "coll/select/select.hpp"
#include "core/object/identity.hpp"
#include "datatype/on_device.hpp"
#include "datatype/on_device_kernel.hpp"
#include "device/api/contention.hpp"
#include "device/api/mappings.hpp"
#include "device/select/choice.hpp"
#include "mpi/p2p/p2p.hpp"

namespace weft::mpi {

namespace {

using datatype::byte_type;

// Shorter data cost less on the host than the two or three rounds of small messages and a kernel for each rank.
constexpr int64_t least_bytes = int64_t{32} << 10;

// Where processes take turns on the device, kernels wait for that.
constexpr int64_t least_in_turns = int64_t{1} << 20;

// A buffer as others find it. It comes from another process: here() checks it.
struct SharedBuffer {
  uint64_t address;
  device::Shared shared;
};

struct DeviceOffer {
  uint64_t usable;  // 1: the rank can take part
  SharedBuffer data;
  SharedBuffer result;  // of Gets::all
};

void and_bytes(const coll::Reducer& /*self*/, const void* in, void* inout, int64_t count) {
  const auto* from = static_cast<const unsigned char*>(in);
  auto* to = static_cast<unsigned char*>(inout);
  for (int64_t i = 0; i < count; ++i) to[i] &= from[i];
}

class Meeting {
 public:
  Meeting(Comm& comm, const device::KernelReduction& reduction, int64_t count, Gets gets, int root)
      : comm_(comm), reduction_(reduction), count_(count), gets_(gets), root_(root) {}
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;
  ~Meeting() {
    for (device::Mapping* mapping : held_) device::let_go(mapping);
  }

  // Whether all ranks can. False with a core error: an operation that failed.
  bool begin(const ReductionArgument& data);
  // The result. False: a rank failed.
  bool run();
  int32_t error() const { return error_; }
  const std::string& problem() const { return problem_; }

 private:
  bool gets_any() const { return gets_ != Gets::root || comm_.rank == root_; }
  int64_t bytes() const { return count_ * reduction_.extent() * (gets_ == Gets::part ? comm_.size : 1); }
  DeviceOffer offer(const ReductionArgument& data);
  bool is_aligned(const void* address) const {
    const auto part = static_cast<uintptr_t>(reduction_.to_second());
    return part != 0 && reinterpret_cast<uintptr_t>(address) % part == 0;
  }
  const char* map(int32_t rank, const SharedBuffer& place);
  bool map(const std::vector<DeviceOffer>& offers);
  // Whether all ranks say so.
  bool agree(bool here);
  // The element that a rank's part of the work begins with: parts begin with vectors.
  int64_t part_from(int32_t rank) const { return rank == comm_.size ? count_ : count_ * rank / comm_.size / 16 * 16; }
  bool combine(int64_t from, int64_t to, char* target);
  bool copy(void* to, const void* from, int64_t elements);
  bool note(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
    return problem_.empty();
  }

  Comm& comm_;
  device::KernelReduction reduction_;
  int64_t count_;
  Gets gets_;
  int root_;
  std::vector<const char*> data_;     // of each rank, here
  std::vector<const char*> results_;  // likewise, of Gets::all
  std::vector<device::Mapping*> held_;
  char* receive_ = nullptr;
  std::string problem_;
  int32_t error_ = core::no_error;
};

bool share(const void* address, SharedBuffer& place) {
  place.address = reinterpret_cast<uintptr_t>(address);
  return device::active->share(address, place.shared).empty();
}

DeviceOffer Meeting::offer(const ReductionArgument& data) {
  DeviceOffer mine{};
  if (bytes() < least_in_turns && device::takes_turns()) return mine;
  const bool in_place = data.send == MPI_IN_PLACE;
  const void* const from = in_place ? data.receive : data.send;
  receive_ = static_cast<char*>(data.receive);
  if (in_place && (gets_ == Gets::part || !gets_any())) return mine;
  if (from == nullptr || comm_.host_memory || !device::owns(from) || !is_aligned(from)) return mine;
  if (gets_any() && !in_place) {
    if (receive_ == nullptr || receive_ == from || !device::owns(receive_) || !is_aligned(receive_)) return mine;
  }
  data_[static_cast<size_t>(comm_.rank)] = static_cast<const char*>(from);
  if (share(from, mine.data) && (gets_ != Gets::all || share(receive_, mine.result))) mine.usable = 1;
  return mine;
}

bool Meeting::agree(bool here) {
  coll::Reducer reducer;
  reducer.function = and_bytes;
  reducer.type = &byte_type;
  const unsigned char mine = here ? 1 : 0;
  unsigned char all = 0;
  error_ = coll::allreduce(comm_, &mine, &all, 1, reducer);
  return error_ == core::no_error && all == 1;
}

const char* Meeting::map(int32_t rank, const SharedBuffer& place) {
  std::string problem;
  device::Mapping* const mapping = device::hold(comm_.job_rank(rank), place.shared, problem);
  if (mapping == nullptr) return nullptr;
  held_.push_back(mapping);
  return static_cast<const char*>(device::here(*mapping, place.shared, place.address, static_cast<uint64_t>(bytes())));
}

bool Meeting::map(const std::vector<DeviceOffer>& offers) {
  for (int32_t rank = 0; rank < comm_.size; ++rank) {
    if (rank == comm_.rank || !gets_any()) continue;
    const DeviceOffer& other = offers[static_cast<size_t>(rank)];
    const char*& data = data_[static_cast<size_t>(rank)];
    const char*& result = results_[static_cast<size_t>(rank)];
    data = map(rank, other.data);
    if (data == nullptr || !is_aligned(data)) return false;
    if (gets_ != Gets::all) continue;
    result = map(rank, other.result);
    if (result == nullptr) return false;
  }
  return true;
}

bool Meeting::begin(const ReductionArgument& data) {
  const auto size = static_cast<size_t>(comm_.size);
  data_.resize(size);
  results_.resize(size);
  std::vector<DeviceOffer> offers(size);
  DeviceOffer mine = offer(data);
  constexpr auto bytes_of_offer = static_cast<int64_t>(sizeof(DeviceOffer));
  error_ = coll::allgather(comm_, {&mine, bytes_of_offer, &byte_type}, {offers.data(), bytes_of_offer, byte_type});
  if (error_ != core::no_error) return false;
  for (const DeviceOffer& one : offers) {
    if (one.usable != 1) return false;
  }
  return agree(map(offers));
}

bool Meeting::copy(void* to, const void* from, int64_t elements) {
  return elements <= 0 || note(device::active->copy(to, from, static_cast<size_t>(elements * reduction_.extent())));
}

// Elements [from, to) of all ranks, in the order of ranks: our own with those below, then with those above.
bool Meeting::combine(int64_t from, int64_t to, char* target) {
  const int64_t offset = from * reduction_.extent();
  const char* const own = data_[static_cast<size_t>(comm_.rank)] + offset;
  if (own != target && !copy(target, own, to - from)) return false;
  const auto with = [&](int32_t rank) {
    return to <= from ||
           note(device::active->reduce(reduction_, data_[static_cast<size_t>(rank)] + offset, target, to - from));
  };
  for (int32_t rank = comm_.rank; rank-- > 0;) {
    if (!with(rank)) return false;
  }
  for (int32_t rank = comm_.rank + 1; rank < comm_.size; ++rank) {
    if (!with(rank)) return false;
  }
  return true;
}

bool Meeting::run() {
  const int64_t extent = reduction_.extent();
  bool done = true;
  switch (gets_) {
    case Gets::root:
      done = !gets_any() || combine(0, count_, receive_);
      break;
    case Gets::part:
      done = combine(count_ * comm_.rank, count_ * (comm_.rank + 1), receive_);
      break;
    case Gets::all: {
      const int64_t from = part_from(comm_.rank), to = part_from(comm_.rank + 1);
      done = combine(from, to, receive_ + from * extent);
      if (!agree(done)) return false;
      for (int32_t i = 1; i < comm_.size && done; ++i) {
        const int32_t rank = (comm_.rank + i) % comm_.size;
        const int64_t first = part_from(rank);
        done = copy(receive_ + first * extent, results_[static_cast<size_t>(rank)] + first * extent,
                    part_from(rank + 1) - first);
      }
      break;
    }
  }
  return agree(done);  // nobody reads our buffers any more
}

// Copies of pairs write their gaps, which belong to the program.
bool has_gaps(const device::KernelReduction& reduction) {
  return reduction.index != device::Number::none &&
         device::size_of(reduction.number) != device::size_of(reduction.index);
}

// Whether all ranks belong to this process's own job, which has its settings alike.
bool is_of_our_job(const Comm& comm) {
  for (int32_t rank = 0; rank < comm.size; ++rank) {
    const int32_t place = comm.job_rank(rank) - core::identity->first;
    if (place < 0 || place >= core::identity->size) return false;
  }
  return true;
}

}  // namespace

bool reduce_among_devices(const Form& form, const ReductionArgument& data, MPI_Count count, MPI_Comm handle, Gets gets,
                          int root, int& error) {
  const Op* op = op_of(data.op);
  const Type* type = type_of(data.datatype);
  Comm* comm = comm_of(handle);
  if (!device::everywhere() || !form.is_blocking() || comm == nullptr || comm->is_inter() || comm->size < 2 ||
      !core::identity->job.one_host() || coll::reproducible() || op == nullptr || !op->predefined || type == nullptr ||
      !type->predefined || count <= 0 || root < 0 || root >= comm->size)
    return false;
  int64_t bytes = 0;
  if (__builtin_mul_overflow(count, type->extent * (gets == Gets::part ? comm->size : 1), &bytes) ||
      bytes < least_bytes)
    return false;
  const device::KernelReduction reduction = datatype::device_reduction(op->reduction, *type);
  if (reduction.number == device::Number::none || has_gaps(reduction) || !is_of_our_job(*comm)) return false;
  CollCheck check(form, handle);
  Meeting meeting(*comm, reduction, count, gets, root);
  if (!meeting.begin(data)) {
    error = check.done(meeting.error());
    return error != MPI_SUCCESS;
  }
  if (meeting.run()) {
    error = MPI_SUCCESS;
  } else if (meeting.error() != core::no_error) {
    error = check.done(meeting.error());
  } else {
    const std::string& problem = meeting.problem();
    error = device_failed(comm, form.function, problem.empty() ? "another rank's device failed" : problem);
  }
  return true;
}

}  // namespace weft::mpi
