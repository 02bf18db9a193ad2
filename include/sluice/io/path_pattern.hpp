// SPDX-License-Identifier: Apache-2.0
// Patterns of paths, for your own file systems, with the rules of list_files (sluice/op/list_files.hpp).
//
//   path_pattern p("data/**/part-*.csv");
//   p.prefix();                                   // "data/": every match begins with it
//   p.matches("data/2026/07/part-3.csv");         // true
//   p.may_match_in("data/2026/");                 // true: the folder must be listed
//
// Pass the part after your scheme: the "mem://" of "mem://*" does not belong to the pattern.
// Thread: any; the class is immutable.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace sluice::lib {

namespace detail {
class glob_pattern;
}  // namespace detail

class path_pattern {
 public:
  explicit path_pattern(std::string text);

  const std::string& text() const noexcept;
  /// Returns true if the pattern matches one path only, which is prefix().
  bool is_plain() const noexcept;
  /// The text that every match begins with, without the pattern's \ characters.
  const std::string& prefix() const noexcept;
  bool matches(std::string_view path) const;
  /// Returns true if a path that begins with `folder` may match. REQUIRES: `folder` is empty or ends with a /.
  bool may_match_in(std::string_view folder) const;

 private:
  std::shared_ptr<const detail::glob_pattern> pattern_;
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::path_pattern;

}  // namespace sluice
