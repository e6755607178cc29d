#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
# site.sh [FOLDER]: builds the documents as a site into FOLDER, build/site when not given, with MkDocs of PyPI in a virtual
# environment of its own, build/venv-site. It fails on a link or a heading that is not there, and on a reference to another
# host: the pages need no network. A CMake build with -DWEFT_SITE=ON installs build/site.
set -euo pipefail
cd "$(dirname "$0")/../.."

site=${1:-build/site}
venv=build/venv-site
if [ ! -x $venv/bin/mkdocs ]; then
  python3 -m venv $venv && $venv/bin/python -m pip install --quiet --disable-pip-version-check 'mkdocs>=1.6,<2' ||
    { rm -rf $venv; echo "site.sh: MkDocs cannot be had from PyPI. Remedy: install it, as pip install mkdocs, into $venv" >&2; exit 1; }
fi
mkdir -p "$site"
site=$(cd "$site" && pwd)
# Without --quiet, which hides the warnings that --strict counts.
$venv/bin/mkdocs build --strict --config-file docs/mkdocs.yml --site-dir "$site"
# Links in the text may lead elsewhere. A page must not load anything from there.
if grep -rnE --include='*.html' --include='*.css' '(<(script|img|link|iframe)[^>]*(src|href)=|url\()["'\'']?(https?:)?//' "$site"; then
  echo "site.sh: the lines above load something of another host" >&2
  exit 1
fi
echo "site.sh: $(find "$site" -name '*.html' | wc -l) pages in $site/index.html"
