// SPDX-License-Identifier: Apache-2.0
// What the compressing libraries make of bytes: the references that our reading is held against.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "format/compressed.hpp"
#include "sluice/format/inflate.hpp"

#if SLUICE_HAVE_ZSTD
#include <zstd.h>
#endif
#if SLUICE_HAVE_LZ4
#include <lz4frame.h>
#endif
#if SLUICE_HAVE_SNAPPY
#include <snappy.h>

#include "sluice/base/crc32c.hpp"
#endif
#if SLUICE_HAVE_BZIP2
#include <bzlib.h>
#endif
#if SLUICE_HAVE_XZ
#include <lzma.h>
#endif

namespace sluice::lib::testing {

/// All that this build reads.
inline std::vector<compression> built_in_compressions() {
  std::vector<compression> all;
  for (compression c : {compression::gzip, compression::zlib, compression::zstd, compression::lz4, compression::snappy,
                        compression::snappy_blocks, compression::bzip2, compression::xz})
    if (is_built_in(c)) all.push_back(c);
  return all;
}

#if SLUICE_HAVE_ZSTD
inline std::string zstd_packed(std::string_view plain, int level) {
  std::string out(ZSTD_compressBound(plain.size()), '\0');
  ZSTD_CCtx* c = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(c, ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(c, ZSTD_c_checksumFlag, 1);
  out.resize(ZSTD_compress2(c, out.data(), out.size(), plain.data(), plain.size()));
  ZSTD_freeCCtx(c);
  return out;
}
#endif

#if SLUICE_HAVE_LZ4
/// `level`: its least bits choose the size of blocks, whether they are linked, and where there are checksums.
inline std::string lz4_packed(std::string_view plain, int level) {
  LZ4F_preferences_t how{};
  how.frameInfo.blockSizeID = static_cast<LZ4F_blockSizeID_t>(LZ4F_max64KB + level % 4);
  how.frameInfo.blockMode = level & 4 ? LZ4F_blockIndependent : LZ4F_blockLinked;
  how.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
  how.frameInfo.blockChecksumFlag = level & 1 ? LZ4F_blockChecksumEnabled : LZ4F_noBlockChecksum;
  std::string out(LZ4F_compressFrameBound(plain.size(), &how), '\0');
  out.resize(LZ4F_compressFrame(out.data(), out.size(), plain.data(), plain.size(), &how));
  return out;
}
#endif

#if SLUICE_HAVE_SNAPPY
inline std::string little_endian(std::uint64_t n, int bytes) {
  std::string s;
  for (int i = 0; i != bytes; ++i) s += static_cast<char>(n >> (8 * i));
  return s;
}
inline std::string snappy_packed(std::string_view plain) {
  std::string out("\xff\x06\0\0sNaPpY", 10);
  do {
    const std::string_view part = plain.substr(0, 65'536);
    plain.remove_prefix(part.size());
    std::string body;
    snappy::Compress(part.data(), part.size(), &body);
    const bool is_smaller = body.size() < part.size();
    if (!is_smaller) body = part;
    out += static_cast<char>(is_smaller ? 0 : 1);
    out += little_endian(body.size() + 4, 3) + little_endian(mask_crc(crc32c(part)), 4) + body;
  } while (!plain.empty());
  return out;
}
inline std::string snappy_blocks_packed(std::string_view plain, std::size_t block = 262'144) {
  std::string out;
  do {
    const std::string_view part = plain.substr(0, block);
    plain.remove_prefix(part.size());
    std::string body;
    snappy::Compress(part.data(), part.size(), &body);
    const std::string size = little_endian(body.size(), 4);
    out.append(size.rbegin(), size.rend()).append(body);
  } while (!plain.empty());
  return out;
}
#endif

#if SLUICE_HAVE_BZIP2
inline std::string bzip2_packed(std::string_view plain, int level) {
  auto size = static_cast<unsigned>(plain.size() + plain.size() / 50 + 700);
  std::string out(size, '\0');
  if (BZ2_bzBuffToBuffCompress(out.data(), &size, const_cast<char*>(plain.data()), static_cast<unsigned>(plain.size()),
                               level < 1 ? 1 : level, 0, 0) != BZ_OK)
    std::abort();
  out.resize(size);
  return out;
}
#endif

#if SLUICE_HAVE_XZ
inline std::string xz_packed(std::string_view plain, int level) {
  std::string out(lzma_stream_buffer_bound(plain.size()), '\0');
  std::size_t size = 0;
  if (lzma_easy_buffer_encode(static_cast<std::uint32_t>(level), LZMA_CHECK_CRC64, nullptr,
                              reinterpret_cast<const std::uint8_t*>(plain.data()), plain.size(),
                              reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size()) != LZMA_OK)
    std::abort();
  out.resize(size);
  return out;
}
#endif

/// A whole member; `level` from 0 to 9. REQUIRES: is_built_in(c).
inline std::string packed(compression c, std::string_view plain, int level = 1) {
  switch (c) {
    case compression::gzip: return gzipped(plain, level);
    case compression::zlib: return zlibbed(plain, level);
#if SLUICE_HAVE_ZSTD
    case compression::zstd: return zstd_packed(plain, level);
#endif
#if SLUICE_HAVE_LZ4
    case compression::lz4: return lz4_packed(plain, level);
#endif
#if SLUICE_HAVE_SNAPPY
    case compression::snappy: return snappy_packed(plain);
    case compression::snappy_blocks: return snappy_blocks_packed(plain);
#endif
#if SLUICE_HAVE_BZIP2
    case compression::bzip2: return bzip2_packed(plain, level);
#endif
#if SLUICE_HAVE_XZ
    case compression::xz: return xz_packed(plain, level);
#endif
    default: return std::string(plain);
  }
}

}  // namespace sluice::lib::testing
