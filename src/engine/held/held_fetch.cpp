// SPDX-License-Identifier: Apache-2.0
#include "engine/held/held_fetch.hpp"

#include <string>
#include <utility>

#include "coro/long_work.hpp"
#include "sluice/coro/position.hpp"

namespace sluice::lib {
namespace {

/// The largest number of marks that are requested during the fetch.
constexpr std::uint64_t kMarks = 16;

/// The bytes that the elements being fetched own.
class fetched_bytes {
 public:
  explicit fetched_bytes(held_memory& memory) : memory_(memory) {}

  /// Announces a request for n more elements: charges their expected size, based on the elements received so far.
  void expect(std::size_t n) {
    if (elements_ == 0) return;
    expected_ = own_ / elements_ * n;
    // Other stages read ahead less from now on. The limit is checked when the elements arrive, because this size is an
    // estimate.
    (void)memory_.change(expected_, 0);
  }
  /// Builds the elements of `b`, each in its slot.
  status build(block& b, const std::vector<held_place>& places) {
    const element_type& type = b.type();
    const std::uint32_t n = b.size();
    if (type.compact) type.compact(type, b.data(), n);
    std::size_t own = 0;
    for (std::uint32_t i = 0; i != n; ++i) {
      std::size_t owned = places[i].in->owned_bytes(b.at(i), 1);
      places[i].in->build(places[i].place, b.at(i), owned);
      own += owned;
    }
    b.forget_front(n);
    elements_ += n;
    own_ += own;
    return memory_.change(own, std::exchange(expected_, 0));
  }

 private:
  held_memory& memory_;
  std::size_t elements_ = 0, own_ = 0;
  std::size_t expected_ = 0;
};

task<void> fetch_all(erased_stream& in, fetch_list& list, held_memory& memory) {
  long_work work;
  fetched_bytes bytes(memory);
  std::vector<held_place> places;
  const std::uint64_t next = list.next();
  std::uint64_t left = list.elements();
  bool ended = false;
  std::uint64_t mark_at = in.consumed();
  const std::uint64_t mark_every = next > mark_at ? (next - mark_at) / kMarks + 1 : 1;
  for (std::uint64_t at = list.first(); left && at < next;) {
    at = list.next_run(at, places);
    co_await work.breath();
    if (places.empty()) continue;
    if (at < in.consumed()) break;  // the input begins after the held elements
    if (in.consumed() >= mark_at) {
      mark_at = in.consumed() + mark_every;
      in.stage()->env->request_marks();
    }
    bytes.expect(places.size());
    auto b = co_await in.try_next_block({at - in.consumed(), static_cast<std::uint32_t>(places.size())});
    if (!b.why.ok()) co_await fail(std::move(b.why));
    ended = b.view.empty();
    if (ended) break;
    std::uint32_t n = b.view.size();
    status fits = bytes.build(b.view, places);
    if (!fits.ok()) co_await fail(std::move(fits));
    at += n;
    left -= n;
  }
  if (ended) co_await fail(shorter_input(in.consumed(), next, memory.label()));
  if (left || next < in.consumed()) co_await fail(damaged_position());
  in.pass_over(next - in.consumed());
}

}  // namespace

status shorter_input(std::uint64_t has, std::uint64_t had, std::string_view label) {
  return data_loss_error("the input has ended after " + std::to_string(has) + " elements, and the run that wrote the " +
                         "checkpoint had taken " + std::to_string(had) +
                         ": it has become shorter since; start without the checkpoint, or restore the input")
      .in_stage(label);
}

// g++ 12 warns about a public coroutine with locals of this file's types.
task<void> fetch_held(erased_stream& in, fetch_list& list, held_memory& memory) { return fetch_all(in, list, memory); }

}  // namespace sluice::lib
