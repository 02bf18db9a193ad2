// SPDX-License-Identifier: Apache-2.0
#include "io/local/folder_walk.hpp"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

namespace sluice::lib::detail {
namespace {

// names examined in one call, some 50 ms: a stop is detected between two calls
constexpr std::size_t kLookedAtMax = 50'000;

struct close_folder {
  void operator()(DIR* d) const noexcept { ::closedir(d); }
};

/// Returns true if the error means that nothing exists at the path.
bool is_absence(int error_number) { return error_number == ENOENT || error_number == ENOTDIR; }

bool is_folder(const std::string& path, bool follows) {
  struct stat s{};
  return (follows ? ::stat(path.c_str(), &s) : ::lstat(path.c_str(), &s)) == 0 && S_ISDIR(s.st_mode);
}

/// Replaces "a/**//b" by "a/**/b". A second / names the same folder, so that the matches of `**` are found once and in
/// order.
std::string without_slashes_behind_folders(std::string pattern) {
  constexpr std::string_view kFolders = "**//";
  std::size_t at = 0;
  while ((at = pattern.find(kFolders, at)) != pattern.npos) {
    if (at == 0 || pattern[at - 1] == '/') pattern.erase(at + kFolders.size() - 1, 1);
    else at += kFolders.size();
  }
  return pattern;
}

bool is_own_or_parent(std::string_view name) { return name == "." || name == ".."; }

}  // namespace

folder_walk::folder_walk(std::string pattern) : pattern_(without_slashes_behind_folders(std::move(pattern))) {}

int folder_walk::failed(int error_number, std::string where) {
  where_ = std::move(where);
  levels_.clear();
  return error_number;
}

int folder_walk::add_matches(std::vector<std::string>& names, std::size_t most) {
  looked_at_ = 0;
  if (!std::exchange(is_begun_, true)) {
    // The pattern's first plain names form one path, after which the walk begins.
    const std::size_t first = std::min(pattern_.plain_names(), pattern_.names().size() - 1);
    std::string path;
    for (std::size_t i = 0; i != first; ++i) path.append(pattern_.names()[i].text()).push_back('/');
    int why = open_level(std::move(path), pattern_.places_from(static_cast<std::uint32_t>(first)));
    if (why != 0) return why;
  }
  while (!levels_.empty() && names.size() < most && looked_at_ < kLookedAtMax) {
    level& top = levels_.back();
    if (top.next == top.events.size()) {
      levels_.pop_back();
      continue;
    }
    event e = std::move(top.events[top.next++]);
    std::string path = top.path + e.name;
    if (!e.is_folder) {
      names.push_back(std::move(path));
    } else if (int why = open_level(std::move(path), e.inside); why != 0) {
      return why;
    }
  }
  return 0;
}

bool folder_walk::are_plain(const glob_places& at) const {
  return std::all_of(at.begin(), at.end(), [this](std::uint32_t i) { return pattern_.names()[i].is_plain(); });
}

int folder_walk::open_level(std::string path, const glob_places& at) {
  level opened{std::move(path), {}};
  int why = add_plain(opened.path, at, opened.events);
  if (why == 0 && !are_plain(at)) why = read_folder(opened.path, at, opened.events);
  if (why != 0) return why;
  std::sort(opened.events.begin(), opened.events.end(), [](auto& a, auto& b) { return a.name < b.name; });
  if (!opened.events.empty()) levels_.push_back(std::move(opened));
  return 0;
}

/// Adds names without reading the folder: if no other names can match, and names that are not compared with readdir's.
int folder_walk::add_plain(const std::string& path, const glob_places& at, std::vector<event>& to) {
  const bool are_all = are_plain(at);
  std::vector<std::string_view> done;
  for (std::uint32_t i : at) {
    const glob_name& n = pattern_.names()[i];
    const bool is_last = i + 1 == pattern_.names().size();
    if (!n.is_plain() || std::find(done.begin(), done.end(), n.text()) != done.end()) continue;
    if (n.text().empty() && is_last) {  // the pattern ends with a /
      if (!path.empty() && is_folder(path, true)) to.push_back({.name = {}});
      continue;
    }
    if (!are_all && !n.text().empty() && !is_own_or_parent(n.text())) continue;
    done.push_back(n.text());
    ++looked_at_;
    struct stat s{};
    const std::string whole = path + n.text();
    const bool exists = n.text().empty() || ::lstat(whole.c_str(), &s) == 0;
    if (exists) add_name(path, at, n.text(), n.text().empty() ? entry_type::folder : entry_type::unknown, to);
    else if (!is_absence(errno) && !is_circle_met(errno)) return failed(errno, whole);
  }
  return 0;
}

int folder_walk::read_folder(const std::string& path, const glob_places& at, std::vector<event>& to) {
  const std::string place = path.empty() ? "." : path;
  std::unique_ptr<DIR, close_folder> folder(::opendir(place.c_str()));
  if (!folder) {
    if (is_absence(errno) || is_circle_met(errno)) return 0;
    return failed(errno, place);
  }
  for (;;) {
    errno = 0;
    const dirent* found = ::readdir(folder.get());
    if (!found) return errno == 0 || is_absence(errno) ? 0 : failed(errno, place);
    ++looked_at_;
    const std::string_view name = found->d_name;
    if (is_own_or_parent(name)) continue;
    entry_type type = entry_type::other;
    if (found->d_type == DT_DIR) type = entry_type::folder;
    else if (found->d_type == DT_LNK) type = entry_type::link;
    else if (found->d_type == DT_UNKNOWN) type = entry_type::unknown;
    add_name(path, at, name, type, to);
  }
}

void folder_walk::add_name(const std::string& path, const glob_places& at, std::string_view name, entry_type type,
                           std::vector<event>& to) {
  const glob_pattern::ending ends = pattern_.ends_with(at, name);
  bool does_match = ends == glob_pattern::ending::any;
  if (ends == glob_pattern::ending::file) {
    does_match = type == entry_type::other;
    if (type == entry_type::link || type == entry_type::unknown)
      does_match = !is_folder(path + std::string(name), true);
  }
  if (does_match) to.push_back({.name = std::string(name)});
  if (type == entry_type::other) return;
  glob_places by_folders;
  glob_places inside = pattern_.enter(at, name, &by_folders);
  if (name.empty()) by_folders.clear();  // the folder itself, which a ** would enter forever
  if (type == entry_type::unknown && !by_folders.empty())
    type = is_folder(path + std::string(name), false) ? entry_type::folder : entry_type::link;
  if (type == entry_type::link)  // a `**` may end here, but does not enter the link
    std::erase_if(by_folders, [this](std::uint32_t i) { return pattern_.names()[i].is_folders(); });
  glob_places both;
  std::set_union(inside.begin(), inside.end(), by_folders.begin(), by_folders.end(), std::back_inserter(both));
  inside = std::move(both);
  if (inside.empty()) return;
  to.push_back({.name = std::string(name) + '/', .is_folder = true, .inside = std::move(inside)});
}

}  // namespace sluice::lib::detail
