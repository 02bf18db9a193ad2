# SPDX-License-Identifier: Apache-2.0
"""The rules of accessibility of axe-core, run by Chromium within a page. `./dev deps servers` fetches them."""
import http.server
import json
import pathlib
import re
import threading
import urllib.request

RULES = pathlib.Path.home() / ".cache/sluice-servers/axe-core/package/axe.min.js"
SERIOUS = ("serious", "critical")
RUN = """axe.run(document, {resultTypes: ["violations"]}).then((r) => {
  const out = document.createElement("pre");
  out.id = "axe-findings";
  out.textContent = JSON.stringify({rules: r.passes.length, violations: r.violations.map((v) => ({id: v.id, impact: v.impact, help: v.help, nodes: v.nodes.map((n) => n.html)}))});
  document.body.append(out);
});"""


def with_rules(page):
    """The page with the rules in it: its policy permits scripts of its own only."""
    rules = RULES.read_text().replace("</script", "<\\/script")
    at = page.rindex("</body>")
    return f'{page[:at]}<script>{rules}</script><script>addEventListener("load", () => setTimeout(() => {{ {RUN} }}, 1500));</script>{page[at:]}'


def findings(dom):
    """The number of rules that hold, and the violations."""
    found = re.search(r'<pre id="axe-findings">(.*?)</pre>', dom, re.S)
    assert found, "the rules have not run: " + dom[-500:]
    text = found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return json.loads(text)


class live:
    """A server whose `/` is the page of another one with the rules in it; other paths are passed on."""

    def __init__(self, url):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                with urllib.request.urlopen(url.rstrip("/") + self.path, timeout=30) as answer:
                    body, kind = answer.read(), answer.headers["Content-Type"]
                if self.path == "/":
                    body = with_rules(body.decode()).encode()
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
