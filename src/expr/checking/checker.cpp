// SPDX-License-Identifier: Apache-2.0
#include "expr/checking/checker.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/text/read_number.hpp"
#include "expr/batch_parts.hpp"
#include "expr/checking/conversions.hpp"
#include "expr/checking/facts.hpp"
#include "expr/checking/field_names.hpp"
#include "expr/checking/type_limits.hpp"
#include "expr/earlier_value.hpp"
#include "expr/expression_parts.hpp"
#include "expr/nullable.hpp"

namespace sluice::lib::expressions {

namespace {

computed_ptr number_literal(const expression_tree& e) {
  std::string_view s = e.text;
  bool is_hex = s.find("0x") != s.npos;
  bool is_real = !is_hex && s.find_first_of(".ef") != s.npos;
  if (is_real) {
    auto read = [&]<class T>(T value) {
      if (read_real(s, value) != number_text::read)
        checker::fail(e, absl::StrCat(e.text, " is no ", type_of<T>().name));
      return literal::of(value);
    };
    if (s.back() != 'f') return read(double{});
    s.remove_suffix(1);
    return read(float{});
  }
  bool is_unsigned = s.back() == 'u', is_negative = s[0] == '-';
  if (is_unsigned) s.remove_suffix(1);
  if (is_negative) s.remove_prefix(1);
  if (is_hex) s.remove_prefix(2);
  std::uint64_t v = 0;
  auto r = std::from_chars(s.data(), s.data() + s.size(), v, is_hex ? 16 : 10);
  constexpr std::uint64_t kMost = INT64_MAX;
  bool fits = r.ec == std::errc() && r.ptr == s.data() + s.size() && !s.empty();
  if (!fits || (is_negative && (is_unsigned || v > kMost + 1)))
    checker::fail(e, absl::StrCat(e.text, " is no integer of 64 bits"));
  // C++'s rule: the first of int, long and unsigned long that can represent the value.
  if (is_unsigned) {
    if (v <= UINT32_MAX) return literal::of(static_cast<std::uint32_t>(v));
    return literal::of(v);
  }
  if (!is_negative && v > kMost) return literal::of(v);
  auto signed_value = static_cast<std::int64_t>(is_negative ? 0 - v : v);
  if (std::in_range<std::int32_t>(signed_value)) return literal::of(static_cast<std::int32_t>(signed_value));
  return literal::of(signed_value);
}

}  // namespace

void checker::fail(const expression_tree& e, std::string_view what) { throw expression_error(e.at, what); }

computed_ptr checker::make(const expression_tree& e) {
  computed_ptr c = made(e);
  may_fail_ |= expressions::may_fail(e, *c);
  note_structure(e, *c);
  // A value computed from texts is a string; only the element itself has other text types.
  bool is_in_memory =
      dynamic_cast<path*>(c.get()) || dynamic_cast<state_path*>(c.get()) || dynamic_cast<earlier_part*>(c.get());
  const bool is_nullable_number = dynamic_cast<nullable*>(c.get()) && is_number(*c->type().element);
  const bool is_light = is_number(c->type()) || is_in_memory || is_nullable_number || c->constant();
  is_light_ &= is_light;
  has_light_members_ &= is_light || dynamic_cast<made_structure*>(c.get());
  if (scope_.shared && is_number(c->type())) return scope_.shared->part(e, std::move(c));
  bool is_other = c->type().kind == kind::text && &c->type() != &type_of<std::string>() && !is_in_memory;
  if (is_other) return std::make_unique<as_string>(std::move(c));
  return c;
}

bool checker::reads_columns() const {
  return std::ranges::all_of(*paths_, [this](const path* p) { return has_column_part(in_, p->type(), p->offset()); });
}

void checker::need_place(const expression_tree& e) {
  uses_place_ = true;
  if (scope_.is_constant || scope_.state) fail(e, absl::StrCat(e.text, "() cannot stand in a state"));
  if (scope_.is_looked_at)
    fail(e, absl::StrCat(
                e.text,
                "() cannot stand where an element is only looked at (a key, a class, a cost, what inspect prints): "
                "compute it by a map before"));
}

computed_ptr checker::path_to(const element_type& t, std::size_t offset) {
  if (scope_.earlier) return scope_.earlier->part(t, offset);
  return std::make_unique<path>(paths_, t, offset);
}

/// Records that the value of c must be copied, unless it can be moved.
void checker::note_copy(const expression_tree& e, const computed& c) {
  if (c.type().copy || dynamic_cast<const called*>(&c)) return;
  if (!dynamic_cast<const path*>(&c)) fail(e, absl::StrCat(shown(c.type()), " cannot be copied"));
  needed_copies_.push_back({&e, &c});
}

computed_ptr checker::made(const expression_tree& e) {
  using tree = expression_tree;
  switch (e.kind) {
    case tree::number: return number_literal(e);
    case tree::text_: return std::make_unique<literal>(e.text);
    case tree::boolean: return literal::of(e.text == "true");
    case tree::name: return narrowed(e, name(e));
    case tree::member: return narrowed(e, member_of(e));
    case tree::index: return index(e);
    case tree::slice: return slice(e);
    case tree::absent: fail(e, "a value is missing");
    case tree::call: return call(e);
    case tree::let: return let(e);
    case tree::unary: return unary(e);
    case tree::binary: return binary(e);
    case tree::list: return list(e);
    default: return structure(e, nullptr);
  }
}

/// Returns true if the name is a field or a variable.
bool checker::means_something(std::string_view name) const {
  return std::any_of(in_.members.begin(), in_.members.end(), [&](const member& m) { return m.name == name; }) ||
         std::any_of(variables_.begin(), variables_.end(), [&](const variable& v) { return v.name == name; });
}

computed_ptr checker::name(const expression_tree& e) {
  if (e.text == "none" && (scope_.is_constant || !means_something(e.text))) return no_value();
  if (scope_.is_constant)
    fail(e, absl::StrCat("an initial state is made before there is an element, and cannot contain ", e.text));
  if (e.text == "it") return path_to(in_, 0);
  for (std::size_t k = variables_.size(); k-- != 0;)
    if (variables_[k].name == e.text) return std::make_unique<variable_part>(*variables_[k].type, variables_[k].number);
  if (scope_.state && e.text == "state") return std::make_unique<state_path>(*scope_.state, 0);
  for (auto& m : in_.members)
    if (m.name == e.text) return path_to(*m.type, m.offset);
  if (in_.kind == kind::batch && in_.element->stacks_by_member())
    for (auto& m : in_.element->members)
      if (m.name == e.text) return column_of(e, path_to(in_, 0));
  refuse_name(e, false);
}

namespace {

/// Returns "; write {id, city}" for the list [id, city].
std::string way_to_structure(const expression_tree& list) {
  std::string names;
  for (const expression_tree& part : list.parts) {
    if (part.kind != expression_tree::name) return {};
    absl::StrAppend(&names, names.empty() ? "" : ", ", shown(part));
  }
  return absl::StrCat("; several fields stand in braces: write {", names, "}");
}

}  // namespace

/// `may_be_text`: the name is compared with a text, and may lack its quotes.
void checker::refuse_name(const expression_tree& e, bool may_be_text) const {
  std::vector<std::string> known = names_of(in_);
  if (scope_.state) known.emplace_back("state");
  std::string way = similar_name(e.text, known);
  if (way.empty()) way = way_to_name(e.text);
  if (scope_.state && (e.text == "acc" || e.text == "accumulator" || e.text == "memo" || e.text == "total"))
    way = "; the state is named `state`";
  for (const member& m : in_.members)
    if (std::ranges::any_of(m.type->members, [&](const member& inner) { return inner.name == e.text; }))
      way = absl::StrCat("; write ", m.name, ".", e.text);
  const bool has_name = !shown(in_).starts_with('{');
  const std::string in = !in_.has_members()
                             ? absl::StrCat("; the element has no fields, and is named it (", shown(in_), ")")
                         : has_name ? absl::StrCat("; ", fields_of(in_))
                                    : absl::StrCat("; the fields are ", list_of_fields(in_));
  const bool is_text = may_be_text && way.empty();
  fail(e, absl::StrCat("no field is named ", e.text, way.empty() ? in : way,
                       is_text ? absl::StrCat("; a text is written in double quotes: \"", e.text, "\"") : ""));
}

/// Refuses a name that means nothing, and is compared with a text.
void checker::refuse_text_without_quotes(const expression_tree& e, const computed& other) const {
  const element_type& t = other.type();
  const bool is_text = t.kind == kind::text || (t.kind == kind::maybe && t.element->kind == kind::text);
  const bool is_known = e.text == "it" || e.text == "none" || e.text == "state" || means_something(e.text);
  if (e.kind == expression_tree::name && is_text && !is_known && !scope_.is_constant && in_.kind != kind::batch)
    refuse_name(e, true);
}

/// Returns a column of a batch, by the name of the rows' member.
computed_ptr checker::column_of(const expression_tree& e, computed_ptr batch) {
  const element_type& row = *batch->type().element;
  for (std::size_t k = 0; k != row.members.size(); ++k) {
    if (row.members[k].name != e.text || !row.stacks_by_member()) continue;
    if (computed_ptr column = batch_column(std::move(batch), k)) return column;
    fail(e,
         absl::StrCat("the column ", e.text, " is of ", shown(*row.members[k].type), ", which there are no lists of"));
  }
  fail(e, absl::StrCat("the batch has no column ", e.text, ": ", fields_of(row), similar_name(e.text, names_of(row))));
}

computed_ptr checker::column_alone(const expression_tree& e, computed_ptr batch) {
  std::string name = shown(batch->type());
  if (computed_ptr column = batch_column(std::move(batch), std::nullopt)) return column;
  fail(e, absl::StrCat(subject(e), " is ", name, ", and there are no lists of its rows"));
}

computed_ptr checker::member_of(const expression_tree& e) {
  computed_ptr of = make(e.parts[0]);
  if (of->type().kind == kind::maybe)
    return lift_one(e, std::move(of), [&](computed_ptr value) { return member_in(e, std::move(value)); });
  return member_in(e, std::move(of));
}

computed_ptr checker::member_in(const expression_tree& e, computed_ptr of) {
  if (of->type().kind == kind::batch) return column_of(e, std::move(of));
  const element_type& t = of->type();
  for (auto& m : t.members) {
    if (m.name != e.text) continue;
    if (computed_ptr part = part_in_memory(*of, *m.type, m.offset)) return part;
    return std::make_unique<member_part>(std::move(of), *m.type, m.offset);
  }
  const std::string of_value = subject(e.parts[0]);
  fail(e, absl::StrCat(of_value, " has no field ", e.text, ": ", fields_of(t),
                       find_built_in(e.text)  ? absl::StrCat("; write ", e.text, "(", shown(e.parts[0]), ")")
                       : shown(t) == "record" ? absl::StrCat("; parse_example(\"", e.text,
                                                             ": int64\") before this "
                                                             "stage reads a field of tf.Examples")
                       : t.members.empty()    ? absl::StrCat("; write ", of_value, " for the value")
                                              : similar_name(e.text, names_of(t))));
}

computed_ptr checker::index(const expression_tree& e) {
  std::vector<computed_ptr> parts;
  for (auto& part : e.parts) parts.push_back(make(part));
  return lift(e, std::move(parts), [&](std::vector<computed_ptr> values) {
    return index_in(e, std::move(values[0]), std::move(values[1]));
  });
}

computed_ptr checker::index_in(const expression_tree& e, computed_ptr of, computed_ptr k) {
  auto n = number_of(k->type());
  if (!is_integer(n))
    fail(e.parts[1], absl::StrCat("an index is an integer, and ", subject(e.parts[1]), " is ", shown(k->type()),
                                  e.parts[1].kind == expression_tree::text_ && !of->type().members.empty()
                                      ? absl::StrCat("; the field of this name is `", e.parts[1].text, "`")
                                      : ""));
  const element_type& t = of->type();
  if (t.kind == kind::pair || t.kind == kind::tuple || t.kind == kind::structure) {
    if (!k->constant())
      fail(e.parts[1],
           absl::StrCat("the index of ", shown(t), " must be a number, because its members have types of their own"));
    auto value = at(e, [&] { return converted(std::move(k), number::i64); });
    std::int64_t m = 0;
    std::memcpy(&m, value->constant(), sizeof m);
    if (m < 0 || m >= static_cast<std::int64_t>(t.members.size()))
      fail(e.parts[1], absl::StrCat("index ", m, " of ", shown(t), ", which has ", t.members.size(), " members"));
    auto& found = t.members[static_cast<std::size_t>(m)];
    if (computed_ptr part = part_in_memory(*of, *found.type, found.offset)) return part;
    return std::make_unique<member_part>(std::move(of), *found.type, found.offset);
  }
  if (t.kind == kind::batch) {
    if (!t.element->copy) fail(e, absl::StrCat(shown(*t.element), " cannot be copied out of a batch"));
    return batch_row(std::move(of), at(e, [&] { return converted(std::move(k), number::i64); }));
  }
  if (t.kind == kind::tensor)
    return tensor_item(std::move(of), at(e, [&] { return converted(std::move(k), number::i64); }));
  if (t.kind == kind::text)
    fail(e, absl::StrCat("a text has no items; write ", shown(e.parts[0]), "[k:k + 1] for one byte of it"));
  if (t.kind != kind::list && t.kind != kind::array)
    fail(e, absl::StrCat(subject(e.parts[0]), " is ", shown(t), ", which has no items"));
  if (auto* p = dynamic_cast<path*>(of.get()); p && t.kind == kind::array && k->constant()) {
    auto value = at(e, [&] { return converted(std::move(k), number::i64); });
    std::int64_t m = 0;
    std::memcpy(&m, value->constant(), sizeof m);
    auto extent = static_cast<std::int64_t>(t.extent);
    if (m < -extent || m >= extent) fail(e.parts[1], absl::StrCat("index ", m, " of ", shown(t)));
    if (m < 0) m += extent;
    return p->part(*t.element, static_cast<std::size_t>(m) * t.element->size);
  }
  const element_type& item = *t.element;
  k = at(e, [&] { return converted(std::move(k), number::i64); });
  return std::make_unique<item_part>(std::move(of), std::move(k), item);
}

std::size_t bound_of(std::int64_t k, std::size_t n) {
  auto size = static_cast<std::int64_t>(n);
  if (k < 0) k = std::max<std::int64_t>(0, k + size);
  return static_cast<std::size_t>(std::min(k, size));
}

computed_ptr checker::slice(const expression_tree& e) {
  std::vector<computed_ptr> parts;
  for (std::size_t k = 0; k != e.parts.size(); ++k) {
    const bool is_absent = e.parts[k].kind == expression_tree::absent;
    parts.push_back(is_absent ? literal::of(k == 1 ? std::int64_t{0} : INT64_MAX) : make(e.parts[k]));
  }
  return lift(e, std::move(parts), [&](std::vector<computed_ptr> values) { return slice_in(e, std::move(values)); });
}

computed_ptr checker::slice_in(const expression_tree& e, std::vector<computed_ptr> parts) {
  computed_ptr of = std::move(parts[0]);
  auto bound = [&](std::size_t i) {
    const expression_tree& b = e.parts[i];
    computed_ptr k = std::move(parts[i]);
    if (!is_integer(number_of(k->type())))
      fail(b, absl::StrCat("an index is an integer, and ", subject(b), " is ", shown(k->type())));
    return at(b, [&] { return converted(std::move(k), number::i64); });
  };
  if (of->type().kind == kind::batch) of = column_alone(e.parts[0], std::move(of));
  computed_ptr first = bound(1), last = bound(2);
  const element_type& t = of->type();
  if (t.kind == kind::tensor) return tensor_slice(std::move(of), std::move(first), std::move(last));
  if (t.kind == kind::text)
    return from_three<std::string_view, std::string_view, std::int64_t, std::int64_t>(
        type_of<std::string>(), std::move(of), std::move(first), std::move(last),
        [](evaluation&, std::string_view s, std::int64_t a, std::int64_t b) {
          std::size_t from = bound_of(a, s.size()), to = bound_of(b, s.size());
          return s.substr(from, to > from ? to - from : 0);
        });
  if (t.kind != kind::list && t.kind != kind::array)
    fail(e, absl::StrCat(subject(e.parts[0]), " is ", shown(t), ", which has no items"));
  const element_type* list = list_of(t.element);
  if (!list) fail(e, absl::StrCat("there are no lists of ", shown(*t.element)));
  const std::size_t size = t.element->size;
  return from_three<span_value, span_value, std::int64_t, std::int64_t>(
      *list, std::move(of), std::move(first), std::move(last),
      [size](evaluation&, span_value s, std::int64_t a, std::int64_t b) {
        std::size_t from = bound_of(a, s.n), to = bound_of(b, s.n);
        return span_value{s.data + from * size, to > from ? to - from : 0};
      });
}

computed_ptr checker::let(const expression_tree& e) {
  computed_ptr value = make(e.parts[0]);
  const std::size_t number = variables_made_++;
  const element_type& t = value->type();
  variables_.push_back({e.text, t.kind == kind::text ? &type_of<std::string>() : &t, number});
  computed_ptr body = make(e.parts[1]);
  variables_.pop_back();
  return std::make_unique<let_part>(number, std::move(value), std::move(body));
}

void checker::need_small_type(const expression_tree& e, const std::vector<const element_type*>& parts,
                              std::size_t names) const {
  std::string mistake = type_mistake(parts, names);
  if (!mistake.empty()) fail(e, absl::StrCat(shown(e), ": ", mistake));
}

computed_ptr checker::structure(const expression_tree& e, const element_type* wanted) {
  bool is_tuple = e.kind == expression_tree::tuple;
  std::vector<computed_ptr> parts(e.parts.size());
  if (wanted) {
    if (wanted->members.size() != e.parts.size())
      fail(e, absl::StrCat("expected ", shown(*wanted), ", and ", fields_of(*wanted), "; ", shown(e), " has ",
                           e.parts.size()));
    for (std::size_t k = 0; k != e.parts.size(); ++k) {
      std::size_t to = k;
      if (!is_tuple) {
        for (to = 0; to != wanted->members.size() && wanted->members[to].name != e.names[k];) ++to;
        if (to == wanted->members.size())
          fail(e.parts[k],
               absl::StrCat(fields_of(*wanted), ", and no ", e.names[k], similar_name(e.names[k], names_of(*wanted))));
      }
      parts[to] = make(e.parts[k], *wanted->members[to].type);
      note_copy(e.parts[k], *parts[to]);
    }
    return std::make_unique<made_structure>(*wanted, std::move(parts));
  }
  std::vector<const element_type*> types;
  for (std::size_t k = 0; k != e.parts.size(); ++k) {
    parts[k] = make(e.parts[k]);
    types.push_back(&parts[k]->type());
    note_copy(e.parts[k], *parts[k]);
  }
  std::size_t names = 2;
  for (const std::string& name : e.names) names += name.size() + 2;
  need_small_type(e, types, names);
  const element_type* t = nullptr;
  if (is_tuple) {
    t = types.size() == 2 ? pair_of(types[0], types[1]) : tuple_of(types);
  } else {
    std::vector<member> members;
    for (std::size_t k = 0; k != types.size(); ++k) members.push_back({e.names[k], 0, types[k]});
    t = struct_of("", std::move(members));
  }
  return std::make_unique<made_structure>(*t, std::move(parts));
}

/// Returns the optional type to which values of both types convert, if one of them is an optional or `none`; otherwise
/// `a`.
const element_type& checker::common_optional(const element_type& a, const element_type& b) {
  auto own = [](const element_type& t) -> const element_type& {
    return t.kind == kind::text ? type_of<std::string>() : t;
  };
  if (a.kind == kind::maybe) return a;
  if (b.kind == kind::maybe) return b;
  const element_type* t = is_no_value(b) && !is_no_value(a)   ? maybe_of(&own(a))
                          : is_no_value(a) && !is_no_value(b) ? maybe_of(&own(b))
                                                              : nullptr;
  return t ? *t : a;
}

computed_ptr checker::list(const expression_tree& e) {
  std::vector<computed_ptr> parts;
  for (auto& part : e.parts) parts.push_back(make(part));
  const element_type* item = &parts[0]->type();
  bool numbers = true, texts = true;
  auto n = number_of(*item);
  for (auto& part : parts) {
    auto own = number_of(part->type());
    numbers &= own != number::none;
    texts &= part->type().kind == kind::text;
    if (numbers) n = own == n ? n : common(n, own);
  }
  if (numbers) item = &type_of_number(n);
  else if (texts) item = &type_of<std::string>();
  else
    for (auto& part : parts) item = &common_optional(*item, part->type());
  need_small_type(e, {item}, 2);
  const element_type* list = list_of(item);
  if (!list) fail(e, absl::StrCat("there are no lists of ", shown(*item)));
  for (std::size_t k = 0; k != parts.size(); ++k) {
    if (numbers) parts[k] = at(e.parts[k], [&] { return converted(std::move(parts[k]), n); });
    else if (texts) parts[k] = std::make_unique<as_string>(std::move(parts[k]));
    else if (item->kind == kind::maybe) parts[k] = converted_to(e.parts[k], std::move(parts[k]), *item);
    else if (&parts[k]->type() != item)
      fail(e.parts[k], absl::StrCat("the items of a list have one type; the first is ", shown(*item), ", and ",
                                    subject(e.parts[k]), " is ", shown(parts[k]->type()), way_to_structure(e)));
  }
  return std::make_unique<made_list>(*list, std::move(parts));
}

computed_ptr checker::condition(const expression_tree& e) {
  if (e.parts.size() != 3)
    fail(e, absl::StrCat("if expects three values, as in if(condition, a, b), and has ", e.parts.size()));
  computed_ptr c = as_condition(make(e.parts[0]));
  computed_ptr a = make_where(e.parts[0], true, e.parts[1]), b = make_where(e.parts[0], false, e.parts[2]);
  if (number_of(c->type()) != number::boolean)
    fail(e.parts[0], absl::StrCat("the condition must be bool, and ", subject(e.parts[0]), " is ", shown(c->type()),
                                  way_to_condition(shown(e.parts[0]), c->type())));
  auto x = number_of(a->type()), y = number_of(b->type());
  bool numbers = x != number::none && y != number::none && (x == number::boolean) == (y == number::boolean);
  if (numbers && &a->type() != &b->type()) {
    auto n = common(x, y);
    a = at(e.parts[1], [&] { return converted(std::move(a), n); });
    b = at(e.parts[2], [&] { return converted(std::move(b), n); });
  } else if (a->type().kind == kind::text && b->type().kind == kind::text) {
    a = std::make_unique<as_string>(std::move(a));
    b = std::make_unique<as_string>(std::move(b));
  } else if (&a->type() != &b->type()) {
    const element_type* t = &common_optional(a->type(), b->type());
    if (t->kind != kind::maybe) t = &common_optional(b->type(), a->type());
    if (t->kind == kind::maybe && !may_become(*b, *t) && may_become(*a, b->type())) t = &b->type();
    if (t->kind == kind::maybe) {
      a = converted_to(e.parts[1], std::move(a), *t);
      b = converted_to(e.parts[2], std::move(b), *t);
    }
  }
  if (&a->type() != &b->type())
    fail(e, absl::StrCat("both values of if() must have one type; ", subject(e.parts[1]), " is ", shown(a->type()),
                         ", and ", subject(e.parts[2]), " is ", shown(b->type())));
  return choose(std::move(c), std::move(a), std::move(b));
}

void checker::let_move(computed& root) const {
  std::vector<computed*> direct{&root};
  for (std::size_t k = 0; k != direct.size(); ++k) {
    if (auto* s = dynamic_cast<made_structure*>(direct[k]))
      for (auto& part : s->parts()) direct.push_back(part.get());
    auto* p = dynamic_cast<path*>(direct[k]);
    if (!p || !p->can_move() || scope_.is_looked_at) continue;
    bool is_alone = true;
    for (const path* other : *paths_)
      if (other != p && other->offset() < p->end() && p->offset() < other->end()) is_alone = false;
    if (is_alone) p->let_move();
  }
  for (const needed_copy& n : needed_copies_)
    if (!static_cast<const path*>(n.part)->moves())
      fail(*n.e, absl::StrCat(subject(*n.e), " is ", shown(n.part->type()),
                              ", which cannot be copied; it can be used once, as a part of what is made"));
}

}  // namespace sluice::lib::expressions
