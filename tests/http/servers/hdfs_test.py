# SPDX-License-Identifier: Apache-2.0
"""The program reads, lists and writes files of a real HDFS with two name nodes, while they change places; curl reads and writes the same."""
import hashlib
import http.server
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "cli"))
import hdfs_server
from program import PROGRAM, main, sluice

RECORD = 4096
MIB = 1 << 20
# What the machine has of its own is nobody's business.
BARE = {name: value for name, value in os.environ.items() if not name.startswith(("HADOOP_", "WEBHDFS_", "SLUICE_HDFS"))}
BARE |= {"HADOOP_USER_NAME": "root"}
SITE = """<configuration>
  <property><name>dfs.nameservices</name><value>warehouse</value></property>
  <property><name>dfs.ha.namenodes.warehouse</name><value>nn1,nn2</value></property>
  <property><name>dfs.namenode.http-address.warehouse.nn1</name><value>{}</value></property>
  <property><name>dfs.namenode.http-address.warehouse.nn2</name><value>{}</value></property>
</configuration>"""
CORE = "<configuration><property><name>fs.defaultFS</name><value>hdfs://warehouse</value></property></configuration>"
# More than a page of the server has (five), in an order that bytes with and without a sign do not have in common.
NAMES = ["a", "a b+&=c", "a%20b", "a-b", "a.b", "a_b", "b", "\u00e9", "z\u00e9", "~", "[1]", "100%"]


class Hdfs(unittest.TestCase):
    """One HDFS for all of them: it takes long to begin. The tests go in the order of their names."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.server = hdfs_server.Hdfs(cls.folder)
        cls.addClassCleanup(cls.server.stop)
        (cls.folder / "conf").mkdir()
        (cls.folder / "conf/hdfs-site.xml").write_text(SITE.format(*cls.server.nodes))
        (cls.folder / "conf/core-site.xml").write_text(CORE)
        cls.env = {**BARE, "HADOOP_CONF_DIR": str(cls.folder / "conf")}
        draw = random.Random(20261124)
        cls.parts = {f"part-{i}": draw.randbytes(MIB) for i in range(6)}
        cls.parts["part-6"] = draw.randbytes(24 * MIB)
        for name, data in cls.parts.items():
            (cls.folder / name).write_bytes(data)
            cls.server.put(f"/train/{name}", cls.folder / name)

    def ok(self, *arguments, env=None):
        done = sluice(*arguments, env=env or self.env)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def rows(self, plan):
        out = self.folder / "rows.jsonl"
        self.ok("run", plan, "--output", f"jsonl:{out}")
        return out.read_text()

    def fails(self, words, plan, env=None):
        done = sluice("run", plan, env=env or self.env)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    def check_parts(self, root, env=None):
        copy = self.folder / "copy.tfrecord"
        plan = f'list_files("{root}/train/part-*") | interleave(fixed_length({RECORD}), cycle_length=4, parallelism=4)'
        self.ok("run", plan, "--output", f"tfrecord:{copy}", env=env)
        data = copy.read_bytes()
        size = RECORD + 16
        got = sorted(hashlib.sha256(data[at + 12:at + 12 + RECORD]).digest() for at in range(0, len(data), size))
        put = sorted(hashlib.sha256(p[at:at + RECORD]).digest() for p in self.parts.values() for at in range(0, len(p), RECORD))
        self.assertEqual(got, put)

    def test_1_what_curl_has_put_is_read_by_every_scheme(self):
        host, port = self.server.nodes[0].split(":")
        for root in ("hdfs://warehouse", "hdfs://", f"webhdfs://{host}:{port}", "webhdfs://warehouse"):
            self.check_parts(root)
        named = {**BARE, "HADOOP_CONF_DIR": "/nonexistent", "SLUICE_HDFS_NAME_NODES": ",".join(reversed(self.server.nodes))}
        self.check_parts("hdfs://any", named)  # the first of them is in standby

    def test_1_over_tls_name_nodes_and_data_nodes_are_verified(self):
        secure = {**BARE, "SSL_CERT_FILE": str(self.server.root)}
        self.check_parts(f"swebhdfs://{self.server.tls_nodes[0]}", secure)
        named = {**secure, "SLUICE_HDFS_NAME_NODES": ",".join(f"https://{n}" for n in self.server.tls_nodes)}
        self.check_parts("hdfs://warehouse", named)
        self.ok("cp", str(self.folder / "part-0"), "hdfs://warehouse/over/tls", env=named)
        self.assertEqual(self.server.get("/over/tls"), self.parts["part-0"])
        self.fails(["unauthenticated", "its root is not trusted"],
                   f'lines("swebhdfs://{self.server.tls_nodes[0]}/train/part-0")', {**BARE, "SSL_CERT_FILE": ""})

    def test_2_what_is_written_is_read_by_curl(self):
        count = 1_500_000  # some 11 MB: more than one piece
        self.ok("run", f"range({count})", "--output", "jsonl:hdfs://warehouse/out/new/numbers.jsonl")
        self.assertEqual(self.ok("count", "hdfs://warehouse/out/new/numbers.jsonl").strip(), str(count))
        self.assertEqual(self.ok("head", "-n", "3", "hdfs://warehouse/out/new/numbers.jsonl").split(), ["0", "1", "2"])
        self.assertEqual(self.server.get("/out/new/numbers.jsonl"), "".join(f"{i}\n" for i in range(count)).encode())
        self.ok("cp", str(self.folder / "part-6"), "hdfs:///out/part-6")
        self.assertEqual(self.server.get("/out/part-6"), self.parts["part-6"])
        self.ok("cp", "--overwrite", str(self.folder / "part-0"), "hdfs:///out/part-6")
        self.assertEqual(self.server.get("/out/part-6"), self.parts["part-0"])
        self.ok("cp", "hdfs:///out/new/numbers.jsonl", str(self.folder / "back.jsonl"))
        self.assertEqual((self.folder / "back.jsonl").read_bytes(), self.server.get("/out/new/numbers.jsonl"))
        self.ok("run", "range(100)", "--output", "jsonl:hdfs://warehouse/out/shards/x.jsonl", "--shards", "3")
        self.assertEqual(self.ok("ls", "hdfs://warehouse/out/shards/*").count("-of-00003.jsonl"), 3)
        listed = subprocess.run(["curl", "-sSf", self.server.url("/out", "LISTSTATUS", user_name="root")], capture_output=True, text=True,
                                check=True).stdout
        self.assertNotIn(".sluice-", listed)

    def test_3_folders_are_listed_as_local_ones(self):
        local = self.folder / "names"
        for name in NAMES:
            for below in (name, f"{name}/inner"):
                path = local / "tree" / below if below == name else local / "deep" / below
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(name)
        for path in sorted(p for p in local.rglob("*") if p.is_file()):
            self.ok("cp", str(path), f"hdfs://warehouse/names/{path.relative_to(local)}")
        for pattern in ("tree/*", "**", "deep/*/", "*/a*", "deep/[!a]*/i*r", "**/inner", "deep/*\u00e9/*", "tree/\\[1]"):
            here = self.rows(f"list_files({json_text(str(local) + '/' + pattern)}, shuffle=false)")
            there = self.rows(f"list_files({json_text('hdfs://warehouse/names/' + pattern)}, shuffle=false)")
            self.assertTrue(here)
            self.assertEqual(here.replace(str(local), "hdfs://warehouse/names"), there, pattern)
        for name in NAMES:
            self.assertEqual(self.rows(f"lines({json_text('hdfs://warehouse/names/tree/' + name)})").strip(), json_text(name))

    def test_4_errors_name_the_node_and_the_exception(self):
        self.fails(["not_found", "hdfs://warehouse/none", self.server.nodes[0], "FileNotFoundException"], 'lines("hdfs://warehouse/none")')
        self.fails(["not_found", "no file matches"], 'list_files("hdfs://warehouse/none*")')
        self.fails(["invalid_argument", "is a folder"], 'lines("hdfs://warehouse/train")')
        self.server.set("/train/part-0", "SETPERMISSION", permission="600")
        self.fails(["permission_denied", "AccessControlException", "the user somebody"], 'lines("hdfs://warehouse/train/part-0")',
                   {**self.env, "HADOOP_USER_NAME": "somebody"})
        done = sluice("run", "range(3)", "--output", "jsonl:hdfs://warehouse/train/x.jsonl", env={**self.env, "HADOOP_USER_NAME": "somebody"})
        self.assertEqual(done.returncode, 1)
        self.assertIn("permission_denied", done.stderr)
        self.fails(["unavailable", "connect"], 'lines("webhdfs://127.0.0.1:1/x")')

    def test_5_a_file_of_tokens_is_read_as_hadoop_writes_it(self):
        wanted = self.server.tell(f"tokens {self.folder}/tokens")[0]
        asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                self.send_error(401)

            def log_message(self, *_):
                pass

        node = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=node.serve_forever, daemon=True).start()
        self.addCleanup(node.server_close)
        self.addCleanup(node.shutdown)
        env = {**BARE, "SLUICE_HDFS_NAME_NODES": f"127.0.0.1:{node.server_port}", "HADOOP_TOKEN_FILE_LOCATION": f"{self.folder}/tokens"}
        self.fails(["unauthenticated"], 'lines("hdfs://warehouse/x")', env)
        self.assertEqual(asked, [f"/webhdfs/v1/x?op=GETFILESTATUS&delegation={wanted}"])

    def test_6_name_nodes_change_places_while_files_are_read_and_written(self):
        self.server.tell("active 1")
        self.check_parts("hdfs://warehouse")
        self.ok("run", "range(1500000)", "--output", "jsonl:hdfs://warehouse/out/after.jsonl")
        moving = subprocess.Popen([PROGRAM, "run", f'list_files("hdfs://warehouse/train/part-*") | repeat(40) | interleave(fixed_length({RECORD}))',
                                   "--output", f"tfrecord:{self.folder}/moving.tfrecord"], env=self.env, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.server.tell("active 0")
        _, said = moving.communicate(timeout=240)
        self.assertEqual(moving.returncode, 0, said)
        size = sum(len(p) for p in self.parts.values()) // RECORD * (RECORD + 16) * 40
        self.assertEqual((self.folder / "moving.tfrecord").stat().st_size, size)
        self.server.tell("stop 0")
        self.check_parts("hdfs://warehouse")
        self.ok("run", "range(10)", "--output", "jsonl:hdfs://warehouse/out/last.jsonl")
        self.assertEqual(self.server.get("/out/last.jsonl", 1), b"".join(b"%d\n" % i for i in range(10)))

    def test_7_a_data_node_is_lost_while_it_is_read_and_written(self):
        running = [subprocess.Popen([PROGRAM, "run", *plan], env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.PIPE, text=True)
                   for plan in ((f'list_files("hdfs://warehouse/train/part-*") | repeat(20) | interleave(fixed_length({RECORD}))', "--output",
                                 f"tfrecord:{self.folder}/lost.tfrecord"),
                                ("range(6000000)", "--output", "jsonl:hdfs://warehouse/out/lost.jsonl"))]
        self.server.tell("lose 0")
        for one in running:
            _, said = one.communicate(timeout=300)
            self.assertEqual(one.returncode, 0, said)
        size = sum(len(p) for p in self.parts.values()) // RECORD * (RECORD + 16) * 20
        self.assertEqual((self.folder / "lost.tfrecord").stat().st_size, size)
        self.assertEqual(self.ok("count", "hdfs://warehouse/out/lost.jsonl").strip(), "6000000")


def json_text(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


if __name__ == "__main__":
    if hdfs_server.missing():
        print(f"skipped: {hdfs_server.missing()} (./dev deps stores)")
        print("0 passed, 0 failed")
    elif "no file system answers" in subprocess.run([PROGRAM, "run", 'lines("hdfs://x/y")'], capture_output=True, text=True, env=BARE).stderr:
        print("skipped: this build has no files of hdfs://")
        print("0 passed, 0 failed")
    else:
        main()
