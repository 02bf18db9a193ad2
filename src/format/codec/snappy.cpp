// SPDX-License-Identifier: Apache-2.0
// Snappy in chunks: the framing of the snappy project (framing_format.txt), and TensorFlow's, with a length before each
// block (tensorflow/core/lib/io/snappy). A chunk is a member, so the file may end after any of them.
#include "format/codec/byte_codec.hpp"

#if SLUICE_HAVE_SNAPPY
#include <absl/strings/str_cat.h>
#include <snappy.h>

#include <algorithm>
#include <cstring>

#include "sluice/base/crc32c.hpp"
#endif

namespace sluice::lib::detail {

#if SLUICE_HAVE_SNAPPY
namespace {

constexpr std::string_view kSnappyIdentifier("\xff\x06\0\0sNaPpY", 10);
constexpr std::size_t kSnappyHeaderBytes = 4, kSnappyChecksumBytes = 4;
constexpr std::size_t kFramedPlainMax = std::size_t{64} << 10;  // the limit of the framing format
constexpr std::size_t kSnappyStateBytes = std::size_t{1} << 10;
constexpr std::size_t kSnappyGathered = std::size_t{64} << 10;
/// A copy of at most 64 bytes takes three.
constexpr std::uint64_t kSnappyRatioMax = 22;

/// Collects whole chunks and decompresses each at once, directly into the caller's memory if that is large enough.
class chunk_codec : public decompressor {
 public:
  void allow(std::size_t bytes) override { allowed_ = bytes; }
  std::size_t begin(std::string_view) override {
    chunk_.clear();
    header_done_ = false;
    plain_.clear();
    given_ = 0;
    is_undone_ = false;
    return kSnappyStateBytes + chunk_.capacity() + plain_.capacity();
  }
  codec_progress go(std::string_view in, bool, char* out, std::size_t room) override {
    codec_progress p;
    if (is_undone_) return rest(p, out, room);
    if (!header_done_) {
      if (!gather(in, header_bytes(), p)) return p;
      wanted_ = header_bytes() + body_bytes(p.broken);
      if (!p.broken.empty()) return p;
      header_done_ = true;
    }
    // The buffer grows with the data, not with the announced length: a damaged length takes no memory.
    while (chunk_.size() < wanted_) {
      const std::size_t until = std::min(wanted_, std::max(kSnappyGathered, 2 * chunk_.size()));
      if (until > chunk_.capacity()) {
        p.wants_bytes = kSnappyStateBytes + until + plain_.capacity();
        if (p.wants_bytes > allowed_) return p;
        p.wants_bytes = 0;
        chunk_.reserve(until);
      }
      if (!gather(in.substr(p.consumed), until, p)) return p;
    }
    undo(p, out, room);
    if (!p.broken.empty() || p.wants_bytes != 0) return p;
    return is_undone_ ? rest(p, out, room) : p;
  }

 protected:
  virtual std::size_t header_bytes() const = 0;
  /// Returns the size of the body of the chunk whose header is in chunk(). Stores an error in `broken`.
  virtual std::size_t body_bytes(std::string& broken) = 0;
  /// The snappy block in a complete chunk. Empty with `is_plain` false: there is nothing to decompress.
  struct block {
    std::string_view bytes = {};
    bool is_plain = false;    ///< not compressed
    bool is_nothing = false;  ///< a chunk without content
  };
  virtual block content() const = 0;
  virtual std::size_t plain_max() const = 0;
  virtual std::string check(std::string_view) const { return {}; }
  std::string_view chunk() const { return chunk_; }

 private:
  bool gather(std::string_view in, std::size_t until, codec_progress& p) {
    const std::size_t n = std::min(in.size(), until - std::min(until, chunk_.size()));
    chunk_.append(in.substr(0, n));
    p.consumed += n;
    return chunk_.size() >= until;
  }
  void undo(codec_progress& p, char* out, std::size_t room) {
    const block b = content();
    if (b.is_nothing) {
      p.ended = true;
      return;
    }
    std::size_t size = b.bytes.size();
    if (!b.is_plain && !::snappy::GetUncompressedLength(b.bytes.data(), b.bytes.size(), &size)) {
      p.broken = "a block without its length";
      return;
    }
    if (size > plain_max() || (!b.is_plain && size / kSnappyRatioMax > b.bytes.size())) {
      p.broken = absl::StrCat("a block of ", b.bytes.size(), " bytes that claims to be ", size, " bytes of plain data");
      return;
    }
    const bool directly = room >= size;
    const std::size_t held =
        kSnappyStateBytes + chunk_.capacity() + (directly ? plain_.capacity() : std::max(size, plain_.capacity()));
    if (held > allowed_) {
      p.wants_bytes = held;
      return;
    }
    char* to = out;
    if (!directly) {
      plain_.resize(size);
      to = plain_.data();
    }
    if (b.is_plain) std::memcpy(to, b.bytes.data(), size);
    else if (!::snappy::RawUncompress(b.bytes.data(), b.bytes.size(), to)) {
      p.broken = "a block that is no snappy";
      return;
    }
    p.broken = check({to, size});
    if (!p.broken.empty()) return;
    if (directly) {
      p.produced = size;
      p.ended = true;
    } else {
      is_undone_ = true;
    }
  }
  codec_progress rest(codec_progress p, char* out, std::size_t room) {
    const std::size_t n = std::min(room, plain_.size() - given_);
    if (n) std::memcpy(out, plain_.data() + given_, n);
    given_ += n;
    p.produced = n;
    p.ended = given_ == plain_.size();
    return p;
  }

  std::string chunk_, plain_;
  std::size_t wanted_ = 0, given_ = 0, allowed_ = ~std::size_t{0};
  bool header_done_ = false, is_undone_ = false;
};

class framed_codec final : public chunk_codec {
 public:
  beginning begins(std::string_view in, bool last) const override {
    if (has_identifier_) return beginning::yes;
    beginning b = begins_with(in, kSnappyIdentifier);
    return b == beginning::unknown && last ? beginning::yes : b;
  }
  std::string_view expected() const override { return "the bytes ff 06 00 00 and \"sNaPpY\""; }

 private:
  static constexpr unsigned char kCompressed = 0x00, kPlain = 0x01, kSkippableFrom = 0x80, kIdentifies = 0xff;

  unsigned char kind() const { return static_cast<unsigned char>(chunk()[0]); }
  std::size_t header_bytes() const override { return kSnappyHeaderBytes; }
  std::size_t body_bytes(std::string& broken) override {
    const std::size_t size = little32(chunk()) >> 8;
    const unsigned char k = kind();
    if (k != kCompressed && k != kPlain && k < kSkippableFrom)
      broken = absl::StrCat("a chunk of the kind ", int{k}, ", which does not exist");
    else if (k <= kPlain && (size < kSnappyChecksumBytes ||
                             size > kSnappyChecksumBytes + ::snappy::MaxCompressedLength(kFramedPlainMax)))
      broken = absl::StrCat("a chunk of ", size, " bytes");
    else if (k == kIdentifies && size != kSnappyIdentifier.size() - kSnappyHeaderBytes)
      broken = "a stream identifier of another length";
    return size;
  }
  block content() const override {
    const unsigned char k = kind();
    if (k > kPlain) return {.is_nothing = true};
    return {.bytes = chunk().substr(kSnappyHeaderBytes + kSnappyChecksumBytes), .is_plain = k == kPlain};
  }
  std::size_t plain_max() const override { return kFramedPlainMax; }
  std::string check(std::string_view plain) const override {
    const std::uint32_t expected = little32(chunk().substr(kSnappyHeaderBytes));
    return expected == mask_crc(crc32c(plain)) ? "" : "its checksum is wrong";
  }
  std::size_t begin(std::string_view in) override {
    has_identifier_ = true;
    return chunk_codec::begin(in);
  }
  bool has_identifier_ = false;
};

class blocks_codec final : public chunk_codec {
 public:
  beginning begins(std::string_view, bool) const override { return beginning::yes; }
  std::string_view expected() const override { return "the length of a block"; }

 private:
  std::size_t header_bytes() const override { return 4; }
  std::size_t body_bytes(std::string& broken) override {
    const std::size_t size = __builtin_bswap32(little32(chunk()));
    if (size == 0) broken = "a block of no bytes";
    return size;
  }
  block content() const override { return {.bytes = chunk().substr(4)}; }
  std::size_t plain_max() const override { return ~std::size_t{0}; }
};

}  // namespace

std::unique_ptr<decompressor> new_snappy_codec() { return std::make_unique<framed_codec>(); }
std::unique_ptr<decompressor> new_snappy_blocks_codec() { return std::make_unique<blocks_codec>(); }
#else
std::unique_ptr<decompressor> new_snappy_codec() { return nullptr; }
std::unique_ptr<decompressor> new_snappy_blocks_codec() { return nullptr; }
#endif

}  // namespace sluice::lib::detail
