// SPDX-License-Identifier: Apache-2.0
// The requirements of an object store on requests beyond HTTP, and the meaning of its answers. http:// has no service.
//
// Credentials go to the service's own servers only: with a service no redirect is followed.
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

  /// Adds what proves who asks, and may change where the request goes. Called for each attempt, because signatures carry the
  /// time, and tokens end. Errors: unauthenticated: there are no credentials; saying where they were looked for.
  virtual task<> sign(http_request& request, time_point deadline) = 0;
  /// What an answer that is no success means. Nothing: what HTTP says. With http_failure::at_once the request is signed and
  /// sent again without a wait: the service has learnt something from the answer.
  virtual std::optional<http_failure> explain(const http_request& sent, const response_head& head,
                                              std::string_view body) = 0;

  /// No answer has come to the request that was signed last: its server is not there, or has fallen silent.
  virtual void unanswered(const http_request& sent) { (void)sent; }

  /// Adds to the request which bytes are asked for.
  virtual void ask_for_range(byte_range range, http_request& request) const { request.set("Range", range.header()); }
  /// An answer to that, as HTTP would have given it to `Range`, where the store has rules of its own. Nothing: it is one.
  virtual std::optional<response_head> as_range(const response_head& head, byte_range range,
                                                const object_pin& pin) const {
    (void)head, (void)range, (void)pin;
    return {};
  }
  /// Where answers do not tell which version they are of: whether the object is still that of `pin`. Asked when the head of an
  /// answer has come, and before its bytes are anybody's. Errors: failed_precondition: it is another one.
  virtual task<> confirm(object_pin pin, time_point deadline);
  virtual bool answers_need_confirming() const { return false; }

  /// Adds to the request for a range that the object still has to be this version.
  virtual void ask_for_version(const object_pin& pin, http_request& request) const {
    if (pin.can_be_asked_for()) request.set("If-Match", pin.version);
  }
  /// The name of the version that an answer is of.
  virtual std::string version_of(const response_head& head) const { return head.version(); }
  /// "gzip" keeps some servers from unpacking what is stored packed, which then has no ranges.
  virtual std::string_view accepts_encoding() const { return "identity"; }
  /// Returns true if answers report the checksum of the whole object.
  virtual bool tells_crc32c() const { return false; }
  /// That checksum, where this one does.
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
