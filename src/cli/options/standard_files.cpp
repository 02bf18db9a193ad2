// SPDX-License-Identifier: Apache-2.0
#include "cli/options/standard_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "cli/messages/exit_status.hpp"
#include "cli/messages/text_layout.hpp"
#include "cli/verbs.hpp"
#include "output/output_stream.hpp"

namespace sluice::lib::cli {
namespace {

/// Writes a part of the text that is printed on a terminal, with its control characters escaped: names and values in data
/// may contain any. A character that the part ends within is written with the next part.
bool write_to_terminal(std::string_view part) {
  static std::string text;  // printing is serialized by the lock of stdout
  text += part;
  const std::size_t whole = whole_characters_of(text).size();
  const bool done = write_to_standard_output(without_controls(std::string_view(text).substr(0, whole), "\n\t"));
  text.erase(0, whole);
  return done;
}

int output_errno = 0;  ///< of a part that was not printed

}  // namespace

void open_standard_files() {
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
        ::open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY) < 0)
      std::_Exit(kFailed);
}

void make_standard_output_wait() {
  cookie_io_functions_t functions{};
  functions.write = [](void*, const char* text, std::size_t size) -> ssize_t {
    const bool done =
        ::isatty(STDOUT_FILENO) ? write_to_terminal({text, size}) : write_to_standard_output({text, size});
    if (!done) output_errno = errno;
    return done ? static_cast<ssize_t>(size) : 0;
  };
  std::FILE* waiting = ::fopencookie(nullptr, "w", functions);
  if (!waiting) return;
  // A terminal gets each line when it is printed, as usual.
  if (::isatty(STDOUT_FILENO)) std::setvbuf(waiting, nullptr, _IOLBF, 0);
  stdout = waiting;
}

int checked_output(int exit_status) {
  if ((std::fflush(stdout) == 0 && !std::ferror(stdout)) || output_errno == EPIPE) return exit_status;
  const std::string why(
      errno_error(output_errno == 0 ? EIO : output_errno, "cannot write to standard output").message());
  print_error(why);
  return exit_status == kOk ? kFailed : exit_status;
}

}  // namespace sluice::lib::cli
