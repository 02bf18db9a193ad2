// SPDX-License-Identifier: Apache-2.0
#include "format/codec/zstd_frames.hpp"

#include <new>

#if SLUICE_HAVE_ZSTD
#include <zstd.h>
#endif

#include "sluice/format/inflate.hpp"

namespace sluice::lib {

#if SLUICE_HAVE_ZSTD

struct zstd_frames::state {
  struct frees {
    void operator()(ZSTD_DCtx* c) const { ::ZSTD_freeDCtx(c); }
    void operator()(ZSTD_CCtx* c) const { ::ZSTD_freeCCtx(c); }
  };
  std::unique_ptr<ZSTD_DCtx, frees> reading;
  std::unique_ptr<ZSTD_CCtx, frees> writing;
};

result<std::uint64_t> zstd_frames::content_bytes(std::string_view frame) const {
  const unsigned long long n = ::ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (n == ZSTD_CONTENTSIZE_ERROR) return data_loss_error("the record is no zstd frame");
  if (n == ZSTD_CONTENTSIZE_UNKNOWN) return kUnknown;
  return std::uint64_t{n};
}

status zstd_frames::inflate(std::string_view frames, char* out, std::size_t bytes) {
  if (!state_->reading) state_->reading.reset(::ZSTD_createDCtx());
  if (!state_->reading) throw std::bad_alloc();
  const std::size_t made = ::ZSTD_decompressDCtx(state_->reading.get(), out, bytes, frames.data(), frames.size());
  if (::ZSTD_isError(made))
    return data_loss_error(std::string("the zstd frame of the record is damaged: ") + ::ZSTD_getErrorName(made));
  return made == bytes ? status()
                       : data_loss_error("the zstd frame of the record has fewer bytes than its header states");
}

status zstd_frames::deflate(std::string_view in, int level, std::string& out) {
  if (!state_->writing) state_->writing.reset(::ZSTD_createCCtx());
  if (!state_->writing) throw std::bad_alloc();
  const std::size_t start = out.size();
  out.resize(start + ::ZSTD_compressBound(in.size()));
  const std::size_t made =
      ::ZSTD_compressCCtx(state_->writing.get(), out.data() + start, out.size() - start, in.data(), in.size(), level);
  if (::ZSTD_isError(made)) return internal_error(std::string("zstd: ") + ::ZSTD_getErrorName(made));
  out.resize(start + made);
  return {};
}

#else

struct zstd_frames::state {};
namespace {
status lacks_zstd() { return unimplemented_error("this build has no zstd: install the library and build again"); }
}  // namespace
result<std::uint64_t> zstd_frames::content_bytes(std::string_view) const { return lacks_zstd(); }
status zstd_frames::inflate(std::string_view, char*, std::size_t) { return lacks_zstd(); }
status zstd_frames::deflate(std::string_view, int, std::string&) { return lacks_zstd(); }

#endif

zstd_frames::zstd_frames() : state_(std::make_unique<state>()) {}
zstd_frames::~zstd_frames() = default;

result<std::uint64_t> zstd_frames::measure(std::string_view frame, std::uint64_t bytes_max,
                                           std::span<char> room) const {
  // The window is not charged. 8 MiB are those of level 19, and what RFC 8878 asks decoders to support.
  constexpr std::size_t kUnsizedWindowBytes = std::size_t{9} << 20;
  inflater unpacking(compression::zstd, {.held_max = kUnsizedWindowBytes});
  std::uint64_t total = 0;
  for (std::size_t have = 0;;) {
    if (have == room.size()) have = 0;  // the bytes before are counted only
    const inflate_step s = unpacking.step(frame, true, room.data() + have, room.size() - have);
    frame.remove_prefix(s.consumed);
    have += s.produced;
    total += s.produced;
    if (!s.why.ok()) return s.why;
    if (s.ended) return total;
    if (total > bytes_max) return resource_exhausted_error("the record is larger than the memory budget");
    if (s.consumed == 0 && s.produced == 0)
      return data_loss_error(
          "the zstd frame of the record is cut short, or needs a window of more than 8 MiB without stating its size: "
          "compress the record by a call that knows all of its bytes");
  }
}

}  // namespace sluice::lib
