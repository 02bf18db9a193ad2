// SPDX-License-Identifier: Apache-2.0
#include "format/codec/whole_codecs.hpp"

#include <absl/strings/str_cat.h>

#if SLUICE_HAVE_SNAPPY
#include <snappy.h>
#endif
#if __has_include(<brotli/decode.h>)
#include <brotli/decode.h>
#define SLUICE_HAVE_WHOLE_BROTLI 1
#else
#define SLUICE_HAVE_WHOLE_BROTLI 0
#endif

namespace sluice::lib {
namespace {

status damaged_whole(std::string_view what, std::size_t bytes) {
  return data_loss_error(absl::StrCat("its ", std::string(what), " is damaged, or has not exactly ", bytes, " bytes"));
}
[[maybe_unused]] status lacks_whole(std::string_view what) {
  return unimplemented_error(
      absl::StrCat("this build has no ", std::string(what), ": install the library and build again"));
}

status inflate_brotli(std::string_view in, char* out, std::size_t bytes) {
#if SLUICE_HAVE_WHOLE_BROTLI
  std::size_t made = bytes;
  const auto done = ::BrotliDecoderDecompress(in.size(), reinterpret_cast<const std::uint8_t*>(in.data()), &made,
                                              reinterpret_cast<std::uint8_t*>(out));
  return done == BROTLI_DECODER_RESULT_SUCCESS && made == bytes ? status() : damaged_whole("brotli stream", bytes);
#else
  (void)in, (void)out, (void)bytes;
  return lacks_whole("brotli");
#endif
}

status inflate_snappy_block(std::string_view in, char* out, std::size_t bytes) {
#if SLUICE_HAVE_SNAPPY
  std::size_t made = 0;
  if (!snappy::GetUncompressedLength(in.data(), in.size(), &made) || made != bytes ||
      !snappy::RawUncompress(in.data(), in.size(), out))
    return damaged_whole("snappy block", bytes);
  return {};
#else
  (void)in, (void)out, (void)bytes;
  return lacks_whole("snappy");
#endif
}

}  // namespace

status inflate_whole(whole_codec c, std::string_view in, char* out, std::size_t bytes) {
  return c == whole_codec::brotli ? inflate_brotli(in, out, bytes) : inflate_snappy_block(in, out, bytes);
}

bool is_built_in(whole_codec c) {
#if SLUICE_HAVE_SNAPPY
  if (c == whole_codec::snappy_block) return true;
#endif
  return c == whole_codec::brotli && SLUICE_HAVE_WHOLE_BROTLI;
}

}  // namespace sluice::lib
