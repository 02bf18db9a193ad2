// SPDX-License-Identifier: Apache-2.0
// zlib, the reference that our decompression is held against.
#pragma once

#include <zlib.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace sluice::lib::testing {

/// window_bits: 15 zlib, 31 gzip.
inline std::string compressed(std::string_view plain, int window_bits, int level = 6) {
  z_stream z{};
  if (deflateInit2(&z, level, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY) != Z_OK) std::abort();
  std::string out(deflateBound(&z, plain.size()) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  z.avail_in = static_cast<uInt>(plain.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  if (deflate(&z, Z_FINISH) != Z_STREAM_END) std::abort();
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}
inline std::string gzipped(std::string_view plain, int level = 6) { return compressed(plain, 31, level); }
inline std::string zlibbed(std::string_view plain, int level = 6) { return compressed(plain, 15, level); }

}  // namespace sluice::lib::testing
