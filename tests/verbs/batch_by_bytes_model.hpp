// SPDX-License-Identifier: Apache-2.0
// What the cases of batch_by_bytes and its tests share.
#pragma once

#include <cstdint>
#include <string>

#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::batch_by_bytes_case {

using namespace test;
using int64 = std::int64_t;

inline int64 number_of_texts(const batched<std::string>& b) {
  int64 all = b.size();
  for (std::string_view text : b.values()) all = number_of(all, static_cast<int64>(text.size()));
  return all;
}

}  // namespace sluice::lib::batch_by_bytes_case
