# SPDX-License-Identifier: Apache-2.0
"""MDS folders by the program: head, cat, count, verify, explain, batches, and damaged shards. What is expected was written down from what
the library of MDS reads (tests/verbs/make_mds.py has written the folders with it)."""
import ctypes
import gzip
import hashlib
import json
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / ".cache/formats"))
from mds_library import local_dataset
from program import PROGRAM, ProgramTest, lines_of, main, sluice

DATA = pathlib.Path(__file__).resolve().parents[2] / "verbs/data/mds"
NUMBERS = DATA / "numbers/index.json"
ROWS = [{"id": i, "name": f"n{i}"} for i in range(10)]


def xxh64_of_library():
    """XXH64 of libxxhash; None without the library."""
    try:
        function = ctypes.CDLL("libxxhash.so.0").XXH64
    except OSError:
        return None
    function.restype, function.argtypes = ctypes.c_uint64, [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]
    return lambda data: f"{function(data, len(data), 0):016x}"


xxh64 = xxh64_of_library()


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

    def written(self, plan, *options):
        folder = self.path("out")
        self.ok("run", plan, "--output", f"mds:{folder}/", *options)
        return folder

    def test_outputs_are_read_back(self):
        plan = 'range(1000) | map({id: it, name: "n" + text(it), half: it * 0.5, small: int8(it % 100)})'
        folder = self.written(plan, "--shard-size", "8KiB")
        self.assertEqual(len(list(pathlib.Path(folder).glob("shard.*.mds"))), 4)
        for again in (f'mds("{folder}")', f'load("{folder}")'):
            self.assertEqual(self.ok("run", again, "--output", "jsonl").stdout, self.ok("run", plan, "--output", "jsonl").stdout)
        self.assertEqual(self.ok("compare", plan, folder).stdout[:8], "the same")
        self.assertEqual(self.ok("run", f'mds("{folder}") | skip(998) | map(id)', "--output", "jsonl").stdout, "998\n999\n")
        self.written("range(3) | map({id: it})")   # another output takes its place
        self.assertEqual(sorted(p.name for p in pathlib.Path(folder).iterdir()), ["index.json", "shard.00000.mds", "sluice.manifest"])
        self.assertEqual(self.ok("count", f"{folder}/index.json").stdout, "3\n")
        self.written("range(0) | map({id: it})")
        self.assertEqual(self.ok("count", f"{folder}/index.json").stdout, "0\n")

    def test_the_library_reads_what_is_written(self):
        if not local_dataset:
            self.skipTest("no library of MDS: ./dev deps formats")
        plan = ('range(300) | map({a: it - 5, b: uint8(it % 256), c: float32(it) / 4, d: it * 0.25, e: "ä" + text(it),'
                ' g: uint64(it), h: int16(it)})')
        rows = local_dataset(self.written(plan, "--shard-size", "4KiB"))
        self.assertEqual(len(rows), 300)
        for i in (0, 1, 150, 298, 299):
            row = rows[i]
            self.assertEqual({k: v if isinstance(v, str) else float(v) for k, v in row.items()},
                             {"a": i - 5, "b": i % 256, "c": i / 4, "d": i * 0.25, "e": f"ä{i}", "g": i, "h": i})
        binary = local_dataset(self.written(f'mds("{DATA / "types"}", columns=["f", "k"])'))[0]
        self.assertEqual((binary["f"], binary["k"][:2]), (b"\xff\x00", b"\xff\xd8"))
        arrays = self.written(f'mds("{DATA / "arrays"}")')
        self.assertEqual(self.ok("run", f'mds("{arrays}")', "--output", "jsonl").stdout,
                         self.ok("run", f'mds("{DATA / "arrays"}")', "--output", "jsonl").stdout)
        first, second = local_dataset(arrays)[0], local_dataset(arrays)[1]
        self.assertEqual((first["any"].tolist(), str(first["any"].dtype)), ([[0, 1, 2], [3, 4, 5]], "int64"))
        self.assertEqual((second["any"].tolist(), str(second["any"].dtype)), ([0.5], "float16"))
        self.assertEqual(second["typed"].tolist(), [[7]])

    def stated(self, folder, change):
        """Changes the entries of the shards in the index of the folder."""
        index = json.loads((folder / "index.json").read_text())
        for shard in index["shards"]:
            change(folder, shard)
        (folder / "index.json").write_text(json.dumps(index))

    def test_digests_are_written_and_compared(self):
        folder = pathlib.Path(self.written("range(3000) | map({id: it, text: text(it)})", "--shard-size", "16KiB"))
        index = json.loads((folder / "index.json").read_text())
        self.assertGreater(len(index["shards"]), 2)
        for shard in index["shards"]:
            self.assertEqual(shard["hashes"], ["xxh64"])
            self.assertRegex(shard["raw_data"]["hashes"]["xxh64"], "^[0-9a-f]{16}$")
            if xxh64:
                self.assertEqual(shard["raw_data"]["hashes"]["xxh64"], xxh64((folder / shard["raw_data"]["basename"]).read_bytes()))
        self.check_compared(folder, "xxh64")
        self.stated(folder, lambda at, s: s["raw_data"].update(hashes={"sha1": hashlib.sha1((at / s["raw_data"]["basename"]).read_bytes()).hexdigest()}))
        self.check_compared(folder, "sha1")

    def check_compared(self, folder, name):
        """A changed byte of the second shard, in a text, is found if the shard is read from its beginning to its end."""
        plan, shard = f'mds("{folder}")', folder / "shard.00001.mds"
        good = shard.read_bytes()
        self.assertEqual([r["id"] for r in lines_of(self.ok("run", plan, "--output", "jsonl"))], list(range(3000)))
        shard.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
        made = hashlib.sha1(shard.read_bytes()).hexdigest() if name == "sha1" else "[0-9a-f]{16}"
        entry = json.loads((folder / "index.json").read_text())["shards"][1]["raw_data"]["hashes"][name]
        for command in (("run", plan, "--output", "null"), ("verify", folder / "index.json")):
            done = sluice(*command)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("shard.00001.mds", done.stdout + done.stderr)
            self.assertRegex(done.stdout + done.stderr, f"the {name} of the shard is {made}, and index.json states {entry}")
        self.ok("run", f"{plan} | global_shuffle(seed=1)", "--output", "null")  # its samples are read one by one
        shard.write_bytes(good)

    def test_digests_of_the_writer_of_mds_are_compared(self):
        """Its shards also describe their columns, between the offsets and the samples."""
        for number in range(3):
            folder = pathlib.Path(self.path(f"numbers{number}"))
            shutil.copytree(DATA / "numbers", folder)
            shard = folder / f"shard.0000{number}.mds"
            self.ok("run", f'mds("{folder}")', "--output", "null")
            good = shard.read_bytes()
            for at in (len(good) - 1, good.index(b'"mds"')):
                shard.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1:])
                self.assertRegex(self.fails(1, "run", f'mds("{folder}")', "--output", "null"), "the sha1 of the shard is [0-9a-f]{40}, and index.json states")
            shard.write_bytes(good)

    def test_digests_that_are_unknown_are_named_once(self):
        folder = pathlib.Path(self.written("range(3000) | map({id: it})", "--shard-size", "4KiB"))
        self.stated(folder, lambda _, shard: shard["raw_data"].update(hashes={"blake2b": "00", "sha3_256": "11"}))
        done = self.ok("run", f'mds("{folder}")', "--output", "null")
        self.assertEqual(done.stderr.count("digests that are not compared: blake2b, sha3_256; sha1 and xxh64 are"), 1, done.stderr)
        self.stated(folder, lambda _, shard: shard["raw_data"].update(hashes=["sha1"]))
        self.assertIn("the hashes of a shard have no names", self.fails(1, "run", f'mds("{folder}")'))

    def test_digests_of_compressed_shards_are_compared(self):
        for codec in ("zstd", "gz", "br"):
            if not (DATA / codec).is_dir():
                continue
            folder = pathlib.Path(self.path(f"h{codec}"))
            shutil.copytree(DATA / codec, folder)
            self.stated(folder, lambda at, s: s["zip_data"].update(hashes={"sha1": hashlib.sha1((at / s["zip_data"]["basename"]).read_bytes()).hexdigest()}))
            self.ok("run", f'mds("{folder}")', "--output", "null")
            self.stated(folder, lambda _, s: s["zip_data"].update(hashes={"sha1": "0" * 40}))
            self.assertIn(f"and index.json states {'0' * 40}", self.fails(1, "run", f'mds("{folder}")', "--output", "null"))

    def test_an_output_continues_after_its_checkpoint(self):
        folder, mark = self.path("out"), self.path("job.ckpt")
        command = ["run", "range(5000) | map({id: it})", "--output", f"mds:{folder}/", "--checkpoint", mark, "--resume-or-start", mark,
                   "--shard-size", "16KiB"]
        self.ok(*command, "--limit", 2000)
        self.ok(*command, "--limit", 4500)
        self.ok(*command)
        self.assertEqual(lines_of(self.ok("run", f'mds("{folder}") | map(id)', "--output", "jsonl")), list(range(5000)))
        index = json.loads(pathlib.Path(folder, "index.json").read_text())  # also of the shards that the runs before have written
        self.assertTrue(all(re.fullmatch("[0-9a-f]{16}", s["raw_data"]["hashes"]["xxh64"]) for s in index["shards"]))

    def test_outputs_that_have_no_form_are_refused(self):
        out = f"mds:{self.path('out')}/"
        for plan, words in (("range(3)", "takes structures"), ("range(3) | map({a: it > 1})", 'the column "a" is bool'),
                            ("range(3) | map({a: [it]})", 'the column "a" is int64[]'), ("range(3) | map({a: it}) | batch(2)", "takes structures")):
            self.assertIn(words, sluice("run", plan, "--output", out).stderr)
        self.assertIn("set the size of a shard", sluice("run", "range(3) | map({a: it})", "--output", out, "--shards", 2).stderr)
        self.assertIn("without compression", sluice("run", "range(3) | map({a: it})", "--output", out, "--compression", "zstd").stderr)
        self.assertIn("end the path with a slash", sluice("run", "range(3) | map({a: it})", "--output", out[:-1]).stderr)

    def test_shards_are_within_the_budget(self):
        plan = f'range(40000) | map({{id: it, text: "{"x" * 1000}"}})'
        done = sluice("run", plan, "--output", f"mds:{self.path('out')}/", "--memory-budget", "16MiB")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("--shard-size", done.stderr)
        folder = self.written(plan, "--memory-budget", "16MiB", "--shard-size", "4MiB", "--report", f"json:{self.path('report.json')}")
        memory = json.loads(pathlib.Path(self.path("report.json")).read_text())["run"]["memory"]
        self.assertLess(memory["process_peak_bytes"], 90 << 20)
        self.assertEqual(self.ok("count", f"{folder}/index.json").stdout, "40000\n")


if __name__ == "__main__":
    main()
