// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>

#include "cli/options/command_line.hpp"

int main(int argc, char** argv) {
#if defined(__GLIBC__)
  // Only if the build found no mimalloc: large strings and vectors that functions make leave the process when they are
  // freed. glibc's threshold for that follows the largest block ever freed, so a program of 10 MiB elements would keep
  // several of them in every thread's heap. The program chooses this, not the library: a library does not set its
  // host's malloc.
  mallopt(M_MMAP_THRESHOLD, 256 << 10);
  mallopt(M_TRIM_THRESHOLD, 1 << 20);
#endif
  return sluice::lib::cli::run_command_line(argc, argv);
}
