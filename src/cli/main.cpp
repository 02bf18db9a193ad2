// SPDX-License-Identifier: Apache-2.0
#include <malloc.h>

#include "cli/options/command_line.hpp"

int main(int argc, char** argv) {
#if defined(__GLIBC__)
  // Used only if the build found no mimalloc. Large strings and vectors that functions allocate are returned to the
  // system when they are freed. glibc's threshold for that follows the largest block ever freed, so a program with
  // elements of 10 MiB would retain several of them in every thread's heap. The program chooses this and not the
  // library, because a library does not configure its host's malloc.
  mallopt(M_MMAP_THRESHOLD, 256 << 10);
  mallopt(M_TRIM_THRESHOLD, 1 << 20);
#endif
  return sluice::lib::cli::run_command_line(argc, argv);
}
