# SPDX-License-Identifier: Apache-2.0
"""Zip archives that Python's zipfile wrote, as sluice reads them."""
import base64
import io
import pathlib
import random
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import ProgramTest, lines_of, main, sluice


def bytes_of(value):
    return base64.b64decode(value["base64"]) if isinstance(value, dict) else value.encode()


class Unseekable(io.RawIOBase):
    """What zipfile writes to it has its sizes behind the data."""

    def __init__(self, to):
        self.to = to

    def writable(self):
        return True

    def write(self, data):
        return self.to.write(data)

    def flush(self):
        self.to.flush()


class Archives(ProgramTest):
    def write(self, path, rng, files=40, in_front=b"", unseekable=False, comment=b""):
        with open(path, "wb") as file:
            file.write(in_front)
            with zipfile.ZipFile(Unseekable(file) if unseekable else file, "w") as archive:
                archive.comment = comment
                for i in range(files):
                    if rng.random() < 0.2:
                        archive.writestr(f"folder{i}/", b"")
                    name = "folder/" * rng.randint(0, 3) + rng.choice(["a", "é", "n" * 200]) + str(i)
                    data = rng.randbytes(rng.choice([0, 1, 500, 70_000]))
                    data = data * rng.choice([1, 1, 20])
                    info = zipfile.ZipInfo(name)
                    info.compress_type = rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
                    with archive.open(info, "w", force_zip64=rng.random() < 0.3) as member:
                        member.write(data)

    def found(self, path):
        return [(e["name"], bytes_of(e["bytes"])) for e in lines_of(self.ok("run", f'zip_members("{path}")', "--output", "jsonl"))]

    def test_npz_files_give_their_arrays(self):
        expected = [{"name": "weights.npy", "array": [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]}, {"name": "bias.npy", "array": 0.5},
                    {"name": "names.npy", "array": ["a", "é"]}, {"name": "none.npy", "array": []}]
        for name in ("stored", "deflated"):
            path = pathlib.Path(f"tests/golden/npy/{name}.npz").resolve()
            self.assertEqual(lines_of(self.ok("head", path)), expected)
            self.assertEqual(self.ok("count", path).stdout, "4\n")
            self.assertIn("sound: 4 sound records", self.ok("verify", path).stdout)
            damaged = bytearray(path.read_bytes())
            damaged[damaged.index(b"weights.npy") + 100] ^= 1  # within the first member's bytes
            copy = self.path(f"{name}.npz")
            pathlib.Path(copy).write_bytes(damaged)
            out = sluice("verify", copy)
            self.assertEqual(out.returncode, 1, out.stdout)
            self.assertIn("damaged", out.stdout)
        objects = sluice("cat", pathlib.Path("tests/golden/npy/objects.npz").resolve())
        self.assertEqual(objects.returncode, 2)
        self.assertIn("decode_npy: the dtype '|O' is not read: its items are pickled objects", objects.stderr)

    def test_what_zipfile_writes_is_read(self):
        for seed in range(8):
            path = self.path(f"{seed}.zip")
            self.write(path, random.Random(seed), in_front=b"#!/bin/sh\n" * (seed % 2), unseekable=seed % 3 == 0, comment=b"c" * (seed * 5000))
            with zipfile.ZipFile(path) as archive:
                theirs = [(i.filename, archive.read(i)) for i in archive.infolist() if not i.is_dir()]
            self.assertEqual(self.found(path), theirs, seed)
            self.assertEqual(self.ok("count", path).stdout.strip(), str(len(theirs)))
            self.assertIn("sound", self.ok("verify", path).stdout)

    def test_bytes_after_an_archive_are_reported_after_its_members(self):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as z:
            z.writestr("a.txt", "hello")
            z.comment = b"a comment"
        whole = packed.getvalue()
        for more in (b"\n", b"\0" * 512, b"PK"):
            path = pathlib.Path(self.path("a.zip"))
            path.write_bytes(whole + more)
            for verb in ("cat", "verify"):
                done = sluice(verb, path)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(f"{len(more)} byte", done.stderr)
                self.assertIn(f"the end of the archive", done.stderr)
                self.assertIn(f"`head -c {len(whole)} FILE`", done.stderr)
            self.assertIn('"a.txt"', sluice("cat", path).stdout)
            self.assertIn('"a.txt"', self.ok("cat", path, "--on-error", "skip").stdout)
            path.write_bytes(path.read_bytes()[:len(whole)])
            self.assertIn("1 sound", self.ok("verify", path).stdout)

    def test_damage_that_zipfile_notices_is_noticed(self):
        path = self.path("a.zip")
        self.write(path, random.Random(3), files=12)
        whole = pathlib.Path(path).read_bytes()
        rng = random.Random(4)
        for _ in range(60):
            damaged = bytearray(whole)
            damaged[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
            pathlib.Path(path).write_bytes(damaged)
            try:
                with zipfile.ZipFile(path) as archive:
                    theirs = [(i.filename, archive.read(i)) for i in archive.infolist() if not i.is_dir()]
            except (zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError, EOFError, UnicodeDecodeError):
                theirs = None
            except Exception as e:  # zlib's own
                theirs = None if type(e).__name__ == "error" else self.fail(e)
            done = sluice("run", f'zip_members("{path}")', "--output", "jsonl")
            self.assertIn(done.returncode, (0, 1))
            if done.returncode == 0 and theirs is None:
                continue  # versions, times and what else nobody needs, of which zipfile checks some
            if done.returncode == 0:
                ours = [bytes_of(e["bytes"]) for e in lines_of(done)]
                self.assertTrue(set(ours) <= {data for _, data in theirs} | {b""})

    def test_encrypted_and_foreign_members_are_refused_by_name(self):
        path = self.path("a.zip")
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("secret", b"1")
        data = bytearray(pathlib.Path(path).read_bytes())
        data[data.rindex(b"PK\x01\x02") + 8] |= 1
        pathlib.Path(path).write_bytes(data)
        said = self.fails(2, "run", f'zip_members("{path}")', "--quiet")
        self.assertIn('member "secret": is encrypted', said)
        with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
            archive.writestr("other", b"1")
        self.assertIn('member "other": is packed by method 14', self.fails(2, "run", f'zip_members("{path}")', "--quiet"))
        self.assertIn("not read", sluice("verify", path).stdout)

    def test_a_run_over_archives_goes_on(self):
        for i in range(3):
            self.write(self.path(f"{i}.zip"), random.Random(i), files=10)
        plan = f'list_files("{self.path("*.zip")}") | interleave(zip_members, cycle_length=2)'
        whole = self.ok("run", plan, "--output", "jsonl").stdout.splitlines()
        for n in (1, 7, 13):
            first = self.ok("run", plan, "--output", "jsonl", "--limit", n, "--checkpoint", self.path("c")).stdout.splitlines()
            rest = self.ok("run", plan, "--output", "jsonl", "--resume", self.path("c"), "--new-output").stdout.splitlines()
            self.assertEqual(first + rest, whole)

    def test_an_archive_before_another_is_reported(self):
        path = self.path("a.zip")
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a.txt", b"text")
        data = pathlib.Path(path).read_bytes()
        pathlib.Path(path).write_bytes(b"#!/bin/sh\nexit 0\n" * 9 + data)   # as archives that unpack themselves
        self.assertIn("sound: 1 sound record", self.ok("verify", path).stdout)
        pathlib.Path(path).write_bytes(data + data)
        for verb in ("verify", "cat", "count"):
            done = sluice(verb, path)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(f"{len(data)} bytes precede the archive, which begin another one", done.stderr)
        self.assertEqual(lines_of(sluice("cat", path)), [{"name": "a.txt", "bytes": "text", "offset": len(data)}])

    def test_an_archive_is_recognised(self):
        path = self.path("nameless")
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a.txt", b"text")
        self.assertEqual(lines_of(self.ok("head", path)), [{"name": "a.txt", "bytes": "text", "offset": 0}])
        self.assertEqual(lines_of(self.ok("convert", path, "-", "--to", "jsonl", "--quiet")), [{"name": "a.txt", "bytes": "text", "offset": 0}])


if __name__ == "__main__":
    main()
