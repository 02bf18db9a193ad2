// SPDX-License-Identifier: Apache-2.0
// The one field list: an operator's options struct *is* the list. Names, order and defaults are read off the aggregate;
// what a field prints as, accepts and forbids follows from its type.
//
//   struct shuffle_options {                       // in the operator's header
//     count buffer_size = {};                      // its default breaks its own rule: it is required
//     sluice::seed seed = {};
//     bool reshuffle_each_iteration = true;
//   };
//   template <> const field_list& fields_of<shuffle_options>();
//
//   template <>                                    // in its source
//   const field_list& fields_of<shuffle_options>() { return make_field_list<shuffle_options>(); }
//
// Plan text, JSON, hash, equality, rules and the documentation derive from it. Renaming a member changes the format.
// Every member has an initialiser (`= {}`): without, a partial {.seed = 7} warns under -Wextra. Options are trivially
// copyable: what owns (paths, functions) is an argument of its own.
// Thread: lists are immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sluice/base/reflect.hpp"

namespace sluice::lib {

// --- Types of fields, besides bool, std::int64_t, double and enums of up to 16 enumerators. ---

/// A whole number ≥ 1 that has to be given.
struct count {
  std::int64_t value = 0;
  constexpr count() = default;
  constexpr count(std::int64_t v) : value(v) {}  // NOLINT: numbers are written as numbers
  constexpr operator std::int64_t() const { return value; }
};

/// A whole number that has to be given: take(0) and range(-5) mean something.
struct integer {
  static constexpr std::int64_t kNotGiven = INT64_MIN;
  std::int64_t value = kNotGiven;
  constexpr integer() = default;
  constexpr integer(std::int64_t v) : value(v) {}  // NOLINT
  constexpr operator std::int64_t() const { return value; }
};

/// A whole number ≥ 0 that has to be given; -1: all there are.
struct count_or_all {
  static constexpr std::int64_t kAll = -1, kNotGiven = INT64_MIN;
  std::int64_t value = kNotGiven;
  constexpr count_or_all() = default;
  constexpr count_or_all(std::int64_t v) : value(v) {}  // NOLINT
  constexpr operator std::int64_t() const { return value; }
  constexpr bool is_all() const { return value == kAll; }
};

/// A limit that changes speed and never the elements: fixed, or left to the tuner. Not part of a fingerprint.
struct knob {
  static constexpr std::int64_t kAutotune = -1;
  std::int64_t value = 1;
  constexpr knob() = default;
  constexpr knob(std::int64_t v) : value(v) {}  // NOLINT
  constexpr bool is_autotuned() const { return value == kAutotune; }
};
inline constexpr knob autotune{knob::kAutotune};

/// Where random draws start.
struct seed {
  static constexpr std::int64_t kDrawn = -1;  ///< drawn once per run
  std::int64_t value = kDrawn;
  constexpr seed() = default;
  constexpr seed(std::int64_t v) : value(v) {}  // NOLINT
  constexpr bool is_drawn() const { return value == kDrawn; }
};

/// A size ≥ 0; plan text writes 64MiB.
struct byte_size {
  std::int64_t value = 0;
  constexpr byte_size() = default;
  constexpr byte_size(std::int64_t v) : value(v) {}  // NOLINT
};
/// "64MiB" or "64M", "1 GiB", "4096", "1.5KiB": powers of 1024; "64MB", "64kB", "64KB": of 1000. False: not a size.
bool read_byte_size(std::string_view text, std::int64_t& bytes);
std::string print_byte_size(std::int64_t bytes);

enum class order : std::uint8_t { deterministic, sloppy };
// As options are written, {.order = sloppy}: `order` itself is too good a name to take from a program.
inline constexpr order deterministic = order::deterministic;
inline constexpr order sloppy = order::sloppy;
enum class compression : std::uint8_t { automatic, none, gzip, zlib };

// --- The list. ---

/// How one type of field is printed, read, checked and compared.
class codec {
 public:
  virtual void print(const void* field, std::string& out) const = 0;
  /// Empty, or what was expected: "a whole number". `quoted`: the text stood in quotes.
  virtual std::string read(void* field, std::string_view text, bool quoted) const = 0;
  /// Empty, or the rule that is broken: "at least 1".
  virtual std::string check(const void* field) const = 0;
  virtual bool equal(const void* a, const void* b) const = 0;
  /// Changes speed only: left out of fingerprints.
  virtual bool is_knob() const { return false; }
  /// For the documentation: "count", "true or false".
  virtual std::string_view type_name() const = 0;

 protected:
  ~codec() = default;
};

template <class T> const codec& codec_of();

struct field {
  std::string_view name;
  std::size_t offset;
  const codec* type;
  bool required;  ///< the default breaks the type's own rule
};

struct field_list {
  std::vector<field> fields;
  std::vector<std::byte> defaults;
  const field* find(std::string_view name) const noexcept;
};

/// Declared for each options struct in its header, defined in its source, so that users of the header pay nothing.
template <class Options> const field_list& fields_of();

/// An options struct with its type forgotten.
class options {
 public:
  /// Defaults.
  explicit options(const field_list& list) : list_(&list), bytes_(list.defaults) {}
  template <class Options> static options of(const Options& o) { return options(fields_of<Options>(), &o, sizeof o); }

  /// The struct again. The list must be that of Options.
  template <class Options> Options as() const {
    Options o;
    std::memcpy(static_cast<void*>(&o), bytes_.data(), sizeof o);
    return o;
  }
  const field_list& list() const noexcept { return *list_; }
  const void* at(const field& f) const noexcept { return bytes_.data() + f.offset; }
  void* at(const field& f) noexcept { return bytes_.data() + f.offset; }
  bool is_default(const field& f) const { return f.type->equal(at(f), list_->defaults.data() + f.offset); }
  std::string text(const field& f) const;
  /// Empty, or the first rule that is broken: "buffer_size must be at least 1, and is 0".
  std::string check() const;
  friend bool operator==(const options& a, const options& b);

 private:
  options(const field_list& list, const void* o, std::size_t size);
  const field_list* list_;
  std::vector<std::byte> bytes_;
};

/// For operators without options.
struct no_fields {};
template <> const field_list& fields_of<no_fields>();

namespace detail {

template <class E, E Value> consteval std::string_view enumerator_name() {
  std::string_view s = __PRETTY_FUNCTION__;  // "… Value = sluice::order::sloppy]", or "(sluice::order)7"
  s = s.substr(s.find("Value = ") + 8);
  s = s.substr(0, s.find_first_of(";]"));
  if (s.find(')') != s.npos) return {};
  return s.substr(s.find_last_of(": ") + 1);
}

/// The codec of an enum of one byte whose values are 0, 1, 2 …
const codec& enum_codec(const std::string_view* names, std::size_t n);

template <class E> const codec& codec_of_enum() {
  static_assert(sizeof(E) == 1, "sluice: an enum among options has std::uint8_t underneath");
  static constexpr auto names = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<std::string_view, sizeof...(I)>{enumerator_name<E, static_cast<E>(I)>()...};
  }(std::make_index_sequence<16>{});
  static const codec& c = enum_codec(names.data(), names.size());
  return c;
}

field_list completed(field_list list);

}  // namespace detail

template <class T> const codec& codec_of() {
  static_assert(std::is_enum_v<T>, "sluice: no codec for a field of this type (base/fields.hpp has those there are)");
  return detail::codec_of_enum<T>();
}
template <> const codec& codec_of<bool>();
template <> const codec& codec_of<std::int64_t>();
template <> const codec& codec_of<double>();
template <> const codec& codec_of<count>();
template <> const codec& codec_of<integer>();
template <> const codec& codec_of<count_or_all>();
template <> const codec& codec_of<knob>();
template <> const codec& codec_of<seed>();
template <> const codec& codec_of<byte_size>();

/// Called in the operator's source.
template <class Options> const field_list& make_field_list() {
  static_assert(std::is_trivially_copyable_v<Options>,
                "sluice: options hold plain values; what owns is an argument of its own");
  static const field_list list = [] {
    field_list l;
    Options o{};
    auto* base = reinterpret_cast<const char*>(&o);
    with_members(o, [&](auto&... m) {
      std::size_t k = 0;
      (l.fields.push_back({member_names<Options>[k++],
                           static_cast<std::size_t>(reinterpret_cast<const char*>(&m) - base),
                           &codec_of<std::remove_cvref_t<decltype(m)>>(), false}),
       ...);
      (void)k;
    });
    l.defaults.resize(sizeof o);
    std::memcpy(l.defaults.data(), &o, sizeof o);
    return detail::completed(std::move(l));
  }();
  return list;
}

}  // namespace sluice::lib

namespace sluice {

// What users write.
using lib::autotune;
using lib::compression;
using lib::deterministic;
using lib::sloppy;

}  // namespace sluice
