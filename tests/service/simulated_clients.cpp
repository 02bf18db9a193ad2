// SPDX-License-Identifier: Apache-2.0
#include "simulated_service.hpp"

namespace sluice::lib::service_simulation {

void simulation::start_client(std::uint32_t i) {
  client& c = clients_[i];
  if (c.is_complete || c.is_gone) return;
  c.p = w_.make_process(c.name);
  c.clock = w_.upto(kSecond);
  c.incarnation = ++tokens_;
  c.core.reset();
  c.slots.clear();
  c.again.clear();
  c.is_asking = c.is_ended = false;
  c.log.resize(c.saved.log);
  c.next = c.saved.next;
  c.offsets = c.saved.open;
  open(i, c.p, 0);
  save_later(i, c.p);
}

void simulation::open(std::uint32_t i, const process_ptr& p, int attempt) {
  client& c = clients_[i];
  if (c.core || p->is_dead) return;
  w_.after(kSecond, p, [this, i, p, attempt] { open(i, p, attempt + 1); });  // until it has an iteration
  dataset_info info{"plan", "f00d", "int64", {}, "exactly_once", 0, 0, 0, 1, 0, "stop", {}};
  call(p, register_dataset_request{"numbers", info}, [this, i, p](result<service_reply> r) {
    client& c = clients_[i];
    if (c.core || !r.ok()) return;
    open_job_request o{.job = s_.is_named ? "job" : "",
                       .dataset = "numbers",
                       .consumer = c.name,
                       .mode = s_.mode,
                       .visitation = "exactly_once",
                       .rounds = {},
                       .seed = {},
                       .epoch = {},
                       .tags = {},
                       .target = i % 2 ? "automatic" : "any",
                       .host = absl::StrCat("host", i),
                       .silence_max_ms = {}};
    if (s_.silence_max_ms) o.silence_max_ms = s_.silence_max_ms;
    o.incarnation = c.incarnation;
    call(p, std::move(o), [this, i, p](result<service_reply> reply) {
      client& c2 = clients_[i];
      if (c2.core) return;
      if (!reply.ok()) {
        if (!may_be_repeated(reply.why())) client_failed(c2, reply.why());
        return;
      }
      c2.start = std::get<open_job_reply>(*reply).start;
      begin_reading(i, std::get<open_job_reply>(*reply).iteration);
    });
  });
}

void simulation::begin_reading(std::uint32_t i, const std::string& iteration) {
  client& c = clients_[i];
  if (!c.iteration.empty() && c.iteration != iteration)
    throw violated(absl::StrCat("I5: ", c.name, " got another iteration after its restart"));
  c.iteration = iteration;
  consumer_options o{
      .iteration = iteration, .consumer = c.name, .give_up_after = {}, .delays = {}, .seed = derive(s_.seed, i)};
  if (s_.queued_max == 1) o.report_splits = 1;
  if (s_.silence_max_ms) o.heartbeat = s_.silence_max_ms * kMs / 4;
  c.core = std::make_unique<consumer_core>(std::move(o));
  const std::uint64_t first = c.offsets.empty() ? c.next : c.offsets.begin()->first;
  if (first) step(i, {consumer_event::resumed{first}});
  for (std::uint64_t k = first; k < c.next; ++k) {
    if (c.offsets.contains(k)) c.again.push_back(k);
    else step(i, {consumer_event::finished_ordinal{k}});
  }
  want(i);
}

void simulation::want(std::uint32_t i) {
  client& c = clients_[i];
  if (c.is_asking || !c.core || c.is_closing) return;
  if (c.is_ended && c.again.empty()) {
    if (c.slots.empty()) close(i);
    return;
  }
  if (c.slots.size() >= s_.cycle && c.again.empty()) return;
  c.is_asking = true;
  const std::uint64_t ordinal = c.again.empty() ? c.next : c.again.front();
  step(i, {consumer_event::wanted{ordinal}});
}

void simulation::close(std::uint32_t i) {
  clients_[i].is_closing = true;
  step(i, {consumer_event::close{}});
}

void simulation::leave(std::uint32_t i) {
  client& c = clients_[i];
  if (c.is_closing || c.is_complete || c.is_gone || !c.core || c.p->is_dead || c.p->is_paused) return;
  c.is_leaving = true;
  c.slots.clear();
  close(i);
}

void simulation::step(std::uint32_t i, consumer_event e) {
  client& c = clients_[i];
  if (c.p->is_dead || !c.core || c.is_gone) return;
  const process_ptr p = c.p;
  std::vector<consumer_action> actions;
  c.core->step(std::move(e), w_.now + c.clock, actions);
  for (consumer_action& a : actions) {
    if (p->is_dead || c.p != p) return;
    std::visit(
        overloaded{
            [&](consumer_action::call& x) {
              call(p, x.request, [this, i, p, id = x.id](result<service_reply> r) {
                if (clients_[i].p == p) step(i, {consumer_event::replied{id, std::move(r)}});
              });
            },
            [&](consumer_action::got& x) { got(i, x.ordinal, x.split); },
            [&](consumer_action::ended& x) {
              if (x.ordinal < c.next)
                throw violated(absl::StrCat("I5: ", c.name, " has an end at an ordinal that had a split"));
              c.is_asking = false;
              c.is_ended = true;
              want(i);
            },
            [&](consumer_action::released& x) {
              if (!s_.silence_max_ms)
                throw violated(absl::StrCat("I5: split ", x.split, " was released while ", c.name, " has it"));
            },
            [&](consumer_action::stuck& x) {
              throw violated(absl::StrCat("I8: split ", x.split, " is called stuck, and ", c.name, " awaits nothing"));
            },
            [](consumer_action::waits_for_others&) {},
            [](consumer_action::no_answer&) {},
            [&](consumer_action::closed&) {
              c.is_complete = !c.is_leaving;
              c.is_gone = c.is_leaving;
            },
            [&](consumer_action::fail& x) { client_failed(c, x.why); },
            [&](consumer_action::wake_at& x) {
              w_.at(x.when - c.clock, [this, i, p] {
                w_.run(p, [this, i, p] {
                  if (clients_[i].p == p) step(i, {consumer_event::woken{}});
                });
              });
            },
        },
        a.what);
  }
}

void simulation::client_failed(client& c, const status& why) {
  if (c.is_gone) return;
  if (!s_.silence_max_ms || why.code() != status_code::aborted)
    throw violated(absl::StrCat("I2: ", c.name, " failed: ", why.to_string()));
  c.is_gone = true;
  c.p->is_dead = true;
  c.slots.clear();
}

void simulation::got(std::uint32_t i, std::uint64_t ordinal, const next_split_reply& r) {
  client& c = clients_[i];
  c.is_asking = false;
  if (!c.again.empty()) c.again.pop_front();
  else ++c.next;
  std::uint64_t offset = 0;
  if (const auto known = c.offsets.find(ordinal); known != c.offsets.end()) offset = known->second;
  std::string payload = s_.mode == sharding::off ? absl::StrCat("task", r.split) : r.payload;
  std::string& before = payloads_[c.iteration][r.split];
  if (!before.empty() && before != payload)
    throw violated(absl::StrCat("I5: split ", r.split, " is another split than before"));
  before = payload;
  auto [taken, is_new] = ordinals_[c.iteration + "/" + c.name].try_emplace(ordinal, r.split);
  if (!is_new && taken->second != r.split)
    throw violated(absl::StrCat("I5: ordinal ", ordinal, " of ", c.name, " has another split than before"));
  slot& s = c.slots[ordinal];
  s.split = r.split;
  s.delivered = offset;
  s.payload = payload;
  reader_options o{.visitation = s_.visitation,
                   .give_up_after = {},
                   .delays = {},
                   .seed = derive(s_.seed, r.split),
                   .queued_max = s_.queued_max};
  s.reader = std::make_unique<split_reader_core>(std::move(o), r.worker, offset);
  step(i, ordinal, {reader_event::started{}});
  want(i);
}

void simulation::step(std::uint32_t i, std::uint64_t ordinal, reader_event e) {
  client& c = clients_[i];
  const auto found = c.slots.find(ordinal);
  if (c.p->is_dead || c.is_gone || found == c.slots.end()) return;
  const process_ptr p = c.p;
  slot& s = found->second;
  std::vector<reader_action> actions;
  const auto* frame = std::get_if<reader_event::frame>(&e.what);
  const std::uint64_t frame_first = frame ? frame->first : 0, frame_count = frame ? frame->count : 0;
  s.reader->step(std::move(e), w_.now + c.clock, actions);
  bool is_over = false;
  for (reader_action& a : actions)
    std::visit(overloaded{
                   [&](reader_action::place& x) {
                     const std::uint64_t id = s.place_call = ++c.calls;
                     call(p, place_request{c.iteration, c.name, s.split, x.attempt, x.failed},
                          [this, i, ordinal, p, id](result<service_reply> r) {
                            client& c2 = clients_[i];
                            const auto slot_now = c2.slots.find(ordinal);
                            if (c2.p != p || slot_now == c2.slots.end() || slot_now->second.place_call != id) return;
                            slot_now->second.place_call = 0;
                            if (!r.ok()) return step(i, ordinal, {reader_event::place_failed{r.why()}});
                            const auto& placed = std::get<place_reply>(*r);
                            step(i, ordinal, {reader_event::placed{placed.kind, placed.worker}});
                          });
                   },
                   [&](reader_action::open& x) {
                     if (!s.attempts.insert(x.read).second) throw violated("I4: an attempt was used twice");
                     open_stream(i, ordinal, x);
                   },
                   [&](reader_action::cancel& x) {
                     for (auto& [address, w] : workers_)
                       for (auto& [id, st] : w->streams)
                         if (st.request.consumer == c.name && st.request.split == s.split &&
                             st.request.attempt == x.read && w_.chance(0.8)) {
                           w_.send(c.name, w->p->machine, [this, w = w, id = id] {
                             w_.run(w->p, [this, w, id] { end_stream(w, id, cancelled_error()); });
                           });
                         }
                   },
                   [&](reader_action::deliver& x) {
                     if (x.cut > frame_count || x.count > frame_count - x.cut)
                       throw violated("I2: elements are delivered that no frame has");
                     deliver(i, s, frame_first + x.cut, x.count, ordinal);
                   },
                   [&](reader_action::end&) { is_over = true; },
                   [](reader_action::no_worker&) {},
                   [&](reader_action::fail& x) { client_failed(c, x.why); },
                   [&](reader_action::wake_at& x) {
                     w_.at(x.when - c.clock, [this, i, ordinal, p] {
                       w_.run(p, [this, i, ordinal, p] {
                         if (clients_[i].p == p) step(i, ordinal, {reader_event::woken{}});
                       });
                     });
                   },
               },
               a.what);
  if (c.is_gone) return;
  if (!is_over) return;
  const std::uint64_t split = s.split;
  if (s_.visitation != reader_options::visits::at_most_once && s.delivered != elements_of(s.payload))
    throw violated(
        absl::StrCat("I2: split ", split, " ended after ", s.delivered, " of ", elements_of(s.payload), " elements"));
  delivered_in_full_.insert({c.iteration, split});
  c.slots.erase(ordinal);
  step(i, {consumer_event::finished{split}});
  want(i);
}

void simulation::open_stream(std::uint32_t i, std::uint64_t ordinal, const reader_action::open& x) {
  client& c = clients_[i];
  const process_ptr p = c.p;
  const slot& s = c.slots[ordinal];
  const auto arrival = std::make_shared<time_point>(w_.now);
  // Frames of one stream keep their order; a lost one means that the stream is stuck.
  const auto is_stuck = std::make_shared<bool>(false);
  const auto to_client = [this, i, ordinal, p, arrival, is_stuck, machine = std::string()](const std::string& from,
                                                                                           reader_event e) {
    if (*is_stuck || w_.is_cut(from, p->machine) || (w_.has_faults && w_.chance(s_.drop / 10))) {
      *is_stuck = true;
      return;
    }
    *arrival = std::max(*arrival, w_.now + w_.transit());
    w_.at(*arrival, [this, i, ordinal, p, e] {
      w_.run(p, [this, i, ordinal, p, e] {
        if (clients_[i].p == p) step(i, ordinal, e);
      });
    });
  };
  read_request r{"numbers",     c.iteration, s.split, s.payload, x.offset, c.name,
                 c.incarnation, x.read,      "stop",  "",        {},       {}};
  r.start = c.start;
  const auto target = workers_.find(x.worker);
  const std::string machine = target == workers_.end() ? "w?" : target->second->p->machine;
  w_.send(c.name, machine, [this, r, to_client, machine, address = x.worker] {
    const auto found = workers_.find(address);
    if (found == workers_.end() || found->second->p->is_dead) {
      if (w_.chance(0.7)) to_client(machine, {reader_event::broke{r.attempt, unavailable_error("connection refused")}});
      return;
    }
    const worker_ptr w = found->second;
    w_.run(w->p, [this, w, r, to_client, machine] {
      const std::uint64_t id = ++streams_made_;
      stream& st = w->streams[id];
      st.request = r;
      st.to_client = [to_client, machine](reader_event e) { to_client(machine, std::move(e)); };
      st.count = elements_of(r.payload);
      st.next = std::min(r.offset - (w_.chance(0.2) ? std::min<std::uint64_t>(r.offset, 2) : 0), st.count);
      step(w, {worker_event::opened{id, r}});
    });
  });
}

void simulation::deliver(std::uint32_t i, slot& s, std::uint64_t first, std::uint64_t count, std::uint64_t ordinal) {
  client& c = clients_[i];
  if (s_.visitation == reader_options::visits::at_least_once && first == 0) s.delivered = 0;
  if (first != s.delivered)
    throw violated(
        absl::StrCat("I4: split ", s.split, " delivers element ", first, " after ", s.delivered, " elements"));
  if (first + count > elements_of(s.payload))
    throw violated(absl::StrCat("I2: split ", s.split, " delivers more than it has"));
  for (std::uint64_t k = 0; k < count; ++k) c.log.push_back({s.split, first + k});
  s.delivered += count;
  if (!s_.silence_max_ms) check_once(i, s.split, first);
  step(i, {consumer_event::delivered{s.split, s.delivered}});
  const process_ptr p = c.p;
  w_.after(s_.queued_max == 1 ? w_.upto(3 * kSecond) : duration(0), p, [this, i, ordinal, count, p] {
    if (clients_[i].p == p) step(i, ordinal, {reader_event::took{count}});
  });
}

void simulation::check_once(std::uint32_t i, std::uint64_t split, std::uint64_t offset) {
  if (s_.visitation == reader_options::visits::at_least_once) return;
  int found = 0;
  for (const client& c : clients_) {
    if (c.is_leaving || c.is_gone || c.iteration != clients_[i].iteration) continue;
    const std::size_t size = c.p && c.p->is_dead ? c.saved.log : c.log.size();
    for (std::size_t k = 0; k < size; ++k) found += c.log[k].split == split && c.log[k].offset == offset;
  }
  if (found > 1) throw violated(absl::StrCat("I1: element ", offset, " of split ", split, " was delivered twice"));
}

void simulation::save_later(std::uint32_t i, const process_ptr& p) {
  w_.after(100 * kMs + w_.upto(2 * kSecond), p, [this, i, p] {
    client& c = clients_[i];
    if (c.p != p || c.is_complete || c.is_gone) return;
    if (c.core && c.again.empty()) {
      c.saved = {.log = c.log.size(), .next = c.next, .open = {}};
      for (const auto& [ordinal, s] : c.slots) c.saved.open[ordinal] = s.delivered;
    }
    save_later(i, p);
  });
}

}  // namespace sluice::lib::service_simulation
