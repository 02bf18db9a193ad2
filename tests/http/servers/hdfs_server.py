# SPDX-License-Identifier: Apache-2.0
"""A real HDFS on the loopback (mini_hdfs.java): its jars are found where `./dev deps stores` puts them."""
import os
import pathlib
import select
import shutil
import subprocess
import time

import certificates

SERVER_XML = """<configuration>
  <property><name>ssl.server.keystore.location</name><value>{folder}/keys.p12</value></property>
  <property><name>ssl.server.keystore.password</name><value>{password}</value></property>
  <property><name>ssl.server.keystore.keypassword</name><value>{password}</value></property>
  <property><name>ssl.server.keystore.type</name><value>pkcs12</value></property>
</configuration>"""
PASSWORD = "of-the-test"
HERE = pathlib.Path(__file__).resolve().parent
JARS = pathlib.Path(os.environ.get("SLUICE_HADOOP_JARS", pathlib.Path.home() / ".cache/sluice-servers/hadoop"))
# Name nodes take half a minute to begin, on a machine that does something else as well twice that.
START_SECONDS = 240


def missing():
    """What this machine lacks, in words; empty: nothing."""
    lacks = [name for name in ("java", "javac", "curl", "openssl") if not shutil.which(name)]
    if not any(JARS.glob("hadoop-client-minicluster-*.jar")):
        lacks.append(f"hadoop-client-minicluster in {JARS}")
    return ", ".join(lacks)


class Hdfs:
    """Until stop(). `nodes`: host:port of the web servers of both name nodes, the active one first; `tls_nodes` with TLS, by `root`."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.log = self.folder / "hdfs.log"
        self.make_keys(self.folder / "tls")
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                ["java", "-Xmx768m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{JARS}/*:{self.folder}/tls",
                 "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", str(HERE / "mini_hdfs.java"), str(self.folder)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, bufsize=1, cwd=self.folder)
        os.set_blocking(self.process.stdout.fileno(), False)
        self.rest = ""
        said = self.hear("ready")
        addresses = [line.split()[2:] for line in said if line.startswith("name node ")]
        self.nodes, self.tls_nodes = ([of[i] for of in addresses] for i in (0, 1))

    def make_keys(self, folder):
        folder.mkdir()
        certificates.make_root(folder, "root")
        certificates.make_certificate(folder, "node", "root", "IP:127.0.0.1,DNS:localhost")
        self.root = folder / "root.pem"
        subprocess.run(["openssl", "pkcs12", "-export", "-in", str(folder / "node.pem"), "-inkey", str(folder / "node.key"), "-out",
                        str(folder / "keys.p12"), "-passout", f"pass:{PASSWORD}"], check=True, stdin=subprocess.DEVNULL)
        (folder / "ssl-server.xml").write_text(SERVER_XML.format(folder=folder, password=PASSWORD))

    def hear(self, end):
        """The lines up to `end`."""
        lines = []
        last = time.monotonic() + START_SECONDS
        while time.monotonic() < last and self.process.poll() is None:
            self.rest += os.read(self.process.stdout.fileno(), 1 << 16).decode() if self.has_said() else ""
            *whole, self.rest = self.rest.split("\n")
            lines += whole
            if end in lines:
                return lines
        self.stop()
        raise RuntimeError(f"HDFS does not say {end}: " + self.log.read_text()[-2000:])

    def has_said(self):
        return bool(select.select([self.process.stdout], [], [], 0.1)[0])

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.hear("done")

    def url(self, path, op, node=0, **more):
        query = "&".join([f"op={op}", *(f"{name.replace('_', '.')}={value}" for name, value in more.items())])
        return f"http://{self.nodes[node]}/webhdfs/v1{path}?{query}"

    def put(self, path, local, node=0):
        """By curl, which follows the redirect with the file."""
        subprocess.run(["curl", "-sSfL", "-T", str(local), self.url(path, "CREATE", node, user_name="root", overwrite="true")],
                       check=True, stdin=subprocess.DEVNULL)

    def get(self, path, node=0):
        return subprocess.run(["curl", "-sSfL", self.url(path, "OPEN", node, user_name="root")], check=True, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE).stdout

    def set(self, path, op, node=0, **more):
        subprocess.run(["curl", "-sSf", "-X", "PUT", self.url(path, op, node, user_name="root", **more)], check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def stop(self):
        self.process.kill()
        self.process.wait(timeout=10)
        self.process.stdin.close()
        self.process.stdout.close()
