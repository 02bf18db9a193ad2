// SPDX-License-Identifier: Apache-2.0
#include "sluice/io/plan_files.hpp"

#include <absl/synchronization/mutex.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "io/plan_file_reader.hpp"
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

task<std::string> read_beginning(runtime& rt, std::string path, std::size_t bytes_max) {
  open_options o;
  o.deadline = io_deadline(rt);
  auto opening = files_of(rt).open(std::move(path), o);
  std::unique_ptr<file> from = co_await opening;
  if (from->info().has_size()) bytes_max = std::min<std::uint64_t>(bytes_max, from->size_bytes());
  buffer_ref to(buffer::make(bytes_max + 1));
  std::size_t got = 0;
  while (got != bytes_max) {
    buffer_ref share = to;
    auto reading = from->read_at(got, std::move(share), got, bytes_max - got, io_deadline(rt));
    const std::size_t n = co_await reading;
    if (n == 0) break;
    got += n;
  }
  std::string bytes(to->data(), got);
  co_return std::move(bytes);
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

result<std::string> detail::read_for_plan(const std::string& path, std::size_t bytes_max) {
  known_schemes& k = known();
  absl::ReaderMutexLock lock(&k.mutex);
  if (k.all.empty())
    return failed_precondition_error(
               "its first bytes are needed when the plan is built, and plan_files has registered no file system for it")
        .in_file(path);
  runtime_options small;
  small.workers = 1;
  small.io_timeout = k.all.back().io_timeout;
  runtime rt(small);
  try {
    (*k.all.back().add)(rt);
    return sync_wait(rt, read_beginning(rt, path, bytes_max));
  } catch (const error& e) { return e.why(); }
}

}  // namespace sluice::lib
