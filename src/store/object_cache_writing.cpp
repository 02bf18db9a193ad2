// SPDX-License-Identifier: Apache-2.0
// The parts of object_cache that write.
#include <absl/strings/str_cat.h>

#include "runtime/run_task.hpp"
#include "sluice/coro/resume_on.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/coro/sync_wait.hpp"
#include "sluice/io/conditional_files.hpp"
#include "sluice/io/files.hpp"
#include "store/cache_frame.hpp"
#include "store/cache_object.hpp"
#include "store/object_cache.hpp"

namespace sluice::lib {

task<> object_cache::put_head(std::string head) {
  std::string version;
  {
    mutex_lock lock(mutex_);
    version = head_version_;
  }
  const std::string generation = unique_name();
  frame_header h{.kind = frame_kind::head};
  const std::string frame = frame_of(h, generation, head);
  auto putting = put_object(rt_, at(kCacheHead), frame, version);
  std::string made = co_await putting;
  if (made.empty()) {
    auto reading = read_head();
    co_await reading;
    co_return;
  }
  // A server that ignores the condition would replace the head here, by the same bytes.
  auto again = conditional_files_of(rt_).put_if(at(kCacheHead), frame, version, io_deadline(rt_));
  auto probe = co_await again.as_result();
  if (probe.ok())
    co_await fail(unimplemented_error("the server ignores conditions of writes (If-None-Match, If-Match), so two "
                                      "processes could write this cache at once; name a local file")
                      .in_file(path_));
  mutex_lock lock(mutex_);
  head_ = std::move(head);
  head_version_ = std::move(made);
  generation_ = generation;
  is_damaged_ = false;
  known_.clear();
  pending_.clear();
  damaged_.clear();
  length_ = kUnknown;
  end_version_.clear();
}

status object_cache::begin(std::string_view head) { return wait_for(put_head(std::string(head))); }
status object_cache::replace(std::string_view head) { return wait_for(replace_now(std::string(head))); }

task<> object_cache::replace_now(std::string head) {
  auto asking = has_lease();
  const bool is_writer = co_await asking;
  if (!is_writer)
    co_await fail(
        unavailable_error("another process writes this cache, or was killed less than 10 s ago, so it cannot be "
                          "replaced now")
            .in_file(path_));
  const std::string mine = head;
  auto putting = put_head(std::move(head));
  co_await putting;
  if (this->head() != mine) co_await fail(lost());
  auto removing = remove_objects(in_generation(""));
  co_await removing;
}

task<> object_cache::remove_objects(std::string except) {
  auto listing = list_objects(rt_, path_ + "/*/*");
  std::vector<std::string> all = co_await listing;
  for (std::string& path : all) {
    if (!except.empty() && path.starts_with(except)) continue;
    auto removing = conditional_files_of(rt_).remove(std::move(path), io_deadline(rt_));
    co_await removing;
  }
}

status object_cache::append(stored_block& b, const byte_parts& elements) {
  auto made = sync_wait_result(rt_.root(), append_now(b, elements.joined()));
  if (!made.ok()) return made.why();
  b = *std::move(made);
  return {};
}

task<stored_block> object_cache::append_now(stored_block b, std::string elements) {
  auto asking = has_lease();
  const bool is_writer = co_await asking;
  if (!is_writer) co_await fail(lost());
  frame_header h{.ordinal = b.ordinal, .count = b.count};
  std::string version;
  {
    mutex_lock lock(mutex_);
    auto damaged = damaged_.find(b.ordinal);
    if (damaged != damaged_.end()) version = damaged->second;
  }
  auto putting = put_object(rt_, block_path(b.ordinal), frame_of(h, b.position, elements), std::move(version));
  const std::string made = co_await putting;
  if (made.empty()) {
    auto releasing = release_lease();
    status unused = co_await releasing.as_result();
    co_await fail(lost());
  }
  b.bytes = h.element_bytes;
  b.crc = h.crc;
  mutex_lock lock(mutex_);
  damaged_.erase(b.ordinal);
  known_[b.ordinal] = b;
  is_changed_ = true;
  co_return std::move(b);
}

status object_cache::finish(std::uint64_t length) { return wait_for(finish_now(length)); }

task<> object_cache::finish_now(std::uint64_t length) {
  std::string version, index;
  bool is_done = false;
  {
    mutex_lock lock(mutex_);
    is_done = length_ == length && !is_changed_;
    version = end_version_;
    index = index_of(known_);
  }
  if (!is_done) {
    frame_header h{.kind = frame_kind::end, .ordinal = length};
    auto putting = put_object(rt_, in_generation(kCacheEnd), frame_of(h, {}, index), std::move(version));
    std::string made = co_await putting;
    if (made.empty()) co_await fail(lost());
    mutex_lock lock(mutex_);
    end_version_ = std::move(made);
    length_ = length;
    is_changed_ = false;
  }
  auto releasing = release_lease();
  co_await releasing;
}

task<> object_cache::end_again() {
  std::uint64_t length = kUnknown;
  {
    mutex_lock lock(mutex_);
    if (is_changed_) length = length_;
  }
  auto ending = length == kUnknown ? release_lease() : finish_now(length);
  co_await ending;
}

run_task object_cache::leave_now(std::shared_ptr<run_context>& run, std::shared_ptr<object_cache> of,
                                 unwritten blocks) {
  auto cache = std::move(of);
  unwritten rest = std::move(blocks);
  environment* env = run.get();
  resume_on to_a_worker(*env->exec);
  co_await to_a_worker;
  for (auto& [b, elements] : rest) {
    auto adding = cache->append_now(std::move(b), std::move(elements));
    auto added = co_await adding.as_result();
    if (!added.ok()) break;  // a later run makes these elements again
  }
  // A block that was damaged and is written again may differ from what the end says.
  auto ending = cache->end_again();
  status unused = co_await ending.as_result();  // the lease expires
  mutex_lock lock(cache->mutex_);
  cache->is_leaving_ = false;
}

void object_cache::leave(unwritten blocks) noexcept {
  if (alive_.expired()) return;
  {
    mutex_lock lock(mutex_);
    if (lease_version_.empty() || is_leaving_) return;
    is_leaving_ = true;
  }
  try {
    auto run = leaving_;
    leave_now(run, shared_from_this(), std::move(blocks));
  } catch (...) {  // no memory
    mutex_lock lock(mutex_);
    is_leaving_ = false;
  }
}

status object_cache::drop() { return wait_for(drop_now()); }

task<> object_cache::drop_now() {
  const time_point until = rt_.time().now() + kLease + kLooks;
  for (;;) {
    auto taking = take_lease();
    const bool is_writer = co_await taking;
    if (is_writer) break;
    if (rt_.time().now() >= until)
      co_await fail(unavailable_error("another process writes this cache; try again when it has ended").in_file(path_));
    co_await sleep_for(kLooks);
  }
  auto removing = remove_objects({});
  co_await removing;
  for (std::string_view name : {kCacheHead, kCacheLease}) {
    auto one = conditional_files_of(rt_).remove(at(name), io_deadline(rt_));
    co_await one;
  }
}

}  // namespace sluice::lib
