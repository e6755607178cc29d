#!/bin/sh
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# format.sh [--check] [path...]: formats our C and C++ sources, all or those under the paths; with --check it only says
# which lines differ and fails.
set -eu
cd "$(dirname "$0")/../.."

find_tool() {
  for name in "clang-format-14" "clang-format"; do
    command -v "$name" && return
  done
  echo "format.sh: clang-format not found" >&2
  exit 2
}

tool=$(find_tool)
action=-i
if [ "${1:-}" = --check ]; then
  action='--dry-run -Werror'
  shift
fi
# The headers in include are generated, in the layout of their generator.
git ls-files --cached --others --exclude-standard -- "$@" | grep -E '\.(c|h|cpp|hpp)$' | grep -Ev '^include/(mpi|shmem).h$' |
  while read -r file; do [ -f "$file" ] && printf '%s\n' "$file"; done |
  xargs -r -P "$(nproc)" -n 8 "$tool" --style=file $action
