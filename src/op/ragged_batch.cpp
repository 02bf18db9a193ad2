// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/ragged_batch.hpp"

#include <memory>
#include <new>
#include <span>
#include <string>
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

/// Builds one ragged tensor from rows that are tensors or ragged tensors.
template <class Row> class ragged_maker final : public rows_maker {
 public:
  status make(slab& rows, held_memory& memory, void* to, std::size_t& made_bytes, std::size_t& which) override {
    const element_type &row = type_of<Row>(), &made = type_of<ragged_tensor>();
    const std::size_t n = rows.size(), before = memory.bytes();
    which = 0;
    const std::size_t owned = row.footprint(row, rows.begin(), n);
    status why = memory.resize(before + 2 * owned);
    if (!why.ok()) return why;
    const std::span<const Row> all(std::launder(reinterpret_cast<const Row*>(rows.begin())), n);
    try {
      if constexpr (std::is_same_v<Row, tensor>) ::new (to) ragged_tensor(stacked_ragged(all));
      else ::new (to) ragged_tensor(stacked(all));
    } catch (const error& e) {
      which = first_other(all);
      return e.why();
    }
    rows.clear();
    made_bytes = made.footprint(made, to, 1);
    why = memory.resize(before + made_bytes);
    if (!why.ok()) made.destroy(made, to, 1);
    return why;
  }

  bool may_refuse() const override { return true; }
  status check(const void* first, const void* row) const override {
    const Row &one = *std::launder(reinterpret_cast<const Row*>(row)),
              &as = *std::launder(reinterpret_cast<const Row*>(first));
    if constexpr (std::is_same_v<Row, tensor>) {
      if (one.rank() == 0) return invalid_argument_error("a scalar has no length of its own: it is " + one.spec_text());
    } else if (status fits = one.check(); !fits.ok()) {
      return fits;
    }
    if (are_alike(one, as)) return {};
    return invalid_argument_error("it is " + one.spec_text() + ", and the batch's first row " + as.spec_text());
  }

 private:
  /// Returns the index of the first row that differs from the first one; 0 if none does.
  static std::size_t first_other(std::span<const Row> rows) {
    for (std::size_t i = 1; i < rows.size(); ++i)
      if (!are_alike(rows[i], rows[0])) return i;
    return 0;
  }
  static bool are_alike(const Row& row, const Row& first) {
    auto values = [](const Row& r) -> const tensor& {
      if constexpr (std::is_same_v<Row, tensor>) return r;
      else return r.values;
    };
    auto splits = [](const Row& r) -> std::size_t {
      if constexpr (std::is_same_v<Row, tensor>) return r.rank() ? 1 : 0;
      else return r.row_splits.size();
    };
    const tensor &one = values(row), &as = values(first);
    return one.dtype() == as.dtype() && one.rank() == as.rank() && splits(row) == splits(first) &&
           std::equal(one.shape().begin() + (one.rank() != 0), one.shape().end(),
                      as.shape().begin() + (as.rank() != 0));
  }
};

/// Returns true if a structure has a tensor as a member, at any depth.
bool has_tensor(const element_type& t) {
  if (t.kind == kind::tensor) return true;
  if (t.kind == kind::array || t.kind == kind::maybe) return has_tensor(*t.element);
  for (const member& m : t.members)
    if (!t.whole && has_tensor(*m.type)) return true;
  return false;
}

bool becomes_ragged(const element_type& row) { return row.kind == kind::tensor || &row == &type_of<ragged_tensor>(); }

const element_type* ragged_type(const node& n, std::string& why) {
  const element_type& row = *n.inputs[0]->type;
  if (becomes_ragged(row)) return &type_of<ragged_tensor>();
  if (has_tensor(row))
    return why = "a tensor within " + row.name +
                 " has no batch in which it keeps its own length: map it to a list, or use padded_batch",
           nullptr;
  return type_of_batch(row, why);
}

spec ragged_batch_spec(const node& n) {
  auto& a = n.as<ragged_batch_arguments>();
  if (!becomes_ragged(*n.inputs[0]->type)) return spec_of_batches(n, a.size, a.options.drop_remainder);
  return spec_of_ragged(same_spec(n), a.options.drop_remainder ? a.size.value : spec::kUnknown);
}

erased_stream open_ragged_batch(const node& n, open_context& context) {
  auto& a = n.as<ragged_batch_arguments>();
  outlet out(*n.type);
  const element_type& row = *n.inputs[0]->type;
  std::unique_ptr<rows_maker> maker;
  if (!becomes_ragged(row)) maker = std::make_unique<batch_maker>(row);
  else if (row.kind == kind::tensor) maker = std::make_unique<ragged_maker<tensor>>();
  else maker = std::make_unique<ragged_maker<ragged_tensor>>();
  erased_stream in = context.open(n.inputs[0]);
  return row_batches_loop(out, std::move(in), std::move(maker), static_cast<std::uint64_t>(a.size.value),
                          a.options.drop_remainder, context.run, context.gate(n));
}

}  // namespace

const op_info ragged_batch_op{
    .name = "ragged_batch",
    .doc = "n elements become one; lists and tensors keep their lengths",
    .arguments = arguments_of<ragged_batch_arguments>,
    .type = ragged_type,
    .spec = ragged_batch_spec,
    .facts = {.always = {.outputs = output_count::one_per_group, .keeps_order = true},
              .size =
                  [](const node& n) {
                    auto& a = n.as<ragged_batch_arguments>();
                    return cardinality_of(*n.inputs[0]).in_groups(a.size, a.options.drop_remainder);
                  },
              .rows =
                  [](const node& n) {
                    auto& a = n.as<ragged_batch_arguments>();
                    return rows_in_batches(n, a.size, a.options.drop_remainder);
                  },
              .seeks = seeks_with_inputs},
    .splits = {.rule = split_rule::groups},
    .lowering = {.open = open_ragged_batch},
};

ragged_batch_verb ragged_batch(count size, ragged_batch_options o) {
  return ragged_batch_verb(ragged_batch_arguments{size, o});
}

}  // namespace sluice::lib
