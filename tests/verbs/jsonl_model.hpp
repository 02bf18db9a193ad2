// SPDX-License-Identifier: Apache-2.0
// What the cases of jsonl and its tests share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "format/json/json_rows.hpp"
#include "sluice/op/jsonl.hpp"
#include "sluice/sluice.hpp"
#include "support/trials/verb_case.hpp"

namespace sluice::lib::jsonl_case {

using namespace test;

// With linkage: std::optional of it is a member that is told from others.
struct json_place {
  float x = 0;
  double y = 0;
};

struct json_line {
  std::int64_t number = 0;
  std::string text;
  std::vector<std::string> tags;
  std::optional<json_place> at;
};

}  // namespace sluice::lib::jsonl_case
