# SPDX-License-Identifier: Apache-2.0
"""`sluice run --trace`: what the file contains, and what its checker refuses."""
import copy
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import trace_checker
from program import ProgramTest, main

PLAN = "range(400) | rate_limit(elements_per_second=4000) | map(it + 1) | shuffle(50) | prefetch(4) | batch(10) | prefetch(2)"
CATEGORIES = ["turn", "block", "put", "take", "fill", "wait", "channel", "memory"]


class Trace(ProgramTest):
    def traced(self, *arguments, status=0):
        path = self.path("t.json")
        done = self.ok("run", *arguments, "--trace", path) if status == 0 else self.fails(status, "run", *arguments, "--trace", path)
        return json.loads(pathlib.Path(path).read_text()), done

    def test_a_run_is_traced(self):
        trace, done = self.traced(PLAN, "--workers", 2)
        self.assertIn("40 elements", done.stderr)
        self.assertEqual(trace_checker.problems(trace, CATEGORIES), [])
        events = trace["traceEvents"]
        tracks = {e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
        self.assertIn("worker 0", tracks)
        names = {(e["ph"], e["cat"], e["name"]) for e in events if e["ph"] in "XbC"}
        for wanted in [("b", "block", "map(it + 1)"), ("C", "channel", "prefetch"), ("C", "channel", "prefetch (2)"), ("C", "memory", "memory"),
                       ("b", "fill", "fill shuffle"), ("X", "put", "put prefetch"), ("X", "take", "take prefetch (2)"),
                       ("b", "wait", "the consumer waits")]:
            self.assertIn(wanted, names)
        fill = next(e for e in events if e["ph"] == "b" and e["cat"] == "fill")
        self.assertEqual(fill["args"]["elements"], 50)
        self.assertFalse(trace["otherData"]["full"])

    def test_tasks_that_do_not_wait_are_slices_of_workers(self):
        trace, _ = self.traced("range(100000) | map(it + 1) | prefetch(2)", "--workers", 2)
        self.assertEqual(trace_checker.problems(trace, ["task"]), [])

    def test_a_full_trace_says_so_and_stays_right(self):
        for most in (1, 7, 50, 200):
            trace, _ = self.traced(PLAN, "--trace-events", most)
            self.assertEqual(trace_checker.problems(trace), [])
            self.assertEqual((trace["otherData"]["full"], trace["otherData"]["events_max"]), (True, most))
            self.assertLessEqual(sum(e["ph"] in "XbCs" for e in trace["traceEvents"]), most)

    def test_a_failed_run_is_traced(self):
        trace, why = self.traced("range(100) | map(6 / (it - 50)) | prefetch(2)", status=1)
        self.assertIn("division by zero", why)
        self.assertEqual(trace_checker.problems(trace), [])
        self.assertTrue(any(e["ph"] == "X" for e in trace["traceEvents"]))

    def test_names_are_written_as_json(self):
        trace, _ = self.traced('range(200) | rate_limit(elements_per_second=2000) | filter("</script>\\"" != "a") | prefetch(2)')
        self.assertEqual(trace_checker.problems(trace), [])
        self.assertTrue(any("</script>" in e["name"] for e in trace["traceEvents"]))

    def test_only_traces_are_replaced(self):
        other = self.path("data.jsonl")
        pathlib.Path(other).write_text('{"a":1}\n')
        self.assertIn("the file exists and is no trace", self.fails(2, "run", "range(3)", "--trace", other))
        self.assertEqual(pathlib.Path(other).read_text(), '{"a":1}\n')
        new = self.path("new.jsonl")
        self.assertIn("--output and --trace are the same file", self.fails(2, "run", "range(3)", "--output", f"jsonl:{new}", "--trace", new))
        self.traced("range(3)")
        self.traced("range(3)")

    def test_broken_traces_are_refused(self):
        """The checker finds each kind of damage."""
        good, _ = self.traced(PLAN, "--workers", 2)

        def first(events, ph, cat=None):
            return next(i for i, e in enumerate(events) if e["ph"] == ph and cat in (None, e.get("cat")))

        def inner(events):
            """A slice within another one of its track."""
            for i, e in enumerate(events):
                for o in events[:i]:
                    if e["ph"] == o["ph"] == "X" and e["tid"] == o["tid"] and e["dur"] and o["ts"] < e["ts"] < o["ts"] + o["dur"]:
                        return e, o

        def overlap(events):
            e, o = inner(events)
            e["dur"] = o["dur"] + 1000

        def move_back(events):
            events[first(events, "X")]["ts"] = events[-1]["ts"] + 1

        def drop(ph, cat=None):
            return lambda events: events.pop(first(events, ph, cat))

        def double(ph):
            return lambda events: events.insert(first(events, ph), events[first(events, ph)])

        def rename_end(events):
            events[first(events, "e")]["name"] = "other"

        def far_arrow(events):
            events[first(events, "f")]["tid"] = 999

        def unnamed(events):
            events.pop(next(i for i, e in enumerate(events) if e["ph"] == "M" and e["name"] == "thread_name"))

        def negative(events):
            events[first(events, "C")]["args"] = {"blocks": -1}

        def mark(events):
            events.append({"ph": "i", "s": "g", "name": "the trace is full", "cat": "trace", "pid": 1, "tid": 0, "ts": events[-1]["ts"]})

        damages = {"ends after the slice around it": overlap, "comes after an event": move_back, "does not end": drop("e"),
                   "has not begun": drop("b"), "begins twice": double("b"), "ends as other": rename_end, "ends in no take": far_arrow,
                   "has no name": unnamed, "has no numbers": negative, "whether it is full": mark, "begins in no put": drop("X", "put"),
                   "ends and has not begun": drop("s")}
        for words, damage in damages.items():
            with self.subTest(damage=words):
                bad = copy.deepcopy(good)
                damage(bad["traceEvents"])
                self.assertTrue(any(words in p for p in trace_checker.problems(bad)), trace_checker.problems(bad)[:3])
        bad = copy.deepcopy(good)
        bad["traceEvents"] = [e for e in bad["traceEvents"] if e.get("cat") != "fill"]
        self.assertIn("no event b of the category fill", trace_checker.problems(bad, CATEGORIES))


if __name__ == "__main__":
    main()
