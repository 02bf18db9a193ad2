// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/bucket_by_sequence_length.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "element/row_fit.hpp"
#include "engine/element_specs.hpp"
#include "engine/grouping.hpp"
#include "engine/held_elements.hpp"
#include "engine/held_ordinals.hpp"
#include "engine/key_lengths.hpp"
#include "engine/open_context.hpp"
#include "engine/padded_rows.hpp"
#include "engine/types.hpp"
#include "plan/arguments_of.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {

bucket_by_sequence_length_arguments detail::bucket_arguments(const std::vector<std::int64_t>& boundaries,
                                                             const std::vector<std::int64_t>& batch_sizes,
                                                             bucket_by_sequence_length_options o) {
  bucket_by_sequence_length_arguments a;
  a.boundaries.assign(boundaries.begin(), boundaries.end());
  a.batch_sizes.assign(batch_sizes.begin(), batch_sizes.end());
  a.options = std::move(o);
  return a;
}

namespace {

/// Which elements are in each bucket. Right at each co_yield, and between two.
struct length_buckets_state {
  std::vector<held_ordinals> buckets;
  std::uint64_t next = 0;  ///< the element that comes in next

  void save(position_writer& w) {
    w.number(next);
    w.number(buckets.size());
    for (const held_ordinals& o : buckets) o.save(w);
  }
  void load(position_reader& r) {
    next = r.number();
    buckets.assign(r.count(), {});
    for (held_ordinals& o : buckets) o.load(r);
  }
  std::uint64_t oldest() const {
    std::uint64_t lowest = next;
    for (const held_ordinals& o : buckets)
      if (o.size()) lowest = std::min(lowest, o.at(0));
    return lowest;
  }
};

/// A bucket's rule.
struct length_bucket {
  std::uint64_t size = 1;
  std::vector<padded_member> members;
  bool is_closed = false;  ///< nothing may come here
};

status above_the_last(std::int64_t length) {
  return invalid_argument_error("its length, " + std::to_string(length) +
                                ", is not below the last boundary, so pad_to_bucket_boundary has none for it");
}

std::size_t bucket_of(const std::vector<count>& boundaries, std::int64_t length) {
  auto above = std::upper_bound(boundaries.begin(), boundaries.end(), length,
                                [](std::int64_t l, const count& boundary) { return l < boundary.value; });
  return static_cast<std::size_t>(above - boundaries.begin());
}

task<void> fetch_length_buckets(erased_stream& in, length_buckets_state& state, std::deque<held_elements>& held,
                                held_memory& memory) {
  std::vector<ordinals_fetch::part> parts;
  for (std::size_t i = 0; i != held.size(); ++i) parts.push_back({&state.buckets[i], &held[i]});
  ordinals_fetch list(std::move(parts), state.next);
  status fits = list.make_places();
  if (!fits.ok()) co_await fail(std::move(fits));
  auto fetching = fetch_held(in, list, memory);
  co_await fetching;
  list.all_built();
}

erased_stream bucket_lengths_loop(outlet out, saved<length_buckets_state> state, erased_stream in,
                                  function_ptr function, std::vector<length_bucket> rules,
                                  std::vector<count> boundaries, bool drop_remainder, std::shared_ptr<run_context> run,
                                  error_gate gate) {
  in.hold_from(in.consumed());
  held_memory memory(std::move(run), purpose::window, gate.label(), "the buckets", "lower batch_sizes");
  auto& key = static_cast<const key_function&>(*function);
  const bool is_signed = is_signed_number(*key.out);
  const std::size_t buckets = rules.size();
  std::deque<held_elements> held;
  for (std::size_t i = 0; i != buckets; ++i) held.emplace_back(in.type(), memory, sizeof(std::uint64_t));
  if (state->buckets.empty()) {
    state->buckets.resize(buckets);
    state->next = in.consumed();
  }
  if (state->buckets.size() != buckets) co_await fail(damaged_position());
  auto fetching = fetch_length_buckets(in, *state, held, memory);
  co_await fetching;
  slab rows(in.type());  // of a batch while it is made
  std::vector<std::uint64_t> lengths;
  std::size_t looked_at = 0, known = 0;  // the number of lengths used up, and of lengths known
  std::vector<row_fit> fits_in;          // by bucket, where what does not fit is dropped
  for (std::size_t i = 0; gate.skips() && i != buckets; ++i)
    fits_in.push_back(rules[i].members.empty() ? row_fit::stacked(in.type()) : row_fit::padded(rules[i].members));
  std::size_t made_bytes = 0, flushed = 0;  // at the end: the buckets before this one are empty
  for (bool ended = false;;) {
    // A bucket that is full, or, at the end, the next that has anything.
    std::size_t leaving = buckets;
    for (std::size_t i = flushed; i != buckets && leaving == buckets; ++i)
      if (held[i].size() >= rules[i].size || (ended && held[i].size() && !drop_remainder)) leaving = i;
    if (ended) flushed = leaving;
    if (leaving != buckets) {
      auto* to = reinterpret_cast<batch_storage*>(out.room(1));
      memory.shrink_by(std::exchange(made_bytes, 0));
      const std::size_t n = std::min<std::size_t>(held[leaving].size(), rules[leaving].size);
      const held_ordinals& ordinals = state->buckets[leaving];
      held[leaving].move_front(n, rows.reserve(n));
      rows.set_live(0, n);
      std::size_t which = 0;
      batch_storage made;
      status why = make_padded_batch(rules[leaving].members, rows, memory, made, made_bytes, which);
      if (!why.ok()) {
        status told = told_of_row(why, memory.label(), ordinals.at(std::min(which, n - 1)));
        co_await fail(std::move(told));
      }
      empty_scratch(rows);
      state->buckets[leaving].drop_front(n);
      ::new (static_cast<void*>(to)) batch_storage(std::move(made));
      in.hold_from(state->oldest());
      co_yield out.made(1);
      continue;
    }
    if (ended) break;
    bool more = co_await in.ready({0, static_cast<std::uint32_t>(grouped_at_once(in.type()))});
    ended = !more;
    if (ended && in.skip_left()) co_await fail(shorter_input(in.consumed(), state->next, memory.label()));
    if (ended) continue;
    if (looked_at == known) {
      if (lengths.size() < in.left()) lengths.resize(in.left());
      applied a = key.numbers(block(nullptr, &in.type(), in.peek().data(), in.left()), lengths.data());
      looked_at = 0;
      known = a.done;
      if (!a.why.ok() && a.done == 0) {
        auto settled = gate.settle(out, a.why, state->next);
        co_await settled;
        in.drop(1);
        ++state->next;
        continue;
      }
    }
    for (bool full = false; looked_at != known && !full; ++looked_at) {
      const std::int64_t length = number_of_code(lengths[looked_at], key.out->size, is_signed);
      const std::size_t b = bucket_of(boundaries, length);
      status bad;
      if (length < 0) bad = negative_length(length);
      else if (rules[b].is_closed) bad = above_the_last(length);
      else if (!fits_in.empty())
        bad = fits_in[b].check(held[b].size() ? held[b].at(0) : in.peek().data(), in.peek().data());
      if (!bad.ok()) {
        auto settled = gate.settle(out, bad, state->next);
        co_await settled;
        in.drop(1);
        ++state->next;
        continue;
      }
      block one = in.take(1);
      status fits = held[b].add(one, 1);
      if (!fits.ok()) co_await fail(std::move(fits));
      state->buckets[b].add(state->next++);
      full = held[b].size() == rules[b].size;
    }
  }
}

std::string bucket_mistake(const bucket_by_sequence_length_arguments& a) {
  for (std::size_t i = 1; i < a.boundaries.size(); ++i)
    if (a.boundaries[i].value <= a.boundaries[i - 1].value)
      return "boundaries ascend, and " + std::to_string(a.boundaries[i].value) + " stands behind " +
             std::to_string(a.boundaries[i - 1].value);
  if (a.batch_sizes.size() != a.boundaries.size() + 1)
    return "there is a batch size for each bucket: " + std::to_string(a.boundaries.size() + 1) + " of them, and not " +
           std::to_string(a.batch_sizes.size());
  if (a.options.no_padding &&
      (a.options.pad_to_bucket_boundary || !a.options.shapes.empty() || !a.options.values.empty()))
    return "with no_padding nothing is padded: shapes, values and pad_to_bucket_boundary say nothing";
  return length_mistake(a.length.value);
}

/// Returns the rule of each bucket. If the arguments do not fit, `why` has the reason.
std::vector<length_bucket> rules_of(const node& n, std::string& why) {
  auto& a = n.as<bucket_by_sequence_length_arguments>();
  auto& o = a.options;
  std::vector<length_bucket> all;
  why = bucket_mistake(a);
  if (!why.empty()) return all;
  std::vector<padded_member> members;
  if (!o.no_padding) members = padded_members(*n.inputs[0]->type, o.shapes, o.values, why);
  for (std::size_t i = 0; i != a.batch_sizes.size() && why.empty(); ++i) {
    all.push_back({static_cast<std::uint64_t>(a.batch_sizes[i].value), members});
    if (!o.pad_to_bucket_boundary) continue;
    all.back().is_closed = i == a.boundaries.size();
    const std::int64_t longest = all.back().is_closed ? -1 : a.boundaries[i].value - 1;
    for (padded_member& m : all.back().members) {
      if (m.dims.empty() && m.is_tensor())
        return why = "pad_to_bucket_boundary needs a shape of " + m.path + ", with -1 for what the boundary says", all;
      if (m.dims.empty()) m.dims.assign(m.rank(), -1);
      for (std::int64_t& d : m.dims)
        if (d == -1) d = longest;
    }
  }
  return all;
}

erased_stream open_bucket_by_sequence_length(const node& n, open_context& context) {
  auto& a = n.as<bucket_by_sequence_length_arguments>();
  outlet out(*n.type);
  std::string why;
  std::vector<length_bucket> rules = rules_of(n, why);
  saved<length_buckets_state> state;
  erased_stream in = context.open(n.inputs[0]);
  return bucket_lengths_loop(out, std::move(state), std::move(in), a.length.value, std::move(rules), a.boundaries,
                             a.options.drop_remainder, context.run, context.gate(n));
}

const element_type* bucketed_type(const node& n, std::string& why) {
  auto& a = n.as<bucket_by_sequence_length_arguments>();
  type_of_function(n, a.length.value, why);
  if (why.empty()) rules_of(n, why);
  return why.empty() ? type_of_batch(*n.inputs[0]->type, why) : nullptr;
}

}  // namespace

const op_info bucket_by_sequence_length_op{
    .name = "bucket_by_sequence_length",
    .doc = "padded batches of elements of about the same length",
    .arguments = arguments_of<bucket_by_sequence_length_arguments>,
    .type = bucketed_type,
    .open = open_bucket_by_sequence_length,
    .spec =
        [](const node& n) {
          auto& o = n.as<bucket_by_sequence_length_arguments>().options;
          return o.pad_to_bucket_boundary || !o.shapes.empty() ? spec_of(*n.type) : spec_of_batches(n, 1, false);
        },
};

}  // namespace sluice::lib
