# SPDX-License-Identifier: Apache-2.0
"""clang's -Wthread-safety knows the mutexes of this library: each program below that uses a guarded member without its mutex is refused."""
import shutil
import subprocess
import sys

import tree

COMPILER = shutil.which("clang++-19")
FLAGS = ["-std=c++20", "-fsyntax-only", "-Werror=thread-safety", "-I", "include", "-I", "src", "-x", "c++", "-"]
PROGRAM = """
#include <condition_variable>
#include "sluice/coro/channel.hpp"
using namespace sluice::lib;
struct counter {
  mutable mutex mutex_;
  std::condition_variable changed_;
  int sum_ ABSL_GUARDED_BY(mutex_) = 0;
  void add_locked(int n) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { sum_ += n; }
  void room_again() ABSL_LOCKS_EXCLUDED(mutex_);
  int f() { %s }
};
template class sluice::lib::channel<int>;
"""
# (the body of f, whether the compiler accepts it)
BODIES = [
    ("mutex_lock lock(mutex_); return sum_;", True),
    ("return sum_;", False),
    ("mutex_lock lock(mutex_); lock.unlock(); return sum_;", False),
    ("mutex_lock lock(mutex_); lock.unlock(); lock.lock(); return sum_;", True),
    ("detail::waking_lock lock(mutex_); return sum_;", True),
    ("{ detail::waking_lock lock(mutex_); } return sum_;", False),
    ("mutex_lock lock(mutex_); while (sum_ == 0) changed_.wait(lock.inner()); return sum_;", True),
    ("mutex_lock lock(mutex_); add_locked(1); return 0;", True),
    ("add_locked(1); return 0;", False),
    ("room_again(); return 0;", True),
    ("mutex_lock lock(mutex_); room_again(); return 0;", False),
]


def main():
    check = tree.checks()
    if not COMPILER:
        print("clang++-19 is missing: nothing checked")
        return check.finish()
    for body, is_accepted in BODIES:
        done = subprocess.run([COMPILER, *FLAGS], input=PROGRAM % body, cwd=tree.ROOT, capture_output=True, text=True)
        check.expect((done.returncode == 0) == is_accepted,
                     f"`{body}` is {'refused' if is_accepted else 'accepted'}:\n{done.stderr[:2000]}")
        check.expect(is_accepted or "thread-safety" in done.stderr, f"`{body}` is refused for another reason:\n{done.stderr[:2000]}")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
