# SPDX-License-Identifier: Apache-2.0
"""Second opinions beside nginx: the program reads objects from Apache and from lighttpd; curl reads the same bytes."""
import pathlib
import subprocess
import sys
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "cli"))
import other_web_servers
from objects_of_server import Objects, lacks_tools
from program import PROGRAM, main


class ApacheTest(Objects, unittest.TestCase):
    start = other_web_servers.Apache
    large_mib = 16

    def test_a_version_is_asked_for_and_refused_as_curl_sees_it(self):
        url = self.server.url("raw/large")
        self.assertEqual(self.curl("-o", "/dev/null", "-w", "%{http_code}", "-H", 'If-Match: "another"', "-r", "0-9", url), b"412")
        self.check_object(url, "large")
        self.check_parts(self.read(self.parts("raw")))
        before = len(self.server.requests())
        self.check_parts(self.read(self.parts("raw")))
        self.assertLessEqual(len(self.server.requests()) - before, 64 + 4)


class LighttpdTest(Objects, unittest.TestCase):
    start = other_web_servers.Lighttpd
    large_mib = 16

    def test_a_server_that_knows_no_if_match_is_watched_by_what_it_tells(self):
        url = self.server.url("raw/large")
        self.assertEqual(self.curl("-o", "/dev/null", "-w", "%{http_code}", "-H", 'If-Match: "another"', "-r", "0-9", url), b"206")
        self.check_object(url, "large")


def choose():
    """What this machine can run; says what it cannot."""
    lacking = lacks_tools()
    if lacking:
        print(f"skipped: this machine has no {lacking}")
        return False
    for test in (ApacheTest, LighttpdTest):
        if other_web_servers.find(test.start.name)[0] is None:
            print(f"skipped: this machine has no {test.start.name} (./dev deps servers unpacks it)")
            del globals()[test.__name__]
    if "https://127" not in subprocess.run([PROGRAM, "run", 'lines("https://127.0.0.1:1/none")', "--io-timeout", "2s"], capture_output=True, text=True).stderr:
        print("skipped: this build has no files of http://")
        return False
    return "ApacheTest" in globals() or "LighttpdTest" in globals()


if __name__ == "__main__":
    if choose():
        main()
    else:
        print("0 passed, 0 failed")
