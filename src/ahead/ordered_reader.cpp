// SPDX-License-Identifier: Apache-2.0
#include "ahead/ordered_reader.hpp"

#include <algorithm>

#include "element/batches/blocks.hpp"
#include "sluice/base/assert.hpp"
#include "sluice/coro/detail/block_fit.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {
namespace {

/// The outputs of a slot and the inputs that it dropped, in their order.
class slot_outputs {
 public:
  explicit slot_outputs(ring_slot& s) : slot_(s), whole_(s.outputs()) {}

  /// Returns the dropped input that comes before the next output, once; null if none is left.
  dropped_input* next_dropped() {
    if (dropped_ == slot_.dropped.size() || at_ != slot_.outputs_before(dropped_)) return nullptr;
    return &slot_.dropped[dropped_++];
  }
  bool are_taken() const { return at_ == whole_.size(); }
  /// Returns true if the slot's error comes after the outputs taken so far.
  bool fail_now() const { return are_taken() && !slot_.why.ok() && dropped_ == slot_.dropped.size(); }
  /// Takes the outputs before the next dropped input, `most` of them at most.
  block take(std::uint32_t most) {
    std::uint32_t n = std::min(slot_.outputs_before(dropped_) - at_, most);
    block part = tail_of(whole_, at_).first(n);
    at_ += n;
    return part;
  }
  /// Returns the input ordinal after the outputs taken so far. Elements dropped after them are not counted yet.
  std::uint64_t ordinal() const {
    std::uint64_t ordinal = slot_.first + at_;
    for (const dropped_input& input : slot_.dropped)
      if (slot_.first + input.number < ordinal) ++ordinal;
    return ordinal;
  }

 private:
  ring_slot& slot_;
  block whole_;
  std::uint32_t at_ = 0;
  std::size_t dropped_ = 0;  ///< already counted
};

/// Starts the pump. Returns the number of elements to be skipped first, for example after a resume: they are skipped below
/// the channel.
std::uint64_t start_channel(reader_link& link, outlet& out) {
  std::uint64_t passed = link.one_to_one() ? out.pass(demand::kAll) : 0;
  link.start_pumping(passed);
  return passed;
}

/// At the end of the ring: the consumer learns how many of the `passed` elements to be skipped did not exist.
void report_missing(reader_link& link, outlet& out, std::uint64_t passed) {
  if (passed == 0) return;
  std::uint64_t missing = std::min(link.ring().not_passed(), passed);
  out.unpass(missing);
  link.passed_less(missing);
}

/// The saved state of a stage that has a reader's link.
struct link_handle {
  static constexpr bool kHoldsNothing = true;  // nothing of its own
  std::shared_ptr<reader_link> link;
  void save(position_writer&) {}
  void load(position_reader&) {}
  mark input_place() { return link->place(); }
  void restore_input(position_records& from) { link->restore(from); }
  std::uint64_t input_consumed() const { return link->consumed(); }
  bool may_wait() const { return link->may_wait(); }
  const stream_base* input_stream() const { return link->input_stream(); }
};

erased_stream read_in_order(outlet out, one_to_one, saved<link_handle> handle) {
  reader_link& link = *handle->link;
  block_fit fit(out.type(), true);
  std::uint64_t passed = 0;
  ring_slot* slot = nullptr;
  for (;;) {
    if (link.is_direct()) {
      const slot_computation* computes = link.computation();
      erased_stream& in = link.input();
      link.asks();
      const std::uint32_t most = computes ? computes->most_here() : out.wanted();
      block b = co_await in.next_block({0, most ? out.wanted_of(most) : fit.at_most(out.wanted()), out.wanted_bytes()});
      if (!b) co_return;
      link.has_pulled(b);
      if (computes) {
        status why;
        b = computes->compute_here(out, b, in.consumed() - b.size(), why);
        if (!why.ok()) {
          out.hold(b);
          co_await fail(std::move(why));
        }
        if (!most) fit.made(b, out.wanted_bytes());
      }
      link.has_made(b);
      co_yield b;
      continue;
    }
    if (!link.started()) {
      passed = start_channel(link, out);
      slot = nullptr;
    }
    ordered_ring& ring = link.ring();
    slot = co_await ring.receive(slot);
    if (!slot) {
      dropped_errors missed;
      if (!link.takes_input_back(missed)) break;
      auto dropping = out.drop(std::move(missed));
      co_await dropping;
      continue;
    }
    link.reached(*slot);
    auto dropping = out.drop(std::move(slot->missed));
    co_await dropping;
    slot_outputs outputs(*slot);
    for (;;) {
      if (dropped_input* bad = outputs.next_dropped()) {
        auto counting = out.drop(bad->taken());
        co_await counting;
        continue;
      }
      if (outputs.are_taken()) break;
      block part = outputs.take(out.ask());
      link.delivered_to(outputs.ordinal());
      if (outputs.fail_now()) {
        out.hold(part);
        co_await fail(slot->why);
      }
      ring.hand_on(slot, part.size(), outputs.are_taken());
      co_yield part;
    }
    if (!slot->why.ok()) co_await fail(slot->why);
    link.delivered_to(slot->first + slot->count);
  }
  report_missing(link, out, passed);
  ordered_ring& ring = link.ring();
  auto dropping = out.drop(ring.missed_at_end());
  co_await dropping;
  status why = ring.why();
  if (!why.ok()) co_await fail(std::move(why));
}

}  // namespace

reader_link::reader_link(channel_memory memory, erased_stream in, const element_type& out, channel_options options)
    : memory_(std::move(memory)), in_(std::move(in)), out_(out), options_(std::move(options)) {}

reader_link::~reader_link() {
  if (ring_) ring_->close();
}

bool reader_link::decide() {
  if (ring_ || !options_.direct_where_light) return false;
  if (!direct_) {
    if (memory_.costs().is_light() && !in_.may_wait()) begin_direct();
  } else {
    direct_ = false;
    direct_blocks_min_ = std::min(direct_blocks_min_ * 2, kStayMost);
  }
  return direct_;
}

void reader_link::begin_direct() {
  direct_ = stays_ = true;
  direct_blocks_ = 0;
  timed_blocks_ = 1;
  direct_since_ = memory_.run()->time->now();
}

void reader_link::was_used() {
  time_point now = memory_.run()->time->now();
  memory_.costs().learn_used(now - at_, std::exchange(timed_elements_, 0));
  stays_ =
      stays_ && direct_blocks_ < direct_blocks_min_ && now - direct_since_ < kStayTime && !memory_.costs().are_long();
  memory_.weigh(in_.type(), out_, options_.signal != nullptr);
}

void reader_link::was_pulled(const block& b) {
  time_point now = memory_.run()->time->now();
  duration took = now - std::exchange(at_, now);
  memory_.costs().learn_pulled(took, b.size());
  timed_blocks_ = took > kLongBlock ? 1 : kTimedBlocks;
}

void reader_link::was_made(const block& b) {
  time_point now = memory_.run()->time->now();
  if (computation()) {
    memory_.costs().learn_computed(now - at_, b.size());
    if (now - at_ > kLongBlock) timed_blocks_ = 1;
  }
  at_ = now;
  timed_elements_ = b.size();
  const element_type& t = b.type();
  std::size_t bytes = b.size() * t.size + (t.footprint ? t.footprint(t, b.data(), b.size()) : 0);
  if (bytes > memory_.estimate().each_bytes() * b.size()) memory_.estimate().learn(bytes, b.size());
}

bool reader_link::takes_input_back(dropped_errors& missed) {
  erased_stream in = ring_->take_input();
  if (!in) return false;
  missed = ring_->missed_at_end();
  ring_.reset();
  in_ = std::move(in);
  begin_direct();
  return true;
}

void reader_link::start() {
  if (!ring_ && !is_direct()) start_pumping(0);
}

void reader_link::start_pumping(std::uint64_t passed) {
  SLUICE_REQUIRES(!started(), "the channel has started");
  in_.pass_over(passed);
  ordinal_ = in_.consumed();
  last_ = in_.place_at(ordinal_);  // elements that are skipped first come before it
  ring_ = std::make_shared<ordered_ring>(memory_.run(), memory_, in_.type(), out_, options_.limits);
  ring_->set_signal(options_.signal, number_);
  ring_->set_group(options_.group, ordinal_);
  ring_->follow(options_.follows);
  if (options_.direct_where_light) ring_->ask_for_input();
  start_pump(ring_, std::move(in_), options_.pump);
}

mark reader_link::place() {
  if (!ring_) return in_.place();
  mark m = last_;
  m.advance_to(ordinal_);
  return m;
}

erased_stream read_ahead(outlet out, std::shared_ptr<reader_link> link) {
  saved<link_handle> handle;
  std::uint64_t begun = link->consumed();  // a restored input does not begin at 0
  one_to_one counts{link->one_to_one()};
  handle->link = std::move(link);
  erased_stream s = read_in_order(out, counts, std::move(handle));
  s.begin_at(begun);
  return s;
}

}  // namespace sluice::lib
