// SPDX-License-Identifier: Apache-2.0
#include "engine/files/file_pieces.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "format/codec/compression_suffix.hpp"
#include "io/paths/file_router.hpp"
#include "io/paths/listed.hpp"
#include "io/plan_file_reader.hpp"

namespace sluice::lib {
namespace {

/// The limit of a decompressor's memory, which a header of xz or zstd may request.
constexpr std::size_t kInflaterBytesMax = std::size_t{256} << 20;

}  // namespace

file_pieces::file_pieces(std::string path, compression packed, inflate_limits limits)
    : path_(std::move(path)), packed_(packed), limits_(limits) {}

file_pieces::file_pieces(std::string name, std::string bytes, bool is_all, compression packed)
    : path_(std::move(name)), packed_(packed), input_(std::move(bytes)), is_read_(is_all), is_given_(true) {}

/// Reads the next bytes of the file. Returns false after an error.
bool file_pieces::read_packed() {
  if (is_given_ || is_read_) return true;
  std::string bytes;
  if (detail::is_remote(path_)) {
    auto read = detail::read_for_plan(path_, kPieceBytes, offset_);
    if (!read.ok()) return why_ = read.why(), false;
    bytes = *std::move(read);
  } else {
    const std::string path = detail::without_file_scheme(path_);
    if (!local_) local_.emplace(path, std::ios::binary);
    if (!*local_ && offset_ == 0) return why_ = detail::cannot_open(errno, path), false;
    bytes.resize(kPieceBytes);
    local_->read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (local_->bad()) return why_ = errno_error(errno, "cannot read").in_file(path_), false;
    bytes.resize(static_cast<std::size_t>(local_->gcount()));
  }
  is_read_ = bytes.size() < kPieceBytes;
  offset_ += bytes.size();
  input_ += bytes;
  return true;
}

/// Appends a piece of the decompressed bytes.
bool file_pieces::inflate_into(std::string& to) {
  const std::size_t before = to.size();
  to.resize(before + kPieceBytes);
  std::size_t have = before;
  while (have != to.size()) {
    inflate_step s = inflater_->step(input_, is_read_, to.data() + have, to.size() - have);
    input_.erase(0, s.consumed);
    have += s.produced;
    is_all_ = s.ended;
    if (!s.why.ok()) why_ = s.why.in_file(path_);
    if (s.ended || !s.why.ok()) break;
    if (s.consumed != 0 || s.produced != 0) continue;
    if (s.wants_bytes != 0 && s.wants_bytes <= kInflaterBytesMax) inflater_->allow(s.wants_bytes);
    else if (s.wants_bytes != 0 || is_given_ || is_read_ || !read_packed()) break;
  }
  to.resize(have);
  read_bytes_ += have - before;
  return have != before;
}

bool file_pieces::more(std::string& to) {
  if (is_all_ || !why_.ok()) return false;
  if (!std::exchange(is_open_, true)) {
    if (!read_packed()) return false;
    const bool is_detected = packed_ == compression::automatic;
    if (is_detected) packed_ = detect_compression(input_, path_);
    if (is_detected && packed_ == compression::none) why_ = check_compression_suffix(input_, path_);
    if (!why_.ok()) return false;
    if (packed_ != compression::none) inflater_.emplace(packed_, limits_);
  } else if (input_.empty() && !read_packed()) {
    return false;
  }
  if (inflater_) return inflate_into(to);
  to += input_;
  const std::size_t n = std::exchange(input_, {}).size();
  is_all_ = is_read_;
  read_bytes_ += n;
  return n != 0;
}

}  // namespace sluice::lib
