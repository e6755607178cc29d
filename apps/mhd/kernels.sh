#!/bin/sh
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# kernels.sh [--check]: makes kernels.ptx.inc of kernels.cu by clang 14, which needs no toolkit of CUDA. --check: fails if the
# file is not what clang makes now. No contraction: sums and products are rounded one by one, as on the processor.
set -eu
cd "$(dirname "$0")"
ptx=$(mktemp)
made=$(mktemp)
trap 'rm -f "$ptx" "$made"' EXIT
clang++-14 -x cuda --cuda-device-only --cuda-gpu-arch=sm_60 -nocudainc -nocudalib -std=c++20 -O2 -ffp-contract=off -fno-math-errno \
  -Wall -Wextra -Werror -S kernels.cu -o "$ptx"
{
  printf '// SPDX-FileCopyrightText: 2026 the Weft authors\n// SPDX-License-Identifier: BSD-3-Clause\n'
  printf '// Made by kernels.sh of kernels.cu. Not to be edited.\nR"ptx('
  sed -n '/^\.version/,$p' "$ptx" | tr -s '\t ' ' ' | sed '/^ *\/\//d; s/^ //; s/ *$//; /^$/d'
  printf ')ptx"\n'
} >"$made"
if [ "${1:-}" = --check ]; then
  cmp -s "$made" kernels.ptx.inc || { echo "apps/mhd/kernels.ptx.inc is not what kernels.sh makes: run it" >&2; exit 1; }
else
  cat "$made" >kernels.ptx.inc
fi
