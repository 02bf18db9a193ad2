// SPDX-License-Identifier: Apache-2.0
// Tasks that run a plan for one result: the element at an index, the only element, the number of elements.
//
//   std::int64_t x = co_await numbers.at(rt, 7);                     // the element number 7, from 0
//   auto all = co_await get_single_element(rt, numbers | batch(100));
//   std::int64_t n = co_await count_elements(rt, samples | filter(expr("label == 0")));
//
// at() opens the plan and skips the elements before `index`: one element is made, and nothing works ahead. Its cost is
// that of opening the plan, and depends on neither `index` nor the number of elements. All stages must seek
// (op_info::seeks, plan/node.hpp); among those that do are range, from_elements, map, enumerate, batch, zip,
// concatenate, take, skip, shard, repeat, window and global_shuffle. Set seeds in a plan that draws: without them each
// call is a separate run with its own draws.
// Errors: those of iterate() and the run. at(): failed_precondition, a stage cannot seek; the message names the first.
//         out_of_range: index is negative, or not less than the number of elements; the message contains that number.
// Thread: any; the task is awaited on the runtime, or by sync_wait.
// Owns:   the task owns its run and a reference to the plan. REQUIRES: the runtime outlives it.
#pragma once

#include <cstdint>
#include <utility>

#include "sluice/op/count_elements.hpp"
#include "sluice/op/get_single_element.hpp"
#include "sluice/pipeline/iterate.hpp"

namespace sluice::lib {

namespace detail {

/// Starts a run of the plan whose first element is number `index`. Errors: throws, as described for at().
any_stream open_at(runtime& rt, const node_ptr& plan, std::int64_t index, const iterate_options& o);
/// Throws the error for a run without elements: `left` of the elements before it did not exist either.
[[noreturn]] void refuse_index(std::int64_t index, std::uint64_t left);

template <class T> task<T> element_at(runtime* rt, dataset<T> ds, std::int64_t index, iterate_options o) {
  any_stream run = open_at(*rt, ds.plan(), index, o);
  stream<T> s(engine_access::release(std::move(run)));
  auto* x = co_await s.next();
  if (!x) refuse_index(index, engine_access::of(s).skip_left());
  T value = std::move(*x);
  auto end = cleanup(std::move(s));
  co_await end;
  co_return std::move(value);
}

/// Returns the element of a plan that delivers exactly one.
template <class T> task<T> only_element(runtime* rt, dataset<T> ds, iterate_options o) {
  stream<T> s = ds.iterate(*rt, o);
  auto* x = co_await s.next();
  T value = std::move(*x);
  auto end = cleanup(std::move(s));
  co_await end;
  co_return std::move(value);
}

}  // namespace detail

/// Returns the element of a dataset that has exactly one. Errors: those of op/get_single_element.hpp.
template <class T> task<T> get_single_element(runtime& rt, const dataset<T>& ds, const iterate_options& o = {}) {
  return detail::only_element(&rt, ds | get_single_element(), o);
}
/// Returns the number of elements of a run of the dataset, which are skipped (op/count_elements.hpp).
template <class T> task<std::int64_t> count_elements(runtime& rt, const dataset<T>& ds, const iterate_options& o = {}) {
  return detail::only_element(&rt, ds | count_elements(), o);
}

template <class T> task<T> dataset<T>::at(runtime& rt, std::int64_t index) const {
  return detail::element_at(&rt, *this, index, iterate_options());
}
template <class T> task<T> dataset<T>::at(runtime& rt, std::int64_t index, const iterate_options& o) const {
  return detail::element_at(&rt, *this, index, o);
}

}  // namespace sluice::lib
