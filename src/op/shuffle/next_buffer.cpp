// SPDX-License-Identifier: Apache-2.0
#include "op/shuffle/next_buffer.hpp"

#include <algorithm>
#include <utility>

#include "sluice/element/type.hpp"

namespace sluice::lib {

/// The input of an epoch, and the elements that were read from it.
struct next_buffer::part final : made_ahead {
  part(const element_type& type, const open_context& context, const error_gate& gate)
      : memory(context.run, gate.line(purpose::channel), gate.label(), "the buffer of the next epoch",
               "lower buffer_size"),
        held(type, memory, sizeof(std::uint64_t)) {}

  erased_stream in;
  held_memory memory;
  held_elements held;
};

next_buffer::next_buffer(const open_context& context, node_ptr input, const error_gate& gate, std::uint64_t size)
    : context_(context), input_(std::move(input)), gate_(gate), size_(size) {
  is_filling_ = context.epoch.next_passes && !context.epoch.links->has_given_up();
  made_.reset(static_cast<part*>(context.epoch.links->take(context.passes).release()));
}

next_buffer::~next_buffer() = default;

erased_stream next_buffer::take_input() { return made_ ? std::move(made_->in) : erased_stream(); }

status next_buffer::move_elements_to(held_elements& held) {
  status fits = made_ ? held.take_all(made_->held) : status();
  made_.reset();
  return fits;
}

/// Opens the input of the next epoch. Returns false if that fails: the next epoch then reports why.
bool next_buffer::begin() {
  try {
    auto next = std::make_unique<part>(*input_->type, context_, gate_);
    next->in = context_.of_next_epoch().open(input_);
    next->in.hold_from(0);
    made_ = std::move(next);
    return true;
  } catch (...) {
    is_filling_ = false;
    return false;
  }
}

/// The number of elements that the budget has room for, by the mean size of those that were read; at least one.
std::uint64_t next_buffer::room() const {
  const std::size_t elements = made_->held.size();
  if (elements == 0) return 1;
  const memory_ledger& ledger = *context_.run->ledger;
  const std::size_t free = ledger.budget_bytes() - std::min(ledger.budget_bytes(), ledger.used_bytes());
  return 1 + free / std::max<std::size_t>(1, made_->memory.bytes() / elements);
}

task<void> next_buffer::fill(std::uint64_t n) {
  constexpr std::uint64_t kRequestMax = 1024;
  if (is_filling_ && !made_) begin();
  while (is_filling_ && n) {
    const std::uint64_t missing = size_ - made_->held.size();
    const auto wanted = static_cast<std::uint32_t>(std::min({n, missing, room(), kRequestMax}));
    if (wanted == 0) break;
    auto b = co_await made_->in.try_next_block({0, wanted});
    const std::uint32_t got = b.view.size();
    const bool lacks_memory = !b.why.ok() && b.why.code() == status_code::resource_exhausted;
    if (lacks_memory || (got && !made_->held.add(b.view, got).ok())) give_up();
    else if (!context_.run->ledger->within_budget()) give_up();
    else if (got == 0) is_filling_ = false;
    n -= std::min<std::uint64_t>(n, got);
  }
}

void next_buffer::give_up() {
  made_.reset();
  is_filling_ = false;
  context_.epoch.links->give_up();
}

bool next_buffer::may_wait() const { return is_filling_ && made_ && made_->in.may_wait(); }

void next_buffer::leave() {
  if (made_) context_.epoch.links->leave(*context_.epoch.next_passes, std::move(made_));
}

}  // namespace sluice::lib
