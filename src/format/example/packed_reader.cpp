// SPDX-License-Identifier: Apache-2.0
#include "format/example/packed_reader.hpp"

#include <cstdint>
#include <cstring>

#include "format/example/example_rows.hpp"

namespace sluice::lib {
namespace {

packed_layout::header header_at(std::string_view row, std::size_t at) {
  packed_layout::header h;
  std::memcpy(&h, row.data() + at, sizeof h);
  return h;
}

std::size_t bytes_of_one(const feature_slot& slot) {
  return slot.kind == feature_kind::floats ? sizeof(float) : sizeof(std::int64_t);
}

/// Calls f(index, text) for the texts of a slot, which begin at `at`. Returns the end; 0 if they exceed the row.
template <class F> std::size_t each_text(std::string_view row, std::size_t at, std::size_t count, F f) {
  for (std::size_t k = 0; k != count; ++k) {
    std::uint32_t size;
    if (row.size() - at < sizeof size) return 0;
    std::memcpy(&size, row.data() + at, sizeof size);
    at += sizeof size;
    if (row.size() - at < size) return 0;
    f(k, row.substr(at, size));
    at += size;
  }
  return at;
}

/// Adds the bytes of a slot's values outside of the fixed part to `bytes`. Returns false if the values do not fit the
/// slot.
bool add_outside(const feature_slot& slot, packed_layout::way how, std::string_view row, packed_layout::header h,
                 std::size_t& bytes) {
  if (h.count == packed_layout::kNoValue) return slot.is_optional && how == packed_layout::way::values && h.at == 0;
  if (h.at < sizeof h || h.at > row.size()) return false;  // a fixed part precedes them
  const std::size_t left = row.size() - h.at;
  if (how == packed_layout::way::text) return bytes += h.count, h.count <= left;
  if (!slot.takes(h.count)) return false;
  if (slot.kind != feature_kind::bytes) {
    const std::size_t each = bytes_of_one(slot);
    return bytes += h.count * each, h.count <= left / each;
  }
  const std::size_t end = each_text(row, h.at, h.count, [](std::size_t, std::string_view) {});
  return bytes += end - h.at, end >= h.at;
}

/// memcpy of a few numbers, without the call.
void copy_numbers(char* to, const char* from, std::size_t bytes) noexcept {
  for (; bytes >= 32; to += 32, from += 32, bytes -= 32) std::memcpy(to, from, 32);
  for (; bytes >= 8; to += 8, from += 8, bytes -= 8) std::memcpy(to, from, 8);
  if (bytes) std::memcpy(to, from, 4);
}

/// Returns room for the numbers of n rows, if they are stored one after the other; else null.
char* room_for_numbers(column& member, std::size_t n, std::size_t row_bytes) {
  column* values = &member;
  std::size_t count = n;
  for (; values->form() == column_form::fixed; values = &values->child(0)) count *= values->type().extent;
  if (values->form() != column_form::values || count * values->type().size != n * row_bytes) return nullptr;
  return values->append_values(count);
}

/// Adds the rows of fixed lists whose values were appended.
void end_lists(column& member, std::size_t n) {
  if (member.form() != column_form::fixed) return;
  end_lists(member.child(0), n * member.type().extent);
  for (std::size_t k = 0; k != n; ++k) member.append_row();
}

}  // namespace

/// Writes the values of a slot, which were checked.
template <class Row> void packed_reader::write_slot(std::size_t i, std::string_view text, Row& row) const {
  const feature_slot& slot = schema_.slots()[i];
  const packed_layout::place& p = layout_[i];
  const bool is_inside = p.how == packed_layout::way::inside;
  const packed_layout::header h =
      is_inside ? packed_layout::header{p.at, static_cast<std::uint32_t>(slot.length)} : header_at(text, p.at);
  if (h.count == packed_layout::kNoValue) return row.missing(i);
  row.begin(i);
  if (p.how == packed_layout::way::text) {
    row.bytes(0, text.substr(h.at, h.count));
    return row.end(1);
  }
  if (slot.kind == feature_kind::bytes) {
    each_text(text, h.at, h.count, [&](std::size_t k, std::string_view value) { row.bytes(k, value); });
  } else {
    row.room(h.count);
    const char* raw = text.data() + h.at;
    if (slot.kind == feature_kind::floats) row.floats(0, raw, h.count);
    else row.int64s(raw, h.count);
  }
  row.end(h.count);
}

bool packed_reader::is_row(std::string_view text) const {
  std::size_t bytes = layout_.fixed_bytes();
  if (text.size() < bytes) return false;
  for (std::size_t i = 0; i != layout_.slots(); ++i) {
    const packed_layout::place& p = layout_[i];
    if (p.how == packed_layout::way::inside) continue;
    if (!add_outside(schema_.slots()[i], p.how, text, header_at(text, p.at), bytes)) return false;
  }
  return bytes == text.size();
}

/// Appends the values of a slot to its column.
void packed_reader::append_slot(std::size_t i, column& rows, std::span<const std::string_view> texts) const {
  const packed_layout::place& p = layout_[i];
  column& member = rows.child(schema_.slots()[i].child);
  if (p.how == packed_layout::way::text && member.form() == column_form::texts) {
    for (std::string_view text : texts) {
      const packed_layout::header h = header_at(text, p.at);
      member.append_text({text.data() + h.at, h.count});
    }
    return;
  }
  if (p.how == packed_layout::way::inside && p.bytes != 0) {
    if (char* to = room_for_numbers(member, texts.size(), p.bytes)) {
      for (std::size_t k = 0; k != texts.size(); ++k, to += p.bytes) copy_numbers(to, texts[k].data() + p.at, p.bytes);
      return end_lists(member, texts.size());
    }
  }
  detail::column_row row(schema_.slots(), rows);
  for (std::string_view text : texts) write_slot(i, text, row);
}

packed_reader::built packed_reader::append_to(column& rows, std::span<const std::string_view> texts) const {
  std::size_t n = 0;
  while (n != texts.size() && is_row(texts[n])) ++n;
  const std::size_t before = rows.rows();
  try {
    for (std::size_t i = 0; i != layout_.slots(); ++i) append_slot(i, rows, texts.first(n));
  } catch (...) {
    rows.truncate(before);
    throw;
  }
  for (std::size_t k = 0; k != n; ++k) rows.append_row();
  if (n == texts.size()) return {n, {}};
  return {n,
          data_loss_error("the bytes are no packed row of this schema, as parse_example makes it with packing=pack")};
}

status packed_reader::unpack(std::string_view text, void* to, buffer* owner) const {
  if (!is_row(text))
    return data_loss_error("the bytes are no packed row of this schema, as parse_example makes it with packing=pack");
  detail::field_row row(schema_.slots(), to, owner);
  for (std::size_t i = 0; i != layout_.slots(); ++i) write_slot(i, text, row);
  return {};
}

}  // namespace sluice::lib
