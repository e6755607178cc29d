#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Measures between two hosts of namespaces (tests/hosts/hosts.sh), each on a processor of its own: Weft as installed in
build/install over each library of its own choice, other MPI libraries, the system's TCP and libfabric alone. All in turn,
medians of the rounds; the very same binaries wherever a library has the standard ABI. Needs root or user namespaces."""

import argparse
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

import libraries

HOSTS = libraries.ROOT / "tests" / "hosts"
ROWS = [("latency", 8, 2), ("latency", 1024, 2), ("latency", 65536, 2), ("bandwidth", 65536, 2), ("bandwidth", 1 << 20, 2),
        ("bandwidth", 4 << 20, 2), ("rate", 8, 2), ("allreduce", 8, 2), ("allreduce", 65536, 2), ("allreduce", 8, 4),
        ("put_latency", 8, 2), ("put_latency", 65536, 2), ("put_away", 8, 2), ("get_latency", 8, 2), ("put_rate", 8, 2), ("accumulate", 8, 2)]
HIGHER = {"MB/s", "M/s"}


def hydra(prefix, ranks, settings):
    pairs = [word for name, value in settings.items() for word in ("-genv", name, value)]
    return [str(prefix / "bin" / "mpiexec.hydra"), "-launcher", "ssh", "-launcher-exec", str(HOSTS / "rsh"), "-hosts", "h1,h2",
            "-ppn", str(ranks // 2), "-n", str(ranks), *pairs]


def columns(found, mpich):
    """(name, how it starts ranks, folder of programs) of everything that can be measured."""
    result = []
    for library in found:
        path = {"LD_LIBRARY_PATH": str(library.prefix / "lib")}
        if library.key == "weft":
            for carrier in ("tcp", "ofi", "ucx"):
                settings = path | {"WEFT_NETWORK_LIBRARY": carrier}
                result.append((f"Weft {carrier}", lambda n, s=settings: hydra(mpich, n, s), library.program_folder))
        elif library.key == "mpich":
            for name, settings in (("ofi", {"MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "tcp"}),
                                   ("ucx", {"MPIR_CVAR_CH4_NETMOD": "ucx", "UCX_TLS": "tcp,self,sm"})):
                result.append((f"MPICH {name}", lambda n, s=path | settings: hydra(mpich, n, s), library.program_folder))
        elif library.key == "intel":
            settings = path | {"I_MPI_ROOT": str(library.prefix), "I_MPI_FABRICS": "shm:ofi", "FI_PROVIDER": "tcp",
                               "FI_PROVIDER_PATH": str(library.prefix / "lib"), "I_MPI_PIN": "0"}
            result.append(("Intel MPI", lambda n, s=settings: hydra(mpich, n, s), library.program_folder))
        elif library.key == "openmpi":
            # Its UCX is for InfiniBand adapters alone unless it is told otherwise.
            for name, more in (("tcp", ("--mca", "pml", "ob1", "--mca", "btl", "self,sm,tcp")),
                               ("ucx", ("--mca", "pml", "ucx", "--mca", "opal_common_ucx_tls", "any",
                                        "--mca", "opal_common_ucx_devices", "any"))):
                base = [str(library.prefix / "bin" / "mpirun"), "--allow-run-as-root", "--prtemca", "plm_ssh_agent",
                        str(HOSTS / "rsh"), "--prefix", str(library.prefix), "--bind-to", "none", *more]
                result.append((f"Open MPI {name}", lambda n, b=base: [*b, "--host", f"h1:{n // 2},h2:{n // 2}", "-n", str(n)],
                               library.program_folder))
    return result


def run(command, timeout=60):
    environment = {name: value for name, value in os.environ.items()
                   if not re.match(r"(I_MPI_|MPIR_|OMPI_|PRTE_|PMIX_|PMI_|UCX_|FI_|WEFT_|LD_)", name)}
    environment["HOSTS_PIN"] = "1"
    try:
        done = subprocess.run([str(HOSTS / "hosts.sh"), "2", *command], env=environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return f"no end within {timeout} s", []
    lines = [line.split() for line in done.stdout.splitlines() if re.match(r"[a-z_]+ \d+ [\d.e+]+ \S+$", line)]
    return (done.stderr.strip().splitlines() or ["no result"])[-1] if done.returncode else "", lines


def bare(wrapper):
    """What TCP and libfabric do with nothing above them: lines as those of the programs."""
    on = str(HOSTS / "hosts.sh")
    tcp = " ".join([*wrapper, str(libraries.BUILD / "tcp")])
    _, lines = run(["sh", "-c", f"{on} on h2 {tcp} serve 5555 & {tcp} 10.77.0.2 5555"])
    results = [(name.replace("tcp_", ""), int(size), "TCP alone", float(value), unit) for name, size, value, unit in lines]
    if shutil.which("fi_pingpong"):
        ping = " ".join([*wrapper, "fi_pingpong", "-p", "'tcp;ofi_rxm'", "-e", "rdm", "-I", "20000", "-S", "8"])
        environment = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
        try:
            text = subprocess.run([on, "2", "sh", "-c", f"{on} on h2 {ping} & sleep 1; {ping} 10.77.0.2"],
                                  env=os.environ | {"HOSTS_PIN": "1"}, timeout=60, check=False, **environment).stdout
        except subprocess.TimeoutExpired:
            text = ""
        found = re.search(r"^8 .*?([\d.]+) +[\d.]+ *$", text, re.M)  # us/xfer, Mxfers/sec: half a round trip
        if found:
            results.append(("latency", 8, "libfabric alone", float(found[1]), "us"))
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=3, metavar="N", help="rounds")
    parser.add_argument("--peers", action="store_true", help="MPICH, Intel MPI and Open MPI too")
    parser.add_argument("--only", action="append", metavar="PROGRAM")
    parser.add_argument("--wrapper", default="", help="what starts the programs, such as a command that raises their priority")
    parser.add_argument("--weft", type=pathlib.Path, default=libraries.ROOT / "build" / "install")
    args = parser.parse_args()
    found, failures = libraries.find(["weft", "mpich", *(["intel", "openmpi"] if args.peers else [])], args.weft.resolve())
    failures.update(libraries.build(found))
    for key, why in failures.items():
        print(f"{key}: {why}", file=sys.stderr)
    mpich = next(library.prefix for library in found if library.key == "mpich")
    measured = [c for c in columns(found, mpich) if args.peers or c[0].startswith("Weft")]
    wrapper = args.wrapper.split()
    values, units, said = {}, {}, set()
    for number in range(args.pairs):
        for name, size, column, value, unit in bare(wrapper):
            values.setdefault((name, size, 2, column), []).append(value)
            units[(name, size, 2)] = unit
        for program, size, ranks in ROWS:
            if args.only and program not in args.only:
                continue
            for column, start, folder in measured:
                why, lines = run([*start(ranks), *wrapper, str(folder / program), str(size)])
                if why and column not in said:
                    print(f"{column}, {program}: {why}", file=sys.stderr)
                    said.add(column)
                for name, got, value, unit in [] if why else lines:
                    row = (program, size, ranks)
                    if name == program and int(got) == size and units.setdefault(row, unit) == unit:
                        values.setdefault((*row, column), []).append(float(value))
        print(f"round {number + 1} of {args.pairs}", file=sys.stderr)
    names = [c[0] for c in measured] + ["TCP alone", "libfabric alone"]
    print("| measure | bytes | ranks | unit | " + " | ".join(names) + " | Weft tcp / best peer |")
    print("|---|---|---|---|" + "---:|" * (len(names) + 1))
    for row in ROWS:
        if row not in units:
            continue
        medians = {n: statistics.median(values[(*row, n)]) for n in names if (*row, n) in values}
        peers = {n: m for n, m in medians.items() if not n.startswith("Weft") and not n.endswith("alone")}
        ratio = "-"
        if peers and "Weft tcp" in medians:
            best = (max if units[row] in HIGHER else min)(peers, key=peers.get)
            ratio = f"{medians['Weft tcp'] / peers[best]:.2f} ({best})"
        cells = [f"{medians[n]:.3g}" if medians.get(n, 1e9) < 1000 else f"{medians[n]:.0f}" if n in medians else "-" for n in names]
        print(f"| {row[0]} | {row[1]} | {row[2]} | {units[row]} | " + " | ".join(cells) + f" | {ratio} |")


if __name__ == "__main__":
    main()
