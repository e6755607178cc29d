// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "base/cpus.hpp"
#include "base/message.hpp"
#include "base/setting.hpp"
#include "boot/job/environment.hpp"
#include "coll/select/table.hpp"
#include "weft/commands.hpp"
#include "weft/job.hpp"
#include "weft/model.hpp"
#include "weft/paths.hpp"
#include "weft/text_file.hpp"
#include "weft/tune_devices.hpp"
#include "weft/tuning.hpp"

namespace weft::tool {
namespace {

constexpr const char* tune_usage =
    "usage: weft tune [-n RANKS,...] [--hosts HOSTS] [--only COLLECTIVE,...] [--quick] [--out FILE] [--resume] "
    "[--json]\n"
    "       weft tune --paths [--between A,B] [--quick] [--json]\n"
    "       weft tune --devices [--quick] [--out FILE] [--json]\n\n"
    "Measures collective operations by each of their algorithms, in turn, in jobs that mpiexec starts, and writes a\n"
    "file for WEFT_TUNING with the rows in which another algorithm than the default one is the faster.\n\n"
    "  -n RANKS,...    jobs of so many ranks (default: one for each processor that may be used here, for each host);\n"
    "                  rows measured with 8 of 4,8 are for communicators of 5 to 8\n"
    "  --hosts HOSTS   ranks on these hosts, as mpiexec -hosts takes them: a,b or a:4,b:4\n"
    "  --only NAME,... these collectives: barrier, bcast, gather(v), scatter(v), allgather(v), alltoall(v), reduce,\n"
    "                  allreduce, reduce_scatter, scan; model: the parameters of weft simulate\n"
    "  --quick         fewer sizes and rounds: to try it, not to decide by\n"
    "  --out FILE      where the file goes (default: weft-tuning.json)\n"
    "  --resume        goes on where the same command was stopped: FILE.partial has what is measured\n"
    "  --paths         messages between two ranks of this host instead, by each path; says which settings suit them\n"
    "  --devices       messages between memory of a device instead: writes a file with the chunks that suit them\n"
    "  --between A,B   of ranks on these two processors (default: a core for each)\n"
    "  --json          prints the file in place of tables; of --paths the times\n";

struct Wish {
  bool help = false;
  bool quick = false;
  bool resume = false;
  bool paths = false;
  bool devices = false;
  bool json = false;
  std::string between;
  std::vector<int32_t> ranks;
  std::string hosts;
  std::vector<coll::Collective> only;
  bool all = true;    // collectives
  bool model = true;  // is measured
  std::string file = "weft-tuning.json";
};

bool read_ranks(const std::string& text, Wish& wish, base::Problem& problem) {
  for (const std::string& part : parts_of(text)) {
    int64_t number = 0;
    std::string wrong = base::parse_number(part, base::Unit::none, number);
    if (wrong.empty() && (number < 2 || number > boot::most_ranks)) {
      wrong = base::quoted(part) + " is out of range: 2 to " + std::to_string(boot::most_ranks);
    }
    if (!wrong.empty()) return refuse(problem, "-n cannot be used: " + wrong, "write it as in -n 4 or -n 2,4,8");
    wish.ranks.push_back(static_cast<int32_t>(number));
  }
  std::sort(wish.ranks.begin(), wish.ranks.end());
  wish.ranks.erase(std::unique(wish.ranks.begin(), wish.ranks.end()), wish.ranks.end());
  return true;
}

bool read_only(const std::string& text, Wish& wish, base::Problem& problem) {
  wish.all = wish.model = false;
  for (const std::string& part : parts_of(text)) {
    wish.model = wish.model || part == "model";
    if (part == "model") continue;
    if (!coll::find_collective(part, wish.only.emplace_back())) {
      return refuse(problem, "--only cannot be used: " + base::quoted(part) + " is no collective of the table",
                    "write it as in --only bcast,allreduce; see weft tune --help");
    }
  }
  return true;
}

bool read_words(const Words& words, Wish& wish, base::Problem& problem) {
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--help" || word == "-h") {
      wish.help = true;
      continue;
    }
    if (word == "--quick" || word == "--resume" || word == "--paths" || word == "--devices" || word == "--json") {
      (word == "--quick"    ? wish.quick
       : word == "--resume" ? wish.resume
       : word == "--paths"  ? wish.paths
       : word == "--json"   ? wish.json
                            : wish.devices) = true;
      continue;
    }
    const bool known = word == "--between" || word == "-n" || word == "--hosts" || word == "--only" || word == "--out";
    if (!known) return refuse(problem, base::quoted(word) + " is not known", "see weft tune --help");
    if (++i == words.size() || words[i].empty())
      return refuse(problem, word + " needs a value", "see weft tune --help");
    if (word == "-n" && !read_ranks(words[i], wish, problem)) return false;
    if (word == "--only" && !read_only(words[i], wish, problem)) return false;
    if (word == "--between") wish.between = words[i];
    if (word == "--hosts") wish.hosts = words[i];
    if (word == "--out") wish.file = words[i];
  }
  return true;
}

void say(const base::Problem& problem) {
  fprintf(stderr, "weft: tune: %s\n", base::describe(problem).c_str());
}

struct Effort {
  const char* rounds;
  const char* block_us;
  std::vector<int64_t> sizes;
};
const Effort full{"9", "3000", {8, 64, 512, 4096, 32768, 262144, 1048576}};
const Effort quick{"3", "300", {8, 4096, 65536}};

// "allreduce:leaders,flat,doubling,split:8,64,512". A size of all ranks together is one for a rank times the
// ranks. An alltoall of blocks beyond 64 KiB has one algorithm only that makes sense.
std::string asked(coll::Collective collective, const Effort& effort, int32_t ranks) {
  std::string text = coll::name(collective);
  for (const coll::Algorithm one : coll::algorithms_of(collective).subspan(1)) {
    if (one == coll::Algorithm::offload) continue;    // of another job there may be no component
    if (one == coll::Algorithm::peer_copy) continue;  // blocking operations are measured
    text += (one == coll::algorithms_of(collective)[1] ? ":" : ",") + std::string(coll::name(one));
  }
  if (collective == coll::Collective::barrier) return text + ":0";
  if (collective == coll::Collective::alltoallv) return text + ":4096";  // one algorithm for all sizes
  const coll::Collective data = coll::regular_form(collective);
  const bool shared = data == coll::Collective::allgather || data == coll::Collective::reduce_scatter;
  const bool blocks =
      data == coll::Collective::alltoall || data == coll::Collective::gather || data == coll::Collective::scatter;
  constexpr int64_t most_block = 64 * 1024;
  char before = ':';
  for (const int64_t size : effort.sizes) {
    if (blocks && size > most_block) break;
    text += before + std::to_string(shared ? std::max<int64_t>(size, ranks * int64_t{8}) : size);
    before = ',';
  }
  return text;
}

Words command_of(const Wish& wish, int32_t ranks, const std::string& hosts, const std::string& what) {
  const std::string folder = own_folder();
  const Effort& effort = wish.quick ? quick : full;
  Words words{folder + "/mpiexec", "--oversubscribe", "-n", std::to_string(ranks)};
  if (!hosts.empty()) words.insert(words.end(), {"-hosts", hosts});
  words.insert(words.end(), {folder + "/../libexec/weft/weft-measure", effort.rounds, effort.block_us, what});
  return words;
}

std::vector<coll::Collective> wanted_collectives(const Wish& wish) {
  std::vector<coll::Collective> wanted;
  for (size_t c = 0; c < coll::collective_count; ++c) {
    const auto one = static_cast<coll::Collective>(c);
    if (wish.all || std::find(wish.only.begin(), wish.only.end(), one) != wish.only.end()) wanted.push_back(one);
  }
  return wanted;
}

// Settings about algorithms are not for the measurement.
void forget_settings() {
  for (const base::SettingRow* row : base::all_settings()) {
    const std::string name = row->text().name;
    if (!name.ends_with("_ALGORITHM") && !name.ends_with("_SHORT_MSG") && name != "WEFT_TUNING") continue;
    unsetenv(name.c_str());
    if (row->text().alias != nullptr) unsetenv(row->text().alias);
  }
}

// Before anything is measured.
bool can_write(const std::string& path, base::Problem& problem) {
  if (access(path.c_str(), W_OK) == 0) return true;
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (errno == ENOENT && access(folder.c_str(), W_OK | X_OK) == 0) return true;
  return refuse_file(path, problem);
}

// The file of measurements so far, which need not be made again: a line that says by which command, then for each
// number of ranks and collective a line "# RANKS NAME", the job's output, and a line ".".
class Partial {
 public:
  explicit Partial(const Wish& wish) : path_(wish.file + ".partial") {
    head_ = std::string("weft tune ") + WEFT_VERSION + (wish.quick ? " quick " : " full ") + wish.hosts;
  }

  // False: the file is of another command, or cannot be written.
  bool open(bool resume, base::Problem& problem) {
    if (FILE* file = resume ? fopen(path_.c_str(), "re") : nullptr) {
      const std::string text = content(file);
      fclose(file);
      if (!text.starts_with(head_ + "\n")) {
        return refuse(problem, base::quoted(path_) + " is of another command or version",
                      "leave out --resume to begin again");
      }
      read(text);
      return true;
    }
    return write_file(path_, head_ + "\n", problem);
  }

  const std::string* find(const std::string& key) const {
    const auto at = measured_.find(key);
    return at == measured_.end() ? nullptr : &at->second;
  }

  bool add(const std::string& key, const std::string& output, base::Problem& problem) {
    FILE* file = fopen(path_.c_str(), "ae");
    bool done = file != nullptr && fprintf(file, "# %s\n%s.\n", key.c_str(), output.c_str()) > 0;
    if (file != nullptr) done = fclose(file) == 0 && done;
    return done || refuse_file(path_, problem);
  }

  void remove() const { unlink(path_.c_str()); }

 private:
  static std::string content(FILE* file) {
    std::string text;
    char buffer[4096];
    for (size_t bytes; (bytes = fread(buffer, 1, sizeof buffer, file)) > 0;) text.append(buffer, bytes);
    return text;
  }

  // A part without its end was being written when the command was stopped.
  void read(const std::string& text) {
    for (size_t at = text.find("\n# "); at != std::string::npos;) {
      const size_t key = at + 3;
      const size_t begin = text.find('\n', key);
      const size_t next = text.find("\n# ", key);
      const std::string part = begin == std::string::npos ? "" : text.substr(begin + 1, next - begin);
      if (part.ends_with("\n.\n")) measured_[text.substr(key, begin - key)] = part.substr(0, part.size() - 2);
      at = next;
    }
  }

  std::string path_;
  std::string head_;
  std::map<std::string, std::string> measured_;
};

// The output of one job, `title` says which; measured now unless it is known.
bool run_one(const Words& command, const std::string& key, const std::string& title, Partial& partial,
             std::string& output, base::Problem& problem) {
  if (const std::string* known = partial.find(key)) {
    output += *known;
    return true;
  }
  fprintf(stderr, "weft: tune: measuring with %s\n", title.c_str());
  std::string measured;
  if (!run(command, measured, problem) || !partial.add(key, measured, problem)) return false;
  output += measured;
  return true;
}

// The output of the jobs of so many ranks.
bool run_all(const Wish& wish, int32_t ranks, Partial& partial, std::string& output, base::Problem& problem) {
  const std::vector<coll::Collective> wanted = wanted_collectives(wish);
  for (size_t i = 0; i < wanted.size(); ++i) {
    const std::string key = std::to_string(ranks) + " " + coll::name(wanted[i]);
    const std::string title = std::to_string(ranks) + " ranks: " + coll::name(wanted[i]) + ", " +
                              std::to_string(i + 1) + " of " + std::to_string(wanted.size());
    const Words command = command_of(wish, ranks, wish.hosts, asked(wanted[i], wish.quick ? quick : full, ranks));
    if (!run_one(command, key, title, partial, output, problem)) return false;
  }
  return true;
}

// The parameters of a model of this machine, as a JSON object: two ranks of a host, and one of each of two hosts.
bool measure_model(const Wish& wish, Partial& partial, std::string& model, base::Problem& problem) {
  std::vector<std::string> hosts = parts_of(wish.hosts);
  for (std::string& host : hosts) host = host.substr(0, host.find(':'));
  std::string output;
  std::string wrong;
  const std::string near = wish.hosts.empty() ? "" : hosts[0] + ":2";
  if (!run_one(command_of(wish, 2, near, "model"), "2 model", "2 ranks of a host: model", partial, output, problem))
    return false;
  if (hosts.size() > 1 && !run_one(command_of(wish, 2, hosts[0] + ":1," + hosts[1] + ":1", "model"),
                                   "2 model between hosts", "2 ranks of two hosts: model", partial, output, problem)) {
    return false;
  }
  if (!add_measured_model(output, model, wrong)) {
    return refuse(problem, "the measuring job printed " + base::quoted(wrong) + ", which is no result",
                  "use the weft, mpiexec and library of one installation");
  }
  return true;
}

bool measure(const Wish& wish, Partial& partial, std::vector<JobMeasured>& jobs, base::Problem& problem) {
  int32_t above = 1;
  if (wanted_collectives(wish).empty()) return true;
  for (const int32_t ranks : wish.ranks) {
    std::string output;
    std::string wrong;
    JobMeasured job;
    if (!run_all(wish, ranks, partial, output, problem)) return false;
    if (!read_measured(output, job, wrong)) {
      return refuse(problem, "the measuring job printed " + base::quoted(wrong) + ", which is no result",
                    "use the weft, mpiexec and library of one installation");
    }
    job.shape.crowded = job.shape.hosts == 1 && job.shape.ranks > base::usable_cpus();
    job.shape.shared = job.shape.hosts == 1 && job.shape.ranks <= coll::most_sharing;
    job.above = above;
    above = ranks + 1;
    decide(job);
    if (!wish.json) fputs(changes_text(job).c_str(), stdout);
    fflush(stdout);
    jobs.push_back(std::move(job));
  }
  return true;
}

}  // namespace

int tune(const Words& words) {
  Wish wish;
  base::Problem problem;
  if (!read_words(words, wish, problem)) return say(problem), 2;
  if (wish.help) return fputs(tune_usage, stdout) < 0 ? 1 : 0;
  if (wish.paths) return tune_paths(wish.between, wish.quick, wish.json, problem) ? 0 : (say(problem), 1);
  if (wish.devices) {
    const bool done = can_write(wish.file, problem) && tune_devices(wish.quick, wish.file, wish.json, problem);
    return done ? 0 : (say(problem), 1);
  }
  if (wish.ranks.empty()) {
    const auto hosts = static_cast<int32_t>(wish.hosts.empty() ? 1 : parts_of(wish.hosts).size());
    wish.ranks.push_back(std::max(2, hosts * base::usable_cpus()));
  }
  forget_settings();
  std::vector<JobMeasured> jobs;
  Partial partial(wish);
  std::string model;
  if (!can_write(wish.file, problem) || !partial.open(wish.resume, problem) ||
      (wish.model && !measure_model(wish, partial, model, problem)) || !measure(wish, partial, jobs, problem)) {
    return say(problem), 1;
  }
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  const std::string text = tuning_file(jobs, model, wish.hosts.empty() ? host : wish.hosts);
  std::vector<coll::Row> rows;
  if (!coll::parse_table(text, wish.file, rows, problem) || !write_file(wish.file, text, problem))
    return say(problem), 1;
  partial.remove();
  if (wish.json) return fputs(text.c_str(), stdout) < 0 ? 1 : 0;
  if (!model.empty()) printf("model: %s\n", model.c_str());
  printf("%s has %zu rows; WEFT_TUNING=%s takes them\n", wish.file.c_str(), rows.size(), wish.file.c_str());
  return 0;
}

}  // namespace weft::tool
