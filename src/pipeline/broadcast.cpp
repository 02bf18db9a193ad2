// SPDX-License-Identifier: Apache-2.0
#include "sluice/pipeline/broadcast.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "sluice/base/assert.hpp"
#include "sluice/base/mutex.hpp"
#include "sluice/coro/detail/waiter.hpp"
#include "sluice/element/slab.hpp"

namespace sluice::lib {
namespace {

constexpr std::string_view kBroadcastMagic = "sluice broadcast\x01";  // the last byte is the format's version

/// Consecutive elements that the run has yielded in one block.
struct held_block {
  std::uint64_t first;
  slab elements;
  std::size_t bytes;
  std::uint64_t end() const { return first + elements.size(); }
};

/// The run, the elements that some consumers have not taken yet, and the position of each consumer.
class broadcast_hub final {
 public:
  broadcast_hub(erased_stream root, const broadcast_options& o, std::vector<std::uint64_t> starts)
      : root_(std::move(root)),
        type_(root_.type()),
        run_(root_.stage()->env->run->shared_from_this()),
        line_(run_->ledger->line(purpose::channel, "broadcast")),
        lag_max_(o.lag_max),
        lag_bytes_max_(o.lag_bytes_max),
        on_lag_(o.on_lag),
        end_(root_.consumed()) {
    for (std::uint64_t at : starts) consumers_.push_back({.next = at, .view_from = at});
  }
  broadcast_hub(const broadcast_hub&) = delete;
  ~broadcast_hub() {
    run_->ledger->release(bytes_, line_);
    bytes_ = 0;
  }

  const element_type& type() const { return type_; }
  environment* env() const { return run_.get(); }

  // Called by a consumer.

  enum class turn : std::uint8_t { copies, pulls, waits, over };
  struct step {
    turn what;
    std::shared_ptr<held_block> from{};  ///< copies: elements [at, at + n) of it
    std::size_t at = 0;
    std::uint32_t n = 0;  ///< pulls: the most elements to request
    std::uint64_t seen = 0;
    status why{};
  };
  /// Returns the next step of consumer k, which requests `wanted` elements.
  step next(std::size_t k, std::uint32_t wanted);
  /// Consumer k has finished the request to the run that next() assigned to it, with this result.
  void pulled(block got, const status& why);
  erased_stream& root() { return root_; }
  /// Consumer k has left, or must leave.
  void leave(std::size_t k, const status& why);

  class change_awaiter;

  // Called while no request is active.

  run_report report() const { return report_of(root_); }
  checkpoint position(const std::vector<std::optional<std::uint64_t>>& at);
  std::size_t consumers() const {
    mutex_lock lock(mutex_);
    return consumers_.size();
  }
  /// Returns true if all consumers have left.
  bool is_abandoned() const;
  bool is_gone(std::size_t k) const {
    mutex_lock lock(mutex_);
    return consumers_[k].gone;
  }

 private:
  struct consumer {
    std::uint64_t next = 0;       ///< the ordinal of its next element
    std::uint64_t view_from = 0;  ///< the first ordinal of the block that it received last
    bool gone = false;
    bool left = false;  ///< its stream was destroyed or stopped, or has reported why the hub dropped it
    status why = {};    ///< it was stopped or dropped
  };

  template <class F> std::uint64_t least(F of) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    std::uint64_t at = end_;
    for (const consumer& c : consumers_)
      if (!c.gone) at = std::min(at, of(c));
    return at;
  }
  std::uint64_t last_next() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return least([](const consumer& c) { return c.next; });
  }
  bool is_full() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return end_ - last_next() >= lag_max_ || (bytes_ >= lag_bytes_max_ && end_ != last_next());
  }
  void drop_last(std::size_t but) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  /// Returns true if no consumer needs the run. A dropped consumer that has not reported the reason yet still counts:
  /// the run's stop would hide the reason from it.
  bool all_have_left() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return std::all_of(consumers_.begin(), consumers_.end(), [](const consumer& c) { return c.left; });
  }
  /// Releases the blocks that all consumers have taken. Returns the number of bytes, which the caller credits without
  /// the mutex.
  std::size_t trim() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void changed(detail::wake_list& woken) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    ++changes_;
    while (detail::waiter* w = waiting_.front()) w->wake_into(woken);
  }
  void credit(std::size_t bytes) ABSL_LOCKS_EXCLUDED(mutex_) {
    if (bytes) run_->ledger->release(bytes, line_);
  }

  erased_stream root_;  ///< used by the consumer that pulls
  const element_type& type_;
  const std::shared_ptr<run_context> run_;
  ledger_line& line_;
  const std::uint64_t lag_max_;
  const std::size_t lag_bytes_max_;
  const lagging on_lag_;
  mutable mutex mutex_;
  std::vector<consumer> consumers_ ABSL_GUARDED_BY(mutex_);
  std::deque<std::shared_ptr<held_block>> held_ ABSL_GUARDED_BY(mutex_);  ///< ascending, without gaps, up to end_
  std::uint64_t end_ ABSL_GUARDED_BY(mutex_);                             ///< the ordinal of the run's next element
  std::size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  bool pulling_ ABSL_GUARDED_BY(mutex_) = false;
  bool over_ ABSL_GUARDED_BY(mutex_) = false;
  status why_ ABSL_GUARDED_BY(mutex_);  ///< of the end
  std::uint64_t changes_ ABSL_GUARDED_BY(mutex_) = 0;
  detail::waiter_list waiting_ ABSL_GUARDED_BY(mutex_);
};

/// Waits for the next change after number `seen`.
class broadcast_hub::change_awaiter final : detail::waiter {
 public:
  change_awaiter(broadcast_hub& hub, std::uint64_t seen) : hub_(hub), seen_(seen) {}
  ~change_awaiter() { abandon(); }
  bool await_ready() const noexcept { return false; }
  template <class P> std::coroutine_handle<> await_suspend(std::coroutine_handle<P> h) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return wait(h, hub_.mutex_, hub_.waiting_, [this](detail::wake_list&) ABSL_EXCLUSIVE_LOCKS_REQUIRED(hub_.mutex_) {
      return hub_.changes_ != seen_ ? detail::attempt::done : detail::attempt::pending;
    });
  }
  void await_resume() const { throw_if_failed(); }

 private:
  broadcast_hub& hub_;
  std::uint64_t seen_;
};

std::size_t broadcast_hub::trim() {
  std::size_t freed = 0;
  for (std::uint64_t at = last_next(); !held_.empty() && held_.front()->end() <= at; held_.pop_front())
    freed += held_.front()->bytes;
  bytes_ -= freed;
  return freed;
}

void broadcast_hub::drop_last(std::size_t but) {
  const std::uint64_t at = last_next();
  for (std::size_t k = 0; k != consumers_.size(); ++k) {
    consumer& c = consumers_[k];
    if (c.gone || k == but || c.next != at) continue;
    c.gone = true;
    c.why = resource_exhausted_error("broadcast: consumer " + std::to_string(k) + " was " + std::to_string(end_ - at) +
                                     " elements behind the first and was dropped (lag_max=" + std::to_string(lag_max_) +
                                     "); read it faster, raise lag_max, or let it hold the others back");
  }
}

broadcast_hub::step broadcast_hub::next(std::size_t k, std::uint32_t wanted) {
  std::size_t freed = 0;
  step s{turn::waits};
  bool is_last = false;
  {
    detail::waking_lock lock(mutex_);
    consumer& me = consumers_[k];
    s.seen = changes_;
    me.view_from = me.next;
    if (!me.why.ok()) {  // dropped or stopped, so its blocks may be freed already
      s = {.what = turn::over, .why = me.why};
      me.left = true;
      is_last = all_have_left();
    } else if (me.next < end_) {
      auto holds = [&](const std::shared_ptr<held_block>& b) { return b->end() > me.next; };
      const std::shared_ptr<held_block>& from = *std::find_if(held_.begin(), held_.end(), holds);
      s = {.what = turn::copies, .from = from, .at = static_cast<std::size_t>(me.next - from->first)};
      s.n = static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, from->end() - me.next));
      bool was_full = is_full();
      me.next += s.n;
      freed = trim();
      if (was_full) changed(lock.woken);
    } else if (over_) {
      return {.what = turn::over, .why = why_};
    } else if (!pulling_) {
      if (is_full() && on_lag_ == lagging::drop) {
        drop_last(k);
        freed = trim();
        changed(lock.woken);
      }
      if (!is_full()) {
        pulling_ = true;
        s.what = turn::pulls;
        s.n = static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, lag_max_ - (end_ - last_next())));
        root_.hold_from(least([](const consumer& c) { return c.view_from; }));
      }
      s.seen = changes_;
    }
  }
  credit(freed);
  if (is_last) root_.run()->request_stop();
  return s;
}

void broadcast_hub::pulled(block got, const status& why) {
  std::shared_ptr<held_block> block_held;
  if (got) {
    block_held = std::make_shared<held_block>(held_block{root_.consumed() - got.size(), slab(type_), 0});
    std::uint32_t n = got.size();
    got.move_front(block_held->elements.reserve(n), n);
    block_held->elements.set_live(0, n);
    const slab& all = block_held->elements;
    block_held->bytes = n * type_.size + (type_.footprint ? type_.footprint(type_, all.begin(), n) : 0);
    run_->ledger->charge(block_held->bytes, line_);
  }
  std::size_t freed = 0;
  {
    detail::waking_lock lock(mutex_);
    pulling_ = false;
    if (block_held) {
      end_ = block_held->end();
      bytes_ += block_held->bytes;
      held_.push_back(std::move(block_held));
      freed = trim();
    } else {
      over_ = true;
      why_ = why;
    }
    changed(lock.woken);
  }
  credit(freed);
}

void broadcast_hub::leave(std::size_t k, const status& why) {
  std::size_t freed = 0;
  bool is_last = false;
  {
    detail::waking_lock lock(mutex_);
    consumer& c = consumers_[k];
    if (c.left) return;
    c.left = true;
    if (!c.gone) {
      c.gone = true;
      c.why = why;
      freed = trim();
      changed(lock.woken);
    }
    is_last = all_have_left();
  }
  credit(freed);
  if (is_last) root_.run()->request_stop();
}

bool broadcast_hub::is_abandoned() const {
  mutex_lock lock(mutex_);
  return all_have_left();
}

checkpoint broadcast_hub::position(const std::vector<std::optional<std::uint64_t>>& at) {
  std::uint64_t last = 0;
  {
    mutex_lock lock(mutex_);
    if (pulling_)
      throw_status(failed_precondition_error("broadcast: a consumer that was stopped still has a request outstanding"));
    last = end_;
  }
  for (const auto& ordinal : at)
    if (ordinal) last = std::min(last, *ordinal);
  position_writer root;
  root_.position_at(last, root);
  position_writer w;
  w.raw(kBroadcastMagic.data(), kBroadcastMagic.size());
  w.number(at.size());
  for (const auto& ordinal : at) w.number(ordinal ? *ordinal - last + 1 : 0);
  w.text(root_.run()->seal(root.bytes()));
  return {w.bytes()};
}

/// The run as the stream of one consumer sees it.
class consumer_run final : public run_base {
 public:
  consumer_run(std::shared_ptr<broadcast_hub> hub, std::size_t number, std::shared_ptr<run_base> run)
      : hub_(std::move(hub)), run_(std::move(run)), number_(number) {}
  ~consumer_run() override { hub_->leave(number_, cancelled_error()); }

  void request_stop() noexcept override { hub_->leave(number_, cancelled_error()); }
  std::string seal(std::string) const override {
    throw_status(failed_precondition_error(
        "a consumer of a broadcast has no position of its own; broadcast_position() has that of "
        "all of them"));
  }
  void when_drained(void (*done)(void*) noexcept, void* argument) noexcept override {
    if (hub_->is_abandoned()) run_->when_drained(done, argument);
    else done(argument);  // the run continues for the others
  }
  broadcast_hub& hub() const { return *hub_; }
  std::size_t number() const { return number_; }

 private:
  std::shared_ptr<broadcast_hub> hub_;
  std::shared_ptr<run_base> run_;
  std::size_t number_;
};

erased_stream broadcast_loop(outlet out, may_suspend, std::shared_ptr<broadcast_hub> hub, std::size_t number) {
  const element_type& type = out.type();
  for (;;) {
    broadcast_hub::step s = hub->next(number, out.ask());
    if (s.what == broadcast_hub::turn::copies) {
      auto passed = static_cast<std::uint32_t>(out.pass(s.n));
      if (passed == s.n) continue;
      std::uint32_t n = s.n - passed;
      char* to = out.room(n);
      type.copy(type, to, s.from->elements.begin() + (s.at + passed) * type.size, n, type.size, type.size);
      s.from.reset();
      co_yield out.made(n);
    } else if (s.what == broadcast_hub::turn::pulls) {
      auto got = co_await hub->root().try_next_block({0, s.n, out.wanted_bytes()});
      hub->pulled(got.view, got.why);
    } else if (s.what == broadcast_hub::turn::waits) {
      broadcast_hub::change_awaiter change(*hub, s.seen);
      co_await change;
    } else {
      if (!s.why.ok()) co_await fail(std::move(s.why));
      break;
    }
  }
}

/// The position in a checkpoint of a broadcast. It has a number for each consumer: 1 + its distance ahead of the run's
/// position, or 0 if it had left.
struct opened_position {
  std::vector<std::uint64_t> ahead;
  checkpoint run;
};

opened_position open_position(const checkpoint& from, std::size_t consumers) {
  opened_position o;
  if (from.empty()) {
    o.ahead.assign(consumers, 1);
    return o;
  }
  if (!std::string_view(from.bytes).starts_with(kBroadcastMagic))
    throw_status(failed_precondition_error("broadcast: the checkpoint is of a plain run, and not of a broadcast"));
  position_reader r(std::string_view(from.bytes).substr(kBroadcastMagic.size()));
  for (std::size_t n = r.count(); n && r.ok(); --n) o.ahead.push_back(r.number());
  o.run.bytes = r.text();
  if (!r.ok() || !r.done() || o.run.empty()) throw_status(damaged_position());
  if (o.ahead.size() != consumers)
    throw_status(failed_precondition_error("broadcast: the checkpoint is of " + std::to_string(o.ahead.size()) +
                                           " consumers, and there are " + std::to_string(consumers)));
  return o;
}

const consumer_run& consumer_of(const stream_base& s) {
  auto* run = dynamic_cast<const consumer_run*>(s.run());
  if (!run)
    throw_status(failed_precondition_error(
        "broadcast: this is no stream of a broadcast, or another wait for its next element is outstanding"));
  return *run;
}

}  // namespace

std::vector<any_stream> broadcast_run(runtime& rt, const node_ptr& plan, std::size_t consumers,
                                      const broadcast_options& o) {
  if (consumers == 0) throw_status(invalid_argument_error("broadcast: needs a consumer"));
  if (o.lag_max == 0) throw_status(invalid_argument_error("broadcast: lag_max must be at least 1"));
  if (plan && !plan->type->copy)
    throw_status(invalid_argument_error("broadcast: " + plan->type->name + " cannot be copied"));
  opened_position at = open_position(o.from, consumers);
  iterate_options options = o.run;
  options.from = at.run;
  erased_stream root = detail::engine_access::release(open_run(rt, plan, options));
  root.may_go_back();
  std::shared_ptr<run_base> run = root.shared_run();
  std::vector<std::uint64_t> starts;
  for (std::uint64_t ahead : at.ahead) starts.push_back(root.consumed() + (ahead ? ahead - 1 : 0));
  auto hub = std::make_shared<broadcast_hub>(std::move(root), o, starts);
  std::vector<any_stream> streams;
  for (std::size_t k = 0; k != consumers; ++k) {
    outlet out(hub->type());
    erased_stream s = broadcast_loop(out, may_suspend{}, hub, k);
    s.stage()->set_label("broadcast");
    s.set_environment(hub->env());
    s.begin_at(starts[k]);
    s.set_run(std::make_shared<consumer_run>(hub, k, run));
    if (at.ahead[k] == 0)
      hub->leave(k, failed_precondition_error("broadcast: this consumer was gone at the checkpoint"));
    streams.emplace_back(std::move(s));
  }
  return streams;
}

checkpoint position_of_broadcast(const std::vector<const stream_base*>& streams) {
  if (streams.empty()) throw_status(failed_precondition_error("broadcast: a position needs at least one stream"));
  broadcast_hub& hub = consumer_of(*streams[0]).hub();
  std::vector<std::optional<std::uint64_t>> at(hub.consumers());
  for (const stream_base* s : streams) {
    const consumer_run& mine = consumer_of(*s);
    s->require_rest("broadcast_position()");
    if (&mine.hub() != &hub) throw_status(failed_precondition_error("broadcast: these are streams of two broadcasts"));
    if (!hub.is_gone(mine.number())) at[mine.number()] = s->consumed();
  }
  for (std::size_t k = 0; k != at.size(); ++k)
    if (!at[k] && !hub.is_gone(k))
      throw_status(
          failed_precondition_error("broadcast: the position lacks the stream of consumer " + std::to_string(k)));
  return hub.position(at);
}

run_report report_of_broadcast(const stream_base& s) { return consumer_of(s).hub().report(); }

}  // namespace sluice::lib
