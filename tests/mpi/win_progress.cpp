// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// A rank that computes for a while without calling MPI does not hold up those on its host that use its memory: each
// operation ends before the rank comes back. And a rank that makes the same call again and again until it sees
// another's doing lets that happen, however little the call needs of others.
#include <time.h>

#include <atomic>
#include <new>
#include <string>
#include <vector>

#include "by_host.hpp"
#include "windows.hpp"

using expect::rank;
using expect::size;
using windows::Window;

namespace {

// Memory of this host that ranks 0 and 1 look at without calling MPI.
class Signal {
 public:
  Signal() {
    MPI_Comm_split(MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, rank, &pair_);
    if (pair_ == MPI_COMM_NULL) return;
    MPI_Aint bytes = 0;
    int unit = 0;
    void* at = nullptr;
    OK(MPI_Win_allocate_shared(rank == 0 ? 64 : 0, 1, MPI_INFO_NULL, pair_, static_cast<void*>(&at), &window_));
    OK(MPI_Win_shared_query(window_, 0, &bytes, &unit, static_cast<void*>(&at)));
    count_ = new (at) std::atomic<int>(0);
    MPI_Barrier(pair_);
  }
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;
  ~Signal() {
    if (pair_ == MPI_COMM_NULL) return;
    OK(MPI_Win_free(&window_));
    MPI_Comm_free(&pair_);
  }
  void give() { count_->fetch_add(1); }
  // Whether it came within some seconds.
  bool wait_for(int times) {
    for (int ms = 0; ms < 10000 && count_->load() < times; ++ms) {
      const timespec moment = {0, 1000000};
      nanosleep(&moment, nullptr);
    }
    return count_->load() >= times;
  }

 private:
  MPI_Comm pair_ = MPI_COMM_NULL;
  MPI_Win window_ = MPI_WIN_NULL;
  std::atomic<int>* count_ = nullptr;
};

Signal* done;
int rounds = 0;

// Rank 0 stays away from MPI until rank 1 has called `work`.
template <class Work>
void meanwhile(const char* what, Work work) {
  MPI_Barrier(MPI_COMM_WORLD);
  ++rounds;
  if (rank == 0) {
    EXPECT(done->wait_for(rounds), "%s did not end while rank 0 was away", what);
  } else if (rank == 1) {
    work();
    done->give();
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

void operations(MPI_Win window, const char* kind) {
  static constexpr int count = 50000;  // more than fits into a few small messages
  std::vector<int64_t> out(count, 5), in(count, -1), old(count, -1);
  meanwhile(kind, [&] {
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window));
    OK(MPI_Put(out.data(), count, MPI_INT64_T, 0, 0, count, MPI_INT64_T, window));
    OK(MPI_Win_flush(0, window));
    OK(MPI_Accumulate(out.data(), count, MPI_INT64_T, 0, 0, count, MPI_INT64_T, MPI_SUM, window));
    OK(MPI_Win_unlock(0, window));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window));
    OK(MPI_Get_accumulate(out.data(), count, MPI_INT64_T, old.data(), count, MPI_INT64_T, 0, 0, count, MPI_INT64_T,
                          MPI_SUM, window));
    OK(MPI_Win_flush(0, window));
    int64_t fetched = -1, swapped = -1;
    const int64_t one = 1, fifteen = 15;
    OK(MPI_Compare_and_swap(&one, &fifteen, &swapped, MPI_INT64_T, 0, 0, window));
    OK(MPI_Win_flush(0, window));
    OK(MPI_Fetch_and_op(&one, &fetched, MPI_INT64_T, 0, 0, MPI_SUM, window));
    OK(MPI_Win_flush(0, window));
    MPI_Datatype every_other;
    MPI_Type_vector(count / 2, 1, 2, MPI_INT64_T, &every_other);
    MPI_Type_commit(&every_other);
    MPI_Request request;
    OK(MPI_Rget(in.data(), 1, every_other, 0, 0, 1, every_other, window, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI_Type_free(&every_other);
    OK(MPI_Win_unlock(0, window));
    EXPECT(old[0] == 10 && old[count - 1] == 10, "%ld and %ld", static_cast<long>(old[0]),
           static_cast<long>(old[count - 1]));
    EXPECT(swapped == 15 && fetched == 1, "%ld and %ld", static_cast<long>(swapped), static_cast<long>(fetched));
    EXPECT(in[0] == 2 && in[1] == -1 && in[2] == 15, "%ld, %ld, %ld", static_cast<long>(in[0]),
           static_cast<long>(in[1]), static_cast<long>(in[2]));
  });
}

// A lock that rank 0 itself holds while it is away does keep others out.
void own_lock(MPI_Win window, int64_t* memory) {
  int64_t value = -1;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window));
    memory[0] = 1;
    MPI_Send(nullptr, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
    const timespec a_while = {0, 50000000};
    nanosleep(&a_while, nullptr);
    memory[0] = 2;
    OK(MPI_Win_unlock(0, window));
  } else if (rank == 1) {
    MPI_Recv(nullptr, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window));
    OK(MPI_Get(&value, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, window));
    OK(MPI_Win_unlock(0, window));
    EXPECT(value == 2, "%ld", static_cast<long>(value));
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

// Rank 0 calls `look` until it has seen what rank 1 stores there; before, rank 1 receives a message that rank 0 sends
// meanwhile.
template <class Look>
void until_seen(const char* what, MPI_Win window, bool lock_all, Look look) {
  std::vector<char> message(2000000);
  const int64_t none = 0, one = 1;
  if (rank == 0) {
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window));
    OK(MPI_Put(&none, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, window));
    OK(MPI_Win_unlock(0, window));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Request request;
    MPI_Isend(message.data(), static_cast<int>(message.size()), MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);
    if (lock_all) OK(MPI_Win_lock_all(0, window));
    const double end = MPI_Wtime() + 10;
    bool seen = false;
    while (!seen && MPI_Wtime() < end) seen = look() == 1;
    EXPECT(seen, "%s: nothing came while rank 0 called it again and again", what);
    if (lock_all) OK(MPI_Win_unlock_all(window));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (rank == 1) {
    MPI_Recv(message.data(), static_cast<int>(message.size()), MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window));
    OK(MPI_Accumulate(&one, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, MPI_REPLACE, window));
    OK(MPI_Win_unlock(0, window));
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

void loops(MPI_Win window, const int64_t* memory) {
  int64_t got = 0;
  const auto fetch = [&] { OK(MPI_Fetch_and_op(nullptr, &got, MPI_INT64_T, 0, 0, MPI_NO_OP, window)); };
  until_seen("MPI_Win_flush", window, true, [&] {
    fetch();
    OK(MPI_Win_flush(0, window));
    return got;
  });
  until_seen("MPI_Win_flush_local_all", window, true, [&] {
    fetch();
    OK(MPI_Win_flush_local_all(window));
    return got;
  });
  until_seen("MPI_Win_unlock", window, false, [&] {
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window));
    fetch();
    OK(MPI_Win_unlock(0, window));
    return got;
  });
  until_seen("MPI_Rget and MPI_Wait", window, true, [&] {
    MPI_Request request;
    OK(MPI_Rget(&got, 1, MPI_INT64_T, 0, 0, 1, MPI_INT64_T, window, &request));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return got;
  });
  until_seen("MPI_Win_sync", window, true, [&] {
    OK(MPI_Win_sync(window));
    return std::atomic_ref(const_cast<int64_t&>(memory[0])).load();
  });
}

}  // namespace

int main(int argc, char** argv) {
  windows::start(&argc, &argv);
  {
    Window<int64_t> allocated(1);
    loops(allocated, allocated.data());
    std::vector<int64_t> own(1);
    MPI_Win created;
    OK(MPI_Win_create(own.data(), sizeof(int64_t), sizeof(int64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &created));
    loops(created, own.data());
    OK(MPI_Win_free(&created));
  }
  const std::vector<std::string> hosts = by_host::hosts();
  const char* read_by_kernel = getenv("WEFT_CMA");
  const bool direct = read_by_kernel == nullptr || strcmp(read_by_kernel, "off") != 0;
  if (size >= 2 && hosts[0] == hosts[1] && direct) {
    static constexpr size_t count = 50000;
    Signal signal;
    done = &signal;
    {
      Window<int64_t> window(count);
      operations(window, "on allocated memory: a call");
      own_lock(window, window.data());
    }
    std::vector<int64_t> memory(count);
    MPI_Win window;
    OK(MPI_Win_create(memory.data(), count * sizeof(int64_t), sizeof(int64_t), MPI_INFO_NULL, MPI_COMM_WORLD, &window));
    operations(window, "on memory of the program's: a call");
    own_lock(window, memory.data());
    OK(MPI_Win_free(&window));
    // The first attached piece is rank 0's; its address is the displacement.
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window));
    MPI_Aint at = 0;
    OK(MPI_Win_attach(window, memory.data(), count * sizeof(int64_t)));
    MPI_Get_address(memory.data(), &at);
    MPI_Bcast(&at, 1, MPI_AINT, 0, MPI_COMM_WORLD);
    meanwhile("on attached memory: a call", [&] {
      const int64_t value = 77;
      int64_t got = -1;
      OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window));
      OK(MPI_Put(&value, 1, MPI_INT64_T, 0, at, 1, MPI_INT64_T, window));
      OK(MPI_Win_flush(0, window));
      OK(MPI_Fetch_and_op(&value, &got, MPI_INT64_T, 0, at, MPI_SUM, window));
      OK(MPI_Win_unlock(0, window));
      EXPECT(got == 77, "%ld", static_cast<long>(got));
    });
    OK(MPI_Win_detach(window, memory.data()));
    OK(MPI_Win_free(&window));
  }
  return expect::finish();
}
