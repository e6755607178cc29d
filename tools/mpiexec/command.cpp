// SPDX-FileCopyrightText: 2026 the Weft authors
// SPDX-License-Identifier: BSD-3-Clause
#include "mpiexec/command.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "abi/face.hpp"
#include "base/setting.hpp"

namespace weft::mpiexec {
namespace {

using Words = std::vector<std::string>;

// The unread rest of one program's part.
class Reader {
 public:
  Reader(const Words& words, size_t& at) : words_(words), at_(at) {}
  bool done() const { return at_ == words_.size() || words_[at_] == ":"; }
  const std::string& peek() const { return words_[at_]; }
  const std::string& take() { return words_[at_++]; }

 private:
  const Words& words_;
  size_t& at_;
};

struct Context {
  Command& command;
  Program& program;
  const std::string& option;  // as written, for messages
};

// Options take zero, one or two values. `apply` returns what is wrong, or an empty text; without it the option of
// another launcher is named and ignored.
struct Option {
  const char* name;  // without its dashes: -np and --np are the same
  int values;
  std::string (*apply)(Context& context, const std::string& first, const std::string& second);
  const char* ignored = nullptr;  // why
};

bool is_name(const std::string& text) {
  return !text.empty() && text.find('=') == std::string::npos;
}

std::string take_ranks(Context& c, const std::string& text, const std::string&) {
  int64_t ranks = 0;
  std::string wrong = base::parse_number(text, base::Unit::none, ranks);
  if (wrong.empty() && (ranks < 1 || ranks > most_ranks)) {
    wrong = base::quoted(text) + " is out of range: 1 to " + std::to_string(most_ranks);
  }
  if (!wrong.empty()) return "the number of ranks (" + c.option + ") cannot be used: " + wrong;
  c.program.ranks = static_cast<int>(ranks);
  c.command.ranks_given = true;
  return {};
}

std::string take_variable(std::vector<Variable>& list, const std::string& option, const std::string& name,
                          const std::string& value) {
  if (!is_name(name)) return option + " " + base::quoted(name) + " names no environment variable";
  list.emplace_back(name, value);
  return {};
}

// -x VAR=VALUE, or -x VAR: our own value, which ranks inherit anyway.
std::string take_x(Context& c, const std::string& text, const std::string&) {
  size_t equals = text.find('=');
  if (equals != std::string::npos) {
    return take_variable(c.program.variables, c.option, text.substr(0, equals), text.substr(equals + 1));
  }
  if (!is_name(text)) return c.option + " " + base::quoted(text) + " names no environment variable";
  if (const char* value = getenv(text.c_str())) c.program.variables.emplace_back(text, value);
  return {};
}

std::string take_binding(Context& c, const std::string& text, const std::string&) {
  c.command.binding_asked = true;
  std::string wrong = topo::parse_binding(text, c.command.binding);
  return wrong.empty() ? wrong : c.option + ": " + wrong;
}

std::string take_count(Context& c, const std::string& text, int most, int& count) {
  int64_t value = 0;
  std::string wrong = base::parse_number(text, base::Unit::none, value);
  if (wrong.empty() && (value < 1 || value > most)) {
    wrong = base::quoted(text) + " is out of range: 1 to " + std::to_string(most);
  }
  if (!wrong.empty()) return c.option + ": " + wrong;
  count = static_cast<int>(value);
  return {};
}

std::string take_threads(Context& c, const std::string& text, const std::string&) {
  c.command.threads_asked = true;
  return take_count(c, text, most_threads, c.command.binding.threads);
}

std::string take_universe(Context& c, const std::string& text, const std::string&) {
  return take_count(c, text, most_ranks, c.command.universe);
}

std::string take_per_host(Context& c, const std::string& text, const std::string&) {
  return take_count(c, text, most_ranks, c.command.per_host);
}

std::string take_reserve(Context& c, const std::string& text, const std::string&) {
  return take_count(c, text, most_threads, c.command.binding.reserve);
}

std::string take_machine(Context& c, const std::string& text, const std::string&) {
  if (text.empty()) return c.option + " needs a file of hwloc's or a description such as \"numa:2 core:4 pu:2\"";
  c.command.machine = text;
  return {};
}

// Seconds, with a fraction or with a suffix: 10, 2.5, 500ms.
std::string take_timeout(Context& c, const std::string& text, const std::string&) {
  int64_t us = 0;
  std::string wrong;
  if (text.find_first_not_of("0123456789.") == std::string::npos) {
    size_t point = text.find('.');
    int64_t whole = 0;
    std::string digits = point == 0 ? "0" : text.substr(0, point);
    wrong = base::parse_number(digits, base::Unit::none, whole);
    std::string fraction = point == std::string::npos ? "" : text.substr(point + 1);
    if (text.empty() || text == "." || fraction.find('.') != std::string::npos)
      wrong = base::quoted(text) + " is no time";
    fraction.resize(6, '0');
    if (wrong.empty()) us = whole > 1000000000 ? -1 : whole * 1000000 + atoi(fraction.c_str());
  } else {
    wrong = base::parse_number(text, base::Unit::microseconds, us);
  }
  if (!wrong.empty()) return c.option + ": " + wrong;
  if (us <= 0 || us > int64_t{1000000000} * 1000000)
    return c.option + ": " + base::quoted(text) + " is out of range: 1us to 1000000000s";
  c.command.timeout_us = us;
  return {};
}

// Hosts are the job's. Repeating them for each program is accepted, if they are the same.
std::string keep_hosts(Context& c, std::vector<Host> hosts, const std::string& wrong) {
  if (!wrong.empty()) return c.option + ": " + wrong;
  if (!c.command.hosts.empty() && c.command.hosts != hosts) {
    return c.option + " names other hosts (" + listed(hosts) + ") than before (" + listed(c.command.hosts) +
           "): name all hosts of the job at once, ranks go to them in this order";
  }
  c.command.hosts = std::move(hosts);
  return {};
}

std::string take_hosts(Context& c, const std::string& list, const std::string&) {
  std::vector<Host> hosts;
  std::string wrong = parse_hosts(list, hosts);
  return keep_hosts(c, std::move(hosts), wrong);
}

std::string take_host_file(Context& c, const std::string& path, const std::string&) {
  std::vector<Host> hosts;
  std::string wrong = read_host_file(path, hosts);
  return keep_hosts(c, std::move(hosts), wrong);
}

std::string take_abi(Context& c, const std::string& text, const std::string&) {
  if (text != "auto" && text != "none" && abi::face_named(text) == nullptr)
    return c.option + ": " + base::quoted(text) + " is no ABI: " + abi::options_of_abi();
  c.command.abi = text;
  return {};
}

std::string take_folder(Context& c, const std::string& folder, const std::string&) {
  if (folder.empty()) return c.option + " needs a folder";
  c.program.folder = folder;
  return {};
}

// The last of the two options holds.
void allow_oversubscription(Command& command, bool allowed) {
  command.oversubscribe = allowed;
  command.no_oversubscribe = !allowed;
}

bool is_any(const std::string& word, std::initializer_list<const char*> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The words between colons, in small letters.
Words split_policy(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c; });
  Words words{""};
  for (const char c : text) {
    if (c == ':')
      words.emplace_back();
    else
      words.back() += c;
  }
  return words;
}

constexpr auto parts_of_hosts = {"core", "hwthread", "socket", "package", "numa", "l3cache"};
constexpr const char* binding_decides = "--bind decides where ranks run on a host, neighbours near each other";

// "node", "ppr:2:node", "socket:pe=4:oversubscribe"
std::string take_map_by(Context& c, const std::string& text, const std::string&) {
  const Words words = split_policy(text);
  const std::string& policy = words[0];
  size_t at = 1;
  c.command.maps_by_node = policy == "node";
  if (policy == "ppr") {
    if (words.size() < 3 || words[2] != "node")
      return c.option + ": " + base::quoted(text) + " is not ppr:N:node: ranks are counted for each host alone";
    if (std::string wrong = take_per_host(c, words[1], {}); !wrong.empty()) return wrong;
    at = 3;
  } else if (is_any(policy, parts_of_hosts)) {
    c.command.ignore(c.option + " " + policy, binding_decides);
  } else if (!is_any(policy, {"node", "slot"}) && (!policy.empty() || words.size() == 1)) {
    return c.option + ": " + base::quoted(text) +
           " is not slot, node, ppr:N:node, core, hwthread, socket, package, numa or l3cache";
  }
  for (; at < words.size(); ++at) {
    const std::string& more = words[at];
    if (more.starts_with("pe=")) {
      if (std::string wrong = take_threads(c, more.substr(3), {}); !wrong.empty()) return wrong;
    } else if (is_any(more, {"oversubscribe", "nooversubscribe"})) {
      allow_oversubscription(c.command, more == "oversubscribe");
    } else {
      return c.option + ": " + base::quoted(more) + " is not pe=N, oversubscribe or nooversubscribe";
    }
  }
  return {};
}

std::string take_rank_by(Context& c, const std::string& text, const std::string&) {
  const Words words = split_policy(text);
  if (words.size() == 1 && is_any(words[0], {"node", "slot"})) {
    c.command.ranks_by_node = words[0] == "node";
  } else if (words.size() == 1 && is_any(words[0], parts_of_hosts)) {
    c.command.ignore(c.option + " " + words[0], binding_decides);
  } else {
    return c.option + ": " + base::quoted(text) +
           " is not slot, node, core, hwthread, socket, package, numa or l3cache";
  }
  return {};
}

// The words of --bind and those of Open MPI, whose modifiers ask for what holds anyway.
std::string take_bind_to(Context& c, const std::string& text, const std::string& unused) {
  const Words words = split_policy(text);
  const bool modified = words.size() == 2 && is_any(words[1], {"overload-allowed", "if-supported"});
  std::string word = modified || words.size() == 1 ? words[0] : text;
  if (word == "hwthread") {
    c.command.ignore(c.option + " " + word, "ranks get whole cores, as with --bind core, as long as these suffice");
    word = "core";
  } else if (is_any(word, {"socket", "package"})) {
    c.command.ignore(c.option + " " + word, "ranks get NUMA domains instead, as with --bind numa");
    word = "numa";
  }
  const std::string wrong = take_binding(c, word, unused);
  const bool is_list = word[0] >= '0' && word[0] <= '9';
  return wrong.empty() || is_list ? wrong : wrong + ", nor socket, package or hwthread";
}

#define WEFT_FLAG(body)                                                   \
  [](Context& c, const std::string&, const std::string&) -> std::string { \
    body;                                                                 \
    return {};                                                            \
  }

constexpr const char* chooses_itself =
    "Weft chooses transports and algorithms itself, and weft info lists its settings";

constexpr Option options[] = {
    {"n", 1, take_ranks},
    {"np", 1, take_ranks},
    {"c", 1, take_ranks},
    {"N", 1, take_per_host},
    {"npernode", 1, take_per_host},
    {"x", 1, take_x},
    {"env", 2,
     [](Context& c, const std::string& name, const std::string& value) {
       return take_variable(c.program.variables, c.option, name, value);
     }},
    {"genv", 2,
     [](Context& c, const std::string& name, const std::string& value) {
       return take_variable(c.command.variables, c.option, name, value);
     }},
    {"bind", 1, take_binding},
    {"bind-to", 1, take_bind_to},
    {"map-by", 1, take_map_by},
    {"rank-by", 1, take_rank_by},
    {"threads", 1, take_threads},
    {"universe", 1, take_universe},
    {"reserve-cores", 1, take_reserve},
    {"r", 1, take_reserve},
    {"show-layout", 0, WEFT_FLAG(c.command.show_layout = true)},
    {"report-bindings", 0, WEFT_FLAG(c.command.report_bindings = true)},
    {"display-map", 0, WEFT_FLAG(c.command.report_bindings = true)},
    {"machine", 1, take_machine},
    {"wdir", 1, take_folder},
    {"wd", 1, take_folder},
    {"abi", 1, take_abi},
    {"initial-errhandler", 1,
     [](Context& c, const std::string& handler, const std::string&) {
       return take_variable(c.program.variables, c.option, "WEFT_INITIAL_ERRHANDLER", handler);
     }},
    {"memory-alloc-kinds", 1,
     [](Context& c, const std::string& kinds, const std::string&) {
       return take_variable(c.program.variables, c.option, "WEFT_MEMORY_ALLOC_KINDS", kinds);
     }},
    {"timeout", 1, take_timeout},
    {"tag-output", 0, WEFT_FLAG(c.command.tag_output = true)},
    {"l", 0, WEFT_FLAG(c.command.tag_output = true)},
    {"merge-stderr-to-stdout", 0, WEFT_FLAG(c.command.merge_output = true)},
    {"quiet", 0, WEFT_FLAG(c.command.quiet = true)},
    {"q", 0, WEFT_FLAG(c.command.quiet = true)},
    {"oversubscribe", 0, WEFT_FLAG(allow_oversubscription(c.command, true))},
    {"nooversubscribe", 0, WEFT_FLAG(allow_oversubscription(c.command, false))},
    {"allow-run-as-root", 0, WEFT_FLAG(c.command.allow_root = true)},
    {"host", 1, take_hosts},
    {"hosts", 1, take_hosts},
    {"H", 1, take_hosts},
    {"f", 1, take_host_file},
    {"hostfile", 1, take_host_file},
    {"machinefile", 1, take_host_file},
    {"jobs", 0, WEFT_FLAG(c.command.jobs = true)},
    {"help", 0, WEFT_FLAG(c.command.help = true)},
    {"h", 0, WEFT_FLAG(c.command.help = true)},
    {"version", 0, WEFT_FLAG(c.command.version = true)},
    {"V", 0, WEFT_FLAG(c.command.version = true)},
    {"mca", 2, nullptr, chooses_itself},
    {"gmca", 2, nullptr, chooses_itself},
    {"prefix", 1, nullptr, "Weft finds its files beside its own programs"},
    {"output-filename", 1, nullptr, "all output goes to that of mpiexec, and --tag-output names the rank of each line"},
    {"display-allocation", 0, nullptr, "the hosts are those of -hosts, otherwise those of the batch system"},
    {"use-hwthread-cpus", 0, nullptr, "ranks get hardware threads where cores do not suffice"},
    {"verbose", 0, nullptr, "mpiexec has nothing more to say"},
    {"v", 0, nullptr, "mpiexec has nothing more to say"},
};
#undef WEFT_FLAG

const Option* find_option(const std::string& name) {
  for (const Option& option : options) {
    if (name == option.name) return &option;
  }
  return nullptr;
}

std::string read_option(Reader& reader, Command& command, Program& program) {
  std::string written = reader.take();
  std::string name = written.substr(written.starts_with("--") ? 2 : 1);
  std::string values[2];
  int have = 0;
  size_t equals = name.find('=');
  if (equals != std::string::npos) {
    values[have++] = name.substr(equals + 1);
    name.resize(equals);
    written.resize(written.find('='));
  }
  const Option* option = find_option(name);
  if (!option) return "the option " + base::quoted(written) + " is not known";
  if (have > option->values) return "the option " + written + " takes no value";
  while (have < option->values) {
    if (reader.done()) {
      return "the option " + written + " needs " +
             (option->values == 1 ? "a value" : std::to_string(option->values) + " values");
    }
    values[have++] = reader.take();
  }
  if (option->ignored != nullptr) {
    for (int i = 0; i < option->values; ++i) written += " " + values[i];
    command.ignore(written, option->ignored);
    return {};
  }
  Context context{command, program, written};
  return option->apply(context, values[0], values[1]);
}

std::string read_program(Reader& reader, Command& command) {
  Program program;
  while (!reader.done() && reader.peek().size() > 1 && reader.peek()[0] == '-') {
    if (reader.peek() == "--") {
      reader.take();
      break;
    }
    std::string wrong = read_option(reader, command, program);
    if (!wrong.empty()) return wrong;
    if (command.help || command.version || command.jobs) return {};
  }
  const bool only_shown = command.show_layout && reader.done() && command.programs.empty();
  if (!only_shown && (reader.done() || reader.peek().empty())) return "there is no program to start";
  if (!only_shown && !command.machine.empty()) return "--machine is for --show-layout without a program";
  while (!reader.done()) program.words.push_back(reader.take());
  command.programs.push_back(std::move(program));
  if (command.ranks() > most_ranks) return "there are more than " + std::to_string(most_ranks) + " ranks in all";
  return {};
}

// Takes the timeout from the environment, as other launchers do, if no option gave one; 0 and -1 mean no timeout.
std::string take_environment(Command& command) {
  const char* const time = getenv(timeout_variable);
  if (time == nullptr || *time == '\0' || command.timeout_us != 0) return {};
  int64_t seconds = 0;
  if (base::parse_number(time, base::Unit::none, seconds).empty() && seconds <= 0) return {};
  Program unused;
  Context context{command, unused, timeout_variable};
  return take_timeout(context, time, {});
}

// The outermost number of OMP_NUM_THREADS ("4", "4,2"); 0 when it is none.
int openmp_threads(const char* text) {
  const std::string all = text != nullptr ? text : "";
  int64_t threads = 0;
  const std::string wrong = base::parse_number(all.substr(0, all.find(',')), base::Unit::none, threads);
  return wrong.empty() && threads >= 1 && threads <= most_threads ? static_cast<int>(threads) : 0;
}

// Threads that no option told: of several programs the most. One alone tells nothing: a program may well have others.
void take_openmp_threads(Command& command) {
  if (command.threads_asked) return;
  int threads = 0;
  for (const Program& program : command.programs) {
    threads = std::max(threads, openmp_threads(command.variable(program, "OMP_NUM_THREADS")));
  }
  command.binding.threads = threads > 1 ? threads : 0;
}

}  // namespace

const char* Command::variable(const Program& program, const std::string& name) const {
  for (const auto* list : {&program.variables, &variables}) {
    for (auto v = list->rbegin(); v != list->rend(); ++v) {
      if (v->first == name) return v->second.c_str();
    }
  }
  return getenv(name.c_str());
}

int Command::ranks() const {
  int sum = 0;
  for (const Program& program : programs) sum += program.ranks;
  return sum;
}

void Command::ignore(const std::string& option, const std::string& reason) {
  auto same =
      std::find_if(ignored.begin(), ignored.end(), [&](const Ignored& known) { return known.reason == reason; });
  if (same == ignored.end()) same = ignored.insert(same, {{}, reason});
  if (std::find(same->options.begin(), same->options.end(), option) == same->options.end())
    same->options.push_back(option);
}

void tell_ignored(const Command& command) {
  if (command.quiet) return;
  for (const Ignored& ignored : command.ignored) {
    std::string options;
    for (const std::string& option : ignored.options) options += (options.empty() ? "" : ", ") + option;
    fprintf(stderr, "weft: mpiexec: ignored: %s: %s (--quiet hides this note)\n", options.c_str(),
            ignored.reason.c_str());
  }
}

std::string parse_command(const Words& words, Command& command) {
  command = {};
  size_t at = 0;
  for (;;) {
    Reader reader(words, at);
    std::string wrong = read_program(reader, command);
    if (!wrong.empty()) return wrong;
    if (command.help || command.version || command.jobs) return {};
    if (at == words.size()) {
      if (command.per_host > 0 && command.programs.size() > 1)
        return "-N is for one program: give each its -n, and the hosts their numbers (-hosts a:2,b:2)";
      if (command.per_host > 0 && !command.ranks_given) command.programs[0].ranks = command.per_host;
      take_openmp_threads(command);
      return take_environment(command);
    }
    ++at;  // the colon
  }
}

std::vector<Variable> openmp_variables(const Command& command, const Program& program, topo::Places places) {
  std::vector<Variable> added;
  const auto given = [&](const char* name) { return command.variable(program, name) != nullptr; };
  constexpr const char* number = "OMP_NUM_THREADS";
  if (command.threads_asked && !given(number)) added.emplace_back(number, std::to_string(command.binding.threads));
  constexpr const char* bindings[] = {"OMP_PLACES", "OMP_PROC_BIND", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"};
  if (places == topo::Places::unsaid || std::any_of(std::begin(bindings), std::end(bindings), given)) return added;
  added.emplace_back("OMP_PLACES", places == topo::Places::cores ? "cores" : "threads");
  added.emplace_back("OMP_PROC_BIND", "close");
  return added;
}

const char* usage() {
  return R"(usage: mpiexec [options] program [arguments] [: [options] program [arguments]] ...
Starts ranks of MPI programs, on this host unless others are named. Options (one dash or two):

  -n N, -np N             number of ranks of this program; when not given, as many as the batch system (Slurm, PBS,
                          LSF, Grid Engine) has given to the job, else 1
  -x VAR[=VALUE]          environment variable for this program's ranks
  -env VAR VALUE          the same
  -genv VAR VALUE         environment variable for all ranks
  -wdir DIR               folder in which this program's ranks start
  --abi A                 the ABI of the programs, whose libraries ranks get from Weft: auto (the default), all
                          that Weft has; standard, mpich or openmpi, that one alone; none leaves the
                          environment as it is
  -initial-errhandler H   error handler this program begins with: mpi_errors_are_fatal (the default),
                          mpi_errors_abort, mpi_errors_return
  -memory-alloc-kinds K   memory allocation kinds this program asks for, such as mpi:alloc_mem
  --bind core|pack|numa|none
                          core: equal shares of whole cores for each rank (the default); pack: the same, with the
                          threads of a rank near each other; numa: a NUMA domain for each rank; none: no binding
  --bind LIST             processors for each rank in turn, as 0-3,8:4-7
  --threads N             threads of each rank: N cores, spread over the rank's share of the machine (with --bind
                          pack: that share a cache), and OpenMP's places on them; without it OMP_NUM_THREADS
  --reserve-cores N, -r N keep N cores free of ranks, for the library's own threads and the system
  --universe N            the most processes at a time, with those that ranks spawn; 512 more than ranks when not given
  --show-layout           show which rank has which cores, then start; without a program, show it alone
  --machine M             with it and without a program: of this machine, as a file of hwloc's (XML) or "numa:2
                          core:4 pu:2"
  --tag-output, -l        write "[rank] " in front of each line of output
  --timeout TIME          end the job after so many seconds, with status 124; MPIEXEC_TIMEOUT is the same
  --quiet, -q             write nothing but errors
  --oversubscribe         more ranks than cores are meant: do not mention it
  -hosts a,b:4            hosts; b takes 4 ranks at most. Ranks of other hosts start through mpiexec.hydra or
                          prterun. -host and -H are the same. When not given, those of the batch system
  -hostfile FILE          hosts, one in each line, as b:4 or b slots=4. -f and -machinefile are the same
  --jobs                  show your jobs on this host, and what their ranks have spawned, as a tree
  --help, --version

For scripts written for Open MPI's mpirun (docs/guide/coming-from.md):

  -N N                    at most N ranks on each host; without -n as many on each. --npernode is the same
  --map-by slot|node|ppr:N:node
                          fill one host after the other (the default), deal ranks to hosts in turn, or as -N N; behind
                          it :PE=N as --threads N, :OVERSUBSCRIBE, :NOOVERSUBSCRIBE
  --rank-by slot|node     number ranks host by host, or from host to host in turn; when not given, as --map-by has it
  --bind-to W             as --bind; socket and package as numa, hwthread as core
  --report-bindings       as --show-layout where all ranks start on this host. --display-map is the same
  --merge-stderr-to-stdout
                          write the standard error of ranks to standard output, on this host
  --nooversubscribe       more ranks than processors of this host are an error
  --allow-run-as-root     lets prterun start ranks of other hosts for root
  --mca, --gmca, --prefix, --output-filename, --display-allocation, --use-hwthread-cpus, --verbose, -v
                          named and ignored

Status: 0 when all ranks ended with 0; else that of the rank that failed first, 128 + N if signal N ended
it; 124 after --timeout, 127 when a program was not found, 126 when it could not be started.
)";
}

}  // namespace weft::mpiexec
