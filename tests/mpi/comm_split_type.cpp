// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_split_type by resources of the machine: a rank bound to one instance is together with those bound to the
// same, any other rank has no communicator. Ranks bind themselves, as they like it for each case.
#include <sched.h>

#include <cstring>
#include <string>
#include <vector>

#include "by_host.hpp"
#include "expect.hpp"

namespace {

std::vector<int> cpus;  // that all ranks may use
std::vector<int> here;  // the ranks on our host

void bind_to(const std::vector<int>& some) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int cpu : some) CPU_SET(cpu, &set);
  EXPECT(sched_setaffinity(0, sizeof set, &set) == 0, "cannot bind to %zu processors", some.size());
}

int my_cpu() {
  return cpus[static_cast<size_t>(expect::rank) % cpus.size()];
}

int size_of(MPI_Comm comm) {
  int size = 0;
  if (comm != MPI_COMM_NULL) MPI_Comm_size(comm, &size);
  return size;
}

MPI_Comm guided(const char* type, int split_type) {
  MPI_Comm comm;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_hw_resource_type", type);
  MPI_Comm_split_type(MPI_COMM_WORLD, split_type, -expect::rank, info, &comm);
  MPI_Info_free(&info);
  return comm;
}

// Ranks that share our processor, when each is bound to one.
int neighbours() {
  int count = 0;
  for (int r : here) count += cpus[static_cast<size_t>(r) % cpus.size()] == my_cpu();
  return count;
}

void by_type() {
  bind_to({my_cpu()});
  for (int split_type : {MPI_COMM_TYPE_HW_GUIDED, MPI_COMM_TYPE_RESOURCE_GUIDED}) {
    MPI_Comm comm = guided("hwloc://PU", split_type);
    EXPECT(size_of(comm) == neighbours(), "%d ranks on a processor, not %d", size_of(comm), neighbours());
    int rank = -1, least = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Allreduce(&expect::rank, &least, 1, MPI_INT, MPI_MIN, comm);
    EXPECT((rank == size_of(comm) - 1) == (least == expect::rank), "the keys are not looked at");
    MPI_Comm_free(&comm);
    // Larger resources hold at least those.
    for (const char* type : {"hwloc://Core", "hwloc://Package", "hwloc://NUMANode"}) {
      comm = guided(type, split_type);
      EXPECT(comm == MPI_COMM_NULL || size_of(comm) >= neighbours(), "%s: %d ranks", type, size_of(comm));
      if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
    }
    comm = guided("hwloc://Galaxy", split_type);
    EXPECT(comm == MPI_COMM_NULL, "an unknown type has %d ranks", size_of(comm));
  }
  if (cpus.size() > 1) {  // rank 0 is on no single processor
    bind_to(expect::rank == 0 ? cpus : std::vector<int>{my_cpu()});
    MPI_Comm comm = guided("hwloc://PU", MPI_COMM_TYPE_HW_GUIDED);
    EXPECT((comm == MPI_COMM_NULL) == (expect::rank == 0), "%d ranks", size_of(comm));
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  }
  bind_to(cpus);
}

void told() {
  auto value = [](const char* key) {
    MPI_Info info;
    char text[10] = "";
    int flag = 0;
    MPI_Get_hw_resource_info(&info);
    MPI_Info_get(info, key, 9, text, &flag);
    MPI_Info_free(&info);
    return std::string(flag ? text : "none");
  };
  bind_to({my_cpu()});
  EXPECT(value("hwloc://PU") == "true", "%s on one processor", value("hwloc://PU").c_str());
  if (cpus.size() > 1) {
    bind_to(cpus);
    EXPECT(value("hwloc://PU") == "false", "%s on several processors", value("hwloc://PU").c_str());
  }
  EXPECT(value("mpi_shared_memory") == "true", "%s", value("mpi_shared_memory").c_str());
}

// Each step is a strict subset and says of what; it ends.
void unguided() {
  bind_to({my_cpu()});
  MPI_Comm comm = MPI_COMM_WORLD;
  int steps = 0;
  for (;;) {
    MPI_Comm part;
    MPI_Info info;
    char type[64] = "";
    int flag = 0;
    MPI_Info_create(&info);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_HW_UNGUIDED, 0, info, &part);
    MPI_Info_get(info, "mpi_hw_resource_type", 63, type, &flag);
    MPI_Info_free(&info);
    EXPECT((part != MPI_COMM_NULL) == (flag != 0), "told \"%s\" of %d ranks", type, size_of(part));
    EXPECT(size_of(part) < size_of(comm), "%d of %d ranks", size_of(part), size_of(comm));
    if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
    comm = part;
    if (part == MPI_COMM_NULL) break;
    EXPECT(strncmp(type, "hwloc://", 8) == 0, "type \"%s\"", type);
    ++steps;
  }
  EXPECT(steps > 0 || neighbours() == expect::size, "no step, though ranks are apart");
  // Nothing tells ranks apart that all may use all processors.
  if (cpus.size() > 1) {
    bind_to(cpus);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &comm);
    const bool apart = static_cast<int>(here.size()) < expect::size;  // on several hosts
    EXPECT((comm == MPI_COMM_NULL) == !apart, "%d ranks", size_of(comm));
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  }
}

void two_keys() {
  MPI_Comm comm;
  MPI_Info info;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Info_create(&info);
  MPI_Info_set(info, "mpi_hw_resource_type", "hwloc://PU");
  MPI_Info_set(info, "mpi_pset_name", "mpi://WORLD");
  EXPECT_CLASS(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &comm), MPI_ERR_INFO);
  MPI_Info_free(&info);
}

// Ranks that give MPI_UNDEFINED come with others that want any division.
void undefined_beside_unguided() {
  bind_to({my_cpu()});
  MPI_Comm comm = MPI_COMM_WORLD;
  const bool takes_part = expect::rank % 2 == 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, takes_part ? MPI_COMM_TYPE_HW_UNGUIDED : MPI_UNDEFINED, 0, MPI_INFO_NULL, &comm);
  EXPECT(takes_part || comm == MPI_COMM_NULL, "a rank that wants none has a communicator");
  MPI_Barrier(MPI_COMM_WORLD);
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  expect::start(&argc, &argv);
  here = by_host::here();
  // mpiexec binds each rank: try all there are. Ranks must agree on what they may use.
  cpu_set_t all, some;
  memset(&all, 0xff, sizeof all);
  CPU_ZERO(&some);
  if (sched_setaffinity(0, sizeof all, &all) == 0) sched_getaffinity(0, sizeof some, &some);
  unsigned char allowed[sizeof some], everywhere[sizeof some];
  memcpy(allowed, &some, sizeof some);
  MPI_Allreduce(allowed, everywhere, sizeof some, MPI_BYTE, MPI_BAND, MPI_COMM_WORLD);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (everywhere[cpu / 8] >> (cpu % 8) & 1) cpus.push_back(cpu);
  }
  if (cpus.empty()) {
    MPI_Finalize();
    return 77;
  }
  by_type();
  told();
  unguided();
  undefined_beside_unguided();
  two_keys();
  return expect::finish();
}
