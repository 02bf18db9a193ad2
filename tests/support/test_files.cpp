// SPDX-License-Identifier: Apache-2.0
#include "support/test_files.hpp"

#include <array>
#include <cerrno>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "io/temporary_folder.hpp"
#include "sluice/base/random_bits.hpp"
#include "sluice/format/tfrecord_frames.hpp"
#include "sluice/io/files.hpp"
#include "sluice/io/open_file_system.hpp"
#include "sluice/io/simulated_file_system.hpp"
#include "sluice/runtime/runtime.hpp"
#include "support/random/random_numbers.hpp"

namespace sluice::lib::test {
namespace {

simulated_io some_behaviour(std::uint64_t seed) {
  random_numbers random(seed ^ 0x6669'6c65'73);
  simulated_io io;
  io.delay_max =
      std::array<duration, 3>{duration(0), std::chrono::microseconds(3), std::chrono::milliseconds(1)}[random.below(3)];
  io.page_cache_hits = std::array<double, 3>{0, 0.5, 1}[random.below(3)];
  io.short_reads = std::array<double, 3>{0, 0.3, 0.8}[random.below(3)];
  return io;
}

/// Where real runtimes have their files, until the process ends.
struct disk {
  testing::temporary_folder folder;
  std::set<std::string> written;
};
disk& the_disk() {
  static disk d;
  return d;
}

task<std::unique_ptr<file>> nothing_at(std::string path) {
  status why = errno_error(ENOENT, "cannot open").in_file(path);
  co_await fail(std::move(why));
  co_return {};
}

task<std::vector<listed_file>> next_page_below(listing& names, std::size_t prefix_bytes, time_point deadline) {
  auto listing_more = names.next(deadline);
  std::vector<listed_file> page = co_await listing_more;
  for (listed_file& f : page) f.path.erase(0, prefix_bytes);
  co_return std::move(page);
}

class listing_below final : public listing {
 public:
  listing_below(std::unique_ptr<listing> names, std::size_t prefix_bytes)
      : names_(std::move(names)), prefix_bytes_(prefix_bytes) {}
  task<std::vector<listed_file>> next(time_point deadline) override {
    return next_page_below(*names_, prefix_bytes_, deadline);
  }

 private:
  std::unique_ptr<listing> names_;
  std::size_t prefix_bytes_;
};

/// Paths without a scheme and a root, as the simulated file system has them.
class file_system_below final : public file_system {
 public:
  file_system_below(std::unique_ptr<file_system> files, std::string folder)
      : files_(std::move(files)), prefix_(std::move(folder)) {}
  task<std::unique_ptr<file>> open(std::string path, open_options o) override {
    if (!the_disk().written.contains(path)) return nothing_at(std::move(path));  // in the simulated one's words
    return files_->open(prefix_ + path, std::move(o));
  }
  task<file_info> stat(std::string path, time_point deadline) override {
    return files_->stat(prefix_ + path, deadline);
  }
  std::unique_ptr<listing> list(std::string pattern, list_options o) override {
    return std::make_unique<listing_below>(files_->list(prefix_ + pattern, o), prefix_.size());
  }
  task<std::unique_ptr<file_writer>> create(std::string path, time_point deadline) override {
    return files_->create(prefix_ + path, deadline);
  }
  std::string description() const override { return files_->description() + ", below " + prefix_; }

 private:
  std::unique_ptr<file_system> files_;
  std::string prefix_;
};

}  // namespace

void add_files(test_files& to, const test_files& more) {
  for (auto& [path, bytes] : more.bytes) {
    auto [at, added] = to.bytes.emplace(path, bytes);
    if (!added && at->second != bytes) throw std::logic_error("two cases want other bytes in the file " + path);
  }
}

void put_files(simulation& world, runtime& rt, const test_files& files) {
  auto made = std::make_unique<simulated_file_system>(world, some_behaviour(world.seed()));
  if (files.replaced) world.spend(std::chrono::seconds(2));  // more than the precision of any time of modification
  for (auto& [path, bytes] : files.bytes) made->put(path, bytes);
  set_files(rt, std::move(made));
}

std::unique_ptr<file_system> files_on_disk() {
  auto local = open_file_system();
  if (!local.ok()) throw std::runtime_error(local.why().to_string());
  return std::make_unique<file_system_below>(*std::move(local), the_disk().folder.path(""));
}

void write_files(const test_files& files) {
  disk& d = the_disk();
  for (auto& [path, bytes] : files.bytes)
    if (d.written.insert(path).second) d.folder.write(path, bytes);
}

std::string path_of(std::string_view of, std::int64_t a, std::uint64_t b, std::string_view name) {
  std::string path = std::string(of) + "-" + std::to_string(a) + "-" + std::to_string(b);
  return name.empty() ? path : path + "/" + std::string(name);
}

std::string text_of_number(std::int64_t x, std::uint64_t b) {
  random_numbers random(derive(b, static_cast<std::uint64_t>(x)));
  std::uint64_t letters = random.below(20);
  if (random.below(8) == 0) letters = random.below(900);
  if (random.below(60) == 0) letters = 4'000 + random.below(4'000);
  return std::to_string(x) + " " + std::string(letters, static_cast<char>('a' + x % 26));
}

std::string record_file(std::int64_t records, std::uint64_t b, std::int64_t first) {
  std::string bytes;
  for (std::int64_t i = 0; i != records; ++i) append_tfrecord(bytes, text_of_number(first + i, b));
  return bytes;
}

}  // namespace sluice::lib::test
