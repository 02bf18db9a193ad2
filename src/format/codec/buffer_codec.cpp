// SPDX-License-Identifier: Apache-2.0
#include "format/codec/buffer_codec.hpp"

#include <memory>
#include <new>

#if SLUICE_HAVE_LZ4
#include <lz4frame.h>
#endif
#if SLUICE_HAVE_ZSTD
#include <zstd.h>
#endif

namespace sluice::lib {

namespace {

[[maybe_unused]] constexpr int kZstdLevel = 1;  // as pyarrow: values in columns gain little from higher levels

status damaged(std::string_view format, std::string_view what) {
  return data_loss_error("the " + std::string(format) + " frame of a buffer is damaged: " + std::string(what));
}
[[maybe_unused]] status missing(std::string_view format) {
  return unimplemented_error("this build has no " + std::string(format) + ": install the library and build again");
}

status inflate_lz4(std::string_view in, char* out, std::size_t bytes) {
#if SLUICE_HAVE_LZ4
  struct frees {
    void operator()(LZ4F_dctx* c) const { ::LZ4F_freeDecompressionContext(c); }
  };
  LZ4F_dctx* made = nullptr;
  if (::LZ4F_isError(::LZ4F_createDecompressionContext(&made, LZ4F_VERSION))) throw std::bad_alloc();
  const std::unique_ptr<LZ4F_dctx, frees> context(made);
  char none = 0;
  for (std::size_t done = 0;;) {
    std::size_t produced = bytes - done, consumed = in.size();
    char* const to = produced != 0 ? out + done : &none;
    const std::size_t left = ::LZ4F_decompress(context.get(), to, &produced, in.data(), &consumed, nullptr);
    if (::LZ4F_isError(left)) return damaged("lz4", ::LZ4F_getErrorName(left));
    done += produced;
    in.remove_prefix(consumed);
    if (left == 0) {
      if (done != bytes) return damaged("lz4", "it has fewer bytes than declared");
      return in.empty() ? status() : damaged("lz4", "bytes follow it");
    }
    if (produced == 0 && consumed == 0)
      return damaged("lz4", done == bytes ? "it has more bytes than declared" : "it ends early");
    if (in.empty() && produced == 0) return damaged("lz4", "it ends early");
  }
#else
  (void)in, (void)out, (void)bytes;
  return missing("lz4");
#endif
}

status inflate_zstd(std::string_view in, char* out, std::size_t bytes) {
#if SLUICE_HAVE_ZSTD
  const std::size_t made = ::ZSTD_decompress(out, bytes, in.data(), in.size());
  if (::ZSTD_isError(made)) return damaged("zstd", ::ZSTD_getErrorName(made));
  return made == bytes ? status() : damaged("zstd", "it has fewer bytes than declared");
#else
  (void)in, (void)out, (void)bytes;
  return missing("zstd");
#endif
}

status deflate_lz4(std::string_view in, std::string& out) {
#if SLUICE_HAVE_LZ4
  LZ4F_preferences_t how{};
  how.frameInfo.contentSize = in.size();
  const std::size_t start = out.size();
  out.resize(start + ::LZ4F_compressFrameBound(in.size(), &how));
  const std::size_t made = ::LZ4F_compressFrame(out.data() + start, out.size() - start, in.data(), in.size(), &how);
  if (::LZ4F_isError(made)) return internal_error(std::string("lz4: ") + ::LZ4F_getErrorName(made));
  out.resize(start + made);
  return {};
#else
  (void)in, (void)out;
  return missing("lz4");
#endif
}

status deflate_zstd(std::string_view in, std::string& out) {
#if SLUICE_HAVE_ZSTD
  const std::size_t start = out.size();
  out.resize(start + ::ZSTD_compressBound(in.size()));
  const std::size_t made = ::ZSTD_compress(out.data() + start, out.size() - start, in.data(), in.size(), kZstdLevel);
  if (::ZSTD_isError(made)) return internal_error(std::string("zstd: ") + ::ZSTD_getErrorName(made));
  out.resize(start + made);
  return {};
#else
  (void)in, (void)out;
  return missing("zstd");
#endif
}

}  // namespace

status inflate_buffer(compression c, std::string_view in, char* out, std::size_t bytes) {
  return c == compression::lz4 ? inflate_lz4(in, out, bytes) : inflate_zstd(in, out, bytes);
}

status deflate_buffer(compression c, std::string_view in, std::string& out) {
  return c == compression::lz4 ? deflate_lz4(in, out) : deflate_zstd(in, out);
}

}  // namespace sluice::lib
