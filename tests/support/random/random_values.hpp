// SPDX-License-Identifier: Apache-2.0
// Types and values of every kind, nested at random, that a seed fixes on every platform.
#pragma once

#include "sluice/element/tensor.hpp"
#include "sluice/element/value.hpp"
#include "support/random/random_numbers.hpp"

namespace sluice::lib::test {

enum class shade_kind : std::uint8_t { red, green, blue };
struct labelled {
  std::int64_t label = 0;
  std::string text{};
  friend bool operator==(const labelled&, const labelled&) = default;
};

struct nest_options {
  bool optionals_in_optionals = true;  ///< JSON cannot tell no optional from one without a value
  bool tensors = true;                 ///< JSON does not say their dtype
  std::size_t depth = 3;
};

/// Numbers, texts, tensors (sparse and ragged ones, too), none, and arrays, lists, optionals, pairs, tuples, structures and
/// batches of them.
const element_type& random_type(random_numbers& random, const nest_options& o = {});
/// Tensors that become rows of one column have one spec: those of one value where `spec` is given, and those within a batch.
value random_value(const element_type& t, random_numbers& random, const tensor_spec* spec = nullptr);
tensor_spec random_spec(random_numbers& random);

}  // namespace sluice::lib::test
