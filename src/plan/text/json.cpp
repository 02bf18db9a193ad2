// SPDX-License-Identifier: Apache-2.0
#include "sluice/plan/json.hpp"

#include "absl/strings/str_cat.h"
#include "plan/codecs/argument_codec.hpp"
#include "plan/text/other_words.hpp"
#include "plan/text/plan_builder.hpp"
#include "plan/text/read_json.hpp"
#include "sluice/base/utf8.hpp"
#include "sluice/element/type.hpp"
#include "sluice/plan/function.hpp"
#include "sluice/plan/stage_plan.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {

namespace {

// --- Writing. ---

/// Prints numbers and booleans as such, names and sizes as strings.
class json_printer final : public printer {
 public:
  explicit json_printer(std::string& out) : printer(false), out_(out) {}

  void plain(std::string_view spelled) override { out_ += spelled; }
  void word(std::string_view w) override { print_json_text(w, out_); }
  /// JSON must be UTF-8, but a path need not be. Such a path is written as a list of its bytes.
  void text(const std::string& s) override {
    if (is_utf8(s)) return print_json_text(s, out_);
    char before = '[';
    for (char c : s) {
      out_ += before;
      absl::StrAppend(&out_, static_cast<unsigned char>(c));
      before = ',';
    }
    out_ += ']';
  }
  void nothing() override { out_ += "null"; }
  void function(const stage_function& f) override {
    if (f.is_expression) {
      out_ += "{\"expression\":";
      text(f.name);
      out_ += '}';
      return;
    }
    out_ += "{\"name\":";
    print_json_text(f.name, out_);
    absl::StrAppend(&out_, ",\"version\":", f.version, "}");
  }

  void plan(const node& n) override {
    out_ += "{\"op\":";
    print_json_text(n.op->name, out_);
    bool any = fields(n.op->arguments(), n.arguments.get(), false);
    any = fields(call_arguments(), &n.errors, any);
    if (any) out_ += '}';
    if (!n.inputs.empty() && !is_given(*n.inputs[0])) {
      out_ += ",\"inputs\":[";
      for (auto& input : n.inputs) {
        item();
        plan(*input);
      }
      out_ += ']';
    }
    out_ += '}';
  }

  void begin_list() override { out_ += '['; }
  void item() override {
    if (out_.back() != '[' && out_.back() != '{') out_ += ',';
  }
  void end_list() override { out_ += ']'; }
  void begin_fields() override { out_ += '{'; }
  void name(std::string_view n, bool) override {
    item();
    print_json_name(n, out_);
    out_ += ':';
  }
  void end_fields() override { out_ += '}'; }

 private:
  /// Prints the fields that differ from their defaults. `any`: other fields precede. Returns true if any field is
  /// printed by now.
  bool fields(const argument_list& list, const void* a, bool any) {
    for (auto& f : list.fields) {
      if (list.is_default(a, f)) continue;
      if (!any) out_ += ",\"arguments\":{";
      any = true;
      name(f.name, false);
      f.type->print(argument_list::at(a, f), *this);
    }
    return any;
  }

  std::string& out_;
};

// --- Reading. ---

/// Finds the path of the object with this number: "inputs[0].arguments.inner"; empty for the outermost.
bool find_path(const argument& in, std::size_t at, std::string& path) {
  if (in.at == at) return true;
  auto length = path.size();
  for (std::size_t i = 0; i != in.items.size(); ++i) {
    const argument& item = in.items[i];
    bool has_objects = item.kind == argument::object || item.kind == argument::list;
    if (!has_objects) continue;
    if (in.kind == argument::list) absl::StrAppend(&path, "[", i, "]");
    else absl::StrAppend(&path, path.empty() ? "" : ".", item.name);
    if (find_path(item, at, path)) return true;
    path.resize(length);
  }
  return false;
}

[[noreturn]] void refuse(std::string what, const argument& document, std::size_t at) {
  constexpr std::size_t kShownMax = 100;  // a long path is shown by its end
  std::string path;
  find_path(document, at, path);
  if (path.size() > kShownMax) path = "…" + path.substr(path.find('.', path.size() - kShownMax));
  if (!path.empty()) absl::StrAppend(&what, " (at ", path, ")");
  throw error(invalid_argument_error(what));
}

}  // namespace

std::string plan_json(const node& n) {
  if (auto s = serialisable(n); !s.ok()) throw error(s);
  std::string out;
  json_printer(out).plan(n);
  return out;
}

node_ptr parse_plan_json(std::string_view text) {
  const argument document = detail::read_json(text);
  if (document.kind != argument::object)
    throw error(invalid_argument_error("a plan is an object, and this is " + document.shown()));
  node_ptr plan;
  try {
    plan = detail::build_plan(document, true);
  } catch (const misplaced& e) {
    if (!e.file_error.ok()) throw error(e.file_error);
    refuse(detail::with_plan(e.what, ""), document, e.at);
  }
  if (plan->lacks_path) throw error(invalid_argument_error("the plan is a reader: its source needs a path"));
  return plan;
}

}  // namespace sluice::lib
