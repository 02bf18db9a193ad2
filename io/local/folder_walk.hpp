// SPDX-License-Identifier: Apache-2.0
// Finds the paths of the local file system that match a pattern, sorted by bytes, a page at a time.
//
// Each folder that can have matches is read once, when it is reached. Only the names of one folder for each level are
// in memory, whatever the size of the tree. A symbolic link to a folder may be the last folder that a `**` matches, but
// the walk does not enter it, as in bash; so circles of links do not repeat. A link that the pattern names is followed.
// Thread: one caller at a time; it blocks.
#pragma once

#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "io/paths/glob.hpp"

namespace sluice::lib::detail {

class folder_walk {
 public:
  explicit folder_walk(std::string pattern);

  const std::string& pattern() const noexcept { return pattern_.text(); }
  /// Adds matches until `names` has `most` names, or the limit of one call is reached. Returns an errno; where() then
  /// returns its path.
  int add_matches(std::vector<std::string>& names, std::size_t most);
  /// Returns true if all matches were added.
  bool is_done() const noexcept { return is_begun_ && levels_.empty(); }
  const std::string& where() const noexcept { return where_; }

 private:
  enum class entry_type : unsigned char { unknown, folder, link, other };
  /// A match, or a folder to search. A folder's name ends with a /, which sorts its contents among the other names.
  struct event {
    std::string name;
    bool is_folder = false;
    glob_places inside = {};
  };
  struct level {
    std::string path;  ///< the path before the names
    std::vector<event> events;
    std::size_t next = 0;
  };

  int open_level(std::string path, const glob_places& at);
  int read_folder(const std::string& path, const glob_places& at, std::vector<event>& to);
  int add_plain(const std::string& path, const glob_places& at, std::vector<event>& to);
  void add_name(const std::string& path, const glob_places& at, std::string_view name, entry_type type,
                std::vector<event>& to);
  bool are_plain(const glob_places& at) const;
  /// Returns true if the error is a link that leads to itself. Such a link is no folder, unless the pattern names it.
  bool is_circle_met(int error_number) const { return error_number == ELOOP && !levels_.empty(); }
  int failed(int error_number, std::string where);

  const glob_pattern pattern_;
  std::vector<level> levels_;
  std::string where_;
  std::size_t looked_at_ = 0;
  bool is_begun_ = false;
};

}  // namespace sluice::lib::detail
