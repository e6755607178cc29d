// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// What UCX is told to use of a host, and that it takes nothing of the program.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "transport/ucx/carrier.hpp"
#include "transport/ucx/device.hpp"

namespace weft::transport::ucx {
namespace {

namespace fs = std::filesystem;

// Descriptions of adapters as the kernel gives them.
class Devices : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "test-devices-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root = name;
  }
  void TearDown() override { fs::remove_all(root); }

  void adapter(const std::string& name, const std::string& driver) const {
    fs::create_directories(root / name / "device");
    fs::create_directories(root / "drivers" / driver);
    fs::create_symlink("../../drivers/" + driver, root / name / "device" / "driver");
  }
  void port(const std::string& name, int number, const std::string& state) const {
    const fs::path folder = root / name / "ports" / std::to_string(number);
    fs::create_directories(folder);
    std::ofstream(folder / "state") << state << "\n";
  }
  void interface(const std::string& name, const std::string& of, int dev_port) const {
    fs::create_directories(root / of / "device" / "net" / name);
    std::ofstream(root / of / "device" / "net" / name / "dev_port") << dev_port << "\n";
  }
  std::vector<std::string> found() const {
    std::vector<std::string> names;
    for (const RdmaPort& one : rdma_ports(root)) {
      std::string text = one.name;
      for (const std::string& name : one.interfaces) text += " " + name;
      names.push_back(text);
    }
    return names;
  }

  fs::path root;
};

using Names = std::vector<std::string>;

TEST_F(Devices, NoneWithoutTheFolder) {
  EXPECT_TRUE(rdma_ports((root / "nothing").string()).empty());
  EXPECT_EQ(found(), Names{});
}

TEST_F(Devices, PortsThatAreUpWithTheirInterfaces) {
  adapter("mlx5_0", "mlx5_core");
  port("mlx5_0", 1, "4: ACTIVE");
  interface("ib0", "mlx5_0", 0);
  adapter("mlx4_0", "mlx4_core");
  port("mlx4_0", 1, "1: DOWN");
  port("mlx4_0", 2, "4: ACTIVE");
  interface("eth2", "mlx4_0", 0);
  interface("eth3", "mlx4_0", 1);
  adapter("mlx5_1", "mlx5_core");
  port("mlx5_1", 1, "2: INIT");
  EXPECT_EQ(found(), (Names{"mlx4_0:2 eth3", "mlx5_0:1 ib0"}));
}

TEST_F(Devices, AdaptersThatOtherLibrariesDriveAreLeftToThem) {
  for (const char* driver : {"efa", "hfi1", "usnic_verbs"}) {
    adapter(driver, driver);
    port(driver, 1, "4: ACTIVE");
  }
  EXPECT_EQ(found(), Names{});
}

TEST_F(Devices, AnInterfaceIsFoundByItsFirstAddress) {
  EXPECT_EQ(interface_of({htonl(INADDR_LOOPBACK)}), "lo");
  EXPECT_EQ(interface_of({htonl(0x01020304)}), "");
}

// Resources of the program that libraries like to take: handlers of signals, and the system's functions for memory,
// whose first instructions hooks replace.
struct Belongings {
  Belongings() {
    for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGCHLD, SIGPIPE, SIGALRM, SIGIO}) {
      struct sigaction action = {};
      sigaction(signal, nullptr, &action);
      handlers.push_back(reinterpret_cast<void*>(action.sa_handler));
    }
    void* libc = dlopen("libc.so.6", RTLD_NOW);
    for (const char* name : {"mmap", "munmap", "mremap", "madvise", "brk", "sbrk", "shmdt"}) {
      unsigned char code[16] = {};
      if (const void* function = dlsym(libc, name)) std::memcpy(code, function, sizeof code);
      functions.emplace_back(code, code + sizeof code);
    }
  }
  std::vector<void*> handlers;
  std::vector<std::vector<unsigned char>> functions;
};
const Belongings at_start;

struct Counting final : net::Events {
  int frames = 0;
  int left = 0;
  int errors = 0;
  Came came(uint32_t, const unsigned char*, size_t) override {
    ++frames;
    return Came::in_turn;
  }
  void sent(uint32_t, net::Buffer*, int error) override { ++(error == 0 ? left : errors); }
};

TEST(Ucx, TakesNothingOfTheProgramAndSaysNothing) {
  std::string why_not;
  if (!try_library(why_not)) GTEST_SKIP() << why_not;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  auto buffer = std::make_unique<net::OwnBuffer>();
  Counting here;
  Counting there;
  auto sender = std::make_unique<UcxCarrier>(1, 2, false);
  auto receiver = std::make_unique<UcxCarrier>(1, 2, false);
  net::Address to = 0;
  const bool inserted = sender->insert(receiver->address(0), to);
  const int result = inserted ? sender->send(0, buffer.get(), buffer->bytes, net::frame_most, to) : -1;
  for (int i = 0; i < 1000000 && there.frames + here.left < 2; ++i) {
    (void)sender->poll(0, here);
    (void)receiver->poll(0, there);
  }
  const Belongings now;
  receiver.reset();  // the connection breaks
  for (int i = 0; i < 1000; ++i) (void)sender->poll(0, here);
  sender.reset();
  EXPECT_EQ(testing::internal::GetCapturedStdout() + testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(result, 0);
  EXPECT_EQ(there.frames, 1);
  EXPECT_EQ(now.handlers, at_start.handlers);
  EXPECT_EQ(now.functions, at_start.functions);
}

}  // namespace
}  // namespace weft::transport::ucx
