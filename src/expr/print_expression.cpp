// SPDX-License-Identifier: Apache-2.0
#include "expr/tree.hpp"

#include <algorithm>

#include "base/text/ascii.hpp"
#include "base/text/plan_quotes.hpp"

namespace sluice::lib::expressions {

namespace {

constexpr int kUnary = 6, kPostfix = 7;

int tightness(const expression_tree& e) {
  switch (e.kind) {
    case expression_tree::binary: return precedence_of(e.text);
    case expression_tree::unary: return kUnary;
    case expression_tree::number: return e.text[0] == '-' ? kUnary : kPostfix;
    default: return kPostfix;
  }
}

void print_name(std::string_view name, std::string& out) {
  if (is_plain_word(name)) {
    out += name;
    return;
  }
  out += '`';
  for (char c : name) out.append(c == '`' ? 2 : 1, c);
  out += '`';
}

/// Prints parentheses if the part has a lower precedence than `least`.
void print_part(const expression_tree& e, int least, std::string& out);

/// Returns true for a field of the element whose name needs backticks.
bool is_quoted_field(const expression_tree& e) {
  return e.kind == expression_tree::member && !is_plain_word(e.text) && e.parts[0].kind == expression_tree::name &&
         e.parts[0].text == "it";
}

void print_parts(const expression_tree& e, std::string& out) {
  for (std::size_t k = 0; k != e.parts.size(); ++k) {
    if (k != 0) out += ", ";
    if (e.kind == expression_tree::call && !e.names.empty() && !e.names[k].empty()) {
      print_name(e.names[k], out);
      out += '=';
    } else if (e.kind == expression_tree::structure) {
      print_name(e.names[k], out);
      if (e.parts[k].kind == expression_tree::name && e.parts[k].text == e.names[k]) continue;
      if (is_quoted_field(e.parts[k]) && e.parts[k].text == e.names[k]) continue;
      out += ": ";
    }
    print_part(e.parts[k], 0, out);
  }
}

void print_open(const expression_tree& e, std::string& out) {
  using enum expression_tree::kind_type;
  switch (e.kind) {
    case number:
    case boolean:
    case name: out += e.text; break;
    case text_: detail::append_in_quotes(e.text, out); break;
    case absent: break;
    case member:
      if (!is_quoted_field(e)) {
        print_part(e.parts[0], kPostfix, out);
        out += '.';
      }
      print_name(e.text, out);
      break;
    case index:
    case slice:
      print_part(e.parts[0], kPostfix, out);
      out += '[';
      print_part(e.parts[1], 0, out);
      if (e.kind == slice) {
        out += ':';
        print_part(e.parts[2], 0, out);
      }
      out += ']';
      break;
    case call:
      (out += e.text) += '(';
      print_parts(e, out);
      out += ')';
      break;
    case let:
      ((out += "let(") += e.text) += " = ";
      print_parts(e, out);
      out += ')';
      break;
    case unary: {
      out += e.text;
      // --1 would be read as a number negated twice, and - -1 is unusual.
      bool is_literal = e.parts[0].kind == number && e.text == "-";
      print_part(e.parts[0], is_literal ? kPostfix + 1 : kUnary, out);
      break;
    }
    case binary: {
      int mine = precedence_of(e.text);
      print_part(e.parts[0], mine == 3 ? 4 : mine, out);  // comparisons cannot be chained
      ((out += ' ') += e.text) += ' ';
      print_part(e.parts[1], mine + 1, out);
      break;
    }
    case tuple:
    case list:
    case structure: {
      static constexpr std::string_view kSigns[] = {"()", "[]", "{}"};
      std::string_view signs = kSigns[e.kind - tuple];
      out += signs[0];
      print_parts(e, out);
      out += signs[1];
    }
  }
}

void print_part(const expression_tree& e, int least, std::string& out) {
  bool needs = tightness(e) < least;
  if (needs) out += '(';
  print_open(e, out);
  if (needs) out += ')';
}

}  // namespace

bool is_plain_word(std::string_view s) {
  return !s.empty() && detail::starts_word(s[0]) &&
         std::all_of(s.begin(), s.end(), [](char c) { return detail::starts_word(c) || detail::is_digit(c); });
}

void print_expression(const expression_tree& e, std::string& out) { print_part(e, 0, out); }

std::string printed(const expression_tree& e) {
  std::string out;
  print_part(e, 0, out);
  return out;
}

}  // namespace sluice::lib::expressions
