// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The numbers by which jobs find each other: no two have the same, and a socket's name tells its number.
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/hex.hpp"
#include "boot/connect/fd_passing.hpp"
#include "boot/connect/job_number.hpp"

namespace weft::boot {
namespace {

TEST(JobNumber, IsInTheNameOfTheSocket) {
  for (int number = 1; number < job_numbers; ++number) EXPECT_EQ(number_of_socket(socket_of_job(number)), number);
}

TEST(JobNumber, OtherNamesHaveNone) {
  ListeningSocket socket;
  socket.open();
  EXPECT_EQ(number_of_socket(socket.name()), 0);
  std::string name;
  ASSERT_TRUE(base::from_hex(socket_of_job(1), name));
  name.pop_back();
  for (const char* end : {"", "0", "256", "-1", "1x", " 1", "99999999999999999999"})
    EXPECT_EQ(number_of_socket(base::to_hex(name + end)), 0) << end;
  for (const char* other : {"", "x", "abc", "0"}) EXPECT_EQ(number_of_socket(other), 0) << other;
}

TEST(JobNumber, IsTakenOnce) {
  ListeningSocket first, second;
  open_job_socket(first, 40);
  const int number = number_of_socket(first.name());
  ASSERT_NE(number, 0);
  open_job_socket(second, number - 1);
  EXPECT_NE(number_of_socket(second.name()), 0);
  EXPECT_NE(number_of_socket(second.name()), number);
  const int line = connect_to_socket(socket_of_job(number));
  EXPECT_GE(line, 0);
  close(line);
}

TEST(JobNumber, HasOneSocket) {
  ListeningSocket socket, again;
  open_job_socket(socket, 90);
  EXPECT_FALSE(again.open_as(socket.name()));
}

}  // namespace
}  // namespace weft::boot
