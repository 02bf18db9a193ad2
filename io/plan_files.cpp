// SPDX-License-Identifier: Apache-2.0
#include "sluice/io/plan_files.hpp"

#include <absl/synchronization/mutex.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "io/paths/file_router.hpp"
#include "io/paths/glob.hpp"
#include "io/plan_file_reader.hpp"
#include "sluice/coro/sync_wait.hpp"
#include "sluice/io/files.hpp"

namespace sluice::lib {
namespace {

struct schemes {
  const std::function<void(runtime&)>* add = nullptr;
  std::chrono::nanoseconds io_timeout{0};
};
struct known_schemes {
  absl::Mutex mutex;  // readers lock it shared
  std::vector<schemes> all ABSL_GUARDED_BY(mutex);
};
known_schemes& known() {
  static known_schemes one;
  return one;
}

task<std::string> read_open_part(runtime& rt, std::shared_ptr<file> from, std::uint64_t offset, std::size_t bytes_max) {
  buffer_ref to(buffer::make(bytes_max + 1));
  std::size_t got = 0;
  while (got != bytes_max) {
    buffer_ref share = to;
    auto reading = from->read_at(offset + got, std::move(share), got, bytes_max - got, io_deadline(rt));
    const std::size_t n = co_await reading;
    if (n == 0) break;
    got += n;
  }
  std::string bytes(to->data(), got);
  co_return std::move(bytes);
}

task<std::string> read_part(runtime& rt, std::string path, std::uint64_t offset, std::size_t bytes_max) {
  open_options o;
  o.deadline = io_deadline(rt);
  o.reading = open_options::exact;
  if (offset == 0) o.begin_bytes = bytes_max;
  auto opening = files_of(rt).open(std::move(path), o);
  std::unique_ptr<file> from = co_await opening;
  if (from->info().has_size())
    bytes_max = std::min<std::uint64_t>(bytes_max, from->size_bytes() - std::min(offset, from->size_bytes()));
  auto reading = read_open_part(rt, std::move(from), offset, bytes_max);
  std::string bytes = co_await reading;
  co_return std::move(bytes);
}

task<detail::file_tail> read_tail(runtime& rt, std::string path, std::uint64_t wanted, const detail::tail_need* need) {
  open_options o;
  o.deadline = io_deadline(rt);
  o.reading = open_options::exact;
  auto opening = files_of(rt).open(path, o);
  std::shared_ptr<file> from = co_await opening;
  if (!from->info().has_size()) {
    status why =
        invalid_argument_error("its server states no size, and this format is read from its end: copy the file");
    co_await fail(why.in_file(path));
  }
  detail::file_tail tail{{}, from->size_bytes(), from->info().version};
  for (bool may_need_more = *need != nullptr;; may_need_more = false) {
    const std::uint64_t has = tail.bytes.size(), n = std::min(wanted, tail.size_bytes);
    if (n > has) {
      auto reading = read_open_part(rt, from, tail.size_bytes - n, static_cast<std::size_t>(n - has));
      std::string bytes = co_await reading;
      if (bytes.size() != n - has) {
        status why = data_loss_error("the file has become shorter while it is read");
        co_await fail(why.in_file(path));
      }
      tail.bytes.insert(0, bytes);
    }
    if (!may_need_more) break;
    wanted = (*need)(tail);
  }
  co_return std::move(tail);
}

}  // namespace

plan_files::plan_files(std::function<void(runtime&)> add_schemes, std::chrono::nanoseconds io_timeout)
    : add_schemes_(std::move(add_schemes)) {
  known_schemes& k = known();
  absl::MutexLock lock(&k.mutex);
  k.all.push_back({&add_schemes_, io_timeout});
}

plan_files::~plan_files() {
  known_schemes& k = known();
  absl::MutexLock lock(&k.mutex);
  std::erase_if(k.all, [this](const schemes& s) { return s.add == &add_schemes_; });
}

namespace {

/// Calls f(rt) with a small runtime that knows the registered schemes. A local path needs none.
template <class F>
auto with_small_runtime(const std::string& path, F f) -> result<decltype(f(std::declval<runtime&>()))> {
  known_schemes& k = known();
  absl::ReaderMutexLock lock(&k.mutex);
  if (k.all.empty() && detail::is_remote(path))
    return failed_precondition_error(
               "it is needed when the plan is built, and plan_files has registered no file system for it")
        .in_file(path);
  runtime_options small;
  small.workers = 1;
  if (!k.all.empty()) small.io_timeout = k.all.back().io_timeout;
  runtime rt(small);
  try {
    if (!k.all.empty()) (*k.all.back().add)(rt);
    return f(rt);
  } catch (const error& e) { return e.why(); }
}

}  // namespace

result<std::string> detail::read_for_plan(const std::string& path, std::size_t bytes_max, std::uint64_t offset) {
  return with_small_runtime(path, [&](runtime& rt) { return sync_wait(rt, read_part(rt, path, offset, bytes_max)); });
}

result<detail::file_tail> detail::read_tail_for_plan(const std::string& path, std::uint64_t bytes,
                                                     const tail_need& need) {
  return with_small_runtime(path, [&](runtime& rt) { return sync_wait(rt, read_tail(rt, path, bytes, &need)); });
}

result<std::vector<std::string>> detail::list_for_plan(const std::string& pattern) {
  return with_small_runtime(pattern, [&](runtime& rt) {
    auto listing = glob(files_of(rt), pattern, io_deadline(rt));
    return sync_wait(rt, std::move(listing));
  });
}

bool detail::is_pattern_for_plan(const std::string& path) {
  if (path.empty() || path == "-" || path.starts_with("http://") || path.starts_with("https://")) return false;
  const std::size_t scheme_end = scheme_of(path).empty() ? 0 : path.find("://") + 3;
  if (glob_pattern(path.substr(scheme_end)).is_plain()) return false;
  std::error_code unknown;
  if (!is_remote(path)) return !std::filesystem::exists(without_file_scheme(path), unknown);
  return !read_for_plan(path, 1).ok();
}

}  // namespace sluice::lib
