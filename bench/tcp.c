// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The system's TCP between two hosts with no library, as a bound for the others: half a round trip with both sides
// polling, and the rate of one-way blocks.
//
// usage: tcp serve PORT | tcp ADDRESS PORT [bytes...]
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"

static void move(int fd, unsigned char* data, size_t bytes, int out) {
  while (bytes != 0) {
    const ssize_t n = out ? send(fd, data, bytes, MSG_DONTWAIT | MSG_NOSIGNAL) : recv(fd, data, bytes, MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN)) bench_die("the connection ended");
    if (n > 0) {
      data += n;
      bytes -= (size_t)n;
    }
  }
}

// The action, by the caller's choice.
struct order {
  uint64_t bytes, count,
      answers;  // of so many blocks, all are answered with one of their size, or the last with a byte
};

static void obey(int fd, unsigned char* data, struct order o) {
  for (uint64_t i = 0; i < o.count; ++i) {
    move(fd, data, o.bytes, 0);
    if (o.answers) move(fd, data, o.bytes, 1);
  }
  if (!o.answers) move(fd, data, 1, 1);
}

static double give(int fd, unsigned char* data, struct order o) {
  const double start = bench_now_us();
  move(fd, (unsigned char*)&o, sizeof o, 1);
  for (uint64_t i = 0; i < o.count; ++i) {
    move(fd, data, o.bytes, 1);
    if (o.answers) move(fd, data, o.bytes, 0);
  }
  if (!o.answers) move(fd, data, 1, 0);
  return bench_now_us() - start;
}

static void measure(int fd, unsigned char* data, size_t bytes, int answers, const struct bench_options* options) {
  enum { TRIES = 32 };
  struct order o = {bytes, TRIES, (uint64_t)answers};
  give(fd, data, o);
  const int iterations = bench_iterations(options, give(fd, data, o), TRIES);
  o.count = (uint64_t)iterations;
  double blocks[BENCH_BLOCKS];
  for (int b = 0; b < BENCH_BLOCKS; ++b) {
    const double us = give(fd, data, o);
    blocks[b] = answers ? us / (2.0 * iterations) : (double)bytes * iterations / us;
  }
  bench_emit(answers ? "tcp_latency" : "tcp_bandwidth", bytes, bench_median(blocks, BENCH_BLOCKS),
             answers ? "us" : "MB/s");
}

int main(int argc, char** argv) {
  if (argc < 3) bench_die("usage: tcp serve PORT | tcp ADDRESS PORT [bytes...]");
  const int serve = strcmp(argv[1], "serve") == 0, one = 1;
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[2]))};
  if (!serve && inet_pton(AF_INET, argv[1], &at.sin_addr) != 1) bench_die("no address");
  unsigned char* data = bench_buffer(4 << 20);
  if (serve) {
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, (struct sockaddr*)&at, sizeof at) != 0 || listen(fd, 1) != 0) bench_die("cannot listen there");
    fd = accept(fd, NULL, NULL);
  } else {
    int tries = 0;
    while (connect(fd, (struct sockaddr*)&at, sizeof at) != 0) {
      if (++tries == 100) bench_die("nobody listens there");
      usleep(20000);
    }
  }
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (serve) {
    struct order o;
    for (;;) {
      move(fd, (unsigned char*)&o, sizeof o, 0);
      if (o.bytes == 0 || o.bytes > 4 << 20) return 0;
      obey(fd, data, o);
    }
  }
  static const size_t sizes[] = {8, 65536, 1 << 20};
  const struct bench_options options = bench_parse(argc - 2, argv + 2, sizes, sizeof sizes / sizeof *sizes);
  for (int i = 0; i < options.size_count; ++i) {
    if (options.sizes[i] == 0 || options.sizes[i] > 4 << 20) bench_die("a size is not within 1 B and 4 MiB");
    measure(fd, data, options.sizes[i], 1, &options);
    if (options.sizes[i] >= 1024) measure(fd, data, options.sizes[i], 0, &options);
  }
  struct order end = {0, 0, 0};
  move(fd, (unsigned char*)&end, sizeof end, 1);
  return 0;
}
