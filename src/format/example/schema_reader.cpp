// SPDX-License-Identifier: Apache-2.0
#include "format/example/schema_reader.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <utility>

#include <absl/container/flat_hash_set.h>
#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

#include "element/text/scan_text.hpp"

namespace sluice::lib::detail {
namespace {

/// The largest number of values that each record must have. A sparse feature may declare larger lengths, because a
/// record contains only the values present.
constexpr std::size_t kValuesMax = std::size_t{1} << 20;
constexpr std::size_t kSparseMax = std::numeric_limits<std::int64_t>::max();

class schema_reader {
 public:
  explicit schema_reader(std::string_view text) : text_(text) {}

  std::vector<written_feature> read() {
    std::vector<written_feature> all;
    absl::flat_hash_set<std::string> features, members;
    do {
      all.push_back(feature());
      const feature_slot& slot = all.back().slot;
      if (!features.insert(slot.name).second)
        fail_in_schema(all.back().at, absl::StrCat("feature ", slot.name, " appears twice"));
      if (!members.insert(slot.member_name()).second)
        fail_in_schema(all.back().at, absl::StrCat("member ", slot.member_name(), " appears twice"));
    } while (take(','));
    return all;
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
      fail_in_schema(
          at_, absl::StrCat("feature ", f.slot.name, ": expected a comma or the end, and found \"", rest(), "\""));
    return f;
  }

  /// label, or 'any name' in quotes, which may be empty.
  void read_name(written_feature& f) {
    const std::size_t from = at_;
    const bool is_quoted = !done() && (peek() == '\'' || peek() == '"');
    std::string name;
    if (is_quoted) {
      name = quoted();
    } else {
      while (!done() && peek() != ',' && peek() != ':' && !(peek() == '=' && source_follows())) ++at_;
      name = std::string(absl::StripAsciiWhitespace(absl::string_view(text_.data() + from, at_ - from)));
    }
    skip_spaces();
    if ((is_quoted || !name.empty()) && !done() && peek() == '=' && source_follows() && take('=')) {
      f.slot.member = std::exchange(name, source(f));
      if (f.slot.member == name) f.slot.member.clear();
    }
    skip_spaces();
    f.slot.name = name;
    if ((f.slot.member_name().empty() && !is_quoted) || !take(':'))
      fail_in_schema(f.at,
                     absl::StrCat("expected a feature such as label: int64, and found \"", until_comma(from), "\""));
  }

  /// Reads 'name', sparse('values', 'index' …) or ragged('values', row_splits('splits') …). Returns the name of the
  /// values.
  std::string source(written_feature& f) {
    const bool is_sparse = take_word("sparse(");
    if (!is_sparse && !take_word("ragged(")) return quoted();
    f.slot.form = is_sparse ? field_form::sparse : field_form::ragged;
    std::string values = name_in_quotes();
    while (take(',')) f.slot.parts.push_back(is_sparse ? feature_part{.name = name_in_quotes()} : partition());
    if (f.slot.parts.empty())
      fail_in_schema(at_, is_sparse ? "expected the feature of an index: sparse('values', 'index')"
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
    auto named =
        std::find_if(std::begin(kPartitions), std::end(kPartitions), [&](const auto& p) { return take_word(p.first); });
    if (named == std::end(kPartitions))
      fail_in_schema(at_,
                     absl::StrCat("expected row_splits('name'), row_lengths, row_starts, row_limits, value_rowids or "
                                  "uniform(2), and found \"",
                                  rest(), "\""));
    part.meaning = named->second;
    expect('(');
    if (std::size_t n = 0; part.meaning != means::uniform) {
      part.name = name_in_quotes();
    } else {
      const std::size_t from = at_;
      if (!number(n) || n == 0 || n > kValuesMax) {
        at_ = from;
        fail_in_schema(
            at_, absl::StrCat("uniform: expected a length from 1 to ", kValuesMax, ", and found \"", rest(), "\""));
      }
      part.length = static_cast<std::int64_t>(n);
    }
    expect(')');
    return part;
  }
  std::string name_in_quotes() {
    skip_spaces();
    if (done() || (peek() != '\'' && peek() != '"'))
      fail_in_schema(at_, absl::StrCat("expected the name of a feature in quotes, and found \"", rest(), "\""));
    return quoted();
  }
  void expect(char c) {
    if (!take(c)) fail_in_schema(at_, absl::StrCat("expected ", std::string(1, c), ", and found \"", rest(), "\""));
  }

  void read_type(written_feature& f) {
    skip_spaces();
    const std::size_t from = at_;
    while (!done() && absl::ascii_isalnum(static_cast<unsigned char>(peek()))) ++at_;
    const std::string_view kind = detail::usual_type_name(text_.substr(from, at_ - from));
    if (kind == "string") f.slot.kind = feature_kind::bytes;
    else if (kind == "int64") f.slot.kind = feature_kind::int64s;
    else if (kind == "float") f.slot.kind = feature_kind::floats;
    else refuse_type(f, from);
    if (!f.slot.parts.empty()) return read_shape_of_parts(f, from);
    if (take('[') && !read_shape(f)) refuse_type(f, from);
    if (take('?')) {
      if (f.slot.form == field_form::tensor)
        fail_in_schema(
            from, absl::StrCat("feature ", f.slot.name, ": a tensor that may be missing has a default, such as = 0"));
      f.slot.is_optional = true;
      f.slot.required = false;
    }
    skip_spaces();
    if (!done() && peek() != ',' && peek() != '=') refuse_type(f, from);
  }

  /// Reads the shape: a sparse tensor has one length for each index, a ragged one has none.
  void read_shape_of_parts(written_feature& f, std::size_t from) {
    feature_slot& slot = f.slot;
    const field_form form = slot.form;
    const bool has_shape = take('[') && read_shape(f);
    if (has_shape && slot.form == field_form::array && slot.shape.empty())
      slot.shape = {static_cast<std::int64_t>(slot.length)};
    const std::size_t wanted = form == field_form::sparse ? slot.parts.size() : 0;
    if (slot.shape.size() != wanted || (has_shape && slot.each != 1) || slot.form == field_form::list)
      fail_in_schema(from, absl::StrCat("feature ", slot.name,
                                        form == field_form::sparse
                                            ? absl::StrCat(": a sparse tensor with ", wanted, " indices has ", wanted,
                                                           " lengths, such as float[1000]")
                                            : ": the type of a ragged tensor's values has no shape"));
    slot.form = form;
    slot.length = feature_slot::kAny;
    slot.required = false;
    skip_spaces();
    if (!done() && peek() != ',')
      fail_in_schema(at_, absl::StrCat("feature ", slot.name, ": a missing sparse or ragged tensor is empty; found \"",
                                       rest(), "\""));
  }

  /// Reads the shape after the bracket.
  bool read_shape(written_feature& f) {
    if (take(']')) {
      f.slot.form = field_form::list;
      f.slot.length = feature_slot::kAny;
      return true;
    }
    const bool is_sparse = f.slot.form == field_form::sparse;
    const std::size_t from = at_, most = is_sparse ? kSparseMax : kValuesMax;
    std::size_t values = 1;
    do {
      std::size_t n = 0;
      if (!is_sparse && f.slot.shape.empty() && take('?')) {
        f.slot.shape.push_back(feature_slot::kUnknown);
        continue;
      }
      if (!number(n) || n == 0) return false;
      if (n > most / values)
        fail_in_schema(from,
                       absl::StrCat("feature ", f.slot.name, ": its lengths are those of more than ", most, " values"));
      values *= n;
      f.slot.shape.push_back(static_cast<std::int64_t>(n));
    } while (take(','));
    if (!take(']') || f.slot.shape.size() > tensor_shape::kRankMax) return false;
    const bool is_open = f.slot.shape[0] == feature_slot::kUnknown;
    f.slot.length = is_open ? feature_slot::kAny : values;
    f.slot.each = is_open ? values : 1;
    f.slot.form = is_open || f.slot.shape.size() > 1 ? field_form::tensor : field_form::array;
    if (f.slot.form == field_form::array && !is_sparse) f.slot.shape.clear();
    return true;
  }

  void read_default(written_feature& f) {
    feature_slot& slot = f.slot;
    if (slot.is_optional)
      fail_in_schema(at_, absl::StrCat("feature ", slot.name, ": with a default it is never missing: leave out the ?"));
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
      if (!take(']')) fail_in_schema(at_, absl::StrCat("feature ", slot.name, ": expected ] after its default values"));
    }
    if (is_single && slot.length != feature_slot::kAny)
      with_list(*values, slot.kind, [&](auto& list) {
        list.resize(slot.length, typename std::decay_t<decltype(list)>::value_type(list[0]));
      });
    if (!slot.takes(values->size()) || (is_single && slot.length == feature_slot::kAny))
      fail_in_schema(from, absl::StrCat("feature ", slot.name, " has ", expected_values(slot), ", and its default ",
                                        values->size()));
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
        fail_in_schema(from,
                       absl::StrCat("feature ", slot.name, ": expected a text in quotes, and found \"", rest(), "\""));
      to.bytes.push_back(quoted());
      return;
    }
    while (!done() &&
           (absl::ascii_isalnum(static_cast<unsigned char>(peek())) || peek() == '-' || peek() == '+' || peek() == '.'))
      ++at_;
    const char *first = text_.data() + from, *last = text_.data() + at_;
    auto read = [&](auto& n) {
      auto got = std::from_chars(first, last, n);
      if (first == last || got.ec != std::errc() || got.ptr != last)
        fail_in_schema(from,
                       absl::StrCat("feature ", slot.name, ": \"", first == last ? rest() : std::string(first, last),
                                    "\" is no ", std::string(to_string(slot.kind))));
    };
    if (slot.kind == feature_kind::floats) read(to.floats.emplace_back());
    else read(to.int64s.emplace_back());
  }

  /// Reads '…' or "…".
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
        else if (c != '\\' && c != '\'' && c != '"')
          fail_in_schema(at_ - 2, "there is no escape \\" + std::string(1, c));
      }
      out += c;
    }
    if (done()) fail_in_schema(from, "the text is not ended");
    ++at_;
    return out;
  }
  char hex(std::size_t from) {
    unsigned char value = 0;
    if (at_ + 2 > text_.size() ||
        std::from_chars(text_.data() + at_, text_.data() + at_ + 2, value, 16).ptr != text_.data() + at_ + 2)
      fail_in_schema(from, "\\x is followed by two hexadecimal digits");
    at_ += 2;
    return static_cast<char>(value);
  }

  [[noreturn]] void refuse_type(const written_feature& f, std::size_t from) {
    fail_in_schema(
        from,
        absl::StrCat(
            "feature ", f.slot.name,
            ": expected bytes (or string), int64 or float, then nothing, [], [16], [28,28], [?,64], or ? if it may be "
            "missing, and found \"",
            until_comma(from), "\""));
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
  /// Returns true if a source follows the '='.
  bool source_follows() const {
    std::size_t k = at_ + 1;
    while (k < text_.size() && absl::ascii_isspace(static_cast<unsigned char>(text_[k]))) ++k;
    const std::string_view rest = text_.substr(k);
    return rest.starts_with('\'') || rest.starts_with('"') || rest.starts_with("sparse(") ||
           rest.starts_with("ragged(");
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

}  // namespace

std::vector<written_feature> read_schema(std::string_view text) { return schema_reader(text).read(); }

void append_feature_name(std::string_view name, std::string& out) {
  const auto is_plain = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' || c == '.' || c == '/';
  };
  if (!name.empty() && std::all_of(name.begin(), name.end(), is_plain)) out += name;
  else append_single_quoted(name, out);
}

void fail_in_schema(std::size_t at, const std::string& why) {
  throw error(invalid_argument_error(absl::StrCat("column ", at + 1, ": ", why)));
}

}  // namespace sluice::lib::detail
