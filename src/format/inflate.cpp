// SPDX-License-Identifier: Apache-2.0
#include "sluice/format/inflate.hpp"

#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <limits>

#include "sluice/format/tfrecord.hpp"

namespace sluice {

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

bool zlib_header(unsigned char a, unsigned char b) {
  return (a & 0x0f) == 8 && (a >> 4) <= 7 && (a * 256 + b) % 31 == 0;
}

/// Could a member begin with `in`? It may be shorter than a member's first bytes.
bool may_begin(compression f, std::string_view in) {
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(in[i]); };
  if (f == compression::zlib) return in.size() < 2 || zlib_header(byte(0), byte(1));
  return (in.empty() || byte(0) == 0x1f) && (in.size() < 2 || byte(1) == 0x8b);
}

}  // namespace

static_assert(sizeof(inflate_state) + 512 <= inflater::kBytes, "what an inflater is charged for");

inflater::inflater(compression format) : state_(std::make_unique<state>(format)) {}
inflater::inflater(inflater&&) noexcept = default;
inflater& inflater::operator=(inflater&&) noexcept = default;
inflater::~inflater() = default;

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
    const std::size_t took = in_piece - s.stream.avail_in, gave = out_piece - s.stream.avail_out;
    done.consumed += took;
    done.produced += gave;
    in_bytes_ += took;
    out_bytes_ += gave;
    if (code < 0 || code == ISAL_NEED_DICT) {
      done.why = damaged(s.format, code, in_bytes_);
    } else if (s.stream.block_state == ISAL_BLOCK_FINISH) {
      s.between = true;
      ++s.members;
    } else if (took == 0 && gave == 0) {
      if (last && rest.empty() && done.produced < out_bytes) done.why = cut_short(s.format, in_bytes_);
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

// A TFRecord whose first record has 376 or 40056 bytes begins like a zlib stream; the CRC of its length tells them
// apart.
compression detect_compression(std::string_view first) {
  if (first.size() < 2) return compression::none;
  if (find_tfrecord({.bytes = first.substr(0, kTfrecordHeaderBytes)}, 0) == 0) return compression::none;
  auto byte = [&](std::size_t i) { return static_cast<unsigned char>(first[i]); };
  if (byte(0) == 0x1f && byte(1) == 0x8b) return compression::gzip;
  if (byte(0) == 0x78 && zlib_header(byte(0), byte(1))) return compression::zlib;
  return compression::none;
}

}  // namespace sluice
