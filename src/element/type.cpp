// SPDX-License-Identifier: Apache-2.0
#include "sluice/element/type.hpp"

#include <algorithm>
#include <deque>
#include <tuple>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "element/batches/kernels.hpp"
#include "element/erased_lists.hpp"
#include "element/made_once.hpp"
#include "element/text/print_element.hpp"
#include "sluice/element/slice.hpp"
#include "sluice/element/type_text.hpp"

namespace sluice::lib {

element_type::element_type() = default;
element_type::element_type(const element_type& other) = default;
element_type::element_type(element_type&& other) noexcept = default;
element_type& element_type::operator=(const element_type& other) = default;
element_type& element_type::operator=(element_type&& other) noexcept = default;
element_type::~element_type() = default;

namespace detail {

namespace {

/// All descriptors of the process. Never destroyed, because elements may outlive main's static objects.
struct type_store {
  absl::Mutex mutex;
  std::deque<element_type> types ABSL_GUARDED_BY(mutex);
  absl::flat_hash_map<std::string, const element_type*> by_name ABSL_GUARDED_BY(mutex);
  /// Types by their parts: {"pair", a, b}, {"array", a, n} …
  absl::flat_hash_map<std::tuple<std::string, const void*, std::size_t>, const element_type*> made
      ABSL_GUARDED_BY(mutex);
};

type_store& store() {
  static type_store& s = *new type_store;
  return s;
}

template <class T> void print_number(const element_type&, const void* p, std::string& out) {
  T v = *static_cast<const T*>(p);
  if constexpr (std::is_same_v<T, bool> || std::is_floating_point_v<T>) print_scalar(v, out);
  else if constexpr (std::is_signed_v<T>) print_scalar(static_cast<std::int64_t>(v), out);
  else print_scalar(static_cast<std::uint64_t>(v), out);
}

template <class T> const element_type& make_scalar(std::string_view name) {
  element_type t;
  t.name = name;
  t.size = sizeof(T);
  t.align = alignof(T);
  t.kind = kind::scalar;
  t.relocatable = t.trivially_destroyed = true;
  t.copy = copy_bytes;
  t.construct = construct<T>;
  t.print = print_number<T>;
  complete(t);
  return keep(std::move(t));
}

std::size_t string_footprint(const element_type&, const void* p, std::size_t n) {
  std::size_t bytes = 0;
  for (auto* s = static_cast<const std::string*>(p); n != 0; --n, ++s) {
    bool is_inside = s->data() >= reinterpret_cast<const char*>(s) && s->data() < reinterpret_cast<const char*>(s + 1);
    if (!is_inside) bytes += s->capacity() + 1;
  }
  return bytes;
}

const element_type& make_string() {
  element_type t = made_of<std::string>();
  t.name = "string";
  t.footprint = string_footprint;
  complete(t);
  return keep(std::move(t));
}

std::size_t rounded(std::size_t n, std::size_t align) { return (n + align - 1) / align * align; }

/// Computes offsets, size and alignment as C++ would, and the kernels that every member supports.
void lay_out(element_type& t) {
  bool can_copy = true, can_construct = true;
  t.align = 1;
  t.relocatable = t.trivially_destroyed = true;
  for (auto& m : t.members) {
    m.offset = rounded(t.size, m.type->align);
    t.size = m.offset + m.type->size;
    t.align = std::max(t.align, m.type->align);
    t.relocatable &= m.type->relocatable;
    t.trivially_destroyed &= m.type->trivially_destroyed;
    can_copy &= m.type->copy != nullptr;
    can_construct &= m.type->construct != nullptr;
  }
  t.size = rounded(std::max<std::size_t>(t.size, 1), t.align);
  if (can_copy) t.copy = copy_parts;
  if (can_construct) t.construct = construct_parts;
}

/// Returns true if a std::tuple stores its last member first, as in libstdc++; in libc++ it does not.
bool tuples_are_reversed() {
  std::tuple<char, char> t;
  return &std::get<1>(t) < &std::get<0>(t);
}

void lay_out_tuple(element_type& t) {
  bool reversed = tuples_are_reversed();
  if (reversed) std::reverse(t.members.begin(), t.members.end());
  lay_out(t);
  if (reversed) std::reverse(t.members.begin(), t.members.end());
}

void choose_footprint(element_type& t) {
  bool owns = t.kind == kind::array && t.element->footprint != no_footprint;
  bool compacts = t.kind == kind::array && t.element->compact;
  for (auto& m : t.members) {
    owns |= m.type->footprint != no_footprint;
    compacts |= m.type->compact != nullptr;
  }
  if (!t.footprint) t.footprint = owns ? footprint_parts : no_footprint;
  if (!t.compact && compacts) t.compact = compact_parts;
}

void choose_print(element_type& t) {
  if (t.print) return;
  switch (t.kind) {
    case kind::text: t.print = print_text; break;
    case kind::array: t.print = print_extent; break;
    case kind::structure:
    case kind::pair:
    case kind::tuple: t.print = print_members; break;
    default: t.print = print_opaque;
  }
}

}  // namespace

void add_references(buffer* owner, std::size_t n) noexcept {
  if (owner) owner->add_references(static_cast<std::uint32_t>(n));
}

const element_type& keep(element_type t) {
  absl::MutexLock lock(&store().mutex);
  const element_type& kept = store().types.emplace_back(std::move(t));
  store().by_name.try_emplace(kept.name, &kept);
  return kept;
}

void complete(element_type& t) {
  if (!t.relocate) t.relocate = t.relocatable ? relocate_bytes_kernel(t.size) : relocate_parts;
  if (!t.exchange) t.exchange = t.relocatable ? exchange_bytes_kernel(t.size) : exchange_one_by_one;
  if (!t.destroy) t.destroy = t.trivially_destroyed ? destroy_nothing : destroy_parts;
  choose_footprint(t);
  choose_print(t);
}

const element_type& scalar_type(std::int8_t*) {
  static auto& t = make_scalar<std::int8_t>("int8");
  return t;
}
const element_type& scalar_type(std::int16_t*) {
  static auto& t = make_scalar<std::int16_t>("int16");
  return t;
}
const element_type& scalar_type(std::int32_t*) {
  static auto& t = make_scalar<std::int32_t>("int32");
  return t;
}
const element_type& scalar_type(std::int64_t*) {
  static auto& t = make_scalar<std::int64_t>("int64");
  return t;
}
const element_type& scalar_type(std::uint8_t*) {
  static auto& t = make_scalar<std::uint8_t>("uint8");
  return t;
}
const element_type& scalar_type(std::uint16_t*) {
  static auto& t = make_scalar<std::uint16_t>("uint16");
  return t;
}
const element_type& scalar_type(std::uint32_t*) {
  static auto& t = make_scalar<std::uint32_t>("uint32");
  return t;
}
const element_type& scalar_type(std::uint64_t*) {
  static auto& t = make_scalar<std::uint64_t>("uint64");
  return t;
}
const element_type& scalar_type(bool*) {
  static auto& t = make_scalar<bool>("bool");
  return t;
}
const element_type& scalar_type(float*) {
  static auto& t = make_scalar<float>("float");
  return t;
}
const element_type& scalar_type(double*) {
  static auto& t = make_scalar<double>("double");
  return t;
}
const element_type& string_type() {
  static auto& t = make_string();
  return t;
}

const element_type* made_before(const std::string& how, const void* of, std::size_t and_of) {
  absl::MutexLock lock(&store().mutex);
  auto found = store().made.find(std::tuple(how, of, and_of));
  return found == store().made.end() ? nullptr : found->second;
}

// Two threads may both build one. The first to return wins, and the type keeps its address.
const element_type* made_once(const std::string& how, const void* of, std::size_t and_of,
                              const std::function<element_type()>& make) {
  if (const element_type* made = made_before(how, of, and_of)) return made;
  element_type t = make();
  complete(t);
  const element_type* kept = &keep(std::move(t));
  absl::MutexLock lock(&store().mutex);
  return store().made.emplace(std::tuple(how, of, and_of), kept).first->second;
}

const element_type& keep_list(const element_type& t) {
  return *made_once(t.kind == kind::maybe ? "maybe" : "list", t.element, 0, [&t] { return t; });
}

std::string without_scope(std::string_view type) {
  auto scope = type.substr(0, type.find('<')).find_last_of(": ");
  return std::string(scope == type.npos ? type : type.substr(scope + 1));
}

void add_member(element_type& t, std::string_view name, std::ptrdiff_t offset, const element_type& type) {
  t.members.push_back({std::string(name), static_cast<std::size_t>(offset), &type});
}

}  // namespace detail

const element_type* pair_of(const element_type* first, const element_type* second) {
  if (!first || !second) return nullptr;
  return detail::made_once("pair", first, reinterpret_cast<std::size_t>(second), [=] {
    element_type t;
    t.name = absl::StrCat("(", first->name, ", ", second->name, ")");
    t.kind = kind::pair;
    t.members = {{"first", 0, first}, {"second", 0, second}};
    detail::lay_out(t);
    return t;
  });
}

const element_type* tuple_of(const std::vector<const element_type*>& members) {
  std::string how = "tuple";
  for (auto* m : members) {
    if (!m) return nullptr;
    absl::StrAppend(&how, ",", reinterpret_cast<std::uintptr_t>(m));
  }
  if (members.empty()) return nullptr;
  return detail::made_once(how, nullptr, 0, [&] {
    element_type t;
    t.kind = kind::tuple;
    for (auto* m : members) {
      absl::StrAppend(&t.name, t.name.empty() ? "" : ", ", m->name);
      t.members.push_back({std::to_string(t.members.size()), 0, m});
    }
    t.name = absl::StrCat(members.size() > 2 ? "(" : "tuple(", t.name, ")");  // (a, b) is the pair
    detail::lay_out_tuple(t);
    return t;
  });
}

const element_type* array_of(const element_type* element, std::size_t n) {
  if (!element || n == 0) return nullptr;
  return detail::made_once("array", element, n, [=] {
    element_type t;
    t.name = absl::StrCat(element->name, "[", n, "]");
    t.size = element->size * n;
    t.align = element->align;
    t.kind = kind::array;
    t.relocatable = element->relocatable;
    t.trivially_destroyed = element->trivially_destroyed;
    t.element = element;
    t.extent = n;
    if (element->copy) t.copy = detail::copy_parts;
    if (element->construct) t.construct = detail::construct_parts;
    return t;
  });
}

const element_type* struct_of(std::string_view name, std::vector<member> members) {
  // A name in braces is the text of a structure without a name, which is one type, whatever code builds it.
  if (name.starts_with('{')) name = {};
  auto how = absl::StrCat("structure ", std::string(name));
  for (auto& m : members) {
    if (!m.type) return nullptr;
    absl::StrAppend(&how, ",", m.name, ":", reinterpret_cast<std::uintptr_t>(m.type));
  }
  return detail::made_once(how, nullptr, 0, [&] {
    element_type t;
    t.name = name;
    t.kind = kind::structure;
    t.members = std::move(members);
    if (name.empty()) t.name = type_text(t);
    detail::lay_out(t);
    return t;
  });
}

namespace {

/// Creates list types, which a plan may name although no C++ code does.
template <class... T> void make_lists() { (type_of<std::vector<T>>(), ...); }

void make_usual_lists() {
  static const bool made = [] {
    make_lists<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t,
               std::uint64_t, float, double, std::string, record, line>();
    return true;
  }();
  (void)made;
}

}  // namespace

namespace {

/// Returns true if lists of this type are possible: their elements are built in place of moved-from ones.
bool can_be_listed(const element_type& t) {
  return detail::lists_have_known_layout() && (t.construct || t.trivially_destroyed);
}

}  // namespace

const element_type* list_of(const element_type* t) {
  if (!t) return nullptr;
  make_usual_lists();
  if (auto* made = detail::made_before("list", t, 0)) return made;
  if (!can_be_listed(*t)) return nullptr;
  return detail::made_once("list", t, 0, [t] { return detail::make_list_type(*t); });
}

const element_type* maybe_of(const element_type* t) {
  if (!t) return nullptr;
  if (auto* made = detail::made_before("maybe", t, 0)) return made;
  if (!can_be_listed(*t)) return nullptr;
  return detail::made_once("maybe", t, 0, [t] { return detail::make_maybe_type(*t); });
}

const element_type* type_named(std::string_view name) {
  make_usual_lists();  // so that the builtin types exist even if unused
  type_of<bool>();
  auto& s = detail::store();
  absl::MutexLock lock(&s.mutex);
  auto found = s.by_name.find(std::string(name));
  return found == s.by_name.end() ? nullptr : found->second;
}

bool can_stack(const element_type& t) {
  if (t.kind == kind::opaque || (t.element && t.kind != kind::batch && !can_stack(*t.element))) return false;
  for (auto& m : t.members)
    if (!can_stack(*m.type)) return false;
  return true;
}

}  // namespace sluice::lib
