// SPDX-License-Identifier: Apache-2.0
// The only source that includes nlohmann, which costs a second of compile time. Its own documents are not used: they
// search keys in a list and traverse all elements of an array after each of them, so that large plans take quadratic
// time.
#include "plan/text/read_json.hpp"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "plan/plan_depth.hpp"
#include "sluice/base/status.hpp"
#include "sluice/plan/text.hpp"

namespace sluice::lib::detail {

namespace {

[[noreturn]] void refuse(const std::string& what) { throw error(invalid_argument_error(what)); }

/// Receives the parser's events. Throws on events that it rejects.
class builder {
 public:
  using json = nlohmann::json;
  argument take() { return std::move(root_); }

  bool null() { return put(argument::null, {}); }
  bool boolean(bool v) { return put(argument::word, v ? "true" : "false"); }
  bool number_integer(json::number_integer_t v) { return number(absl::StrCat(v)); }
  bool number_unsigned(json::number_unsigned_t v) { return number(absl::StrCat(v)); }
  bool number_float(json::number_float_t, const std::string& spelled) { return number(spelled); }
  bool string(std::string& v) { return put(argument::string, std::move(v)); }
  bool binary(json::binary_t&) { return false; }  // JSON has none

  bool start_object(std::size_t) {
    open(argument::object).at = ++objects_;
    return true;
  }
  bool start_array(std::size_t) {
    open(argument::list);
    return true;
  }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& k) {
    open_.back()->items.emplace_back().name = std::move(k);
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
  /// The additional depth allowed for nested objects and lists that are not stages.
  static constexpr std::size_t kDepthBesides = 20;
  static constexpr std::size_t kShownMax = 300;  // the parser prints the whole last token, which may be long

  /// Returns the place of the next value. A list's items move while it grows, but only items that are closed already.
  argument& place() {
    if (open_.empty()) return root_;
    argument& in = *open_.back();
    if (in.kind == argument::object) return in.items.back();
    if (in.kind == argument::numbers) {  // the list now gets an item of another kind
      std::vector<argument> items;
      items_of(in, items);
      in.items = std::move(items);
      in.text.clear();
      in.kind = argument::list;
    }
    return in.items.emplace_back();
  }
  bool put(argument::kind_type kind, std::string text) {
    argument& a = place();
    a.kind = kind;
    a.text = std::move(text);
    return true;
  }
  bool number(const std::string& spelled) {
    argument* in = open_.empty() ? nullptr : open_.back();
    bool is_first = in && in->kind == argument::list && in->items.empty();
    if (is_first) in->kind = argument::numbers;
    if (!in || in->kind != argument::numbers) return put(argument::number, spelled);
    if (!is_first) in->text += ',';
    in->text += spelled;
    return true;
  }
  argument& open(argument::kind_type kind) {
    if (open_.size() >= kDepthBesides &&
        !is_plan_depth_possible(static_cast<std::uint32_t>(open_.size() - kDepthBesides) / 2 + 1))
      refuse(absl::StrCat("the plan is more than ", plan_depth_limit_text()));
    argument& a = place();
    a.kind = kind;
    open_.push_back(&a);
    return a;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  argument root_;
  std::vector<argument*> open_;
  std::size_t objects_ = 0;
};

}  // namespace

argument read_json(std::string_view text) {
  if (text.size() > kPlanBytesMax)
    refuse(
        absl::StrCat("the plan has ", text.size(), " bytes, more than the ", kPlanBytesMax, " that a plan may have"));
  builder b;
  nlohmann::json::sax_parse(text.begin(), text.end(), &b);
  return b.take();
}

}  // namespace sluice::lib::detail
