// SPDX-License-Identifier: Apache-2.0
// Commands within a message, which users paste.
#pragma once

#include <string>
#include <string_view>

namespace sluice::lib::cli {

/// A blank that wrapped() treats as a part of a word. message_text() leaves no such byte in a message.
inline constexpr char kBlankOfCommand = '\x01';

/// Returns the message with kBlankOfCommand in place of each blank inside a command, so that no line ends there. A command
/// begins at `sluice` with a verb, and ends before a semicolon, a comma, a closing bracket or a word of the sentence. A text
/// between backticks is a command as a whole.
std::string with_whole_commands(std::string_view message);

/// Returns the text with blanks in place of kBlankOfCommand.
std::string with_blanks(std::string text);

}  // namespace sluice::lib::cli
