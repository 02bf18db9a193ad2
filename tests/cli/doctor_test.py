# SPDX-License-Identifier: Apache-2.0
"""`sluice doctor`: what it says of this machine is true, and it follows SLUICE_IO."""
import os
import pathlib
import platform
import resource

from program import PROGRAM, ProgramTest, main, sluice


def sections(text):
    """{heading: {name: value}}; lines of advice have no name."""
    found, here = {}, None
    for line in text.splitlines():
        if not line.startswith(" "):
            here = found.setdefault(line, {})
        elif here is not None:
            here[line[2:29].strip()] = line[29:].strip()
    return found


class Doctor(ProgramTest):
    def found(self, **more):
        done = sluice("doctor", env={**{k: v for k, v in os.environ.items() if k != "SLUICE_IO"}, **more})
        return done, sections(done.stdout)

    def test_it_says_what_the_system_says(self):
        done, found = self.found()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(done.stdout.startswith("sluice 0."))
        self.assertEqual(found["machine"]["kernel"], f"Linux {platform.release()} {platform.machine()}")
        self.assertTrue(found["machine"]["processors"].startswith(f"{len(os.sched_getaffinity(0))} of {os.cpu_count()} "))
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.assertEqual(found["limits"]["open files"], f"{soft} (at most {hard})")
        self.assertIn("memory", found["machine"])
        self.assertIn("gzip zlib", found["built in"]["compression"])
        module = pathlib.Path(PROGRAM).parent / "libsluice-grpc-transport.so"
        self.assertRegex(found["built in"]["gRPC (--transport grpc)"], rf"^yes  {module}$" if module.exists() else "^(yes|no) ")
        for name in ("L2 cache", "L3 cache", "transparent huge pages"):
            self.assertTrue(found["machine"][name])

    def test_the_back_end_is_that_of_sluice_io_and_it_says_so(self):
        done, found = self.found(SLUICE_IO="threads")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(found["files"]["back end"], "threads")
        self.assertEqual(found["files"]["chosen by"], "SLUICE_IO=threads")
        done, found = self.found()
        self.assertTrue(found["files"]["chosen by"].startswith("the program"))
        self.assertTrue(found["files"]["back end"].startswith("io_uring" if found["files"]["io_uring"] == "yes" else "threads: "))
        done, found = self.found(SLUICE_IO="nonsense")
        self.assertEqual(done.returncode, 1)
        self.assertIn("unset SLUICE_IO", done.stdout)

    def test_few_open_files_are_advised_against(self):
        done = sluice("doctor", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (200, 300)))
        self.assertIn("200 (at most 300)", done.stdout)
        self.assertIn("ulimit -n 300", done.stdout)


if __name__ == "__main__":
    main()
