// SPDX-License-Identifier: Apache-2.0
#include "format/codec/deflate_blocks.hpp"

#include <algorithm>

namespace sluice::lib::detail {
namespace {

constexpr std::size_t kDeflateWindowBytes = std::size_t{32} << 10;
constexpr std::size_t kScratchBytes = std::size_t{64} << 10;
/// A place is looked for after at most this number of bytes.
constexpr std::size_t kBetweenLooks = std::size_t{64} << 10;

bool is_in_block(const inflate_state& s) {
  return (s.block_state == ISAL_BLOCK_CODED || s.block_state == ISAL_BLOCK_TYPE0) && s.bfinal == 0;
}

}  // namespace

void deflate_blocks::begin(std::uint64_t in_bytes, std::uint64_t out_bytes) {
  member_in_ = in_bytes;
  member_out_ = out_bytes;
  in_ = out_ = 0;
  window_.clear();
  copy_.reset();
  is_found_ = false;
}

std::size_t deflate_blocks::until_place(const inflate_state& state, std::string_view in) {
  in = in.substr(0, kBetweenLooks);
  if (!copy_) {
    if (!is_in_block(state) || !to_.wants_within(member_out_ + out_)) return in.size();
    copy_ = std::make_unique<inflate_state>(state);
    copy_->bfinal = 1;
    copy_->crc_flag = ISAL_DEFLATE;  // no checksum follows the block
    is_found_ = false;
    ahead_in_ = ahead_out_ = 0;
  }
  if (!is_found_ && in.size() > ahead_in_) look_ahead(in.substr(static_cast<std::size_t>(ahead_in_)));
  if (copy_ && is_found_ && ahead_in_ == 0 && ahead_out_ == 0) {
    copy_.reset();
    add_point(state);
  }
  return copy_ && is_found_ ? static_cast<std::size_t>(std::min<std::uint64_t>(ahead_in_, in.size())) : in.size();
}

void deflate_blocks::look_ahead(std::string_view in) {
  scratch_.resize(kScratchBytes);
  copy_->next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(in.data()));  // the bytes are only read
  copy_->avail_in = static_cast<std::uint32_t>(in.size());
  for (;;) {
    copy_->next_out = reinterpret_cast<std::uint8_t*>(scratch_.data());
    copy_->avail_out = static_cast<std::uint32_t>(scratch_.size());
    const int code = ::isal_inflate(copy_.get());
    const std::size_t made = scratch_.size() - copy_->avail_out;
    ahead_out_ += made;
    is_found_ = copy_->block_state == ISAL_BLOCK_FINISH;
    if (code < 0) return copy_.reset();  // the state itself will find the damage
    if (is_found_ || (made == 0 && copy_->avail_in == 0)) break;
    if (made == 0) return copy_.reset();
  }
  ahead_in_ += in.size() - copy_->avail_in;
  // Bytes behind the block's end may be in the bit buffer. Later versions of ISA-L give them back.
  if (is_found_) ahead_in_ -= std::min<std::uint64_t>(ahead_in_, static_cast<std::uint64_t>(copy_->read_in_length / 8));
}

void deflate_blocks::remember(std::string_view produced) {
  if (produced.size() >= kDeflateWindowBytes) {
    window_.assign(produced.substr(produced.size() - kDeflateWindowBytes));
    return;
  }
  const std::size_t kept = std::min(window_.size(), kDeflateWindowBytes - produced.size());
  window_.erase(0, window_.size() - kept);
  window_.append(produced);
}

void deflate_blocks::note(const inflate_state& state, std::size_t consumed, std::string_view produced) {
  in_ += consumed;
  out_ += produced.size();
  remember(produced);
  if (!copy_) return;
  ahead_in_ -= std::min<std::uint64_t>(ahead_in_, consumed);
  ahead_out_ -= std::min<std::uint64_t>(ahead_out_, produced.size());
  if (!is_found_ || ahead_in_ != 0 || ahead_out_ != 0) return;
  copy_.reset();
  add_point(state);
}

void deflate_blocks::add_point(const inflate_state& state) {
  // A short header that begins in the last byte has been read already: the next block's end may do.
  const bool waits = state.block_state == ISAL_BLOCK_NEW_HDR || state.block_state == ISAL_BLOCK_HDR;
  if (!waits || state.read_in_length < 0 || state.read_in_length >= 8) return;
  seek_point point;
  const auto bits = static_cast<std::uint32_t>(state.read_in_length);
  point.in_bytes = member_in_ + in_ - (bits != 0 ? 1 : 0);
  point.out_bytes = member_out_ + out_;
  point.used_bits = bits != 0 ? 8 - bits : 0;
  point.is_within_member = true;
  point.checksum = state.crc;
  point.member_bytes = out_;
  to_.add_within(std::move(point), window_);
}

}  // namespace sluice::lib::detail
