// SPDX-License-Identifier: Apache-2.0
#include "engine/by_number/element_places.hpp"

namespace sluice::lib {

status element_places::begin(const std::string& path, const file_info& file, std::string_view kind,
                             bool is_compressed) {
  status why;
  if (!path_.empty()) why = unimplemented_error("an index is built for one file at a time");
  else if (kind.empty())
    why =
        unimplemented_error("has no index: only tfrecord, lines, csv and jsonl use one; other readers seek without it");
  else if (is_compressed)
    why = unimplemented_error("is compressed, and an index of it would not help: decompress it first");
  else if (file.is_stream || !file.has_size())
    why = unimplemented_error("cannot be read at any place, so an index of it would not help: copy it to a file first");
  if (!why.ok()) return why.in_file(path);
  path_ = path;
  index_.kind = kind;
  index_.size_bytes = file.size_bytes;
  index_.modified_ns = file.modified_ns;
  index_.version = file.version;
  return {};
}

}  // namespace sluice::lib
