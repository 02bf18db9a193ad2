// SPDX-License-Identifier: Apache-2.0
#include "engine/batching/row_batches.hpp"

#include <algorithm>

#include "engine/batching/grouping.hpp"

namespace sluice::lib {

status batch_maker::make(slab& rows, held_memory& memory, void* to, std::size_t& made_bytes, std::size_t& which) {
  const element_type& row = rows.type();
  const std::size_t n = rows.size(), before = memory.bytes();
  const std::size_t owned = row.footprint ? row.footprint(row, rows.begin(), n) : 0;
  const std::size_t foreseen = before + owned * 2 + n * row.size;
  if (!memory.has_room_for(foreseen)) return memory.refused_of(foreseen);
  status why = memory.resize(foreseen);
  if (!why.ok()) return why;
  batch_storage made;
  try {
    made.append(row, rows.begin(), n);
  } catch (const error& e) {
    for (std::size_t i = 1; i < n && which == 0; ++i)
      if (!fit_.check(rows.begin(), rows.begin() + i * row.size).ok()) which = i;
    return e.why();
  }
  rows.set_live(0, 0);
  made_bytes = made.memory_bytes();
  if (!memory.has_room_for(before + made_bytes)) return memory.refused_of(before + made_bytes);
  why = memory.resize(before + made_bytes);
  if (why.ok()) ::new (to) batch_storage(std::move(made));
  return why;
}

const element_type* type_of_batch(const element_type& row, std::string& why) {
  const element_type* t = batched_of(&row);
  if (!t) why = "rows of " + row.name + " cannot be stacked (numbers, texts, tensors, arrays and structs of them can)";
  return t;
}

void empty_scratch(slab& rows) {
  constexpr std::size_t kKeptBytesMax = 64 << 10;
  if (rows.capacity() * rows.type().size > kKeptBytesMax) rows.give_back();
  else rows.clear();
}

cardinality rows_in_batches(const node& n, const count& size, bool drop_remainder) {
  cardinality rows = cardinality_of(*n.inputs[0]);
  return drop_remainder ? rows.in_groups(size, true).times(size) : rows;
}

cardinality batches_of_any_size(const node& n) {
  cardinality in = cardinality_of(*n.inputs[0]);
  return in.kind == cardinality::infinite || in == cardinality::of(0) ? in : cardinality();
}

status row_error(const status& why, const std::string& label, std::uint64_t element) {
  return why.code() == status_code::invalid_argument ? why.in_stage(label, element) : why.in_stage(label);
}

std::uint32_t rows_in_making::fitting(const rows_maker& maker, const element_view& view, status& bad) const {
  const char* first = rows_.size() == 0 ? view.data() : rows_.begin();
  for (std::uint32_t n = 0; n != view.size(); ++n) {
    bad = maker.check(first, view.at(n));
    if (!bad.ok()) return n;
  }
  return view.size();
}

std::uint64_t rows_in_making::ordinal_of(std::size_t i) const {
  auto behind = std::upper_bound(ordinals_.begin(), ordinals_.end(), i, [](auto n, auto& o) { return n < o.first; });
  if (behind == ordinals_.begin()) return i;
  --behind;
  return behind->second + (i - behind->first);
}

status rows_in_making::add(block& b, std::uint32_t n, std::uint64_t ordinal) {
  if (n == 0) return {};
  if (ordinals_.empty() || ordinal_of(size()) != ordinal) ordinals_.emplace_back(size(), ordinal);
  const std::size_t before = room_bytes(), owned = row_.footprint ? row_.footprint(row_, b.data(), n) : 0;
  const std::size_t doubled = rows_.must_grow(n) ? before + std::max(before, n * row_.size) : 0;
  if (!memory_.has_room_for(memory_.bytes() + owned + doubled))
    return memory_.refused_of(memory_.bytes() + owned + doubled);
  b.move_front(rows_.extend(n), n);
  rows_.add_live(n);
  return memory_.change(owned + room_bytes(), before);
}

erased_stream row_batches_loop(outlet out, erased_stream in, std::unique_ptr<rows_maker> maker, std::uint64_t rows,
                               bool drop_remainder, std::shared_ptr<run_context> run, error_gate gate) {
  in.may_go_back();
  held_memory memory(std::move(run), gate.line(purpose::batch), gate.label(), "a batch", "lower its size");
  rows_in_making part(in.type(), memory);
  const bool may_drop = gate.skips() && maker->may_refuse();
  for (bool ended = false;;) {
    char* to = out.room(1);
    part.forget();
    while (part.size() != rows && !ended) {
      // Batches from which rows may be dropped are built even if they are skipped.
      const std::uint64_t passed = may_drop ? 0 : out.pass(demand::kAll / rows);
      std::uint64_t rows_to_pass = 0;
      if (passed) {  // whole batches are skipped as rows; the rows collected so far belong to the first
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
      while (b) {
        const std::uint64_t first = in.consumed() - b.size();
        status bad;
        const element_view all(b.data(), b.size(), in.type().size);
        const std::uint32_t n = may_drop ? part.fitting(*maker, all, bad) : b.size();
        status fits = part.add(b, n, first);
        if (!fits.ok()) co_await fail(std::move(fits));
        if (bad.ok()) continue;
        auto settled = gate.settle(out, bad, first + n);
        co_await settled;
        b.drop_front(1);
      }
    }
    if (part.size() == 0 || (ended && drop_remainder)) {
      in.hold_from(in.consumed());  // elements skipped at the end are not held either
      part.give_back();
      auto over = out.again();
      co_await over;
      ended = false;
      continue;
    }
    std::size_t which = 0;
    status why = part.make(*maker, to, which);
    if (!why.ok()) {
      status located = row_error(why, memory.label(), part.ordinal_of(which));
      co_await fail(std::move(located));
    }
    in.hold_from(in.consumed());
    co_yield out.made(1);
  }
}

}  // namespace sluice::lib
