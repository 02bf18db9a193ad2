// SPDX-License-Identifier: Apache-2.0
// Patterns of paths and keys, like a shell's with globstar. All file systems use them.
//
//   glob_pattern p("data/**/part-*.csv");
//   p.prefix();                                   // "data/": every match begins with it
//   p.matches("data/2026/07/part-3.csv");         // true
//   p.may_match_in("data/2026/");                 // true: the folder may contain matches
//
// *         any number of characters of a name, including none
// ?         one byte
// [abc]     one character of a set, with ranges ([a-z]) and classes ([[:digit:]]); [!…] and [^…]: one not in the set
// \x        x itself
// **        as a whole name: any number of folders, including none. As the last name: every file in these folders. The
//           folders themselves do not match, because object stores have none, and readers cannot read them. Within a
//           name it is a *. Folders with an empty name, which keys of object stores may have (a//b), are matched, too.
// The index of a file (FILE.sluice-index) is matched only by a pattern that contains .sluice-index.
// None of them matches a /, another empty name, or the dot at the beginning of a name. Everything else matches itself,
// including a [ without its ], and a \ at the end. {a,b} is not supported.
//
// Costs: matches() takes time proportional to pattern times path at most.
// Thread: any; immutable.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::lib::detail {

/// A name of a pattern: the text between two slashes.
class glob_name {
 public:
  /// REQUIRES: the text contains no /.
  explicit glob_name(std::string_view text);

  /// Returns true for `**`.
  bool is_folders() const noexcept { return is_folders_; }
  /// Returns true if it matches one name only, which is text().
  bool is_plain() const noexcept { return is_plain_; }
  const std::string& text() const noexcept { return text_; }
  /// Returns the prefix of every name that it matches.
  std::string_view prefix() const noexcept { return is_plain_ ? std::string_view(text_) : std::string_view(prefix_); }
  /// For `**`: returns true if this name can be one of the folders.
  bool matches(std::string_view name) const noexcept;

 private:
  using set = std::bitset<256>;
  struct token {
    enum class kind : std::uint8_t { character, any, one, of_set } what = kind::character;
    char character = 0;
    std::uint32_t index = 0;  ///< the index of the set
  };
  /// Parses a set that begins with the [ at `at`, and moves `at` after its ]. Returns false if there is no ].
  bool take_set(std::string_view text, std::size_t& at);
  bool takes(const token& t, char c) const noexcept;

  std::vector<token> tokens_;
  std::vector<set> sets_;
  std::string text_, prefix_;
  bool is_folders_ = false, is_plain_ = true;
  bool matches_indexes_ = false;  ///< it contains .sluice-index
};

/// The indexes of the pattern's names that may come next in a walk through folders. Sorted.
using glob_places = std::vector<std::uint32_t>;

class glob_pattern {
 public:
  explicit glob_pattern(std::string pattern);

  const std::string& text() const noexcept { return text_; }
  /// Returns true if it matches one path only, which is prefix().
  bool is_plain() const noexcept { return first_special_ == names_.size(); }
  const std::string& prefix() const noexcept { return prefix_; }
  /// Returns true if matches may lie any number of folders deep.
  bool is_deep() const noexcept;
  bool matches(std::string_view path) const;
  /// Returns true if a path that begins with `folder` may match. `folder` ends with a /, or is empty.
  bool may_match_in(std::string_view folder) const;

  // For walks through folders.
  const std::vector<glob_name>& names() const noexcept { return names_; }
  /// Returns the number of names before the first that is not plain.
  std::size_t plain_names() const noexcept { return first_special_; }
  /// Returns the names from `index` on, including the names that a `**` may leave out.
  glob_places places_from(std::uint32_t index) const;
  /// Returns the places that are possible in the folder `name`. `by_folders`: the places possible because a `**`
  /// matches the name.
  glob_places enter(const glob_places& at, std::string_view name, glob_places* by_folders = nullptr) const;
  enum class ending : std::uint8_t { none, file, any };
  /// Returns whether a path may end with this name, as a file or as a folder.
  ending ends_with(const glob_places& at, std::string_view name) const;

 private:
  void add_with_empty(glob_places& to, std::uint32_t index) const;

  std::string text_, prefix_;
  std::vector<glob_name> names_;
  std::size_t first_special_ = 0;
};

/// Splits patterns at the commas between them. A comma within a set, such as [,], separates none. Nothing between two
/// commas is no
/// pattern.
std::vector<std::string> split_patterns(const std::string& patterns);

}  // namespace sluice::lib::detail
