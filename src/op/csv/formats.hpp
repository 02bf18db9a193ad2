// SPDX-License-Identifier: Apache-2.0
// How csv finds the rows of a file, and builds elements of them: in one stage, or by several tasks
// (engine/files/parsed_texts.hpp).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "engine/files/file_stage.hpp"
#include "engine/files/parsed_texts.hpp"
#include "format/csv/csv_parser.hpp"
#include "sluice/format/csv_schema.hpp"

namespace sluice::lib {

struct csv_form {
  csv_schema schema;
  csv_dialect dialect;
  /// Called once, with the offset of the first byte that is not UTF-8, if there is one at the start of the file.
  std::function<void(std::size_t offset)> on_other_encoding = {};
};

/// Builds the rows that it finds, also in the columns of a consumer.
std::shared_ptr<const element_format> csv_format_of(const csv_form& form);

/// `cutter` reads the header and yields the rows as cut_texts, of which `parser` builds elements.
struct csv_parts {
  std::shared_ptr<const element_format> cutter;
  std::shared_ptr<const text_parser> parser;
};
csv_parts csv_parts_of(const csv_form& form);

}  // namespace sluice::lib
