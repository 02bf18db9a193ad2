// SPDX-License-Identifier: Apache-2.0
#include "format/json/plain_json.hpp"

#include <fast_float/fast_float.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "element/build.hpp"
#include "element/scalars.hpp"
#include "format/json/json_cursor.hpp"
#include "format/json/large_numbers.hpp"
#include "sluice/base/utf8.hpp"

#if SLUICE_HAVE_SIMDJSON
#include <simdjson.h>
#endif

namespace sluice::lib {
namespace {

using json::json_cursor;
using json::plain_number;

constexpr std::size_t kMembersMax = 64;  ///< the bits of a number say which members exist
constexpr std::size_t kSkippedDepthMax = 64;

constexpr double kTenTo[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                             1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr std::uint64_t kExactMost = std::uint64_t{1} << 53;

/// Returns the nearest double of a number with a point or an exponent.
bool nearest_double(const plain_number& n, double& to) {
  if (!n.is_long && n.digits <= kExactMost && n.exponent >= -22 && n.exponent <= 22) {
    // Both operands are exact, so the result is rounded once.
    const auto digits = static_cast<double>(n.digits);
    to = n.exponent < 0 ? digits / kTenTo[-n.exponent] : digits * kTenTo[n.exponent];
    to = n.is_negative ? -to : to;
    return true;
  }
  const auto r = fast_float::from_chars(n.token.data(), n.token.data() + n.token.size(), to);
  return r.ec == std::errc() && r.ptr == n.token.data() + n.token.size() && std::isfinite(to);
}

/// Rounds to a float. Returns false for a double that another rounding may have moved to the middle of two floats, and
/// for those that are no usual floats.
bool round_once(double d, float& to) {
  constexpr std::uint32_t kMiddle = 1U << 28, kBelow = (1U << 29) - 1;
  to = static_cast<float>(d);
  const bool is_usual = std::isnormal(to) || d == 0;
  return is_usual && (static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(d)) & kBelow) != kMiddle;
}

template <class T> bool read_scalar(json_cursor& c, void* to) {
  T x{};
  if constexpr (std::is_same_v<T, bool>) {
    x = c.take("true");
    if (!x && !c.take("false")) return false;
  } else {
    plain_number n;
    if (!c.number(n)) return false;
    if (n.is_whole) {
      if (n.is_long) return false;
      const auto magnitude = static_cast<std::int64_t>(n.digits);  // at most 18 digits
      const std::int64_t whole = n.is_negative ? -magnitude : magnitude;
      if constexpr (std::is_integral_v<T>)
        if (!std::in_range<T>(whole)) return false;
      x = static_cast<T>(whole);
    } else if constexpr (std::is_same_v<T, double>) {
      if (!nearest_double(n, x)) return false;
    } else if constexpr (std::is_same_v<T, float>) {
      double d = 0;
      if (!nearest_double(n, d) || !round_once(d, x)) return false;
    } else {
      return false;  // such as 12.0
    }
  }
  std::memcpy(to, &x, sizeof x);
  return true;
}

bool is_usual_name(std::string_view name) {
  for (const char c : name)
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7E || c == '"' || c == '\\')
      return false;
  return true;
}

void destroy_one(const element_type& t, void* p) {
  if (!t.trivially_destroyed) t.destroy(t, p, 1);
}

bool is_all_utf8(std::string_view text) {
#if SLUICE_HAVE_SIMDJSON
  return simdjson::validate_utf8(text.data(), text.size());
#else
  return is_utf8(text);
#endif
}

/// Destroys the parts of an element that was not completed: after an exception, or where the text has another form.
template <class F> class unless_complete {
 public:
  explicit unless_complete(F undo) : undo_(std::move(undo)) {}
  unless_complete(const unless_complete&) = delete;
  ~unless_complete() {
    if (!is_complete_) undo_();
  }
  bool completed() { return is_complete_ = true; }

 private:
  F undo_;
  bool is_complete_ = false;
};

}  // namespace

/// A type, prepared for reading.
struct plain_json_rows::node {
  const element_type& type;
  bool (*scalar)(json_cursor&, void*) = nullptr;
  std::unique_ptr<node> element{};
  std::vector<node> members{};
  std::vector<std::string> keys{};  ///< the members' names as they are usually written: in quotes; "": never so
  /// For a structure, the offset of each member; kNotBuilt: it is checked, or skipped if `trust` is set.
  std::vector<std::size_t> offsets{};
  bool trust = false;
  static constexpr std::size_t kNotBuilt = ~std::size_t{0};

  static std::unique_ptr<node> of(const element_type& t) {
    node n{t};
    return n.prepare() ? std::make_unique<node>(std::move(n)) : nullptr;
  }

 private:
  /// Returns false for types that have no usual form.
  bool prepare() {
    if (type.kind == kind::scalar) {
      scalar = detail::with_number(type, []<class T>(std::type_identity<T>) { return &read_scalar<T>; });
      return true;
    }
    if (type.kind == kind::text) return type.make_texts != nullptr;
    if (type.kind == kind::maybe || type.kind == kind::list || type.kind == kind::array) {
      element = of(*type.element);
      return element != nullptr;
    }
    if (!type.has_members() || type.members.size() > kMembersMax) return false;
    for (const member& m : type.members) {
      std::unique_ptr<node> part = of(*m.type);
      if (!part) return false;
      members.push_back(std::move(*part));
      std::string key;
      offsets.push_back(m.offset);
      if (is_usual_name(m.name)) key.append("\"").append(m.name).append("\"");
      keys.push_back(std::move(key));
    }
    return true;
  }
};

/// The reading of one text.
class plain_json_rows::reading {
 public:
  reading(json_cursor& c, bool refuses_others, std::string& scratch)
      : c_(c), refuses_others_(refuses_others), scratch_(scratch) {}

  bool value(const node& n, void* to) {
    switch (n.type.kind) {
      case kind::scalar: return n.scalar(c_, to);
      case kind::text: return text(n.type, to);
      case kind::maybe: return maybe(n, to);
      case kind::list: return list(n, to);
      case kind::array:
        return items(
            n.type.extent, [&](std::size_t) -> const node& { return *n.element; },
            [&](std::size_t i) { return static_cast<char*>(to) + i * n.element->type.size; });
      case kind::structure: return structure(n, to);
      default:  // a pair or a tuple
        return items(
            n.members.size(), [&](std::size_t k) -> const node& { return n.members[k]; },
            [&](std::size_t k) { return static_cast<char*>(to) + n.type.members[k].offset; });
    }
  }

 private:
  bool text(const element_type& t, void* to) {
    std::string_view raw;
    bool has_escapes = false;
    if (!c_.take('"') || !c_.text(raw, has_escapes)) return false;
    if (has_escapes) {
      if (!json_cursor::unescape(raw, scratch_)) return false;
      raw = scratch_;
    }
    if (&t == &type_of<std::string>()) ::new (to) std::string(raw);
    else detail::make_text(t, to, raw);
    return true;
  }

  /// Reads a value that is not built. With `trust` it may have any type.
  bool pass(const node& n, bool trust) {
    if (trust) return c_.skip_value(kSkippedDepthMax, scratch_);
    if (n.type.kind == kind::maybe) return c_.take("null") || pass(*n.element, false);
    if (&n.type == &type_of<std::string>()) {
      std::string_view raw;
      bool has_escapes = false;
      return c_.take('"') && c_.text(raw, has_escapes) && (!has_escapes || json_cursor::unescape(raw, scratch_));
    }
    alignas(std::max_align_t) char small[kSmallBytes];
    if (n.type.size > sizeof small || n.type.align > alignof(std::max_align_t) || !value(n, small)) return false;
    destroy_one(n.type, small);
    return true;
  }

  bool maybe(const node& n, void* to) {
    const element_type& item = n.element->type;
    if (c_.take("null")) {
      n.type.collect(n.type, to, nullptr, 0, 0, item.size);
      return true;
    }
    alignas(std::max_align_t) char small[kSmallBytes];
    if (item.size > sizeof small || item.align > alignof(std::max_align_t)) return false;
    if (!value(*n.element, small)) return false;
    const unless_complete moved_from([&] { destroy_one(item, small); });
    n.type.collect(n.type, to, small, 1, 1, item.size);
    return true;
  }

  bool list(const node& n, void* to) {
    const element_type& item = n.element->type;
    if (!c_.take('[')) return false;
    std::size_t count = 0, room = 0;
    std::unique_ptr<detail::item_room> items;
    c_.spaces();
    for (bool ends = c_.take(']'); !ends;) {
      if (count == room) {
        room = room ? room * 2 : kItemsAtFirst;
        auto larger = std::make_unique<detail::item_room>(item, room);
        if (count) item.relocate(item, larger->data(), items->data(), count, item.size, item.size);
        if (items) items->set_live(0);
        items = std::move(larger);
        items->set_live(count);
      }
      if (!value(*n.element, static_cast<char*>(items->data()) + count * item.size)) return false;
      items->set_live(++count);
      c_.spaces();
      ends = c_.take(']');
      if (!ends && !c_.take(',')) return false;
      c_.spaces();
    }
    n.type.collect(n.type, to, items ? items->data() : nullptr, count, count, item.size);
    return true;
  }

  /// Builds `count` items of an array. If one has another form, those before it are destroyed.
  template <class Node, class Place> bool items(std::size_t count, Node node_of, Place place_of) {
    if (!c_.take('[')) return false;
    std::size_t made = 0;
    unless_complete undo([&] {
      while (made-- != 0) destroy_one(node_of(made).type, place_of(made));
    });
    for (; made != count; ++made) {
      c_.spaces();
      if (made != 0) {
        if (!c_.take(',')) return false;
        c_.spaces();
      }
      if (!value(node_of(made), place_of(made))) return false;
    }
    c_.spaces();
    return c_.take(']') && undo.completed();
  }

  bool structure(const node& n, void* to) {
    std::uint64_t made = 0;
    unless_complete undo([&] {
      for (std::size_t k = 0; k != n.members.size(); ++k)
        if ((made >> k & 1) && n.offsets[k] != node::kNotBuilt)
          destroy_one(n.members[k].type, static_cast<char*>(to) + n.offsets[k]);
    });
    return members(n, static_cast<char*>(to), made) && undo.completed();
  }
  bool members(const node& n, char* to, std::uint64_t& made) {
    if (!c_.take('{')) return false;
    c_.spaces();
    std::size_t due = 0;
    for (bool ends = c_.take('}'); !ends;) {
      std::size_t k = due;
      if (!key(n, k)) return false;
      c_.spaces();
      if (!c_.take(':')) return false;
      c_.spaces();
      if (k == n.members.size()) {
        if (refuses_others_ || !c_.skip_value(kSkippedDepthMax, scratch_)) return false;
      } else {
        if ((made >> k & 1) != 0) return false;
        if (n.offsets[k] == node::kNotBuilt ? !pass(n.members[k], n.trust) : !value(n.members[k], to + n.offsets[k]))
          return false;
        made |= std::uint64_t{1} << k;
        due = k + 1;
      }
      c_.spaces();
      ends = c_.take('}');
      if (!ends && !c_.take(',')) return false;
      c_.spaces();
    }
    for (std::size_t k = 0; k != n.members.size(); ++k) {
      if (made >> k & 1) continue;
      const element_type& m = n.members[k].type;
      const bool is_built = n.offsets[k] != node::kNotBuilt;
      if (!is_built && n.trust) continue;
      if (m.kind != kind::maybe) return false;
      if (is_built) m.collect(m, to + n.offsets[k], nullptr, 0, 0, m.element->size);
      made |= std::uint64_t{1} << k;
    }
    return true;
  }
  /// Reads a name. k: the member that is expected, and then the one that has the name; members.size(): none has it.
  bool key(const node& n, std::size_t& k) {
    if (k < n.members.size() && !n.keys[k].empty() && c_.take(n.keys[k])) return true;
    std::string_view name;
    bool has_escapes = false;
    if (!c_.take('"') || !c_.text(name, has_escapes) || has_escapes || name == kLargeNumberKey) return false;
    for (k = 0; k != n.members.size() && n.type.members[k].name != name;) ++k;
    return true;
  }

  static constexpr std::size_t kSmallBytes = 128;
  static constexpr std::size_t kItemsAtFirst = 8;

  json_cursor& c_;
  bool refuses_others_;
  std::string& scratch_;
};

plain_json_rows::plain_json_rows(const element_type& row) : row_(node::of(row)), made_(&row) {}
plain_json_rows::~plain_json_rows() = default;
plain_json_rows::plain_json_rows(plain_json_rows&&) noexcept = default;

void plain_json_rows::build_only(const element_type& built, bool trust) {
  made_ = &built;
  if (!row_) return;
  row_->trust = trust;
  std::size_t next = 0;
  for (std::size_t k = 0; k != row_->offsets.size(); ++k) {
    const bool is_built = next != built.members.size() && built.members[next].name == row_->type.members[k].name;
    row_->offsets[k] = is_built ? built.members[next++].offset : node::kNotBuilt;
  }
}

bool plain_json_rows::read(std::string_view text, std::size_t behind, bool refuses_others, void* to) {
  if (!row_) return false;
  json_cursor c(text, behind);
  c.spaces();
  if (!reading(c, refuses_others, scratch_).value(*row_, to)) return false;
  c.spaces();
  if (c.is_at_end() && (!c.has_other_bytes() || is_all_utf8(text))) return true;
  destroy_one(*made_, to);
  return false;
}

}  // namespace sluice::lib
