// SPDX-License-Identifier: Apache-2.0
// Random expressions with types, each beside a value that plain C++ computes while the expression is written: no part of the
// evaluator is used for it. SLUICE_TEST_EXPRESSIONS says how many (20,000 in the long run).
#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <variant>

#include "expr/subject.hpp"
#include "sluice/base/random_bits.hpp"

namespace sluice::lib::random_expressions_test {
using sluice::lib::test::subject;

namespace {

/// No value: it cannot be computed.
using any_number =
    std::variant<std::monostate, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t, double, bool, std::string>;

struct written {
  std::string text;
  any_number value;
  int type;  ///< its index within any_number
  bool is_atom = false;
};
enum { kI32 = 1, kI64, kU32, kU64, kReal, kBool, kText };

__extension__ using wide = __int128;

template <class T> bool fits(wide v) {
  return v >= static_cast<wide>(std::numeric_limits<T>::min()) && v <= static_cast<wide>(std::numeric_limits<T>::max());
}
any_number integer_of(int type, wide v) {
  switch (type) {
    case kI32: return fits<std::int32_t>(v) ? any_number(static_cast<std::int32_t>(v)) : any_number();
    case kI64: return fits<std::int64_t>(v) ? any_number(static_cast<std::int64_t>(v)) : any_number();
    case kU32: return fits<std::uint32_t>(v) ? any_number(static_cast<std::uint32_t>(v)) : any_number();
    default: return fits<std::uint64_t>(v) ? any_number(static_cast<std::uint64_t>(v)) : any_number();
  }
}
bool exists(const any_number& v) { return v.index() != 0; }
wide wide_of(const any_number& v) {
  switch (v.index()) {
    case kI32: return std::get<std::int32_t>(v);
    case kI64: return std::get<std::int64_t>(v);
    case kU32: return std::get<std::uint32_t>(v);
    default: return static_cast<wide>(std::get<std::uint64_t>(v));
  }
}
double real_of(const any_number& v) {
  return v.index() == kReal ? std::get<double>(v) : static_cast<double>(wide_of(v));
}
/// C++'s, for int, long, unsigned, unsigned long and double.
int common_type(int a, int b) {
  if (a == kReal || b == kReal) return kReal;
  if (a == kU64 || b == kU64) return kU64;
  if (a == kI64 || b == kI64) return kI64;
  return a == kU32 || b == kU32 ? kU32 : kI32;
}

class writer {
 public:
  writer(std::uint64_t seed, const subject& s) : random_(seed), subject_(s) {}

  written of(int type, int depth) {
    switch (type) {
      case kBool: return boolean(depth);
      case kText: return text(depth);
      case kReal: return real(depth);
      default: return integer(type, depth);
    }
  }
  std::uint64_t below(std::uint64_t n) { return random_.below(n); }

 private:
  static std::string in(const written& w) { return w.is_atom ? w.text : "(" + w.text + ")"; }

  written literal(wide v) {
    // The type of a literal is the first that has the value.
    int type = fits<std::int32_t>(v) ? kI32 : fits<std::int64_t>(v) ? kI64 : kU64;
    std::string digits = std::to_string(static_cast<std::uint64_t>(v < 0 ? -v : v));
    return {v < 0 ? "-" + digits : digits, integer_of(type, v), type, v >= 0};
  }
  written number_leaf(int type) {
    switch (type) {
      case kI32: return below(2) ? written{"i", subject_.i, kI32, true} : literal(static_cast<wide>(below(40)) - 20);
      case kI64:
        return below(3) ? written{"label", subject_.label, kI64, true}
                        : written{"inner.id", subject_.inner.id, kI64, true};
      case kU32:
        return below(2) ? written{"u32", subject_.u32, kU32, true}
                        : written{std::to_string(7) + "u", std::uint32_t{7}, kU32, true};
      case kU64: return {"u64", subject_.u64, kU64, true};
      default: return below(2) ? written{"d", subject_.d, kReal, true} : written{"2.5", 2.5, kReal, true};
    }
  }

  /// Two operands whose common type is `type`.
  std::pair<written, written> operands(int type, int depth) {
    int other = type;
    if (below(2)) {
      int choice = static_cast<int>(1 + below(5));
      if (common_type(choice, type) == type) other = choice;
    }
    written a = of(type, depth), b = of(other, depth);
    if (below(2)) std::swap(a, b);
    return {a, b};
  }
  static any_number as(int type, const any_number& v) {
    if (!exists(v)) return {};
    if (type == kReal) return real_of(v);
    return integer_of(type, wide_of(v));
  }

  written integer(int type, int depth) {
    if (depth == 0) return number_leaf(type);
    switch (below(9)) {
      case 0: return number_leaf(type);
      case 1: return choice(type, depth);
      case 2: return variable(type, depth);
      case 3: {
        written a = of(type, depth - 1);
        return {"-" + in(a), exists(a.value) ? integer_of(type, -wide_of(a.value)) : any_number(), type};
      }
      case 4:
        if (type == kI64) {
          written t = of(kText, depth - 1);
          any_number n;
          if (exists(t.value)) n = static_cast<std::int64_t>(std::get<std::string>(t.value).size());
          return {"length(" + t.text + ")", n, kI64, true};
        }
        [[fallthrough]];
      default: return arithmetic(type, depth);
    }
  }
  written arithmetic(int type, int depth) {
    auto [a, b] = operands(type, depth - 1);
    char op = "+-*/%"[below(5)];
    any_number x = as(type, a.value), y = as(type, b.value), v;
    if (exists(x) && exists(y)) {
      wide p = wide_of(x), q = wide_of(y);
      if (op == '+') v = integer_of(type, p + q);
      else if (op == '-') v = integer_of(type, p - q);
      else if (op == '*') v = product(type, p, q);
      else if (q != 0 && fits_any(type, p / q)) v = integer_of(type, op == '/' ? p / q : p % q);
    }
    return {in(a) + " " + op + " " + in(b), v, type};
  }
  static bool fits_any(int type, wide v) { return exists(integer_of(type, v)); }
  static any_number product(int type, wide p, wide q) {
    wide v = 0;
    if (__builtin_mul_overflow(p, q, &v)) return {};
    return integer_of(type, v);
  }

  written real(int depth) {
    if (depth == 0) return number_leaf(kReal);
    switch (below(6)) {
      case 0: return number_leaf(kReal);
      case 1: return choice(kReal, depth);
      case 2: return variable(kReal, depth);
      case 3: {
        written a = of(kReal, depth - 1);
        return {"-" + in(a), exists(a.value) ? any_number(-real_of(a.value)) : any_number(), kReal};
      }
      default: break;
    }
    auto [a, b] = operands(kReal, depth - 1);
    char op = "+-*/"[below(4)];
    any_number v;
    if (exists(a.value) && exists(b.value)) {
      double p = real_of(a.value), q = real_of(b.value);
      v = op == '+' ? p + q : op == '-' ? p - q : op == '*' ? p * q : p / q;
    }
    return {in(a) + " " + op + " " + in(b), v, kReal};
  }

  written boolean(int depth) {
    if (depth == 0)
      return below(2) ? written{"flag", subject_.flag, kBool, true} : written{"false", false, kBool, true};
    switch (below(6)) {
      case 0: return choice(kBool, depth);
      case 1: {
        written a = of(kBool, depth - 1);
        return {"!" + in(a), exists(a.value) ? any_number(!std::get<bool>(a.value)) : any_number(), kBool};
      }
      case 2:
      case 3: {
        written a = of(kBool, depth - 1), b = of(kBool, depth - 1);
        bool is_and = below(2);
        any_number v;
        if (exists(a.value)) {
          bool first = std::get<bool>(a.value);
          if (first != is_and) v = first;
          else v = b.value;
        }
        return {in(a) + (is_and ? " && " : " || ") + in(b), v, kBool};
      }
      default: return comparison(depth);
    }
  }
  written comparison(int depth) {
    static const char* kOps[] = {"==", "!=", "<", "<=", ">", ">="};
    std::size_t op = below(6);
    auto told = [op](auto a, auto b) {
      return op == 0 ? a == b : op == 1 ? a != b : op == 2 ? a < b : op == 3 ? a <= b : op == 4 ? a > b : a >= b;
    };
    bool texts = below(4) == 0;
    int first = texts ? static_cast<int>(kText) : static_cast<int>(1 + below(5)),
        second = texts ? static_cast<int>(kText) : static_cast<int>(1 + below(5));
    written a = of(first, depth - 1), b = of(second, depth - 1);
    any_number v;
    if (exists(a.value) && exists(b.value)) {
      if (texts) v = told(std::get<std::string>(a.value), std::get<std::string>(b.value));
      else if (first == kReal || second == kReal) v = told(real_of(a.value), real_of(b.value));
      else v = told(wide_of(a.value), wide_of(b.value));  // as numbers, whatever their types
    }
    return {in(a) + " " + kOps[op] + " " + in(b), v, kBool};
  }

  written text(int depth) {
    if (depth == 0)
      return below(2) ? written{"text", subject_.text, kText, true}
                      : written{"\"a\\nb\"", std::string("a\nb"), kText, true};
    switch (below(4)) {
      case 0: return choice(kText, depth);
      case 1: return variable(kText, depth);
      case 2: {
        written a = of(kText, depth - 1), b = of(kText, depth - 1);
        any_number v;
        if (exists(a.value) && exists(b.value)) v = std::get<std::string>(a.value) + std::get<std::string>(b.value);
        return {in(a) + " + " + in(b), v, kText};
      }
      default: {
        written a = of(kText, depth - 1);
        std::size_t from = below(6), to = from + below(6);
        any_number v;
        if (exists(a.value)) {
          const auto& s = std::get<std::string>(a.value);
          v = s.substr(std::min(from, s.size()), std::min(to, s.size()) - std::min(from, s.size()));
        }
        return {in(a) + "[" + std::to_string(from) + ":" + std::to_string(to) + "]", v, kText, true};
      }
    }
  }

  written choice(int type, int depth) {
    written c = of(kBool, depth - 1), a = of(type, depth - 1), b = of(type, depth - 1);
    any_number v;
    if (exists(c.value)) v = std::get<bool>(c.value) ? a.value : b.value;
    return {"if(" + c.text + ", " + a.text + ", " + b.text + ")", v, type, true};
  }
  /// let(v3 = a, b), where b has v3 in place of one of its leaves.
  written variable(int type, int depth) {
    written a = of(type, depth - 1);
    std::string name = "v" + std::to_string(++variables_);
    written b = of(type, depth - 1);
    bool uses = below(2);
    // A value that cannot be computed is an error although nothing reads it.
    any_number v = !exists(a.value) ? any_number() : uses ? a.value : b.value;
    return {"let(" + name + " = " + a.text + ", " + (uses ? name : b.text) + ")", v, type, true};
  }

  random_source random_;
  const subject& subject_;
  int variables_ = 0;
};

std::string shown(const any_number& v) {
  std::string out;
  std::visit(
      [&]<class T>(const T& x) {
        if constexpr (!std::is_same_v<T, std::monostate>) print(type_of<T>(), &x, out);
      },
      v);
  return out;
}

subject random_subject(std::uint64_t seed) {
  random_source random(seed);
  subject s;
  auto edge = [&](auto least, auto most) {
    using T = decltype(least);
    switch (random.below(4)) {
      case 0: return least;
      case 1: return most;
      default: return static_cast<T>(random.below(200));
    }
  };
  s.i = edge(std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max());
  s.label = edge(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
  s.u32 = edge(std::uint32_t{0}, std::numeric_limits<std::uint32_t>::max());
  s.u64 = edge(std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max());
  s.d = random.uniform() * 100 - 50;
  s.flag = random.below(2);
  return s;
}

std::uint64_t how_many() {
  const char* given = std::getenv("SLUICE_TEST_EXPRESSIONS");
  return given ? std::strtoull(given, nullptr, 10) : 4000;
}

}  // namespace

TEST_CASE("random expressions have the values that C++ computes, and after print and parse, too") {
  std::uint64_t computed = 0, failed = 0;
  for (std::uint64_t seed = 0; seed != how_many(); ++seed) {
    subject s = random_subject(seed);
    writer w(derive(seed, 1), s);
    written e = w.of(static_cast<int>(1 + w.below(7)), static_cast<int>(1 + w.below(4)));
    INFO("seed " << seed << ": " << e.text);
    std::string outcome = test::outcome_of(e.text, s);
    if (outcome.starts_with("!")) {
      // A constant that does not fit is found when the plan is made: only where C++ finds no value either, or would not look.
      CHECK(outcome.find(" is no uint") != std::string::npos);
      continue;
    }
    std::string value = outcome.substr(outcome.find('\t') + 1);
    if (exists(e.value)) CHECK(value == shown(e.value));
    else CHECK(outcome.starts_with("?"));
    ++(exists(e.value) ? computed : failed);
    CHECK(test::outcome_of(expression(e.text).text(), s) == outcome);
  }
  CHECK(computed > how_many() / 2);
  CHECK(failed > how_many() / 50);
}

}  // namespace sluice::lib::random_expressions_test
