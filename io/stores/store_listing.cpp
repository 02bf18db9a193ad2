// SPDX-License-Identifier: Apache-2.0
#include "io/stores/store_listing.hpp"

#include <algorithm>

#include "io/paths/listed.hpp"

namespace sluice::lib::detail {
namespace {

std::string key_of(const result<store_path>& path) { return path.ok() ? path->key : std::string(); }

/// Returns the key without a slash at its end.
std::string trimmed(std::string key) {
  if (key.ends_with('/')) key.pop_back();
  return key;
}

}  // namespace

store_listing::store_listing(std::shared_ptr<object_store> store, result<store_path> pattern, list_options options)
    : store_(std::move(store)),
      where_(std::move(pattern)),
      pattern_(trimmed(key_of(where_))),
      wants_folders_(key_of(where_).ends_with('/')),
      options_(options) {
  if (!where_.ok()) return;
  root_ = where_->text.substr(0, where_->text.size() - where_->key.size());
  // If only the last name is a pattern, deeper names cannot match.
  by_folder_ = !pattern_.is_deep() && pattern_.plain_names() + 1 >= pattern_.names().size();
}

task<std::vector<listed_file>> store_listing::one(time_point deadline) {
  store_path path = *where_;
  path.key = pattern_.prefix();
  path.text = root_ + path.key;
  std::vector<listed_file> page;
  auto looking = store_->look_up(path, deadline);
  file_info info = co_await looking;
  page.push_back({path.text, std::move(info)});
  co_return page;
}

void store_listing::take(store_page page, std::vector<listed_file>& to) {
  if (wants_folders_ || options_.with_folders)
    for (std::string& folder : page.folders)
      if (pattern_.matches(trimmed(folder))) to.push_back({root_ + folder, std::nullopt});
  if (!wants_folders_) {
    for (store_entry& e : page.objects)
      // Some programs create an empty object a/ to represent the folder a.
      if (!e.key.ends_with('/') && pattern_.matches(e.key)) to.push_back({root_ + e.key, std::move(e.info)});
  }
  std::sort(to.begin(), to.end(), [](const listed_file& a, const listed_file& b) { return a.path < b.path; });
}

task<std::vector<listed_file>> store_listing::next(time_point deadline) {
  std::vector<listed_file> page;
  if (!where_.ok()) co_await fail(where_.why());
  if (where_->key.empty())
    co_await fail(invalid_argument_error(
                      "names a bucket, and nothing in it: a pattern is scheme://bucket/*, or /** for all of it")
                      .in_file(where_->text));
  if (done_) co_return page;
  if (wants_folders_ && !by_folder_)
    co_await fail(unimplemented_error("folders are listed where only the last name of a pattern has * ? or [ ]")
                      .in_file(where_->text));
  if (pattern_.is_plain() && !wants_folders_) {
    auto looking = one(deadline);
    page = co_await looking;
    done_ = true;
    co_return page;
  }
  store_path where = *where_;
  where.key = pattern_.prefix();
  while (page.empty() && !done_) {
    auto asking = store_->list_page(where, by_folder_, from_, deadline);
    store_page got = co_await asking;
    if (!got.next.empty() && got.next == from_)
      co_await fail(
          data_loss_error("the listing makes no progress: a page names itself as the next").in_file(where_->text));
    from_ = std::exchange(got.next, {});
    done_ = from_.empty();
    take(std::move(got), page);
  }
  found_any_ = found_any_ || !page.empty();
  if (!found_any_) co_await fail(nothing_matches(where_->text).in_file(where_->text));
  co_return page;
}

}  // namespace sluice::lib::detail
