// SPDX-License-Identifier: Apache-2.0
// Plan text to nodes: operators, functions and fields are looked up, and each error is given its column.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plan/closest.hpp"
#include "plan/syntax.hpp"
#include "sluice/plan/function.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {

using detail::argument_syntax;
using detail::call_syntax;
using detail::plan_syntax;

plan_error::plan_error(std::size_t column, std::string_view message)
    : error(invalid_argument_error(absl::StrCat("column ", column, ": ", std::string(message)))), column_(column) {}

namespace {

node_ptr build(const plan_syntax& calls, bool may_lack_path);

/// One call becoming a node: its arguments are taken in turn, each by the first thing that still wants one.
class call_builder {
 public:
  call_builder(const call_syntax& call, const op_info& op, bool may_lack_path)
      : call_(call), may_lack_path_(may_lack_path), given_(op.fields().fields.size()) {
    node_.op = &op;
    node_.fields = options(op.fields());
  }

  node_ptr build(node_ptr input) {
    if (input) node_.inputs.push_back(std::move(input));
    for (auto& a : call_.arguments) {
      if (!a.name.empty()) take_named(a);
      else if (!take_thing(a)) take_positional(a);
    }
    check_required();
    try {
      return make_node(std::move(node_));
    } catch (const plan_error&) { throw; } catch (const error& e) {
      throw plan_error(call_.column, e.why().message());
    }
  }

 private:
  [[noreturn]] void fail(std::size_t column, const std::string& what) const {
    throw plan_error(column, absl::StrCat(call_.name, ": ", what));
  }
  const std::vector<field>& fields() const { return node_.fields.list().fields; }

  static std::string shown(const argument_syntax& a) {
    if (a.kind == argument_syntax::plan) return "a plan";
    return a.kind == argument_syntax::quoted ? absl::StrCat("\"", a.text, "\"") : a.text;
  }

  /// The text, function, reader or inputs. False: none is wanted (any more).
  bool take_thing(const argument_syntax& a) {
    auto& op = *node_.op;
    if (op.shape == op_info::combine) return take_input(a);
    if (!op.text_name.empty() && !node_.has_text) {
      // A reader gets its path later, so its values may begin at once: fixed_length(4).
      if (may_lack_path_ && a.kind == argument_syntax::number) return false;
      if (a.kind != argument_syntax::quoted)
        fail(a.column, absl::StrCat("expected a ", std::string(op.text_name), " in quotes, and found ", shown(a)));
      node_.text = a.text;
      return node_.has_text = true;
    }
    bool wants = (op.accepts || op.reader != op_info::no_reader) && !node_.function && !node_.reader;
    if (!wants) return false;
    take_function_or_reader(a);
    return true;
  }

  bool take_input(const argument_syntax& a) {
    if (a.kind != argument_syntax::word && a.kind != argument_syntax::plan) return false;
    node_.inputs.push_back(sluice::lib::build(a.calls, may_lack_path_));
    return true;
  }

  void take_function_or_reader(const argument_syntax& a) {
    auto& op = *node_.op;
    bool is_plan = a.kind == argument_syntax::plan || (a.kind == argument_syntax::word && find_op(a.text));
    if (op.reader != op_info::no_reader && (is_plan || (!op.accepts && a.kind == argument_syntax::word))) {
      node_.reader = sluice::lib::build(a.calls, true);
      if (op.reader == op_info::needs_path && !node_.reader->lacks_path)
        fail(a.column, "the reader has its path already; it gets one from each element");
      return;
    }
    if (!op.accepts) fail(a.column, absl::StrCat("expected a reader, such as tfrecord, and found ", shown(a)));
    if (a.kind != argument_syntax::word)
      fail(a.column, absl::StrCat("expected the name of a function, and found ", shown(a)));
    take_function(a);
  }

  void take_function(const argument_syntax& a) {
    auto forms = find_functions(a.text);
    if (forms.empty())
      fail(a.column,
           absl::StrCat("no function is registered as ", a.text, detail::did_you_mean(a.text, function_names())));
    for (auto& f : forms)
      if (!node_.function && node_.op->accepts(*f)) node_.function = f;
    if (node_.function) return;
    auto& f = *forms[0];
    fail(a.column, absl::StrCat(a.text, " cannot be its function: it makes ", f.out ? f.out->name : "something else",
                                f.in ? " of " + f.in->name : ""));
  }

  void take_named(const argument_syntax& a) {
    for (std::size_t k = 0; k != fields().size(); ++k)
      if (fields()[k].name == a.name) return set(k, a);
    std::vector<std::string> known;
    for (auto& f : fields()) known.emplace_back(f.name);
    fail(a.name_column, absl::StrCat("has no ", a.name,
                                     known.empty() ? "" : absl::StrCat(" (it has ", absl::StrJoin(known, ", "), ")")));
  }

  void take_positional(const argument_syntax& a) {
    std::size_t may = 0;
    while (may != fields().size() && (fields()[may].required || may < node_.op->positional)) ++may;
    if (position_ < may) return set(position_++, a);
    if (may < fields().size())
      fail(a.column, absl::StrCat(shown(a), " needs a name, such as ", std::string(fields()[may].name), "=", shown(a)));
    fail(a.column, absl::StrCat("takes no more values, and found ", shown(a)));
  }

  void set(std::size_t k, const argument_syntax& a) {
    auto& f = fields()[k];
    std::string name(f.name);
    if (given_[k]) fail(a.column, name + " is given twice");
    given_[k] = true;
    auto expected = a.kind == argument_syntax::plan
                        ? "a value"
                        : f.type->read(node_.fields.at(f), a.text, a.kind == argument_syntax::quoted);
    if (!expected.empty()) fail(a.column, absl::StrCat(name, " expects ", expected, ", and is ", shown(a)));
    auto rule = f.type->check(node_.fields.at(f));
    if (!rule.empty()) fail(a.column, absl::StrCat(name, " must be ", rule, ", and is ", shown(a)));
  }

  void check_required() const {
    auto& op = *node_.op;
    if (!op.text_name.empty() && !node_.has_text && !may_lack_path_)
      fail(call_.column, absl::StrCat("needs a ", std::string(op.text_name)));
    for (std::size_t k = 0; k != fields().size(); ++k)
      if (fields()[k].required && !given_[k]) fail(call_.column, absl::StrCat("needs ", std::string(fields()[k].name)));
  }

  const call_syntax& call_;
  bool may_lack_path_;
  std::vector<bool> given_;
  std::size_t position_ = 0;
  node node_;
};

const op_info& op_of(const call_syntax& call, bool first) {
  auto* op = find_op(call.name);
  if (!op) {
    std::vector<std::string> names;
    for (auto* known : known_operators()) names.emplace_back(known->name);
    throw plan_error(call.column, absl::StrCat(call.name, ": no such stage", detail::did_you_mean(call.name, names)));
  }
  if (first && op->shape == op_info::stage) throw plan_error(call.column, call.name + ": a plan starts with a source");
  if (!first && op->shape != op_info::stage) throw plan_error(call.column, call.name + ": a source takes no input");
  return *op;
}

node_ptr build(const plan_syntax& calls, bool may_lack_path) {
  node_ptr n;
  for (auto& call : calls) {
    auto& op = op_of(call, !n);
    bool lacks = may_lack_path && op.shape != op_info::stage;
    n = call_builder(call, op, lacks).build(std::move(n));
  }
  return n;
}

}  // namespace

node_ptr parse_plan(std::string_view text) { return build(detail::read_syntax(text), false); }

}  // namespace sluice::lib
