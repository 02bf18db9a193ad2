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
  /// Returns "bytes=0-99", for the header Range.
  std::string header() const;
};

/// The properties of an object from its first answer. All later answers must have the same version.
struct object_pin {
  std::uint64_t size_bytes = file_info::kUnknownSize;
  std::string version;  ///< the ETag, or else the time of modification; empty: the server sends neither
  bool has_size() const { return size_bytes != file_info::kUnknownSize; }
  /// Returns true if If-Match can name the version: an ETag that is not weak, because a weak one never matches.
  bool can_be_asked_for() const { return version.starts_with('"'); }
};

/// Interprets a response that is not a success. `body`: its first bytes, which contain the codes of object stores.
http_failure failure_of(const response_head& head, std::string_view body);

/// Options of the checks, which differ between stores.
struct check_options {
  std::string version = {};     ///< the answer's version
  bool may_be_encoded = false;  ///< stored bytes are sent unchanged, although they may be compressed
};

/// Returns nothing if the response answers the request for `range` of the object that `pin` describes; else the
/// failure.
std::optional<http_failure> check_range(const response_head& head, byte_range range, const object_pin& pin,
                                        const check_options& how);

/// Checks the first answer, and stores its version in `pin`. `range` begins at 0 and may be longer than the object.
std::optional<http_failure> check_first(const response_head& head, byte_range range, object_pin& pin,
                                        const check_options& how);

/// Checks an answer of plain HTTP.
inline std::optional<http_failure> check_range(const response_head& head, byte_range range, const object_pin& pin) {
  return check_range(head, range, pin, {.version = head.version()});
}
inline std::optional<http_failure> check_first(const response_head& head, byte_range range, object_pin& pin) {
  return check_first(head, range, pin, {.version = head.version()});
}

}  // namespace sluice::lib::detail
