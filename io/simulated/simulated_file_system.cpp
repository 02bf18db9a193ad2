// SPDX-License-Identifier: Apache-2.0
#include "sluice/io/simulated_file_system.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "io/paths/glob.hpp"
#include "io/paths/listed.hpp"
#include "io/simulated/before.hpp"
#include "sluice/base/hash.hpp"
#include "sluice/coro/sleep_until.hpp"

namespace sluice::lib {

struct simulated_file_system::content {
  std::string bytes;
  std::int64_t modified_ns = 0;
  std::uint64_t inode = 0;
  bool is_stream = false;
  bool has_size = true;
  bool hangs = false;
  std::set<std::uint64_t> damaged;

  file_info info() const {
    file_info is;
    is.is_stream = is_stream;
    if (is_stream) return is;
    if (has_size) is.size_bytes = bytes.size();
    is.modified_ns = modified_ns;
    is.inode = inode;
    return is;
  }
};

/// Lives as long as the file system and all open files.
struct simulated_file_system::shared_state {
  std::size_t open = 0;
  std::uint64_t opens = 0, looks = 0, reads = 0;
  std::size_t waiting = 0, waiting_max = 0;
  time_point link_free{};  ///< the moment from which on the shared link has no bytes of earlier reads
};

using detail::another_file;

namespace {

/// Counts a waiting read in `waiting` while this object lives.
class counted_wait {
 public:
  counted_wait(std::size_t& waiting, std::size_t& most) : waiting_(waiting) { most = std::max(most, ++waiting_); }
  counted_wait(const counted_wait&) = delete;
  ~counted_wait() { --waiting_; }

 private:
  std::size_t& waiting_;
};

}  // namespace

class simulated_file final : public file {
 public:
  using content = simulated_file_system::content;
  using shared_state = simulated_file_system::shared_state;

  /// `from`: null if the file was assumed to match `info`, which the first read checks.
  simulated_file(std::string path, file_info info, std::shared_ptr<content> from, simulated_file_system& home,
                 std::size_t head_bytes)
      : file(std::move(path), std::move(info), head_bytes), from_(std::move(from)), home_(home), state_(home.state_) {
    ++state_->open;
  }
  ~simulated_file() override { --state_->open; }
  std::uint64_t size_now() const noexcept override {
    if (!from_) return size_bytes();
    return from_->has_size && !from_->is_stream ? from_->bytes.size() : file_info::kUnknownSize;
  }

  ready_read try_read_at(std::uint64_t offset, char* to, std::size_t n) noexcept override {
    ++state_->reads;
    if (!from_ || from_->is_stream || !home_.world_.chance(home_.behaviour_.page_cache_hits))
      return {.must_wait = true};
    if (n > 1 && home_.world_.chance(home_.behaviour_.short_reads)) n = 1 + home_.world_.random(n - 1);
    ready_read now;
    now.why = copy(offset, to, n, now.bytes);
    return now;
  }

  task<std::size_t> read_at(std::uint64_t offset, buffer_ref to, std::size_t at, std::size_t n,
                            time_point deadline) override {
    ++state_->reads;
    std::shared_ptr<shared_state> state = state_;
    counted_wait counted(state->waiting, state->waiting_max);
    status why;
    auto from = from_ ? result(from_) : home_.find(path());
    duration delay = from.ok() && (*from)->hangs ? detail::kSilence : home_.draw_delay();
    if (from.ok()) {
      const std::uint64_t size = (*from)->bytes.size();
      delay = home_.transfer(delay, std::min<std::uint64_t>(n, size - std::min(size, offset)));
    }
    auto answering = home_.answer_after(delay, path(), offset, deadline);
    co_await answering;
    why = settle();
    if (!why.ok()) co_await fail(std::move(why));
    if (from_->is_stream && n > 1) n = 1 + home_.world_.random(n - 1);
    std::size_t got = 0;
    why = copy(offset, to->data() + at, n, got);
    if (!why.ok()) co_await fail(std::move(why));
    co_return got;
  }

 private:
  /// Checks that a file that was assumed to match a listing still does.
  status settle() {
    if (from_) return {};
    auto found = home_.find(path());
    if (!found.ok()) return found.why();
    if ((*found)->info() != info()) return another_file(path());
    from_ = *std::move(found);
    return {};
  }
  status copy(std::uint64_t offset, char* to, std::size_t n, std::size_t& got) noexcept {
    got = 0;
    if (home_.world_.chance(home_.behaviour_.read_failures)) return damage(offset);
    if (offset >= from_->bytes.size()) return {};
    n = std::min<std::size_t>(n, from_->bytes.size() - offset);
    auto hit = from_->damaged.lower_bound(offset);
    if (hit != from_->damaged.end() && *hit < offset + n) return damage(offset);
    std::memcpy(to, from_->bytes.data() + offset, n);
    got = n;
    return {};
  }
  status damage(std::uint64_t offset) const { return errno_error(EIO, "cannot read").in_file(path(), offset); }

  std::shared_ptr<content> from_;  // the test appends to it and truncates it
  simulated_file_system& home_;
  std::shared_ptr<shared_state> state_;
};

simulated_file_system::simulated_file_system(simulation& world, simulated_io behaviour)
    : world_(world), behaviour_(behaviour), state_(std::make_shared<shared_state>()) {}
simulated_file_system::~simulated_file_system() = default;

simulated_file_system::content& simulated_file_system::make(std::string path, std::string bytes) {
  auto made = std::make_shared<content>();
  made->bytes = std::move(bytes);
  made->modified_ns = world_.elapsed().count();
  made->inode = stable_hash(path) + ++generations_[path];
  auto& place = files_[std::move(path)];
  place = std::move(made);
  return *place;
}
void simulated_file_system::put(std::string path, std::string bytes) { make(std::move(path), std::move(bytes)); }
void simulated_file_system::put_stream(std::string path, std::string bytes) {
  make(std::move(path), std::move(bytes)).is_stream = true;
}
void simulated_file_system::append(const std::string& path, const std::string& bytes) {
  content& c = *files_.at(path);
  c.bytes += bytes;
  c.modified_ns = world_.elapsed().count();
}
void simulated_file_system::cut(const std::string& path, std::size_t size_bytes) {
  content& c = *files_.at(path);
  c.bytes.resize(std::min(c.bytes.size(), size_bytes));
  c.modified_ns = world_.elapsed().count();
}
void simulated_file_system::hide_size(const std::string& path) { files_.at(path)->has_size = false; }
void simulated_file_system::hang(const std::string& path) { files_.at(path)->hangs = true; }
void simulated_file_system::remove(const std::string& path) { files_.erase(path); }
void simulated_file_system::refuse(const std::string& path, int error_number) { refused_[path] = error_number; }
void simulated_file_system::damage(const std::string& path, std::uint64_t offset) {
  files_.at(path)->damaged.insert(offset);
}
std::size_t simulated_file_system::files_open() const noexcept { return state_->open; }
std::uint64_t simulated_file_system::opens() const noexcept { return state_->opens; }
std::uint64_t simulated_file_system::looks() const noexcept { return state_->looks; }
std::uint64_t simulated_file_system::reads() const noexcept { return state_->reads; }

std::size_t simulated_file_system::reads_at_once() const noexcept { return state_->waiting_max; }
std::optional<std::string> simulated_file_system::contents(const std::string& path) const {
  auto found = files_.find(path);
  if (found == files_.end()) return std::nullopt;
  return found->second->bytes;
}

duration simulated_file_system::draw_delay() {
  auto span = static_cast<std::uint64_t>((behaviour_.delay_max - behaviour_.delay_min).count());
  return behaviour_.delay_min + duration(static_cast<std::int64_t>(world_.random(span + 1)));
}

result<std::shared_ptr<simulated_file_system::content>> simulated_file_system::find(const std::string& path) const {
  auto refused = refused_.find(path);
  if (refused != refused_.end()) return errno_error(refused->second, "cannot open").in_file(path);
  auto found = files_.find(path);
  if (found == files_.end()) return errno_error(ENOENT, "cannot open").in_file(path);
  return std::shared_ptr<content>(found->second);
}

task<> simulated_file_system::answer_after(duration delay, std::string path, std::uint64_t offset,
                                           time_point deadline) {
  environment* env = co_await this_environment();
  time_point due = env->time->now() + delay;
  co_await sleep_until(std::min(due, deadline));
  if (due <= deadline) co_return;
  status why = status(status_code::deadline_exceeded, "no answer until the deadline").in_file(path, offset);
  co_await fail(std::move(why));
}

duration simulated_file_system::transfer(duration delay, std::uint64_t bytes) {
  const auto time_for = [bytes](double per_second) {
    const double ns = per_second > 0 ? static_cast<double>(bytes) / per_second * 1e9 : 0;
    return duration(static_cast<duration::rep>(ns));
  };
  const time_point now = world_.now(), begins = now + delay;
  state_->link_free = std::max(state_->link_free, begins) + time_for(behaviour_.bytes_per_second);
  return std::max(begins + time_for(behaviour_.read_bytes_per_second), state_->link_free) - now;
}

std::size_t simulated_file_system::read_head(const content& from, const open_options& o) {
  if (!o.head || from.is_stream || from.bytes.empty() || !world_.chance(behaviour_.heads)) return 0;
  std::size_t n = std::min(o.head_bytes, from.bytes.size());
  if (n > 1 && world_.chance(behaviour_.short_reads)) n = 1 + world_.random(n - 1);
  const bool fails =
      world_.chance(behaviour_.read_failures) || from.damaged.lower_bound(0) != from.damaged.lower_bound(n);
  if (fails || from.hangs) return 0;
  ++state_->reads;
  std::memcpy(o.head->data(), from.bytes.data(), n);
  return n;
}

task<std::unique_ptr<file>> simulated_file_system::open(std::string path, open_options o) {
  ++state_->opens;
  std::shared_ptr<content> from;
  status why;
  if (!o.known) {
    ++state_->looks;
    auto answering = answer(path, o.deadline);
    co_await answering;
    auto found = find(path);
    if (found.ok()) from = *std::move(found);
    else why = found.why();
  }
  if (why.ok() && world_.chance(behaviour_.open_failures)) why = errno_error(EMFILE, "cannot open").in_file(path);
  if (!why.ok()) co_await fail(std::move(why));
  const std::size_t head_bytes = from ? read_head(*from, o) : 0;
  file_info info = from ? from->info() : *std::move(o.known);
  std::unique_ptr<file> opened =
      std::make_unique<simulated_file>(std::move(path), std::move(info), std::move(from), *this, head_bytes);
  co_return std::move(opened);
}

task<file_info> simulated_file_system::stat(std::string path, time_point deadline) {
  ++state_->looks;
  auto answering = answer(path, deadline);
  co_await answering;
  auto found = find(path);
  status why = found.why();
  if (!why.ok()) co_await fail(std::move(why));
  file_info info = (*found)->info();
  co_return std::move(info);
}

/// Lists in pages of a few entries, like a remote listing. A file added after the last returned one is still found.
class simulated_listing final : public listing {
 public:
  simulated_listing(simulated_file_system& home, std::string pattern) : home_(home), pattern_(std::move(pattern)) {}

  task<std::vector<listed_file>> next(time_point deadline) override {
    auto answering = home_.answer(pattern_.text(), deadline);
    co_await answering;
    std::vector<listed_file> page;  // sorted, as in the map
    const std::size_t most = 1 + home_.world_.random(4);
    auto at = last_.empty() ? home_.files_.lower_bound(pattern_.prefix()) : home_.files_.upper_bound(last_);
    for (; at != home_.files_.end() && at->first.starts_with(pattern_.prefix()) && page.size() != most; ++at)
      if (pattern_.matches(at->first)) page.push_back({at->first, at->second->info()});
    if (page.empty() && last_.empty()) {
      status why = detail::nothing_matches(pattern_.text());
      co_await fail(std::move(why));
    }
    if (!page.empty()) last_ = page.back().path;
    co_return std::move(page);
  }

 private:
  simulated_file_system& home_;
  const detail::glob_pattern pattern_;
  std::string last_;  ///< the last path of the previous page
};

std::unique_ptr<listing> simulated_file_system::list(std::string pattern, list_options) {
  return std::make_unique<simulated_listing>(*this, std::move(pattern));
}

class simulated_writer final : public file_writer {
 public:
  simulated_writer(simulated_file_system& home, std::string path) : home_(home), path_(std::move(path)) {}
  ~simulated_writer() override { home_.written_.erase(path_); }

  task<> write(buffer_ref from, std::size_t at, std::size_t n, time_point deadline) override {
    auto answering = home_.answer(path_, deadline);
    co_await answering;
    bytes_.append(from->data() + at, n);
  }
  task<file_info> commit(time_point deadline) override {
    auto answering = home_.answer(path_, deadline);
    co_await answering;
    file_info info = home_.make(path_, std::move(bytes_)).info();
    co_return std::move(info);
  }

 private:
  simulated_file_system& home_;
  std::string path_;
  std::string bytes_;
};

task<std::unique_ptr<file_writer>> simulated_file_system::create(std::string path, time_point deadline) {
  auto answering = answer(path, deadline);
  co_await answering;
  status why;
  auto refused = refused_.find(path);
  if (refused != refused_.end()) why = errno_error(refused->second, "cannot open").in_file(path);
  else if (!written_.insert(path).second) why = unavailable_error("another writer has it open").in_file(path);
  if (!why.ok()) co_await fail(std::move(why));
  std::unique_ptr<file_writer> writer = std::make_unique<simulated_writer>(*this, std::move(path));
  co_return std::move(writer);
}

}  // namespace sluice::lib
