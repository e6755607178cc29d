// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// MPI's objects over core's, and the way from handles to them. A handle is a pointer to an object; values below 0x1000
// are the standard's predefined ones and index a table. Any value may be asked for: anything but a live object of the
// right kind comes back as nullptr.

#include <mpi.h>

#include <atomic>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/count.hpp"
#include "base/lock.hpp"
#include "base/object.hpp"
#include "core/object/comm.hpp"
#include "core/object/request.hpp"
#include "core/rma/window.hpp"
#include "datatype/reduce.hpp"
#include "datatype/type.hpp"

namespace weft::mpi {

using core::Request;
using datatype::byte_type;
using datatype::Type;

// Callbacks of a program that was built for another ABI (src/foreign): these call them with the handles of its side.
// Functions are kept as the types of the standard, whatever they are.
struct ForeignCalls {
  void (*comm_error)(MPI_Comm_errhandler_function* function, MPI_Comm comm, int code, const char* text);
  void (*session_error)(MPI_Session_errhandler_function* function, MPI_Session session, int code, const char* text);
  void (*win_error)(MPI_Win_errhandler_function* function, MPI_Win win, int code, const char* text);
  void (*file_error)(MPI_File_errhandler_function* function, MPI_File file, int code, const char* text);
  void (*reduce)(MPI_User_function* function, void* in, void* inout, int count, MPI_Datatype datatype);
  void (*reduce_c)(MPI_User_function_c* function, void* in, void* inout, MPI_Count count, MPI_Datatype datatype);
};

struct Errhandler : base::Object {
  enum class Scope : uint8_t { comm, session, window, file, any } scope = Scope::any;
  enum class ErrorAction : uint8_t { fatal, abort, give_back, call } action = ErrorAction::fatal;
  union {
    MPI_Comm_errhandler_function* comm_function = nullptr;
    MPI_Session_errhandler_function* session_function;
    MPI_Win_errhandler_function* window_function;
    MPI_File_errhandler_function* file_function;
  };
  const ForeignCalls* foreign = nullptr;  // how the function is called; nullptr: as it is
  base::HolderCount references;
  base::HandleCount handles{1};
  bool predefined = false;
};

struct BsendBuffer;  // p2p/bsend_buffer.hpp
struct Attributes;   // attribute.cpp
struct Topology;     // topo/topology.hpp
struct Stream;       // stream/stream.hpp
struct Win;
struct File;  // file.hpp

// This lock guards the parts of an object that threads may change and ask for at the same time: names, error handlers.
// Held for a few loads and stores: nothing that could raise an error or take another lock is called under it.
extern base::Lock details;

struct Comm : core::Comm {
  Errhandler* errhandler = nullptr;
  bool predefined = false;
  bool tied = false;         // its group has members of other worlds: core/dynamic/processes.hpp
  bool tied_remote = false;  // and the other group
  bool left_by_all = false;  // all members have said that they use it no more
  std::string name;
  Attributes* attributes = nullptr;            // under the lock of attribute.cpp
  BsendBuffer* bsend = nullptr;                // under bsend_lock, as a session's
  Topology* topology = nullptr;                // counted; set while the communicator is made
  base::Object* session = nullptr;             // the session it came from, nullptr in the World model
  Win* window = nullptr;                       // the window whose own it is: that has its errors
  File* file = nullptr;                        // the same of a file
  uint32_t collectives = 0;                    // operations that this rank has called, for records of waits
  std::atomic<uint8_t> asserts{0};             // the mpi_assert_ hints given: comm/hints.cpp
  std::optional<std::string> memory_asserted;  // mpi_assert_memory_alloc_kinds as given; under `details`
  Stream* stream = nullptr;                    // counted; that operations on it are enqueued on
};

struct Session : base::Object {
  Errhandler* errhandler = nullptr;
  BsendBuffer* bsend = nullptr;
  int thread_level = 0;      // MPI_THREAD_..., as provided
  std::string memory_kinds;  // mpi_memory_alloc_kinds, as supported
};

// A window; `comm` is its own communicator.
struct Win : core::rma::Window {
  Errhandler* errhandler = nullptr;
  std::string name;                                        // under `details`
  Attributes* attributes = nullptr;                        // under the lock of attribute.cpp
  std::vector<std::pair<std::string, std::string>> hints;  // as they are set now, under `details`: win/hints.cpp
  // The values that predefined attributes point to.
  MPI_Aint size_value = 0;
  int unit_value = 0;  // 0: an int cannot hold it
  int flavor_value = 0;
  int model_value = MPI_WIN_UNIFIED;
  int32_t first_part = 0;  // the first rank whose part has any memory; `size`: there is none
};

// The properties of a datatype beside its layout: how it was made, its name, its attributes. How it was made never
// changes; the rest is shared by threads.
struct TypeRecord {
  int combiner = MPI_COMBINER_NAMED;
  // The arguments of the constructor, as MPI_Type_get_contents orders them. A constructor of large counts has
  // large_counts where its narrow form has integers and addresses.
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Count> large_counts;
  std::vector<Type*> types;          // one reference each
  std::string name;                  // both under the lock `details`
  bool has_name = false;             // by MPI_Type_set_name
  Attributes* attributes = nullptr;  // under the lock of attribute.cpp
};

// Every type that has a handle has a record, from the start.
[[nodiscard]] inline TypeRecord& record_of(const Type& type) {
  return *static_cast<TypeRecord*>(type.owner);
}

// A matched message (MPI_Mprobe).
struct Message : base::Object {
  core::Unexpected* unexpected = nullptr;
  Comm* comm = nullptr;
};

struct Op : base::Object {
  bool predefined = false;
  bool commutative = true;
  datatype::Reduction reduction = datatype::Reduction::no_op;  // of a predefined one
  MPI_User_function* function = nullptr;
  MPI_User_function_c* function_c = nullptr;
  const ForeignCalls* foreign = nullptr;  // how they are called; nullptr: as they are
  const char* name = "";
};

// The objects of predefined handles; entries without one hold a free object, so that a lookup needs no null check.
// Filled by MPI_Init (communicators) and by build_predefined_objects() (the rest).
inline constexpr uintptr_t predefined_limit = 0x1000;
extern base::Object* predefined[predefined_limit];
extern base::Object nothing;

// The size of each predefined datatype without gaps, by its handle; 0 for what is none.
extern uint8_t plain_sizes[predefined_limit];

template <class T, base::Kind kind, class Handle>
inline T* object_of(Handle handle) {
  auto value = reinterpret_cast<uintptr_t>(handle);
  base::Object* object;
  if (value < predefined_limit) {
    object = predefined[value];
  } else if (base::Arena::holds(value)) [[likely]] {
    object = reinterpret_cast<base::Object*>(value);
  } else {
    return nullptr;
  }
  return object->kind == kind ? static_cast<T*>(object) : nullptr;
}

inline Comm* comm_of(MPI_Comm h) {
  return object_of<Comm, base::Kind::communicator>(h);
}
inline Type* type_of(MPI_Datatype h) {
  return object_of<Type, base::Kind::datatype>(h);
}
inline core::Group* group_of(MPI_Group h) {
  return object_of<core::Group, base::Kind::group>(h);
}
inline Request* request_of(MPI_Request h) {
  return object_of<Request, base::Kind::request>(h);
}
inline Message* message_of(MPI_Message h) {
  return object_of<Message, base::Kind::message>(h);
}
inline Op* op_of(MPI_Op h) {
  return object_of<Op, base::Kind::op>(h);
}
inline Errhandler* errhandler_of(MPI_Errhandler h) {
  return object_of<Errhandler, base::Kind::errhandler>(h);
}
inline Session* session_of(MPI_Session h) {
  return object_of<Session, base::Kind::session>(h);
}
inline Win* win_of(MPI_Win h) {
  return object_of<Win, base::Kind::window>(h);
}

// The handle of an object that is not predefined.
template <class Handle>
Handle handle_of(base::Object* object) {
  return reinterpret_cast<Handle>(object);
}

// process/predefined_objects.cpp. Fills `predefined` with datatypes, operations, error handlers and the empty group.
// Runs once, without MPI_Init, so that the functions allowed before it work.
void build_predefined_objects();

// Makes MPI_COMM_WORLD and MPI_COMM_SELF, and ends them.
void build_world_communicators();
void free_world_communicators();

}  // namespace weft::mpi
