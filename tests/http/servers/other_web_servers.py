# SPDX-License-Identifier: Apache-2.0
"""Second opinions beside nginx, on the loopback: Apache and lighttpd, with the objects of a folder below /raw/, and slowly below
/limited/. Found on this machine, or where `./dev deps servers` unpacks them."""
import os
import pathlib
import pwd
import shutil
import subprocess

from nginx_server import free_ports, listens

UNPACKED = pathlib.Path.home() / ".cache/sluice-servers/debian"
LIMIT_KIB = 4_000  # a second

APACHE = """
ServerRoot {folder}
ServerName localhost
PidFile {folder}/apache.pid
DefaultRuntimeDir {folder}
Mutex posixsem
ErrorLog {folder}/error.log
LogLevel warn
{modules}
{user}
Listen 127.0.0.1:{port}
{listens}
StartServers 1
ServerLimit 1
ThreadsPerChild 64
MaxRequestWorkers 64
KeepAlive On
MaxKeepAliveRequests 0
LogFormat "%r %>s %O" short
CustomLog {folder}/apache2.access.log short
<Directory {objects}>
  Require all granted
</Directory>
Alias /raw/ {objects}/
Alias /limited/ {objects}/
<Location /limited/>
  SetOutputFilter RATE_LIMIT
  SetEnv rate-limit {limit}
</Location>
{tls}
"""
APACHE_TLS = """<VirtualHost 127.0.0.1:{port}>
  SSLEngine on
  SSLCertificateFile {folder}/{name}.pem
  SSLCertificateKeyFile {folder}/{name}.key
</VirtualHost>
"""
APACHE_MODULES = ("mpm_event", "authz_core", "alias", "env", "ratelimit", "ssl")

LIGHTTPD = """
server.modules = ("mod_alias", "mod_accesslog", "mod_openssl")
server.document-root = "{folder}/nothing"
server.bind = "127.0.0.1"
server.port = {port}
server.errorlog = "{folder}/error.log"
server.max-keep-alive-requests = 1000000
server.max-connections = 1024
accesslog.filename = "{folder}/lighttpd.access.log"
accesslog.format = "%r %s %O"
mimetype.assign = ("" => "application/octet-stream")
alias.url = ("/raw/" => "{objects}/", "/limited/" => "{objects}/")
$HTTP["url"] =~ "^/limited/" {{ connection.kbytes-per-second = {limit} }}
{tls}
"""
LIGHTTPD_TLS = """$SERVER["socket"] == "127.0.0.1:{port}" {{
  ssl.engine = "enable"
  ssl.pemfile = "{folder}/{name}.pem"
  ssl.privkey = "{folder}/{name}.key"
}}
"""


def find(name):
    """The program, and the folder below which its modules are: (None, None) where it is not there."""
    installed = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin")
    if installed:
        return installed, pathlib.Path("/usr")
    unpacked = UNPACKED / "usr/sbin" / name
    return (str(unpacked), UNPACKED / "usr") if unpacked.exists() else (None, None)


class WebServer:
    """What Nginx is, too: url(), tls_ports, requests(), stop(). `certificates` are names of NAME.pem and NAME.key in `folder`."""

    def __init__(self, folder, objects, certificates=()):
        self.folder, self.objects = pathlib.Path(folder), objects
        self.program, self.prefix = find(self.name)
        (self.folder / "nothing").mkdir(exist_ok=True)
        libraries = str(self.prefix / "lib/x86_64-linux-gnu")
        env = dict(os.environ, **({} if self.prefix == pathlib.Path("/usr") else {"LD_LIBRARY_PATH": libraries}))
        for _ in range(5):  # somebody else may have taken a port meanwhile
            self.port, *tls_ports = free_ports(1 + len(certificates))
            self.tls_ports = dict(zip(certificates, tls_ports))
            config = self.folder / f"{self.name}.conf"
            config.write_text(self.config())
            with open(self.folder / "said.log", "ab") as said:
                self.process = subprocess.Popen(self.command(config), stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=env)
            if listens(self.process, self.port):
                return
            self.stop()
        raise RuntimeError(f"{self.name} does not start: " + "".join((self.folder / n).read_text() for n in ("said.log", "error.log") if (self.folder / n).exists()))

    def url(self, path):
        return f"http://127.0.0.1:{self.port}/{path}"

    def requests(self):
        return (self.folder / f"{self.name}.access.log").read_text().splitlines()

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=10)


class Apache(WebServer):
    name = "apache2"

    def config(self):
        modules = "\n".join(f"LoadModule {m}_module {self.prefix}/lib/apache2/modules/mod_{m}.so" for m in APACHE_MODULES)
        # It serves nobody as root.
        user = "User nobody\nGroup nogroup" if os.geteuid() == 0 and "nobody" in {p.pw_name for p in pwd.getpwall()} else ""
        return APACHE.format(folder=self.folder, objects=self.objects, port=self.port, modules=modules, user=user, limit=LIMIT_KIB,
                             listens="\n".join(f"Listen 127.0.0.1:{p}" for p in self.tls_ports.values()),
                             tls="".join(APACHE_TLS.format(port=p, folder=self.folder, name=n) for n, p in self.tls_ports.items()))

    def command(self, config):
        return [self.program, "-f", str(config), "-DFOREGROUND"]


class Lighttpd(WebServer):
    name = "lighttpd"

    def config(self):
        return LIGHTTPD.format(folder=self.folder, objects=self.objects, port=self.port, limit=LIMIT_KIB,
                               tls="".join(LIGHTTPD_TLS.format(port=p, folder=self.folder, name=n) for n, p in self.tls_ports.items()))

    def command(self, config):
        return [self.program, "-D", "-f", str(config), "-m", str(self.prefix / "lib/lighttpd")]
