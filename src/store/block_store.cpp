// SPDX-License-Identifier: Apache-2.0
#include "store/block_store.hpp"

#include "io/paths/file_router.hpp"
#include "store/cache_file.hpp"
#include "store/object_cache.hpp"

namespace sluice::lib {
namespace {

template <class T> result<std::shared_ptr<block_store>> as_block_store(result<T> made) {
  if (!made.ok()) return made.why();
  return std::shared_ptr<block_store>(*std::move(made));
}

}  // namespace

result<std::shared_ptr<block_store>> open_blocks(std::string path, bool rebuilds, runtime& rt) {
  if (detail::is_remote(path)) return as_block_store(object_cache::open(std::move(path), rebuilds, rt));
  return as_block_store(cache_file::open(detail::without_file_scheme(std::move(path)), rebuilds));
}

result<std::shared_ptr<block_store>> open_blocks_to_read(std::string path, runtime& rt) {
  if (!detail::is_remote(path))
    return as_block_store(cache_file::open_to_read(detail::without_file_scheme(std::move(path))));
  auto made = as_block_store(object_cache::open(path, false, rt));
  if (made.ok() && (*made)->head().empty()) return not_found_error("there is no such cache").in_file(path);
  return made;
}

}  // namespace sluice::lib
