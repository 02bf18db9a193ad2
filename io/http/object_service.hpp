// SPDX-License-Identifier: Apache-2.0
// The protocol of an object store beyond HTTP: how requests are signed, and what answers mean. http:// uses no service.
//
// Credentials are sent only to the service's own servers: with a service no redirect is followed.
// Thread: any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "io/http/messages/http_request.hpp"
#include "io/http/messages/response_check.hpp"
#include "sluice/coro/task.hpp"
#include "sluice/io/deadline.hpp"

namespace sluice::lib::detail {

class object_service {
 public:
  virtual ~object_service() = default;

  /// Adds credentials to the request, and may change its target. Called for each attempt, because signatures contain
  /// the time and tokens expire. Errors: unauthenticated: no credentials were found; the message lists the places
  /// searched.
  virtual task<> sign(http_request& request, time_point deadline) = 0;
  /// Interprets an error answer. Returns nothing if HTTP's meaning applies. With http_failure::at_once the request is
  /// signed and sent again without a wait, because the service has learned something from the answer.
  virtual std::optional<http_failure> explain(const http_request& sent, const response_head& head,
                                              std::string_view body) = 0;

  /// Reports that the last signed request got no answer, because its server is unreachable or has stopped responding.
  virtual void unanswered(const http_request& sent) { (void)sent; }

  /// Adds the requested range of bytes to the request.
  virtual void ask_for_range(byte_range range, http_request& request) const { request.set("Range", range.header()); }
  /// Converts an answer to the form that HTTP gives to `Range`, for stores with other rules. Returns nothing if it has
  /// this form already.
  virtual std::optional<response_head> as_range(const response_head& head, byte_range range,
                                                const object_pin& pin) const {
    (void)head, (void)range, (void)pin;
    return {};
  }
  /// Checks that the object still has the version of `pin`, for stores whose answers do not name their version. Called
  /// after the head of an answer has arrived, before a reader gets its bytes. Errors: failed_precondition: the version
  /// differs.
  virtual task<> confirm(object_pin pin, time_point deadline);
  virtual bool answers_need_confirming() const { return false; }

  /// Adds the condition that the object still has this version to the request for a range.
  virtual void ask_for_version(const object_pin& pin, http_request& request) const {
    if (pin.can_be_asked_for()) request.set("If-Match", pin.version);
  }
  /// Returns the name of the version that an answer belongs to.
  virtual std::string version_of(const response_head& head) const { return head.version(); }
  /// Returns the value of Accept-Encoding. Some servers decompress stored gzip objects, and then serve no ranges of
  /// them, unless it is "gzip".
  virtual std::string_view accepts_encoding() const { return "identity"; }
  /// Returns true if answers report the checksum of the whole object.
  virtual bool sends_crc32c() const { return false; }
  /// Returns the checksum of the whole object, if this answer contains it.
  virtual std::optional<std::uint32_t> crc32c_of(const response_head& head) const {
    (void)head;
    return {};
  }
};

inline task<> object_service::confirm(object_pin pin, time_point deadline) {
  (void)pin, (void)deadline;
  co_return;
}

}  // namespace sluice::lib::detail
