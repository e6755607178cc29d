// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "base/setting.hpp"
#include "mpi/functions.hpp"
#include "mpi/object/error.hpp"
#include "mpi/object/handles.hpp"
#include "mpi/object/recent_errors.hpp"

namespace weft::mpi {
namespace {

constexpr int first_added = MPI_ERR_LASTCODE + 1;

// A class or code that the program added. A class is the code of itself.
struct Added {
  bool used = false;
  int error_class = 0;
  int codes = 0;               // of a class: codes that were added to it
  const char* text = nullptr;  // one of `texts`
};

constinit std::mutex codes_guard;
constinit std::vector<Added>* added = nullptr;  // entry i is code first_added + i; kept until the process ends
constinit std::vector<char*>* texts = nullptr;  // all ever added, never freed: another thread may be copying one

// The entry of a code; nullptr when the program has not added it. `codes_guard` is held.
Added* find(int code) {
  if (added == nullptr || code < first_added) return nullptr;
  auto index = static_cast<size_t>(code - first_added);
  return index < added->size() && (*added)[index].used ? &(*added)[index] : nullptr;
}

// Codes are never given twice: MPI_LASTUSEDCODE only grows, and a code kept from before cannot mean something else.
int add(int error_class) {
  if (added == nullptr) added = new std::vector<Added>;
  int code = first_added + static_cast<int>(added->size());
  added->push_back({.used = true, .error_class = error_class < 0 ? code : error_class});
  return code;
}

}  // namespace

int class_of_error(int error) {
  if (standard_error_text(error) != nullptr) return error;
  std::lock_guard lock(codes_guard);
  const Added* entry = find(error);
  return entry == nullptr ? -1 : entry->error_class;
}

const char* error_text(int error) {
  if (const char* text = standard_error_text(error)) return text;
  std::lock_guard lock(codes_guard);
  const Added* entry = find(error);
  if (entry == nullptr) return "no error code of this program";
  return entry->text == nullptr ? "" : entry->text;  // MPI-5.0, 9.5: empty until a string is added
}

int last_used_error_code() {
  std::lock_guard lock(codes_guard);
  return MPI_ERR_LASTCODE + (added == nullptr ? 0 : static_cast<int>(added->size()));
}

int error_class(int errorcode, int* errorclass) {
  static const char* function = "MPI_Error_class";
  if (no_address(errorclass)) return null_argument(nullptr, function, "errorclass");
  int found = class_of_error(errorcode);
  if (found < 0) return fail(nullptr, function, MPI_ERR_ARG, "%d is no error code", errorcode);
  *errorclass = found;
  return MPI_SUCCESS;
}

int error_string(int errorcode, char* string, int* resultlen) {
  static const char* function = "MPI_Error_string";
  if (no_address(string)) return null_argument(nullptr, function, "string");
  if (no_address(resultlen)) return null_argument(nullptr, function, "resultlen");
  if (class_of_error(errorcode) < 0) return fail(nullptr, function, MPI_ERR_ARG, "%d is no error code", errorcode);
  std::string text = error_text(errorcode);
  if (const std::string message = recent_message(errorcode); !message.empty()) text += ". " + message;
  const size_t length = base::whole_characters(text, MPI_MAX_ERROR_STRING - 1);
  memcpy(string, text.data(), length);
  string[length] = '\0';
  *resultlen = static_cast<int>(length);
  return MPI_SUCCESS;
}

int add_error_class(int* errorclass) {
  if (no_address(errorclass)) return null_argument(nullptr, "MPI_Add_error_class", "errorclass");
  std::lock_guard lock(codes_guard);
  *errorclass = add(-1);
  return MPI_SUCCESS;
}

int add_error_code(int errorclass, int* errorcode) {
  static const char* function = "MPI_Add_error_code";
  if (no_address(errorcode)) return null_argument(nullptr, function, "errorcode");
  {
    std::lock_guard lock(codes_guard);
    Added* entry = find(errorclass);
    bool is_class = entry == nullptr ? standard_error_text(errorclass) != nullptr : entry->error_class == errorclass;
    if (is_class) {
      if (entry != nullptr) ++entry->codes;
      *errorcode = add(errorclass);
      return MPI_SUCCESS;
    }
  }
  return fail(nullptr, function, MPI_ERR_ARG, "%d is no error class", errorclass);
}

int add_error_string(int errorcode, const char* string) {
  static const char* function = "MPI_Add_error_string";
  if (no_address(string)) return null_argument(nullptr, function, "string");
  size_t length = strnlen(string, MPI_MAX_ERROR_STRING);
  if (length == MPI_MAX_ERROR_STRING) {
    return fail(nullptr, function, MPI_ERR_ARG, "the string is longer than MPI_MAX_ERROR_STRING - 1 (%d)",
                MPI_MAX_ERROR_STRING - 1);
  }
  char* copy = strdup(string);
  if (copy == nullptr) return no_memory(nullptr, function, "a string");
  {
    std::lock_guard lock(codes_guard);
    if (Added* entry = find(errorcode)) {
      if (texts == nullptr) texts = new std::vector<char*>;
      texts->push_back(copy);
      entry->text = copy;
      return MPI_SUCCESS;
    }
  }
  free(copy);
  return fail(nullptr, function, MPI_ERR_ARG, "code %d was not added by MPI_Add_error_class or MPI_Add_error_code",
              errorcode);
}

int remove_error_class(int errorclass) {
  static const char* function = "MPI_Remove_error_class";
  const char* why = "was not added by MPI_Add_error_class";
  {
    std::lock_guard lock(codes_guard);
    Added* entry = find(errorclass);
    if (entry != nullptr && entry->error_class == errorclass) {
      if (entry->codes == 0 && entry->text == nullptr) {
        entry->used = false;
        return MPI_SUCCESS;
      }
      why = entry->codes > 0 ? "still has codes: MPI_Remove_error_code first"
                             : "still has a string: MPI_Remove_error_string first";
    }
  }
  return fail(nullptr, function, MPI_ERR_ARG, "class %d %s", errorclass, why);
}

int remove_error_code(int errorcode) {
  static const char* function = "MPI_Remove_error_code";
  const char* why = "was not added by MPI_Add_error_code";
  {
    std::lock_guard lock(codes_guard);
    Added* entry = find(errorcode);
    if (entry != nullptr && entry->error_class != errorcode) {
      if (entry->text == nullptr) {
        entry->used = false;
        if (Added* parent = find(entry->error_class)) --parent->codes;
        return MPI_SUCCESS;
      }
      why = "still has a string: MPI_Remove_error_string first";
    }
  }
  return fail(nullptr, function, MPI_ERR_ARG, "code %d %s", errorcode, why);
}

int remove_error_string(int errorcode) {
  {
    std::lock_guard lock(codes_guard);
    Added* entry = find(errorcode);
    if (entry != nullptr && entry->text != nullptr) {
      entry->text = nullptr;
      return MPI_SUCCESS;
    }
  }
  return fail(nullptr, "MPI_Remove_error_string", MPI_ERR_ARG, "code %d has no string that MPI_Add_error_string added",
              errorcode);
}

}  // namespace weft::mpi
