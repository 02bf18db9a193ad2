// SPDX-License-Identifier: Apache-2.0
// rule_choice: which rules may rewrite a plan.
//
//   ds.iterate(rt, {.rules = rule_choice::none()});                  // runs the plan as written
//   ds.iterate(rt, {.rules = rule_choice().without("push_take")});
//   ds.iterate(rt, {.rules = rule_choice().with("inject_prefetch")});   // a rule that runs only if it is chosen
//
// A checkpoint fits any choice: it belongs to the plan as written.
#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::lib {

class rule_choice {
 public:
  /// All rules, except those that must be chosen (docs/optimizer.md).
  constexpr rule_choice() noexcept = default;
  /// No rule.
  static constexpr rule_choice none() noexcept {
    rule_choice c;
    c.off_ = ~std::uint64_t{0};
    return c;
  }
  /// Returns the same choice without the rule, or with it. Errors: invalid_argument: no rule has that name.
  rule_choice without(std::string_view rule) const;
  rule_choice with(std::string_view rule) const;

  /// Returns the rules that are off, and those that were chosen by with(): bit n is the n-th of optimizer_rules().
  constexpr std::uint64_t off() const noexcept { return off_; }
  constexpr std::uint64_t on() const noexcept { return on_; }
  constexpr bool allows_any() const noexcept { return off_ != ~std::uint64_t{0}; }
  constexpr bool operator==(const rule_choice&) const noexcept = default;

 private:
  std::uint64_t off_ = 0, on_ = 0;
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::rule_choice;

}  // namespace sluice
