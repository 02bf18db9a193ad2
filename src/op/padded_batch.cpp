// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/padded_batch.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/grouping.hpp"
#include "engine/open_context.hpp"
#include "engine/padded_rows.hpp"
#include "plan/arguments_of.hpp"
#include "runtime/held_memory.hpp"
#include "sluice/coro/erased_stream.hpp"

namespace sluice::lib {

namespace {

/// The rows of the next batch, as they come.
class padded_rows {
 public:
  padded_rows(const element_type& row, std::vector<padded_member> members, held_memory& memory)
      : row_(row), members_(std::move(members)), memory_(memory), rows_(row) {}

  std::uint64_t size() const { return rows_.size(); }
  void forget() {
    rows_.clear();
    memory_.shrink_by(memory_.bytes() - room_bytes());
  }
  /// Takes all of `b`. Errors: resource_exhausted.
  status add(block& b) {
    const std::uint32_t n = b.size();
    const std::size_t before = room_bytes(), owned = row_.footprint ? row_.footprint(row_, b.data(), n) : 0;
    const std::size_t doubled = rows_.must_grow(n) ? before + std::max(before, n * row_.size) : 0;
    if (!memory_.has_room_for(memory_.bytes() + owned + doubled))
      return memory_.refused_of(memory_.bytes() + owned + doubled);
    b.move_front(rows_.extend(n), n);
    rows_.add_live(n);
    return memory_.change(owned + room_bytes(), before);
  }
  /// The batch of them; then there are none. Errors: `which` is the row's number.
  status make(batch_storage& made, std::size_t& which) {
    memory_.shrink_by(memory_.bytes() - room_bytes());
    std::size_t made_bytes = 0;
    return make_padded_batch(members_, rows_, memory_, made, made_bytes, which);
  }

 private:
  std::size_t room_bytes() const { return rows_.capacity() * row_.size; }

  const element_type& row_;
  const std::vector<padded_member> members_;
  held_memory& memory_;
  slab rows_;
};

erased_stream padded_batch_loop(outlet out, erased_stream in, std::vector<padded_member> members, std::uint64_t rows,
                                bool drop_remainder, std::shared_ptr<run_context> run, std::string label) {
  in.may_go_back();
  held_memory memory(std::move(run), purpose::batch, std::move(label), "a batch", "lower its size");
  padded_rows part(in.type(), std::move(members), memory);
  for (bool ended = false; !ended;) {
    auto* to = reinterpret_cast<batch_storage*>(out.room(1));
    part.forget();
    while (part.size() != rows && !ended) {
      const std::uint64_t passed = out.pass(demand::kAll / rows);
      std::uint64_t rows_to_pass = 0;
      if (passed) {  // whole batches are passed over as rows; what was collected belongs to the first of them
        rows_to_pass = passed * rows - part.size();
        part.forget();
      }
      demand d;
      d.skip = rows_to_pass;
      d.elements = static_cast<std::uint32_t>(std::min(rows - part.size(), grouped_at_once(in.type())));
      auto b = co_await in.next_block(d);
      if (!b) {
        ended = true;
        const std::uint64_t gone = passed * rows - (passed ? in.skip_left() : 0);
        const std::uint64_t whole = drop_remainder ? gone / rows : (gone + rows - 1) / rows;
        out.unpass(passed - std::min(passed, whole));
        continue;
      }
      status fits = part.add(b);
      if (!fits.ok()) co_await fail(std::move(fits));
    }
    if (part.size() == 0 || (ended && drop_remainder)) break;
    const std::uint64_t begin = in.consumed() - part.size();
    std::size_t which = 0;
    batch_storage made;
    status why = part.make(made, which);
    if (!why.ok()) {
      status told = told_of_row(why, memory.label(), begin + which);
      co_await fail(std::move(told));
    }
    ::new (static_cast<void*>(to)) batch_storage(std::move(made));
    in.hold_from(in.consumed());
    co_yield out.made(1);
  }
}

std::vector<padded_member> members_of(const node& n, std::string& why) {
  auto& o = n.as<padded_batch_arguments>().options;
  return padded_members(*n.inputs[0]->type, o.shapes, o.values, why);
}

erased_stream open_padded_batch(const node& n, open_context& context) {
  auto& a = n.as<padded_batch_arguments>();
  outlet out(*n.type);
  std::string why;
  std::vector<padded_member> members = members_of(n, why);
  erased_stream in = context.open(n.inputs[0]);
  std::string label = context.gate(n).label();
  return padded_batch_loop(out, std::move(in), std::move(members), static_cast<std::uint64_t>(a.size.value),
                           a.options.drop_remainder, context.run, std::move(label));
}

const element_type* padded_type(const node& n, std::string& why) {
  members_of(n, why);
  return why.empty() ? type_of_batch(*n.inputs[0]->type, why) : nullptr;
}

}  // namespace

std::string pad_value::spelled(double number) {
  char text[32];
  char* end = std::to_chars(text, text + sizeof text, number).ptr;
  return {text, end};
}

const op_info padded_batch_op{
    .name = "padded_batch",
    .doc = "n elements become one, lists and tensors as long as the longest",
    .arguments = arguments_of<padded_batch_arguments>,
    .type = padded_type,
    .open = open_padded_batch,
    .size =
        [](const node& n) {
          auto& a = n.as<padded_batch_arguments>();
          return cardinality_of(*n.inputs[0]).in_groups(a.size, a.options.drop_remainder);
        },
    .seeks = seeks_with_inputs,
};

padded_batch_verb padded_batch(count size, padded_batch_options o) {
  return padded_batch_verb(padded_batch_arguments{std::move(size), std::move(o)});
}

}  // namespace sluice::lib
