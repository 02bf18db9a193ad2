# SPDX-License-Identifier: Apache-2.0
"""cat, verify, count, head and convert over every format and codec, whole and damaged."""
import bz2
import gzip
import io
import json
import lzma
import pathlib
import shutil
import struct
import subprocess
import sys
import tarfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import GOLDEN, PROGRAM, ProgramTest, lines_of, main, sluice

PACKED = {"": lambda b: b, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
NPY = b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + b"{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }".ljust(117) + b"\n" + \
    struct.pack("<3q", 5, 6, 7)


def tar_of(members):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


CSV = b'a,b\n1,x\n2,"y\nz"\n3,"w""w"\n'
JSONL = b'{"a":1}\n\n{"a":2}\r\n{"a":3}\n'
FORMATS = {"a.csv": (CSV, 3), "a.jsonl": (JSONL, 3), "a.npy": (NPY, 3), "a.txt": (b"one\ntwo\n", 2), "notes": ("grün\n".encode(), 1),
           "a.tar": (tar_of({"x.txt": b"1", "y.txt": b"22"}), 2), "a.tfrecord": ((GOLDEN / "examples.tfrecord").read_bytes(), 6)}


class Formats(ProgramTest):
    def write(self, name, data):
        path = pathlib.Path(self.path(name))
        path.write_bytes(data)
        return path

    def test_verbs_take_every_format_behind_every_codec(self):
        for name, (data, records) in FORMATS.items():
            plain = self.ok("cat", self.write(name, data)).stdout
            if name == "a.tfrecord":
                records = len(plain.splitlines())
            self.assertEqual(len(plain.splitlines()), records, name)
            for suffix, pack in PACKED.items():
                path = self.write(name + suffix, pack(data))
                self.assertEqual(self.ok("cat", path).stdout, plain, path)
                self.assertIn(f"{path}: sound: {records} sound record", self.ok("verify", path).stdout)
                self.assertEqual(self.ok("count", path).stdout, f"{records}\n")
                self.assertEqual(self.ok("head", "-n", 1, path).stdout, plain.splitlines(True)[0])
                self.ok("convert", path, "-", "--to", "jsonl", "--quiet")
                self.assertIn("1 file", self.ok("cp", path, self.path("copy/"), "--overwrite").stderr)
                self.assertEqual(pathlib.Path(self.path("copy"), path.name).read_bytes(), path.read_bytes())

    def damaged(self, name, data, said, *options):
        """Exit 1, and what is wrong with which file is said."""
        path = self.write(name, data)
        done = sluice("verify", path, *options)
        self.assertEqual(done.returncode, 1, (done.stdout, done.stderr))
        self.assertIn(f"{path}: damaged: ", done.stdout)
        for words in [str(path), *([said] if isinstance(said, str) else said)]:
            self.assertIn(words, done.stderr)
        return done.stdout + done.stderr

    def test_damage_of_text_formats_is_told_with_its_place(self):
        self.damaged("a.jsonl", b'{"a":1}\n{"a":\n[1,2]\nx\n', ["line 2: ", "record 1", "line 4: "])
        self.damaged("b.jsonl", b'{"a":"\xff"}\n', "line 1: ")
        self.damaged("a.csv", b"a,b\n1,2\n3\n4,5,6\n", ["line 3", "line 4"])
        self.damaged("b.csv", b'a,b\n1,"2\n', "line 2")
        self.damaged("c.csv", b'a,b\n1,"2"x\n', "line 2")
        self.damaged("lines", b'{"a":\n', "line 1", "--from", "jsonl")

    def test_a_byte_order_mark_before_lines_of_json_is_no_damage(self):
        path = self.write("bom.jsonl", b"\xef\xbb\xbf" + JSONL)
        self.assertIn("sound: 3 ", self.ok("verify", path).stdout)
        self.assertEqual(lines_of(self.ok("cat", path)), [{"a": 1}, {"a": 2}, {"a": 3}])
        self.assertEqual(self.ok("count", path).stdout, "3\n")
        self.damaged("late.jsonl", b'{"a":1}\n\xef\xbb\xbf{"a":2}\n', "line 2: ")

    def test_columns_of_changing_types_are_no_damage(self):
        self.assertIn("sound: 201 ", self.ok("verify", self.write("a.csv", b"a\n" + b"1\n" * 200 + b"x\n")).stdout)
        self.assertIn("sound: 2 ", self.ok("verify", self.write("a.jsonl", b'{"a":1}\n["b"]\n')).stdout)

    def test_damage_of_arrays_and_archives_is_told(self):
        self.damaged("a.npy", NPY[:-1], "1 of 3")
        self.damaged("b.npy", NPY + b"xy", "bytes follow the 3 rows")
        self.damaged("c.npy", b"\x93NUMPY\x01\x00" + b"\xff" * 20, "a")
        whole = bytearray(tar_of({"x.txt": b"1", "y.txt": b"22"}))
        whole[1024 + 3] ^= 1
        self.damaged("a.tar", bytes(whole), "byte 1024")

    def test_damage_of_every_codec_is_told(self):
        for name, (data, _) in FORMATS.items():
            for suffix, pack in PACKED.items():
                if not suffix:
                    continue
                packed = bytearray(pack(data * (1 if suffix == ".npy" else 1)))
                packed[-5] ^= 0x10   # in a checksum, or in the last of the data
                path = self.write(name + suffix, bytes(packed))
                self.assertEqual(sluice("verify", path).returncode, 1, path)
                self.assertEqual(sluice("verify", self.write("cut" + name + suffix, bytes(pack(data)[:-6]))).returncode, 1, path)
        for file in sorted((GOLDEN / "codecs").iterdir()):
            if file.suffix in (".zst", ".lz4", ".sz", ".bz2", ".xz"):
                self.ok("verify", file, "--from", "lines")   # of random bytes
                self.assertEqual(sluice("verify", self.write(file.name, file.read_bytes()[:-3]), "--from", "lines").returncode, 1, file)

    def test_a_file_that_is_not_packed_as_its_name_says_is_told(self):
        for suffix in (".gz", ".tgz", ".zst", ".xz", ".bz2", ".lz4", ".snappy", ".zlib"):
            path = self.write("a.txt" + suffix, b"plain\ntext\n" * 9)
            said = self.damaged("a.txt" + suffix, b"plain\ntext\n" * 9, f"is named {suffix}, and is not compressed: rename it, or read it with --compression none")
            self.assertIn("byte 0", said)
            self.damaged("b.csv" + suffix, b"\x00\x01\xfe" * 99, "are not those of such a file")
            self.damaged("empty" + suffix, b"", "is empty: it was cut short")
            for verb in (["cat"], ["head"], ["count"], ["cat", "--from", "lines"], ["describe"]):
                said = self.fails(1, *verb, path)
                self.assertIn(f"data_loss: ", said)
                self.assertIn(f"is named {suffix}, and is not compressed: rename it, or read it with compression=none", said)
            self.fails(1, "convert", path, self.path("out.jsonl"))
            self.assertEqual(len(self.ok("run", f'lines("{path}", compression=none)', "--output", "jsonl").stdout.splitlines()), 18)
            self.assertIn("sound: 18 ", self.ok("verify", "--compression", "none", "--from", "lines", path).stdout)
        self.assertIn("sound: 0 ", self.ok("verify", self.write("empty.txt", b"")).stdout)

    def test_an_archive_that_was_cut_between_two_members_is_told(self):
        members = {"x.txt": b"1" * 700, "y.txt": b"22", "z.cls": b""}
        whole = tar_of(members)
        at = whole.rindex(b"z.cls\0")   # the last header
        for data, records in ((whole[:at], 2), (whole[:at + 512], 3), (whole[:at + 1024], 3), (b"", 0)):
            for pack in (bytes, gzip.compress):
                suffix = "" if pack is bytes else ".gz"
                said = self.damaged("a.tar" + suffix, pack(data), "the archive is incomplete")
                self.assertIn(f"{records} sound record" if records else "a.tar", said + sluice("verify", self.path("a.tar" + suffix)).stdout)
        for data in (whole, whole[:at + 1536], whole + bytes(7000), tar_of({"x.txt": b"1" * 9000, "n" * 300: b"long"})):
            for pack in (bytes, gzip.compress):
                suffix = "" if pack is bytes else ".gz"
                self.ok("verify", self.write("a.tar" + suffix, pack(data)))
        self.damaged("w.tar", whole[:at], "the archive is incomplete", "--from", "webdataset")

    def test_bytes_behind_the_end_are_reported_and_not_dropped(self):
        """Two archives, arrays or streams one behind the other: each reader ends with the first."""
        second = tar_of({"z.txt": b"333"})
        stream = self.path("a.arrow")
        self.ok("run", "range(3) | map({a: it})", "--quiet", "--output", f"arrow:{stream}")
        stream = pathlib.Path(stream).read_bytes()
        for name, data, more, records, plan in (("a.tar", FORMATS["a.tar"][0], second, 2, 'tar("{}")'), ("w.tar", FORMATS["a.tar"][0], second, 2, 'webdataset("{}")'),
                                                ("a.npy", NPY, NPY, 3, 'npy("{}")'), ("a.arrow", stream, stream, 3, 'from_arrow("{}") | unbatch'),
                                                ("j.tar", FORMATS["a.tar"][0], b"x" * 700, 2, 'tar("{}")'), ("j.arrow", stream, b"junk", 3, 'from_arrow("{}") | unbatch')):
            for suffix, pack in PACKED.items():
                path = self.write(name + suffix, pack(data + more))
                self.damaged(name + suffix, pack(data + more), f"{len(more)} bytes follow" if suffix == "" and name not in ("w.tar", "a.npy") else "bytes follow",
                             *(["--from", "webdataset"] if name == "w.tar" else []))
                done = sluice("run", "--quiet", "--output", "jsonl", plan.format(path))
                self.assertEqual((done.returncode, len(done.stdout.splitlines())), (1, records), (path, done.stderr))
                self.assertIn("follow", done.stderr)
                skipped = self.ok("run", "--output", "jsonl", plan.format(path), "--on-error", "skip")
                self.assertIn("1 bad element dropped", skipped.stderr)
                # An archive behind an archive is found, as behind any damage.
                self.assertEqual(len(skipped.stdout.splitlines()), records + (more is second), path)
                whole = self.write("whole" + name + suffix, pack(data))
                self.assertEqual(len(self.ok("run", "--quiet", "--output", "jsonl", plan.format(whole)).stdout.splitlines()), records)

    def test_folders_of_old_archives_are_no_files(self):
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w") as to:
            for name, kind in (("old/", tarfile.AREGTYPE), ("new/", tarfile.REGTYPE), ("dir", tarfile.DIRTYPE), ("old/a.txt", tarfile.AREGTYPE)):
                info = tarfile.TarInfo(name)
                info.type = kind
                info.size = 3 if name.endswith("txt") else 0
                header = bytearray(info.tobuf(tarfile.USTAR_FORMAT))
                if kind == tarfile.AREGTYPE and name.endswith("/"):   # tarfile takes the slash away from no other type
                    assert header[:4] == b"old/"
                to.fileobj.write(bytes(header))
                if info.size:
                    to.fileobj.write(b"abc".ljust(512, b"\0"))
                to.offset = to.fileobj.tell()
        path = self.write("old.tar", archive.getvalue())
        names = self.ok("run", "--quiet", "--output", "jsonl", f'tar("{path}") | map(name)').stdout.split()
        self.assertEqual(names, ['"old/a.txt"'])
        self.assertEqual(self.ok("count", path).stdout, "1\n")

    def test_a_damaged_schema_of_arrow_is_damage(self):
        path = self.path("s.arrow")
        self.ok("run", "range(3) | map({a: it, b: string(it)})", "--quiet", "--output", f"arrow:{path}")
        whole = pathlib.Path(path).read_bytes()
        for at in range(8, 200, 24):
            self.assertEqual(sluice("verify", self.write("cut.arrow", whole[:at])).returncode, 1, at)

    def test_what_does_not_fit_into_the_budget_is_not_read(self):
        path = self.path("bomb.zip")
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("zeros", bytes(150 << 20))
        done = sluice("verify", path, "--memory-budget", "16MiB")
        self.assertEqual((done.returncode, "not read" in done.stdout), (1, True), done.stderr)
        self.assertRegex(done.stderr, r"a piece of 157\d{6} bytes of this file is needed at once, and does not fit into the memory budget of 16MiB")
        self.assertNotIn("used up", done.stderr)

    def test_cat_prints_records_that_are_no_examples_as_head_does(self):
        examples = (GOLDEN / "examples.tfrecord").read_bytes()
        raw = GOLDEN / "raw.tfrecord"
        said = self.ok("cat", raw).stdout
        self.assertEqual(said, self.ok("head", "-n", 1000, raw).stdout)
        self.assertNotEqual(said, "")
        # Each file anew: tf.Examples behind texts are shown as tf.Examples.
        both = self.ok("cat", raw, GOLDEN / "examples.tfrecord", raw).stdout
        self.assertEqual(both, said + self.ok("cat", GOLDEN / "examples.tfrecord").stdout + said)
        # A text behind a tf.Example is an error, and damage is what is told.
        mixed = self.write("mixed.tfrecord", examples + raw.read_bytes())
        self.assertIn("no tf.Example", sluice("cat", mixed).stderr)
        cut = bytearray(raw.read_bytes())
        cut[12] ^= 1
        done = sluice("cat", self.write("cut.tfrecord", bytes(cut)))
        self.assertEqual(done.returncode, 1)
        self.assertIn("the crc of the data is", done.stderr)

    def test_empty_records_are_printed_alike(self):
        empty, text, example = (self.path(n) for n in ("empty", "text", "example"))
        self.ok("run", 'range(1) | map("")', "--output", f"tfrecord:{empty}", "--quiet")
        self.ok("run", 'range(1) | map("a")', "--output", f"tfrecord:{text}", "--quiet")
        self.ok("run", "range(1) | map({a: it})", "--output", f"example:{example}", "--quiet")
        parts = {"e": pathlib.Path(empty).read_bytes(), "t": pathlib.Path(text).read_bytes(), "x": pathlib.Path(example).read_bytes()}
        for order, wanted in (("ete", ["{}", '"a"', "{}"]), ("tet", ['"a"', '""', '"a"']), ("ee", ["{}", "{}"]), ("exe", ["{}", '{"a":0}', "{}"])):
            path = self.write("joined.tfrecord", b"".join(parts[n] for n in order))
            self.assertEqual(self.ok("cat", path).stdout.splitlines(), wanted, order)
            self.assertEqual(self.ok("head", path).stdout.splitlines(), wanted, order)

    def test_a_json_text_over_several_lines_is_not_read(self):
        for text in (b'{\n "a": 1\n}\n', b'[\n {"a":1}\n]', b'\n[{\n"a":1}]'):
            done = sluice("verify", self.write("a.json", text))
            self.assertEqual((done.returncode, "not read" in done.stdout, "damaged" in done.stdout), (1, True, False), done.stdout)
            self.assertIn("jq -c", done.stderr)
        done = sluice("verify", self.write("a.jsonl", b'{"a":1}\n{\n'))
        self.assertEqual((done.returncode, "damaged: 1 sound record" in done.stdout), (1, True), done.stdout)

    def test_a_dictionary_of_zstd_is_named(self):
        path = self.write("a.zst", bytes.fromhex("28b52ffd 21 07 00 010000"))
        for verb in ("cat", "verify", "head"):
            done = sluice(verb, path)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("needs the dictionary 7, and sluice reads none: `zstd -dc -D", done.stderr)

    def test_members_that_are_packed_in_unknown_ways_are_not_read(self):
        for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
            path = self.path("a.zip")
            with zipfile.ZipFile(path, "w", method) as archive:
                archive.writestr("other", b"1" * 1000)
            done = sluice("verify", path)
            self.assertEqual((done.returncode, "not read" in done.stdout), (2, True), done.stderr)

    def test_a_zip_that_cannot_be_read_from_its_end_is_refused(self):
        path = self.path("a.zip")
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("x", b"1\n2\n3\n")
        self.assertEqual(self.ok("count", path).stdout, "1\n")
        data = pathlib.Path(path).read_bytes()
        packed = self.write("a.zip.gz", gzip.compress(data))
        for verb in ("count", "head", "cat", "verify"):
            self.assertIn("is a zip archive, whose list of members is at its end", self.fails_with(verb, packed))
            for given in (data, gzip.compress(data)):
                done = subprocess.run([PROGRAM, verb, "-"], input=given, capture_output=True, timeout=60)
                self.assertEqual(done.returncode, 2, (verb, done.stdout, done.stderr))
                self.assertRegex(done.stderr, rb"standard input:? is a zip archive")

    def test_every_reader_has_a_cache_and_limits_of_what_it_inflates(self):
        plans = {"a.csv": 'csv("{}", header=true{})', "a.jsonl": 'jsonl("{}"{})', "a.npy": 'npy("{}"{})', "a.txt": 'lines("{}"{})',
                 "a.tar": 'tar("{}"{})', "b.tar": 'webdataset("{}"{})'}
        for name, plan in plans.items():
            data = FORMATS[name.replace("b.", "a.")][0]
            path = self.write(name + ".gz", gzip.compress(data))
            read = self.ok("run", "--quiet", "--output", "jsonl", plan.format(path, "")).stdout
            for options in (", cache=drop", ", cache=direct", f", inflated_bytes_max={len(data)}", ", inflate_ratio_max=1000"):
                self.assertEqual(self.ok("run", "--quiet", "--output", "jsonl", plan.format(path, options)).stdout, read, (name, options))
            done = sluice("run", "--quiet", plan.format(path, f", inflated_bytes_max={len(data) // 4}"))
            self.assertEqual(done.returncode, 1, (name, done.stderr))
            self.assertIn("which inflated_bytes_max allows", done.stderr)
        with zipfile.ZipFile(self.path("c.zip"), "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("x", b"1" * 5000)
        for cache in ("keep", "drop", "direct"):
            self.ok("run", "--quiet", f'zip_members("{self.path("c.zip")}", cache={cache})')

    def fails_with(self, *arguments):
        done = sluice(*arguments)
        self.assertEqual(done.returncode, 2, (arguments, done.stdout, done.stderr))
        return done.stderr

    def test_files_that_no_name_and_no_content_tells_are_not_read(self):
        self.assertIn("is in no format that sluice knows", self.fails_with("verify", self.write("nameless", b"\x00\x01\x02" * 100)))
        self.assertIn("not_found", sluice("verify", self.path("none")).stderr)
        self.assertEqual(sluice("verify", self.path("none")).returncode, 1)

    def test_cat_reads_as_told(self):
        path = self.write("data", CSV)
        self.assertEqual(lines_of(self.ok("cat", "--from", "csv", path))[0], {"a": 1, "b": "x"})
        self.assertEqual(lines_of(self.ok("cat", "--from", "lines", path))[0], "a,b")
        self.assertEqual(lines_of(self.ok("cat", "--from", "webdataset", self.write("a.tar", FORMATS["a.tar"][0])))[0]["key"], "x")
        self.assertIn("--from", self.fails(2, "cat", "--from", "xml", path))


if __name__ == "__main__":
    main()
