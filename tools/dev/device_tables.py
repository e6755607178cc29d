#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""Tables of the results of device.sh: device_tables.py RESULTS"""
import re
import sys


def read(path):
    """Of each step: status, seconds, its lines, and what it measured, by name and size."""
    steps, step = {}, None
    for line in open(path, errors="replace"):
        head = re.fullmatch(r"=== (\S+) status (\S+) seconds (\S+)\n", line)
        if head:
            step = steps[head[1]] = {"status": head[2], "seconds": float(head[3]), "lines": [], "values": {}}
        elif step is not None:
            step["lines"].append(line.rstrip("\n"))
            value = re.fullmatch(r"(\w+) (\d+) ([-+.e\d]+) (us|MB/s|M/s|pct)\n", line)
            if value:
                step["values"][value[1], int(value[2])] = float(value[3])
    return steps


def size_of(size):
    for unit, name in ((1 << 20, " MiB"), (1 << 10, " KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit}{name}"
    return f"{size} B"


def number(value):
    return "-" if value is None else f"{value:.0f}" if value >= 1000 else f"{value:.4g}"


def table(steps, title, columns, label=size_of):
    """A column: heading, and step and name of the measurement, or a function of the size."""
    def of(column, size):
        if callable(column[1]):
            return column[1](size)
        return steps.get(column[1], {"values": {}})["values"].get((column[2], size))
    sizes = sorted({size for column in columns if not callable(column[1])
                    for name, size in steps.get(column[1], {"values": {}})["values"] if name == column[2]})
    rows = [["", *(column[0] for column in columns)]]
    rows += [[label(size), *(number(of(column, size)) for column in columns)] for size in sizes]
    rows = [row for row in rows if any(cell != "-" for cell in row[1:])]
    if len(rows) < 2:
        return
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    print(title)
    for row in rows:
        print("  " + "  ".join(cell.rjust(width) for cell, width in zip(row, widths)))


def outcome(steps):
    print("Steps (status, seconds); of those that failed or skipped, the last lines")
    line = ""
    for name, step in steps.items():
        word = f"{name} {'ok' if step['status'] == '0' else step['status']} {step['seconds']:.1f}"
        if len(line) + len(word) > 110:
            print("  " + line)
            line = ""
        line += ("; " if line else "") + word
    print("  " + line)
    failed = set()
    for name, step in steps.items():
        text = "\n".join(step["lines"])
        ran = re.findall(r"^Ran (\d+) tests? in (\S+)s", text, re.M)
        if ran:
            bad = re.findall(r"^(?:ERROR|FAIL): (\S+ \(\S+?\))", text, re.M)
            print(f"  {name}: ran {', '.join(f'{n} in {s} s' for n, s in ran)}; "
                  f"{' / '.join(re.findall(r'^(?:OK|FAILED).*', text, re.M)) or 'no end'}")
            for one in sorted(set(bad))[:12]:
                print(f"      {one}")
        elif step["status"] not in ("0", "skipped") and name.split(".")[0] not in failed:
            failed.add(name.split(".")[0])  # others of its kind failed alike
            for last in [line for line in step["lines"] if line][-3:]:
                print(f"      {name}: {last[:180]}")


def main():
    steps = read(sys.argv[1])
    value = lambda step, name, size: steps.get(step, {"values": {}})["values"].get((name, size))  # noqa: E731
    ratio = lambda a, b: None if not a or not b else a / b  # noqa: E731

    def ucx(kind, column):
        def of(size):
            for line in steps.get(f"ucx.{kind}.{size}", {"lines": []})["lines"]:
                words = line.split()
                if len(words) >= 7 and words[0].replace("[thread", "").isdigit():
                    return float(words[column])
            return None
        return of

    for line in steps.get("facts", {"lines": []})["lines"][:40] + [
            line for line in steps.get("device", {"lines": []})["lines"] if line.startswith("#")]:
        print(line)
    calls = sorted((name, size, v) for (name, size), v in steps.get("device", {"values": {}})["values"].items()
                   if re.match(r"call_|launch_|open$|pair_open", name))
    print("Calls of the driver (us)")
    print("  " + "; ".join(f"{name}{f' {size_of(size)}' if size else ''} {number(v)}" for name, size, v in calls))
    table(steps, "The driver's copies, one at a time (us)",
          [(name, "device", measured) for name, measured in (
              ("device", "latency_device"), ("asked", "latency_device_asked"), ("flagged", "latency_device_flagged"),
              ("to", "latency_to"), ("to flagged", "latency_to_flagged"), ("from", "latency_from"),
              ("from flagged", "latency_from_flagged"), ("blocking to", "blocking_to"), ("from ", "blocking_from"),
              ("pageable to", "blocking_to_pageable"), ("from  ", "blocking_from_pageable"), ("submit", "submit_device"))])
    table(steps, "The driver's copies in flight together (MB/s)",
          [(name, "device", measured) for name, measured in (
              ("device", "window_device"), ("2 streams", "window_device_2_streams"), ("to", "window_to"),
              ("from", "window_from"), ("both", "window_both_ways"), ("to registered", "window_to_registered"),
              ("from registered", "window_from_registered"), ("pair pull", "pair_window_pull"),
              ("pair push", "pair_window_push"), ("both pull", "pair_window_both_pull"))])
    table(steps, "Latency, half a round trip (us)",
          [(where, f"latency.{where}", "latency")
           for where in ("host", "cuda", "cuda,host", "cuda:host", "cuda:managed")]
          + [("staged", "staged", "staged_latency"), ("driver mapped", "device", "pair_latency_mapped"),
             ("driver 2 copies", "device", "pair_latency_host"),
             ("of 32 KiB", "device", "pair_latency_host_large"), ("UCX", ucx("tag_lat", 3)),
             ("staged/cuda", lambda size: ratio(value("staged", "staged_latency", size),
                                                value("latency.cuda", "latency", size)))])
    table(steps, "Bandwidth (MB/s)",
          [(where, f"bandwidth.{where}", "bandwidth") for where in ("host", "cuda", "cuda,host", "host,cuda")]
          + [(f"{where} streamed", f"streamed.{where}", "bandwidth") for where in ("cuda", "cuda,host")]
          + [("both ways", "bibandwidth.cuda", "bibandwidth"), ("staged", "staged", "staged_bandwidth"),
             ("driver", "device", "pair_window_pull"), ("UCX", ucx("tag_bw", 5)),
             ("cuda/driver", lambda size: ratio(value("bandwidth.cuda", "bandwidth", size),
                                                value("device", "pair_window_pull", size))),
             ("cuda/staged", lambda size: ratio(value("bandwidth.cuda", "bandwidth", size),
                                                value("staged", "staged_bandwidth", size)))])
    table(steps, "Collective operations: allreduce of 2 and 4 ranks; others of 2 (us)",
          [(f"allreduce{n} {where}", f"allreduce.{where}{n and f'.{n}'}", "allreduce")
           for n in ("", "4") for where in ("host", "cuda")]
          + [(f"{name} {where}", f"collectives.{where}", f"coll_{name}")
             for name in ("bcast", "allgather", "alltoall") for where in ("host", "cuda")])
    table(steps, "Allreduce by kernels: WEFT_DEVICES=cuda (us)",
          [(f"{n} ranks", f"allreduce.kernels.{n}", "allreduce") for n in (2, 4)])
    table(steps, "Exchanges between copies of a stream (us)",
          [(name, "enqueue.times", name) for name in ("enqueued", "waited")])
    table(steps, "One-sided on the device (us; puts M/s)",
          [(name, f"{name}.cuda", name) for name in ("put_latency", "get_latency", "put_rate")])
    table(steps, "Faces of a cube, by its edge (us)",
          [(title, step, "faces") for title, step in
           (("host", "faces.host"), ("cuda", "faces.cuda"), ("cuda, 4 ranks", "faces.cuda.4"))], str)
    table(steps, "An exchange beside a kernel",
          [("exchange us", "beside", "beside_exchange"), ("kernel us", "beside", "beside_kernel"),
           ("hidden %", "beside", "beside_hidden")])
    osu = {}
    for name in (name for name in steps if name.startswith("osu.")):
        osu[name] = {int(line.split()[0]): " ".join(line.split()[1:3]) for line in steps[name]["lines"]
                     if re.match(r"\d+ +[\d.]+", line)}
    if osu:
        print("OSU's programs with -d cuda (us; bw MB/s), and whether they found the data right")
        for name, values in osu.items():
            print(f"  {name}: " + "; ".join(f"{size_of(size)} {text}" for size, text in values.items()
                                            if size in (8, 16384, 65536, 1 << 20, 4 << 20)))
    for name in ("heat.cuda", "heat.host"):
        for line in steps.get(name, {"lines": []})["lines"]:
            if line.startswith(("time per step", "heat: the", "heat: THE", "error against the diff")):
                print(f"{name}: {line}")
    outcome(steps)


if __name__ == "__main__":
    main()
