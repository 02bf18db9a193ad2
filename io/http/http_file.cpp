// SPDX-License-Identifier: Apache-2.0
#include "io/http/http_file.hpp"

#include <algorithm>
#include <utility>

#include "io/http/messages/http_text.hpp"

namespace sluice::lib::detail {
namespace {

/// The number of ranges that are read ahead after the first read that waits: a round trip costs as much as some MiB.
constexpr std::uint32_t kAheadAtOnce = 4;
/// The number of requests in flight for one file: one more for every six milliseconds until the first byte. Servers
/// that answer sooner get fewer requests, because each has its own buffer and the page faults of that buffer. Several
/// open files share the initial number of requests to a server.
constexpr std::uint32_t kReadsAtOnceMin = 4, kReadsAtOnceMax = 16;
constexpr duration kFirstByteForOne = std::chrono::milliseconds(6);

}  // namespace

http_file::http_file(std::string path, file_info info, std::shared_ptr<http_object> object,
                     std::unique_ptr<http_exchange> body, open_options::reading_type reading)
    : file(std::move(path), std::move(info)),
      object_(std::move(object)),
      open_files_(object_->files_of_server()),
      does_ranges_(!body || body->head().code == 206),
      asks_for_(does_ranges_ && reading == open_options::onward ? kFirstBytes : 0),
      seen_(object_->sends_crc32c() && this->info().has_size() ? std::make_unique<whole_checksum>(size_bytes())
                                                               : nullptr),
      body_(std::move(body)) {
  open_files_->fetch_add(1, std::memory_order_relaxed);
}

http_file::~http_file() { open_files_->fetch_sub(1, std::memory_order_relaxed); }

read_advice http_file::advice() const noexcept {
  read_advice a;
  a.first_bytes = kFirstBytes;
  a.range_bytes_max = kRangeBytesMax;
  a.ahead_at_once = kAheadAtOnce;
  const std::uint32_t files = std::max(1u, open_files_->load(std::memory_order_relaxed));
  const auto hidden = static_cast<std::uint32_t>(object_->round_trip() / kFirstByteForOne);
  a.reads_at_once = std::clamp(std::min(hidden, object_->requests_first() / files), kReadsAtOnceMin, kReadsAtOnceMax);
  a.keep_read = true;
  a.in_order = !does_ranges_;
  return a;
}

ready_read http_file::try_read_at(std::uint64_t offset, char*, std::size_t n) noexcept {
  ready_read nothing;
  nothing.must_wait = n != 0 && offset < size_bytes();
  return nothing;
}

std::unique_ptr<http_exchange> http_file::take_body(std::uint64_t offset) {
  mutex_lock lock(mutex_);
  if (body_ && offset == body_at_) return std::move(body_);
  // A reader that continues in the middle of the stored body will not return to its start. A reader far ahead may be a
  // range that is read ahead.
  if (does_ranges_ && offset > body_at_ && offset < body_at_ + kFirstBytes) body_.reset();
  return {};
}

void http_file::keep_body(std::unique_ptr<http_exchange> body, std::uint64_t at) {
  mutex_lock lock(mutex_);
  if (!body || body->ended()) return;
  body_ = std::move(body);
  body_at_ = at;
}

task<std::size_t> http_file::read_at(std::uint64_t offset, buffer_ref to, std::size_t at, std::size_t n,
                                     time_point deadline) {
  if (!info().has_size()) {
    auto reading = read_on(offset, std::span<char>(to->data() + at, n), deadline);
    co_return co_await reading;
  }
  n = static_cast<std::size_t>(std::min<std::uint64_t>(n, size_bytes() - std::min(offset, size_bytes())));
  if (n == 0) co_return std::size_t{0};
  std::unique_ptr<http_exchange> body = take_body(offset);
  auto reading = object_->read(offset, std::span<char>(to->data() + at, n), body, asks_for_, deadline);
  co_await reading;
  keep_body(std::move(body), offset + n);
  status wrong = check(offset, std::span<const char>(to->data() + at, n));
  if (!wrong.ok()) co_await fail(std::move(wrong));
  co_return n;
}

status http_file::check(std::uint64_t offset, std::span<const char> bytes) {
  auto whole = seen_ ? seen_->add(offset, bytes) : std::nullopt;
  auto expected = whole ? object_->crc32c() : std::nullopt;
  if (!expected || *expected == *whole) return {};
  return data_loss_error(joined("the received bytes differ from the object: their crc32c is ", *whole,
                                ", the server's ", *expected, "; read it again"))
      .in_file(path());
}

task<std::size_t> http_file::read_on(std::uint64_t offset, std::span<char> to, time_point deadline) {
  std::unique_ptr<http_exchange> body = take_body(offset);
  if (!body) {
    mutex_lock lock(mutex_);
    if (ended_ && offset == body_at_) co_return std::size_t{0};
    lock.unlock();
    co_await fail(unimplemented_error(
                      "the server reports no size and supports no ranges: the object can be read only once, in order")
                      .in_file(path(), offset));
  }
  auto reading = object_->read_on(offset, to, *body, deadline);
  const std::size_t n = co_await reading;
  mutex_lock lock(mutex_);
  body_at_ = offset + n;
  ended_ = body->ended();
  if (!ended_) body_ = std::move(body);
  co_return n;
}

}  // namespace sluice::lib::detail
