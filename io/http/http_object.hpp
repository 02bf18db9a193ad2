// SPDX-License-Identifier: Apache-2.0
// One object of a server, in one version: its bytes, range by range, with as many attempts as that takes.
//
//   auto object = std::make_shared<http_object>(servers, url);
//   auto answer = co_await object->open(1 << 20, deadline);      // asks for the first MiB, and learns size and version
//   auto n = co_await object->read(offset, to, deadline);
//
// Errors: http.hpp lists them. Messages say which range, which attempt, and how the server calls the request.
// Thread: any; reads of the same object may go on at the same time.
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

namespace sluice::lib::detail {

class http_object {
 public:
  /// `service`: null: plain HTTP.
  http_object(std::shared_ptr<http_servers> servers, std::string path, http_url url,
              std::shared_ptr<object_service> service = {})
      : servers_(std::move(servers)),
        service_(std::move(service)),
        path_(std::move(path)),
        url_(url),
        now_at_(std::move(url)) {}
  http_object(const http_object&) = delete;

  /// Uses the version that a listing has returned: the first read checks it.
  void believe(object_pin pin) { pin_ = std::move(pin); }
  /// Its body begins at byte 0 and has up to `bytes` bytes, or all. Null: the object is empty. Before any read.
  task<std::unique_ptr<http_exchange>> open(std::uint64_t bytes, time_point deadline);
  const object_pin& pin() const noexcept { return pin_; }
  /// How many files of this object's server are open: http_file counts.
  std::shared_ptr<std::atomic<std::uint32_t>> files_of_server() { return servers_->at(url_).files; }
  duration round_trip() { return asked_last().limit.round_trip(); }
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

  /// Reads to.size() bytes from `offset` on. REQUIRES: the object has them. A body that is at `offset` is read first,
  /// up to its end. Each request asks for at least `asks_for` bytes, or for the rest of a shorter object. The bytes
  /// that the caller does not need yet stay in the body, at offset + to.size().
  task<> read(std::uint64_t offset, std::span<char> to, std::unique_ptr<http_exchange>& body, std::uint64_t asks_for,
              time_point deadline);
  /// Reads the next bytes of an object of unknown size; returns 0 at the end.
  task<std::size_t> read_on(std::uint64_t offset, std::span<char> to, http_exchange& body, time_point deadline);

 private:
  struct answer {
    std::unique_ptr<http_exchange> body;
    http_failure failed;            ///< where there is no body
    http_origin* server = nullptr;  ///< who was asked
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
  /// The server of the object's own URL, until it has sent to another one.
  http_origin& asked_last() {
    http_origin* last = asked_.load(std::memory_order_relaxed);
    return last ? *last : servers_->at(url_);
  }
  /// Asks the object's own URL again: `to`, where redirects had led, has failed.
  void forget_redirect(const http_url& to);
  void keep_checksum(const response_head& head);
  /// Reads of the body until `to` is full, or it ends. Fails with what a read of the body fails with; `got` counts.
  task<> receive(http_exchange& body, std::span<char> to, std::size_t& got, time_point deadline);
  /// Receives a requested range; fails if the body ends before. `is_exact`: the body must have no more bytes.
  task<> receive_range(http_exchange& body, bool is_exact, std::span<char> to, std::size_t& got, time_point deadline);
  /// Fails where there is more of the body: chunks may say so.
  task<> check_end(http_exchange& body, time_point deadline);
  http_request request_for(const http_url& to, byte_range range) const;
  /// Waits until the next attempt may start. Fails if no further attempt is allowed.
  task<> again(retry_state& retry, http_failure failed, byte_range range, time_point deadline);

  const std::shared_ptr<http_servers> servers_;  ///< a stream, and what it reads, may be destroyed after its runtime
  const std::shared_ptr<object_service> service_;
  const std::string path_;
  const http_url url_;
  object_pin pin_;
  std::int64_t modified_ns_ = 0;
  std::atomic<http_origin*> asked_{nullptr};  ///< relaxed: a hint; servers stay as long as all of them
  mutable mutex mutex_;
  http_url now_at_ ABSL_GUARDED_BY(mutex_);  ///< where redirects have led
  std::optional<std::uint32_t> crc32c_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sluice::lib::detail
