# SPDX-License-Identifier: Apache-2.0
"""The libraries that the tests of Parquet compare with, and the options of tests that draw tables. A test that imports this module is
skipped without the libraries (./dev deps formats)."""
import pathlib
import random
import sys

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
