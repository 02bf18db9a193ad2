// SPDX-License-Identifier: Apache-2.0
// parse_json(text, "{label: int64, values: double[]}"), parse_json(text, "float32[?,3]").
#include <charconv>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/text/ascii.hpp"
#include "element/build.hpp"
#include "expr/checking/checker.hpp"
#include "expr/checking/type_limits.hpp"
#include "expr/expression_parts.hpp"
#include "sluice/element/tensor.hpp"
#include "sluice/element/type_text.hpp"
#include "sluice/element/value.hpp"

namespace sluice::lib::expressions {

namespace {

using view = std::string_view;

class parsed_json final : public made_objects {
 public:
  parsed_json(const element_type& t, computed_ptr text) : made_objects(t), text_(std::move(text)) {}

 private:
  evaluation::objects& compute(evaluation& ev, selection s) const override {
    evaluation::objects& made = ev.kept_objects(type(), s.n);
    evaluation::scratch here(ev);
    evaluation::kept_scope kept(ev);
    const auto* texts = registers_of<view>(*text_, ev, s);
    each(s, [&](std::uint32_t i) {
      auto v = value_from_json(type(), texts[i]);
      if (!v.ok()) throw bad_value{absl::StrCat("parse_json: ", std::string(v.why().message()))};
      value_room::move_out(*v, made.data + i * type().size);
      ++made.constructed;
      kept.outlive(ev.charge_owned(type(), made.data + i * type().size, 1, true));
    });
    return made;
  }

  computed_ptr text_;
};

/// A type's text accepts any name<int64> for an enum that this program lacks. Here such a name is more likely a
/// mistake.
void need_known_enums(view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\';
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && (detail::starts_word(text[end]) || detail::is_digit(text[end]))) ++end;
    if (end == at) {
      ++at;
      continue;
    }
    const std::string name(text.substr(at, end - at));
    at = end;
    if (at == text.size() || text[at] != '<' || name == "batch") continue;
    const element_type* known = type_named(name);
    if (!known || known->kind != kind::scalar)
      throw bad_value{absl::StrCat("parse_json: this program has no enum ", name,
                                   "; a list is int64[], an array int64[3], an optional int64?")};
  }
}

/// Parses `float32[?,3]`: a dtype and at least one length. Returns nothing for other texts.
std::optional<std::pair<dtype, std::vector<std::int64_t>>> tensor_named(view text) {
  const std::size_t open = text.find('[');
  if (open == view::npos || text.back() != ']') return std::nullopt;
  auto d = dtype_named(text.substr(0, open));
  if (!d) return std::nullopt;
  std::vector<std::int64_t> dims;
  for (view rest = text.substr(open + 1, text.size() - open - 2);;) {
    view one = rest.substr(0, rest.find(','));
    while (one.starts_with(' ')) one.remove_prefix(1);
    std::int64_t length = -1;
    if (one != "?") {
      auto r = std::from_chars(one.data(), one.data() + one.size(), length);
      if (r.ec != std::errc() || r.ptr != one.data() + one.size() || length < 0) return std::nullopt;
    }
    dims.push_back(length);
    if (rest.find(',') == view::npos) break;
    rest.remove_prefix(rest.find(',') + 1);
  }
  if (dims.size() > tensor::kRankMax) return std::nullopt;
  return std::pair(*d, dims);
}

/// Returns the type of a dtype's numbers in JSON; half precision is read as float.
const element_type& type_of_dtype(dtype d) {
  if (d == dtype::string) return type_of<std::string>();
  if (d == dtype::float16 || d == dtype::bfloat16) return type_of<float>();
  static constexpr number kNumbers[] = {number::boolean, number::i8,  number::i16, number::i32, number::i64,
                                        number::u8,      number::u16, number::u32, number::u64, number::none,
                                        number::none,    number::f32, number::f64, number::none};
  return type_of_number(kNumbers[static_cast<std::size_t>(d)]);
}

computed_ptr parsed_tensor(function_arguments& a, dtype d, const std::vector<std::int64_t>& dims) {
  const element_type* t = &type_of_dtype(d);
  for (std::size_t i = 0; i != dims.size(); ++i) t = list_of(t);
  return tensor_of_lists("parse_json", std::make_unique<parsed_json>(*t, a.text(0)), d, dims);
}

computed_ptr parse_json_text(function_arguments& a) {
  a.need(2, 2);
  auto* wanted = dynamic_cast<const literal*>(a.parts[1].get());
  if (!wanted || wanted->type().kind != kind::text)
    a.expected(1, "a type in quotes, such as \"{label: int64, text: string}\"");
  const std::string& text = wanted->text();
  auto t = type_from_text(text);
  if (!t.ok()) {
    if (auto named = tensor_named(text)) return parsed_tensor(a, named->first, named->second);
    throw bad_value{absl::StrCat("parse_json: ", std::string(t.why().message()))};
  }
  need_known_enums(text);
  if (*t == &type_of<tensor>())
    throw bad_value{"parse_json: of a tensor the dtype and the shape are needed, as in \"float32[?,3]\""};
  if ((*t)->size > kExpressionTypeBytesMax)
    throw bad_value{absl::StrCat("parse_json: ", shown(**t), " has ", (*t)->size, " bytes in each value; ",
                                 kExpressionTypeBytesMax, " are the most: lists, T[], have their items elsewhere")};
  if (!(*t)->copy) throw bad_value{absl::StrCat("parse_json: ", shown(**t), " cannot be copied")};
  return std::make_unique<parsed_json>(**t, a.text(0));
}

}  // namespace

const std::vector<built_in>& json_functions() {
  static const std::vector<built_in> all{{"parse_json", parse_json_text}};
  return all;
}

}  // namespace sluice::lib::expressions
