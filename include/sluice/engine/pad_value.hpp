// SPDX-License-Identifier: Apache-2.0
// The value that fills padded lists and tensors: an argument of padded_batch, bucket_by_sequence_length and
// batch_by_tokens.
//
//   sentences | padded_batch(32, {.values = {{"tokens", -1}, {"words", "-"}}})
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace sluice::lib {

/// A number or a text that fills missing places.
class pad_value {
 public:
  pad_value() = default;
  template <class N>
    requires std::is_arithmetic_v<N>
  pad_value(N number) : text_(spelled(number)) {}                     // NOLINT: numbers are written as numbers
  pad_value(std::string_view text) : text_(text), is_text_(true) {}   // NOLINT
  pad_value(const char* text) : pad_value(std::string_view(text)) {}  // NOLINT

  /// Returns a number in C++ notation.
  static pad_value number(std::string_view spelled) {
    pad_value v(spelled);
    v.is_text_ = false;
    return v;
  }
  const std::string& text() const { return text_; }
  bool is_text() const { return is_text_; }
  bool operator==(const pad_value&) const = default;

 private:
  static std::string spelled(double number);
  static std::string spelled(std::int64_t number) { return std::to_string(number); }
  template <class N> static std::string spelled(N number) {
    if constexpr (std::is_floating_point_v<N>) return spelled(static_cast<double>(number));
    else return std::to_string(number);
  }

  std::string text_{"0"};
  bool is_text_ = false;
};

}  // namespace sluice::lib
