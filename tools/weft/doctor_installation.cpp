// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
// The files of this installation, and what other installations put before or over them.

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>

#include "abi/elf.hpp"
#include "abi/face.hpp"
#include "weft/doctor.hpp"
#include "weft/job.hpp"

namespace weft::tool {
namespace {

std::string real_file(const std::string& path) {
  char* const real = realpath(path.c_str(), nullptr);
  std::string made = real == nullptr ? std::string() : real;
  free(real);
  return made;
}

// A library of this installation is Weft's when it needs libweft.so.
bool is_of_weft(const std::string& file) {
  abi::Object object;
  return abi::read_object(file, object) &&
         std::find(object.needed.begin(), object.needed.end(), "libweft.so") != object.needed.end();
}

void look_at_faces(Findings& findings) {
  for (const abi::Face& face : abi::faces()) {
    if (face.option == nullptr) continue;
    const std::string folder = abi::folder_of(face);
    const std::string subject = std::string("programs of ") + face.label;
    const std::string file = folder + "/" + face.runtime;
    if (folder.empty()) {
      findings.push_back(
          {Grade::note, subject, std::string(face.runtime) + " is not in this installation", "they cannot be started"});
    } else if (is_of_weft(file)) {
      findings.push_back({Grade::good, subject, file, ""});
    } else {
      findings.push_back({Grade::bad, subject, file + " is not Weft's",
                          "another installation has written over it: install Weft again"});
    }
    // Modules of Python look here, and so do the files of other MPIs' wheels.
    const std::string beside = own_folder() + "/../lib/" + face.runtime;
    if (access(beside.c_str(), F_OK) != 0 || is_of_weft(beside)) continue;
    findings.push_back({Grade::bad, "lib", real_file(beside) + " is another MPI's",
                        "a package that was installed later has written it: programs that start without mpiexec run on "
                        "that MPI. Install Weft again, or remove the other package"});
  }
}

// Launchers and wrappers that a shell would start instead of ours.
void look_at_search_path(Findings& findings) {
  const std::string own = real_file(own_folder());
  const char* const path = getenv("PATH");
  std::string rest = path == nullptr ? "" : path;
  std::set<std::string> found;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(':'), rest.size());
    const std::string folder = rest.substr(0, end);
    rest.erase(0, std::min(end + 1, rest.size()));
    const std::string real = real_file(folder);
    if (real == own) break;
    if (real.empty()) continue;
    for (const char* const name : {"mpiexec", "mpirun", "mpicc"}) {
      const std::string file = folder + "/" + name;
      if (access(file.c_str(), X_OK) == 0 && found.insert(name).second && real_file(file).find(own + "/") != 0) {
        std::string why = "a shell finds it first. Put ";
        why.append(own).append(" before ").append(folder).append(" in PATH");
        findings.push_back({Grade::note, std::string("another ") + name, file, why});
      }
    }
  }
}

}  // namespace

void look_at_installation(Findings& findings) {
  look_at_faces(findings);
  look_at_search_path(findings);
}

}  // namespace weft::tool
