// SPDX-License-Identifier: Apache-2.0
#include "simulation.hpp"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <deque>

#include "service/core/consumer_core.hpp"
#include "service/core/worker_core.hpp"
#include "simulated_store.hpp"
#include "simulated_world.hpp"

namespace sluice::lib::service_simulation {
namespace {

constexpr duration kSecond = std::chrono::seconds(1);
constexpr duration kFaultPhase = 20 * kSecond, kLiveness = 120 * kSecond;

template <class... F> struct overloaded : F... {
  using F::operator()...;
};
template <class... F> overloaded(F...) -> overloaded<F...>;

using reply_function = std::function<void(result<service_reply>)>;

class simulation {
 public:
  explicit simulation(const scenario& s) : s_(s), w_(derive(s.seed, 1)), store_(w_) {
    w_.drop = s.drop;
    w_.twice = s.twice;
    w_.delay = s.delay;
    store_.was_delivered = [this](const std::string& it, std::uint64_t split, const std::string& holder) {
      done_by_[it][split] = holder;
      return delivered_in_full_.contains({it, split});
    };
  }

  outcome run() {
    outcome o;
    try {
      start_dispatcher();
      for (std::uint32_t i = 0; i < s_.workers; ++i) w_.after(w_.upto(kSecond), [this, i] { start_worker(i); });
      clients_.resize(s_.clients);
      for (std::uint32_t i = 0; i < s_.clients; ++i) {
        clients_[i].name = absl::StrCat("c", i);
        w_.after(w_.upto(kSecond), [this, i] { start_client(i); });
        if (i < s_.leaving && s_.clients > s_.leaving)
          w_.after(kSecond + w_.upto(10 * kSecond), [this, i] { leave(i); });
      }
      for (const fault& f : s_.faults) w_.at(kStart + f.at, [this, f] { begin(f); });
      w_.at(kStart + kFaultPhase, [this] { heal(); });
      const auto is_complete = [](const client& c) { return c.is_complete || c.is_gone; };
      while (!std::all_of(clients_.begin(), clients_.end(), is_complete)) {
        if (w_.now > kStart + kFaultPhase + kLiveness) throw violated(absl::StrCat("I7: not finished: ", describe()));
        if (!w_.step()) throw violated("I7: nothing happens any more");
      }
      check_end();
    } catch (const violated& v) { o.violation = absl::StrCat(v.what(), " (at ", (w_.now - kStart) / kMs, " ms)"); }
    o.took = w_.now - kStart;
    o.events = w_.events;
    o.hash = w_.hash;
    o.commits = store_.commits;
    for (const client& c : clients_) o.delivered += c.log.size();
    return o;
  }

 private:
  // --- the data: a split's elements are a function of its payload
  std::uint64_t elements_of(const std::string& payload) const {
    std::uint64_t h = s_.seed;
    for (const char c : payload) h = derive(h, static_cast<unsigned char>(c));
    return h % (s_.elements_max + 1);
  }
  std::vector<std::string> payloads_of(std::uint64_t round) {
    std::vector<std::string> all;
    for (std::uint32_t i = 0; i < s_.splits; ++i) all.push_back(absl::StrCat("r", round, ".", i));
    // A list that is read again may have another order: only what is stored counts.
    for (std::size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[w_.random.below(i)]);
    return all;
  }

  // --- dispatchers
  struct dispatcher {
    process_ptr p;
    std::unique_ptr<dispatcher_core> core;
    duration clock{};
    std::uint64_t calls = 0;
    std::map<std::uint64_t, reply_function> waiting;
  };
  using dispatcher_ptr = std::shared_ptr<dispatcher>;

  void start_dispatcher() {
    auto d = std::make_shared<dispatcher>();
    d->p = std::make_shared<process>();
    d->p->machine = "d";
    d->clock = w_.upto(kSecond);
    dispatcher_options o = s_.dispatcher;
    o.token = absl::StrCat("token", ++tokens_);
    d->core = std::make_unique<dispatcher_core>(std::move(o));
    if (current_ && !current_->p->is_dead) old_ = current_;
    current_ = d;
    step(d, {dispatcher_event::woken{}});
  }

  void stop(const dispatcher_ptr& d) {
    d->p->is_dead = true;
    for (auto& [id, reply] : std::exchange(d->waiting, {}))
      if (w_.chance(0.7)) reply(unavailable_error("connection reset"));
    if (d == current_ && !is_down_)
      w_.after(w_.upto(kSecond), [this, d] {
        if (d == current_) start_dispatcher();
      });
  }

  void step(const dispatcher_ptr& d, dispatcher_event e) {
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

  /// A call over the network, which may be lost, doubled, or reach an older dispatcher.
  void call(const process_ptr& caller, service_request request, reply_function reply) {
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

  // --- workers
  struct stream {
    std::function<void(reader_event)> to_client;  ///< with the network between
    read_request request;
    std::uint64_t next = 0, count = 0;
    time_point last_arrival{};
    bool is_stuck = false;
  };
  struct worker {
    process_ptr p;
    std::string address;
    std::unique_ptr<worker_core> core;
    duration clock{};
    std::map<std::uint64_t, stream> streams;
  };
  using worker_ptr = std::shared_ptr<worker>;

  void start_worker(std::uint32_t i) {
    auto w = std::make_shared<worker>();
    w->p = std::make_shared<process>();
    w->p->machine = absl::StrCat("w", i);
    w->address = absl::StrCat("host", i, ":1");
    w->clock = w_.upto(kSecond);
    w->core = std::make_unique<worker_core>(worker_options{
        .address = w->address, .incarnation = ++tokens_, .host = absl::StrCat("host", i), .tags = {}, .slots = 1 + i});
    workers_[w->address] = w;
    step(w, {worker_event::woken{}});
  }

  void stop(const worker_ptr& w) {
    w->p->is_dead = true;
    for (auto& [id, s] : std::exchange(w->streams, {})) break_stream(s, unavailable_error("connection reset"), 0.7);
  }

  void break_stream(stream& s, const status& why, double heard) {
    if (!s.is_stuck && w_.chance(heard)) s.to_client({reader_event::broke{s.request.attempt, why}});
  }

  void step(const worker_ptr& w, worker_event e) {
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
              [&](worker_action::drained&) {},
              [&](worker_action::wake_at& x) {
                w_.at(x.when - w->clock, [this, w] { w_.run(w->p, [this, w] { step(w, {worker_event::woken{}}); }); });
              },
          },
          a.what);
  }

  void end_stream(const worker_ptr& w, std::uint64_t id, const status& why) {
    const auto found = w->streams.find(id);
    if (found == w->streams.end()) return;
    break_stream(found->second, why, 1);
    w->streams.erase(found);
    w_.after(duration(0), w->p, [this, w, id] { step(w, {worker_event::ended{id}}); });
  }

  void produce(const worker_ptr& w, std::uint64_t id) {
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

  void send_frame(stream& s, reader_event e) {
    if (s.is_stuck) return;
    s.to_client(std::move(e));
  }

  // --- clients
  struct element {
    std::uint64_t split, offset;
  };
  struct slot {
    std::uint64_t split = 0, delivered = 0;
    std::string payload;
    std::unique_ptr<split_reader_core> reader;
    std::set<std::uint64_t> attempts;
    std::uint64_t place_call = 0;
    std::map<std::uint64_t, std::shared_ptr<time_point>> last_arrival;
  };
  struct checkpoint {
    std::size_t log = 0;
    std::uint64_t next = 0;
    std::map<std::uint64_t, std::uint64_t> open;  ///< offsets by ordinal
  };
  struct client {
    std::string name;
    // What survives a kill.
    std::vector<element> log;
    checkpoint saved;
    std::string iteration;
    bool is_complete = false, is_gone = false, is_closing = false, is_leaving = false, was_rolled_back = false;
    // Of one process.
    process_ptr p;
    duration clock{};
    std::uint64_t incarnation = 0, next = 0, calls = 0;
    std::unique_ptr<consumer_core> core;
    std::map<std::uint64_t, slot> slots;  ///< by ordinal
    std::deque<std::uint64_t> again;      ///< ordinals of the checkpoint
    std::map<std::uint64_t, std::uint64_t> offsets;
    bool is_asking = false, is_ended = false;
  };

  void start_client(std::uint32_t i) {
    client& c = clients_[i];
    if (c.is_complete || c.is_gone) return;
    c.p = std::make_shared<process>();
    c.p->machine = c.name;
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

  void open(std::uint32_t i, const process_ptr& p, int attempt) {
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
      call(p, std::move(o), [this, i, p](result<service_reply> reply) {
        client& c2 = clients_[i];
        if (c2.core) return;
        if (!reply.ok()) {
          if (!may_be_repeated(reply.why())) client_failed(c2, reply.why());
          return;
        }
        begin_reading(i, std::get<open_job_reply>(*reply).iteration);
      });
    });
  }

  void begin_reading(std::uint32_t i, const std::string& iteration) {
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

  void want(std::uint32_t i) {
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

  void close(std::uint32_t i) {
    clients_[i].is_closing = true;
    step(i, {consumer_event::close{}});
  }

  void leave(std::uint32_t i) {
    client& c = clients_[i];
    if (c.is_closing || c.is_complete || c.is_gone || !c.core || c.p->is_dead || c.p->is_paused) return;
    c.is_leaving = true;
    c.slots.clear();
    close(i);
  }

  void step(std::uint32_t i, consumer_event e) {
    client& c = clients_[i];
    if (c.p->is_dead || !c.core || c.is_gone) return;
    const process_ptr p = c.p;
    std::vector<consumer_action> actions;
    c.core->step(std::move(e), w_.now + c.clock, actions);
    for (consumer_action& a : actions) {
      if (p->is_dead || c.p != p) return;
      std::visit(overloaded{
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

  void client_failed(client& c, const status& why) {
    if (c.is_gone) return;
    if (!s_.silence_max_ms || why.code() != status_code::aborted)
      throw violated(absl::StrCat("I2: ", c.name, " failed: ", why.to_string()));
    c.is_gone = true;
    c.p->is_dead = true;
    c.slots.clear();
  }

  void got(std::uint32_t i, std::uint64_t ordinal, const next_split_reply& r) {
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

  void step(std::uint32_t i, std::uint64_t ordinal, reader_event e) {
    client& c = clients_[i];
    const auto found = c.slots.find(ordinal);
    if (c.p->is_dead || c.is_gone || found == c.slots.end()) return;
    const process_ptr p = c.p;
    slot& s = found->second;
    std::vector<reader_action> actions;
    const auto* frame = std::get_if<reader_event::frame>(&e.what);
    const std::uint64_t frame_first = frame ? frame->first : 0;
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
                     [&](reader_action::deliver& x) { deliver(i, s, frame_first + x.cut, x.count, ordinal); },
                     [&](reader_action::end&) { is_over = true; },
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

  void open_stream(std::uint32_t i, std::uint64_t ordinal, const reader_action::open& x) {
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
    read_request r{"numbers", c.iteration, s.split, s.payload, x.offset, c.name, c.incarnation, x.read, "stop"};
    const auto target = workers_.find(x.worker);
    const std::string machine = target == workers_.end() ? "w?" : target->second->p->machine;
    w_.send(c.name, machine, [this, r, to_client, machine, address = x.worker] {
      const auto found = workers_.find(address);
      if (found == workers_.end() || found->second->p->is_dead) {
        if (w_.chance(0.7))
          to_client(machine, {reader_event::broke{r.attempt, unavailable_error("connection refused")}});
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

  void deliver(std::uint32_t i, slot& s, std::uint64_t first, std::uint64_t count, std::uint64_t ordinal) {
    client& c = clients_[i];
    if (s_.visitation == reader_options::visits::at_least_once && first == 0) s.delivered = 0;
    if (first != s.delivered)
      throw violated(
          absl::StrCat("I4: split ", s.split, " delivers element ", first, " after ", s.delivered, " elements"));
    for (std::uint64_t k = 0; k < count; ++k) c.log.push_back({s.split, first + k});
    s.delivered += count;
    if (!s_.silence_max_ms) check_once(i, s.split, first);
    step(i, {consumer_event::delivered{s.split, s.delivered}});
    const process_ptr p = c.p;
    w_.after(s_.queued_max == 1 ? w_.upto(3 * kSecond) : duration(0), p, [this, i, ordinal, count, p] {
      if (clients_[i].p == p) step(i, ordinal, {reader_event::took{count}});
    });
  }

  /// I1 among the clients that live: the first element of a delivery.
  void check_once(std::uint32_t i, std::uint64_t split, std::uint64_t offset) {
    if (s_.visitation == reader_options::visits::at_least_once) return;
    int found = 0;
    for (const client& c : clients_) {
      if (c.is_leaving || c.is_gone || c.iteration != clients_[i].iteration) continue;
      const std::size_t size = c.p && c.p->is_dead ? c.saved.log : c.log.size();
      for (std::size_t k = 0; k < size; ++k) found += c.log[k].split == split && c.log[k].offset == offset;
    }
    if (found > 1) throw violated(absl::StrCat("I1: element ", offset, " of split ", split, " was delivered twice"));
  }

  void save_later(std::uint32_t i, const process_ptr& p) {
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

  // --- faults
  void stop(client& c) {
    c.p->is_dead = true;
    c.was_rolled_back = true;
    for (auto& [address, w] : workers_)
      for (auto& [id, st] : w->streams)
        if (st.request.consumer == c.name && w_.chance(0.7))
          w_.after(w_.upto(100 * kMs), w->p, [this, w = w, id = id] { end_stream(w, id, cancelled_error()); });
  }

  void begin(const fault& f) {
    if (!w_.has_faults) return;
    const std::string& m = f.machine;
    const std::uint32_t n = m.size() > 1 ? static_cast<std::uint32_t>(std::stoul(m.substr(1))) : 0;
    const worker_ptr w = m[0] == 'w' && workers_.contains(absl::StrCat("host", n, ":1"))
                             ? workers_[absl::StrCat("host", n, ":1")]
                             : nullptr;
    client* c = m[0] == 'c' && n < clients_.size() && clients_[n].p && !clients_[n].is_complete &&
                        !clients_[n].is_gone && !clients_[n].is_closing
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
      case fault_kind::store_trouble:
        store_.is_in_trouble = true;
        w_.after(f.lasts, [this] { store_.is_in_trouble = false; });
        break;
    }
  }

  void heal() {
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

  // --- the end
  void check_end() {
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
  /// A client that died, lost what it had delivered since its checkpoint, and did not return.
  bool is_lost(const std::string& name) const {
    return std::any_of(clients_.begin(), clients_.end(),
                       [&](const client& c) { return c.name == name && c.is_gone && c.was_rolled_back; });
  }

  std::string describe() const {
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

  scenario s_;
  world w_;
  simulated_store store_;
  std::uint64_t tokens_ = 0, streams_made_ = 0, beats_ = 0;
  bool is_down_ = false;
  dispatcher_ptr current_, old_;
  std::map<std::string, worker_ptr> workers_;
  std::map<worker*, std::uint64_t> last_beat_;
  std::vector<client> clients_;
  std::map<std::string, std::map<std::uint64_t, std::string>> payloads_, done_by_;  ///< by iteration and split
  std::map<std::string, std::map<std::uint64_t, std::uint64_t>> ordinals_;
  std::set<std::pair<std::string, std::uint64_t>> delivered_in_full_;
};

}  // namespace

outcome simulate(const scenario& s) { return simulation(s).run(); }

}  // namespace sluice::lib::service_simulation
