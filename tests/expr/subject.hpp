// SPDX-License-Identifier: Apache-2.0
// The element that expressions are tried on, and the functions that they may call.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "expr/program.hpp"

namespace sluice::lib::test {

enum class shade : std::uint8_t { dark, light };
struct inner_part {
  std::int64_t id = 9;
  std::string name = "nine";
};
struct subject {
  std::int8_t i8 = -5;
  std::int32_t i = 7;
  std::int64_t label = 42;
  std::uint8_t u8 = 200;
  std::uint32_t u32 = 3'000'000'000;
  std::uint64_t u64 = 10'000'000'000'000'000'000u;
  bool flag = true;
  float f = 1.5f;
  double d = -2.25;
  std::string text = "Hello World";
  std::vector<float> values = {1, 2, 3};
  std::array<std::int32_t, 4> corner = {1, 2, 3, 4};
  std::vector<std::string> tags = {"a", "bb"};
  inner_part inner;
  std::optional<std::int64_t> nothing;
  std::optional<std::int64_t> some = 5;
  std::pair<std::int64_t, std::string> where = {3, "there"};
  shade colour = shade::light;
};

/// twice_of(int64), shout(string), area((int64, int64)), fails_on(int64), and size_of(string) and size_of(int64, double).
class known_functions final : public callables {
 public:
  std::vector<std::shared_ptr<const callable>> named(std::string_view name, std::string& why) override;
  void note_call(const callable&) override {}
  void note_value(std::uint64_t) override {}
  std::vector<std::string> names() const override { return {"twice_of", "shout", "area", "fails_on", "size_of"}; }
};

/// "int64\t5", "?\tdivision by zero" or "!\tcolumn 3: …": what a value of `text` is for the last of `n` equal elements.
std::string outcome_of(std::string_view text, const subject& element = {}, std::uint32_t n = 1);

}  // namespace sluice::lib::test
