// SPDX-License-Identifier: Apache-2.0
// The one source that knows nlohmann: including it costs a second.
#include "sluice/plan/json.hpp"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "plan/closest.hpp"
#include "sluice/base/utf8.hpp"
#include "sluice/plan/function.hpp"
#include "sluice/plan/text.hpp"

namespace sluice {

namespace {

using json = nlohmann::ordered_json;

[[noreturn]] void refuse(const std::string& what) { throw error(invalid_argument_error(what)); }

// --- Writing. ---

/// A path need not be UTF-8, but JSON must: then its bytes go as an array of numbers.
json written_text(const std::string& s) {
  if (is_utf8(s)) return s;
  json bytes = json::array();
  for (char c : s) bytes.push_back(static_cast<unsigned char>(c));
  return bytes;
}

/// Numbers and booleans as such, names and sizes as strings.
json written_field(const options& o, const field& f) {
  auto text = o.text(f);
  auto value = json::parse(text, nullptr, false);
  return value.is_number() || value.is_boolean() ? value : json(text);
}

json written(const node& n) {
  json j;
  j["op"] = n.op->name;
  if (n.has_text) j["text"] = written_text(n.text);
  if (n.function && !n.has_text) j["function"] = {{"name", n.function->name}, {"version", n.function->version}};
  for (auto& f : n.fields.list().fields)
    if (!n.fields.is_default(f)) j["fields"][std::string(f.name)] = written_field(n.fields, f);
  if (n.reader) j["reader"] = written(*n.reader);
  for (auto& input : n.inputs) j["inputs"].push_back(written(*input));
  return j;
}

// --- Reading. ---

const json& member_of(const json& j, const char* name, const std::string& where) {
  auto at = j.find(name);
  if (at == j.end()) refuse(absl::StrCat(where, " lacks \"", name, "\""));
  return *at;
}

std::string string_in(const json& j, const std::string& what) {
  if (!j.is_string()) refuse(absl::StrCat(what, " expects a string, and is ", j.dump()));
  return j.get<std::string>();
}

std::string read_text(const json& j, const std::string& op) {
  if (!j.is_array()) return string_in(j, op + ": text");
  std::string bytes;
  for (auto& b : j) {
    if (!b.is_number_unsigned() || b.get<std::uint64_t>() > 255) refuse(op + ": text expects a string or bytes");
    bytes += static_cast<char>(b.get<unsigned>());
  }
  return bytes;
}

void read_field(const json& value, const field& f, const std::string& op, options& fields) {
  bool is_plain = value.is_string() || value.is_number() || value.is_boolean();
  auto text = value.is_string() ? value.get<std::string>() : value.dump();
  auto expected = is_plain ? f.type->read(fields.at(f), text, false) : "a value";
  if (!expected.empty())
    refuse(absl::StrCat(op, ": ", std::string(f.name), " expects ", expected, ", and is ", value.dump()));
}

void read_fields(const json& j, const std::string& op, options& fields) {
  if (!j.is_object()) refuse(op + ": fields expects an object");
  for (auto& [name, value] : j.items()) {
    auto* f = fields.list().find(name);
    if (!f) refuse(absl::StrCat(op, ": has no ", name));
    read_field(value, *f, op, fields);
  }
}

function_ptr read_function(const json& j, const op_info& op) {
  std::string where(op.name);
  if (!j.is_object()) refuse(where + ": function expects an object");
  auto name = string_in(member_of(j, "name", where + ": function"), where + ": function");
  auto& version = member_of(j, "version", where + ": function");
  auto forms = find_functions(name);
  if (forms.empty())
    refuse(absl::StrCat(where, ": no function is registered as ", name, detail::did_you_mean(name, function_names())));
  if (version != forms[0]->version)
    refuse(absl::StrCat(where, ": the plan wants version ", version.dump(), " of ", name, ", and this program has ",
                        forms[0]->version));
  for (auto& f : forms)
    if (op.accepts && op.accepts(*f)) return f;
  refuse(absl::StrCat(where, ": ", name, " cannot be its function"));
}

node_ptr read(const json& j, std::uint32_t depth) {
  if (depth > kPlanDepthMax) refuse(absl::StrCat("the plan is more than ", kPlanDepthMax, " stages deep"));
  if (!j.is_object()) refuse("a plan is an object, and this is " + j.dump().substr(0, 40));
  auto name = string_in(member_of(j, "op", "a plan"), "op");
  node n;
  n.op = find_op(name);
  if (!n.op) {
    std::vector<std::string> names;
    for (auto* op : known_operators()) names.emplace_back(op->name);
    refuse(absl::StrCat(name, ": no such stage", detail::did_you_mean(name, names)));
  }
  n.fields = options(n.op->fields());
  for (auto& [key, value] : j.items()) {
    if (key == "text") n.text = read_text(value, name), n.has_text = true;
    else if (key == "fields") read_fields(value, name, n.fields);
    else if (key == "function") n.function = read_function(value, *n.op);
    else if (key == "reader") n.reader = read(value, depth + 1);
    else if (key == "inputs" && value.is_array()) {
      for (auto& input : value) n.inputs.push_back(read(input, depth + 1));
    } else if (key != "op") refuse(absl::StrCat(name, ": a stage has no \"", key, "\""));
  }
  return make_node(std::move(n));
}

}  // namespace

std::string plan_json(const node& n) {
  if (auto s = serialisable(n); !s.ok()) throw error(s);
  return written(n).dump();
}

node_ptr parse_plan_json(std::string_view text) {
  json j;
  // What reads, prints and destroys values is recursive; a plan's stages stand two values below each other.
  auto not_too_deep = [](int depth, json::parse_event_t, const json&) {
    if (depth > static_cast<int>(2 * kPlanDepthMax + 4))
      refuse(absl::StrCat("the plan is more than ", kPlanDepthMax, " stages deep"));
    return true;
  };
  try {
    j = json::parse(text, not_too_deep);
  } catch (const json::exception& e) { refuse(absl::StrCat("the plan is not JSON: ", e.what())); }
  return read(j, 1);
}

}  // namespace sluice
