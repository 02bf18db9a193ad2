// SPDX-License-Identifier: Apache-2.0
// The messages between dispatcher, workers and consumers: plain structs, sent as JSON.
//
//   next_split_request r{.iteration = "3.1", .consumer = "trainer-0", .ordinal = 7};
//   std::string text = to_json(r);                              // {"iteration":"3.1","consumer":"trainer-0","ordinal":7}
//   auto back = from_json<next_split_request>(text);
//   reply_of<next_split_request>                                // next_split_reply
//   method_of<next_split_request>                                 // "next_split": the name of the method
//
// Every call may be repeated: a repeated call has the effect of one call and the same reply. Callers repeat a call until
// they have a reply, with the same members.
// Versions: from_json ignores members that it does not know. A member that later versions add must be std::optional.
// Errors: from_json returns invalid_argument: no JSON object, a member is missing or has another type; it names the
//         message and the member.
// Units:  milliseconds; offsets count elements of a split, from 0.
// See:    docs/internals/decisions/service.md
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "optimizer/sent_rules.hpp"
#include "sluice/base/result.hpp"
#include "sluice/plan/split_rule.hpp"

namespace sluice::lib {

std::string_view to_string(sharding mode);
constexpr bool is_static(sharding mode) { return mode >= sharding::file; }

// --- Calls of the dispatcher, from consumers ----------------------------------------------------------------------

/// What a worker needs to run a plan, and what a dispatcher needs to split it.
struct dataset_info {
  std::string plan;                                               ///< plan text
  std::string fingerprint;                                        ///< of the plan
  std::string type;                                               ///< text of the element type
  std::optional<std::uint64_t> cardinality;                       ///< if it is known and finite
  std::string visitation;                                         ///< "exactly_once", "at_most_once", "at_least_once"
  std::uint64_t splits = 0, split_bytes = 0, split_elements = 0;  ///< split_options; 0: not set
  std::uint64_t seed = 0, epoch = 0;                              ///< of the run whose elements are delivered
  std::string on_error;                                           ///< the policy of workers: "stop" or "skip"
  std::vector<std::string> plugins;                               ///< names, which a worker must have loaded
  bool operator==(const dataset_info&) const = default;
};

/// Errors: already_exists: the id has another fingerprint.
struct register_dataset_request {
  std::string dataset;  ///< the id; empty: the dispatcher makes one from the fingerprint and the options
  dataset_info info;
};
struct register_dataset_reply {
  std::string dataset;
};

/// Errors: not_found.
struct get_dataset_request {
  std::string dataset;
};
struct get_dataset_reply {
  dataset_info info;
};

/// Opens one iteration over one stream of a dataset, or joins it. Consumers that name the same job, stream and iteration
/// share its splits. Errors: not_found: no such dataset; failed_precondition: the job has another dataset or mode, or a
/// static mode has no fixed list of workers, or one of another length.
struct open_job_request {
  std::string job;  ///< empty: a job of this consumer alone, which ends with it
  std::string dataset;
  std::uint32_t stream = 0;     ///< of split_plan::streams()
  std::uint64_t iteration = 0;  ///< counts the runs of a job
  std::string consumer;         ///< unique, and the same after a restart from a checkpoint
  sharding mode = sharding::dynamic;
  std::string visitation;               ///< as in dataset_info
  std::uint64_t first_round = 0;        ///< the stream's first round in this iteration
  std::optional<std::uint64_t> rounds;  ///< and their number; none: all that the stream has
  /// Draws of this iteration; none: those of the dataset. The first consumer decides.
  std::optional<std::uint64_t> seed, epoch;
  std::uint32_t workers = 0;      ///< static modes: the expected length of the fixed list; 0: any
  std::vector<std::string> tags;  ///< only workers with all of these tags read splits
  std::string target = "any";  ///< "any", "local": workers on `host` only, "automatic": these first, "remote": others
  std::string host;            ///< name of the consumer's machine
  /// The splits of a consumer that is silent for longer return to the pool. None: never.
  std::optional<std::uint64_t> silence_max_ms;
  std::optional<std::string> process;  ///< of the consumer: "automatic" begins with its workers
  /// A number that each start of the consumer draws. The last one that has opened the iteration is the consumer of this name:
  /// calls of earlier ones are refused with `aborted`. None: an older consumer, which is not compared.
  std::optional<std::uint64_t> incarnation = {};
};
struct open_job_reply {
  std::string iteration;  ///< the id, for all calls below
  std::uint64_t dispatcher_epoch = 0;
  std::uint64_t seed = 0, epoch = 0;
  /// The number of this start of the consumer. Each later start of its name has a greater one. None: the dispatcher is older.
  std::optional<std::uint64_t> start = {};
};

/// Returns the `ordinal`-th split of a consumer: for ever the same one, unless the consumer was closed. The dispatcher
/// answers when there is a split, or no more, or after a while with `wait`.
/// Errors: not_found: no such iteration; aborted: the consumer was closed, or a later start uses its name;
/// failed_precondition: an ordinal beyond the next one; and the error of listing the splits.
struct next_split_request {
  std::string iteration, consumer;
  std::uint64_t ordinal = 0;
  std::optional<std::uint64_t> incarnation = {};  ///< of open_job_request
};
enum class split_answer : std::uint8_t {
  split,
  wait,  ///< ask again: other consumers hold the splits that are left, or a task of `off` still runs
  end,
};
struct next_split_reply {
  split_answer kind = split_answer::wait;
  std::uint64_t split = 0;  ///< its number, unique within the iteration
  std::uint64_t round = 0;
  std::string payload;    ///< plan_split::json(); off: empty; static modes: {"shard":i,"shards":n}
  std::string worker;     ///< address; empty: none is known now, so `place` asks for one
  bool is_local = false;  ///< the worker is on the consumer's machine
  std::uint64_t dispatcher_epoch = 0;
  std::optional<std::string> why = {};          ///< for `wait`: which splits of other consumers are not done
  std::optional<std::uint64_t> silent_ms = {};  ///< with `why`: since the last call of the consumer that it names
};

/// Returns a worker for a split, another one than `failed` if possible. The dispatcher answers when a worker exists, or
/// after a while with `wait`. Errors: not_found; aborted: the split is not this consumer's, or a later start uses its name.
struct place_request {
  std::string iteration, consumer;
  std::uint64_t split = 0;
  std::uint64_t attempt = 0;                      ///< grows by one with each placement
  std::string failed;                             ///< address of the worker that failed; empty: none
  std::optional<std::uint64_t> incarnation = {};  ///< of open_job_request
};
enum class place_answer : std::uint8_t {
  placed,
  wait,
  removed,  ///< off: the only worker of this task was removed; the split ends
};
struct place_reply {
  place_answer kind = place_answer::wait;
  std::string worker;
  bool is_local = false;
  std::uint64_t dispatcher_epoch = 0;
  std::optional<std::string> why;  ///< for `wait`: what the job asks for, and what the workers have
};

/// A split that is read, and the number of its elements that the consumer has delivered.
struct open_split {
  std::uint64_t split = 0, offset = 0;
  std::optional<std::uint64_t> waited_ms = {};  ///< the consumer waits for its next element, since this time
};
/// Reports finished splits, and that the consumer lives. The reply means that they are durably done.
/// Errors: not_found; aborted: the consumer was closed, or a later start uses its name; failed_precondition: an ordinal that
/// was not assigned.
struct progress_request {
  std::string iteration, consumer;
  std::vector<std::uint64_t> done;
  std::vector<open_split> open;
  // A consumer that resumes from a checkpoint reports what was finished before it, because the report may have been lost:
  std::uint64_t done_below = 0;              ///< the splits at all lower ordinals
  std::vector<std::uint64_t> done_ordinals;  ///< and those at these ordinals
  /// Those of `done` that had no element: an endless repeat ends after a round of these.
  std::optional<std::vector<std::uint64_t>> empty = {};
  std::optional<std::uint64_t> incarnation = {};  ///< of open_job_request
};
struct progress_reply {
  std::vector<std::uint64_t> released;  ///< splits of the request that are not this consumer's
  std::uint64_t dispatcher_epoch = 0;
};

/// Returns the splits of a consumer that are not done to the pool. The consumer's id cannot be used again in this
/// iteration. A consumer that is unknown is closed already.
struct close_consumer_request {
  std::string iteration, consumer;
  std::optional<bool> ends_job = {};  ///< nobody else knows the job's name, so that it ends with this consumer
  std::optional<std::uint64_t> incarnation = {};  ///< of open_job_request; an earlier one closes nothing
};
struct close_consumer_reply {};

// --- Calls of the dispatcher, from workers and operators ------------------------------------------------------------

struct running_read {
  std::string iteration;
  std::uint64_t split = 0;
  std::string consumer;
  std::uint64_t incarnation = 0, attempt = 0;  ///< of read_request
  std::uint64_t offset = 0, age_ms = 0;
};
/// The state of compression between a worker and one consumer.
struct compression_status {
  std::string consumer;
  std::string codec;  ///< "none": the frames are sent as they are now
  bool is_forced = false;
  std::uint64_t raw_bytes = 0, sent_bytes = 0;
  std::uint64_t link_bytes_per_second = 0;  ///< 0: it has not limited yet
  std::uint64_t switches = 0;
};
/// Registers a worker, and reports that it lives.
struct heartbeat_request {
  std::string worker;             ///< the address at which it serves reads
  std::uint64_t incarnation = 0;  ///< a number that each start of the process draws
  std::string host;
  std::vector<std::string> tags;
  std::uint32_t slots = 1;  ///< reads that it wants at a time: placement compares reads per slot
  bool is_draining = false;
  std::vector<running_read> reads;
  std::optional<std::string> process;
  std::optional<std::vector<compression_status>> compression = {};
};
struct read_name {
  std::string iteration;
  std::uint64_t split = 0;
  std::string consumer;
};
struct heartbeat_reply {
  std::uint64_t dispatcher_epoch = 0;
  std::vector<read_name> cancel;  ///< nobody needs these reads
};

/// Places nothing on a worker any more, and forgets it. A worker that heartbeats afterwards registers again, unless it
/// drains.
struct remove_worker_request {
  std::string worker;
};
struct remove_worker_reply {};

struct status_request {};
struct worker_status {
  std::string worker, host;
  std::vector<std::string> tags;
  std::uint32_t slots = 0;
  std::uint64_t reads = 0, silent_ms = 0;
  bool is_alive = false, is_draining = false;
  std::optional<std::vector<compression_status>> compression = {};
};
struct split_status {
  std::uint64_t split = 0;
  std::string consumer, worker;
  std::uint64_t offset = 0;  ///< as last reported
  std::uint64_t attempt = 0;
  std::uint64_t age_ms = 0;                     ///< since this dispatcher assigned it, or started
  std::optional<std::uint64_t> waited_ms = {};  ///< of open_split, as last reported
};
struct iteration_status {
  std::string iteration, job, dataset, mode;
  std::uint32_t stream = 0;
  std::uint64_t number = 0;
  std::uint64_t consumers = 0, listed = 0, assigned = 0, done = 0, waiting = 0;  ///< splits, and calls that wait
  bool is_all_listed = false, is_finished = false;
  std::vector<split_status> in_flight;  ///< the oldest 1,000
};
struct status_reply {
  std::uint64_t dispatcher_epoch = 0, datasets = 0, commits = 0;
  std::string store_error;  ///< of the last commit, if it failed
  std::vector<worker_status> workers;
  std::vector<iteration_status> iterations;
};

// --- The stream of a worker -------------------------------------------------------------------------------------------

/// Opens the stream of a split's elements, from `offset` on. The worker keeps one read for each iteration, split and
/// consumer: a new read cancels the one before, with `aborted` if the same start of the consumer opened it, with
/// `unavailable` if another start of this name did. Errors: aborted: a later attempt of the same incarnation runs;
/// unavailable: a later start of this name reads the split.
struct read_request {
  std::string dataset, iteration;
  std::uint64_t split = 0;
  std::string payload;
  std::uint64_t offset = 0;
  std::string consumer;
  std::uint64_t incarnation = 0;  ///< a number that each start of the consumer draws
  std::uint64_t attempt = 0;
  std::string on_error;
  std::string mode;                          ///< static modes: what the shard divides
  std::optional<std::uint64_t> seed, epoch;  ///< of the iteration; the payloads of dynamic have their own
  /// The codecs in which the consumer reads frames, the preferred one first. None: it is older, or wants frames as they are.
  std::optional<std::vector<std::string>> codecs = {};
  std::optional<bool> is_compressed_always = {};  ///< in the first codec, without measurement
  /// The rules of the optimizer that the consumer's run sets for its stages here. None: the consumer is older.
  std::optional<sent_rules> rules = {};
  std::optional<std::uint64_t> start = {};  ///< of open_job_reply. None: it is not compared
  /// The worker sends the bad elements that it drops, from this number in the split on, because the consumer stores them.
  /// None: it sends their counts at the end of the split.
  std::optional<std::uint64_t> dropped_from = {};
  std::optional<std::string> quarantine = {};  ///< the file that the consumer's run names for them
};

/// Reports to a worker what a consumer of compressed frames has measured since its last report. Errors: unimplemented: an
/// older worker.
struct measured_request {
  std::string iteration;
  std::uint64_t split = 0;
  std::string consumer;
  std::uint64_t waited_us = 0;                      ///< for frames that had not arrived
  std::uint64_t unpacked_bytes = 0, unpack_ns = 0;  ///< of decompressed frames
};

// --- JSON -------------------------------------------------------------------------------------------------------------

template <class Message> std::string to_json(const Message& m);
template <class Message> result<Message> from_json(std::string_view text);

template <class Request> struct call_of;
#define SLUICE_SERVICE_CALLS(X) \
  X(register_dataset)           \
  X(get_dataset)                \
  X(open_job) X(next_split) X(place) X(progress) X(close_consumer) X(heartbeat) X(remove_worker) X(status)
#define SLUICE_CALL(name)                            \
  template <> struct call_of<name##_request> {       \
    using reply = name##_reply;                      \
    static constexpr std::string_view kName = #name; \
  };
SLUICE_SERVICE_CALLS(SLUICE_CALL)
#undef SLUICE_CALL
template <class Request> using reply_of = typename call_of<Request>::reply;
/// The name of a request's method.
template <class Request> inline constexpr std::string_view method_of = call_of<Request>::kName;

/// Any request to a dispatcher, and any reply of it.
using service_request =
    std::variant<register_dataset_request, get_dataset_request, open_job_request, next_split_request, place_request,
                 progress_request, close_consumer_request, heartbeat_request, remove_worker_request, status_request>;
using service_reply =
    std::variant<register_dataset_reply, get_dataset_reply, open_job_reply, next_split_reply, place_reply,
                 progress_reply, close_consumer_reply, heartbeat_reply, remove_worker_reply, status_reply>;
/// Reads the request of a method. Errors: unimplemented: no such method; invalid_argument: as from_json.
result<service_request> request_from_json(std::string_view method, std::string_view text);
std::string reply_to_json(const service_reply& reply);

}  // namespace sluice::lib
