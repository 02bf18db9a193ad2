// SPDX-License-Identifier: Apache-2.0
// How jsonl finds the lines of a file, and builds elements of them: in one stage, or by several tasks
// (engine/files/parsed_texts.hpp).
#pragma once

#include <functional>
#include <memory>

#include "engine/files/file_stage.hpp"
#include "engine/files/parsed_texts.hpp"
#include "format/json/json_rows.hpp"

namespace sluice::lib {

/// Builds the elements of the lines that it finds. `row`: the type of an element.
std::shared_ptr<const element_format> jsonl_format_of(const element_type& row, json_row_reader reader);
/// Yields the lines as cut_texts, which the parser makes elements of.
std::shared_ptr<const element_format> jsonl_line_cutter();
/// `make`: makes a reader for one task.
std::shared_ptr<const text_parser> jsonl_line_parser(const element_type& row,
                                                     std::function<std::unique_ptr<json_row_reader>()> make);

}  // namespace sluice::lib
