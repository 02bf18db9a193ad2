// SPDX-License-Identifier: Apache-2.0
#include "sluice/runtime/input_rules.hpp"

#include <utility>

namespace sluice::lib {
namespace {

constexpr std::pair<std::string_view, file_identity> kIdentityNames[] = {
    {"automatic", file_identity::automatic}, {"size+mtime", file_identity::size_and_time},
    {"etag", file_identity::etag},           {"content", file_identity::content},
    {"strict", file_identity::strict},
};

/// Returns the folder without the slashes at its end; the empty text stands for ".".
std::string_view folder_of(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path == "." ? std::string_view() : path;
}

bool is_relative(std::string_view path) { return !path.starts_with('/') && path.find("://") == path.npos; }

/// Returns true if the folder contains the path; `rest` is then the path within it.
bool contains(std::string_view folder, std::string_view path, std::string_view& rest) {
  if (folder.empty()) {
    rest = path;
    return is_relative(path);
  }
  if (!path.starts_with(folder)) return false;
  rest = path.substr(folder.size());
  if (rest.empty() || folder == "/") return true;
  if (!rest.starts_with('/')) return false;
  rest.remove_prefix(1);
  return true;
}

std::string joined_path(std::string_view folder, std::string_view rest) {
  std::string path(folder);
  if (!path.empty() && !rest.empty() && !path.ends_with('/')) path += '/';
  return path.append(rest);
}

std::string one_path_before(const path_rebases& moves, std::string_view path) {
  const path_rebase* best = nullptr;
  std::string_view best_rest, rest;
  for (const path_rebase& m : moves.list())
    if (contains(folder_of(m.to), path, rest) && (!best || folder_of(m.to).size() > folder_of(best->to).size())) {
      best = &m;
      best_rest = rest;
    }
  return best ? joined_path(folder_of(best->from), best_rest) : std::string(path);
}

}  // namespace

template <class T>
rule_list<T>::rule_list(std::initializer_list<T> rules)
    : list_(rules.size() == 0 ? nullptr : std::make_shared<const std::vector<T>>(rules)) {}

template <class T> void rule_list<T>::add(T rule) {
  std::vector<T> more = list();
  more.push_back(std::move(rule));
  list_ = std::make_shared<const std::vector<T>>(std::move(more));
}

template <class T> const std::vector<T>& rule_list<T>::list() const noexcept {
  static const std::vector<T> none;
  return list_ ? *list_ : none;
}

template <class T> bool rule_list<T>::operator==(const rule_list& other) const { return list() == other.list(); }

template class rule_list<prefix_identity>;
template class rule_list<path_rebase>;

std::string path_before(const path_rebases& moves, std::string_view path) {
  if (moves.empty() || path.find(',') == path.npos) return one_path_before(moves, path);
  std::string whole = one_path_before(moves, path.substr(0, path.find(',')));
  for (std::size_t comma = path.find(','); comma != path.npos;) {
    const std::size_t begin = path.find_first_not_of(' ', comma + 1);
    if (begin == path.npos) return whole.append(path.substr(comma));
    whole.append(path.substr(comma, begin - comma));
    comma = path.find(',', begin);
    whole += one_path_before(moves, path.substr(begin, comma == path.npos ? comma : comma - begin));
  }
  return whole;
}

bool read_file_identity(std::string_view text, file_identity& identity) {
  for (auto& [name, value] : kIdentityNames)
    if (name == text) {
      identity = value;
      return true;
    }
  return false;
}

std::string_view name_of(file_identity identity) {
  for (auto& [name, value] : kIdentityNames)
    if (value == identity) return name;
  return {};
}

}  // namespace sluice::lib
