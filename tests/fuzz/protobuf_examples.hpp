// SPDX-License-Identifier: Apache-2.0
// A tf.Example as protobuf reads it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "sluice/format/example.hpp"

namespace sluice::lib::fuzz {

using feature_map = std::map<std::string, feature_values, std::less<>>;

/// Is the oracle built in? Without it the targets look for crashes only.
bool have_protobuf();
/// None where protobuf refuses the bytes.
std::optional<feature_map> read_by_protobuf(std::string_view example);
bool same(const feature_values& a, const feature_values& b);

}  // namespace sluice::lib::fuzz
