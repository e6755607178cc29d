// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// Secrets of ports. A process of another host that connects to a port needs its secret beside its name; it lies in a
// file of the user's own in a folder that the hosts share (docs/design/spawn.md, "Two hosts"), and so do published
// names.
//
// The folder is the user's, and nobody else may write there; a file is the user's, and nobody else may read it. That is
// checked whenever one is read.

#include <string>
#include <vector>

namespace weft::boot {

// A port's secret, 32 hexadecimal digits, and the file made for it. Empty: `why` there is none.
[[nodiscard]] std::string make_port_secret(const std::string& port, std::string& why);
[[nodiscard]] std::string read_port_secret(const std::string& port, std::string& why);
void remove_port_secret(const std::string& port);

// The published names, each of a port.
[[nodiscard]] bool write_port_name(const std::string& service, const std::string& port);
[[nodiscard]] std::vector<std::string> read_port_names(const std::string& service);
void remove_port_name(const std::string& service, const std::string& port);

// Files that processes of this host have left, which are not there any more.
void remove_stale_port_files();

}  // namespace weft::boot
