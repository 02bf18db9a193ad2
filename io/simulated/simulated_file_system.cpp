// SPDX-License-Identifier: Apache-2.0
#include "sluice/io/simulated_file_system.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "io/nothing_matches.hpp"
#include "sluice/base/hash.hpp"
#include "sluice/coro/sleep.hpp"

namespace sluice::lib {

struct simulated_file_system::content {
  std::string bytes;
  std::int64_t modified_ns = 0;
  std::uint64_t inode = 0;
  bool is_stream = false;
  std::set<std::uint64_t> damaged;

  file_info info() const {
    file_info is;
    is.is_stream = is_stream;
    if (is_stream) return is;
    is.size_bytes = bytes.size();
    is.modified_ns = modified_ns;
    is.inode = inode;
    return is;
  }
};

/// Outlives the file system as long as a file is open.
struct simulated_file_system::shared_state {
  std::size_t open = 0;
  std::uint64_t reads = 0;
};

class simulated_file final : public file {
 public:
  using content = simulated_file_system::content;
  using shared_state = simulated_file_system::shared_state;

  simulated_file(std::string path, std::shared_ptr<content> from, simulated_file_system& home)
      : file(std::move(path), from->info()), from_(std::move(from)), home_(home), state_(home.state_) {
    ++state_->open;
  }
  ~simulated_file() override { --state_->open; }
  std::uint64_t size_now() const noexcept override { return from_->bytes.size(); }

  std::ptrdiff_t try_read_at(std::uint64_t offset, char* to, std::size_t n) noexcept override {
    ++state_->reads;
    if (!home_.world_.chance(home_.behaviour_.page_cache_hits)) return -EAGAIN;
    if (n > 1 && home_.world_.chance(home_.behaviour_.short_reads)) n = 1 + home_.world_.random(n - 1);
    return copy(offset, to, n);
  }

  task<std::size_t> read_at(std::uint64_t offset, buffer_ref to, std::size_t at, std::size_t n) override {
    ++state_->reads;
    duration delay = home_.draw_delay();
    co_await sleep_for(delay);
    if (from_->is_stream && n > 1) n = 1 + home_.world_.random(n - 1);
    std::ptrdiff_t got = copy(offset, to->data() + at, n);
    if (got < 0) {
      status why = errno_error(static_cast<int>(-got), "cannot read").in_file(path(), offset);
      co_await fail(std::move(why));
    }
    co_return static_cast<std::size_t>(got);
  }

 private:
  std::ptrdiff_t copy(std::uint64_t offset, char* to, std::size_t n) noexcept {
    if (home_.world_.chance(home_.behaviour_.read_failures)) return -EIO;
    if (offset >= from_->bytes.size()) return 0;
    n = std::min<std::size_t>(n, from_->bytes.size() - offset);
    auto hit = from_->damaged.lower_bound(offset);
    if (hit != from_->damaged.end() && *hit < offset + n) return -EIO;
    std::memcpy(to, from_->bytes.data() + offset, n);
    return static_cast<std::ptrdiff_t>(n);
  }

  std::shared_ptr<content> from_;  // appended to and cut by the test
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
void simulated_file_system::remove(const std::string& path) { files_.erase(path); }
void simulated_file_system::refuse(const std::string& path, int error_number) { refused_[path] = error_number; }
void simulated_file_system::damage(const std::string& path, std::uint64_t offset) {
  files_.at(path)->damaged.insert(offset);
}
std::size_t simulated_file_system::files_open() const noexcept { return state_->open; }
std::uint64_t simulated_file_system::reads() const noexcept { return state_->reads; }

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

task<std::unique_ptr<file>> simulated_file_system::open(std::string path) {
  duration delay = draw_delay();
  co_await sleep_for(delay);
  auto found = find(path);
  status why = found.why();
  if (why.ok() && world_.chance(behaviour_.open_failures)) why = errno_error(EMFILE, "cannot open").in_file(path);
  if (!why.ok()) co_await fail(std::move(why));
  std::unique_ptr<file> opened = std::make_unique<simulated_file>(std::move(path), *found, *this);
  co_return std::move(opened);
}

task<file_info> simulated_file_system::stat(std::string path) {
  duration delay = draw_delay();
  co_await sleep_for(delay);
  auto found = find(path);
  status why = found.why();
  if (!why.ok()) co_await fail(std::move(why));
  file_info info = (*found)->info();
  co_return info;
}

task<std::vector<std::string>> simulated_file_system::glob(std::string pattern) {
  duration delay = draw_delay();
  co_await sleep_for(delay);
  std::vector<std::string> names;  // the map has them sorted
  for (auto& [path, unused] : files_)
    if (::fnmatch(pattern.c_str(), path.c_str(), FNM_PATHNAME | FNM_PERIOD) == 0) names.push_back(path);
  status why;
  if (names.empty()) why = detail::nothing_matches(pattern);
  if (!why.ok()) co_await fail(std::move(why));
  co_return std::move(names);
}

}  // namespace sluice::lib
