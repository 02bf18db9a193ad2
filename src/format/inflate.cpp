// SPDX-License-Identifier: Apache-2.0
#include "sluice/format/inflate.hpp"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <initializer_list>
#include <limits>

#include "sluice/format/tfrecord.hpp"

namespace sluice::lib {

struct inflater::state {
  explicit state(compression f) : format(f) { begin(); }
  void begin() {
    ::isal_inflate_init(&stream);
    stream.crc_flag = format == compression::zlib ? ISAL_ZLIB : ISAL_GZIP;
  }

  compression format;
  bool between = true;  ///< at the file's start or after a complete member
  std::uint64_t members = 0;
  inflate_state stream;
};

namespace {

std::string_view reason(int code) {
  switch (code) {
    case ISAL_INVALID_BLOCK: return "a block type that does not exist";
    case ISAL_INVALID_SYMBOL: return "a code that does not exist";
    case ISAL_INVALID_LOOKBACK: return "a reference to before the beginning";
    case ISAL_INVALID_WRAPPER: return "a damaged header";
    case ISAL_UNSUPPORTED_METHOD: return "a compression method that is not deflate";
    case ISAL_INCORRECT_CHECKSUM: return "its checksum is wrong";
    case ISAL_NEED_DICT: return "it needs a dictionary";
    default: return "it cannot be decoded";
  }
}

std::string_view name(compression f) { return f == compression::zlib ? "zlib" : "gzip"; }

status damaged(compression f, int code, std::uint64_t at) {
  return data_loss_error(absl::StrCat("the ", std::string(name(f)), " stream is damaged near compressed byte ", at,
                                      ": ", std::string(reason(code))));
}
status cut_short(compression f, std::uint64_t at) {
  return data_loss_error(absl::StrCat("the ", std::string(name(f)), " stream is cut short at compressed byte ", at));
}
status not_compressed(compression f) {
  return data_loss_error(absl::StrCat("this is no ", std::string(name(f)), " file: its first bytes are wrong"));
}
status bytes_after_end(compression f, std::uint64_t at) {
  return data_loss_error(
      absl::StrCat("there are bytes after the end of the ", std::string(name(f)), " stream, at compressed byte ", at));
}

/// Bytes behind the end of a stream that ISA-L has taken into its bit buffer: that has up to eight, and zlib's checksum four,
/// so up to three bytes would vanish.
std::size_t bytes_beyond_end(const inflate_state& stream, int code) {
  if (code < 0 || stream.block_state != ISAL_BLOCK_FINISH) return 0;
  return static_cast<std::size_t>(stream.read_in_length / 8);
}

bool zlib_header(unsigned char a, unsigned char b) {
  return (a & 0x0f) == 8 && (a >> 4) <= 7 && (a * 256 + b) % 31 == 0;
}

constexpr std::size_t kGzipFlagsAt = 3;
constexpr unsigned char kGzipReservedFlags = 0xe0;

/// Could a member begin with `in`? It may be shorter than a member's first bytes.
bool may_begin(compression f, std::string_view in) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(in[i]); };
  if (f == compression::zlib) return in.size() < 2 || zlib_header(byte(0), byte(1));
  return (in.empty() || byte(0) == 0x1f) && (in.size() < 2 || byte(1) == 0x8b);
}
/// Flags of a gzip header that nobody has defined: what they would add to the header cannot be passed over (RFC 1952).
bool has_reserved_flags(std::string_view in) {
  return in.size() > kGzipFlagsAt && (static_cast<unsigned char>(in[kGzipFlagsAt]) & kGzipReservedFlags) != 0;
}
status reserved_flags(std::uint64_t at) {
  return data_loss_error(
      absl::StrCat("the gzip header at compressed byte ", at, " has flags that are reserved: it is damaged, or newer"));
}

}  // namespace

static_assert(sizeof(inflate_state) + 512 <= inflater::kBytes, "what an inflater is charged for");

inflater::inflater(compression format) : state_(std::make_unique<state>(format)) {}
inflater::inflater(inflater&&) noexcept = default;
inflater& inflater::operator=(inflater&&) noexcept = default;
inflater::~inflater() = default;
std::uint64_t inflater::members() const noexcept { return state_->members; }

inflate_step inflater::step(std::string_view input, bool last, char* out, std::size_t out_bytes) {
  inflate_step done;
  state& s = *state_;
  while (done.why.ok()) {
    std::string_view rest = input.substr(done.consumed);
    if (s.between) {
      if (rest.empty()) {
        done.ended = last;
        break;
      }
      if (s.members > 0 && s.format == compression::zlib) {
        done.why = bytes_after_end(s.format, in_bytes_);
        break;
      }
      if (!may_begin(s.format, rest)) {
        done.why = s.members > 0 ? bytes_after_end(s.format, in_bytes_) : not_compressed(s.format);
        break;
      }
      if (s.format == compression::gzip && rest.size() <= kGzipFlagsAt && !last) break;  // the flags are still to come
      if (s.format == compression::gzip && has_reserved_flags(rest)) {
        done.why = reserved_flags(in_bytes_);
        break;
      }
      if (s.members > 0) s.begin();
      s.between = false;
    }
    // ISA-L counts in 32 bits.
    constexpr std::size_t kPieceMax = std::numeric_limits<std::int32_t>::max();
    const auto in_piece = static_cast<std::uint32_t>(std::min(rest.size(), kPieceMax));
    const auto out_piece = static_cast<std::uint32_t>(std::min(out_bytes - done.produced, kPieceMax));
    s.stream.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(rest.data()));  // only read
    s.stream.avail_in = in_piece;
    s.stream.next_out = reinterpret_cast<std::uint8_t*>(out + done.produced);
    s.stream.avail_out = out_piece;
    const int code = ::isal_inflate(&s.stream);
    // At the error in a damaged stream ISA-L may count one byte more than it was given: avail_in wraps round.
    const std::uint32_t took = s.stream.avail_in > in_piece ? in_piece : in_piece - s.stream.avail_in;
    const std::size_t gave = out_piece - s.stream.avail_out;
    done.consumed += took;
    done.produced += gave;
    in_bytes_ += took;
    out_bytes_ += gave;
    const std::size_t beyond = bytes_beyond_end(s.stream, code);
    done.consumed -= std::min<std::size_t>(took, beyond);
    in_bytes_ -= std::min<std::size_t>(took, beyond);
    if (code < 0 || code == ISAL_NEED_DICT) {
      done.why = damaged(s.format, code, in_bytes_);
    } else if (s.stream.block_state == ISAL_BLOCK_FINISH) {
      s.between = true;
      ++s.members;
      if (beyond) done.why = bytes_after_end(s.format, in_bytes_);
    } else if (took == 0 && gave == 0) {
      if (last && done.produced < out_bytes) done.why = cut_short(s.format, in_bytes_);
      break;
    }
  }
  return done;
}

result<compression> parse_compression(std::string_view text) {
  for (compression c : {compression::none, compression::gzip, compression::zlib, compression::automatic})
    if (absl::EqualsIgnoreCase(absl::string_view(text.data(), text.size()),
                               absl::string_view(to_string(c).data(), to_string(c).size())))
      return c;
  if (text.empty()) return compression::none;
  return invalid_argument_error(
      absl::StrCat("\"", std::string(text), "\" is no compression; there are none, gzip, zlib and auto"));
}

std::string_view to_string(compression c) {
  switch (c) {
    case compression::none: return "none";
    case compression::gzip: return "gzip";
    case compression::zlib: return "zlib";
    case compression::automatic: return "auto";
  }
  return "none";
}

namespace {

/// Compressed bytes that decompress without an error and are no chance: of texts that begin like zlib, not one in 10²⁰
/// gets so far. (A byte of text fails with a probability of some 10 %: a reference to before the beginning, mostly.)
constexpr std::size_t kConvincingBytes = 512;

bool gzip_header(std::string_view b) {
  return b.size() > kGzipFlagsAt && b.starts_with("\x1f\x8b\x08") && !has_reserved_flags(b);
}
bool zlib_header_without_dictionary(std::string_view b) {
  constexpr unsigned char kDictionary = 0x20;
  if (b.size() < 2) return false;
  auto second = static_cast<unsigned char>(b[1]);
  return zlib_header(static_cast<unsigned char>(b[0]), second) && (second & kDictionary) == 0;
}

bool ends_with_any(std::string_view path, std::initializer_list<std::string_view> suffixes) {
  return std::any_of(suffixes.begin(), suffixes.end(), [&](std::string_view s) { return path.ends_with(s); });
}

/// Does `bytes`, the beginning of a file, decompress as far as can be asked of it?
bool decompresses(compression c, std::string_view bytes) {
  constexpr std::size_t kPiece = 32;  // to see where the header ends, which may be long: names and comments are in it
  inflater trial(c);
  char out[4096];
  std::uint64_t body = 0;  // where the first output came from
  inflate_step s;
  for (std::size_t have = std::min(kPiece, bytes.size());;) {
    s = trial.step(bytes.substr(trial.in_bytes(), have - trial.in_bytes()), false, out, sizeof out);
    if (trial.members() > 0) return true;  // to its end, where a checksum was right
    if (!s.why.ok()) break;
    if (trial.out_bytes() == 0) body = trial.in_bytes();
    if (s.consumed || s.produced) continue;
    if (have == bytes.size()) break;
    have = std::min(have + kPiece, bytes.size());
  }
  if (trial.in_bytes() - body >= kConvincingBytes) return true;
  // Shorter than that, and not at its end: gzip that is cut short, as its longer header says, unless all this is header;
  // zlib may be anything.
  return s.why.ok() && c == compression::gzip && (trial.out_bytes() > 0 || bytes.size() < kConvincingBytes);
}

}  // namespace

bool may_be_compressed(std::string_view first) {
  // A TFRecord whose first record has 376 or 40056 bytes begins like a zlib stream; the CRC of its length tells them
  // apart.
  if (find_tfrecord({.bytes = first.substr(0, kTfrecordHeaderBytes)}, 0) == 0) return false;
  return first.starts_with("\x1f\x8b") || zlib_header_without_dictionary(first);
}

compression detect_compression(std::string_view first, std::string_view path) {
  if (!may_be_compressed(first)) return compression::none;
  if (first.starts_with("\x1f\x8b")) {
    if (ends_with_any(path, {".gz", ".gzip", ".tgz"})) return compression::gzip;
    return gzip_header(first) && decompresses(compression::gzip, first) ? compression::gzip : compression::none;
  }
  if (ends_with_any(path, {".zz", ".zlib"})) return compression::zlib;
  return decompresses(compression::zlib, first) ? compression::zlib : compression::none;
}

}  // namespace sluice::lib
