// SPDX-License-Identifier: Apache-2.0
#include "plan/text/syntax.hpp"

#include "plan/find_expressions.hpp"
#include "plan/plan_depth.hpp"
#include "plan/text/lex.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib::detail {

namespace {

/// Recursive descent, with one function for each rule of the grammar in text.hpp.
class syntax_reader {
 public:
  explicit syntax_reader(std::string_view text) : text_(text), expressions_(find_expressions(text)), lexer_(text) {}

  plan_syntax whole() {
    auto calls = plan();
    if (lexer_.now().kind == token::end) return calls;
    fail("expected '|' or the end, " + lexer_.now().found() + way_to_end());
  }

 private:
  /// Returns what is probably meant by a token after a stage.
  std::string way_to_end() {
    constexpr std::size_t kShownMax = 60;
    const token& now = lexer_.now();
    if (now.is(')')) return "; one ) is too many: remove it";
    if (now.is(',')) return "; stages are separated by |";
    const bool is_value = now.kind == token::word || now.kind == token::number || now.kind == token::string;
    if (!is_value) return {};
    if (last_has_parentheses_) return now.kind == token::word ? "; a | is missing before " + now.text : std::string();
    std::string_view arguments = text_.substr(now.from);
    arguments = arguments.substr(0, arguments.find('|'));
    while (arguments.ends_with(' ') || arguments.ends_with('\n')) arguments.remove_suffix(1);
    if (arguments.starts_with("by ") && arguments.size() <= kShownMax) return way_to_by(arguments.substr(3));
    const bool is_path = now.kind == token::word && arguments.find(' ') == arguments.npos &&
                         arguments.find('.') != arguments.npos && arguments.size() <= kShownMax;
    if (is_path)
      return "; a path stands in quotes and parentheses: write " + last_name_ + "(\"" + std::string(arguments) + "\"" +
             (last_name_ == "csv" ? ", header=true)" : ")");
    return "; arguments stand in parentheses" + (arguments.size() <= kShownMax
                                                     ? ": write " + last_name_ + "(" + std::string(arguments) + ")"
                                                     : std::string());
  }

  /// Returns what is written for SQL's `group by city` and `order by score desc`.
  std::string way_to_by(std::string_view column) const {
    if (last_name_ == "group") return "; write group_by(" + std::string(column) + ", {n: count()})";
    column = column.substr(0, column.find(' '));
    return "; top(10, by=" + std::string(column) + ") yields the 10 largest; a database sorts all";
  }

  [[noreturn]] void fail(const std::string& what) {
    if (lexer_.now().kind == token::unknown) lexer_.refuse_character();
    throw plan_error(lexer_.now().column, what);
  }

  bool take(char c) {
    if (!lexer_.now().is(c)) return false;
    lexer_.advance();
    return true;
  }

  void enter() {
    if (++depth_ <= depth_max_) return;
    // The limit is computed early in the text, since reading the text takes some of the stack.
    if (depth_max_ == kPlanDepthAlways) depth_max_ = plan_depth_max();
    if (depth_ > depth_max_) fail("plans are nested more than " + plan_depth_limit_text(depth_max_));
  }

  plan_syntax plan() {
    enter();
    plan_syntax calls;
    do calls.push_back(call());
    while (take('|'));
    --depth_;
    return calls;
  }

  /// Returns the brackets that close those that are open.
  static std::string closing_of(std::string_view typed) {
    std::string open;
    bool is_quoted = false;
    for (const char c : typed) {
      is_quoted ^= c == '"';
      if (is_quoted) continue;
      if (c == '(') open += ')';
      if (c == '[') open += ']';
      if (c == '{') open += '}';
      if ((c == ')' || c == ']' || c == '}') && !open.empty()) open.pop_back();
    }
    return {open.rbegin(), open.rend()};
  }

  /// Returns a hint for a place where a stage is expected.
  std::string way_to_stage() const {
    if (lexer_.now().kind == token::end && lexer_.now().from != 0) return "; a stage is missing after the last |";
    if (!lexer_.now().is('|')) return {};
    return lexer_.now().from == 0 ? "; a plan begins with a source, such as csv(\"a.csv\", header=true)"
                                  : "; stages are separated by one |";
  }

  /// Returns the place of a quote without its second one; npos: there is none.
  static std::size_t unclosed_quote(std::string_view typed) {
    std::size_t quote = typed.npos;
    for (std::size_t i = 0; i < typed.size(); ++i) {
      if (quote != typed.npos && typed[i] == '\\') ++i;
      else if (typed[i] == '"') quote = quote == typed.npos ? i : typed.npos;
    }
    return quote;
  }

  /// Reports the end of a call that is not closed, or a value without a comma before it.
  [[noreturn]] void fail_in_call(const call_syntax& c, std::size_t begin) {
    constexpr std::size_t kShownMax = 60;
    const token& now = lexer_.now();
    std::string way;
    if (now.kind == token::word || now.kind == token::number) way = "; a comma is missing before " + now.text;
    if (now.kind == token::end || now.is('|')) {
      std::string_view typed = text_.substr(begin, now.from - begin);
      if (const std::size_t quote = unclosed_quote(typed); quote != typed.npos) lexer_.fail_unclosed(begin + quote);
      while (typed.ends_with(' ') || typed.ends_with('\n')) typed.remove_suffix(1);
      const std::string closing = closing_of(typed);
      way = "; a " + std::string(closing.size() == 1 ? ")" : "bracket") + " is missing";
      if (typed.size() <= kShownMax) way += ": write " + std::string(typed) + closing;
    }
    fail(c.name + ": expected ',' or ')', " + now.found() + way);
  }

  call_syntax call() {
    if (lexer_.now().kind != token::word) fail("expected a stage, " + lexer_.now().found() + way_to_stage());
    call_syntax c;
    c.at = lexer_.now().column;
    c.name = lexer_.now().text;
    const std::size_t begin = lexer_.now().from;
    lexer_.advance();
    last_name_ = c.name;
    last_has_parentheses_ = take('(');
    if (!last_has_parentheses_ || take(')')) return c;
    do c.arguments.push_back(named_value());
    while (take(','));
    if (!take(')')) fail_in_call(c, begin);
    last_has_parentheses_ = true;
    return c;
  }

  argument named_value() {
    argument a;
    a.name_at = lexer_.now().column;
    if (lexer_.now().kind == token::word && lexer_.is_name_of_next()) {
      a.name = lexer_.now().text;
      lexer_.advance();
      lexer_.advance();
    }
    if (!expression(a)) value(a);
    return a;
  }

  /// Reads past an argument that can only be an expression. Returns false if it is something else.
  bool expression(argument& a) {
    std::size_t from = lexer_.now().from;
    while (next_expression_ != expressions_.size() && expressions_[next_expression_].from < from) ++next_expression_;
    if (next_expression_ == expressions_.size() || expressions_[next_expression_].from != from) return false;
    std::size_t end = expressions_[next_expression_].end;
    a.kind = argument::expression;
    a.at = lexer_.now().column;
    a.source = text_.substr(from, end - from);
    lexer_.go_to(end);
    return true;
  }

  void value(argument& a) {
    std::size_t from = lexer_.now().from;
    read_value(a);
    a.source = text_.substr(from, lexer_.end_of_last() - from);
  }

  void read_value(argument& a) {
    a.at = lexer_.now().column;
    a.text = lexer_.now().text;
    switch (lexer_.now().kind) {
      case token::number: a.kind = argument::number; break;
      case token::string: a.kind = argument::quoted; break;
      case token::word: return word_or_plan(a);
      default:
        if (lexer_.now().is('[')) return list(a);
        if (lexer_.now().is('{')) return fields(a);
        if (is_behind_last_comma()) fail("nothing follows the last comma: leave it out");
        fail("expected a value, " + lexer_.now().found());
    }
    lexer_.advance();
  }

  bool is_behind_last_comma() const {
    const std::size_t end = lexer_.end_of_last();
    const token& now = lexer_.now();
    return end != 0 && text_[end - 1] == ',' && (now.is(')') || now.is(']') || now.is('}'));
  }

  void list(argument& a) {
    a.kind = argument::list;
    a.text.clear();
    enter();
    take('[');
    if (!take(']')) {
      do value(a.items.emplace_back());
      while (take(','));
      if (!take(']')) fail("expected ',' or ']', " + lexer_.now().found());
    }
    --depth_;
  }

  /// Names are words, or any texts in quotes.
  void fields(argument& a) {
    a.kind = argument::fields;
    a.text.clear();
    enter();
    take('{');
    if (!take('}')) {
      do field(a.items.emplace_back());
      while (take(','));
      if (!take('}')) fail("expected ',' or '}', " + lexer_.now().found());
    }
    --depth_;
  }

  void field(argument& a) {
    if (lexer_.now().kind != token::word && lexer_.now().kind != token::string)
      fail("expected a name, " + lexer_.now().found());
    a.name = lexer_.now().text;
    a.name_at = lexer_.now().column;
    lexer_.advance();
    if (!take('=')) fail("expected '=', " + lexer_.now().found());
    value(a);
  }

  /// A bare word may still be a value, a function or a reader: the operator decides.
  void word_or_plan(argument& a) {
    bool is_call = lexer_.next_is('(');
    a.calls = plan();
    a.kind = is_call || a.calls.size() > 1 ? argument::plan : argument::word;
  }

  std::string_view text_;
  std::vector<text_range> expressions_;  ///< ordered by their beginnings
  std::size_t next_expression_ = 0;
  lexer lexer_;
  std::string last_name_;              ///< of the last stage
  bool last_has_parentheses_ = false;  ///< the last stage has parentheses
  std::uint32_t depth_ = 0, depth_max_ = kPlanDepthAlways;
};

}  // namespace

plan_syntax read_syntax(std::string_view text) {
  if (text.size() > kPlanBytesMax)
    throw plan_error(1, "the plan has " + std::to_string(text.size()) + " bytes, more than the " +
                            std::to_string(kPlanBytesMax) + " that a plan may have");
  return syntax_reader(text).whole();
}

}  // namespace sluice::lib::detail
