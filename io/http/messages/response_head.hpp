// SPDX-License-Identifier: Apache-2.0
// The parts of an HTTP response's head that a reader of objects needs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/base/file_info.hpp"
#include "sluice/base/result.hpp"

namespace sluice::lib::detail {

/// "bytes 0-99/1000", or "bytes */1000" if the object has no such bytes.
struct content_range {
  static constexpr std::uint64_t kUnknownTotal = file_info::kUnknownSize;
  bool satisfied = true;
  std::uint64_t first = 0, last = 0;
  std::uint64_t total = kUnknownTotal;
  std::string to_string() const;
  friend bool operator==(const content_range&, const content_range&) = default;
};

struct response_head {
  int code = 0;
  std::string reason;
  bool keep_alive = false;
  bool chunked = false;
  std::optional<std::uint64_t> length;  ///< the body's
  std::optional<content_range> range;
  std::string etag, last_modified, location, retry_after, request_id, content_encoding, transfer_encoding;
  /// Fields that only object stores need, with names in lower case. The values of a repeated field are joined by a
  /// comma.
  std::vector<std::pair<std::string, std::string>> of_stores;

  /// Adds a field. Errors: data_loss: an invalid value, or two different ones.
  status take(std::string_view name, std::string_view value);
  /// Returns a field of of_stores, or an empty text if it is missing. "x-amz-…", "x-goog-…", "date", "range",
  /// "www-authenticate".
  std::string_view field(std::string_view name) const;
  bool is_success() const { return code == 200 || code == 206; }
  bool is_redirect() const { return code == 301 || code == 302 || code == 303 || code == 307 || code == 308; }
  /// Returns "503 Service Unavailable".
  std::string status_text() const;
  /// Returns the text that identifies this version of the object: the ETag, or else the time of its last modification.
  const std::string& version() const { return etag.empty() ? last_modified : etag; }
};

/// Errors: data_loss.
result<content_range> parse_content_range(std::string_view text);

}  // namespace sluice::lib::detail
