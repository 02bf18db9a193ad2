// SPDX-License-Identifier: Apache-2.0
#include "sluice/io/file_system.hpp"

#include <utility>

namespace sluice::lib {

task<std::vector<std::string>> glob(file_system& files, std::string pattern, time_point deadline) {
  std::unique_ptr<listing> matches = files.list(std::move(pattern));
  std::vector<std::string> names;
  for (;;) {
    auto listing_more = matches->next(deadline);
    std::vector<listed_file> page = co_await listing_more;
    if (page.empty()) break;
    for (listed_file& f : page) names.push_back(std::move(f.path));
  }
  co_return std::move(names);
}

}  // namespace sluice::lib
