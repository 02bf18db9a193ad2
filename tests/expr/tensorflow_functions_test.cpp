// SPDX-License-Identifier: Apache-2.0
// Functions of texts and numbers against what TensorFlow answers (tests/golden/make_golden_functions.py).
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>

#include <catch2/catch.hpp>

#include "expr/subject.hpp"

namespace sluice::lib::test::tensorflow_functions_test {
namespace {

std::string from_hex(const std::string& hex) {
  std::string out;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    out += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return out;
}

/// What a value prints as, without its type: "12.5"; "?" where it cannot be computed.
std::string value_of(const std::string& expression, const subject& element) {
  std::string outcome = outcome_of(expression, element);
  return outcome.starts_with("?") ? "?" : outcome.substr(outcome.find('\t') + 1);
}

/// JSON has no infinities: they print as texts.
double number_in(std::string printed) {
  if (printed.starts_with('"')) printed = printed.substr(1, printed.size() - 2);
  return std::strtod(printed.c_str(), nullptr);
}
bool are_equal(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  // Libraries differ in the last bit of exp() and its kin.
  return a == b || std::abs(a - b) <= 2 * std::numeric_limits<double>::epsilon() * std::abs(b);
}

}  // namespace

TEST_CASE("functions of texts and numbers are TensorFlow's") {
  std::ifstream in("tests/golden/functions.tsv");
  REQUIRE(in.is_open());
  int texts = 0, numbers = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("# ")) continue;
    std::size_t one = line.find('\t'), two = line.find('\t', one + 1);
    std::string expression = line.substr(0, one), given = line.substr(one + 1, two - one - 1),
                wanted = line.substr(two + 1);
    INFO(line);
    subject element;
    bool is_of_number = expression.find("(d") != std::string::npos;
    if (is_of_number) element.d = std::strtod(given.c_str(), nullptr);
    else element.text = from_hex(given == "-" ? "" : given);
    bool makes_number = is_of_number || expression.starts_with("to_");
    if (makes_number) {
      ++numbers;
      std::string value = value_of(expression, element);
      if (wanted == "?") CHECK(value == "?");
      else if (expression.starts_with("to_integer")) CHECK(value == wanted);
      else CHECK(are_equal(number_in(value), std::strtod(wanted.c_str(), nullptr)));
    } else {
      ++texts;
      // Compared as a text: what it prints as would need escapes.
      subject expected = element;
      expected.where.second = from_hex(wanted == "-" ? "" : wanted);
      CHECK(value_of(expression + " == where.second", expected) == "true");
    }
  }
  CHECK(texts >= 700);
  CHECK(numbers >= 400);
}

}  // namespace sluice::lib::test::tensorflow_functions_test
