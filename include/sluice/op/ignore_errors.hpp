// SPDX-License-Identifier: Apache-2.0
// ignore_errors: bad elements of all stages upstream are dropped.
//
//   tfrecord("a") | map(parse) | ignore_errors() | batch(64)
//   tfrecord("a") | map(parse) | ignore_errors({.errors_max = 100}) | batch(64)      // more than 100 end the stream
//   tfrecord("a") | map(parse) | ignore_errors({.errors_share = 0.01}) | batch(64)   // more than one in a hundred, from 100 on
//   tfrecord("a") | map(parse) | ignore_errors([](const status& why, std::uint64_t n) { log_dropped(why, n); })
//
// It sets error_policy::skip for the stages upstream that have no policy of their own (plan/on_error.hpp): also for
// those of inner plans, of several inputs, and of a repeated input; but not for those upstream of another
// ignore_errors, which sets it for them. For stages downstream the policy of the run applies.
// A function is called for each element that is dropped because of this call, in their order and in front of the elements that
// follow, with the status (its where() has stage, file, offset and record) and how many there were. It may be called ahead of the
// consumer of the run, by a prefetch for instance; what it throws ends the stream. It is no part of fingerprints.
// Order:  as the input's. Without a share and a function it makes no stage, so it costs nothing; it adds nothing to checkpoints.
// Ends:   with the input. A stream that cannot continue (a file that is cut short) ends there, as under
//         error_policy::skip. There is no spinning: each error that is dropped has taken an element of its stage's input, and
//         a stage that fails without taking one ends the stream with that error.
// Errors: each dropped element is counted, and in the run's report. cancelled and resource_exhausted are never dropped.
//         The first one beyond errors_max, or beyond the share, ends the stream with its error, which says so.
//         invalid_argument when the plan is made: `on_error`, which other calls take, but which would say nothing here; a share
//         that is not in [0, 1].
#pragma once

#include <concepts>
#include <cstdint>
#include <utility>

#include "sluice/base/shared_ref.hpp"
#include "sluice/plan/dataset.hpp"
#include "sluice/plan/function.hpp"

namespace sluice::lib {

extern const op_info ignore_errors_op;

/// A part of all elements, 0 to 1. Not part of fingerprints.
struct error_share {
  double value = 1;
  constexpr error_share() = default;
  constexpr error_share(double v) : value(v) {}  // NOLINT: numbers are written as numbers
};

/// What is called with each error, without its type.
struct dropped_function : stage_function {
  virtual void dropped(const status& why, std::uint64_t count) const = 0;
};
/// None is called where it is null.
struct dropped_call {
  shared_ref<const dropped_function> value{};
};

struct ignore_errors_options {
  error_limit errors_max = {};    ///< of all stages upstream together, in one run; -1: any number
  error_share errors_share = {};  ///< bad elements among all that came, in each pass of the input; 1: any
  error_limit share_after = 100;  ///< so many elements, good and bad, have to have come before the share is looked at
};
struct ignore_errors_arguments {
  dropped_call on_dropped = {};  ///< a function of the program's that is called with each error; C++ only
  ignore_errors_options options = {};
};

namespace detail {
template <class F> struct called_with_dropped final : dropped_function {
  F f;
  explicit called_with_dropped(F function) : f(std::move(function)) { describe(*this, f, nullptr, nullptr); }
  void dropped(const status& why, std::uint64_t count) const override { f(why, count); }
};
}  // namespace detail

preserving ignore_errors(ignore_errors_options o = {});
preserving ignore_errors(std::shared_ptr<const dropped_function> call, ignore_errors_options o);
/// With f(status, how many were dropped so far).
template <std::invocable<const status&, std::uint64_t> F> preserving ignore_errors(F f, ignore_errors_options o = {}) {
  return ignore_errors(std::make_shared<const detail::called_with_dropped<F>>(std::move(f)), o);
}

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::ignore_errors;
using lib::ignore_errors_options;

}  // namespace sluice
