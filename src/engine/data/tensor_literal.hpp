// SPDX-License-Identifier: Apache-2.0
// Tensors as plan text writes them: [[1, 2], [3, 4]], uint8([1, 2]), {a: 1, b: "x"}; the grammar is in
// sluice/engine/tensor_data.hpp. This header also has the codec of such an argument: text in plans, {"expression": "…"}
// in JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/codecs/argument_codec.hpp"
#include "sluice/engine/tensor_data.hpp"

namespace sluice::lib {

namespace detail {

/// Returns the literal. Returns "" for a plain tensor without elements, because no text would contain its dtype.
std::string tensor_literal(const element_type& nest, const std::vector<tensor_leaf>& leaves);

struct read_literal {
  const element_type* nest = nullptr;
  std::vector<tensor_leaf> leaves{};
};
/// Errors: misplaced, with the column from 1; error(invalid_argument): the text describes no tensor.
read_literal read_tensor_literal(std::string_view text);

}  // namespace detail

template <class T> const codec& codec_of();
template <> const codec& codec_of<tensor_data_arg>();

}  // namespace sluice::lib
