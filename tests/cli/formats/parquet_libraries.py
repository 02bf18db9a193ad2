# SPDX-License-Identifier: Apache-2.0
"""The libraries that the tests of Parquet compare with, the rows of their tables as sluice yields them, and the options of tests that draw
tables. A test that imports this module is skipped without the libraries (./dev deps formats)."""
import datetime
import decimal
import math
import pathlib
import random
import sys
import uuid

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / ".cache/formats"))

try:
    import duckdb
    import polars
    import pyarrow
    import pyarrow.parquet
except ImportError as e:
    print(f"skipped: {e}; ./dev deps formats installs it")
    print("0 passed, 0 failed")
    sys.exit(0)


def drawn(tables):
    """The number of tables and the seed, from --tables and --seed, which are removed from the arguments."""
    def option(name, default):
        return int(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else default
    drawn = option("--tables", tables), option("--seed", random.randrange(10**9))
    if "--tables" in sys.argv or "--seed" in sys.argv:
        del sys.argv[1:]
    return drawn


def plain(value):
    """A value in the form that all readers share."""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else value
    if isinstance(value, decimal.Decimal):
        return str(value) if value.as_tuple().exponent > -7 and "E" not in str(value) else format(value, "f")
    if isinstance(value, datetime.datetime):
        return (value if value.tzinfo is None else value.astimezone(datetime.timezone.utc).replace(tzinfo=None)).isoformat()
    if isinstance(value, datetime.timedelta):
        return value // datetime.timedelta(microseconds=1)
    if isinstance(value, uuid.UUID):
        return value.bytes
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        if isinstance(value, tuple) and len(value) == 2:   # of a map
            return {"key": plain(value[0]), "value": plain(value[1])}
        return [plain(v) for v in value]
    return value


def rows_of(table):
    return [plain(r) for r in table.to_pylist()]


def text_of_decimals(value, t):
    """Decimals as sluice yields them: with the digits of their scale."""
    if value is None:
        return None
    if pyarrow.types.is_decimal(t):
        return format(value, f".{t.scale}f")
    if pyarrow.types.is_map(t):
        return [(k, text_of_decimals(v, t.item_type)) for k, v in value]
    if pyarrow.types.is_list(t) or pyarrow.types.is_large_list(t):
        return [text_of_decimals(v, t.value_type) for v in value]
    if pyarrow.types.is_struct(t):
        return {f.name: text_of_decimals(value[f.name], f.type) for f in t}
    return value


def expected_rows(table):
    types = {f.name: f.type for f in table.schema}
    return [plain({k: text_of_decimals(v, types[k]) for k, v in row.items()}) for row in table.to_pylist()]


def has(t, test):
    if test(t):
        return True
    if pyarrow.types.is_map(t):
        return has(t.key_type, test) or has(t.item_type, test)
    return any(has(t.field(i).type, test) for i in range(t.num_fields))
