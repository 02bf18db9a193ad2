#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the archives, databases and packed files in tests/verbs/data: `python3 tests/verbs/make_data.py`.

Archives are written byte by byte, as POSIX and APPNOTE define them, because no writer makes damaged ones."""
import gzip
import pathlib
import sqlite3
import struct
import zlib

DATA = pathlib.Path(__file__).resolve().parent / "data"


def write(name, data):
    path = DATA / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)


def gz(data):
    return gzip.compress(data, 9, mtime=0)


# --- tar ---
def header(name, size=0, kind=b"0", prefix=b"", gnu=False):
    digits = b"\x80" + size.to_bytes(11, "big") if gnu else b"%011o\0" % size
    b = name[:100].ljust(100, b"\0") + b"0000644\0" + b"0001750\0" * 2 + digits + b"14000000000\0" + b" " * 8 + kind
    b += bytes(100) + (b"ustar  \0" if gnu else b"ustar\00000") + bytes(80) + prefix
    return summed(b.ljust(512, b"\0"))


def summed(b):
    return b[:148] + b"%06o\0 " % sum(b[:148] + b" " * 8 + b[156:]) + b[156:]


def padded(data):
    return data + bytes(-len(data) % 512)


def entry(name, data=b"", **kind):
    return header(name, len(data), **kind) + padded(data)


def pax(key, value):
    rest = b" %s=%s\n" % (key, value)
    size = next(n for n in range(len(rest), 9999) if n == len(rest) + len(str(n)))
    return str(size).encode() + rest


def gnu_named(name, data):
    return entry(b"././@LongLink", name + b"\0", kind=b"L", gnu=True) + entry(name[:100], data, gnu=True)


def pax_named(name, data):
    return entry(b"PaxHeader", pax(b"mtime", b"1.5") + pax(b"path", name), kind=b"x") + entry(name[:100], data)


def tars():
    end, a, c = bytes(1024), entry(b"a", b"1"), entry(b"c", b"3")
    forms = {
        "plain": a + entry(b"b") + end,
        "names": entry(b"n", b"1", prefix=b"p/q") + entry(b"n", b"2", prefix=b"p/q", gnu=True) + gnu_named(b"x" * 250, b"3")
        + pax_named(b"x" * 250, b"4") + entry(b"y" * 100, b"5"),
        "kinds": entry(b"d", kind=b"5") + entry(b"old", b"1", kind=b"\0") + entry(b"whole", b"2", kind=b"7")
        + bytes(20 * 512) + b"rest",
        "empty": b"", "end": end, "half_end": bytes(512),
        "directory_with_size": entry(b"d/", b"1", kind=b"\0") + a + end,
        "unpadded": entry(b"a", b"123")[:515],
        "size_in_pax": entry(b"x", pax(b"size", b"3"), kind=b"x") + header(b"a") + padded(b"123") + entry(b"b", b"4"),
    }
    no_number = header(b"b")
    no_number = summed(no_number[:124] + b"9x9" + no_number[127:])
    damaged = {
        "checksum": b"x" + entry(b"b", b"2")[1:] + c + end,
        "no_tar": b"no tar at all" + b"x" * 2000,
        "cut_member": header(b"b", 100_000) + b"short",
        "cut_header": b"h" * 100,
        "sparse": entry(b"s", b"12", kind=b"S", gnu=True) + c,
        "lone_zeros": bytes(512) + c,
        "bad_pax": entry(b"x", b"7 a=b\n", kind=b"x") + c,
        "sparse_pax": entry(b"x", pax(b"GNU.sparse.major", b"1"), kind=b"x") + c,
        "global_pax": entry(b"x", pax(b"path", b"all"), kind=b"g") + c,
        "lone_pax": entry(b"x", pax(b"a", b"b"), kind=b"x") + end,
        "no_number": no_number + c,
    }
    for name, data in forms.items() | {(name, a + data) for name, data in damaged.items()}:
        write(f"tar/{name}.tar", data)
    write("tar/long_pax.tar.gz", gz(entry(b"x", b"n" * ((1 << 20) + 1), kind=b"x") + a))
    write("tar/many_names.tar.gz", gz(entry(b"x", b"n" * (1 << 20), kind=b"L", gnu=True) * 6 + a))
    for power in (3 << 30, 1 << 50, (1 << 63) - 1, (1 << 64) - 1):
        for kind in (b"0", b"x", b"L", b"g"):
            write(f"tar/size_{power:x}_{kind.decode()}.tar.gz", gz(header(b"b", power, kind=kind, gnu=True) + bytes(5000)))


def samples():
    wrong = b"x" + entry(b"b.y", b"2")[1:]
    for name, files in {
        "parts": [(b"a.jpg", b"1"), (b"a.cls", b"2"), (b"b.cls", b"3")],
        "folders": [(b"d.x/a.seg.PNG", b"1"), (b"d.x/a.txt", b"2")],
        "apart": [(b"d/a.x", b"1"), (b"e/a.x", b"2"), (b"d/a.y", b"3")],
        "others": [(b"a.x", b"1"), (b"plain", b"p"), (b"d/.hidden", b"h"), (b"a.y", b"2")],
        "none": [(b"plain", b"p")],
        "twice": [(b"a.x", b"1"), (b"a.X", b"2"), (b"b.x", b"3")],
        "damaged": [(b"a.x", b"0"), (b"b.x", b"1"), None, (b"b.z", b"3"), (b"c.x", b"4")],
    }.items():
        write(f"webdataset/{name}.tar", b"".join(entry(*f) if f else wrong for f in files))
    write("webdataset/cut.tar", entry(b"a.x", b"0") + entry(b"b.x", b"1") + header(b"b.y", 9999))


# --- zip ---
def deflated(data):
    pack = zlib.compressobj(6, zlib.DEFLATED, -15)
    return pack.compress(data) + pack.flush()


def archive(*files, comment=b"", is_64=False, front=b""):
    """Of dicts; damage is what the directory says beside what is there."""
    body, directory = b"", b""
    for f in files:
        name, plain = f["name"], f.get("bytes", b"")
        packed = deflated(plain) if f.get("deflate") else plain
        method = f.get("method") or (8 if f.get("deflate") else 0)
        flags = f.get("flags", 0) | (8 if f.get("sizes_behind") else 0)
        crc, size = zlib.crc32(plain) ^ f.get("crc", 0), (len(plain) + f.get("size", 0)) % (1 << 64)
        at, front_name = len(body), f.get("front", name)
        told = struct.pack("<III", crc, len(packed), size & 0xffffffff)
        body += b"PK\x03\x04" + struct.pack("<HHHI", 20, flags, method, 0) + (bytes(12) if flags & 8 else told)
        body += struct.pack("<HH", len(front_name), 5) + front_name + struct.pack("<HH", 0x7777, 1) + b"x" + packed
        body += b"PK\x07\x08" + told if flags & 8 else b""
        packed_size, wide = len(packed) + f.get("packed", 0), f.get("is_64")
        extra = struct.pack("<HHQQQ", 1, 24, size, packed_size, at) if wide else b""
        directory += b"PK\x01\x02" + struct.pack("<HHHHII", 3 << 8 | 20, 20, flags, method, 0, crc)
        directory += struct.pack("<II", *(2 * [0xffffffff] if wide else [packed_size, size & 0xffffffff]))
        directory += struct.pack("<HHHII", len(name), len(extra), 2, 0, 0)
        directory += struct.pack("<I", 0xffffffff if wide else at) + name + extra + b"hi"
    return front + body + ended(directory, len(files), len(body), comment, is_64)


def ended(directory, count, at, comment=b"", is_64=False):
    end = b""
    if is_64:
        end = b"PK\x06\x06" + struct.pack("<QHHQQQQQ", 44, 45, 45, 0, count, count, len(directory), at)
        end += b"PK\x06\x07" + struct.pack("<IQI", 0, at + len(directory), 1)
    told = (0xffff, 0xffff, 0xffffffff, 0xffffffff) if is_64 else (count, count, len(directory), at)
    return directory + end + b"PK\x05\x06" + struct.pack("<IHHIIH", 0, *told, len(comment)) + comment


def zips():
    four = ({"name": b"a", "bytes": b"1"}, {"name": b"d/"}, {"name": b"d/b", "bytes": b"22", "deflate": True}, {"name": b"none"})
    a, c, good = four[0], {"name": b"c", "bytes": b"3"}, b"g" * 5000
    write("zip/plain.zip", archive(*four))
    write("zip/comment.zip", archive(*four, comment=b"a comment"))
    write("zip/zip64.zip", archive(*four, is_64=True))
    write("zip/front.zip", archive(a, is_64=True, front=b"12345"))
    write("zip/sizes_behind.zip", archive(a | {"is_64": True, "sizes_behind": True}))
    write("zip/empty_member.zip", archive({"name": b"empty", "deflate": True}))
    write("zip/no_member.zip", archive())
    write("zip/end_in_comment.zip", archive(*four, comment=b"PK\x05\x06" + b"\1" * 18))
    for name, bad in {
        "crc": {"crc": 1}, "deflated_crc": {"deflate": True, "crc": 1}, "longer": {"deflate": True, "size": 7},
        "shorter": {"deflate": True, "size": -1}, "cut": {"deflate": True, "packed": -3}, "two_sizes": {"size": 7},
        "encrypted": {"flags": 1}, "method": {"method": 12}, "garbage": {"method": 8}, "another": {"front": b"x"},
        "bomb": {"bytes": b"", "deflate": True, "size": 1 << 30},
        "huge": {"deflate": True, "is_64": True, "size": 1 << 40},
    }.items():
        write(f"zip/bad_{name}.zip", archive(a, {"name": b"b", "bytes": good} | bad, c))
    write("zip/empty.zip", b"")
    write("zip/no_zip.zip", b"x" * 100_000)
    whole, big = archive(a), archive({"name": b"a", "bytes": b"x" * 1000})
    write("zip/cut.zip", whole[:50])
    write("zip/twice.zip", whole[:37] + ended(2 * whole[37:-22], 2, 37))
    write("zip/overlap.zip", big[:1036] + ended(2 * big[1036:-22], 2, 1036))
    write("zip/zeros.zip", archive({"name": b"z", "bytes": bytes(3 << 20), "deflate": True}, c))


# --- npy ---
def npys():
    def head(text):
        text = text.encode()
        text += b" " * (-(len(text) + 11) % 64) + b"\n"
        return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text

    tail = ", 'fortran_order': False, 'shape': (2, 3), }"
    for name, text in {
        "quotes": "{\"shape\":(2L,),'fortran_order':True,'descr':'=i8'}", "object": "{'descr': '|O'" + tail,
        "complex": "{'descr': '<c8'" + tail, "f3": "{'descr': '<f3'" + tail, "text": "{'descr': '<U99999999999'" + tail,
        "fields": "{'descr': [('x', '<f4')]" + tail,
        "fortran": "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }",
        "scalar": "{'descr': '<f4', 'fortran_order': False, 'shape': (), }",
        "no_elements": "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 0), }",
        "negative": "{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 2), }",
        "dimensions": "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1), }",
        "overflow": "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 4611686018427387904), }",
        "large": "{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 2), }",
        "lacking": "{'descr': '<f4', 'shape': (2, 3), }", "behind": "{'descr': '<f4'" + tail + "import os",
        "more": "{'more': 1" + tail, "comma": "{'descr': '<f4' 'fortran_order'",
    }.items():
        write(f"npy/{name}.npy", head(text))
    for name, descr, items in (("question_mark", "?", b"\1\0\2"), ("letter", "h", struct.pack("<3h", -1, 0, 1)),
                               ("without_order", "i4", struct.pack("<3i", -1, 0, 1)),
                               ("named", "float16", struct.pack("<3e", 0.1, 65504, -2**-24)),
                               ("named_big", ">int32", struct.pack(">3i", -1, 0, 1)), ("a3", "|a3", b"ab\0\0\0\0abc"),
                               ("nanoseconds", "<M8[ns]", struct.pack("<3q", 0, 1, -2**63)),
                               ("generic", "m8", struct.pack("<3q", 0, 1, -2**63))):
        write(f"npy/descr_{name}.npy", head("{'descr': '%s', 'fortran_order': False, 'shape': (3,), }" % descr) + items)
    for name, descr in (("unit", "<M8[x]"), ("long", "l"), ("longdouble", "<f16"), ("void", "|V4")):
        write(f"npy/descr_{name}.npy", head("{'descr': '%s'" % descr + tail))
    columns = "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }"
    write("npy/fortran_long.npy", head(columns) + bytes(25))
    write("npy/fortran_lies.npy", head(columns.replace("2", "137438953472")) + bytes(24))
    write("npy/fortran_lies.npy.gz", gz(head(columns.replace("2", "137438953472")) + bytes(24)))
    write("npy/sound.npy", head("{'descr': '<f4'" + tail) + struct.pack("<6f", *range(6)))
    write("npy/cut_head.npy", head("{'descr': '<f4'" + tail)[:60])
    write("npy/cut_magic.npy", b"\x93NUM")
    write("npy/zip.npy", b"PK\x03\x04")
    write("npy/version.npy", b"\x93NUMPY\x07\x00\x10\x00")
    write("npy/long_head.npy", b"\x93NUMPY\x02\x00\xff\xff\xff\xff")
    write("npy/missing.npy", head("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 1099511627776), }") + b"xyz")
    whole = head("{'descr': '|u1', 'fortran_order': False, 'shape': (4, 2), }") + b"a" * 8
    for missing in (1, 2, 3, 8):
        write(f"npy/cut_{missing}.npy", whole[:-missing])


# --- tables ---
def tables():
    first = b"a,b,t\n" + 100 * b"1,0.5,x\n"
    for name, row in {"double": b"2.5,1,x", "quoted": b'"2.5",1,x', "text": b"2,none,x", "large": b"9223372036854775809,1,x",
                      "empty": b",1,x", "default": b"2,1,"}.items():
        write(f"csv/late_{name}.csv", first + row + b"\n")
    first = 100 * b'{"a":1,"at":{"x":"s"}}\n'
    for name, row in {"member": b'{"a":2,"at":{"x":"t"},"b":[true]}', "inner": b'{"a":2,"at":{"x":"t","y":null}}',
                      "double": b'{"a":0.5,"at":{"x":"t"}}', "null": b'{"a":null,"at":{}}', "missing": b'{"a":1}',
                      "text": b'{"a":"x","at":{"x":"t"}}', "broken": b'{"a":'}.items():
        write(f"jsonl/late_{name}.jsonl", first + row + b"\n" + first)
    row, line = b"x" * (20 << 20) + b"\n", b'{"a":"' + b"x" * (20 << 20) + b'"}\n'
    write("csv/bomb.csv.gz", gz(row))
    write("csv/headed_bomb.csv.gz", gz(b"a\n" + row))
    write("csv/some_and_bomb.csv.gz", gz(b"a\n1\n2\n" + row))
    write("csv/packed.csv.gz", gz(b"x\n1\n2\n"))
    write("csv/long_field.csv.gz", gz(b"a,b\n" + b"x" * (3 << 20) + b",1\ny,2\n"))
    write("jsonl/bomb.jsonl.gz", gz(line))
    write("jsonl/some_and_bomb.jsonl.gz", gz(b'{"a":1}\n{"a":2}\n' + line))
    write("jsonl/long_text.jsonl.gz", gz(b'{"a":"' + b"x" * (3 << 20) + b'","b":1}\n{"a":"","b":2}\n'))
    for n in (16 << 20, (16 << 20) + 1, 17_000_000, 18_000_000):
        line = b'{"a":1,"b":"' + b"x" * (n - 14) + b'"}\n{"a":2}\n'
        write(f"jsonl/line_{n}.jsonl.gz", gz(line))
        write(f"jsonl/later_line_{n}.jsonl.gz", gz(b'{"a":0}\n' + line))
    for name in ("csv/plain.csv.gz", "csv/plain.csv.zst", "csv/plain.tgz"):
        write(name, b"x\n1\n2\n")
    write("jsonl/plain.jsonl.xz", b'{"x":1}\n{"x":2}\n')
    write("csv/nothing.csv.bz2", b"")
    write("npy/plain.npy.lz4", bytes(100))
    write("tar/plain.tar.gz", entry(b"a", b"1") + bytes(1024))
    write("csv/other.csv.zz", b"\x01\xff\0" * 9)
    write("jsonl/marked.jsonl", b'\xef\xbb\xbf\n{"a":1}\n\n{"a":2}\n{"a":3}')
    write("jsonl/two.jsonl", b'{"a":3,"b":4}\n')
    write("csv/two.csv", b"a,b\n1,2")
    write("csv/only_header.csv", b"text,half,number\n")
    write("csv/commented_header.csv", b"\n# a comment\ntext,half,number\r\n")
    write("csv/cut_header.csv", b"text,half,number")


# --- TFRecords ---
def masked_crc(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    crc ^= 0xffffffff
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff)


def framed(data):
    length = struct.pack("<Q", len(data))
    return length + masked_crc(length) + data + masked_crc(data)


def example(**features):
    """A tf.Example of lists of whole numbers below 128, and of floats."""
    def part(number, data):
        return bytes([number << 3 | 2, len(data)]) + data

    def feature(values):
        if isinstance(values[0], float):
            return part(2, part(1, struct.pack(f"<{len(values)}f", *values)))
        return part(3, part(1, bytes(values)))
    return part(1, b"".join(part(1, part(1, name.encode()) + part(2, feature(values))) for name, values in features.items()))


def records():
    write("example/sparse_outside.tfrecord", framed(example(ix=[2], val=[0.5])) + framed(example(ix=[12], val=[1.5])) +
          framed(example(ix=[9], val=[2.5])))


def columns():
    # Bad fields in each column: a plan that reads one column only must still find those of the others.
    write("columns/mixed.csv", b'id,name,x,n\n1,a,1.5,10\n2,b,2.5,\n3,c,oops,30\n4,"d ""quoted"" , text",4.5,40\n5,,5.5,50\n'
                               b"6,f,6.5,x60\nseven,g,7.5,70\n8,h,8.5,80\n")
    write("columns/mixed.jsonl", b'{"id": 1, "name": "a", "x": 1.5, "tags": ["p", "q"], "n": 10, "at": {"x": 1}}\n'
                                 b'{"id": 2, "name": "b", "x": 2, "tags": [], "at": {"x": 2}}\n'
                                 b'{"id": 3, "name": "c", "x": "oops", "tags": [], "n": null, "at": {"x": 3}}\n'
                                 b'{"id": 4, "name": "d", "x": 4.5, "tags": ["r", 7], "at": {"x": 4}}\n'
                                 b'{"id": 5, "x": 5.5, "tags": [], "at": {"x": 5}}\n'
                                 b'{"id": 6, "name": "f", "x": 6.5, "tags": [], "n": 60, "at": {"x": 6.5}}\n'
                                 b'{"id": "seven", "name": "g", "x": 7.5, "tags": [], "at": {"x": 7}}\n'
                                 b'{"id": 8, "name": "h", "x": 1e400, "tags": [], "at": {"x": 8}}\n'
                                 b'{"id": 9, "name": "i", "x": 9.5, "tags": ["s"], "at": {"x": 9}}\n')


def databases():
    for name, statements in {
        "mixed": "CREATE TABLE t(id, name, x, n); INSERT INTO t VALUES(1, 'a', 1.5, 10), (2, 'b', 2.5, NULL), (3, 'c', 'oops', 30), "
                 "(4, NULL, 4.5, 40), (5, 'e', 5.5, 'x50'), ('six', 'f', 6.5, 60), (7, 'g', 7, 70);",
        "types": "CREATE TABLE t(i, r, s, b, n); INSERT INTO t VALUES(1, 0.5, 'é', x'ff00', NULL);"
                 "INSERT INTO t VALUES(-9223372036854775808, 2, '', x'', 7);",
        "errors": "CREATE TABLE t(i); INSERT INTO t VALUES(1), (300), ('x'), (2), (NULL), (3);",
    }.items():
        path = DATA / f"sql/{name}.db"
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        db = sqlite3.connect(path)
        db.executescript("PRAGMA page_size=512; PRAGMA journal_mode=OFF; BEGIN;" + statements + "COMMIT;")
        db.close()
    write("sql/text.db", b"x" * 5000)


if __name__ == "__main__":
    for make in (tars, samples, zips, npys, tables, records, columns, databases):
        make()
