#!/bin/sh
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# check_generated.sh: fails when a file that is generated and checked in is not what its generator gives now.
set -eu
cd "$(dirname "$0")/../.."
python3 abi/generate.py --check
