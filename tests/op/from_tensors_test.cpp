// SPDX-License-Identifier: Apache-2.0
// sluice/op/from_tensors.hpp
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "engine/data/tensor_literal.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::from_tensors_test {
namespace {

using Catch::Contains;

struct nested_tensors {
  tensor image;
  std::pair<std::int64_t, std::string> label;
  double weight = 0;
};

}  // namespace

TEST_CASE("from_tensors gives its value once, sharing the tensor's bytes") {
  tensor t = tensor::of(std::vector<float>{1, 2, 3, 4}, {2, 2});
  runtime rt({.workers = 1});
  auto run = [](runtime& on, dataset<tensor> ds, const tensor& original) -> task<void> {
    auto s = ds.iterate(on);
    auto first = co_await s.next();
    REQUIRE(first);
    CHECK(first->data() == original.data());
    CHECK(*first == original);
    auto second = co_await s.next();
    CHECK_FALSE(second);
  };
  sync_wait(rt, run(rt, from_tensors(t), t));
}

TEST_CASE("a structure of the program prints as text; the text is a structure with the same members") {
  nested_tensors x{tensor::zeros(dtype::uint8, {1, 2}), {7, "seven"}, 0.5};
  auto ds = from_tensors(x);
  CHECK(plan_text(*ds.plan()) == "from_tensors({image: uint8([[0, 0]]), label: (7, \"seven\"), weight: 0.5})");
  auto again = parse_plan(plan_text(*ds.plan()));
  CHECK(again->type->members[2].type == &type_of<double>());
  CHECK(fingerprint(*again) == fingerprint(*ds.plan()));
}

TEST_CASE("large tensors have no text, and are distinguished by their values") {
  tensor a = tensor::zeros(dtype::uint8, {1 << 17}), b = a.copy();
  b.writable<std::uint8_t>()[77] = 1;
  auto plan_of = [](const tensor& t) { return from_tensors(t).plan(); };
  CHECK_THROWS_WITH(plan_json(*plan_of(a)), Contains("cannot be written down"));
  CHECK(same_plan(*plan_of(a), *plan_of(a.copy())));
  CHECK_FALSE(same_plan(*plan_of(a), *plan_of(b)));
}

}  // namespace sluice::lib::from_tensors_test
