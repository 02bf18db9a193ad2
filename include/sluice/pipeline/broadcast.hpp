// SPDX-License-Identifier: Apache-2.0
// broadcast: delivers the elements of one run to several consumers, each with its own stream.
//
//   std::vector<stream<batched<sample>>> both = broadcast(ds, rt, 2, {.lag_max = 256});
//   all.spawn(train(std::move(both[0])));
//   all.spawn(evaluate(std::move(both[1])));
//
//   checkpoint here = broadcast_position({&a, &b});                 // of all consumers, each at its own element
//   auto again = broadcast(ds, rt, 2, {.from = here});
//
// `tee` is another name for it.
// A request for an element that does not exist yet makes the run compute it; the other consumers then receive it
// without waiting. Elements that some consumers have not read yet are held, so a consumer may be ahead of the last one
// by `lag_max` elements or `lag_bytes_max` bytes. At that limit `on_lag` decides: the consumer waits (hold_back), or
// the last consumers are dropped: their streams end with resource_exhausted. With hold_back read the consumers
// alternately, or in separate tasks: a consumer that reads its stream to the end before another one begins waits
// forever if the run has more than lag_max elements.
// Order:  each consumer gets every element, in the run's order.
// Ends:   each stream with the run; the run, when all streams are gone.
// Errors: an error of the run reaches each consumer, after the elements before it. failed_precondition: position() of
//         one of the streams, which has no position of its own; a checkpoint with another number of consumers or of a
//         plain run.
// Cancel: request_stop() of a stream, and its destructor, end that consumer alone.
// Thread: each stream has one consumer at a time, on any thread. REQUIRES for broadcast_position: no request is
//         outstanding on any of the streams.
// Owns:   the run, and the held elements, each once, charged to the ledger. Each consumer gets copies.
// State:  a checkpoint contains the position of the run at the last consumer's element, and the distance of each other
//         consumer from it. The elements between are computed again, not stored.
#pragma once

#include <concepts>
#include <cstdint>
#include <utility>
#include <vector>

#include "sluice/pipeline/iterate.hpp"

namespace sluice::lib {

/// The treatment of a consumer that is `lag_max` elements behind the first.
enum class lagging : std::uint8_t {
  hold_back,  ///< the others wait for it
  drop,       ///< its stream ends with resource_exhausted
};

struct broadcast_options {
  checkpoint from = {};          ///< from broadcast_position(); empty: from the start
  std::uint64_t lag_max = 1024;  ///< elements that may be held, at least 1
  std::size_t lag_bytes_max = std::size_t{64} << 20;
  lagging on_lag = lagging::hold_back;
  iterate_options run = {};  ///< for the one run; its `from` is not used
};

/// For elements whose type is unknown in C++. Errors: throws invalid_argument: no consumer, lag_max 0, elements that
/// cannot be copied; failed_precondition and data_loss as iterate() does.
std::vector<any_stream> broadcast_run(runtime& rt, const node_ptr& plan, std::size_t consumers,
                                      const broadcast_options& o = {});

/// Does the same for a typed dataset.
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

/// broadcast_position() returns the position of all consumers of one broadcast. Pass all remaining streams, in any
/// order. Errors: throws failed_precondition: a stream is missing or belongs to another broadcast; a request is
/// outstanding.
namespace detail {
/// stream_base, as a dependent type, which is complete when the calling function is instantiated.
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

/// The report of the run of these streams. REQUIRES: no request on any of them is outstanding.
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
