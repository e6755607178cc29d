# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""A picture of rows and speeds beside peers, as SVG: a mark for each peer, on a logarithmic scale of times the peer's speed."""
import html
import math

COLOURS = ("#1f5fa8", "#c1550f", "#3f7d3a", "#7a4a9c")
LEFT, WIDTH, ROW, TOP = 330, 520, 16, 54  # pixels


def svg(title, peers, rows):
    """`rows` are (label, {peer: times}): above 1 the peer is slower."""
    times = [value for _, marks in rows for value in marks.values()]
    low = min(0, math.floor(math.log10(min(times))))
    high = max(1, math.ceil(math.log10(max(times))))

    def across(value):
        return LEFT + WIDTH * (math.log10(value) - low) / (high - low)

    bottom = TOP + ROW * len(rows)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 30} {bottom + 34}" font-family="sans-serif" '
           'font-size="11"><rect width="100%" height="100%" fill="#fff"/>',
           f'<text x="10" y="18" font-size="13">{html.escape(title)}</text>']
    for k, peer in enumerate(peers):
        out.append(f'<circle cx="{LEFT + 8 + 160 * k}" cy="34" r="4" fill="{COLOURS[k % len(COLOURS)]}"/>'
                   f'<text x="{LEFT + 18 + 160 * k}" y="38">{html.escape(peer)}</text>')
    for power in range(low, high + 1):
        x = across(10.0 ** power)
        out.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 6}" y2="{bottom}" stroke="{"#000" if power == 0 else "#ccc"}"/>'
                   f'<text x="{x:.1f}" y="{bottom + 14}" text-anchor="middle">{10.0 ** power:g}</text>')
    out.append(f'<text x="{LEFT + WIDTH / 2:.0f}" y="{bottom + 29}" text-anchor="middle">times the speed of the peer</text>')
    for n, (label, marks) in enumerate(rows):
        y = TOP + ROW * n + 6
        out.append(f'<text x="{LEFT - 10}" y="{y + 4}" text-anchor="end">{html.escape(label)}</text>')
        for k, peer in enumerate(peers):
            if peer in marks:
                out.append(f'<circle cx="{across(marks[peer]):.1f}" cy="{y}" r="4" fill="{COLOURS[k % len(COLOURS)]}">'
                           f'<title>{html.escape(peer)}: {marks[peer]:.3g}</title></circle>')
    return "\n".join([*out, "</svg>", ""])
