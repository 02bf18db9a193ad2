// SPDX-License-Identifier: Apache-2.0
// Prints plans as text, and as the input of a fingerprint.
#include "absl/strings/str_cat.h"
#include "base/text/plan_quotes.hpp"
#include "plan/codecs/argument_codec.hpp"
#include "plan/moved_texts.hpp"
#include "sluice/base/hash.hpp"
#include "sluice/plan/dataset.hpp"
#include "sluice/plan/function.hpp"
#include "sluice/plan/identity.hpp"
#include "sluice/plan/stage_plan.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {

namespace {

bool is_word(std::string_view s) {
  bool starts = !s.empty() && !(s[0] >= '0' && s[0] <= '9') && s[0] != '.';
  return starts && s.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") == s.npos;
}

class text_printer final : public printer {
 public:
  enum settings : std::uint8_t { as_given, as_default };
  /// `moves`: paths are printed as they were before these moves. `s`: how meaning has the fields that are settings.
  text_printer(std::string& out, bool is_meaning, const path_rebases* moves = nullptr, settings s = as_default)
      : printer(is_meaning), out_(out), moves_(moves), settings_(s) {}

  void plain(std::string_view spelled) override { out_ += spelled; }
  void word(std::string_view w) override { out_ += w; }
  text_printer(std::string& out, const text_changes& changes) : printer(false), out_(out), changes_(&changes) {}

  void text(const std::string& s) override {
    detail::append_in_quotes(moves_ ? path_before(*moves_, s) : is_path_ ? changes_->path(s) : s, out_);
  }
  void nothing() override { out_ += "nothing"; }
  void function(const stage_function& f) override {
    if (f.name.empty()) out_ += "<lambda>";
    else if (changes_ && f.is_expression) out_ += changes_->expression(f.name);
    else out_ += moves_ ? expression_before(*moves_, f.name) : f.name;
    if (is_meaning()) absl::StrAppend(&out_, "@", f.version);
  }
  void plan(const node& n) override {
    if (n.op->shape == op_info::stage && !is_given(*n.inputs[0])) {
      plan(*n.inputs[0]);
      out_ += " | ";
    }
    call(n);
  }

  void begin_list() override { out_ += '['; }
  void item() override {
    if (std::string_view("([{").find(out_.back()) == std::string_view::npos) out_ += ", ";
  }
  void end_list() override { out_ += ']'; }
  void begin_fields() override { out_ += '{'; }
  void name(std::string_view n, bool is_key) override {
    item();
    if (is_key && !is_word(n)) detail::append_in_quotes(n, out_);
    else out_ += n;
    out_ += '=';
  }
  void end_fields() override { out_ += '}'; }

  void call(const node& n) {
    auto& list = n.op->arguments();
    out_ += n.op->name;
    out_ += '(';
    auto start = out_.size();
    if (n.op->shape == op_info::combine) inputs(n);
    fields(list, n.arguments.get());
    call_fields(n);
    // A stage needs no parentheses, and a reader is a word. For range(), a word would mean a source that lacks its
    // arguments.
    bool is_a_word = out_.size() == start && (n.op->shape != op_info::source || list.has_later());
    if (is_a_word) out_.pop_back();
    else out_ += ')';
  }

 private:
  void inputs(const node& n) {
    const bool has_list = n.op->inputs_behind_list >= 0;
    std::size_t listed = has_list ? n.inputs.size() - static_cast<std::size_t>(n.op->inputs_behind_list) : 0;
    if (has_list) begin_list();
    for (auto& input : n.inputs) {
      item();
      plan(*input);
      if (listed && --listed == 0) end_list();
    }
  }
  /// Prints the leading fields without names until one is omitted, then the other fields that differ from their
  /// defaults.
  void fields(const argument_list& list, const void* a) {
    bool leading = true, is_later_missing = false;
    for (auto& f : list.fields) {
      const bool is_default = is_meaning() && settings_ == as_default && f.is_setting && f.is_setting(a);
      const void* from = is_default ? list.defaults : a;
      const void* p = argument_list::at(from, f);
      if (f.type->is_later() && f.type->is_missing(p)) {
        is_later_missing = true;
        continue;
      }
      // In a reader, a text without a name would be read as the path.
      leading = leading && (f.required || f.by_position) && !(is_later_missing && f.type->takes_text());
      bool is_given = f.required || !list.is_default(from, f);
      bool is_written = is_meaning() ? !f.type->is_knob() && (is_given || !f.type->is_meant_when_given()) : is_given;
      if (!is_written) {
        leading = leading && f.type->may_be_left_out();
        continue;
      }
      if (leading) item();
      else name(f.name, false);
      is_path_ = changes_ && (f.name == "path" || f.name == "pattern");
      f.type->print(p, *this);
      is_path_ = false;
    }
  }

  /// Prints the arguments that every call accepts, if they are set. Fingerprints omit unset ones too, so that older
  /// fingerprints stay valid.
  void call_fields(const node& n) {
    auto& list = call_arguments();
    for (auto& f : list.fields) {
      if (list.is_default(&n.errors, f) || (is_meaning() && f.type->is_knob())) continue;
      name(f.name, false);
      f.type->print(argument_list::at(static_cast<const void*>(&n.errors), f), *this);
    }
  }

  std::string& out_;
  const path_rebases* moves_ = nullptr;
  settings settings_ = as_given;
  const text_changes* changes_ = nullptr;
  bool is_path_ = false;  ///< the argument that is printed is a path, and changes
};

}  // namespace

std::string printed(const codec& type, const void* field) {
  std::string out;
  text_printer to(out, false);
  type.print(field, to);
  return out;
}

std::string plan_text(const node& n) {
  std::string out;
  text_printer(out, false).plan(n);
  return out;
}

std::string changed_plan_text(const node& n, const text_changes& changes) {
  std::string out;
  text_printer(out, changes).plan(n);
  return out;
}

void plan_holder::sluice_print(std::string& json) const { print_json_text(node_ ? plan_text(*node_) : "", json); }

std::string stage_text(const node& n) {
  std::string out;
  text_printer(out, false).call(n);
  return out;
}

std::uint64_t fingerprint(const node& n) {
  std::string meaning;
  text_printer(meaning, true).plan(n);
  return stable_hash(meaning);
}

std::uint64_t fingerprint_before(const node& n, const path_rebases& moves) {
  std::string meaning;
  text_printer(meaning, true, &moves).plan(n);
  return stable_hash(meaning);
}

std::uint64_t fingerprint_with_settings(const node& n) {
  std::string meaning;
  text_printer(meaning, true, nullptr, text_printer::as_given).plan(n);
  return stable_hash(meaning);
}

status serialisable(const node& n) {
  status why;
  if (is_given(n))
    return failed_precondition_error(
        "the elements that a stage gives to stages of its own are used in a way that cannot be written down: they have "
        "to be the input of the first of a chain of stages, as in take(2) | batch(2)");
  for_each_function(n, [&](const function_ptr& f) {
    if (!why.ok()) return;
    if (f->is_expression) return;
    if (f->name.empty() && f->is_data())
      why = failed_precondition_error(absl::StrCat(
          std::string(n.op->name),
          " holds data that cannot be written down: a plan contains at most 64 KiB of literals "
          "in one stage, where a number takes 9 bytes, and no elements of the program; write the elements to a file, "
          "and read that"));
    else if (f->name.empty())
      why = failed_precondition_error(
          absl::StrCat(stage_text(n),
                       " holds a lambda of the program, which cannot be written down; "
                       "name the function with SLUICE_FUNCTION, or write it as an expression"));
    else if (find_functions(f->name).empty())
      why = failed_precondition_error(
          absl::StrCat(stage_text(n),
                       " has a function that is named in place, by fn(), and cannot be found by its name; "
                       "register it with SLUICE_FUNCTION"));
  });
  for_each_plan(n, [&](const node_ptr& p) {
    if (why.ok()) why = serialisable(*p);
  });
  for (auto& input : n.inputs)
    if (why.ok() && !(n.op->shape == op_info::stage && is_given(*input))) why = serialisable(*input);
  return why;
}

}  // namespace sluice::lib
