// SPDX-License-Identifier: Apache-2.0
#include "format/example/example_elements.hpp"

#include <limits>

#include "element/scalars.hpp"
#include "element/tensors/with_dtype.hpp"

namespace sluice::lib {
namespace {

/// Returns the innermost element type of nested arrays, whose elements are adjacent in memory.
const element_type& innermost(const element_type& type, std::size_t& n) {
  const element_type* t = &type;
  for (; t->kind == kind::array; t = t->element) n *= t->extent;
  return *t;
}

bool is_value(const element_type& type) {
  std::size_t n = 1;
  const element_type& t = innermost(type, n);
  return t.kind == kind::scalar || t.kind == kind::text;
}

bool is_feature(const element_type& type) {
  if (type.kind == kind::maybe) return type.element->kind != kind::maybe && is_feature(*type.element);
  if (type.kind == kind::list) return is_value(*type.element);
  return type.kind == kind::tensor || is_value(type);
}

}  // namespace

result<example_elements> example_elements::of(const element_type& type) {
  if (type.kind == kind::batch)
    return invalid_argument_error("a tf.Example is made of a row, not of a batch (" + type.name +
                                  "): end the plan with | unbatch");
  auto features = flat_members(type);
  if (!features.ok()) return features.why();
  for (const flat_member& f : *features)
    if (!is_feature(*f.type))
      return invalid_argument_error(
          "a feature of a tf.Example is a number, a bool, a text, an array or list of these, or a tensor, and " +
          f.path + " is " + f.type->name);
  return example_elements(*std::move(features));
}

result<std::string_view> example_elements::bytes_of(const void* element) {
  status why;
  for (const flat_member& f : features_) {
    const void* value = f.in(element);
    status failed = value ? add(f.path, *f.type, value, 1) : status();
    if (!failed.ok() && why.ok()) why = failed;
  }
  const std::string_view bytes = writer_.finish();  // also after an error: the writer starts again
  if (!why.ok()) return why;
  return bytes;
}

status example_elements::add(const std::string& name, const element_type& type, const void* p, std::size_t n) {
  if (type.kind == kind::maybe) {
    const void* value = type.items(type, p, n);
    return n == 0 ? status() : add(name, *type.element, value, 1);
  }
  if (type.kind == kind::tensor) return add_tensor(name, *static_cast<const tensor*>(p));
  if (type.kind == kind::list) {
    const void* items = type.items(type, p, n);
    return add(name, *type.element, items, n);
  }
  const element_type& t = innermost(type, n);
  if (t.kind == kind::text) {
    if (n == 1) {
      writer_.bytes(name, t.text(p));
      return {};
    }
    texts_.clear();
    for (std::size_t i = 0; i != n; ++i) texts_.emplace_back(t.text(static_cast<const char*>(p) + i * t.size));
    writer_.bytes_list(name, texts_);
    return {};
  }
  return detail::with_number(
      t, [&]<class T>(std::type_identity<T>) { return add_numbers(name, static_cast<const T*>(p), n); });
}

template <class T> status example_elements::add_numbers(const std::string& name, const T* values, std::size_t n) {
  if constexpr (std::is_same_v<T, std::int64_t>) {
    writer_.int64s(name, values, n);
  } else if constexpr (std::is_same_v<T, float>) {
    writer_.floats(name, values, n);
  } else if constexpr (std::is_integral_v<T>) {
    int64s_.assign(values, values + n);
    if constexpr (std::is_same_v<T, std::uint64_t>)
      for (std::size_t i = 0; i != n; ++i)
        if (int64s_[i] < 0)
          return out_of_range_error("feature " + name + ": " + std::to_string(values[i]) +
                                    " is more than an int64 of a tf.Example holds");
    writer_.int64s(name, int64s_.data(), n);
  } else {
    floats_.clear();
    for (std::size_t i = 0; i != n; ++i) floats_.push_back(static_cast<float>(values[i]));
    writer_.floats(name, floats_.data(), n);
  }
  return {};
}

status example_elements::add_tensor(const std::string& name, const tensor& t) {
  if (t.dtype() == dtype::string) {
    texts_.clear();
    for (std::size_t i = 0; i != t.size(); ++i) texts_.emplace_back(t.text(i));
    writer_.bytes_list(name, texts_);
    return {};
  }
  return with_number_dtype(t.dtype(), [&]<class T>(std::type_identity<T>) {
    return add_numbers(name, reinterpret_cast<const T*>(t.data()), t.size());
  });
}

}  // namespace sluice::lib
