#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Weft authors
# SPDX-License-Identifier: BSD-3-Clause
"""weft report: the page of a run's statistics. LAUNCH_BIN is the folder of weft."""
import html.parser
import json
import os
import random
import re
import shutil
import subprocess
import tempfile
import unittest

WEFT = os.path.join(os.environ["LAUNCH_BIN"], "weft")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
VOID = {"meta", "br", "img", "hr", "link", "input"}


def spread(values):
    return {"sum": sum(values), "mean": sum(values) / len(values), "deviation": 0, "min": min(values),
            "min_rank": values.index(min(values)), "max": max(values), "max_rank": values.index(max(values)),
            "ranks": len(values)}


def timeline(ranks, slices=64):
    """A quarter of the run is the program, then the ranks wait for the last one, which computes on."""
    groups = min(ranks, 32)
    quarter = slices // 4
    starts = [-(-g * ranks // groups) for g in range(groups + 1)]
    return {"seconds": 10.0, "parts": ["program", "between two ranks", "collective", "other", "waiting"],
            "groups": [{"first": starts[g], "ranks": starts[g + 1] - starts[g],
                        "slices": [[1000, 0, 0, 0, 0]] * quarter
                        + [[1000, 0, 0, 0, 0] if g == groups - 1 else [0, 100, 200, 0, 700]] * (slices - quarter)}
                       for g in range(groups)]}


def statistics(ranks, slow=0, **more):
    """A run in which the last rank computes longest; each talks to the next."""
    numbers = random.Random(1)
    waiting = [2.0 - (2.0 if rank == ranks - 1 else 0) + numbers.random() / 10 for rank in range(ranks)]
    mpi = [w + 0.5 for w in waiting]
    whole = {"weft": "0.1.0", "level": "calls", "ranks": ranks, "end": "MPI_Finalize", "run": spread([10.0 + slow] * ranks),
             "mpi": spread(mpi), "waiting": spread(waiting), "advice": [f"rank {ranks - 1} arrives last <b>&"],
             "calls": [{"call": "MPI_Allreduce", "kind": "collective", "calls": 100 * ranks, "bytes": 800 * ranks,
                        "longest": 0.1, "longest_rank": 0, "seconds": spread(mpi), "waiting": spread(waiting),
                        "sizes": [[0, 3], [8, 100 * ranks]]},
                       {"call": "MPI_Send", "kind": "send", "calls": 7, "bytes": 7 << 20, "longest": 0.1, "longest_rank": 0,
                        "seconds": spread([0.001] * ranks), "waiting": spread([0.0] * ranks), "sizes": [[1048576, 7]]}],
             "by_rank": [{"rank": r, "host": r // 4 * 4, "seconds": 10.0 + slow, "mpi": mpi[r], "waiting": waiting[r],
                          "processors": str(r % 4), "in": None} for r in range(ranks)],
             "machines": [{"cores": "0+4,1+5;2+6|3+7", "hosts": list(range(0, ranks, 4))}],
             "matrix": {"ranks": ranks, "ranks_per_host": [ranks],
                        "bytes": [[r, (r + 1) % ranks, 1000000, 5] for r in range(ranks)]},
             "timeline": timeline(ranks), "settings": {"WEFT_SPIN": "0"}}
    return json.dumps({**whole, **more})


class Page(html.parser.HTMLParser):
    """Its elements; a tag that is not closed, or closed twice, fails."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.values, self.text = [], [], [], ""
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.values += [value for _, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.values += [value for _, value in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        self.text += data


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def report(self, *texts, words=()):
        names = [f"run{i}.json" for i in range(len(texts))]
        for name, text in zip(names, texts):
            with open(os.path.join(self.folder, name), "w") as file:
                file.write(text)
        return subprocess.run([WEFT, "report", *names, *words], capture_output=True, text=True, timeout=120, check=False,
                              cwd=self.folder)

    def page(self, *texts):
        done = self.report(*texts)
        self.assertEqual((done.returncode, done.stderr, done.stdout), (0, "", "weft-report.html\n"))
        with open(os.path.join(self.folder, "weft-report.html")) as file:
            return file.read()


class Report(Case):
    def test_a_run(self):
        page = Page(self.page(statistics(8)))
        for said in ("8 ranks, 10.000 s.", "23.0 %", "rank 7 arrives last <b>&", "MPI_Allreduce", "MPI_Send", "7.0 MiB",
                     "A grid of 8 was found", "WEFT_SPIN", "rank 3: program", "rank 0 to rank 1: 976.6 KiB in 5 messages", "The run ended by MPI_Finalize"):
            self.assertIn(said, page.text)

    def test_it_needs_nothing_else(self):
        text = self.page(statistics(8))
        page = Page(text)
        self.assertFalse({"link", "img", "iframe", "object"} & set(page.tags))
        for value in page.values:
            self.assertFalse("//" in (value or ""), value)
        for part in ("@import", "src=", "fetch(", "import("):
            self.assertNotIn(part, text)

    def test_energy(self):
        page = Page(self.page(statistics(4, energy={"joules": 12.5, "in_mpi": 4, "waiting_awake": 3})))
        self.assertIn("The hosts took 12.5 J: 4 J of that in MPI, where waiting awake took 3 J", page.text)
        page = Page(self.page(statistics(4, energy={"unknown": "there is <none>"})))
        self.assertIn("The energy is not known: there is <none>.", page.text)
        self.assertNotIn("energy", Page(self.page(statistics(4))).text)

    def test_phases_are_found(self):
        page = Page(self.page(statistics(64)))
        self.assertIn("Phases", page.text)
        self.assertIn("A strip is the mean of several ranks", page.text)
        self.assertIn("rank 62 to 63", page.text)
        share = 31 / 32
        row = f"2.5 to 10{100 / 32:.0f} %{10 * share:.0f} %{20 * share:.0f} %0 %{70 * share:.0f} %"
        self.assertIn("0 to 2.5100 %0 %0 %0 %0 %\n" + row, page.text)
        self.assertIn("0 s10 s", page.text)

    def test_each_slice_is_drawn_as_its_parts(self):
        """Of one rank: areas of the parts in the picture, from the paths' heights."""
        slices = [[500, 0, 0, 0, 500], [0, 250, 250, 0, 500]]
        text = self.page(statistics(1, timeline={"seconds": 2.0, "groups": [{"first": 0, "ranks": 1, "slices": slices}]}))
        heights = {fill: [float(h) for h in re.findall(r"v-([0-9.]+)h", path)]
                   for fill, path in re.findall(r'<path fill="([^"]+)" d="([^"]+)"', text)}
        self.assertEqual(heights, {"#fff": [60], "#ccc": [30], "#999": [30], "url(#hatch)": [60, 60]})

    def test_without_scripts_the_whole_run_is_shown(self):
        text = self.page(statistics(8))
        self.assertIn("<p hidden><button>", text)
        self.assertRegex(text, r'<svg x="70" width="830" height="\d+">\n<path fill="#fff" d="M0.0 121.0h13.0v-120.0h-13.0zM13.0 ')
        self.assertRegex(text, r'class="end"[^>]*>0 s<.*class="end"[^>]*>10 s<')

    def test_many_phases_become_ten(self):
        slices = [[1000, 0, 0, 0, 0], [0, 0, 0, 0, 1000]] * 32
        text = self.page(statistics(1, timeline={"seconds": 2.0, "groups": [{"first": 0, "ranks": 1, "slices": slices}]}))
        self.assertLessEqual(len(re.findall(r"<tr><td>[0-9.e-]+ to [0-9.]+</td>", text)), 10)

    def test_texts_of_the_file_are_no_markup(self):
        evil = "<script>alert(1)</script>\"'&"
        text = self.page(statistics(4, advice=[evil] * 300, end=evil, settings={evil: evil}))
        self.assertNotIn("<script>alert", text)
        self.assertEqual(text.count("<script"), 1)
        self.assertIn("<script>alert(1)</script>", Page(text).text)

    def machine(self, ranks, cores, processors, **more):
        """Texts of the machine's picture, in which each rank computes as long as its number says, and its lightnesses."""
        text = self.page(statistics(ranks, machines=[{"cores": cores, "hosts": [0]}], by_rank=[
            {"rank": r, "host": 0, "seconds": 1.0 + r, "mpi": 0, "waiting": 0, "processors": p} for r, p in enumerate(processors)],
            **more))
        picture = re.search(r'aria-label="Ranks on the machine">(.*?)</svg>', text, re.S)
        if picture is None:
            return None, None
        return re.findall(r"<text[^>]*>([^<]*)<", picture[1]), [int(x) for x in re.findall(r"hsl\(30,60%,(\d+)%\)", picture[1])]

    def test_ranks_are_shown_on_their_cores(self):
        texts, lightness = self.machine(4, "0+4,1+5;2+6|3+7", ("0,4", "1", "6", "1"))
        self.assertEqual(texts, ["", "host of rank 0", "package 0", "cache 0", "0", "-60 %", "1 +1", "+60 %", "cache 1", "2", "+20 %",
                                 "package 1", "cache 2"])
        self.assertEqual(lightness, [97, 30, 50])
        texts, _ = self.machine(2, "0,1", ("0-1", ""))  # not bound, not known
        self.assertEqual(texts[-5:], ["on any core", "0", "-33 %", "1", "+33 %"])

    def test_a_machine_that_cannot_be_read_is_left_out(self):
        for cores in ("", "0,", "a", "0;;1", "-1", "0,99999", "|"):
            self.assertEqual(self.machine(1, cores, ("0",)), (None, None), cores)

    def test_hosts_that_compute_longest_come_first_where_not_all_have_room(self):
        page = Page(self.page(statistics(4000)))
        self.assertRegex(page.text, r"These are 64 of the 1000 hosts that are listed, those of the longest first")
        self.assertIn("host of rank 3996", page.text)

    def test_call_sites_have_their_lines(self):
        sites = [{"call": "MPI_Send", "calls": 3, "bytes": 30, "seconds": 2.0, "waiting": 1.0, "site": "f+0x3 prog+0x12"},
                 {"call": "MPI_Recv", "calls": 3, "bytes": 30, "seconds": 5.0, "waiting": 1.0, "site": "<g>+0x3"}]
        page = Page(self.page(statistics(4, sites=sites, program="/nowhere/prog")))
        self.assertIn("MPI_Recv<g>+0x33305", page.text.replace(" ", ""))
        self.assertIn("f+0x3 prog+0x12", page.text)  # the file is not there
        self.assertLess(page.text.index("<g>+0x3"), page.text.index("f+0x3 prog"))

    def test_two_runs_are_compared(self):
        page = Page(self.page(statistics(4), statistics(4, slow=5)))
        self.assertIn("Two runs", page.text)
        self.assertIn("run0.jsonrun1.jsonchange", page.text)
        self.assertIn("run1015+50.0 %", page.text)

    def test_what_the_page_adds_to_its_files_as_json(self):
        done = self.report(statistics(4), statistics(4, slow=5), words=["--json", "-o", "page.html"])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        answer = json.loads(done.stdout)
        self.assertEqual(answer["page"], "page.html")
        self.assertEqual([run["file"] for run in answer["runs"]], ["run0.json", "run1.json"])
        self.assertIn("rank 3 arrives last <b>&", answer["runs"][0]["advice"][0])
        self.assertEqual(answer["comparison"][0], {"of": "run", "before": 10.0, "after": 15.0})
        self.assertIn("MPI_Send", [change["of"] for change in answer["comparison"]])
        self.assertNotIn("comparison", json.loads(self.report(statistics(4), words=["--json"]).stdout))

    def test_10_000_ranks_make_less_than_a_megabyte(self):
        text = self.page(statistics(10000), statistics(9999))
        self.assertLess(len(text), 1000000)
        self.assertIn("A bar is the mean of up to 79 ranks", text)
        Page(text)
        dense = [[a * 10, b * 10, 1 + a * b, 1] for a in range(100) for b in range(100)]
        text = self.page(statistics(1000, matrix={"ranks": 1000, "bytes": dense}))
        self.assertLess(len(text), 900000)
        self.assertIn("Ranks are grouped: a cell is the sum of 16 by 16 ranks.", text)
        self.assertIn("ranks 0-15 to ranks 16-31: ", text)

    def test_parts_that_are_missing_are_left_out(self):
        whole = json.loads(statistics(4))
        for name in ("advice", "by_rank", "machines", "matrix", "settings", "timeline", "waiting", "mpi", "run", "end", "ranks"):
            Page(self.page(json.dumps({k: v for k, v in whole.items() if k != name})))
        Page(self.page(json.dumps({"calls": whole["calls"]})))
        Page(self.page(json.dumps({"matrix": whole["matrix"]})))

    def test_mistakes_name_the_place_and_the_remedy(self):
        for texts, words, said in (
                ((), (), "0 files of statistics are given"),
                (("{}",) * 3, (), "3 files of statistics"),
                (("{}",), ("-x",), '"-x" is not known'),
                (("{}",), ("-o",), "-o needs the name of a file"),
                (("{}",), (), 'have neither "calls" nor "matrix"'),
                (("",), (), "line 1, cannot be used: a value is expected"),
                (("[]",), (), "an object is expected"),
                (('{"calls": [{"calls":\n -1}]}',), (), 'line 2, cannot be used: "calls" is no number from 0 on'),
                (('{"calls": [], "by_rank": [{"seconds": 1e999}]}',), (), '"seconds" is no number'),
                (('{"calls": [{}], "matrix": {"bytes": [[1]]}}',), (), "an entry has too few numbers"),
                (('{"calls": [], "timeline": {"groups": [{"slices":\n [[1,2,3,4,5,6]]}]}}',), (), "line 2, cannot be used: a slice "
                 "has more than 5 parts"),
                (('{"calls": [], "timeline": {"groups": [{"slices": [["a"]]}]}}',), (), "is no number from 0 on"),
                (("{}",), ("nowhere.json",), "neither"),
                ((), ("nowhere.json",), '"nowhere.json" cannot be read: No such file')):
            done = self.report(*texts, words=words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), (texts, words))
            self.assertIn("weft: report: ", done.stderr)
            self.assertIn(said, done.stderr)
            self.assertIn(". Remedy: ", done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)
        done = self.report(statistics(4), words=("-o", "/nowhere/page"))
        self.assertEqual(done.returncode, 1)
        self.assertIn('weft: report: -o "/nowhere/page" cannot be written', done.stderr)


@unittest.skipUnless(CHROMIUM, "no Chromium: apt-get install chromium")
class Browser(Case):
    def browse(self, *words):
        """What Chromium prints when it opens the page; it must have nothing to complain about."""
        done = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
                               f"--user-data-dir={self.folder}/profile", "--window-size=1100,2400", *words,
                               "file://" + os.path.join(self.folder, "weft-report.html")], capture_output=True, text=True,
                              timeout=200, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("CONSOLE", done.stderr)
        return done.stdout

    def phases_after(self, actions):
        """After a script's actions: where the first slice of each run is, its width, and the texts at the ends."""
        text = self.page(statistics(8), statistics(8))
        script = "<script>const buttons = document.querySelectorAll('button');" + actions + "</script></body>"
        with open(os.path.join(self.folder, "weft-report.html"), "w") as file:
            file.write(text.replace("</body>", script))
        shown = self.browse("--dump-dom")
        self.assertNotIn("<p hidden", shown)
        return ([(float(x), float(w)) for x, w in re.findall(r'<svg x="70"[^>]*>\s*<path [^>]*d="M(\S+) [0-9.]+h([0-9.]+)v', shown)],
                re.findall(r'class="end"[^>]*>([^<]*)<', shown))

    def test_buttons_enlarge_the_phases_of_their_run(self):
        press = "const press = (...which) => which.forEach(i => buttons[i].click());"
        self.assertEqual(self.phases_after(press + "press(0, 0)"),
                         ([(-1245, 52), (0, 13)], ["3.75 s", "6.25 s", "0 s", "10 s"]))
        self.assertEqual(self.phases_after(press + "press(3, 3, 4)"),
                         ([(0, 13), (-415, 26)], ["0 s", "10 s", "2.5 s", "7.5 s"]))
        self.assertEqual(self.phases_after(press + "press(0, 0, 2, 1)")[0][0], (0, 13))
        self.assertEqual(self.phases_after(press + "press(...Array(9).fill(0))")[0][0][1], 32 * 13)

    def test_dragging_moves_the_enlarged_phases_up_to_their_end(self):
        drag = """const picture = buttons[0].parentNode.parentNode.querySelector("svg");
            picture.setPointerCapture = () => {};
            const drag = width => ["down", "move", "up"].forEach((what, i) => picture.dispatchEvent(
              new PointerEvent("pointer" + what, {clientX: i == 0 ? 0 : width * picture.getScreenCTM().a})));
            buttons[0].click();"""
        self.assertEqual(self.phases_after(drag + "drag(-83)")[1][:2], ["3 s", "8 s"])
        self.assertEqual(self.phases_after(drag + "drag(8300)")[1][:2], ["0 s", "5 s"])

    def test_a_browser_shows_it_without_complaint(self):
        self.page(statistics(64), statistics(64, slow=1))
        picture = os.path.join(self.folder, "page.png")
        self.browse(f"--screenshot={picture}")
        with open(picture, "rb") as file:
            image = file.read()
        self.assertEqual(image[:8], b"\x89PNG\r\n\x1a\n")
        self.assertGreater(len(image), 30000, "an empty page would be smaller")
        if os.environ.get("REPORT_PICTURE"):
            shutil.copy(picture, os.environ["REPORT_PICTURE"])


if __name__ == "__main__":
    unittest.main()
