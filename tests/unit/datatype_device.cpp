// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Kernels of devices against the processor: their texts, interpreted on the host's memory, and the driver that
// WEFT_DEVICES names, on its memory (`cuda`: on a real device; the mock otherwise).

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "../device/fake_ptx.hpp"
#include "base/setting.hpp"
#include "datatype/on_device.hpp"
#include "datatype/on_device_kernel.hpp"
#include "datatype_naive.hpp"
#include "device/api/contention.hpp"
#include "device/api/device.hpp"
#include "device/kernel/ptx.hpp"
#include "device/select/choice.hpp"

namespace weft::datatype {
namespace {

using device::KernelDirection;
using device::KernelLayout;

// ---- Where kernels run

void* same_address(unsigned long long address, size_t /*bytes*/) {
  return reinterpret_cast<void*>(address);
}

// The interpreter for a text; nullptr: it is none.
fake_ptx::Kernel* interpreted(const std::string& text) {
  static auto* const known = new std::map<std::string, fake_ptx::Kernel*>;  // until the end of the process
  fake_ptx::Kernel*& kernel = (*known)[text];
  if (kernel == nullptr) kernel = fake_ptx::load(text.c_str(), device::ptx::kernel_name);
  return kernel;
}

// Few threads, so that each has several turns.
std::string run(const std::string& text, const void* arguments) {
  const fake_ptx::Kernel* const kernel = interpreted(text);
  if (kernel == nullptr) return "no PTX";
  const int error = fake_ptx::run(*kernel, {2, 1}, {3, 1}, arguments, same_address);
  return error == 0 ? std::string() : "error " + std::to_string(error);
}

std::string move_interpreted(const KernelLayout& layout, KernelDirection direction, int64_t position, void* packed,
                             int64_t bytes) {
  auto at = reinterpret_cast<uintptr_t>(packed);
  while (bytes > 0) {
    device::ptx::Launch next = device::ptx::launch_of(layout, direction, position, at, bytes);
    if (layout.list != nullptr) {
      next.arguments.offset = reinterpret_cast<uintptr_t>(layout.list->offset);
      next.arguments.before = reinterpret_cast<uintptr_t>(layout.list->packed);
    }
    if (std::string problem = run(device::ptx::text_of(next.form), &next.arguments); !problem.empty()) return problem;
    position += next.bytes;
    at += static_cast<uintptr_t>(next.bytes);
    bytes -= next.bytes;
  }
  return {};
}

std::string reduce_interpreted(const device::KernelReduction& reduction, const void* in, void* inout, int64_t count) {
  device::ptx::ReductionArguments arguments{reinterpret_cast<uintptr_t>(in), reinterpret_cast<uintptr_t>(inout),
                                            static_cast<uint64_t>(count), 0};
  const auto in_vector = static_cast<uint64_t>(device::ptx::elements_of_vector(reduction));
  if (in_vector > 0 && (arguments.in | arguments.inout) % 16 == 0) arguments.vectors = arguments.count / in_vector;
  return run(device::ptx::text_of(reduction), &arguments);
}

// A driver of the texts whose device is the host.
const device::Driver& interpreter() {
  static const device::Driver driver = [] {
    device::Driver made{};
    made.name = "interpreter";
    made.owns = [](const void*) { return true; };
    made.copy = [](void* to, const void* from, size_t bytes) {
      std::memcpy(to, from, bytes);
      return std::string();
    };
    made.allocate = [](size_t bytes) { return std::aligned_alloc(256, (bytes + 255) / 256 * 256); };
    made.release = [](void* memory) {
      std::free(memory);
      return true;
    };
    made.move = move_interpreted;
    made.reduce = reduce_interpreted;
    return made;
  }();
  return driver;
}

// CUDA allocates in the current context: the process makes that of the first device.
void enter_context() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) return;
  const auto retain = reinterpret_cast<int (*)(void**, int)>(dlsym(library, "cuDevicePrimaryCtxRetain"));
  const auto set = reinterpret_cast<int (*)(void*)>(dlsym(library, "cuCtxSetCurrent"));
  void* context = nullptr;
  if (retain != nullptr && set != nullptr && retain(&context, 0) == 0) (void)set(context);
}

// The test runs with one driver after the other.
class DatatypeDevice : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    static const device::Driver* const named = [] {
      if (std::getenv("WEFT_DEVICES") == nullptr) setenv("WEFT_DEVICES", "mock", 1);
      base::load_settings();
      const std::string problem = device::open();
      EXPECT_EQ(problem, "");
      if (device::active != nullptr && std::strcmp(device::active->name, "cuda") == 0) enter_context();
      return device::active;
    }();
    device::active = std::strcmp(GetParam(), "texts") == 0 ? &interpreter() : named;
    ASSERT_NE(device::active, nullptr);
  }
};

// Memory of the device, with a copy of the host's bytes at its beginning or some bytes behind that.
class Memory {
 public:
  explicit Memory(const std::vector<unsigned char>& bytes, size_t shift = 0)
      : memory_(device::active->allocate(bytes.size() + shift + 16)), shift_(shift), bytes_(bytes.size()) {
    if (memory_ == nullptr) {
      ADD_FAILURE() << "no memory on the device";
      std::abort();
    }
    if (bytes_ == 0) return;
    EXPECT_EQ(device::active->copy(get(), bytes.data(), bytes_), "");
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { device::active->release(memory_); }
  unsigned char* get() const { return static_cast<unsigned char*>(memory_) + shift_; }
  std::vector<unsigned char> read() const {
    std::vector<unsigned char> bytes(bytes_);
    if (bytes_ == 0) return bytes;
    EXPECT_EQ(device::active->copy(bytes.data(), get(), bytes_), "");
    return bytes;
  }

 private:
  void* memory_;
  size_t shift_;
  size_t bytes_;
};

// For what there are many of: compiled once.
[[gnu::noinline]] void differs(const std::string& what, size_t at) {
  ADD_FAILURE() << what << " differs at byte " << at;
}

bool expect_same(const std::string& what, const std::vector<unsigned char>& is,
                 const std::vector<unsigned char>& wanted) {
  const auto found = std::mismatch(is.begin(), is.end(), wanted.begin(), wanted.end());
  if (found.first == is.end() && found.second == wanted.end()) return true;
  differs(what, static_cast<size_t>(found.first - is.begin()));
  return false;
}

// ---- Reductions

constexpr const char* names[] = {"sum",  "min",  "max", "prod", "band",   "bor",
                                 "bxor", "land", "lor", "lxor", "minloc", "maxloc"};

// Numbers of any bits, and those that are special in any of the types.
void fill(std::vector<unsigned char>& bytes, Random& random) {
  static constexpr uint64_t special[] = {0,
                                         1,
                                         ~uint64_t{0},
                                         0x8000800080008000,
                                         0x7c007c00fc00fc00,
                                         0x7f80ff807f80ff80,
                                         0x7f800000ff800000,
                                         0x7ff0000000000000,
                                         0xfff0000000000000,
                                         0x7fc0000000000000,
                                         0x8000000000000000,
                                         0x0000000100000001,
                                         0x3c003f803c003f80,
                                         0x3f8000003f800000,
                                         0x3ff0000000000000,
                                         0x7e007fc17e017fc0,
                                         0x0001000280010002};
  for (size_t at = 0; at < bytes.size(); at += 8) {
    uint64_t word = random();
    switch (random() % 4) {
      case 0:
        word = special[random() % std::size(special)];
        break;
      case 1:  // small numbers, so that indexes and values are often the same
        word &= 0x0001000100010001;
        break;
      case 2: {  // floats of moderate size
        const float pair[] = {static_cast<float>(static_cast<int64_t>(word)) * 0x1p-60F,
                              static_cast<float>(word >> 40) * 0.25F};
        std::memcpy(&word, pair, sizeof word);
        break;
      }
      default:
        break;
    }
    std::memcpy(bytes.data() + at, &word, std::min<size_t>(8, bytes.size() - at));
  }
}

bool is_nan(device::Number number, const unsigned char* at) {
  uint64_t bits = 0;
  std::memcpy(&bits, at, static_cast<size_t>(device::size_of(number)));
  switch (number) {
    case device::Number::f16:
      return (bits & 0x7fff) > 0x7c00;
    case device::Number::bf16:
      return (bits & 0x7fff) > 0x7f80;
    case device::Number::f32:
      return (bits & 0x7fffffff) > 0x7f800000;
    case device::Number::f64:
      return (bits & 0x7fffffffffffffff) > 0x7ff0000000000000;
    default:
      return false;
  }
}

// The payload of a NaN is the processor's affair.
void forget_nans(const device::KernelReduction& reduction, std::vector<unsigned char>& bytes) {
  const auto extent = static_cast<size_t>(reduction.extent());
  for (size_t at = 0; at + extent <= bytes.size(); at += extent) {
    for (int part = 0; part < reduction.parts(); ++part) {
      const device::Number number =
          part == 1 && reduction.index != device::Number::none ? reduction.index : reduction.number;
      unsigned char* const place = bytes.data() + at + part * reduction.to_second();
      if (is_nan(number, place)) std::memset(place, 0xff, static_cast<size_t>(device::size_of(number)));
    }
  }
}

void check_reduction(const Type& type, Reduction operation, Random& random) {
  const device::KernelReduction reduction = device_reduction(operation, type);
  const std::string name = std::string(names[static_cast<int>(operation)]) + " of " + type.name;
  const auto extent = static_cast<size_t>(reduction.extent());
  ASSERT_EQ(static_cast<int64_t>(extent), type.extent) << name;
  for (const size_t count : {1, 5, 16, 333}) {
    for (const size_t shift : {size_t{0}, static_cast<size_t>(reduction.to_second())}) {
      std::vector<unsigned char> in(count * extent), inout(count * extent);
      fill(in, random);
      fill(inout, random);
      const Memory here(in, shift), there(inout);
      ASSERT_TRUE(reduce_by_kernel(operation, type, here.get(), there.get(), static_cast<int64_t>(count))) << name;
      ASSERT_FALSE(device::take_failure()) << name << ": " << device::last_problem();
      kernel(operation, type)(in.data(), inout.data(), static_cast<int64_t>(count));
      std::vector<unsigned char> is = there.read();
      forget_nans(reduction, is);
      forget_nans(reduction, inout);
      if (!expect_same(name + ", " + std::to_string(count) + " elements", is, inout)) return;
      EXPECT_EQ(here.read(), in) << name;
    }
  }
}

TEST_P(DatatypeDevice, EachReductionOfEachTypeIsTheProcessors) {
  Random random(1);
  int checked = 0;
  for (const Predefined& row : predefined_types()) {
    Type type;
    build_predefined(row, type);
    for (int operation = 0; operation <= static_cast<int>(Reduction::maxloc); ++operation) {
      if (device_reduction(static_cast<Reduction>(operation), type).number == device::Number::none) continue;
      check_reduction(type, static_cast<Reduction>(operation), random);
      ++checked;
    }
  }
  EXPECT_GT(checked, 300);
}

TEST_P(DatatypeDevice, PairsOfAnyValueAndIndexAreReduced) {
  Random random(2);
  const Basic values[] = {Basic::int8,    Basic::int16,    Basic::int32,   Basic::int64,
                          Basic::uint8,   Basic::uint16,   Basic::uint32,  Basic::uint64,
                          Basic::float16, Basic::bfloat16, Basic::float32, Basic::float64};
  for (const Basic value : values) {
    for (const Basic index : {Basic::int8, Basic::uint16, Basic::int32, Basic::uint64}) {
      Type pair = predefined("MPI_INT");
      pair.pair_value = value;
      pair.pair_index = index;
      pair.extent = pair_size(value, index).extent;
      pair.name = "a pair";
      SCOPED_TRACE(static_cast<int>(value));
      SCOPED_TRACE(static_cast<int>(index));
      check_reduction(pair, Reduction::minloc, random);
      check_reduction(pair, Reduction::maxloc, random);
    }
  }
}

TEST_P(DatatypeDevice, NumbersAtOddAddressesAreLeftToOthers) {
  const Memory memory(std::vector<unsigned char>(64));
  const Type type = predefined("MPI_INT");
  EXPECT_FALSE(reduce_by_kernel(Reduction::sum, type, memory.get() + 2, memory.get() + 32, 2));
  EXPECT_FALSE(reduce_by_kernel(Reduction::sum, type, memory.get(), memory.get() + 30, 2));
  EXPECT_FALSE(reduce_by_kernel(Reduction::sum, predefined("MPI_LONG_DOUBLE"), memory.get(), memory.get() + 32, 1));
}

// ---- Layouts

// Moves all bytes by kernels, in so many parts, both ways. How many parts kernels packed.
int check_layout(const std::string& what, const Type& type, const Naive& all, int64_t count, Random& random,
                 int64_t parts, bool on_device) {
  device::changes.store(0);  // a driver that interprets kernels is slow
  const auto bytes = static_cast<int64_t>(all.bytes.size());
  std::vector<int64_t> cuts = {0, bytes};
  for (int64_t i = 1; i < parts; ++i) cuts.push_back(pick(random, 0, bytes) & ~(i == 1 ? 7 : 0));
  std::sort(cuts.begin(), cuts.end());
  Buffer source(all, random), target(all, random);
  const Memory from(source.memory), to(target.memory);
  std::vector<unsigned char> packed(static_cast<size_t>(bytes)), wanted(packed);
  for (size_t i = 0; i < packed.size(); ++i) wanted[i] = source[all.bytes[i]];
  const Memory there(packed);
  int moved = 0;
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    const int64_t size = cuts[i + 1] - cuts[i];
    void* const place = (on_device ? there.get() : packed.data()) + cuts[i];
    if (move_by_kernel(type, count, from.get() + source.shift, cuts[i], place, size, KernelDirection::pack)) {
      ++moved;
    } else if (size > 0) {
      if (on_device) {
        EXPECT_EQ(device::active->copy(place, wanted.data() + cuts[i], static_cast<size_t>(size)), "");
      } else {
        std::memcpy(place, wanted.data() + cuts[i], static_cast<size_t>(size));
      }
    }
    EXPECT_FALSE(device::take_failure()) << what << ": " << device::last_problem();
  }
  if (on_device) packed = there.read();
  if (!expect_same(what + ", packed", packed, wanted)) return moved;
  if (all.overlaps()) return moved;
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    const int64_t size = cuts[i + 1] - cuts[i];
    void* const place = (on_device ? there.get() : packed.data()) + cuts[i];
    if (!move_by_kernel(type, count, to.get() + target.shift, cuts[i], place, size, KernelDirection::unpack)) continue;
    EXPECT_FALSE(device::take_failure()) << what << ": " << device::last_problem();
    for (int64_t k = cuts[i]; k < cuts[i + 1]; ++k)
      target[all.bytes[static_cast<size_t>(k)]] = wanted[static_cast<size_t>(k)];
  }
  expect_same(what + ", unpacked", to.read(), target.memory);
  return moved;
}

TEST_P(DatatypeDevice, AnyPartOfAnyTreeIsMovedByKernels) {
  Random random(3);
  int moved = 0;
  for (int turn = 0; turn < 400 && !HasFailure(); ++turn) {
    Pair pair = random_type(random, static_cast<int>(pick(random, 1, 9)));
    ASSERT_NE(pair.type, nullptr);
    const int64_t count = pick(random, 1, 5);
    if (pair.naive.bytes.empty()) continue;
    const Naive all = pair.naive.repeated(count, pair.naive.extent());
    moved +=
        check_layout("tree " + std::to_string(turn), *pair.type, all, count, random, pick(random, 1, 4), turn % 2 == 0);
  }
  EXPECT_GT(moved, 300);
}

// Blocks of each width that kernels have, at strides that allow it.
TEST_P(DatatypeDevice, BlocksOfAnyWidthAreMovedByKernels) {
  Random random(4);
  const Type byte = predefined("MPI_BYTE");
  const Naive naive = Naive::of(byte, 1);
  for (const int64_t width : {1, 2, 3, 4, 8, 12, 16, 24, 48, 80}) {
    Owned block(contiguous(width, byte));
    const Naive naive_block = naive.repeated(width, 1);
    std::vector<Part> parts[2];
    std::vector<Naive::Part> naive_parts[2];
    int64_t place = 0;
    for (int i = 0; i < 100; ++i, place += width * pick(random, 4, 6)) {
      for (const int uneven : {0, 1}) {
        const int64_t count = uneven == 0 ? 1 : pick(random, 1, 3);
        parts[uneven].push_back({place, count, block.get()});
        naive_parts[uneven].push_back({place, count, &naive_block});
      }
    }
    for (const int uneven : {0, 1}) {
      Owned list(structure(parts[uneven].data(), 100));
      const Naive all = Naive::of_parts(naive_parts[uneven], true);
      const std::string what =
          std::string(uneven ? "an uneven" : "an even") + " list of " + std::to_string(width) + " bytes";
      EXPECT_GT(check_layout(what, *list, all, 1, random, 2, true), 0);
      Owned rows(vector(7, 3, all.extent() * 4 + 16, *list));
      EXPECT_GT(check_layout("rows of " + what, *rows, all.vector(7, 3, all.extent() * 4 + 16), 1, random, 1, true), 0);
    }
    Owned plane(vector(9, 1, 4 * width, *block));
    Owned box(vector(5, 1, 64 * width, *plane));
    const Naive naive_box = naive_block.vector(9, 1, 4 * width).vector(5, 1, 64 * width);
    EXPECT_GT(check_layout("a box of " + std::to_string(width) + " bytes", *box, naive_box, 1, random, 3, false), 0);
  }
}

// A type that is made where a freed one was has its own list.
TEST_P(DatatypeDevice, ListsOfFreedTypesAreForgotten) {
  Random random(5);
  const Type type = predefined("MPI_INT");
  const Naive naive = Naive::of(type, 4);
  for (int turn = 0; turn < 150; ++turn) {
    std::vector<Part> parts;
    std::vector<Naive::Part> naive_parts;
    int64_t place = 0;
    for (int i = 0; i < 20; ++i, place += 4 * pick(random, 2, 9)) {
      parts.push_back({place, 1, &type});
      naive_parts.push_back({place, 1, &naive});
    }
    Owned list(structure(parts.data(), 20));
    EXPECT_GT(
        check_layout("list " + std::to_string(turn), *list, Naive::of_parts(naive_parts, true), 1, random, 1, true), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Drivers, DatatypeDevice, testing::Values("texts", "named"),
                         [](const auto& driver) { return std::string(driver.param); });

// ---- Arithmetic

TEST(DatatypeDeviceNumbers, DivisorsDivideBelow31Bits) {
  Random random(6);
  for (int i = 0; i < 200000; ++i) {
    const auto by = static_cast<uint32_t>(i < 5000 ? i + 1 : pick(random, 1, INT32_MAX) >> (random() % 31) | 1);
    const auto [factor, shift] = device::ptx::divisor(by);
    for (const uint32_t extra : {uint32_t{0}, by - 1, static_cast<uint32_t>(random() % by)}) {
      const auto turns = static_cast<uint32_t>(random() % (INT32_MAX / by + uint64_t{1}));
      for (const uint64_t x : {turns * uint64_t{by} + extra, uint64_t{INT32_MAX} - extra % 7}) {
        if (x > INT32_MAX) continue;
        ASSERT_EQ(x * factor >> shift, x / by) << x << " / " << by;
      }
    }
  }
}

std::vector<uint64_t> touched;

// Far into layouts of many GiB a launch goes where the layout says.
TEST(DatatypeDeviceNumbers, PositionsBeyond32BitsAreFound) {
  Random random(7);
  for (int turn = 0; turn < 300; ++turn) {
    KernelLayout layout{};
    layout.place = uint64_t{1} << 44;
    layout.block = 4 * pick(random, 1, 3);
    layout.loops = static_cast<int>(pick(random, 1, 3));
    int64_t turns = 1;
    for (int i = 0; i < layout.loops; ++i) {
      layout.loop[i] = {pick(random, 1, int64_t{1} << pick(random, 1, 12)) << 7, 4 * pick(random, -5000000, 5000000)};
      turns *= layout.loop[i].count;
    }
    const int64_t units = turns * layout.block / 4;
    const int64_t first = pick(random, 0, units - 1);
    const int64_t bytes = 4 * std::min<int64_t>(units - first, 40);
    touched.clear();
    for (int64_t position = first * 4, at = 0; at < bytes;) {
      device::ptx::Launch next = device::ptx::launch_of(layout, KernelDirection::pack, position,
                                                        uint64_t(1) << 45 | static_cast<uint64_t>(at), bytes - at);
      ASSERT_GT(next.bytes, 0);
      // One thread reads from the layout, then writes the packed unit.
      const auto note = [](unsigned long long address, size_t) -> void* {
        static uint64_t memory[2];
        touched.push_back(address);
        return memory;
      };
      ASSERT_EQ(fake_ptx::run(*interpreted(device::ptx::text_of(next.form)), {1, 1}, {1, 1}, &next.arguments, note), 0);
      position += next.bytes;
      at += next.bytes;
    }
    for (size_t i = 0; i < touched.size(); i += 2) {
      const auto at = static_cast<int64_t>(touched[i + 1] - (uint64_t{1} << 45));
      ASSERT_EQ(touched[i], run_at(layout, first * 4 + at).address) << "turn " << turn;
    }
  }
}

// ---- Rates, on a real device: --gtest_also_run_disabled_tests --gtest_filter='*Rates*'

template <class Run>
double seconds_of(Run&& once) {
  once();
  using Clock = std::chrono::steady_clock;
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const auto start = Clock::now();
    once();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

TEST(DatatypeDeviceRates, DISABLED_Rates) {
  if (std::getenv("WEFT_DEVICES") == nullptr) setenv("WEFT_DEVICES", "mock", 1);
  base::load_settings();
  ASSERT_EQ(device::open(), "");
  if (std::strcmp(device::active->name, "cuda") == 0) enter_context();
  const Type byte = predefined("MPI_BYTE");
  for (const int64_t total : {int64_t{64} << 10, int64_t{1} << 20, int64_t{64} << 20}) {
    void* const strided = device::active->allocate(static_cast<size_t>(total) * 4 + 4096);
    void* const packed = device::active->allocate(static_cast<size_t>(total));
    std::vector<char> pageable(static_cast<size_t>(total)), pinned(static_cast<size_t>(total));
    ASSERT_TRUE(strided != nullptr && packed != nullptr && device::active->pin(pinned.data(), pinned.size()));
    for (const int64_t width : {4, 16, 64, 512, 4096}) {
      Owned block(contiguous(width, byte));
      Owned rows(vector(total / width, 1, width * 4, *block));
      struct Place {
        const char* name;
        void* at;
      };
      for (const Place& place : {Place{"device", packed}, {"pinned", pinned.data()}, {"pageable", pageable.data()}}) {
        for (const KernelDirection direction : {KernelDirection::pack, KernelDirection::unpack}) {
          const double kernel =
              seconds_of([&] { (void)move_by_kernel(*rows, 1, strided, 0, place.at, total, direction); });
          const auto w = static_cast<size_t>(width), n = static_cast<size_t>(total / width);
          const double copies = seconds_of([&] {
            (void)(direction == KernelDirection::pack ? device::active->copy_rows(place.at, w, strided, 4 * w, w, n)
                                                      : device::active->copy_rows(strided, 4 * w, place.at, w, w, n));
          });
          std::printf("%-6s %9ld bytes in blocks of %4ld, %-8s: kernel %9.1f us %7.2f GB/s, rows %9.1f us\n",
                      direction == KernelDirection::pack ? "pack" : "unpack", static_cast<long>(total),
                      static_cast<long>(width), place.name, kernel * 1e6, static_cast<double>(total) / kernel * 1e-9,
                      copies * 1e6);
        }
      }
    }
    for (const char* name : {"MPI_FLOAT", "MPI_DOUBLE", "MPI_INT8_T"}) {
      const Type type = predefined(name);
      const double kernel =
          seconds_of([&] { (void)reduce_by_kernel(Reduction::sum, type, packed, strided, total / type.size); });
      std::printf("sum of %s, %ld bytes: %.1f us, %.2f GB/s read and written\n", name, static_cast<long>(total),
                  kernel * 1e6, 3 * static_cast<double>(total) / kernel * 1e-9);
    }
    device::active->unpin(pinned.data());
    device::active->release(strided);
    device::active->release(packed);
    EXPECT_FALSE(device::take_failure()) << device::last_problem();
  }
}

}  // namespace
}  // namespace weft::datatype
