# SPDX-License-Identifier: Apache-2.0
"""Data sets that were copied, moved, or have grown between a checkpoint and its resume, by every policy of identity."""
import json
import os
import pathlib
import random
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import GOLDEN, ProgramTest, main, sluice, write_tfrecord

TIME = 1_500_000_000_123_456_789
POLICIES = ["automatic", "size+mtime", "etag", "content", "strict"]
# DIR is the folder of the data set.
PLANS = [
    'lines("DIR/part-0.txt") | batch(3)',
    'list_files("DIR/part-*.txt") | flat_map(lines) | batch(3)',
    'list_files("DIR/part-*.txt", shuffle=true) | interleave(lines, cycle_length=3) | shuffle(20) | batch(3)',
    'list_files("DIR/part-*.txt,DIR/*.tfrecord") | interleave(lines, cycle_length=2, parallelism=2) | repeat(2) | shuffle(20) | batch(4)',
    'list_files("DIR/part-*.txt") | filter(it != "DIR/part-1.txt") | interleave(lines, cycle_length=2) | prefetch(4) | batch(3)',
    'csv("DIR/table.csv") | shuffle(5) | batch(2)',
    'sample_from_datasets([lines("DIR/part-0.txt"), lines("DIR/part-2.txt")], weights=[0.5, 0.5]) | batch(3)',
    'sql("DIR/rows.db", query="select * from t") | batch(3)',
]


def copy_kept(old, new):
    shutil.copytree(old, new)  # cp -p: with the times


def copy_plain(old, new):
    shutil.copytree(old, new, copy_function=shutil.copyfile)
    for name in os.listdir(new):  # a later time, whatever the clock's resolution
        os.utime(os.path.join(new, name), ns=(TIME + 5_000_000_000, TIME + 5_000_000_000))


class IdentityTest(ProgramTest):
    def data(self, name="data"):
        import sqlite3
        folder = self.path(name)
        os.mkdir(folder)
        for i in range(4):
            pathlib.Path(folder, f"part-{i}.txt").write_text("".join(f"{i}-{k:03d}\n" for k in range(50)))
        pathlib.Path(folder, "table.csv").write_text("a,b\n" + "".join(f"{k},x{k}\n" for k in range(60)))
        write_tfrecord(os.path.join(folder, "one.tfrecord"), b"x\n" * 50)
        with sqlite3.connect(os.path.join(folder, "rows.db")) as db:
            db.execute("create table t (a integer)")
            db.executemany("insert into t values (?)", [(k,) for k in range(60)])
        db.close()
        for i, name in enumerate(sorted(os.listdir(folder))):
            os.utime(os.path.join(folder, name), ns=(TIME + i, TIME + i))
        return folder

    def elements(self, done):
        return [json.loads(line) for line in done.stdout.splitlines()]

    def run_plan(self, plan, *options):
        return self.ok("run", plan, "--output", "jsonl", "--quiet", *options)

    def saved(self, plan, *options, name="here"):
        """The elements after the first 7 batches, and a checkpoint there."""
        whole = self.elements(self.run_plan(plan, "--seed", 11, *options))
        self.ok("run", plan, "--seed", 11, "--limit", 7, "--checkpoint", self.path(name), "--output", "null", "--quiet", *options)
        self.assertGreater(len(whole), 8)
        return whole[7:]

    def resume(self, plan, *options, name="here", output="jsonl"):
        return sluice("run", plan, "--resume", self.path(name), "--output", output, "--quiet", *options)

    def expect(self, done, rest, accepted, what):
        if accepted:
            self.assertEqual(done.returncode, 0, f"{what}: {done.stderr}")
            self.assertEqual(self.elements(done), rest, what)
        else:
            self.assertEqual(done.returncode, 1, what)
            self.assertEqual(done.stdout, "", what)
            self.assertIn("failed_precondition", done.stderr, what)
            self.assertIn("is not what the checkpoint was made with", done.stderr, what)

    def test_a_checkpoint_resumes_exactly_in_a_copy_of_the_data_set(self):
        old = self.data()
        copies = {"kept": self.path("kept"), "plain": self.path("plain")}
        copy_kept(old, copies["kept"])
        copy_plain(old, copies["plain"])
        for plan in PLANS:
            for policy in POLICIES:
                here = plan.replace("DIR", old)
                rest = self.saved(here, "--identity", policy)
                for kind, new in copies.items():
                    what = f"{plan}, {policy}, {kind}"
                    there = plan.replace("DIR", new)
                    moved = ["--rebase", f"{old}={new}", "--identity", policy]
                    accepted = policy != "strict" if kind == "kept" else policy == "content"
                    self.expect(self.resume(there, *moved), rest, accepted, what)
                # Without --rebase it is another plan.
                other = self.resume(plan.replace("DIR", copies["kept"]))
                self.assertIn("made by another plan", other.stderr)

    def test_the_same_names_in_another_working_folder_need_no_rebase(self):
        old = self.data()
        new = self.path("kept")
        copy_kept(old, new)
        plan = 'list_files("part-*.txt") | interleave(lines, cycle_length=2) | shuffle(20) | batch(3)'
        self.ok("run", plan, "--seed", 1, "--limit", 7, "--checkpoint", self.path("here"), "--output", "null", cwd=old)
        whole = self.elements(self.ok("run", plan, "--seed", 1, "--output", "jsonl", cwd=old))
        done = self.ok("run", plan, "--resume", self.path("here"), "--output", "jsonl", cwd=new)
        self.assertEqual(self.elements(done), whole[7:])
        moved = plan.replace("part-", "kept/part-")
        done = self.ok("run", moved, "--resume", self.path("here"), "--rebase", ".=kept", "--output", "jsonl", cwd=self.folder.name)
        self.assertEqual(self.elements(done), whole[7:])

    def test_a_moved_run_saves_checkpoints_of_its_new_paths(self):
        old = self.data()
        first, second = self.path("first"), self.path("second")
        copy_kept(old, first)
        copy_kept(old, second)
        plan = PLANS[2]
        rest = self.saved(plan.replace("DIR", old))
        moved = ["--rebase", f"{old}={first}"]
        self.ok("run", plan.replace("DIR", first), "--resume", self.path("here"), *moved, "--limit", 3, "--checkpoint", self.path("next"), "--output", "null")
        for options in ([], moved):  # a job may repeat its command line
            self.expect(self.resume(plan.replace("DIR", first), *options, name="next"), rest[3:], True, options)
        self.expect(self.resume(plan.replace("DIR", second), "--rebase", f"{first}={second}", name="next"), rest[3:], True, "moved twice")
        shutil.rmtree(first)
        copy_plain(old, first)
        self.expect(self.resume(plan.replace("DIR", first), name="next"), rest[3:], False, "changed since")
        shutil.rmtree(second)
        copy_plain(old, second)
        self.expect(self.resume(plan.replace("DIR", second), "--rebase", f"{first}={second}", name="next"), rest[3:], False, "changed since, moved twice")

    def test_other_names_in_the_copy_are_refused(self):
        old = self.data()
        new = self.path("new")
        copy_kept(old, new)
        plan = PLANS[1]
        self.saved(plan.replace("DIR", old))
        os.rename(os.path.join(new, "part-3.txt"), os.path.join(new, "part-4.txt"))
        done = self.resume(plan.replace("DIR", new), "--rebase", f"{old}={new}")
        self.assertIn("there were 4, and there are 4 others", done.stderr)
        shutil.copy2(os.path.join(old, "part-0.txt"), os.path.join(new, "part-5.txt"))
        done = self.resume(plan.replace("DIR", new), "--rebase", f"{old}={new}")
        self.assertIn("there were 4, and there are 5", done.stderr)

    def test_prefixes_have_policies_of_their_own(self):
        old = self.data()
        new = self.path("new")
        copy_plain(old, new)
        plan = PLANS[2]
        rest = self.saved(plan.replace("DIR", old), "--identity", f"{old}=content")
        moved = ["--rebase", f"{old}={new}"]
        self.expect(self.resume(plan.replace("DIR", new), *moved, "--identity", f"{new}=content"), rest, True, "content")
        done = self.resume(plan.replace("DIR", new), *moved, "--identity", "content", "--identity", f"{new}/=size+mtime")
        self.expect(done, rest, False, "the prefix wins")
        self.assertIn("its time of modification was 2017-07-14T02:40:00.1234567", done.stderr)
        self.assertIn("--identity content", done.stderr)

    def test_content_that_differs_is_refused_and_named(self):
        old = self.data()
        plan = 'lines("DIR/part-0.txt")'.replace("DIR", old)
        self.saved(plan, "--identity", "content")
        path = pathlib.Path(old, "part-0.txt")
        time = path.stat().st_mtime_ns
        path.write_text(path.read_text().replace("0-049", "0-04x"))
        os.utime(path, ns=(time, time))
        done = self.resume(plan, "--identity", "content")
        self.assertEqual(done.returncode, 1)
        self.assertIn(str(path), done.stderr)
        self.assertIn("the digest of the beginning and the end of its first 300 bytes was ", done.stderr)
        self.assertEqual(self.resume(plan).returncode, 0)  # by size and time it is the same

    def test_files_that_only_grow(self):
        for policy in ["size+mtime", "content"]:
            old = self.data(f"data-{policy}")
            plan = 'list_files("DIR/part-*.txt") | interleave(lines, cycle_length=4) | batch(3)'.replace("DIR", old)
            self.saved(plan, "--identity", policy)
            path = pathlib.Path(old, "part-2.txt")
            before = path.read_text()
            path.write_text(before + "2-more\n")
            self.expect(self.resume(plan, "--identity", policy), None, False, "refused by default")
            self.assertIn("--changed-inputs grown", self.resume(plan, "--identity", policy).stderr)
            grown = self.resume(plan, "--identity", policy, "--changed-inputs", "grown")
            self.assertEqual(grown.returncode, 0, grown.stderr)
            self.assertEqual(sum("2-more" in batch for batch in self.elements(grown)), 1)
            first = self.elements(self.ok("run", plan, "--seed", 11, "--limit", 7, "--output", "jsonl"))
            whole = self.elements(self.ok("run", plan, "--seed", 11, "--output", "jsonl"))
            self.assertEqual(first + self.elements(grown), whole)
            path.write_text("x" + before[1:] + "2-more\n")
            other = self.resume(plan, "--identity", policy, "--changed-inputs", "grown")
            if policy == "content":
                self.expect(other, None, False, "another beginning")
            path.write_text(before[:-6])
            shorter = self.resume(plan, "--identity", policy, "--changed-inputs", "grown")
            self.expect(shorter, None, False, "shorter")
            self.assertIn("a file that only grows has no fewer", shorter.stderr)

    def test_a_checkpoint_of_version_4_still_resumes(self):
        plan = 'list_files("part-*.txt") | interleave(lines, cycle_length=2) | shuffle(20, seed=7) | batch(4)'
        old = self.path("old")
        os.mkdir(old)
        for i in range(4):
            path = pathlib.Path(old, f"part-{i}.txt")
            path.write_text("".join(f"{i}-{k:03d}\n" for k in range(50)))
            os.utime(path, ns=(TIME + i, TIME + i))
        whole = self.elements(self.ok("run", plan, "--seed", 5, "--output", "jsonl", cwd=old))
        at = GOLDEN / "checkpoints/version_4.ckpt"
        done = self.ok("run", plan, "--resume", at, "--output", "jsonl", cwd=old)
        self.assertEqual(self.elements(done), whole[20:])
        moved = plan.replace("part-", f"{old}/part-")
        done = self.ok("run", moved, "--resume", at, "--rebase", f".={old}", "--output", "jsonl")
        self.assertEqual(self.elements(done), whole[20:])
        strict = sluice("run", plan, "--resume", at, "--identity", "strict", cwd=old)
        self.assertIn("its inode, device, or ETag was another one", strict.stderr)
        os.utime(os.path.join(old, "part-1.txt"), ns=(TIME, TIME))
        touched = sluice("run", plan, "--resume", at, cwd=old)
        self.assertIn("part-1.txt: is not what the checkpoint was made with", touched.stderr)

    def test_damaged_tables_of_inputs_are_refused_or_compared(self):
        """Each byte of the checkpoint is changed, under a right checksum."""
        from program import crc32c
        old = self.data()
        plan = PLANS[2].replace("DIR", old)
        rest = self.saved(plan)
        whole = pathlib.Path(self.path("here")).read_bytes()
        self.assertTrue(whole.startswith(b"sluice\x05"))
        draws = random.Random(3)
        for at in range(7, len(whole) - 4):
            forged = bytearray(whole[:-4])
            forged[at] ^= 1 << draws.randrange(8)
            pathlib.Path(self.path("forged")).write_bytes(forged + crc32c(forged).to_bytes(4, "little"))
            done = self.resume(plan, name="forged")
            self.assertIn(done.returncode, (0, 1), f"byte {at}: {done.stderr}")
            if done.returncode == 1:
                self.assertTrue(done.stderr.startswith("sluice: "), done.stderr)

    def test_paths_in_memory_do_not_move(self):
        old = self.data()
        new = self.path("new")
        copy_kept(old, new)
        plan = 'from_tensor_slices(["DIR/part-1.txt", "DIR/part-0.txt"]) | interleave(lines, cycle_length=2) | batch(3)'
        self.saved(plan.replace("DIR", old))
        done = self.resume(plan.replace("DIR", new), "--rebase", f"{old}={new}")
        self.assertIn("the elements that from_tensor_slices holds in memory are others there", done.stderr)

    def test_moves_that_change_nothing_are_refused(self):
        old, new, plan = self.data(), self.path("new"), PLANS[1]
        copy_kept(old, new)
        rest = self.saved(plan.replace("DIR", old))
        for moves, words in [
                ([f"{old}={self.path('none')}"], f'no path of the plan is in the folder "{self.path("none")}"'),
                ([f"{self.path('none')}={old}"], f'no file of the checkpoint is in the folder "{self.path("none")}"')]:
            done = self.resume(plan.replace("DIR", old), *(word for m in moves for word in ("--rebase", m)))
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn(words, done.stderr)
            self.assertRegex(done.stderr, rf'plan reads "{old}/[^"]+": correct the folder, or leave it out')
        # The old folder is mistyped: the checkpoint is of another plan, and the message has the path that was expected.
        done = self.resume(plan.replace("DIR", new), "--rebase", f"{old}x={new}")
        self.assertIn("made by another plan", done.stderr)
        self.assertIn(f'by the given moves, the checkpoint\'s plan would have read "{old}x/', done.stderr)
        # One of two moves changes nothing.
        used = ["--rebase", f"{old}={new}"]
        done = self.resume(plan.replace("DIR", new), *used, "--rebase", "a=b")
        self.assertIn('no path of the plan is in the folder "b", so that --rebase a=b', done.stderr)
        self.expect(self.resume(plan.replace("DIR", new), *used), rest, True, "the move of the files")

    def test_options_that_make_no_sense(self):
        plan = 'lines("a")'
        for options, words in [(["--identity", "inode"], "--identity expects size+mtime, etag, content, strict, or automatic"),
                               (["--identity", "a=b=mtime"], "and is \"a=b=mtime\""),
                               (["--rebase", "a=b"], "--rebase belongs to a resumed run"),
                               (["--resume", "x", "--rebase", "a"], "--rebase expects OLD=NEW"),
                               (["--resume", "x", "--rebase", "=a"], "--rebase expects OLD=NEW"),
                               (["--resume", "x", "--rebase", "a=b=c"], "OLD==NEW if a path contains =")]:
            done = sluice("run", plan, *options)
            self.assertEqual(done.returncode, 2, (options, done.stderr))
            self.assertIn(words, done.stderr)

    def test_paths_with_equals_signs(self):
        old = self.data("day=1")
        new = self.path("day=2")
        copy_kept(old, new)
        rest = self.saved(PLANS[1].replace("DIR", old))
        self.expect(self.resume(PLANS[1].replace("DIR", new), "--rebase", f"{old}=={new}"), rest, True, "==")


if __name__ == "__main__":
    main()
