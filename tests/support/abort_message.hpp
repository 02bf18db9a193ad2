// SPDX-License-Identifier: Apache-2.0
// Runs code that ends the program, in a child process.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <optional>
#include <string>

namespace sluice::lib {

/// Runs f in a child process. Returns what the child wrote to standard error if it aborted; nothing if it did not.
template <class F> std::optional<std::string> abort_message(F f) {
  int ends[2];
  if (::pipe(ends) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);  // without the report that Catch2 would print
    ::dup2(ends[1], STDERR_FILENO);
    f();
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string text;
  char some[512];
  for (ssize_t n; (n = ::read(ends[0], some, sizeof some)) > 0;) text.append(some, static_cast<std::size_t>(n));
  ::close(ends[0]);
  int ended = 0;
  if (child < 0 || ::waitpid(child, &ended, 0) != child) return {};
  return WIFSIGNALED(ended) && WTERMSIG(ended) == SIGABRT ? std::optional(text) : std::nullopt;
}

}  // namespace sluice::lib
