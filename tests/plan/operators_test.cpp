// SPDX-License-Identifier: Apache-2.0
// Every operator that there is, with random options, goes through text and JSON and comes back as the same plan. What an
// operator takes is read off its op_info, so that a new one is tried without a line here.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>

#include <cstdlib>
#include <map>
#include <random>
#include <set>

#include "plan/codecs/argument_codec.hpp"
#include "plan/text/plan_builder.hpp"
#include "plan/text/syntax.hpp"
#include "sluice/plan/json.hpp"
#include "sluice/plan/text.hpp"
#include "sluice/sluice.hpp"

namespace sluice::lib::operators_test {
namespace {

using int64 = std::int64_t;

stream<int64> twice(stream<int64> in) {
  while (auto x = co_await in.next()) co_yield *x * 2;
}
stream<int64> three() {
  for (int64 i = 0; i != 3; ++i) co_yield i;
}

// One function of each form that an operator may accept, where its form can have a name.
SLUICE_FUNCTION_VERSION(operators_test_map, 7, [](int64 x) { return x + 1; });
SLUICE_FUNCTION(operators_test_list, [](int64 x) { return std::vector<int64>{x, x}; });
SLUICE_FUNCTION(operators_test_place, [](int64 i) { return std::pair<int64, int64>(i / 2, i % 2); });
SLUICE_FUNCTION(operators_test_size, [](const record& r) { return static_cast<int64>(r.size()); });
SLUICE_FUNCTION(operators_test_predicate, [](const int64& x) { return x > 0; });
SLUICE_FUNCTION(operators_test_plan, [](int64 x) { return range(x); });
SLUICE_FUNCTION(operators_test_look, [](const int64&) {});
SLUICE_FUNCTION(operators_test_stage, &twice);
SLUICE_FUNCTION(operators_test_source, &three);

class plan_generator {
 public:
  explicit plan_generator(std::uint64_t seed) : random_(seed) {}

  template <class Range> const auto& one_of(const Range& r) { return r[random_() % std::size(r)]; }

  node_ptr plan(int depth, bool reader) {
    node_ptr n;
    while (!n) n = made(one_of(operators()), nullptr, depth - 1, reader);
    for (int i = 1; i < depth; ++i)
      if (auto next = made(one_of(operators()), n, depth, reader)) n = next;
    return n;
  }
  const std::map<std::string, int>& seen() const { return seen_; }

 private:
  std::uint64_t chance(std::uint64_t n) { return random_() % n; }

  /// Null: the operator does not go here, or refuses what was drawn.
  node_ptr made(const op_info* op, node_ptr input, int depth, bool reader) {
    if ((op->shape == op_info::stage) != (input != nullptr)) return nullptr;
    if (op->shape == op_info::combine && depth <= 0) return nullptr;
    node n;
    n.op = op;
    if (input) n.inputs.push_back(std::move(input));
    for (auto inputs = 2 + chance(3); op->shape == op_info::combine && inputs != 0; --inputs)
      n.inputs.push_back(plan(depth - 1, reader));
    auto& list = op->arguments();
    if (reader && op->shape == op_info::source && !list.has_later()) return nullptr;
    auto drawn = list.copy(list.defaults);
    for (auto& f : list.fields) {
      bool is_left_open = reader && f.type->is_later();
      if (!is_left_open && (f.required || chance(2))) set(argument_list::at(drawn.get(), f), f, depth);
    }
    n.arguments = arguments(list.tag, std::move(drawn));
    try {
      auto plan = make_node(std::move(n));
      ++seen_[std::string(op->name)];
      return plan;
    } catch (const error&) {
    } catch (const misplaced&) {  // stages that are none: a source among them
    }
    return nullptr;
  }

  /// A value is drawn as what plan text has in its place, since every type of argument reads that.
  void set(void* to, const field& f, int depth) {
    if (f.type->takes_plan() && chance(2)) return read_plan(to, f, *plan(std::max(1, depth - 1), true));
    if (f.type->takes_functions()) return read_function(to, f);
    if (f.type->takes_text()) {
      argument a;
      a.kind = argument::quoted;
      a.text = text();
      return f.type->read(to, a, reading_);
    }
    set_value(to, f);
  }

  void read_plan(void* to, const field& f, const node& reader) {
    auto text = plan_text(reader);
    auto calls = detail::read_syntax(text);
    argument a;
    a.kind = argument::plan;
    a.calls = std::move(calls);
    f.type->read(to, a, reading_);
  }

  void read_function(void* to, const field& f) {
    std::vector<function_ptr> fitting;
    for (auto& name : function_names())
      for (auto& function : find_functions(name))
        if (f.type->takes_function(*function)) fitting.push_back(function);
    if (fitting.empty()) return;
    argument a;
    a.kind = argument::word;
    a.text = one_of(fitting)->name;
    f.type->read(to, a, reading_);
  }

  void set_value(void* to, const field& f) {
    if (f.type->may_be_left_out()) return;  // what it may be depends on the function behind it
    static const std::string kValues[] = {"true",
                                          "false",
                                          "0",
                                          "1",
                                          "2",
                                          "7",
                                          "-1",
                                          "-3",
                                          "100",
                                          "1000",
                                          "9223372036854775807",
                                          "0.25",
                                          "-2.5e-300",
                                          "1e+30",
                                          "0.1",
                                          "autotune",
                                          "1MiB",
                                          "1.5KiB",
                                          "4096",
                                          "4097",
                                          "3kB",
                                          "10ms",
                                          "1.5s",
                                          "-9223372036854775808"};
    std::vector<std::string> values(std::begin(kValues), std::end(kValues));
    std::string word;
    for (char c : f.type->type_name() + " ") {  // of an enum: its enumerators
      if (c != ' ' && c != ',') word += c;
      else if (!word.empty()) values.push_back(std::exchange(word, {}));
    }
    for (int attempt = 0; attempt != 200; ++attempt) {
      argument a;
      a.kind = argument::word;
      a.text = one_of(values);
      if (f.type->type_name() == "value")  // read as it is spelled
        a.source = one_of(std::array{"7", "[[1, 2], [3, 4]]", "{a: 1, b: \"x\"}", "uint8([1, 2])", "(1, \"x\")"});
      if (f.type->type_name().find("list of") != std::string::npos && chance(2)) {
        argument list;
        list.kind = argument::list;
        list.items.assign(chance(4), a);
        a = std::move(list);
      }
      if (f.type->type_name().starts_with("[before, after]")) {  // sizes
        argument sizes;
        sizes.kind = argument::list;
        for (const char* bytes : {"4038", "133"}) {
          sizes.items.push_back(a);
          sizes.items.back().text = bytes;
        }
        a = std::move(sizes);
      }
      if (f.type->type_name().starts_with("map of")) {
        a.name = one_of(std::array{"it", "a", "ü b"});
        argument fields;
        fields.kind = argument::fields;
        fields.items.assign(chance(2), a);
        a = std::move(fields);
      }
      try {
        reading(f.name, 1, false, detail::kLookup).read(*f.type, to, a, "value");
        return;
      } catch (const misplaced&) {}
    }
    FAIL("no value is known for a field of the type " << f.type->type_name());
  }

  /// A path of any bytes, or a schema: whichever the operator takes.
  std::string text() {
    static constexpr std::string_view kPieces[] = {"a", "/",    "\"", "\\", "\n", "\t", "\r", "\x01", "\xff",
                                                   "ü", "\x7f", "#",  "|",  ")",  "{",  " ",  "*",    "[16]"};
    static constexpr std::string_view kSchemas[] = {"a: int64", "text: bytes, label: int64?, values: float[16]",
                                                    "x: float[], y: bytes[2]"};
    if (chance(2)) return std::string(one_of(kSchemas));
    std::string s;
    for (auto n = chance(9); n != 0; --n) s += one_of(kPieces);
    if (chance(20) == 0) s += '\0';
    return s;
  }

  reading reading_{"drawn", 1, false, detail::kLookup};
  std::mt19937_64 random_;
  std::map<std::string, int> seen_;
};

/// Data of the program have no name. Stages and aggregates as arguments are drawn in op/group_by_window_test.cpp, and in
/// tests/cli/groups_test.py. No plan has `load` or `from_dataset_id`: they
/// become the plans that they name (pipeline/files/load_test.cpp, cli/service_datasets_test.py).
bool is_drawn_elsewhere(const op_info& op) {
  return op.name == "from_elements" || op.name == "from_channel" || op.name == "group_by_window" ||
         op.name == "group_by" || op.name == "load" || op.name == "from_dataset_id" || op.name == "mds";
}

bool equal(const node& a, const node& b) {
  return same_plan(a, b) && a.type == b.type && fingerprint(a) == fingerprint(b);
}

}  // namespace

TEST_CASE("plans of every operator are equal after text and after JSON, and print the same again") {
  std::uint64_t seed = std::random_device()();
  if (const char* given = std::getenv("SLUICE_TEST_SEED")) seed = std::strtoull(given, nullptr, 10);
  INFO("SLUICE_TEST_SEED=" << seed);
  plan_generator generator(seed);
  for (int i = 0; i != 3000; ++i) {
    auto plan = generator.plan(1 + i % 6, false);
    auto text = plan_text(*plan);
    INFO(text);
    node_ptr from_text;
    try {
      from_text = parse_plan(text);
    } catch (const error& e) { FAIL(text << ": " << e.why().to_string()); }
    auto from_json = parse_plan_json(plan_json(*plan));
    bool holds = equal(*plan, *from_text) && equal(*plan, *from_json) && plan_text(*from_text) == text &&
                 plan_json(*from_json) == plan_json(*plan);
    if (!holds) {
      CHECK(plan_text(*from_text) == text);
      CHECK(plan_text(*from_json) == text);
      FAIL("the plan came back as another one");
    }
  }
  auto is_unseen = [&generator](const op_info* op) {
    return !is_drawn_elsewhere(*op) && generator.seen().count(std::string(op->name)) == 0;
  };
  // Some operators fit few inputs, so that 3,000 plans need not have them.
  for (int i = 0; i != 150'000 && std::ranges::any_of(operators(), is_unseen); ++i) generator.plan(1 + i % 6, false);
  for (auto* op : operators()) {
    if (is_drawn_elsewhere(*op)) continue;
    INFO(op->name);
    CHECK(generator.seen().count(std::string(op->name)) == 1);
  }
}

TEST_CASE("printed readers with options read back") {
  for (auto text : {"list_files(\"a\") | flat_map(fixed_length(4))",
                    "list_files(\"a\") | interleave(fixed_length(4, header_bytes=2) | take(3))",
                    "list_files(\"a\") | interleave(lines(compression=gzip), cycle_length=2)"})
    CHECK(plan_text(*parse_plan(text)) == text);
  CHECK(plan_text(*parse_plan("list_files(\"a\") | flat_map(fixed_length(record_bytes=4))")) ==
        "list_files(\"a\") | flat_map(fixed_length(4))");
  CHECK_THROWS_WITH(parse_plan("fixed_length(4)"),
                    Catch::Contains("column 14: fixed_length: path expects a text in quotes, and is 4"));
}

}  // namespace sluice::lib::operators_test
