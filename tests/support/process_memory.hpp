// SPDX-License-Identifier: Apache-2.0
// How much memory a pipeline makes a process take, in a process of its own.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>

#include <catch2/catch.hpp>

#include "support/sanitizers.hpp"

namespace sluice::lib::testing {

/// A line of /proc/self/status, in bytes.
inline std::size_t memory_line(const std::string& name) {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(name + ":")) return std::stoul(line.substr(name.size() + 1)) * 1024;
  return 0;
}

/// Runs `run()` in a child process and gives what it wrote into its result, of which `peak_bytes` is the most the child's
/// memory grew. T: trivially copyable, with a member peak_bytes. The parent must have no threads.
template <class T, class F> T in_own_process(F run) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::ofstream("/proc/self/clear_refs") << "5";  // the high-water mark starts here
    std::size_t before = memory_line("VmRSS");
    try {
      T told = run();
      told.peak_bytes = std::max<std::size_t>(1, memory_line("VmHWM") - before);
      ::_exit(::write(ends[1], &told, sizeof told) == sizeof told ? 0 : 1);
    } catch (const std::exception& e) { std::fprintf(stderr, "in a process of its own: %s\n", e.what()); }
    ::_exit(2);
  }
  ::close(ends[1]);  // else a child that fails would be waited for without end
  T told{};
  int how = 0;
  CHECK(::read(ends[0], &told, sizeof told) == sizeof told);
  CHECK(::waitpid(child, &how, 0) == child);
  ::close(ends[0]);
  return told;
}

}  // namespace sluice::lib::testing
