// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/connect/fd_passing.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "base/hex.hpp"

namespace weft::boot {
namespace {

constexpr timeval patience{10, 0};
constexpr int most_at_once = 64;

// A message of one byte with space for a descriptor.
struct Parcel {
  char byte = 0;
  iovec bytes{&byte, 1};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{nullptr, 0, &bytes, 1, room, sizeof room, 0};
};

// The process at the other end, when it called or when it opened its socket.
bool of_our_user(int line) {
  ucred who = {};
  socklen_t bytes = sizeof who;
  return getsockopt(line, SOL_SOCKET, SO_PEERCRED, &who, &bytes) == 0 && who.uid == geteuid();
}

// Its length, or 0 and errno: that is no name.
socklen_t address_of(const std::string& name, sockaddr_un& place) {
  std::string bytes;
  place = {};
  place.sun_family = AF_UNIX;
  if (name.empty() || !base::from_hex(name, bytes) || bytes.size() >= sizeof place.sun_path) {
    errno = EINVAL;
    return 0;
  }
  std::memcpy(place.sun_path + 1, bytes.data(), bytes.size());
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + bytes.size());
}

bool send_over(int caller, int descriptor) {
  Parcel parcel;
  cmsghdr* head = CMSG_FIRSTHDR(&parcel.message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof descriptor);
  std::memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
  return sendmsg(caller, &parcel.message, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
}

int receive_over(int line) {
  Parcel parcel;
  if (recvmsg(line, &parcel.message, MSG_CMSG_CLOEXEC) != 1) return -1;
  const cmsghdr* head = CMSG_FIRSTHDR(&parcel.message);
  int descriptor = -1;
  errno = EPROTO;
  if (head == nullptr || head->cmsg_type != SCM_RIGHTS || head->cmsg_len != CMSG_LEN(sizeof descriptor)) return -1;
  std::memcpy(&descriptor, CMSG_DATA(head), sizeof descriptor);
  return descriptor;
}

}  // namespace

ListeningSocket::~ListeningSocket() {
  if (socket_ >= 0) close(socket_);
}

void ListeningSocket::open() {
  socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket_ < 0) return;
  sockaddr_un place = {};
  place.sun_family = AF_UNIX;
  socklen_t bytes = sizeof place;
  // Asked for no name, the kernel chooses one.
  if (bind(socket_, reinterpret_cast<sockaddr*>(&place), sizeof place.sun_family) == 0 &&
      listen(socket_, SOMAXCONN) == 0 && getsockname(socket_, reinterpret_cast<sockaddr*>(&place), &bytes) == 0 &&
      bytes > offsetof(sockaddr_un, sun_path) + 1) {
    name_ = base::to_hex({place.sun_path + 1, bytes - offsetof(sockaddr_un, sun_path) - 1});
  }
}

bool ListeningSocket::open_as(const std::string& name) {
  sockaddr_un place = {};
  const socklen_t length = address_of(name, place);
  if (length == 0) return false;
  const int made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (made < 0) return false;
  if (bind(made, reinterpret_cast<sockaddr*>(&place), length) != 0 || listen(made, SOMAXCONN) != 0) {
    close(made);
    return false;
  }
  socket_ = made;
  name_ = name;
  return true;
}

void ListeningSocket::send_fd(int descriptor) const {
  if (name_.empty()) return;
  for (int served = 0; served < most_at_once; ++served) {
    const int caller = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    if (caller < 0) return;
    if (of_our_user(caller)) (void)send_over(caller, descriptor);
    close(caller);
  }
}

int ListeningSocket::accept() const {
  const int caller = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (caller < 0 || of_our_user(caller)) return caller;
  close(caller);
  return -1;
}

int connect_to_socket(const std::string& name) {
  sockaddr_un place = {};
  const socklen_t length = address_of(name, place);
  if (length == 0) return -1;
  const int line = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (line < 0) return -1;
  if (setsockopt(line, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0 &&
      setsockopt(line, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) == 0 &&
      connect(line, reinterpret_cast<sockaddr*>(&place), length) == 0) {
    if (of_our_user(line)) return line;
    errno = EPERM;
  }
  const int error = errno;
  close(line);
  errno = error;
  return -1;
}

int receive_fd(const std::string& name) {
  const int line = connect_to_socket(name);
  if (line < 0) return -1;
  const int descriptor = receive_over(line);
  const int error = errno;
  close(line);
  errno = error;
  return descriptor;
}

}  // namespace weft::boot
