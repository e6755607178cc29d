// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Which adapters UCX is told to use, from descriptions as the kernel gives them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "transport/ucx/device.hpp"

namespace weft::transport::ucx {
namespace {

namespace fs = std::filesystem;

class Devices : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "weft-devices-XXXXXX").string();
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

}  // namespace
}  // namespace weft::transport::ucx
