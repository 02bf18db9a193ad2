// SPDX-License-Identifier: Apache-2.0
// A command as it was typed, for messages: suggestions contain its own files, plans and columns, so that they can be
// pasted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice::lib::cli {

class typed_command {
 public:
  /// `arguments`: the verb, and what follows it.
  explicit typed_command(const std::vector<std::string>& arguments) : arguments_(arguments) {}

  /// The arguments that are no options, without the verb. Values of options are among them.
  std::vector<std::string> words() const;
  /// Those that name existing local files.
  std::vector<std::string> files() const;
  /// Returns the argument after the option, or after its '='; empty if none follows.
  std::string value_of(std::string_view option) const;

  /// Returns `advice` with the typed file in place of FILE, the plan that reads it, or the typed plan, in place of PLAN,
  /// and two of its columns in place of NUMBER, one with numbers, and NAME; ROWS is the value of -n, and CONDITION
  /// an expression over them. Without such a file, FILE stays, and the plan
  /// is that of a CSV file with columns x and name. May read the file.
  std::string completed(std::string_view advice) const;

 private:
  const std::vector<std::string>& arguments_;
};

/// Returns the text as one word of a shell.
std::string shell_word(const std::string& text);
/// Returns the first `n` columns of a file, joined by commas; empty if it has none. May read the file.
std::string columns_of_file(const std::string& file, std::size_t n);

}  // namespace sluice::lib::cli
