// SPDX-License-Identifier: Apache-2.0
#include "plan/fake_operators.hpp"

#include <cmath>

namespace sluice::lib {

namespace {

struct range_options {
  integer stop = {};
  std::int64_t start = 0;
  std::int64_t step = 1;
};
struct file_options {
  sluice::lib::compression compression = compression::automatic;
  byte_size buffer = 1 << 20;
};
struct shuffle_options {
  count buffer_size = {};
  sluice::lib::seed seed = {};
  bool reshuffle_each_iteration = true;
};
struct work_options {
  knob parallelism = 1;
  sluice::lib::order order = order::deterministic;
};
struct interleave_options {
  count cycle_length = 4;
  knob parallelism = autotune;
};
struct number_options {
  integer n = {};
};
struct repeat_options {
  std::int64_t times = -1;
};
struct prefetch_options {
  knob buffer_size = autotune;
};
struct sample_options {
  double weight = 0.5;
  sluice::lib::seed seed = {};
};

}  // namespace

template <> const field_list& fields_of<range_options>() { return make_field_list<range_options>(); }
template <> const field_list& fields_of<file_options>() { return make_field_list<file_options>(); }
template <> const field_list& fields_of<shuffle_options>() { return make_field_list<shuffle_options>(); }
template <> const field_list& fields_of<work_options>() { return make_field_list<work_options>(); }
template <> const field_list& fields_of<interleave_options>() { return make_field_list<interleave_options>(); }
template <> const field_list& fields_of<number_options>() { return make_field_list<number_options>(); }
template <> const field_list& fields_of<repeat_options>() { return make_field_list<repeat_options>(); }
template <> const field_list& fields_of<prefetch_options>() { return make_field_list<prefetch_options>(); }
template <> const field_list& fields_of<sample_options>() { return make_field_list<sample_options>(); }

namespace {

const element_type* same_as_input(const node& n, std::string&) { return n.inputs[0]->type; }

const element_type* number(const node&, std::string&) { return &type_of<std::int64_t>(); }
const element_type* text(const node&, std::string&) { return &type_of<std::string>(); }

const element_type* mapped(const node& n, std::string& why) {
  if (n.function->in == n.inputs[0]->type) return n.function->out;
  why = "expects " + n.function->in->name + ", and gets " + n.inputs[0]->type->name;
  return nullptr;
}

const element_type* flattened(const node& n, std::string& why) {
  if (n.reader && n.reader->lacks_path && !n.inputs[0]->type->text) {
    why = "expects paths, and gets " + n.inputs[0]->type->name;
    return nullptr;
  }
  return n.reader ? n.reader->type : mapped(n, why);
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

bool is_function(const stage_function& f) { return dynamic_cast<const test::fake_function*>(&f); }
bool is_predicate(const stage_function& f) { return dynamic_cast<const test::fake_predicate*>(&f); }

cardinality taken(const node& n) {
  auto c = cardinality_of(*n.inputs[0]);
  auto most = n.as<number_options>().n.value;
  if (c.kind == cardinality::infinite) return cardinality::of(most);
  if (c.kind == cardinality::exact) return cardinality::of(std::min(c.elements, most));
  return c;
}
cardinality counted(const node& n) { return cardinality::of(n.as<range_options>().stop); }

const op_info kRange{.name = "range",
                     .doc = "0, 1, 2 …",
                     .shape = op_info::source,
                     .fields = make_field_list<range_options>,
                     .type = number,
                     .size = counted};
const op_info kLines{.name = "lines",
                     .doc = "",
                     .shape = op_info::source,
                     .fields = make_field_list<file_options>,
                     .text_name = "path",
                     .type = text};
const op_info kShuffle{.name = "shuffle", .doc = "", .fields = make_field_list<shuffle_options>, .type = same_as_input};
const op_info kTake{
    .name = "take", .doc = "", .fields = make_field_list<number_options>, .type = same_as_input, .size = taken};
const op_info kRepeat{
    .name = "repeat", .doc = "", .fields = make_field_list<repeat_options>, .positional = 1, .type = same_as_input};
const op_info kPrefetch{
    .name = "prefetch", .doc = "", .fields = make_field_list<prefetch_options>, .positional = 1, .type = same_as_input};
const op_info kBatch{.name = "batch", .doc = "", .fields = make_field_list<shuffle_options>, .type = stacked};
const op_info kCache{.name = "cache", .doc = "", .text_name = "path", .type = same_as_input};
const op_info kMap{
    .name = "map", .doc = "", .fields = make_field_list<work_options>, .accepts = is_function, .type = mapped};
const op_info kFilter{.name = "filter", .doc = "", .accepts = is_predicate, .type = same_as_input};
const op_info kInterleave{.name = "interleave",
                          .doc = "",
                          .fields = make_field_list<interleave_options>,
                          .accepts = is_function,
                          .reader = op_info::needs_path,
                          .type = flattened};
const op_info kFlatMap{.name = "flat_map", .doc = "", .reader = op_info::any_plan, .type = flattened};
const op_info kZip{.name = "zip", .doc = "", .shape = op_info::combine, .type = zipped};
const op_info kSample{.name = "sample_from",
                      .doc = "",
                      .shape = op_info::combine,
                      .fields = make_field_list<sample_options>,
                      .type = all_alike};

}  // namespace

namespace test {

std::span<const op_info* const> fake_operators() {
  static const op_info* const all[] = {&kRange, &kLines, &kShuffle, &kTake,       &kRepeat,  &kPrefetch, &kBatch,
                                       &kCache, &kMap,   &kFilter,  &kInterleave, &kFlatMap, &kZip,      &kSample};
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

  node_ptr source(bool reader) {
    if (reader || chance(2)) {
      file_options o{.compression = static_cast<compression>(chance(4)),
                     .buffer = static_cast<std::int64_t>(chance(1u << 24))};
      if (reader) return make_reader("lines", options::of(o));
      return make_source("lines", options::of(o), hostile());
    }
    auto stop = whole(), start = whole(), step = chance(2) ? 1 : whole();
    return make_source("range", options::of(range_options{stop, start, step}));
  }

  node_ptr inner(int depth, bool reader) {
    auto in = plan(depth - 1, reader);
    switch (chance(12)) {
      case 0: return make_stage("take", options::of(number_options{whole()}), in);
      case 1: return make_stage("repeat", options::of(repeat_options{whole()}), in);
      case 2: return make_stage("prefetch", options::of(prefetch_options{chance(2) ? autotune : knob(7)}), in);
      case 3: return cached(in);
      case 4: return make_stage("batch", options::of(shuffle_options{3, whole(), true}), in);
      case 5: return mapped(in);
      case 6: return filtered(in);
      case 7: return interleaved(in, depth);
      case 8: return zipped(in, depth);
      case 9: return sampled(in);
      case 10: return flattened(in, depth);
      default: {
        auto size = 1 + static_cast<std::int64_t>(chance(100000)), seed = whole();
        return make_stage("shuffle", options::of(shuffle_options{size, seed, chance(2) == 0}), in);
      }
    }
  }

  node_ptr cached(const node_ptr& in) {
    node n;
    n.op = find_op("cache");
    n.inputs.push_back(in);
    n.text = hostile();
    n.has_text = true;
    return make_node(std::move(n));
  }
  node_ptr mapped(const node_ptr& in) {
    for (auto name : {"length_of", "next_of"})
      for (auto& f : find_functions(name))
        if (f->in == in->type && is_function(*f)) {
          auto parallelism = chance(2) ? autotune : knob(static_cast<std::int64_t>(1 + chance(9)));
          return make_stage("map", options::of(work_options{parallelism, static_cast<order>(chance(2))}), in, f);
        }
    return in;
  }
  node_ptr filtered(const node_ptr& in) {
    for (auto& f : find_functions("length_of"))
      if (f->in == in->type && is_predicate(*f)) return make_stage("filter", options::of(no_fields{}), in, f);
    return in;
  }
  node_ptr interleaved(const node_ptr& in, int depth) {
    if (in->type != &type_of<std::string>()) return in;
    auto reader = plan(depth - 1, true);
    auto width = static_cast<std::int64_t>(1 + chance(20));
    return make_stage("interleave", options::of(interleave_options{width, autotune}), in, {}, reader);
  }
  node_ptr flattened(const node_ptr& in, int depth) {
    auto reader = plan(depth - 1, false);
    return make_stage("flat_map", options::of(no_fields{}), in, {}, reader);
  }
  node_ptr zipped(const node_ptr& in, int depth) {
    auto other = plan(depth - 1, false);
    return make_combine("zip", options::of(no_fields{}), {in, other});
  }
  node_ptr sampled(const node_ptr& in) {
    double weight = std::ldexp(static_cast<double>(random_() >> 11), -53 + static_cast<int>(chance(100)) - 50);
    auto seed = whole();
    return make_combine("sample_from", options::of(sample_options{weight, seed}), {in, in, in});
  }

  std::mt19937_64& random_;
};

}  // namespace

node_ptr random_plan(std::mt19937_64& random, int depth) { return plan_generator(random).plan(depth, false); }

}  // namespace test

}  // namespace sluice::lib
