// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// One-sided operations with data of the origin, memory of the window, or both on a device.
#include <algorithm>
#include <cstring>
#include <functional>

#include "on_device.hpp"

namespace {

using namespace on_device;

int next() {
  return (expect::rank + 1) % expect::size;
}
int before() {
  return (expect::rank + expect::size - 1) % expect::size;
}

enum class Made { create, allocate, dynamic };
constexpr Made ways[] = {Made::create, Made::allocate, Made::dynamic};

// A window of integers, on all ranks at the same place.
class Window {
 public:
  Window(Made made, Where where, std::vector<int> values) : made_(made), size_(values.size()) {
    if (made != Made::allocate) {
      own_.emplace_back(new Data(where, values));
      base_ = own_.front()->get();
    }
    const auto bytes = static_cast<MPI_Aint>(size_ * sizeof(int));
    if (made == Made::create) {
      MPI_Win_create(base_, bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    } else if (made == Made::allocate) {
      MPI_Info info = where == Where::device ? device_info() : MPI_INFO_NULL;
      MPI_Win_allocate(bytes, sizeof(int), info, MPI_COMM_WORLD, &base_, &win);
      if (info != MPI_INFO_NULL) MPI_Info_free(&info);
    } else {
      MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
      MPI_Win_attach(win, base_, bytes);
    }
    set(values);
    MPI_Aint here = 0;
    MPI_Get_address(base_, &here);
    addresses_.resize(static_cast<size_t>(expect::size));
    MPI_Allgather(&here, 1, MPI_AINT, addresses_.data(), 1, MPI_AINT, MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  ~Window() {
    MPI_Win_unlock_all(win);
    if (made_ == Made::dynamic) {
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Win_detach(win, base_);
    }
    MPI_Win_free(&win);
    for (Data* data : own_) delete data;
  }

  // The displacement of an element.
  MPI_Aint at(int rank, size_t element) const {
    if (made_ != Made::dynamic) return static_cast<MPI_Aint>(element);
    return MPI_Aint_add(addresses_[static_cast<size_t>(rank)], static_cast<MPI_Aint>(element * sizeof(int)));
  }

  // Our own part, while no other rank is at it.
  void set(const std::vector<int>& values) { move(base_, values.data(), size_ * sizeof(int)); }
  std::vector<int> values() const {
    std::vector<int> found(size_);
    move(found.data(), base_, size_ * sizeof(int));
    return found;
  }
  // All that was begun on all ranks is done.
  void complete() const {
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  void again(const std::vector<int>& values) {
    MPI_Barrier(MPI_COMM_WORLD);
    set(values);
    MPI_Barrier(MPI_COMM_WORLD);
  }

  MPI_Win win = MPI_WIN_NULL;

 private:
  Made made_;
  size_t size_;
  int* base_ = nullptr;
  std::vector<Data*> own_;
  std::vector<MPI_Aint> addresses_;
};

// Calls it for each way to make a window and each place of its memory and of the origin's data, but for the one that
// has nothing to do with a device.
void for_windows(const std::function<void(Made made, Where there, Where here)>& each) {
  for (const Made made : ways) {
    for (const Where there : places) {
      for (const Where here : places) {
        if (there == Where::device || here == Where::device) each(made, there, here);
      }
    }
  }
}

constexpr size_t counts[] = {1, 2, 100, 5000, 40000, 300000};

void puts() {
  for_windows([](Made made, Where there, Where here) {
    for (const size_t count : counts) {
      const int n = static_cast<int>(count);
      Window window(made, there, std::vector<int>(count + 2, -1));
      for (const int target : {next(), expect::rank}) {
        const int origin = target == expect::rank ? expect::rank : before();
        Data out(here, numbered(count, expect::rank * 1000));
        window.again(std::vector<int>(count + 2, -1));
        MPI_Put(out.get(), n, MPI_INT, target, window.at(target, 1), n, MPI_INT, window.win);
        window.complete();
        std::vector<int> wanted = numbered(count, origin * 1000);
        wanted.insert(wanted.begin(), -1);
        wanted.push_back(-1);
        expect_same("MPI_Put", window.values(), wanted);
        window.again(std::vector<int>(count + 2, -1));
        MPI_Request request;
        MPI_Rput(out.get(), n, MPI_INT, target, window.at(target, 1), n, MPI_INT, window.win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        out.set(std::vector<int>(count, -7));  // ours again
        window.complete();
        expect_same("MPI_Rput", window.values(), wanted);
      }
    }
  });
}

void gets() {
  for_windows([](Made made, Where there, Where here) {
    for (const size_t count : counts) {
      const int n = static_cast<int>(count);
      Window window(made, there, numbered(count + 1, expect::rank * 1000));
      MPI_Barrier(MPI_COMM_WORLD);
      for (const int target : {next(), expect::rank}) {
        const std::vector<int> wanted = numbered(count, target * 1000 + 3);
        Data in(here, std::vector<int>(count, -1));
        MPI_Get(in.get(), n, MPI_INT, target, window.at(target, 1), n, MPI_INT, window.win);
        MPI_Win_flush(target, window.win);
        expect_same("MPI_Get", in.values(), wanted);
        in.set(std::vector<int>(count, -1));
        MPI_Request request;
        MPI_Rget(in.get(), n, MPI_INT, target, window.at(target, 1), n, MPI_INT, window.win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect_same("MPI_Rget", in.values(), wanted);
      }
      MPI_Barrier(MPI_COMM_WORLD);
    }
  });
}

// Every third integer here, every second one there, and the reverse.
void gaps() {
  for_windows([](Made made, Where there, Where here) {
    for (const int count : {1, 7, 3000, 60000}) {
      const auto elements = static_cast<size_t>(count);
      MPI_Datatype third, second;
      MPI_Type_vector(count, 1, 3, MPI_INT, &third);
      MPI_Type_vector(count, 1, 2, MPI_INT, &second);
      MPI_Type_commit(&third);
      MPI_Type_commit(&second);
      Window window(made, there, std::vector<int>(elements * 2, -1));
      Data out(here, numbered(elements * 3, expect::rank * 1000)), in(here, std::vector<int>(elements * 3, -1));
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Put(out.get(), 1, third, next(), window.at(next(), 0), 1, second, window.win);
      MPI_Win_flush(next(), window.win);
      MPI_Get(in.get(), 1, third, next(), window.at(next(), 0), 1, second, window.win);
      window.complete();
      std::vector<int> wanted(elements * 2, -1), back(elements * 3, -1);
      for (size_t i = 0; i < elements; ++i) {
        wanted[i * 2] = before() * 1000 + static_cast<int>(i) * 9;
        back[i * 3] = expect::rank * 1000 + static_cast<int>(i) * 9;
      }
      expect_same("MPI_Put with gaps", window.values(), wanted);
      expect_same("MPI_Get with gaps", in.values(), back);
      Data packed(here, std::vector<int>(elements, -1));
      MPI_Get(packed.get(), count, MPI_INT, next(), window.at(next(), 0), 1, second, window.win);
      window.complete();
      for (size_t i = 0; i < elements; ++i) back[i] = back[i * 3];
      back.resize(elements);
      expect_same("MPI_Get of gaps", packed.values(), back);
      MPI_Accumulate(out.get(), 1, third, next(), window.at(next(), 0), 1, second, MPI_SUM, window.win);
      window.complete();
      for (size_t i = 0; i < elements; ++i) wanted[i * 2] *= 2;
      expect_same("MPI_Accumulate with gaps", window.values(), wanted);
      MPI_Type_free(&third);
      MPI_Type_free(&second);
    }
  });
}

// All ranks add to all, at the same time.
void accumulates() {
  for_windows([](Made made, Where there, Where here) {
    for (const size_t count : counts) {
      const int n = static_cast<int>(count);
      Window window(made, there, std::vector<int>(count, 5));
      Data out(here, numbered(count, expect::rank));
      MPI_Barrier(MPI_COMM_WORLD);
      for (int turn = 0; turn < 3; ++turn) {
        for (int target = 0; target < expect::size; ++target) {
          MPI_Accumulate(out.get(), n, MPI_INT, target, window.at(target, 0), n, MPI_INT, MPI_SUM, window.win);
        }
      }
      window.complete();
      std::vector<int> wanted(count);
      for (size_t i = 0; i < count; ++i) {
        wanted[i] = 5 + 3 * (expect::size * (expect::size - 1) / 2 + expect::size * static_cast<int>(i) * 3);
      }
      expect_same("MPI_Accumulate", window.values(), wanted);
      window.again(std::vector<int>(count, 0));
      MPI_Request request;
      MPI_Raccumulate(out.get(), n, MPI_INT, next(), window.at(next(), 0), n, MPI_INT, MPI_REPLACE, window.win,
                      &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      window.complete();
      expect_same("MPI_Raccumulate", window.values(), numbered(count, before()));
    }
  });
}

void get_accumulates() {
  for_windows([](Made made, Where there, Where here) {
    for (const size_t count : counts) {
      const int n = static_cast<int>(count);
      const std::vector<int> first = numbered(count, 7);
      Window window(made, there, first);
      Data out(here, std::vector<int>(count, 2)), result(here, std::vector<int>(count, -1));
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Get_accumulate(out.get(), n, MPI_INT, result.get(), n, MPI_INT, next(), window.at(next(), 0), n, MPI_INT,
                         MPI_SUM, window.win);
      window.complete();
      std::vector<int> wanted = first;
      for (int& value : wanted) value += 2;
      expect_same("MPI_Get_accumulate, result", result.values(), first);
      expect_same("MPI_Get_accumulate", window.values(), wanted);
      MPI_Request request;
      MPI_Rget_accumulate(nullptr, 0, MPI_INT, result.get(), n, MPI_INT, next(), window.at(next(), 0), n, MPI_INT,
                          MPI_NO_OP, window.win, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      expect_same("MPI_Rget_accumulate of MPI_NO_OP", result.values(), wanted);
      window.complete();
    }
  });
}

// Pairs have gaps of their own.
struct Pair {
  double value;
  int index;
};

void pairs() {
  constexpr size_t ints = sizeof(Pair) / sizeof(int);
  for_windows([](Made made, Where there, Where here) {
    constexpr size_t count = 50;
    std::vector<int> memory(count * ints, -1);
    Pair pair{1.5, 100};
    for (size_t i = 0; i < count; ++i) std::memcpy(&memory[i * ints], &pair, sizeof(double) + sizeof(int));
    Window window(made, there, memory);
    std::vector<Pair> values(count);
    for (size_t i = 0; i < count; ++i) values[i] = {i % 2 == 0 ? 2.5 + expect::rank : 0.5, expect::rank};
    DataOf<Pair> out(here, values);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Accumulate(out.get(), count, MPI_DOUBLE_INT, 0, window.at(0, 0), count, MPI_DOUBLE_INT, MPI_MAXLOC, window.win);
    window.complete();
    if (expect::rank != 0) return;
    const std::vector<int> found = window.values();
    for (size_t i = 0; i < count; ++i) {
      std::memcpy(&pair, &found[i * ints], sizeof(double) + sizeof(int));
      const Pair wanted = i % 2 == 0 ? Pair{2.5 + expect::size - 1, expect::size - 1} : Pair{1.5, 100};
      EXPECT(pair.value == wanted.value && pair.index == wanted.index, "MPI_MAXLOC: pair %zu is %g, %d", i, pair.value,
             pair.index);
      EXPECT(found[i * ints + 3] == -1, "the gap of pair %zu is %d", i, found[i * ints + 3]);
    }
  });
}

// Each rank gets numbers of its own, and none is left out.
void counter() {
  for_windows([](Made made, Where there, Where here) {
    constexpr int each = 50;
    Window window(made, there, {0, 0});
    Data one(here, {1}), result(here, {-1});
    std::vector<int> mine;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < each; ++i) {
      MPI_Fetch_and_op(one.get(), result.get(), MPI_INT, 0, window.at(0, 1), MPI_SUM, window.win);
      MPI_Win_flush(0, window.win);
      mine.push_back(result.values()[0]);
    }
    std::vector<int> all(static_cast<size_t>(each * expect::size));
    MPI_Gather(mine.data(), each, MPI_INT, all.data(), each, MPI_INT, 0, MPI_COMM_WORLD);
    window.complete();
    if (expect::rank != 0) return;
    std::sort(all.begin(), all.end());
    for (size_t i = 0; i < all.size(); ++i) EXPECT(all[i] == static_cast<int>(i), "number %zu is %d", i, all[i]);
    expect_same("MPI_Fetch_and_op", window.values(), {0, each * expect::size});
  });
}

void swaps() {
  for_windows([](Made made, Where there, Where here) {
    constexpr int each = 20;
    Window window(made, there, {0, 0});
    MPI_Barrier(MPI_COMM_WORLD);
    int known = 0;
    for (int done = 0; done < each;) {
      Data value(here, {known + 1}), compare(here, {known}), result(here, {-1});
      MPI_Compare_and_swap(value.get(), compare.get(), result.get(), MPI_INT, 0, window.at(0, 1), window.win);
      MPI_Win_flush(0, window.win);
      const int found = result.values()[0];
      if (found == known) ++done;
      known = found == known ? known + 1 : found;
    }
    window.complete();
    if (expect::rank == 0) expect_same("MPI_Compare_and_swap", window.values(), {0, each * expect::size});
  });
}

// Epochs of each kind end when data on the device are there.
void epochs() {
  constexpr int count = 3000;
  Data there(Where::device, std::vector<int>(count, -1)), out(Where::device, numbered(count, expect::rank));
  MPI_Win win;
  MPI_Win_create(there.get(), count * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Put(out.get(), count, MPI_INT, next(), 0, count, MPI_INT, win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  expect_same("MPI_Win_fence", there.values(), numbered(count, before()));
  there.set(std::vector<int>(count, -1));
  MPI_Group all, to, from;
  const int ranks[] = {next(), before()};
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &ranks[0], &to);
  MPI_Group_incl(all, 1, &ranks[1], &from);
  MPI_Win_post(from, 0, win);
  MPI_Win_start(to, 0, win);
  MPI_Put(out.get(), count, MPI_INT, next(), 0, count, MPI_INT, win);
  MPI_Win_complete(win);
  MPI_Win_wait(win);
  expect_same("MPI_Win_wait", there.values(), numbered(count, before()));
  for (MPI_Group* group : {&all, &to, &from}) MPI_Group_free(group);
  there.set(std::vector<int>(count, 0));
  MPI_Barrier(MPI_COMM_WORLD);
  for (int target = 0; target < expect::size; ++target) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
    Data in(Where::device, std::vector<int>(count, -1));
    MPI_Get(in.get(), count, MPI_INT, target, 0, count, MPI_INT, win);
    MPI_Win_flush(target, win);
    std::vector<int> values = in.values();
    for (int& value : values) ++value;
    in.set(values);
    MPI_Put(in.get(), count, MPI_INT, target, 0, count, MPI_INT, win);
    MPI_Win_unlock(target, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  expect_same("MPI_Win_lock", there.values(), std::vector<int>(count, expect::size));
  MPI_Win_free(&win);
}

void outside() {
  Window window(Made::create, Where::device, std::vector<int>(10, 1));
  Data data(Where::device, std::vector<int>(10, 1));
  MPI_Win_set_errhandler(window.win, MPI_ERRORS_RETURN);
  EXPECT_CLASS(MPI_Put(data.get(), 10, MPI_INT, next(), window.at(next(), 1), 10, MPI_INT, window.win),
               MPI_ERR_RMA_RANGE);
  EXPECT_CLASS(MPI_Get(data.get(), 1, MPI_INT, next(), window.at(next(), 10), 1, MPI_INT, window.win),
               MPI_ERR_RMA_RANGE);
}

// A copy that the device refuses is an error of the operation, or of the next flush where the target makes the copy.
// The mock has 256 MiB and gives the first of them first.
void refused_copies() {
  constexpr MPI_Aint capacity = MPI_Aint{256} << 20;
  void* first = allocate(1 << 20);
  MPI_Win win;
  MPI_Win_create(first, capacity + 64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_lock_all(0, win);
  int data[4] = {}, result[4] = {};
  for (const int target : {expect::rank, next()}) {
    const auto outcome = [&](int error) {
      const int later = MPI_Win_flush(target, win);
      return expect::class_of(error != MPI_SUCCESS ? error : later);
    };
    const MPI_Aint end = capacity - 8;
    EXPECT_CLASS(outcome(MPI_Put(data, 4, MPI_INT, target, end, 4, MPI_INT, win)), MPI_ERR_OTHER);
    EXPECT_CLASS(outcome(MPI_Get(result, 4, MPI_INT, target, end, 4, MPI_INT, win)), MPI_ERR_OTHER);
    EXPECT_CLASS(outcome(MPI_Accumulate(data, 4, MPI_INT, target, end, 4, MPI_INT, MPI_SUM, win)), MPI_ERR_OTHER);
    EXPECT_CLASS(
        outcome(MPI_Get_accumulate(data, 4, MPI_INT, result, 4, MPI_INT, target, end, 4, MPI_INT, MPI_SUM, win)),
        MPI_ERR_OTHER);
    EXPECT_CLASS(outcome(MPI_Put(data, 4, MPI_INT, target, end - 8, 4, MPI_INT, win)), MPI_SUCCESS);
  }
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
  MPI_Free_mem(first);
}

// A rank's processor cannot load from it: no rank has its address.
void queries() {
  MPI_Info info = device_info();
  int* base = nullptr;
  MPI_Win win;
  MPI_Win_allocate(40, 4, info, MPI_COMM_WORLD, &base, &win);
  for (const int rank : {expect::rank, next()}) {
    MPI_Aint size = -1;
    int unit = 0;
    void* address = &size;
    MPI_Win_shared_query(win, rank, &size, &unit, &address);
    EXPECT(size == 0 && address == nullptr && unit == 4, "%ld bytes at %p of rank %d", static_cast<long>(size), address,
           rank);
  }
  MPI_Win_free(&win);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  EXPECT_CLASS(MPI_Win_allocate_shared(40, 4, info, MPI_COMM_WORLD, &base, &win), MPI_ERR_UNSUPPORTED_OPERATION);
  MPI_Info_set(info, "weft_mem_device", "abacus");
  EXPECT_CLASS(MPI_Win_allocate(40, 4, info, MPI_COMM_WORLD, &base, &win), MPI_ERR_INFO_VALUE);
  MPI_Info_free(&info);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  if (argc > 1) driver = argv[1];
  if (std::strcmp(driver, "mock") == 0) refused_copies();
  puts();
  gets();
  gaps();
  accumulates();
  get_accumulates();
  pairs();
  counter();
  swaps();
  epochs();
  outside();
  queries();
  return expect::finish();
}
