// SPDX-License-Identifier: Apache-2.0
#include "sluice/format/example_parser.hpp"

#include <absl/strings/str_cat.h>

#include "format/example_wire.hpp"
#include "sluice/element/column.hpp"

namespace sluice::lib {
namespace {

/// A record has seldom more features; the order of those behind is not learned, so that a forged one costs no memory.
constexpr std::size_t kLearnedMax = 1024;

status check_found(const feature_slot& slot, feature_kind kind, std::size_t count) {
  auto wrong = [&](const auto&... words) {
    return invalid_argument_error(absl::StrCat("feature \"", slot.name, "\" ", words...));
  };
  if (kind == feature_kind::none) return slot.required ? wrong("is missing") : status();
  if (kind != slot.kind)
    return wrong("holds ", std::string(to_string(kind)), " values, expected ", std::string(to_string(slot.kind)));
  if (slot.length != feature_slot::kAny && count != slot.length)
    return wrong("has ", count, count == 1 ? " value" : " values", ", expected ", slot.length);
  return {};
}

/// Ends the row in the making of a member that has its values.
inline void end_member(column& member, std::size_t values) {
  switch (member.form()) {
    case column_form::lists: return member.append_list();
    case column_form::maybe: return member.append_valid(values != 0);
    case column_form::fixed: return member.append_row();
    default: return;
  }
}

}  // namespace

// --- Where the values go: a row has begin(slot's index), room(values) for numbers, the values in order, end(values), or
// missing(slot's index); clear() of a row that was begun ---

/// The fields of a struct.
class example_parser::field_row {
 public:
  field_row(const std::vector<feature_slot>& slots, void* to, buffer* owner) : slots_(slots), to_(to), owner_(owner) {}

  void clear() {}  // each field is written anew
  void begin(std::size_t i) {
    slot_ = &slots_[i];
    field_ = first_ = static_cast<char*>(to_) + slot_->offset;
  }
  void room(std::size_t count) {
    if (slot_->resize) first_ = slot_->resize(field_, count);
  }
  void bytes(std::size_t i, std::string_view value) {
    slot_->store(slot_->resize ? slot_->resize(field_, i + 1) : field_, i, value, owner_);
  }
  void floats(std::size_t i, const char* raw, std::size_t count) {
    if (count) std::memcpy(static_cast<float*>(first_) + i, raw, count * sizeof(float));
  }
  void int64(std::size_t i, std::int64_t value) { static_cast<std::int64_t*>(first_)[i] = value; }
  void end(std::size_t count) {
    if (slot_->resize) slot_->resize(field_, count);  // what the struct had more goes
  }
  void missing(std::size_t i) {
    begin(i);
    end(0);
  }

 private:
  const std::vector<feature_slot>& slots_;
  void* const to_;
  buffer* const owner_;
  const feature_slot* slot_ = nullptr;
  void *field_ = nullptr, *first_ = nullptr;
};

/// A row of columns.
class example_parser::column_row {
 public:
  explicit column_row(column& rows) : rows_(rows), row_(rows.rows()) {}

  void clear() { rows_.truncate(row_); }
  void begin(std::size_t i) {
    member_ = &rows_.child(i);
    values_ = member_->children() ? &member_->child(0) : member_;
  }
  void room(std::size_t) {}
  void bytes(std::size_t, std::string_view value) { values_->append_text(value); }
  void floats(std::size_t, const char* raw, std::size_t count) { values_->append_values<float>(raw, count); }
  void int64(std::size_t, std::int64_t value) { values_->append_value(value); }
  void end(std::size_t count) { end_member(*member_, count); }
  void missing(std::size_t i) { end_member(rows_.child(i), 0); }

 private:
  column& rows_;
  const std::size_t row_;
  column *member_ = nullptr, *values_ = nullptr;
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
    why = read(example, column_row(rows));
    if (why.ok()) rows.append_row();
  } catch (const error& e) { why = e.why(); } catch (...) {
    rows.truncate(row);
    throw;
  }
  if (!why.ok()) rows.truncate(row);
  return why;
}

/// After an error the row may have some of the values.
template <class Row> status example_parser::read(std::string_view example, Row row) {
  if (read_usual(example, row)) return {};
  status why = look_through(example);
  if (!why.ok()) return why;
  row.clear();
  write_found(row);
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

/// Reads a record as nearly all are. False: it is none of those, or wrong; the row has some of its values then.
/// `row` has begin(slot's index), the sink's functions of read_usual_values, end(values) and missing(slot's index).
template <class Row> bool example_parser::read_usual(std::string_view example, Row& row) {
  const char *p = example.data(), *const end = p + example.size();
  if (!detail::enter_all(p, end, detail::tag_of(1, detail::kBytes))) return false;
  // Copies: the compiler has to suppose that the values which are written change the members.
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
    row.begin(i);
    std::size_t count;
    if (!detail::read_usual_values(entry, slot.kind, slot.length, row, count)) return false;
    if (count != slot.length && slot.length != feature_slot::kAny) return false;
    row.end(count);
  }
  for (std::size_t i = 0; found != slot_count; ++i) {
    if (found_in[i] == record) continue;
    if (slots[i].required) return false;
    row.missing(i);
    ++found;
  }
  return true;
}

/// Finds the last entry of each slot, and checks it.
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

/// Passes on the values of an entry's last list.
template <class Row> class example_parser::last_list {
 public:
  last_list(Row& to, std::size_t lists) : to_(to), lists_(lists) {}
  void begin(feature_kind kind) {
    if (kind_ == kind) return;
    kind_ = kind;
    --lists_;
  }
  void bytes(std::string_view value) {
    if (lists_ == 0) to_.bytes(i_++, value);
  }
  void floats(const char* raw, std::size_t count) {
    if (lists_ == 0) to_.floats(std::exchange(i_, i_ + count), raw, count);
  }
  void int64(std::int64_t value) {
    if (lists_ == 0) to_.int64(i_++, value);
  }

 private:
  Row& to_;
  std::size_t lists_;
  std::size_t i_ = 0;
  feature_kind kind_ = feature_kind::none;
};

template <class Row> void example_parser::write_found(Row& row) const {
  for (std::size_t i = 0; i != found_.size(); ++i) {
    const found_feature& f = found_[i];
    if (f.kind == feature_kind::none) {
      row.missing(i);
      continue;
    }
    row.begin(i);
    if (f.kind != feature_kind::bytes) row.room(f.count);
    last_list<Row> values(row, f.lists);
    (void)detail::read_entry_values(f.entry, values);  // was read before
    row.end(f.count);
  }
}

}  // namespace sluice::lib
