// SPDX-License-Identifier: Apache-2.0
#include "plan/fake_operators.hpp"

#include <cmath>
#include <map>
#include <optional>

#include "plan/codecs/arguments_of.hpp"

namespace sluice::lib {

namespace {

struct range_options {
  std::int64_t start = 0;
  std::int64_t step = 1;
};
struct range_arguments {
  integer stop = {};
  range_options options = {};
};
struct file_options {
  sluice::lib::compression compression = compression::automatic;
  byte_size buffer = 1 << 20;
};
struct file_arguments {
  file_path path = {};
  file_options options = {};
};
struct shuffle_options {
  sluice::lib::seed seed = {};
  bool reshuffle_each_iteration = true;
};
struct shuffle_arguments {
  count buffer_size = {};
  shuffle_options options = {};
};
struct work_options {
  knob parallelism = 1;
  sluice::lib::order order = order::deterministic;
};
struct map_arguments {
  function_arg<test::fake_function> function = {};
  work_options options = {};
};
struct filter_arguments {
  function_arg<test::fake_predicate> function = {};
};
struct interleave_options {
  count cycle_length = 4;
  knob parallelism = autotune;
};
struct interleave_arguments {
  inner_plan<opens::readers, test::fake_function> inner = {};
  interleave_options options = {};
};
struct flat_map_arguments {
  inner_plan<opens::any_plan> inner = {};
};
struct take_arguments {
  integer n = {};
};
struct repeat_arguments {
  std::int64_t times = -1;
};
struct prefetch_arguments {
  knob buffer_size = autotune;
};
struct cache_arguments {
  required_text path = {};
};
struct sample_options {
  double weight = 0.5;
  sluice::lib::seed seed = {};
};
struct sample_arguments {
  sample_options options = {};
};

// Two functions, and lists.
struct group_options {
  std::vector<std::int64_t> boundaries = {};
  std::vector<double> weights = {0.5, 0.5};
  knob ahead = 1;
};
struct group_arguments {
  function_arg<test::fake_function> key = {};
  function_arg<test::fake_function, test::fake_predicate> reduce = {};
  count size = {};
  group_options options = {};
};

// Maps, optional values, structs, and lists and maps of those.
struct window_fields {
  count size = {};
  std::int64_t shift = 1;
  knob ahead = 1;
};
struct columns_options {
  std::optional<std::int64_t> limit = {};
  std::optional<std::string> label = "none";
  window_fields window = {4};
  std::vector<window_fields> windows = {};
  std::map<std::string, std::vector<std::string>> names = {};
  std::vector<compression> tried = {};
  std::vector<std::vector<count>> table = {};
};
struct columns_arguments {
  std::map<std::string, double> defaults = {};
  columns_options options = {};
};

// Plans and functions in lists and maps.
struct route_arguments {
  std::vector<node_ptr> branches = {};
  std::vector<function_arg<test::fake_function>> functions = {};
  std::map<std::string, inner_plan<opens::any_plan, test::fake_function>> inners = {};
};

// Several inputs, a function behind them, and one that may be left out.
struct join_options {
  std::optional<function_arg<test::fake_function>> key = {};
};
struct join_arguments {
  function_arg<test::fake_predicate> on = {};
  join_options options = {};
};

const element_type* same_as_input(const node& n, std::string&) { return n.inputs[0]->type; }

const element_type* number(const node&, std::string&) { return &type_of<std::int64_t>(); }
const element_type* text(const node&, std::string&) { return &type_of<std::string>(); }

const element_type* made_by(const function_ptr& f, const node& n, std::string& why) {
  if (f->in == n.inputs[0]->type) return f->out;
  why = "expects " + f->in->name + ", and gets " + n.inputs[0]->type->name;
  return nullptr;
}

const element_type* mapped(const node& n, std::string& why) {
  return made_by(n.as<map_arguments>().function.value, n, why);
}

const element_type* of_inner(const plan_or_function& inner, const node& n, std::string& why) {
  if (!inner.plan) return made_by(inner.function, n, why);
  if (inner.plan->lacks_path && !n.inputs[0]->type->text) {
    why = "expects paths, and gets " + n.inputs[0]->type->name;
    return nullptr;
  }
  return inner.plan->type;
}

const element_type* stacked(const node& n, std::string& why) {
  auto* t = batched_of(n.inputs[0]->type);
  if (!t) why = "rows of this element cannot be stacked";
  return t;
}

const element_type* zipped(const node& n, std::string&) { return pair_of(n.inputs[0]->type, n.inputs[1]->type); }

const element_type* all_alike(const node& n, std::string& why) {
  for (auto& i : n.inputs)
    if (i->type != n.inputs[0]->type) return why = "inputs differ", nullptr;
  return n.inputs[0]->type;
}

cardinality taken(const node& n) {
  auto c = cardinality_of(*n.inputs[0]);
  auto most = n.as<take_arguments>().n.value;
  if (c.kind == cardinality::infinite) return cardinality::of(most);
  if (c.kind == cardinality::exact) return cardinality::of(std::min(c.elements, most));
  return c;
}
cardinality counted(const node& n) { return cardinality::of(n.as<range_arguments>().stop); }

const op_info kRange{.name = "range",
                     .doc = "0, 1, 2 …",
                     .shape = op_info::source,
                     .arguments = arguments_of<range_arguments>,
                     .type = number,
                     .facts = {.size = counted}};
const op_info kLines{
    .name = "lines", .doc = "", .shape = op_info::source, .arguments = arguments_of<file_arguments>, .type = text};
const op_info kShuffle{
    .name = "shuffle", .doc = "", .arguments = arguments_of<shuffle_arguments>, .type = same_as_input};
const op_info kTake{
    .name = "take", .doc = "", .arguments = arguments_of<take_arguments>, .type = same_as_input, .facts = {.size = taken}};
const op_info kRepeat{.name = "repeat", .doc = "", .arguments = arguments_of<repeat_arguments>, .type = same_as_input};
const op_info kPrefetch{
    .name = "prefetch", .doc = "", .arguments = arguments_of<prefetch_arguments>, .type = same_as_input};
const op_info kBatch{.name = "batch", .doc = "", .arguments = arguments_of<shuffle_arguments>, .type = stacked};
const op_info kCache{.name = "cache", .doc = "", .arguments = arguments_of<cache_arguments>, .type = same_as_input};
const op_info kMap{.name = "map", .doc = "", .arguments = arguments_of<map_arguments>, .type = mapped};
const op_info kFilter{.name = "filter", .doc = "", .arguments = arguments_of<filter_arguments>, .type = same_as_input};
const op_info kInterleave{
    .name = "interleave",
    .doc = "",
    .arguments = arguments_of<interleave_arguments>,
    .type = [](const node& n, std::string& why) { return of_inner(n.as<interleave_arguments>().inner, n, why); }};
const op_info kFlatMap{
    .name = "flat_map",
    .doc = "",
    .arguments = arguments_of<flat_map_arguments>,
    .type = [](const node& n, std::string& why) { return of_inner(n.as<flat_map_arguments>().inner, n, why); }};
const op_info kZip{.name = "zip", .doc = "", .shape = op_info::combine, .type = zipped};
const op_info kSample{.name = "sample_from",
                      .doc = "",
                      .shape = op_info::combine,
                      .arguments = arguments_of<sample_arguments>,
                      .type = all_alike};
const op_info kGroup{.name = "group", .doc = "", .arguments = arguments_of<group_arguments>, .type = same_as_input};
const op_info kColumns{
    .name = "columns", .doc = "", .arguments = arguments_of<columns_arguments>, .type = same_as_input};
const op_info kRoute{.name = "route", .doc = "", .arguments = arguments_of<route_arguments>, .type = same_as_input};
const op_info kJoin{
    .name = "join", .doc = "", .shape = op_info::combine, .arguments = arguments_of<join_arguments>, .type = all_alike};

}  // namespace

namespace test {

std::span<const op_info* const> fake_operators() {
  static const op_info* const all[] = {&kRange, &kLines,  &kShuffle, &kTake,    &kRepeat,     &kPrefetch,
                                       &kBatch, &kCache,  &kMap,     &kFilter,  &kInterleave, &kFlatMap,
                                       &kZip,   &kSample, &kGroup,   &kColumns, &kRoute,      &kJoin};
  return all;
}

fake_function::fake_function(std::string n, int v, const element_type* i, const element_type* o) {
  name = std::move(n);
  version = v;
  in = i;
  out = o;
}
fake_predicate::fake_predicate(std::string n, int v, const element_type* i) {
  name = std::move(n);
  version = v;
  in = i;
  out = &type_of<bool>();
}

void register_fake_functions() {
  auto* text = &type_of<std::string>();
  auto* number = &type_of<std::int64_t>();
  add_function(std::make_shared<fake_function>("length_of", 3, text, number));
  add_function(std::make_shared<fake_predicate>("length_of", 3, text));
  add_function(std::make_shared<fake_function>("next_of", 1, number, number));
}

namespace {

// Statements, not arguments: their order of evaluation differs between compilers, and one seed must be one plan.
class plan_generator {
 public:
  explicit plan_generator(std::mt19937_64& random) : random_(random) {}

  node_ptr plan(int depth, bool reader) {
    node_ptr n = depth <= 1 || chance(8) == 0 ? source(reader) : inner(depth, reader);
    return n;
  }

 private:
  std::uint64_t chance(std::uint64_t n) { return random_() % n; }
  std::int64_t whole() {
    return static_cast<std::int64_t>(chance(2) ? chance(100) : random_() >> 1) * (chance(3) ? 1 : -1);
  }

  std::string hostile() {
    static constexpr std::string_view kPieces[] = {"a",    "/", "\"", "\\", "\n", "\t", "\r", "\x01",
                                                   "\xff", "ü", "#",  "|",  ")",  "{",  " ",  "\x7f"};
    std::string s;
    for (auto n = chance(12); n != 0; --n) s += kPieces[chance(std::size(kPieces))];
    if (chance(20) == 0) s += '\0';
    return s;
  }

  /// What may be a name in JSON.
  std::string name() {
    static constexpr std::string_view kNames[] = {"a", "size", "a b", "ü", "\"", "x.y", "1", "", "op", "name"};
    return std::string(kNames[chance(std::size(kNames))]);
  }
  double real() { return std::ldexp(static_cast<double>(random_() >> 11), -53 + static_cast<int>(chance(100)) - 50); }
  function_ptr function(bool predicate = false) {
    auto all = find_functions(chance(2) ? "length_of" : "next_of");
    if (!predicate) return all[0];
    return find_functions("length_of")[1];
  }

  node_ptr source(bool reader) {
    if (reader || chance(2)) {
      file_options o;
      o.compression = static_cast<compression>(chance(4));
      o.buffer = static_cast<std::int64_t>(chance(1u << 24));
      file_path path;
      if (!reader) path = hostile();
      return make_source(kLines, arguments::of(file_arguments{path, o}));
    }
    auto stop = whole(), start = whole(), step = chance(2) ? 1 : whole();
    return make_source(kRange, arguments::of(range_arguments{stop, {start, step}}));
  }

  template <class A> static node_ptr stage(const op_info& op, A a, const node_ptr& in) {
    return make_stage(op, arguments::of(std::move(a)), in);
  }

  node_ptr inner(int depth, bool reader) {
    auto in = plan(depth - 1, reader);
    switch (chance(16)) {
      case 0: return stage(kTake, take_arguments{whole()}, in);
      case 1: return stage(kRepeat, repeat_arguments{whole()}, in);
      case 2: return stage(kPrefetch, prefetch_arguments{chance(2) ? autotune : knob(7)}, in);
      case 3: return stage(kCache, cache_arguments{hostile()}, in);
      case 4: return stage(kBatch, shuffle_arguments{3, {whole(), true}}, in);
      case 5: return mapped(in);
      case 6: return filtered(in);
      case 7: return interleaved(in, depth);
      case 8: return zipped(in, depth);
      case 9: return sampled(in);
      case 10: return flattened(in, depth);
      case 11: return grouped(in);
      case 12: return with_columns(in);
      case 13: return routed(in, depth);
      case 14: return joined(in);
      default: {
        auto size = 1 + static_cast<std::int64_t>(chance(100000)), seed = whole();
        return stage(kShuffle, shuffle_arguments{size, {seed, chance(2) == 0}}, in);
      }
    }
  }

  node_ptr mapped(const node_ptr& in) {
    for (auto name : {"length_of", "next_of"})
      for (auto& f : find_functions(name))
        if (f->in == in->type && f->out != &type_of<bool>()) {
          auto parallelism = chance(2) ? autotune : knob(static_cast<std::int64_t>(1 + chance(9)));
          return stage(kMap, map_arguments{f, {parallelism, static_cast<order>(chance(2))}}, in);
        }
    return in;
  }
  node_ptr filtered(const node_ptr& in) {
    if (in->type != &type_of<std::string>()) return in;
    return stage(kFilter, filter_arguments{function(true)}, in);
  }
  node_ptr interleaved(const node_ptr& in, int depth) {
    if (in->type != &type_of<std::string>()) return in;
    auto reader = plan(depth - 1, true);
    auto width = static_cast<std::int64_t>(1 + chance(20));
    return stage(kInterleave, interleave_arguments{reader, {width, autotune}}, in);
  }
  node_ptr flattened(const node_ptr& in, int depth) {
    auto reader = plan(depth - 1, false);
    return stage(kFlatMap, flat_map_arguments{reader}, in);
  }
  node_ptr zipped(const node_ptr& in, int depth) {
    auto other = plan(depth - 1, false);
    return make_combine(kZip, arguments(), {in, other});
  }
  node_ptr sampled(const node_ptr& in) {
    double weight = real();
    auto seed = whole();
    return make_combine(kSample, arguments::of(sample_arguments{{weight, seed}}), {in, in, in});
  }

  node_ptr grouped(const node_ptr& in) {
    group_arguments a;
    a.key = function();
    a.reduce = function(chance(2) == 0);
    a.size = 1 + static_cast<std::int64_t>(chance(9));
    for (auto n = chance(4); n != 0; --n) a.options.boundaries.push_back(whole());
    if (chance(2)) a.options.weights = {real(), real()};
    if (chance(8) == 0) a.options.weights.clear();
    if (chance(2)) a.options.ahead = 3;
    return stage(kGroup, std::move(a), in);
  }
  window_fields window() {
    auto size = 1 + static_cast<std::int64_t>(chance(5));
    auto shift = chance(2) ? 1 : whole();
    return {size, shift, chance(2) ? autotune : knob(1)};
  }
  node_ptr with_columns(const node_ptr& in) {
    columns_arguments a;
    for (auto n = chance(4); n != 0; --n) {
      auto key = name();
      a.defaults[key] = real();
    }
    auto& o = a.options;
    if (chance(2)) o.limit = whole();
    if (chance(3) == 0) o.label.reset();
    else if (chance(2)) o.label = hostile();
    if (chance(2)) o.window = window();
    for (auto n = chance(3); n != 0; --n) o.windows.push_back(window());
    for (auto n = chance(3); n != 0; --n) {
      auto key = name();
      for (auto m = chance(3); m != 0; --m) o.names[key].push_back(hostile());
    }
    for (auto n = chance(3); n != 0; --n) o.tried.push_back(static_cast<compression>(chance(4)));
    for (auto n = chance(3); n != 0; --n) {
      o.table.emplace_back();
      for (auto m = chance(3); m != 0; --m) o.table.back().push_back(1 + static_cast<std::int64_t>(chance(300)));
    }
    return stage(kColumns, std::move(a), in);
  }
  node_ptr routed(const node_ptr& in, int depth) {
    route_arguments a;
    for (auto n = chance(3); n != 0; --n) a.branches.push_back(plan(depth - 1, false));
    for (auto n = chance(3); n != 0; --n) a.functions.push_back(function());
    for (auto n = chance(3); n != 0; --n) {
      auto key = name();
      bool is_reader = chance(2) && in->type->text;
      if (chance(2)) a.inners[key] = function();
      else a.inners[key] = plan(depth - 1, is_reader);
    }
    return stage(kRoute, std::move(a), in);
  }
  node_ptr joined(const node_ptr& in) {
    join_arguments a;
    a.on = function(true);
    if (chance(2)) a.options.key = function_arg<test::fake_function>(function());
    return make_combine(kJoin, arguments::of(std::move(a)), {in, in});
  }

  std::mt19937_64& random_;
};

}  // namespace

node_ptr random_plan(std::mt19937_64& random, int depth) { return plan_generator(random).plan(depth, false); }

}  // namespace test

}  // namespace sluice::lib
