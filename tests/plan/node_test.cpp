// SPDX-License-Identifier: Apache-2.0
#include "sluice/plan/node.hpp"

#include <set>

#include <catch2/catch.hpp>

#include "plan/codecs/argument_codec.hpp"
#include "plan/fake_operators.hpp"
#include "sluice/element/batched.hpp"
#include "sluice/plan/dataset.hpp"
#include "sluice/plan/json.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib::node_test {

namespace {

std::string why(void (*f)()) {
  try {
    f();
  } catch (const error& e) { return std::string(e.why().message()); }
  return "nothing was thrown";
}

node_ptr first_plan(const node& n) {
  node_ptr found;
  for_each_plan(n, [&](const node_ptr& p) {
    if (!found) found = p;
  });
  return found;
}

/// The node with another value of the type F, or of one that begins with it.
template <class F> node_ptr with_argument(const node_ptr& n, std::string_view name, F value) {
  auto& list = n->op->arguments();
  auto changed = list.copy(n->arguments.get());
  *static_cast<F*>(argument_list::at(changed.get(), *list.find(name))) = std::move(value);
  node copy = *n;
  copy.arguments = arguments(list.tag, std::move(changed));
  return make_node(std::move(copy));
}

std::uint64_t print_of(std::string_view text) { return fingerprint(*parse_plan(text)); }

}  // namespace

TEST_CASE("a fingerprint depends on everything that changes the elements, and on no knob") {
  scoped_operators scope(test::fake_operators());
  test::register_fake_functions();
  auto base = print_of("lines(\"f\") | map(length_of) | shuffle(10, seed=7)");
  CHECK(base == print_of("lines(\"f\") | map(length_of, parallelism=8) | shuffle(10, seed=7)"));
  CHECK(base == print_of("lines(\"f\") | map(length_of, parallelism=autotune) | shuffle(10, seed=7)"));
  CHECK(base != print_of("lines(\"f\") | map(length_of) | shuffle(10, seed=8)"));
  CHECK(base != print_of("lines(\"g\") | map(length_of) | shuffle(10, seed=7)"));
  CHECK(base != print_of("lines(\"f\") | map(length_of, order=sloppy) | shuffle(10, seed=7)"));
  CHECK(print_of("range(1) | prefetch(2)") == print_of("range(1) | prefetch"));
  CHECK(!same_plan(*parse_plan("range(1) | prefetch(2)"), *parse_plan("range(1) | prefetch")));
}

TEST_CASE("plans that differ anywhere are not the same") {
  scoped_operators scope(test::fake_operators());
  test::register_fake_functions();
  static constexpr std::string_view kPlans[] = {
      "lines(\"f\")",
      "lines(\"g\")",
      "lines(\"f\", compression=gzip)",
      "lines(\"f\") | cache(\"d\")",
      "lines(\"f\") | cache(\"e\")",
      "range(1) | map(next_of)",
      "lines(\"f\") | filter(length_of)",
      "lines(\"f\") | map(length_of)",
      "lines(\"f\") | interleave(lines)",
      "lines(\"f\") | interleave(lines | take(1))",
      "zip(range(1), range(2))",
      "zip(range(2), range(1))",
      "zip(range(1), range(2), range(3))",
  };
  for (auto a : kPlans) {
    for (auto b : kPlans) {
      INFO(a << " and " << b);
      CHECK(same_plan(*parse_plan(a), *parse_plan(b)) == (a == b));
      CHECK((fingerprint(*parse_plan(a)) == fingerprint(*parse_plan(b))) == (a == b));
    }
  }
}

TEST_CASE("a function's version is part of the fingerprint and is checked in JSON") {
  scoped_operators scope(test::fake_operators());
  test::register_fake_functions();
  auto json = plan_json(*parse_plan("lines(\"f\") | map(length_of)"));
  auto at = json.find("\"version\":3");
  REQUIRE(at != std::string::npos);
  static std::string older;
  older = json.replace(at, 11, "\"version\":2");
  CHECK(why([] { parse_plan_json(older); }) ==
        "map: function: the plan wants version 2 of length_of, and this program has 3");
}

TEST_CASE("JSON has its documented form, and errors in it are reported") {
  scoped_operators scope(test::fake_operators());
  CHECK(
      plan_json(*parse_plan("range(5) | shuffle(10, seed=7) | prefetch(2)")) ==
      R"({"op":"prefetch","arguments":{"buffer_size":2},"inputs":[{"op":"shuffle","arguments":{"buffer_size":10,"seed":7},"inputs":[{"op":"range","arguments":{"stop":5}}]}]})");
  CHECK(why([] { parse_plan_json("{"); }).find("the plan is not JSON") == 0);
  CHECK(why([] { parse_plan_json("[1]"); }) == "a plan is an object, and this is a list");
  CHECK(why([] { parse_plan_json("5"); }) == "a plan is an object, and this is 5");
  CHECK(why([] { parse_plan_json("{}"); }) == "a plan lacks \"op\"");
  CHECK(why([] { parse_plan_json(R"({"op":"rang"})"); }) == "there is no stage rang; did you mean range?");
  CHECK(why([] { parse_plan_json(R"({"op":"range"})"); }) == "range: needs stop");
  CHECK(why([] { parse_plan_json(R"({"op":"range","fields":{"stop":"x"}})"); }) ==
        "range: stop expects a whole number, and is \"x\"");
  CHECK(why([] { parse_plan_json(R"({"op":"range","fields":{"stop":1,"end":1}})"); }) ==
        "range: has no end (it has stop, start, step)");
  CHECK(why([] { parse_plan_json(R"({"op":"range","fields":{"stop":1},"colour":1})"); }) ==
        "range: a call has no \"colour\"");
  CHECK(why([] { parse_plan_json(R"({"op":"shuffle","fields":{"buffer_size":1}})"); }) == "shuffle: needs an input");
  CHECK(why([] { parse_plan_json(R"({"op":"lines"})"); }) == "the plan is a reader: its source needs a path");
}

TEST_CASE("an error inside a JSON plan is reported with its place") {
  scoped_operators scope(test::fake_operators());
  auto told = [](std::string_view text) {
    try {
      parse_plan_json(text);
    } catch (const error& e) {
      CHECK(e.code() == status_code::invalid_argument);
      return std::string(e.why().message());
    }
    return std::string("a plan");
  };
  CHECK(told(R"({"op":"zip","inputs":[{"op":"range","fields":{"stop":1}},{"op":"rang"}]})") ==
        "there is no stage rang; did you mean range? (at inputs[1])");
  CHECK(
      told(
          R"({"op":"flat_map","inputs":[{"op":"lines","text":"f"}],"reader":{"op":"take","inputs":[{"op":"lines","fields":{"size":1}}]}})") ==
      "lines: has no size (it has path, compression, buffer) (at reader.inputs[0])");
  CHECK(told(R"({"op":"take","fields":{"n":1},"inputs":[{"op":"range"}]})") == "range: needs stop (at inputs[0])");
  CHECK(told(R"({"op":"range","fields":{"stop":1,"stop":2}})") == "range: stop is given twice");
  CHECK(told(R"({"op":"range","op":"range"})") == "\"op\" is given twice");
  CHECK(told(R"({"op":"range","fields":{"stop":1},"fields":{}})") == "range: \"fields\" is given twice");
  CHECK(told(R"({"op":"range","fields":{"stop":{}}})") == "range: stop expects a whole number, and is an object");
  CHECK(told(R"({"op":"range","fields":{"stop":[1,256]}})") == "range: stop expects a whole number, and is a list");
  CHECK(told(R"({"op":"lines","text":[1,256]})") == "lines: path expects a text in quotes, and is a list");
  CHECK(told(R"({"op":"lines","text":["a"]})") == "lines: path expects a text in quotes, and is a list");
  CHECK(told(R"({"op":"lines","function":{}})") == "lines: takes no function");
  CHECK(told(R"({"op":"zip","inputs":[5]})") == "zip: inputs expects a list of plans, which are objects");
  CHECK(told(R"({"op":"range","inputs":{}})") == "range: inputs expects a list, and is an object");
  CHECK(told("{\"op\":\n  x}").find("the plan is not JSON: parse error at line 2, column 3") == 0);
  std::string deep;
  for (int i = 0; i != 100'000; ++i) deep += R"({"op":"take","inputs":[)";
  CHECK(told(deep) == "the plan is more than 1000 stages deep");
  CHECK(told(std::string(100, '[')).find("the plan is not JSON") == 0);
  CHECK(told(std::string(100'000, '[')) == "the plan is more than 1000 stages deep");
  CHECK(told("\"" + std::string(100'000, 'x')).size() < 400);
}

TEST_CASE("a lambda runs but is not written down, and the error names the stage") {
  scoped_operators scope(test::fake_operators());
  test::register_fake_functions();
  static node_ptr n;
  auto f = std::make_shared<test::fake_function>("", 0, &type_of<std::int64_t>(), &type_of<std::int64_t>());
  auto written = parse_plan("range(3) | map(next_of)");
  n = with_argument(written, "function", function_value{f});
  CHECK(plan_text(*n) == "range(3) | map(<lambda>)");
  CHECK(serialisable(*n).code() == status_code::failed_precondition);
  CHECK(why([] { plan_json(*n); }).find("map(<lambda>) holds a lambda") == 0);
  n.reset();
}

TEST_CASE("a reader becomes a source when it is given its path") {
  scoped_operators scope(test::fake_operators());
  auto reader = first_plan(*parse_plan("lines(\"x\") | interleave(lines(compression=gzip) | take(3))"));
  REQUIRE(reader);
  CHECK(reader->lacks_path);
  auto whole = with_path(reader, "dir/f");
  CHECK_FALSE(whole->lacks_path);
  CHECK(plan_text(*whole) == "lines(\"dir/f\", compression=gzip) | take(3)");
  CHECK(reader->lacks_path);
}

TEST_CASE("sizes are derived as far as operators know them") {
  scoped_operators scope(test::fake_operators());
  CHECK(cardinality_of(*parse_plan("range(5) | take(3)")) == cardinality::of(3));
  CHECK(cardinality_of(*parse_plan("lines(\"f\") | take(3)")).kind == cardinality::unknown);
}

TEST_CASE("sizes saturate instead of wrapping") {
  constexpr std::int64_t kMost = cardinality::kMost;
  auto most = cardinality::of(kMost), three = cardinality::of(3), forever = cardinality::forever();
  CHECK(three.times(kMost).times(kMost) == most);
  CHECK(three.times(4) == cardinality::of(12));
  CHECK(forever.times(0) == cardinality::of(0));
  CHECK(cardinality::of_many(~std::uint64_t{0}) == most);
  CHECK(cardinality::of_many(7) == cardinality::of(7));
  CHECK(most.without(5) == most);
  CHECK(three.without(5) == cardinality::of(0));
  CHECK(most.in_groups(2, true) == most);
  CHECK(three.in_groups(2, true) == cardinality::of(1));
  CHECK(three.in_groups(2, false) == cardinality::of(2));
  CHECK(most.at_most(5) == cardinality::of(5));
  CHECK(forever.at_most(5) == cardinality::of(5));
  CHECK(cardinality{}.at_most(5) == cardinality{});
  CHECK(cardinality{}.at_most(0) == cardinality::of(0));
}

TEST_CASE("names registered twice must mean the same") {
  test::register_fake_functions();
  test::register_fake_functions();
  CHECK(find_functions("length_of").size() == 2);
  CHECK(why([] {
          add_function(std::make_shared<test::fake_function>("length_of", 4, &type_of<std::string>(), nullptr));
        }).find("registered twice") != std::string::npos);
}

namespace {

preserving fake_shuffle() {
  auto n = parse_plan("range(1) | shuffle(10)");
  return {*n->op, n->arguments};
}
preserving fake_prefetch() {
  auto n = parse_plan("range(1) | prefetch");
  return {*n->op, n->arguments};
}

struct fake_lines {
  file_reader<std::string> as_reader() const {
    return file_reader<std::string>(first_plan(*parse_plan("lines(\"f\") | flat_map(lines)")));
  }
};

template <class T> struct batch_verb : stage_base_tag {
  dataset<batched<T>> apply(const dataset<T>& in) const {
    return dataset<batched<T>>(make_stage(*find_op("batch"), parse_plan("range(1) | batch(2)")->arguments, in.plan()));
  }
};

}  // namespace

TEST_CASE("stages compose with and without a source, and after readers") {
  scoped_operators scope(test::fake_operators());
  dataset<std::int64_t> numbers(parse_plan("range(5)"));
  auto tail = fake_shuffle() | fake_prefetch() | batch_verb<std::int64_t>();
  auto ds = numbers | tail;
  STATIC_REQUIRE(std::is_same_v<decltype(ds), dataset<batched<std::int64_t>>>);
  CHECK(plan_text(*ds.plan()) == "range(5) | shuffle(10) | prefetch | batch(2)");
  CHECK(same_plan(*ds.plan(), *parse_plan(plan_text(*ds.plan()))));
  auto reader = fake_lines() | fake_shuffle() | batch_verb<std::string>();
  STATIC_REQUIRE(std::is_same_v<decltype(reader), file_reader<batched<std::string>>>);
  CHECK(plan_text(*reader("f").plan()) == "lines(\"f\") | shuffle(10) | batch(2)");
}

TEST_CASE("a dataset refuses a plan of another element") {
  scoped_operators scope(test::fake_operators());
  CHECK(why([] { dataset<std::string>(parse_plan("range(5)")); }) == "range: the plan yields int64, not string");
}

TEST_CASE("a site counts the stages of its name below it in its own chain, and nothing else moves it") {
  scoped_operators scope(test::fake_operators());
  test::register_fake_functions();
  auto sites = [](std::string_view text) {
    std::vector<std::uint32_t> found;
    for (node_ptr n = parse_plan(text);; n = n->inputs[0]) {
      found.push_back(n->site);
      if (n->op->shape != op_info::stage) return found;
    }
  };
  auto two = sites("range(9) | shuffle(2) | shuffle(3)");
  CHECK(std::set<std::uint32_t>(two.begin(), two.end()).size() == 3);
  auto more = sites("range(9) | prefetch | shuffle(2) | take(5) | shuffle(3) | prefetch");
  CHECK(more[1] == two[0]);
  CHECK(more[3] == two[1]);
  CHECK(more[5] == two[2]);
  CHECK(sites("zip(range(1) | shuffle(2), range(2)) | shuffle(3)")[0] == two[1]);  // a chain of its own
  auto deep = sites([] {
    std::string text = "range(1)";
    for (int i = 0; i != 900; ++i) text += " | take(1)";
    return text;
  }());
  CHECK(std::set<std::uint32_t>(deep.begin(), deep.end()).size() == deep.size());
}

TEST_CASE("a rewritten node keeps its site") {
  scoped_operators scope(test::fake_operators());
  test::register_fake_functions();
  auto plan = parse_plan("lines(\"f\") | shuffle(2) | shuffle(3)");
  node moved = *plan;
  moved.inputs[0] = plan->inputs[0]->inputs[0];  // the shuffle below is gone
  CHECK(make_node(moved)->site == plan->site);
  auto reader = first_plan(*parse_plan("lines(\"f\") | interleave(lines | shuffle(2))"));
  CHECK(with_path(reader, "f")->site == plan->inputs[0]->site);
}

}  // namespace sluice::lib::node_test
