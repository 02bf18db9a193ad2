// SPDX-License-Identifier: Apache-2.0
// Parses the text of expressions, with one function for each rule of the grammar in docs/expressions.md.
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/text/ascii.hpp"
#include "expr/other_operators.hpp"
#include "expr/tree.hpp"

namespace sluice::lib {

expression::expression(std::string_view text, std::size_t column) {
  auto tree = std::make_shared<expression_tree>(expressions::read_expression(text, column));
  expressions::print_expression(*tree, text_);
  tree_ = std::move(tree);
}

int precedence_of(std::string_view op) {
  if (op == "||") return 1;
  if (op == "&&") return 2;
  if (op == "+" || op == "-") return 4;
  if (op == "*" || op == "/" || op == "%") return 5;
  return 3;
}

namespace expressions {
namespace {

using detail::hex_digit;
using detail::is_digit;
using detail::starts_word;

bool continues_name(char c) { return starts_word(c) || is_digit(c); }
bool is_comparison(std::string_view s) { return s.size() <= 2 && precedence_of(s) == 3; }

class expression_reader {
 public:
  expression_reader(std::string_view text, std::size_t column) : text_(text), first_column_(column) {
    if (text.size() > kExpressionBytesMax)
      fail(0, absl::StrCat("the expression has ", text.size(), " bytes; ", kExpressionBytesMax, " are the limit"));
    advance();
  }

  expression_tree whole() {
    expression_tree e = binary(1);
    if (kind_ != end) fail_after_value("expected an operator or the end");
    return e;
  }

 private:
  using tree = expression_tree;
  /// Reports the present token, which cannot follow a value.
  [[noreturn]] void fail_after_value(std::string_view expected) const {
    if (is_sign(":") && operand_from_ < last_end_ &&
        is_plain_name(text_.substr(operand_from_, last_end_ - operand_from_)))
      fail(from_, absl::StrCat("a value with a name stands in braces: write {",
                               std::string(text_.substr(operand_from_, last_end_ - operand_from_)), ": ",
                               item_at(text_.substr(at_)), "}"));
    if (is_sign("*") && last_end_ != 0 && text_[last_end_ - 1] == '(')
      fail(from_, "* does not stand for all: write count()");
    if (kind_ == sign || kind_ == text || (kind_ == name && !is_quoted_name_)) {
      const operator_message why = message_of({text_, from_, at_, operand_from_, last_end_});
      if (!why.text.empty()) fail(why.at, why.text);
    }
    if (kind_ == sign && is_operator(token_)) fail(from_, absl::StrCat("a field, or `it`, is missing before ", token_));
    fail_here(expected);
  }
  bool is_word(std::string_view word) const {
    return kind_ == name && !is_quoted_name_ &&
           absl::EqualsIgnoreCase(token_, absl::string_view(word.data(), word.size()));
  }
  /// Returns true if the present token begins a value.
  bool starts_value() const { return kind_ == name || kind_ == number || kind_ == text; }

  enum token_kind { end, name, number, text, sign };
  // --- Tokens. ---
  char at(std::size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  std::size_t column_of(std::size_t byte) const {
    std::size_t characters = 0;
    for (std::size_t i = 0; i != byte; ++i) characters += (static_cast<unsigned char>(text_[i]) & 0xC0) != 0x80;
    return first_column_ + characters;
  }
  [[noreturn]] void fail(std::size_t byte, std::string_view what) const {
    throw expression_error(column_of(byte), what);
  }
  [[noreturn]] void fail_here(std::string_view what) const {
    if (last_end_ != 0 && text_[last_end_ - 1] == ',' && (is_sign(")") || is_sign("]") || is_sign("}")))
      fail(from_, "nothing follows the last comma: leave it out");
    std::string found = kind_ == end    ? "and the expression ends"
                        : kind_ == text ? "and found a text in quotes"
                                        : absl::StrCat("and found '", token_, "'");
    fail(from_, absl::StrCat(std::string(what), ", ", found));
  }

  void skip_space() {
    for (;;) {
      while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
      if (at(at_) != '#') return;
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    }
  }
  void advance() {
    last_end_ = at_;
    skip_space();
    from_ = at_;
    token_.clear();
    is_quoted_name_ = false;
    if (at_ == text_.size()) {
      kind_ = end;
      return;
    }
    char c = text_[at_];
    if (starts_word(c)) {
      kind_ = name;
      while (continues_name(at(at_))) token_ += text_[at_++];
    } else if (is_digit(c)) {
      read_number();
    } else if (c == '"') {
      read_text();
    } else if (c == '`') {
      read_quoted_name();
    } else {
      read_sign();
    }
  }
  /// Reads the name of a column, which may have any characters: `first name`. A backtick in it is written twice.
  void read_quoted_name() {
    kind_ = name;
    is_quoted_name_ = true;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '`' && at(at_ + 1) != '`') {
        ++at_;
        if (token_.empty()) fail(from_, "this name is empty");
        return;
      }
      at_ += text_[at_] == '`';
      token_ += text_[at_];
    }
    fail(from_, "this name is not closed by '`'");
  }
  void read_sign() {
    static constexpr std::string_view kTwo[] = {"==", "!=", "<=", ">=", "&&", "||"};
    kind_ = sign;
    for (std::string_view two : kTwo)
      if (text_.substr(at_, 2) == two) {
        token_ = two;
        at_ += 2;
        return;
      }
    char c = text_[at_];
    if (std::string_view("+-*/%<>!()[]{},:.=").find(c) == std::string_view::npos) {
      fail(at_, message_of_character(text_, at_));
    }
    token_ = c;
    ++at_;
  }
  void read_digits() {
    while (is_digit(at(at_)) || (at(at_) == '\'' && is_digit(at(at_ + 1)))) {
      if (text_[at_] != '\'') token_ += text_[at_];
      ++at_;
    }
  }
  void read_number() {
    kind_ = number;
    if (at(at_) == '0' && (at(at_ + 1) == 'x' || at(at_ + 1) == 'X')) {
      token_ = "0x";
      at_ += 2;
      while (std::isxdigit(static_cast<unsigned char>(at(at_)))) token_ += text_[at_++];
    } else {
      read_digits();
      if (at(at_) == '.' && is_digit(at(at_ + 1))) {
        token_ += text_[at_++];
        read_digits();
      }
      if (at(at_) == 'e' || at(at_) == 'E') {
        std::size_t sign_length = at(at_ + 1) == '-' || at(at_ + 1) == '+';
        if (is_digit(at(at_ + 1 + sign_length))) {
          token_ += 'e';
          if (at(at_ + 1) == '-') token_ += '-';
          at_ += 1 + sign_length;
          read_digits();
        }
      }
    }
    if (at(at_) == 'f' || at(at_) == 'u') token_ += text_[at_++];
    if (continues_name(at(at_))) fail(at_, absl::StrCat("'", token_, std::string(1, text_[at_]), "' is no number"));
    token_ = canonical_number(token_);
  }
  void read_text() {
    kind_ = text;
    for (++at_; at_ < text_.size(); ++at_) {
      char c = text_[at_];
      if (c == '"') {
        ++at_;
        return;
      }
      if (c != '\\') {
        token_ += c;
        continue;
      }
      std::size_t backslash = at_;
      switch (at(++at_)) {
        case 'n': token_ += '\n'; break;
        case 't': token_ += '\t'; break;
        case 'r': token_ += '\r'; break;
        case '"': token_ += '"'; break;
        case '\\': token_ += '\\'; break;
        case 'x': {
          int high = hex_digit(at(at_ + 1)), low = hex_digit(at(at_ + 2));
          if (high >= 0 && low >= 0) {
            token_ += static_cast<char>(high * 16 + low);
            at_ += 2;
            break;
          }
          [[fallthrough]];
        }
        default: fail(backslash, "no such escape; there are \\\" \\\\ \\n \\t \\r and \\xHH");
      }
    }
    fail(from_, "this text is not closed by '\"'");
  }
  bool is_sign(std::string_view s) const { return kind_ == sign && token_ == s; }
  bool take(std::string_view s) {
    if (!is_sign(s)) return false;
    advance();
    return true;
  }
  void expect(std::string_view s) {
    if (!take(s)) fail_here(absl::StrCat("expected '", std::string(s), "'"));
  }
  // --- The grammar. ---
  tree made(tree::kind_type kind, std::size_t from, std::string what = {}) {
    if (++nodes_ > kExpressionNodesMax)
      fail(from, absl::StrCat("the expression has more than ", kExpressionNodesMax, " parts"));
    tree e;
    e.kind = kind;
    e.at = column_of(from);
    e.text = std::move(what);
    return e;
  }
  struct nesting {
    expression_reader& r;
    explicit nesting(expression_reader& in) : r(in) {
      if (++r.depth_ > kExpressionDepthMax)
        r.fail(r.from_, absl::StrCat("the expression is nested deeper than ", kExpressionDepthMax));
    }
    ~nesting() { --r.depth_; }
  };
  tree binary(int least) {
    nesting deeper(*this);
    std::size_t from = from_;
    tree left = unary();
    std::size_t length = 0;  // of the chain on the left, which is as deep as it is long
    while (kind_ == sign && is_operator(token_) && precedence_of(token_) >= least) {
      if (++length > kExpressionDepthMax)
        fail(from_, absl::StrCat("more than ", kExpressionDepthMax, " operators in a row; use parentheses or let()"));
      std::string op = token_;
      int level = precedence_of(op);
      std::size_t op_at = from_;
      if (level == 3 && left.kind == tree::binary && is_comparison(left.text) && !parenthesised_)
        fail(op_at, "comparisons cannot be chained; join two by &&");
      advance();
      tree right = binary(level + 1);
      tree both = made(tree::binary, from, std::move(op));
      both.parts.push_back(std::move(left));
      both.parts.push_back(std::move(right));
      left = std::move(both);
      parenthesised_ = false;
    }
    return left;
  }
  tree unary() {
    nesting deeper(*this);
    std::size_t from = from_;
    if (!is_sign("-") && !is_sign("!")) return postfix();
    std::string op = token_;
    advance();
    tree operand = unary();
    bool is_literal = operand.kind == tree::number && operand.text[0] != '-' && operand.text.back() != 'u';
    if (op == "-" && is_literal && !parenthesised_) {
      if (operand.text != "0") operand.text = "-" + operand.text;
      operand.at = column_of(from);
      return operand;
    }
    tree e = made(tree::unary, from, std::move(op));
    e.parts.push_back(std::move(operand));
    parenthesised_ = false;
    return e;
  }
  tree postfix() {
    std::size_t from = from_;
    tree e = primary();
    for (std::size_t length = 0;; ++length) {
      if (length == kExpressionDepthMax)
        fail(from_, absl::StrCat("more than ", kExpressionDepthMax, " members or indexes in a row"));
      if (take(".")) {
        if (kind_ == text) fail(from_, absl::StrCat("names are written in backticks: `", token_, "`"));
        if (kind_ != name) fail_here("expected the name of a field");
        tree m = made(tree::member, from, token_);
        m.parts.push_back(std::move(e));
        e = std::move(m);
        const std::size_t name_at = from_;
        advance();
        if (is_sign("(")) refuse_method(e, name_at);
      } else if (is_sign("[")) {
        e = subscript(std::move(e), from);
      } else {
        operand_from_ = from;
        return e;
      }
      parenthesised_ = false;
    }
  }
  /// Reports city.upper(), with the arguments as they are written.
  [[noreturn]] void refuse_method(const tree& m, std::size_t name_at) {
    tree c = call(m.text, name_at);
    c.parts.insert(c.parts.begin(), m.parts[0]);
    fail(name_at, message_of_method(c));
  }
  tree subscript(tree of, std::size_t from) {
    nesting deeper(*this);
    expect("[");
    auto bound = [&](std::string_view ends) {
      if (is_sign(ends) || is_sign("]")) return made(tree::absent, from_);
      return binary(1);
    };
    tree first = bound(":");
    if (first.kind == tree::absent && is_sign("]")) fail_here("expected an index");
    bool is_slice = take(":");
    tree e = made(is_slice ? tree::slice : tree::index, from);
    e.parts.push_back(std::move(of));
    e.parts.push_back(std::move(first));
    if (is_slice) e.parts.push_back(bound("]"));
    expect("]");
    return e;
  }

  tree primary() {
    parenthesised_ = false;
    std::size_t from = from_;
    std::string what = token_;
    switch (kind_) {
      case number: advance(); return made(tree::number, from, std::move(what));
      case text: advance(); return made(tree::text_, from, std::move(what));
      case name: {
        const bool is_quoted = is_quoted_name_, is_not = is_word("not");
        advance();
        if (is_quoted) return field_named(std::move(what), from);
        if (is_not && starts_value()) fail(from, absl::StrCat("there is no operator not; write !", token_));
        if (is_sign("(")) return call(std::move(what), from);
        const bool is_boolean = what == "true" || what == "false";
        return made(is_boolean ? tree::boolean : tree::name, from, std::move(what));
      }
      default:
        if (is_sign("(")) return in_parentheses(from);
        if (is_sign("[")) return in_brackets(from);
        if (is_sign("{")) return in_braces(from);
        fail_after_value("expected a value");
    }
  }
  /// `it` and the like are names of their own; in backticks they are fields.
  static bool is_plain_name(std::string_view s) {
    static constexpr std::string_view kReserved[] = {"it", "true", "false", "none", "state"};
    return is_plain_word(s) && std::find(std::begin(kReserved), std::end(kReserved), s) == std::end(kReserved);
  }
  tree field_named(std::string field, std::size_t from) {
    if (is_plain_name(field)) return made(tree::name, from, std::move(field));
    tree m = made(tree::member, from, std::move(field));
    m.parts.push_back(made(tree::name, from, "it"));
    return m;
  }

  /// Reads parts up to the closing sign, which is consumed. Requires at least one.
  void parts(tree& e, std::string_view closing) {
    do e.parts.push_back(binary(1));
    while (take(","));
    if (!take(closing)) fail_after_value(absl::StrCat("expected ',' or '", std::string(closing), "'"));
    parenthesised_ = false;
  }
  tree call(std::string function, std::size_t from) {
    nesting deeper(*this);
    advance();
    if (function == "let") return let(from);
    tree e = made(tree::call, from, std::move(function));
    if (take(")")) return e;
    std::size_t named_at = 0;
    do {
      if (is_argument_name()) {
        if (std::find(e.names.begin(), e.names.end(), token_) != e.names.end())
          fail(from_, absl::StrCat("the argument ", token_, " is given twice"));
        e.names.resize(e.parts.size());
        e.names.push_back(token_);
        named_at = from_;
        advance();
        expect("=");
      } else if (!e.names.empty()) {
        fail(named_at, absl::StrCat("arguments without a name come before those with a name; to compare, write ",
                                    e.names.back(), " == ", printed(e.parts.back())));
      }
      e.parts.push_back(binary(1));
    } while (take(","));
    if (!take(")")) fail_after_value("expected ',' or ')'");
    parenthesised_ = false;
    return e;
  }
  /// Returns true for a name that `=` follows, but not `==` or `=>`.
  bool is_argument_name() const {
    const std::size_t next = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
    return kind_ == name && !is_quoted_name_ && at(next) == '=' && at(next + 1) != '=' && at(next + 1) != '>';
  }
  tree let(std::size_t from) {
    if (kind_ != name || is_quoted_name_) fail_here("let expects a name, as in let(x = a, b)");
    tree e = made(tree::let, from, token_);
    if (token_ == "it" || token_ == "true" || token_ == "false") fail_here("a variable needs another name");
    advance();
    expect("=");
    e.parts.push_back(binary(1));
    expect(",");
    e.parts.push_back(binary(1));
    expect(")");
    parenthesised_ = false;
    return e;
  }
  tree in_parentheses(std::size_t from) {
    nesting deeper(*this);
    advance();
    tree first = binary(1);
    if (take(")")) {
      parenthesised_ = true;
      first.at = column_of(from);
      return first;
    }
    if (!take(",")) fail_after_value("expected ',' or ')'");
    tree e = made(tree::tuple, from);
    e.parts.push_back(std::move(first));
    parts(e, ")");
    return e;
  }
  tree in_brackets(std::size_t from) {
    nesting deeper(*this);
    advance();
    tree e = made(tree::list, from);
    if (is_sign("]")) fail_here("a list needs a value, which determines its type");
    parts(e, "]");
    return e;
  }
  tree in_braces(std::size_t from) {
    nesting deeper(*this);
    advance();
    tree e = made(tree::structure, from);
    do {
      if (kind_ == text && is_plain_name(token_))
        fail_here(absl::StrCat("names in braces have no quotes: write ", token_));
      if (is_sign("*")) fail(from_, "* does not stand for all columns");
      if (kind_ != name) fail_here("expected the name of a field");
      const std::size_t field_at = from_;
      std::string field = token_;
      const bool is_quoted = is_quoted_name_;
      for (const std::string& before : e.names)
        if (before == field) fail(field_at, absl::StrCat("the field ", field, " is given twice"));
      advance();
      if (!is_quoted && (is_sign("(") || is_sign("=")) && at(at_) != '>')
        fail(is_sign("(") ? field_at : from_, message_of_field(field, text_.substr(is_sign("(") ? field_at : at_)));
      operand_from_ = field_at;
      if (take(":")) {
        if (is_sign(",") || is_sign("}"))
          fail(from_, absl::StrCat("the field ", field, " has no value: write {", field, ": VALUE}, or {", field,
                                   "} for the column ", field));
        e.parts.push_back(binary(1));
      } else e.parts.push_back(is_quoted ? field_named(field, field_at) : made(tree::name, field_at, field));
      e.names.push_back(std::move(field));
    } while (take(","));
    if (kind_ == sign && is_operator(token_))
      fail_here(
          absl::StrCat("a computed value in braces needs a name, as in {x: ", e.names.back(), " ", token_, " …}"));
    if (!take("}")) fail_after_value("expected ',' or '}'");
    parenthesised_ = false;
    return e;
  }

  std::string_view text_;
  std::size_t first_column_;
  std::size_t at_ = 0, from_ = 0, last_end_ = 0, operand_from_ = 0;
  token_kind kind_ = end;
  std::string token_;
  std::size_t nodes_ = 0, depth_ = 0;
  bool is_quoted_name_ = false;  ///< the present token is a name in backticks
  bool parenthesised_ = false;   ///< the part read last was in parentheses
};

}  // namespace

expression_tree read_expression(std::string_view text, std::size_t column) {
  return expression_reader(text, column).whole();
}

}  // namespace expressions

}  // namespace sluice::lib
