// SPDX-License-Identifier: Apache-2.0
#include "expr/batch_parts.hpp"

#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "expr/expression_parts.hpp"
#include "expr/functions/numbers.hpp"
#include "sluice/element/batched.hpp"
#include "sluice/element/tensor.hpp"

namespace sluice::lib::expressions {

namespace {

/// The rows of a batch, with the column that contains them.
struct rows_at {
  const column* values = nullptr;
  std::size_t first = 0, n = 0;

  rows_at(const void* batch, const std::optional<std::size_t>& k) {
    auto* b = static_cast<const batch_storage*>(batch);
    if (b->empty()) return;
    const column& all = b->rows_column();
    first = all.gone_in_front();
    n = static_cast<std::size_t>(b->rows());
    values = k ? &all.child(*k) : &all;
  }
};

class column_list final : public computed {
 public:
  column_list(const element_type& list, computed_ptr of, std::optional<std::size_t> k)
      : computed(list), of_(std::move(of)), k_(k) {}
  void eval(evaluation& ev, selection s, void* out) const override {
    evaluation::scratch here(ev);
    const auto* batches = registers_of<const void*>(*of_, ev, s);
    auto* to = static_cast<span_value*>(out);
    const element_type& item = *type().element;
    for (std::uint32_t i = 0; i != s.n; ++i) {
      const rows_at rows(batches[i], k_);
      if (!rows.values) {
        to[i] = {};
      } else if (rows.values->form() == column_form::values) {
        to[i] = {rows.values->values() + rows.first * item.size, rows.n};
      } else {
        evaluation::objects& made = ev.kept_objects(item, rows.n, 1);
        rows.values->make(rows.first, rows.n, made.data, item.size);
        made.constructed = rows.n;
        ev.charge_owned(item, made.data, rows.n);
        to[i] = {made.data, rows.n};
      }
    }
  }

 private:
  computed_ptr of_;
  std::optional<std::size_t> k_;
};

class column_tensor final : public made_objects {
 public:
  column_tensor(computed_ptr of, std::optional<std::size_t> k)
      : made_objects(type_of<tensor>()), of_(std::move(of)), k_(k) {}

 private:
  evaluation::objects& compute(evaluation& ev, selection s) const override {
    evaluation::objects& made = ev.kept_objects(type(), s.n);
    evaluation::scratch here(ev);
    const auto* batches = registers_of<const void*>(*of_, ev, s);
    for (std::uint32_t i = 0; i != s.n; ++i, ++made.constructed) {
      const rows_at rows(batches[i], k_);
      ::new (static_cast<void*>(made.data + i * sizeof(tensor)))
          tensor(rows.n != 0 ? rows.values->tensor_of(rows.first, rows.n) : tensor());
    }
    return made;
  }

  computed_ptr of_;
  std::optional<std::size_t> k_;
};

class row_of_batch final : public made_objects {
 public:
  row_of_batch(computed_ptr of, computed_ptr index)
      : made_objects(*of->type().element), of_(std::move(of)), index_(std::move(index)) {}

 private:
  evaluation::objects& compute(evaluation& ev, selection s) const override {
    evaluation::objects& made = ev.kept_objects(type(), s.n);
    evaluation::scratch here(ev);
    evaluation::kept_scope kept(ev);
    const auto* batches = registers_of<const void*>(*of_, ev, s);
    const auto* at = registers_of<std::int64_t>(*index_, ev, s);
    each(s, [&](std::uint32_t i) {
      const rows_at rows(batches[i], std::nullopt);
      const auto n = static_cast<std::int64_t>(rows.n);
      const std::int64_t k = at[i] < 0 ? at[i] + n : at[i];
      if (k < 0 || k >= n) throw bad_value{absl::StrCat("row ", at[i], " of a batch of ", n)};
      rows.values->make(rows.first + static_cast<std::size_t>(k), 1, made.data + i * type().size, type().size);
      ++made.constructed;
      kept.outlive(ev.charge_owned(type(), made.data + i * type().size, 1));
    });
    return made;
  }

  computed_ptr of_, index_;
};

}  // namespace

computed_ptr batch_column(computed_ptr batch, std::optional<std::size_t> k) {
  const element_type& row = *batch->type().element;
  const element_type& value = k ? *row.members[*k].type : row;
  if (value.kind == kind::tensor) return std::make_unique<column_tensor>(std::move(batch), k);
  const element_type* list = value.copy ? list_of(&value) : nullptr;
  return list ? std::make_unique<column_list>(*list, std::move(batch), k) : nullptr;
}

computed_ptr batch_row(computed_ptr batch, computed_ptr index) {
  return std::make_unique<row_of_batch>(std::move(batch), std::move(index));
}

computed_ptr batch_length(computed_ptr batch) {
  return from_one<std::int64_t, const void*>(type_of<std::int64_t>(), std::move(batch), [](evaluation&, const void* p) {
    return static_cast<std::int64_t>(rows_at(p, std::nullopt).n);
  });
}

}  // namespace sluice::lib::expressions
