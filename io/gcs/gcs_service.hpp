// SPDX-License-Identifier: Apache-2.0
// Signs requests to Google's store, and interprets its answers.
#pragma once

#include <memory>
#include <string>

#include "io/gcs/google_tokens.hpp"
#include "io/http/object_service.hpp"

namespace sluice::lib::detail {

class gcs_service final : public object_service {
 public:
  /// `tokens`: null for anonymous requests.
  explicit gcs_service(std::unique_ptr<google_tokens> tokens) : tokens_(std::move(tokens)) {}

  task<> sign(http_request& request, time_point deadline) override;
  std::optional<http_failure> explain(const http_request& sent, const response_head& head,
                                      std::string_view body) override;
  void ask_for_version(const object_pin& pin, http_request& request) const override;
  std::string version_of(const response_head& head) const override;
  std::string_view accepts_encoding() const override { return "gzip"; }
  bool sends_crc32c() const override { return true; }
  std::optional<std::uint32_t> crc32c_of(const response_head& head) const override;

 private:
  const std::unique_ptr<google_tokens> tokens_;
};

}  // namespace sluice::lib::detail
