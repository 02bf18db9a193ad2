// SPDX-License-Identifier: Apache-2.0
#include "output/member_compressor.hpp"

#include "sluice/format/deflate.hpp"

#if SLUICE_HAVE_ZSTD
#include <zstd.h>

#include <new>
#endif

namespace sluice::lib {
namespace {

class gzip_members final : public member_compressor {
 public:
  void append(std::string_view plain, std::string& out) override { gz_.append(plain, out); }
  void end_member(std::string& out) override { gz_.end_member(out); }
  bool is_in_member() const noexcept override { return gz_.is_in_member(); }

 private:
  deflater gz_;
};

#if SLUICE_HAVE_ZSTD
constexpr std::size_t kFramePieceBytes = std::size_t{64} << 10;

struct frees_zstd_context {
  void operator()(ZSTD_CCtx* c) const { ::ZSTD_freeCCtx(c); }
};

/// Frames of the tool's default level, with a checksum as the tool writes it.
class zstd_members final : public member_compressor {
 public:
  zstd_members() : context_(::ZSTD_createCCtx()) {
    if (!context_) throw std::bad_alloc();
    ::ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
  }
  void append(std::string_view plain, std::string& out) override {
    if (plain.empty()) return;
    is_in_member_ = true;
    step(plain, ZSTD_e_continue, out);
  }
  void end_member(std::string& out) override {
    step({}, ZSTD_e_end, out);
    is_in_member_ = false;
  }
  bool is_in_member() const noexcept override { return is_in_member_; }

 private:
  void step(std::string_view plain, ZSTD_EndDirective how, std::string& out) {
    ZSTD_inBuffer in{plain.data(), plain.size(), 0};
    for (;;) {
      const std::size_t at = out.size();
      out.resize(at + kFramePieceBytes);
      ZSTD_outBuffer room{out.data() + at, kFramePieceBytes, 0};
      const std::size_t left = ::ZSTD_compressStream2(context_.get(), &room, &in, how);
      out.resize(at + room.pos);
      if (::ZSTD_isError(left)) throw std::bad_alloc();  // with these parameters it fails only without memory
      if (how == ZSTD_e_end ? left == 0 : in.pos == in.size) return;
    }
  }

  const std::unique_ptr<ZSTD_CCtx, frees_zstd_context> context_;
  bool is_in_member_ = false;
};
#endif

}  // namespace

status check_output_compression(compression c) {
  if (c == compression::none || c == compression::gzip) return {};
  if (c == compression::zstd) {
#if SLUICE_HAVE_ZSTD
    return {};
#else
    return unimplemented_error("this build of sluice has no zstd: gzip compresses outputs");
#endif
  }
  return invalid_argument_error("outputs are compressed by gzip or zstd, not by " + std::string(to_string(c)) +
                                (c == compression::lz4 ? "; lz4 compresses the buffers of Arrow" : ""));
}

result<std::unique_ptr<member_compressor>> make_member_compressor(compression c) {
  status why = check_output_compression(c);
  if (!why.ok()) return why;
  std::unique_ptr<member_compressor> made;
  if (c == compression::gzip) made = std::make_unique<gzip_members>();
#if SLUICE_HAVE_ZSTD
  if (c == compression::zstd) made = std::make_unique<zstd_members>();
#endif
  return made;
}

}  // namespace sluice::lib
