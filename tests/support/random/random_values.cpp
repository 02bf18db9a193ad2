// SPDX-License-Identifier: Apache-2.0
#include "support/random/random_values.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "element/build.hpp"
#include "element/scalars.hpp"
#include "sluice/element/batched.hpp"
#include "sluice/element/none.hpp"
#include "sluice/element/ragged_tensor.hpp"
#include "sluice/element/slice.hpp"
#include "sluice/element/sparse_tensor.hpp"
#include "support/tensors.hpp"

namespace sluice::lib::test {

namespace {

const element_type& random_leaf(random_numbers& random) {
  switch (random.below(16)) {
    case 0: return type_of<bool>();
    case 1: return type_of<std::int8_t>();
    case 2: return type_of<std::uint8_t>();
    case 3: return type_of<std::int16_t>();
    case 4: return type_of<std::uint16_t>();
    case 5: return type_of<std::int32_t>();
    case 6: return type_of<std::uint32_t>();
    case 7: return type_of<std::uint64_t>();
    case 8: return type_of<float>();
    case 9: return type_of<double>();
    case 10: return type_of<shade_kind>();
    case 11: return type_of<record>();
    case 12: return type_of<line>();
    case 13: return type_of<std::int64_t>();
    default: return type_of<std::string>();
  }
}

const element_type& random_tensor_kind(random_numbers& random) {
  switch (random.below(5)) {
    case 0: return type_of<sparse_tensor>();
    case 1: return type_of<ragged_tensor>();
    case 2: return type_of<none>();
    default: return type_of<tensor>();
  }
}

std::string random_name(random_numbers& random) {
  static const std::string names[] = {
      "label", "text", "image/encoded", "base64", "base64:x", "a b", "\"q\"", "\xff", "ü", "",
      "x",     "_1",   "tuple",         "{",      "\\",       "null"};
  return names[random.below(std::size(names))];
}

const element_type& random_nest(random_numbers& random, const nest_options& o, std::size_t depth, bool in_optional);

const element_type& random_structure(random_numbers& random, const nest_options& o, std::size_t depth) {
  std::vector<member> members;
  for (auto n = random.below(4); n != 0; --n) {
    auto name = random_name(random);
    bool taken = false;
    for (auto& m : members) taken = taken || m.name == name;
    members.push_back({taken ? "m" + std::to_string(n) : name, 0, &random_nest(random, o, depth, false)});
  }
  static const std::string names[] = {"", "", "sample", "a::b<c>"};
  return *struct_of(names[random.below(4)], members);
}

const element_type& random_nest(random_numbers& random, const nest_options& o, std::size_t depth, bool in_optional) {
  if (depth == 0) return random_leaf(random);
  auto part = [&](bool is_optional = false) { return &random_nest(random, o, depth - 1, is_optional); };
  switch (random.below(11)) {
    case 0: return *array_of(part(), 1 + random.below(3));
    case 1: return *list_of(part());
    case 2:
      if (in_optional && !o.optionals_in_optionals) return random_leaf(random);
      return *maybe_of(part(true));
    case 3: {
      auto *first = part(), *second = part();
      return *pair_of(first, second);
    }
    case 4: {
      std::vector<const element_type*> parts;
      for (auto n = 1 + random.below(3); n != 0; --n) parts.push_back(part());
      return *tuple_of(parts);
    }
    case 5: return *batched_of(part());
    case 6:
    case 7: return random_structure(random, o, depth - 1);
    case 8: return type_of<labelled>();
    case 9: return o.tensors ? random_tensor_kind(random) : random_leaf(random);
    default: return random_leaf(random);
  }
}

template <class T> T random_number(random_numbers& random) {
  using limits = std::numeric_limits<T>;
  if constexpr (std::is_same_v<T, bool>) return random.below(2) == 1;
  else if constexpr (std::is_floating_point_v<T>) {
    switch (random.below(8)) {
      case 0: return limits::quiet_NaN();
      case 1: return random.below(2) ? limits::infinity() : -limits::infinity();
      case 2: return -T{0};
      case 3: return random.below(2) ? limits::max() : limits::denorm_min();
      case 4: return static_cast<T>(random.below(100));
      default: return static_cast<T>(static_cast<double>(random.below(1u << 30)) / 977 - 5e5);
    }
  } else {
    switch (random.below(4)) {
      case 0: return limits::max();
      case 1: return limits::min();
      case 2: return static_cast<T>(random.below(3));
      default: return static_cast<T>(random.below(~std::uint64_t{0}));
    }
  }
}

std::string random_text(random_numbers& random) {
  static const std::string_view pieces[] = {"a",
                                            "\"",
                                            "\\",
                                            "\n",
                                            "ü",
                                            "\xff",
                                            std::string_view("\0", 1),
                                            "{\"base64\":\"\"}",
                                            "and more than fits inside of a string"};
  std::string text;
  for (auto n = random.below(5); n != 0; --n) text += pieces[random.below(std::size(pieces))];
  return text;
}

tensor random_tensor(const tensor_spec& spec, random_numbers& random) {
  if (spec.dtype != dtype::string) return some_tensor(random, spec.dtype, spec.shape);
  std::vector<std::string> texts(spec.elements());
  for (auto& t : texts) t = random_text(random);
  return tensor::of(texts, spec.shape);
}

sparse_tensor random_sparse(random_numbers& random) {
  const tensor_spec spec = random_spec(random);
  return sparse_tensor::of(random_tensor(spec, random));
}

ragged_tensor random_ragged(random_numbers& random) {
  std::vector<std::vector<std::int64_t>> lengths(1 + random.below(3));
  std::uint64_t rows = random.below(4);
  for (auto& of_level : lengths) {
    std::uint64_t total = 0;
    for (; rows != 0; --rows) {
      of_level.push_back(static_cast<std::int64_t>(random.below(3)));
      total += static_cast<std::uint64_t>(of_level.back());
    }
    rows = total;
  }
  std::vector<std::int64_t> shape{static_cast<std::int64_t>(rows)};
  for (auto k = random.below(3); k != 0; --k) shape.push_back(static_cast<std::int64_t>(1 + random.below(2)));
  return ragged_tensor::of_lengths(random_tensor({some_dtype(random), shape}, random), lengths);
}

/// Makes elements; tensors of one spec, once there is one.
struct maker {
  random_numbers& random;
  std::optional<tensor_spec> spec{};

  void make(const element_type& t, void* to);
  void make_batch(const element_type& t, void* to) {
    const bool is_outermost = !spec;
    if (is_outermost) spec = random_spec(random);
    detail::make_batch(t, to, random.below(4), [&](std::size_t, void* at) { make(*t.element, at); });
    if (is_outermost) spec.reset();
  }
};

void maker::make(const element_type& t, void* to) {
  auto item = [&](std::size_t, void* at) { make(*t.element, at); };
  if (&t == &type_of<sparse_tensor>()) return void(::new (to) sparse_tensor(random_sparse(random)));
  if (&t == &type_of<ragged_tensor>()) return void(::new (to) ragged_tensor(random_ragged(random)));
  switch (t.kind) {
    case kind::scalar:
      return detail::with_number(t, [&]<class T>(std::type_identity<T>) {
        T x = random_number<T>(random);
        std::memcpy(to, &x, sizeof x);
      });
    case kind::text: return detail::make_text(t, to, random_text(random));
    case kind::array: return detail::make_items(*t.element, to, t.extent, item);
    case kind::list: return detail::make_list(t, to, random.below(4), item);
    case kind::maybe: return detail::make_list(t, to, random.below(3) != 0, item);
    case kind::batch: return make_batch(t, to);
    case kind::tensor: return void(::new (to) tensor(random_tensor(spec ? *spec : random_spec(random), random)));
    default: return detail::make_members(t, to, [&](std::size_t, const element_type& m, void* at) { make(m, at); });
  }
}

}  // namespace

const element_type& random_type(random_numbers& random, const nest_options& o) {
  return random_nest(random, o, o.depth, false);
}

value random_value(const element_type& t, random_numbers& random, const tensor_spec* spec) {
  maker m{random};
  if (spec) m.spec = *spec;
  return value_room::make(t, [&](void* to) { m.make(t, to); });
}

tensor_spec random_spec(random_numbers& random) {
  const dtype d = some_dtype(random);
  return {d, some_shape(random, 3)};
}

}  // namespace sluice::lib::test
