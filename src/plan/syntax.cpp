// SPDX-License-Identifier: Apache-2.0
#include "plan/syntax.hpp"

#include "plan/lex.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib::detail {

namespace {

/// Recursive descent; one function a rule of the grammar in text.hpp.
class syntax_reader {
 public:
  explicit syntax_reader(std::string_view text) : lexer_(text) {}

  plan_syntax whole() {
    auto calls = plan();
    if (lexer_.now().kind != token::end) fail("expected '|' or the end, " + lexer_.now().found());
    return calls;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw plan_error(lexer_.now().column, what); }

  bool take(char c) {
    if (!lexer_.now().is(c)) return false;
    lexer_.advance();
    return true;
  }

  plan_syntax plan() {
    if (++depth_ > kNestingMax) fail("plans are nested deeper than " + std::to_string(kNestingMax));
    plan_syntax calls;
    do calls.push_back(call());
    while (take('|'));
    --depth_;
    return calls;
  }

  call_syntax call() {
    if (lexer_.now().kind != token::word) fail("expected a stage, " + lexer_.now().found());
    call_syntax c{lexer_.now().column, lexer_.now().text};
    lexer_.advance();
    if (!take('(') || take(')')) return c;
    do c.arguments.push_back(argument());
    while (take(','));
    if (!take(')')) fail(c.name + ": expected ',' or ')', " + lexer_.now().found());
    return c;
  }

  argument_syntax argument() {
    argument_syntax a;
    a.name_column = lexer_.now().column;
    if (lexer_.now().kind == token::word && lexer_.next_is('=')) {
      a.name = lexer_.now().text;
      lexer_.advance();
      lexer_.advance();
    }
    value(a);
    return a;
  }

  void value(argument_syntax& a) {
    a.column = lexer_.now().column;
    a.text = lexer_.now().text;
    switch (lexer_.now().kind) {
      case token::number: a.kind = argument_syntax::number; break;
      case token::string: a.kind = argument_syntax::quoted; break;
      case token::word: return word_or_plan(a);
      default: fail("expected a value, " + lexer_.now().found());
    }
    lexer_.advance();
  }

  /// A bare word may still be a value, a function or a reader: the operator decides.
  void word_or_plan(argument_syntax& a) {
    bool is_call = lexer_.next_is('(');
    a.calls = plan();
    a.kind = is_call || a.calls.size() > 1 ? argument_syntax::plan : argument_syntax::word;
  }

  lexer lexer_;
  std::uint32_t depth_ = 0;
};

}  // namespace

plan_syntax read_syntax(std::string_view text) {
  if (text.size() > kPlanBytesMax)
    throw plan_error(1, "the plan has " + std::to_string(text.size()) + " bytes, more than the " +
                            std::to_string(kPlanBytesMax) + " that a plan may have");
  return syntax_reader(text).whole();
}

}  // namespace sluice::lib::detail
