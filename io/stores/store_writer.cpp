// SPDX-License-Identifier: Apache-2.0
#include "io/stores/store_writer.hpp"

#include <algorithm>

#include "io/http/messages/http_text.hpp"
#include "runtime/run_task.hpp"
#include "sluice/coro/resume_on.hpp"
#include "sluice/coro/when_all.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib::detail {
namespace {

/// The time limit for deleting parts. The end of a runtime waits for it.
constexpr duration kAbortTime = std::chrono::seconds(5);
constexpr std::size_t kPartsOfOneSize = 1000;

run_task abort_dropped(std::shared_ptr<run_context>& run, std::shared_ptr<upload_store> store, store_upload upload) {
  auto from = std::move(store);
  store_upload what = std::move(upload);
  environment* env = run.get();
  resume_on to_a_worker(*env->exec);
  co_await to_a_worker;
  auto aborting = from->abort_upload(std::move(what), env->time->now() + kAbortTime);
  // No caller is left to receive the error. The bucket's own rules delete parts that remain.
  status ignored = co_await aborting.as_result();
  (void)ignored;
}

}  // namespace

store_writer::~store_writer() {
  held_.clear();
  charge();
  if (!upload_ || committed_) return;
  auto run = cleaning_;
  abort_dropped(run, store_, *std::move(upload_));
}

void store_writer::charge() {
  const std::size_t now = held_.empty() ? 0 : held_.capacity();
  if (now == charged_) return;
  ledger_->change(charged_, now, ledger_->line(purpose::open_file, "store"));
  charged_ = now;
}

std::size_t store_writer::part_bytes() const {
  const std::size_t sent = upload_ ? upload_->tags.size() : 0;
  return kPartBytes << (sent / kPartsOfOneSize);
}

std::size_t store_writer::room() const { return part_bytes() * std::max<std::size_t>(1, store_->parts_at_once()); }

void store_writer::add(std::span<const char> bytes) {
  if (held_.size() + bytes.size() > held_.capacity())
    held_.reserve(std::min(room(), std::max(held_.capacity() * 2, held_.size() + bytes.size())));
  held_.append(bytes.data(), bytes.size());
  charge();
}

task<> store_writer::begin(time_point deadline) {
  if (upload_) co_return;
  auto beginning = store_->begin_upload(path_, deadline);
  upload_ = co_await beginning;
}

task<std::string> store_writer::send_part(std::size_t number, std::span<const char> bytes, time_point deadline) {
  return store_->put_part(*upload_, number, bytes, deadline);
}

task<> store_writer::send(bool all, time_point deadline) {
  auto beginning = begin(deadline);
  co_await beginning;
  const std::size_t bytes = part_bytes();
  std::vector<task<std::string>> parts;
  std::vector<std::uint64_t> lengths;
  std::size_t at = 0;
  std::size_t number = upload_->tags.size();
  while (at != held_.size() && (all || held_.size() - at >= bytes)) {
    if (number == kPartsMax)
      co_await fail(resource_exhausted_error(
                        joined("the object has more than ", kPartsMax, " parts: write it in several (shards)"))
                        .in_file(path_.text));
    const std::size_t n = std::min(bytes, held_.size() - at);
    lengths.push_back(n);
    parts.push_back(send_part(++number, std::span<const char>(held_.data() + at, n), deadline));
    at += n;
  }
  std::vector<std::string> tags = co_await when_all(std::move(parts));
  for (std::string& tag : tags) upload_->tags.push_back(std::move(tag));
  upload_->part_bytes.insert(upload_->part_bytes.end(), lengths.begin(), lengths.end());
  upload_->bytes += at;
  held_.erase(0, at);
  charge();
}

task<> store_writer::write(buffer_ref from, std::size_t at, std::size_t n, time_point deadline) {
  std::span<const char> rest(from->data() + at, n);
  while (!rest.empty()) {
    const std::size_t taken = std::min(rest.size(), room() - held_.size());
    add(rest.first(taken));
    rest = rest.subspan(taken);
    // a full part that may be the whole object is sent by commit()
    if (held_.size() != room() || rest.empty()) continue;
    auto sending = send(false, deadline);
    co_await sending;
  }
}

task<file_info> store_writer::commit(time_point deadline) {
  file_info info;
  if (!upload_ && held_.size() <= kPartBytes && store_->puts_whole()) {
    auto putting = store_->put(path_, std::span<const char>(held_), deadline);
    info = co_await putting;
  } else {
    if (store_->parts_at_once() != 0 || !upload_) {
      auto sending = send(store_->parts_at_once() != 0, deadline);
      co_await sending;
    }
    auto finishing = store_->finish_upload(*upload_, std::span<const char>(held_), deadline);
    info = co_await finishing;
  }
  committed_ = true;
  held_.clear();
  charge();
  co_return info;
}

}  // namespace sluice::lib::detail
