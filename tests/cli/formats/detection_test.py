#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One detection of what a file holds, in every verb that reads files: by its content, by its name, or refused with exit status 2."""
import bz2
import gzip
import json
import lzma
import os
import pathlib
import pickle
import sqlite3
import struct
import subprocess
import sys
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import GOLDEN, PROGRAM, ProgramTest, lines_of, main, sluice

NOISE = bytes(range(256)) * 8
PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
LZMA = lzma.compress(b"one\ntwo\n" * 50, lzma.FORMAT_ALONE)
TEXT = "one\ntwo\nzwölf\n" * 40

# A format, its bytes, and the words that name it and what reads it.
UNREAD = {
    "orc": (b"ORC\x0a\x0b" + NOISE + b"\x08\x03ORC\x17", "an ORC file", "pyarrow.orc"),
    "avro": (b"Obj\x01\x04\x16avro.schema" + NOISE, "an Avro file", "fastavro"),
    "feather 1": (b"FEA1\0\0\0\0" + NOISE + b"FEA1", "a Feather file of version 1", "pyarrow.feather"),
    "sqlite": (b"SQLite format 3\0" + NOISE, "an SQLite database", "select * from"),
    "pdf": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n", "a PDF document", "pdftotext"),
    "hdf5": (b"\x89HDF\r\n\x1a\n" + NOISE, "an HDF5 file", "h5dump"),
    "hdf5 behind a user block": (b"user block".ljust(512, b" ") + b"\x89HDF\r\n\x1a\n" + NOISE, "an HDF5 file", "h5py"),
    "png": (PNG + NOISE, "a PNG image", "decode_image(read_file(it))"),
    "jpeg": (b"\xff\xd8\xff\xe0\x00\x10JFIF" + NOISE, "a JPEG image", "decode_image(read_file(it))"),
    "gif": (b"GIF89a\x01\x00\x01\x00" + NOISE, "a GIF image", "decode_image(read_file(it))"),
    "webp": (b"RIFF\x24\x00\x00\x00WEBPVP8 " + NOISE, "a WebP image", "decode_image(read_file(it))"),
    "bmp": (b"BM\x36\x00\x00\x00\x00\x00" + NOISE, "a BMP image", "decode_image(read_file(it))"),
    "tiff": (b"II*\x00\x08\x00\x00\x00" + NOISE, "a TIFF image", "ImageMagick"),
    "wav": (b"RIFF\x24\x00\x00\x00WAVEfmt " + NOISE, "a WAV file", "decode_wav(read_file(it))"),
    "rf64": (b"RF64\xff\xff\xff\xffWAVEds64" + NOISE, "a WAV file", "decode_wav(read_file(it))"),
    "mp3": (b"ID3\x03\x00\x00" + NOISE, "an MP3 file", "ffmpeg"),
    "flac": (b"fLaC\x00\x00\x00\x22" + NOISE, "a FLAC file", "ffmpeg"),
    "ogg": (b"OggS\x00\x02" + NOISE, "an Ogg file", "ffmpeg"),
    "mp4": (b"\x00\x00\x00\x20ftypisom" + NOISE, "an MP4 file", "ffmpeg"),
    "cpio in ASCII": (b"070701" + b"00000001" + b"000081A4" + b"00000000" * 9 + b"00000006" + b"00000000" + b"a.txt\nhello\n" * 9, "a cpio archive", "cpio -id"),
    "old cpio in ASCII": (b"070707" + b"000001" * 8 + b"00000000001" + b"000006" + b"00000000005" + b"a.txt\nhello\n", "a cpio archive", "cpio -id"),
    "orc without nul": (b"ORC\x0a\x06\x12\x04" + b"text" * 400 + b"\x08\x03ORC\x17", "an ORC file", "pyarrow.orc"),
    "7z": (b"7z\xbc\xaf\x27\x1c" + NOISE, "a 7z archive", "7z x"),
    "rar": (b"Rar!\x1a\x07\x01\x00" + NOISE, "a RAR archive", "unrar"),
    ".Z": (b"\x1f\x9d\x90" + NOISE, "compressed by compress", "gzip -dc"),
    "lzma": (LZMA, "compressed by lzma", "xz -dc"),
    "lzip": (b"LZIP\x01\x14" + NOISE, "compressed by lzip", "lzip -dc"),
    "legacy lz4": (b"\x02\x21\x4c\x18\x0a\x00\x00\x00" + NOISE, "the legacy format of lz4", "lz4 -dc"),
    "pickle": (pickle.dumps([1.5, "x"], 4), "a Python pickle", "pickle.load"),
    "elf": (b"\x7fELF\x02\x01\x01\x00" + NOISE, "an ELF program", "which sluice does not read"),
    "utf-16 le": (b"\xff\xfe" + TEXT.encode("utf-16-le"), "a text in UTF-16,", "iconv -f UTF-16 -t UTF-8"),
    "utf-16 be": (b"\xfe\xff" + TEXT.encode("utf-16-be"), "a text in UTF-16,", "iconv -f UTF-16 -t UTF-8"),
    "utf-16 le without a mark": ("a,b\n1,2\n".encode("utf-16-le"), "a text in UTF-16LE,", "iconv -f UTF-16LE"),
    "utf-16 be without a mark": ("a,b\n1,2\n".encode("utf-16-be"), "a text in UTF-16BE,", "iconv -f UTF-16BE"),
    "utf-32": (TEXT.encode("utf-32"), "a text in UTF-32,", "iconv -f UTF-32"),
    "utf-32 without a mark": (TEXT.encode("utf-32-be"), "a text in UTF-32BE,", "iconv -f UTF-32BE"),
    "latin 1": ("naïve\n".encode("latin1") * 50, "byte 2 is not UTF-8", "iconv -f LATIN1"),
    "windows-1252": ("na\xefve \u201cquoted\u201d\n".encode("cp1252") * 50, "byte 2 is not UTF-8", "iconv -f WINDOWS-1252"),
    "noise": (b"\x00\x01\x02" * 100, "byte 0 is NUL", "--from FORMAT"),
    "late nul": (b"x" * 1000 + b"\0", "byte 1000 is NUL", "--from FORMAT"),
}
VERBS = [["cat"], ["head"], ["count"], ["verify"], ["select", "a"], ["explain"], ["run"]]


class Detection(ProgramTest):
    def test_a_plan_that_reads_csv_in_another_encoding_warns(self):
        """A reader that a plan names is used, but what it prints is not what its user expects."""
        latin = self.write("latin1.csv", "name\ncaf\xe9\n".encode("latin1"))
        word = f"byte 8 of {latin} is not UTF-8"
        for plan in (f'csv("{latin}")', f'csv("{latin}", "name: string", header=true, parallelism=2)', f'csv("{latin}", "name: string") | batch(2)'):
            self.assertIn(word, self.ok("run", plan, "--output", "jsonl").stderr)
        for good in ("name\ncaf\xe9\n", "name\n" + "x" * 65_530 + "\xe9\n"):  # the second has a character across the part that is looked at
            self.assertNotIn("UTF-8", self.ok("run", f'csv("{self.write("good.csv", good.encode())}")', "--output", "null").stderr)

    def test_a_build_without_parquet_says_how_it_is_written(self):
        rows = self.write("rows.csv", b"a,b\n1,2\n")
        done = sluice("convert", rows, self.path("o.parquet"))
        if done.returncode == 0:   # a build with Arrow C++
            return
        self.assertEqual(done.returncode, 2)
        arrow = self.path("o.arrow")
        self.assertIn(f"write {arrow}, and convert it: python3 -c", done.stderr)
        self.assertIn(f"a.ipc.open_stream('{arrow}')", done.stderr)
        self.ok("convert", rows, arrow)

    def test_a_table_without_bytes_has_no_rows(self):
        rows = self.write("rows.csv", b"a,b\n1,2\n")
        blank = {"e.csv": b"", "e.tsv": b"", "mark.csv": b"\xef\xbb\xbf", "lines.csv": b"\r\n\n", "e.csv.gz": gzip.compress(b"")}
        for name, data in blank.items():
            path = self.write(name, data)
            note = f"note: {path} is empty: it has no header, and no rows\n"
            for verb, out in ((["cat"], ""), (["head"], ""), (["count"], "0\n"), (["select", "a"], ""), (["head", "--output", "csv"], ""),
                              (["describe"], "0 rows\n"), (["cat", "--from", "csv"], ""), (["count", "--delimiter", ";"], "0\n")):
                with self.subTest(name=name, verb=verb):
                    done = self.ok(*verb, path)
                    self.assertEqual((done.stdout, done.stderr), (out, note))
            self.assertIn(f"{path}: sound: ", self.ok("verify", path).stdout)
            self.assertEqual(self.ok("cat", path, rows).stdout, '{"a":1,"b":2}\n')
            self.assertEqual(self.ok("head", path, "--schema", "a: int64, b: int64").stdout, "")
            out = self.path("out.jsonl")
            self.ok("convert", "--overwrite", path, out)
            self.assertEqual(pathlib.Path(out).read_bytes(), b"")
            self.ok("convert", "--overwrite", path, rows, out)
            self.assertEqual(pathlib.Path(out).read_text(), '{"a":1,"b":2}\n')
            for other in ("out.csv", "out.arrow"):
                self.assertIn("give a schema", self.fails(1, "convert", path, self.path(other)))
                self.ok("convert", path, self.path(other), "--schema", "a: int64, b: int64")
                os.remove(self.path(other))
            self.fails(1, "run", f'csv("{path}", header=true)', "--output", "jsonl")
        done = subprocess.run([PROGRAM, "count", "--from", "csv", "-"], input=b"", capture_output=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (0, b"0\n"), done.stderr)
        header = self.write("header.csv", b"a,b\n")
        for verb, out in ((["cat"], ""), (["count"], "0\n"), (["select", "a"], "")):
            done = self.ok(*verb, header)
            self.assertEqual((done.stdout, done.stderr), (out, ""))
        self.assertIn("a       string", self.ok("describe", header).stdout)
        self.ok("convert", header, self.path("header.out.csv"))
        self.assertEqual(pathlib.Path(self.path("header.out.csv")).read_text(), "a,b\n")

    def write(self, name, data):
        path = pathlib.Path(self.path(name))
        path.write_bytes(data)
        return path

    def refused(self, *arguments, words=()):
        done = sluice(*arguments)
        self.assertEqual((done.returncode, done.stdout if arguments[0] != "verify" else ""), (2, ""), (arguments, done.stderr))
        for word in words:
            self.assertIn(word, done.stderr, arguments)
        return done

    def test_every_verb_refuses_formats_that_it_does_not_read(self):
        for number, (kind, (data, *words)) in enumerate(UNREAD.items()):
            path = self.write(f"f{number}", data)
            for verb in VERBS:
                with self.subTest(kind=kind, verb=verb):
                    done = self.refused(*verb, path, words=[str(path), *words])
                    if verb == ["verify"]:
                        self.assertIn(f"{path}: not read", done.stdout)
            out = self.path("out.jsonl")
            self.refused("convert", path, out, words=words)
            self.assertFalse(os.path.exists(out), kind)

    def test_standard_input_is_detected_like_a_file(self):
        for kind, (data, what, way_out) in UNREAD.items():
            for verb in (["cat"], ["head"], ["count"], ["verify"], ["select", "a"]):
                with self.subTest(kind=kind, verb=verb):
                    done = subprocess.run([PROGRAM, *verb, "-"], input=data, capture_output=True, timeout=60)
                    self.assertEqual(done.returncode, 2, (done.stdout[:200], done.stderr))
                    self.assertIn(what, done.stderr.decode())
        done = subprocess.run(["bash", "-c", f'{PROGRAM} head <(printf "PAR1\\0\\1")'], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, "a Parquet file" in done.stderr), (2, True), done.stderr)
        done = subprocess.run([PROGRAM, "cat", "-"], input="grün\n" * 3, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout.splitlines()), (0, ['"grün"'] * 3), done.stderr)

    def test_compressed_files_are_detected_by_what_is_in_them(self):
        for pack, suffix in ((gzip.compress, ".gz"), (bz2.compress, ".bz2"), (lzma.compress, ".xz")):
            for kind in ("avro", "png", "noise", "utf-16 le"):
                data, *words = UNREAD[kind]
                for verb in (["cat"], ["head"], ["count"], ["verify"]):
                    self.refused(*verb, self.write("packed" + suffix, pack(data)), words=words[:1])
        # Random bytes do not become a text in a compressed file either.
        self.refused("cat", self.write("random.gz", gzip.compress(os.urandom(5000))))

    def test_a_suffix_of_a_format_that_is_not_read_is_enough(self):
        for name, word in (("a.br", "brotli -dc"), ("a.lzma", "xz -dc"), ("a.Z", "gzip -dc"), ("a.h5", "h5dump"),
                           ("a.PNG", "decode_image"), ("a.parquet.gz", "Parquet file"), ("a.pkl", "pickle.load"), ("a.7z", "7z x")):
            data = b"some text\n" if not name.endswith(".gz") else gzip.compress(b"some text\n")
            self.refused("cat", self.write(name, data), words=[word])

    def test_a_known_suffix_wins_unless_the_content_is_of_another_format(self):
        damaged = bytearray((GOLDEN / "examples.tfrecord").read_bytes())
        damaged[0] ^= 1
        for data in (bytes(damaged), NOISE, b"\xff\xfe" * 300, b"\x80\x02" + NOISE, b"\0" * 500, b"\x1f\x9d\x90" + NOISE, b"plain text\n" * 9):
            path = self.write("a.tfrecord", data)
            for verb in ("cat", "verify", "count"):
                done = sluice(verb, path)
                self.assertEqual(done.returncode, 1, (data[:8], verb, done.stdout, done.stderr))
                self.assertIn("data_loss", done.stderr)
        for name, data in (("a.jsonl", b'{"a":1}\n{"a"\xff}\n'), ("a.npy", NOISE), ("a.arrow", NOISE), ("a.tar", NOISE), ("a.zip", NOISE)):
            self.assertEqual(sluice("verify", self.write(name, data)).returncode, 1, name)
        for name in ("a.tfrecord", "a.csv", "a.jsonl", "a.npy", "a.txt", "data.tfrecord-00000-of-00002"):
            for kind in ("orc", "png", "sqlite", "avro", "7z"):
                for verb in ("cat", "verify", "count", "head"):
                    self.refused(verb, self.write(name, UNREAD[kind][0]), words=UNREAD[kind][1:])
        for name in ("a.csv", "a.jsonl", "a.txt"):
            for kind in ("utf-16 le", "utf-16 be without a mark"):
                self.refused("verify", self.write(name, UNREAD[kind][0]), words=["UTF-16"])
        # A format that sluice reads is read, whatever the name says.
        examples = self.ok("cat", GOLDEN / "examples.tfrecord").stdout
        self.assertEqual(self.ok("cat", self.write("records.csv", (GOLDEN / "examples.tfrecord").read_bytes())).stdout, examples)
        # A text in another encoding is refused whatever its name, and a damaged field is not.
        for name in ("a.txt", "a.csv", "a.tsv"):
            for kind in ("latin 1", "windows-1252"):
                for verb in ("cat", "head", "count", "verify", "describe"):
                    said = self.refused(verb, self.write(name, UNREAD[kind][0]), words=UNREAD[kind][1:])
                    self.assertIn("> out" + name[1:], said.stderr)
            self.ok("cat", self.write(name, b"a,b\n1,ab\xe9\n"), "--from", "lines" if name == "a.txt" else name[2:])
        self.assertEqual(self.ok("cat", self.write("a.csv", b"a,b\n1,\x01\xe9\n")).stdout, '{"a":1,"b":{"base64":"Aek="}}\n')
        # What a server or a version control has left in place of the data.
        pages = ((b"<!DOCTYPE html>\n<html>404</html>\n", "an HTML page"), (b"\xef\xbb\xbf<HTML><body>x</body></HTML>\n", "an HTML page"),
                 (b'<?xml version="1.0"?>\n<Error/>\n', "an XML document"))
        for name in ("a.csv", "a.tsv", "a.jsonl", "a.tfrecord", "a.npy", "a.arrow", "a.tar"):
            for data, words in pages:
                for verb in ("cat", "count", "verify"):
                    self.refused(verb, self.write(name, data), words=[words, "`cat "])
            self.refused("head", self.write(name, b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"),
                         words=["a pointer of Git LFS", "`git lfs pull`"])
        self.refused("head", self.write("a.parquet", b"version https://git-lfs.github.com/spec/v1\n"), words=["Git LFS"])
        self.ok("cat", self.write("a.html", pages[0][0]))
        self.refused("cat", self.write("a.csv", b"sep=;\r\na;b\r\n1;2\r\n"), words=["Excel's sep=;", "tail -n +2"])
        self.assertEqual(self.ok("cat", self.write("a.csv", b"sep=a,b\n1,2\n")).stdout, '{"sep=a":1,"b":2}\n')
        self.refused("cat", self.write("a.json", b'\x1e{"a":1}\n\x1e{"a":2}\n'), words=["RFC 7464", "tr -d"])
        for name in ("a.csv.gz", "a.csv.gz.gz", "a"):
            for inner in (gzip.compress(b"a,b\n1,2\n"), bz2.compress(b"a,b\n1,2\n" * 9)):
                self.refused("cat", self.write(name, gzip.compress(inner)), words=["is compressed twice"])
        # A suffix that the lines contradict.
        table, objects = b"a,b\n1,2\n", b'{"a":1,"b":2}\n{"a":3,"b":4}\n'
        for name, data, words in (("a.jsonl", table, "is named .jsonl, and contains CSV: --from csv reads it"),
                                  ("a.csv", objects, "is named .csv, and contains JSON lines: --from jsonl reads it"),
                                  ("a.tsv", objects, "is named .tsv, and contains JSON lines: --from jsonl reads it")):
            for verb in ("cat", "head", "count", "verify", "describe"):
                self.refused(verb, self.write(name, data), words=[words])
            self.ok("cat", self.path(name), "--from", "csv" if data is table else "jsonl")
        # Words that begin like a format, and digits, are text.
        for data in (b"ORCHID,rose\n1,2\n", b"ORC\n", b"070701 is a number\n", b"07070100 12\n"):
            self.ok("cat", "--from", "lines", self.write("word", data))
            self.ok("cat", self.write("word", data))
            done = subprocess.run([PROGRAM, "cat", "-"], input=data, capture_output=True, timeout=60)
            self.assertEqual(done.returncode, 0, (data, done.stderr))
        # A text file has no structure that could be damaged.
        self.refused("cat", self.write("a.txt", NOISE), words=["NUL"])
        # The suffix of a compression does not make another compression damage.
        for name in ("a.lz4", "a.csv.lz4", "a.gz"):
            for kind in ("legacy lz4", "lzip"):
                for verb in ("cat", "count", "head", "verify"):
                    self.refused(verb, self.write(name, UNREAD[kind][0]), words=UNREAD[kind][1:])
        # Bytes that are no compressed data, in a file that is named so, are damage.
        for verb in ("cat", "count", "head", "verify"):
            self.assertEqual(sluice(verb, self.write("n.gz", NOISE)).returncode, 1, verb)

    def test_a_table_without_a_valid_header_is_of_a_known_format(self):
        """All verbs end with 1: the arguments are right."""
        for data, verdict in ((b'a"x,b\n1,2\n', "damaged"), (b'a,"b\n1,2\n', "damaged"), (b"a,b\n1\n", "damaged")):
            path = self.write("a.csv", data)
            for options in ([], ["--from", "csv"]):
                self.assertEqual(sluice("cat", path, *options).returncode, 1, data)
                done = sluice("verify", path, *options)
                self.assertEqual((done.returncode, done.stdout.startswith(f"{path}: {verdict}")), (1, True), (data, done.stdout, done.stderr))
        self.refused("verify", self.write("a.csv", b"a,b\n1,2\n"), "--schema", "a", words=["--schema"])
        self.refused("verify", self.write("a.txt", b"a\n"), "--delimiter", ";", words=["--delimiter applies to CSV"])

    def test_texts_that_begin_like_a_magic_word_are_texts(self):
        for text in ("PAR1, PAR2\n1, 2\n", "ORC is no elf\n", "BMW\n", "GIF89a is a format\n", "ID3,name\n", "P5 was a processor\n", "MZ\n",
                     "070701\n", "FEA1\n", "RIFF1234WAVE\n", "x^2\n", "BZh9\n", "é" * 600):
            path = self.write("note", text.encode())
            self.assertEqual([json.loads(line) for line in self.ok("cat", path).stdout.splitlines()], text.splitlines(), text)
        whole = ("x" * 1023 + "é\n").encode()   # a character that the end of the KiB parts
        self.assertEqual(self.ok("count", self.write("note", whole)).stdout, "1\n")
        self.refused("count", self.write("note", b"abc\xc3"), words=["byte 3 is not UTF-8"])

    def test_from_and_readers_in_plans_read_any_bytes(self):
        path = self.write("x", UNREAD["orc"][0])
        lines = UNREAD["orc"][0].count(b"\n") + 1
        for verb in ("cat", "head"):
            self.assertEqual(len(self.ok(verb, "--from", "lines", path).stdout.splitlines()), lines)
        self.assertEqual(self.ok("count", "--from", "lines", path).stdout, f"{lines}\n")
        self.assertEqual(self.ok("count", f'lines("{path}")').stdout, f"{lines}\n")
        self.ok("verify", "--from", "lines", path)
        self.assertEqual(lines_of(self.ok("select", "a", self.write("rows", b"a,b\n1,2\n"), "--from", "csv")), [{"a": 1}])
        self.assertIn("--from is the format of a file, and range(3) is a plan", self.fails(2, "count", "range(3)", "--from", "csv"))

    def test_what_cannot_be_opened_is_told_as_such(self):
        for verb in ("cat", "verify"):
            done = sluice(verb, self.path("none.jsonl"))
            self.assertIn("not_found", done.stderr)
            self.assertNotIn("tfrecord", done.stderr)

    def test_the_plan_that_is_proposed_runs(self):
        path = self.path("people.db")
        with sqlite3.connect(path) as db:
            db.execute("create table people(name text)")
            db.execute("insert into people values ('Ada')")
        said = self.fails(2, "cat", path)
        plan = said[said.index("sql("):said.index(" reads")].replace("TABLE", "people")
        self.assertEqual(lines_of(self.ok("run", "--quiet", "--output", "jsonl", plan)), [{"name": "Ada"}])
        rows = zlib.compress(b"\0\x07")
        chunk = lambda name, data: struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        image = self.write("one pixel", b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)) + chunk(b"IDAT", rows) + chunk(b"IEND", b""))
        said = self.fails(2, "count", image)
        plan = said[said.index("list_files("):said.index(" reads it")]
        self.assertEqual(lines_of(self.ok("run", "--quiet", "--output", "jsonl", plan)), [[[[7]]]])

    def test_the_delimiter_of_a_table_is_detected(self):
        for name, mark in (("a.tsv", "\t"), ("a.tab", "\t"), ("tabs.csv", "\t"), ("semicolons.csv", ";"), ("bars.csv", "|"), ("commas.csv", ",")):
            price = "1.5" if mark == "," else "1,5"
            text = "".join(mark.join(row) + "\r\n" for row in (["id", "price"], ["1", price], ["2", f'"2{mark}5"'])).encode()
            value = 1.5 if mark == "," else "1,5"
            for path in (self.write(name, text), self.write(name + ".gz", gzip.compress(text))):
                rows = lines_of(self.ok("head", path))
                self.assertEqual([list(r) for r in rows], [["id", "price"]] * 2, path)
                self.assertEqual([rows[0]["id"], rows[1]["price"]], [1, f"2{mark}5"], path)
                self.assertEqual(str(rows[0]["price"]), str(value), path)
                self.assertEqual(lines_of(self.ok("cat", path)), rows, path)
                self.assertEqual(lines_of(self.ok("select", "id", path)), [{"id": 1}, {"id": 2}], path)
                self.assertEqual(self.ok("count", path).stdout.split()[0], "2", path)
                self.ok("verify", path)
                out = self.path("out.jsonl")
                self.ok("convert", "--quiet", "--overwrite", path, out)
                self.assertEqual([json.loads(line) for line in pathlib.Path(out).read_text().splitlines()], rows, path)

    def test_text_in_one_column_is_not_split(self):
        for name, text in (("a.csv", b"note\na;b\nc\n"), ("b.csv", b"note;s\na;b\nc\n"), ("c.csv", b'"x;y"\n1\n2\n'), ("d.tsv", b"a;b\n1;2\n")):
            for row in lines_of(self.ok("head", self.write(name, text))):
                self.assertEqual(len(row), 1, (name, row))

    def test_from_tsv_names_the_delimiter(self):
        path = self.write("rows", b"a\tb\n1\t2\n")
        self.assertEqual(lines_of(self.ok("head", path, "--from", "tsv")), [{"a": 1, "b": 2}])
        self.assertEqual(self.ok("count", path, "--from", "tsv").stdout.split()[0], "1")
        self.ok("verify", path, "--from", "tsv")


if __name__ == "__main__":
    main()
