# SPDX-License-Identifier: Apache-2.0
"""The values of pyarrow's arrays in the form of sluice's JSON, and whether a file of the program has them."""
import base64
import json
import math
import os
import pathlib
import re
import subprocess

import pyarrow as pa

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SLUICE_PROGRAM") or str(pathlib.Path(os.environ.get("SLUICE_BUILD", ROOT / "build")) / "sluice")


def sluice(*arguments):
    """Runs the program; its exit status, output and messages."""
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, stdin=subprocess.DEVNULL, timeout=300)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def text(value):
    try:
        return value.decode() if isinstance(value, bytes) else value
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode()}


def number(value):
    if value is None or not (math.isnan(value) or math.isinf(value)):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def of_type(t, array):
    """The values of an array of type t, or None for a type that has no form in sluice."""
    types = pa.types
    if isinstance(t, pa.BaseExtensionType):
        return of_type(t.storage_type, array.storage)
    if types.is_dictionary(t):
        inner = of_type(t.value_type, array.dictionary)
        return None if inner is None else [None if i is None else inner[i] for i in array.indices.to_pylist()]
    if types.is_run_end_encoded(t):
        inner = of_type(t.value_type, array.values)
        ends, out, start = array.run_ends.to_pylist(), [], array.offset
        if inner is None:
            return None
        for row in range(start, start + len(array)):
            out.append(inner[next(k for k, end in enumerate(ends) if end > row)])
        return out
    if types.is_struct(t):
        members = {f.name: of_type(f.type, array.field(i)) for i, f in enumerate(t)}
        if any(v is None for v in members.values()) or not members:
            return None
        valid = array.is_valid().to_pylist()
        return [{k: v[i] for k, v in members.items()} if valid[i] else None for i in range(len(array))]
    if types.is_map(t):
        storage = pa.ListArray.from_arrays(array.offsets, pa.StructArray.from_arrays([array.keys, array.items], [t.key_field.name, t.item_field.name]))
        inner = of_type(storage.type.value_type, storage.values)
        return None if inner is None else nested(array, [Entry(e) for e in inner], array.offsets.to_pylist())
    if any(check(t) for check in (types.is_list, types.is_large_list)):
        inner = of_type(t.value_type, array.values)
        return None if inner is None else nested(array, inner, array.offsets.to_pylist())
    if types.is_fixed_size_list(t):
        inner = of_type(t.value_type, array.values)
        first = array.offset
        offsets = [(first + i) * t.list_size for i in range(len(array) + 1)]
        return None if inner is None or t.list_size == 0 else nested(array, inner, offsets)
    if types.is_list_view(t) or types.is_large_list_view(t):
        inner = of_type(t.value_type, array.values)
        if inner is None:
            return None
        valid, at, n = array.is_valid().to_pylist(), array.offsets.to_pylist(), array.sizes.to_pylist()
        return [inner[at[i]:at[i] + n[i]] if valid[i] else None for i in range(len(array))]
    return of_plain(t, array)


def of_plain(t, array):
    types = pa.types
    if types.is_interval(t) or types.is_decimal(t) or types.is_union(t):
        return None
    if types.is_date32(t) or types.is_time32(t):
        return array.cast(pa.int32()).to_pylist()
    if types.is_temporal(t):
        return array.cast(pa.int64()).to_pylist()
    if types.is_floating(t):
        return [number(None if v is None else float(v)) for v in array.to_pylist()]
    if any(check(t) for check in (types.is_binary, types.is_large_binary, types.is_fixed_size_binary, types.is_string, types.is_large_string)) or "view" in str(t):
        return [text(v) for v in array.to_pylist()]
    return array.to_pylist()


def nested(array, inner, offsets):
    valid = array.is_valid().to_pylist()
    return [inner[offsets[i]:offsets[i + 1]] if valid[i] else None for i in range(len(array))]


class Entry(dict):
    """A row of a map. The footer of a file may name its members otherwise than its schema, which sluice reads."""


def same(ours, theirs):
    if isinstance(theirs, Entry):
        return isinstance(ours, dict) and same(list(ours.values()), list(theirs.values()))
    if isinstance(ours, float) and isinstance(theirs, (int, float)) or isinstance(theirs, float) and isinstance(ours, (int, float)):
        return ours == theirs or abs(ours - theirs) <= 1e-7 * abs(theirs)  # a float is printed as the shortest text that is it
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(same(ours[k], theirs[k]) for k in ours)
    return ours == theirs and (isinstance(ours, bool) == isinstance(theirs, bool))


def rows_of(batches, names):
    """The rows of record batches, with only these columns."""
    rows = []
    for b in batches:
        columns = {n: of_type(b.schema.field(n).type, b.column(b.schema.get_field_index(n))) for n in names}
        rows += [{n: columns[n][i] for n in names} for i in range(b.num_rows)]
    return rows


def read_by_pyarrow(path):
    data = pathlib.Path(path).read_bytes()
    reader = pa.ipc.open_file(data) if data.startswith(b"ARROW1") else pa.ipc.open_stream(data)
    batches = [reader.get_batch(i) for i in range(reader.num_record_batches)] if data.startswith(b"ARROW1") else list(reader)
    return reader.schema, batches


WHOLE = ("big-endian", "before 0.15", "two columns are called", "the rows have no columns", "in no format that sluice knows")


def compare(path):
    """("equal" | "partly" | "rejected" | "wrong", what): a file of one column `value` is not wrapped."""
    try:
        schema, batches = read_by_pyarrow(path)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as why:
        return "unread", str(why)
    code, out, why = sluice("cat", path)
    names, verdict = schema.names, "equal"
    if code != 0:
        if any(w in why for w in WHOLE):
            return "rejected", why.splitlines()[0]
        found = re.search(r'column "(.*?)" is of type .*, which is not read', why)
        if not found:
            return "wrong", why
        wanted = re.search(r'schema="(.*?)"', why.replace("\n", " "))
        if not wanted:
            return "rejected", why.splitlines()[0]
        names = [n for n in schema.names if re.search(rf'(^|, ){re.escape(n)}: ', wanted[1])]
        code, out, why = sluice("run", f'from_arrow("{path}", schema="{wanted[1]}") | unbatch', "--output", "jsonl:-")
        if code != 0:
            return "wrong", why
        verdict = "partly"
    ours = [json.loads(line) for line in out.splitlines()]
    theirs = rows_of(batches, names)
    if names == ["value"] and ours and not (isinstance(ours[0], dict) and "value" in ours[0]):
        theirs = [r["value"] for r in theirs]
    if same(ours, theirs):
        return verdict, ""
    bad = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if not same(a, b)), min(len(ours), len(theirs)))
    return "wrong", f"row {bad} of {len(ours)} and {len(theirs)}:\n ours {ours[bad:bad+1]}\n theirs {theirs[bad:bad+1]}"
