// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/bucket_by_sequence_length.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "element/tensors/row_fit.hpp"
#include "engine/batching/grouping.hpp"
#include "engine/batching/key_lengths.hpp"
#include "engine/batching/padded_rows.hpp"
#include "engine/held/held_elements.hpp"
#include "engine/held/held_ordinals.hpp"
#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {

bucket_by_sequence_length_arguments detail::bucket_arguments(const std::vector<std::int64_t>& boundaries,
                                                             const std::vector<std::int64_t>& batch_sizes,
                                                             bucket_by_sequence_length_options o) {
  bucket_by_sequence_length_arguments a;
  a.boundaries = boundaries;
  a.batch_sizes.assign(batch_sizes.begin(), batch_sizes.end());
  a.options = std::move(o);
  return a;
}

namespace {

/// The elements in each bucket. Valid at each co_yield, and between two.
struct length_buckets_state {
  std::vector<held_ordinals> buckets;
  std::uint64_t next = 0;  ///< the ordinal of the element that arrives next

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

/// The rules of a bucket.
struct length_bucket {
  std::uint64_t size = 1;
  std::vector<padded_member> members;
  bool is_closed = false;  ///< no element may go here
};

status above_the_last(std::int64_t length) {
  return invalid_argument_error("its length, " + std::to_string(length) +
                                ", is not below the last boundary, so pad_to_bucket_boundary has none for it");
}

std::size_t bucket_of(const std::vector<std::int64_t>& boundaries, std::int64_t length) {
  auto above = std::upper_bound(boundaries.begin(), boundaries.end(), length);
  return static_cast<std::size_t>(above - boundaries.begin());
}

/// The buckets and their elements.
class length_buckets {
 public:
  length_buckets(erased_stream& in, length_buckets_state& state, held_memory& memory, function_ptr function,
                 std::vector<length_bucket> rules, std::vector<std::int64_t> boundaries)
      : in_(in),
        state_(state),
        memory_(memory),
        function_(std::move(function)),
        key_(static_cast<const key_function&>(*function_)),
        is_signed_(is_signed_number(*key_.out)),
        rules_(std::move(rules)),
        boundaries_(std::move(boundaries)),
        rows_(in.type()) {
    for (std::size_t i = 0; i != rules_.size(); ++i) held_.emplace_back(in.type(), memory, sizeof(std::uint64_t));
  }
  length_buckets(const length_buckets&) = delete;

  std::size_t size() const { return rules_.size(); }
  /// Checks each element against its bucket. An element that does not fit is a bad element, and the batch stays valid.
  void check_elements() {
    for (const length_bucket& r : rules_)
      row_checks_.push_back(r.members.empty() ? row_fit::stacked(in_.type()) : row_fit::padded(r.members));
  }
  /// Fetches the elements of a restored position again.
  task<void> fetch();

  /// Returns the bucket whose batch is built next: a full one, or at the end one that has elements; size() if there is
  /// none.
  std::size_t leaving(bool ended, bool drop_remainder) {
    std::size_t found = size();
    for (std::size_t i = flushed_; i != size() && found == size(); ++i)
      if (held_[i].size() >= rules_[i].size || (ended && held_[i].size() && !drop_remainder)) found = i;
    if (ended) flushed_ = found;
    return found;
  }
  /// Builds the batch of a bucket's first elements at `to`. Errors: an element does not stack; resource_exhausted.
  status make_batch(std::size_t bucket, batch_storage* to);

  /// The reason why place() has stopped.
  struct placed {
    status bad;   ///< the error of the next element, which has no bucket
    status full;  ///< the memory budget is too small for the next element
  };
  /// Moves the elements that the input has ready to their buckets, until a bucket is full or an element has none.
  placed place();
  void drop_next() {
    in_.drop(1);
    ++state_.next;
  }

 private:
  /// Computes the lengths of the elements that the input has ready.
  status read_lengths();
  status mistake_of(std::int64_t length, std::size_t bucket);
  std::int64_t length_of_first(std::size_t bucket);

  erased_stream& in_;
  length_buckets_state& state_;
  held_memory& memory_;
  function_ptr function_;
  const key_function& key_;
  bool is_signed_;
  std::vector<length_bucket> rules_;
  std::vector<std::int64_t> boundaries_;
  std::deque<held_elements> held_;
  std::vector<row_fit> row_checks_;  ///< by bucket; empty: not checked
  std::vector<std::uint64_t> lengths_;
  std::size_t looked_at_ = 0, known_ = 0;  ///< lengths that were used, and lengths that are known
  slab rows_;                              ///< the rows of the batch that is built
  std::size_t made_bytes_ = 0;             ///< the size of the batch that was delivered last
  std::size_t flushed_ = 0;                ///< at the end: the buckets before this one are empty
};

task<void> length_buckets::fetch() {
  if (state_.buckets.empty()) {
    state_.buckets.resize(size());
    state_.next = in_.consumed();
  }
  if (state_.buckets.size() != size()) co_await fail(damaged_position());
  std::vector<ordinals_fetch::part> parts;
  for (std::size_t i = 0; i != size(); ++i) parts.push_back({&state_.buckets[i], &held_[i]});
  ordinals_fetch list(std::move(parts), state_.next);
  status fits = list.make_places();
  if (!fits.ok()) co_await fail(std::move(fits));
  auto fetching = fetch_held(in_, list, memory_);
  co_await fetching;
  list.all_built();
}

status length_buckets::make_batch(std::size_t bucket, batch_storage* to) {
  memory_.shrink_by(std::exchange(made_bytes_, 0));
  const length_bucket& rule = rules_[bucket];
  held_ordinals& ordinals = state_.buckets[bucket];
  const std::size_t n = std::min<std::size_t>(held_[bucket].size(), rule.size);
  if (rule.is_closed) return row_error(above_the_last(length_of_first(bucket)), memory_.label(), ordinals.at(0));
  held_[bucket].move_front(n, rows_.reserve(n));
  rows_.set_live(0, n);
  std::size_t which = 0;
  batch_storage made;
  status why = make_padded_batch(rule.members, rows_, memory_, made, made_bytes_, which);
  if (!why.ok()) return row_error(why, memory_.label(), ordinals.at(std::min(which, n - 1)));
  empty_scratch(rows_);
  ordinals.drop_front(n);
  ::new (static_cast<void*>(to)) batch_storage(std::move(made));
  return {};
}

status length_buckets::read_lengths() {
  if (lengths_.size() < in_.left()) lengths_.resize(in_.left());
  applied a = key_.numbers(block(nullptr, &in_.type(), in_.peek().data(), in_.left()), lengths_.data());
  looked_at_ = 0;
  known_ = a.done;
  return a.done ? status() : std::move(a.why);  // an error after other elements is found again when they are placed
}

std::int64_t length_buckets::length_of_first(std::size_t bucket) {
  std::uint64_t length = 0;
  key_.numbers(block(nullptr, &in_.type(), const_cast<char*>(held_[bucket].at(0)), 1), &length);
  return number_of_code(length, key_.out->size, is_signed_);
}

status length_buckets::mistake_of(std::int64_t length, std::size_t bucket) {
  if (length < 0) return negative_length(length);
  if (row_checks_.empty()) return {};  // make_batch finds the others
  if (rules_[bucket].is_closed) return above_the_last(length);
  const char* element = in_.peek().data();
  return row_checks_[bucket].check(held_[bucket].size() ? held_[bucket].at(0) : element, element);
}

length_buckets::placed length_buckets::place() {
  placed p;
  if (looked_at_ == known_) p.bad = read_lengths();
  while (p.bad.ok() && looked_at_ != known_) {
    const std::int64_t length = number_of_code(lengths_[looked_at_++], key_.out->size, is_signed_);
    const std::size_t b = bucket_of(boundaries_, length);
    p.bad = mistake_of(length, b);
    if (!p.bad.ok()) break;
    block one = in_.take(1);
    p.full = held_[b].add(one, 1);
    if (!p.full.ok()) break;
    state_.buckets[b].add(state_.next++);
    if (held_[b].size() == rules_[b].size) break;
  }
  return p;
}

erased_stream bucket_lengths_loop(outlet out, saved<length_buckets_state> state, erased_stream in,
                                  function_ptr function, std::vector<length_bucket> rules,
                                  std::vector<std::int64_t> boundaries, bool drop_remainder,
                                  std::shared_ptr<run_context> run, error_gate gate) {
  in.hold_from(in.consumed());
  held_memory memory(std::move(run), gate.line(purpose::window), gate.label(), "the buckets", "lower batch_sizes");
  length_buckets buckets(in, *state, memory, std::move(function), std::move(rules), std::move(boundaries));
  if (gate.skips()) buckets.check_elements();
  auto fetching = buckets.fetch();
  co_await fetching;
  for (bool ended = false;;) {
    const std::size_t leaving = buckets.leaving(ended, drop_remainder);
    if (leaving != buckets.size()) {
      status why = buckets.make_batch(leaving, reinterpret_cast<batch_storage*>(out.room(1)));
      if (!why.ok()) co_await fail(std::move(why));
      in.hold_from(state->oldest());
      co_yield out.made(1);
      continue;
    }
    if (ended) break;
    bool more = co_await in.ready({0, static_cast<std::uint32_t>(grouped_at_once(in.type()))});
    ended = !more;
    if (ended && in.skip_left()) co_await fail(shorter_input(in.consumed(), state->next, memory.label()));
    if (ended) continue;
    length_buckets::placed p = buckets.place();
    if (!p.full.ok()) co_await fail(std::move(p.full));
    if (p.bad.ok()) continue;
    auto settled = gate.settle(out, p.bad, state->next);
    co_await settled;
    buckets.drop_next();
  }
}

std::string bucket_mistake(const bucket_by_sequence_length_arguments& a) {
  if (!a.boundaries.empty() && a.boundaries[0] < 0)
    return "boundaries must be at least 0, and the first is " + std::to_string(a.boundaries[0]);
  for (std::size_t i = 1; i < a.boundaries.size(); ++i)
    if (a.boundaries[i] <= a.boundaries[i - 1])
      return "boundaries must ascend, and " + std::to_string(a.boundaries[i]) + " follows " +
             std::to_string(a.boundaries[i - 1]);
  if (a.batch_sizes.size() != a.boundaries.size() + 1)
    return "each bucket needs a batch size: " + std::to_string(a.boundaries.size() + 1) + " of them, not " +
           std::to_string(a.batch_sizes.size());
  if (a.options.no_padding &&
      (a.options.pad_to_bucket_boundary || !a.options.shapes.empty() || !a.options.values.empty()))
    return "with no_padding nothing is padded: shapes, values and pad_to_bucket_boundary have no effect";
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
    const std::int64_t longest = all.back().is_closed ? -1 : a.boundaries[i] - 1;
    for (padded_member& m : all.back().members) {
      if (m.dims.empty() && m.is_tensor())
        return why = "pad_to_bucket_boundary needs a shape of " + m.path + ", with -1 for the boundary's length", all;
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
    .spec =
        [](const node& n) {
          auto& o = n.as<bucket_by_sequence_length_arguments>().options;
          return o.pad_to_bucket_boundary || !o.shapes.empty() ? spec_of(*n.type) : spec_of_batches(n, 1, false);
        },
    .facts = {.size =
                  [](const node& n) {
                    cardinality in = cardinality_of(*n.inputs[0]);
                    return in.kind == cardinality::infinite ? in : cardinality();
                  }},
    .splits = {.rule = split_rule::groups},
    .lowering = {.open = open_bucket_by_sequence_length},
};

}  // namespace sluice::lib
