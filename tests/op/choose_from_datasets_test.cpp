// SPDX-License-Identifier: Apache-2.0
// sluice/op/choose_from_datasets.hpp
#include <array>
#include <cstdint>
#include <memory>

#include <catch2/catch.hpp>

#include "sluice/sluice.hpp"
#include "verbs/choose_from_datasets_model.hpp"

namespace sluice::lib::choose_from_datasets_test {
using namespace test;
using namespace choose_from_datasets_case;
using int64 = std::int64_t;

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

}  // namespace sluice::lib::choose_from_datasets_test
