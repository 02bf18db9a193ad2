// SPDX-License-Identifier: Apache-2.0
#include "sluice/format/inflate.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "format/codec/byte_codec.hpp"
#include "sluice/base/assert.hpp"

namespace sluice::lib {

using detail::beginning;
using detail::codec_progress;

namespace {

std::unique_ptr<detail::decompressor> new_codec(compression f) {
  switch (f) {
    case compression::gzip: return detail::new_gzip_codec();
    case compression::zlib: return detail::new_zlib_codec();
    case compression::zstd: return detail::new_zstd_codec();
    case compression::lz4: return detail::new_lz4_codec();
    case compression::snappy: return detail::new_snappy_codec();
    case compression::snappy_blocks: return detail::new_snappy_blocks_codec();
    case compression::bzip2: return detail::new_bzip2_codec();
    case compression::xz: return detail::new_xz_codec();
    case compression::automatic:
    case compression::none: break;
  }
  return nullptr;
}

}  // namespace

struct inflater::state {
  state(compression f, inflate_limits l) : format(f), limits(l), by(new_codec(f)) {
    if (by) by->allow(limits.held_max);
  }

  compression format;
  inflate_limits limits;
  std::unique_ptr<detail::decompressor> by;  ///< null: the library was built without this format
  bool between = true;                       ///< at the file's start or after a complete member
  std::uint64_t members = 0;
  seek_point_builder* points = nullptr;  ///< receives the places of members
  std::size_t held = kBytes, asked = 0;

  /// Checks that `bytes` may be kept in memory. Returns false if the limit is exceeded, and stores the required size in
  /// `done`.
  bool may_hold(std::size_t bytes, inflate_step& done) {
    if (bytes > limits.held_max) {
      done.wants_bytes = asked = bytes;
      return false;
    }
    held = std::max(held, bytes);
    return true;
  }

  std::string name() const { return std::string(to_string(format)); }
  status not_built_in() const {
    const std::string_view library = format == compression::snappy_blocks ? "snappy" : to_string(format);
    return unimplemented_error(absl::StrCat("cannot read the file as ", name(), ": this build of sluice has no ",
                                            std::string(library), "; build it with the library (meson option -D",
                                            std::string(library), "=enabled)"));
  }
  status damaged(std::string_view how, std::uint64_t at) const {
    return data_loss_error(
        absl::StrCat("the ", name(), " stream is damaged near compressed byte ", at, ": ", std::string(how)));
  }
  status cut_short(std::uint64_t at) const {
    return data_loss_error(absl::StrCat("the ", name(), " stream is cut short at compressed byte ", at));
  }
  status other_bytes(std::uint64_t at) const {
    if (members == 0)
      return data_loss_error(absl::StrCat("this is no ", name(), " file: its first bytes are wrong (expected ",
                                          std::string(by->expected()), ")"));
    return data_loss_error(
        absl::StrCat("there are bytes after the end of the ", name(), " stream, at compressed byte ", at));
  }
  status refused_header(std::string_view why, std::uint64_t at) const {
    return data_loss_error(absl::StrCat("the ", name(), " header at compressed byte ", at, " has ", std::string(why)));
  }
  status too_large(std::uint64_t in, std::uint64_t out) const {
    const bool by_size = out > limits.bytes_max;
    return data_loss_error(
        absl::StrCat("the ", name(), " stream is more than ", by_size ? limits.bytes_max : limits.ratio_max,
                     by_size ? " plain bytes, which inflated_bytes_max allows"
                             : " times as large as it was compressed, which inflate_ratio_max allows",
                     ", at compressed byte ", in, "; if the file is valid, raise the option"));
  }
  bool is_too_large(std::uint64_t in, std::uint64_t out) const {
    if (out > limits.bytes_max) return true;
    return limits.ratio_max != inflate_limits::kNone && out > inflate_limits::kRatioFrom && out / limits.ratio_max > in;
  }
};

inflater::inflater(compression format, inflate_limits limits) : state_(std::make_unique<state>(format, limits)) {
  SLUICE_REQUIRES(format != compression::automatic && format != compression::none, "these formats are not inflated");
}
inflater::inflater(inflater&&) noexcept = default;
inflater& inflater::operator=(inflater&&) noexcept = default;
inflater::~inflater() = default;
std::uint64_t inflater::members() const noexcept { return state_->members; }
std::size_t inflater::held_bytes() const noexcept { return state_->held; }

void inflater::allow(std::size_t held_bytes) {
  state_->limits.held_max = held_bytes;
  if (held_bytes >= state_->asked) state_->held = std::max(state_->held, state_->asked);
  if (state_->by) state_->by->allow(held_bytes);
}

bool inflater::begin_member(std::string_view rest, bool last, inflate_step& done) {
  state& s = *state_;
  if (rest.empty()) {
    done.ended = last;
    return false;
  }
  if (s.members > 0 && !s.by->joins()) {
    done.why = s.other_bytes(in_bytes_);
    return false;
  }
  const beginning what = s.by->begins(rest, last);
  if (what == beginning::no) done.why = s.other_bytes(in_bytes_);
  if (what == beginning::padding) {
    const std::size_t n = s.by->padding_bytes(rest);
    done.consumed += n;
    in_bytes_ += n;
    return true;
  }
  if (what != beginning::yes) return false;
  if (std::string why = s.by->refused(rest); !why.empty()) {
    done.why = s.refused_header(why, in_bytes_);
    return false;
  }
  if (!s.may_hold(s.by->begin(rest), done)) return false;
  s.between = false;
  if (!s.points) return true;
  s.points->add_member(in_bytes_, out_bytes_);
  s.by->begun_at(in_bytes_, out_bytes_);
  return true;
}

status inflater::go_to(const seek_point& point) {
  constexpr std::size_t kWindowMax = std::size_t{32} << 10;
  state& s = *state_;
  if (!s.by) return {};  // the next step returns why
  std::string window(kWindowMax, '\0');
  if (point.is_within_member) {
    inflater unpacking(compression::gzip);
    const inflate_step all = unpacking.step(point.window, true, window.data(), window.size());
    if (!all.why.ok() || !all.ended) return data_loss_error("a place of the index is damaged");
    window.resize(all.produced);
  }
  s.by->resume(point, window);
  s.between = !point.is_within_member;
  s.members = 1;
  in_bytes_ = point.in_bytes;
  out_bytes_ = point.out_bytes;
  return {};
}

void inflater::note_points(seek_point_builder& to) {
  state& s = *state_;
  if (!s.by || !has_seek_points(s.format)) return;
  s.points = &to;
  s.by->note_points(to);
}

inflate_step inflater::step(std::string_view input, bool last, char* out, std::size_t out_bytes) {
  inflate_step done;
  state& s = *state_;
  if (!s.by) {
    done.why = s.not_built_in();
    return done;
  }
  for (;;) {
    std::string_view rest = input.substr(done.consumed);
    if (s.between) {
      if (!begin_member(rest, last, done)) break;
      if (s.between) continue;  // the bytes were padding
    }
    // One byte beyond the limit shows that the data exceed it.
    const std::uint64_t allowed = s.limits.bytes_max - out_bytes_;
    std::size_t room = out_bytes - done.produced;
    if (room > allowed) room = static_cast<std::size_t>(allowed) + 1;
    const codec_progress p = s.by->go(rest, last, out + done.produced, room);
    done.consumed += p.consumed;
    done.produced += p.produced;
    in_bytes_ += p.consumed;
    out_bytes_ += p.produced;
    if (s.is_too_large(in_bytes_, out_bytes_)) {
      const std::uint64_t beyond = out_bytes_ > s.limits.bytes_max ? out_bytes_ - s.limits.bytes_max : 0;
      done.why = s.too_large(in_bytes_, out_bytes_);
      done.produced -= static_cast<std::size_t>(beyond);
      out_bytes_ -= beyond;
      break;
    }
    if (!s.may_hold(p.wants_bytes, done)) break;
    if (!p.unread.empty()) {
      done.why =
          unimplemented_error(absl::StrCat("the ", s.name(), " stream at compressed byte ", in_bytes_, " ", p.unread));
      break;
    }
    if (!p.broken.empty()) {
      done.why = s.damaged(p.broken, in_bytes_);
      break;
    }
    if (p.ended) {
      s.between = true;
      ++s.members;
      if (!p.is_followed) continue;
      done.why = s.other_bytes(in_bytes_);
      break;
    }
    if (p.consumed == 0 && p.produced == 0 && p.wants_bytes == 0) {
      if (last && done.produced < out_bytes) done.why = s.cut_short(in_bytes_);
      break;
    }
  }
  return done;
}

bool is_built_in(compression c) {
  return c == compression::automatic || c == compression::none || new_codec(c) != nullptr;
}

}  // namespace sluice::lib
