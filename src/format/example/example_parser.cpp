// SPDX-License-Identifier: Apache-2.0
#include "sluice/format/example_parser.hpp"

#include <absl/strings/str_cat.h>

#include "format/example/example_parts.hpp"
#include "format/example/example_wire.hpp"
#include "format/example/packed_rows.hpp"
#include "sluice/element/column.hpp"
#include "sluice/element/tensor.hpp"

namespace sluice::lib {
namespace {

/// The number of features whose order is learned. Records seldom have more, and the limit bounds the memory for a
/// forged one.
constexpr std::size_t kLearnedMax = 1024;

status check_found(const feature_slot& slot, feature_kind kind, std::size_t count) {
  auto wrong = [&](const auto&... words) {
    return invalid_argument_error(absl::StrCat("feature \"", slot.name, "\" ", words...));
  };
  if (kind == feature_kind::none) return slot.required ? wrong("is missing") : status();
  if (kind != slot.kind)
    return wrong("holds ", std::string(to_string(kind)), " values, expected ", std::string(to_string(slot.kind)));
  if (!slot.takes(count))
    return wrong(
        "has ", count, count == 1 ? " value" : " values", ", expected ",
        slot.length != feature_slot::kAny ? absl::StrCat(slot.length) : absl::StrCat("a multiple of ", slot.each));
  return {};
}

status no_packed_row() {
  return data_loss_error("the bytes are no packed row of this schema, as parse_example makes it with packing=pack");
}

/// Ends the present row of a member whose values were stored.
inline void end_member(column& member) {
  switch (member.form()) {
    case column_form::lists: return member.append_list();
    case column_form::fixed: return member.append_row();
    case column_form::maybe: end_member(member.child(0)); return member.append_valid(true);
    default: return;
  }
}

/// Returns the spec of a tensor with this number of values.
tensor_spec spec_of(const feature_slot& slot, std::size_t values) {
  std::vector<std::int64_t> dims = slot.shape;
  if (dims[0] == feature_slot::kUnknown) dims[0] = static_cast<std::int64_t>(values / slot.each);
  const dtype d = slot.kind == feature_kind::floats   ? dtype::float32
                  : slot.kind == feature_kind::int64s ? dtype::int64
                                                      : dtype::string;
  return {d, dims};
}

}  // namespace

// --- Rows. A row has begin(slot's index), room(values) for numbers, the values in order, and end(values); or
// missing(slot's index) for an optional; forget_owner() if bytes are not in the record; clear() for an unfinished row
// ---

/// The fields of a struct.
class example_parser::field_row {
 public:
  field_row(const std::vector<feature_slot>& slots, void* to, buffer* owner) : slots_(slots), to_(to), owner_(owner) {}

  void clear() { texts_.clear(); }  // each field is written again
  void begin(std::size_t i) {
    slot_ = &slots_[i];
    field_ = first_ = static_cast<char*>(to_) + slot_->offset;
    is_tensor_ = slot_->form == field_form::tensor;
  }
  void forget_owner() { owner_ = nullptr; }
  void room(std::size_t count) {
    if (slot_->resize) first_ = slot_->resize(*slot_, field_, count);
    else if (is_tensor_) first_ = room_of_tensor(count);
  }
  void bytes(std::size_t i, std::string_view value) {
    if (is_tensor_) return texts_.push_back(value);
    slot_->store(slot_->resize ? slot_->resize(*slot_, field_, i + 1) : field_, i, value, owner_);
  }
  void floats(std::size_t i, const char* raw, std::size_t count) {
    if (count) std::memcpy(static_cast<float*>(first_) + i, raw, count * sizeof(float));
  }
  void int64(std::size_t i, std::int64_t value) { static_cast<std::int64_t*>(first_)[i] = value; }
  void int64s(const char* raw, std::size_t count) {
    if (count) std::memcpy(first_, raw, count * sizeof(std::int64_t));
  }
  void end(std::size_t count) {
    if (slot_->resize) slot_->resize(*slot_, field_, count);  // removes values that the struct had before
    else if (is_tensor_ && slot_->kind == feature_kind::bytes) end_texts();
  }
  void missing(std::size_t i) { slots_[i].reset(slots_[i], static_cast<char*>(to_) + slots_[i].offset); }
  /// Stores a sparse or ragged tensor.
  template <class T> void object(std::size_t i, T made) {
    *reinterpret_cast<T*>(static_cast<char*>(to_) + slots_[i].offset) = std::move(made);
  }

 private:
  void* room_of_tensor(std::size_t count) {
    auto& t = *static_cast<tensor*>(field_);
    const tensor_spec spec = spec_of(*slot_, count);
    if (!t.is_writable() || t.spec() != spec) t = tensor::make(spec.dtype, spec.shape);
    return t.empty() ? nullptr : t.writable_data();
  }
  void end_texts() {
    const tensor_spec spec = spec_of(*slot_, texts_.size());
    *static_cast<tensor*>(field_) = tensor::of(std::span<const std::string_view>(texts_), spec.shape);
    texts_.clear();
  }

  const std::vector<feature_slot>& slots_;
  void* const to_;
  buffer* owner_;
  std::vector<std::string_view> texts_{};  ///< for a tensor of strings
  const feature_slot* slot_ = nullptr;
  bool is_tensor_ = false;
  void *field_ = nullptr, *first_ = nullptr;
};

/// A row of columns.
class example_parser::column_row {
 public:
  column_row(const std::vector<feature_slot>& slots, column& rows) : slots_(slots), rows_(rows), row_(rows.rows()) {}

  void clear() {
    rows_.truncate(row_);
    texts_.clear();
  }
  void forget_owner() {}
  void begin(std::size_t i) {
    slot_ = &slots_[i];
    is_tensor_ = slot_->form == field_form::tensor;
    member_ = values_ = &rows_.child(slot_->child);
    while (values_->children()) values_ = &values_->child(0);
  }
  void room(std::size_t count) {
    if (is_tensor_) named([&] { tensor_ = member_->append_tensor(spec_of(*slot_, count)); });
  }
  /// Stores a sparse or ragged tensor.
  template <class T> void object(std::size_t i, T made) {
    alignas(T) std::byte room[sizeof(T)];
    T* at = ::new (static_cast<void*>(room)) T(std::move(made));
    try {
      column& member = rows_.child(slots_[i].child);
      member.growth(at, 1, sizeof(T), 0);
      member.append(at, 1, sizeof(T));
    } catch (...) {
      at->~T();
      throw;
    }
  }
  void bytes(std::size_t, std::string_view value) {
    if (is_tensor_) return texts_.push_back(value);
    values_->append_text(value);
  }
  void floats(std::size_t i, const char* raw, std::size_t count) {
    if (!is_tensor_) return values_->append_values<float>(raw, count);
    if (count) std::memcpy(tensor_ + i * sizeof(float), raw, count * sizeof(float));
  }
  void int64(std::size_t i, std::int64_t value) {
    if (!is_tensor_) return values_->append_value(value);
    std::memcpy(tensor_ + i * sizeof value, &value, sizeof value);
  }
  void int64s(const char* raw, std::size_t count) {
    if (!is_tensor_) return values_->append_values<std::int64_t>(raw, count);
    if (count) std::memcpy(tensor_, raw, count * sizeof(std::int64_t));
  }
  void end(std::size_t) {
    if (!is_tensor_) return end_member(*member_);
    if (slot_->kind == feature_kind::bytes) end_texts();
  }
  void missing(std::size_t i) { rows_.child(slots_[i].child).append_valid(false); }

 private:
  void end_texts() {
    const tensor_spec spec = spec_of(*slot_, texts_.size());
    named([&] { member_->append_tensor(tensor::of(std::span<const std::string_view>(texts_), spec.shape)); });
    texts_.clear();
  }
  /// Adds the member's name to the errors of f.
  template <class F> void named(F f) {
    try {
      f();
    } catch (const error& e) {
      throw error(
          e.why().with_message(absl::StrCat("member ", slot_->member_name(), ": ", std::string(e.why().message()))));
    }
  }

  const std::vector<feature_slot>& slots_;
  column& rows_;
  const std::size_t row_;
  const feature_slot* slot_ = nullptr;
  bool is_tensor_ = false;
  column *member_ = nullptr, *values_ = nullptr;
  char* tensor_ = nullptr;                 ///< the bytes of the present row
  std::vector<std::string_view> texts_{};  ///< for a tensor of strings
};

// --- The parser ---

example_parser::example_parser(const example_schema& schema) : schema_(schema), found_in_(schema.slots().size()) {}

status example_parser::parse(std::string_view example, void* to, buffer* owner) {
  return read(example, field_row(schema_.slots(), to, owner));
}

status example_parser::append_to(column& rows, std::string_view example) {
  const std::size_t row = rows.rows();
  status why;
  try {
    why = read(example, column_row(schema_.slots(), rows));
    if (why.ok()) rows.append_row();
  } catch (const error& e) { why = e.why(); } catch (...) {
    rows.truncate(row);
    throw;
  }
  if (!why.ok()) rows.truncate(row);
  return why;
}

status example_parser::pack(std::string_view example, packed_rows& to) {
  status why;
  try {
    why = read(example, detail::packed_row(to));
  } catch (const error& e) { why = e.why(); }
  if (why.ok()) to.end_row();
  else to.drop_row();
  return why;
}

status example_parser::append_packed(column& rows, std::string_view packed) {
  const std::size_t before = rows.rows();
  column_row row(schema_.slots(), rows);
  try {
    if (read_packed(packed, row)) return rows.append_row(), status();
  } catch (...) {
    rows.truncate(before);
    throw;
  }
  rows.truncate(before);
  return no_packed_row();
}

status example_parser::unpack(std::string_view packed, void* to, buffer* owner) {
  field_row row(schema_.slots(), to, owner);
  return read_packed(packed, row) ? status() : no_packed_row();
}

/// Reads all entries of a packed row. Returns false if it is damaged; the row may have some of its values then.
template <class Row> bool example_parser::read_packed(std::string_view packed, Row& row) {
  const char *p = packed.data(), *const end = p + packed.size();
  const std::vector<feature_slot>& slots = schema_.slots();
  const std::uint64_t record = ++record_;
  auto left = [&p, end] { return static_cast<std::size_t>(end - p); };
  std::size_t found = 0;
  for (std::uint32_t header[2]; p != end; ++found) {
    if (left() < sizeof header) return false;
    std::memcpy(header, p, sizeof header);
    p += sizeof header;
    const std::size_t i = header[0], count = header[1];
    if (i >= slots.size() || std::exchange(found_in_[i], record) == record) return false;
    const feature_slot& slot = slots[i];
    if (count == packed_rows::kNoValue) {
      if (!slot.is_optional) return false;
      row.missing(i);
      continue;
    }
    if (!slot.takes(count)) return false;
    row.begin(i);
    if (slot.kind == feature_kind::bytes) {
      for (std::size_t k = 0; k != count; ++k) {
        std::uint32_t size;
        if (left() < sizeof size) return false;
        std::memcpy(&size, p, sizeof size);
        if (left() - sizeof size < size) return false;
        row.bytes(k, {p + sizeof size, size});
        p += sizeof size + size;
      }
    } else {
      const std::size_t each = slot.kind == feature_kind::floats ? sizeof(float) : sizeof(std::int64_t);
      if (left() / each < count) return false;
      row.room(count);
      if (slot.kind == feature_kind::floats) row.floats(0, p, count);
      else row.int64s(p, count);
      p += count * each;
    }
    row.end(count);
  }
  return found == slots.size();
}

/// Reads a record. After an error the row may have some of the values.
template <class Row> status example_parser::read(std::string_view example, Row row) {
  if (!schema_.has_parts() && read_usual(example, row)) return {};
  status why = look_through(example);
  if (!why.ok()) return why;
  row.clear();
  try {
    write_found(row);
  } catch (const error& e) { return e.why(); }
  return {};
}

std::size_t example_parser::slot_of(std::string_view name, const feature_key& key, std::size_t position) {
  if (position < order_.size() && order_[position].key == key) {
    const std::size_t slot = order_[position].slot;
    if (!key.is_long() || (slot != schema_.slots().size() && schema_.slots()[slot].name == name)) return slot;
  }
  const std::size_t slot = schema_.find(name, key);
  if (position < kLearnedMax) {
    if (position >= order_.size()) order_.resize(position + 1);
    order_[position] = {key, slot};
  }
  return slot;
}

/// Reads a record in the usual form. Returns false if it has another form or is damaged; the row may have some of its
/// values then. `row` has begin(slot's index), the sink's functions of read_usual_values, end(values) and
/// missing(slot's index).
template <class Row> bool example_parser::read_usual(std::string_view example, Row& row) {
  const char *p = example.data(), *const end = p + example.size();
  if (!detail::enter_all(p, end, detail::tag_of(1, detail::kBytes))) return false;
  // Copies, because the compiler must assume that storing values changes the members.
  const feature_slot* const slots = schema_.slots().data();
  const std::size_t slot_count = schema_.slots().size();
  std::uint64_t* const found_in = found_in_.data();
  const std::uint64_t record = ++record_;
  const known_entry* known = order_.data();
  std::size_t known_count = order_.size();
  std::size_t found = 0;
  for (std::size_t position = 0; p != end; ++position) {
    detail::usual_entry entry;
    if (!detail::read_usual_entry(p, end, entry)) return false;
    const feature_key key(entry.key);
    std::size_t i;
    if (position < known_count && known[position].key == key && !key.is_long()) [[likely]] {
      i = known[position].slot;
    } else {
      i = slot_of(entry.key, key, position);
      known = order_.data();
      known_count = order_.size();
    }
    if (i == slot_count) continue;
    if (found_in[i] == record) return false;  // a second entry of this key
    found_in[i] = record;
    ++found;
    const feature_slot& slot = slots[i];
    std::size_t count;
    if (!slot.is_built) {
      detail::usual_values_counted counted;
      if (!detail::read_usual_values(entry, slot.kind, {slot.length, slot.each}, counted, count)) return false;
      if (count != slot.length && !slot.takes(count)) return false;
      continue;
    }
    row.begin(i);
    if (!detail::read_usual_values(entry, slot.kind, {slot.length, slot.each}, row, count)) return false;
    if (count != slot.length && !slot.takes(count)) return false;
    row.end(count);
  }
  for (std::size_t i = 0; found != slot_count; ++i) {
    if (found_in[i] == record) continue;
    if (slots[i].required) return false;
    write_missing(row, i);
    ++found;
  }
  return true;
}

/// Stores a feature that is missing and may be.
template <class Row> void example_parser::write_missing(Row& row, std::size_t i) const {
  const feature_slot& slot = schema_.slots()[i];
  if (!slot.is_built) return;
  if (!slot.otherwise) return row.missing(i);
  const feature_values& values = *slot.otherwise;
  const std::size_t n = values.size();
  row.forget_owner();
  row.begin(i);
  if (slot.kind != feature_kind::bytes) row.room(n);
  if (slot.kind == feature_kind::floats) row.floats(0, reinterpret_cast<const char*>(values.floats.data()), n);
  for (std::size_t k = 0; k != values.int64s.size(); ++k) row.int64(k, values.int64s[k]);
  for (std::size_t k = 0; k != values.bytes.size(); ++k) row.bytes(k, values.bytes[k]);
  row.end(n);
}

/// Finds and checks the last entry of each slot.
status example_parser::look_through(std::string_view example) {
  struct counting {
    found_feature& found;
    void begin(feature_kind kind) {
      if (found.kind == kind) return;
      found.kind = kind;
      found.count = 0;
      ++found.lists;
    }
    void bytes(std::string_view) { ++found.count; }
    void floats(const char*, std::size_t count) { found.count += count; }
    void int64(std::int64_t) { ++found.count; }
  };
  const std::vector<feature_slot>& slots = schema_.slots();
  found_.assign(slots.size(), {});
  std::size_t position = 0;
  auto on_entry = [&](std::string_view entry) {
    std::string_view key;
    if (!detail::read_key(entry, key)) return false;
    const std::size_t i = slot_of(key, feature_key(key), position++);
    if (i == slots.size()) return true;
    found_[i] = {.entry = entry};
    counting sink{found_[i]};
    return detail::read_entry_values(entry, sink);
  };
  if (!detail::read_example(example, on_entry)) return detail::not_an_example();
  for (std::size_t i = 0; i != slots.size(); ++i)
    if (status why = check_found(slots[i], found_[i].kind, found_[i].count); !why.ok()) return why;
  return {};
}

template <class Row> void example_parser::write_found(Row& row) const {
  for (std::size_t i = 0; i != schema_.members(); ++i) {
    const found_feature& f = found_[i];
    if (!schema_.slots()[i].parts.empty()) write_parts(row, i);
    if (f.kind == feature_kind::none || !schema_.slots()[i].parts.empty() || !schema_.slots()[i].is_built) continue;
    row.begin(i);
    if (f.kind != feature_kind::bytes) row.room(f.count);
    detail::last_list values(row, f.lists);
    (void)detail::read_entry_values(f.entry, values);  // checked before
    row.end(f.count);
  }
  for (std::size_t i = 0; i != schema_.members(); ++i)
    if (found_[i].kind == feature_kind::none && schema_.slots()[i].parts.empty()) write_missing(row, i);
}

/// Collects all values of a feature; none if it is missing.
void example_parser::gather(std::size_t slot, feature_values& to) const {
  struct gathering {
    feature_values& to;
    void bytes(std::size_t, std::string_view value) { to.bytes.emplace_back(value); }
    void floats(std::size_t, const char* raw, std::size_t count) {
      const std::size_t at = to.floats.size();
      to.floats.resize(at + count);
      if (count) std::memcpy(to.floats.data() + at, raw, count * sizeof(float));
    }
    void int64(std::size_t, std::int64_t value) { to.int64s.push_back(value); }
  };
  const found_feature& f = found_[slot];
  if (f.kind == feature_kind::none) return;
  gathering row{to};
  detail::last_list values(row, f.lists);
  (void)detail::read_entry_values(f.entry, values);  // checked before
}

/// Builds a sparse or ragged tensor from its features.
template <class Row> void example_parser::write_parts(Row& row, std::size_t i) const {
  const feature_slot& slot = schema_.slots()[i];
  feature_values values{.kind = slot.kind};
  gather(i, values);
  std::vector<std::vector<std::int64_t>> parts;
  for (const feature_part& part : slot.parts) {
    feature_values numbers;
    if (!part.name.empty()) gather(part.slot, numbers);
    parts.push_back(std::move(numbers.int64s));
  }
  if (slot.form == field_form::sparse) row.object(i, detail::sparse_of(slot, values, parts));
  else row.object(i, detail::ragged_of(slot, values, std::move(parts)));
}

}  // namespace sluice::lib
