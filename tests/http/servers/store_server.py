# SPDX-License-Identifier: Apache-2.0
"""Stores of objects that nobody here wrote, on the loopback: found where `./dev deps stores` puts them, or on the PATH."""
import os
import pathlib
import shutil
import subprocess

import nginx_server

KEYS = {"AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "a-secret"}


def find(name):
    home = pathlib.Path.home()
    folders = [pathlib.Path(os.environ.get("GOPATH", home / "go")) / "bin", home / ".cache/sluice-servers/bin"]
    return next((str(f / name) for f in folders if os.access(f / name, os.X_OK)), shutil.which(name))


class Server:
    """One program, until stop(). `arguments`: of the port."""

    def __init__(self, name, folder, arguments, env=None):
        self.log = pathlib.Path(folder) / f"{name}.log"
        for _ in range(5):  # somebody else may have taken the port meanwhile
            [self.port] = nginx_server.free_ports(1)
            with self.log.open("w") as log:
                self.process = subprocess.Popen([find(name), *arguments(self.port)], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                                env={**os.environ, **(env or {})})
            if nginx_server.listens(self.process, self.port, 20):
                return
            self.stop()
        raise RuntimeError(f"{name} does not start: {self.log.read_text()}")

    def stop(self):
        self.process.kill()
        self.process.wait(timeout=10)


def versitygw(folder, root, *more):
    return Server("versitygw", folder, lambda port: ["--port", f"127.0.0.1:{port}", "--region", "us-east-1", *more, "posix", str(root)],
                  {"ROOT_ACCESS_KEY": KEYS["AWS_ACCESS_KEY_ID"], "ROOT_SECRET_KEY": KEYS["AWS_SECRET_ACCESS_KEY"]})


def fake_gcs(folder, data):
    return Server("fake-gcs-server", folder, lambda port: ["-scheme", "http", "-host", "127.0.0.1", "-port", str(port), "-backend", "memory",
                                                           "-data", str(data), "-public-host", f"127.0.0.1:{port}"])


def upload(url, path, *more):
    """By curl, with a signature of its own."""
    subprocess.run(["curl", "-sSf", "--aws-sigv4", "aws:amz:us-east-1:s3", "--user", ":".join(KEYS.values()), "-H",
                    "x-amz-content-sha256: UNSIGNED-PAYLOAD", *more, "-T", str(path), url], check=True, stdin=subprocess.DEVNULL)
