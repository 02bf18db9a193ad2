// SPDX-License-Identifier: Apache-2.0
// ignore_errors: drops the bad elements of all stages upstream.
//
//   tfrecord("a") | map(parse) | ignore_errors() | batch(64)
//   tfrecord("a") | map(parse) | ignore_errors({.errors_max = 100}) | batch(64)      // more than 100 end the stream
//   tfrecord("a") | map(parse) | ignore_errors({.errors_share = 0.01}) | batch(64)   // more than one in a hundred, from 100 on
//   tfrecord("a") | map(parse) | ignore_errors([](const status& why, std::uint64_t n) { log_dropped(why, n); })
//
// It sets error_policy::skip for the stages upstream that have no policy of their own (plan/on_error.hpp), including
// stages of inner plans, of several inputs, and of a repeated input. It does not affect stages upstream of another
// ignore_errors, which sets their policy itself. The policy of the run applies to stages downstream.
// A function, if given, is called for each element that is dropped because of this call. The calls are made in the
// elements' order, before the elements that follow are delivered. The arguments are the status (its where() has stage,
// file, offset and record) and the number of elements dropped so far. The function may be called ahead of the consumer
// of the run, for example by a prefetch. An exception that it throws ends the stream. The function is not part of
// fingerprints.
// Order:  as the input's. Without a share and a function it adds no stage, so it costs nothing; it adds nothing to
//         checkpoints.
// Ends:   with the input. A stream that cannot continue (a file that is cut short) ends there, as under
//         error_policy::skip. It cannot loop for ever: each dropped error has consumed an element of its stage's input,
//         and a stage that fails without consuming one ends the stream with that error.
// Errors: each dropped element is counted, also in the run's report. The policy never drops `cancelled`. It drops
//         `resource_exhausted` only for one element above a size limit. The first error beyond errors_max, or beyond
//         the share, ends the stream with that error; its message names the limit. invalid_argument, when the plan is
//         built: `on_error`, which other calls accept, but which has no meaning here; or a share that is not in [0, 1].
#pragma once

#include <concepts>
#include <cstdint>
#include <utility>

#include "sluice/base/shared_ref.hpp"
#include "sluice/plan/braces.hpp"
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

/// The function that is called with each error, without its type.
struct dropped_function : stage_function {
  virtual void dropped(const status& why, std::uint64_t count) const = 0;
};
/// If it is null, no function is called.
struct dropped_call {
  shared_ref<const dropped_function> value{};
};

struct ignore_errors_options {
  error_limit errors_max = {};    ///< most bad elements in one run, of all stages upstream together; -1: no limit
  error_share errors_share = {};  ///< most bad elements as a share of all elements, in each pass of the input; 1: no
                                  ///< limit
  error_limit share_after = 100;  ///< number of elements, good and bad, that must come before the share is checked
};
struct ignore_errors_arguments {
  dropped_call on_dropped = {};  ///< a function of the program that is called with each error; C++ only
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
/// Calls f(status, number of elements dropped so far).
template <std::invocable<const status&, std::uint64_t> F> preserving ignore_errors(F f, ignore_errors_options o = {}) {
  return ignore_errors(std::make_shared<const detail::called_with_dropped<F>>(std::move(f)), o);
}
SLUICE_FUNCTION_OPTIONS_IN_BRACES(preserving, ignore_errors, ignore_errors_options,
                                  "ignore_errors(f, {.errors_max = 10})")

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::ignore_errors;
using lib::ignore_errors_options;

}  // namespace sluice
