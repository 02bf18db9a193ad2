// SPDX-License-Identifier: Apache-2.0
// expr/checking/type_limits.hpp, expr/evaluation.hpp: what types and values of an expression may take, and how many values there are at once.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "expr/checking/type_limits.hpp"
#include "expr/registered.hpp"
#include "sluice/element/type_text.hpp"

namespace sluice::lib::limits_test {

namespace {

/// A value that says that it takes so many bytes.
struct weight {
  static constexpr std::string_view sluice_name = "weight";
  static std::int64_t live, most;  ///< bytes of all that there are
  std::int64_t bytes = 0;

  weight() = default;
  explicit weight(std::int64_t n) : bytes(n) { note(n); }
  weight(const weight& o) : weight(o.bytes) {}
  weight(weight&& o) noexcept : bytes(std::exchange(o.bytes, 0)) {}
  weight& operator=(weight o) noexcept {
    std::swap(bytes, o.bytes);
    return *this;
  }
  ~weight() { live -= bytes; }
  static void note(std::int64_t n) {
    live += n;
    most = std::max(most, live);
  }
  static std::size_t sluice_footprint(const weight* p, std::size_t n) noexcept {
    std::size_t all = 0;
    for (std::size_t i = 0; i != n; ++i) all += static_cast<std::size_t>(p[i].bytes);
    return all;
  }
};
std::int64_t weight::live = 0;
std::int64_t weight::most = 0;

class weighing final : public test::registered_functions {
 public:
  weighing() {
    add<std::int64_t, weight>("weigh", +[](const std::int64_t& n) { return weight(n); });
    add<weight, std::int64_t>("weight_of", +[](const weight& w) { return w.bytes; });
    add<weight, weight>("again", +[](const weight& w) { return weight(w.bytes); });
  }
};

std::string mistake_of(const std::string& text) {
  weighing functions;
  try {
    program p(expression(text), type_of<std::int64_t>(), functions);
    std::int64_t one = 1;
    std::unique_ptr<char[]> room(new char[p.type().size + p.type().align]);
    void* to = room.get();
    std::size_t space = p.type().size + p.type().align;
    std::align(p.type().align, p.type().size, to, space);
    status why;
    if (p.apply(&one, 1, to, 0, 0, why) == 1) p.type().destroy(p.type(), to, 1);
    return std::string(why.message());
  } catch (const expression_error& e) { return e.message(); }
}

/// let(x0 = first, let(x1 = step of x0, … body of the last))
std::string doubled(int times, const std::string& first, const std::string& left, const std::string& joined,
                    const std::string& right, const std::string& body = "1") {
  std::string out = "let(x0 = " + first + ", ";
  for (int i = 1; i != times; ++i) {
    std::string x = "x" + std::to_string(i - 1);
    out += "let(x" + std::to_string(i) + " = " + left + x + joined + x + right + ", ";
  }
  return out + body + std::string(static_cast<std::size_t>(times), ')');
}

/// The bytes of weights that there are at most while the elements' weights are computed.
std::int64_t most_of(const std::string& text, std::vector<std::int64_t> elements) {
  weighing functions;
  program p(expression(text), type_of<std::int64_t>(), functions);
  std::vector<std::int64_t> out(elements.size());
  weight::live = weight::most = 0;
  status why;
  CHECK(p.apply(elements.data(), static_cast<std::uint32_t>(elements.size()), out.data(), 0, 0, why) ==
        elements.size());
  CHECK(why.ok());
  CHECK(out == elements);
  CHECK(weight::live == 0);
  return weight::most;
}

}  // namespace

TEST_CASE("a type that an expression makes is bounded", "[expr]") {
  const std::string wanted = "its type would have more than 4096 parts, counted with the parts of these";
  CHECK(mistake_of(doubled(40, "(it, it)", "(", ", ", ")")).find(wanted) != std::string::npos);
  CHECK(mistake_of(doubled(40, "{a: it}", "{a: ", ", b: ", "}")).find(wanted) != std::string::npos);
  CHECK(mistake_of(doubled(11, "(it, it)", "(", ", ", ")")).empty());
  const element_type* deep = &type_of<std::int64_t>();
  for (std::size_t i = 2; i != kTypeDepthMax; ++i) deep = list_of(deep);
  CHECK(expressions::type_mistake({deep}, 2).empty());
  CHECK(expressions::type_mistake({list_of(deep)}, 2) == "its type would have more than 64 types within types");
  const std::string name(3000, 'n');
  CHECK(mistake_of(doubled(8, "{" + name + ": it}", "(", ", ", ")")).find("65536 bytes of text") != std::string::npos);
  CHECK(mistake_of("let(x = parse_json(\"1\", \"int8[9000000]\"), (x, x))").find("16777216 bytes in each value") !=
        std::string::npos);
  CHECK(mistake_of("parse_json(\"1\", \"int8[100000000]\")").find("16777216 are the most") != std::string::npos);
}

TEST_CASE("a message has the beginning of a long type, and of a long expression", "[expr]") {
  std::string why = mistake_of(doubled(11, "(it, it)", "(", ", ", ")", "x9 + 1"));
  CHECK(why.size() < 400);
  CHECK(why.find("…") != std::string::npos);
  CHECK(expressions::cut("äöü", 3) == "ä…");
  CHECK(expressions::cut("äöü", 6) == "äöü");
}

TEST_CASE("texts and lists that an expression makes are bounded", "[expr]") {
  const std::string wanted = "; those that an expression makes have 67108864 at most";
  CHECK(mistake_of("length(" + doubled(40, "\"ab\" + \"ab\"", "", " + ", "", "x39") + ")").find(wanted) !=
        std::string::npos);
  CHECK(mistake_of("length(" + doubled(40, "[1, 1]", "[", ", ", "]", "x39") + ")").find(wanted) != std::string::npos);
  CHECK(
      mistake_of("length(" +
                 doubled(40, "[replace(\"" + std::string(30000, 'a') + "\", \"a\", \"" + std::string(100, 'b') + "\")]",
                         "[", ", ", "]", "x39") +
                 ")")
          .find(wanted) != std::string::npos);
}

TEST_CASE("heavy values are computed for few elements at a time, and freed after use", "[expr]") {
  const std::int64_t heavy = 800'000;
  const std::vector<std::int64_t> many(600, heavy);
  CHECK(most_of("weight_of(weigh(it))", many) <= 2 * heavy);
  CHECK(most_of("weight_of(again(again(again(weigh(it)))))", many) <= 3 * heavy);
  CHECK(most_of("weight_of(weigh(it)) + weight_of(weigh(it)) - it", many) <= 2 * heavy);
  CHECK(most_of("let(x = weigh(it), if(it < 0, 1, weight_of(x)))", many) <= 2 * heavy);
  // After light ones.
  std::vector<std::int64_t> changing(2000, 10);
  std::fill(changing.begin() + 700, changing.end(), heavy);
  CHECK(most_of("weight_of(weigh(it))", changing) <= 1 * heavy + (1 << 20));
}

TEST_CASE("the values of one element are bounded together", "[expr]") {
  CHECK(mistake_of("weight_of(weigh(1000000000))").empty());
  INFO(mistake_of("let(x = weigh(600000000), let(y = weigh(600000000), weight_of(x) + weight_of(y)))"));
  CHECK(mistake_of("let(x = weigh(600000000), let(y = weigh(600000000), weight_of(x) + weight_of(y)))")
            .find("the values that the expression holds for this element take 1200000") == 0);
  CHECK(mistake_of("weight_of(weigh(600000000)) + weight_of(weigh(600000000))").empty());
}

}  // namespace sluice::lib::limits_test
