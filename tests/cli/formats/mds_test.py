# SPDX-License-Identifier: Apache-2.0
"""MDS folders by the program: head, cat, count, verify, explain, batches, and damaged shards. What is expected was written down from what
the library of MDS reads (tests/verbs/make_mds.py has written the folders with it)."""
import gzip
import json
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / ".cache/formats"))
from program import PROGRAM, ProgramTest, lines_of, main, sluice

DATA = pathlib.Path(__file__).resolve().parents[2] / "verbs/data/mds"
NUMBERS = DATA / "numbers/index.json"
ROWS = [{"id": i, "name": f"n{i}"} for i in range(10)]


class Mds(ProgramTest):
    def test_an_index_is_read_by_all_verbs(self):
        self.assertEqual(lines_of(self.ok("cat", NUMBERS)), ROWS)
        self.assertEqual(lines_of(self.ok("head", NUMBERS, "-n", 2)), ROWS[:2])
        self.assertEqual(self.ok("count", NUMBERS).stdout, "10\n")
        self.assertIn("sound: 10 sound records", self.ok("verify", NUMBERS).stdout)
        self.assertIn("mds(", self.ok("explain", NUMBERS).stdout)
        self.ok("convert", NUMBERS, self.path("a.jsonl"))
        self.assertEqual(lines_of(self.ok("cat", self.path("a.jsonl"))), ROWS)

    def test_a_folder_names_its_index(self):
        self.assertIn("index.json", sluice("head", DATA / "numbers").stderr)

    def test_shards_outside_of_the_folder_are_refused(self):
        folder = pathlib.Path(self.path("m"))
        shutil.copytree(DATA / "numbers", folder)
        index = folder / "index.json"
        index.write_text(index.read_text().replace("shard.00001.mds", "../shard.00001.mds"))
        self.assertIn("not one within the folder", self.fails(1, "run", f'mds("{folder}")'))

    def test_numbers_of_an_index_that_are_no_sizes_are_named(self):
        good = (DATA / "numbers/index.json").read_text()
        folder = pathlib.Path(self.path("m"))
        shutil.copytree(DATA / "numbers", folder)
        for member, value, words in (("samples", "-1", "the samples of a shard must be a whole number from 0 on, and is -1"),
                                     ("samples", "0", "bytes without samples"), ("samples", "1e300", "the samples of a shard must be"),
                                     ("bytes", "1e300", "the bytes of a shard must be"), ("bytes", "-4", "the bytes of a shard must be"),
                                     ("version", "1e300", "version 1e+300; version 2 is read")):
            damaged = re.sub(rf'"{member}": *\d+', f'"{member}": {value}', good)
            self.assertNotEqual(damaged, good)
            (folder / "index.json").write_text(damaged)
            self.assertIn(words, self.fails(2 if member == "version" else 1, "run", f'mds("{folder}")'))

    def test_every_changed_byte_gives_an_error_or_samples(self):
        good = (DATA / "arrays/shard.00000.mds").read_bytes()
        for at in range(len(good)):
            folder = pathlib.Path(self.path(f"d{at % 8}"))
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(DATA / "arrays", folder)
            flipped = bytearray(good)
            flipped[at] ^= 1 << (at % 8)
            (folder / "shard.00000.mds").write_bytes(bytes(flipped) if at % 9 else good[:at])
            if at % 4 == 0:
                done = subprocess.run([PROGRAM, "run", f'mds("{folder}") | with_options(on_error=skip)', "--output", "null"],
                                      capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr[-2000:])

    def test_a_damaged_compressed_shard_is_an_error(self):
        for codec in ("zstd", "gz", "bz2"):
            good = (DATA / codec / f"shard.00000.mds.{codec}").read_bytes()
            folder = pathlib.Path(self.path(codec))
            shutil.copytree(DATA / codec, folder)
            for at in range(0, len(good), 7):
                flipped = bytearray(good)
                flipped[at] ^= 1 << (at % 8)
                (folder / f"shard.00000.mds.{codec}").write_bytes(flipped)
                done = sluice("run", f'mds("{folder}") | map(id)', "--output", "jsonl")
                # zstd has no checksum here, so that a flipped byte may be read as another number.
                if codec != "zstd" and done.returncode == 0:
                    self.assertEqual(lines_of(done), [0, 1, 2, 3, 4])
                self.assertIn(done.returncode, (0, 1), done.stderr)

    def packed_again(self, name, suffix, pack):
        """The samples of a compressed folder, whose shard is compressed by another codec."""
        folder = pathlib.Path(self.path(name))
        shutil.copytree(DATA / "gz", folder)
        index = json.loads((folder / "index.json").read_text())
        shard = index["shards"][0]
        old = folder / shard["zip_data"]["basename"]
        packed = pack(gzip.decompress(old.read_bytes()))
        old.unlink()
        shard["compression"] = suffix
        shard["zip_data"] = {"basename": f"shard.00000.mds.{suffix}", "bytes": len(packed), "hashes": {}}
        (folder / "index.json").write_text(json.dumps(index))
        (folder / f"shard.00000.mds.{suffix}").write_bytes(packed)
        return folder / f"shard.00000.mds.{suffix}"

    def test_brotli_and_snappy_shards_are_read_and_their_damage_is_an_error(self):
        try:
            import pyarrow
        except ImportError:
            self.skipTest("pyarrow is missing: ./dev deps formats")
        for suffix, codec in (("br", "brotli"), ("snappy", "snappy")):
            shard = self.packed_again(suffix, suffix, lambda raw: pyarrow.compress(raw, codec=codec, asbytes=True))
            self.assertEqual(lines_of(self.ok("run", f'mds("{shard.parent}") | map(id)', "--output", "jsonl")), [0, 1, 2, 3, 4])
            good = shard.read_bytes()
            for at in range(0, len(good), 5):
                flipped = bytearray(good)
                flipped[at] ^= 1 << (at % 8)
                shard.write_bytes(flipped)
                done = sluice("run", f'mds("{shard.parent}") | map(id)', "--output", "jsonl")
                self.assertIn(done.returncode, (0, 1), done.stderr)
            shard.write_bytes(good[:-1])
            self.assertIn("index.json states", self.fails(1, "run", f'mds("{shard.parent}")'))
            shard.write_bytes(bytes([255]) * len(good))
            self.assertIn("is damaged, or has not exactly", self.fails(1, "run", f'mds("{shard.parent}")'))


if __name__ == "__main__":
    main()
