// SPDX-License-Identifier: Apache-2.0
#include "store/cache_piece.hpp"

#include <algorithm>

#include "base/varint.hpp"
#include "element/batches/column_bytes.hpp"
#include "element/serialise_parts.hpp"
#include "sluice/base/buffer.hpp"
#include "sluice/element/serialise.hpp"

namespace sluice::lib {
namespace {

/// Elements that own more are objects: a piece has few of them, and they need no growing arrays.
constexpr std::size_t kElementOfRowsBytesMax = std::size_t{16} << 10;

/// The first byte of a block of rows. A block of elements begins with the length of its first element, which is not 0.
constexpr char kRowsMark = 0;
constexpr char kRowsVersion = 1;

/// The memory that n elements own.
std::size_t owned_by(const element_type& type, const void* elements, std::size_t n) {
  const std::size_t bytes = type.compact ? n * buffer::kOverheadBytes : 0;
  return type.footprint ? bytes + type.footprint(type, elements, n) : bytes;
}

byte_parts bytes_of_objects(const slab& elements) {
  const element_type& type = elements.type();
  byte_parts all, one;
  for (std::size_t i = 0; i != elements.size(); ++i) {
    one.clear();
    serialise_bare(type, elements.begin() + i * type.size, one);
    detail::append_varint(one.size(), all.own());
    all.append(one);
  }
  return all;
}

/// Returns the error of the first element that cannot be read.
status read_objects(std::string_view bytes, std::uint32_t count, slab& to) {
  const element_type& type = to.type();
  char* room = to.reserve(count);
  position_reader r(bytes);
  for (std::uint32_t i = 0; i != count; ++i) {
    const std::string_view one = r.text();
    if (!r.ok()) return data_loss_error("a block of the cache lacks elements");
    result<value> read = parse_bare(type, one);
    if (!read.ok()) return read.why();
    type.copy(type, room + i * type.size, read->data(), 1, type.size, type.size);
    to.add_live(1);
  }
  return r.done() ? status() : data_loss_error("a block of the cache has superfluous bytes");
}

}  // namespace

std::size_t piece_elements::append(const made_elements& made, std::size_t n) {
  if (must_be_objects(made, n)) {
    if (rows_.has_column()) become_objects();
    return append_objects(made, n);
  }
  return append_rows(made, n);
}

bool piece_elements::must_be_objects(const made_elements& made, std::size_t n) const {
  if (objects_.size() != 0) return true;
  if (made.rows()) return false;
  if (!can_write_rows(type_)) return true;
  // A copy of numbers is one copy of bytes, unless the columns of their members exist already.
  const bool are_plain = type_.kind == kind::scalar || type_.kind == kind::array;
  if (type_.trivially_destroyed) return !are_plain && !rows_.has_column();
  return type_.footprint && type_.footprint(type_, made.objects(), n) > n * kElementOfRowsBytesMax;
}

void piece_elements::become_objects() {
  const column& rows = rows_.rows_column();
  const std::size_t n = rows.rows();
  slab made(type_);
  rows.make(0, n, made.reserve(n), type_.size);
  made.set_live(0, n);
  if (type_.compact) type_.compact(type_, made.begin(), n);
  owned_bytes_ = owned_by(type_, made.begin(), n);
  objects_ = std::move(made);
  rows_ = {};
}

std::size_t piece_elements::append_rows(const made_elements& made, std::size_t n) {
  column& rows = rows_.make_rows(type_);
  const std::size_t before = rows.rows();
  if (before == 0 && expected_ > n) rows.reserve(expected_);
  if (made.rows()) rows.append_copies(*made.rows(), made.first(), n);
  else rows.append_copies_of(made.objects(), n, type_.size);
  return written_bytes(rows, before, n);
}

std::size_t piece_elements::append_objects(const made_elements& made, std::size_t n) {
  char* room = objects_.extend(n);
  if (made.rows()) made.rows()->make(made.first(), n, room, type_.size);
  else type_.copy(type_, room, made.objects(), n, type_.size, type_.size);
  try {
    if (type_.compact) type_.compact(type_, room, n);
  } catch (...) {
    type_.destroy(type_, room, n);
    throw;
  }
  objects_.add_live(n);
  last_owned_ = owned_by(type_, room, n);
  owned_bytes_ += last_owned_;
  return last_owned_ + n * type_.size;
}

void piece_elements::take_back(std::size_t n) noexcept {
  if (rows_.has_column()) return rows_.rows_column().truncate(size() - n);
  const std::size_t left = objects_.size() - n;
  if (!type_.trivially_destroyed) type_.destroy(type_, objects_.begin() + left * type_.size, n);
  objects_.set_live(0, left);
  owned_bytes_ -= last_owned_;
}

void piece_elements::copy(std::size_t first, std::size_t n, slab& out) const {
  char* room = out.reserve(n);
  if (rows_.has_column()) rows_.rows_column().make(first, n, room, type_.size);
  else type_.copy(type_, room, objects_.begin() + first * type_.size, n, type_.size, type_.size);
  out.set_live(0, n);
}

void piece_elements::copy(std::size_t first, std::size_t n, column& to) const {
  if (rows_.has_column()) to.append_copies(rows_.rows_column(), first, n);
  else to.append_copies_of(objects_.begin() + first * type_.size, n, type_.size);
}

std::size_t piece_elements::settled_bytes() const {
  return rows_.has_column() && can_write_rows(type_) ? rows_.rows_column().settled_bytes() : 0;
}

piece_elements::as_bytes piece_elements::bytes() const {
  as_bytes out;
  if (!can_write_rows(type_) || (!type_.trivially_destroyed && !rows_.has_column())) {
    out.parts = bytes_of_objects(objects_);
    return out;
  }
  if (!rows_.has_column()) out.made.make_rows(type_).append_copies_of(objects_.begin(), objects_.size(), type_.size);
  const column& rows = rows_.has_column() ? rows_.rows_column() : out.made.rows_column();
  out.parts.own() += {kRowsMark, kRowsVersion};
  write_rows(rows, 0, rows.rows(), out.parts);
  return out;
}

status piece_elements::read(std::string_view bytes, std::uint32_t count) {
  if (!bytes.starts_with(kRowsMark)) {
    status why = read_objects(bytes, count, objects_);
    if (why.ok()) owned_bytes_ = owned_by(type_, objects_.begin(), count);
    return why;
  }
  bytes.remove_prefix(1);
  if (!bytes.starts_with(kRowsVersion) || !can_write_rows(type_))
    return data_loss_error("a block of the cache has a form that this version of sluice does not know");
  return read_rows(bytes.substr(1), count, rows_.make_rows(type_));
}

template <class Room>
element_cache::copied element_cache::piece::copy_to(std::uint64_t ordinal, std::uint32_t most, std::size_t bytes_most,
                                                    Room& to) const {
  const std::size_t at = ordinal - first_ordinal, left = elements.size() - at;
  const std::size_t each = std::max<std::size_t>(1, bytes / elements.size());
  const std::size_t n = std::min({left, std::size_t{most}, std::max<std::size_t>(1, bytes_most / each)});
  elements.copy(at, n, to);
  return {static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(std::min<std::size_t>(each, ~std::uint32_t{0}))};
}

template element_cache::copied element_cache::piece::copy_to(std::uint64_t, std::uint32_t, std::size_t, slab&) const;
template element_cache::copied element_cache::piece::copy_to(std::uint64_t, std::uint32_t, std::size_t, column&) const;

}  // namespace sluice::lib
