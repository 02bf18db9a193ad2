// SPDX-License-Identifier: Apache-2.0
// The one source that knows nlohmann: including it costs a second. Its own documents are not used: they look keys up in
// a list and go through all of an array's elements after each of them, so that large plans take quadratic time.
#include "plan/json_value.hpp"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "sluice/base/status.hpp"
#include "sluice/element/type.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib::detail {

namespace {

[[noreturn]] void refuse(const std::string& what) { throw error(invalid_argument_error(what)); }

/// Receives the parser's events. Throws what it refuses.
class builder {
 public:
  using json = nlohmann::json;
  json_value take() { return std::move(root_); }

  bool null() { return put({json_value::null, "null"}); }
  bool boolean(bool v) { return put({json_value::boolean, v ? "true" : "false"}); }
  bool number_integer(json::number_integer_t v) { return put({json_value::number, absl::StrCat(v)}); }
  bool number_float(json::number_float_t, const std::string& spelled) { return put({json_value::number, spelled}); }
  bool string(std::string& v) { return put({json_value::string, std::move(v)}); }
  bool binary(json::binary_t&) { return false; }  // JSON has none
  bool number_unsigned(json::number_unsigned_t v) {
    if (open_.empty() || !is_list(open_.back()->kind)) return put({json_value::number, absl::StrCat(v)});
    auto& list = *open_.back();
    if (v > 255 || !list.items.empty()) refuse_list();
    list.kind = json_value::bytes;
    list.text += static_cast<char>(v);
    return true;
  }

  bool start_object(std::size_t) { return open({json_value::object, {}}); }
  bool start_array(std::size_t) { return open({json_value::list, {}}); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& k) {
    open_.back()->members.emplace_back(std::move(k), json_value());
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const json::exception& e) {
    std::string_view what = e.what();  // "[json.exception.parse_error.101] parse error at line 1, column 2: …"
    auto id_end = what.find("] ");
    if (id_end != what.npos) what.remove_prefix(id_end + 2);
    std::string shown(what.substr(0, kShownMax));
    refuse(absl::StrCat("the plan is not JSON: ", shown, what.size() > kShownMax ? "…" : ""));
  }

 private:
  static constexpr std::size_t kShownMax = 300;  // the parser tells the whole last token, which may be long

  static bool is_list(json_value::kind_type k) { return k == json_value::list || k == json_value::bytes; }
  [[noreturn]] static void refuse_list() {
    refuse("a list in a plan holds inputs, which are objects, or the bytes of a text, which are numbers up to 255");
  }

  /// Where the next value goes. A list's items move while it grows, but only those that are closed.
  json_value& place() {
    if (open_.empty()) return root_;
    auto& in = *open_.back();
    return in.kind == json_value::object ? in.members.back().second : in.items.emplace_back();
  }
  bool put(json_value v) {
    if (!open_.empty() && is_list(open_.back()->kind)) refuse_list();
    place() = std::move(v);
    return true;
  }
  bool open(json_value v) {
    if (open_.size() == kJsonDepthMax) refuse(absl::StrCat("the plan is more than ", kPlanDepthMax, " stages deep"));
    bool in_list = !open_.empty() && is_list(open_.back()->kind);
    if (in_list && (v.kind != json_value::object || open_.back()->kind == json_value::bytes)) refuse_list();
    auto& at = place();
    at = std::move(v);
    open_.push_back(&at);
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  json_value root_;
  std::vector<json_value*> open_;
};

}  // namespace

std::string json_value::shown() const {
  switch (kind) {
    case object: return "an object";
    case list:
    case bytes: return "a list";
    case string: {
      std::string out;
      print_json_text(text, out);
      return out;
    }
    default: return text;
  }
}

json_value read_json(std::string_view text) {
  if (text.size() > kPlanBytesMax)
    refuse(
        absl::StrCat("the plan has ", text.size(), " bytes, more than the ", kPlanBytesMax, " that a plan may have"));
  builder b;
  nlohmann::json::sax_parse(text.begin(), text.end(), &b);
  return b.take();
}

}  // namespace sluice::lib::detail
