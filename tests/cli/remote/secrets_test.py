# SPDX-License-Identifier: Apache-2.0
"""No output of the program shows a password, a signature or a token that a URL carries."""
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import main, sluice
from served import ServedTest

SECRET = "s3cr3t"
QUERIES = [f"X-Amz-Algorithm=AWS4&X-Amz-Credential={SECRET}%2F2026&X-Amz-Signature={SECRET}", f"X-Amz-Security-Token={SECRET}",
           f"X-Goog-Signature={SECRET}", f"Expires=9&Signature={SECRET}", f"sv=1&sig={SECRET}", f"token={SECRET}",
           f"access_token={SECRET}", f"auth={SECRET}", f"code={SECRET}", f"key={SECRET}", f"st={SECRET}", f"op=OPEN&delegation={SECRET}"]


class Secrets(ServedTest):
    def said(self, *arguments):
        done = sluice(*arguments, env={**os.environ, "HOME": self.folder.name})
        self.assertNotIn(SECRET, done.stdout + done.stderr, arguments)
        return done

    def test_signatures_of_presigned_urls_are_in_no_error(self):
        for query in QUERIES:
            url = self.url("nothing.tfrecord?" + query)
            for verb in (["head"], ["cat"], ["count"], ["verify"], ["select", "a"], ["cp", url, self.path("to/")], ["ls"]):
                done = self.said(*verb, *([url] if verb[0] != "cp" else []))
                self.assertNotEqual(done.returncode, 0, verb)
                self.assertIn("***", done.stderr, (verb, done.stderr))
            for plan in (f'tfrecord("{url}")', f'csv("{url}", header=true)', f'lines("{url}") | no_such_stage(1)',
                         f'list_files("{url}") | interleave(lines)'):
                self.assertNotEqual(self.said("run", plan, "--output", "null").returncode, 0)
                self.said("explain", plan)

    def test_users_and_passwords_are_in_no_error(self):
        for user in (f"ann:{SECRET}", SECRET, f"ann:{SECRET}/x", f"ann:{SECRET}@more"):
            for scheme in ("https", "http", "webhdfs", "s9"):
                url = f"{scheme}://{user}@127.0.0.1:1/x"
                for verb in (["head"], ["count"], ["verify"], ["run"], ["convert", url, self.path("o.csv")]):
                    self.assertNotEqual(self.said(*verb, *([url] if verb[0] != "convert" else [])).returncode, 0, (verb, url))
                self.said("explain", url)

    def test_a_slash_too_few_and_a_user_before_a_bucket_show_no_password(self):
        for url in (f"http:/ann:{SECRET}@127.0.0.1/x", f"s3://AKIA:{SECRET}@bucket/x.jsonl", f"gs://AKIA:{SECRET}@bucket/x.jsonl"):
            for verb in (["head"], ["ls"], ["cp", url, self.path("to/")], ["run"], ["verify"]):
                self.assertNotEqual(self.said(*verb, *([url] if verb[0] != "cp" else [])).returncode, 0, (verb, url))

    def test_what_a_signed_url_serves_is_read_and_explained(self):
        self.serve("a.csv", b"n,text\n1,x\n2,y\n")
        for query in QUERIES:
            url = self.url("a.csv?" + query)
            self.assertEqual(self.said("head", url).stdout, '{"n":1,"text":"x"}\n{"n":2,"text":"y"}\n')
            self.assertIn("***", self.said("explain", f'csv("{url}", header=true)').stdout)
            self.assertIn("sound: 2 ", self.said("verify", url).stdout)
            self.said("count", url, url)
            place = self.path("c")
            done = self.said("run", f'csv("{url}", header=true)', "--output", "null", "--checkpoint", place, "--stages")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn(SECRET.encode(), pathlib.Path(place).read_bytes())

    def test_what_is_kept_of_bad_elements_has_no_secret(self):
        self.serve("a.csv", b"n\n1\nx\n")
        url = self.url("a.csv?" + QUERIES[0])
        kept = self.path("bad.jsonl")
        self.said("run", f'csv("{url}", "n: int64", header=true)', "--output", "null", "--on-error", f"quarantine({kept})")
        text = pathlib.Path(kept).read_text()
        self.assertIn("a.csv?", text)
        self.assertNotIn(SECRET, text)

    def test_a_caret_stands_where_the_mistake_is_though_a_secret_is_before_it(self):
        done = self.said("explain", f'lines("http://h/a?sig={SECRET * 30}") | no_such(1)')
        shown, caret = done.stderr.splitlines()[1:3]
        self.assertTrue(shown[len(caret) - 1:].startswith("no_such(1)"), done.stderr)


if __name__ == "__main__":
    main()
