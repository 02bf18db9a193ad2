// SPDX-License-Identifier: Apache-2.0
#include "store/object_cache.hpp"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <chrono>

#include "sluice/coro/resume_on.hpp"
#include "sluice/coro/sleep_until.hpp"
#include "sluice/coro/sync_wait.hpp"
#include "sluice/coro/when_all.hpp"
#include "sluice/io/conditional_files.hpp"
#include "sluice/io/files.hpp"
#include "store/cache_frame.hpp"
#include "store/cache_object.hpp"
#include "store/cache_table.hpp"

namespace sluice::lib {
namespace {

constexpr std::size_t kSmallObjectBytes = std::size_t{64} << 20;
constexpr duration kLeavingLooks = std::chrono::milliseconds(5);

}  // namespace

object_cache::~object_cache() {
  mutex_lock lock(mutex_);
  if (keeping_) keeping_->request_stop();
}

object_cache::object_cache(std::string path, runtime& rt)
    : path_(std::move(path)),
      rt_(rt),
      alive_(cache_table::of(rt)),
      leaving_(std::make_shared<run_context>(rt, run_options())) {}

result<std::shared_ptr<object_cache>> object_cache::open(std::string path, bool rebuilds, runtime& rt) {
  while (path.ends_with('/')) path.pop_back();
  std::shared_ptr<object_cache> made(new object_cache(std::move(path), rt));
  status why = made->wait_for(made->read_head());
  const bool is_damaged = rebuilds && why.code() == status_code::data_loss;
  if (!why.ok() && !is_damaged) return why;
  mutex_lock lock(made->mutex_);
  made->is_damaged_ = is_damaged;
  return made;
}

status object_cache::wait_for(task<> work) const { return sync_wait_result(rt_.root(), std::move(work)); }

status object_cache::damage(const std::string& object, std::string_view what) const {
  return data_loss_error(absl::StrCat("the cache is damaged: ", std::string(what),
                                      "; drop the cache, or write on_mismatch=rebuild, to make the elements again"))
      .in_file(object);
}

status object_cache::lost() const {
  return status(status_code::aborted, "another process writes this cache now").in_file(path_);
}

std::string object_cache::in_generation(std::string_view name) const {
  mutex_lock lock(mutex_);
  return absl::StrCat(path_, "/", generation_, "/", std::string(name));
}
std::string object_cache::block_path(std::uint64_t ordinal) const {
  return in_generation(absl::StrFormat("%020d", ordinal));
}

bool object_cache::is_damaged() const {
  mutex_lock lock(mutex_);
  return is_damaged_;
}
std::string object_cache::head() const {
  mutex_lock lock(mutex_);
  return head_;
}
std::uint64_t object_cache::length() const {
  mutex_lock lock(mutex_);
  return length_;
}
std::uint64_t object_cache::size_bytes() const {
  mutex_lock lock(mutex_);
  std::uint64_t bytes = head_.size();
  for (const auto& [ordinal, b] : known_) bytes += kFrameHeaderBytes + b.position.size() + b.bytes;
  return bytes;
}

bool object_cache::can_write() {
  mutex_lock lock(mutex_);
  return head_.empty() || !lease_version_.empty();
}

bool object_cache::is_written_elsewhere() const {
  mutex_lock lock(mutex_);
  return lease_version_.empty() && seen_.is_held && !seen_.is_of_this_process;
}

bool object_cache::has_grown() const {
  mutex_lock lock(mutex_);
  if (!lease_version_.empty() || (length_ != kUnknown && damaged_.empty())) return false;
  return !has_looked_ || rt_.time().now() - looked_ >= kLooks;
}

status object_cache::scan(std::vector<stored_block>& found) {
  mutex_lock lock(mutex_);
  for (stored_block& b : pending_) found.push_back(std::move(b));
  pending_.clear();
  return {};
}

// --- the lease ------------------------------------------------------------------------------------------------------

task<bool> object_cache::take_lease() {
  auto reading = fetch_object(rt_, at(kCacheLease), kSmallObjectBytes);
  auto there = co_await reading.as_result();
  if (!there.ok() && there.why().code() != status_code::not_found) co_await fail(there.why());
  std::string version;
  bool is_taken = false;
  if (there.ok()) {
    version = there->version;
    const lease_text lease = parse_lease(there->bytes);
    const time_point now = rt_.time().now();
    mutex_lock lock(mutex_);
    if (seen_.version != version) seen_ = {version, now};
    seen_.is_held = lease.is_held;
    seen_.is_of_this_process = lease.is_of_this_process;
    is_taken = lease.is_held && now - seen_.since < kLease;
  }
  if (is_taken) co_return false;
  auto putting = put_object(rt_, at(kCacheLease), lease_now(true), std::move(version));
  std::string made = co_await putting;
  if (made.empty()) co_return false;
  std::shared_ptr<run_context> run = rt_.new_run();
  {
    mutex_lock lock(mutex_);
    lease_version_ = std::move(made);
    seen_ = {};
    keeping_ = run;
  }
  keep_lease(run, weak_from_this());
  co_return true;
}

task<bool> object_cache::has_lease() {
  bool is_writer = false;
  {
    mutex_lock lock(mutex_);
    is_writer = !lease_version_.empty();
  }
  if (is_writer) co_return true;
  auto taking = take_lease();
  co_return co_await taking;
}

task<bool> object_cache::renew_lease() {
  std::string version;
  {
    mutex_lock lock(mutex_);
    version = lease_version_;
    is_renewing_ = !version.empty();
  }
  if (version.empty()) co_return false;
  auto putting = put_object(rt_, at(kCacheLease), lease_now(true), std::move(version));
  auto made = co_await putting.as_result();
  mutex_lock lock(mutex_);
  is_renewing_ = false;
  if (made.ok()) lease_version_ = *std::move(made);  // else the store cannot be reached: the next time may do
  co_return !lease_version_.empty();
}

namespace {

task<> lease_pause() { co_await sleep_for(object_cache::kLease / 4); }

}  // namespace

run_task object_cache::keep_lease(std::shared_ptr<run_context>& run, std::weak_ptr<object_cache> of) {
  const std::weak_ptr<object_cache> cache = std::move(of);
  environment* env = run.get();
  resume_on to_a_worker(*env->exec);
  co_await to_a_worker;
  for (;;) {
    auto pausing = lease_pause();
    const status why = co_await pausing.as_result();
    if (!why.ok()) break;  // the lease was given up, or the runtime ends
    const std::shared_ptr<object_cache> here = cache.lock();
    if (!here) break;
    auto renewing = here->renew_lease();
    auto renewed = co_await renewing.as_result();
    if (!renewed.ok() || !*renewed) break;
  }
}

task<> object_cache::release_lease() {
  std::shared_ptr<run_context> keeping;
  {
    mutex_lock lock(mutex_);
    keeping = std::move(keeping_);
  }
  if (keeping) keeping->request_stop();
  std::string version;
  for (;;) {
    bool waits = false;
    {
      mutex_lock lock(mutex_);
      waits = is_renewing_;
      if (!waits) version = std::exchange(lease_version_, {});
      has_looked_ = false;
    }
    if (!waits) break;
    co_await sleep_for(kLeavingLooks);
  }
  if (version.empty()) co_return;
  auto putting = put_object(rt_, at(kCacheLease), lease_now(false), std::move(version));
  co_await putting;
}

// --- what others have written ---------------------------------------------------------------------------------------

task<> object_cache::read_head() {
  auto reading = fetch_object(rt_, at(kCacheHead), kSmallObjectBytes);
  auto there = co_await reading.as_result();
  if (!there.ok() && there.why().code() == status_code::not_found) co_return;
  if (!there.ok()) co_await fail(there.why());
  const std::string& bytes = there->bytes;
  object_frame f;
  {
    mutex_lock lock(mutex_);
    head_version_ = there->version;
  }
  if (bytes.size() >= 4 && !has_frame_magic(bytes))
    co_await fail(failed_precondition_error("the object is not of a cache of sluice; name another path for the cache")
                      .in_file(at(kCacheHead)));
  if (!parse_object(bytes, frame_kind::head, f))
    co_await fail(damage(at(kCacheHead), "the checksum of its head is wrong"));
  mutex_lock lock(mutex_);
  generation_ = f.position;
  head_ = f.elements;
}

status object_cache::look(bool takes) {
  mutex_lock looking(looking_);
  return wait_for(look_now(takes));
}

task<> object_cache::look_now(bool takes) {
  for (;;) {
    bool waits = false;
    {
      mutex_lock lock(mutex_);
      waits = is_leaving_;
    }
    if (!waits) break;
    co_await sleep_for(kLeavingLooks);
  }
  std::string before;
  {
    mutex_lock lock(mutex_);
    if (!lease_version_.empty() || head_.empty()) co_return;
    before = head_version_;
    looked_ = rt_.time().now();
    has_looked_ = has_looked_ || takes;
  }
  if (takes) {
    auto taking = take_lease();
    const bool is_writer = co_await taking;
    if (is_writer) {
      auto reading = fetch_object(rt_, at(kCacheHead), kSmallObjectBytes);
      auto there = co_await reading.as_result();
      if (!there.ok() || there->version != before) {
        auto releasing = release_lease();
        status unused = co_await releasing.as_result();
        co_await fail(
            unavailable_error("another process has replaced or dropped this cache; run again").in_file(path_));
      }
    }
  }
  auto listing = list_blocks();
  co_await listing;
}

task<> object_cache::list_blocks() {
  const std::string folder = in_generation("");
  auto listing = list_objects(rt_, folder + "*");
  const std::vector<std::string> paths = co_await listing;
  std::vector<std::uint64_t> found;
  bool has_end = false;
  for (const std::string& path : paths) {
    const std::string_view name = std::string_view(path).substr(std::min(folder.size(), path.size()));
    std::uint64_t ordinal = 0;
    if (name == kCacheEnd) has_end = true;
    else if (parse_ordinal(name, ordinal)) found.push_back(ordinal);
  }
  if (has_end) {
    auto reading = read_end();
    co_await reading;
  }
  std::vector<std::uint64_t> unknown;
  {
    mutex_lock lock(mutex_);
    for (std::uint64_t ordinal : found)
      if (!known_.contains(ordinal) && !damaged_.contains(ordinal)) unknown.push_back(ordinal);
  }
  auto adding = add_headers(std::move(unknown));
  co_await adding;
}

void object_cache::add_known(stored_block b) {
  auto [place, is_new] = known_.try_emplace(b.ordinal, b);
  if (!is_new) return;
  pending_.push_back(std::move(b));
}

task<> object_cache::read_end() {
  const std::string path = in_generation(kCacheEnd);
  auto reading = fetch_object(rt_, path, kSmallObjectBytes);
  const fetched_object there = co_await reading;
  object_frame f;
  std::vector<stored_block> blocks;
  if (!parse_object(there.bytes, frame_kind::end, f) || !parse_index(f.elements, blocks))
    co_await fail(damage(path, "the checksum of its end is wrong"));
  mutex_lock lock(mutex_);
  end_version_ = there.version;
  length_ = f.header.ordinal;
  for (stored_block& b : blocks)
    if (!damaged_.contains(b.ordinal)) add_known(std::move(b));
}

task<> object_cache::add_headers(std::vector<std::uint64_t> ordinals) {
  for (std::size_t first = 0; first < ordinals.size(); first += kObjectsAtOnce) {
    std::vector<task<stored_block>> some;
    for (std::size_t i = first; i != std::min(first + kObjectsAtOnce, ordinals.size()); ++i)
      some.push_back(fetch_header(rt_, block_path(ordinals[i]), ordinals[i]));
    std::vector<stored_block> blocks = co_await when_all(std::move(some));
    mutex_lock lock(mutex_);
    for (stored_block& b : blocks) {
      if (b.count == 0) continue;  // damaged: a block without elements does not exist
      add_known(std::move(b));
    }
  }
}

result<std::string> object_cache::read(const stored_block& b) { return sync_wait_result(rt_.root(), read_block(b)); }

task<std::string> object_cache::read_block(stored_block b) {
  const std::string path = block_path(b.ordinal);
  auto reading = fetch_object(rt_, path, kFrameBodyBytesMax);
  auto there = co_await reading.as_result();
  if (!there.ok() && there.why().code() != status_code::not_found) co_await fail(there.why());
  object_frame f;
  const bool is_right = there.ok() && parse_object(there->bytes, frame_kind::block, f) &&
                        f.header.ordinal == b.ordinal && f.header.count == b.count && f.header.crc == b.crc;
  if (!is_right) {
    {
      mutex_lock lock(mutex_);
      damaged_[b.ordinal] = there.ok() ? there->version : std::string();
      known_.erase(b.ordinal);
    }
    const std::string_view what = there.ok() ? "the checksum of a block is wrong" : "a block is missing";
    status why = damage(path, what);
    co_await fail(std::move(why));
  }
  co_return std::string(f.elements);
}

}  // namespace sluice::lib
