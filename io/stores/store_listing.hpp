// SPDX-License-Identifier: Apache-2.0
// Lists the keys of a bucket that match a pattern, page by page.
//
// Costs: one request for each thousand keys that begin with the text before the first `*`, `?` or `[`. If only the last
// name of the pattern has such characters, the store leaves out the keys in deeper folders. A pattern that ends with a
// / lists folders; list_options::with_folders lists them beside the objects of such a pattern.
#pragma once

#include <memory>
#include <string>

#include "io/paths/glob.hpp"
#include "io/stores/object_store.hpp"
#include "sluice/io/file_system.hpp"

namespace sluice::lib::detail {

class store_listing final : public listing {
 public:
  store_listing(std::shared_ptr<object_store> store, result<store_path> pattern, list_options options);
  task<std::vector<listed_file>> next(time_point deadline) override;

 private:
  task<std::vector<listed_file>> one(time_point deadline);
  void take(store_page page, std::vector<listed_file>& to);

  const std::shared_ptr<object_store> store_;
  const result<store_path> where_;
  const glob_pattern pattern_;  ///< of keys
  const bool wants_folders_;    ///< and no objects
  const list_options options_;
  std::string root_;  ///< scheme://bucket/
  std::string from_;
  bool by_folder_ = false;
  bool found_any_ = false, done_ = false;
};

}  // namespace sluice::lib::detail
