# SPDX-License-Identifier: Apache-2.0
"""Tar archives that Python's tarfile and the system's tar wrote, as sluice reads them."""
import base64
import gzip
import io
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tarfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import ProgramTest, lines_of, main, sluice

FORMATS = {"ustar": tarfile.USTAR_FORMAT, "gnu": tarfile.GNU_FORMAT, "pax": tarfile.PAX_FORMAT}


def bytes_of(value):
    return base64.b64decode(value["base64"]) if isinstance(value, dict) else value.encode()


class Archives(ProgramTest):
    def members(self, rng, form):
        """Names and contents; of those that ustar cannot hold, none for it."""
        for i in range(60):
            long = rng.choice([5, 90, 99, 100, 101]) if form == "ustar" else rng.choice([5, 99, 100, 101, 155, 300, 1000])
            name = f"{i:03d}-" + "n" * (long - 4)
            if rng.random() < 0.4:
                name = "folder/" * rng.randint(1, 5) + name[:90]
            if form == "ustar" and len(name) > 100:
                name = name[:100]
            if form == "pax" and rng.random() < 0.3:
                name = "é" + name
            yield name, rng.randbytes(rng.choice([0, 1, 511, 512, 513, 3000, 70_000]))

    def write(self, path, form, members):
        with tarfile.open(path, "w", format=FORMATS[form]) as archive:
            for i, (name, data) in enumerate(members):
                if i % 7 == 0:
                    folder = tarfile.TarInfo(f"folder{i}")
                    folder.type = tarfile.DIRTYPE
                    archive.addfile(folder)
                if i % 9 == 0:
                    link = tarfile.TarInfo(f"link{i}" + "x" * 200 * (form != "ustar"))
                    link.type, link.linkname = tarfile.SYMTYPE, "to" + "y" * 150 * (form != "ustar")
                    archive.addfile(link)
                info = tarfile.TarInfo(name)
                info.size, info.mtime = len(data), 1.5 if form == "pax" else 1
                archive.addfile(info, io.BytesIO(data))

    def found(self, path):
        return [(e["name"], bytes_of(e["bytes"]), e["offset"]) for e in lines_of(self.ok("run", f'tar("{path}")', "--output", "jsonl"))]

    def test_what_tarfile_writes_is_read_in_each_format(self):
        for seed in range(4):
            for form in FORMATS:
                path = self.path(f"{form}{seed}.tar")
                members = list(self.members(random.Random(f"{form}{seed}"), form))
                self.write(path, form, members)
                with tarfile.open(path) as archive:
                    expected = [(m.name, archive.extractfile(m).read(), m.offset_data) for m in archive if m.isfile()]
                self.assertEqual([(n, d) for n, d, _ in expected], members)
                self.assertEqual(self.found(path), expected)
                packed = path + ".gz"
                pathlib.Path(packed).write_bytes(gzip.compress(pathlib.Path(path).read_bytes(), 1))
                self.assertEqual(self.found(packed), expected)
                self.assertIn(str(2 * len(members)), self.ok("count", path, packed).stdout.split())
                self.assertEqual(self.ok("count", f'tar("{path}") | skip(20)').stdout.strip(), str(len(members) - 20))

    def test_what_the_systems_tar_writes_is_read(self):
        if not shutil.which("tar"):
            self.skipTest("there is no tar")
        tree = pathlib.Path(self.path("tree"))
        expected = {}
        rng = random.Random(7)
        for i in range(40):
            name = f"d{i % 3}/" + "m" * rng.choice([3, 99, 120, 200]) + str(i)
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            expected[name] = rng.randbytes(rng.randint(0, 5000))
            (tree / name).write_bytes(expected[name])
        os.symlink("x" * 180, tree / "link")
        for form in ("gnu", "posix", "oldgnu"):
            path = self.path(form + ".tar")
            subprocess.run(["tar", f"--format={form}", "-cf", path, "-C", tree, "."], check=True)
            self.assertEqual({n.removeprefix("./"): d for n, d, _ in self.found(path)}, expected)

    def test_webdataset_groups_as_its_own_rule_says(self):
        path = self.path("w.tar")
        rng = random.Random(3)
        samples = []
        with tarfile.open(path, "w") as archive:
            for i in range(100):
                parts = {ext: rng.randbytes(rng.randint(0, 900)) for ext in rng.sample(["jpg", "cls", "seg.png", "json"], rng.randint(1, 4))}
                samples.append((f"d{i % 2}/{i:04d}", parts))
                for ext, data in parts.items():
                    info = tarfile.TarInfo(f"d{i % 2}/{i:04d}.{ext}")
                    info.size = len(data)
                    archive.addfile(info, io.BytesIO(data))
        found = [(s["key"], {p["extension"]: bytes_of(p["bytes"]) for p in s["parts"]})
                 for s in lines_of(self.ok("run", f'webdataset("{path}")', "--output", "jsonl"))]
        self.assertEqual(found, samples)
        head = lines_of(self.ok("run", f'webdataset("{path}") | skip(50) | take(2)', "--output", "jsonl"))
        self.assertEqual([s["key"] for s in head], [k for k, _ in samples[50:52]])

    def test_a_sparse_member_has_its_own_name(self):
        path = self.path("sparse.tar")
        with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as archive:
            member = tarfile.TarInfo("GNUSparseFile.7/hole")
            member.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "hole"}
            archive.addfile(member)
        self.assertIn("the member hole is a sparse file", self.fails(2, "cat", path))

    def test_the_program_knows_a_tar_by_its_content(self):
        path = self.path("unnamed")
        self.write(path, "gnu", [("a", b"one"), ("b", b"two")])
        self.assertEqual([e["name"] for e in lines_of(self.ok("head", path))], ["a", "b"])
        self.assertEqual(self.ok("count", path).stdout.strip(), "2")
        self.assertIn("sound: 2 sound records", self.ok("verify", path).stdout)
        self.ok("convert", path, self.path("a.csv"), "--quiet")
        self.assertEqual(pathlib.Path(self.path("a.csv")).read_text().splitlines()[0], "name,bytes,offset")
        whole = bytearray(pathlib.Path(path).read_bytes())
        at = whole.index(b"b\0")   # the second file's header
        whole[at] ^= 1
        pathlib.Path(path).write_bytes(whole)
        done = sluice("verify", path)
        self.assertEqual(done.returncode, 1)
        self.assertIn("damaged: 1 sound record", done.stdout)
        self.assertIn("checksum is wrong", done.stderr)


if __name__ == "__main__":
    main()
