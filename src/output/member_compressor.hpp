// SPDX-License-Identifier: Apache-2.0
// Compresses an output's bytes, a piece at a time, into members: of gzip, or frames of zstd.
//
//   auto made = make_member_compressor(compression::zstd);
//   (*made)->append(bytes, out);               // `out` contains a part of it
//   (*made)->end_member(out);                  // `out` contains all of it; an output that is cut here can be decompressed
//
// A file may have any number of members, which readers join. A checkpoint ends a member, so that a resumed run continues
// with another one.
// Errors: std::bad_alloc.
// Thread: not safe for concurrent use; one for each file.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "sluice/base/status.hpp"
#include "sluice/format/inflate.hpp"

namespace sluice::lib {

class member_compressor {
 public:
  virtual ~member_compressor() = default;
  virtual void append(std::string_view plain, std::string& out) = 0;
  /// Without a byte before it, makes an empty member.
  virtual void end_member(std::string& out) = 0;
  /// Returns true if bytes were appended since the last end_member().
  virtual bool is_in_member() const noexcept = 0;
};

/// Returns null for compression::none. Errors: invalid_argument: outputs are not compressed so; unimplemented: this build
/// has no zstd.
result<std::unique_ptr<member_compressor>> make_member_compressor(compression c);
/// Returns the same errors. Does not allocate the compressor.
status check_output_compression(compression c);

}  // namespace sluice::lib
