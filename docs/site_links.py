# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""A hook of MkDocs: links to files beside the documents become plain text, as the site does not have them, and headings get
the anchors that GitHub gives them (tools/dev/check_links.py checks both)."""

import posixpath
import re

LINK = re.compile(r"\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")


def slug(text, _separator):
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def on_config(config):
    config.mdx_configs["toc"]["slugify"] = slug
    return config


def on_page_markdown(markdown, page, **_more):
    folder = posixpath.dirname(page.file.src_uri)

    def link(match):
        text, target, _anchor = match.groups()
        if re.match(r"[a-z]+:", target) or not posixpath.normpath(posixpath.join(folder, target)).startswith("../"):
            return match.group(0)
        return text

    return LINK.sub(link, markdown)
