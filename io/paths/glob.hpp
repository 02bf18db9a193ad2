// SPDX-License-Identifier: Apache-2.0
// Patterns of paths and keys, as shells have them with globstar: one for all file systems.
//
//   glob_pattern p("data/**/part-*.csv");
//   p.prefix();                                   // "data/": every match begins with it
//   p.matches("data/2026/07/part-3.csv");         // true
//   p.may_match_in("data/2026/");                 // true: worth looking into
//
// *         any characters of a name, also none
// ?         one byte
// [abc]     one of a set: ranges ([a-z]) and classes ([[:digit:]]) too; [!…] and [^…]: one that is not in it
// \x        x itself
// **        as a whole name: any number of folders, also none. As the last name: every file in these folders; the folders
//           themselves do not match (object stores have none, and no reader reads them). Within a name it is a *.
//           Folders without a name, as keys of object stores may have them (a//b), are some of these.
// None of them matches a /, another empty name, or the dot that a name begins with. Everything else stands for itself, also a [
// without its ], and a \ at the end. There is no {a,b}.
//
// Costs: matches() takes time proportional to pattern times path at most.
// Thread: any; nothing changes.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::lib::detail {

/// One name of a pattern: what stands between two slashes.
class glob_name {
 public:
  /// REQUIRES: there is no / in the text.
  explicit glob_name(std::string_view text);

  /// Is it `**`?
  bool is_folders() const noexcept { return is_folders_; }
  /// Does it match one name only, which is text()?
  bool is_plain() const noexcept { return is_plain_; }
  const std::string& text() const noexcept { return text_; }
  /// The prefix of every name that it matches.
  std::string_view prefix() const noexcept { return is_plain_ ? std::string_view(text_) : std::string_view(prefix_); }
  /// For `**`: returns true if this name can be one of the folders.
  bool matches(std::string_view name) const noexcept;

 private:
  using set = std::bitset<256>;
  struct token {
    enum class kind : std::uint8_t { character, any, one, of_set } what = kind::character;
    char character = 0;
    std::uint32_t index = 0;  ///< of the set
  };
  /// A set that begins at the [ at `at`, which then stands behind its ]. False: there is no ].
  bool take_set(std::string_view text, std::size_t& at);
  bool takes(const token& t, char c) const noexcept;

  std::vector<token> tokens_;
  std::vector<set> sets_;
  std::string text_, prefix_;
  bool is_folders_ = false, is_plain_ = true;
};

/// Which names of a pattern may come next: what a walk through folders knows of each of them. Sorted.
using glob_places = std::vector<std::uint32_t>;

class glob_pattern {
 public:
  explicit glob_pattern(std::string pattern);

  const std::string& text() const noexcept { return text_; }
  /// Does it match one path only, which is prefix()?
  bool is_plain() const noexcept { return first_special_ == names_.size(); }
  const std::string& prefix() const noexcept { return prefix_; }
  /// Do matches lie any number of folders deep?
  bool is_deep() const noexcept;
  bool matches(std::string_view path) const;
  /// May a path match that begins with `folder`? It ends with a /, or is empty.
  bool may_match_in(std::string_view folder) const;

  // For walks through folders.
  const std::vector<glob_name>& names() const noexcept { return names_; }
  /// How many names stand before the first that is not plain.
  std::size_t plain_names() const noexcept { return first_special_; }
  /// Returns the names from `index` on, including the names that a `**` may leave out.
  glob_places places_from(std::uint32_t index) const;
  /// Returns the places that are possible in the folder `name`. `by_folders`: the places possible because a `**`
  /// matches the name.
  glob_places enter(const glob_places& at, std::string_view name, glob_places* by_folders = nullptr) const;
  enum class ending : std::uint8_t { none, file, any };
  /// Can the name be a path's last? `file`: unless it is a folder's.
  ending ends_with(const glob_places& at, std::string_view name) const;

 private:
  void add_with_empty(glob_places& to, std::uint32_t index) const;

  std::string text_, prefix_;
  std::vector<glob_name> names_;
  std::size_t first_special_ = 0;
};

}  // namespace sluice::lib::detail
