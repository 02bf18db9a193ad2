// SPDX-License-Identifier: Apache-2.0
// Values that an array shares between rows: indices of a dictionary, runs, and views. For each row the index of its
// value is found, and then the values are collected.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "arrow/import_values.hpp"

namespace sluice::lib::arrow {

namespace {

constexpr std::int64_t kAbsent = -1;

/// Counts the bytes that shared values take against the room for them.
class room_counter {
 public:
  room_counter(const column& to, const place& where)
      : to_(to), where_(where), room_(where.all_room()), before_(to.memory_bytes()) {}
  ~room_counter() {
    if (room_) *room_ -= std::min(*room_, taken());
  }
  room_counter(const room_counter&) = delete;
  room_counter& operator=(const room_counter&) = delete;

  /// Checks the bytes taken so far, and `more` bytes.
  status check(std::size_t more = 0) const {
    if (!room_ || (more <= *room_ && taken() <= *room_ - more)) return {};
    return element_limit_error(at(where_, "its values take more than the " + std::to_string(*room_) +
                                              " bytes that may be held for them: raise the memory budget, or write "
                                              "smaller batches"));
  }

 private:
  std::size_t taken() const {
    const std::size_t now = to_.memory_bytes();
    return now > before_ ? now - before_ : 0;
  }

  const column& to_;
  const place& where_;
  std::size_t* room_;
  std::size_t before_;
};

/// The values of some rows: their indices in an array.
struct gathered {
  const ArrowSchema* s;
  const ArrowArray* a;  ///< null: a dictionary that does not exist; no row has a value
  std::size_t n = 0;
  std::array<std::int64_t, kRowsAtATime> at{};  ///< not counting the array's offset; kAbsent: no value
};

status check_all(const gathered& g, const place& where) {
  if (!g.a) return {};
  return check_node(*g.s, *g.a, static_cast<std::size_t>(std::clamp<std::int64_t>(g.a->length, 0, kLengthMax)), where);
}

std::int64_t loaded_integer(char format, const void* p, std::size_t i) {
  switch (format) {
    case 'c': return loaded<std::int8_t>(p, i);
    case 'C': return loaded<std::uint8_t>(p, i);
    case 's': return loaded<std::int16_t>(p, i);
    case 'S': return loaded<std::uint16_t>(p, i);
    case 'i': return loaded<std::int32_t>(p, i);
    case 'I': return loaded<std::uint32_t>(p, i);
    default: return loaded<std::int64_t>(p, i);  // a uint64 that is too large becomes negative, and is refused
  }
}

void drop_nulls(gathered& g) {
  if (!g.a) return;
  const void* bits = g.a->n_buffers != 0 ? g.a->buffers[0] : nullptr;
  const bool is_null = ipc_format_of(*g.s) == "n";
  for (std::size_t i = 0; i != g.n; ++i)
    if (g.at[i] != kAbsent && (is_null || (bits && !bit(bits, static_cast<std::size_t>(g.a->offset + g.at[i])))))
      g.at[i] = kAbsent;
}

/// Replaces indices of the rows by those of the values in the dictionary.
status follow_dictionary(gathered& g, const place& where) {
  const ArrowArray* values = g.a->dictionary;
  const void* indices = g.a->buffers[1];
  drop_nulls(g);
  for (std::size_t i = 0; i != g.n; ++i) {
    if (g.at[i] == kAbsent) continue;
    if (!values || !indices) return broken(where, "it has no dictionary");
    const std::int64_t index =
        loaded_integer(ipc_format_of(*g.s)[0], indices, static_cast<std::size_t>(g.a->offset + g.at[i]));
    if (index < 0 || index >= values->length)
      return broken(where, "the index " + std::to_string(index) + " is outside of its dictionary of " +
                               std::to_string(values->length) + " values");
    g.at[i] = index;
  }
  g.s = g.s->dictionary;
  g.a = values;
  return {};
}

/// The ends of runs.
struct run_ends {
  char format;
  const void* ends;
  std::size_t first, n;

  std::int64_t operator[](std::size_t k) const { return loaded_integer(format, ends, first + k); }
  /// Returns the run that contains a row; n: none.
  std::size_t find(std::int64_t row) const {
    std::size_t low = 0, high = n;
    while (low != high) {
      const std::size_t middle = low + (high - low) / 2;
      if ((*this)[middle] > row) high = middle;
      else low = middle + 1;
    }
    return low;
  }
};

status read_run_ends(const ArrowSchema& s, const ArrowArray& a, const place& where, run_ends& to) {
  const ArrowArray& ends = *a.children[0];
  const auto n = static_cast<std::size_t>(std::clamp<std::int64_t>(ends.length, 0, kLengthMax));
  if (status why = check_node(*s.children[0], ends, n, where); !why.ok()) return why;
  if (n != 0 && !ends.buffers[1]) return broken(where, "the ends of its runs are null");
  if (a.children[1]->length < ends.length) return broken(where, "it has fewer values than runs");
  to = {ipc_format_of(*s.children[0])[0], ends.buffers[1], static_cast<std::size_t>(ends.offset), n};
  std::int64_t before = 0;
  for (std::size_t k = 0; k != n; ++k) {
    const std::int64_t end = to[k];
    if (end <= before) return broken(where, "the ends of its runs do not rise");
    before = end;
  }
  return {};
}

/// Replaces rows by the indices of their runs.
status follow_runs(gathered& g, const run_ends& ends, const place& where) {
  std::size_t run = 0;
  for (std::size_t i = 0; i != g.n; ++i) {
    if (g.at[i] == kAbsent) continue;
    const std::int64_t row = g.a->offset + g.at[i];
    const bool is_here = run != ends.n && ends[run] > row && (run == 0 || ends[run - 1] <= row);
    if (!is_here) run = ends.find(row);
    if (run == ends.n) return broken(where, "its runs end before row " + std::to_string(row));
    g.at[i] = static_cast<std::int64_t>(run);
  }
  g.a = g.a->children[1];
  g.s = g.s->children[1];
  return {};
}

/// Collects numbers of the width that the column has.
status gather_numbers(column& to, const gathered& g, const place& where) {
  const auto* data = static_cast<const char*>(g.a->buffers[1]);
  const std::size_t size = to.type().size;
  if (!data) return broken(where, "its values are null");
  std::array<char, kRowsAtATime * sizeof(std::int64_t)> values;
  for (std::size_t i = 0; i != g.n; ++i) {
    char* at = values.data() + i * size;
    if (g.at[i] == kAbsent) std::memset(at, 0, size);
    else std::memcpy(at, data + static_cast<std::size_t>(g.a->offset + g.at[i]) * size, size);
  }
  to.append_values(values.data(), g.n);
  return {};
}

/// Appends texts that have nothing to do with each other.
status append_apart(column& to, const std::string_view* texts, std::size_t n, const room_counter& room) {
  std::array<std::int32_t, kRowsAtATime + 1> offsets{};
  std::size_t bytes = 0;
  for (std::size_t i = 0; i != n; ++i) {
    if (texts[i].size() > column::kOffsetMax - bytes)
      return element_limit_error("a column has more than 2^31 - 1 bytes or elements");
    bytes += texts[i].size();
    offsets[i + 1] = static_cast<std::int32_t>(bytes);
  }
  if (status why = room.check(bytes); !why.ok()) return why;
  std::string all;
  all.reserve(bytes);
  for (std::size_t i = 0; i != n; ++i) all.append(texts[i]);
  to.append_texts(all.data(), offsets.data(), n);
  return {};
}

status gather_texts(column& to, const gathered& g, const room_counter& room, const place& where) {
  const bool is_wide = ipc_format_of(*g.s) == "U" || ipc_format_of(*g.s) == "Z";
  const offset_reader offsets{g.a->buffers[1], is_wide, -1};
  const auto* bytes = static_cast<const char*>(g.a->buffers[2]);
  if (!g.a->buffers[1]) return broken(where, "its offsets are null");
  std::array<std::string_view, kRowsAtATime> texts{};
  for (std::size_t i = 0; i != g.n; ++i) {
    if (g.at[i] == kAbsent) continue;
    const auto k = static_cast<std::size_t>(g.a->offset + g.at[i]);
    const std::int64_t begin = offsets[k], end = offsets[k + 1];
    if (begin < 0 || end < begin) return broken(where, "an offset is less than the one before");
    if (!bytes && begin != end) return broken(where, "its bytes are null");
    texts[i] = {bytes + begin, static_cast<std::size_t>(end - begin)};
  }
  return append_apart(to, texts.data(), g.n, room);
}

/// Collects values of any type, in ranges that follow each other.
status gather_ranges(column& to, const gathered& g, const room_counter& room, const place& where) {
  for (std::size_t i = 0; i != g.n;) {
    std::size_t end = i + 1;
    const bool is_absent = g.at[i] == kAbsent;
    while (end != g.n && g.at[end] == (is_absent ? kAbsent : g.at[end - 1] + 1)) ++end;
    if (is_absent) {
      to.append_empty(end - i);
    } else {
      status why = append_values(to, {*g.s, *g.a, static_cast<std::size_t>(g.at[i]), end - i}, true, where);
      if (why.ok()) why = room.check();
      if (!why.ok()) return why;
    }
    i = end;
  }
  return {};
}

status gather_valid(column& to, const gathered& g, const room_counter& room, const place& where) {
  const ipc_form form = ipc_form_of(ipc_format_of(*g.s));
  const bool has_any = g.a && g.a->length != 0;
  if (has_any && to.form() == column_form::values && form.layout == ipc_layout::fixed &&
      form.width == static_cast<std::int64_t>(to.type().size))
    return gather_numbers(to, g, where);
  if (has_any && to.form() == column_form::texts && form.layout == ipc_layout::texts)
    return gather_texts(to, g, room, where);
  return gather_ranges(to, g, room, where);
}

status gather(column& to, gathered& g, const room_counter& room, const place& where) {
  drop_nulls(g);
  if (to.form() != column_form::maybe) {
    if (std::find(g.at.begin(), g.at.begin() + static_cast<std::ptrdiff_t>(g.n), kAbsent) !=
        g.at.begin() + static_cast<std::ptrdiff_t>(g.n))
      return invalid_argument_error(
          at(where, "a value is null, and the program has no optional there (" + to.type().name + ")"));
    return gather_valid(to, g, room, where);
  }
  std::array<std::uint8_t, kRowsAtATime / 8> bits{};
  for (std::size_t i = 0; i != g.n; ++i)
    if (g.at[i] != kAbsent) bits[i / 8] = static_cast<std::uint8_t>(bits[i / 8] | 1u << i % 8);
  if (status why = gather_valid(to.child(0), g, room, where); !why.ok()) return why;
  to.append_valid_bits(bits.data(), 0, g.n);
  return {};
}

}  // namespace

status append_encoded(column& to, const values& from, const place& where) {
  const room_counter room(to, where);
  std::array<run_ends, 8> ends{};  // of each level that has runs: check_schema limits their number
  for (std::size_t done = 0; done != from.n;) {
    gathered g{&from.s, &from.a, std::min(kRowsAtATime, from.n - done)};
    for (std::size_t i = 0; i != g.n; ++i) g.at[i] = static_cast<std::int64_t>(from.first + done + i);
    for (std::size_t level = 0; g.a && is_encoded(*g.s) && level != ends.size(); ++level) {
      status why = check_all(g, where);
      if (!why.ok()) return why;
      if (g.s->dictionary) {
        why = follow_dictionary(g, where);
      } else {
        if (done == 0) why = read_run_ends(*g.s, *g.a, where, ends[level]);
        if (why.ok()) why = follow_runs(g, ends[level], where);
      }
      if (!why.ok()) return why;
    }
    status why = check_all(g, where);
    if (why.ok()) why = gather(to, g, room, where);
    if (why.ok()) why = room.check();
    if (!why.ok()) return why;
    done += g.n;
  }
  return {};
}

status append_views(column& to, const values& from, const place& where) {
  constexpr std::int32_t kInlineBytes = 12;
  const auto* views = static_cast<const char*>(from.buffer(1));
  const std::int64_t buffers = from.a.n_buffers - 3;
  const void* lengths = from.buffer(static_cast<std::size_t>(from.a.n_buffers - 1));
  if (!views || (buffers != 0 && !lengths)) return broken(where, "its views are null");
  const room_counter room(to, where);
  for (std::size_t done = 0; done < from.n;) {
    const std::size_t rows = std::min(kRowsAtATime, from.n - done);
    std::array<std::string_view, kRowsAtATime> texts{};
    for (std::size_t i = 0; i != rows; ++i) {
      const char* view = views + (from.begin() + done + i) * 16;
      const auto size = loaded<std::int32_t>(view, 0);
      if (size < 0) return broken(where, "a view has a negative length");
      if (size <= kInlineBytes) {
        texts[i] = {view + 4, static_cast<std::size_t>(size)};
        continue;
      }
      const std::int64_t which = loaded<std::int32_t>(view, 2), offset = loaded<std::int32_t>(view, 3);
      if (which < 0 || which >= buffers || offset < 0 ||
          offset + size > loaded<std::int64_t>(lengths, static_cast<std::size_t>(which)))
        return broken(where, "a view leaves its buffer");
      const auto* bytes = static_cast<const char*>(from.buffer(static_cast<std::size_t>(2 + which)));
      if (!bytes) return broken(where, "a buffer of its views is null");
      texts[i] = {bytes + offset, static_cast<std::size_t>(size)};
    }
    if (status why = append_apart(to, texts.data(), rows, room); !why.ok()) return why;
    done += rows;
  }
  return {};
}

status append_list_views(column& to, const values& from, const place& where) {
  const bool is_wide = ipc_format_of(from.s) == "+vL";
  if (!from.buffer(1) || !from.buffer(2)) return broken(where, "its offsets are null");
  const offset_reader offsets{from.buffer(1), is_wide, -1}, sizes{from.buffer(2), is_wide, -1};
  const ArrowArray& items = *from.a.children[0];
  const room_counter room(to, where);
  for (std::size_t i = 0; i != from.n; ++i) {
    const std::int64_t offset = offsets[from.begin() + i], size = sizes[from.begin() + i];
    if (offset < 0 || size < 0 || offset > items.length || size > items.length - offset)
      return broken(where, "a list leaves its " + std::to_string(items.length) + " elements");
    if (to.child(0).rows() + static_cast<std::size_t>(size) > column::kOffsetMax)
      return element_limit_error(at(where, "a column has more than 2^31 - 1 bytes or elements"));
    const values inner{*from.s.children[0], items, static_cast<std::size_t>(offset), static_cast<std::size_t>(size)};
    if (status why = append_values(to.child(0), inner, false, {&where, "[]"}); !why.ok()) return why;
    to.append_lists_of(1, static_cast<std::size_t>(size));
    if (status why = room.check(); !why.ok()) return why;
  }
  return {};
}

}  // namespace sluice::lib::arrow
