// SPDX-License-Identifier: Apache-2.0
// Checks that a response matches its request: the codes, the range, and the version of the object.
#pragma once

#include <optional>

#include "io/http/messages/response_head.hpp"
#include "io/http/retry_policy.hpp"

namespace sluice::lib::detail {

/// The bytes from `first` to `last`, both included.
struct byte_range {
  std::uint64_t first = 0, last = 0;
  std::uint64_t bytes() const { return last - first + 1; }
  /// "bytes=0-99", for the header Range.
  std::string header() const;
};

/// The facts known of an object since its first answer: all later answers must be of that version.
struct object_pin {
  std::uint64_t size_bytes = file_info::kUnknownSize;
  std::string version;  ///< its ETag, else when it was modified; empty: the server tells neither
  bool has_size() const { return size_bytes != file_info::kUnknownSize; }
  /// The version can be named by If-Match: an ETag, and not a weak one, which never matches there.
  bool can_be_asked_for() const { return version.starts_with('"'); }
};

/// What a response other than a success means. `body`: its first bytes, which object stores write their own codes into.
http_failure failure_of(const response_head& head, std::string_view body);

/// How answers are looked at; stores differ in it.
struct check_options {
  std::string version = {};     ///< of the answer
  bool may_be_encoded = false;  ///< what is stored is sent as it is stored, packed perhaps
};

/// A success that answers the request for `range` of the object that `pin` describes; else what is wrong with it.
std::optional<http_failure> check_range(const response_head& head, byte_range range, const object_pin& pin,
                                        const check_options& how);

/// The same of the first answer, of which the pin is made: `range` begins at 0 and may be longer than the object.
std::optional<http_failure> check_first(const response_head& head, byte_range range, object_pin& pin,
                                        const check_options& how);

/// The same of plain HTTP.
inline std::optional<http_failure> check_range(const response_head& head, byte_range range, const object_pin& pin) {
  return check_range(head, range, pin, {.version = head.version()});
}
inline std::optional<http_failure> check_first(const response_head& head, byte_range range, object_pin& pin) {
  return check_first(head, range, pin, {.version = head.version()});
}

}  // namespace sluice::lib::detail
