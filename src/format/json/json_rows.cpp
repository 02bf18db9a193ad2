// SPDX-License-Identifier: Apache-2.0
#include "format/json/json_rows.hpp"

#include <absl/container/flat_hash_map.h>
#include <absl/strings/escaping.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "element/build.hpp"
#include "element/member_finder.hpp"
#include "element/path.hpp"
#include "element/scalars.hpp"
#include "format/json/large_numbers.hpp"
#include "format/json/plain_json.hpp"
#include "sluice/base/utf8.hpp"
#include "sluice/element/type_text.hpp"

#if SLUICE_HAVE_SIMDJSON
#include "element/text/scan_text.hpp"
#include "format/json/json_elements.hpp"
#include "format/json/json_numbers.hpp"
#include "format/json/json_values.hpp"
#include "format/json/json_words.hpp"
#endif

namespace sluice::lib {

#if SLUICE_HAVE_SIMDJSON

namespace {

using detail::path;
using namespace json;
using json_kind = simdjson::dom::element_type;

constexpr std::size_t kJsonDepthMax = 64;

/// Refuses a number that the inferred type would round.
[[noreturn]] void refuse_rounding(const path& at, const std::string& what) {
  throw error(out_of_range_error(at.prefix() + what));
}
status json_error(simdjson::error_code code, std::string_view text) {
  if (code != simdjson::UTF8_ERROR)
    if (const std::string why = explained_mistake(text); !why.empty())
      return invalid_argument_error("not JSON: " + why);
  if (code == simdjson::TAPE_ERROR)
    return invalid_argument_error("not JSON: a comma, a bracket, a quote or a key is missing or superfluous");
  return invalid_argument_error(absl::StrCat("not JSON: ", simdjson::error_message(code)));
}

/// A parser uses about 14 bytes for each byte of the longest text that it has read. A parser that has read a longer
/// text than this is freed.
constexpr std::size_t kParserKeptBytes = std::size_t{1} << 20;

/// Parses a text. The result is valid until the parser's next text.
status parse_json(simdjson::dom::parser& parser, std::string_view text, std::size_t behind, dom& to) {
  const bool must_copy = behind < simdjson::SIMDJSON_PADDING;
  auto code = parser.parse(text.data(), text.size(), must_copy).get(to);
  if (code == simdjson::SUCCESS) return {};
  const std::string marked = with_numbers_marked(text, marked_numbers::large);
  if (!marked.empty()) code = parser.parse(marked.data(), marked.size(), true).get(to);
  return code == simdjson::SUCCESS ? status() : json_error(code, text);
}

// --- Inferring types ---

struct json_shape {
  enum form_type : std::uint8_t { none, boolean, whole, number, text, list, object } form = none;
  bool is_nullable = false;
  bool has_negative = false, has_large = false;  ///< whole numbers below 0, and above the range of int64
  bool has_word = false;  ///< "NaN", "Infinity" or "-Infinity", which print() writes for a double
  std::string inexact{};  ///< the first whole number that no double represents
  std::size_t seen = 0;   ///< the number of objects
  std::vector<std::string> names{};
  absl::flat_hash_map<std::string, std::size_t> numbers{};  ///< the index of each name
  std::vector<json_shape> parts{};  ///< the shapes of an object's members, or one of a list's items

  static constexpr std::string_view kNames[] = {"null", "bool", "int64", "double", "string", "a list", "an object"};

  void look_at(const dom& j, const path& at, std::size_t depth) {
    if (depth > kJsonDepthMax) refuse_json(at, "nested deeper than 64");
    if (j.is_null()) {
      is_nullable = true;
      return;
    }
    if (const std::string number(number_in_words(j)); !number.empty())
      refuse_rounding(at, absl::StrCat(number, std::isinf(double_of_large_number(number))
                                                   ? " is beyond all doubles"
                                                   : " is no number of 64 bits, and a double would round it"));
    if (std::string_view word;
        (form == none || form == whole || form == number) && j.get(word) == simdjson::SUCCESS && is_number_word(word)) {
      has_word = true;
      if (form == whole) look_at_real(at);
      return;
    }
    const form_type other = form_of(j);
    if (has_word && other == text && form == none) has_word = false;  // the words are texts, as the others
    if (has_word && other != whole && other != number)
      refuse_json(at, absl::StrCat("\"NaN\" or \"Infinity\" before, and now ", shown_json(j)));
    const bool both_numbers = (form == whole || form == number) && (other == whole || other == number);
    if (form == none || both_numbers) form = std::max(form, other);
    if (form != other && !both_numbers)
      refuse_json(at, absl::StrCat(std::string(kNames[form]), " before, and now ", shown_json(j)));
    if (other == whole) look_at_whole(j);
    if (form == whole && has_word) form = number;
    if (form == number) refuse_inexact(at);
    if (has_negative && has_large)
      refuse_json(at,
                  "one number is negative and another above those of int64, and no whole number of 64 bits is both");
    if (form == list) {
      if (parts.empty()) parts.emplace_back();
      // named, because a result's own value dies with it
      const simdjson::dom::array items = j.get_array().value_unsafe();
      std::size_t i = 0;
      for (const dom& item : items) parts[0].look_at(item, at.item(i++), depth + 1);
    }
    if (form == object) look_at_members(j.get_object().value_unsafe(), at, depth);
  }
  /// Returns the shape of texts of an inferred type. The original values are unknown; int64 may have been negative.
  static json_shape of(const element_type& t) {
    json_shape s;
    switch (t.kind) {
      case kind::maybe:
        s = of(*t.element);
        s.is_nullable = true;
        break;
      case kind::scalar:
        s.form = &t == &type_of<bool>() ? boolean : &t == &type_of<double>() ? number : whole;
        s.has_negative = &t == &type_of<std::int64_t>();
        s.has_large = &t == &type_of<std::uint64_t>();
        break;
      case kind::list:
        s.form = list;
        s.parts.push_back(of(*t.element));
        break;
      case kind::structure:
        s.form = object;
        s.seen = 1;
        for (const member& m : t.members) {
          s.numbers.try_emplace(m.name, s.names.size());
          s.names.push_back(m.name);
          s.parts.push_back(of(*m.type));
        }
        break;
      default: s.form = text; break;
    }
    return s;
  }
  const element_type* type() const {
    const element_type* t = plain_type();
    return is_nullable && t ? maybe_of(t) : t;
  }

 private:
  void refuse_inexact(const path& at) const {
    if (!inexact.empty())
      refuse_rounding(
          at, absl::StrCat(inexact, " would be rounded: no double is that number, and others there are not whole"));
  }
  /// Whole numbers become doubles, as a value is no whole number.
  void look_at_real(const path& at) {
    form = number;
    refuse_inexact(at);
  }
  form_type form_of(const dom& j) const {
    switch (j.type()) {
      case json_kind::BOOL: return boolean;
      case json_kind::INT64:
      case json_kind::UINT64: return whole;
      case json_kind::DOUBLE: return number;
      case json_kind::STRING: return text;
      case json_kind::ARRAY: return list;
      default: return is_text(j) ? text : object;
    }
  }
  /// print() writes bytes that are not UTF-8 as an object. An object of that form with a text in UTF-8 is written by
  /// nobody for a text; it is one where the others are texts.
  bool is_text(const dom& j) const {
    std::string bytes;
    return form != object && bytes_of_base64(j, bytes) && (form == text || !is_utf8(bytes));
  }
  void look_at_whole(const dom& j) {
    constexpr double kTwoTo63 = 9223372036854775808.0;
    std::int64_t small = 0;
    bool is_exact = false;
    if (j.type() == json_kind::INT64 && j.get(small) == simdjson::SUCCESS) {
      const auto d = static_cast<double>(small);
      has_negative = has_negative || small < 0;
      is_exact = d < kTwoTo63 && static_cast<std::int64_t>(d) == small;
    } else {
      std::uint64_t large = 0;
      is_exact = j.get(large) == simdjson::SUCCESS && static_cast<double>(large) < 2 * kTwoTo63 &&
                 static_cast<std::uint64_t>(static_cast<double>(large)) == large;
      has_large = true;
    }
    if (!is_exact && inexact.empty()) inexact = shown_json(j);
  }
  void look_at_members(const simdjson::dom::object& fields, const path& at, std::size_t depth) {
    std::vector<bool> there(names.size());
    std::size_t due = 0;
    for (const auto& field : fields) {
      const std::string name(field.key);
      const bool is_due = due < names.size() && names[due] == name;
      const std::size_t k = is_due ? due : numbers.try_emplace(name, names.size()).first->second;
      due = k + 1;
      if (k == names.size()) {
        names.push_back(name);
        parts.emplace_back().is_nullable = seen != 0;
        there.push_back(false);
      }
      there[k] = true;
      parts[k].look_at(field.value, at.member(name), depth + 1);
    }
    for (std::size_t k = 0; k != names.size(); ++k) parts[k].is_nullable = parts[k].is_nullable || !there[k];
    ++seen;
  }
  const element_type* plain_type() const {
    if (form == none && has_word) return &type_of<double>();
    switch (form) {
      case boolean: return &type_of<bool>();
      case whole: return has_large ? &type_of<std::uint64_t>() : &type_of<std::int64_t>();
      case number: return &type_of<double>();
      case list: return parts.empty() ? nullptr : list_of(parts[0].type());
      case object: {
        std::vector<member> members;
        for (std::size_t k = 0; k != names.size(); ++k) members.push_back({names[k], 0, parts[k].type()});
        return struct_of("", std::move(members));
      }
      default: return &type_of<std::string>();  // also for nulls only
    }
  }
};

}  // namespace

namespace {

constexpr std::size_t kSchemaShownBytes = 400;

/// Returns the advice for a text with a member of several types: a schema without it.
std::string without_mixed_members(const element_type& inferred, const dom& j) {
  constexpr const char* kAny = "give one that declares or omits it";
  std::string schema, mixed;
  if (inferred.kind != kind::structure || !j.is_object()) return kAny;
  for (const member& m : inferred.members) {
    dom value;
    if (j.at_key(m.name).get(value) != simdjson::SUCCESS) continue;
    json_shape both = json_shape::of(*m.type);
    try {
      both.look_at(value, {}, 0);
      absl::StrAppend(&schema, schema.empty() ? "" : ", ", m.name, ": ", type_text(*both.type()));
    } catch (const error&) { absl::StrAppend(&mixed, mixed.empty() ? "" : ", ", m.name); }
  }
  if (schema.empty() && detail::is_identifier(mixed))
    return absl::StrCat(mixed, " has several types, which no schema reads");
  if (schema.empty() || mixed.empty() || schema.size() > kSchemaShownBytes) return kAny;
  return absl::StrCat(mixed, " has several types: give a schema without it, such as \"", schema, "\"");
}

/// Returns the advice for a text that does not fit the inferred type: the schema that fits it and the texts before it.
std::string way_out(const element_type& inferred, const dom& j) {
  json_shape both = json_shape::of(inferred);
  try {
    both.look_at(j, {}, 0);
  } catch (const error&) { return without_mixed_members(inferred, j); }
  const element_type* t = both.type();
  std::string schema = t ? type_text(*t) : std::string();
  if (t && t->kind == kind::structure) schema = schema.substr(1, schema.size() - 2);
  if (schema.size() > kSchemaShownBytes) schema = schema.substr(0, kSchemaShownBytes) + "…";
  return absl::StrCat("give one, such as \"", schema, "\"");
}

}  // namespace

struct json_row_reader::parts {
  const element_type& row;
  std::string inferred_from;
  bool is_strict;
  plain_json_rows plain{row};
  const element_type* built = nullptr;  ///< a structure of some of the row's members; null: all are built
  bool trust = false;
  simdjson::dom::parser parser{};
  simdjson::dom::parser spelled_parser{};  ///< of texts in which numbers are marked

  void make(void* to, dom& whole, std::string_view text, other_members others) {
    try {
      return make_from(to, whole, others);
    } catch (const needs_spelling&) {}
    dom spelled;
    const std::string marked = with_numbers_marked(text, marked_numbers::all_real);
    const auto code = spelled_parser.parse(marked).get(spelled);
    if (code != simdjson::SUCCESS) throw error(json_error(code, text));
    make_from(to, spelled, others);
  }
  void make_from(void* to, const dom& j, other_members others) const {
    if (built) make_some_json(*built, row, to, j, others, trust);
    else make_json(row, to, j, {}, others);
  }
};

json_row_reader::json_row_reader(const element_type& row, std::string inferred_from, bool is_strict)
    : parts_(new parts{row, std::move(inferred_from), is_strict}) {}

void json_row_reader::build_only(const element_type& built, bool trust) {
  parts_->built = &built;
  parts_->trust = trust;
  parts_->plain.build_only(built, trust);
}

status json_row_reader::read(std::string_view text, std::size_t behind, void* to) {
  const bool refuses_others = parts_->is_strict || !parts_->inferred_from.empty();
  if (parts_->plain.read(text, behind, refuses_others, to)) return {};
  return read_document(text, behind, to);
}

status json_row_reader::read_document(std::string_view text, std::size_t behind, void* to) {
  const bool is_inferred = !parts_->inferred_from.empty();
  const other_members others = is_inferred || parts_->is_strict ? other_members::refused : other_members::passed_over;
  dom whole;
  status why = parse_json(parts_->parser, text, behind, whole);
  try {
    if (why.ok()) parts_->make(to, whole, text, others);
  } catch (const error& e) {
    why = e.why();
    if (is_inferred && why.code() == status_code::invalid_argument)
      why = invalid_argument_error(absl::StrCat(std::string(why.message()), "; the schema was inferred from ",
                                                parts_->inferred_from, ": ", way_out(parts_->row, whole)));
    if (parts_->is_strict && why.code() == status_code::invalid_argument)
      why = invalid_argument_error(absl::StrCat(std::string(why.message()),
                                                "; the schema is strict: give one that declares what the lines have"));
  }
  if (parts_->parser.capacity() > kParserKeptBytes) parts_->parser = simdjson::dom::parser();
  if (parts_->spelled_parser.capacity() > kParserKeptBytes) parts_->spelled_parser = simdjson::dom::parser();
  return why;
}

struct json_text_check::parts {
  simdjson::dom::parser parser{};
};

json_text_check::json_text_check() : parts_(new parts) {}

status json_text_check::check(std::string_view text) {
  dom whole;
  status why = parse_json(parts_->parser, text, 0, whole);
  if (parts_->parser.capacity() > kParserKeptBytes) parts_->parser = simdjson::dom::parser();
  return why;
}

struct json_type_guess::parts {
  simdjson::dom::parser parser{};
  json_shape shape{};
  bool any = false;
};

json_type_guess::json_type_guess() : parts_(new parts) {}

status json_type_guess::look_at(std::string_view text) {
  dom whole;
  status why = parse_json(parts_->parser, text, 0, whole);
  if (!why.ok()) return why;
  json_shape seen = parts_->shape;  // a copy: a line that does not fit changes nothing
  try {
    seen.look_at(whole, {}, 0);
  } catch (const error& e) { return e.why(); }
  parts_->shape = std::move(seen);
  parts_->any = true;
  return {};
}

result<const element_type*> json_type_guess::type() const {
  const element_type* t = parts_->any ? parts_->shape.type() : nullptr;
  if (!t) return invalid_argument_error("no text exists to infer a type from");
  return t;
}

#else

namespace {
status no_simdjson() { return unimplemented_error("this library was built without simdjson, which reads JSON"); }
}  // namespace

struct json_row_reader::parts {};
json_row_reader::json_row_reader(const element_type&, std::string, bool) {}
void json_row_reader::build_only(const element_type&, bool) {}
status json_row_reader::read(std::string_view, std::size_t, void*) { return no_simdjson(); }
status json_row_reader::read_document(std::string_view, std::size_t, void*) { return no_simdjson(); }
struct json_text_check::parts {};
json_text_check::json_text_check() = default;
status json_text_check::check(std::string_view) { return no_simdjson(); }
struct json_type_guess::parts {};
json_type_guess::json_type_guess() = default;
status json_type_guess::look_at(std::string_view) { return no_simdjson(); }
result<const element_type*> json_type_guess::type() const { return no_simdjson(); }

#endif

json_row_reader::~json_row_reader() = default;
json_row_reader::json_row_reader(json_row_reader&&) noexcept = default;
json_text_check::~json_text_check() = default;
json_type_guess::~json_type_guess() = default;

status check_json_type(const element_type& t) {
  switch (t.kind) {
    case kind::scalar: return {};
    case kind::text: return t.make_texts ? status() : invalid_argument_error(t.name + " cannot be made of JSON");
    case kind::array:
    case kind::list:
    case kind::maybe: return check_json_type(*t.element);
    case kind::structure:
    case kind::pair:
    case kind::tuple:
      for (const member& m : t.members) {
        status why = check_json_type(*m.type);
        if (!why.ok()) return invalid_argument_error(absl::StrCat("member ", m.name, ": ", std::string(why.message())));
      }
      return {};
    default: return invalid_argument_error(t.name + " cannot be made of JSON");
  }
}

}  // namespace sluice::lib
