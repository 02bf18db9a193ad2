// SPDX-License-Identifier: Apache-2.0
// sluice/op/from_tensors.hpp
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "engine/data/tensor_literal.hpp"
#include "sluice/sluice.hpp"
#include "support/op_conformance.hpp"

namespace sluice::lib::from_tensors_test {
namespace {

using namespace test;
using Catch::Contains;

struct nested_tensors {
  tensor image;
  std::pair<std::int64_t, std::string> label;
  double weight = 0;
};

/// The plan and its elements, as the program prints them.
std::string printed_elements(const std::string& plan_text) {
  runtime rt({.workers = 1});
  std::string out;
  auto collect = [](runtime& on, node_ptr plan, std::string& to) -> task<void> {
    any_stream s = open_run(on, plan, {});
    for (;;) {
      auto b = co_await s.next_block(demand{});
      if (!b) break;
      for (std::uint32_t i = 0; i != b.size(); ++i) {
        if (!to.empty()) to += ' ';
        print(s.type(), b.at(i), to);
      }
    }
  };
  sync_wait(rt, collect(rt, parse_plan(plan_text), out));
  return out;
}

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

TEST_CASE("from_tensors prints as text, and is read again") {
  tensor t = tensor::of(std::vector<float>{1, 2.5f, -3, 0.1f}, {2, 2});
  round_trips(*from_tensors(t).plan(), "from_tensors(float32([[1, 2.5], [-3, 0.1]]))");
  round_trips(*from_tensors(std::int64_t{-5}).plan(), "from_tensors(-5)");
  round_trips(*from_tensors(0.5).plan(), "from_tensors(0.5)");
  round_trips(*from_tensors(2.0).plan(), "from_tensors(2.0)");
  round_trips(*from_tensors(true).plan(), "from_tensors(true)");
  round_trips(*from_tensors(std::string("a\"b\\\n\xFF")).plan(), "from_tensors(\"a\\\"b\\\\\\x0a\\xff\")");
  round_trips(*from_tensors(std::pair(std::int64_t{1}, std::string("x"))).plan(), "from_tensors((1, \"x\"))");
}

TEST_CASE("a structure of the program prints as text; the text is a structure with the same members") {
  nested_tensors x{tensor::zeros(dtype::uint8, {1, 2}), {7, "seven"}, 0.5};
  auto ds = from_tensors(x);
  CHECK(plan_text(*ds.plan()) == "from_tensors({image: uint8([[0, 0]]), label: (7, \"seven\"), weight: 0.5})");
  auto again = parse_plan(plan_text(*ds.plan()));
  CHECK(again->type->members[2].type == &type_of<double>());
  CHECK(fingerprint(*again) == fingerprint(*ds.plan()));
}

TEST_CASE("values in text are numbers, texts and tensors") {
  CHECK(printed_elements("from_tensors(5) | map(it + 1)") == "6");
  CHECK(printed_elements("from_tensors({a: [1.5, 2], b: \"x\"})") == "{\"a\":[1.5,2.0],\"b\":\"x\"}");
  CHECK(printed_elements("from_tensors((1, [\"a\"])) | repeat(2)") == "[1,[\"a\"]] [1,[\"a\"]]");
  CHECK(parse_plan("from_tensors(7)")->type == &type_of<std::int64_t>());
  CHECK(parse_plan("from_tensors(int64(7))")->type == &type_of<tensor>());
  CHECK(parse_plan_json("{\"op\":\"from_tensors\",\"arguments\":{\"value\":{\"expression\":\"[1, 2]\"}}}")->type ==
        &type_of<tensor>());
}

TEST_CASE("an invalid value is refused, with its place") {
  auto refused = [](const std::string& text, const std::string& words) {
    CHECK_THROWS_WITH(parse_plan(text), Contains(words));
  };
  refused("from_tensors(" + std::string(100, '(') + "1" + std::string(100, ')') + ")", "nested deeper");
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
