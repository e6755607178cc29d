// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// Info objects (MPI-5.0, chapter 10).
#include "mpi/env/info.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "base/setting.hpp"
#include "mpi/functions.hpp"
#include "mpi/object/check.hpp"

namespace weft::mpi {

Info::Entries::const_iterator Info::place_of(const char* key) const {
  return std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) { return entry.first == key; });
}

std::optional<std::string> Info::find(const char* key) const {
  std::lock_guard lock(lock_);
  auto at = place_of(key);
  return at == entries_.end() ? std::nullopt : std::optional(at->second);
}

Info::Entries Info::entries() const {
  std::lock_guard lock(lock_);
  return entries_;
}

void Info::set(const char* key, std::string value) {
  std::lock_guard lock(lock_);
  auto at = place_of(key);
  if (at == entries_.end()) {
    entries_.emplace_back(key, std::move(value));
  } else {
    entries_[static_cast<size_t>(at - entries_.begin())].second = std::move(value);
  }
}

void Info::set_all(Entries entries) {
  std::lock_guard lock(lock_);
  entries_ = std::move(entries);
}

bool Info::erase(const char* key) {
  std::lock_guard lock(lock_);
  auto at = place_of(key);
  if (at == entries_.end()) return false;
  entries_.erase(at);
  return true;
}

Info* make_info() {
  Info* info = base::make_object<Info>();
  if (info != nullptr) info->kind = base::Kind::info;
  return info;
}

namespace {

// How this program was started, as far as a process knows of itself (MPI-5.0, 11.2.2). `argv` may be nullptr.
void describe_start(Info& info, int argc, char* argv[]) {
  if (argc > 0 && argv != nullptr && argv[0] != nullptr) {
    info.set("command", argv[0]);
    std::string rest;
    for (int i = 1; i < argc && argv[i] != nullptr; ++i) rest += (i > 1 ? " " : "") + std::string(argv[i]);
    info.set("argv", rest);
  } else {
    char path[MPI_MAX_INFO_VAL];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    if (length > 0) info.set("command", std::string(path, static_cast<size_t>(length)));
  }
  for (const char* name : {"WEFT_SIZE", "PMI_SIZE"}) {  // PMIx tells it to those who ask, which is too early here
    const char* size = getenv(name);
    if (size == nullptr) continue;
    info.set("maxprocs", size);
    break;
  }
  char text[4096];
  if (gethostname(text, sizeof text) == 0) info.set("host", text);
  utsname machine;
  if (uname(&machine) == 0) info.set("arch", machine.machine);
  if (getcwd(text, sizeof text) != nullptr && strlen(text) < MPI_MAX_INFO_VAL) info.set("wdir", text);
  if (const char* handler = getenv("WEFT_INITIAL_ERRHANDLER")) info.set("mpi_initial_errhandler", handler);
  if (const char* kinds = getenv("WEFT_MEMORY_ALLOC_KINDS")) info.set("mpi_memory_alloc_kinds", kinds);
}

// The arguments this program was started with, as the kernel keeps them.
std::vector<char*> own_arguments(std::string& text) {
  if (FILE* file = fopen("/proc/self/cmdline", "re")) {
    char piece[4096];
    for (size_t n = 0; (n = fread(piece, 1, sizeof piece, file)) > 0;) text.append(piece, n);
    fclose(file);
  }
  std::vector<char*> arguments;
  for (size_t at = 0; at < text.size(); at = text.find('\0', at) + 1) {
    arguments.push_back(&text[at]);
    if (text.find('\0', at) == std::string::npos) break;
  }
  return arguments;
}

int check_key(const char* function, const char* key) {
  if (no_address(key)) return null_argument(nullptr, function, "key");
  size_t length = strnlen(key, MPI_MAX_INFO_KEY);
  if (length == 0) return fail(nullptr, function, MPI_ERR_INFO_KEY, "the key is empty");
  if (length == MPI_MAX_INFO_KEY) {
    return fail(nullptr, function, MPI_ERR_INFO_KEY, "the key is longer than MPI_MAX_INFO_KEY - 1 (%d): %s",
                MPI_MAX_INFO_KEY - 1, base::quoted({key, length}).c_str());
  }
  return MPI_SUCCESS;
}

// The object of a handle; MPI_INFO_ENV is there without MPI_Init.
Info* find_info(MPI_Info handle) {
  if (handle == MPI_INFO_ENV) build_predefined_objects();
  return info_of(handle);
}

// An object that may be changed.
int find_writable(const char* function, MPI_Info handle, Info*& info) {
  info = find_info(handle);
  if (info == nullptr) return bad_info(nullptr, function, handle);
  if (info->predefined) return fail(nullptr, function, MPI_ERR_INFO, "MPI_INFO_ENV cannot be changed or freed");
  return MPI_SUCCESS;
}

}  // namespace

base::Object* build_info_env() {
  // Kept outside the arena until the process ends, as all predefined objects are.
  alignas(Info) static unsigned char storage[sizeof(Info)];
  Info* info = ::new (storage) Info;
  info->kind = base::Kind::info;
  info->predefined = true;
  std::string text;
  std::vector<char*> arguments = own_arguments(text);
  describe_start(*info, static_cast<int>(arguments.size()), arguments.data());
  return info;
}

int info_create(MPI_Info* info) {
  if (no_address(info)) return null_argument(nullptr, "MPI_Info_create", "info");
  Info* made = make_info();
  if (made == nullptr) return no_memory(nullptr, "MPI_Info_create", "an info object");
  *info = handle_of<MPI_Info>(made);
  return MPI_SUCCESS;
}

int info_create_env(int argc, char* argv[], MPI_Info* info) {
  if (no_address(info)) return null_argument(nullptr, "MPI_Info_create_env", "info");
  Info* made = make_info();
  if (made == nullptr) return no_memory(nullptr, "MPI_Info_create_env", "an info object");
  describe_start(*made, argc, argv);
  *info = handle_of<MPI_Info>(made);
  return MPI_SUCCESS;
}

int info_dup(MPI_Info info, MPI_Info* newinfo) {
  const Info* from = find_info(info);
  if (from == nullptr) return bad_info(nullptr, "MPI_Info_dup", info);
  if (no_address(newinfo)) return null_argument(nullptr, "MPI_Info_dup", "newinfo");
  Info* made = make_info();
  if (made == nullptr) return no_memory(nullptr, "MPI_Info_dup", "an info object");
  made->set_all(from->entries());
  *newinfo = handle_of<MPI_Info>(made);
  return MPI_SUCCESS;
}

int info_free(MPI_Info* info) {
  static const char* function = "MPI_Info_free";
  if (no_address(info)) return null_argument(nullptr, function, "info");
  Info* object = nullptr;
  if (int error = find_writable(function, *info, object)) return error;
  base::destroy_object(object);
  *info = MPI_INFO_NULL;
  return MPI_SUCCESS;
}

int info_set(MPI_Info info, const char* key, const char* value) {
  static const char* function = "MPI_Info_set";
  Info* object = nullptr;
  if (int error = find_writable(function, info, object)) return error;
  if (int error = check_key(function, key)) return error;
  if (no_address(value)) return null_argument(nullptr, function, "value");
  if (strnlen(value, MPI_MAX_INFO_VAL) == MPI_MAX_INFO_VAL) {
    return fail(nullptr, function, MPI_ERR_INFO_VALUE, "the value of %s is longer than MPI_MAX_INFO_VAL - 1 (%d)", key,
                MPI_MAX_INFO_VAL - 1);
  }
  object->set(key, value);
  return MPI_SUCCESS;
}

int info_delete(MPI_Info info, const char* key) {
  static const char* function = "MPI_Info_delete";
  Info* object = nullptr;
  if (int error = find_writable(function, info, object)) return error;
  if (int error = check_key(function, key)) return error;
  if (object->erase(key)) return MPI_SUCCESS;
  return fail(nullptr, function, MPI_ERR_INFO_NOKEY, "there is no key \"%s\"", key);
}

int info_get(MPI_Info info, const char* key, int valuelen, char* value, int* flag) {
  static const char* function = "MPI_Info_get";
  const Info* object = find_info(info);
  if (object == nullptr) return bad_info(nullptr, function, info);
  if (int error = check_key(function, key)) return error;
  if (valuelen < 0) return negative(nullptr, function, MPI_ERR_ARG, "valuelen", valuelen);
  if (no_address(flag)) return null_argument(nullptr, function, "flag");
  const std::optional<std::string> found = object->find(key);
  *flag = found.has_value();
  if (!found) return MPI_SUCCESS;
  if (no_address(value)) return null_argument(nullptr, function, "value");
  size_t length = std::min(found->size(), static_cast<size_t>(valuelen));  // the null comes on top of valuelen
  memcpy(value, found->data(), length);
  value[length] = '\0';
  return MPI_SUCCESS;
}

int info_get_string(MPI_Info info, const char* key, int* buflen, char* value, int* flag) {
  static const char* function = "MPI_Info_get_string";
  const Info* object = find_info(info);
  if (object == nullptr) return bad_info(nullptr, function, info);
  if (int error = check_key(function, key)) return error;
  if (no_address(buflen)) return null_argument(nullptr, function, "buflen");
  if (*buflen < 0) return negative(nullptr, function, MPI_ERR_ARG, "buflen", *buflen);
  if (no_address(flag)) return null_argument(nullptr, function, "flag");
  const std::optional<std::string> found = object->find(key);
  *flag = found.has_value();
  if (!found) return MPI_SUCCESS;
  if (*buflen > 0) {
    if (no_address(value)) return null_argument(nullptr, function, "value");
    size_t length = std::min(found->size(), static_cast<size_t>(*buflen) - 1);
    memcpy(value, found->data(), length);
    value[length] = '\0';
  }
  *buflen = static_cast<int>(found->size()) + 1;
  return MPI_SUCCESS;
}

int info_get_valuelen(MPI_Info info, const char* key, int* valuelen, int* flag) {
  static const char* function = "MPI_Info_get_valuelen";
  const Info* object = find_info(info);
  if (object == nullptr) return bad_info(nullptr, function, info);
  if (int error = check_key(function, key)) return error;
  if (no_address(valuelen)) return null_argument(nullptr, function, "valuelen");
  if (no_address(flag)) return null_argument(nullptr, function, "flag");
  const std::optional<std::string> found = object->find(key);
  *flag = found.has_value();
  if (found) *valuelen = static_cast<int>(found->size());
  return MPI_SUCCESS;
}

int info_get_nkeys(MPI_Info info, int* nkeys) {
  const Info* object = find_info(info);
  if (object == nullptr) return bad_info(nullptr, "MPI_Info_get_nkeys", info);
  if (no_address(nkeys)) return null_argument(nullptr, "MPI_Info_get_nkeys", "nkeys");
  *nkeys = static_cast<int>(object->entries().size());
  return MPI_SUCCESS;
}

int info_get_nthkey(MPI_Info info, int n, char* key) {
  static const char* function = "MPI_Info_get_nthkey";
  const Info* object = find_info(info);
  if (object == nullptr) return bad_info(nullptr, function, info);
  const Info::Entries entries = object->entries();
  if (n < 0 || static_cast<size_t>(n) >= entries.size()) {
    return fail(nullptr, function, MPI_ERR_ARG, "there is no key %d: the object has %zu", n, entries.size());
  }
  if (no_address(key)) return null_argument(nullptr, function, "key");
  strcpy(key, entries[static_cast<size_t>(n)].first.c_str());
  return MPI_SUCCESS;
}

}  // namespace weft::mpi
