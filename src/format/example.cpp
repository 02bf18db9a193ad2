// SPDX-License-Identifier: Apache-2.0
#include "sluice/format/example.hpp"

#include <absl/container/inlined_vector.h>
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "format/example_wire.hpp"
#include "sluice/element/column.hpp"

namespace sluice::lib {

/// What has been found of a slot's feature so far.
struct example_parser::found_feature {
  feature_kind kind = feature_kind::none;
  std::size_t count = 0;
};
struct example_parser::found_features : absl::InlinedVector<found_feature, 16> {
  using InlinedVector::InlinedVector;
};

namespace {

using found_feature = example_parser::found_feature;

/// A record has seldom more features; the order of those behind is not learned, so that a forged one costs no memory.
constexpr std::size_t kLearnedMax = 1024;

/// Puts the values of one entry into their field.
class field_sink {
 public:
  field_sink(const feature_slot& slot, void* field, buffer* owner, found_feature& found)
      : slot_(slot), field_(field), owner_(owner), found_(found) {}

  void begin(feature_kind kind) {
    if (found_.kind != kind) found_ = {kind, 0};
    wanted_ = kind == slot_.kind;
  }
  void bytes(std::string_view value) {
    std::size_t i = found_.count++;
    if (!wanted_ || i >= slot_.length) return;  // counted all the same: the error says how many there were
    slot_.store(slot_.resize ? slot_.resize(field_, i + 1) : field_, i, value, owner_);
  }
  void floats(const char* raw, std::size_t count) {
    std::size_t i = found_.count;
    found_.count += count;
    if (!wanted_ || i >= slot_.length) return;
    count = std::min(count, slot_.length - i);
    void* to = slot_.resize ? slot_.resize(field_, i + count) : field_;
    if (count > 0) std::memcpy(static_cast<float*>(to) + i, raw, count * sizeof(float));
  }
  void int64(std::int64_t value) {
    std::size_t i = found_.count++;
    if (!wanted_ || i >= slot_.length) return;
    void* to = slot_.resize ? slot_.resize(field_, i + 1) : field_;
    static_cast<std::int64_t*>(to)[i] = value;
  }

 private:
  const feature_slot& slot_;
  void* field_;
  buffer* owner_;
  found_feature& found_;
  bool wanted_ = false;
};

/// Appends the values of one entry to the column of their member, whose row `row` is in the making.
class column_sink {
 public:
  column_sink(const feature_slot& slot, column& member, std::size_t row, found_feature& found)
      : slot_(slot), member_(member), values_(member.children() ? member.child(0) : member), row_(row), found_(found) {}

  void begin(feature_kind kind) {
    if (found_.kind != kind) {
      if (found_.count) member_.truncate(row_);
      found_ = {kind, 0};
    }
    wanted_ = kind == slot_.kind;
  }
  void bytes(std::string_view value) {
    if (takes(1)) values_.append_text(value);
  }
  void floats(const char* raw, std::size_t count) {
    if (const std::size_t n = takes(count)) values_.append_values(raw, n);
  }
  void int64(std::int64_t value) {
    if (takes(1)) values_.append_value(value);
  }

 private:
  /// How many of the next values there is room for. All are counted: the error says how many there were.
  std::size_t takes(std::size_t count) {
    const std::size_t i = std::exchange(found_.count, found_.count + count);
    return !wanted_ || i >= slot_.length ? 0 : std::min(count, slot_.length - i);
  }

  const feature_slot& slot_;
  column& member_;
  column& values_;
  const std::size_t row_;
  found_feature& found_;
  bool wanted_ = false;
};

/// Ends the row in the making of a member that has its values.
inline void complete(column& member, std::size_t values) {
  switch (member.form()) {
    case column_form::lists: return member.append_list();
    case column_form::maybe: return member.append_valid(values != 0);
    case column_form::fixed: return member.append_row();
    default: return;
  }
}

status check_found(const feature_slot& slot, const found_feature& found) {
  auto wrong = [&](const auto&... words) {
    return invalid_argument_error(absl::StrCat("feature \"", slot.name, "\" ", words...));
  };
  if (found.kind == feature_kind::none) return slot.required ? wrong("is missing") : status();
  if (found.kind != slot.kind)
    return wrong("holds ", std::string(to_string(found.kind)), " values, expected ", std::string(to_string(slot.kind)));
  if (slot.length != feature_slot::kAny && found.count != slot.length)
    return wrong("has ", found.count, found.count == 1 ? " value" : " values", ", expected ", slot.length);
  return {};
}

status not_an_example() { return data_loss_error("the bytes are no tf.Example: its wire format is damaged"); }

/// Collects the values of one entry, whatever they are.
struct values_sink {
  feature_values& to;
  void begin(feature_kind kind) {
    if (to.kind == kind) return;
    to = {};
    to.kind = kind;
  }
  void bytes(std::string_view value) { to.bytes.emplace_back(value); }
  void floats(const char* raw, std::size_t count) {
    if (count == 0) return;
    std::size_t i = to.floats.size();
    to.floats.resize(i + count);
    std::memcpy(to.floats.data() + i, raw, count * sizeof(float));
  }
  void int64(std::int64_t value) { to.int64s.push_back(value); }
};

}  // namespace

std::string_view to_string(feature_kind kind) {
  switch (kind) {
    case feature_kind::none: return "nothing";
    case feature_kind::bytes: return "bytes";
    case feature_kind::floats: return "float";
    case feature_kind::int64s: return "int64";
  }
  return "nothing";
}

example_schema::example_schema(std::vector<feature_slot> slots) : slots_(std::move(slots)) {
  for (const feature_slot& slot : slots_) keys_.emplace_back(slot.name);
}

std::size_t example_schema::find(std::string_view name, const feature_key& key) const noexcept {
  for (std::size_t i = 0; i != slots_.size(); ++i)
    if (keys_[i] == key && (!key.is_long() || slots_[i].name == name)) return i;
  return slots_.size();
}

status example_schema::parse(std::string_view example, void* to, buffer* owner) const {
  return example_parser(*this).parse(example, to, owner);
}

std::size_t example_parser::slot_of(std::string_view name, const feature_key& key, std::size_t position) {
  if (position < order_.size() && order_[position].key == key) {
    const std::size_t slot = order_[position].slot;
    if (!key.is_long() || (slot != schema_.slots_.size() && schema_.slots_[slot].name == name)) return slot;
  }
  const std::size_t slot = schema_.find(name, key);
  if (position < kLearnedMax) {
    if (position >= order_.size()) order_.resize(position + 1);
    order_[position] = {key, slot};
  }
  return slot;
}

// --- Records as nearly all are ---

/// Reads a record as nearly all are. False: it is none of those, or wrong; the row has some of its values then.
/// `row` has begin(slot's index), the sink's functions of read_usual_values, end(values) and missing(slot's index).
template <class Row> bool example_parser::read_usual(std::string_view example, Row& row) {
  const char *p = example.data(), *const end = p + example.size();
  if (!detail::enter_all(p, end, detail::tag_of(1, detail::kBytes))) return false;
  // Copies: the compiler has to suppose that the values which are written change the members.
  const feature_slot* const slots = schema_.slots_.data();
  const std::size_t slot_count = schema_.slots_.size();
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

/// The fields of a struct.
class example_parser::field_row {
 public:
  field_row(const std::vector<feature_slot>& slots, void* to, buffer* owner) : slots_(slots), to_(to), owner_(owner) {}

  void begin(std::size_t i) {
    slot_ = &slots_[i];
    field_ = first_ = static_cast<char*>(to_) + slot_->offset;
  }
  void bytes(std::size_t i, std::string_view value) {
    slot_->store(slot_->resize ? slot_->resize(field_, i + 1) : field_, i, value, owner_);
  }
  void floats(const char* raw, std::size_t count) {
    make_room(count);
    if (count) std::memcpy(first_, raw, count * sizeof(float));
  }
  void int64s(std::size_t count) { make_room(count); }
  void int64(std::size_t i, std::int64_t value) { static_cast<std::int64_t*>(first_)[i] = value; }
  void end(std::size_t count) {
    if (slot_->resize) slot_->resize(field_, count);  // what the struct had more goes
  }
  void missing(std::size_t i) {
    begin(i);
    end(0);
  }

 private:
  void make_room(std::size_t count) {
    if (slot_->resize) first_ = slot_->resize(field_, count);
  }

  const std::vector<feature_slot>& slots_;
  void* const to_;
  buffer* const owner_;
  const feature_slot* slot_ = nullptr;
  void *field_ = nullptr, *first_ = nullptr;
};

status example_parser::parse(std::string_view example, void* to, buffer* owner) {
  field_row row(schema_.slots_, to, owner);
  return read_usual(example, row) ? status() : parse_any(example, to, owner);
}

/// A row of columns.
class example_parser::column_row {
 public:
  explicit column_row(column& rows) : rows_(rows) {}

  void begin(std::size_t i) {
    member_ = &rows_.child(i);
    values_ = member_->children() ? &member_->child(0) : member_;
  }
  void bytes(std::size_t, std::string_view value) { values_->append_text(value); }
  void floats(const char* raw, std::size_t count) { values_->append_values<float>(raw, count); }
  void int64s(std::size_t) {}
  void int64(std::size_t, std::int64_t value) { values_->append_value(value); }
  void end(std::size_t count) { complete(*member_, count); }
  void missing(std::size_t i) { complete(rows_.child(i), 0); }

 private:
  column& rows_;
  column *member_ = nullptr, *values_ = nullptr;
};

status example_parser::append_to(column& rows, std::string_view example) {
  const std::size_t row = rows.rows();
  try {
    column_row values(rows);
    if (read_usual(example, values)) {
      rows.append_row();
      return {};
    }
    rows.truncate(row);
    status why = append_any(rows, example);
    if (!why.ok()) rows.truncate(row);
    return why;
  } catch (const error& e) {
    rows.truncate(row);
    return e.why();
  } catch (...) {
    rows.truncate(row);
    throw;
  }
}

// --- All others ---

/// Reads the entries of an example, those of slots with what make_sink(slot's index, found) returns. Then checks them.
template <class MakeSink>
status example_parser::read_any(std::string_view example, found_features& found, MakeSink make_sink) {
  const std::vector<feature_slot>& slots = schema_.slots_;
  std::size_t position = 0;
  auto on_entry = [&](std::string_view entry) {
    std::string_view key;
    if (!detail::read_key(entry, key)) return false;
    const std::size_t i = slot_of(key, feature_key(key), position++);
    if (i == slots.size()) return true;
    auto sink = make_sink(i);
    return detail::read_entry_values(entry, sink);
  };
  if (!detail::read_example(example, on_entry)) return not_an_example();
  for (std::size_t i = 0; i < slots.size(); ++i) {
    status why = check_found(slots[i], found[i]);
    if (!why.ok()) return why;
  }
  return {};
}

status example_parser::parse_any(std::string_view example, void* to, buffer* owner) {
  const std::vector<feature_slot>& slots = schema_.slots_;
  found_features found(slots.size());
  auto field_of = [&](std::size_t i) { return static_cast<char*>(to) + slots[i].offset; };
  status why = read_any(example, found, [&](std::size_t i) {
    found[i] = {};  // the last entry of a key counts
    return field_sink(slots[i], field_of(i), owner, found[i]);
  });
  if (!why.ok()) return why;
  // What an earlier entry of a key, or the struct itself, had more goes.
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (slots[i].resize) slots[i].resize(field_of(i), found[i].count);
  return {};
}

status example_parser::append_any(column& rows, std::string_view example) {
  const std::vector<feature_slot>& slots = schema_.slots_;
  const std::size_t row = rows.rows();
  found_features found(slots.size());
  status why = read_any(example, found, [&](std::size_t i) {
    if (found[i].count) rows.child(i).truncate(row);  // the last entry of a key counts
    found[i] = {};
    return column_sink(slots[i], rows.child(i), row, found[i]);
  });
  if (!why.ok()) return why;
  for (std::size_t i = 0; i < slots.size(); ++i) complete(rows.child(i), found[i].count);
  rows.append_row();
  return {};
}

result<std::map<std::string, feature_values, std::less<>>> read_example(std::string_view example) {
  std::map<std::string, feature_values, std::less<>> features;
  auto on_entry = [&](std::string_view bytes) {
    std::string_view key;
    if (!detail::read_key(bytes, key)) return false;
    feature_values& values = features[std::string(key)];
    values = {};
    values_sink sink{values};
    return detail::read_entry_values(bytes, sink);
  };
  if (!detail::read_example(example, on_entry)) return not_an_example();
  return features;
}

}  // namespace sluice::lib
