// SPDX-License-Identifier: Apache-2.0
#include "simulated_service.hpp"

namespace sluice::lib::service_simulation {

std::uint64_t simulation::elements_of(const std::string& payload) const {
  std::uint64_t h = s_.seed;
  for (const char c : payload) h = derive(h, static_cast<unsigned char>(c));
  return h % (s_.elements_max + 1);
}

std::vector<std::string> simulation::payloads_of(std::uint64_t round) {
  std::vector<std::string> all;
  for (std::uint32_t i = 0; i < s_.splits; ++i) all.push_back(absl::StrCat("r", round, ".", i));
  // A list that is read again may have another order: only what is stored counts.
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[w_.random.below(i)]);
  return all;
}

void simulation::start_dispatcher() {
  auto d = std::make_shared<dispatcher>();
  d->p = w_.make_process("d");
  d->clock = w_.upto(kSecond);
  dispatcher_options o = s_.dispatcher;
  o.token = absl::StrCat("token", ++tokens_);
  d->core = std::make_unique<dispatcher_core>(std::move(o));
  if (current_ && !current_->p->is_dead) old_ = current_;
  current_ = d;
  step(d, {dispatcher_event::woken{}});
}

void simulation::stop(const dispatcher_ptr& d) {
  d->p->is_dead = true;
  for (auto& [id, reply] : std::exchange(d->waiting, {}))
    if (w_.chance(0.7)) reply(unavailable_error("connection reset"));
  if (d == current_ && !is_down_)
    w_.after(w_.upto(kSecond), [this, d] {
      if (d == current_) start_dispatcher();
    });
}

void simulation::step(const dispatcher_ptr& d, dispatcher_event e) {
  if (d->p->is_dead) return;
  std::vector<dispatcher_action> actions;
  d->core->step(std::move(e), w_.now + d->clock, actions);
  for (dispatcher_action& a : actions)
    std::visit(overloaded{
                   [&](dispatcher_action::answer& x) {
                     const auto found = d->waiting.find(x.call);
                     if (found == d->waiting.end()) return;
                     reply_function reply = std::move(found->second);
                     d->waiting.erase(found);
                     reply(std::move(x.reply));
                   },
                   [&](dispatcher_action::list_store& x) {
                     store_.list(
                         d->p, x.prefix, [this, d, prefix = x.prefix](status why, std::vector<meta_entry> entries) {
                           step(d, {dispatcher_event::store_listed{prefix, std::move(why), std::move(entries)}});
                         });
                   },
                   [&](dispatcher_action::commit& x) {
                     store_.commit(d->p, x, [this, d, id = x.id](status why, std::uint64_t revision) {
                       step(d, {dispatcher_event::commit_ended{id, std::move(why), revision}});
                     });
                   },
                   [&](dispatcher_action::list_splits& x) {
                     dispatcher_event::splits_listed listed{
                         x.iteration, x.round, {}, payloads_of(x.round), x.round + 1 >= s_.rounds};
                     if (w_.has_faults && w_.chance(0.05))
                       listed.why = unavailable_error("the files' server does not answer");
                     w_.after(w_.upto(50 * kMs), d->p, [this, d, listed] { step(d, {listed}); });
                   },
                   [&](dispatcher_action::wake_at& x) {
                     w_.at(x.when - d->clock,
                           [this, d] { w_.run(d->p, [this, d] { step(d, {dispatcher_event::woken{}}); }); });
                   },
                   [&](dispatcher_action::stop& x) {
                     if (x.why.code() == status_code::data_loss)
                       throw violated(absl::StrCat("I5: ", x.why.to_string()));
                     stop(d);
                   },
               },
               a.what);
}

void simulation::call(const process_ptr& caller, service_request request, reply_function reply) {
  const reply_function back = [this, caller, reply = std::move(reply)](result<service_reply> r) {
    w_.send("d", caller->machine,
            [this, caller, reply, r = std::move(r)] { w_.run(caller, [reply, r] { reply(r); }); });
  };
  w_.send(caller->machine, "d", [this, request = std::move(request), back] {
    dispatcher_ptr d = old_ && !old_->p->is_dead && w_.chance(0.3) ? old_ : current_;
    if (d->p->is_dead) {
      if (w_.chance(0.7)) back(unavailable_error("connection refused"));
      return;
    }
    w_.run(d->p, [this, d, request, back] {
      const std::uint64_t id = ++d->calls;
      d->waiting[id] = back;
      if (w_.has_faults && w_.chance(0.01))
        w_.after(w_.upto(kSecond), d->p, [this, d, id] {
          d->waiting.erase(id);
          step(d, {dispatcher_event::call_dropped{id}});
        });
      step(d, {dispatcher_event::call{id, request}});
    });
  });
}

void simulation::start_worker(std::uint32_t i) {
  auto w = std::make_shared<worker>();
  w->p = w_.make_process(absl::StrCat("w", i));
  w->address = absl::StrCat("host", i, ":1");
  w->clock = w_.upto(kSecond);
  w->core = std::make_unique<worker_core>(worker_options{
      .address = w->address, .incarnation = ++tokens_, .host = absl::StrCat("host", i), .tags = {}, .slots = 1 + i});
  workers_[w->address] = w;
  step(w, {worker_event::woken{}});
}

void simulation::stop(const worker_ptr& w) {
  w->p->is_dead = true;
  for (auto& [id, s] : std::exchange(w->streams, {})) break_stream(s, unavailable_error("connection reset"), 0.7);
}

void simulation::break_stream(stream& s, const status& why, double heard) {
  if (!s.is_stuck && w_.chance(heard)) s.to_client({reader_event::broke{s.request.attempt, why}});
}

void simulation::step(const worker_ptr& w, worker_event e) {
  if (w->p->is_dead) return;
  std::vector<worker_action> actions;
  const std::uint64_t epoch = w->core->dispatcher_epoch();
  w->core->step(std::move(e), w_.now + w->clock, actions);
  if (w->core->dispatcher_epoch() < epoch) throw violated("I4: a worker went back to an older dispatcher");
  for (worker_action& a : actions)
    std::visit(
        overloaded{
            [&](worker_action::heartbeat& x) {
              const std::uint64_t beat = ++beats_;
              last_beat_[w.get()] = beat;
              const auto reply = [this, w, beat](result<heartbeat_reply> r) {
                if (last_beat_[w.get()] == beat) step(w, {worker_event::heartbeat_replied{std::move(r)}});
              };
              w_.after(2 * kSecond, w->p, [reply] { reply(status(status_code::deadline_exceeded, "no answer")); });
              call(w->p, x.request, [this, w, beat, reply](result<service_reply> r) {
                if (last_beat_[w.get()] != beat) return;
                last_beat_[w.get()] = 0;
                if (r.ok()) step(w, {worker_event::heartbeat_replied{std::get<heartbeat_reply>(*r)}});
                else step(w, {worker_event::heartbeat_replied{r.why()}});
              });
            },
            [&](worker_action::start& x) { produce(w, x.stream); },
            [&](worker_action::refuse& x) { end_stream(w, x.stream, x.why); },
            [&](worker_action::cancel& x) { end_stream(w, x.stream, x.why); },
            [&](worker_action::drained&) {
              if (!w->streams.empty()) throw violated("I2: a worker has drained, and reads are open");
              w_.after(duration(0), w->p, [this, w] { stop(w); });
              w_.after(w->lasts, [this, w] {
                if (workers_[w->address] == w)
                  start_worker(static_cast<std::uint32_t>(std::stoul(w->p->machine.substr(1))));
              });
            },
            [&](worker_action::wake_at& x) {
              w_.at(x.when - w->clock, [this, w] { w_.run(w->p, [this, w] { step(w, {worker_event::woken{}}); }); });
            },
        },
        a.what);
}

void simulation::end_stream(const worker_ptr& w, std::uint64_t id, const status& why) {
  const auto found = w->streams.find(id);
  if (found == w->streams.end()) return;
  break_stream(found->second, why, 1);
  w->streams.erase(found);
  w_.after(duration(0), w->p, [this, w, id] { step(w, {worker_event::ended{id}}); });
}

void simulation::produce(const worker_ptr& w, std::uint64_t id) {
  const bool is_slow = w_.has_faults && w_.chance(0.01);
  if (is_slow)
    for (int k = 1; k <= 5; ++k)
      w_.after(k * 500 * kMs, w->p, [this, w, id] {
        const auto found = w->streams.find(id);
        if (found != w->streams.end())
          send_frame(found->second, {reader_event::keepalive{found->second.request.attempt}});
      });
  w_.after(is_slow ? 3 * kSecond : w_.upto(150 * kMs), w->p, [this, w, id] {
    const auto found = w->streams.find(id);
    if (found == w->streams.end()) return;
    stream& s = found->second;
    if (w_.has_faults && w_.chance(0.01) && s.next < s.count) ++s.next;                  // a gap
    if (w_.has_faults && w_.chance(0.03)) s.next -= std::min<std::uint64_t>(s.next, 2);  // again
    const std::uint64_t n = std::min<std::uint64_t>(s.count - s.next, 1 + w_.random.below(3));
    const bool is_end = s.next + n == s.count;
    send_frame(s, {reader_event::frame{s.request.attempt, s.next, n, is_end}});
    s.next += n;
    if (w_.has_faults && w_.chance(s_.drop / 4)) return end_stream(w, id, unavailable_error("connection reset"));
    step(w, {worker_event::moved{id, s.next}});
    if (!is_end) return produce(w, id);
    w->streams.erase(id);
    step(w, {worker_event::ended{id}});
  });
}

void simulation::send_frame(stream& s, reader_event e) {
  if (s.is_stuck) return;
  s.to_client(std::move(e));
}

}  // namespace sluice::lib::service_simulation
