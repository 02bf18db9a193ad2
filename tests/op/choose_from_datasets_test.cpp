// SPDX-License-Identifier: Apache-2.0
// sluice/op/choose_from_datasets.hpp
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"
#include "verbs/choose_from_datasets_model.hpp"

namespace sluice::lib::choose_from_datasets_test {
namespace {

using namespace test;
using namespace choose_from_datasets_case;
using int64 = std::int64_t;

}  // namespace

TEST_CASE("choose_from_datasets conforms for elements of every kind") {
  for (bool stop : {true, false}) {
    conforms_for_elements(
        [stop](const auto& in) {
          return choose_from_datasets({in | take(9), in, in | skip(3)},
                                      range(60) | map([](int64 x) { return choice(x, 3); }),
                                      {.stop_on_empty_dataset = stop});
        },
        {.expected = [stop](const int64s& in) {
          int64s selector;
          for (int64 x = 0; x != 60; ++x) selector.push_back(choice(x, 3));
          return chosen({first_of(in, 9), in, without_first(in, 3)}, selector, stop);
        }});
  }
}

TEST_CASE("choose_from_datasets asks for no element that is not chosen") {
  auto made = std::make_shared<std::array<int64, 2>>();
  auto noting = [made](std::size_t k) {
    return counter() | map([made, k](int64 x) {
             ++(*made)[k];
             return x;
           });
  };
  auto ds = choose_from_datasets({noting(0), noting(1)}, range(50) | map([](int64 x) { return int64{x % 5 == 0}; }));
  CHECK(consume(ds | take(25), {}).elements.size() == 25);
  CHECK((*made)[0] == 20);
  CHECK((*made)[1] == 5);
}

TEST_CASE("choose_from_datasets prints as text, is read again, and refuses arguments that do not fit") {
  round_trips(*choose_from_datasets({range(2), range(3)}, range(1)).plan(),
              "choose_from_datasets([range(2), range(3)], range(1))");
  round_trips(*choose_from_datasets({range(2)}, range(1) | repeat(), {.stop_on_empty_dataset = false}).plan(),
              "choose_from_datasets([range(2)], range(1) | repeat, stop_on_empty_dataset=false)");
  // Not the last of the list.
}

}  // namespace sluice::lib::choose_from_datasets_test
