// SPDX-License-Identifier: Apache-2.0
// A schema for tf.Examples of which nothing is known but some of them.
//
//   example_inference inference;
//   for (std::string_view record : some_records) inference.add(record);
//   inference.schema_text()        // "label: int64, tags: bytes[], text: bytes?, values: float[16]"
//
// One value in each: that; the same number in each: an array; else a list. A feature that some lack is an optional.
// Errors: what only others have is missing, and what others have otherwise is an error when they are parsed: such is guessing.
// Thread: one caller.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "sluice/format/example_schema.hpp"

namespace sluice::lib {

class example_inference {
 public:
  /// Errors: data_loss: it is no tf.Example; invalid_argument: a feature is of another kind than in those before it.
  status add(std::string_view record);
  std::uint64_t examples() const { return examples_; }
  /// Features in the order of their names. Empty: none has a value.
  std::string schema_text() const;

 private:
  struct seen {
    feature_kind kind = feature_kind::none;
    std::uint64_t examples = 0;  ///< that have it
    std::size_t least = 0, most = 0;
  };
  std::map<std::string, seen, std::less<>> features_;
  std::uint64_t examples_ = 0;
};

}  // namespace sluice::lib
