// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/unbatch.hpp"

#include <memory>
#include <utility>

#include "element/spec_parts.hpp"
#include "engine/batching/row_landing.hpp"
#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/open_context.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {
namespace {

/// The rows of the current batch that were delivered. After a resume the batch itself is fetched again.
erased_stream unbatch_loop(outlet out, saved<std::uint64_t> delivered, erased_stream in) {
  const element_type& row = out.type();
  in.may_go_back();
  while (auto b = co_await in.next_block({0, 1})) {
    batch_storage batch = std::move(*b.as<batch_storage>());
    std::uint64_t resumed = *delivered;  // delivered rows of a batch that a resume fetches again
    *delivered = 0;
    in.hold_from(in.consumed() - 1);
    auto rows = static_cast<std::uint64_t>(batch.rows());
    for (std::uint64_t at = std::min(resumed, rows); at < rows;) {
      std::uint64_t passed = out.pass(rows - at);
      if (at + passed + static_cast<std::uint64_t>(batch.rows()) > rows)
        batch.drop_front(at + passed + static_cast<std::uint64_t>(batch.rows()) - rows);
      at += passed;
      std::uint32_t n = out.wanted_of(rows - at);
      if (n == 0) break;
      batch.take_front(row, out.room(n), n);
      at += n;
      *delivered = at;
      co_yield out.made(n);
    }
    *delivered = 0;
    in.hold_from(in.consumed());
  }
}

/// The same, with rows that are lent from the columns of the batch.
erased_stream unbatch_rows_loop(outlet out, saved<std::uint64_t> delivered, erased_stream in,
                                std::shared_ptr<row_landing> landing) {
  in.may_go_back();
  while (auto b = co_await in.next_block({0, 1})) {
    const batch_storage batch = std::move(*b.as<batch_storage>());
    const std::uint64_t resumed = *delivered;
    *delivered = 0;
    in.hold_from(in.consumed() - 1);
    const auto rows = static_cast<std::uint64_t>(batch.rows());
    for (std::uint64_t at = std::min(resumed, rows); at < rows;) {
      at += out.pass(rows - at);
      const std::uint32_t n = out.wanted_of(rows - at);
      if (n == 0) break;
      landing->lent = &batch.rows_column();
      landing->lent_first = landing->lent->gone_in_front() + static_cast<std::size_t>(at);
      make_landed(batch.memory_bytes() / rows, n, out.room(n));
      at += n;
      *delivered = at;
      co_yield out.made(n);
    }
    *delivered = 0;
    in.hold_from(in.consumed());
  }
}

erased_stream open_unbatch_rows(const node& n, open_context& context, const std::shared_ptr<row_landing>& landing) {
  if (!landing->may_lend) return {};
  saved<std::uint64_t> delivered;
  return unbatch_rows_loop(outlet(landed_row_type()), std::move(delivered), context.open(n.inputs[0]), landing);
}

erased_stream open_unbatch(const node& n, open_context& context) {
  outlet out(*n.type);
  saved<std::uint64_t> delivered;
  return unbatch_loop(out, std::move(delivered), context.open(n.inputs[0]));
}

}  // namespace

const op_info unbatch_op{
    .name = "unbatch",
    .doc = "the rows of batches, one by one",
    .type = [](const node& n, std::string& why) -> const element_type* {
      const element_type* in = n.inputs[0]->type;
      if (in->kind == kind::batch) return in->element;
      why = "expects batches, and gets " + in->name;
      if (in->kind == kind::list || in->kind == kind::array)
        why += ": lists, such as window's, are no batches; flat_map(it) yields their elements";
      else why += "; batch(N) makes batches, and without it unbatch is not needed";
      return nullptr;
    },
    .spec = [](const node& n) { return spec_of_row(element_spec_of(*n.inputs[0])); },
    .facts = {.always = {.keeps_order = true, .uses_place = false},
              .size = [](const node& n) { return batch_rows_of(*n.inputs[0]); },
              .members = member_use::passed},
    .splits = {.rule = split_rule::each_element},
    .lowering = {.open = open_unbatch, .open_rows = open_unbatch_rows, .has_columns = true},
};

}  // namespace sluice::lib
