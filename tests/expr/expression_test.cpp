// SPDX-License-Identifier: Apache-2.0
#include "sluice/expr/expression.hpp"

#include <catch2/catch.hpp>

#include <fstream>
#include <set>

#include "expr/subject.hpp"

namespace sluice::lib::expression_test {
using sluice::lib::test::outcome_of;

namespace {

struct row {
  std::string text, wanted;
};

std::vector<row> table() {
  std::ifstream in("tests/expr/expressions.tsv");
  REQUIRE(in.is_open());
  std::vector<row> rows;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("# ")) continue;
    auto tab = line.find('\t');
    rows.push_back({line.substr(0, tab), line.substr(tab + 1)});
  }
  return rows;
}

}  // namespace

TEST_CASE("the table of expressions: types, values and errors") {
  auto rows = table();
  CHECK(rows.size() >= 300);
  for (const row& r : rows) {
    INFO(r.text);
    CHECK(outcome_of(r.text) == r.wanted);
  }
}

TEST_CASE("an expression has the same values in a block of many elements") {
  for (const row& r : table()) {
    if (r.text.find("index()") != std::string::npos || r.text.starts_with("fails_on")) continue;
    INFO(r.text);
    for (std::uint32_t n : {2u, 255u, 256u, 257u, 700u}) {
      std::string outcome = outcome_of(r.text, {}, n);
      CHECK(outcome == r.wanted);
    }
  }
}

TEST_CASE("a printed expression is read again as the same one") {
  for (const row& r : table()) {
    if (r.wanted.starts_with("!")) continue;
    INFO(r.text);
    expression once(r.text);
    expression again(once.text());
    CHECK(once.text() == again.text());
    CHECK(outcome_of(once.text()) == r.wanted);
  }
}

TEST_CASE("an expression is printed without needless spaces and parentheses") {
  CHECK(expression("((it)%2)==0").text() == "it % 2 == 0");
  CHECK(expression("1-(2-3)").text() == "1 - (2 - 3)");
  CHECK(expression("(1-2)-3").text() == "1 - 2 - 3");
  CHECK(expression("!(a&&b)||c").text() == "!(a && b) || c");
  CHECK(expression("{image:image,label : label+1}").text() == "{image, label: label + 1}");
  CHECK(expression("- ( -1 )").text() == "-(-1)");
  CHECK(expression("let( x=1,x )").text() == "let(x = 1, x)");
  CHECK(expression("(a,b)[0][1 :]").text() == "(a, b)[0][1:]");
  CHECK(expression("1'000 + 0x1F # and so on").text() == "1000 + 31");
  CHECK(expression("0xFF").text() == "255");
  CHECK(expression("0xFFu").text() == "255u");
  CHECK(expression("007").text() == "7");
  CHECK(expression("-0").text() == "0");
  CHECK(expression("1.50f").text() == "1.5f");
  CHECK(expression("2e3").text() == "2000.0");
  CHECK(expression("1e+30").text() == "1e30");
  CHECK(expression("0.10").text() == "0.1");
}

TEST_CASE("an expression is bounded in bytes, parts and depth") {
  auto refused = [](const std::string& text) {
    try {
      expression e(text);
      return std::string();
    } catch (const expression_error& e) { return e.message(); }
  };
  CHECK(refused(std::string(kExpressionBytesMax + 1, ' ')).find("65536 are the limit") != std::string::npos);
  CHECK(refused(std::string(kExpressionDepthMax + 1, '(') + "1" + std::string(kExpressionDepthMax + 1, ')')) ==
        "the expression is nested deeper than 128");
  CHECK(refused(std::string(100'000, '(').substr(0, kExpressionBytesMax)) ==
        "the expression is nested deeper than 128");
  std::string signs(60'000, '-');
  CHECK(refused(signs + "1") == "the expression is nested deeper than 128");
  std::string sum = "1", members = "it", list = "[1";
  for (int i = 0; i != 200; ++i) sum += " + 1", members += ".a";
  for (int i = 0; i != 5000; ++i) list += ", 1";
  CHECK(refused(sum).find("more than 128 operators in a row") == 0);
  CHECK(refused(members).find("more than 128 members") == 0);
  CHECK(refused(list + "]") == "the expression has more than 4096 parts");
}

TEST_CASE("columns are counted in characters from the start of the expression") {
  try {
    expression e("\"äöü\" + )", 11);
    FAIL("it was read");
  } catch (const expression_error& e) {
    CHECK(e.column() == 19);
    CHECK(e.message() == "expected a value, and found ')'");
    CHECK(e.why().message() == "column 19: expected a value, and found ')'");
  }
}

}  // namespace sluice::lib::expression_test
