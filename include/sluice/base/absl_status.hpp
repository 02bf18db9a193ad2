// SPDX-License-Identifier: Apache-2.0
// Converts status and result<T> to Abseil's absl::Status and absl::StatusOr<T>, and back, for programs that use these.
//
//   absl::Status why = to_absl(s);                  // message and provenance as in to_string(), without the code
//   status s = from_absl(why);                      // and back: the provenance stays a part of the message
//   absl::StatusOr<int> n = to_absl(parse(text));
//
// The only public header that includes Abseil; it costs each including file 0.6 s. The codes have the same numbers.
// Thread: plain functions.
#pragma once

#include <utility>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "sluice/base/result.hpp"
#include "sluice/base/status.hpp"

namespace sluice::lib {

/// Returns code and message. A cause (the exception that a user's function threw) is not converted; its message is part
/// of the text.
absl::Status to_absl(const status& s);
/// A code that status_code does not have becomes `unknown`, as gRPC prescribes.
status from_absl(const absl::Status& s);

template <class T> absl::StatusOr<T> to_absl(result<T> r) {
  if (!r.ok()) return to_absl(r.why());
  return *std::move(r);
}

template <class T> result<T> from_absl(absl::StatusOr<T> r) {
  if (!r.ok()) return from_absl(r.status());
  return *std::move(r);
}

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::from_absl;
using lib::to_absl;

}  // namespace sluice
