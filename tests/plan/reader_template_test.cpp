// SPDX-License-Identifier: Apache-2.0
// plan/reader_template.hpp
#include <string>

#include <catch2/catch.hpp>

#include "plan/fake_operators.hpp"
#include "plan/plan_parts.hpp"
#include "plan/reader_template.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib::reader_template_test {

namespace {

/// The reader that is the argument of `flat_map(READER)`.
node_ptr reader_of(const std::string& text) {
  node_ptr reader;
  for_each_plan(*parse_plan("lines(\"x\") | flat_map(" + text + ")"), [&](const node_ptr& p) { reader = p; });
  return reader;
}

/// Nodes of both plans have the same facts, and no path is missing.
void check_same_facts(const node& a, const node& b) {
  CHECK(a.op == b.op);
  CHECK(a.site == b.site);
  CHECK(a.type == b.type);
  CHECK(a.depth == b.depth);
  CHECK_FALSE(a.lacks_path);
  REQUIRE(a.inputs.size() == b.inputs.size());
  for (std::size_t i = 0; i != a.inputs.size(); ++i) check_same_facts(*a.inputs[i], *b.inputs[i]);
}

}  // namespace

TEST_CASE("a prepared reader gives the plans that with_path() gives") {
  scoped_operators scope(test::fake_operators());
  for (const char* text :
       {"lines", "lines(compression=gzip)", "lines | take(3)", "lines | take(3) | shuffle(2) | take(1)"}) {
    node_ptr reader = reader_of(text);
    const reader_template prepared(reader);
    CHECK(prepared.is_chain());
    for (const char* path : {"a", "dir/b c", ""}) {
      CAPTURE(text, path);
      node_ptr made = prepared.with_path(path), expected = with_path(reader, path);
      CHECK(same_plan(*made, *expected));
      CHECK(plan_text(*made) == plan_text(*expected));
      check_same_facts(*made, *expected);
    }
    CHECK(reader->lacks_path);
  }
}

TEST_CASE("a prepared reader with several sources gives each of them the path") {
  scoped_operators scope(test::fake_operators());
  node_ptr reader = reader_of("lines | take(3)");
  const reader_template both(make_combine(*find_op("zip"), arguments(), {reader, reader}));
  CHECK_FALSE(both.is_chain());
  CHECK(plan_text(*both.with_path("f")) == "zip(lines(\"f\") | take(3), lines(\"f\") | take(3))");
}

TEST_CASE("a prepared plan that lacks no path is itself") {
  scoped_operators scope(test::fake_operators());
  node_ptr whole = parse_plan("range(5) | take(3)");
  const reader_template prepared(whole);
  CHECK_FALSE(prepared.is_chain());
  CHECK(prepared.with_path("f") == whole);
}

}  // namespace sluice::lib::reader_template_test
