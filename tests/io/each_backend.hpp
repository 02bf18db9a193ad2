// SPDX-License-Identifier: Apache-2.0
// The real file system over each of its back ends, for suites that hold for all of them.
#pragma once

#include <fcntl.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <filesystem>
#include <memory>
#include <random>
#include <string>

#include "io/run_task.hpp"
#include "io/temporary_folder.hpp"
#include "sluice/io/open_file_system.hpp"

namespace sluice::lib::testing {

inline std::unique_ptr<file_system> open_backend(io_backend which) {
  auto files = open_file_system({.backend = which});
  if (!files.ok()) {
    WARN("this back end cannot run here: " << files.why().to_string());
    return nullptr;
  }
  return *std::move(files);
}

inline std::string random_bytes(std::size_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::string bytes(n, '\0');
  for (auto& b : bytes) b = static_cast<char>(random());
  return bytes;
}

/// Past the page cache's fast path, whatever is in the cache.
inline void evict(const std::string& path) {
  int fd = ::open(path.c_str(), O_RDONLY);
  ::fdatasync(fd);
  ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  ::close(fd);
}

inline std::size_t open_descriptors() {
  std::size_t n = 0;
  for ([[maybe_unused]] auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++n;
  return n;
}

struct fixture {
  explicit fixture(io_backend which) : files(open_backend(which)) {}
  std::unique_ptr<file_system> files;
  temporary_folder folder;
  environment env;
  queue_executor on;
  template <class T> auto run(task<T> work) { return run_task(env, on, std::move(work)); }
};

}  // namespace sluice::lib::testing

#define FOR_EACH_BACKEND(f)                                      \
  auto which = GENERATE(io_backend::threads, io_backend::uring); \
  CAPTURE(static_cast<int>(which));                              \
  fixture f(which);                                              \
  if (!f.files) return
