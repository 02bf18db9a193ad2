# SPDX-License-Identifier: Apache-2.0
"""nginx on the loopback, with objects of a folder, as tests and a bench want it: slow to begin, slow to send, failing, over TLS."""
import pathlib
import shutil
import socket
import subprocess
import time

CONFIG = """
daemon off; master_process off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log warn;
{load_echo}
events {{ worker_connections 4096; }}
http {{
  access_log {folder}/access.log; sendfile on; tcp_nodelay on; keepalive_timeout 65; keepalive_requests 100000; client_body_temp_path {folder}/tmp;
  proxy_temp_path {folder}/tmp; fastcgi_temp_path {folder}/tmp; uwsgi_temp_path {folder}/tmp; scgi_temp_path {folder}/tmp;
  split_clients "$request_id" $fails {{ 10% 1; * 0; }}
  split_clients "a$request_id" $trouble {{ 5% refused; 1% reset; 1% stalled; * none; }}
  split_clients "b$request_id" $late {{ 2% 2.0; * 0.02; }}
  server {{
    listen 127.0.0.1:{port};
    location /raw/ {{ alias {objects}/; }}
    {slow}
    {trouble}
    location /limited/ {{ alias {objects}/; limit_rate 4m; }}
    location /flaky/ {{ if ($fails) {{ return 503; }} alias {objects}/; }}
    location /packed/ {{ alias {objects}/; gzip on; gzip_types *; gzip_min_length 1; }}
    location /whole/ {{ alias {objects}/; max_ranges 0; }}
    location /moved/ {{ rewrite ^/moved/(.*)$ /raw/$1 redirect; }}
  }}
  {tls}
}}
"""

SLOW = "location ~ ^/slow/(.*)$ {{ echo_sleep {seconds}; echo_exec /raw/$1; }}"
TROUBLE = """location /trouble/ {{
      if ($trouble = refused) {{ return 503; }}
      if ($trouble = reset) {{ return 444; }}
      if ($trouble = stalled) {{ rewrite ^/trouble/(.*)$ /stalled/$1 last; }}
      rewrite ^/trouble/(.*)$ /slow/$1 last;
    }}
    location ~ ^/stalled/(.*)$ {{ echo_sleep 2; echo_exec /raw/$1; }}
    location ~ ^/late/(.*)$ {{ echo_sleep $late; echo_exec /raw/$1; }}"""
TLS = """server {{ listen 127.0.0.1:{port} ssl; ssl_certificate {folder}/{name}.pem; ssl_certificate_key {folder}/{name}.key;
  ssl_protocols TLSv1.2 TLSv1.3; location /raw/ {{ alias {objects}/; }} }}
"""


def nginx():
    return shutil.which("nginx") or next((p for p in ("/usr/sbin/nginx",) if pathlib.Path(p).exists()), None)


def echo_module():
    return next((p for p in map(pathlib.Path, ("/usr/lib/nginx/modules/ngx_http_echo_module.so",)) if p.exists()), None)


def missing():
    """What this machine lacks, in words; empty: nothing."""
    lacks = [name for name in ("curl", "openssl") if not shutil.which(name)]
    if not nginx():
        lacks.append("nginx")
    if not echo_module():
        lacks.append("libnginx-mod-http-echo")
    return ", ".join(lacks)


def free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def listens(process, port, seconds=5):
    """Does it, before it ends and before so long?"""
    for _ in range(seconds * 20):
        if process.poll() is not None:
            return False
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return True
        except OSError:
            time.sleep(0.05)
    return False


class Nginx:
    """Serves `objects`; `certificates` are names of NAME.pem and NAME.key in `folder`, each on a port of its own."""

    def __init__(self, folder, objects, certificates=(), first_byte_seconds=0.05):
        self.folder = pathlib.Path(folder)
        for _ in range(5):  # somebody else may have taken a port meanwhile
            self.port, *tls_ports = free_ports(1 + len(certificates))
            self.tls_ports = dict(zip(certificates, tls_ports))
            tls = "".join(TLS.format(port=p, folder=folder, name=n, objects=objects) for n, p in self.tls_ports.items())
            config = self.folder / "nginx.conf"
            config.write_text(CONFIG.format(folder=folder, objects=objects, port=self.port, tls=tls, slow=SLOW.format(seconds=first_byte_seconds), trouble=TROUBLE.format(),
                                            load_echo=f"load_module {echo_module()};"))
            self.process = subprocess.Popen([nginx(), "-c", str(config), "-e", str(self.folder / "error.log")],
                                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if listens(self.process, self.port):
                return
            self.stop()
        raise RuntimeError("nginx does not start: " + (self.folder / "error.log").read_text())

    def url(self, path):
        return f"http://127.0.0.1:{self.port}/{path}"

    def requests(self):
        return (self.folder / "access.log").read_text().splitlines()

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=10)
