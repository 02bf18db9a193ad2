// SPDX-License-Identifier: Apache-2.0
#include "simulated_service.hpp"

namespace sluice::lib::service_simulation {

outcome simulation::run() {
  outcome o;
  try {
    start_dispatcher();
    for (std::uint32_t i = 0; i < s_.workers; ++i) w_.after(w_.upto(kSecond), [this, i] { start_worker(i); });
    clients_.resize(s_.clients);
    for (std::uint32_t i = 0; i < s_.clients; ++i) {
      clients_[i].name = absl::StrCat("c", i);
      w_.after(w_.upto(kSecond), [this, i] { start_client(i); });
      if (i < s_.leaving && s_.clients > s_.leaving) w_.after(kSecond + w_.upto(10 * kSecond), [this, i] { leave(i); });
    }
    for (const fault& f : s_.faults) w_.at(kStart + f.at, [this, f] { begin(f); });
    w_.at(kStart + s_.fault_phase, [this] { heal(); });
    if (s_.flows_at.count()) w_.at(kStart + s_.flows_at, [this] { check_flow(); });
    const auto is_complete = [](const client& c) { return c.is_complete || c.is_gone; };
    while (!std::all_of(clients_.begin(), clients_.end(), is_complete)) {
      if (w_.now > kStart + s_.fault_phase + kLiveness) throw violated(absl::StrCat("I7: not finished: ", describe()));
      if (!w_.step()) throw violated("I7: nothing happens any more");
    }
    check_end();
  } catch (const violated& v) { o.violation = absl::StrCat(v.what(), " (at ", (w_.now - kStart) / kMs, " ms)"); }
  o.took = w_.now - kStart;
  o.events = w_.events;
  o.hash = w_.hash;
  o.commits = store_.commits;
  o.lost = store_.lost;
  o.torn = store_.torn;
  for (const client& c : clients_) o.delivered += c.log.size();
  return o;
}

void simulation::stop(client& c) {
  c.p->is_dead = true;
  c.was_rolled_back = true;
  for (auto& [address, w] : workers_)
    for (auto& [id, st] : w->streams)
      if (st.request.consumer == c.name && w_.chance(0.7))
        w_.after(w_.upto(100 * kMs), w->p, [this, w = w, id = id] { end_stream(w, id, cancelled_error()); });
}

void simulation::cut_power(duration lasts) {
  if (!w_.has_faults || is_down_) return;
  is_down_ = true;
  const dispatcher_ptr d = current_;
  for (const dispatcher_ptr& each : {old_, d})
    if (each && !each->p->is_dead) stop(each);
  store_.cut_power();
  w_.after(lasts, [this, d] {
    is_down_ = false;
    if (current_ == d) start_dispatcher();
  });
}

void simulation::begin(const fault& f) {
  if (!w_.has_faults) return;
  const std::string& m = f.machine;
  const std::uint32_t n = m.size() > 1 ? static_cast<std::uint32_t>(std::stoul(m.substr(1))) : 0;
  const worker_ptr w = m[0] == 'w' && workers_.contains(absl::StrCat("host", n, ":1"))
                           ? workers_[absl::StrCat("host", n, ":1")]
                           : nullptr;
  client* c = m[0] == 'c' && n < clients_.size() && clients_[n].p && !clients_[n].is_complete && !clients_[n].is_gone &&
                      !clients_[n].is_closing
                  ? &clients_[n]
                  : nullptr;
  const process_ptr p = m == "d" ? current_->p : w ? w->p : c ? c->p : nullptr;
  if (!p || p->is_dead) return;
  switch (f.kind) {
    case fault_kind::kill:
      if (m == "d") {
        is_down_ = true;
        const dispatcher_ptr d = current_;
        stop(d);
        w_.after(f.lasts, [this, d] {
          is_down_ = false;
          if (current_ == d) start_dispatcher();
        });
      } else if (w) {
        stop(w);
        w_.after(f.lasts, [this, w, n] {
          if (workers_[w->address] == w) start_worker(n);
        });
      } else {
        stop(*c);
        w_.after(f.lasts, [this, p, n] {
          if (clients_[n].p == p) start_client(n);
        });
      }
      break;
    case fault_kind::pause:
      p->is_paused = true;
      w_.after(f.lasts, [this, p] { w_.resume(p); });
      break;
    case fault_kind::partition:
    case fault_kind::one_way:
    case fault_kind::one_way_back:
      if (f.kind != fault_kind::one_way_back) w_.no_in.insert(m);
      if (f.kind != fault_kind::one_way) w_.no_out.insert(m);
      w_.after(f.lasts, [this, m] { w_.no_in.erase(m), w_.no_out.erase(m); });
      break;
    case fault_kind::reset:
      if (w)
        for (auto& [id, st] : w->streams)
          w_.after(w_.upto(10 * kMs), w->p, [this, w, id = id] { end_stream(w, id, unavailable_error("reset")); });
      if (m == "d")
        for (auto& [id, reply] : std::exchange(current_->waiting, {})) reply(unavailable_error("connection reset"));
      break;
    case fault_kind::take_over:
      if (m == "d") start_dispatcher();
      break;
    case fault_kind::drain:
      if (!w) return;
      // A task of `off` ends without its elements when its worker is removed.
      if (s_.mode == sharding::dynamic) call(w->p, remove_worker_request{w->address}, [](result<service_reply>) {});
      w->lasts = f.lasts;
      w_.run(w->p, [this, w] { step(w, {worker_event::drain{}}); });
      break;
    case fault_kind::clock_jump:
      if (m == "d")
        current_->clock += 3600 * kSecond, w_.run(p, [this, d = current_] { step(d, {dispatcher_event::woken{}}); });
      if (w) w->clock += 3600 * kSecond, w_.run(p, [this, w] { step(w, {worker_event::woken{}}); });
      if (c) {
        c->clock += 3600 * kSecond;
        w_.run(p, [this, n, p] {
          std::vector<std::uint64_t> open;
          for (const auto& [ordinal, s] : clients_[n].slots) open.push_back(ordinal);
          for (const std::uint64_t ordinal : open) step(n, ordinal, {reader_event::woken{}});
          step(n, {consumer_event::woken{}});
        });
      }
      break;
    case fault_kind::power_cut:
      store_.on_write = [this, lasts = f.lasts] {
        w_.after(w_.upto(simulated_store::kSyncTime), [this, lasts] { cut_power(lasts); });
      };
      break;
    case fault_kind::store_trouble:
      store_.is_in_trouble = true;
      w_.after(f.lasts, [this] { store_.is_in_trouble = false; });
      break;
  }
}

void simulation::heal() {
  w_.has_faults = false;
  w_.no_in.clear();
  w_.no_out.clear();
  store_.is_in_trouble = is_down_ = false;
  if (current_->p->is_dead) start_dispatcher();
  w_.resume(current_->p);
  if (old_) w_.resume(old_->p);
  for (std::uint32_t i = 0; i < s_.workers; ++i) {
    const auto w = workers_.find(absl::StrCat("host", i, ":1"));
    if (w == workers_.end() || w->second->p->is_dead) start_worker(i);
    else w_.resume(w->second->p);
  }
  for (std::uint32_t i = 0; i < s_.clients; ++i) {
    client& c = clients_[i];
    if (c.p && c.p->is_dead) start_client(i);
    if (c.p && !c.is_gone) w_.resume(c.p);
  }
}

void simulation::check_end() {
  std::map<std::string, std::map<std::uint64_t, std::map<std::uint64_t, int>>> seen;
  for (const client& c : clients_) {
    for (const element& e : c.log) {
      if (c.is_gone && done_by_[c.iteration][e.split] != c.name) continue;
      ++seen[c.iteration][e.split][e.offset];
    }
  }
  for (const auto& [iteration, splits] : payloads_) {
    std::uint64_t expected = s_.mode == sharding::dynamic ? std::uint64_t{s_.rounds} * s_.splits : s_.workers;
    if (s_.mode == sharding::off) {  // workers that registered before the end
      const std::string rounds = absl::StrCat("/round/", iteration, "/");
      expected = 0;
      for (auto e = store_.entries().lower_bound(rounds); e != store_.entries().end() && e->first.starts_with(rounds);
           ++e)
        ++expected;
      if (expected > s_.workers) throw violated("I1: a worker has two tasks");
      if (!s_.is_named) expected = splits.size();  // removed with its consumer
    }
    // Nobody is left who could read the rest if all consumers were closed.
    const bool has_reader = std::any_of(clients_.begin(), clients_.end(),
                                        [&](const client& c) { return c.is_complete && c.iteration == iteration; });
    if (has_reader && splits.size() != expected)
      throw violated(absl::StrCat("I2: ", splits.size(), " of ", expected, " splits were read"));
    std::set<std::string> different;
    for (const auto& [split, payload] : splits) {
      if (!different.insert(payload).second) throw violated("I1: a part of the data is in two splits");
      const auto by = done_by_[iteration].find(split);
      const bool may_lack = !has_reader || (by != done_by_[iteration].end() && is_lost(by->second));
      for (std::uint64_t k = 0; k < elements_of(payload); ++k) {
        const int times = seen[iteration][split][k];
        if (times > 1 && s_.visitation != reader_options::visits::at_least_once)
          throw violated(absl::StrCat("I1: element ", k, " of split ", split, " was delivered ", times, " times"));
        if (times == 0 && s_.visitation != reader_options::visits::at_most_once && !may_lack)
          throw violated(absl::StrCat("I2: element ", k, " of split ", split, " was never delivered"));
      }
    }
  }
}

void simulation::check_flow() const {
  for (const client& c : clients_)
    for (const auto& [ordinal, s] : c.slots)
      if (s.reader && !s.reader->worker().empty() && s.delivered < elements_of(s.payload))
        throw violated(absl::StrCat("I9: split ", s.split, " of ", c.name, " stands at element ", s.delivered));
}

bool simulation::is_lost(const std::string& name) const {
  return std::any_of(clients_.begin(), clients_.end(),
                     [&](const client& c) { return c.name == name && c.is_gone && c.was_rolled_back; });
}

std::string simulation::describe() const {
  std::string all;
  for (const client& c : clients_) {
    absl::StrAppend(&all, c.name,
                    c.is_complete ? " complete"
                    : c.is_gone   ? " gone"
                                  : "",
                    c.is_closing ? " closing" : "", c.is_ended ? " ended" : "", c.p && c.p->is_dead ? " dead" : "",
                    c.core ? "" : " not open", c.is_asking ? " asking" : "", ", next ", c.next, ", slots");
    for (const auto& [ordinal, s] : c.slots)
      absl::StrAppend(&all, " ", ordinal, ":", s.split, "@", s.delivered, "/", elements_of(s.payload));
    absl::StrAppend(&all, "; ");
  }
  if (current_) absl::StrAppend(&all, "dispatcher ", to_json(current_->core->describe(w_.now + current_->clock)));
  return all;
}

outcome simulate(const scenario& s) { return simulation(s).run(); }

}  // namespace sluice::lib::service_simulation
