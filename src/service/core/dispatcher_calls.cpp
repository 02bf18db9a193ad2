// SPDX-License-Identifier: Apache-2.0
// The calls of a dispatcher, except for the choice of splits and workers.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <utility>

#include "service/core/dispatcher_core.hpp"
#include "sluice/base/content_hash.hpp"

namespace sluice::lib {
namespace {

status exists_error(std::string_view what) { return status(status_code::already_exists, what); }

/// Two registrations with the same id must mean the same elements and the same splits.
std::string id_of_dataset(const dataset_info& info) {
  return absl::StrCat("d", absl::Hex(content_hash(to_json(info)), absl::kZeroPad16));
}

std::uint64_t milliseconds(duration d) {
  return static_cast<std::uint64_t>(
      std::max<std::int64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(d).count(), 0));
}

std::optional<std::vector<compression_status>> shown_compression(const worker_entry& w) {
  return w.compression.empty() ? std::nullopt : std::optional(w.compression);
}

}  // namespace

dispatcher_core::maybe_answer dispatcher_core::serve(std::uint64_t, register_dataset_request& r, time_point) {
  if (r.dataset.empty()) r.dataset = id_of_dataset(r.info);
  const auto found = datasets_.find(r.dataset);
  if (found == datasets_.end()) {
    log_.writes()[store_key("dataset", r.dataset)] = to_json(r.info);
    datasets_.emplace(r.dataset, std::move(r.info));
  } else if (found->second.fingerprint != r.info.fingerprint) {
    return answer(exists_error(absl::StrCat("dataset '", r.dataset, "' is registered with the fingerprint ",
                                            found->second.fingerprint, ", and this plan has ", r.info.fingerprint,
                                            ". Use another dataset id")));
  }
  return answer(service_reply(register_dataset_reply{r.dataset}));
}

dispatcher_core::maybe_answer dispatcher_core::serve(std::uint64_t, get_dataset_request& r, time_point) {
  const auto found = datasets_.find(r.dataset);
  if (found == datasets_.end())
    return answer(not_found_error(absl::StrCat("dataset '", r.dataset, "' is not registered at this dispatcher")));
  return answer(service_reply(get_dataset_reply{found->second}));
}

dispatcher_core::maybe_answer dispatcher_core::serve(std::uint64_t, open_job_request& r, time_point now) {
  if (r.consumer.empty()) return answer(invalid_argument_error("open_job: the consumer has no name"));
  if (r.target != "any" && r.target != "local" && r.target != "automatic" && r.target != "remote")
    return answer(invalid_argument_error(
        absl::StrCat("open_job: target must be any, local, remote or automatic, and is '", r.target, "'")));
  const auto dataset = datasets_.find(r.dataset);
  if (dataset == datasets_.end())
    return answer(not_found_error(absl::StrCat("dataset '", r.dataset, "' is not registered at this dispatcher")));
  if (is_static(r.mode) && options_.fixed_workers.empty())
    return answer(failed_precondition_error(
        absl::StrCat("mode '", std::string(to_string(r.mode)),
                     "' needs a fixed list of workers, and this dispatcher was started without one")));
  if (is_static(r.mode) && r.workers && r.workers != options_.fixed_workers.size())
    return answer(failed_precondition_error(absl::StrCat("the client expects ", r.workers,
                                                         " workers, and the dispatcher's fixed list has ",
                                                         options_.fixed_workers.size())));
  if (!r.job.empty()) {
    const auto job = jobs_.find(r.job);
    if (job == jobs_.end()) {
      const job_record record{r.dataset, r.mode};
      log_.writes()[store_key("job", r.job)] = to_json(record);
      jobs_.emplace(r.job, record);
    } else if (job->second.dataset != r.dataset || job->second.mode != r.mode) {
      return answer(failed_precondition_error(
          absl::StrCat("job '", r.job, "' reads dataset '", job->second.dataset, "' in mode '",
                       std::string(to_string(job->second.mode)), "', and this consumer asks for dataset '", r.dataset,
                       "' in mode '", std::string(to_string(r.mode)), "'. Use another job name")));
    }
  }
  std::string& id = by_name_[iteration_name(r)];
  if (id.empty()) {
    id = absl::StrCat(epoch(), ".", ++iterations_made_);
    iteration_record record{
        .opened = r, .seed = r.seed.value_or(dataset->second.seed), .epoch = r.epoch.value_or(dataset->second.epoch)};
    log_.writes()[store_key("iteration", id)] = to_json(record);
    auto made = std::make_unique<iteration>(iteration{.id = id,
                                                      .record = std::move(record),
                                                      .splits = {id, options_.limits},
                                                      .waiting = {},
                                                      .storing = {},
                                                      .tasks = {},
                                                      .last_call = now,
                                                      .finished_at = {}});
    iteration& it = *iterations_.emplace(id, std::move(made)).first->second;
    if (r.mode == sharding::off && options_.has_fixed_workers_only) {
      for (const std::string& address : options_.fixed_workers)
        if (it.tasks.insert(address).second) add_round(it, it.splits.rounds(), {address}, false);
    } else if (r.mode == sharding::off) {
      for (const auto& [address, w] : workers_.all())
        if (workers_.is_alive(w, now)) add_task(it, w);
    }
    if (is_static(r.mode)) {
      std::vector<std::string> shards;
      const std::size_t count = options_.fixed_workers.size();
      for (std::size_t i = 0; i < count; ++i)
        shards.push_back(absl::StrCat("{\"shard\":", i, ",\"shards\":", count, "}"));
      add_round(it, 0, shards, true);
    }
    if (options_.remove_idle) wake_by(now + *options_.remove_idle);
  }
  auto it = find(id, now);
  if (!it.ok()) return answer(it.why());
  split_consumer* c = (*it)->splits.consumer(r.consumer);
  if (!c)
    c = &(*it)->splits.add_consumer(
        r.consumer, {.target = r.target, .host = r.host, .silence_max_ms = r.silence_max_ms, .process = r.process},
        log_.writes());
  if (const status why = start_consumer(**it, *c, r); !why.ok()) return answer(why);
  if (auto known = consumer_of(**it, r.consumer, r.incarnation, now); !known.ok()) return answer(known.why());
  if (c->record.silence_max_ms) wake_by(now + std::chrono::milliseconds(*c->record.silence_max_ms));
  open_job_reply opened{(*it)->id, epoch(), (*it)->record.seed, (*it)->record.epoch};
  if (r.incarnation) opened.start = c->start;
  return answer(service_reply(std::move(opened)));
}

dispatcher_core::maybe_answer dispatcher_core::serve(std::uint64_t call, next_split_request& r, time_point now) {
  auto it = find(r.iteration, now);
  if (!it.ok()) return answer(it.why());
  maybe_answer reply = next_split(**it, r, now);
  if (reply) return reply;
  (*it)->waiting.push_back({call, std::move(r), now + options_.hold_max});
  wake_by(now + options_.hold_max);
  return std::nullopt;
}

dispatcher_core::maybe_answer dispatcher_core::serve(std::uint64_t call, place_request& r, time_point now) {
  maybe_answer reply = place(r, now);
  if (reply) return reply;
  waiting_places_.push_back({call, std::move(r), now + options_.hold_max});
  wake_by(now + options_.hold_max);
  return std::nullopt;
}

dispatcher_core::maybe_answer dispatcher_core::serve(std::uint64_t, progress_request& r, time_point now) {
  auto found = find(r.iteration, now);
  if (!found.ok()) return answer(found.why());
  iteration& it = **found;
  auto c = consumer_of(it, r.consumer, r.incarnation, now);
  if (!c.ok()) return answer(c.why());
  const auto& ordinals = (*c)->ordinals;
  for (std::uint64_t k = 0; k < std::min<std::uint64_t>(r.done_below, ordinals.size()); ++k)
    r.done.push_back(ordinals[k]);
  if (r.done_below > ordinals.size()) r.done_ordinals.push_back(r.done_below - 1);
  for (const std::uint64_t k : r.done_ordinals) {
    if (k >= ordinals.size()) return answer(beyond_error(r.consumer, k, ordinals.size()));
    r.done.push_back(ordinals[k]);
  }
  progress_reply reply;
  reply.dispatcher_epoch = epoch();
  for (const std::uint64_t split : r.done) {
    if (it.splits.holder(split) != *c) {
      reply.released.push_back(split);
      continue;
    }
    const bool is_empty = r.empty && std::find(r.empty->begin(), r.empty->end(), split) != r.empty->end();
    if (is_empty && !it.splits.is_done(split)) count_empty(it, split);
    it.splits.set_done(split, log_.writes());
    workers_.finish({it.id, split, r.consumer});
  }
  (*c)->waits.clear();
  for (const open_split& o : r.open) {
    if (o.waited_ms) (*c)->waits[o.split] = *o.waited_ms;
    if (it.splits.holder(o.split) != *c) reply.released.push_back(o.split);
    else if ((*c)->open.contains(o.split)) (*c)->offsets[o.split] = o.offset;
  }
  if (!r.done.empty()) serve_waiting(it, now);
  if (is_done(it) && !it.finished_at) {
    it.finished_at = now;
    if (options_.remove_finished) wake_by(now + *options_.remove_finished);
  }
  return answer(service_reply(std::move(reply)));
}

dispatcher_core::maybe_answer dispatcher_core::serve(std::uint64_t, close_consumer_request& r, time_point now) {
  const auto found = iterations_.find(r.iteration);
  if (found != iterations_.end()) {
    split_consumer* c = found->second->splits.consumer(r.consumer);
    if (c && r.incarnation && c->incarnation != 0 && c->incarnation != *r.incarnation) c = nullptr;
    if (c && !c->record.is_closed && r.ends_job.value_or(false)) end(*found->second);
    else if (c && !c->record.is_closed) close(*found->second, *c, now);
  }
  return answer(service_reply(close_consumer_reply{}));
}

dispatcher_core::maybe_answer dispatcher_core::serve(std::uint64_t, heartbeat_request& r, time_point now) {
  if (r.worker.empty()) return answer(invalid_argument_error("heartbeat: the worker has no address"));
  heartbeat_reply reply;
  reply.dispatcher_epoch = epoch();
  for (const running_read& read : r.reads) {
    const auto it = iterations_.find(read.iteration);
    const split_consumer* holder = it == iterations_.end() ? nullptr : it->second->splits.holder(read.split);
    const placed_read* placed = workers_.placed({read.iteration, read.split, read.consumer});
    const bool is_elsewhere = placed && placed->worker != r.worker && placed->attempt > read.attempt;
    if (!holder || holder->name != read.consumer || is_elsewhere)
      reply.cancel.push_back({read.iteration, read.split, read.consumer});
  }
  if (workers_.heartbeat(r, now)) {
    wake_by(now + options_.forget_worker);
    for (auto& [id, it] : iterations_) {
      add_task(*it, *workers_.find(r.worker));
      if (it->record.opened.mode == sharding::off) serve_waiting(*it, now);
    }
    serve_places(now);
  }
  return answer(service_reply(std::move(reply)));
}

dispatcher_core::maybe_answer dispatcher_core::serve(std::uint64_t, remove_worker_request& r, time_point now) {
  workers_.remove(r.worker);
  for (auto& [id, it] : iterations_) {
    if (!it->tasks.contains(r.worker)) continue;
    for (std::uint64_t task = 0; task < it->splits.listed(); ++task)
      if (it->splits.payload(task) == r.worker && !it->splits.is_done(task))
        it->splits.set_removed(task, log_.writes());
    serve_waiting(*it, now);
  }
  serve_places(now);
  return answer(service_reply(remove_worker_reply{}));
}

dispatcher_core::maybe_answer dispatcher_core::serve(std::uint64_t, status_request&, time_point now) {
  return answer(service_reply(describe(now)));
}

status_reply dispatcher_core::describe(time_point now) const {
  status_reply all{.dispatcher_epoch = epoch(),
                   .datasets = datasets_.size(),
                   .commits = log_.commits(),
                   .store_error = {},
                   .workers = {},
                   .iterations = {}};
  if (!log_.last_error().ok()) all.store_error = log_.last_error().to_string();
  for (const auto& [address, w] : workers_.all())
    all.workers.push_back({address, w.host, w.tags, w.slots, w.placed, milliseconds(now - w.last_seen),
                           workers_.is_alive(w, now), w.is_draining, shown_compression(w)});
  for (const auto& [id, it] : iterations_) {
    const open_job_request& o = it->record.opened;
    iteration_status s{.iteration = id,
                       .job = o.job,
                       .dataset = o.dataset,
                       .mode = std::string(to_string(o.mode)),
                       .stream = o.stream,
                       .number = o.iteration,
                       .listed = it->splits.listed(),
                       .assigned = it->splits.assigned(),
                       .done = it->splits.done(),
                       .waiting = it->waiting.size(),
                       .is_all_listed = it->splits.is_all_listed(),
                       .is_finished = it->record.is_removed || is_done(*it),
                       .in_flight = {}};
    for (const split_consumer* c : it->splits.consumers()) {
      s.consumers += !c->record.is_closed;
      for (const std::uint64_t split : c->open) {
        const placed_read* p = workers_.placed({id, split, c->name});
        const auto offset = c->offsets.find(split);
        s.in_flight.push_back({split, c->name, p ? p->worker : "", offset == c->offsets.end() ? 0 : offset->second,
                               p ? p->attempt : 0, p ? milliseconds(now - p->since) : 0});
        if (const auto waits = c->waits.find(split); waits != c->waits.end())
          s.in_flight.back().waited_ms = waits->second;
      }
    }
    constexpr std::size_t kShownMax = 1000;
    std::sort(s.in_flight.begin(), s.in_flight.end(), [](const auto& a, const auto& b) { return a.age_ms > b.age_ms; });
    if (s.in_flight.size() > kShownMax) s.in_flight.resize(kShownMax);
    all.iterations.push_back(std::move(s));
  }
  return all;
}

status dispatcher_core::load(const std::vector<meta_entry>& entries, time_point now) {
  const auto damaged = [](const meta_entry& e, std::string_view why) {
    return data_loss_error(
        absl::StrCat("the dispatcher's store is damaged: the value of ", e.key, ": ", std::string(why)));
  };
  const auto of_kind = [&](std::string_view kind, auto&& f) -> status {
    const std::string prefix = absl::StrCat("/", std::string(kind), "/");
    auto e = std::lower_bound(entries.begin(), entries.end(), prefix,
                              [](const meta_entry& x, const std::string& p) { return x.key < p; });
    for (; e != entries.end() && e->key.starts_with(prefix); ++e)
      if (std::string why = f(e->key.substr(prefix.size()), e->value); !why.empty()) return damaged(*e, why);
    return {};
  };
  const auto read = [&](const std::string& value, auto&& use) -> std::string {
    using record = std::remove_cvref_t<decltype(use(value))>;
    auto r = from_json<record>(value);
    if (!r.ok()) return std::string(r.why().message());
    use(value) = std::move(*r);
    return {};
  };
  status why = of_kind("dataset", [&](std::string id, const std::string& v) {
    return read(v, [&](auto&) -> auto& { return datasets_[id]; });
  });
  if (why.ok())
    why = of_kind("job", [&](std::string id, const std::string& v) {
      return read(v, [&](auto&) -> auto& { return jobs_[id]; });
    });
  if (why.ok())
    why = of_kind("iteration", [&](std::string id, const std::string& v) {
      auto r = from_json<iteration_record>(v);
      if (!r.ok()) return std::string(r.why().message());
      if (!datasets_.contains(r->opened.dataset))
        return absl::StrCat("its dataset '", r->opened.dataset, "' has no record");
      by_name_[iteration_name(r->opened)] = id;
      iterations_.emplace(id, std::make_unique<iteration>(iteration{.id = id,
                                                                    .record = std::move(*r),
                                                                    .splits = {id, options_.limits},
                                                                    .waiting = {},
                                                                    .storing = {},
                                                                    .tasks = {},
                                                                    .last_call = now,
                                                                    .finished_at = {}}));
      return std::string();
    });
  for (const char* kind : {"round", "splits", "done", "consumer", "assigned"}) {
    if (!why.ok()) break;
    why = of_kind(kind, [&](std::string rest, const std::string& value) {
      const std::size_t slash = rest.find('/');
      const auto it = iterations_.find(rest.substr(0, slash));
      if (slash == rest.npos || it == iterations_.end()) return std::string("it belongs to no iteration");
      return it->second->splits.load(kind, std::string_view(rest).substr(slash + 1), value);
    });
  }
  if (!why.ok()) return why;
  for (auto& [id, it] : iterations_) {
    if (std::string bad = it->splits.finish_loading(); !bad.empty())
      return data_loss_error(absl::StrCat("the dispatcher's store is damaged: iteration ", id, ": ", bad));
    if (it->record.is_ended) it->splits.end_listing();
    if (it->record.opened.mode == sharding::off)
      for (std::uint64_t task = 0; task < it->splits.listed(); ++task) it->tasks.insert(it->splits.payload(task));
    if (is_static(it->record.opened.mode) && it->splits.listed() > options_.fixed_workers.size())
      return failed_precondition_error(absl::StrCat("iteration ", id, " has a shard for each of ", it->splits.listed(),
                                                    " workers, and the fixed list now has ",
                                                    options_.fixed_workers.size()));
    for (split_consumer* c : it->splits.consumers()) {
      c->last_seen = now;
      if (c->record.silence_max_ms) wake_by(now + std::chrono::milliseconds(*c->record.silence_max_ms));
    }
  }
  return {};
}

}  // namespace sluice::lib
