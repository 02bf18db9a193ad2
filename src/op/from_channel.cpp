// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/from_channel.hpp"

#include <algorithm>
#include <utility>

#include "engine/lowering/open_context.hpp"
#include "engine/lowering/types.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/detail/block_fit.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"

namespace sluice::lib {

detail::shared_channel::shared_channel(std::shared_ptr<element_queue> q) {
  queue = std::move(q);
  out = &queue->type();
}
detail::shared_channel::~shared_channel() { queue->abandon_reading(); }

detail::sending_end::sending_end(std::shared_ptr<element_queue> q) : queue(std::move(q)) {}
detail::sending_end::~sending_end() {
  queue->close(unavailable_error("the last sender is gone, and has not closed the channel"));
}
shared_ref<const detail::sending_end> detail::begin_sending(const std::shared_ptr<element_queue>& q) {
  return std::make_shared<const sending_end>(q);
}
namespace {

/// A run's share of the queue, and the number of elements that it has received.
struct channel_reading {
  std::shared_ptr<element_queue> queue;
  std::uint64_t delivered = 0;
  bool is_own = false;  ///< no other run uses the queue
  bool is_attached = false;
  bool is_resumed = false;

  channel_reading() = default;
  channel_reading(channel_reading&& other) noexcept
      : queue(std::move(other.queue)),
        delivered(other.delivered),
        is_own(other.is_own),
        is_attached(std::exchange(other.is_attached, false)),
        is_resumed(other.is_resumed) {}
  ~channel_reading() {
    if (is_attached) queue->detach();
    if (is_attached && is_own) queue->abandon_reading();
  }
  void save(position_writer& w) const { w.number(delivered); }
  /// Notifies the producer at once, because it may ask as soon as iterate() has returned.
  void load(position_reader& r) {
    delivered = r.number();
    is_resumed = true;
    if (is_attached && !is_own && r.ok()) queue->resume_at(delivered);
  }
  bool may_wait() const { return queue->may_wait(); }
};

erased_stream from_channel_loop(outlet out, saved<channel_reading> reading, function_ptr function, std::string label,
                                status refused) {
  if (!refused.ok()) co_await fail(refused.in_stage(label));
  element_queue& queue = *reading->queue;
  if (reading->is_own) static_cast<const channel_function&>(*function).open(reading->queue, reading->delivered);
  else if (!reading->is_resumed) queue.begin();
  block_fit fit(out.type());
  for (;;) {
    element_queue::ready_awaiter some(queue);
    co_await some;
    if (out.to_pass()) {
      constexpr std::uint64_t kAtOnce = 1 << 20;
      std::uint32_t gone = queue.take(nullptr, static_cast<std::uint32_t>(std::min(out.to_pass(), kAtOnce)));
      out.pass(gone);
      reading->delivered += gone;
      if (gone) continue;
    }
    auto most = static_cast<std::uint32_t>(std::min<std::size_t>(fit.at_most(out.wanted()), queue.size()));
    std::uint32_t n = most ? queue.take(out.room(most), most) : 0;
    if (n == 0) break;
    reading->delivered += n;
    block made = out.made(n);
    fit.made(made, out.wanted_bytes());
    co_yield made;
  }
  status why = queue.why();
  if (!why.ok()) co_await fail(why.in_stage(label));
}

erased_stream open_from_channel(const node& n, open_context& context) {
  outlet out(*n.type);
  saved<channel_reading> reading;
  const function_ptr& function = n.as<from_channel_arguments>().function.value;
  auto& channel = static_cast<const channel_function&>(*function);
  reading->is_own = !channel.queue;
  reading->queue = channel.queue ? channel.queue : std::make_shared<element_queue>(*n.type, channel.limits);
  error_gate gate = context.gate(n);
  status refused = reading->queue->attach(context.run, gate.line(purpose::channel));
  reading->is_attached = refused.ok();
  std::string label = gate.label();
  return from_channel_loop(out, std::move(reading), function, std::move(label), std::move(refused));
}

}  // namespace

const op_info from_channel_op{
    .name = "from_channel",
    .doc = "elements that the program pushes",
    .shape = op_info::source,
    .arguments = arguments_of<from_channel_arguments>,
    .type = [](const node& n,
               std::string& why) { return type_of_function(n, n.as<from_channel_arguments>().function.value, why); },
    .facts = {.always = {.is_live = true}},
    .splits = {.rule = split_rule::this_process},
    .lowering = {.open = open_from_channel},
};

}  // namespace sluice::lib
