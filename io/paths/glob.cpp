// SPDX-License-Identifier: Apache-2.0
#include "io/paths/glob.hpp"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "sluice/base/assert.hpp"
#include "sluice/base/index_types.hpp"

namespace sluice::lib::detail {
namespace {

constexpr std::string_view kAnyFolders = "**";

unsigned char byte_of(char c) { return static_cast<unsigned char>(c); }

struct glob_class {
  std::string_view name;
  bool (*has)(unsigned char);
};
constexpr glob_class kCharacterClasses[] = {
    {"alnum", absl::ascii_isalnum}, {"alpha", absl::ascii_isalpha}, {"blank", absl::ascii_isblank},
    {"cntrl", absl::ascii_iscntrl}, {"digit", absl::ascii_isdigit}, {"graph", absl::ascii_isgraph},
    {"lower", absl::ascii_islower}, {"print", absl::ascii_isprint}, {"punct", absl::ascii_ispunct},
    {"space", absl::ascii_isspace}, {"upper", absl::ascii_isupper}, {"xdigit", absl::ascii_isxdigit}};

/// Parses "[:digit:]" at `at`: adds its characters, and moves `at` after it.
bool take_class(std::string_view text, std::size_t& at, std::bitset<256>& to) {
  if (!text.substr(at).starts_with("[:")) return false;
  const std::size_t end = text.find(":]", at + 2);
  if (end == text.npos) return false;
  const std::string_view name = text.substr(at + 2, end - at - 2);
  auto found = std::find_if(std::begin(kCharacterClasses), std::end(kCharacterClasses),
                            [name](const auto& c) { return c.name == name; });
  if (found == std::end(kCharacterClasses)) return false;
  for (int c = 0; c != 256; ++c)
    if (found->has(static_cast<unsigned char>(c))) to.set(static_cast<std::size_t>(c));
  at = end + 2;
  return true;
}

/// Parses a character of a set, which may follow a \.
unsigned char take_character(std::string_view text, std::size_t& at) {
  if (text[at] == '\\' && at + 1 != text.size()) ++at;
  return byte_of(text[at++]);
}

/// Calls on_name(name, is_last) for each name between slashes, until it returns false.
template <class OnName> void for_each_name(std::string_view path, OnName on_name) {
  for (;;) {
    const std::size_t end = path.find('/');
    if (!on_name(path.substr(0, end), end == path.npos) || end == path.npos) return;
    path.remove_prefix(end + 1);
  }
}

}  // namespace

glob_name::glob_name(std::string_view text)
    : is_folders_(text == kAnyFolders), matches_indexes_(text.find(kIndexSuffix) != text.npos) {
  SLUICE_REQUIRES(text.find('/') == text.npos, "a name of a pattern has no slash");
  for (std::size_t at = 0; at != text.size();) {
    const char c = text[at];
    if (c == '*') {
      tokens_.push_back({.what = token::kind::any});
      at = std::min(text.find_first_not_of('*', at), text.size());
    } else if (c == '?') {
      tokens_.push_back({.what = token::kind::one});
      ++at;
    } else if (c != '[' || !take_set(text, at)) {
      tokens_.push_back({.character = static_cast<char>(take_character(text, at))});
    }
    if (tokens_.back().what != token::kind::character) is_plain_ = false;
    if (is_plain_) text_ += tokens_.back().character;
  }
  if (!is_plain_) prefix_ = std::exchange(text_, {});
}

bool glob_name::take_set(std::string_view text, std::size_t& at) {
  std::size_t i = at + 1;
  const bool is_negated = i < text.size() && (text[i] == '!' || text[i] == '^');
  if (is_negated) ++i;
  set chosen;
  for (bool is_first = true; i < text.size() && (text[i] != ']' || is_first); is_first = false) {
    if (take_class(text, i, chosen)) continue;
    const unsigned char from = take_character(text, i);
    unsigned char to = from;
    if (i + 1 < text.size() && text[i] == '-' && text[i + 1] != ']') to = take_character(text, ++i);
    for (int c = from; c <= to; ++c) chosen.set(static_cast<std::size_t>(c));
  }
  if (i >= text.size()) return false;
  at = i + 1;
  tokens_.push_back({.what = token::kind::of_set, .index = static_cast<std::uint32_t>(sets_.size())});
  sets_.push_back(is_negated ? ~chosen : chosen);
  return true;
}

bool glob_name::takes(const token& t, char c) const noexcept {
  switch (t.what) {
    case token::kind::character: return t.character == c;
    case token::kind::one: return true;
    case token::kind::of_set: return sets_[t.index][byte_of(c)];
    case token::kind::any: break;
  }
  return false;
}

bool glob_name::matches(std::string_view name) const noexcept {
  if (is_plain_) return name == text_;
  if (name.empty()) return false;
  if (!matches_indexes_ && name.ends_with(kIndexSuffix)) return false;
  if (name[0] == '.' && (tokens_[0].what != token::kind::character || tokens_[0].character != '.')) return false;
  // The text after a * is tried at one place after another. A * further right never has to be undone.
  constexpr std::size_t kNone = ~std::size_t{0};
  std::size_t t = 0, at = 0, star = kNone, star_at = 0;
  while (at != name.size()) {
    if (t != tokens_.size() && tokens_[t].what == token::kind::any) {
      star = t++;
      star_at = at;
    } else if (t != tokens_.size() && takes(tokens_[t], name[at])) {
      ++t;
      ++at;
    } else if (star != kNone) {
      t = star + 1;
      at = ++star_at;
    } else {
      return false;
    }
  }
  while (t != tokens_.size() && tokens_[t].what == token::kind::any) ++t;
  return t == tokens_.size();
}

glob_pattern::glob_pattern(std::string pattern) : text_(std::move(pattern)) {
  for_each_name(text_, [this](std::string_view name, bool is_last) {
    std::size_t backslashes = name.size() - std::min(name.size(), name.find_last_not_of('\\') + 1);
    if (!is_last && backslashes % 2 == 1) name.remove_suffix(1);  // the \ of "\/"
    // A `**` after another one matches nothing new.
    if (name == kAnyFolders && !names_.empty() && names_.back().is_folders()) return true;
    names_.emplace_back(name);
    return true;
  });
  while (first_special_ != names_.size() && names_[first_special_].is_plain()) {
    if (first_special_ != 0) prefix_ += '/';
    prefix_ += names_[first_special_++].text();
  }
  if (is_plain()) return;
  if (first_special_ != 0) prefix_ += '/';
  prefix_ += names_[first_special_].prefix();
}

bool glob_pattern::is_deep() const noexcept {
  return std::any_of(names_.begin(), names_.end(), [](const glob_name& n) { return n.is_folders(); });
}

void glob_pattern::add_with_empty(glob_places& to, std::uint32_t index) const {
  for (; index < names_.size(); ++index) {
    auto at = std::lower_bound(to.begin(), to.end(), index);
    if (at != to.end() && *at == index) return;  // the following places are there, too
    to.insert(at, index);
    if (!names_[index].is_folders()) return;
  }
}

glob_places glob_pattern::places_from(std::uint32_t index) const {
  glob_places at;
  add_with_empty(at, index);
  return at;
}

glob_places glob_pattern::enter(const glob_places& at, std::string_view name, glob_places* by_folders) const {
  glob_places inside;
  glob_places& taken_in = by_folders ? *by_folders : inside;
  for (std::uint32_t i : at) {
    // Keys of object stores may have folders with an empty name, a//b, which only ** matches.
    const bool is_nameless = name.empty() && names_[i].is_folders();
    if (!is_nameless && !names_[i].matches(name)) continue;
    if (names_[i].is_folders()) add_with_empty(taken_in, i);
    else add_with_empty(inside, i + 1);
  }
  return inside;
}

glob_pattern::ending glob_pattern::ends_with(const glob_places& at, std::string_view name) const {
  ending found = ending::none;
  for (std::uint32_t i : at) {
    if (i + 1 != names_.size() || !names_[i].matches(name)) continue;
    if (!names_[i].is_folders()) return ending::any;
    found = ending::file;
  }
  return found;
}

bool glob_pattern::matches(std::string_view path) const {
  if (!path.starts_with(prefix_)) return false;
  glob_places at = places_from(0);
  bool does_match = false;
  for_each_name(path, [&](std::string_view name, bool is_last) {
    if (is_last) does_match = ends_with(at, name) != ending::none;
    else at = enter(at, name);
    return !at.empty();
  });
  return does_match;
}

bool glob_pattern::may_match_in(std::string_view folder) const {
  glob_places at = places_from(0);
  for_each_name(folder, [&](std::string_view name, bool is_last) {
    if (!is_last) at = enter(at, name);
    return !at.empty();
  });
  return !at.empty();
}

namespace {

/// Returns the place after the set that begins at `at`; `at` + 1 if no ] closes it within its name.
std::size_t behind_set(std::string_view text, std::size_t at) {
  std::size_t i = at + 1;
  if (i < text.size() && (text[i] == '!' || text[i] == '^')) ++i;
  for (bool is_first = true; i < text.size() && text[i] != '/'; is_first = false) {
    if (text[i] == ']' && !is_first) return i + 1;
    const std::size_t named = text.substr(i).starts_with("[:") ? text.find(":]", i + 2) : text.npos;
    i = named != text.npos ? named + 2 : i + (text[i] == '\\' ? 2 : 1);
  }
  return at + 1;
}

}  // namespace

std::vector<std::string> split_patterns(const std::string& patterns) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= patterns.size();) {
    const bool is_end = at == patterns.size() || patterns[at] == ',';
    if (is_end && at != begin) parts.push_back(patterns.substr(begin, at - begin));
    if (is_end) begin = at + 1;
    at = !is_end && patterns[at] == '[' ? behind_set(patterns, at) : at + 1;
  }
  if (parts.empty()) parts.push_back(patterns);
  return parts;
}

}  // namespace sluice::lib::detail
