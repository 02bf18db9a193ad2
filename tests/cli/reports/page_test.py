# SPDX-License-Identifier: Apache-2.0
"""`sluice run --html`: the object in the page, its escapes, and what a browser shows of it.

With SLUICE_TEST_SHOTS=FOLDER the browser also takes pictures there: of 1280 and 400 pixels, light and dark.
"""
import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import page_rules
from program import ProgramTest, main

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
BAD_NAME = "</script><!--'&amp;{{report}}"
PLAN = f'range(100000) | rate_limit(elements_per_second=3000) | filter("{BAD_NAME}" != "a") | shuffle(100) | prefetch(4) | batch(10) | prefetch(2)'


class Elements(html.parser.HTMLParser):
    """The elements of a page: their tags and attributes, and the text of each id."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts, self.open = [], {}, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.tags.append((tag, attributes))
        if tag not in ("meta", "link", "br", "input"):
            self.open.append((tag, attributes.get("id")))

    def handle_endtag(self, tag):
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        for _, name in self.open:
            if name:
                self.texts[name] = self.texts.get(name, "") + data


def browse(page, *options):
    """What Chromium makes of the page: its elements as text, and what it prints on the console."""
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--enable-logging=stderr",
               "--user-data-dir=" + str(pathlib.Path(page.removeprefix("file://")).parent / "profile") if page.startswith("file://") else "--incognito",
               "--virtual-time-budget=5000", *options, page]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def lines_of_two_sizes(path):
    """Lines of which one in ten is long, so that splitting it takes longer."""
    pathlib.Path(path).write_text("".join("a," * (50_000 if i % 10 == 0 else 50) + "\n" for i in range(1200)))
    return f'lines("{path}") | rate_limit(elements_per_second=4000, burst=1) | map(length(split(it, ",")))'


class Pages(ProgramTest):
    def page(self, plan, *arguments, status=0):
        path = self.path("page.html")
        if status == 0:
            self.ok("run", plan, "--html", path, *arguments)
        else:
            self.fails(status, "run", plan, "--html", path, *arguments)
        return path, pathlib.Path(path).read_text()

    def object_of(self, text):
        return json.loads(Elements(text).texts["report"])


class Page(Pages):
    def test_the_page_has_the_report_and_a_history(self):
        _, text = self.page(PLAN, "--limit", 150, "--seed", 1)
        elements = Elements(text)
        report = json.loads(elements.texts["report"])
        self.assertEqual((report["report"], report["outcome"], report["elements"]), ("sluice", "finished", 150))
        self.assertIn(report["run"]["verdict"]["text"], elements.texts["verdict"])
        past = report["history"]
        self.assertGreater(len(past["seconds"]), 2)
        self.assertEqual(past["seconds"], sorted(past["seconds"]))
        self.assertEqual(past["elements"][-1], 150)
        self.assertEqual({len(past[k]) for k in ("seconds", "elements", "bytes", "memory_bytes")}, {len(past["seconds"])})
        self.assertIn("prefetch #1", [c["stage"] for c in past["channels"]])
        for c in past["channels"]:
            self.assertEqual({len(c[k]) for k in ("blocks", "blocks_max", "elements", "elements_max")}, {len(past["seconds"])})

    def test_names_end_no_element(self):
        _, text = self.page(PLAN, "--limit", 20)
        report = self.object_of(text)
        self.assertTrue(any(BAD_NAME in s["name"] for s in report["run"]["stages"]), [s["name"] for s in report["run"]["stages"]])
        tags = [tag for tag, _ in Elements(text).tags]
        self.assertEqual((tags.count("script"), tags.count("html"), tags.count("main")), (2, 1, 1))

    def test_the_page_needs_nothing_else(self):
        _, text = self.page("range(10)")
        for tag, attributes in Elements(text).tags:
            for name in ("src", "href"):
                self.assertTrue(attributes.get(name, "#").startswith(("#", "data:")), (tag, attributes))
        self.assertEqual(re.findall(r"https?://(?!www\.w3\.org/2000/svg)[^\s\"']+", text), [])
        self.assertIsNone(re.search(r"@import|innerHTML|\burl\((?!#)", text))

    def test_a_failed_run_has_a_page(self):
        _, text = self.page("range(100) | map(6 / (it - 50))", status=1)
        report = self.object_of(text)
        self.assertEqual((report["outcome"], report["error"]["code"]), ("failed", "invalid_argument"))

    def test_only_pages_are_replaced(self):
        other = self.path("data.html")
        pathlib.Path(other).write_text("<!doctype html>\n<p>mine")
        self.assertIn("the file exists and is no page of a report", self.fails(2, "run", "range(3)", "--html", other))
        self.page("range(3)")
        self.page("range(4)")
        self.assertIn("--trace and --html are the same file", self.fails(2, "run", "range(3)", "--trace", self.path("x"), "--html", self.path("x")))


@unittest.skipUnless(CHROMIUM, "no Chromium: apt-get install chromium")
class Browser(Pages):
    def shown(self, path):
        dom, console = browse("file://" + path, "--dump-dom")
        self.assertEqual(console, [])
        return Elements(dom)

    def test_the_browser_shows_all_parts(self):
        path, text = self.page(PLAN, "--limit", 150, "--seed", 1)
        shown, report = self.shown(path), self.object_of(text)
        tags = shown.tags
        for name in [s["name"] for s in report["run"]["stages"]]:
            self.assertIn(name, shown.texts["stage-table"])
        self.assertEqual(shown.texts["verdict"], report["run"]["verdict"]["text"])
        rows = [a for tag, a in tags if tag == "tr" and a.get("id", "").startswith("stage-")]
        self.assertEqual([a["id"] for a in rows], ["stage-" + s["path"] for s in report["run"]["stages"]])
        self.assertEqual([a["id"] for a in rows if a.get("class") == "cause"], ["stage-" + report["run"]["verdict"]["path"]])
        nodes = [a for tag, a in tags if tag == "a" and a.get("href", "").startswith("#stage-")]
        self.assertEqual(len(nodes), len(rows))
        for s in report["run"]["stages"]:
            self.assertIn(s["name"][:20], shown.texts["graph"])
        self.assertEqual([a["class"] for a in nodes].count("cause"), 1)
        self.assertEqual(len([1 for tag, a in tags if a.get("class") == "edge"]), len(report["run"]["edges"]) + 1)
        charts = [a["aria-label"] for tag, a in tags if tag == "svg" and a.get("role") == "img"]
        self.assertEqual([c.split(" over ")[0] for c in charts], ["Elements per second", "Memory in the ledger", "Fill of the channels"])
        self.assertIn("prefetch #1", shown.texts["knob-table"])
        self.assertIn("rate_limit", shown.texts["advice"])
        self.assertIn("150", shown.texts["facts"])
        self.assertIn("shuffle", shown.texts["memory-table"])
        for number, (tag, a) in enumerate(tags):  # a real table, and regions with names that the keyboard reaches
            if tag == "th":
                self.assertIn(a.get("scope"), ("col", "row"))
            if a.get("role") == "region":
                self.assertTrue(a.get("tabindex") == "0" and (a.get("aria-label") or a.get("aria-labelledby")), a)

    def test_the_browser_shows_pages_without_stages_or_cause(self):
        for plan, status in [("range(3)", 0), ("range(100) | map(6 / (it - 50))", 1), ("zip(range(1000), range(1000) | map(it + 1))", 0),
                             ("concatenate(range(3), range(4) | map(it + 1))", 0)]:
            with self.subTest(plan=plan):
                path, text = self.page(plan, status=status)
                shown = self.shown(path)
                for s in self.object_of(text)["run"]["stages"]:
                    self.assertIn(s["name"], shown.texts["stage-table"])

    def check_rules(self, dom):
        found = page_rules.findings(dom)
        self.assertGreater(found["rules"], 20)
        self.assertEqual([v for v in found["violations"] if v["impact"] in page_rules.SERIOUS], [])

    @unittest.skipUnless(page_rules.RULES.exists(), "no axe-core: ./dev deps servers")
    def test_axe_finds_nothing_serious(self):
        sizes = lines_of_two_sizes(self.path("lines.txt"))
        for plan, status in [(PLAN, 0), (sizes, 0), ("range(3)", 0), ("range(100) | map(6 / (it - 50))", 1)]:
            path, text = self.page(plan, *(["--limit", 150, "--seed", 1] if plan == PLAN else []), status=status)
            pathlib.Path(path).write_text(page_rules.with_rules(text))
            for scheme in (0, 1):
                for width in (1280, 500):
                    with self.subTest(plan=plan, scheme=("dark", "light")[scheme], width=width):
                        dom, _ = browse("file://" + path, "--dump-dom", "--virtual-time-budget=20000", f"--window-size={width},2000",
                                        f"--blink-settings=preferredColorScheme={scheme}")
                        self.check_rules(dom)

    def test_sizes_have_a_table(self):
        path, text = self.page(lines_of_two_sizes(self.path("lines.txt")))
        shown = self.shown(path)
        stage = next(s for s in self.object_of(text)["run"]["stages"] if s["name"].startswith("map"))
        self.assertGreaterEqual(len(stage["by_size"]), 2)
        self.assertIn("up to 256 KiB", shown.texts["size-table"])
        self.assertIn("±", shown.texts["stage-table"])
        self.assertNotIn("hidden", next(a for _, a in shown.tags if a.get("id") == "sizes"))
        path, _ = self.page("range(3)")
        self.assertIn("hidden", next(a for _, a in self.shown(path).tags if a.get("id") == "sizes"))

    def test_nothing_is_wider_than_a_phone(self):
        path, _ = self.page(PLAN, "--limit", 100, "--seed", 1)
        frame = self.path("frame.html")
        pathlib.Path(frame).write_text("""<!doctype html><iframe id=f src="page.html" width=400 height=2600 style="border:0"></iframe><p id=out></p><script>
          addEventListener("load", () => setTimeout(() => { const d = f.contentDocument;
            document.getElementById("out").textContent = d ? d.documentElement.scrollWidth + " of " + d.documentElement.clientWidth : "none"; }, 500));</script>""")
        dom, _ = browse("file://" + frame, "--dump-dom", "--allow-file-access-from-files")
        self.assertEqual(Elements(dom).texts["out"], "400 of 400")
        if folder := os.environ.get("SLUICE_TEST_SHOTS"):
            for scheme, number in [("dark", 0), ("light", 1)]:
                for width, page in [(1280, path), (400, frame)]:
                    browse("file://" + page, f"--window-size={max(width, 500)},2600", f"--blink-settings=preferredColorScheme={number}",
                           f"--screenshot={folder}/{scheme}-{width}.png")


if __name__ == "__main__":
    main()
