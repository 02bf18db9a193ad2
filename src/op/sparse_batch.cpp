// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/sparse_batch.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "element/spec_parts.hpp"
#include "engine/batching/row_batches.hpp"
#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/open_context.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

namespace {

/// The description of one row, independent of its type.
struct sparse_row {
  lib::dtype dtype = dtype::int64;
  std::vector<std::int64_t> shape{};
  std::size_t values = 0;
  const char* numbers = nullptr;  ///< values, unless they are texts
  std::vector<std::string_view> texts{};
  const std::int64_t* indices = nullptr;  ///< of a sparse row; null: all items exist, in row-major order
};

sparse_row row_of(const tensor& t) {
  sparse_row r{.dtype = t.dtype(), .shape = {t.shape().begin(), t.shape().end()}, .values = t.size()};
  if (t.dtype() == dtype::string)
    for (std::size_t i = 0; i != t.size(); ++i) r.texts.push_back(t.text(i));
  else r.numbers = static_cast<const char*>(static_cast<const void*>(t.data()));
  return r;
}

/// Errors: throws invalid_argument if the members of a sparse tensor do not fit together.
sparse_row row_at(const element_type& row, const char* at) {
  if (row.kind == kind::tensor) return row_of(*std::launder(reinterpret_cast<const tensor*>(at)));
  if (row.kind == kind::list) {
    sparse_row r;
    auto* items = static_cast<const char*>(row.items(row, at, r.values));
    r.dtype = *dtype_of(*row.element);
    r.shape = {static_cast<std::int64_t>(r.values)};
    if (r.dtype != dtype::string) r.numbers = items;
    else
      for (std::size_t i = 0; i != r.values; ++i) r.texts.push_back(row.element->text(items + i * row.element->size));
    return r;
  }
  auto& s = *std::launder(reinterpret_cast<const sparse_tensor*>(at));
  status fits = s.check();
  if (!fits.ok()) throw error(fits);
  sparse_row r = row_of(s.values);
  r.shape = s.dense_shape;
  r.indices = s.indices.size() ? s.indices.values<std::int64_t>().data() : nullptr;
  return r;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (std::int64_t d : shape) text += (text.size() > 1 ? "," : "") + std::to_string(d);
  return text + "]";
}

class sparse_maker final : public rows_maker {
 public:
  sparse_maker(const element_type& row, std::vector<std::int64_t> row_shape)
      : row_(row), row_shape_(std::move(row_shape)) {}

  status make(slab& rows, held_memory& memory, void* to, std::size_t& made_bytes, std::size_t& which) override {
    const std::size_t n = rows.size(), before = memory.bytes();
    const element_type& made = type_of<sparse_tensor>();
    const std::size_t index_bytes = n * (sizeof(sparse_row) + row_shape_.size() * sizeof(std::int64_t));
    if (!memory.has_room_for(before + index_bytes)) return memory.refused_of(before + index_bytes);
    try {
      std::vector<sparse_row> all(n);
      std::vector<std::int64_t> shape = row_shape_;
      std::size_t values = 0, views = 0;  // bytes of views of texts, in the rows and joined
      for (which = 0; which != n; ++which) {
        all[which] = row_at(row_, rows.begin() + which * row_.size);
        values += all[which].values;
        views += 2 * all[which].texts.size() * sizeof(std::string_view);
        if (!memory.has_room_for(before + index_bytes + views)) return memory.refused_of(before + index_bytes + views);
        if (std::string why = mistake_of(all[which], all[0], shape); !why.empty()) return invalid_argument_error(why);
      }
      which = 0;
      const std::size_t rank = shape.size() + 1;
      status fits = memory.resize(before + index_bytes + views + values * rank * sizeof(std::int64_t) +
                                  row_.footprint(row_, rows.begin(), n));
      if (!fits.ok()) return fits;
      ::new (to) sparse_tensor(joined(all, shape, values));
    } catch (const error& e) { return e.why(); }
    rows.clear();
    made_bytes = made.footprint(made, to, 1);
    status fits = memory.resize(before + made_bytes);
    if (!fits.ok()) made.destroy(made, to, 1);
    return fits;
  }

  bool may_refuse() const override { return true; }
  status check(const void* first, const void* row) const override try {
    std::vector<std::int64_t> shape = row_shape_;
    const sparse_row as = row_at(row_, static_cast<const char*>(first));
    const std::string why = mistake_of(row_at(row_, static_cast<const char*>(row)), as, shape);
    return why.empty() ? status() : invalid_argument_error(why);
  } catch (const error& e) { return e.why(); }

 private:
  /// Describes why row `r` does not fit. A length that may vary gets its actual value in `shape`.
  std::string mistake_of(const sparse_row& r, const sparse_row& first, std::vector<std::int64_t>& shape) const {
    if (r.dtype != first.dtype)
      return std::string(name_of(r.dtype)) + " is in a batch whose first row is " + std::string(name_of(first.dtype));
    bool fits = r.shape.size() == shape.size();
    for (std::size_t d = 0; fits && d != shape.size(); ++d) {
      if (row_shape_[d] == -1) shape[d] = std::max(shape[d], r.shape[d]);
      fits = r.shape[d] <= shape[d];
    }
    return fits ? std::string()
                : "a row of shape " + shape_text(r.shape) + " does not fit into row_shape, " + shape_text(row_shape_);
  }

  static sparse_tensor joined(const std::vector<sparse_row>& rows, const std::vector<std::int64_t>& shape,
                              std::size_t values) {
    const std::size_t rank = shape.size();
    sparse_tensor made;
    made.dense_shape.push_back(static_cast<std::int64_t>(rows.size()));
    for (std::int64_t d : shape) made.dense_shape.push_back(std::max<std::int64_t>(d, 0));
    made.indices = tensor::make(dtype::int64, {static_cast<std::int64_t>(values), static_cast<std::int64_t>(rank + 1)});
    std::int64_t* at = values ? made.indices.writable<std::int64_t>().data() : nullptr;
    for (std::size_t i = 0; i != rows.size(); ++i) {
      std::vector<std::int64_t> place(rank);
      for (std::size_t k = 0; k != rows[i].values; ++k) {
        *at++ = static_cast<std::int64_t>(i);
        if (rows[i].indices) std::copy_n(rows[i].indices + k * rank, rank, at);
        else std::copy(place.begin(), place.end(), at);
        at += rank;
        for (std::size_t d = rank; d-- != 0 && ++place[d] == rows[i].shape[d];) place[d] = 0;
      }
    }
    made.values = joined_values(rows, values);
    return made;
  }

  static tensor joined_values(const std::vector<sparse_row>& rows, std::size_t values) {
    const lib::dtype d = rows[0].dtype;
    const auto n = static_cast<std::int64_t>(values);
    if (d == dtype::string) {
      std::vector<std::string_view> texts;
      for (const sparse_row& r : rows) texts.insert(texts.end(), r.texts.begin(), r.texts.end());
      return tensor::of(std::span<const std::string_view>(texts), {n});
    }
    tensor made = tensor::make(d, {n});
    char* to = values ? static_cast<char*>(static_cast<void*>(made.writable_data())) : nullptr;
    for (const sparse_row& r : rows) {
      const std::size_t bytes = r.values * size_bytes(d);
      if (bytes) std::memcpy(to, r.numbers, bytes);
      to += bytes;
    }
    return made;
  }

  const element_type& row_;
  const std::vector<std::int64_t> row_shape_;
};

const element_type* sparse_type(const node& n, std::string& why) {
  auto& a = n.as<sparse_batch_arguments>();
  const element_type& row = *n.inputs[0]->type;
  const bool is_list = row.kind == kind::list && dtype_of(*row.element).has_value();
  if (!is_list && row.kind != kind::tensor && &row != &type_of<sparse_tensor>())
    return why = "rows are lists of numbers or texts, tensors, or sparse tensors, and these are " + row.name, nullptr;
  for (std::int64_t d : a.row_shape)
    if (d < -1) return why = "row_shape: a length is at least 0, or -1, and one is " + std::to_string(d), nullptr;
  if (is_list && a.row_shape.size() != 1)
    return why = "row_shape has " + std::to_string(a.row_shape.size()) + " lengths, and a row, " + row.name +
                 ", has one dimension",
           nullptr;
  if (a.row_shape.size() >= tensor::kRankMax) return why = "row_shape has more dimensions than tensors have", nullptr;
  return &type_of<sparse_tensor>();
}

erased_stream open_sparse_batch(const node& n, open_context& context) {
  auto& a = n.as<sparse_batch_arguments>();
  outlet out(*n.type);
  erased_stream in = context.open(n.inputs[0]);
  return row_batches_loop(out, std::move(in), std::make_unique<sparse_maker>(*n.inputs[0]->type, a.row_shape),
                          static_cast<std::uint64_t>(a.size.value), a.options.drop_remainder, context.run,
                          context.gate(n));
}

}  // namespace

const op_info sparse_batch_op{
    .name = "sparse_batch",
    .doc = "n elements become one sparse tensor",
    .arguments = arguments_of<sparse_batch_arguments>,
    .type = sparse_type,
    .spec =
        [](const node& n) {
          const spec row = same_spec(n);
          const spec& values = row.form == spec::form_type::structure ? row.parts[1] : row;
          return spec_of_sparse(values.dtype, n.as<sparse_batch_arguments>().row_shape.size() + 1);
        },
    .facts = {.always = {.outputs = output_count::one_per_group, .keeps_order = true},
              .size =
                  [](const node& n) {
                    auto& a = n.as<sparse_batch_arguments>();
                    return cardinality_of(*n.inputs[0]).in_groups(a.size, a.options.drop_remainder);
                  },
              .seeks = seeks_with_inputs},
    .splits = {.rule = split_rule::groups},
    .lowering = {.open = open_sparse_batch},
};

sparse_batch_verb sparse_batch(count size, std::vector<std::int64_t> row_shape, sparse_batch_options o) {
  return sparse_batch_verb(arguments::of(sparse_batch_arguments{size, std::move(row_shape), o}));
}

}  // namespace sluice::lib
