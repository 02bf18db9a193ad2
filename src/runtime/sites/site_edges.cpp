// SPDX-License-Identifier: Apache-2.0
#include "runtime/sites/site_edges.hpp"

#include <absl/container/flat_hash_map.h>

namespace sluice::lib {

std::vector<std::vector<std::size_t>> site_edges(const std::vector<site_report>& sites) {
  absl::flat_hash_map<std::uint64_t, std::size_t> by_path;
  by_path.reserve(sites.size());
  for (std::size_t i = 0; i != sites.size(); ++i) by_path.emplace(sites[i].path, i);
  std::vector<std::vector<std::size_t>> edges(sites.size());
  for (std::size_t i = 0; i != sites.size(); ++i)
    for (std::uint64_t path : sites[i].inputs)
      if (auto found = by_path.find(path); found != by_path.end() && found->second != i)
        edges[i].push_back(found->second);
  return edges;
}

}  // namespace sluice::lib
