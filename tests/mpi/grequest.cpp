// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Generalized requests: which functions of the program are called when, what their errors become, and that a thread
// asleep in a wait is woken by another one.
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "expect.hpp"

namespace {

// An operation of the program: the calls, in order, and the answers to give.
struct Work {
  std::string calls;
  int query_error = MPI_SUCCESS, free_error = MPI_SUCCESS, cancel_error = MPI_SUCCESS;
  int source = 3, tag = 4, elements = 5;
  bool cancelled = false;
};

int query(void* state, MPI_Status* status) {
  auto& work = *static_cast<Work*>(state);
  work.calls += 'q';
  MPI_Status_set_elements(status, MPI_INT, work.elements);
  MPI_Status_set_cancelled(status, work.cancelled ? 1 : 0);
  status->MPI_SOURCE = work.source;
  status->MPI_TAG = work.tag;
  status->MPI_ERROR = 77;  // not its to set
  return work.query_error;
}

int release(void* state) {
  auto& work = *static_cast<Work*>(state);
  work.calls += 'f';
  return work.free_error;
}

int cancel(void* state, int complete) {
  auto& work = *static_cast<Work*>(state);
  work.calls += complete != 0 ? 'C' : 'c';
  work.cancelled = true;
  return work.cancel_error;
}

MPI_Request start(Work& work) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Grequest_start(query, release, cancel, &work, &request);
  return request;
}

void check(const MPI_Status& status, const Work& work) {
  int count = -1, cancelled = -1;
  MPI_Get_elements(&status, MPI_INT, &count);
  MPI_Test_cancelled(&status, &cancelled);
  EXPECT(count == work.elements && status.MPI_SOURCE == work.source && status.MPI_TAG == work.tag &&
             (cancelled != 0) == work.cancelled,
         "%d elements of %d with %d, cancelled %d", count, status.MPI_SOURCE, status.MPI_TAG, cancelled);
}

void one_at_a_time() {
  for (const char* way : {"wait", "test", "waitany", "testany", "waitsome", "testsome", "waitall", "testall"}) {
    for (bool ignore : {false, true}) {
      Work work;
      MPI_Request request = start(work);
      MPI_Status status{};
      status.MPI_ERROR = 55;
      MPI_Status* told = ignore ? MPI_STATUS_IGNORE : &status;
      int flag = 1, index = -1, count = -1;
      MPI_Test(&request, &flag, told);
      EXPECT(flag == 0 && work.calls.empty(), "done before MPI_Grequest_complete: %s", work.calls.c_str());
      MPI_Grequest_complete(request);
      EXPECT(work.calls.empty(), "MPI_Grequest_complete called %s", work.calls.c_str());
      MPI_Request_get_status(request, &flag, told);
      EXPECT(flag != 0 && work.calls == "q", "MPI_Request_get_status called %s", work.calls.c_str());
      const std::string name = way;
      const bool several = name.find("some") != std::string::npos || name.find("all") != std::string::npos;
      int error = MPI_ERR_OTHER;
      if (name == "wait") error = MPI_Wait(&request, told);
      if (name == "test") error = MPI_Test(&request, &flag, told);
      if (name == "waitany") error = MPI_Waitany(1, &request, &index, told);
      if (name == "testany") error = MPI_Testany(1, &request, &index, &flag, told);
      if (name == "waitsome") error = MPI_Waitsome(1, &request, &count, &index, told);
      if (name == "testsome") error = MPI_Testsome(1, &request, &count, &index, told);
      if (name == "waitall") error = MPI_Waitall(1, &request, told);
      if (name == "testall") error = MPI_Testall(1, &request, &flag, told);
      EXPECT(error == MPI_SUCCESS && request == MPI_REQUEST_NULL, "%s: error %d", way, error);
      EXPECT(work.calls == "qqf", "%s called %s", way, work.calls.c_str());
      if (ignore) continue;
      check(status, work);
      EXPECT(status.MPI_ERROR == (several ? MPI_SUCCESS : 55), "%s: MPI_ERROR is %d", way, status.MPI_ERROR);
    }
  }
}

void freed() {
  Work before, after;
  MPI_Request request = start(before);
  MPI_Request copy = request;
  MPI_Request_free(&request);
  EXPECT(request == MPI_REQUEST_NULL && before.calls.empty(), "freed too early: %s", before.calls.c_str());
  MPI_Grequest_complete(copy);
  EXPECT(before.calls == "f", "called %s", before.calls.c_str());
  request = start(after);
  MPI_Grequest_complete(request);
  MPI_Request_free(&request);
  EXPECT(request == MPI_REQUEST_NULL && after.calls == "f", "called %s", after.calls.c_str());
}

void cancelled() {
  Work work;
  MPI_Request request = start(work);
  MPI_Status status;
  MPI_Cancel(&request);
  MPI_Grequest_complete(request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  check(status, work);
  EXPECT(work.calls == "cCqf", "called %s", work.calls.c_str());
}

void errors() {
  int own = MPI_ERR_OTHER, index = 0, flag = 0, indices[3], count = 0;
  MPI_Add_error_class(&own);
  Work bad;
  bad.query_error = own;
  MPI_Request request = start(bad);
  MPI_Grequest_complete(request);
  EXPECT(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE) == own, "the query's error is lost");
  EXPECT(MPI_Wait(&request, MPI_STATUS_IGNORE) == own && request == MPI_REQUEST_NULL, "the query's error is lost");
  bad.free_error = MPI_ERR_FILE;
  request = start(bad);
  MPI_Grequest_complete(request);
  EXPECT(MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE) == MPI_ERR_FILE, "the last error is that of free");
  request = start(bad);
  MPI_Grequest_complete(request);
  EXPECT(MPI_Request_free(&request) == MPI_ERR_FILE, "the error of free is lost");
  request = start(bad);
  MPI_Request copy = request;
  MPI_Request_free(&request);
  EXPECT(MPI_Grequest_complete(copy) == MPI_ERR_FILE, "the error of free is lost");
  bad.cancel_error = MPI_ERR_IO;
  request = start(bad);
  EXPECT(MPI_Cancel(&request) == MPI_ERR_IO, "the error of cancel is lost");
  MPI_Grequest_complete(request);
  (void)MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (bool some : {false, true}) {
    Work good[2];
    bad = {};
    bad.free_error = own;
    MPI_Request requests[] = {start(good[0]), start(bad), start(good[1])};
    MPI_Status statuses[3];
    for (MPI_Request r : requests) MPI_Grequest_complete(r);
    const int error = some ? MPI_Waitsome(3, requests, &count, indices, statuses) : MPI_Waitall(3, requests, statuses);
    EXPECT(error == MPI_ERR_IN_STATUS, "error %d", error);
    EXPECT(statuses[0].MPI_ERROR == MPI_SUCCESS && statuses[1].MPI_ERROR == own && statuses[2].MPI_ERROR == MPI_SUCCESS,
           "errors %d, %d, %d", statuses[0].MPI_ERROR, statuses[1].MPI_ERROR, statuses[2].MPI_ERROR);
  }
  MPI_Remove_error_class(own);
}

// Among requests of messages.
void mixed() {
  Work work;
  int in = 0, out = expect::rank, done = 0, indices[3];
  const int next = (expect::rank + 1) % expect::size, before = (expect::rank + expect::size - 1) % expect::size;
  MPI_Request requests[3] = {MPI_REQUEST_NULL, start(work), MPI_REQUEST_NULL};
  MPI_Status statuses[3];
  MPI_Irecv(&in, 1, MPI_INT, before, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(&out, 1, MPI_INT, next, 1, MPI_COMM_WORLD, &requests[2]);
  for (int rest = 2; rest > 0; rest -= done) MPI_Waitsome(3, requests, &done, indices, statuses);
  EXPECT(in == before && requests[1] != MPI_REQUEST_NULL, "got %d", in);
  MPI_Grequest_complete(requests[1]);
  MPI_Waitall(3, requests, statuses);
  check(statuses[1], work);
}

// The sleep is long enough that the waiting thread has stopped to spin.
void woken() {
  using namespace std::chrono_literals;
  for (int round = 0; round < 6; ++round) {
    Work work, other;
    MPI_Request requests[2] = {start(work), start(other)};
    const MPI_Request late = requests[0];
    std::atomic<bool> over = false;
    std::thread worker([&] {
      std::this_thread::sleep_for(60ms);
      over = true;
      MPI_Grequest_complete(late);
    });
    int index = -1, count = 0;
    MPI_Status status;
    if (round % 3 == 0) MPI_Wait(&requests[0], &status);
    if (round % 3 == 1) MPI_Waitany(2, requests, &index, &status);
    if (round % 3 == 2) MPI_Waitsome(2, requests, &count, &index, &status);
    EXPECT(over, "round %d: came back before the operation was over", round);
    check(status, work);
    worker.join();
    MPI_Grequest_complete(requests[1]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    EXPECT(work.calls == "qf" && other.calls == "qf", "called %s, %s", work.calls.c_str(), other.calls.c_str());
  }
}

// MPI_Request_free and MPI_Grequest_complete at the same time: the state is freed once.
void race() {
  for (int round = 0; round < 300; ++round) {
    Work work;
    MPI_Request request = start(work), copy = request;
    std::thread worker([&] { MPI_Grequest_complete(copy); });
    MPI_Request_free(&request);
    worker.join();
    EXPECT(work.calls == "f", "round %d called %s", round, work.calls.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &expect::rank);
  MPI_Comm_size(MPI_COMM_WORLD, &expect::size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  one_at_a_time();
  freed();
  cancelled();
  errors();
  mixed();
  woken();
  race();
  return expect::finish();
}
