// SPDX-License-Identifier: Apache-2.0
// Files in memory, in a simulated world, with delays, short reads and failures that depend on the seed.
//
//   simulation world(seed);
//   runtime rt(world);
//   auto files = std::make_unique<simulated_file_system>(world, simulated_io{.read_failures = 0.01});
//   files->put("a.tfrecord", bytes);
//   set_files(rt, std::move(files));
//
// The same plan with the same files and seed makes the same reads at the same virtual times.
// Thread: the simulation's.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sluice/io/file_system.hpp"
#include "sluice/runtime/simulation.hpp"

namespace sluice::lib {

struct simulated_io {
  duration delay_min{0};
  duration delay_max{1'000'000};  ///< of an open, a read that waits, a glob: uniformly distributed between the two
  double page_cache_hits = 0.5;   ///< how often try_read_at has bytes
  double short_reads = 0.3;       ///< how often these are fewer than requested
  /// How often open() reads a requested head; a head is incomplete as often as a read is short.
  double heads = 0.5;
  double open_failures = 0;  ///< EMFILE
  double read_failures = 0;  ///< EIO
  /// The bytes that one read, and that all reads together, receive in a second after the delay; 0: no limit. So
  /// `delay_min` is the time to the first byte of a server.
  double read_bytes_per_second = 0, bytes_per_second = 0;
};

class simulated_file_system final : public file_system {
 public:
  explicit simulated_file_system(simulation& world, simulated_io behaviour = {});
  ~simulated_file_system() override;

  /// Creates or replaces a file. Readers that have it open keep the old bytes.
  void put(std::string path, std::string bytes);
  /// Creates or replaces a stream: a FIFO whose writer sends all of these bytes, in pieces, to each reader.
  void put_stream(std::string path, std::string bytes);
  /// Hides the file's size from now on until the file has been read.
  void hide_size(const std::string& path);
  /// Appends to a file in place: readers that have it open see it grow.
  void append(const std::string& path, const std::string& bytes);
  /// Truncates a file in place.
  void cut(const std::string& path, std::size_t size_bytes);
  void remove(const std::string& path);
  /// Makes opening `path` fail from now on with this error number, for example EACCES.
  void refuse(const std::string& path, int error_number);
  /// Makes reads of `path` that must wait hang from now on, until their deadline or a stop.
  void hang(const std::string& path);
  /// Makes every read of `path` that includes the byte at `offset` fail with EIO from now on.
  void damage(const std::string& path, std::uint64_t offset);

  std::size_t files_open() const noexcept;
  std::uint64_t opens() const noexcept;  ///< the number of opens so far
  /// The number of opens that examined the file because no listing had done so, and of stats.
  std::uint64_t looks() const noexcept;
  std::uint64_t reads() const noexcept;  ///< the number of reads of both kinds so far
  /// The largest number of reads that waited at one moment.
  std::size_t reads_at_once() const noexcept;
  /// The current bytes of a file; nullopt if it does not exist.
  std::optional<std::string> contents(const std::string& path) const;

  /// With `known` it trusts the listing and takes no time: the first read that waits detects a difference.
  task<std::unique_ptr<file>> open(std::string path, open_options o = {}) override;
  task<file_info> stat(std::string path, time_point deadline = kNever) override;
  /// Entries have their info, which simulated listings always know.
  std::unique_ptr<listing> list(std::string pattern, list_options o = {}) override;
  task<std::unique_ptr<file_writer>> create(std::string path, time_point deadline = kNever) override;
  std::string description() const override { return "simulated"; }

 private:
  friend class simulated_file;
  friend class simulated_listing;
  friend class simulated_writer;
  struct content;
  struct shared_state;
  struct entry;
  /// Sleeps for the time of an answer, or until the deadline, and then throws deadline_exceeded.
  task<> answer(std::string path, time_point deadline) {
    return answer_after(draw_delay(), std::move(path), provenance::kUnknown, deadline);
  }
  static task<> answer_after(duration delay, std::string path, std::uint64_t offset, time_point deadline);
  duration draw_delay();
  /// The time until this number of bytes has arrived, if the first one takes `delay`.
  duration transfer(duration delay, std::uint64_t bytes);
  std::size_t read_head(const content& from, const open_options& o);
  content& make(std::string path, std::string bytes);
  result<std::shared_ptr<content>> find(const std::string& path) const;

  simulation& world_;
  simulated_io behaviour_;
  std::shared_ptr<shared_state> state_;
  std::map<std::string, std::shared_ptr<content>> files_;
  std::map<std::string, int> refused_;
  std::set<std::string> written_;                     ///< paths that have a writer now
  std::map<std::string, std::uint64_t> generations_;  ///< how often each path was put: used as its inode number
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::simulated_file_system;
using lib::simulated_io;

}  // namespace sluice
