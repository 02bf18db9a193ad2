// SPDX-License-Identifier: Apache-2.0
#include "sluice/format/example_parser.hpp"

#include <absl/strings/str_cat.h>

#include "format/example/entry_prefix.hpp"
#include "format/example/example_parts.hpp"
#include "format/example/example_rows.hpp"
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
    return wrong("holds ", std::string(to_string(kind)), " values, expected ", std::string(to_string(slot.kind)), ": ",
                 std::string(detail::type_that_reads(kind)));
  if (!slot.takes(count))
    return wrong(
        "has ", count, count == 1 ? " value" : " values", ", expected ",
        slot.length != feature_slot::kAny ? absl::StrCat(slot.length) : absl::StrCat("a multiple of ", slot.each));
  return {};
}

}  // namespace

// --- The parser ---

struct example_parser::known_entry {
  feature_key key;
  std::size_t slot = 0;  ///< slots().size(): no slot has this feature
  /// The bytes before its values, from the second record on in which the feature has this place.
  entry_prefix prefix{};
  /// The values behind such a prefix that are sound, if none are built.
  enum class check : std::uint8_t { by_slot, any, exact_bytes, one_number } sound = check::by_slot;
  std::size_t exact_bytes = 0;

  /// `of`: the slot; null: no slot has this feature.
  void learn(std::string_view name, const feature_slot* of) {
    prefix.learn(name, of ? of->kind : feature_kind::none);
    if (!of) sound = check::any;
    if (!of || of->is_built || of->each != 1) return;
    if (of->kind == feature_kind::bytes && of->takes(1)) sound = check::any;
    if (of->kind == feature_kind::int64s && of->length == 1) sound = check::one_number;
    if (of->kind == feature_kind::floats && of->length < entry_prefix::kValuesMax) {
      sound = check::exact_bytes;
      exact_bytes = of->length * sizeof(float);
    }
  }
  /// If the entry at p is one whose values are not built, and is sound, moves p after it, and returns true. Returns false
  /// for all entries that this place does not know.
  [[gnu::always_inline]] bool skip(const char*& p, const char* end) const {
    const char* at = p;
    std::size_t size;
    if (sound == check::by_slot || !prefix.pass(at, end, size)) return false;
    if (sound == check::exact_bytes && size != exact_bytes) return false;
    if (sound == check::one_number && !detail::is_one_short_varint(at, size)) return false;
    p = at + size;
    return true;
  }
};

example_parser::example_parser(const example_schema& schema) : schema_(schema), found_in_(schema.slots().size()) {}
example_parser::example_parser(const example_parser&) = default;
example_parser::example_parser(example_parser&&) noexcept = default;
example_parser::~example_parser() = default;

status example_parser::parse(std::string_view example, void* to, buffer* owner) {
  detail::field_row row(schema_.slots(), to, owner);
  return read(example, row);
}

status example_parser::append_to(column& rows, std::string_view example) {
  const std::size_t before = rows.rows();
  status why;
  try {
    detail::column_row row(schema_.slots(), rows);
    why = read(example, row);
    if (why.ok()) rows.append_row();
  } catch (const error& e) { why = e.why(); } catch (...) {
    rows.truncate(before);
    throw;
  }
  if (!why.ok()) rows.truncate(before);
  return why;
}

status example_parser::pack(std::string_view example, packed_rows& to) {
  status why;
  try {
    detail::packed_row row(to);
    why = read(example, row);
  } catch (const error& e) { why = e.why(); }
  if (why.ok()) to.end_row();
  else to.drop_row();
  return why;
}

/// Reads a record. After an error the row may have some of the values.
template <class Row> status example_parser::read(std::string_view example, Row& row) {
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
    order_[position] = {.key = key, .slot = slot};
  }
  return slot;
}

/// Skips the entries from `position` on that are sound, as far as their values are not built and each is at its place.
/// A function of its own, so that its loop has all registers.
example_parser::skipped_entries example_parser::skip_unread(const char* p, const char* end, std::size_t position) {
  const std::uint64_t record = record_;
  std::uint64_t* const found_in = found_in_.data();
  const std::size_t slot_count = found_in_.size(), known_count = order_.size();
  const known_entry* const known = order_.data();
  skipped_entries s;
  for (; position != known_count && known[position].skip(p, end); ++position) {
    const std::size_t i = known[position].slot;
    if (i == slot_count) continue;
    s.is_repeated |= found_in[i] == record;
    found_in[i] = record;
    ++s.found;
  }
  s.position = position;
  s.end = p;
  return s;
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
  known_entry* known = order_.data();
  std::size_t known_count = order_.size();
  std::size_t found = 0;
  for (std::size_t position = 0; p != end; ++position) {
    detail::usual_entry entry;
    if (position < known_count && known[position].sound != known_entry::check::by_slot) {
      const skipped_entries s = skip_unread(p, end, position);
      if (s.is_repeated) return false;
      found += s.found;
      position = s.position;
      p = s.end;
      if (p == end) break;
    }
    std::size_t i = slot_count, size = 0;
    entry.value = p;
    if (position < known_count && known[position].prefix.pass(entry.value, end, size)) [[likely]] {
      i = known[position].slot;
      entry.is_single = true;
      entry.end = p = entry.value + size;
    } else {
      if (!detail::read_usual_entry(p, end, entry)) return false;
      const feature_key key(entry.key);
      const bool is_expected = position < known_count && known[position].key == key;
      if (is_expected && !key.is_long()) {
        i = known[position].slot;
      } else {
        i = slot_of(entry.key, key, position);
        known = order_.data();
        known_count = order_.size();
      }
      if (is_expected && !known[position].prefix.is_learned())
        known[position].learn(entry.key, i == slot_count ? nullptr : &slots[i]);
    }
    if (i == slot_count) continue;
    if (found_in[i] == record) return false;
    found_in[i] = record;
    ++found;
    const feature_slot& slot = slots[i];
    const detail::value_limits limits{slot.length, slot.each};
    std::size_t count;
    if (!slot.is_built) {
      detail::usual_values_counted counted;
      if (!detail::read_usual_values(entry, slot.kind, limits, counted, count)) return false;
      if (count != slot.length && !slot.takes(count)) return false;
      continue;
    }
    row.begin(i);
    if (!detail::read_usual_values(entry, slot.kind, limits, row, count)) return false;
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
