// SPDX-License-Identifier: Apache-2.0
// Functions and operators of tensors.
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "expr/checking/checker.hpp"
#include "expr/object_parts.hpp"
#include "sluice/element/ragged_tensor.hpp"
#include "sluice/element/sparse_tensor.hpp"
#include "sluice/element/tensor_array.hpp"
#include "sluice/element/tensor_cast.hpp"
#include "sluice/format/npy.hpp"

namespace sluice::lib::expressions {

namespace {

using view = std::string_view;

computed_ptr take_tensor(function_arguments& a, std::size_t k) {
  if (a.parts[k]->type().kind != kind::tensor) a.expected(k, "a tensor");
  return std::move(a.parts[k]);
}

/// Reads a constant text that names a dtype.
dtype dtype_at(const function_arguments& a, std::size_t k) {
  auto* name = dynamic_cast<const literal*>(a.parts[k].get());
  if (!name || name->type().kind != kind::text) a.expected(k, "the name of a dtype, in quotes");
  auto d = dtype_named(name->text());
  if (!d) throw bad_value{absl::StrCat(a.e.text, ": there is no dtype ", name->text(), "; float32, uint8 … are some")};
  return *d;
}

computed_ptr raw_bytes(function_arguments& a) {
  a.need(2, 2);
  dtype d = dtype_at(a, 1);
  return tensor_from<view>(a.text(0), [d](view bytes) { return decode_raw(bytes, d); });
}

computed_ptr decoded_npy(function_arguments& a) {
  a.need(1, 1);
  return tensor_from<view>(a.text(0), [](view bytes) {
    result<tensor> made = decode_npy(bytes);
    if (!made.ok()) throw bad_value{std::string(made.why().message()), made.why()};
    return std::move(*made);
  });
}

computed_ptr cast_tensor(function_arguments& a) {
  a.need(2, 2);
  dtype d = dtype_at(a, 1);
  return tensor_from<const void*>(take_tensor(a, 0), [d](const void* t) { return cast(tensor_at(t), d); });
}

/// Returns a list of integers as int64.
std::vector<std::int64_t> integers_of(span_value list, number n) {
  std::vector<std::int64_t> out(list.n);
  with_number(n, [&]<class T>(std::type_identity<T>) {
    for (std::size_t i = 0; i != list.n; ++i) {
      T v;
      std::memcpy(&v, list.data + i * sizeof v, sizeof v);
      if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
        if (!std::in_range<std::int64_t>(v)) throw bad_value{"a dimension is too large"};
        out[i] = static_cast<std::int64_t>(v);
      }
    }
  });
  return out;
}
computed_ptr reshaped(function_arguments& a) {
  a.need(2, 2);
  computed_ptr t = take_tensor(a, 0);
  const element_type& list = a.parts[1]->type();
  bool fits = (list.kind == kind::list || list.kind == kind::array) && is_integer(number_of(*list.element));
  if (!fits) a.expected(1, "a list of dimensions");
  number n = number_of(*list.element);
  return tensor_from<const void*, span_value>(std::move(t), a.list(1), [n](const void* p, span_value dims) {
    return tensor_at(p).reshape(integers_of(dims, n));
  });
}

computed_ptr shape_of(function_arguments& a) {
  a.need(1, 1);
  return from_one<span_value, const void*>(*list_of(&type_of<std::int64_t>()), take_tensor(a, 0),
                                           [](evaluation& ev, const void* p) {
                                             auto dims = tensor_at(p).shape();
                                             char* to = ev.kept_room(dims.size_bytes());
                                             if (!dims.empty()) std::memcpy(to, dims.data(), dims.size_bytes());
                                             return span_value{to, dims.size()};
                                           });
}

template <class T> const T& object_at(const void* p) { return *static_cast<const T*>(p); }

bool is_integer_dtype(dtype d) { return d >= dtype::int8 && d <= dtype::uint64; }

/// `fill(object, otherwise)` with the second value of the call as a scalar of the object's dtype, or null.
template <class T, class F> computed_ptr filled(function_arguments& a, F fill) {
  if (a.count() == 1)
    return tensor_from<const void*>(std::move(a.parts[0]), [fill](const void* p) {
      return fill(object_at<T>(p), static_cast<const tensor*>(nullptr));
    });
  auto with = [&](computed_ptr otherwise, auto read) {
    using V = decltype(read);
    return tensor_from<const void*, V>(std::move(a.parts[0]), std::move(otherwise), [fill](const void* p, V x) {
      const T& of = object_at<T>(p);
      tensor scalar = tensor::scalar(x);
      if (of.values.dtype() != scalar.dtype()) {
        if constexpr (std::is_same_v<V, double>)
          if (std::trunc(x) != x && is_integer_dtype(of.values.dtype()))
            throw bad_value{absl::StrCat(spelled(x), " is no ", std::string(name_of(of.values.dtype())))};
        scalar = cast(scalar, of.values.dtype());
      }
      return fill(of, &scalar);
    });
  };
  if (a.parts[1]->type().kind == kind::text) return with(a.text(1), view());
  if (is_integer(a.number_at(1))) return with(a.as(1, number::i64), std::int64_t{});
  return with(a.as(1, number::f64), double{});
}

computed_ptr to_dense(function_arguments& a) {
  a.need(1, 2);
  if (&a.parts[0]->type() != &type_of<sparse_tensor>()) a.expected(0, "a sparse_tensor");
  return filled<sparse_tensor>(a, [](const sparse_tensor& s, const tensor* otherwise) {
    return otherwise ? s.to_dense(*otherwise) : s.to_dense();
  });
}

computed_ptr to_sparse(function_arguments& a) {
  a.need(1, 1);
  const element_type& of = a.parts[0]->type();
  if (&of == &type_of<ragged_tensor>())
    return object_from<sparse_tensor, const void*>(
        std::move(a.parts[0]), [](const void* p) { return object_at<ragged_tensor>(p).to_sparse(); });
  if (of.kind != kind::tensor) a.expected(0, "a tensor or ragged_tensor");
  return object_from<sparse_tensor, const void*>(std::move(a.parts[0]),
                                                 [](const void* p) { return sparse_tensor::of(tensor_at(p)); });
}

/// Returns true for a list of tensors.
bool is_tensor_array(const element_type& t) {
  return (t.kind == kind::list || t.kind == kind::array) && t.element->kind == kind::tensor;
}
std::span<const tensor> tensors_of(span_value s) {
  return {std::launder(reinterpret_cast<const tensor*>(s.data)), s.n};
}
computed_ptr of_tensor_array(function_arguments& a, tensor (*made)(std::span<const tensor>)) {
  a.need(1, 1);
  if (!is_tensor_array(a.parts[0]->type())) a.expected(0, "a list of tensors");
  return tensor_from<span_value>(a.list(0), [made](span_value s) { return made(tensors_of(s)); });
}

computed_ptr to_ragged(function_arguments& a) {
  a.need(1, 1);
  const element_type& of = a.parts[0]->type();
  if (is_tensor_array(of))
    return object_from<ragged_tensor, span_value>(a.list(0),
                                                  [](span_value s) { return stacked_ragged(tensors_of(s)); });
  if (of.kind == kind::tensor)
    return object_from<ragged_tensor, const void*>(std::move(a.parts[0]),
                                                   [](const void* p) { return ragged_tensor::of(tensor_at(p)); });
  const bool is_nested = (of.kind == kind::list || of.kind == kind::array) && of.element->kind == kind::list;
  const element_type* item = is_nested ? of.element->element : nullptr;
  number n = item ? number_of(*item) : number::none;
  if (!item || (n == number::none && item->kind != kind::text)) a.expected(0, "lists in a list, or a list of tensors");
  return object_from<ragged_tensor, span_value>(a.list(0), [&list = *of.element, item, n](span_value rows) {
    std::vector<std::vector<std::int64_t>> lengths(1);
    std::vector<view> texts;
    std::string numbers;
    std::int64_t total = 0;
    for (std::size_t i = 0; i != rows.n; ++i) {
      std::size_t count = 0;
      auto* items = static_cast<const char*>(list.items(list, rows.data + i * list.size, count));
      lengths[0].push_back(static_cast<std::int64_t>(count));
      total += lengths[0].back();
      if (n != number::none && count != 0) numbers.append(items, count * item->size);
      for (std::size_t k = 0; n == number::none && k != count; ++k) texts.push_back(item->text(items + k * item->size));
    }
    if (n == number::none) return ragged_tensor::of_lengths(tensor::of(std::span<const view>(texts), {total}), lengths);
    tensor values =
        with_number(n, [&]<class T>(std::type_identity<T>) { return tensor::make(dtype_of<T>(), {total}); });
    if (!numbers.empty()) std::memcpy(values.writable_data(), numbers.data(), numbers.size());
    return ragged_tensor::of_lengths(std::move(values), lengths);
  });
}

computed_ptr unstacked(function_arguments& a) {
  a.need(1, 1);
  return object_from<tensor_array, const void*>(take_tensor(a, 0), [](const void* p) { return unstack(tensor_at(p)); });
}

/// Reads the numbers or texts of nested lists, which have one shape.
class nest_reader {
 public:
  explicit nest_reader(const element_type& list) {
    for (const element_type* t = &list; t->kind == kind::list || t->kind == kind::array; t = t->element) {
      ++rank_;
      leaf_ = t->element;
    }
  }
  const element_type* leaf() const { return leaf_; }
  std::size_t rank() const { return rank_; }

  tensor read(std::string_view function, const element_type& list, span_value items) const {
    std::vector<std::int64_t> dims;
    std::string numbers;
    std::vector<view> texts;
    try {
      add(list, items, 0, dims, numbers, texts);
    } catch (bad_value& bad) { throw bad_value{absl::StrCat(std::string(function), bad.why)}; }
    dims.resize(rank_, 0);  // for empty lists
    if (leaf_->kind == kind::text) return tensor::of(std::span<const view>(texts), dims);
    return with_number(number_of(*leaf_), [&]<class T>(std::type_identity<T>) {
      tensor made = tensor::make(dtype_of<T>(), dims);
      if (!numbers.empty()) std::memcpy(made.writable_data(), numbers.data(), numbers.size());
      return made;
    });
  }

 private:
  void add(const element_type& list, span_value items, std::size_t depth, std::vector<std::int64_t>& dims,
           std::string& numbers, std::vector<view>& texts) const {
    const auto n = static_cast<std::int64_t>(items.n);
    if (dims.size() == depth) dims.push_back(n);
    if (dims[depth] != n)
      throw bad_value{absl::StrCat(": a list of ", n, " items beside one of ", dims[depth],
                                   "; to_ragged() takes lists of different lengths")};
    const element_type& item = *list.element;
    if (depth + 1 == rank_ && item.kind != kind::text) {
      if (items.n != 0) numbers.append(items.data, items.n * item.size);
      return;
    }
    for (std::size_t i = 0; i != items.n; ++i) {
      const char* at = items.data + i * item.size;
      if (depth + 1 == rank_) {
        texts.push_back(item.text(at));
        continue;
      }
      span_value inner{at, item.extent};
      if (item.kind == kind::list) inner.data = static_cast<const char*>(item.items(item, at, inner.n));
      add(item, inner, depth + 1, dims, numbers, texts);
    }
  }

  std::size_t rank_ = 0;
  const element_type* leaf_ = nullptr;
};

/// Converts a list's numbers or texts, or nested lists; a ragged_tensor gets its rows filled.
computed_ptr to_tensor(function_arguments& a) {
  if (a.count() != 0 && &a.parts[0]->type() == &type_of<ragged_tensor>()) {
    a.need(1, 2);
    return filled<ragged_tensor>(a, [](const ragged_tensor& r, const tensor* otherwise) {
      return otherwise ? r.to_tensor(*otherwise) : r.to_tensor();
    });
  }
  a.need(1, 1);
  const element_type& list = a.parts[0]->type();
  const nest_reader nest(list);
  const bool fits = nest.leaf() && (nest.leaf()->kind == kind::text || number_of(*nest.leaf()) != number::none);
  if (!fits) a.expected(0, "a list of numbers or texts, or lists of such lists");
  if (nest.rank() > tensor::kRankMax)
    throw bad_value{absl::StrCat("to_tensor: a tensor has ", tensor::kRankMax, " dimensions at most")};
  return tensor_from<span_value>(a.list(0), [nest, &list](span_value s) { return nest.read("to_tensor", list, s); });
}

}  // namespace

computed_ptr tensor_of_lists(std::string_view function, computed_ptr lists, dtype d,
                             const std::vector<std::int64_t>& dims) {
  const element_type& list = lists->type();
  const nest_reader nest(list);
  return tensor_from<span_value>(std::move(lists), [=, &list](span_value s) {
    tensor made = nest.read(function, list, s);
    for (std::size_t k = 0; k != dims.size(); ++k)
      if (dims[k] >= 0 && dims[k] != made.shape()[k])
        throw bad_value{absl::StrCat(std::string(function), ": dimension ", k, " has ", made.shape()[k],
                                     " items, and not ", dims[k])};
    return cast(made, d);
  });
}

computed_ptr tensor_item(computed_ptr of, computed_ptr index) {
  return tensor_from<const void*, std::int64_t>(std::move(of), std::move(index), [](const void* p, std::int64_t k) {
    const tensor& t = tensor_at(p);
    if (k < 0 && t.rank() != 0) k += t.shape()[0];
    return t[k];
  });
}

computed_ptr tensor_slice(computed_ptr of, computed_ptr first, computed_ptr last) {
  auto bounds = from_two<span_value, std::int64_t, std::int64_t>(*list_of(&type_of<std::int64_t>()), std::move(first),
                                                                 std::move(last),
                                                                 [](evaluation& ev, std::int64_t a, std::int64_t b) {
                                                                   const std::int64_t both[] = {a, b};
                                                                   char* to = ev.kept_room(sizeof both);
                                                                   std::memcpy(to, both, sizeof both);
                                                                   return span_value{to, 2};
                                                                 });
  return tensor_from<const void*, span_value>(std::move(of), std::move(bounds), [](const void* p, span_value both) {
    const tensor& t = tensor_at(p);
    if (t.rank() == 0) throw bad_value{"a scalar has no items"};
    std::int64_t a = 0, b = 0;
    std::memcpy(&a, both.data, sizeof a);
    std::memcpy(&b, both.data + sizeof a, sizeof b);
    const auto n = static_cast<std::size_t>(t.shape()[0]);
    std::size_t from = bound_of(a, n), to = bound_of(b, n);
    return t.slice(static_cast<std::int64_t>(from), static_cast<std::int64_t>(to > from ? to - from : 0));
  });
}

const std::vector<built_in>& tensor_functions() {
  static const std::vector<built_in> all{
      {"decode_raw", raw_bytes},
      {"decode_npy", decoded_npy},
      {"cast", cast_tensor},
      {"reshape", reshaped},
      {"shape", shape_of},
      {"to_tensor", to_tensor},
      {"to_dense", to_dense},
      {"to_sparse", to_sparse},
      {"to_ragged", to_ragged},
      {"unstack", unstacked},
      {"stack", [](function_arguments& a) { return of_tensor_array(a, stack); }},
      {"concat", [](function_arguments& a) { return of_tensor_array(a, concat); }},
  };
  return all;
}

}  // namespace sluice::lib::expressions
