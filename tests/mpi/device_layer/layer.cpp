// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "layer.hpp"

#include <cstdlib>
#include <mutex>
#include <unordered_map>

namespace layer {

// ---- Calls and requests

namespace {

struct Operation {
  Buffers buffers;
  bool persistent;
};
std::mutex requests_mutex;
// Requests that are complete from the beginning may share a handle.
std::unordered_multimap<MPI_Request, std::shared_ptr<Operation>> requests;

void keep_operation(MPI_Request request, std::shared_ptr<Operation> operation) {
  std::lock_guard lock(requests_mutex);
  requests.emplace(request, std::move(operation));
}

// The operations of some requests. Operations that may end with the call are out of the table during it: afterwards
// another thread may be given the same handles.
class Pending {
 public:
  enum class Call : uint8_t { completes, frees };
  Pending(int count, const MPI_Request* handles, Call call = Call::completes) {
    std::lock_guard lock(requests_mutex);
    for (int i = 0; i < count && handles != nullptr; ++i) {
      const auto [begin, end] = requests.equal_range(handles[i]);
      for (auto found = begin; found != end;) {
        const bool stays = found->second->persistent && call == Call::completes;
        taken_.push_back({i, stays, handles[i], found->second});
        found = stays ? std::next(found) : requests.erase(found);
      }
    }
  }
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;
  ~Pending() {
    for (Taken& one : taken_) {
      if (!one.stays && !one.operation->buffers.empty()) keep_operation(one.handle, std::move(one.operation));
    }
  }

  // The call says that request i is complete; `now` is its handle.
  void complete(int i, MPI_Request now) {
    visit(i, [&](Operation& operation) {
      if (!operation.persistent && now != MPI_REQUEST_NULL) return;  // an error kept it from being looked at
      for (const auto& buffer : operation.buffers) buffer->to_program();
      if (!operation.persistent) operation.buffers.clear();
    });
  }
  // Its data are there, and its request stays.
  void show(int i) {
    visit(i, [](Operation& operation) {
      for (const auto& buffer : operation.buffers) buffer->to_program();
    });
  }
  void start() {
    for (Taken& one : taken_) {
      for (const auto& buffer : one.operation->buffers) buffer->to_device();
    }
  }
  // Partitions that are ready to be sent, or one that has come.
  void partitions(int first, int last) {
    for (Taken& one : taken_) {
      for (const auto& buffer : one.operation->buffers) {
        for (int piece = first; piece <= last && piece < buffer->pieces(); ++piece) buffer->to_device(piece);
      }
    }
  }
  void show_partition(int piece) {
    for (Taken& one : taken_) {
      for (const auto& buffer : one.operation->buffers) buffer->to_program(piece);
    }
  }
  // A request that is freed: the library may still work on the buffers of an operation.
  void forget() {
    for (Taken& one : taken_) {
      if (!one.operation->persistent) {
        for (auto& buffer : one.operation->buffers) (void)buffer.release();
      }
      one.operation->buffers.clear();
    }
  }

 private:
  template <class Visit>
  void visit(int i, Visit&& act) {
    for (Taken& one : taken_) {
      if (one.index == i) act(*one.operation);
    }
  }

  struct Taken {
    int index;
    bool stays;  // in the table
    MPI_Request handle;
    std::shared_ptr<Operation> operation;
  };
  std::vector<Taken> taken_;
};

}  // namespace

void* Call::stand(const void* buffer, Pieces pieces, bool received) {
  std::unique_ptr<Moved> made = Moved::move(buffer, std::move(pieces), received);
  if (made == nullptr) return const_cast<void*>(buffer);
  for (const auto& other : buffers_) {
    if (void* same = made->address_if_same(*other)) return same;
  }
  buffers_.push_back(std::move(made));
  return buffers_.back()->address();
}

int Call::end(int error) {
  for (const auto& buffer : buffers_) buffer->to_program();
  return error;
}

int Call::keep(int error, const MPI_Request* request, bool persistent) {
  if (error != MPI_SUCCESS || buffers_.empty()) return error;
  if (*request == MPI_REQUEST_NULL) return end(error);
  for (auto& buffer : buffers_) buffer->keep_types();
  keep_operation(*request, std::make_shared<Operation>(Operation{std::move(buffers_), persistent}));
  return error;
}

int Call::started(int error, MPI_Request* request) {
  return keep(error, request, false);
}

int Call::described(int error, MPI_Request* request) {
  return keep(error, request, true);
}

// ---- The data of a buffer

Pieces blocks(MPI_Count number, MPI_Count count, MPI_Datatype type) {
  return {{0, number * count, type}};
}

MPI_Count extent_of(MPI_Datatype type) {
  MPI_Count low = 0, extent = 0;
  PMPI_Type_get_extent_c(type, &low, &extent);
  return extent;
}

Pieces partitioned(int partitions, MPI_Count count, MPI_Datatype type) {
  Pieces pieces;
  if (type == MPI_DATATYPE_NULL || count < 0) return pieces;
  const MPI_Count step = count * extent_of(type);
  for (int i = 0; i < partitions; ++i) pieces.push_back({static_cast<MPI_Aint>(i * step), count, type});
  return pieces;
}

namespace {

bool is_inter(MPI_Comm comm) {
  int inter = 0;
  PMPI_Comm_test_inter(comm, &inter);
  return inter != 0;
}

void degrees(MPI_Comm comm, int& in, int& out) {
  in = out = 0;
  if (comm == MPI_COMM_NULL) return;
  int topology = MPI_UNDEFINED, weighted = 0;
  PMPI_Topo_test(comm, &topology);
  if (topology == MPI_CART) {
    PMPI_Cartdim_get(comm, &in);
    in *= 2;
    out = in;
  } else if (topology == MPI_GRAPH) {
    PMPI_Graph_neighbors_count(comm, own_rank(comm), &in);
    out = in;
  } else if (topology == MPI_DIST_GRAPH) {
    PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
  }
}

}  // namespace

int own_ranks(MPI_Comm comm) {
  int size = 0;
  if (comm != MPI_COMM_NULL) PMPI_Comm_size(comm, &size);
  return size;
}

int own_rank(MPI_Comm comm) {
  int rank = 0;
  if (comm != MPI_COMM_NULL) PMPI_Comm_rank(comm, &rank);
  return rank;
}

int ranks(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL || !is_inter(comm)) return own_ranks(comm);
  int size = 0;
  PMPI_Comm_remote_size(comm, &size);
  return size;
}

int sources(MPI_Comm comm) {
  int in, out;
  degrees(comm, in, out);
  return in;
}

int destinations(MPI_Comm comm) {
  int in, out;
  degrees(comm, in, out);
  return out;
}

int is_root(MPI_Comm comm, int root) {
  if (comm == MPI_COMM_NULL) return 0;
  return is_inter(comm) ? root == MPI_ROOT : root == own_rank(comm);
}

int has_part(MPI_Comm comm, int root) {
  return comm != MPI_COMM_NULL && (!is_inter(comm) || root >= 0);
}

}  // namespace layer

// ---- Calls that complete operations, and the end

using layer::Pending;

extern "C" {

int MPI_Start(MPI_Request* request) {
  Pending(1, request).start();
  return PMPI_Start(request);
}

int MPI_Startall(int count, MPI_Request* requests) {
  Pending(count, requests).start();
  return PMPI_Startall(count, requests);
}

int MPI_Pready(int partition, MPI_Request request) {
  Pending(1, &request).partitions(partition, partition);
  return PMPI_Pready(partition, request);
}

int MPI_Pready_range(int partition_low, int partition_high, MPI_Request request) {
  Pending(1, &request).partitions(partition_low, partition_high);
  return PMPI_Pready_range(partition_low, partition_high, request);
}

int MPI_Pready_list(int length, const int array_of_partitions[], MPI_Request request) {
  for (int i = 0; i < length && array_of_partitions != nullptr; ++i)
    Pending(1, &request).partitions(array_of_partitions[i], array_of_partitions[i]);
  return PMPI_Pready_list(length, array_of_partitions, request);
}

int MPI_Parrived(MPI_Request request, int partition, int* flag) {
  const int error = PMPI_Parrived(request, partition, flag);
  if (error == MPI_SUCCESS && *flag != 0) Pending(1, &request).show_partition(partition);
  return error;
}

int MPI_Request_free(MPI_Request* request) {
  Pending pending(1, request, Pending::Call::frees);
  const int error = PMPI_Request_free(request);
  if (error == MPI_SUCCESS) pending.forget();
  return error;
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  Pending pending(1, request);
  const int error = PMPI_Wait(request, status);
  pending.complete(0, *request);
  return error;
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  Pending pending(1, request);
  const int error = PMPI_Test(request, flag, status);
  if (*flag != 0) pending.complete(0, *request);
  return error;
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  Pending pending(count, requests);
  const int error = PMPI_Waitall(count, requests, statuses);
  for (int i = 0; i < count; ++i) pending.complete(i, requests[i]);
  return error;
}

int MPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  Pending pending(count, requests);
  const int error = PMPI_Testall(count, requests, flag, statuses);
  for (int i = 0; i < count && *flag != 0; ++i) pending.complete(i, requests[i]);
  return error;
}

int MPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  Pending pending(count, requests);
  const int error = PMPI_Waitany(count, requests, index, status);
  if (*index >= 0) pending.complete(*index, requests[*index]);
  return error;
}

int MPI_Testany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  Pending pending(count, requests);
  const int error = PMPI_Testany(count, requests, index, flag, status);
  if (*flag != 0 && *index >= 0) pending.complete(*index, requests[*index]);
  return error;
}

int MPI_Waitsome(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
  Pending pending(count, requests);
  const int error = PMPI_Waitsome(count, requests, done, indices, statuses);
  for (int i = 0; i < *done; ++i) pending.complete(indices[i], requests[indices[i]]);
  return error;
}

int MPI_Testsome(int count, MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
  Pending pending(count, requests);
  const int error = PMPI_Testsome(count, requests, done, indices, statuses);
  for (int i = 0; i < *done; ++i) pending.complete(indices[i], requests[indices[i]]);
  return error;
}

int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  Pending pending(1, &request);
  const int error = PMPI_Request_get_status(request, flag, status);
  if (*flag != 0) pending.show(0);
  return error;
}

int MPI_Request_get_status_all(int count, const MPI_Request* requests, int* flag, MPI_Status* statuses) {
  Pending pending(count, requests);
  const int error = PMPI_Request_get_status_all(count, requests, flag, statuses);
  for (int i = 0; i < count && *flag != 0; ++i) pending.show(i);
  return error;
}

int MPI_Request_get_status_any(int count, const MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  Pending pending(count, requests);
  const int error = PMPI_Request_get_status_any(count, requests, index, flag, status);
  if (*flag != 0 && *index >= 0) pending.show(*index);
  return error;
}

int MPI_Request_get_status_some(int count, const MPI_Request* requests, int* done, int* indices, MPI_Status* statuses) {
  Pending pending(count, requests);
  const int error = PMPI_Request_get_status_some(count, requests, done, indices, statuses);
  for (int i = 0; i < *done; ++i) pending.show(indices[i]);
  return error;
}

// A row with TEST_MOVED fails where the first rank has moved nothing.
int MPI_Finalize(void) {
  layer::end_moving(getenv("TEST_MOVED") != nullptr && layer::own_rank(MPI_COMM_WORLD) == 0);
  return PMPI_Finalize();
}

}  // extern "C"
