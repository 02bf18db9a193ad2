// SPDX-License-Identifier: Apache-2.0
#include "engine/by_number/element_places.hpp"

namespace sluice::lib {

status element_places::begin(const std::string& path, const file_info& file, std::string_view kind, compression by) {
  status why;
  if (!path_.empty()) why = unimplemented_error("an index is built for one file at a time");
  else if (kind.empty()) why = unimplemented_error(kHasNoIndex);
  else if (file.is_stream || !file.has_size())
    why = unimplemented_error("cannot be read at any place, so an index of it would not help: copy it to a file first");
  if (!why.ok()) return why.in_file(path);
  path_ = path;
  index_.kind = kind_in(kind, by);
  index_.size_bytes = file.size_bytes;
  index_.modified_ns = file.modified_ns;
  index_.version = file.version;
  places_.begin(by == compression::none ? file.size_bytes : 0);
  return {};
}

void element_places::end(std::uint64_t elements, std::uint64_t plain_bytes) {
  places_.finish(elements, index_);
  index_.plain_bytes = plain_bytes;
  if (plain_bytes != 0) index_.points = points_.take();
  has_ended_ = true;
}

}  // namespace sluice::lib
