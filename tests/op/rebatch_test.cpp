// SPDX-License-Identifier: Apache-2.0
// sluice/op/rebatch.hpp
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/trials/op_conformance.hpp"
#include "verbs/rebatch_model.hpp"

namespace sluice::lib::rebatch_test {
using namespace test;
using namespace rebatch_case;
using int64 = std::int64_t;

TEST_CASE("rebatch conforms for rows of every kind") {
  for (int64 from : {1, 4, 30})
    for (int64 to : {1, 3, 7}) {
      conforms({.stage = [from, to](const auto& in) { return in | batch(from) | rebatch(to) | map(folded); },
                .expected = [to](const int64s& in) { return refolded(in, {static_cast<std::size_t>(to)}, false); }});
    }
  struct row {
    int64 number;
    std::string text;
    std::vector<int64> list;
    std::optional<std::string> maybe;
  };
  auto stage = [](const dataset<int64>& in) {
    auto rows = in | map([](int64 x) {
                  row r{x, std::to_string(x), int64s(static_cast<std::size_t>(x % 3), x), {}};
                  if (x % 2 == 0) r.maybe = "even " + r.text;
                  return r;
                });
    return rows | batch(5) | rebatch({4, 3}) | unbatch() | map([](const row& r) {
             bool right = r.text == std::to_string(r.number) &&
                          r.list == int64s(static_cast<std::size_t>(r.number % 3), r.number) &&
                          r.maybe.has_value() == (r.number % 2 == 0) && (!r.maybe || *r.maybe == "even " + r.text);
             return right ? r.number : -1;
           });
  };
  conforms({.stage = stage, .expected = [](const int64s& in) { return in; }});
}

}  // namespace sluice::lib::rebatch_test
