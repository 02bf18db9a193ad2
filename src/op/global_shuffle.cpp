// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/global_shuffle.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/index_permutation.hpp"
#include "engine/by_number/planned_records.hpp"
#include "engine/files/file_head.hpp"
#include "engine/held/held_elements.hpp"
#include "engine/held/slice_slots.hpp"
#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/lowering/plain_stages.hpp"
#include "engine/lowering/types.hpp"
#include "io/plan_file_reader.hpp"
#include "plan/codecs/argument_codec.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "plan/matching_files.hpp"
#include "sluice/coro/detail/block_fit.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"
#include "sluice/coro/task.hpp"

namespace sluice::lib {
namespace {

/// The number of elements for which the input is opened once, unless elements are read ahead.
constexpr std::uint32_t kFetchedAtOnce = 1024;
/// The same if they are: the more numbers are requested together, the closer their records are to each other. With one of
/// eight records, reading a file from its beginning to its end costs less than one read for each.
constexpr std::uint32_t kAheadMax = std::uint32_t{1} << 20;
/// The memory of these elements, of those that are shorter than a page, and the share of the budget. Several short ones are
/// in each page of a file, so more of them in memory are fewer reads of the page.
constexpr std::size_t kAheadBytes = std::size_t{32} << 20;
constexpr std::size_t kShortAheadBytes = std::size_t{128} << 20;
constexpr std::size_t kShortBytesMax = 4096;
constexpr std::size_t kAheadShare = 16;
/// The elements between two requested ones are built and dropped if they have fewer bytes: a request costs as much as
/// building a dozen short records.
constexpr std::size_t kDroppedBytes = 1024;

/// A requested element: its number in the input, and its place among the elements requested together.
struct wanted_element {
  std::uint64_t number = 0;
  std::uint32_t place = 0;
};

/// Copies the bytes of elements that are kept longer than the buffers that they were read into. Short slices share buffers,
/// so that they cost no allocation each.
class kept_bytes_of {
 public:
  explicit kept_bytes_of(const element_type& type) : type_(type), are_slices_(slice_slots::holds(type)) {}
  void make_compact(char* elements, std::uint32_t n) {
    if (!type_.compact) return;
    if (!are_slices_) return type_.compact(type_, elements, n);
    auto* slices = reinterpret_cast<slice*>(elements);
    for (std::uint32_t i = 0; i != n; ++i) {
      const std::string_view bytes = slices[i].view();
      if (bytes.size() > slice_slots::kCopiedBytesMax) {
        type_.compact(type_, slices + i, 1);
        continue;
      }
      if (!shared_ || bytes.size() > shared_->capacity() - used_) {
        shared_ = buffer_ref(buffer::make(slice_slots::kSharedBytes));
        used_ = 0;
      }
      char* const to = shared_->data() + used_;
      if (!bytes.empty()) std::memcpy(to, bytes.data(), bytes.size());
      used_ += bytes.size();
      shared_->add_references(1);
      slices[i] = slice(shared_.get(), to, bytes.size());
    }
  }

 private:
  const element_type& type_;
  const bool are_slices_;
  buffer_ref shared_;
  std::size_t used_ = 0;
};

/// Moves the elements with the numbers [first, last) that are in the block to `to`, and drops the others. Returns how many
/// were moved. REQUIRES: the first element of the block is the first one.
std::size_t move_wanted(block& from, const wanted_element* first, const wanted_element* last, char* to) {
  const std::size_t element_bytes = from.type().size;
  const wanted_element* at = first;
  for (std::uint64_t number = first->number; !from.empty() && at != last;) {
    const std::uint64_t unwanted = at->number - number;
    if (unwanted >= from.size()) break;
    from.drop_front(static_cast<std::uint32_t>(unwanted));
    std::uint32_t n = 1;  // consecutive numbers
    while (n != from.size() && at + n != last && at[n].number == at->number + n) ++n;
    from.move_front(to + static_cast<std::size_t>(at - first) * element_bytes, n);
    number = at->number + n;
    at += n;
  }
  from.drop_front(from.size());
  return static_cast<std::size_t>(at - first);
}

/// Fetches the elements of `wanted`, whose numbers ascend, into `found` in that order, up to the first that fails.
/// `apart_max`: the largest distance of two numbers whose elements are requested together, with those between them.
/// `compacts`: the elements are kept longer than the buffers that they were read into.
task<status> fetch_in_order(open_context context, node_ptr plan, const std::vector<wanted_element>& wanted, slab& found,
                            std::uint64_t apart_max, bool compacts) {
  erased_stream in = context.open(plan);
  kept_bytes_of kept(in.type());
  const std::size_t element_bytes = in.type().size;
  char* to = found.reserve(wanted.size());
  for (std::size_t i = 0; i != wanted.size();) {
    std::size_t end = i + 1;  // the end of the elements that are requested together
    while (end != wanted.size() && end - i != kFetchedAtOnce &&
           wanted[end].number - wanted[end - 1].number <= apart_max)
      ++end;
    demand d;
    d.skip = wanted[i].number - in.consumed();
    d.elements = static_cast<std::uint32_t>(wanted[end - 1].number - wanted[i].number + 1);
    auto b = co_await in.try_next_block(d);
    if (!b.why.ok()) co_return std::move(b.why);
    if (!b.view)
      co_return out_of_range_error("the input has " + std::to_string(in.consumed()) + " elements, and element " +
                                   std::to_string(wanted[i].number) +
                                   " was requested: the input is shorter than its plan declares");
    const std::size_t first = i;
    i += move_wanted(b.view, &wanted[i], &wanted[end - 1] + 1, to + i * element_bytes);
    found.set_live(0, i);
    if (compacts) kept.make_compact(to + first * element_bytes, static_cast<std::uint32_t>(i - first));
  }
  co_return status();
}

/// Lists the elements of the places from `first` on, with ascending numbers. The numbers are spread evenly, so
/// distributing them by their highest bits almost sorts them.
void list_wanted(const index_permutation& order, std::uint64_t first, std::uint32_t n,
                 std::vector<wanted_element>& to) {
  std::vector<std::uint64_t> numbers(n);
  order.numbers(first, std::span(numbers.data(), n));
  const auto bits = static_cast<unsigned>(std::bit_width(order.size() - 1));
  const auto share_bits =
      std::min(bits, static_cast<unsigned>(std::bit_width(n - 1)));  // about as many buckets as elements
  const unsigned shift = bits - share_bits;
  std::vector<std::uint32_t> begins((std::size_t{1} << share_bits) + 1);
  for (std::uint32_t i = 0; i != n; ++i) ++begins[(numbers[i] >> shift) + 1];
  for (std::uint32_t i = 0; i != 1u << share_bits; ++i) begins[i + 1] += begins[i];
  to.resize(n);
  for (std::uint32_t i = 0; i != n; ++i) to[begins[numbers[i] >> shift]++] = {numbers[i], i};
  for (std::uint32_t i = 1; i < n; ++i) {
    const wanted_element x = to[i];
    std::uint32_t at = i;
    for (; at != 0 && to[at - 1].number > x.number; --at) to[at] = to[at - 1];
    to[at] = x;
  }
}

/// Moves the fetched elements to their places.
void put_in_place(slab& found, const std::vector<wanted_element>& wanted, char* to) {
  const element_type& t = found.type();
  char* from = found.begin();
  for (std::size_t i = 0; i != wanted.size(); ++i, from += t.size)
    t.relocate(t, to + wanted[i].place * t.size, from, 1, t.size, t.size);
  found.set_live(0, 0);
}

/// The loop for a source that builds elements by their numbers, in any order.
erased_stream picking_loop(outlet out, saved<std::uint64_t> delivered, node_ptr source, index_permutation order) {
  const std::uint64_t total = order.size();
  std::array<std::uint64_t, kFetchedAtOnce> numbers;
  while (*delivered < total) {
    *delivered += out.pass(total - *delivered);
    const std::uint32_t n = std::min(out.wanted_of(total - *delivered), kFetchedAtOnce);
    if (n == 0) break;
    order.numbers(*delivered, std::span(numbers.data(), n));
    source->op->lowering.pick(*source, std::span(numbers.data(), n), out.room(n));
    *delivered += n;
    co_yield out.made(n);
  }
}

/// Returns true if elements may be built before they are requested: building them calls no function of the user, and
/// costs only reads.
bool may_read_ahead(const node& input) {
  if (input.op->shape == op_info::source) return true;
  if (input.op->shape != op_info::combine || input.op->facts.always.draws) return false;
  return std::all_of(input.inputs.begin(), input.inputs.end(), [](const node_ptr& in) { return may_read_ahead(*in); });
}

/// How many elements are fetched together. Each time, twice as many as before, and from 1,024 on four times as many, so
/// that a consumer of few elements causes few reads.
class fetch_size {
 public:
  fetch_size(bool reads_ahead, std::size_t budget_bytes)
      : reads_ahead_(reads_ahead), share_bytes_(budget_bytes / kAheadShare) {}
  bool reads_ahead() const { return reads_ahead_; }
  /// Returns the number for a consumer that requests `asked` elements.
  std::uint32_t next(std::uint32_t asked) {
    if (!reads_ahead_) return asked;
    const std::size_t most = each_bytes_ < kShortBytesMax ? kShortAheadBytes : kAheadBytes;
    const std::size_t fits = each_bytes_ ? std::min(most, share_bytes_) / each_bytes_ : kAheadMax;
    return std::max(asked, static_cast<std::uint32_t>(std::min<std::size_t>(ahead_, fits)));
  }
  void fetched(std::uint32_t n, std::size_t bytes) {
    each_bytes_ = std::max<std::size_t>(1, bytes / n);
    const std::uint32_t before = std::max(ahead_, n);
    ahead_ = std::min(before * (before < kFetchedAtOnce ? 2 : 4), kAheadMax);
  }
  /// The largest distance of two elements that are requested together.
  std::uint64_t apart_max() const {
    return may_drop_ && each_bytes_ ? std::max<std::size_t>(1, kDroppedBytes / each_bytes_) : 1;
  }
  /// One of `n` elements was bad. Returns true if fewer are to be tried.
  bool shrink(std::uint32_t n) {
    may_drop_ = false;  // it may be one that was not requested
    ahead_ = kFetchedAtOnce;
    return n > kFetchedAtOnce;
  }

 private:
  const bool reads_ahead_;
  const std::size_t share_bytes_;
  std::size_t each_bytes_ = 0;  ///< of the last elements, the mean
  std::uint32_t ahead_ = 0;
  bool may_drop_ = true;
};

// If one of several elements cannot be built, they are requested one by one, so that the elements before it, in this
// stage's order, are delivered.
erased_stream global_shuffle_loop(outlet out, saved<std::uint64_t> delivered, node_ptr plan, open_context context,
                                  index_permutation order, error_gate gate) {
  const element_type& type = out.type();
  const std::uint64_t total = order.size();
  block_fit fit(type, true);
  held_memory memory(context.run, gate.line(purpose::shuffle), gate.label(), "the elements that it reads ahead",
                     "raise the memory budget");
  fetch_size size(may_read_ahead(*plan), memory.budget_bytes());
  slab found(type), ready(type);
  std::vector<wanted_element> wanted;
  std::uint64_t one_by_one = 0;  // the number of elements to request alone
  std::uint32_t tried = 0;       // the number of elements with a bad one, when fewer are tried; 0: as many as fit
  while (*delivered < total) {
    // Only building elements shows which of them are bad, so they are not skipped if bad ones are dropped.
    if (!gate.skips()) {
      const std::uint64_t passed = out.pass(total - *delivered);
      *delivered += passed;
      ready.view().drop_front(static_cast<std::uint32_t>(std::min<std::uint64_t>(passed, ready.view().size())));
    }
    const std::uint64_t left = total - *delivered;
    if (left == 0) break;
    const std::uint32_t ask = std::min({gate.skips() ? out.ask() : out.wanted(), kFetchedAtOnce,
                                        static_cast<std::uint32_t>(std::min<std::uint64_t>(left, kFetchedAtOnce))});
    if (block rest = ready.view(); !rest.empty()) {
      const std::uint32_t n = std::min(rest.size(), fit.at_most(ask));
      rest.move_front(out.room(n), n);
      *delivered += n;
      block made = out.made(n);
      fit.made(made, out.wanted_bytes());
      co_yield made;
      continue;
    }
    std::uint32_t n = one_by_one ? 1 : size.next(fit.at_most(ask));
    if (tried) n = std::min(n, std::exchange(tried, 0));
    n = static_cast<std::uint32_t>(std::min<std::uint64_t>(n, left));
    list_wanted(order, *delivered, n, wanted);
    auto fetching =
        fetch_in_order(context, plan, wanted, found, size.apart_max(), size.reads_ahead() && n > kFetchedAtOnce);
    status why = co_await fetching;
    if (!why.ok() && n > 1 && why.code() != status_code::cancelled) {
      if (size.shrink(n)) tried = kFetchedAtOnce;
      else one_by_one = n;
      continue;
    }
    if (one_by_one) --one_by_one;
    if (!why.ok()) {
      auto settled = gate.settle(out, why, wanted[0].number);
      co_await settled;
      ++*delivered;
      continue;
    }
    put_in_place(found, wanted, ready.reserve(n));
    ready.set_live(0, n);
    if (!size.reads_ahead()) continue;
    const std::size_t bytes = n * (2 * type.size + sizeof(wanted_element)) + owned_bytes_of(type, ready.begin(), n);
    size.fetched(n, bytes);
    status fits = memory.resize(n > kFetchedAtOnce ? bytes : 0);
    if (!fits.ok()) co_await fail(std::move(fits));
  }
}

erased_stream open_global_shuffle(const node& n, open_context& context) {
  auto& o = n.as<global_shuffle_arguments>().options;
  outlet out(*n.type);
  const auto total = static_cast<std::uint64_t>(cardinality_of(*n.inputs[0]).elements);
  if (total == 0) return empty_stage(out);
  const index_permutation order(total, context.seed_of(n, o.seed.value, !o.reshuffle_each_iteration));
  saved<std::uint64_t> delivered;
  if (n.inputs[0]->op->lowering.pick) return picking_loop(out, std::move(delivered), n.inputs[0], order);
  open_context inner = context;
  inner.on_demand = true;
  inner.on_error = error_policy::stop;  // this stage handles bad elements, because only it knows their places
  inner.account = nullptr;
  return global_shuffle_loop(out, std::move(delivered), n.inputs[0], std::move(inner), order, context.gate(n));
}

/// Returns the error of a file that an input would need to seek, and that could not be read when the plan was built.
status why_unread(const node& n) {
  for (const node_ptr& input : n.inputs)
    if (status why = why_unread(*input); !why.ok()) return why;
  std::string path = n.inputs.empty() ? path_of_source(n) : std::string();
  if (const field* f = n.inputs.empty() ? n.op->arguments().find("pattern") : nullptr; f && f->type->is_later())
    path = static_cast<const required_text*>(argument_list::at(n.arguments.get(), *f))->value;
  if (path.empty() || path == "-") return {};
  if (detail::is_pattern_for_plan(path)) {
    auto listed = detail::list_for_plan(path);
    return listed.ok() ? status() : unlisted(listed.why(), path);
  }
  auto head = read_file_head(path, compression::none, 1);
  return head.ok() ? status() : head.why().in_stage(n.op->name, provenance::kUnknown);
}

const element_type* globally_shuffled_type(const node& n, std::string& why) {
  const node& input = *n.inputs[0];
  cardinality there = cardinality_of(input);
  status seeks = why_not_seekable(input);
  if (!seeks.ok() && seeks.code() != status_code::failed_precondition) throw_status(std::move(seeks));
  if (status unread = seeks.ok() ? status() : why_unread(input); !unread.ok()) throw_status(unread);
  const bool is_pattern =
      !seeks.ok() && input.inputs.size() == 1 && input.inputs[0]->op->splits.rule == split_rule::listing;
  if (is_pattern)
    return why =
               "the input cannot seek: the files of a pattern are read one after another; "
               "concatenate(A, B, …) of readers that seek does",
           nullptr;
  if (!seeks.ok()) return why = "the input cannot seek: " + std::string(seeks.message()), nullptr;
  if (there.kind == cardinality::infinite) return why = "the input never ends: limit it with take(n)", nullptr;
  if (there.is_most()) return why = "the input has more elements than can be counted: limit it with take(n)", nullptr;
  if (there.kind != cardinality::exact)
    return why = "the input's number of elements is unknown: declare it with assert_cardinality(n)", nullptr;
  return same_type(n, why);
}

}  // namespace

const op_info global_shuffle_op{
    .name = "global_shuffle",
    .doc = "a random order of all elements, without a buffer",
    .arguments = arguments_of<global_shuffle_arguments>,
    .type = globally_shuffled_type,
    .spec = same_spec,
    .facts = {.always = {.outputs = output_count::one_per_input, .forwards = true, .draws = true, .may_fail = false},
              .size = [](const node& n) { return cardinality_of(*n.inputs[0]); },
              .rows = [](const node& n) { return row_cardinality_of(*n.inputs[0]); },
              .seeks = seeks_with_inputs},
    .splits = {.rule = split_rule::all_before},
    .lowering = {.open = open_global_shuffle,
                 .state_version = 1,  // 0: another order
                 .state_version_oldest = 1},
};

preserving global_shuffle(global_shuffle_options o) {
  return {global_shuffle_op, arguments::of(global_shuffle_arguments{o})};
}

}  // namespace sluice::lib
