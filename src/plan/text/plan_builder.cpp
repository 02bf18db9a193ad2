// SPDX-License-Identifier: Apache-2.0
#include "plan/text/plan_builder.hpp"

#include <algorithm>
#include <charconv>
#include <list>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/text/closest.hpp"
#include "element/text/scan_text.hpp"
#include "expr/other_operators.hpp"
#include "expr/program.hpp"
#include "plan/codecs/argument_codec.hpp"
#include "plan/text/mistaken_calls.hpp"
#include "plan/text/other_words.hpp"
#include "plan/text/spellings.hpp"
#include "plan/text/table_words.hpp"
#include "sluice/expr/expression.hpp"
#include "sluice/plan/function.hpp"

namespace sluice::lib::detail {

namespace {

/// `in`: the type of the elements that the call would get; null: unknown, or none.
const op_info& op_named(const call_syntax& call, const element_type* in) {
  const std::string& name = call.name;
  if (auto* op = find_op(name)) return *op;
  if (const std::string instead = way_to_verb(call, in); !instead.empty())
    throw misplaced{call.at, absl::StrCat("there is no stage ", name, instead)};
  std::vector<std::string> names;
  for (auto* known : known_operators()) names.emplace_back(known->name);
  if (is_expression_function(name))
    throw misplaced{call.at, absl::StrCat(name, " is a function of elements: write map(",
                                          call.arguments.empty() ? name + "(it)" : text_of_call(call), ")")};
  std::string way = did_you_mean(with_underscores(name), names);
  if (way.empty() && name.find('.') != name.npos) way = absl::StrCat("; to read a file, write ", source_reading(name));
  if (way.empty()) way = "; `sluice ops` lists the stages";
  throw misplaced{call.at, absl::StrCat("there is no stage ", name, way)};
}

/// Returns "csv: not_found: a.csv: cannot open", with the stage first, as in other messages about a call.
/// `op`: of the call, for an error that names no stage.
std::string in_front_of_code(const status& why, std::string_view op) {
  const provenance& at = why.where();
  const status bare = status(why.code(), why.message()).in_file(at.file, at.offset_bytes, at.record_index);
  return absl::StrCat(at.stage.empty() ? std::string(op) : at.stage, ": ", bare.to_string());
}

/// Builds a node from one call.
class node_builder {
 public:
  /// `call`: as typed; null: JSON.
  node_builder(const op_info& op, std::size_t at, bool is_json, bool may_lack_path, const call_syntax* call = nullptr)
      : call_(call),
        list_(op.arguments()),
        at_(at),
        is_json_(is_json),
        may_lack_path_(may_lack_path),
        reading_(op.name, at, is_json, kLookup),
        value_(list_.copy(list_.defaults)),
        given_(list_.fields.size()) {
    node_.op = &op;
  }

  /// `at`: the column of the input; 0: of the call.
  void take_input(node_ptr input, std::size_t at = 0) {
    node_.inputs.push_back(std::move(input));
    input_at_.push_back(at == 0 ? at_ : at);
  }
  bool is_combine() const { return node_.op->shape == op_info::combine; }
  const op_info& op() const { return *node_.op; }
  [[noreturn]] void fail(const std::string& what) const {
    throw misplaced{at_, absl::StrCat(std::string(node_.op->name), ": ", what)};
  }

  void take_named(const argument& a) {
    const field* f = list_.find(a.name);
    if (f) return set(*f, a);
    if (const field* any = call_arguments().find(a.name)) return set_of_any_call(*any, a);
    bool none = list_.fields.empty();
    std::vector<std::string> names;
    for (const field& one : list_.fields) names.emplace_back(one.name);
    const bool may_compare = !is_json_ && std::ranges::any_of(list_.fields, [](const field& one) {
      return one.required && one.type->takes_functions();
    });
    std::string similar = did_you_mean(a.name, names);
    if (const std::string longer = name_meant_by(a.name, names); !longer.empty())
      similar = absl::StrCat("; did you mean ", longer, "?");
    const argument at_sign = at_equals_sign(a);
    if (may_compare && a.source.starts_with('>'))  // x => x + 1
      reading_.refuse_name(at_sign, expressions::without_lambda(node_.op->name, a.name, a.source.substr(1)));
    const bool is_option = std::ranges::any_of(
        known_operators(), [&](const op_info* op) { return op->arguments().find(a.name) != nullptr; });
    if (may_compare && a.source.starts_with('~'))
      reading_.refuse_name(at_sign,
                           expressions::way_to_pattern(
                               a.name, std::string(absl::StripAsciiWhitespace(std::string(a.source.substr(1))))));
    if (may_compare && a.source.starts_with('<'))
      reading_.refuse_name(
          at_sign, absl::StrCat("there is no operator =<; write ", a.name,
                                " <= ", std::string(absl::StripAsciiWhitespace(std::string(a.source.substr(1))))));
    const bool makes_fields = call_ && node_.op->name == "map" && !a.source.starts_with('=');
    if (may_compare && similar.empty() && !is_option && makes_fields)
      reading_.refuse_name(
          at_sign, absl::StrCat("a value gets its name in braces: write ", with_fields_in_braces(*call_, *node_.op)));
    if (may_compare && similar.empty() && !is_option)
      reading_.refuse_name(at_sign, absl::StrCat("= does not compare; write ", a.name,
                                                 " == ", expressions::none_or(std::string(a.source))));
    reading_.refuse_name(a,
                         absl::StrCat("has no ", a.name, similar,
                                      none || !similar.empty() ? "" : absl::StrCat(" (it has ", list_.names(), ")")));
  }

  /// Sets the next field that is written without a name.
  void take_positional(const argument& a) {
    auto& fields = list_.fields;
    std::size_t may = positional();
    // A reader gets its path later, so the arguments after the path may come first: fixed_length(4). An optional
    // argument counts as omitted if fewer arguments are left than fields.
    if (position_ < may && fields[position_].type->may_be_left_out() && left_ < may - position_) ++position_;
    if (left_ != 0) --left_;
    if (!is_json_) check_name_of(a, may);
    bool is_later = position_ + 1 < may && may_lack_path_ && fields[position_].type->is_later() && !is_text_argument(a);
    if (is_later) ++position_;
    const bool may_be_field = position_ < may && fields[position_].type->takes_functions();
    if (a.kind == argument::word && !is_json_ && !may_be_field)
      if (const field* flag = list_.find(a.text); flag && flag->type->type_name() == "bool")
        reading_.refuse_name(a, absl::StrCat(a.text, " needs a value: write ", a.text, "=true"));
    if (position_ < may) {
      last_ = a.source;
      return set(fields[position_++], a);
    }
    const bool is_behind_function = may < fields.size() && may != 0 && fields[may - 1].type->takes_functions();
    const bool is_value = a.kind == argument::word || a.kind == argument::expression || a.kind == argument::plan;
    if (is_behind_function && !is_json_ && is_value && !a.source.empty()) refuse_second_function(a);
    const bool is_part = a.kind == argument::number && a.text.size() == 3 && call_ && call_->arguments.size() > 1 &&
                         call_->arguments[0].kind == argument::number && &a == &call_->arguments[1];
    if (may < fields.size() && is_part)
      reading_.refuse_name(
          a, absl::StrCat("a number has no commas: write ", call_->arguments[0].text, a.text, ", or name the option"));
    if (may < fields.size()) reading_.refuse_name(a, absl::StrCat(written(a), " needs a name", way_to_option(a, may)));
    reading_.refuse_name(a, absl::StrCat("takes no more values, and found ", written(a)));
  }
  /// Announces the number of arguments without a name that will follow.
  void expect_positional(std::size_t n) { left_ = n; }
  bool wants_positional() const { return position_ < positional(); }

  /// Sets the first field that `fits`. Older JSON names it after its kind.
  template <class Fits> void take_old(std::string_view key, const argument& a, Fits fits) {
    for (auto& f : list_.fields)
      if (fits(*f.type)) return set(f, a);
    fail(absl::StrCat("takes no ", std::string(key)));
  }

  node_ptr build() {
    for (std::size_t k = 0; k != given_.size(); ++k) {
      const field& f = list_.fields[k];
      bool may_lack = f.type->is_later() && may_lack_path_;
      if (f.required && !given_[k] && !may_lack) fail("needs " + f.type->wanted(f.name) + example());
    }
    node_.arguments = arguments(list_.tag, std::move(value_));
    try {
      return make_node(std::move(node_));
    } catch (const expression_error& e) {
      if (!is_json_) throw misplaced{e.column(), e.message()};
      throw misplaced{at_, absl::StrCat(e.message(), " (column ", e.column(), " of the expression)")};
    } catch (const error& e) {
      const std::string why(e.why().message());
      if (e.why().where().file.empty()) throw misplaced{place_of(why), why};
      throw misplaced{at_, in_front_of_code(e.why(), node_.op->name), e.why()};
    }
  }

 private:
  /// Reports filter(a, b), which means a && b, and map(a, b), which means map({a, b}).
  [[noreturn]] void refuse_second_function(const argument& a) const {
    const std::string name(node_.op->name), first(last_ == "" ? "…" : last_), second(a.source);
    const bool is_condition = name == "filter" || name == "take_while" || name == "drop_while";
    if (is_condition) {
      auto grouped = [](const std::string& s) { return s.find("||") == s.npos ? s : absl::StrCat("(", s, ")"); };
      reading_.refuse_name(a, absl::StrCat("takes one condition: write ", grouped(first), " && ", grouped(second)));
    }
    reading_.refuse_name(
        a, absl::StrCat("takes one expression, and found ", written(a),
                        " after it; several fields stand in braces: ", with_fields_in_braces(*call_, *node_.op)));
  }
  /// Reports `header: true`, and `true` in place of header=true. `may`: the number of fields that need no name.
  void check_name_of(const argument& a, std::size_t may) const {
    const std::size_t colon = std::min(a.source.find(':'), a.source.size());
    const std::string_view name = a.source.substr(0, colon);
    if (colon != a.source.size() && list_.find(name)) {
      const std::string value(absl::StripAsciiWhitespace(std::string(a.source.substr(colon + 1))));
      reading_.refuse(a, absl::StrCat("a name is followed by =: write ", std::string(name), "=", value));
    }
    const bool is_bool = a.kind == argument::word && (a.text == "true" || a.text == "false");
    const codec* next = position_ < may ? list_.fields[position_].type : nullptr;
    if (!is_bool || (next && (next->type_name() == "bool" || next->takes_functions()))) return;
    std::string flags;
    for (const field& f : list_.fields)
      if (f.type->type_name() == "bool" && (f.name == "header" || !list_.find("header")))
        absl::StrAppend(&flags, flags.empty() ? "" : " or ", std::string(f.name), "=", a.text);
    if (!flags.empty()) reading_.refuse(a, absl::StrCat(a.text, " needs a name: write ", flags));
  }
  std::string example() const {
    const element_type* in = node_.inputs.size() == 1 ? node_.inputs[0]->type : nullptr;
    const std::string call = is_json_ ? std::string() : example_of_call(node_.op->name, in, last_);
    return call.empty() ? std::string() : absl::StrCat(", as in ", call);
  }
  /// Returns the options, from the k-th field on, that may be meant by a value without a name.
  std::string way_to_option(const argument& a, std::size_t k) const {
    const auto& fields = list_.fields;
    const bool is_number = a.kind == argument::number;
    std::string names;
    for (std::size_t i = k; i != fields.size(); ++i) {
      const std::string type = fields[i].type->type_name();
      const bool takes_number = type != "bool" && type.find("time") == type.npos && !fields[i].type->takes_text();
      if (!is_json_ && (is_number ? takes_number : i == k))
        return absl::StrCat(", such as ", std::string(fields[i].name), "=", written(a));
      absl::StrAppend(&names, names.empty() ? "" : ", ", std::string(fields[i].name), "=");
    }
    return absl::StrCat("; the options are ", names);
  }
  /// Returns the place of the argument that the error of a node names.
  std::size_t place_of(const std::string& why) const {
    if (is_json_) return at_;
    const bool is_of_schema = why.find("the schema") != why.npos || why.find("the type, character") != why.npos ||
                              why.starts_with("parse_example: column");
    if (schema_at_ != 0 && is_of_schema) return schema_at_;
    constexpr std::string_view kInput = "and input ";
    const std::size_t at = why.find(kInput);
    std::size_t number = 0;
    if (at != why.npos &&
        std::from_chars(why.data() + at + kInput.size(), why.data() + why.size(), number).ec == std::errc() &&
        number != 0 && number <= input_at_.size())
      return input_at_[number - 1];
    return at_;
  }
  /// Returns the number of leading fields that may be written without their names.
  std::size_t positional() const {
    std::size_t may = 0;
    while (may != list_.fields.size() && (list_.fields[may].required || list_.fields[may].by_position)) ++may;
    return may;
  }

  void set(const field& f, const argument& a) {
    auto k = static_cast<std::size_t>(&f - list_.fields.data());
    if (given_[k]) reading_.refuse(a, absl::StrCat(std::string(f.name), " is given twice"));
    if (a.kind == argument::expression && a.source.starts_with('\'') && !f.type->takes_functions()) {
      const std::string_view inside = a.source.substr(1, a.source.find('\'', 1) - 1);
      reading_.refuse(a,
                      absl::StrCat("texts are written in double quotes, and in a shell the plan in single quotes: \"",
                                   std::string(inside), "\""));
    }
    if (a.kind == argument::expression && a.source.starts_with('"') && !f.type->takes_functions())
      reading_.refuse(
          a, absl::StrCat("a comma is missing after ", std::string(a.source.substr(0, a.source.find('"', 1) + 1))));
    given_[k] = true;
    if (f.name == "schema") schema_at_ = a.at;
    try {
      reading_.read(*f.type, argument_list::at(value_.get(), f), a, f.name);
    } catch (const misplaced& why) {
      const element_type* in = node_.inputs.size() == 1 ? node_.inputs[0]->type : nullptr;
      throw misplaced{why.at, with_all_columns(why, a, in), why.file_error};
    }
  }

  /// Sets one of the arguments that every call accepts.
  void set_of_any_call(const field& f, const argument& a) {
    auto k = static_cast<std::size_t>(&f - call_arguments().fields.data());
    if (given_to_call_ >> k & 1) reading_.refuse(a, absl::StrCat(std::string(f.name), " is given twice"));
    given_to_call_ |= 1u << k;
    reading_.read(*f.type, argument_list::at(static_cast<void*>(&node_.errors), f), a, f.name);
  }

  const call_syntax* call_;
  const argument_list& list_;
  std::size_t at_;
  bool is_json_;
  bool may_lack_path_;
  reading reading_;
  std::shared_ptr<void> value_;
  std::vector<bool> given_;
  unsigned given_to_call_ = 0;  ///< bit k: the k-th of call_arguments()
  std::size_t position_ = 0, left_ = 0;
  std::size_t schema_at_ = 0;          ///< the place of an argument that is a schema
  std::vector<std::size_t> input_at_;  ///< the places of the inputs
  std::string_view last_;              ///< the text of the last argument without a name
  node node_;
};

// --- From text. ---

/// The inputs of sample_from_datasets([A, B]).
std::vector<node_ptr> listed_plans(const call_syntax& call, const argument& list, bool may_lack_path) {
  if (list.kind != argument::list)
    throw misplaced{list.at, absl::StrCat(call.name, ": the datasets stand in a list, ", call.name,
                                          "([A, B]), and found ", list.shown())};
  std::vector<node_ptr> inputs;
  for (const argument& item : list.items) {
    if (item.kind != argument::plan && item.kind != argument::word)
      throw misplaced{item.at, absl::StrCat(call.name, ": the list has datasets, and found ", item.shown())};
    inputs.push_back(build_plan(item.calls, may_lack_path));
  }
  return inputs;
}

node_ptr build_call(const call_syntax& call, node_ptr input, bool may_lack_path) {
  const op_info& op = op_named(call, input ? input->type : nullptr);
  check_form(call, input ? input->type : nullptr);
  const node_ptr before = input;
  if (!input && op.shape == op_info::stage && !call.arguments.empty() && call.arguments[0].kind == argument::plan) {
    const plan_syntax& first = call.arguments[0].calls;
    const op_info* source = first.empty() ? nullptr : find_op(first[0].name);
    call_syntax rest = call;
    rest.arguments.erase(rest.arguments.begin());
    if (source && source->shape != op_info::stage)
      throw misplaced{call.at, absl::StrCat(call.name, ": the input stands before the stage: write ",
                                            std::string(call.arguments[0].source), " | ", text_of_call(rest))};
  }
  if (!input && op.shape == op_info::stage)
    throw misplaced{call.at,
                    absl::StrCat(call.name, ": a plan starts with a source, as in csv(\"FILE\", header=true) | ",
                                 text_of_call(call))};
  if (input && op.shape != op_info::stage) throw misplaced{call.at, source_behind_stage(call, op)};
  bool may_lack = may_lack_path && op.shape != op_info::stage;
  node_builder b(op, call.at, false, may_lack, &call);
  if (input) b.take_input(std::move(input));
  b.expect_positional(static_cast<std::size_t>(
      std::ranges::count_if(call.arguments, [](const argument& a) { return a.name.empty(); })));
  bool wants_list = op.inputs_behind_list >= 0;
  int behind = 0;  // inputs after the list
  for (const argument& a : call.arguments) {
    if (wants_list && a.name.empty()) {
      wants_list = false;
      std::vector<node_ptr> inputs = listed_plans(call, a, may_lack);
      for (std::size_t k = 0; k != inputs.size(); ++k) b.take_input(std::move(inputs[k]), a.items[k].at);
      continue;
    }
    bool may_be_plan = a.kind == argument::plan || a.kind == argument::word;
    bool is_input = b.is_combine() && a.name.empty() && may_be_plan;
    // A word may also be the value of another field of a combine, such as a function.
    if (is_input && a.kind == argument::word && !find_op(a.text) && b.wants_positional()) is_input = false;
    if (is_input) ++behind;
    if (is_input) b.take_input(build_plan(a.calls, may_lack), a.at);
    else if (a.name.empty()) b.take_positional(a);
    else b.take_named(a);
  }
  // Without this check the last item of the list would be used for it.
  if (!wants_list && behind < op.inputs_behind_list)
    throw misplaced{call.at, absl::StrCat(call.name, ": needs a list of datasets, and ", op.inputs_behind_list,
                                          " after it, which is missing: ", call.name, "([A, B], C)")};
  try {
    return b.build();
  } catch (const misplaced& why) {
    throw misplaced{why.at, with_stage_before_batch(why.what, call, before.get()), why.file_error};
  }
}

/// Builds a call that abbreviates other calls (spellings.hpp).
node_ptr build_spelled(const call_syntax& call, node_ptr input, bool may_lack_path) {
  node_ptr n = std::move(input);
  for (const call_syntax& each : spelled_out(call)) n = build_call(each, std::move(n), may_lack_path);
  return n;
}

node_ptr build_any_call(const call_syntax& call, node_ptr input, bool may_lack_path) {
  std::list<std::string> texts;
  std::optional<call_syntax> meant = call_of_table_word(call, input ? input->type : nullptr, texts);
  if (!meant && !is_spelling(call.name)) return build_call(call, std::move(input), may_lack_path);
  check_form(call, input ? input->type : nullptr);
  std::string name = meant ? meant->name : std::string();
  try {
    if (meant) return build_call(*meant, std::move(input), may_lack_path);
    if (const plan_syntax calls = spelled_out(call); calls.size() == 1) name = calls[0].name;
    return build_spelled(call, std::move(input), may_lack_path);
  } catch (const misplaced& why) {
    if (name.empty() || name == call.name) throw;
    throw misplaced{why.at, with_typed_word(why.what, call.name, name), why.file_error};
  }
}

// --- From JSON. ---

class json_stage {
 public:
  /// `given`: the input of the lowest stage of a chain that lacks its input; null: no stage may lack it.
  json_stage(const argument& object, bool may_lack_path, node_ptr given = {})
      : object_(object),
        given_(std::move(given)),
        builder_(op_named({object.at, name_in(object), {}}, nullptr), object.at, true, may_lack_path),
        may_lack_path_(may_lack_path) {}

  node_ptr build() {
    for (std::size_t i = 0; i != object_.items.size(); ++i) {
      const argument& member = object_.items[i];
      note(member.name);
      take(member);
    }
    if (given_ && !object_.find("inputs") && builder_.op().shape == op_info::stage) builder_.take_input(given_);
    return builder_.build();
  }

 private:
  [[noreturn]] static void refuse(const argument& object, const std::string& what) { throw misplaced{object.at, what}; }

  static const std::string& name_in(const argument& object) {
    const argument* op = nullptr;
    for (const argument& member : object.items) {
      if (member.name != "op") continue;
      if (op) refuse(object, "\"op\" is given twice");
      op = &member;
    }
    if (!op) refuse(object, "a plan lacks \"op\"");
    if (op->kind != argument::string) refuse(object, "op expects a string, and is " + op->shown());
    return op->text;
  }

  void note(const std::string& key) {
    static constexpr std::string_view kKeys[] = {"op", "arguments", "inputs", "text", "fields", "function", "reader"};
    for (std::size_t k = 0; k != std::size(kKeys); ++k) {
      if (kKeys[k] != key) continue;
      if (seen_[k]) builder_.fail(absl::StrCat("\"", key, "\" is given twice"));
      seen_[k] = true;
      return;
    }
    builder_.fail(absl::StrCat("a call has no \"", key, "\""));
  }

  void take(const argument& member) {
    if (member.name == "inputs") return take_inputs(member);
    if (member.name == "arguments" || member.name == "fields") return take_arguments(member);
    // Older versions wrote these names; they are accepted until 1.0.
    if (member.name == "text") return builder_.take_old("text", member, [](const codec& c) { return c.takes_text(); });
    if (member.name == "function")
      return builder_.take_old("function", member, [](const codec& c) { return c.takes_functions(); });
    if (member.name == "reader")
      return builder_.take_old("reader", member, [](const codec& c) { return c.takes_plan(); });
  }

  void take_arguments(const argument& all) {
    if (all.kind != argument::object) builder_.fail(all.name + " expects an object, and is " + all.shown());
    for (const argument& a : all.items) builder_.take_named(a);
  }

  void take_inputs(const argument& inputs) {
    bool is_list = inputs.kind == argument::list || inputs.kind == argument::numbers;
    if (!is_list) builder_.fail("inputs expects a list, and is " + inputs.shown());
    if (inputs.kind == argument::numbers) builder_.fail("inputs expects a list of plans, which are objects");
    for (const argument& input : inputs.items) {
      if (input.kind != argument::object)
        builder_.fail("inputs expects a list of plans, which are objects, and has " + input.shown());
      bool continues = given_ && builder_.op().shape == op_info::stage;
      builder_.take_input(continues ? build_stages(input, given_) : build_plan(input, may_lack_path_));
    }
  }

  const argument& object_;
  const node_ptr given_;
  node_builder builder_;
  bool may_lack_path_;
  bool seen_[7] = {};
};

}  // namespace

bool is_operator(std::string_view name) { return find_op(name) != nullptr; }

bool is_expression_function(std::string_view name) {
  if (is_operator(name) || is_spelling(name)) return false;
  return is_built_in_function(name) || !find_functions(name).empty();
}

node_ptr build_plan(const plan_syntax& calls, bool may_lack_path) {
  node_ptr n;
  for (auto& call : calls) n = build_any_call(call, std::move(n), may_lack_path);
  return n;
}

node_ptr build_plan(const argument& a, bool may_lack_path) {
  if (a.kind != argument::object) return build_plan(a.calls, may_lack_path);
  const argument* op = a.find("op");
  if (op && op->kind == argument::string && is_spelling(op->text))
    return json_stage(spelled_out(a, op->text), may_lack_path).build();
  return json_stage(a, may_lack_path).build();
}

node_ptr build_stages(const argument& a, const node_ptr& input) {
  if (a.kind == argument::object) return json_stage(a, false, input).build();
  node_ptr n = input;
  for (auto& call : a.calls) n = build_any_call(call, std::move(n), false);
  return n;
}

}  // namespace sluice::lib::detail
