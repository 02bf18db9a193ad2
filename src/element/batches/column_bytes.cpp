// SPDX-License-Identifier: Apache-2.0
#include "element/batches/column_bytes.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

namespace sluice::lib {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie in memory");

constexpr std::size_t kLengthBytes = sizeof(std::uint32_t);

std::size_t bits_bytes(std::size_t n) { return (n + 7) / 8; }

struct row_range {
  std::size_t first, count;
};
/// The bytes or the items of these texts or lists.
row_range row_contents(const column& c, std::size_t first, std::size_t n) {
  const auto begin = static_cast<std::size_t>(c.offsets()[first]);
  return {begin, static_cast<std::size_t>(c.offsets()[first + n]) - begin};
}

void write_lengths(const column& c, std::size_t first, std::size_t n, byte_parts& to) {
  std::string& out = to.own();
  const std::size_t at = out.size();
  out.resize(at + n * kLengthBytes);
  const std::int32_t* offsets = c.offsets() + first;
  for (std::size_t i = 0; i != n; ++i) {
    const std::int32_t length = offsets[i + 1] - offsets[i];
    std::memcpy(out.data() + at + i * kLengthBytes, &length, kLengthBytes);
  }
}

void write_bits(const column& c, std::size_t first, std::size_t n, byte_parts& to) {
  std::string& out = to.own();
  const std::size_t at = out.size();
  out.resize(at + bits_bytes(n), '\0');
  for (std::size_t i = 0; i != n; ++i)
    if (c.valid(first + i)) out[at + i / 8] = static_cast<char>(out[at + i / 8] | 1 << (i % 8));
}

class row_reader {
 public:
  explicit row_reader(std::string_view bytes) : bytes_(bytes) {}

  bool is_done() const { return at_ == bytes_.size(); }

  status read(column& to, std::size_t n) {
    const element_type& t = to.type();
    switch (to.form()) {
      case column_form::values: return read_values(to, n);
      case column_form::texts: {
        status why = read_lengths(t, n);
        if (why.ok()) to.append_texts(take(static_cast<std::size_t>(offsets_.back())), offsets_.data(), n);
        return why;
      }
      case column_form::lists: {
        status why = read_lengths(t, n);
        if (!why.ok()) return why;
        const std::vector<std::int32_t> offsets = std::move(offsets_);
        why = read(to.child(0), static_cast<std::size_t>(offsets.back()));
        if (why.ok()) to.append_lists(offsets.data(), n);
        return why;
      }
      case column_form::fixed: {
        status why = n > bytes_.size() / t.extent ? missing(t) : read(to.child(0), n * t.extent);
        for (std::size_t i = 0; i != n && why.ok(); ++i) to.append_row();
        return why;
      }
      case column_form::maybe: {
        if (bits_bytes(n) > left()) return missing(t);
        const auto* bits = reinterpret_cast<const std::uint8_t*>(take(bits_bytes(n)));
        status why = read(to.child(0), n);
        if (why.ok()) to.append_valid_bits(bits, 0, n);
        return why;
      }
      case column_form::members: {
        for (std::size_t k = 0; k != to.children(); ++k)
          if (status why = read(to.child(k), n); !why.ok()) return why;
        for (std::size_t i = 0; i != n; ++i) to.append_row();
        return {};
      }
      case column_form::tensors:
      case column_form::objects: break;
    }
    return internal_error(absl::StrCat("rows of ", t.name, " cannot be read"));
  }

 private:
  std::size_t left() const { return bytes_.size() - at_; }
  const char* take(std::size_t n) {
    at_ += n;
    return bytes_.data() + at_ - n;
  }
  status missing(const element_type& t) const {
    return data_loss_error(
        absl::StrCat("byte ", at_, ": values of ", t.name, ", of which only ", left(), " bytes are left"));
  }

  status read_values(column& to, std::size_t n) {
    const element_type& t = to.type();
    if (n > left() / t.size) return missing(t);
    const char* from = take(n * t.size);
    if (t.print == type_of<bool>().print && std::any_of(from, from + n, [](char c) { return c != 0 && c != 1; }))
      return data_loss_error(absl::StrCat("byte ", at_ - n, ": a bool that is neither 0 nor 1"));
    to.append_values(from, n);
    return {};
  }
  /// Sets offsets_ to n + 1 offsets, which the remaining bytes suffice for.
  status read_lengths(const element_type& t, std::size_t n) {
    offsets_.assign(1, 0);
    if (n > left() / kLengthBytes) return missing(t);
    const char* from = take(n * kLengthBytes);
    offsets_.resize(n + 1);
    std::uint64_t total = 0;
    for (std::size_t i = 0; i != n; ++i) {
      std::uint32_t length = 0;
      std::memcpy(&length, from + i * kLengthBytes, kLengthBytes);
      total += length;
      if (total > column::kOffsetMax || total > left()) return missing(t);  // an item takes a byte at least
      offsets_[i + 1] = static_cast<std::int32_t>(total);
    }
    return {};
  }

  const std::string_view bytes_;
  std::size_t at_ = 0;
  std::vector<std::int32_t> offsets_;
};

}  // namespace

bool can_write_rows(const element_type& t) {
  if (!can_stack(t) || t.check || !t.copy) return false;
  switch (form_of(t)) {
    case column_form::values:
    case column_form::texts: return true;
    case column_form::lists: return t.kind == kind::list && can_write_rows(*t.element);
    case column_form::fixed:
    case column_form::maybe: return can_write_rows(*t.element);
    case column_form::members:
      return !t.members.empty() &&
             std::all_of(t.members.begin(), t.members.end(), [](const member& m) { return can_write_rows(*m.type); });
    default: return false;
  }
}

std::size_t written_bytes(const column& rows, std::size_t first, std::size_t n) {
  switch (rows.form()) {
    case column_form::values: return n * rows.type().size;
    case column_form::texts: return n * kLengthBytes + row_contents(rows, first, n).count;
    case column_form::lists: {
      const row_range items = row_contents(rows, first, n);
      return n * kLengthBytes + written_bytes(rows.child(0), items.first, items.count);
    }
    case column_form::fixed: return written_bytes(rows.child(0), first * rows.type().extent, n * rows.type().extent);
    case column_form::maybe: return bits_bytes(n) + written_bytes(rows.child(0), first, n);
    default: break;
  }
  std::size_t bytes = 0;
  for (std::size_t k = 0; k != rows.children(); ++k) bytes += written_bytes(rows.child(k), first, n);
  return bytes;
}

void write_rows(const column& rows, std::size_t first, std::size_t n, byte_parts& out) {
  if (n == 0) return;
  switch (rows.form()) {
    case column_form::values: return out.append({rows.values() + first * rows.type().size, n * rows.type().size});
    case column_form::texts: {
      write_lengths(rows, first, n, out);
      const row_range bytes = row_contents(rows, first, n);
      if (bytes.count != 0) out.append({rows.bytes() + bytes.first, bytes.count});
      return;
    }
    case column_form::lists: {
      write_lengths(rows, first, n, out);
      const row_range items = row_contents(rows, first, n);
      return write_rows(rows.child(0), items.first, items.count, out);
    }
    case column_form::fixed: return write_rows(rows.child(0), first * rows.type().extent, n * rows.type().extent, out);
    case column_form::maybe: write_bits(rows, first, n, out); return write_rows(rows.child(0), first, n, out);
    default: break;
  }
  for (std::size_t k = 0; k != rows.children(); ++k) write_rows(rows.child(k), first, n, out);
}

status read_rows(std::string_view bytes, std::size_t n, column& to) {
  try {
    row_reader r(bytes);
    status why = r.read(to, n);
    if (why.ok() && !r.is_done()) why = data_loss_error("superfluous bytes");
    return why;
  } catch (...) { return current_exception_status(); }
}

}  // namespace sluice::lib
