// SPDX-License-Identifier: Apache-2.0
#include "sluice/plan/arguments.hpp"

#include <catch2/catch.hpp>

#include <functional>
#include <limits>

#include "plan/codecs/arguments_of.hpp"
#include "plan/fake_operators.hpp"
#include "plan/text/plan_builder.hpp"
#include "sluice/plan/identity.hpp"
#include "sluice/plan/json.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib::arguments_test {

namespace arguments_test {

enum class fruit : std::uint8_t { apple, pear, plum };
struct all_options {
  bool flag = true;
  std::int64_t whole = -3;
  double real = 0.1;
  sluice::lib::knob parallelism = sluice::lib::autotune;
  sluice::lib::seed seed = {};
  sluice::lib::order order = sluice::lib::order::deterministic;
  fruit kind = fruit::pear;
  sluice::lib::byte_size memory = 64 << 20;
  std::string note = "n";
};
struct bounded_arguments {
  sluice::lib::count_up_to<8> slots = {};
  sluice::lib::knob_up_to<1'000> ahead = sluice::lib::autotune;
};
struct all_arguments {
  sluice::lib::count size = {};
  sluice::lib::integer offset = {};
  sluice::lib::required_text name = {};
  std::vector<std::int64_t> sizes = {};
  all_options options = {};
};

}  // namespace arguments_test

using arguments_test::all_arguments;
using arguments_test::all_options;

namespace {

const argument_list& all() { return arguments_of<all_arguments>(); }

argument word(std::string text) {
  argument a;
  a.kind = argument::word;
  a.text = std::move(text);
  return a;
}

/// Empty, or what is wrong with it.
std::string read(all_arguments& to, std::string_view name, const argument& a) {
  auto* f = all().find(name);
  REQUIRE(f);
  try {
    reading("op", 1, false, detail::kLookup).read(*f->type, argument_list::at(static_cast<void*>(&to), *f), a, name);
  } catch (const misplaced& e) { return e.what; }
  return {};
}

std::string read(all_arguments& to, std::string_view name, std::string text, bool quoted = false) {
  argument a = word(std::move(text));
  if (quoted) a.kind = argument::quoted;
  return read(to, name, a);
}

}  // namespace

TEST_CASE("an arguments struct is its list, with the members of its options as members of its own") {
  std::string names;
  for (auto& f : all().fields) names += std::string(f.name) + (f.required ? "!" : "") + (f.by_position ? "+ " : " ");
  CHECK(names == "size!+ offset!+ name!+ sizes+ flag whole real parallelism seed order kind memory note ");
  CHECK(all().find("colour") == nullptr);
  CHECK(all().find("options") == nullptr);
}

TEST_CASE("a struct behind its erased type is the same, and copies share it") {
  arguments a = arguments::of(all_arguments{5, 0, std::string("x"), {1, 2}, {.real = 2}});
  arguments b = a;
  CHECK(&a.as<all_arguments>() == &b.as<all_arguments>());
  CHECK(b.as<all_arguments>().sizes == std::vector<std::int64_t>{1, 2});
  CHECK(a.tag() == all().tag);
  CHECK(arguments().tag() == arguments_of<no_arguments>().tag);
  CHECK(arguments().tag() != all().tag);
  CHECK(all().equal(a.get(), arguments::of(all_arguments(a.as<all_arguments>())).get()));
  all_arguments other = a.as<all_arguments>();
  other.sizes.push_back(3);
  CHECK_FALSE(all().equal(a.get(), &other));
}

TEST_CASE("printed text reads back equal") {
  all_arguments a{5, 0, std::string("a \"name\""), {}, {}};
  std::string text;
  all_arguments again;
  for (auto& f : all().fields) {
    const void* p = argument_list::at(static_cast<const void*>(&a), f);
    auto printed_text = printed(*f.type, p);
    text += printed_text + " ";
    if (f.name == "name" || f.name == "note" || f.name == "sizes") continue;  // the syntax takes the quotes away
    CHECK(read(again, f.name, printed_text) == "");
    CHECK(f.type->equal(p, argument_list::at(static_cast<const void*>(&again), f)));
  }
  CHECK(text == "5 0 \"a \\\"name\\\"\" [] true -3 0.1 autotune -1 deterministic pear 64MiB \"n\" ");
}

TEST_CASE("codecs report the expected form and the broken rule") {
  all_arguments a;
  CHECK(read(a, "size", "0") == "op: size must be at least 1, and is 0");
  CHECK(read(a, "size", "1x") == "op: size expects a whole number, and is 1x");
  CHECK(read(a, "size", "7", true) == "op: size expects a whole number, and is \"7\": write 7");
  CHECK(read(a, "flag", "yes") == "op: flag expects true or false, and is yes: write true");
  CHECK(read(a, "real", "inf") == "op: real must be finite, and is inf");
  CHECK(read(a, "real", "1e400") == "op: real expects a number, and is 1e400");
  CHECK(read(a, "parallelism", "0") == "op: parallelism must be at least 1, or autotune, and is 0");
  CHECK(read(a, "parallelism", "fast") == "op: parallelism expects a whole number or autotune, and is fast");
  CHECK(read(a, "kind", "fig") == "op: kind expects apple, pear or plum, and is fig");
  CHECK(read(a, "kind", "plum") == "");
  CHECK(a.options.kind == arguments_test::fruit::plum);
  CHECK(read(a, "memory", "2 parsecs") ==
        "op: memory expects a size in bytes, such as 64MiB (or 64M), 64MB, 4096, and is 2 parsecs");
  CHECK(read(a, "name", "n") == "op: name expects a text in quotes, and is n: write \"n\"");
  CHECK(read(a, "name", "", true) == "");
  a = {};
  CHECK(all().check(&a) == "size must be at least 1, and is 0");
  a.size = 1;
  CHECK(all().check(&a) == "needs offset");
  a.offset = 1;
  CHECK(all().check(&a) == "needs a name");
  a.name = std::string();
  CHECK(all().check(&a) == "");
}

TEST_CASE("a bounded count and a bounded knob refuse larger values, and otherwise equal a count and a knob") {
  auto& list = arguments_of<arguments_test::bounded_arguments>();
  arguments_test::bounded_arguments a;
  CHECK(list.find("slots")->required);
  CHECK(list.find("slots")->type->most() == 8);
  CHECK(list.find("ahead")->type->most() == 1'000);
  CHECK(list.find("ahead")->type->is_knob());
  CHECK_FALSE(list.find("slots")->type->is_knob());
  CHECK(all().find("parallelism")->type->most() == codec::kUnlimited);
  CHECK(list.check(&a) == "slots must be at least 1, and is 0");
  a = {9, autotune};
  CHECK(list.check(&a) == "slots must be at most 8, and is 9");
  a = {8, 1'001};
  CHECK(list.check(&a) == "ahead must be at most 1000, and is 1001");
  a.ahead = 0;
  CHECK(list.check(&a) == "ahead must be at least 1, or autotune, and is 0");
  a.ahead = autotune;
  CHECK(list.check(&a) == "");
  CHECK(printed(*list.find("ahead")->type, &a.ahead) == "autotune");
  a.ahead = 1'000;
  CHECK(list.check(&a) == "");
}

TEST_CASE("a list of numbers in JSON is one of integers, and of bytes where a text is wanted") {
  argument numbers;
  numbers.kind = argument::numbers;
  numbers.text = "104,105,300";
  all_arguments a;
  CHECK(read(a, "sizes", numbers) == "");
  CHECK(a.sizes == std::vector<std::int64_t>{104, 105, 300});
  CHECK(read(a, "name", numbers) == "op: name expects a text in quotes, and is a list");
  numbers.text = "104,105";
  CHECK(read(a, "name", numbers) == "");
  CHECK(a.name.value == "hi");
  numbers.text = "1,2.5";
  CHECK(read(a, "sizes", numbers) == "op: sizes[1] expects a whole number, and is 2.5");
}

TEST_CASE("doubles print so that they read back the same") {
  for (double v : {0.1, 1e300, 5e-324, std::numeric_limits<double>::max(), -0.0}) {
    all_arguments a;
    CHECK(read(a, "real", printed(codec_of<double>(), &v)) == "");
    CHECK(a.options.real == v);
  }
}

// --- In whole plans, of operators that take them. ---

namespace {

std::string refused(const std::function<void()>& f) {
  try {
    f();
  } catch (const error& e) { return std::string(e.why().message()); }
  return "nothing was thrown";
}

/// The node with another value of an argument.
template <class F> node_ptr with_argument(const node_ptr& n, std::string_view name, F value) {
  auto& list = n->op->arguments();
  auto changed = list.copy(n->arguments.get());
  *static_cast<F*>(argument_list::at(changed.get(), *list.find(name))) = std::move(value);
  node copy = *n;
  copy.arguments = arguments(list.tag, std::move(changed));
  return make_node(std::move(copy));
}

}  // namespace

TEST_CASE("JSON has functions, lists, maps, structs and missing values in their own forms") {
  scoped_operators scope(test::fake_operators());
  test::register_fake_functions();
  const std::string in = R"(},"inputs":[{"op":"range","arguments":{"stop":1}}]})";
  for (
      auto& [text, json] : {
          std::pair<std::string, std::string>(
              "range(1) | group(next_of, length_of, 3, boundaries=[1, -2])",
              R"({"op":"group","arguments":{"key":{"name":"next_of","version":1},"reduce":{"name":"length_of","version":3},"size":3,"boundaries":[1,-2])"),
          {"range(1) | columns({a=1.5, \"b c\"=2}, label=nothing, windows=[{size=1}], tried=[gzip])",
           R"({"op":"columns","arguments":{"defaults":{"a":1.5,"b c":2},"label":null,"windows":[{"size":1}],"tried":["gzip"])"},
          {"range(1) | columns(names={x=[\"\\xff\", \"y\"]})",
           R"({"op":"columns","arguments":{"names":{"x":[[255],"y"]})"},
          {"range(1) | route([range(2)], inners={op=range(3), name=next_of})",
           R"({"op":"route","arguments":{"branches":[{"op":"range","arguments":{"stop":2}}],"inners":{"name":{"name":"next_of","version":1},"op":{"op":"range","arguments":{"stop":3}}})"},
      }) {
    INFO(text);
    auto plan = parse_plan(text);
    CHECK(plan_json(*plan) == json + in);
    CHECK(same_plan(*plan, *parse_plan_json(json + in)));
  }
}

TEST_CASE("an invalid argument in JSON is reported by its name and the place of its plan") {
  scoped_operators scope(test::fake_operators());
  test::register_fake_functions();
  const std::string in = R"(},"inputs":[{"op":"range","arguments":{"stop":1}}]})";
  for (
      auto& [arguments, why] : {
          std::pair<std::string, std::string>(R"({"op":"columns","arguments":{"windows":[{"size":1},{"size":0}])",
                                              "columns: windows[1].size must be at least 1, and is 0"),
          {R"({"op":"columns","arguments":{"window":{"shift":1})", "columns: window: needs size"},
          {R"({"op":"columns","arguments":{"defaults":{"a":"b"})",
           "columns: defaults.a expects a number, and is \"b\""},
          {R"({"op":"columns","arguments":{"table":[[1],[2,"x"]])",
           "columns: table[1][1] expects a whole number, and is \"x\""},
          {R"({"op":"columns","arguments":{"tried":[1,"gzip"])",
           "columns: tried[0] expects automatic, none, gzip, zlib, zstd, lz4, snappy, snappy_blocks, bzip2 or xz, and "
           "is 1"},
          {R"({"op":"columns","arguments":{"limit":{})", "columns: limit expects a whole number, and is an object"},
          {R"({"op":"columns","arguments":{"windows":null)",
           "columns: windows expects a list of {size, shift, ahead}s in brackets, and is null"},
          {R"({"op":"group","arguments":{"key":"next_of")",
           "group: key expects the name of a function, and is \"next_of\""},
          {R"({"op":"group","arguments":{"key":{"name":"next_of"})", "group: key: a function lacks \"version\""},
          {R"({"op":"group","arguments":{"key":{"name":"next_of","version":9})",
           "group: key: the plan wants version 9 of next_of, and this program has 1"},
          {R"({"op":"route","arguments":{"branches":[{"op":"range","arguments":{"stop":1}},{"op":"range"}])",
           "range: needs stop (at arguments.branches[1])"},
          {R"({"op":"route","arguments":{"branches":[{"op":"lines"}])",
           "lines: needs a path (at arguments.branches[0])"},
          {R"({"op":"route","arguments":{"inners":{"a":{"op":"take","inputs":[{"op":"rang"}]}})",
           "there is no stage rang; did you mean range? (at arguments.inners.a.inputs[0])"},
          {R"({"op":"group","function":{"name":"next_of","version":1},"arguments":{"key":{"name":"next_of","version":1})",
           "group: key is given twice"},
      }) {
    INFO(arguments);
    CHECK(refused([&, &json = arguments] { parse_plan_json(json + in); }) == why);
  }
}

TEST_CASE("invalid arguments of a program are reported when the plan is built") {
  scoped_operators scope(test::fake_operators());
  test::register_fake_functions();
  auto group = parse_plan("range(1) | group(next_of, length_of, 3)");
  CHECK(refused([&] { with_argument(group, "reduce", function_value{}); }) == "group: needs a function for reduce");
  CHECK(refused([&] { with_argument(group, "key", function_value{find_functions("length_of")[1]}); }) ==
        "group: key is of a form that this stage cannot use");
  CHECK(refused([&] {
          with_argument(group, "weights", std::vector<double>{1, std::numeric_limits<double>::infinity()});
        }) == "group: weights[1] must be finite, and is inf");
  CHECK(refused([&] { make_stage(*find_op("group"), arguments(), group->inputs[0]); }) ==
        "group: its arguments are of another operator's struct");
  auto columns = parse_plan("range(1) | columns");
  CHECK(refused([&] { with_argument(columns, "defaults", std::map<std::string, double>{{"\xff", 1}}); }) ==
        "columns: defaults must have names in UTF-8");
  auto route = parse_plan("range(1) | route");
  auto reader = parse_plan("lines(\"f\") | interleave(lines)");
  node_ptr lines;
  for_each_plan(*reader, [&](const node_ptr& p) { lines = p; });
  CHECK(refused([&] { with_argument(route, "branches", std::vector<node_ptr>{lines}); }) ==
        "route: branches[0]: the plan is a reader: its source needs a path");
  CHECK(refused([&] { with_argument(route, "branches", std::vector<node_ptr>(2)); }) ==
        "route: branches[0] must be given");
}

TEST_CASE("functions and plans are found anywhere among the arguments") {
  scoped_operators scope(test::fake_operators());
  test::register_fake_functions();
  auto plan = parse_plan(
      "range(1) | route([range(2) | map(next_of)], [length_of, next_of], {a=range(1) | map(next_of) | map(next_of)})");
  std::string found;
  for (auto& f : identities_of(*plan)) found += f.op + "(" + f.name + ") ";
  CHECK(found == "map(next_of) map(next_of) map(next_of) route(length_of) route(next_of) ");
  CHECK(plan->depth == 4);
  auto lambda = std::make_shared<test::fake_function>("", 0, &type_of<std::int64_t>(), &type_of<std::int64_t>());
  auto functions = std::vector<function_arg<test::fake_function>>{find_functions("next_of")[0], function_ptr(lambda)};
  auto with_lambda = with_argument(plan, "functions", functions);
  CHECK(serialisable(*plan).ok());
  CHECK(serialisable(*with_lambda).code() == status_code::failed_precondition);
  CHECK(plan_text(*with_lambda).find("[next_of, <lambda>]") != std::string::npos);
  CHECK(same_plan(*with_lambda, *with_argument(plan, "functions", functions)));
  CHECK_FALSE(same_plan(*with_lambda, *plan));
}

TEST_CASE("a fingerprint sees every argument, with defaults and versions, and no knob inside of a struct") {
  scoped_operators scope(test::fake_operators());
  test::register_fake_functions();
  auto print_of = [](std::string_view text) { return fingerprint(*parse_plan(text)); };
  CHECK(print_of("range(1) | columns(windows=[{size=2, ahead=7}])") ==
        print_of("range(1) | columns(windows=[{size=2, shift=1}])"));
  const std::vector<std::string_view> different = {
      "range(1) | columns",
      "range(1) | columns({a=1})",
      "range(1) | columns({b=1})",
      "range(1) | columns({a=2})",
      "range(1) | columns(limit=0)",
      "range(1) | columns(label=nothing)",
      "range(1) | columns(label=\"nothing\")",
      "range(1) | columns(window={size=5})",
      "range(1) | columns(windows=[{size=4}])",
      "range(1) | columns(windows=[{size=4}, {size=4}])",
      "range(1) | columns(names={a=[\"b\"]})",
      "range(1) | columns(names={a=[], b=[]})",
      "range(1) | columns(tried=[gzip])",
      "range(1) | columns(table=[[1], [2]])",
      "range(1) | columns(table=[[1, 2]])",
      "range(1) | columns(table=[[], [1, 2]])",
  };
  for (auto a : different) {
    for (auto b : different) {
      INFO(a << " and " << b);
      CHECK((print_of(a) == print_of(b)) == (a == b));
      CHECK(same_plan(*parse_plan(a), *parse_plan(b)) == (a == b));
    }
  }
}

}  // namespace sluice::lib::arguments_test
