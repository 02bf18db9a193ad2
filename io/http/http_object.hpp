// SPDX-License-Identifier: Apache-2.0
// One version of an object on a server. Reads its bytes by ranges, with as many attempts as needed.
//
//   auto object = std::make_shared<http_object>(servers, url);
//   auto answer = co_await object->open(1 << 20, deadline);      // requests the first MiB; the answer has size and version
//   auto n = co_await object->read(offset, to, deadline);
//
// Errors: http.hpp lists them. Messages contain the range, the attempt, and the server's number of the request.
// Thread: any; several reads of an object may run at the same time.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "io/http/http_servers.hpp"
#include "io/http/messages/response_check.hpp"
#include "io/http/object_service.hpp"
#include "sluice/base/mutex.hpp"
#include "sluice/io/file_system.hpp"

namespace sluice::lib::detail {

class http_object {
 public:
  /// `service`: null for plain HTTP.
  http_object(std::shared_ptr<http_servers> servers, std::string path, http_url url,
              std::shared_ptr<object_service> service = {})
      : servers_(std::move(servers)),
        service_(std::move(service)),
        path_(std::move(path)),
        url_(url),
        now_at_(std::move(url)) {}
  http_object(const http_object&) = delete;

  /// Assumes the version that a listing has returned. The first read checks it.
  void believe(object_pin pin) { pin_ = std::move(pin); }
  /// Opens the object and returns its body, which begins at byte 0 and has up to `bytes` bytes, or all. Returns null
  /// for an empty object. With 0 bytes it requests one, because no request is for none, and returns null, or the whole
  /// body from a server without ranges.
  /// REQUIRES: nothing was read before.
  task<std::unique_ptr<http_exchange>> open(std::uint64_t bytes, time_point deadline);
  const object_pin& pin() const noexcept { return pin_; }
  /// Returns the number of open files of this object's server, which http_file counts.
  std::shared_ptr<std::atomic<std::uint32_t>> files_of_server() { return servers_->at(url_).files; }
  duration round_trip() { return asked_last().limit.round_trip(); }
  /// Returns the requests that have begun to answer since the last call.
  request_times take_request_times() noexcept {
    mutex_lock lock(mutex_);
    return std::exchange(answered_, {});
  }
  std::uint32_t requests_first() const { return servers_->context().options.requests_first; }
  /// Returns the properties from the answer that opened the object.
  file_info info() const {
    file_info i;
    i.size_bytes = pin_.size_bytes;
    i.version = pin_.version;
    i.modified_ns = modified_ns_;
    return i;
  }
  bool sends_crc32c() const { return service_ && service_->sends_crc32c(); }
  /// Returns the checksum of the whole object, once an answer has reported it.
  std::optional<std::uint32_t> crc32c() const;

  /// Reads to.size() bytes from `offset` on. REQUIRES: the object has them. A body that is at `offset` is read to its
  /// end first. Each request asks for at least `asks_for` bytes, or for the rest of a shorter object. Bytes that the
  /// caller does not need yet stay in the body, at offset + to.size().
  task<> read(std::uint64_t offset, std::span<char> to, std::unique_ptr<http_exchange>& body, std::uint64_t asks_for,
              time_point deadline);
  /// Reads the next bytes of an object of unknown size; returns 0 at the end.
  task<std::size_t> read_on(std::uint64_t offset, std::span<char> to, http_exchange& body, time_point deadline);

 private:
  struct answer {
    std::unique_ptr<http_exchange> body;
    http_failure failed;            ///< if the answer has no body
    http_origin* server = nullptr;  ///< the server that was asked
    concurrency_limit::permit permit;

    /// Called before a wait: reports throttling to the server's limit, and releases the permit for other requests.
    void let_go() {
      if (server && failed.throttled) server->limit.throttled(permit);
      permit = {};
    }
  };
  task<answer> ask(byte_range range, bool is_first, time_point deadline);
  task<answer> look_at(const http_request& sent, std::unique_ptr<http_exchange> got, byte_range range, bool is_first,
                       time_point deadline);
  /// Returns the server that answered last: the one of the object's own URL, until it redirects to another.
  http_origin& asked_last() {
    http_origin* last = asked_.load(std::memory_order_relaxed);
    return last ? *last : servers_->at(url_);
  }
  /// Requests the object's own URL again, because `to`, the target of redirects, has failed.
  void forget_redirect(const http_url& to);
  void keep_checksum(const response_head& head);
  void count_answer(const http_exchange& answered);
  /// Reads the body until `to` is full or the body ends, and adds to `got`. Fails with the error of the body's read.
  task<> receive(http_exchange& body, std::span<char> to, std::size_t& got, time_point deadline);
  /// Receives a requested range; fails if the body ends before. `is_exact`: the body must have no more bytes.
  task<> receive_range(http_exchange& body, bool is_exact, std::span<char> to, std::size_t& got, time_point deadline);
  /// Fails if the body has more bytes, which chunks may contain.
  task<> check_end(http_exchange& body, time_point deadline);
  http_request request_for(const http_url& to, byte_range range) const;
  /// Waits until the next attempt may start. Fails if no further attempt is allowed.
  task<> again(retry_state& retry, http_failure failed, byte_range range, time_point deadline);

  /// shared, because a stream and what it reads may be destroyed after the runtime
  const std::shared_ptr<http_servers> servers_;
  const std::shared_ptr<object_service> service_;
  const std::string path_;
  const http_url url_;
  object_pin pin_;
  std::int64_t modified_ns_ = 0;
  std::atomic<http_origin*> asked_{nullptr};  ///< relaxed: a hint; a server is destroyed only with all of them
  mutable mutex mutex_;
  http_url now_at_ ABSL_GUARDED_BY(mutex_);  ///< the target of redirects
  std::optional<std::uint32_t> crc32c_ ABSL_GUARDED_BY(mutex_);
  request_times answered_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice::lib::detail
