// SPDX-License-Identifier: Apache-2.0
// Lists the files of HDFS that match a pattern, sorted by bytes. Folders are walked like local ones
// (io/local/folder_walk.hpp), and each is read once, page by page.
//
// Name nodes also sort by bytes, but treat bytes above 127 as negative: names with such bytes come first. If a folder
// begins with such names, it is read to its end before its names are returned.
//
// Memory: names that have arrived and were not returned yet, and an answer while it is parsed, charged to the ledger. A
//         server without pages answers with the whole folder, up to 64 MiB (some 200,000 names).
// Errors: also resource_exhausted: a folder is too large for the budget, or for such a server.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "io/hdfs/data_node_service.hpp"
#include "io/hdfs/hdfs_answers.hpp"
#include "io/hdfs/hdfs_path.hpp"
#include "io/paths/glob.hpp"
#include "runtime/held_memory.hpp"
#include "sluice/io/file_system.hpp"

namespace sluice::lib::detail {

class hdfs_listing final : public listing {
 public:
  /// `place`: of any path on this HDFS. `run`: its ledger is charged.
  hdfs_listing(result<hdfs_place> place, result<hdfs_path> pattern, std::shared_ptr<run_context> run);
  task<std::vector<listed_file>> next(time_point deadline) override;

 private:
  /// A match, or a folder to search. A folder's name ends with a /, which sorts its contents among the other names.
  struct event {
    bool is_match = false;
    std::optional<file_info> info = {};
    glob_places inside = {};
  };
  struct level {
    std::string path;  ///< the path before the names, without the first /
    glob_places at;
    std::map<std::string, event> events = {};
    std::string after = {};   ///< the last name that has arrived
    std::string given = {};   ///< the last name that was returned
    bool is_by_bytes = true;  ///< the names so far are sorted by bytes
    bool is_read = false;     ///< all names have arrived
  };

  bool are_plain(const glob_places& at) const;
  /// Returns the next event. Returns nothing if the next one may not be known yet.
  std::optional<std::pair<std::string, event>> take_event(level& from);
  task<> open_level(std::string path, glob_places at, time_point deadline);
  task<> look_at_plain(level& to, time_point deadline);
  task<> read_page(level& to, time_point deadline);
  task<hdfs_page> ask_for_page(const level& of, time_point deadline);
  task<http_answer> ask_folder(std::string path, std::string op, std::string after, time_point deadline);
  status add(level& to, hdfs_entry entry);
  hdfs_place place_of(const std::string& path) const;
  void put(level& to, std::string name, event what);

  const result<hdfs_place> place_;
  const result<hdfs_path> where_;
  const glob_pattern pattern_;  ///< of the text after the first /
  std::vector<level> levels_;
  bool is_begun_ = false, found_any_ = false;
  held_memory held_;
  std::size_t events_bytes_ = 0;  ///< of the events of all levels
};

}  // namespace sluice::lib::detail
