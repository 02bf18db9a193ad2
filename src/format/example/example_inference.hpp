// SPDX-License-Identifier: Apache-2.0
// Infers a schema from some tf.Examples.
//
//   example_inference inference;
//   for (std::string_view record : records) inference.add(record);
//   inference.schema_text()        // "label: int64, tags: bytes[], text: bytes?, 'a b': int64, values: float[16]"
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
#include <vector>

#include "sluice/format/example_schema.hpp"

namespace sluice::lib {

class example_inference {
 public:
  /// Errors: data_loss: the record is no tf.Example; invalid_argument: a feature has another kind than before.
  status add(std::string_view record);
  std::uint64_t examples() const { return examples_; }
  bool has_features() const { return !features_.empty() || !lists_.empty(); }
  /// Returns true if a record has feature lists, so that the records are tf.SequenceExamples.
  bool has_feature_lists() const { return !lists_.empty(); }
  /// Returns the features in the order of their names. Returns "" if none has a value.
  std::string schema_text() const;
  /// Returns the feature lists, in the order of their names. Errors: invalid_argument: a name cannot be in a schema.
  result<std::string> sequence_text() const;

 private:
  struct seen {
    feature_kind kind = feature_kind::none;
    std::uint64_t examples = 0;  ///< the number of examples that have it
    std::size_t least = 0, most = 0;
  };
  struct seen_list {
    feature_kind kind = feature_kind::none;
    std::uint64_t examples = 0, steps = 0;
    std::size_t least = 0, most = 0;  ///< values of a step
  };
  /// A feature of the record that is being added; its name is in the record.
  struct counted {
    std::string_view name;
    feature_kind kind = feature_kind::none;
    std::size_t count = 0;
  };
  status add_features();
  status add_lists(std::string_view record);

  std::map<std::string, seen, std::less<>> features_;
  std::map<std::string, seen_list, std::less<>> lists_;
  std::vector<counted> record_;
  std::uint64_t examples_ = 0;
};

/// Returns true unless the record cannot be a tf.Example although its wire format is that of one: no feature has values,
/// and the name of one is itself a feature with its name. So a record of TensorFlow Ranking (ExampleListWithContext) is
/// recognized, whose examples are one level deeper. Damaged records return false.
bool may_be_example(std::string_view record);

}  // namespace sluice::lib
