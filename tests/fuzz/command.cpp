// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpiexec/command.hpp"

#include "fuzz.hpp"

using namespace weft;

namespace {

const std::vector<std::string> samples = {
    "-n",   "-np",          "--np=3",  "2",     "16384",  "-x",       "A=1",        "PATH",
    "-env", "-genv",        "NAME",    "VALUE", "--bind", "core",     "numa",       "0-3,8:4-7",
    "none", "--timeout",    "1.5",     "10s",   "-l",     "-q",       "-wdir",      "/tmp",
    "prog", "./a",          ":",       ":",     "--",     "-host",    "a,b",        "-",
    "",     "--tag-output", "--quiet", "-N",    "--mca",  "--map-by", "ppr:2:node", "slot:pe=2",
};

void one(fuzz::Random& random, const std::string& text) {
  std::vector<std::string> words{text};
  for (size_t more = random.below(12); more > 0; --more) {
    words.push_back(random.below(4) ? samples[random.below(samples.size())] : fuzz::mutate(random, samples));
  }
  mpiexec::Command command;
  std::string wrong = mpiexec::parse_command(words, command);
  FUZZ_CHECK(wrong.size() < 1000 || text.size() > 500);
  if (!wrong.empty() || command.help || command.version) return;
  FUZZ_CHECK(!command.programs.empty());
  FUZZ_CHECK(command.ranks() >= 1 && command.ranks() <= mpiexec::most_ranks);
  FUZZ_CHECK(command.timeout_us >= 0);
  for (const mpiexec::Program& program : command.programs) {
    FUZZ_CHECK(program.ranks >= 1);
    FUZZ_CHECK(!program.words.empty() && !program.words[0].empty());
    for (const mpiexec::Variable& variable : program.variables) {
      FUZZ_CHECK(!variable.first.empty() && variable.first.find('=') == std::string::npos);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  return fuzz::run(argc, argv, samples, one);
}
