// SPDX-License-Identifier: Apache-2.0
// A whole service in one thread and in virtual time: dispatchers with a store, workers, and clients that checkpoint, over the
// real cores. A seed decides everything: sizes, settings, delays, lost and doubled messages, and the faults.
//
//   outcome o = simulate(make_scenario(17));
//   o.violation                               // empty, or which invariant broke, and when
//
// The first 20 s (fault_phase) are the safety phase, with faults. Then all faults end, all processes run, and every client must finish.
//
// Checked after each commit, reply and frame:
//   I1 an element is delivered at most once by the consumers' lineages. A client that dies loses what it has delivered since
//      its last checkpoint; a closed consumer counts only with the splits that are durably done.
//   I2 at the end the elements are those of the dataset.
//   I3 a split that is durably done was delivered in full.
//   I4 epochs and offsets do not go back, and an attempt is not used twice.
//   I5 the store assigns a split to at most one consumer that is not closed, and an ordinal to one split.
//   I6 no commit of an older epoch happens.
//   I7 after the faults have ended, all clients finish within 120 s.
//   I9 at `flows_at` no client has an open split with a worker: only the dispatcher is away by then.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "service/core/dispatcher_core.hpp"
#include "service/core/split_reader_core.hpp"

namespace sluice::lib::service_simulation {

enum class fault_kind : std::uint8_t {
  kill,           ///< and restart after `lasts`
  pause,          ///< SIGSTOP, then SIGCONT
  partition,      ///< no message in both directions
  one_way,        ///< no message to the machine
  one_way_back,   ///< no message from it
  reset,          ///< its streams and calls break
  take_over,      ///< a second dispatcher starts while the first one lives
  clock_jump,     ///< forward, by an hour
  store_trouble,  ///< commits fail: they happened, did not, or happen later
  drain,          ///< the worker is removed, finishes its reads, ends, and starts again
  power_cut,      ///< of the dispatcher's machine, at its next commit: what is not synced is lost, or torn
};
inline constexpr int kFaultKinds = 9;  ///< that may happen to any machine

std::string to_string(fault_kind kind);

struct fault {
  duration at{};
  fault_kind kind = fault_kind::kill;
  std::string machine;  ///< "d", "w0", "c1"
  duration lasts{};
};

/// What a seed expands to. Members may be changed to make a failing scenario smaller.
struct scenario {
  std::uint64_t seed = 0;
  std::uint32_t workers = 1, clients = 1, rounds = 1, splits = 1, elements_max = 1;
  bool is_named = true;  ///< one job for all clients
  sharding mode = sharding::dynamic;
  reader_options::visits visitation = reader_options::visits::exactly_once;
  double drop = 0, twice = 0;  ///< probabilities of messages
  duration delay{};            ///< most messages need at most this
  std::uint32_t cycle = 1;     ///< splits that a client reads at a time
  std::uint64_t queued_max = ~std::uint64_t{0};
  std::uint64_t silence_max_ms = 0;  ///< of consumers; 0: none
  std::uint32_t leaving = 0;         ///< this number of clients closes early (named jobs only)
  duration store_delay{};            ///< calls of the store need at most this
  dispatcher_options dispatcher;
  std::vector<fault> faults;
  duration fault_phase = std::chrono::seconds(20);
  duration flows_at{};  ///< 0: I9 is not checked
};
scenario make_scenario(std::uint64_t seed);
std::string to_string(const scenario& s);

struct outcome {
  std::string violation;
  duration took{};  ///< virtual time
  std::uint64_t events = 0, delivered = 0, commits = 0, hash = 0;
  std::uint64_t lost = 0, torn = 0;  ///< commits that power cuts have lost, and those of them that were torn
};
outcome simulate(const scenario& s);
/// Leaves out faults and machines while the scenario still fails.
scenario shrink(scenario s);

}  // namespace sluice::lib::service_simulation
