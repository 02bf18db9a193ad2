// SPDX-License-Identifier: Apache-2.0
// The cases of tests/golden/images (make_images.py): what was asked, and what TensorFlow answered. Where its pixels are
// wrong, corrections.json has the correct ones and the reason (make_image_corrections.py).
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::lib::test {

/// The folder tests/golden/images. Errors: throws std::runtime_error if it is missing.
std::filesystem::path golden_images();

class golden_cases {
 public:
  /// Errors: throws std::runtime_error where the folder is not to be found.
  golden_cases();
  /// Those of one function.
  std::vector<const nlohmann::json*> of(std::string_view call) const;
  const nlohmann::json& all() const { return cases_; }
  /// The correct answer of a case that TensorFlow answers wrongly, with `why`; otherwise null.
  const nlohmann::json* correction_of(const nlohmann::json& wanted) const;
  const nlohmann::json& corrections() const { return corrections_; }
  /// The blob at `place`: [offset, size].
  std::string_view blob(const nlohmann::json& place) const;
  /// A blob that is compressed.
  std::string inflated(const nlohmann::json& place) const;
  /// The `pixels` of a case or of a correction.
  std::string pixels_of(const nlohmann::json& answer) const;

 private:
  nlohmann::json cases_, corrections_;
  std::string bytes_;
};

}  // namespace sluice::lib::test
