// SPDX-License-Identifier: Apache-2.0
#include "sluice/plan/json.hpp"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plan/closest.hpp"
#include "plan/json_value.hpp"
#include "sluice/base/utf8.hpp"
#include "sluice/element/type.hpp"
#include "sluice/plan/function.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib {

namespace {

using detail::json_value;

// --- Writing. ---

/// A path need not be UTF-8, but JSON must: then its bytes go as an array of numbers.
void write_text(const std::string& s, std::string& out) {
  if (is_utf8(s)) return print_json_text(s, out);
  char before = '[';
  for (char c : s) {
    out += before;
    absl::StrAppend(&out, static_cast<unsigned char>(c));
    before = ',';
  }
  out += ']';
}

/// Numbers and booleans as such, names and sizes as strings.
void write_field(const std::string& text, std::string& out) {
  bool is_number =
      text.find_first_not_of("0123456789+-.e") == text.npos && text.find_first_of("0123456789") != text.npos;
  if (is_number || text == "true" || text == "false") out += text;
  else print_json_text(text, out);
}

void write_fields(const options& o, std::string& out) {
  bool some = false;
  for (auto& f : o.list().fields) {
    if (o.is_default(f)) continue;
    out += some ? "," : ",\"fields\":{";
    some = true;
    print_json_name(f.name, out);
    out += ':';
    write_field(o.text(f), out);
  }
  if (some) out += '}';
}

void write(const node& n, std::string& out) {
  out += "{\"op\":";
  print_json_text(n.op->name, out);
  if (n.has_text) {
    out += ",\"text\":";
    write_text(n.text, out);
  }
  if (n.function && !n.has_text) {
    out += ",\"function\":{\"name\":";
    print_json_text(n.function->name, out);
    absl::StrAppend(&out, ",\"version\":", n.function->version, "}");
  }
  write_fields(n.fields, out);
  if (n.reader) {
    out += ",\"reader\":";
    write(*n.reader, out);
  }
  if (!n.inputs.empty()) {
    out += ",\"inputs\":";
    char before = '[';
    for (auto& input : n.inputs) {
      out += before;
      write(*input, out);
      before = ',';
    }
    out += ']';
  }
  out += '}';
}

// --- Reading. ---

/// A refusal that says where in the JSON it is; thrown once, and let through by the stages above.
struct placed_error : error {
  using error::error;
};

/// Which of the plans inside of the plan is being read.
struct place {
  const place* above = nullptr;
  std::string_view member{};  ///< "reader", "inputs"; empty: the outermost
  std::size_t index = 0;

  [[noreturn]] void refuse(std::string what) const {
    if (above) absl::StrAppend(&what, " (at ", path(), ")");
    throw placed_error(invalid_argument_error(what));
  }
  /// "inputs[0].reader"; of a long one the end.
  std::string path() const {
    constexpr std::size_t kShownMax = 100;
    std::string out;
    for (auto* p = this; p->above; p = p->above) {
      std::string step(p->member);
      if (p->member == "inputs") absl::StrAppend(&step, "[", p->index, "]");
      out = out.empty() ? step : absl::StrCat(step, ".", out);
      if (out.size() > kShownMax) return absl::StrCat("….", out);
    }
    return out;
  }
};

class plan_reader {
 public:
  plan_reader(const json_value& j, const place& at) : j_(j), at_(at) {}

  node_ptr read() {
    if (j_.kind != json_value::object) at_.refuse("a plan is an object, and this is " + j_.shown());
    find_operator();
    for (auto& [key, value] : j_.members) read_member(key, value);
    try {
      return make_node(std::move(node_));
    } catch (const error& e) { at_.refuse(std::string(e.why().message())); }
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { at_.refuse(absl::StrCat(name_, ": ", what)); }

  std::string string_in(const json_value& v, const std::string& what) const {
    if (v.kind != json_value::string) at_.refuse(absl::StrCat(what, " expects a string, and is ", v.shown()));
    return v.text;
  }

  void find_operator() {
    const json_value* op = nullptr;
    for (auto& [key, value] : j_.members)
      if (key == "op") {
        if (op) at_.refuse("\"op\" is given twice");
        op = &value;
      }
    if (!op) at_.refuse("a plan lacks \"op\"");
    name_ = string_in(*op, "op");
    node_.op = find_op(name_);
    if (!node_.op) {
      std::vector<std::string> names;
      for (auto* known : known_operators()) names.emplace_back(known->name);
      fail(absl::StrCat("no such stage", detail::did_you_mean(name_, names)));
    }
    node_.fields = options(node_.op->fields());
  }

  void read_member(const std::string& key, const json_value& value) {
    bool twice = false;
    if (key == "text") {
      twice = node_.has_text;
      read_text(value);
    } else if (key == "fields") {
      twice = std::exchange(has_fields_, true);
      read_fields(value);
    } else if (key == "function") {
      twice = node_.function != nullptr;
      read_function(value);
    } else if (key == "reader") {
      twice = node_.reader != nullptr;
      place inside{&at_, "reader"};
      node_.reader = plan_reader(value, inside).read();
    } else if (key == "inputs") {
      twice = std::exchange(has_inputs_, true);
      read_inputs(value);
    } else if (key != "op") {
      fail(absl::StrCat("a stage has no \"", key, "\""));
    }
    if (twice) fail(absl::StrCat("\"", key, "\" is given twice"));
  }

  void read_text(const json_value& v) {
    bool is_bytes = v.kind == json_value::bytes || (v.kind == json_value::list && v.items.empty());
    if (!is_bytes && v.kind != json_value::string)
      fail(absl::StrCat("text expects a string, or a list of bytes, and is ", v.shown()));
    node_.text = v.text;
    node_.has_text = true;
  }

  void read_fields(const json_value& v) {
    if (v.kind != json_value::object) fail("fields expects an object, and is " + v.shown());
    std::vector<const field*> given;  // at most as many as there are fields: a further one is unknown or twice
    for (auto& [name, value] : v.members) {
      auto* f = node_.fields.list().find(name);
      if (!f) fail("has no " + name);
      if (std::find(given.begin(), given.end(), f) != given.end()) fail(name + " is given twice");
      given.push_back(f);
      read_field(value, *f);
    }
  }

  void read_field(const json_value& v, const field& f) {
    bool is_plain = v.kind == json_value::string || v.kind == json_value::number || v.kind == json_value::boolean;
    // Nothing reads an empty text in quotes: that asks for the words.
    auto expected = f.type->read(node_.fields.at(f), is_plain ? v.text : std::string(), !is_plain);
    if (!expected.empty()) fail(absl::StrCat(std::string(f.name), " expects ", expected, ", and is ", v.shown()));
  }

  void read_function(const json_value& v) {
    if (v.kind != json_value::object) fail("function expects an object, and is " + v.shown());
    const json_value *name = nullptr, *version = nullptr;
    for (auto& [key, value] : v.members) {
      auto*& member = key == "name" ? name : version;
      if (key != "name" && key != "version") fail(absl::StrCat("a function has no \"", key, "\""));
      if (member) fail(absl::StrCat("function: \"", key, "\" is given twice"));
      member = &value;
    }
    if (!name || !version) fail(absl::StrCat("function lacks \"", name ? "version" : "name", "\""));
    node_.function = function_named(string_in(*name, name_ + ": function"), *version);
  }

  function_ptr function_named(const std::string& name, const json_value& version) {
    auto forms = find_functions(name);
    if (forms.empty())
      fail(absl::StrCat("no function is registered as ", name, detail::did_you_mean(name, function_names())));
    if (version.kind != json_value::number || version.text != std::to_string(forms[0]->version))
      fail(absl::StrCat("the plan wants version ", version.shown(), " of ", name, ", and this program has ",
                        forms[0]->version));
    for (auto& f : forms)
      if (node_.op->accepts && node_.op->accepts(*f)) return f;
    fail(name + " cannot be its function");
  }

  void read_inputs(const json_value& v) {
    if (v.kind != json_value::list) fail("inputs expects a list, and is " + v.shown());
    for (std::size_t i = 0; i != v.items.size(); ++i) {
      place inside{&at_, "inputs", i};
      node_.inputs.push_back(plan_reader(v.items[i], inside).read());
    }
  }

  const json_value& j_;
  const place& at_;
  std::string name_;
  bool has_fields_ = false, has_inputs_ = false;
  node node_;
};

}  // namespace

std::string plan_json(const node& n) {
  if (auto s = serialisable(n); !s.ok()) throw error(s);
  std::string out;
  write(n, out);
  return out;
}

node_ptr parse_plan_json(std::string_view text) {
  json_value j = detail::read_json(text);
  place outermost;
  auto plan = plan_reader(j, outermost).read();
  if (plan->lacks_path) outermost.refuse("the plan is a reader: its source needs a path");
  return plan;
}

}  // namespace sluice::lib
