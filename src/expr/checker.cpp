// SPDX-License-Identifier: Apache-2.0
#include "expr/checker.hpp"

#include <charconv>
#include <cstring>
#include <map>

#include "absl/strings/str_cat.h"
#include "base/closest.hpp"

namespace sluice::lib::expressions {

/// The element, or something at a fixed place within it.
class path final : public computed {
 public:
  path(std::shared_ptr<std::vector<path*>> all, const element_type& t, std::size_t offset)
      : computed(t), all_(std::move(all)), offset_(offset) {
    all_->push_back(this);
  }
  ~path() override { std::erase(*all_, this); }
  void eval(evaluation& ev, selection s, void* out) const override {
    load(type(), ev.elements() + offset_, ev.stride(), s, out);
  }
  const void* in_place(const evaluation& ev, selection s) const override {
    bool is_there = type().kind == kind::scalar && !s.at && ev.stride() == type().size;
    return is_there ? ev.elements() + offset_ : nullptr;
  }
  void build(evaluation& ev, selection s, char* to, std::size_t stride) const override {
    if (moves_) return;
    const char* from = ev.elements() + offset_;
    if (!s.at) return type().copy(type(), to, from, s.n, stride, ev.stride());
    std::uint32_t i = 0;
    try {
      for (; i != s.n; ++i) type().copy(type(), to + i * stride, from + s.at[i] * ev.stride(), 1, stride, ev.stride());
    } catch (...) {
      destroy_each(type(), to, stride, i);
      throw;
    }
  }
  void unbuild(char* to, std::size_t stride, std::uint32_t n) const override {
    if (!moves_) computed::unbuild(to, stride, n);
  }
  void take(evaluation& ev, std::uint32_t n, char* to, std::size_t stride) const override {
    if (!moves_) return;
    char* from = ev.elements() + offset_;
    type().relocate(type(), to, from, n, stride, ev.stride());
    type().construct(type(), from, n, ev.stride());  // for the owner to destroy
  }

  std::size_t offset() const { return offset_; }
  std::size_t end() const { return offset_ + type().size; }
  bool moves() const { return moves_; }
  void let_move() { moves_ = true; }
  bool can_move() const { return type().construct && !(type().trivially_destroyed && type().copy); }

 private:
  std::shared_ptr<std::vector<path*>> all_;
  std::size_t offset_;
  bool moves_ = false;
};

namespace {

/// The member of an object that is computed.
class member_part final : public computed {
 public:
  member_part(computed_ptr of, const element_type& t, std::size_t offset)
      : computed(t), of_(std::move(of)), offset_(offset) {}
  void eval(evaluation& ev, selection s, void* out) const override {
    evaluation::scratch here(ev);
    auto* objects = ev.room_for<const void*>(s.n);
    of_->eval(ev, s, objects);
    for (std::uint32_t i = 0; i != s.n; ++i) objects[i] = static_cast<const char*>(objects[i]) + offset_;
    load_each(type(), objects, s.n, out);
  }

 private:
  computed_ptr of_;
  std::size_t offset_;
};

/// The item of a list.
class item_part final : public computed {
 public:
  item_part(computed_ptr of, computed_ptr index, const element_type& t)
      : computed(t), of_(std::move(of)), index_(std::move(index)) {}
  void eval(evaluation& ev, selection s, void* out) const override {
    evaluation::scratch here(ev);
    const auto* lists = registers_of<span_value>(*of_, ev, s);
    const auto* at = registers_of<std::int64_t>(*index_, ev, s);
    auto* objects = ev.room_for<const void*>(s.n);
    each(s, [&](std::uint32_t i) {
      auto n = static_cast<std::int64_t>(lists[i].n);
      std::int64_t k = at[i] < 0 ? at[i] + n : at[i];
      if (k < 0 || k >= n) throw bad_value{absl::StrCat("index ", at[i], " of a list of ", n)};
      objects[i] = lists[i].data + static_cast<std::size_t>(k) * type().size;
    });
    load_each(type(), objects, s.n, out);
  }

 private:
  computed_ptr of_, index_;
};

/// What a structure, pair or tuple is made of.
class made_structure final : public computed {
 public:
  made_structure(const element_type& t, std::vector<computed_ptr> parts) : computed(t), parts_(std::move(parts)) {}

  void eval(evaluation& ev, selection s, void* out) const override {
    evaluation::objects& made = ev.kept_objects(type(), s.n);
    build(ev, s, made.data, type().size);
    made.constructed = s.n;
    auto* to = static_cast<const void**>(out);
    for (std::uint32_t i = 0; i != s.n; ++i) to[i] = made.data + i * type().size;
  }
  void build(evaluation& ev, selection s, char* to, std::size_t stride) const override {
    std::size_t k = 0;
    try {
      for (; k != parts_.size(); ++k) parts_[k]->build(ev, s, to + offset(k), stride);
    } catch (...) {
      while (k-- != 0) parts_[k]->unbuild(to + offset(k), stride, s.n);
      throw;
    }
  }
  void unbuild(char* to, std::size_t stride, std::uint32_t n) const override {
    for (std::size_t k = 0; k != parts_.size(); ++k) parts_[k]->unbuild(to + offset(k), stride, n);
  }
  void take(evaluation& ev, std::uint32_t n, char* to, std::size_t stride) const override {
    for (std::size_t k = 0; k != parts_.size(); ++k) parts_[k]->take(ev, n, to + offset(k), stride);
  }
  const std::vector<computed_ptr>& parts() const { return parts_; }

 private:
  std::size_t offset(std::size_t k) const { return type().members[k].offset; }

  std::vector<computed_ptr> parts_;
};

/// [a, b, c]
class made_list final : public computed {
 public:
  made_list(const element_type& list, std::vector<computed_ptr> parts) : computed(list), parts_(std::move(parts)) {}
  void eval(evaluation& ev, selection s, void* out) const override {
    const element_type& item = *type().element;
    const std::size_t n = parts_.size();
    evaluation::objects& made = ev.kept_objects(item, n * s.n);
    evaluation::scratch here(ev);
    std::vector<char*> registers;
    for (auto& part : parts_) {
      registers.push_back(static_cast<char*>(ev.room(s.n * register_bytes(item))));
      part->eval(ev, s, registers.back());
    }
    auto* to = static_cast<span_value*>(out);
    for (std::uint32_t i = 0; i != s.n; ++i) {
      to[i] = {made.data + i * n * item.size, n};
      for (std::size_t k = 0; k != n; ++k) {
        store(item, registers[k] + i * register_bytes(item), 1, made.data + made.constructed * item.size, item.size);
        ++made.constructed;
      }
    }
  }

 private:
  std::vector<computed_ptr> parts_;
};

class variable_part final : public computed {
 public:
  variable_part(const element_type& t, std::size_t number) : computed(t), number_(number) {}
  void eval(evaluation& ev, selection s, void* out) const override {
    const std::size_t bytes = register_bytes(type());
    const char* all = ev.variables[number_];
    auto* to = static_cast<char*>(out);
    for (std::uint32_t i = 0; i != s.n; ++i) std::memcpy(to + i * bytes, all + s.element(i) * bytes, bytes);
  }
  const void* in_place(const evaluation& ev, selection s) const override {
    return s.at ? nullptr : ev.variables[number_];
  }

 private:
  std::size_t number_;
};

class let_part final : public computed {
 public:
  let_part(std::size_t number, computed_ptr value, computed_ptr body)
      : computed(body->type()), number_(number), value_(std::move(value)), body_(std::move(body)) {}
  void eval(evaluation& ev, selection s, void* out) const override {
    evaluation::scratch here(ev);
    set(ev, s);
    body_->eval(ev, s, out);
  }

 private:
  void set(evaluation& ev, selection s) const {
    const std::size_t bytes = register_bytes(value_->type());
    auto* all = static_cast<char*>(ev.room(kChunk * bytes));
    if (s.at) {
      evaluation::scratch here(ev);
      auto* values = static_cast<char*>(ev.room(s.n * bytes));
      value_->eval(ev, s, values);
      for (std::uint32_t i = 0; i != s.n; ++i) std::memcpy(all + s.at[i] * bytes, values + i * bytes, bytes);
    } else {
      value_->eval(ev, s, all);
    }
    ev.variables[number_] = all;
  }
  std::size_t number_;
  computed_ptr value_, body_;
};

/// A registered function of one value.
class called final : public computed {
 public:
  called(std::shared_ptr<const callable> f, computed_ptr argument)
      : computed(f->out()), f_(std::move(f)), argument_(std::move(argument)) {}
  void eval(evaluation& ev, selection s, void* out) const override {
    const evaluation::objects& results = compute(ev, s);
    load(type(), results.data, type().size, {nullptr, s.n}, out);
  }
  void build(evaluation& ev, selection s, char* to, std::size_t stride) const override {
    evaluation::objects& results = compute(ev, s);
    results.constructed = 0;
    type().relocate(type(), to, results.data, s.n, stride, type().size);
  }

 private:
  evaluation::objects& compute(evaluation& ev, selection s) const {
    const element_type& in = f_->in();
    evaluation::objects& arguments = ev.kept_objects(in, s.n);
    argument_->build(ev, s, arguments.data, in.size);
    arguments.constructed = s.n;
    evaluation::objects& results = ev.kept_objects(type(), s.n);
    for (std::uint32_t i = 0; i != s.n;) {
      // In one call, unless numbers have to be those of elements that do not follow each other.
      std::uint32_t n = s.at ? 1 : s.n;
      status why;
      std::uint32_t done = f_->call(arguments.data + i * in.size, n, results.data + i * type().size,
                                    ev.ordinal() + s.element(i), ev.seed(), why);
      results.constructed += done;
      if (done != n) throw failed_at{s.element(i + done), std::string(why.message())};
      i += n;
    }
    return results;
  }

  std::shared_ptr<const callable> f_;
  computed_ptr argument_;
};

/// As the text of a string: what is computed of texts has no other type.
class as_string final : public computed {
 public:
  explicit as_string(computed_ptr of) : computed(type_of<std::string>()), of_(std::move(of)) {}
  void eval(evaluation& ev, selection s, void* out) const override { of_->eval(ev, s, out); }

 private:
  computed_ptr of_;
};

std::string fields_of(const element_type& t) {
  std::string out;
  for (auto& m : t.members) absl::StrAppend(&out, out.empty() ? "" : ", ", m.name);
  return out.empty() ? absl::StrCat(t.name, " has no fields") : absl::StrCat(t.name, " has ", out);
}
std::vector<std::string> names_of(const element_type& t) {
  std::vector<std::string> names;
  for (auto& m : t.members) names.push_back(m.name);
  return names;
}

/// `{label: int64, text: string}`
std::string structure_name(const std::vector<member>& members) {
  std::string out = "{";
  for (auto& m : members) absl::StrAppend(&out, out.size() == 1 ? "" : ", ", m.name, ": ", m.type->name);
  return out + "}";
}

computed_ptr number_literal(const expression_tree& e) {
  std::string_view s = e.text;
  bool is_hex = s.find("0x") != s.npos;
  bool is_real = !is_hex && s.find_first_of(".ef") != s.npos;
  if (is_real) {
    bool is_float = s.back() == 'f';
    if (is_float) s.remove_suffix(1);
    double value = 0;
    auto r = std::from_chars(s.data(), s.data() + s.size(), value);
    if (r.ec != std::errc()) checker::fail(e, absl::StrCat(e.text, " is no double"));
    return is_float ? literal::of(static_cast<float>(value)) : literal::of(value);
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
  // C++'s rule: the first of int, long and unsigned long that has the value.
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
  // What is computed of texts is a string; only the element itself has others.
  bool is_other =
      c->type().kind == kind::text && &c->type() != &type_of<std::string>() && !dynamic_cast<path*>(c.get());
  if (is_other) return std::make_unique<as_string>(std::move(c));
  return c;
}

computed_ptr checker::path_to(const element_type& t, std::size_t offset) {
  return std::make_unique<path>(paths_, t, offset);
}

/// The value of c has to be copied, unless it can be moved.
void checker::note_copy(const expression_tree& e, const computed& c) {
  if (c.type().copy || dynamic_cast<const called*>(&c)) return;
  if (!dynamic_cast<const path*>(&c)) fail(e, absl::StrCat(c.type().name, " cannot be copied"));
  needed_copies_.push_back({&e, &c});
}

computed_ptr checker::made(const expression_tree& e) {
  using tree = expression_tree;
  switch (e.kind) {
    case tree::number: return number_literal(e);
    case tree::text_: return std::make_unique<literal>(e.text);
    case tree::boolean: return literal::of(e.text == "true");
    case tree::name: return name(e);
    case tree::member: return member_of(e);
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

computed_ptr checker::make(const expression_tree& e, const element_type& wanted) {
  bool is_made = e.kind == expression_tree::structure || e.kind == expression_tree::tuple;
  if (is_made && wanted.has_members()) return structure(e, &wanted);
  computed_ptr c = make(e);
  if (&c->type() == &wanted) return c;
  auto from = number_of(c->type()), to = number_of(wanted);
  // What loses nothing, or is a constant that fits.
  bool may = from != number::none && to != number::none && &type_of_number(to) == &wanted &&
             (c->constant() || common(from, to) == to);
  if (may && (from == number::boolean) == (to == number::boolean))
    return at(e, [&] { return converted(std::move(c), to); });
  if (c->type().kind == kind::text && &wanted == &type_of<std::string>())
    return std::make_unique<as_string>(std::move(c));
  fail(e, absl::StrCat("expected ", wanted.name, ", and ", printed(e), " is ", c->type().name));
}

computed_ptr checker::name(const expression_tree& e) {
  if (e.text == "it") return path_to(in_, 0);
  for (std::size_t k = variables_.size(); k-- != 0;)
    if (variables_[k].name == e.text) return std::make_unique<variable_part>(*variables_[k].type, k);
  for (auto& m : in_.members)
    if (m.name == e.text) return path_to(*m.type, m.offset);
  fail(e, absl::StrCat("no field is named ", e.text, "; the element, `it`, is ", in_.name,
                       in_.has_members() ? absl::StrCat(", and ", fields_of(in_)) : "",
                       detail::did_you_mean(e.text, names_of(in_))));
}

computed_ptr checker::member_of(const expression_tree& e) {
  computed_ptr of = make(e.parts[0]);
  const element_type& t = of->type();
  for (auto& m : t.members) {
    if (m.name != e.text) continue;
    if (auto* p = dynamic_cast<path*>(of.get())) return path_to(*m.type, p->offset() + m.offset);
    return std::make_unique<member_part>(std::move(of), *m.type, m.offset);
  }
  fail(e, absl::StrCat(printed(e.parts[0]), " has no field ", e.text, ": ", fields_of(t),
                       detail::did_you_mean(e.text, names_of(t))));
}

computed_ptr checker::index(const expression_tree& e) {
  computed_ptr of = make(e.parts[0]);
  computed_ptr k = make(e.parts[1]);
  auto n = number_of(k->type());
  if (!is_integer(n))
    fail(e.parts[1], absl::StrCat("an index is an integer, and ", printed(e.parts[1]), " is ", k->type().name));
  const element_type& t = of->type();
  if (t.kind == kind::pair || t.kind == kind::tuple || t.kind == kind::structure) {
    if (!k->constant())
      fail(e.parts[1],
           absl::StrCat("the index of ", t.name, " must be a number, because its members have types of their own"));
    auto value = at(e, [&] { return converted(std::move(k), number::i64); });
    std::int64_t m = 0;
    std::memcpy(&m, value->constant(), sizeof m);
    if (m < 0 || m >= static_cast<std::int64_t>(t.members.size()))
      fail(e.parts[1], absl::StrCat("index ", m, " of ", t.name, ", which has ", t.members.size(), " members"));
    auto& found = t.members[static_cast<std::size_t>(m)];
    if (auto* p = dynamic_cast<path*>(of.get())) return path_to(*found.type, p->offset() + found.offset);
    return std::make_unique<member_part>(std::move(of), *found.type, found.offset);
  }
  if (t.kind == kind::text)
    fail(e, absl::StrCat("a text has no items; write ", printed(e.parts[0]), "[k:k + 1] for one byte of it"));
  if (t.kind != kind::list && t.kind != kind::array)
    fail(e, absl::StrCat(printed(e.parts[0]), " is ", t.name, ", which has no items"));
  if (auto* p = dynamic_cast<path*>(of.get()); p && t.kind == kind::array && k->constant()) {
    auto value = at(e, [&] { return converted(std::move(k), number::i64); });
    std::int64_t m = 0;
    std::memcpy(&m, value->constant(), sizeof m);
    auto extent = static_cast<std::int64_t>(t.extent);
    if (m < -extent || m >= extent) fail(e.parts[1], absl::StrCat("index ", m, " of ", t.name));
    if (m < 0) m += extent;
    return path_to(*t.element, p->offset() + static_cast<std::size_t>(m) * t.element->size);
  }
  const element_type& item = *t.element;
  k = at(e, [&] { return converted(std::move(k), number::i64); });
  return std::make_unique<item_part>(std::move(of), std::move(k), item);
}

namespace {

/// The place of a slice's bound in a list of n: negative ones count from the end, and what is beyond ends there.
std::size_t bound_of(std::int64_t k, std::size_t n) {
  auto size = static_cast<std::int64_t>(n);
  if (k < 0) k = std::max<std::int64_t>(0, k + size);
  return static_cast<std::size_t>(std::min(k, size));
}

}  // namespace

computed_ptr checker::slice(const expression_tree& e) {
  computed_ptr of = make(e.parts[0]);
  auto bound = [&](const expression_tree& b, std::int64_t otherwise) -> computed_ptr {
    if (b.kind == expression_tree::absent) return literal::of(otherwise);
    computed_ptr k = make(b);
    if (!is_integer(number_of(k->type())))
      fail(b, absl::StrCat("an index is an integer, and ", printed(b), " is ", k->type().name));
    return at(b, [&] { return converted(std::move(k), number::i64); });
  };
  computed_ptr first = bound(e.parts[1], 0), last = bound(e.parts[2], INT64_MAX);
  const element_type& t = of->type();
  if (t.kind == kind::text)
    return from_three<std::string_view, std::string_view, std::int64_t, std::int64_t>(
        type_of<std::string>(), std::move(of), std::move(first), std::move(last),
        [](evaluation&, std::string_view s, std::int64_t a, std::int64_t b) {
          std::size_t from = bound_of(a, s.size()), to = bound_of(b, s.size());
          return s.substr(from, to > from ? to - from : 0);
        });
  if (t.kind != kind::list && t.kind != kind::array)
    fail(e, absl::StrCat(printed(e.parts[0]), " is ", t.name, ", which has no items"));
  const element_type* list = list_of(t.element);
  if (!list) fail(e, absl::StrCat("there are no lists of ", t.element->name));
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
  std::size_t number = variables_.size();
  const element_type& t = value->type();
  variables_.push_back({e.text, t.kind == kind::text ? &type_of<std::string>() : &t});
  most_variables_ = std::max(most_variables_, variables_.size());
  computed_ptr body = make(e.parts[1]);
  variables_.pop_back();
  return std::make_unique<let_part>(number, std::move(value), std::move(body));
}

computed_ptr checker::unary(const expression_tree& e) {
  computed_ptr of = make(e.parts[0]);
  auto n = number_of(of->type());
  if (e.text == "!") {
    if (n != number::boolean)
      fail(e.parts[0], absl::StrCat("! expects bool, and ", printed(e.parts[0]), " is ", of->type().name));
    return from_one<bool, bool>(type_of<bool>(), std::move(of), [](evaluation&, bool v) { return !v; });
  }
  if (n == number::none || n == number::boolean)
    fail(e.parts[0], absl::StrCat("- expects a number, and ", printed(e.parts[0]), " is ", of->type().name));
  n = promoted(n);
  return negated(n, converted(std::move(of), n));
}

computed_ptr checker::binary(const expression_tree& e) {
  computed_ptr a = make(e.parts[0]), b = make(e.parts[1]);
  auto x = number_of(a->type()), y = number_of(b->type());
  bool texts = a->type().kind == kind::text && b->type().kind == kind::text;
  auto refuse = [&](std::string_view what) {
    fail(e, absl::StrCat(e.text, " expects ", std::string(what), "; ", printed(e.parts[0]), " is ", a->type().name,
                         ", and ", printed(e.parts[1]), " is ", b->type().name));
  };
  int level = precedence_of(e.text);
  if (level <= 2) {
    if (x != number::boolean || y != number::boolean) refuse("two bools");
    return both(std::move(a), std::move(b), e.text == "&&");
  }
  bool numbers = x != number::none && y != number::none;
  if (level == 3) {
    if (texts) return compared_texts(e.text, std::move(a), std::move(b));
    if (!numbers || (x == number::boolean) != (y == number::boolean)) refuse("two numbers or two texts");
    return at(e, [&] { return compared(e.text, std::move(a), std::move(b)); });
  }
  if (texts && e.text == "+")
    return from_two<std::string_view, std::string_view, std::string_view>(
        type_of<std::string>(), std::move(a), std::move(b), [](evaluation& ev, std::string_view s, std::string_view t) {
          char* to = ev.kept_room(s.size() + t.size());
          std::copy(t.begin(), t.end(), std::copy(s.begin(), s.end(), to));
          return std::string_view(to, s.size() + t.size());
        });
  if (!numbers || x == number::boolean || y == number::boolean)
    refuse(e.text == "+" ? "two numbers or two texts" : "two numbers");
  auto n = common(x, y);
  if (e.text == "%" && is_float(n)) refuse("integers (fmod() is for others)");
  return at(e, [&] { return arithmetic(e.text[0], n, converted(std::move(a), n), converted(std::move(b), n)); });
}

computed_ptr checker::structure(const expression_tree& e, const element_type* wanted) {
  bool is_tuple = e.kind == expression_tree::tuple;
  std::vector<computed_ptr> parts(e.parts.size());
  if (wanted) {
    if (wanted->members.size() != e.parts.size())
      fail(e, absl::StrCat("expected ", wanted->name, ", and ", fields_of(*wanted), "; ", printed(e), " has ",
                           e.parts.size()));
    for (std::size_t k = 0; k != e.parts.size(); ++k) {
      std::size_t to = k;
      if (!is_tuple) {
        for (to = 0; to != wanted->members.size() && wanted->members[to].name != e.names[k];) ++to;
        if (to == wanted->members.size())
          fail(e.parts[k], absl::StrCat(fields_of(*wanted), ", and no ", e.names[k],
                                        detail::did_you_mean(e.names[k], names_of(*wanted))));
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
  const element_type* t = nullptr;
  if (is_tuple) {
    t = types.size() == 2 ? pair_of(types[0], types[1]) : tuple_of(types);
  } else {
    std::vector<member> members;
    for (std::size_t k = 0; k != types.size(); ++k) members.push_back({e.names[k], 0, types[k]});
    t = struct_of(structure_name(members), members);
  }
  return std::make_unique<made_structure>(*t, std::move(parts));
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
  const element_type* list = list_of(item);
  if (!list) fail(e, absl::StrCat("there are no lists of ", item->name));
  for (std::size_t k = 0; k != parts.size(); ++k) {
    if (numbers) parts[k] = at(e.parts[k], [&] { return converted(std::move(parts[k]), n); });
    else if (texts) parts[k] = std::make_unique<as_string>(std::move(parts[k]));
    else if (&parts[k]->type() != item)
      fail(e.parts[k], absl::StrCat("the items of a list have one type; the first is ", item->name, ", and ",
                                    printed(e.parts[k]), " is ", parts[k]->type().name));
  }
  return std::make_unique<made_list>(*list, std::move(parts));
}

computed_ptr checker::condition(const expression_tree& e) {
  if (e.parts.size() != 3)
    fail(e, absl::StrCat("if expects three values, as in if(condition, a, b), and has ", e.parts.size()));
  computed_ptr c = make(e.parts[0]), a = make(e.parts[1]), b = make(e.parts[2]);
  if (number_of(c->type()) != number::boolean)
    fail(e.parts[0], absl::StrCat("the condition must be bool, and ", printed(e.parts[0]), " is ", c->type().name));
  auto x = number_of(a->type()), y = number_of(b->type());
  bool numbers = x != number::none && y != number::none && (x == number::boolean) == (y == number::boolean);
  if (numbers && &a->type() != &b->type()) {
    auto n = common(x, y);
    a = at(e.parts[1], [&] { return converted(std::move(a), n); });
    b = at(e.parts[2], [&] { return converted(std::move(b), n); });
  } else if (a->type().kind == kind::text && b->type().kind == kind::text) {
    a = std::make_unique<as_string>(std::move(a));
    b = std::make_unique<as_string>(std::move(b));
  }
  if (&a->type() != &b->type())
    fail(e, absl::StrCat("both values of if() must have one type; ", printed(e.parts[1]), " is ", a->type().name,
                         ", and ", printed(e.parts[2]), " is ", b->type().name));
  return choose(std::move(c), std::move(a), std::move(b));
}

computed_ptr checker::registered(const expression_tree& e) {
  if (e.parts.empty()) return nullptr;
  computed_ptr argument;
  if (e.parts.size() == 1) {
    argument = make(e.parts[0]);
  } else {
    expression_tree all = e;
    all.kind = expression_tree::tuple;
    argument = structure(all, nullptr);
  }
  std::string why;
  auto f = functions_.find(e.text, argument->type(), why);
  if (!f && argument->type().kind == kind::text && &argument->type() != &type_of<std::string>()) {
    std::string why_not_a_string;
    f = functions_.find(e.text, type_of<std::string>(), why_not_a_string);
    if (f) argument = std::make_unique<as_string>(std::move(argument));
  }
  if (!f) {
    if (!why.empty()) fail(e, why);
    return nullptr;
  }
  if (e.parts.size() == 1) note_copy(e.parts[0], *argument);
  if (f->draws()) note_draw();
  return std::make_unique<called>(std::move(f), std::move(argument));
}

computed_ptr checker::call(const expression_tree& e) {
  if (e.text == "if") return condition(e);
  if (auto make_it = find_built_in(e.text)) {
    function_arguments arguments{*this, e, {}};
    for (auto& part : e.parts) arguments.parts.push_back(make(part));
    return at(e, [&] { return make_it(arguments); });
  }
  if (auto made = registered(e)) return made;
  std::vector<std::string> known = built_in_names();
  for (std::string& name : functions_.names()) known.push_back(std::move(name));
  fail(e, absl::StrCat("there is no function ", e.text, detail::did_you_mean(e.text, known)));
}

void checker::let_move(computed& root) const {
  std::vector<computed*> direct{&root};
  for (std::size_t k = 0; k != direct.size(); ++k) {
    if (auto* s = dynamic_cast<made_structure*>(direct[k]))
      for (auto& part : s->parts()) direct.push_back(part.get());
    auto* p = dynamic_cast<path*>(direct[k]);
    if (!p || !p->can_move()) continue;
    bool is_alone = true;
    for (const path* other : *paths_)
      if (other != p && other->offset() < p->end() && p->offset() < other->end()) is_alone = false;
    if (is_alone) p->let_move();
  }
  for (const needed_copy& n : needed_copies_)
    if (!static_cast<const path*>(n.part)->moves())
      fail(*n.e, absl::StrCat(printed(*n.e), " is ", n.part->type().name,
                              ", which cannot be copied; it can be used once, as a part of what is made"));
}

// --- What built-in functions ask. ---

void function_arguments::expected(std::size_t k, std::string_view what) const {
  checker::fail(e.parts[k], absl::StrCat(e.text, ": expects ", std::string(what), ", and ", printed(e.parts[k]), " is ",
                                         parts[k]->type().name));
}

void function_arguments::need(std::size_t least, std::size_t most) const {
  if (count() >= least && count() <= most) return;
  std::string range = least == most      ? absl::StrCat(least)
                      : most == SIZE_MAX ? absl::StrCat("at least ", least)
                                         : absl::StrCat(least, " to ", most);
  fail(absl::StrCat("takes ", range, range == "1" ? " value" : " values", ", and has ", count()));
}

computed_ptr function_arguments::as(std::size_t k, number n) {
  auto own = number_at(k);
  bool fits = own != number::none && own != number::boolean && (is_float(n) || is_integer(own));
  if (!fits) expected(k, is_float(n) ? "a number" : "an integer");
  return checker::at(e.parts[k], [&] { return converted(std::move(parts[k]), n); });
}

computed_ptr function_arguments::text(std::size_t k) {
  if (parts[k]->type().kind != kind::text) expected(k, "a text");
  return std::move(parts[k]);
}

computed_ptr function_arguments::list(std::size_t k) {
  auto kind = parts[k]->type().kind;
  if (kind != kind::list && kind != kind::array) expected(k, "a list");
  return std::move(parts[k]);
}

computed_ptr function_arguments::boolean(std::size_t k) {
  if (number_at(k) != number::boolean) expected(k, "bool");
  return std::move(parts[k]);
}

make_built_in find_built_in(std::string_view name) {
  static const auto table = [] {
    std::map<std::string_view, make_built_in> all;
    for (auto* functions : {&number_functions(), &text_functions(), &list_functions()})
      for (auto& f : *functions) all.emplace(f.name, f.make);
    return all;
  }();
  auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

std::vector<std::string> built_in_names() {
  std::vector<std::string> names{"if", "let"};
  for (auto* functions : {&number_functions(), &text_functions(), &list_functions()})
    for (auto& f : *functions) names.emplace_back(f.name);
  return names;
}

}  // namespace sluice::lib::expressions
