// SPDX-License-Identifier: Apache-2.0
// What the cases of batch_by_tokens and its tests share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sluice/sluice.hpp"
#include "support/plan_texts.hpp"
#include "support/verb_case.hpp"

namespace sluice::lib::batch_by_tokens_case {

using namespace test;
using int64 = std::int64_t;

inline std::string tokens(count most, batch_by_tokens_options o) {
  return elements(from_elements(std::vector<int64s>{{1}, {2, 2}, {3, 3, 3}, {}, {5}, {6}, {7}}) |
                  batch_by_tokens(expr("length(it)"), most, std::move(o)));
}

}  // namespace sluice::lib::batch_by_tokens_case
