// SPDX-License-Identifier: Apache-2.0
#include "pipeline/order/delivered_order.hpp"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "element/element_ref.hpp"
#include "sluice/base/assert.hpp"
#include "sluice/base/random_bits.hpp"
#include "sluice/coro/outlet.hpp"
#include "sluice/coro/position.hpp"
#include "sluice/coro/saved.hpp"
#include "sluice/element/serialise.hpp"
#include "sluice/op/shard.hpp"
#include "sluice/plan/facts.hpp"

namespace sluice::lib {
namespace {

using detail::element_ref;

constexpr std::uint64_t kMilestonesMax = 64;
/// The first number of a written fingerprint. Before there was `across`, it was 0 or 1.
constexpr std::uint64_t kIsCounted = 1, kIsAcrossCounted = 2;
/// Elements before the last block whose fingerprints are kept: a consumer of a broadcast may be behind.
constexpr std::size_t kSumsKept = 4096;
constexpr std::uint64_t kPrime = 0x9fb21c651e98df25u;
constexpr std::uint64_t kPlace = 0x9e3779b97f4a7c15u;
constexpr std::size_t kLanes = 4, kLaneBytes = kLanes * 8;

/// Part of the format of checkpoints and reports: it never changes.
class content_digest {
 public:
  void word(std::uint64_t w) noexcept { h_ = stepped(h_, w); }
  void bytes(const char* p, std::size_t n) noexcept {
    word(n);
    if (n >= 2 * kLaneBytes) {  // independent lanes, because a step waits for the one before
      std::uint64_t lane[kLanes] = {h_, h_ + 1, h_ + 2, h_ + 3};
      for (; n >= kLaneBytes; n -= kLaneBytes, p += kLaneBytes)
        for (std::size_t k = 0; k != kLanes; ++k) lane[k] = stepped(lane[k], loaded(p + k * 8, 8));
      for (std::uint64_t l : lane) word(mix(l));
    }
    for (; n >= 8; n -= 8, p += 8) word(loaded(p, 8));
    if (n) word(loaded(p, n));
  }
  std::uint64_t value() const noexcept { return mix(h_); }

 private:
  static std::uint64_t stepped(std::uint64_t h, std::uint64_t w) noexcept { return (std::rotl(h, 29) ^ w) * kPrime; }
  static std::uint64_t loaded(const char* p, std::size_t n) noexcept {
    std::uint64_t w = 0;
    std::memcpy(&w, p, n);
    return w;
  }
  std::uint64_t h_ = 0x51a1ce0051a1ce01u;
};

void add_contents(content_digest& to, element_ref e);

void add_tensor_contents(content_digest& to, const tensor& t) {
  to.word(static_cast<std::uint64_t>(t.dtype()));
  to.word(t.rank());
  for (std::int64_t dim : t.shape()) to.word(static_cast<std::uint64_t>(dim));
  if (t.dtype() != dtype::string) return to.bytes(t.data(), t.data() ? t.size_bytes() : 0);
  for (std::size_t i = 0; i != t.size(); ++i) to.bytes(t.text(i).data(), t.text(i).size());
}

void add_items(content_digest& to, element_ref e) {
  const auto items = e.items();
  if (e.type().kind != kind::array) to.word(items.size());
  if (items.size() == 0) return;
  if (items.type().kind == kind::scalar) return to.bytes(items.numbers(), items.size() * items.type().size);
  for (std::size_t i = 0; i != items.size(); ++i) add_contents(to, items[i]);
}

void add_contents(content_digest& to, element_ref e) {
  const element_type& t = e.type();
  switch (t.kind) {
    case kind::scalar: {
      std::uint64_t w[2] = {0, 0};
      std::memcpy(w, e.address(), std::min(t.size, sizeof w));
      to.word(w[0]);
      if (t.size > 8) to.word(w[1]);
      return;
    }
    case kind::text: return to.bytes(e.text().data(), e.text().size());
    case kind::tensor: return add_tensor_contents(to, e.tensor());
    case kind::structure:
    case kind::pair:
    case kind::tuple:
      for (std::size_t k = 0; k != t.members.size(); ++k) add_contents(to, e.member(k));
      return;
    default: return add_items(to, e);
  }
}

std::uint64_t placed(std::uint64_t digest, std::uint64_t element) { return mix(digest + (element + 1) * kPlace); }

template <class Sums> void add_row(std::uint64_t digest, const row_numbers& numbers, Sums& to) {
  ++to.rows;
  to.unordered += mix(digest);
  to.across += placed(digest, to.next);
  to.next = numbers.after(to.next);
}

/// Returns the digest of an element, and adds its rows.
template <class Sums> std::uint64_t digest_of(element_ref e, const row_numbers& numbers, Sums& to) {
  content_digest all;
  if (e.type().kind == kind::batch) {
    const auto items = e.items();
    all.word(items.size());
    for (std::size_t i = 0; i != items.size(); ++i) all.word(digest_of(items[i], numbers, to));
    return all.value();
  }
  add_contents(all, e);
  add_row(all.value(), numbers, to);
  return all.value();
}

/// The same for n numbers of `size` bytes, at most 8, which is nearly free of branches: most streams of small blocks are of
/// numbers.
template <std::size_t kSize, class Sums>
void add_numbers(const char* p, std::size_t n, std::uint64_t element, const row_numbers& numbers, Sums now, Sums* out) {
  for (std::size_t i = 0; i != n; ++i, p += kSize) {
    std::uint64_t w = 0;
    std::memcpy(&w, p, kSize);
    content_digest all;
    all.word(w);
    const std::uint64_t value = all.value();
    add_row(value, numbers, now);
    now.ordered += placed(value, element++);
    out[i] = now;
  }
}

/// The distance of the milestones of a fingerprint of n elements.
std::uint64_t stride_for(std::uint64_t n) {
  std::uint64_t stride = 1;
  while (n / stride > kMilestonesMax) stride *= 2;
  return stride;
}

/// Every k-th of the milestones, at most n.
std::vector<std::uint64_t> thinned(const std::vector<std::uint64_t>& all, std::uint64_t k, std::uint64_t n) {
  std::vector<std::uint64_t> some;
  for (std::uint64_t i = k; i <= all.size() && some.size() != n; i += k) some.push_back(all[i - 1]);
  return some;
}

erased_stream order_loop(outlet out, saved<std::uint64_t> made, erased_stream in, std::shared_ptr<order_log> log) {
  for (;;) {
    std::uint64_t passed = out.pass(std::numeric_limits<std::uint64_t>::max());
    auto b = co_await in.next_block({passed, out.wanted(), out.wanted_bytes()});
    if (!b) {
      if (passed) out.unpass(in.skip_left());
      break;
    }
    *made += passed;
    log->add(*made, b);
    *made += b.size();
    co_yield b;
  }
}

}  // namespace

order_log::order_log(order_fingerprint start, std::uint64_t ordinal, row_numbers numbers)
    : numbers_(std::move(numbers)),
      is_across_counted_(numbers_.is_known && start.is_across_counted),
      since_(start.since),
      first_(ordinal),
      counted_(start.elements),
      sums_{{start.ordered, start.rows, start.unordered, start.across, numbers_.at_or_after(start.next_input)}},
      stride_(start.stride),
      milestones_(std::move(start.milestones)) {}

void order_log::add(std::uint64_t ordinal, const block& elements) {
  SLUICE_ASSERT(ordinal == first_ + sums_.size() - 1, "each element is counted once");
  forget_old();
  const std::size_t before = sums_.size(), n = elements.size();
  std::uint64_t element = counted_ + before - 1;
  sums_.resize(before + n);
  sums now = sums_[before - 1], *out = sums_.data() + before;
  const element_type& t = elements.type();
  const bool is_number = t.kind == kind::scalar;
  if (is_number && t.size == 8) {
    add_numbers<8>(elements.data(), n, element, numbers_, now, out);
  } else if (is_number && t.size == 4) {
    add_numbers<4>(elements.data(), n, element, numbers_, now, out);
  } else {
    for (std::size_t i = 0; i != n; ++i) {
      const std::uint64_t digest = digest_of({t, elements.at(i)}, numbers_, now);
      now.ordered += placed(digest, element + i);
      out[i] = now;
    }
  }
  for (std::uint64_t m = (element / stride_ + 1) * stride_; m <= element + n; m += stride_)
    milestones_.push_back(out[m - element - 1].ordered);
}

void order_log::forget_old() {
  if (sums_.size() < 2 * kSumsKept) return;
  const std::size_t old = sums_.size() - std::min(sums_.size(), kSumsKept);
  sums_.erase(sums_.begin(), sums_.begin() + static_cast<std::ptrdiff_t>(old));
  first_ += old;
  counted_ += old;
  const std::uint64_t wider = stride_for(counted_) / stride_;
  if (wider == 1) return;
  milestones_ = thinned(milestones_, wider, milestones_.size());
  stride_ *= wider;
}

order_fingerprint order_log::at(std::uint64_t ordinal) const {
  order_fingerprint print;
  if (ordinal < first_ || ordinal - first_ >= sums_.size()) return print;
  const sums& s = sums_[static_cast<std::size_t>(ordinal - first_)];
  print.is_counted = true;
  print.since = since_;
  print.elements = counted_ + (ordinal - first_);
  print.ordered = s.ordered;
  print.rows = s.rows;
  print.unordered = s.unordered;
  print.is_across_counted = is_across_counted_;
  if (is_across_counted_) print.across = s.across;
  if (is_across_counted_) print.next_input = s.next;
  print.stride = stride_for(print.elements);
  print.milestones = thinned(milestones_, print.stride / stride_, print.elements / print.stride);
  return print;
}

// Operators are compared by name: programs that use no shard or batch are linked without them.
const node* shard_of_consumers(const node& written) {
  const node* n = &written;
  while (n->op->name != "shard" && n->op->shape == op_info::stage) n = n->inputs[0].get();
  return n->op->name == "shard" ? n : nullptr;
}

row_numbers row_numbers_of(const node& written, bool drops_elements) {
  row_numbers numbers;
  const node* shard = shard_of_consumers(written);
  if (!shard) return numbers;
  for (const node* n = &written; n != shard; n = n->inputs[0].get()) {
    const stage_facts f = facts_of(*n);
    const bool is_batch = n->op->name == "batch";
    const bool depends_on_number = f.draws || f.uses_place || n->op->facts.freezes_epochs;
    const bool is_one = f.outputs == output_count::one_per_input && f.keeps_order && !depends_on_number &&
                        !(drops_elements && f.may_fail);
    if (!is_batch && !is_one) numbers.is_known = false;
  }
  const auto& a = shard->as<shard_arguments>();
  if (a.shards.is_hint() || shard_of_consumers(*shard->inputs[0])) numbers.is_known = false;
  if (!numbers.is_known) return numbers;
  numbers.shards = static_cast<std::uint64_t>(a.shards.value);
  numbers.index = static_cast<std::uint64_t>(a.index.value);
  return numbers;
}

bool can_count_order(const element_type& t) { return can_serialise(t); }

erased_stream count_order(erased_stream in, std::shared_ptr<order_log> log) {
  outlet out(in.type());
  saved<std::uint64_t> made;
  return order_loop(out, std::move(made), std::move(in), std::move(log));
}

std::uint32_t order_site(const node& written) { return site_above(kOrderStage, &written); }

std::string written_order(const order_fingerprint& print) {
  position_writer w;
  w.number((print.is_counted ? kIsCounted : 0) | (print.is_across_counted ? kIsAcrossCounted : 0));
  w.number(print.since);
  w.number(print.elements);
  w.number(print.rows);
  w.raw(&print.ordered, sizeof print.ordered);
  w.raw(&print.unordered, sizeof print.unordered);
  w.number(print.milestones.size());
  w.raw(print.milestones.data(), print.milestones.size() * sizeof(std::uint64_t));
  if (!print.is_across_counted) return w.bytes();
  w.raw(&print.across, sizeof print.across);
  w.number(print.next_input);
  return w.bytes();
}

bool read_order(std::string_view bytes, order_fingerprint& to) {
  position_reader r(bytes);
  const std::uint64_t flags = r.number();
  to.is_counted = (flags & kIsCounted) != 0;
  to.is_across_counted = (flags & kIsAcrossCounted) != 0;
  to.since = r.number();
  to.elements = r.number();
  to.rows = r.number();
  r.raw(&to.ordered, sizeof to.ordered);
  r.raw(&to.unordered, sizeof to.unordered);
  to.stride = stride_for(to.elements);
  const std::size_t n = r.count();
  if (!r.ok() || n != to.elements / to.stride) return false;
  to.milestones.resize(n);
  r.raw(to.milestones.data(), n * sizeof(std::uint64_t));
  if (!to.is_across_counted) return r.ok() && r.done();
  r.raw(&to.across, sizeof to.across);
  to.next_input = r.number();
  return r.ok() && r.done();
}

order_fingerprint union_of(const std::vector<order_fingerprint>& all) {
  order_fingerprint sum;
  sum.is_counted = sum.is_across_counted = !all.empty();
  for (const order_fingerprint& one : all) {
    sum.is_counted = sum.is_counted && one.is_counted && one.since == 0;
    sum.rows += one.rows;
    sum.unordered += one.unordered;
    sum.is_across_counted = sum.is_across_counted && one.is_across_counted;
    sum.across += one.across;
  }
  if (!sum.is_across_counted) sum.across = 0;
  return sum.is_counted ? sum : order_fingerprint();
}

std::string text_of_order(const order_fingerprint& print) {
  if (!print.is_counted) return "order fingerprint: not known at this element";
  std::string text = absl::StrFormat("order fingerprint: %016x, of %d elements; of %d rows in any order: %016x",
                                     print.ordered, print.elements, print.rows, print.unordered);
  if (print.is_across_counted) absl::StrAppendFormat(&text, "; in the order of all consumers: %016x", print.across);
  if (print.since) absl::StrAppend(&text, "; counted since element ", print.since);
  return text;
}

order_divergence divergence_of(const order_fingerprint& a, const order_fingerprint& b) {
  SLUICE_REQUIRES(a.since == b.since, "fingerprints that count from the same element");
  const std::uint64_t stride = std::max(a.stride, b.stride), common = std::min(a.elements, b.elements);
  const std::vector<std::uint64_t> of_a = thinned(a.milestones, stride / a.stride, common / stride);
  const std::vector<std::uint64_t> of_b = thinned(b.milestones, stride / b.stride, common / stride);
  order_divergence found;
  while (found.equal < of_a.size() && found.equal < of_b.size() && of_a[found.equal] == of_b[found.equal])
    ++found.equal;
  found.is_different = found.equal != of_a.size();
  found.equal *= stride;
  found.differs_by = found.equal + stride;
  if (!found.is_different && a.elements == b.elements && a.ordered != b.ordered) {
    found.is_different = true;
    found.differs_by = common;
  }
  return found;
}

}  // namespace sluice::lib
