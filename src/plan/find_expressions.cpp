// SPDX-License-Identifier: Apache-2.0
#include "plan/find_expressions.hpp"

#include <algorithm>

#include "plan/text/lex.hpp"

namespace sluice::lib::detail {

namespace {

class expression_finder {
 public:
  explicit expression_finder(std::string_view text) : text_(text) {}

  std::vector<text_range> all() {
    while (at_ < text_.size()) step();
    // A bracket that is not closed ends with the text; the grammar reports it.
    for (bracket& b : open_) close(b);
    std::erase_if(found_, [](const argument& a) { return !a.is_expression; });
    std::vector<text_range> ranges;
    for (const argument& a : found_) ranges.push_back({a.from, a.end});
    return ranges;
  }

 private:
  struct argument {
    std::size_t from, end = 0;
    bool is_expression = false;
  };
  static constexpr std::size_t kNone = SIZE_MAX;
  struct bracket {
    char sign;
    bool is_call;
    std::size_t argument;  ///< the argument of a call that is being read, or that contains this bracket
    int tokens = 0;        ///< in braces: the tokens of the current item
    bool has_name = false, is_word = false;
  };
  enum token_kind { nothing, word, value, opening, closing, comma, equals, other };

  char at(std::size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  std::size_t present() const { return open_.empty() ? kNone : open_.back().argument; }
  void mark() {
    if (present() != kNone) found_[present()].is_expression = true;
  }
  /// Records that a token of an argument begins here.
  void note_start() {
    if (open_.empty()) return;
    bracket& b = open_.back();
    if (b.is_call && b.argument == kNone) {
      b.argument = found_.size();
      found_.push_back({at_});
    }
    ++b.tokens;
    b.is_word = false;
  }
  void close(bracket& b) {
    if (b.is_call && b.argument != kNone) found_[b.argument].end = at_;
    // A single word is a field: {image, label}.
    if (b.sign == '{' && b.tokens == 1 && b.is_word && !b.has_name) mark();
  }

  void step() {
    char c = text_[at_];
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++at_;
      return;
    }
    if (c == '#') {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      return;
    }
    bool sign_of_number =
        (c == '-' || c == '+') && is_digit(at(at_ + 1)) && last_ != word && last_ != value && last_ != closing;
    if (starts_word(c)) return read_word();
    if (is_digit(c) || sign_of_number) return read_number();
    if (c == '"') return read_string();
    if (c == '`' || c == '\'') return read_quoted(c);
    if (c == '(' || c == '[' || c == '{') return open(c);
    if (c == ')' || c == ']' || c == '}') return end(c);
    if (c == ',') return next();
    read_sign(c);
  }

  /// Two values without an operator between them are an expression with a mistake: not ok, city like "R%".
  void note_neighbor() {
    if (last_ == word || last_ == value || last_ == closing) mark();
  }
  void read_word() {
    note_start();
    note_neighbor();
    word_at_ = at_;
    while (continues_word(at(at_))) ++at_;
    last_ = word;
    if (!open_.empty()) open_.back().is_word = true;
  }
  void read_number() {
    note_start();
    do {
      ++at_;
      bool is_exponent_sign = (at(at_) == '-' || at(at_) == '+') && (at(at_ - 1) == 'e' || at(at_ - 1) == 'E');
      if (!is_exponent_sign && !continues_word(at(at_)) && !(at(at_) == '\'' && is_digit(at(at_ + 1)))) break;
    } while (at_ < text_.size());
    last_ = value;
  }
  void read_string() {
    note_start();
    note_neighbor();
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_)
      if (text_[at_] == '\\') ++at_;
    at_ = std::min(at_ + 1, text_.size());
    last_ = value;
  }
  /// A column's name in backticks; and a text in single quotes, which the grammar of expressions refuses.
  void read_quoted(char quote) {
    note_start();
    mark();
    at_ = std::min(text_.find(quote, at_ + 1), text_.size() - 1) + 1;
    last_ = quote == '`' ? word : value;
    if (!open_.empty()) open_.back().is_word = quote == '`';
  }
  void open(char c) {
    note_start();
    bool is_call = c == '(' && last_ == word;
    // Parentheses that call nothing, and an index, belong to an expression.
    bool is_of_expression =
        (c == '(' && !is_call) || (c == '[' && (last_ == word || last_ == value || last_ == closing));
    // {count()} is an expression with a mistake, and not a list of options.
    if (is_call && !open_.empty() && open_.back().sign == '{' && !open_.back().has_name) is_of_expression = true;
    if (is_of_expression) mark();
    open_.push_back({c, is_call, is_call ? kNone : present()});
    ++at_;
    last_ = opening;
  }
  void end(char c) {
    static constexpr std::string_view kOpening = "([{", kClosing = ")]}";
    if (!open_.empty() && open_.back().sign == kOpening[kClosing.find(c)]) {
      close(open_.back());
      open_.pop_back();
    }
    ++at_;
    last_ = closing;
  }
  void next() {
    if (!open_.empty()) {
      bracket& b = open_.back();
      close(b);
      b.tokens = 0;
      b.has_name = b.is_word = false;
      if (b.is_call) b.argument = kNone;
    }
    ++at_;
    last_ = comma;
  }
  void read_sign(char c) {
    if (text_.substr(at_).starts_with("<lambda>")) {  // what a plan prints that cannot be written down
      at_ += 8;
      last_ = value;
      return;
    }
    std::string_view two = text_.substr(at_, 2);
    bool is_pipe = c == '|' && two != "||";
    bool is_key = last_ == word || (last_ == value && !open_.empty() && open_.back().sign == '{');
    bool is_name = c == '=' && two != "==" && is_key && !open_.empty();
    note_start();
    if (is_name) {
      bracket& b = open_.back();
      // The value of a named argument begins after the name.
      if (b.is_call && b.argument != kNone && found_[b.argument].from == word_at_)
        found_.pop_back(), b.argument = kNone;
      b.has_name = true;
    } else if (!is_pipe) {
      mark();
    }
    at_ += two == "==" || two == "||" || two == "!=" || two == "<=" || two == ">=" || two == "&&" ? 2 : 1;
    last_ = is_name ? equals : other;
  }

  std::string_view text_;
  std::size_t at_ = 0, word_at_ = 0;
  token_kind last_ = nothing;
  std::vector<bracket> open_;
  std::vector<argument> found_;
};

}  // namespace

std::vector<text_range> find_expressions(std::string_view plan) { return expression_finder(plan).all(); }

}  // namespace sluice::lib::detail
