#!/bin/sh
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# tidy.sh [-p build] [path...]: clang-tidy over the sources of src and tools that the build compiles, all or those
# under the paths. The build (default: build/release) must have been configured and built once: headers are generated.
set -eu
cd "$(dirname "$0")/../.."
root=$PWD

find_tool() {
  for name in "clang-tidy-14" "clang-tidy"; do
    command -v "$name" && return
  done
  echo "tidy.sh: clang-tidy not found" >&2
  exit 2
}

tool=$(find_tool)
build=build/release
if [ "${1:-}" = -p ]; then
  build=$2
  shift 2
fi
if [ ! -f "$build/compile_commands.json" ]; then
  echo "tidy.sh: no $build/compile_commands.json; configure first or name a build with -p" >&2
  exit 2
fi
[ $# -gt 0 ] || set -- src tools
python3 - "$root" "$build/compile_commands.json" "$@" <<'END' | xargs -r -P "$(nproc)" -n 1 "$tool" -p "$build" --quiet
import json, os, sys
root, commands, *paths = sys.argv[1:]
wanted = [os.path.join(root, path.rstrip("/")) for path in paths]
files = {os.path.normpath(os.path.join(c["directory"], c["file"])) for c in json.load(open(commands))}
# The longest first, so that none of them is left for one processor at the end.
there = [name for name in files if os.path.exists(name)]
for name in sorted(there, key=lambda name: (-os.path.getsize(name), name)):
    if any(name == w or name.startswith(w + os.sep) for w in wanted):
        print(name)
END
