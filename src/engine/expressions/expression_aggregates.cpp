// SPDX-License-Identifier: Apache-2.0
// Expressions as aggregates: group_by(city, {n: count(), total: sum(x)}). In the braces the outermost call of each member
// is an aggregate of the rows of a group, and its argument is computed for each row.
//
// A part of the input is computed in columns, one for each aggregate, and then added to the groups, column by column.
// Sums of integers are kept in 128 bits, so that no order of the rows overflows; the total is checked.
#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/text/closest.hpp"
#include "engine/expressions/expression_forms.hpp"
#include "engine/held/held_elements.hpp"
#include "expr/checking/type_limits.hpp"
#include "expr/functions/numbers.hpp"
#include "expr/program.hpp"
#include "sluice/element/slab.hpp"
#include "sluice/engine/detail/aggregates.hpp"

namespace sluice::lib {

aggregate_states::~aggregate_states() = default;

namespace {

using expressions::number;
__extension__ using int128 = __int128;

/// What an aggregate computes of each row. Immutable.
struct row_value {
  std::shared_ptr<const compiled_expression> c;
  const element_type* type = nullptr;  ///< of a value that exists
  bool is_optional = false;

  number kind() const { return expressions::number_of(*type); }
};

/// The values of the rows of one part of the input.
class column_of_values {
 public:
  explicit column_of_values(const row_value& v) : value_(v), objects_(v.c->p->type()) {}

  applied compute(const block& in) {
    const std::uint32_t n = in.size();
    exist_.resize(n);
    applied a;
    if (value_.kind() != number::none) {
      numbers_.resize(n * value_.type->size);
      a.done = value_.c->p->numbers(in.data(), n, numbers_.data(), exist_.data(), a.why);
      return a;
    }
    const element_type& t = value_.c->p->type();
    char* to = objects_.reserve(n);
    a.done = value_.c->p->apply(in.data(), n, to, 0, 0, a.why);
    objects_.set_live(0, a.done);
    at_.resize(n);
    for (std::uint32_t i = 0; i != a.done; ++i) {
      std::size_t exists = 1;
      at_[i] = to + i * t.size;
      if (value_.is_optional) at_[i] = static_cast<const char*>(t.items(t, at_[i], exists));
      exist_[i] = static_cast<char>(exists);
    }
    return a;
  }
  bool exists(std::uint32_t i) const { return exist_[i] != 0; }
  template <class T> T number_at(std::uint32_t i) const {
    T v;
    std::memcpy(&v, numbers_.data() + i * sizeof v, sizeof v);
    return v;
  }
  const char* object_at(std::uint32_t i) const { return at_[i]; }
  void forget() { objects_.clear(); }

 private:
  const row_value& value_;
  std::vector<char> numbers_, exist_;
  slab objects_;
  std::vector<const char*> at_;
};

/// One aggregate of all groups.
class aggregate {
 public:
  aggregate(const element_type& type, const row_value* value) : type_(type) {
    if (value) column_ = std::make_unique<column_of_values>(*value);
  }
  aggregate(const aggregate&) = delete;
  virtual ~aggregate() = default;

  const element_type& type() const { return type_; }
  applied compute(const block& in) {
    if (column_) return column_->compute(in);
    return {in.size(), {}};
  }
  /// Makes states for `count` groups, and adds the rows' values to them.
  virtual void add(const std::uint32_t* groups, std::uint32_t n, std::uint32_t count) = 0;
  /// Constructs the value at `to`.
  virtual status build(std::uint32_t group, char* to) = 0;
  virtual std::size_t bytes() const = 0;

 protected:
  const column_of_values& column() const { return *column_; }
  void forget_column() { column_->forget(); }
  /// Constructs the value, or, for an optional, an optional with or without it.
  template <class T> void construct(char* to, T value, bool exists) const {
    if (type_.kind == kind::maybe) type_.collect(type_, to, &value, exists, exists, sizeof value);
    else std::memcpy(to, &value, sizeof value);
  }

 private:
  const element_type& type_;
  std::unique_ptr<column_of_values> column_;
};

/// count() has no value, and count(x) counts those that exist.
class row_count final : public aggregate {
 public:
  explicit row_count(const row_value* value) : aggregate(type_of<std::int64_t>(), value), has_value_(value) {}
  void add(const std::uint32_t* groups, std::uint32_t n, std::uint32_t count) override {
    counts_.resize(count);
    for (std::uint32_t i = 0; i != n; ++i) counts_[groups[i]] += !has_value_ || column().exists(i);
    if (has_value_) forget_column();
  }
  status build(std::uint32_t group, char* to) override {
    construct(to, counts_[group], true);
    return {};
  }
  std::size_t bytes() const override { return counts_.capacity() * sizeof counts_[0]; }

 private:
  bool has_value_;
  std::vector<std::int64_t> counts_;
};

template <class T> using total_of = std::conditional_t<std::is_floating_point_v<T>, double, int128>;

template <class T, bool IsMean> class added_values final : public aggregate {
 public:
  using result = std::conditional_t<
      IsMean || std::is_floating_point_v<T>, double,
      std::conditional_t<std::is_unsigned_v<T> && !std::is_same_v<T, bool>, std::uint64_t, std::int64_t>>;
  added_values(const element_type& type, const row_value& value) : aggregate(type, &value) {}
  void add(const std::uint32_t* groups, std::uint32_t n, std::uint32_t count) override {
    states_.resize(count);
    for (std::uint32_t i = 0; i != n; ++i) {
      if (!column().exists(i)) continue;
      state& s = states_[groups[i]];
      s.sum += column().template number_at<T>(i);
      ++s.n;
    }
  }
  status build(std::uint32_t group, char* to) override {
    const state& s = states_[group];
    if constexpr (IsMean) {
      construct(to, static_cast<double>(s.sum) / static_cast<double>(s.n), s.n != 0);
    } else {
      if constexpr (std::is_integral_v<result>)
        if (s.sum > std::numeric_limits<result>::max() || s.sum < std::numeric_limits<result>::min())
          return invalid_argument_error("sum: the total is no " + type_of<result>().name);
      construct(to, static_cast<result>(s.sum), s.n != 0);
    }
    return {};
  }
  std::size_t bytes() const override { return states_.capacity() * sizeof(state); }

 private:
  struct state {
    total_of<T> sum = 0;
    std::uint64_t n = 0;
  };
  std::vector<state> states_;
};

enum class selects : std::uint8_t { least, most, first };

/// Returns true if a later value replaces the present one. A NaN stays, and replaces all others.
template <class T> bool replaces(selects which, const T& value, const T& present) {
  if (which == selects::first) return false;
  if constexpr (std::is_floating_point_v<T>) {
    if (present != present) return false;
    if (value != value) return true;
  }
  return which == selects::least ? value < present : value > present;
}

template <class T> class chosen_number final : public aggregate {
 public:
  chosen_number(const element_type& type, const row_value& value, selects which)
      : aggregate(type, &value), which_(which) {}
  void add(const std::uint32_t* groups, std::uint32_t n, std::uint32_t count) override {
    states_.resize(count);
    for (std::uint32_t i = 0; i != n; ++i) {
      if (!column().exists(i)) continue;
      state& s = states_[groups[i]];
      const T v = column().template number_at<T>(i);
      if (!s.exists || replaces(which_, v, s.value)) s.value = v;
      s.exists = true;
    }
  }
  status build(std::uint32_t group, char* to) override {
    construct(to, states_[group].value, states_[group].exists);
    return {};
  }
  std::size_t bytes() const override { return states_.capacity() * sizeof(state); }

 private:
  struct state {
    T value{};
    bool exists = false;
  };
  std::vector<state> states_;
  selects which_;
};

/// Values that are no numbers: texts, and, for first(), all that can be copied.
class chosen_object final : public aggregate {
 public:
  chosen_object(const element_type& type, const row_value& value, selects which)
      : aggregate(type, &value), value_(*value.type), which_(which) {}
  ~chosen_object() override {
    for (char* state : states_)
      if (state) release(state);
  }
  void add(const std::uint32_t* groups, std::uint32_t n, std::uint32_t count) override {
    states_.resize(count);
    for (std::uint32_t i = 0; i != n; ++i) {
      char*& state = states_[groups[i]];
      if (!column().exists(i)) continue;
      const char* v = column().object_at(i);
      if (state && (which_ == selects::first || !replaces(which_, value_.text(v), value_.text(state)))) continue;
      char* made = copied(v);
      if (state) release(state);
      state = made;
    }
    forget_column();
  }
  status build(std::uint32_t group, char* to) override {
    char* state = states_[group];
    const bool exists = state != nullptr;
    if (type().kind == kind::maybe) type().collect(type(), to, state, exists, 0, value_.size);
    else value_.copy(value_, to, state, 1, value_.size, value_.size);
    return {};
  }
  std::size_t bytes() const override { return states_.capacity() * sizeof(char*) + bytes_; }

 private:
  char* copied(const char* v) {
    auto* to = static_cast<char*>(::operator new(value_.size, std::align_val_t(value_.align)));
    try {
      value_.copy(value_, to, v, 1, value_.size, value_.size);
    } catch (...) {
      ::operator delete(to, std::align_val_t(value_.align));
      throw;
    }
    bytes_ += size_of(to);
    return to;
  }
  void release(char* state) {
    bytes_ -= size_of(state);
    value_.destroy(value_, state, 1);
    ::operator delete(state, std::align_val_t(value_.align));
  }
  std::size_t size_of(const char* state) const { return value_.size + owned_bytes_of(value_, state, 1); }

  const element_type& value_;
  std::vector<char*> states_;
  std::size_t bytes_ = 0;
  selects which_;
};

/// Describes one member: how its states are made.
struct described_aggregate {
  std::string function;
  row_value value;  ///< without `c`: count()
  const element_type* type = nullptr;

  std::unique_ptr<aggregate> make() const {
    if (function == "count") return std::make_unique<row_count>(value.c ? &value : nullptr);
    const selects which = function == "min" ? selects::least : function == "max" ? selects::most : selects::first;
    if (value.kind() == number::none) return std::make_unique<chosen_object>(*type, value, which);
    return expressions::with_number(value.kind(), [&]<class T>(std::type_identity<T>) -> std::unique_ptr<aggregate> {
      if (function == "sum") return std::make_unique<added_values<T, false>>(*type, value);
      if (function == "mean") return std::make_unique<added_values<T, true>>(*type, value);
      return std::make_unique<chosen_number<T>>(*type, value, which);
    });
  }
};

class states_of_aggregates final : public aggregate_states {
 public:
  explicit states_of_aggregates(const std::vector<described_aggregate>& described) {
    for (const described_aggregate& d : described) all_.push_back(d.make());
  }
  applied compute(const block& in) override {
    applied worst{in.size(), {}};
    for (auto& one : all_) {
      applied a = one->compute(in.first(worst.done));
      if (!a.why.ok()) worst = std::move(a);
    }
    return worst;
  }
  void add(const std::uint32_t* groups, std::uint32_t n, std::uint32_t count) override {
    for (auto& one : all_) one->add(groups, n, count);
  }
  status build(std::uint32_t group, char* to, const std::size_t* offsets) override {
    for (std::size_t k = 0; k != all_.size(); ++k) {
      status why = all_[k]->build(group, to + offsets[k]);
      if (why.ok()) continue;
      while (k-- != 0) all_[k]->type().destroy(all_[k]->type(), to + offsets[k], 1);
      return why;
    }
    return {};
  }
  std::size_t bytes() const override {
    std::size_t all = 0;
    for (auto& one : all_) all += one->bytes();
    return all;
  }

 private:
  std::vector<std::unique_ptr<aggregate>> all_;
};

[[noreturn]] void refuse_aggregate(const expression_tree& e, std::string_view what) {
  throw expression_error(e.at, what);
}

constexpr std::string_view kAggregates[] = {"count", "sum", "mean", "min", "max", "first"};
constexpr std::string_view kWays = "count(), count(x), sum(x), mean(x), min(x), max(x) or first(x)";

bool is_aggregate(const expression_tree& e) {
  return e.kind == expression_tree::call && std::ranges::find(kAggregates, e.text) != std::end(kAggregates);
}
/// Returns `{n: count()}` for count(), `{sum: sum(x)}` for sum(x).
std::string in_braces(const expression_tree& e) {
  return absl::StrCat("{", e.text == "count" ? "n" : e.text, ": ", expressions::shown(e), "}");
}
/// Returns the first aggregate within an expression; null if it has none.
const expression_tree* aggregate_in(const expression_tree& e) {
  if (is_aggregate(e)) return &e;
  for (const expression_tree& part : e.parts)
    if (const expression_tree* found = aggregate_in(part)) return found;
  return nullptr;
}
std::string message_of_no_aggregate(const expression_tree& e, const std::string& as) {
  const std::string written = expressions::shown(e);
  if (e.kind == expression_tree::call && !is_built_in_function(e.text) && find_functions(e.text).empty()) {
    static constexpr std::pair<std::string_view, std::string_view> kOthers[] = {{"avg", "mean"},    {"average", "mean"},
                                                                                {"total", "sum"},   {"minimum", "min"},
                                                                                {"maximum", "max"}, {"any", "first"}};
    for (const auto& [other, ours] : kOthers)
      if (e.text == other && e.parts.size() == 1)
        return absl::StrCat(as, ": there is no aggregate ", e.text, "; write ", as, ": ", std::string(ours), "(",
                            expressions::shown(e.parts[0]), ")");
    return absl::StrCat(as, ": there is no aggregate ", e.text, "; there are ", std::string(kWays));
  }
  for (const std::string_view name : {"count", "sum", "mean", "min", "max", "first"})
    if (e.kind == expression_tree::name && e.text == name)
      return absl::StrCat(as, ": an aggregate is a call: write ", as, ": ", e.text,
                          name == "count" ? "()" : "(COLUMN)");
  const expression_tree* within = aggregate_in(e);
  if (within)
    return absl::StrCat(as, ": the outermost call must be an aggregate, ", std::string(kWays), "; write ", as, ": ",
                        expressions::shown(*within), ", and compute the rest in a map after group_by");
  return absl::StrCat(as, ": ", written, " is not an aggregate; write ", as, ": first(", written, "), or sum(", written,
                      "), mean(), min(), max() or count()");
}

/// Returns the type of a result, which is an optional if all values of a group may be missing.
const element_type* result_type(const element_type& t, bool is_optional) { return is_optional ? maybe_of(&t) : &t; }

struct expression_aggregates final : aggregate_function {
  std::vector<described_aggregate> described;
  const expression read;

  expression_aggregates(const expression& e, const element_type& in_type, const element_type* wanted_type) : read(e) {
    const expression_tree& t = e.tree();
    if (t.kind != expression_tree::structure)
      refuse_aggregate(t, absl::StrCat("the aggregates stand in braces, each with a name, as in ",
                                       is_aggregate(t)                   ? in_braces(t)
                                       : t.kind == expression_tree::name ? absl::StrCat("{total: sum(", t.text, ")}")
                                                                         : "{n: count(), total: sum(x)}"));
    name = e.text();
    version = kExpressionLanguageVersion;
    is_expression = true;
    in = &in_type;
    wanted = wanted_type;
    facts = {.concurrent = true, .pure = true, .may_fail = false};
    reads = names_read::none();
    std::vector<member> members;
    for (std::size_t k = 0; k != t.parts.size(); ++k) {
      described.push_back(describe(t.parts[k], t.names[k]));
      members.push_back({t.names[k], 0, described.back().type});
    }
    out = struct_of("", std::move(members));
  }
  std::unique_ptr<aggregate_states> make() const override { return std::make_unique<states_of_aggregates>(described); }
  function_ptr for_input(const element_type& other) const override {
    return std::make_shared<expression_aggregates>(read, other, wanted);
  }

 private:
  described_aggregate describe(const expression_tree& e, const std::string& as) {
    if (!is_aggregate(e)) refuse_aggregate(e, message_of_no_aggregate(e, as));
    described_aggregate d;
    d.function = e.text;
    const bool is_count = e.text == "count";
    if (!e.names.empty())
      refuse_aggregate(e, absl::StrCat(e.text, " has no arguments by name; to compare, write == in place of ="));
    if (e.parts.size() > 1 || (e.parts.empty() && !is_count))
      refuse_aggregate(e, absl::StrCat(e.text, " as an aggregate takes ", is_count ? "no value, or one" : "one value",
                                       ", and has ", e.parts.size()));
    if (!e.parts.empty()) {
      const expression_tree& of = e.parts[0];
      auto c = std::make_shared<compiled_expression>(expression(expressions::printed(of), of.at), *in, nullptr,
                                                     expression_scope{.is_looked_at = true});
      captured = derive(captured, c->used.values());
      values_known &= c->used.values_known();
      add_facts_of(*c);
      const element_type& t = c->p->type();
      d.value.is_optional = t.kind == kind::maybe;
      d.value.type = d.value.is_optional ? t.element : &t;
      d.value.c = std::move(c);
      check_value(e, d);
    }
    d.type = type_of_result(d);
    return d;
  }
  void add_facts_of(const compiled_expression& c) {
    const function_facts more = facts_of(c);
    facts.concurrent &= more.concurrent;
    facts.pure &= more.pure;
    facts.may_fail |= more.may_fail;
    reads.add(members_read_by(c));
  }
  static void check_value(const expression_tree& e, const described_aggregate& d) {
    const element_type& t = *d.value.type;
    const bool is_number = d.value.kind() != number::none;
    const bool needs_number = e.text == "sum" || e.text == "mean";
    const bool needs_order = e.text == "min" || e.text == "max";
    const bool fits = needs_number ? is_number : needs_order ? is_number || t.kind == kind::text : true;
    if (!fits || !t.copy || !d.value.c->p->type().copy)
      refuse_aggregate(e.parts[0], absl::StrCat(e.text, ": expects ",
                                                needs_number  ? "a number"
                                                : needs_order ? "a number or a text"
                                                              : "a value that can be copied",
                                                ", and ", expressions::subject(e.parts[0]), " is ",
                                                expressions::shown(d.value.c->p->type())));
  }
  static const element_type* type_of_result(const described_aggregate& d) {
    if (d.function == "count") return &type_of<std::int64_t>();
    if (d.value.kind() == number::none) return result_type(*d.value.type, d.value.is_optional);
    return expressions::with_number(d.value.kind(), [&]<class T>(std::type_identity<T>) {
      if (d.function == "sum")
        return result_type(type_of<typename added_values<T, false>::result>(), d.value.is_optional);
      if (d.function == "mean") return result_type(type_of<double>(), d.value.is_optional);
      return result_type(type_of<T>(), d.value.is_optional);
    });
  }
};

}  // namespace

function_ptr make_expression_aggregates(const expression& e, const element_type& in, const element_type* wanted) {
  return std::make_shared<expression_aggregates>(e, in, wanted);
}

std::string column_named_by(const stage_function& f) {
  if (!f.is_expression) return {};
  try {
    const expression_tree t = expressions::read_expression(f.name, 1);
    const bool is_name = t.kind == expression_tree::name || t.kind == expression_tree::member;
    return is_name && t.text != "it" ? t.text : std::string();
  } catch (const expression_error&) { return {}; }
}

std::string text_for_column(const stage_function& f, std::string_view argument) {
  if (!f.is_expression) return {};
  try {
    const expression_tree t = expressions::read_expression(f.name, 1);
    if (t.kind != expression_tree::text_) return {};
    const std::string column = expressions::is_plain_word(t.text) ? t.text : absl::StrCat("`", t.text, "`");
    return absl::StrCat(std::string(argument), " is the text ", f.name,
                        ", which is the same for every element; a column is named without quotes: ", column);
  } catch (const expression_error&) { return {}; }
}

}  // namespace sluice::lib
