// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "boot/connect/port_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "base/hex.hpp"
#include "base/message.hpp"
#include "base/setting.hpp"
#include "boot/job/segment.hpp"

namespace weft::boot {
namespace {

constinit base::TextSetting folder_setting{
    {.name = "WEFT_PORTS",
     .help = "the folder, one that hosts share, in which ports of MPI_Open_port keep their secrets and names; empty: "
             "~/.weft/ports; off: no job of another host connects",
     .level = base::SettingLevel::basic,
     .subject = base::Subject::start}};
WEFT_SETTING(folder_setting);

constexpr size_t secret_digits = 32;
constexpr size_t longest_file = 4096;

std::string folder() {
  std::string given(folder_setting.value());
  if (!given.empty()) return given;
  const char* home = getenv("HOME");
  if (home == nullptr || *home == '\0') {
    const passwd* const entry = getpwuid(geteuid());
    home = entry != nullptr ? entry->pw_dir : "";
  }
  return std::string(home) + "/.weft/ports";
}

std::string describe(const std::string& cause, int error, const std::string& remedy) {
  return base::describe({.cause = cause, .error = error, .remedy = remedy});
}

bool is_private(const struct stat& found, mode_t others) {
  return found.st_uid == geteuid() && (found.st_mode & others) == 0;
}

// Closes without a change of errno.
class OpenPortFile {
 public:
  explicit OpenPortFile(int fd) : fd_(fd) {}
  ~OpenPortFile() {
    const int error = errno;
    if (fd_ >= 0) close(fd_);
    errno = error;
  }
  OpenPortFile(const OpenPortFile&) = delete;
  OpenPortFile& operator=(const OpenPortFile&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

// The folder's descriptor; -1: `why` it cannot be used. `make`: it is made where it is not there.
int open_folder(bool make, std::string& why) {
  const std::string path = folder();
  if (path == "off") {
    why = "WEFT_PORTS is off, so ports are for jobs of one host";
    return -1;
  }
  if (make && path[0] == '/') {
    for (size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
      (void)mkdir(path.substr(0, at).c_str(), 0700);
      if (at == std::string::npos) break;
    }
  }
  const int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  struct stat found = {};
  constexpr mode_t written_by_others = 022;
  if (fd >= 0 && fstat(fd, &found) == 0 && is_private(found, written_by_others)) return fd;
  const std::string remedy = "WEFT_PORTS names a folder of yours that both hosts see, where nobody else may write";
  why = fd >= 0 ? describe("the folder of ports' secrets " + base::quoted(path) +
                               " is not this user's, or others may "
                               "write there",
                           0, "chmod 700 " + path + ", or: " + remedy)
                : describe("the folder of ports' secrets " + base::quoted(path) + " cannot be opened", errno, remedy);
  if (fd >= 0) close(fd);
  return -1;
}

// A number of a text, for the names of files: FNV-1a.
std::string digest(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return base::to_hex({reinterpret_cast<const char*>(&hash), sizeof hash});
}

std::string secret_file(const std::string& port) {
  return "secret-" + digest(port);
}

std::string name_file(const std::string& service, const std::string& port) {
  return "name-" + digest(service) + "-" + digest(port);
}

// A file's text and the process that writes it: so files that nobody needs any more are found.
std::string signed_text(const std::string& text) {
  return text + "\n" + host_identity() + " " + std::to_string(namespace_of_processes()) + " " +
         std::to_string(getpid()) + "\n";
}

// Never over one that is there already.
bool write_new(int in, const std::string& name, const std::string& text) {
  (void)unlinkat(in, name.c_str(), 0);
  const OpenPortFile file(openat(in, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  const std::string all = signed_text(text);
  const bool good = file.fd() >= 0 && fchmod(file.fd(), 0600) == 0 &&
                    write(file.fd(), all.data(), all.size()) == static_cast<ssize_t>(all.size());
  if (!good && file.fd() >= 0) (void)unlinkat(in, name.c_str(), 0);
  return good;
}

// All of a file; false: errno says why, EPERM where it is not the user's alone.
bool read_own(int in, const std::string& name, std::string& text) {
  const OpenPortFile file(openat(in, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat found = {};
  if (file.fd() < 0 || fstat(file.fd(), &found) != 0) return false;
  constexpr mode_t seen_by_others = 077;
  if (!S_ISREG(found.st_mode) || !is_private(found, seen_by_others)) {
    errno = EPERM;
    return false;
  }
  text.resize(longest_file);
  const ssize_t n = read(file.fd(), text.data(), text.size());
  text.resize(n > 0 ? static_cast<size_t>(n) : 0);
  return n >= 0;
}

std::string first_line(std::string& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  std::string line = text.substr(0, end);
  text.erase(0, std::min(end + 1, text.size()));
  return line;
}

bool is_secret(const std::string& text) {
  return text.size() == secret_digits && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

std::vector<std::string> files_in(int in, const std::string& begin) {
  std::vector<std::string> names;
  const int copy = openat(in, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const all = copy >= 0 ? fdopendir(copy) : nullptr;
  if (all == nullptr && copy >= 0) close(copy);
  if (all == nullptr) return names;
  while (const dirent* each = readdir(all)) {
    std::string name = each->d_name;
    if (name.starts_with(begin)) names.push_back(std::move(name));
  }
  closedir(all);
  return names;
}

}  // namespace

std::string make_port_secret(const std::string& port, std::string& why) {
  const OpenPortFile in(open_folder(true, why));
  if (in.fd() < 0) return {};
  unsigned char bytes[secret_digits / 2];
  std::string secret;
  if (getrandom(bytes, sizeof bytes, 0) == static_cast<ssize_t>(sizeof bytes))
    secret = base::to_hex({reinterpret_cast<const char*>(bytes), sizeof bytes});
  if (!secret.empty() && write_new(in.fd(), secret_file(port), secret)) return secret;
  why = describe("the secret of the port cannot be written into the folder " + base::quoted(folder()), errno,
                 "see whether its disk is full, or name another folder with WEFT_PORTS");
  return {};
}

std::string read_port_secret(const std::string& port, std::string& why) {
  const OpenPortFile in(open_folder(false, why));
  if (in.fd() < 0) return {};
  std::string text;
  const std::string path = folder() + "/" + secret_file(port);
  if (!read_own(in.fd(), secret_file(port), text)) {
    const bool shown = errno == EPERM;
    why = describe(shown ? "the secret of the port, " + path + ", is not a file that this user alone may read"
                         : "the secret of the port cannot be read from " + path,
                   shown ? 0 : errno,
                   "both jobs need one user, and a folder that both hosts see (the home directory, or WEFT_PORTS, the "
                   "same for both); a port that is closed has no secret any more");
    return {};
  }
  std::string secret = first_line(text);
  if (is_secret(secret)) return secret;
  why = describe("the file " + path + " has no secret of a port", 0, "open a new port, and give its name");
  return {};
}

void remove_port_secret(const std::string& port) {
  std::string ignored;
  const OpenPortFile in(open_folder(false, ignored));
  if (in.fd() >= 0) (void)unlinkat(in.fd(), secret_file(port).c_str(), 0);
}

// Hexadecimal digits, as a name may have any characters.
bool write_port_name(const std::string& service, const std::string& port) {
  std::string ignored;
  const OpenPortFile in(open_folder(true, ignored));
  return in.fd() >= 0 &&
         write_new(in.fd(), name_file(service, port), base::to_hex(service) + "\n" + base::to_hex(port));
}

std::vector<std::string> read_port_names(const std::string& service) {
  std::string ignored;
  const OpenPortFile in(open_folder(false, ignored));
  std::vector<std::string> ports;
  if (in.fd() < 0) return ports;
  for (const std::string& name : files_in(in.fd(), "name-" + digest(service) + "-")) {
    std::string text;
    std::string port;
    if (!read_own(in.fd(), name, text) || first_line(text) != base::to_hex(service)) continue;
    if (base::from_hex(first_line(text), port) && name == name_file(service, port)) ports.push_back(port);
  }
  return ports;
}

void remove_port_name(const std::string& service, const std::string& port) {
  std::string ignored;
  const OpenPortFile in(open_folder(false, ignored));
  if (in.fd() >= 0) (void)unlinkat(in.fd(), name_file(service, port).c_str(), 0);
}

void remove_stale_port_files() {
  std::string ignored;
  const OpenPortFile in(open_folder(false, ignored));
  if (in.fd() < 0) return;
  const std::string ours = host_identity() + " " + std::to_string(namespace_of_processes()) + " ";
  for (const char* begin : {"secret-", "name-"}) {
    for (const std::string& name : files_in(in.fd(), begin)) {
      std::string text;
      int64_t pid = 0;
      if (!read_own(in.fd(), name, text)) continue;
      const size_t at = text.rfind(ours);
      if (at == std::string::npos) continue;
      std::string number = text.substr(at + ours.size());
      number.resize(std::min(number.find('\n'), number.size()));
      if (!base::parse_number(number, base::Unit::none, pid).empty() || pid < 1) continue;
      if (kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH) (void)unlinkat(in.fd(), name.c_str(), 0);
    }
  }
}

}  // namespace weft::boot
