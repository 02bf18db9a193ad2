# SPDX-License-Identifier: Apache-2.0
"""Writes tests/golden/npy/*.npy by NumPy, and tests/golden/npy/expected.json: for each file the spec of its rows and their values.

  python3 tests/golden/make_golden_npy.py
"""
import json
import pathlib

import numpy as np

OUT = pathlib.Path(__file__).resolve().parent / "npy"


def arrays():
    for dtype in ("bool", "i1", "<i2", ">i2", "<i4", ">i4", "<i8", ">i8", "u1", "<u2", "<u4", ">u8", "<f2", ">f2", "<f4", ">f4", "<f8", ">f8"):
        a = (np.arange(12) - (0 if dtype[-2] == "u" or dtype == "bool" else 5)).reshape(3, 2, 2)
        yield f"d_{dtype.replace('<', 'le_').replace('>', 'be_')}", (a % 2 == 0 if dtype == "bool" else a.astype(dtype))
    yield "one_dimension", np.array([1.5, -2.25, 1e300])
    yield "no_rows", np.zeros((0, 3), "<f4")
    yield "bytes", np.array([[b"a", b"bcd"], [b"", b"\xff"]])
    yield "texts", np.array(["é", "", "日本語", "𝄞x"])
    yield "texts_big_endian", np.array(["ab", "ß"], dtype=">U2")
    yield "fortran_two", np.asfortranarray(np.arange(6, dtype="<i4").reshape(2, 3))
    yield "fortran_three", np.asfortranarray(np.arange(24, dtype=">f8").reshape(2, 3, 4))
    yield "fortran_texts", np.asfortranarray(np.array([["a", "bc"], ["é", ""], ["d", "x"]]))
    yield "fortran_bool", np.asfortranarray(np.arange(6).reshape(3, 2) % 3 == 0)
    yield "fortran_no_rows", np.asfortranarray(np.zeros((0, 3), "<f4"))
    yield "days", np.array(["2020-01-01", "NaT", "1969-12-31"], "<M8[D]")
    yield "microseconds", np.array([["2020-01-01T00:00:00.000001"], ["1970-01-01"]], ">M8[us]")
    yield "durations", np.array([1, -5], "<m8[25s]")
    yield "many_dimensions", np.arange(16, dtype="u1").reshape((2,) + (1, 2) * 3)


def plain(row):
    if row.dtype.kind == "S":
        return [x.decode("latin-1") for x in row.ravel()]
    if row.dtype.kind in "Mm":
        row = row.astype(row.dtype.newbyteorder("=")).view("i8")
    return [str(x) if row.dtype.kind == "U" else x.item() for x in row.ravel()]


def main():
    OUT.mkdir(exist_ok=True)
    expected = {}
    names = {"b": "bool", "i": "int", "u": "uint", "f": "float", "S": "string", "U": "string", "M": "int64", "m": "int64"}
    for name, a in arrays():
        np.save(OUT / f"{name}.npy", a)
        dtype = names[a.dtype.kind] + (str(8 * a.dtype.itemsize) if a.dtype.kind in "iuf" else "")
        spec = dtype + "[" + ",".join(map(str, a.shape[1:])) + "]"
        expected[name] = {"spec": spec, "rows": [plain(np.asarray(row)) for row in a]}
    mixed = {"weights": np.asfortranarray(np.arange(6, dtype="f4").reshape(2, 3)), "bias": np.float64(0.5),
             "names": np.array(["a", "é"]), "none": np.zeros((0, 2), "i1")}
    np.savez(OUT / "stored.npz", **mixed)
    np.savez_compressed(OUT / "deflated.npz", **mixed)
    np.savez(OUT / "objects.npz", a=np.arange(2), o=np.array([None]))
    (OUT / "expected.json").write_text(json.dumps({"numpy": np.__version__, "files": expected}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
