// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Procedures of Fortran that differ from C by more than their arguments: the start, attributes, lengths of strings.

#include <cstdint>

#include "fortran/attribute_value.hpp"

#define WEFT_EXPORTED __attribute__((visibility("default")))

namespace weft::fortran {

// A wrong communicator has no ranks here; the function that is called with it reports the error.
ExchangeCounts ranks_of(MPI_Comm comm) {
  int inter = 0;
  int ranks = 0;
  if (comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS) return {0, 0};
  if ((inter ? PMPI_Comm_remote_size(comm, &ranks) : PMPI_Comm_size(comm, &ranks)) != MPI_SUCCESS) return {0, 0};
  return {ranks, ranks};
}

ExchangeCounts neighbours_of(MPI_Comm comm) {
  int topology = MPI_UNDEFINED;
  int count = 0;
  if (comm == MPI_COMM_NULL || PMPI_Topo_test(comm, &topology) != MPI_SUCCESS) return {0, 0};
  if (topology == MPI_CART) {
    PMPI_Cartdim_get(comm, &count);
    return {2 * count, 2 * count};
  }
  if (topology == MPI_GRAPH) {
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Graph_neighbors_count(comm, rank, &count);
    return {count, count};
  }
  int weighted = 0;
  ExchangeCounts counts = {0, 0};
  if (topology == MPI_DIST_GRAPH)
    PMPI_Dist_graph_neighbors_count(comm, &counts.sources, &counts.destinations, &weighted);
  return counts;
}

namespace {

// Predefined attributes are pointers to a value in C and the value in Fortran (MPI-5.0, 19.3.7).
MPI_Aint comm_attribute(int keyval, void* value) {
  switch (keyval) {
    case MPI_TAG_UB:
    case MPI_IO:
    case MPI_HOST:
    case MPI_WTIME_IS_GLOBAL:
    case MPI_APPNUM:
    case MPI_UNIVERSE_SIZE:
    case MPI_LASTUSEDCODE:
      return *static_cast<int*>(value);
    default:
      return value_of(value);
  }
}

MPI_Aint win_attribute(int keyval, void* value) {
  switch (keyval) {
    case MPI_WIN_SIZE:
      return *static_cast<MPI_Aint*>(value);
    case MPI_WIN_DISP_UNIT:
    case MPI_WIN_CREATE_FLAVOR:
    case MPI_WIN_MODEL:
      return *static_cast<int*>(value);
    case MPI_WIN_BASE:
      return reinterpret_cast<MPI_Aint>(value);
    default:
      return value_of(value);
  }
}

}  // namespace

// Each procedure under both of its names. The name with p calls what tools do not intercept.
#define WEFT_BOTH(procedure) procedure(mpi, MPI) procedure(pmpi, PMPI)
#define WEFT_PROCEDURE extern "C" WEFT_EXPORTED

// The procedures that mpi_f08 has too.
#define WEFT_F08_TOO(p)         \
  WEFT_F08(p##_init)            \
  WEFT_F08(p##_init_thread)     \
  WEFT_F08(p##_info_create_env) \
  WEFT_F08(p##_pcontrol)        \
  WEFT_F08(p##_wtime)           \
  WEFT_F08(p##_wtick)           \
  WEFT_F08(p##_aint_add)        \
  WEFT_F08(p##_aint_diff)       \
  WEFT_F08(p##_comm_get_attr)   \
  WEFT_F08(p##_win_get_attr)    \
  WEFT_F08(p##_info_get_string) \
  WEFT_F08(p##_session_get_nth_pset)

#define WEFT_START(p, P)                                                                                 \
  WEFT_PROCEDURE void p##_init_(MPI_Fint* ierror) {                                                      \
    before_init();                                                                                       \
    give(ierror, P##_Init(nullptr, nullptr));                                                            \
  }                                                                                                      \
  WEFT_PROCEDURE void p##_init_thread_(const MPI_Fint* required, MPI_Fint* provided, MPI_Fint* ierror) { \
    before_init();                                                                                       \
    give(ierror, P##_Init_thread(nullptr, nullptr, *required, provided));                                \
  }                                                                                                      \
  WEFT_PROCEDURE void p##_info_create_env_(MPI_Fint* info, MPI_Fint* ierror) {                           \
    give(ierror, P##_Info_create_env(0, nullptr, Out<MPI_Info>(info)));                                  \
  }                                                                                                      \
  WEFT_PROCEDURE void p##_pcontrol_(const MPI_Fint* level) {                                             \
    P##_Pcontrol(*level);                                                                                \
  }                                                                                                      \
  WEFT_PROCEDURE double p##_wtime_() {                                                                   \
    return P##_Wtime();                                                                                  \
  }                                                                                                      \
  WEFT_PROCEDURE double p##_wtick_() {                                                                   \
    return P##_Wtick();                                                                                  \
  }                                                                                                      \
  WEFT_PROCEDURE MPI_Aint p##_aint_add_(const MPI_Aint* a, const MPI_Aint* b) {                          \
    return P##_Aint_add(*a, *b);                                                                         \
  }                                                                                                      \
  WEFT_PROCEDURE MPI_Aint p##_aint_diff_(const MPI_Aint* a, const MPI_Aint* b) {                         \
    return P##_Aint_diff(*a, *b);                                                                        \
  }                                                                                                      \
  WEFT_PROCEDURE void p##_f_sync_reg_(const void*) {}
WEFT_BOTH(WEFT_START)

#define WEFT_ATTRIBUTES(p, P)                                                                                         \
  WEFT_PROCEDURE void p##_comm_get_attr_(const MPI_Fint* comm, const MPI_Fint* keyval, MPI_Aint* value,               \
                                         MPI_Fint* flag, MPI_Fint* ierror) {                                          \
    const int key = keyval_in(*keyval);                                                                               \
    void* found = nullptr;                                                                                            \
    const int code = P##_Comm_get_attr(Convert<MPI_Comm>::in(*comm), key, &found, flag);                              \
    if (code == MPI_SUCCESS && *flag) *value = comm_attribute(key, found);                                            \
    give(ierror, code);                                                                                               \
  }                                                                                                                   \
  WEFT_PROCEDURE void p##_win_get_attr_(const MPI_Fint* win, const MPI_Fint* keyval, MPI_Aint* value, MPI_Fint* flag, \
                                        MPI_Fint* ierror) {                                                           \
    const int key = keyval_in(*keyval);                                                                               \
    void* found = nullptr;                                                                                            \
    const int code = P##_Win_get_attr(Convert<MPI_Win>::in(*win), key, &found, flag);                                 \
    if (code == MPI_SUCCESS && *flag) *value = win_attribute(key, found);                                             \
    give(ierror, code);                                                                                               \
  }                                                                                                                   \
  WEFT_PROCEDURE void p##_attr_get_(const MPI_Fint* comm, const MPI_Fint* keyval, MPI_Fint* value, MPI_Fint* flag,    \
                                    MPI_Fint* ierror) {                                                               \
    const int key = keyval_in(*keyval);                                                                               \
    void* found = nullptr;                                                                                            \
    const int code = P##_Attr_get(Convert<MPI_Comm>::in(*comm), key, &found, flag);                                   \
    if (code == MPI_SUCCESS && *flag) *value = static_cast<MPI_Fint>(comm_attribute(key, found));                     \
    give(ierror, code);                                                                                               \
  }
WEFT_BOTH(WEFT_ATTRIBUTES)

// Lengths of Fortran do not count the zero at the end (MPI-5.0, section 10).
#define WEFT_LENGTHS(p, P)                                                                                             \
  WEFT_PROCEDURE void p##_info_get_string_(const MPI_Fint* info, const char* key, MPI_Fint* buflen, char* value,       \
                                           MPI_Fint* flag, MPI_Fint* ierror, size_t key_length, size_t value_length) { \
    const MPI_Fint room =                                                                                              \
        *buflen > 0 ? static_cast<MPI_Fint>(std::min<size_t>(static_cast<size_t>(*buflen), value_length)) : 0;         \
    int length = room > 0 ? room + 1 : 0;                                                                              \
    const int code = P##_Info_get_string(Convert<MPI_Info>::in(*info), StringIn(key, key_length, true), &length,       \
                                         StringOut(value, value_length, 0), flag);                                     \
    if (code == MPI_SUCCESS && *flag) *buflen = length - 1;                                                            \
    give(ierror, code);                                                                                                \
  }                                                                                                                    \
  WEFT_PROCEDURE void p##_session_get_nth_pset_(const MPI_Fint* session, const MPI_Fint* info, const MPI_Fint* n,      \
                                                MPI_Fint* pset_len, char* name, MPI_Fint* ierror,                      \
                                                size_t name_length) {                                                  \
    const MPI_Fint room =                                                                                              \
        *pset_len > 0 ? static_cast<MPI_Fint>(std::min<size_t>(static_cast<size_t>(*pset_len), name_length)) : 0;      \
    int length = room > 0 ? room + 1 : 0;                                                                              \
    const int code = P##_Session_get_nth_pset(Convert<MPI_Session>::in(*session), Convert<MPI_Info>::in(*info), *n,    \
                                              &length, StringOut(name, name_length, 0));                               \
    if (code == MPI_SUCCESS) *pset_len = length - 1;                                                                   \
    give(ierror, code);                                                                                                \
  }
WEFT_BOTH(WEFT_LENGTHS)

WEFT_F08_TOO(mpi)
WEFT_F08_TOO(pmpi)

}  // namespace weft::fortran
