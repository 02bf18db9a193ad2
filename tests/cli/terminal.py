# SPDX-License-Identifier: Apache-2.0
"""Runs a command on a terminal of a given size."""
import fcntl
import os
import pty
import struct
import subprocess
import termios


def run_on_terminal(words, columns=80, stdout=None, stdin=subprocess.DEVNULL, **options):
    """Returns the exit status, and the text that the command printed on the terminal. `stdout`: a file in its place."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    options.setdefault("env", dict(os.environ, TERM="xterm-256color"))
    running = subprocess.Popen(list(map(str, words)), stdin=stdin, stdout=stdout if stdout is not None else theirs, stderr=theirs, **options)
    os.close(theirs)
    shown = b""
    try:
        while chunk := os.read(ours, 65536):
            shown += chunk
    except OSError:   # the other side closed
        pass
    os.close(ours)
    return running.wait(60), shown.decode(errors="replace").replace("\r\n", "\n")
