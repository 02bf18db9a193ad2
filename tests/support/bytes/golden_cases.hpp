// SPDX-License-Identifier: Apache-2.0
// The cases of tests/golden/images (make_images.py): what was asked, and what TensorFlow answered.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::lib::test {

class golden_cases {
 public:
  /// Errors: throws std::runtime_error where the folder is not to be found.
  golden_cases();
  /// Those of one function.
  std::vector<const nlohmann::json*> of(std::string_view call) const;
  const nlohmann::json& all() const { return cases_; }
  /// The blob at `place`: [offset, size].
  std::string_view blob(const nlohmann::json& place) const;
  /// A blob that is compressed.
  std::string inflated(const nlohmann::json& place) const;

 private:
  nlohmann::json cases_;
  std::string bytes_;
};

}  // namespace sluice::lib::test
