#!/bin/sh
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# check_generated.sh: fails when a file that is generated and checked in is not what its generator gives now.
set -eu
cd "$(dirname "$0")/../.."
python3 abi/generate.py --check
# Without clang 14 the kernels are not looked at.
if command -v clang++-14 >/dev/null; then apps/mhd/kernels.sh --check; fi
