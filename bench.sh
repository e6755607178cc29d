#!/bin/sh
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# Measures Weft as installed in build/install, beside other libraries with --peers. See docs/measurements/README.md.
exec python3 "$(dirname "$0")/bench/run.py" "$@"
