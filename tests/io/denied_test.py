# SPDX-License-Identifier: Apache-2.0
"""All tests of io/ once more where the kernel refuses io_uring, as containers' seccomp profiles do: threads pass the same suite."""
import ctypes
import errno
import os
import pathlib
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from program import PROGRAM, main   # noqa: E402

SUITE = os.environ.get("SLUICE_IO_TESTS") or str(pathlib.Path(PROGRAM).parent / "io_tests")
IO_URING = (425, 426, 427)   # setup, enter, register: the same on every architecture
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
RETURN_ERRNO, RETURN_ALLOW = 0x00050000, 0x7FFF0000


def denying(error):
    """A function that puts the filter on the process that calls it; it cannot be taken off again."""
    code = [struct.pack("HBBI", LOAD, 0, 0, 0)]
    for k, number in enumerate(IO_URING):
        code.append(struct.pack("HBBI", JUMP_IF_EQUAL, len(IO_URING) - k, 0, number))
    code += [struct.pack("HBBI", RETURN, 0, 0, RETURN_ALLOW), struct.pack("HBBI", RETURN, 0, 0, RETURN_ERRNO | error)]
    program = ctypes.create_string_buffer(b"".join(code))
    header = struct.pack("HxxxxxxP", len(code), ctypes.addressof(program))
    libc = ctypes.CDLL(None, use_errno=True)

    def deny():
        if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, header) != 0:
            os._exit(77)
    deny.keep = program
    return deny


def denied(error, *command):
    done = subprocess.run(command, preexec_fn=denying(error), capture_output=True, text=True, timeout=600)
    if done.returncode == 77:
        raise unittest.SkipTest("seccomp filters cannot be set here")
    return done


class Denied(unittest.TestCase):
    def test_the_suite_of_io_passes_with_threads(self):
        for error in (errno.EPERM, errno.ENOSYS):
            done = denied(error, SUITE, "-d", "no")
            self.assertEqual(done.returncode, 0, done.stdout[-4000:] + done.stderr[-2000:])
            # The filter was there: what io_uring was to do was left out, and nothing else was.
            self.assertIn("io_uring is not available: " + os.strerror(error), " ".join(done.stdout.split()))  # Catch2 wraps lines
            self.assertRegex(done.stdout, r"All tests passed \(\d+ assertions in \d+ test cases\)")

    def test_doctor_says_so(self):
        done = denied(errno.EPERM, PROGRAM, "doctor")
        self.assertEqual(done.returncode, 0)
        self.assertIn("threads: io_uring is not available: Operation not permitted", done.stdout)
        self.assertIn("a seccomp profile that allows io_uring_setup", done.stdout)


if __name__ == "__main__":
    main()
