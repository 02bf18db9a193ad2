// SPDX-License-Identifier: Apache-2.0
#include "cli/messages/exit_status.hpp"

#include <absl/strings/str_cat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <system_error>

#include "cli/messages/advice.hpp"
#include "cli/messages/command_text.hpp"
#include "cli/messages/message_text.hpp"
#include "cli/messages/text_layout.hpp"
#include "cli/verbs.hpp"

namespace sluice::lib::cli {
namespace {

constexpr std::string_view kInFront = "sluice: ";

/// Returns true if errors are printed in bold and red: on a terminal, unless NO_COLOR is set (https://no-color.org).
bool is_colored() {
  const char* refused = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return !(refused && *refused) && terminal && std::string_view(terminal) != "dumb" && isatty(STDERR_FILENO);
}

/// Breaks a message into the lines of a terminal. In a log, a message stays one line.
std::string for_terminal(const std::string& message, std::size_t first_column) {
  if (!isatty(STDERR_FILENO)) return message;
  const std::size_t columns = terminal_columns(STDERR_FILENO);
  if (first_column + display_width(message) <= columns) return message;
  return with_blanks(wrapped(with_whole_commands(message), columns, kInFront.size(), first_column));
}

/// Returns the message of an error with its advice. If the file is in another format, advice about its own is left out.
std::string with_advice(const status& why, std::string message) {
  const std::string advice = advice_for(why);
  const bool is_other_format = !why.where().file.empty() && advice.starts_with("; " + why.where().file + " ");
  // A file that is recognized as another format is not damaged: its first bytes say nothing about a record.
  if (is_other_format && advice.find(" contains lines of text") == advice.npos)
    return absl::StrCat(std::string(why.where().stage), ": ", advice.substr(2));
  if (is_other_format) message.resize(std::min(message.find(": give a schema of"), message.size()));
  return message + advice;
}

}  // namespace

int exit_status_of(const status& why) {
  if (is_about_folder(why)) return kMisuse;
  switch (why.code()) {
    case status_code::ok: return kOk;
    case status_code::unavailable:
    case status_code::deadline_exceeded: return kUnavailable;
    case status_code::unimplemented: return kMisuse;
    default: return kFailed;
  }
}

int more_serious(int one, int other) {
  for (int status : {kFailed, kMisuse, kUnavailable})
    if (one == status || other == status) return status;
  return kOk;
}

void print_error(std::string_view words) {
  const std::string text = message_text(words);
  const std::size_t first = std::min(text.find('\n'), text.size());
  const std::string message = for_terminal(text.substr(0, first), kInFront.size());
  std::string place = text.substr(first);
  std::fflush(stdout);
  if (!is_colored()) {
    std::fprintf(stderr, "sluice: %s%s\n", message.c_str(), place.c_str());
    return;
  }
  if (std::size_t caret = place.rfind('^'); caret != place.npos) place.replace(caret, 1, "\x1b[1;31m^\x1b[0m");
  std::fprintf(stderr, "\x1b[1;31msluice:\x1b[0m \x1b[1m%s\x1b[0m%s\n", message.c_str(), place.c_str());
}

void print_error(const status& why) {
  try {
    throw_status(why);
  } catch (const std::exception& e) { print_error(with_advice(why, e.what())); }
}

void print_warning(std::string_view words) {
  const std::string text = for_terminal(message_text(words), kInFront.size() + std::string_view("warning: ").size());
  std::fprintf(stderr, "sluice: warning: %s\n", text.c_str());
}

int report_exception(status* why) {
  status unused;
  status& to = why ? *why : unused;
  try {
    throw;
  } catch (const misuse& e) {
    to = invalid_argument_error(e.what());
    print_error(e.what());
    return kMisuse;
  } catch (const error& e) {
    to = e.why();
    print_error(with_advice(e.why(), e.what()));
    return exit_status_of(e.why());
  } catch (const std::exception& e) {
    to = unknown_error(e.what());
    print_error(e.what());
    return kFailed;
  }
}

}  // namespace sluice::lib::cli
