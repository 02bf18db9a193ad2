// SPDX-License-Identifier: Apache-2.0
// The machines of the simulated service: dispatchers, workers and clients around their cores, and what they have delivered.
#pragma once

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <deque>

#include "service/core/consumer_core.hpp"
#include "service/core/worker_core.hpp"
#include "simulated_store.hpp"
#include "simulated_world.hpp"
#include "simulation.hpp"

namespace sluice::lib::service_simulation {

inline constexpr duration kSecond = std::chrono::seconds(1);
inline constexpr duration kLiveness = 120 * kSecond;

template <class... F> struct overloaded : F... {
  using F::operator()...;
};
template <class... F> overloaded(F...) -> overloaded<F...>;

using reply_function = std::function<void(result<service_reply>)>;

class simulation {
 public:
  explicit simulation(const scenario& s) : s_(s), w_(derive(s.seed, 1)), store_(w_, derive(s.seed, 2)) {
    w_.drop = s.drop;
    w_.twice = s.twice;
    w_.delay = s.delay;
    store_.delay = s.store_delay;
    store_.was_delivered = [this](const std::string& it, std::uint64_t split, const std::string& holder) {
      done_by_[it][split] = holder;
      return delivered_in_full_.contains({it, split});
    };
  }

  outcome run();

 private:
  // --- the data: a split's elements are a function of its payload
  std::uint64_t elements_of(const std::string& payload) const;
  std::vector<std::string> payloads_of(std::uint64_t round);

  // --- dispatchers
  struct dispatcher {
    process_ptr p;
    std::unique_ptr<dispatcher_core> core;
    duration clock{};
    std::uint64_t calls = 0;
    std::map<std::uint64_t, reply_function> waiting;
  };
  using dispatcher_ptr = std::shared_ptr<dispatcher>;

  void start_dispatcher();

  void stop(const dispatcher_ptr& d);
  /// The machine of the dispatchers loses its power while a commit is written, and has it back after `lasts`.
  void cut_power(duration lasts);

  void step(const dispatcher_ptr& d, dispatcher_event e);

  /// A call over the network, which may be lost, doubled, or reach an older dispatcher.
  void call(const process_ptr& caller, service_request request, reply_function reply);

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
    duration lasts{};  ///< until it starts again after it has drained
  };
  using worker_ptr = std::shared_ptr<worker>;

  void start_worker(std::uint32_t i);

  void stop(const worker_ptr& w);

  void break_stream(stream& s, const status& why, double heard);

  void step(const worker_ptr& w, worker_event e);

  void end_stream(const worker_ptr& w, std::uint64_t id, const status& why);

  void produce(const worker_ptr& w, std::uint64_t id);

  void send_frame(stream& s, reader_event e);

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
    std::optional<std::uint64_t> start;  ///< of open_job_reply
    std::unique_ptr<consumer_core> core;
    std::map<std::uint64_t, slot> slots;  ///< by ordinal
    std::deque<std::uint64_t> again;      ///< ordinals of the checkpoint
    std::map<std::uint64_t, std::uint64_t> offsets;
    bool is_asking = false, is_ended = false;
  };

  void start_client(std::uint32_t i);

  void open(std::uint32_t i, const process_ptr& p, int attempt);

  void begin_reading(std::uint32_t i, const std::string& iteration);

  void want(std::uint32_t i);

  void close(std::uint32_t i);

  void leave(std::uint32_t i);

  void step(std::uint32_t i, consumer_event e);

  void client_failed(client& c, const status& why);

  void got(std::uint32_t i, std::uint64_t ordinal, const next_split_reply& r);

  void step(std::uint32_t i, std::uint64_t ordinal, reader_event e);

  void open_stream(std::uint32_t i, std::uint64_t ordinal, const reader_action::open& x);

  void deliver(std::uint32_t i, slot& s, std::uint64_t first, std::uint64_t count, std::uint64_t ordinal);

  /// I1 among the clients that live: the first element of a delivery.
  void check_once(std::uint32_t i, std::uint64_t split, std::uint64_t offset);

  void save_later(std::uint32_t i, const process_ptr& p);

  // --- faults
  void stop(client& c);

  void begin(const fault& f);

  void heal();

  // --- the end
  void check_end();
  void check_flow() const;
  /// A client that died, lost what it had delivered since its checkpoint, and did not return.
  bool is_lost(const std::string& name) const;

  std::string describe() const;

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

}  // namespace sluice::lib::service_simulation
