// SPDX-License-Identifier: Apache-2.0
// A scheme that is implemented with public headers only.
#include "sluice/io/memory_files.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "sluice/base/content_hash.hpp"
#include "sluice/base/mutex.hpp"
#include "sluice/io/conditional_files.hpp"
#include "sluice/io/path_pattern.hpp"

namespace sluice::lib {

namespace {

struct file_content {
  explicit file_content(std::string b) : bytes(std::move(b)) {
    info.size_bytes = bytes.size();
    info.version = std::to_string(content_hash(bytes));
  }
  const std::string bytes;
  file_info info;
};

}  // namespace

/// The files, by the text after mem://.
struct memory_files::shared_state {
  using content = std::shared_ptr<const file_content>;

  mutable lib::mutex mutex;
  std::map<std::string, content, std::less<>> files ABSL_GUARDED_BY(mutex);
  std::set<std::string, std::less<>> written ABSL_GUARDED_BY(mutex);  ///< files that are being written

  content find(std::string_view key) const {
    mutex_lock lock(mutex);
    auto found = files.find(key);
    return found == files.end() ? nullptr : found->second;
  }
  /// Returns false if another version than this one is there, or none; "": if one is.
  bool put_if(std::string_view key, std::string_view version, content made) {
    mutex_lock lock(mutex);
    auto found = files.find(key);
    if (found == files.end() ? !version.empty() : found->second->info.version != version) return false;
    files.insert_or_assign(std::string(key), std::move(made));
    return true;
  }
  void put(std::string_view key, content made) {
    mutex_lock lock(mutex);
    content& place = files[std::string(key)];
    std::swap(place, made);  // the previous object is destroyed after the mutex is released
  }
};

namespace {

using shared_state = memory_files::shared_state;
constexpr std::string_view kScheme = "mem://";

/// The runtime sends only paths of this scheme here; the scheme may be in upper or lower case.
std::string key_of(std::string_view path) { return std::string(path.substr(std::min(kScheme.size(), path.size()))); }

std::string checked_key(std::string_view path) {
  if (!path.starts_with(kScheme))
    throw_status(
        invalid_argument_error("files in memory have paths that begin with mem://").in_file(std::string(path)));
  return key_of(path);
}

class memory_file final : public file {
 public:
  memory_file(std::string path, shared_state::content from)
      : file(std::move(path), from->info), from_(std::move(from)) {}

  std::uint64_t size_now() const noexcept override { return from_->bytes.size(); }
  ready_read try_read_at(std::uint64_t offset, char* to, std::size_t n) noexcept override {
    const std::string& bytes = from_->bytes;
    if (offset >= bytes.size()) return {};
    n = std::min<std::size_t>(n, bytes.size() - offset);
    std::memcpy(to, bytes.data() + offset, n);
    return {.bytes = n};
  }
  task<std::size_t> read_at(std::uint64_t offset, buffer_ref to, std::size_t at, std::size_t n, time_point) override {
    std::size_t got = try_read_at(offset, to->data() + at, n).bytes;
    co_return got;
  }

 private:
  const shared_state::content from_;
};

class memory_writer final : public file_writer {
 public:
  memory_writer(std::string key, std::shared_ptr<shared_state> state)
      : key_(std::move(key)), state_(std::move(state)) {}
  ~memory_writer() override {
    mutex_lock lock(state_->mutex);
    state_->written.erase(key_);
  }
  task<> write(buffer_ref from, std::size_t at, std::size_t n, time_point) override {
    const char* bytes = from->data() + at;
    bytes_.append(bytes, n);
    co_return;
  }
  task<file_info> commit(time_point) override {
    auto made = std::make_shared<const file_content>(std::move(bytes_));
    file_info info = made->info;
    state_->put(key_, std::move(made));
    co_return std::move(info);
  }

 private:
  const std::string key_;
  const std::shared_ptr<shared_state> state_;
  std::string bytes_;
};

/// Lists in pages, so that a long list is not copied under the mutex. A file added after the last returned one is still
/// found.
class memory_listing final : public listing {
 public:
  memory_listing(std::string_view scheme, std::string pattern, std::shared_ptr<shared_state> state)
      : scheme_(scheme), pattern_(std::move(pattern)), state_(std::move(state)) {}

  task<std::vector<listed_file>> next(time_point) override {
    std::vector<listed_file> page = next_page();
    if (page.empty() && !is_any_given_) {
      status why = pattern_.is_plain()
                       ? not_found_error("there is no such file").in_file(scheme_ + pattern_.text())
                       : not_found_error("no file matches the pattern \"" + scheme_ + pattern_.text() + "\"");
      co_await fail(std::move(why));
    }
    is_any_given_ = true;
    co_return std::move(page);
  }

 private:
  static constexpr std::size_t kPage = 1000;

  std::vector<listed_file> next_page() {
    std::vector<listed_file> page;
    mutex_lock lock(state_->mutex);
    auto at = is_any_given_ ? state_->files.upper_bound(last_) : state_->files.lower_bound(pattern_.prefix());
    for (; at != state_->files.end() && at->first.starts_with(pattern_.prefix()) && page.size() != kPage; ++at) {
      if (!pattern_.matches(at->first)) continue;
      page.push_back({scheme_ + at->first, at->second->info});
      last_ = at->first;
    }
    return page;
  }

  const std::string scheme_;
  const path_pattern pattern_;
  const std::shared_ptr<shared_state> state_;
  std::string last_;  ///< the last path of the previous page
  bool is_any_given_ = false;
};

class memory_file_system final : public file_system, public conditional_files {
 public:
  explicit memory_file_system(std::shared_ptr<shared_state> state) : state_(std::move(state)) {}

  task<std::unique_ptr<file>> open(std::string path, open_options o) override {
    shared_state::content from = state_->find(key_of(path));
    status why;
    if (!from) why = not_found_error("there is no such file").in_file(path);
    else if (o.known && *o.known != from->info)
      why = failed_precondition_error("is another file than the one that was listed").in_file(path);
    if (!why.ok()) co_await fail(std::move(why));
    std::unique_ptr<file> opened = std::make_unique<memory_file>(std::move(path), std::move(from));
    co_return std::move(opened);
  }
  task<file_info> stat(std::string path, time_point) override {
    shared_state::content from = state_->find(key_of(path));
    if (!from) {
      status why = not_found_error("there is no such file").in_file(std::move(path));
      co_await fail(std::move(why));
    }
    file_info info = from->info;
    co_return std::move(info);
  }
  std::unique_ptr<listing> list(std::string pattern, list_options) override {
    const std::string_view scheme = std::string_view(pattern).substr(0, kScheme.size());
    return std::make_unique<memory_listing>(scheme, key_of(pattern), state_);
  }
  task<std::unique_ptr<file_writer>> create(std::string path, time_point) override {
    const std::string key = key_of(path);
    if (!claim(key)) {
      status why = unavailable_error("another writer has it open").in_file(std::move(path));
      co_await fail(std::move(why));
    }
    std::unique_ptr<file_writer> writer = std::make_unique<memory_writer>(key, state_);
    co_return std::move(writer);
  }
  task<file_info> put_if(std::string path, std::string bytes, std::string version, time_point) override {
    auto made = std::make_shared<const file_content>(std::move(bytes));
    file_info info = made->info;
    status why;
    if (!state_->put_if(key_of(path), version, std::move(made)))
      why = status(status_code::already_exists, "another version is there").in_file(path);
    if (!why.ok()) co_await fail(std::move(why));
    co_return std::move(info);
  }
  task<> remove(std::string path, time_point) override {
    erase(key_of(path));
    co_return;
  }
  std::string description() const override { return {}; }

 private:
  void erase(const std::string& key) {
    mutex_lock lock(state_->mutex);
    state_->files.erase(key);
  }
  bool claim(const std::string& key) {
    mutex_lock lock(state_->mutex);
    return state_->written.insert(key).second;
  }
  const std::shared_ptr<shared_state> state_;
};

}  // namespace

memory_files::memory_files() : state_(std::make_shared<shared_state>()) {}

void memory_files::put(std::string_view path, std::string bytes) {
  state_->put(checked_key(path), std::make_shared<const file_content>(std::move(bytes)));
}

std::optional<std::string> memory_files::get(std::string_view path) const {
  const shared_state::content from = state_->find(checked_key(path));
  if (!from) return std::nullopt;
  return from->bytes;
}

bool memory_files::remove(std::string_view path) {
  const std::string key = checked_key(path);
  mutex_lock lock(state_->mutex);
  return state_->files.erase(key) != 0;
}

std::size_t memory_files::size() const {
  mutex_lock lock(state_->mutex);
  return state_->files.size();
}

std::size_t memory_files::size_bytes() const {
  mutex_lock lock(state_->mutex);
  std::size_t bytes = 0;
  for (auto& [key, content] : state_->files) bytes += content->bytes.size();
  return bytes;
}

memory_files add_memory_files(runtime& rt, memory_files files) {
  add_files(rt, "mem", std::make_unique<memory_file_system>(files.state_));
  return files;
}

}  // namespace sluice::lib
