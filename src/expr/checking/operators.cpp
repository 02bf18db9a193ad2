// SPDX-License-Identifier: Apache-2.0
// Operators: - ! and those of two operands.
#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "expr/batch_parts.hpp"
#include "expr/checking/checker.hpp"
#include "expr/checking/conversions.hpp"
#include "expr/checking/type_limits.hpp"
#include "expr/comparison.hpp"

namespace sluice::lib::expressions {

computed_ptr checker::unary(const expression_tree& e) {
  return lift_one(e, make(e.parts[0]), [&](computed_ptr value) { return unary_in(e, std::move(value)); });
}

computed_ptr checker::unary_in(const expression_tree& e, computed_ptr of) {
  auto n = number_of(of->type());
  if (e.text == "!") {
    if (n != number::boolean)
      fail(e.parts[0], absl::StrCat("! expects bool, and ", subject(e.parts[0]), " is ", shown(of->type()),
                                    way_to_condition(shown(e.parts[0]), of->type())));
    return from_one<bool, bool>(type_of<bool>(), std::move(of), [](evaluation&, bool v) { return !v; });
  }
  if (of->type().kind == kind::tensor) return tensor_negated(std::move(of));
  if (n == number::none || n == number::boolean)
    fail(e.parts[0], absl::StrCat("- expects a number, and ", subject(e.parts[0]), " is ", shown(of->type()),
                                  way_to_argument("-", "a number", shown(e.parts[0]), of->type())));
  n = promoted(n);
  return negated(n, converted(std::move(of), n));
}

namespace {

/// Returns true for a list or a column of numbers.
bool is_numbers(const element_type& t) {
  return (t.kind == kind::list || t.kind == kind::array || is_column(t)) && number_of(*t.element) != number::none;
}

}  // namespace

namespace {

/// Returns "string(id) + \"x\"" for operands of which at least one is a text, and the others are numbers or bools.
std::string joined_texts(const expression_tree& e, const computed& a, const computed& b) {
  auto as_text = [](const expression_tree& written, const computed& c) {
    return c.type().kind == kind::text ? shown(written) : absl::StrCat("string(", shown(written), ")");
  };
  return absl::StrCat(as_text(e.parts[0], a), " + ", as_text(e.parts[1], b));
}

/// Returns the advice for `||` of SQL, which joins texts, and for `+` of a text and a number; empty for other operands.
std::string way_to_joined(const expression_tree& e, const computed& a, const computed& b) {
  auto is_text = [](const computed& c) { return c.type().kind == kind::text; };
  auto may_be_text = [&](const computed& c) { return is_text(c) || number_of(c.type()) != number::none; };
  if ((!is_text(a) && !is_text(b)) || !may_be_text(a) || !may_be_text(b)) return {};
  if (e.text == "||") return absl::StrCat("; texts are joined by +: ", joined_texts(e, a, b));
  return e.text == "+" ? absl::StrCat("; ", joined_texts(e, a, b), " joins them as texts") : std::string();
}

/// Returns how a text and a number become values of one kind; empty for other operands.
std::string way_to_one_kind(const expression_tree& e, const computed& a, const computed& b) {
  if (e.text == "||")
    if (std::string way = way_to_joined(e, a, b); !way.empty()) return way;
  auto is_bool = [](const computed& c) { return number_of(c.type()) == number::boolean; };
  if (is_bool(a) != is_bool(b)) {
    const expression_tree &flag = e.parts[is_bool(a) ? 0 : 1], &other = e.parts[is_bool(a) ? 1 : 0];
    if (other.kind == expression_tree::text_ && (other.text == "true" || other.text == "false"))
      return absl::StrCat("; bools are written without quotes: ", other.text);
    const computed& value = is_bool(a) ? b : a;
    if (number_of(value.type()) == number::none) return {};
    const bool wants_bools = e.text == "&&" || e.text == "||";
    return wants_bools ? absl::StrCat("; ", shown(other), " != 0 makes a bool of the number")
                       : absl::StrCat("; if(", shown(flag), ", 1, 0) makes a number of the bool");
  }
  auto is_number = [](const computed& c) {
    const number n = number_of(c.type());
    return n != number::none && n != number::boolean;
  };
  for (auto [text, other, k] : {std::tuple(&a, &b, 0), std::tuple(&b, &a, 1)}) {
    if (text->type().kind != kind::text || !is_number(*other)) continue;
    const expression_tree& written = e.parts[static_cast<std::size_t>(k)];
    if (written.kind == expression_tree::text_) {
      const bool is_number_in_quotes = written.text.find_first_not_of("0123456789.-") == std::string::npos;
      if (!is_number_in_quotes) return way_to_joined(e, a, b);
      const std::string sides[] = {k == 0 ? written.text : shown(e.parts[0]),
                                   k == 1 ? written.text : shown(e.parts[1])};
      return absl::StrCat("; numbers are written without quotes: ", sides[0], " ", e.text, " ", sides[1]);
    }
    const std::string number = absl::StrCat("to_number(", shown(written), ")");
    if (e.text != "+") return absl::StrCat("; ", number, " reads the text as a number");
    const std::string as_text = absl::StrCat("string(", shown(e.parts[static_cast<std::size_t>(1 - k)]), ")");
    return absl::StrCat("; ", as_text, " makes a text of the number, and ", number, " reads the text as a number");
  }
  return {};
}

}  // namespace

namespace {

/// Returns the advice for a column of a batch, which has many values: the arithmetic of tensors, if all operands are
/// numbers.
std::string way_from_column(const expression_tree& e, const computed& a, const computed& b) {
  std::string way = "; a column of a batch has many values: put this stage before batch";
  if (precedence_of(e.text) <= 3) return way;
  auto as_tensor = [](const expression_tree& written, const computed& c) {
    return is_numbers(c.type()) ? absl::StrCat("to_tensor(", shown(written), ")") : shown(written);
  };
  return absl::StrCat(way, ", or write ", as_tensor(e.parts[0], a), " ", e.text, " ", as_tensor(e.parts[1], b));
}

}  // namespace

void checker::refuse_operands(const expression_tree& e, const computed& a, const computed& b,
                              std::string_view what) const {
  const bool any_tensor = a.type().kind == kind::tensor || b.type().kind == kind::tensor;
  fail(e,
       absl::StrCat(e.text, " expects ", std::string(what), "; ", subject(e.parts[0]), " is ", shown(a.type()),
                    ", and ", subject(e.parts[1]), " is ", shown(b.type()), way_to_one_kind(e, a, b),
                    in_.kind == kind::batch && (is_numbers(a.type()) || is_numbers(b.type())) ? way_from_column(e, a, b)
                    : is_numbers(a.type()) || is_numbers(b.type()) ? "; to_tensor() makes a tensor of numbers"
                    : any_tensor ? "; double(t), int64(t) … are the number of a tensor that holds one"
                                 : ""));
}

computed_ptr checker::binary(const expression_tree& e) {
  if (precedence_of(e.text) <= 2) return logical(e);
  const expression_tree& first = e.parts[0];
  if (first.kind == expression_tree::unary && first.text == "!" && precedence_of(e.text) == 3) {
    const number of = number_of(make(first.parts[0])->type());
    if (of != number::none && of != number::boolean)
      fail(first, absl::StrCat("! applies to ", shown(first.parts[0]), " alone: write !(", shown(first.parts[0]), " ",
                               e.text, " ", shown(e.parts[1]), ")"));
  }
  const bool is_first_none = is_none_literal(e.parts[0]), is_second_none = is_none_literal(e.parts[1]);
  const bool is_equality = e.text == "==" || e.text == "!=";
  if (is_equality && is_first_none != is_second_none)
    return presence(e, e.parts[is_first_none ? 1 : 0], e.text == "!=");
  std::vector<computed_ptr> parts;
  for (auto& part : e.parts) {
    if (is_equality && !parts.empty() && !is_second_none) refuse_text_without_quotes(part, *parts[0]);
    parts.push_back(make(part));
  }
  // `none` is a missing value of the other operand's type.
  if (is_first_none != is_second_none) {
    computed_ptr &nothing = parts[is_first_none ? 0 : 1], &other = parts[is_first_none ? 1 : 0];
    const element_type& t = other->type();
    const element_type* optional = t.kind == kind::maybe  ? &t
                                   : t.kind == kind::text ? maybe_of(&type_of<std::string>())
                                                          : maybe_of(&t);
    if (optional) nothing = made_optional(*optional, nullptr);
  }
  return lift(e, std::move(parts), [&](std::vector<computed_ptr> values) {
    return binary_in(e, std::move(values[0]), std::move(values[1]));
  });
}

computed_ptr checker::binary_in(const expression_tree& e, computed_ptr a, computed_ptr b) {
  if (a->type().kind == kind::maybe || b->type().kind == kind::maybe) {  // optionals of optionals
    std::vector<computed_ptr> parts;
    parts.push_back(std::move(a));
    parts.push_back(std::move(b));
    return lift(e, std::move(parts), [&](std::vector<computed_ptr> values) {
      return binary_in(e, std::move(values[0]), std::move(values[1]));
    });
  }
  auto x = number_of(a->type()), y = number_of(b->type());
  const bool any_tensor = a->type().kind == kind::tensor || b->type().kind == kind::tensor;
  bool texts = a->type().kind == kind::text && b->type().kind == kind::text;
  auto refuse = [&](std::string_view what) { refuse_operands(e, *a, *b, what); };
  int level = precedence_of(e.text);
  bool numbers = x != number::none && y != number::none;
  auto is_operand = [](const computed& c, number n) {
    return c.type().kind == kind::tensor || (n != number::none && n != number::boolean);
  };
  if (level > 3 && any_tensor && is_operand(*a, x) && is_operand(*b, y))
    return at(e, [&] { return tensor_arithmetic(e.text[0], std::move(a), std::move(b)); });
  if (level == 3) {
    if (texts) return compared_texts(e.text, std::move(a), std::move(b));
    const bool is_equality = e.text == "==" || e.text == "!=";
    if (!numbers && is_equality && can_be_equal(a->type(), b->type()))
      return compared_parts(std::move(a), std::move(b), e.text == "==");
    if (!numbers || (x == number::boolean) != (y == number::boolean))
      refuse(is_equality ? "two values of one kind" : "two numbers or two texts");
    return at(e, [&] { return compared(e.text, std::move(a), std::move(b)); });
  }
  if (texts && e.text == "+")
    return from_two<std::string_view, std::string_view, std::string_view>(
        type_of<std::string>(), std::move(a), std::move(b), [](evaluation& ev, std::string_view s, std::string_view t) {
          char* to = ev.kept_room(s.size() + t.size());
          std::copy(t.begin(), t.end(), std::copy(s.begin(), s.end(), to));
          return std::string_view(to, s.size() + t.size());
        });
  if (!numbers || x == number::boolean || y == number::boolean)
    refuse(e.text == "+" ? "two numbers or two texts" : "two numbers");
  auto n = common(x, y);
  if (e.text == "%" && is_float(n)) refuse("integers (fmod() is for others)");
  return at(e, [&] { return arithmetic(e.text[0], n, converted(std::move(a), n), converted(std::move(b), n)); });
}

}  // namespace sluice::lib::expressions
