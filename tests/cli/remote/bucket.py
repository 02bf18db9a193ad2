# SPDX-License-Identifier: Apache-2.0
"""A bucket behind s3://bucket/ in memory, for tests of the program: objects of one request, listings, and refusals."""
import hashlib
import http.server
import os
import pathlib
import sys
import threading
import urllib.parse
from xml.sax.saxutils import escape

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import ProgramTest, sluice
from served import Servers

NO_BUCKET = "<Error><Code>NoSuchBucket</Code><Message>The specified bucket does not exist</Message></Error>"
NO_KEY = "<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message></Error>"


class Store(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def place(self):
        """(bucket, key, query)"""
        path, _, query = self.path.partition("?")
        bucket, _, key = urllib.parse.unquote(path).lstrip("/").partition("/")
        return bucket, key, dict(urllib.parse.parse_qsl(query, keep_blank_values=True))

    def say(self, code, body=b"", **fields):
        data = body.encode() if isinstance(body, str) else body
        self.server.numbers += 1
        self.send_response(code)
        self.send_header("x-amz-request-id", f"R{self.server.numbers}")
        for name, value in fields.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def listing(self, query):
        prefix, by, after = query.get("prefix", ""), query.get("delimiter", ""), query.get("continuation-token", "")
        entries = {}
        for key in sorted(self.server.objects):
            if not key.startswith(prefix):
                continue
            end = key.find(by, len(prefix)) if by else -1
            entries.setdefault(key if end < 0 else key[:end + len(by)], end >= 0)
        names = [n for n in sorted(entries) if n > after]
        page = names[:2]  # small pages, so that every listing has several
        text = "".join(f"<CommonPrefixes><Prefix>{escape(n)}</Prefix></CommonPrefixes>" if entries[n] else
                       f"<Contents><Key>{escape(n)}</Key><LastModified>2026-11-24T10:00:00.000Z</LastModified>"
                       f"<ETag>&quot;{self.tag(n)}&quot;</ETag><Size>{len(self.server.objects[n])}</Size></Contents>" for n in page)
        more = f"<IsTruncated>true</IsTruncated><NextContinuationToken>{escape(page[-1])}</NextContinuationToken>" \
            if len(names) > len(page) else "<IsTruncated>false</IsTruncated>"
        self.say(200, f"<ListBucketResult>{more}{text}</ListBucketResult>")

    def tag(self, key):
        return hashlib.md5(self.server.objects[key]).hexdigest()

    def do_GET(self):
        bucket, key, query = self.place()
        if bucket != "bucket":
            return self.say(404, NO_BUCKET)
        if not key:
            return self.listing(query)
        if key not in self.server.objects:
            return self.say(404, NO_KEY)
        data, tag = self.server.objects[key], f'"{self.tag(key)}"'
        asked = self.headers.get("Range")
        if asked and data:
            begin, end = asked.removeprefix("bytes=").split("-")
            first, last = int(begin), min(int(end), len(data) - 1)
            return self.say(206, data[first:last + 1], ETag=tag, Content_Range=f"bytes {first}-{last}/{len(data)}")
        self.say(200, data, ETag=tag)

    do_HEAD = do_GET

    def do_PUT(self):
        bucket, key, _ = self.place()
        data = self.rfile.read(int(self.headers["Content-Length"]))
        if bucket != "bucket":
            return self.say(404, NO_BUCKET)
        if self.server.puts_left == 0:
            return self.say(403, "<Error><Code>AccessDenied</Code><Message>Access Denied.</Message></Error>")
        self.server.puts_left -= 1
        with self.server.access:
            if self.server.is_conditional and not self.meets_condition(key):
                return self.say(412, "<Error><Code>PreconditionFailed</Code><Message>At least one condition failed.</Message></Error>")
            self.server.objects[key] = data
            self.server.written.append(key)
            tag = self.tag(key)
        self.say(200, ETag=f'"{tag}"')

    def meets_condition(self, key):
        there = self.server.objects.get(key)
        if self.headers.get("If-None-Match") == "*" and there is not None:
            return False
        expected = self.headers.get("If-Match")
        return expected is None or (there is not None and expected == f'"{self.tag(key)}"')

    def do_DELETE(self):
        with self.server.access:
            self.server.objects.pop(self.place()[1], None)
        self.say(204)

    def log_message(self, *_):
        pass


class BucketTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.store = Servers(("127.0.0.1", 0), Store)
        self.store.objects, self.store.written, self.store.numbers, self.store.puts_left = {}, [], 0, -1
        self.store.access, self.store.is_conditional = threading.Lock(), True
        threading.Thread(target=self.store.serve_forever, daemon=True).start()
        self.addCleanup(self.store.server_close)
        self.addCleanup(self.store.shutdown)
        self.environment = {**os.environ, "HOME": self.folder.name, "AWS_NO_SIGN_REQUEST": "1",
                            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.store.server_address[1]}"}

    def put(self, **objects):
        for key, text in objects.items():
            self.store.objects[key] = text.encode()

    def run_there(self, *arguments, **more):
        return sluice(*arguments, env=self.environment, **more)

    def ok_there(self, *arguments, **more):
        done = self.run_there(*arguments, **more)
        self.assertEqual(done.returncode, 0, (arguments, done.stderr))
        return done
