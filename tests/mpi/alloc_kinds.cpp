// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Memory of a kind, by settings and by hints of a call: bound, aligned, refused, or had otherwise, and told so by
// MPI_Win_get_info. The argument says which row this is: "hints", "mandatory" or "preferred".
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <utility>

#include "expect.hpp"

namespace {

constexpr MPI_Aint mib = MPI_Aint{1} << 20;

using Hints = std::initializer_list<std::pair<const char*, const char*>>;

MPI_Info info_of(Hints hints) {
  MPI_Info info;
  MPI_Info_create(&info);
  for (const auto& [key, value] : hints) MPI_Info_set(info, key, value);
  return info;
}

std::string told(MPI_Win win, const char* key) {
  MPI_Info info;
  MPI_Win_get_info(win, &info);
  char text[MPI_MAX_INFO_VAL] = "";
  int length = sizeof text, flag = 0;
  MPI_Info_get_string(info, key, &length, text, &flag);
  MPI_Info_free(&info);
  return flag != 0 ? text : "(none)";
}

// The kernel's policy for the page at an address: 0 none, 1 prefer, 2 bind, 3 interleave; -1: not told.
int policy_at(const void* address) {
  int mode = -1;
  unsigned long nodes[64] = {};
  constexpr int of_address = 2;
  return syscall(SYS_get_mempolicy, &mode, nodes, sizeof nodes * 8, address, of_address) == 0 ? mode & 0xff : -1;
}

// The window that `make` gives is told of as expected. Where a container forbids mbind, that is told instead.
void expect_bound(MPI_Win win, const void* base, const char* affinity, const char* policy, int mode) {
  EXPECT(told(win, "weft_mem_policy") == policy, "policy %s", told(win, "weft_mem_policy").c_str());
  if (told(win, "weft_mem_fallback").find("mbind") != std::string::npos) {
    EXPECT(told(win, "weft_mem_affinity") == "SYS_DEFAULT", "%s", told(win, "weft_mem_affinity").c_str());
    return;
  }
  EXPECT(told(win, "weft_mem_affinity") == affinity, "%s", told(win, "weft_mem_affinity").c_str());
  const std::string nodes = told(win, "weft_mem_nodes");
  EXPECT(mode == 3 ? nodes.starts_with("0") : nodes == "0", "nodes %s", nodes.c_str());
  EXPECT(told(win, "weft_mem_fallback") == "(none)", "%s", told(win, "weft_mem_fallback").c_str());
  const int found = policy_at(base);
  EXPECT(found == mode || found == -1, "the kernel's policy is %d", found);
}

void nothing_asked() {
  MPI_Win win;
  char* base = nullptr;
  MPI_Win_allocate(100, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  EXPECT(told(win, "weft_mem_affinity") == "SYS_DEFAULT", "%s", told(win, "weft_mem_affinity").c_str());
  EXPECT(told(win, "weft_mem_policy") == "Preferred", "%s", told(win, "weft_mem_policy").c_str());
  EXPECT(told(win, "weft_mem_page_size") == "4K", "%s", told(win, "weft_mem_page_size").c_str());
  EXPECT(told(win, "weft_mem_pages") == "base", "%s", told(win, "weft_mem_pages").c_str());
  EXPECT(told(win, "weft_mem_nodes") == "first touch", "%s", told(win, "weft_mem_nodes").c_str());
  EXPECT(told(win, "weft_mem_fallback") == "(none)", "%s", told(win, "weft_mem_fallback").c_str());
  EXPECT(policy_at(base) <= 0, "the kernel's policy is %d", policy_at(base));
  MPI_Win_free(&win);
  char plain[64];
  MPI_Win_create(plain, sizeof plain, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  EXPECT(told(win, "weft_mem_affinity") == "(none)", "of the program's own: %s",
         told(win, "weft_mem_affinity").c_str());
  MPI_Win_free(&win);
}

// Node 0 is HBM by the row's setting.
void bound() {
  const struct {
    const char *affinity, *policy, *told_affinity, *told_policy;
    int mode;
  } rows[] = {{"HBM", "Preferred", "HBM", "Preferred", 1},
              {"mcdram", "M", "HBM", "Mandatory", 2},
              {"0", "mandatory", "0", "Mandatory", 2},
              {"SYS_DEFAULT", "Interleave", "SYS_DEFAULT", "Interleave", 3}};
  for (const auto& row : rows) {
    MPI_Info info = info_of({{"weft_mem_affinity", row.affinity}, {"weft_mem_policy", row.policy}});
    for (const bool shared : {false, true}) {
      MPI_Win win;
      char* base = nullptr;
      if (shared) {
        MPI_Win_allocate_shared(mib, 1, info, MPI_COMM_WORLD, &base, &win);
      } else {
        MPI_Win_allocate(mib, 1, info, MPI_COMM_WORLD, &base, &win);
      }
      expect_bound(win, base, row.told_affinity, row.told_policy, row.mode);
      std::memset(base, 1, static_cast<size_t>(mib));
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Win_free(&win);
    }
    char* memory = nullptr;
    MPI_Win win;
    MPI_Alloc_mem(mib, info, &memory);
    MPI_Win_create(memory + 10, mib - 10, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    expect_bound(win, memory, row.told_affinity, row.told_policy, row.mode);
    MPI_Win_free(&win);
    MPI_Free_mem(memory);
    // The next allocation gets this memory again, without a wish.
    MPI_Alloc_mem(mib, MPI_INFO_NULL, &memory);
    EXPECT(policy_at(memory) <= 0, "a policy stays with freed memory: %d", policy_at(memory));
    MPI_Free_mem(memory);
    MPI_Info_free(&info);
  }
}

void aligned() {
  for (const auto& [text, bytes] : {std::pair("2M", 2 * mib), std::pair("32M", 32 * mib), std::pair("512M", 512 * mib),
                                    std::pair("1G", 1024 * mib)}) {
    MPI_Info info = info_of({{"weft_mem_page_size", text}});
    MPI_Win win;
    char* base = nullptr;
    MPI_Win_allocate(3 * mib, 1, info, MPI_COMM_WORLD, &base, &win);
    EXPECT(reinterpret_cast<uintptr_t>(base) % static_cast<uintptr_t>(bytes) == 0, "%p for %s",
           static_cast<void*>(base), text);
    EXPECT(told(win, "weft_mem_alignment") == std::to_string(bytes), "%s", told(win, "weft_mem_alignment").c_str());
    const std::string pages = told(win, "weft_mem_pages");
    EXPECT(pages == "explicit" || told(win, "weft_mem_fallback") != "(none)", "%s pages, and nothing is said",
           pages.c_str());
    EXPECT((pages == "base") == (told(win, "weft_mem_page_size") == "4K"), "%s pages of %s", pages.c_str(),
           told(win, "weft_mem_page_size").c_str());
    MPI_Win_fence(0, win);
    const int next = (expect::rank + 1) % expect::size;
    MPI_Put(&expect::rank, 1, MPI_INT, next, 2 * mib, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    int got = -1;
    std::memcpy(&got, base + 2 * mib, sizeof got);
    EXPECT(got == (expect::rank + expect::size - 1) % expect::size, "%d was put", got);
    MPI_Win_free(&win);
    MPI_Info_free(&info);
  }
}

void wrong_values() {
  for (const auto& [key, value] : {std::pair("weft_mem_affinity", "fast"), std::pair("weft_mem_affinity", "-1"),
                                   std::pair("weft_mem_policy", "maybe"), std::pair("weft_mem_page_size", "3M"),
                                   std::pair("weft_mem_page_size", "")}) {
    MPI_Info info = info_of({{key, value}});
    char* none = nullptr;
    MPI_Win win = MPI_WIN_NULL;
    EXPECT_CLASS(MPI_Alloc_mem(8, info, &none), MPI_ERR_INFO_VALUE);
    EXPECT_CLASS(MPI_Win_allocate(8, 1, info, MPI_COMM_WORLD, &none, &win), MPI_ERR_INFO_VALUE);
    EXPECT(none == nullptr && win == MPI_WIN_NULL, "memory was given for %s", value);
    MPI_Info_free(&info);
  }
  MPI_Info info = info_of({{"weft_mem_affinity", "4000"}, {"weft_mem_policy", "Mandatory"}});
  char* none = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  EXPECT_CLASS(MPI_Alloc_mem(8, info, &none), MPI_ERR_NO_MEM);
  EXPECT_CLASS(MPI_Win_allocate(8, 1, info, MPI_COMM_WORLD, &none, &win), MPI_ERR_NO_MEM);
  EXPECT_CLASS(MPI_Win_allocate_shared(8, 1, info, MPI_COMM_WORLD, &none, &win), MPI_ERR_NO_MEM);
  MPI_Info_free(&info);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string row = argc > 1 ? argv[1] : "";
  expect::start(&argc, &argv);
  if (row == "mandatory") {  // HBM by the setting, which there is not: the message is what counts
    void* none = nullptr;
    MPI_Alloc_mem(8, MPI_INFO_NULL, &none);
    return expect::finish();
  }
  if (row == "preferred") {
    MPI_Win win;
    char* base = nullptr;
    MPI_Win_allocate(100, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    EXPECT(told(win, "weft_mem_affinity") == "SYS_DEFAULT", "%s", told(win, "weft_mem_affinity").c_str());
    EXPECT(told(win, "weft_mem_fallback").find("no HBM memory") != std::string::npos, "%s",
           told(win, "weft_mem_fallback").c_str());
    MPI_Win_free(&win);
    return expect::finish();
  }
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  nothing_asked();
  bound();
  aligned();
  wrong_values();
  return expect::finish();
}
