// SPDX-License-Identifier: Apache-2.0
// Files in memory, in a simulated world: slow, short and failing as its seed has it.
//
//   simulation world(seed);
//   runtime rt(world);
//   auto files = std::make_unique<simulated_file_system>(world, simulated_io{.read_failures = 0.01});
//   files->put("a.tfrecord", bytes);
//   set_files(rt, std::move(files));
//
// The same plan over the same files and seed does the same reads at the same virtual times.
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
  duration delay_max{1'000'000};  ///< of an open, a read that waits, a glob: uniform between the two
  double page_cache_hits = 0.5;   ///< how often try_read_at has something …
  double short_reads = 0.3;       ///< … and how often that is less than was asked for
  double heads = 0.5;  ///< how often open() reads a head that is asked for; as often as reads are short, less than all
  double open_failures = 0;  ///< EMFILE
  double read_failures = 0;  ///< EIO
};

class simulated_file_system final : public file_system {
 public:
  explicit simulated_file_system(simulation& world, simulated_io behaviour = {});
  ~simulated_file_system() override;

  /// Makes or replaces a file. Those who have it open keep the old bytes.
  void put(std::string path, std::string bytes);
  /// Makes or replaces a stream: a FIFO whose writer has all of this to say, in pieces, to each who opens it.
  void put_stream(std::string path, std::string bytes);
  /// From now on the file is one whose size nobody tells before it has been read.
  void hide_size(const std::string& path);
  /// Adds to a file in place: those who have it open see it grow.
  void append(const std::string& path, const std::string& bytes);
  /// Cuts a file in place.
  void cut(const std::string& path, std::size_t size_bytes);
  void remove(const std::string& path);
  /// From now on opening `path` fails, as with EACCES.
  void refuse(const std::string& path, int error_number);
  /// From now on a read of `path` that has to wait waits for ever: for its deadline, or for a stop.
  void hang(const std::string& path);
  /// From now on every read of `path` that takes in the byte at `offset` fails with EIO.
  void damage(const std::string& path, std::uint64_t offset);

  std::size_t files_open() const noexcept;
  std::uint64_t opens() const noexcept;  ///< so far
  /// Of these, those that asked what the file is, because no listing had said so; and stats.
  std::uint64_t looks() const noexcept;
  std::uint64_t reads() const noexcept;  ///< of both kinds, so far
  /// The most reads that were waiting at one moment.
  std::size_t reads_at_once() const noexcept;
  /// What a file has now; nothing: there is none.
  std::optional<std::string> contents(const std::string& path) const;

  /// With `known` it believes what the listing said, and takes no time: the first read that waits finds out.
  task<std::unique_ptr<file>> open(std::string path, open_options o = {}) override;
  task<file_info> stat(std::string path, time_point deadline = kNever) override;
  /// Entries have their info: its listings know.
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
  /// Sleeps for what an answer takes, or until the deadline, which is an error of this place.
  task<> answer(std::string path, time_point deadline) {
    return answer_after(draw_delay(), std::move(path), provenance::kUnknown, deadline);
  }
  static task<> answer_after(duration delay, std::string path, std::uint64_t offset, time_point deadline);
  duration draw_delay();
  std::size_t read_head(const content& from, const open_options& o);
  content& make(std::string path, std::string bytes);
  result<std::shared_ptr<content>> find(const std::string& path) const;

  simulation& world_;
  simulated_io behaviour_;
  std::shared_ptr<shared_state> state_;
  std::map<std::string, std::shared_ptr<content>> files_;
  std::map<std::string, int> refused_;
  std::set<std::string> written_;                     ///< paths that a writer has now
  std::map<std::string, std::uint64_t> generations_;  ///< how often each path was put: its inode
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::simulated_file_system;
using lib::simulated_io;

}  // namespace sluice
