// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "why/threads.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <vector>

#include "why/place.hpp"
#include "why/proc.hpp"

namespace weft::why {
namespace {

struct Mapping {
  uint64_t begin = 0;
  uint64_t end = 0;
  bool executable = false;
  bool shared = false;
  std::string path;
};

// The next word of a text, without it afterwards.
std::string_view next_word(std::string_view& text) {
  const size_t begin = std::min(text.find_first_not_of(' '), text.size());
  const size_t end = std::min(text.find(' ', begin), text.size());
  const std::string_view word = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return word;
}

std::vector<Mapping> mappings_of(pid_t pid) {
  std::vector<Mapping> mappings;
  const std::string text = text_of(in_proc(pid, "maps"));
  for (size_t at = 0; at < text.size();) {
    const size_t line_end = std::min(text.find('\n', at), text.size());
    std::string_view line = std::string_view(text).substr(at, line_end - at);
    at = line_end + 1;
    const std::string_view range = next_word(line);
    const std::string_view rights = next_word(line);
    for (int i = 0; i < 3; ++i) (void)next_word(line);  // offset, device, inode
    const size_t dash = range.find('-');
    if (dash == std::string_view::npos || rights.size() < 4) continue;
    constexpr int hexadecimal = 16;
    const auto begin = number_of<uint64_t>(range.substr(0, dash), hexadecimal);
    const auto end = number_of<uint64_t>(range.substr(dash + 1), hexadecimal);
    if (!begin.has_value() || !end.has_value()) continue;
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    mappings.push_back({*begin, *end, rights[2] == 'x', rights[3] == 's', std::string(line)});
  }
  return mappings;
}

const Mapping* find(const std::vector<Mapping>& mappings, uint64_t address) {
  const auto after = std::upper_bound(mappings.begin(), mappings.end(), address,
                                      [](uint64_t wanted, const Mapping& m) { return wanted < m.begin; });
  if (after == mappings.begin()) return nullptr;
  const Mapping& mapping = *std::prev(after);
  return address < mapping.end ? &mapping : nullptr;
}

// The memory of a process, to read.
class Memory {
 public:
  explicit Memory(pid_t pid) : fd_(open(in_proc(pid, "mem").c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~Memory() {
    if (fd_ >= 0) close(fd_);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  // How many bytes of them there are.
  size_t read(uint64_t address, void* to, size_t bytes) const {
    const ssize_t n = fd_ < 0 ? -1 : pread(fd_, to, bytes, static_cast<off_t>(address));
    return n < 0 ? 0 : static_cast<size_t>(n);
  }

 private:
  int fd_;
};

#if defined(__x86_64__)
// The function of another library that was called before `returns`, by a stub (call, then a jump through a table) or
// through the table at once. 0: there is no such call.
uint64_t called_before(const Memory& memory, uint64_t returns) {
  std::array<uint8_t, 6> code{};
  if (memory.read(returns - code.size(), code.data(), code.size()) != code.size()) return 0;
  const auto offset_at = [](const uint8_t* from) {
    int32_t offset = 0;
    memcpy(&offset, from, sizeof offset);
    return static_cast<uint64_t>(static_cast<int64_t>(offset));
  };
  uint64_t slot = 0;
  if (code[0] == 0xff && code[1] == 0x15) {
    slot = returns + offset_at(&code[2]);
  } else if (code[1] == 0xe8) {
    uint64_t stub = returns + offset_at(&code[2]);
    std::array<uint8_t, 16> jump{};
    if (memory.read(stub, jump.data(), jump.size()) != jump.size()) return 0;
    constexpr std::array<uint8_t, 4> landing{0xf3, 0x0f, 0x1e, 0xfa};
    size_t at = std::equal(landing.begin(), landing.end(), jump.begin()) ? landing.size() : 0;
    if (jump[at] == 0xf2) ++at;  // a prefix
    if (jump[at] != 0xff || jump[at + 1] != 0x25) return 0;
    slot = stub + at + 6 + offset_at(&jump[at + 2]);
  }
  uint64_t function = 0;
  return slot != 0 && memory.read(slot, &function, sizeof function) == sizeof function ? function : 0;
}
#else
uint64_t called_before(const Memory& /*memory*/, uint64_t /*returns*/) {
  return 0;
}
#endif

// A call from one file into another that has not returned: where it returns to, and the function.
struct Call {
  uint64_t returns = 0;
  uint64_t function = 0;
};

// The innermost call from the program itself, or else from a library: words of the stack that are addresses behind a
// call into another file. Frames need no more than that to be found, and have no chain without frame pointers.
Call innermost_call(pid_t pid, const Futex& futex) {
  const std::vector<Mapping> mappings = mappings_of(pid);
  const Memory memory(pid);
  char exe[4096];
  const ssize_t length = readlink(in_proc(pid, "exe").c_str(), exe, sizeof exe);
  const std::string program(exe, length > 0 ? static_cast<size_t>(length) : 0);
  std::array<uint64_t, 2048> words{};
  const size_t count = memory.read(futex.stack, words.data(), sizeof words) / sizeof words[0];
  Call innermost;
  for (size_t i = 0; i < count; ++i) {
    const Mapping* from = find(mappings, words[i]);
    if (from == nullptr || !from->executable || from->path.empty()) continue;
    const uint64_t function = called_before(memory, words[i]);
    const Mapping* to = function == 0 ? nullptr : find(mappings, function);
    if (to == nullptr || !to->executable || to->path == from->path) continue;
    if (from->path == program) return {words[i], function};
    if (innermost.returns == 0) innermost = {words[i], function};
  }
  return innermost;
}

}  // namespace

std::optional<Futex> futex_of(pid_t pid, uint32_t thread) {
  // The number of the system call, six arguments, stack pointer, instruction.
  const std::string text = text_of(in_proc(pid, "task/" + std::to_string(thread) + "/syscall"));
  std::string_view rest = text;
  if (number_of<int>(next_word(rest)) != SYS_futex) return std::nullopt;
  std::array<uint64_t, 8> words{};
  for (uint64_t& word : words) {
    std::string_view shown = next_word(rest);
    shown.remove_prefix(std::min<size_t>(2, shown.size()));  // 0x
    constexpr int hexadecimal = 16;
    word = number_of<uint64_t>(shown, hexadecimal).value_or(0);
  }
  const uint64_t operation = words[1] & static_cast<uint64_t>(FUTEX_CMD_MASK);
  constexpr uint64_t waits[] = {FUTEX_WAIT, FUTEX_WAIT_BITSET, FUTEX_LOCK_PI, 13 /* FUTEX_LOCK_PI2 */};
  if (std::find(std::begin(waits), std::end(waits), operation) == std::end(waits) || words[3] != 0) return std::nullopt;
  // Not all that wait within a process say so.
  if ((words[1] & FUTEX_PRIVATE_FLAG) == 0) {
    const std::vector<Mapping> mappings = mappings_of(pid);
    const Mapping* mapping = find(mappings, words[0]);
    if (mapping == nullptr || mapping->shared) return std::nullopt;
  }
  return Futex{words[6], words[7]};
}

bool has_handlers(pid_t pid) {
  constexpr std::string_view name = "\nSigCgt:\t";
  const std::string status = text_of(in_proc(pid, "status"));
  const size_t at = status.find(name);
  if (at == std::string::npos) return true;
  constexpr int hexadecimal = 16;
  const uint64_t caught =
      number_of<uint64_t>(std::string_view(status).substr(at + name.size()), hexadecimal).value_or(UINT64_MAX);
  uint64_t others = UINT64_MAX;
  // Signals of faults come from the thread itself; two are the C library's own.
  for (const int own : {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGPIPE, SIGSYS, SIGXCPU, SIGXFSZ, 32, 33})
    others &= ~(uint64_t{1} << (own - 1));
  return (caught & others) != 0;
}

ThreadWait wait_of(pid_t pid, uint32_t thread, const Futex& futex) {
  const Call call = innermost_call(pid, futex);
  return {thread, function_of(pid, call.function), place_of(pid, call.returns)};
}

}  // namespace weft::why
