// SPDX-License-Identifier: Apache-2.0
// Infers a schema from some tf.Examples.
//
//   example_inference inference;
//   for (std::string_view record : some_records) inference.add(record);
//   inference.schema_text()        // "label: int64, tags: bytes[], text: bytes?, values: float[16]"
//
// A feature with one value in each example is a scalar; with the same number of values in each, an array; else a list.
// A feature that some examples lack is an optional.
// Errors: the schema is a guess: features that appear only in other examples are not in it, and a value of another form
//         there is an error when it is parsed.
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
  /// Errors: data_loss: the record is no tf.Example; invalid_argument: a feature has another kind than before.
  status add(std::string_view record);
  std::uint64_t examples() const { return examples_; }
  /// Returns the features in the order of their names. Returns "" if none has a value.
  std::string schema_text() const;

 private:
  struct seen {
    feature_kind kind = feature_kind::none;
    std::uint64_t examples = 0;  ///< the number of examples that have it
    std::size_t least = 0, most = 0;
  };
  std::map<std::string, seen, std::less<>> features_;
  std::uint64_t examples_ = 0;
};

}  // namespace sluice::lib
