// SPDX-License-Identifier: Apache-2.0
// The footer of ArrayRecord files: Riegeli files that end with the places of their chunks.
//
// Format. The footer is a simple chunk whose first record is a message {1: {1: version, 2: chunks, 3: records, 4: options}},
//   and whose others are {1: offset of a chunk, 2: decoded bytes, 3: records}, one for each chunk. The last block of the file
//   has a chunk with the message {1: offset of the footer, 2: a magic number} (a "postscript").
// Errors: data_loss: no ArrayRecord file, cut short, or damaged; those of riegeli_chunks.hpp.
// Thread: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/riegeli/riegeli_chunks.hpp"
#include "sluice/base/result.hpp"

namespace sluice::lib {

inline constexpr std::uint64_t kArrayRecordTailBytes = kRiegeliBlockBytes;

struct array_record_chunks {
  std::vector<std::uint64_t> offsets{};  ///< in the file, ascending
  std::vector<std::uint64_t> ends{};     ///< the number of records up to the end of each chunk
  std::uint64_t end = 0;                 ///< the offset of the footer, which follows the last chunk

  std::uint64_t records() const { return ends.empty() ? 0 : ends.back(); }
  std::uint64_t records_in(std::size_t chunk) const { return ends[chunk] - (chunk == 0 ? 0 : ends[chunk - 1]); }
  std::uint64_t end_of(std::size_t chunk) const { return chunk + 1 == offsets.size() ? end : offsets[chunk + 1]; }
};

/// `tail`: the last kArrayRecordTailBytes of the file, or all of a shorter one. Returns the offset of the footer.
result<std::uint64_t> find_array_record_footer(std::string_view tail, std::uint64_t size_bytes);
/// `from`: has the bytes from the footer on.
result<array_record_chunks> parse_array_record_footer(const file_bytes& from, std::uint64_t footer);

/// Appends the footer and the postscript after the chunks.
void append_array_record_end(riegeli_writer& writer, const array_record_chunks& chunks,
                             const std::vector<std::uint64_t>& decoded_bytes, std::string_view options, int level,
                             std::string& to);

}  // namespace sluice::lib
