// SPDX-License-Identifier: Apache-2.0
#include "io/hdfs/hdfs_listing.hpp"

#include <algorithm>

#include "io/hdfs/hdfs_status.hpp"
#include "io/http/messages/http_text.hpp"
#include "io/paths/listed.hpp"

namespace sluice::lib::detail {
namespace {

/// The number of matches in one page.
constexpr std::size_t kMatchesMax = 1000;
/// The size limit of a folder from a server without pages, which sends it whole.
constexpr std::size_t kWholeFolderBytes = std::size_t{64} << 20;
/// The size limit of a page: a thousand names by default, each of up to 255 bytes, with their properties.
constexpr std::size_t kPageBytes = std::size_t{16} << 20;
/// The memory for each byte of an answer while it is parsed: the byte, simdjson's copy, its tape, the entries.
constexpr std::size_t kParsingTakes = 4;
/// The size of an event without its name.
constexpr std::size_t kEventBytes = 192;

std::string pattern_of(const result<hdfs_path>& path) { return path.ok() ? path->path.substr(1) : std::string(); }

bool is_ascii(const std::string& name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

hdfs_listing::hdfs_listing(result<hdfs_place> place, result<hdfs_path> pattern, std::shared_ptr<run_context> run)
    : place_(std::move(place)),
      where_(std::move(pattern)),
      pattern_(pattern_of(where_)),
      held_(run, run->ledger->line(purpose::listing, "hdfs"), "hdfs", "the names of a folder",
            "list fewer folders at once") {}

void hdfs_listing::put(level& to, std::string name, event what) {
  const auto [at, is_new] = to.events.insert_or_assign(std::move(name), std::move(what));
  if (is_new) events_bytes_ += at->first.size() + kEventBytes;
}

hdfs_place hdfs_listing::place_of(const std::string& path) const {
  hdfs_place p = *place_;
  p.path = "/" + path;
  if (path.ends_with('/')) p.path.pop_back();
  p.text = where_->root() + p.path;
  return p;
}

bool hdfs_listing::are_plain(const glob_places& at) const {
  return std::all_of(at.begin(), at.end(), [this](std::uint32_t i) { return pattern_.names()[i].is_plain(); });
}

status hdfs_listing::add(level& to, hdfs_entry entry) {
  const std::string& name = entry.name;
  const bool is_folder = entry.what == hdfs_entry::type::folder;
  const glob_pattern::ending ends = pattern_.ends_with(to.at, name);
  event match;
  match.is_match = ends == glob_pattern::ending::any || (ends == glob_pattern::ending::file && !is_folder);
  if (entry.what == hdfs_entry::type::file) match.info = std::move(entry.info);
  event folder;
  if (is_folder) {
    glob_places by_folders;
    const glob_places inside = pattern_.enter(to.at, name, &by_folders);
    std::set_union(inside.begin(), inside.end(), by_folders.begin(), by_folders.end(),
                   std::back_inserter(folder.inside));
  }
  if (!to.given.empty() && name < to.given)
    return data_loss_error(joined("the listing goes back: \"", name, "\" follows \"", to.given, "\""));
  if (match.is_match) put(to, name, std::move(match));
  if (!folder.inside.empty()) put(to, name + "/", std::move(folder));
  return {};
}

task<> hdfs_listing::look_at_plain(level& to, time_point deadline) {
  to.is_read = true;
  for (std::uint32_t i : to.at) {
    const std::string& name = pattern_.names()[i].text();
    if (name.empty()) continue;
    auto looking = look_up_hdfs(place_of(to.path + name), deadline);
    auto entry = co_await looking.as_result();
    if (!entry.ok() && entry.why().code() == status_code::not_found) continue;
    if (!entry.ok()) co_await fail(entry.why());
    entry->name = name;
    status why = add(to, *std::move(entry));
    if (!why.ok()) co_await fail(why.in_file(where_->text));
  }
}

task<http_answer> hdfs_listing::ask_folder(std::string path, std::string op, std::string after, time_point deadline) {
  hdfs_place of = place_of(path);
  const bool is_whole = op == "LISTSTATUS";
  hdfs_question q{"GET", of.path, std::move(op)};
  if (!after.empty()) q.more.emplace_back("startAfter", std::move(after));
  call_options how;
  how.of = {of.text, "listing"};
  how.deadline = deadline;
  how.answer_bytes_max = is_whole ? kWholeFolderBytes : kPageBytes;
  return ask_name_node(of.servers, of.nodes, std::move(q), std::move(how));
}

task<hdfs_page> hdfs_listing::ask_for_page(const level& of, time_point deadline) {
  http_answer answer;
  bool in_pages = place_->nodes->lists_in_pages.load(std::memory_order_relaxed);
  if (in_pages) {
    auto asking = ask_folder(of.path, "LISTSTATUS_BATCH", of.after, deadline);
    auto got = co_await asking.as_result();
    const status_code why = got.why().code();
    in_pages = why != status_code::invalid_argument && why != status_code::unimplemented;
    if (!got.ok() && in_pages) co_await fail(got.why());
    if (got.ok()) answer = *std::move(got);
  }
  if (!in_pages) {
    auto asking = ask_folder(of.path, "LISTSTATUS", {}, deadline);
    auto got = co_await asking.as_result();
    if (got.why().code() == status_code::data_loss)
      co_await fail(
          status(status_code::resource_exhausted,
                 joined("the folder is too large to be listed whole, and the server supports no pages "
                        "(LISTSTATUS_BATCH): ask the name nodes themselves, or spread its files over folders; ",
                        got.why().message()))
              .in_file(place_of(of.path).text));
    if (!got.ok()) co_await fail(got.why());
    answer = *std::move(got);
    place_->nodes->lists_in_pages.store(false, std::memory_order_relaxed);
  }
  status room = held_.resize(events_bytes_ + kParsingTakes * answer.body.size());
  if (!room.ok()) co_await fail(room.in_file(where_->text));
  auto page = parse_hdfs_listing(answer.body);
  if (!page.ok()) co_await fail(page.why().in_file(where_->text));
  if (!in_pages) page->remaining = 0;
  co_return *std::move(page);
}

task<> hdfs_listing::read_page(level& to, time_point deadline) {
  auto asking = ask_for_page(to, deadline);
  auto got = co_await asking.as_result();
  if (!got.ok() && got.why().code() != status_code::not_found) co_await fail(got.why());
  to.is_read = !got.ok() || got->remaining == 0;  // the folder may have been deleted meanwhile
  if (!got.ok()) co_return;
  const std::string before = to.after;
  for (hdfs_entry& e : got->entries) {
    if (e.name.empty()) continue;  // a file and no folder
    to.is_by_bytes = to.is_by_bytes && is_ascii(e.name) && to.after < e.name;
    to.after = e.name;
    status why = add(to, std::move(e));
    if (!why.ok()) co_await fail(why.in_file(where_->text));
  }
  status room = held_.resize(events_bytes_);
  if (!room.ok()) co_await fail(room.in_file(where_->text));
  if (!to.is_read && to.after == before)
    co_await fail(data_loss_error("the listing makes no progress: more entries remain, and none has arrived")
                      .in_file(where_->text));
}

task<> hdfs_listing::open_level(std::string path, glob_places at, time_point deadline) {
  level opened{std::move(path), std::move(at)};
  // A pattern that ends with a / matches the folder itself.
  const bool ends_here = std::any_of(opened.at.begin(), opened.at.end(), [this](std::uint32_t i) {
    const glob_name& n = pattern_.names()[i];
    return i + 1 == pattern_.names().size() && n.is_plain() && n.text().empty();
  });
  if (ends_here && !opened.path.empty()) {
    bool is_folder = is_begun_;  // a listing has shown that it is one
    if (!is_folder) {
      auto looking = look_up_hdfs(place_of(opened.path), deadline);
      auto found = co_await looking.as_result();
      if (!found.ok() && found.why().code() != status_code::not_found) co_await fail(found.why());
      is_folder = found.ok() && found->what == hdfs_entry::type::folder;
    }
    if (is_folder) put(opened, std::string(), event{.is_match = true});
  }
  if (are_plain(opened.at)) {
    auto looking = look_at_plain(opened, deadline);
    co_await looking;
  }
  levels_.push_back(std::move(opened));
}

std::optional<std::pair<std::string, hdfs_listing::event>> hdfs_listing::take_event(level& from) {
  if (from.events.empty()) return {};
  auto first = from.events.begin();
  const bool is_known = from.is_read || (from.is_by_bytes && first->first <= from.after);
  if (!is_known) return {};
  from.given = first->first;
  std::pair<std::string, event> taken(first->first, std::move(first->second));
  events_bytes_ -= first->first.size() + kEventBytes;
  from.events.erase(first);
  return taken;
}

task<std::vector<listed_file>> hdfs_listing::next(time_point deadline) {
  std::vector<listed_file> page;
  if (!where_.ok()) co_await fail(where_.why());
  if (!place_.ok()) co_await fail(place_.why());
  if (!is_begun_) {
    // The pattern's first plain names are one path: the walk begins after it, in the folder of its last name.
    const std::vector<glob_name>& names = pattern_.names();
    const std::size_t first = std::min(pattern_.plain_names(), names.size() - 1);
    std::string path;
    for (std::size_t i = 0; i != first; ++i) path.append(names[i].text()).push_back('/');
    auto opening = open_level(std::move(path), pattern_.places_from(static_cast<std::uint32_t>(first)), deadline);
    co_await opening;
    is_begun_ = true;
  }
  while (!levels_.empty() && page.size() < kMatchesMax) {
    level& top = levels_.back();
    auto taken = take_event(top);
    if (taken && taken->second.is_match) {
      page.push_back({joined(where_->root(), "/", top.path, taken->first), std::move(taken->second.info)});
    } else if (taken) {
      if (!page.empty()) {  // matches are returned before more is requested
        put(top, std::move(taken->first), std::move(taken->second));
        break;
      }
      auto opening = open_level(top.path + taken->first, std::move(taken->second.inside), deadline);
      co_await opening;
    } else if (top.is_read) {
      levels_.pop_back();
    } else {
      if (!page.empty()) break;
      auto reading = read_page(top, deadline);
      co_await reading;
    }
  }
  (void)held_.resize(events_bytes_);
  found_any_ = found_any_ || !page.empty();
  if (!found_any_) co_await fail(nothing_matches(where_->text).in_file(where_->text));
  co_return page;
}

}  // namespace sluice::lib::detail
