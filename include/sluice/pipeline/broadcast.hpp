// SPDX-License-Identifier: Apache-2.0
// broadcast: one run, whose elements go to several consumers, each with a stream of its own.
//
//   std::vector<stream<batched<sample>>> both = broadcast(ds, rt, 2, {.lag_max = 256});
//   all.spawn(train(std::move(both[0])));
//   all.spawn(evaluate(std::move(both[1])));
//
//   checkpoint here = broadcast_position({&a, &b});                 // of all of them together, each at its own element
//   auto again = broadcast(ds, rt, 2, {.from = here});
//
// `tee` is another name for it.
// Whoever asks for an element that is not there yet has the run make it; the others find it there. What some have not taken
// yet is held, so a consumer may be ahead of the last one by `lag_max` elements or `lag_bytes_max` bytes. Then, as `on_lag` says,
// it waits (hold_back), or the last ones are dropped: their streams end with resource_exhausted.
// With hold_back consumers have to be read by turns, or by tasks of their own: one that reads its stream to the end before
// the other is begun waits for ever where there is more than lag_max.
// Order:  each consumer gets every element, in the run's order.
// Ends:   each stream with the run; the run, when all streams are gone.
// Errors: an error of the run comes to each consumer, behind the elements before it. failed_precondition: position() of one
//         of the streams, which has none of its own; a checkpoint of another number of consumers or of a plain run.
// Cancel: request_stop() of a stream, and its destructor, end that consumer alone.
// Thread: each stream has one consumer at a time, on any thread. REQUIRES of broadcast_position: no request is outstanding on any
//         of the streams.
// Owns:   the run; elements that are held, each once, charged to the ledger. Each consumer gets copies.
// State:  a checkpoint has the position of the run at the last consumer's element, and how far each of the others is ahead; the
//         elements between are made again, not stored.
#pragma once

#include <concepts>
#include <cstdint>
#include <utility>
#include <vector>

#include "sluice/pipeline/iterate.hpp"

namespace sluice::lib {

/// What happens when a consumer is `lag_max` behind the first.
enum class lagging : std::uint8_t {
  hold_back,  ///< the others wait for it
  drop,       ///< its stream ends with resource_exhausted
};

struct broadcast_options {
  checkpoint from = {};          ///< of broadcast_position(); empty: from the start
  std::uint64_t lag_max = 1024;  ///< elements that are held, at least 1
  std::size_t lag_bytes_max = std::size_t{64} << 20;
  lagging on_lag = lagging::hold_back;
  iterate_options run = {};  ///< of the one run; its `from` is not used
};

/// For elements whose type is not known in C++. Errors: throws invalid_argument: no consumer, lag_max 0, elements that cannot
/// be copied; failed_precondition and data_loss as iterate().
std::vector<any_stream> broadcast_run(runtime& rt, const node_ptr& plan, std::size_t consumers,
                                      const broadcast_options& o = {});

/// As broadcast_run.
template <class T>
std::vector<stream<T>> broadcast(const dataset<T>& ds, runtime& rt, std::size_t consumers,
                                 const broadcast_options& o = {}) {
  static_assert(std::copy_constructible<T>,
                "broadcast: each consumer gets a copy, and these elements cannot be copied");
  std::vector<stream<T>> streams;
  for (any_stream& s : broadcast_run(rt, ds.plan(), consumers, o))
    streams.push_back(stream<T>(detail::engine_access::release(std::move(s))));
  return streams;
}

/// Another name for broadcast, that of Python's itertools.
template <class T>
std::vector<stream<T>> tee(const dataset<T>& ds, runtime& rt, std::size_t consumers, const broadcast_options& o = {}) {
  return broadcast(ds, rt, consumers, o);
}

/// The position of all consumers of one broadcast, of which the streams that are left are given, in any order. Errors: throws
/// failed_precondition: not all of those, or others; a request is outstanding.
namespace detail {
/// stream_base, in words that are looked at when the function around them is used.
template <class T> struct base_of {
  using type = stream_base;
};
}  // namespace detail

checkpoint position_of_broadcast(const std::vector<const stream_base*>& streams);
template <class T> checkpoint broadcast_position(const std::vector<const stream<T>*>& streams) {
  std::vector<const typename detail::base_of<T>::type*> all;
  for (const stream<T>* s : streams) all.push_back(&detail::engine_access::of(*s));
  return position_of_broadcast(all);
}
template <class T> checkpoint broadcast_position(std::initializer_list<const stream<T>*> streams) {
  return broadcast_position(std::vector<const stream<T>*>(streams));
}

/// The report of the run behind the streams. REQUIRES: no request on any of them is outstanding.
run_report report_of_broadcast(const stream_base& s);
template <class T> run_report broadcast_report(const stream<T>& s) {
  return report_of_broadcast(detail::engine_access::of(s));
}

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::broadcast;
using lib::broadcast_options;
using lib::broadcast_position;
using lib::broadcast_report;
using lib::broadcast_run;
using lib::lagging;
using lib::tee;

}  // namespace sluice
