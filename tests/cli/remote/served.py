# SPDX-License-Identifier: Apache-2.0
"""Files behind http://, for the tests of the program."""
import hashlib
import http.server
import pathlib
import socketserver
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import ProgramTest


class Server(http.server.BaseHTTPRequestHandler):
    """The files of `folder`, whole or by ranges, each version with its ETag."""
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path = self.server.folder / self.path.partition("?")[0].lstrip("/")
        self.server.asked.append(self.path)
        fault = self.server.fault(len(self.server.asked))
        if fault == "busy":
            self.send_response(503)
            self.send_header("Content-Length", "0")
            return self.end_headers()
        if not path.is_file():
            self.send_response(404)
            self.send_header("Content-Length", "0")
            return self.end_headers()
        data = path.read_bytes()
        first, last = 0, len(data)
        asked = self.headers.get("Range") if self.server.ranges else None
        if asked and data:
            begin, end = asked.removeprefix("bytes=").split("-")
            first, last = int(begin), min(int(end) + 1 if end else len(data), len(data))
        self.send_response(206 if asked and data else 200)
        self.send_header("ETag", '"%s"' % hashlib.sha1(data).hexdigest())
        if asked and data:
            self.send_header("Content-Range", f"bytes {first}-{last - 1}/{len(data)}")
        self.send_header("Content-Length", str(last - first))
        self.end_headers()
        self.server.sent.append(last - first)
        if fault == "cut":
            self.wfile.write(data[first:(first + last) // 2])
            self.close_connection = True
            return
        self.wfile.write(data[first:last])

    def log_message(self, *_):
        pass


class Servers(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, *arguments):
        self.fault = lambda number: None   # of the request with this number: "busy", "cut", or none
        super().__init__(*arguments)

    def handle_error(self, *_):
        """A client that goes away with its process is no error."""


class Answer(socketserver.StreamRequestHandler):
    """Answers every request with the bytes `server.said`, or never."""
    def handle(self):
        while self.rfile.readline().strip():
            pass
        if self.server.said is None:
            self.server.ended.wait()
        else:
            self.wfile.write(self.server.said)


class ServedTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.served = pathlib.Path(self.path("served"))
        self.served.mkdir()
        self.server = Servers(("127.0.0.1", 0), Server)
        self.server.folder, self.server.ranges, self.server.asked, self.server.sent = self.served, True, [], []
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)

    def url(self, name):
        return f"http://127.0.0.1:{self.server.server_address[1]}/{name}"

    def serve(self, name, data):
        (self.served / name).write_bytes(data)
        return self.url(name)

    def answering(self, said):
        """The URL of a server that answers every request with these bytes; None: never."""
        server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Answer)
        server.daemon_threads = True
        server.said, server.ended = said, threading.Event()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.addCleanup(server.ended.set)
        return f"http://127.0.0.1:{server.server_address[1]}"
