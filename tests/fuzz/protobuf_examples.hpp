// SPDX-License-Identifier: Apache-2.0
// A tf.Example, and a tf.SequenceExample, as protobuf reads them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/format/example.hpp"

namespace sluice::lib::fuzz {

using feature_map = std::map<std::string, feature_values, std::less<>>;

/// Is the oracle built in? Without it the targets look for crashes only.
bool have_protobuf();
/// None where protobuf refuses the bytes.
std::optional<feature_map> read_by_protobuf(std::string_view example);

struct sequence_features {
  feature_map context;
  std::map<std::string, std::vector<feature_values>, std::less<>> lists;  ///< the steps of each
};
/// The same of a tf.SequenceExample.
std::optional<sequence_features> read_sequence_by_protobuf(std::string_view record);

bool same(const feature_values& a, const feature_values& b);

}  // namespace sluice::lib::fuzz
