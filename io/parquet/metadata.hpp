// SPDX-License-Identifier: Apache-2.0
// The serialized description of the row groups of a file: its footer, and the state of a writer.
#pragma once

#include <arrow/util/config.h>
#include <parquet/metadata.h>

#include <cstdint>
#include <memory>
#include <string_view>

namespace sluice::lib::arrow_parquet {

/// Errors: thrown by Arrow.
inline std::shared_ptr<::parquet::FileMetaData> read_metadata(std::string_view bytes) {
#if ARROW_VERSION_MAJOR >= 26
  return ::parquet::FileMetaData::Make(bytes.data(), static_cast<std::int64_t>(bytes.size()));
#else
  auto length = static_cast<std::uint32_t>(bytes.size());
  return ::parquet::FileMetaData::Make(bytes.data(), &length);
#endif
}

}  // namespace sluice::lib::arrow_parquet
