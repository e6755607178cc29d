// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// The subcommands of `weft`; each takes the words behind its name and returns the exit status.

#include <string>
#include <vector>

namespace weft::tool {

using Words = std::vector<std::string>;

int advice(const Words& words);
int crowd(const Words& words);
int doctor(const Words& words);
int info(const Words& words);
int info_net(bool json);                               // parts of info
int info_chapter(const std::string& word, bool json);  // the number of one, or empty: all
int info_coll(const Words& words, bool json);
int info_devices(const Words& words, bool json);
int info_files(bool json);
int info_memory(const Words& words, bool json);
int noise(const Words& words);
int order(const Words& words);
int report(const Words& words);
int selftest(const Words& words);
int simulate(const Words& words);
int stats(const Words& words);
int sweep(const Words& words);
int tune(const Words& words);
int why(const Words& words);

}  // namespace weft::tool
