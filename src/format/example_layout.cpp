// SPDX-License-Identifier: Apache-2.0
#include "sluice/format/example_layout.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

#include "sluice/element/tensor.hpp"
#include "sluice/element/type_text.hpp"

namespace sluice::lib {
namespace {

constexpr std::size_t kValuesMax = std::size_t{1} << 20;

// --- Values of any kind ---

/// Calls f with the list of values of this kind.
template <class Values, class F> decltype(auto) with_list(Values& v, feature_kind kind, F f) {
  switch (kind) {
    case feature_kind::floats: return f(v.floats);
    case feature_kind::int64s: return f(v.int64s);
    default: return f(v.bytes);
  }
}

// --- Fields that only a text describes ---

/// V, a list of V, or an array of V, whose type knows its length.
template <class V> void describe_as(feature_slot& slot) {
  if (slot.form == field_form::list) detail::feature_field<std::vector<V>>::describe(slot);
  else detail::complete_slot<V>(slot);
}
/// Of an array without its functions.
template <class V> void describe_optional_as(feature_slot& slot) {
  if (slot.form == field_form::list) detail::feature_field<std::optional<std::vector<V>>>::describe(slot);
  else if (slot.form == field_form::single) detail::feature_field<std::optional<V>>::describe(slot);
  else detail::complete_slot<V>(slot);
}

/// Of an optional array, which has its length at run time only.
void reset_by_type(const feature_slot& slot, void* field) {
  const element_type& t = *slot.type;
  t.destroy(t, field, 1);
  t.construct(t, field, 1, t.size);
}
void* array_by_type(const feature_slot& slot, void* field, std::size_t) {
  const element_type &t = *slot.type, &array = *t.element;
  std::size_t n = 0;
  if (const void* there = t.items(t, field, n)) return const_cast<void*>(there);
  std::unique_ptr<char[]> room(new char[array.size]);  // of int64, float or strings: as aligned as new makes it
  array.construct(array, room.get(), 1, array.size);
  t.destroy(t, field, 1);
  t.collect(t, field, room.get(), 1, 1, array.size);
  array.destroy(array, room.get(), 1);
  return const_cast<void*>(t.items(t, field, n));
}

template <class F> auto with_value_type(feature_kind kind, F f) {
  switch (kind) {
    case feature_kind::floats: return f(std::type_identity<float>());
    case feature_kind::int64s: return f(std::type_identity<std::int64_t>());
    default: return f(std::type_identity<std::string>());
  }
}

// --- Reading ---

/// A feature as its text has it.
struct written_feature {
  std::size_t at = 0;
  feature_slot slot;
};

class schema_reader {
 public:
  explicit schema_reader(std::string_view text) : text_(text) {}

  std::vector<written_feature> read() {
    std::vector<written_feature> all;
    do {
      all.push_back(feature());
      for (std::size_t k = 0; k + 1 < all.size(); ++k) {
        const feature_slot &a = all[k].slot, &b = all.back().slot;
        if (a.name == b.name) fail(all.back().at, absl::StrCat("feature ", b.name, " is there twice"));
        if (a.member_name() == b.member_name())
          fail(all.back().at, absl::StrCat("member ", b.member_name(), " is there twice"));
      }
    } while (take(','));
    return all;
  }

  [[noreturn]] static void fail(std::size_t at, const std::string& why) {
    throw error(invalid_argument_error(absl::StrCat("column ", at + 1, ": ", why)));
  }

 private:
  written_feature feature() {
    skip_spaces();
    written_feature f;
    f.at = at_;
    read_name(f);
    read_type(f);
    if (take('=')) read_default(f);
    skip_spaces();
    if (!done() && peek() != ',')
      fail(at_, absl::StrCat("feature ", f.slot.name, ": expected a comma or the end, and found \"", rest(), "\""));
    return f;
  }

  void read_name(written_feature& f) {
    const std::size_t from = at_;
    while (!done() && peek() != ',' && peek() != ':' && !(peek() == '=' && source_follows())) ++at_;
    std::string name(absl::StripAsciiWhitespace(absl::string_view(text_.data() + from, at_ - from)));
    if (!name.empty() && take('=')) {
      f.slot.member = std::exchange(name, source(f));
      if (f.slot.member == name) f.slot.member.clear();
    }
    skip_spaces();
    f.slot.name = name;
    if (f.slot.member_name().empty() || !take(':'))
      fail(f.at, absl::StrCat("expected a feature such as label: int64, and found \"", until_comma(from), "\""));
  }

  /// 'name', sparse('values', 'index' …) or ragged('values', row_splits('splits') …). Returns the name of the values.
  std::string source(written_feature& f) {
    const bool is_sparse = take_word("sparse(");
    if (!is_sparse && !take_word("ragged(")) return quoted();
    f.slot.form = is_sparse ? field_form::sparse : field_form::ragged;
    std::string values = name_in_quotes();
    while (take(',')) f.slot.parts.push_back(is_sparse ? feature_part{.name = name_in_quotes()} : partition());
    if (f.slot.parts.empty())
      fail(at_, is_sparse ? "expected the feature of an index: sparse('values', 'index')"
                          : "expected how rows are parted: ragged('values', row_splits('splits'))");
    expect(')');
    return values;
  }
  feature_part partition() {
    using means = feature_part::means;
    static constexpr std::pair<std::string_view, means> kPartitions[] = {
        {"row_splits", means::row_splits}, {"row_lengths", means::row_lengths},   {"row_starts", means::row_starts},
        {"row_limits", means::row_limits}, {"value_rowids", means::value_rowids}, {"uniform", means::uniform}};
    feature_part part;
    auto named = std::find_if(std::begin(kPartitions), std::end(kPartitions),
                              [&](const auto& p) { return take_word(p.first); });
    if (named == std::end(kPartitions))
      fail(at_, absl::StrCat("expected row_splits('name'), row_lengths, row_starts, row_limits, value_rowids or "
                             "uniform(2), and found \"", rest(), "\""));
    part.meaning = named->second;
    expect('(');
    if (std::size_t n = 0; part.meaning != means::uniform) {
      part.name = name_in_quotes();
    } else {
      if (!number(n) || n == 0 || n > kValuesMax) fail(at_, absl::StrCat("uniform: \"", rest(), "\" is no length"));
      part.length = static_cast<std::int64_t>(n);
    }
    expect(')');
    return part;
  }
  std::string name_in_quotes() {
    skip_spaces();
    if (done() || (peek() != '\'' && peek() != '"'))
      fail(at_, absl::StrCat("expected the name of a feature in quotes, and found \"", rest(), "\""));
    return quoted();
  }
  void expect(char c) {
    if (!take(c)) fail(at_, absl::StrCat("expected ", std::string(1, c), ", and found \"", rest(), "\""));
  }

  void read_type(written_feature& f) {
    skip_spaces();
    const std::size_t from = at_;
    while (!done() && absl::ascii_isalnum(static_cast<unsigned char>(peek()))) ++at_;
    const std::string_view kind = text_.substr(from, at_ - from);
    if (kind == "bytes") f.slot.kind = feature_kind::bytes;
    else if (kind == "int64") f.slot.kind = feature_kind::int64s;
    else if (kind == "float") f.slot.kind = feature_kind::floats;
    else refuse_type(f, from);
    if (!f.slot.parts.empty()) return read_shape_of_parts(f, from);
    if (take('[') && !read_shape(f)) refuse_type(f, from);
    if (take('?')) {
      if (f.slot.form == field_form::tensor)
        fail(from, absl::StrCat("feature ", f.slot.name, ": a tensor that may be missing has a default, such as = 0"));
      f.slot.is_optional = true;
      f.slot.required = false;
    }
    skip_spaces();
    if (!done() && peek() != ',' && peek() != '=') refuse_type(f, from);
  }

  /// A sparse tensor has as many lengths as indices; a ragged one none.
  void read_shape_of_parts(written_feature& f, std::size_t from) {
    feature_slot& slot = f.slot;
    const field_form form = slot.form;
    const bool has_shape = take('[') && read_shape(f);
    if (has_shape && slot.form == field_form::array) slot.shape = {static_cast<std::int64_t>(slot.length)};
    const std::size_t wanted = form == field_form::sparse ? slot.parts.size() : 0;
    if (slot.shape.size() != wanted || slot.each != 1 || slot.form == field_form::list)
      fail(from, absl::StrCat("feature ", slot.name, form == field_form::sparse
                                  ? absl::StrCat(": a sparse tensor with ", wanted, " indices has ", wanted,
                                                 " lengths, such as float[1000]")
                                  : ": the type of a ragged tensor's values has no shape"));
    slot.form = form;
    slot.length = feature_slot::kAny;
    slot.required = false;
    skip_spaces();
    if (!done() && peek() != ',')
      fail(at_, absl::StrCat("feature ", slot.name, ": what is missing of a sparse or ragged tensor is empty; found \"",
                             rest(), "\""));
  }

  /// Behind the bracket.
  bool read_shape(written_feature& f) {
    if (take(']')) {
      f.slot.form = field_form::list;
      f.slot.length = feature_slot::kAny;
      return true;
    }
    std::size_t values = 1;
    do {
      std::size_t n = 0;
      if (f.slot.shape.empty() && take('?')) {
        f.slot.shape.push_back(feature_slot::kUnknown);
        continue;
      }
      if (!number(n) || n == 0 || n > kValuesMax || (values *= n) > kValuesMax) return false;
      f.slot.shape.push_back(static_cast<std::int64_t>(n));
    } while (take(','));
    if (!take(']') || f.slot.shape.size() > tensor_shape::kRankMax) return false;
    const bool is_open = f.slot.shape[0] == feature_slot::kUnknown;
    f.slot.length = is_open ? feature_slot::kAny : values;
    f.slot.each = is_open ? values : 1;
    f.slot.form = is_open || f.slot.shape.size() > 1 ? field_form::tensor : field_form::array;
    if (f.slot.form == field_form::array) f.slot.shape.clear();
    return true;
  }

  void read_default(written_feature& f) {
    feature_slot& slot = f.slot;
    if (slot.is_optional)
      fail(at_, absl::StrCat("feature ", slot.name, ": with a default it is never missing: leave out the ?"));
    auto values = std::make_shared<feature_values>();
    values->kind = slot.kind;
    skip_spaces();
    const std::size_t from = at_;
    const bool is_single = !take('[');
    if (is_single) {
      read_value(slot, *values);
    } else if (!take(']')) {
      do read_value(slot, *values);
      while (take(','));
      if (!take(']')) fail(at_, absl::StrCat("feature ", slot.name, ": expected ] behind its default values"));
    }
    if (is_single && slot.length != feature_slot::kAny)
      with_list(*values, slot.kind, [&](auto& list) { list.resize(slot.length, typename std::decay_t<decltype(list)>::value_type(list[0])); });
    if (!slot.takes(values->size()) || (is_single && slot.length == feature_slot::kAny))
      fail(from, absl::StrCat("feature ", slot.name, " has ", expected_values(slot), ", and its default ", values->size()));
    slot.required = false;
    slot.otherwise = std::move(values);
  }

  static std::string expected_values(const feature_slot& slot) {
    if (slot.length != feature_slot::kAny) return absl::StrCat(slot.length, slot.length == 1 ? " value" : " values");
    return slot.each == 1 ? "a list of values" : absl::StrCat("a list of a multiple of ", slot.each, " values");
  }

  void read_value(const feature_slot& slot, feature_values& to) {
    skip_spaces();
    const std::size_t from = at_;
    if (slot.kind == feature_kind::bytes) {
      if (done() || (peek() != '\'' && peek() != '"'))
        fail(from, absl::StrCat("feature ", slot.name, ": expected a text in quotes, and found \"", rest(), "\""));
      to.bytes.push_back(quoted());
      return;
    }
    while (!done() && (absl::ascii_isalnum(static_cast<unsigned char>(peek())) || peek() == '-' || peek() == '+' ||
                       peek() == '.'))
      ++at_;
    const char *first = text_.data() + from, *last = text_.data() + at_;
    auto read = [&](auto& n) {
      auto got = std::from_chars(first, last, n);
      if (first == last || got.ec != std::errc() || got.ptr != last)
        fail(from, absl::StrCat("feature ", slot.name, ": \"", first == last ? rest() : std::string(first, last),
                                "\" is no ", std::string(to_string(slot.kind))));
    };
    if (slot.kind == feature_kind::floats) read(to.floats.emplace_back());
    else read(to.int64s.emplace_back());
  }

  /// '…' or "…".
  std::string quoted() {
    skip_spaces();
    const std::size_t from = at_;
    const char quote = text_[at_++];
    std::string out;
    while (!done() && text_[at_] != quote) {
      char c = text_[at_++];
      if (c == '\\') {
        if (done()) break;
        c = text_[at_++];
        if (c == 'n') c = '\n';
        else if (c == 't') c = '\t';
        else if (c == 'x') c = hex(from);
        else if (c != '\\' && c != '\'' && c != '"') fail(at_ - 2, "there is no escape \\" + std::string(1, c));
      }
      out += c;
    }
    if (done()) fail(from, "the text is not ended");
    ++at_;
    return out;
  }
  char hex(std::size_t from) {
    unsigned char value = 0;
    if (at_ + 2 > text_.size() ||
        std::from_chars(text_.data() + at_, text_.data() + at_ + 2, value, 16).ptr != text_.data() + at_ + 2)
      fail(from, "\\x is followed by two hexadecimal digits");
    at_ += 2;
    return static_cast<char>(value);
  }

  [[noreturn]] void refuse_type(const written_feature& f, std::size_t from) {
    fail(from, absl::StrCat("feature ", f.slot.name,
                            " is bytes, int64 or float, then nothing, [], [16], [28,28], [?,64], ? where it may be "
                            "missing; and \"",
                            until_comma(from), "\" is none of these"));
  }

  bool done() const { return at_ == text_.size(); }
  char peek() const { return text_[at_]; }
  void skip_spaces() {
    while (!done() && absl::ascii_isspace(static_cast<unsigned char>(peek()))) ++at_;
  }
  bool take(char c) {
    skip_spaces();
    if (done() || peek() != c) return false;
    ++at_;
    return true;
  }
  /// Behind a '='.
  bool source_follows() const {
    std::size_t k = at_ + 1;
    while (k < text_.size() && absl::ascii_isspace(static_cast<unsigned char>(text_[k]))) ++k;
    const std::string_view rest = text_.substr(k);
    return rest.starts_with('\'') || rest.starts_with('"') || rest.starts_with("sparse(") || rest.starts_with("ragged(");
  }
  bool take_word(std::string_view word) {
    skip_spaces();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  bool number(std::size_t& n) {
    skip_spaces();
    auto got = std::from_chars(text_.data() + at_, text_.data() + text_.size(), n);
    if (got.ec != std::errc()) return false;
    at_ = static_cast<std::size_t>(got.ptr - text_.data());
    return true;
  }
  std::string until_comma(std::size_t from) const {
    return std::string(absl::StripAsciiWhitespace(
        absl::string_view(text_.data() + from, std::min(text_.find(',', from), text_.size()) - from)));
  }
  std::string rest() const { return until_comma(at_); }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// The type of its member, and how its values get there.
const element_type* describe_field(feature_slot& slot) {
  if (slot.form == field_form::tensor) return &type_of<tensor>();
  if (slot.form == field_form::sparse) return &type_of<sparse_tensor>();
  if (slot.form == field_form::ragged) return &type_of<ragged_tensor>();
  return with_value_type(slot.kind, [&]<class V>(std::type_identity<V>) -> const element_type* {
    const bool is_required = slot.required;
    if (slot.is_optional) describe_optional_as<V>(slot);
    else describe_as<V>(slot);
    slot.required = is_required;
    if (slot.form == field_form::single) return slot.is_optional ? &type_of<std::optional<V>>() : &type_of<V>();
    if (slot.form == field_form::list)
      return slot.is_optional ? &type_of<std::optional<std::vector<V>>>() : &type_of<std::vector<V>>();
    const element_type* array = array_of(&type_of<V>(), slot.length);
    if (!slot.is_optional) return array;
    slot.resize = array_by_type;
    slot.reset = reset_by_type;
    return slot.type = maybe_of(array);
  });
}

// --- Writing ---

void append_quoted(std::string_view text, std::string& out) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += '\'';
  for (char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (c == '\'' || c == '\\') {
      out += '\\';
      out += c;
    } else if (u < 0x20 || u >= 0x7F) {
      out += "\\x";
      out += kHex[u >> 4];
      out += kHex[u & 15];
    } else {
      out += c;
    }
  }
  out += '\'';
}

void append_value(const std::string& v, std::string& out) { append_quoted(v, out); }
template <class T> void append_value(T v, std::string& out) {
  char room[32];
  out.append(room, std::to_chars(room, room + sizeof room, v).ptr);
}

template <class List> void append_default(const feature_slot& slot, const List& list, std::string& out) {
  const bool is_single = slot.length != feature_slot::kAny &&
                         std::all_of(list.begin(), list.end(), [&](const auto& v) { return v == list[0]; });
  if (is_single) return append_value(list[0], out);
  out += '[';
  for (const auto& v : list) {
    if (&v != list.data()) out += ", ";
    append_value(v, out);
  }
  out += ']';
}

void append_shape(const feature_slot& slot, std::string& out) {
  if (!slot.shape.empty()) {
    for (std::size_t k = 0; k != slot.shape.size(); ++k)
      absl::StrAppend(&out, k == 0 ? "[" : ",", slot.shape[k] < 0 ? "?" : std::to_string(slot.shape[k]));
    out += ']';
  } else if (slot.form == field_form::list) {
    out += "[]";
  } else if (slot.form == field_form::array) {
    absl::StrAppend(&out, "[", slot.length, "]");
  }
}

void append_parts(const feature_slot& slot, std::string& out) {
  static constexpr std::string_view kNames[] = {"",           "row_splits",   "row_lengths", "row_starts",
                                                "row_limits", "value_rowids", "uniform"};
  out += slot.form == field_form::sparse ? " = sparse(" : " = ragged(";
  append_quoted(slot.name, out);
  for (const feature_part& part : slot.parts) {
    out += ", ";
    const bool is_call = part.meaning != feature_part::means::index;
    if (is_call) out.append(kNames[static_cast<std::size_t>(part.meaning)]) += '(';
    if (part.meaning == feature_part::means::uniform) absl::StrAppend(&out, part.length);
    else append_quoted(part.name, out);
    if (is_call) out += ')';
  }
  out += ')';
}

/// What a feature is, without its name and its default: "float[28,28]".
std::string type_of_feature(const feature_slot& slot) {
  std::string out(to_string(slot.kind));
  append_shape(slot, out);
  if (slot.is_optional) out += '?';
  return out;
}

// --- A structure of the program, with a text ---

std::string example_of(const feature_slot& slot) {
  switch (slot.form) {
    case field_form::sparse: return slot.member_name() + " = sparse('values', 'indices'): float[1000]";
    case field_form::ragged: return slot.member_name() + " = ragged('values', row_splits('splits')): float";
    default: return slot.member_name() + ": float[28,28]";
  }
}

/// Does no C++ type say of what values and shape it is?
bool is_said_by_text(const feature_slot& slot) {
  return slot.form == field_form::tensor || slot.form == field_form::sparse || slot.form == field_form::ragged;
}

bool is_same_field(const feature_slot& a, const feature_slot& b) {
  if (a.form != b.form) return false;
  return is_said_by_text(a) || (a.kind == b.kind && a.length == b.length && a.is_optional == b.is_optional);
}

std::string name_of_field(const feature_slot& slot) {
  switch (slot.form) {
    case field_form::tensor: return "a tensor";
    case field_form::sparse: return "a sparse_tensor";
    case field_form::ragged: return "a ragged_tensor";
    default: return type_of_feature(slot);
  }
}

/// What the text says of a member, into its slot.
void say(const written_feature& f, feature_slot& slot) {
  const feature_slot& said = f.slot;
  if (!is_same_field(said, slot))
    schema_reader::fail(f.at, absl::StrCat("member ", said.member_name(), ": the schema says ",
                                           said.parts.empty() ? type_of_feature(said) : name_of_field(said),
                                           ", and the structure has ",
                                           name_of_field(slot)));
  slot.member = said.member_name() == said.name ? "" : said.member_name();
  slot.name = said.name;
  slot.required = said.required;
  slot.otherwise = said.otherwise;
  if (!is_said_by_text(slot)) return;
  slot.parts = said.parts;
  slot.kind = said.kind;
  slot.shape = said.shape;
  slot.length = said.length;
  slot.each = said.each;
}

}  // namespace

result<example_layout> layout_of(std::string_view schema_text) {
  try {
    std::vector<member> members;
    std::vector<feature_slot> slots;
    for (written_feature& f : schema_reader(schema_text).read()) {
      members.push_back({f.slot.member_name(), 0, describe_field(f.slot)});
      slots.push_back(std::move(f.slot));
    }
    example_layout layout;
    layout.type = struct_of("example", std::move(members));
    for (std::size_t i = 0; i < slots.size(); ++i) slots[i].offset = layout.type->members[i].offset;
    layout.schema = example_schema(std::move(slots));
    return layout;
  } catch (const error& e) { return e.why(); }
}

result<example_schema> schema_of(const element_type& type, const example_schema& own, std::string_view schema_text) {
  try {
    std::vector<feature_slot> slots = own.slots();  // of a structure, without parts
    for (const written_feature& f : schema_reader(schema_text).read()) {
      auto named = std::find_if(slots.begin(), slots.end(), [&](const feature_slot& s) {
        return own.slots()[static_cast<std::size_t>(&s - slots.data())].member_name() == f.slot.member_name();
      });
      if (named == slots.end())
        schema_reader::fail(f.at, absl::StrCat(type.name, " has no member ", f.slot.member_name()));
      say(f, *named);
    }
    for (const feature_slot& slot : slots) {
      if (is_said_by_text(slot) && slot.kind == feature_kind::none)
        return invalid_argument_error(absl::StrCat("member ", slot.member_name(), " is ", name_of_field(slot),
                                                   ", and the schema does not say of what: ", example_of(slot)));
      for (const feature_slot& other : slots)
        if (&other != &slot && other.name == slot.name)
          return invalid_argument_error(absl::StrCat("feature ", slot.name, " is of the members ", slot.member_name(),
                                                     " and ", other.member_name()));
    }
    return example_schema(std::move(slots));
  } catch (const error& e) { return e.why(); }
}

std::string schema_text(const example_schema& schema) {
  std::string out;
  for (const feature_slot& slot : std::span(schema.slots()).first(schema.members())) {
    if (!out.empty()) out += ", ";
    out += slot.member_name();
    if (!slot.parts.empty()) {
      append_parts(slot, out);
    } else if (!slot.member.empty()) {
      out += " = ";
      append_quoted(slot.name, out);
    }
    absl::StrAppend(&out, ": ", type_of_feature(slot));
    if (!slot.otherwise) continue;
    out += " = ";
    with_list(*slot.otherwise, slot.kind, [&](const auto& list) { append_default(slot, list, out); });
  }
  return out;
}

}  // namespace sluice::lib
