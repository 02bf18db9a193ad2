// SPDX-License-Identifier: Apache-2.0
// Patterns of paths, for file systems of your own: the rules that list_files has (sluice/op/list_files.hpp).
//
//   path_pattern p("data/**/part-*.csv");
//   p.prefix();                                   // "data/": every match begins with it
//   p.matches("data/2026/07/part-3.csv");         // true
//   p.may_match_in("data/2026/");                 // true: worth looking into
//
// Give it what stands behind your scheme: "*" of "mem://*" is no part of a name.
// Thread: any; nothing changes.
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
  /// Does it match one path only, which is prefix()?
  bool is_plain() const noexcept;
  /// What every match begins with, without the \ of the pattern.
  const std::string& prefix() const noexcept;
  bool matches(std::string_view path) const;
  /// May a path match that begins with `folder`? It ends with a /, or is empty.
  bool may_match_in(std::string_view folder) const;

 private:
  std::shared_ptr<const detail::glob_pattern> pattern_;
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::path_pattern;

}  // namespace sluice
