# SPDX-License-Identifier: Apache-2.0
"""`sluice run --serve` and `sluice top`: pages, metrics by the rules of Prometheus and OpenMetrics, and bad requests."""
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import threading
import unittest
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import page_rules
import page_test
from program import PROGRAM, ProgramTest, main
from terminal import run_on_terminal

PROMTOOL = shutil.which("promtool", path=os.environ["PATH"] + os.pathsep + str(pathlib.Path.home() / ".cache/sluice-servers/debian/usr/bin"))
NAME = r'quo\"te</script>'
PLAN = f'counter | rate_limit(elements_per_second=2000) | filter("{NAME}" != "a") | map(it + 1) | prefetch(4) | batch(10) | prefetch(2)'
OPENMETRICS = "application/openmetrics-text; version=1.0.0"


class Served(ProgramTest):
    """A run that is served until the test ends."""

    def setUp(self):
        super().setUp()
        self.run_ = subprocess.Popen([PROGRAM, "run", PLAN, "--serve", ":0", "--progress", "none"], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        self.addCleanup(self.stop)
        self.url = self.run_.stderr.readline().removeprefix("serving ").strip()
        self.port = int(self.url.rsplit(":", 1)[1].strip("/"))
        while not self.report()["run"] or not self.report()["run"]["stages"][0]["elements"]:
            self.assertIsNone(self.run_.poll())

    def stop(self):
        self.run_.terminate()
        self.run_.communicate(timeout=60)

    def get(self, path, **headers):
        with urllib.request.urlopen(urllib.request.Request(self.url + path, headers=headers), timeout=30) as answer:
            return answer.headers, answer.read().decode()

    def report(self):
        return json.loads(self.get("report.json")[1])

    def wait_for_pace(self):
        """Waits until the pace is the cause, which it will be: each element waits for it. A busy machine only makes that later."""
        while (verdict := self.report()["run"]["verdict"])["cause"] != "pace" or verdict["kind"] != "highly input-bound":
            self.assertIsNone(self.run_.poll(), verdict)

    def raw(self, request):
        """The answer to these bytes, and whether the server closes the connection then."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as s:
            s.sendall(request)
            answer = b""
            while part := s.recv(65536):
                answer += part
            return answer.decode("latin-1")


def families(text):
    """By family: its type, and its samples as (name, labels, value). The order of the lines is checked."""
    found, current = {}, None
    for line in text.splitlines():
        if line.startswith("# EOF"):
            continue
        if line.startswith("# "):
            kind, name, rest = line[2:].split(" ", 2)
            if kind == "HELP":
                assert name not in found, f"{name} has two places"
                current = name
                found[name] = {"samples": [], "unit": None}
            assert name == current, f"{line} is within {current}"
            found[name][kind.lower()] = rest
            continue
        name, labels, value = re.fullmatch(r'([a-z_]+)(?:\{(.*)\})? (\S+)', line).groups()
        pairs = dict(re.findall(r'([a-z_]+)="((?:[^"\\]|\\.)*)"', labels or ""))
        assert name in (current, current + "_total"), f"{name} is within {current}"
        found[current]["samples"].append((name, pairs, float(value)))
    return found


class Pages(Served):
    def test_paths(self):
        headers, page = self.get("")
        self.assertIn("text/html", headers["Content-Type"])
        self.assertEqual(page_test.Elements(page).tags.count(("body", {"data-live": "true"})), 1)
        report = self.report()
        self.assertEqual((report["report"], report["outcome"]), ("sluice", "running"))
        self.assertIn("seconds", report["history"])
        self.assertEqual(self.get("healthz")[1], "ok\n")
        self.assertEqual(self.get("healthz?x=1")[1], "ok\n")
        with self.assertRaises(urllib.error.HTTPError) as refused:
            self.get("nothing")
        self.assertEqual(refused.exception.code, 404)

    def test_bad_requests(self):
        host = b"Host: localhost\r\n\r\n"
        for request, status in [(b"GET / HTTP/1.1\r\n" + host, 200), (b"HEAD / HTTP/1.1\r\n" + host, 200), (b"POST / HTTP/1.1\r\nContent-Length: 3\r\n" + host + b"abc", 405),
                                (b"nonsense\r\n\r\n", 400), (b"\x16\x03\x01\x02\x00\x01\x00\x01", 400), (b"GET / HTTP/9.9\r\n" + host, 400),
                                (b"GET /" + b"a" * 3000 + b" HTTP/1.1\r\n" + host, 414), (b"GET / HTTP/1.1\r\nX: " + b"a" * 20000 + b"\r\n" + host, 431),
                                (b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403), (b"GET /../etc/passwd HTTP/1.1\r\n" + host, 404)]:
            with self.subTest(request=request[:30]):
                answer = self.raw(request)
                self.assertTrue(answer.startswith(f"HTTP/1.1 {status} "), answer[:100])
        self.assertTrue(self.raw(b"HEAD / HTTP/1.1\r\n" + host).endswith("\r\n\r\n"))
        self.assertIn("\r\nAllow: GET, HEAD\r\n", self.raw(b"PUT / HTTP/1.1\r\n" + host))
        self.assertIsNone(self.run_.poll())

    def test_connections_are_bounded(self):
        idle = [socket.create_connection(("127.0.0.1", self.port), timeout=30) for _ in range(64)]
        self.addCleanup(lambda: [s.close() for s in idle])
        for s in idle:  # the server has accepted each
            s.sendall(b"GET / HT")
        self.assertIn(" 503 ", self.raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").splitlines()[0])
        for s in idle:
            s.close()
        answer = ""
        while " 200 " not in answer:  # as soon as the server has seen that they left
            answer = self.raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")

    def test_addresses(self):
        self.assertIn("--serve expects HOST:PORT", self.fails(2, "run", "range(3)", "--serve", "nonsense"))
        self.assertIn("--serve expects HOST:PORT", self.fails(2, "run", "range(3)", "--serve", ":99999"))
        self.assertRegex(self.fails(75, "run", "range(3)", "--serve", f":{self.port}"), "cannot listen on .*choose another port")
        self.assertRegex(self.fails(75, "run", "range(3)", "--serve", "192.0.2.1:0"), "cannot listen on .*no such address")

    @unittest.skipUnless(page_test.CHROMIUM, "no Chromium: apt-get install chromium")
    def test_a_browser_follows_the_run(self):
        dom, console = page_test.browse(self.url, "--dump-dom", "--virtual-time-budget=4000")
        self.assertEqual(console, [])
        shown = page_test.Elements(dom)
        self.assertIn("rate_limit", shown.texts["stage-table"])
        self.assertIn("running", shown.texts["state"])
        self.assertIn(NAME, shown.texts["stage-table"])


    @unittest.skipUnless(page_test.CHROMIUM and page_rules.RULES.exists(), "no Chromium or axe-core: ./dev deps servers")
    def test_axe_finds_nothing_serious_in_the_live_page(self):
        live = page_rules.live(self.url)
        self.addCleanup(live.close)
        dom, _ = page_test.browse(live.url, "--dump-dom", "--virtual-time-budget=20000")
        found = page_rules.findings(dom)
        self.assertGreater(found["rules"], 20)
        self.assertEqual([v for v in found["violations"] if v["impact"] in page_rules.SERIOUS], [])


class Metrics(Served):
    def samples(self, family):
        return families(self.get("metrics")[1])[family]["samples"]

    def test_the_text_of_prometheus(self):
        headers, text = self.get("metrics")
        self.assertEqual(headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
        self.assertTrue(text.endswith("\n") and "# EOF" not in text and "# UNIT" not in text)
        found = families(text)
        names = {s["name"] + (f" #{s['number']}" if s["number"] else "") for s in self.report()["run"]["stages"]}
        for name, family in found.items():
            self.assertRegex(name, "^sluice_[a-z_]+$")
            self.assertEqual(name.endswith("_total"), family["type"] == "counter", name)
            labels = [tuple(sorted(s[1].items())) for s in family["samples"]]
            self.assertEqual(len(labels), len(set(labels)), name)
            if name.startswith(("sluice_stage_", "sluice_channel_")):
                for _, pairs, _ in family["samples"]:
                    self.assertIn(pairs["stage"].replace('\\"', '"').replace("\\\\", "\\"), names)
        self.assertEqual(len(found["sluice_stage_elements_total"]["samples"]), len(names))
        shares = {}
        for _, pairs, value in found["sluice_stage_time_ratio"]["samples"]:
            shares[pairs["stage"]] = shares.get(pairs["stage"], 0) + value
        for stage, share in shares.items():
            self.assertAlmostEqual(share, 1, places=5, msg=stage)
        self.wait_for_pace()
        while (marked := [pairs["stage"] for _, pairs, value in self.samples("sluice_stage_is_cause") if value == 1]) != ["rate_limit"]:
            self.assertIsNone(self.run_.poll(), marked)
        self.assertEqual({pairs["channel"] for _, pairs, _ in found["sluice_channel_blocks"]["samples"]} & {"prefetch"}, {"prefetch"})

    def test_counters_grow(self):
        def elements():
            found = families(self.get("metrics")[1])
            return next(v for _, pairs, v in found["sluice_stage_elements_total"]["samples"] if pairs["stage"] == "rate_limit")

        first = elements()
        while elements() <= first:
            self.assertIsNone(self.run_.poll())

    def test_the_text_of_openmetrics(self):
        headers, text = self.get("metrics", Accept=f"{OPENMETRICS},text/plain;q=0.5")
        self.assertEqual(headers["Content-Type"], "application/openmetrics-text; version=1.0.0; charset=utf-8")
        self.assertTrue(text.endswith("# EOF\n"))
        for name, family in families(text).items():
            self.assertFalse(name.endswith("_total"), name)
            for sample, _, _ in family["samples"]:
                self.assertEqual(sample, name + ("_total" if family["type"] == "counter" else ""))
            if family["unit"]:
                self.assertTrue(name.endswith("_" + family["unit"]), name)

    @unittest.skipUnless(PROMTOOL, "no promtool: ./dev deps servers")
    def test_promtool_accepts_it(self):
        done = subprocess.run([PROMTOOL, "check", "metrics"], input=self.get("metrics")[1], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_the_dashboard_uses_metrics_that_exist(self):
        known = set(families(self.get("metrics")[1]))
        dashboard = json.loads((pathlib.Path(__file__).resolve().parents[3] / "tools/grafana/sluice.json").read_text())
        used = set(re.findall(r"\bsluice_[a-z_]+", json.dumps(dashboard["panels"])))
        self.assertGreater(len(used), 8)
        self.assertEqual(used - known, set())


class Top(Served):
    def test_a_screen_of_80_columns(self):
        for address in (self.url, f":{self.port}", f"127.0.0.1:{self.port}", str(self.port)):
            self.wait_for_pace()
            text = self.ok("top", address).stdout
            lines = text.splitlines()
            self.assertTrue(lines[0].startswith("highly input-bound"), text)
            self.assertTrue(lines[1].strip().endswith("demands this pace"), text)  # the verdict is whole
            self.assertRegex(text, r"workers \d")
            self.assertLessEqual(len(lines), 24)
            self.assertEqual([line for line in lines if len(line) > 80], [])
            self.assertEqual([line.split()[1] for line in lines if line.startswith("* ")], ["rate_limit"])
            self.assertRegex(text, r"(?m)^  batch +\d+%")

    def test_a_terminal_of_24_rows_follows_the_run(self):
        served = subprocess.Popen([PROGRAM, "run", PLAN, "--serve", ":0", "--limit", "500", "--progress", "none"], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        url = served.stderr.readline().removeprefix("serving ").strip()
        status, shown = run_on_terminal([PROGRAM, "top", url])
        self.assertEqual(served.wait(60), 0)
        served.stderr.close()
        self.assertEqual(status, 0, shown)
        screens = shown.split("\x1b[H\x1b[2J")[1:]
        self.assertGreater(len(screens), 1)
        for screen in screens:
            lines = screen.splitlines()
            self.assertLessEqual(len(lines), 24)
            self.assertEqual([line for line in lines if len(line) > 80], [])
        self.assertIn("ended", screens[-1])

    def test_mistakes(self):
        self.assertIn("top expects the address", self.fails(2, "top", "people.csv"))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.assertIn("no answer from 127.0.0.1", self.fails(75, "top", f":{free.getsockname()[1]}"))

    def test_top_at_a_server_with_too_many_connections_may_be_tried_again(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            def refuse():
                to, _ = server.accept()
                with to:
                    to.recv(4096)
                    to.sendall(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")

            answering = threading.Thread(target=refuse)
            answering.start()
            self.assertIn("has too many connections", self.fails(75, "top", f":{server.getsockname()[1]}"))
            answering.join()


if __name__ == "__main__":
    main()
