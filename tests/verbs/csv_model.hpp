// SPDX-License-Identifier: Apache-2.0
// What the cases of csv and its tests share.
#pragma once

#include <optional>
#include <string>

#include "sluice/op/csv.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::csv_case {

using namespace test;

struct numbered_row {
  std::int64_t number = 0;
  std::string text;
  std::optional<double> half;
};

}  // namespace sluice::lib::csv_case
