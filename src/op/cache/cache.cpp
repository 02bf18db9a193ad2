// SPDX-License-Identifier: Apache-2.0
#include "sluice/op/cache.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "base/text/mebibytes.hpp"
#include "engine/lowering/element_specs.hpp"
#include "engine/lowering/open_context.hpp"
#include "engine/stored/frozen_input.hpp"
#include "engine/stored/plan_head.hpp"
#include "op/cache/cache_reading.hpp"
#include "op/cache/cached_type.hpp"
#include "plan/codecs/arguments_of.hpp"
#include "sluice/coro/erased_stream.hpp"
#include "sluice/coro/saved.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/coro/task.hpp"
#include "sluice/runtime/blocking.hpp"
#include "sluice/runtime/runtime.hpp"
#include "store/cache_table.hpp"

namespace sluice::lib {
namespace {

constexpr duration kWrittenCacheLooks = std::chrono::milliseconds(50);

struct cache_input {
  open_context context;
  node_ptr plan;
  std::string label;
  lib::over_budget over_budget;
  bool rebuilds = false;
  lib::other_writer other_writer = lib::other_writer::compute;
  std::string path = {};                       ///< of the file
  std::shared_ptr<const plan_head> head = {};  ///< for a cache in a file
};
using shared_elements = std::shared_ptr<element_cache>;

// Tasks that wait for the file on threads for blocking calls.

task<status> open_file(shared_elements cache, std::shared_ptr<const plan_head> head, bool rebuilds, runtime& rt) {
  blocking opening(rt.blocking_calls(), [&] { return cache->open_file(*head, rebuilds, rt); });
  status why = co_await opening;
  co_return why;
}
task<status> load(shared_elements cache, std::uint64_t ordinal, bool rebuilds, runtime& rt) {
  blocking loading(rt.blocking_calls(), [&] { return cache->load(ordinal, rebuilds); });
  status why = co_await loading;
  co_return why;
}
task<status> write(shared_elements cache, runtime& rt) {
  blocking writing(rt.blocking_calls(), [&] { return cache->write(); });
  status why = co_await writing;
  co_return why;
}
task<status> finish(shared_elements cache, std::uint64_t length, runtime& rt) {
  blocking writing(rt.blocking_calls(), [&] { return cache->finish(length, rt); });
  status why = co_await writing;
  co_return why;
}

task<status> spill(shared_elements cache, runtime& rt) {
  blocking spilling(rt.blocking_calls(), [&] { return cache->spill(); });
  status why = co_await spilling;
  co_return why;
}

/// While another process writes the file, waits for the time after which the stage looks again, or fails. Returns true if
/// the stage must look again.
task<bool> other_writer_waits(shared_elements cache, const cache_input& from, std::uint64_t ordinal) {
  if (from.other_writer == other_writer::compute) co_return false;
  // A writer that has ended since the last look may have written the element.
  if (!cache->is_written_elsewhere()) co_return cache->must_load(ordinal) || cache->length() <= ordinal;
  if (from.other_writer == other_writer::fail) {
    status why =
        unavailable_error(absl::StrCat("another process writes this cache, and has not written element ", ordinal,
                                       " yet; run again later, or write other_writer=wait or other_writer=compute"));
    co_await fail(why.in_file(from.path).in_stage(from.label));
  }
  const time_point later = from.context.run->time->now() + kWrittenCacheLooks;
  auto waiting = sleep_until(later);
  co_await waiting;
  co_return true;
}
/// Waits until the elements of another process's pass are complete, or that process has ended: without a fixed order a
/// stage cannot make the elements that are missing.
task<> wait_for_pass(shared_elements cache, const cache_input& from, runtime& rt) {
  for (;;) {
    if (cache->must_load(element_cache::kUnknown)) {
      auto loading = load(cache, element_cache::kUnknown, from.rebuilds, rt);
      status why = co_await loading;
      if (!why.ok()) co_await fail(why.in_stage(from.label));
    }
    if (cache->length() != element_cache::kUnknown) co_return;
    auto waiting = other_writer_waits(cache, from, cache->prefix());
    const bool again = co_await waiting;
    if (!again) co_return;
  }
}

/// Returns true if a lack of memory, or of room on the disk, ends the stream.
bool must_fail(over_budget o) { return o == over_budget::fail || o == over_budget::spill; }

status no_room(const element_cache& cache, const std::string& label) {
  const cache_memory& memory = cache.memory();
  return resource_exhausted_error(
             absl::StrCat("the cache holds ", mebibytes(cache.bytes()),
                          " and has no room for more: all caches may hold ", mebibytes(memory.bytes_max()),
                          ", half of the memory budget, and hold ", mebibytes(memory.bytes()),
                          "; held memory: ", memory.ledger().report().held_text(),
                          "; cache fewer or smaller elements, write cache(over_budget=stop_caching) or "
                          "cache(over_budget=spill), or raise the memory budget"))
      .in_stage(label);
}

/// Returns the elements from `wanted` on that are in the cache.
block known_elements(outlet& out, cache_reading& st, std::uint64_t wanted) {
  if (st.rows) return st.rows.deliver(out, *st.cache, wanted);
  const std::uint32_t n = st.cache->copy(wanted, out.wanted(), out.wanted_bytes(), out.storage()).count;
  return n == 0 ? block() : out.made(n);
}

erased_stream cache_loop(outlet out, saved<cache_reading> st, cache_input from) {
  const bool spills = may_spill(from.over_budget), fails = must_fail(from.over_budget);
  runtime& rt = *from.context.run->rt;
  if (st->in_file() && from.head) {
    auto opening = open_file(st->cache, from.head, from.rebuilds, rt);
    status why = co_await opening;
    if (why.ok() && fails) why = st->cache->take_sync_error();
    if (!why.ok()) co_await fail(why.in_stage(from.label));
    if (!st->cache->has_fixed_order() && st->may_join()) {
      auto waiting = wait_for_pass(st->cache, from, rt);
      co_await waiting;
    }
  }
  st->join();
  if (st->in_file() && st->cache->is_left()) st->adding = added_to_file(st->cache);
  for (;;) {
    const std::uint64_t passed = out.pass(demand::kAll);
    const std::uint64_t wanted = st->at + passed;
    if (st->in_file() && st->cache->must_load(wanted)) {
      auto loading = load(st->cache, wanted, from.rebuilds, rt);
      status why = co_await loading;
      if (!why.ok()) co_await fail(why.in_stage(from.label));
    }
    const std::uint64_t length = st->cache ? st->cache->length() : element_cache::kUnknown;
    if (length <= wanted) {
      st->end(out, passed, wanted, length);
      break;
    }
    if (st->cache) {
      block known = known_elements(out, *st, wanted);
      if (known) {
        st->at = wanted + known.size();
        co_yield known;
        continue;
      }
    }
    if (st->in_file() && !st->cache->is_closed()) {
      auto waiting = other_writer_waits(st->cache, from, wanted);
      auto waited = co_await waiting.as_result();
      if (!waited.ok() || *waited) out.unpass(passed);
      if (!waited.ok()) co_await fail(waited.why());
      if (*waited) continue;
    }
    const std::uint64_t first = st->to_request(wanted);
    if (!st->input.in) {
      status why = st->open(from.context, from.plan, first);
      if (!why.ok()) co_await fail(std::move(why));
    }
    erased_stream& in = st->input.in;
    if (in.consumed() > first) co_await fail(damaged_position());
    st->skip_to(first);
    element_cache::input_position place = st->place_to_add();
    st->rows.expect(first == wanted);
    auto some = co_await in.try_next_block({0, out.wanted(), out.wanted_bytes()});
    if (!some.view) {
      if (!some.why.ok()) {
        st->filling = {};
        co_await fail(std::move(some.why));
      }
      const std::uint64_t ended = first - std::min(first, in.skip_left());
      if (st->cache) st->cache->set_length(ended);
      if (st->in_file()) {
        auto finishing = finish(st->cache, ended, rt);
        status why = co_await finishing;
        if (!why.ok() && fails) co_await fail(why.in_stage(from.label));
      }
      st->end(out, passed, wanted, ended);
      break;
    }
    const std::uint32_t n = some.view.size();
    const made_elements made = st->rows.received(some.view);
    status charged = st->rows.charge();
    if (!charged.ok()) {
      st->filling = {};
      co_await fail(std::move(charged));
    }
    auto added = element_cache::added::none;
    if (st->cache) added = st->cache->append(first, made, std::move(place), from.context.run->time->now(), spills);
    status why;
    if (spills && st->cache && st->cache->must_spill()) {
      auto spilling = spill(st->cache, rt);
      why = co_await spilling;
    }
    if (added == element_cache::added::no_room && !st->cache->is_closed()) why = no_room(*st->cache, from.label);
    if (why.ok() && st->in_file() && added != element_cache::added::no_room) {
      if (!st->adding) st->adding = added_to_file(st->cache);
      if (st->cache->must_write() && !st->cache->write_behind(rt)) {
        auto writing = write(st->cache, rt);
        why = co_await writing;
      }
    }
    if (!why.ok() && fails) {
      st->filling = {};
      if (first == wanted) {
        st->at = wanted + n;
        out.hold(st->rows ? st->rows.deliver(out, made, 0) : some.view);
      }
      co_await fail(why.in_stage(from.label));
    }
    if (!why.ok()) st->cache->close();
    if (first + n <= wanted || (first != wanted && added == element_cache::added::all)) {
      out.unpass(passed);  // made for the cache only
      continue;
    }
    if (st->rows) some.view = st->rows.deliver(out, made, wanted - first);
    else if (first != wanted) some.view.drop_front(static_cast<std::uint32_t>(wanted - first));
    st->at = first + n;
    co_yield some.view;
  }
}

/// `rows`: for a consumer that receives rows.
erased_stream open_cache_with(const node& n, open_context& context, passed_rows rows) {
  const auto& a = n.as<cache_arguments>();
  const node& input = *n.inputs[0];
  const bool has_fixed_order = context.order_given != order::sloppy &&
                               !is_or_has_upstream(input, [](const node& at) { return facts_of(at).is_live; });
  outlet out(rows ? landed_row_type() : *n.type);
  saved<cache_reading> st;
  st->rows = std::move(rows);
  std::string label = context.gate(n).label();
  const cache_key key = key_of_input(input, context);
  st->cache = a.shared.of->find(*context.run->rt, key, *n.type, label, has_fixed_order, a.path);
  cache_input from{of_first_epoch(context), n.inputs[0], std::move(label), a.options.over_budget,
                   a.options.on_mismatch == on_mismatch::rebuild};
  from.other_writer = a.options.other_writer;
  from.path = a.path;
  if (!a.path.empty()) from.head = std::make_shared<const plan_head>(n.inputs[0], key, context.run);
  return cache_loop(out, std::move(st), std::move(from));
}

erased_stream open_cache(const node& n, open_context& context) { return open_cache_with(n, context, {}); }

erased_stream open_cache_rows(const node& n, open_context& context, const std::shared_ptr<row_landing>& landing) {
  if (!element_cache::yields_rows(*n.type)) return {};
  const error_gate gate = context.gate(n);
  held_memory memory(context.run, gate.line(purpose::cache), gate.label(), "the rows that a cache makes for later runs",
                     "write a smaller batch");
  return open_cache_with(n, context, passed_rows(*n.type, landing, std::move(memory)));
}

void with_share(arguments& a) {
  auto own = a.as<cache_arguments>();
  if (own.shared.of) return;
  own.shared.of = std::make_shared<const cache_share>();
  a = arguments::of(std::move(own));
}

}  // namespace

const op_info cache_op{
    .name = "cache",
    .doc = "keeps the elements of the first epoch, in memory or a file, for later ones",
    .arguments = arguments_of<cache_arguments>,
    .make_canonical = with_share,
    .type = cached_type,
    .spec = same_spec,
    .facts = {
        .always = {.outputs = output_count::one_per_input, .forwards = true, .keeps_order = true, .may_fail = false},
        .size = [](const node& n) { return cardinality_of(*n.inputs[0]); },
        .rows = [](const node& n) { return row_cardinality_of(*n.inputs[0]); },
        .seeks = seeks_with_inputs,
        .opens_input_again = true,
        .freezes_epochs = true},
    .splits = {.rule = split_rule::each_element},
    .lowering = {.open = open_cache, .open_rows = open_cache_rows},
};

preserving cache(cache_options o) { return {cache_op, arguments::of(cache_arguments{{}, {}, o})}; }
preserving cache(std::string path, cache_options o) {
  return {cache_op, arguments::of(cache_arguments{{}, std::move(path), o})};
}

}  // namespace sluice::lib
