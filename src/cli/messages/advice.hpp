// SPDX-License-Identifier: Apache-2.0
// The words to type after an error of data or files. The library does not know the command line, so it cannot name them.
#pragma once

#include <string>
#include <string_view>

#include "sluice/base/status.hpp"

namespace sluice::lib::cli {

/// Returns the end of the message: "; --on-error skip drops such elements", "; did you mean people.csv?", the plan that
/// reads a file of another format. Empty: none. May read the beginning of a local file.
std::string advice_for(const status& why);
/// Returns true if a folder was named where a file is needed, which is an error of the arguments; false for an element
/// that names one.
bool is_about_folder(const status& why);
/// Notes that --from was typed, so that a file of another format is not answered with a plan. Called once, before the verb.
void note_typed_format(bool is_typed);

/// Returns true for a short file that contains a plan.
bool contains_plan(const std::string& path);
/// Returns the message for "select id from people.csv", with the plan that it means; empty for other texts.
std::string way_to_sql(const std::string& text);
/// Returns "; the first row of people.csv contains id: write csv("people.csv", header=true)" for the message that no field
/// is named id, if the plan reads a CSV file without a header or by another delimiter; empty for other messages.
std::string way_to_header(const std::string& text, std::string_view message);

}  // namespace sluice::lib::cli
