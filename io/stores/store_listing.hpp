// SPDX-License-Identifier: Apache-2.0
// The keys of a bucket that match a pattern, page by page as the store gives them.
//
// What it costs: a request for each thousand keys that begin with what stands before the first `*`, `?` or `[`. Where
// these are in the last name only, keys in deeper folders are left out by the store. A pattern that ends with a /
// gives folders.
#pragma once

#include <memory>
#include <string>

#include "io/paths/glob.hpp"
#include "io/stores/object_store.hpp"
#include "sluice/io/file_system.hpp"

namespace sluice::lib::detail {

class store_listing final : public listing {
 public:
  store_listing(std::shared_ptr<object_store> store, result<store_path> pattern);
  task<std::vector<listed_file>> next(time_point deadline) override;

 private:
  task<std::vector<listed_file>> one(time_point deadline);
  void take(store_page page, std::vector<listed_file>& to);

  const std::shared_ptr<object_store> store_;
  const result<store_path> where_;
  const glob_pattern pattern_;  ///< of keys
  const bool wants_folders_;
  std::string root_;  ///< scheme://bucket/
  std::string from_;
  bool by_folder_ = false;
  bool found_any_ = false, done_ = false;
};

}  // namespace sluice::lib::detail
