# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""The MPI libraries that are measured: where they are, how each starts ranks, and the programs built for them.

The programs are linked against a stub that only carries the name libmpi_abi.so.1, so the very same binary runs on every
library with the standard ABI: LD_LIBRARY_PATH alone decides. Open MPI 5.0 has no such library; for it the same sources
are compiled again with its own mpicc.
"""

import dataclasses
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import typing
import venv

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = ROOT / "bench"
BUILD = ROOT / "build" / "bench"
SKIP = 77  # exit status of a program that the library cannot run
PEERS = ROOT / "build" / "peers"
ABI_NAME = "libmpi_abi.so.1"
FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-O2", "-g", "-Wall", "-Wextra", "-pthread"]
MPI_PROGRAMS = ["latency", "bandwidth", "bibandwidth", "rate", "startup", "barrier", "pack", "reduce", "pairs", "calls", "puts", "allreduce", "collectives", "overlap", "behind", "files", "meetings",
                "put_latency", "put_away", "get_latency", "put_rate", "accumulate",
                "threads_rate", "threads_self", "threads_latency", "threads_bandwidth", "threads_complete",
                "threads_alltoall", "threads_puts", "threads_gets"]


class Failure(Exception):
    """Something could not be measured; the text is shown in place of the number."""


class Skipped(Failure):
    """The program itself said that the library cannot run it."""


@dataclasses.dataclass(frozen=True)
class Kind:
    """One library as a package. Ranks are placed in one of three ways: `bound` gives each a core, `unbound` leaves them
    to the scheduler (and to programs that bind their threads), `crowded` is unbound with more ranks than cores."""

    label: str
    package: str  # on PyPI; "" for Weft itself
    abi: bool  # has libmpi_abi.so.1
    bound: tuple = ()
    unbound: tuple = ()
    bound_environment: dict = dataclasses.field(default_factory=dict)
    unbound_environment: dict = dataclasses.field(default_factory=dict)
    crowded_environment: dict = dataclasses.field(default_factory=dict)  # in addition to unbound's
    # The settings that its manual advises for threads, by the number of threads, whether each has a communicator of its
    # own, and whether they outnumber the cores. None where it advises nothing beyond the above.
    threads: typing.Callable = lambda threads, apart, crowded: None


def _mpich_threads(threads, apart, crowded):
    # A VCI follows from the communicator alone (--enable-ch4-vci-method is a choice of the build, there is no variable
    # for it). The manual warns that without global progress a program may hang; this one gives every thread its VCI.
    del crowded
    if not apart or threads == 1:
        return None
    return {"MPIR_CVAR_CH4_NUM_VCIS": str(threads), "MPIR_CVAR_CH4_GLOBAL_PROGRESS": "0"}


def _intel_threads(threads, apart, crowded):
    settings = {"I_MPI_THREAD_YIELD": "3"} if crowded else {}
    if apart and threads > 1:
        # Thread-split: only for threads that share no communicator; other programs hang with it. impi_info shows the
        # key's default as -1, the manual as thread_id: set, so that nobody need know.
        settings |= {"I_MPI_THREAD_SPLIT": "1", "I_MPI_THREAD_RUNTIME": "generic", "I_MPI_THREAD_MAX": str(threads),
                     "I_MPI_THREAD_ID_KEY": "thread_id"}
    return settings or None


def _openmpi_threads(threads, apart, crowded):
    del threads, apart
    return {"OMPI_MCA_mpi_yield_when_idle": "1"} if crowded else None


# Peers run with the settings that were best for them on one host when tried one by one (docs/measurements/README.md, Method).
_MPICH = {"MPIR_CVAR_CH4_NETMOD": "ofi", "MPIR_CVAR_CH4_CMA_ENABLE": "1"}
_INTEL = {"I_MPI_FABRICS": "shm"}
_OPENMPI = {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,sm"}

KINDS = {
    "weft": Kind("Weft", "", True, bound=("--bind", "core"), unbound=("--bind", "none", "--oversubscribe")),
    "mpich": Kind("MPICH", "mpich", True, bound=("-bind-to", "core"), unbound=("-bind-to", "none"),
                  bound_environment=_MPICH, unbound_environment=_MPICH,
                  crowded_environment={"MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
                                       "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "1"},
                  threads=_mpich_threads),
    "intel": Kind("Intel MPI", "impi-rt", True, bound_environment=_INTEL | {"I_MPI_PIN": "1"},
                  unbound_environment=_INTEL | {"I_MPI_PIN": "0"}, threads=_intel_threads),
    "openmpi": Kind("Open MPI", "openmpi", False, bound=("--bind-to", "core"), unbound=("--bind-to", "none", "--oversubscribe"),
                    bound_environment=_OPENMPI, unbound_environment=_OPENMPI,
                    crowded_environment={"OMPI_MCA_mpi_yield_when_idle": "1"}, threads=_openmpi_threads),
}


@dataclasses.dataclass
class Library:
    key: str
    kind: Kind
    prefix: pathlib.Path
    version: str
    own_programs: pathlib.Path | None = None  # folder of programs that its own mpicc built, where given() was told one

    @property
    def title(self):
        return f"{self.kind.label} {self.version}".strip()

    @property
    def program_folder(self):
        return BUILD / ("abi" if self.kind.abi else self.key)

    def environment(self, placement="bound", settings=None):
        # Nothing of the caller's settings may favour one library.
        drop = re.compile(r"(I_MPI_|MPICH_|MPIR_|OMPI_|PRTE_|PMIX_|PMI_|UCX_|FI_|WEFT_|LD_PRELOAD$|LD_LIBRARY_PATH$)")
        result = {name: value for name, value in os.environ.items() if not drop.match(name)}
        result["LD_LIBRARY_PATH"] = str(self.prefix / "lib")
        if self.key == "intel":
            result["I_MPI_ROOT"] = str(self.prefix)
        result.update(self.kind.bound_environment if placement == "bound" else self.kind.unbound_environment)
        if placement == "crowded":
            result.update(self.kind.crowded_environment)
        result.update(settings or {})
        return result

    def mpiexec(self):
        command = [str(self.prefix / "bin" / "mpiexec")]
        if self.key == "openmpi" and os.geteuid() == 0:
            command.append("--allow-run-as-root")
        return command

    def launch(self, ranks, placement="bound"):
        return [*self.mpiexec(), *(self.kind.bound if placement == "bound" else self.kind.unbound), "-n", str(ranks)]

    def check(self, program):
        """Refuses to measure one library under the name of another."""
        listing = subprocess.run(["ldd", str(program)], env=self.environment(), capture_output=True, text=True,
                                 check=False).stdout
        name = ABI_NAME if self.kind.abi else "libmpi.so"
        found = [line.split("=>")[1].split("(")[0].strip() for line in listing.splitlines()
                 if name in line and "=>" in line]
        inside = [path for path in found if pathlib.Path(path).resolve().is_relative_to(self.prefix.resolve())]
        if not inside:
            raise Failure(f"{program.name} would load {found or 'no MPI library'}, not {self.prefix}")

    def run(self, ranks, program, arguments=(), placement="bound", timeout=60, settings=None,
            wrapper=()):
        """What the ranks printed on standard output."""
        path = self.program_folder / program
        if not path.exists():
            raise Failure(f"{program} is not built for it")
        self.check(path)
        command = [*self.launch(ranks, placement), *wrapper, str(path), *arguments]
        return run_command(command, self.environment(placement, settings), timeout)


def run_command(command, environment=None, timeout=60):
    process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        # The launcher gets the chance to end ranks that live in sessions of their own.
        process.terminate()
        try:
            process.communicate(timeout=3)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        raise Failure(f"no end within {timeout} s") from None
    if process.returncode == SKIP:
        raise Skipped(next((line.strip() for line in err.splitlines() if "skipped" in line), "skipped"))
    if process.returncode != 0:
        lines = [line.strip() for line in (err + out).splitlines() if re.search(r"[A-Za-z]", line)]
        raise Failure(f"exit status {process.returncode}: {lines[0][:160] if lines else 'no message'}")
    return out


def installed_version(prefix, package):
    pattern = package.replace("-", "_") + "-*.dist-info"
    for folder in prefix.glob("lib/python*/site-packages/" + pattern):
        return folder.name.removesuffix(".dist-info").split("-", 1)[1]
    return ""


def install_peer(kind):
    """A virtual environment of its own for each: the wheels' files collide."""
    prefix = PEERS / kind.package
    if not installed_version(prefix, kind.package):
        print(f"installing {kind.package} from PyPI into {prefix.relative_to(ROOT)}", file=sys.stderr)
        shutil.rmtree(prefix, ignore_errors=True)
        venv.create(prefix, with_pip=True)
        command = [str(prefix / "bin" / "python"), "-m", "pip", "install", "--quiet",
                   "--disable-pip-version-check", kind.package]
        run_command(command, timeout=600)
    return prefix


def find_weft(prefix):
    if not (prefix / "bin" / "mpiexec").exists():
        shown = prefix.relative_to(ROOT) if prefix.is_relative_to(ROOT) else prefix
        raise Failure(f"not installed: no {shown / 'bin' / 'mpiexec'} (ninja install)")
    lines = (ROOT / "CMakeLists.txt").read_text()
    version = re.search(r"project\(\w+ VERSION ([\d.]+)", lines)
    return Library("weft", KINDS["weft"], prefix, version.group(1) if version else "")


def find_peer(key):
    kind = KINDS[key]
    prefix = install_peer(kind)
    return Library(key, kind, prefix, installed_version(prefix, kind.package))


GIVEN = (f"a library, of {', '.join(KINDS)}, and its folder, with bin/mpiexec and lib/{ABI_NAME}; Open MPI has no such "
         "library: openmpi=DIR:PROGRAMS, with the folder of the programs that its own mpicc built")


def given(word):
    """The library of NAME=DIR or NAME=DIR:PROGRAMS, as programs take it on their command line."""
    key, _, folders = word.partition("=")
    folder, _, programs = folders.partition(":")
    if key not in KINDS or not folder:
        raise Failure(f"{word}: NAME=DIR, with a name of {', '.join(KINDS)}")
    kind, prefix = KINDS[key], pathlib.Path(folder).resolve()
    if kind.abi == bool(programs):
        raise Failure(f"{word}: " + (f"{kind.label} runs the programs of all, without :PROGRAMS" if kind.abi else
                                     f"{kind.label} needs programs of its own, NAME=DIR:PROGRAMS"))
    for part in ("bin/mpiexec", *([f"lib/{ABI_NAME}"] if kind.abi else [])):
        if not (prefix / part).exists():
            raise Failure(f"{word}: there is no {prefix / part}")
    version = installed_version(prefix, kind.package) if kind.package else ""
    return Library(key, kind, prefix, version, pathlib.Path(programs).resolve() if programs else None)


def find(keys, weft_prefix):
    """The libraries that are there, and why the others are not."""
    libraries, failures = [], {}
    for key in keys:
        try:
            libraries.append(find_weft(weft_prefix) if key == "weft" else find_peer(key))
        except (Failure, OSError, subprocess.SubprocessError) as error:
            failures[key] = str(error)
    return libraries, failures


def header_folder(libraries):
    """Any header of the standard ABI will do: they are the same ABI."""
    folders = [(library.prefix / "include", []) for library in libraries if library.key == "weft"]
    folders.append((ROOT / "include", []))
    # MPICH's header is its own ABI unless this is defined.
    folders += [(library.prefix / "include", ["-DMPI_ABI"]) for library in libraries if library.key == "mpich"]
    for folder, flags in folders:
        if (folder / "mpi.h").exists():
            return [*flags, f"-I{folder}"]
    raise Failure("no mpi.h of the standard ABI: build Weft, or use --peers")


def newest(paths):
    return max((path.stat().st_mtime for path in paths if path.exists()), default=0.0)


def build_for_abi(compiler, libraries):
    folder = BUILD / "abi"
    folder.mkdir(parents=True, exist_ok=True)
    include = header_folder(libraries)
    objects = []
    for program in MPI_PROGRAMS:
        objects.append(folder / f"{program}.o")
        run_command([compiler, *FLAGS, *include, "-c", str(SOURCES / f"{program}.c"), "-o", str(objects[-1])])
    names = run_command(["nm", "-u", *map(str, objects)])
    called = sorted(set(re.findall(r"\bMPI_\w+", names)))
    stub = folder / "stub.c"
    stub.write_text("".join(f"void {name}(void) {{}}\n" for name in called))
    # Not in the folder of the programs, where a library path could find it.
    (folder / "stub").mkdir(exist_ok=True)
    library = folder / "stub" / ABI_NAME
    run_command([compiler, "-shared", "-fPIC", f"-Wl,-soname,{ABI_NAME}", str(stub), "-o", str(library)])
    for program, source in zip(MPI_PROGRAMS, objects):
        run_command([compiler, "-pthread", str(source), str(library), "-ldl", "-o", str(folder / program)])


def build(libraries):
    """Builds what is older than its sources. Returns failures by library key."""
    failures = {}
    sources = [*SOURCES.glob("*.c"), *SOURCES.glob("*.h"), pathlib.Path(__file__)]
    compiler = os.environ.get("CC", "cc")
    BUILD.mkdir(parents=True, exist_ok=True)
    for program in ("limits", "tcp"):
        if newest([BUILD / program]) < newest(sources):
            run_command([compiler, *FLAGS, str(SOURCES / f"{program}.c"), "-o", str(BUILD / program), "-pthread", "-ldl"])
    if any(library.kind.abi for library in libraries):
        last = BUILD / "abi" / MPI_PROGRAMS[-1]
        if newest([last]) < newest(sources):
            try:
                build_for_abi(compiler, libraries)
            except Failure as error:
                failures.update({library.key: str(error) for library in libraries if library.kind.abi})
    for library in libraries:
        if library.kind.abi or newest([library.program_folder / MPI_PROGRAMS[-1]]) >= newest(sources):
            continue
        library.program_folder.mkdir(parents=True, exist_ok=True)
        try:
            for program in MPI_PROGRAMS:
                run_command([str(library.prefix / "bin" / "mpicc"), *FLAGS, str(SOURCES / f"{program}.c"), "-o",
                             str(library.program_folder / program)], library.environment())
        except Failure as error:
            failures[library.key] = str(error)
    return failures
