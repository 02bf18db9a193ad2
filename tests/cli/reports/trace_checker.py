# SPDX-License-Identifier: Apache-2.0
"""Checks a trace in Chrome's JSON format: slices that nest on each track, pairs of begin and end, arrows between slices, order.

`problems(trace)` returns a list of texts, empty if the trace is right. `python3 trace_checker.py FILE` prints them.
"""
import collections
import json
import sys

PHASES = set("XbeCsfMi")


def tracks_of(events):
    slices = collections.defaultdict(list)
    for e in events:
        if e["ph"] == "X":
            slices[e["tid"]].append(e)
    return slices


def ns(us):
    """Times have three decimals: whole nanoseconds, which are compared without rounding."""
    return round(us * 1000)


def nesting(events):
    """A slice begins and ends within the one around it, which comes first."""
    for tid, slices in tracks_of(events).items():
        open_until = []
        for e in slices:
            begin, end = ns(e["ts"]), ns(e["ts"]) + ns(e["dur"])
            if end < begin:
                yield f"track {tid}: {e['name']} at {e['ts']} ends before it begins"
            while open_until and open_until[-1] <= begin:
                open_until.pop()
            if open_until and end > open_until[-1]:
                yield f"track {tid}: {e['name']} at {e['ts']} ends after the slice around it"
            open_until.append(end)


def order(events):
    last = 0
    for e in events:
        if e["ph"] == "M":
            continue
        if e["ts"] < last:
            yield f"{e['ph']} {e['name']} at {e['ts']} comes after an event at {last}"
        last = e["ts"]


def pairing(events):
    """Each `b` has one `e` of the same category, name and id, after it; no other event has that id."""
    begun, ended = {}, set()
    for e in events:
        if e["ph"] not in "be":
            continue
        key = (e["cat"], e["id"])
        if e["ph"] == "b":
            if key in begun or key in ended:
                yield f"span {key} begins twice"
            begun[key] = e
        elif key not in begun:
            yield f"span {key} ends and has not begun"
        else:
            first = begun.pop(key)
            ended.add(key)
            if first["name"] != e["name"]:
                yield f"span {key} begins as {first['name']} and ends as {e['name']}"
    for key in begun:
        yield f"span {key} does not end"


def arrows(events):
    """Each arrow leads from a slice of the category put to a slice of the category take, not back in time."""
    held = collections.defaultdict(set)  # by category and track: the beginnings and ends of slices

    def is_in(cat, e):
        at = ns(e["ts"])
        return any(begin <= at <= end for begin, end in held[cat, e["tid"]] if begin <= at)

    for e in events:
        if e["ph"] == "X" and e["cat"] in ("put", "take"):
            held[e["cat"], e["tid"]].add((ns(e["ts"]), ns(e["ts"]) + ns(e["dur"])))
    open_arrows = {}
    done = set()
    for e in events:
        if e["ph"] == "s":
            if e["id"] in open_arrows or e["id"] in done:
                yield f"arrow {e['id']} begins twice"
            if not is_in("put", e):
                yield f"arrow {e['id']} begins in no put"
            open_arrows[e["id"]] = e
        elif e["ph"] == "f":
            if e.get("bp") != "e":
                yield f"arrow {e['id']} does not end in the slice around it"
            if e["id"] not in open_arrows:
                yield f"arrow {e['id']} ends and has not begun"
                continue
            begin = open_arrows.pop(e["id"])
            done.add(e["id"])
            if begin["name"] != e["name"]:
                yield f"arrow {e['id']} begins as {begin['name']} and ends as {e['name']}"
            if not is_in("take", e):
                yield f"arrow {e['id']} ends in no take"
    for number in open_arrows:
        yield f"arrow {number} does not end"


def names(events):
    """Each track has one name, and each event the fields of its kind."""
    named = [e["tid"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"]
    if len(named) != len(set(named)):
        yield "a track has two names"
    for e in events:
        if e["ph"] not in PHASES:
            yield f"there is no phase {e['ph']}"
        if e["ph"] in "Xbesf" and e["tid"] not in named:
            yield f"track {e['tid']} has no name"
        if not isinstance(e.get("name"), str) or not e["name"]:
            yield f"an event at {e.get('ts')} has no name"
        if e["ph"] == "C" and not (e["args"] and all(isinstance(v, (int, float)) and v >= 0 for v in e["args"].values())):
            yield f"counter {e['name']} at {e['ts']} has no numbers"


def contents(events, categories):
    """Each of these categories occurs, with each kind of event that it consists of."""
    kinds = {"channel": "besfC", "memory": "C", "wait": "be", "fill": "be"}
    there = {(e["ph"], e.get("cat")) for e in events}
    for category in categories:
        for ph in kinds.get(category, "X"):
            if (ph, category) not in there:
                yield f"no event {ph} of the category {category}"


def problems(trace, categories=()):
    events = trace["traceEvents"]
    found = [p for check in (names, order, nesting, pairing, arrows) for p in check(events)]
    found += contents(events, categories)
    other = trace["otherData"]
    is_marked = any(e["ph"] == "i" and e["name"] == "the trace is full" for e in events)
    if other["full"] != is_marked or other["full"] != (other["full_at_us"] is not None):
        found.append("the trace does not say in all places whether it is full")
    return found


if __name__ == "__main__":
    wrong = problems(json.load(open(sys.argv[1])))
    print("\n".join(wrong) or "no problems found")
    sys.exit(bool(wrong))
