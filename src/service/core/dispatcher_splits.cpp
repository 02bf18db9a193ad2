// SPDX-License-Identifier: Apache-2.0
// Which consumer gets which split, and which worker reads it.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include "service/core/dispatcher_core.hpp"

namespace sluice::lib {

status dispatcher_core::beyond_error(const std::string& consumer, std::uint64_t ordinal, std::uint64_t assigned) {
  return failed_precondition_error(
      absl::StrCat("consumer '", consumer, "' names its split ", ordinal, ", and only ", assigned,
                   " were assigned: its checkpoint belongs to another run, or the dispatcher's "
                   "store was lost"));
}

dispatcher_core::maybe_answer dispatcher_core::next_split(iteration& it, const next_split_request& r, time_point now) {
  auto c = consumer_of(it, r.consumer, r.incarnation, now);
  if (!c.ok()) return answer(c.why());
  split_consumer& consumer = **c;
  if (r.ordinal < consumer.ordinals.size())
    return answer(service_reply(split_reply(it, consumer, consumer.ordinals[r.ordinal], now)));
  if (r.ordinal > consumer.ordinals.size())
    return answer(beyond_error(r.consumer, r.ordinal, consumer.ordinals.size()));
  if (const auto split = it.splits.assign(consumer, log_.writes())) {
    list_more(it);
    return answer(service_reply(split_reply(it, consumer, *split, now)));
  }
  list_more(it);
  const std::uint64_t left = it.splits.listed() - it.splits.done();
  if (it.record.opened.mode == sharding::off) {
    if (!it.splits.is_all_listed() && (left || it.splits.listed() == 0)) return std::nullopt;
    if (left) return std::nullopt;
    if (!it.record.is_ended) {
      it.record.is_ended = true;
      it.splits.end_listing();
      log_.writes()[store_key("iteration", it.id)] = to_json(it.record);
    }
  } else if (!it.splits.is_all_listed() || left != consumer.open.size()) {
    return std::nullopt;
  }
  next_split_reply end;
  end.kind = split_answer::end;
  end.dispatcher_epoch = epoch();
  return answer(service_reply(std::move(end)));
}

next_split_reply dispatcher_core::split_reply(iteration& it, const split_consumer& c, std::uint64_t split,
                                              time_point now) {
  next_split_reply reply{.kind = split_answer::split,
                         .split = split,
                         .round = it.splits.round_of(split).round,
                         .payload = {},
                         .worker = {}};
  if (it.record.opened.mode != sharding::off) reply.payload = it.splits.payload(split);
  reply.dispatcher_epoch = epoch();
  if (const worker_entry* w = workers_.choose(wish_for(it, c, split), now)) {
    reply.worker = w->address;
    reply.is_local = !w->host.empty() && w->host == c.record.host;
    workers_.place({it.id, split, c.name}, w->address, 0, now);
  }
  return reply;
}

worker_wish dispatcher_core::wish_for(const iteration& it, const split_consumer& c, std::uint64_t split) const {
  worker_wish wish{.tags = &it.record.opened.tags,
                   .target = c.record.target,
                   .host = c.record.host,
                   .process = c.record.process.value_or("")};
  if (it.record.opened.mode == sharding::off) wish.pinned = it.splits.payload(split);
  if (!is_static(it.record.opened.mode)) return wish;
  wish.pinned = options_.fixed_workers[split];
  constexpr std::string_view kAnyPort = ":%port%";
  const auto& fixed = options_.fixed_workers;
  if (!wish.pinned.ends_with(kAnyPort)) return wish;
  const std::string host = wish.pinned.substr(0, wish.pinned.size() - kAnyPort.size() + 1);
  std::vector<const worker_entry*> found;
  for (const auto& [address, w] : workers_.all())
    if (address.starts_with(host)) found.push_back(&w);
  if (found.empty()) return wish;
  // A worker that has started again at another port takes the place of the one that is silent.
  std::ranges::sort(found, [](const worker_entry* a, const worker_entry* b) {
    return std::tie(b->last_seen, a->address) < std::tie(a->last_seen, b->address);
  });
  const auto entries = static_cast<std::size_t>(std::ranges::count(fixed, fixed[split]));
  found.resize(std::min(found.size(), entries));
  std::ranges::sort(found, std::less(), &worker_entry::address);
  const auto before = std::count(fixed.begin(), fixed.begin() + static_cast<std::ptrdiff_t>(split), fixed[split]);
  wish.pinned = found[static_cast<std::size_t>(before) % found.size()]->address;
  return wish;
}

dispatcher_core::maybe_answer dispatcher_core::place(const place_request& r, time_point now) {
  auto it = find(r.iteration, now);
  if (!it.ok()) return answer(it.why());
  auto c = consumer_of(**it, r.consumer, r.incarnation, now);
  if (!c.ok()) return answer(c.why());
  if ((*it)->splits.holder(r.split) != *c)
    return answer(status(status_code::aborted, absl::StrCat("split ", r.split, " of iteration '", r.iteration,
                                                            "' is not assigned to consumer '", r.consumer, "'")));
  place_reply reply{.kind = place_answer::removed, .worker = {}, .dispatcher_epoch = epoch()};
  if ((*it)->splits.round_of(r.split).is_removed) return answer(service_reply(std::move(reply)));
  worker_wish wish = wish_for(**it, **c, r.split);
  wish.failed = r.failed;
  const worker_entry* w = workers_.choose(wish, now);
  if (!w) return std::nullopt;
  reply.kind = place_answer::placed;
  reply.worker = w->address;
  reply.is_local = !w->host.empty() && w->host == (*c)->record.host;
  workers_.place({r.iteration, r.split, r.consumer}, w->address, r.attempt, now);
  return answer(service_reply(std::move(reply)));
}

void dispatcher_core::serve_waiting(iteration& it, time_point now) {
  std::vector<held_split> waiting = std::exchange(it.waiting, {});
  for (held_split& h : waiting) {
    maybe_answer reply = next_split(it, h.request, now);
    if (reply) answers_.emplace_back(h.call, std::move(*reply));
    else it.waiting.push_back(std::move(h));
  }
}

void dispatcher_core::serve_places(time_point now) {
  std::vector<held_place> waiting = std::exchange(waiting_places_, {});
  for (held_place& h : waiting) {
    maybe_answer reply = place(h.request, now);
    if (reply) answers_.emplace_back(h.call, std::move(*reply));
    else waiting_places_.push_back(std::move(h));
  }
}

void dispatcher_core::list_more(iteration& it) {
  const open_job_request& o = it.record.opened;
  if (o.mode != sharding::dynamic || it.is_listing || it.splits.is_all_listed() ||
      it.splits.unassigned() > options_.splits_low)
    return;
  it.is_listing = true;
  dispatcher_action::list_splits list{.iteration = it.id,
                                      .info = datasets_.find(o.dataset)->second,
                                      .stream = o.stream,
                                      .round = o.first_round + it.splits.rounds(),
                                      .first_round = o.first_round,
                                      .rounds = o.rounds};
  list.info.seed = it.record.seed;
  list.info.epoch = it.record.epoch;
  lists_.push_back({std::move(list)});
}

void dispatcher_core::add_round(iteration& it, std::uint64_t round, const std::vector<std::string>& payloads,
                                bool is_last) {
  listed_round listed = it.splits.prepare(round, payloads, is_last);
  std::size_t bytes = 0;
  for (const std::string& chunk : listed.chunks) bytes += chunk.size();
  if (it.record.opened.mode != sharding::dynamic || bytes <= options_.commit_bytes) {
    for (std::size_t i = 0; i < listed.chunks.size(); ++i)
      log_.writes()[store_key("splits", it.id, listed.record.first_chunk + i)] = listed.chunks[i];
    it.splits.add(std::move(listed), log_.writes());
    it.is_listing = false;
    return;
  }
  std::vector<std::pair<std::string, std::string>> writes;
  for (std::size_t i = 0; i < listed.chunks.size(); ++i)
    writes.emplace_back(store_key("splits", it.id, listed.record.first_chunk + i), listed.chunks[i]);
  it.storing = std::move(listed);
  log_.add_bulk(it.id, std::move(writes));
}

void dispatcher_core::add_task(iteration& it, const worker_entry& w) {
  const open_job_request& o = it.record.opened;
  const worker_wish wish{.tags = &o.tags, .target = o.target, .host = o.host};
  if (o.mode != sharding::off || it.record.is_ended || it.record.is_removed || !worker_table::fits(w, wish)) return;
  if (it.tasks.insert(w.address).second) add_round(it, it.splits.rounds(), {w.address}, false);
}

void dispatcher_core::count_empty(iteration& it, std::uint64_t split) {
  if (!it.is_endless || it.splits.is_all_listed() || it.storing) return;
  const round_record& round = it.splits.round_of(split);
  if (++it.empty[round.round] != round.count) return;
  it.record.is_ended = true;
  it.splits.end_listing();
  it.is_listing = false;
  log_.writes()[store_key("iteration", it.id)] = to_json(it.record);
}

void dispatcher_core::close(iteration& it, split_consumer& c, time_point now) {
  for (const std::uint64_t split : c.open) workers_.finish({it.id, split, c.name});
  it.splits.close(c, log_.writes());
  if (it.record.opened.job.empty()) return end(it);
  serve_waiting(it, now);
}

void dispatcher_core::explain_wait(iteration& it, const std::string& consumer, time_point now, next_split_reply& wait) {
  const split_consumer* longest = nullptr;
  std::size_t splits = 0;
  for (const split_consumer* c : it.splits.consumers()) {
    if (c->name == consumer || c->open.empty()) continue;
    splits += c->open.size();
    if (!longest || c->last_seen < longest->last_seen) longest = c;
  }
  if (!longest) return;
  const auto seconds = [](duration d) { return std::chrono::duration_cast<std::chrono::seconds>(d).count(); };
  const duration silent = now - longest->last_seen;
  const std::uint64_t split = *longest->open.begin();
  const placed_read* placed = workers_.placed({it.id, split, longest->name});
  const duration held = std::max(silent, placed ? now - placed->since : silent);
  wait.silent_ms = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(silent).count());
  wait.why = absl::StrCat(splits, splits == 1 ? " split is" : " splits are", " with other consumers: split ", split,
                          " has been with ", longest->name, " for ", seconds(held),
                          " s, and that consumer was silent for the last ", seconds(silent),
                          " s; silence_max=… gives splits of a silent consumer to others");
}

void dispatcher_core::end(iteration& it) {
  workers_.finish_all(it.id);
  it.splits.remove_all(log_.writes());
  answer_removed(it);
  const open_job_request& o = it.record.opened;
  log_.writes()[store_key("iteration", it.id)] = std::nullopt;
  if (jobs_.erase(o.job) != 0) log_.writes()[store_key("job", o.job)] = std::nullopt;
  by_name_.erase(iteration_name(o));
  iterations_.erase(it.id);
}

void dispatcher_core::remove(iteration& it) {
  if (it.record.opened.job.empty()) return end(it);
  workers_.finish_all(it.id);
  it.splits.remove_all(log_.writes());
  it.record.is_removed = true;
  answer_removed(it);
  // The record stays: who opened the iteration again would get all elements again.
  log_.writes()[store_key("iteration", it.id)] = to_json(it.record);
  it.splits = iteration_splits(it.id, options_.limits);
}

void dispatcher_core::answer_removed(iteration& it) {
  const status why = not_found_error(absl::StrCat("iteration '", it.id, "' was removed"));
  for (const held_split& h : std::exchange(it.waiting, {})) answers_.emplace_back(h.call, why);
}

}  // namespace sluice::lib
