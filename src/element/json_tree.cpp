// SPDX-License-Identifier: Apache-2.0
// Not nlohmann's own documents: they have no spelling of numbers (a float32 would be rounded twice).
#include "element/json_tree.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "sluice/base/status.hpp"

namespace sluice::lib::detail {

namespace {

[[noreturn]] void refuse_json(const std::string& what) { throw error(invalid_argument_error(what)); }

/// Receives the parser's events.
class tree_builder {
 public:
  using json = nlohmann::json;
  json_tree take() { return std::move(root_); }

  bool null() { return put(json_tree::null, {}); }
  bool boolean(bool v) { return put(json_tree::boolean, v ? "true" : "false"); }
  // Only what is spelled with a minus comes here: 0 was "-0".
  bool number_integer(json::number_integer_t v) { return put(json_tree::number, v == 0 ? "-0" : absl::StrCat(v)); }
  bool number_unsigned(json::number_unsigned_t v) { return put(json_tree::number, absl::StrCat(v)); }
  bool number_float(json::number_float_t, const std::string& spelled) { return put(json_tree::number, spelled); }
  bool string(std::string& v) { return put(json_tree::string, std::move(v)); }
  bool binary(json::binary_t&) { return false; }  // JSON has none
  bool start_object(std::size_t) { return open(json_tree::object); }
  bool start_array(std::size_t) { return open(json_tree::array); }
  bool end_object() {
    auto& names = open_.back()->names;
    std::vector<std::string_view> sorted(names.begin(), names.end());
    std::sort(sorted.begin(), sorted.end());
    auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) refuse_json(absl::StrCat("an object has the name ", std::string(*twice), " twice"));
    return end_array();
  }
  bool end_array() {
    open_.pop_back();
    return true;
  }
  bool key(std::string& k) {
    open_.back()->names.push_back(std::move(k));
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const json::exception& e) {
    std::string_view what = e.what();  // "[json.exception.parse_error.101] parse error at line 1, column 2: …"
    auto id_end = what.find("] ");
    if (id_end != what.npos) what.remove_prefix(id_end + 2);
    refuse_json(absl::StrCat("not JSON: ", std::string(what.substr(0, kShownMax)), what.size() > kShownMax ? "…" : ""));
  }

 private:
  static constexpr std::size_t kShownMax = 300;  // the parser tells the whole last token, which may be long

  // An array's items move while it grows, but only those that are closed.
  json_tree& place() { return open_.empty() ? root_ : open_.back()->items.emplace_back(); }
  bool put(json_tree::kind_type kind, std::string text) {
    json_tree& t = place();
    t.kind = kind;
    t.text = std::move(text);
    return true;
  }
  bool open(json_tree::kind_type kind) {
    if (open_.size() == kJsonTreeDepthMax)
      refuse_json(absl::StrCat("more than ", kJsonTreeDepthMax, " arrays and objects deep"));
    json_tree& t = place();
    t.kind = kind;
    open_.push_back(&t);
    return true;
  }

  json_tree root_;
  std::vector<json_tree*> open_;
};

}  // namespace

const json_tree* json_tree::find(std::string_view name) const {
  for (std::size_t k = 0; k != names.size(); ++k)
    if (names[k] == name) return &items[k];
  return nullptr;
}

std::string json_tree::shown() const {
  constexpr std::size_t kMax = 40;
  switch (kind) {
    case null: return "null";
    case boolean: return text;
    case number: return text.size() > kMax ? text.substr(0, kMax) + "…" : text;
    case string: {
      auto end = kMax;  // of a character
      while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
      return text.size() > end ? "\"" + text.substr(0, end) + "…\"" : "\"" + text + "\"";
    }
    case array: return absl::StrCat("an array of ", items.size());
    case object: return items.empty() ? "an empty object" : absl::StrCat("an object with ", names[0]);
  }
  return {};
}

json_tree read_json_tree(std::string_view text) {
  tree_builder b;
  nlohmann::json::sax_parse(text.begin(), text.end(), &b);
  return b.take();
}

}  // namespace sluice::lib::detail
