// SPDX-License-Identifier: Apache-2.0
// tf.Example: parses bytes directly into the fields of a struct, without a message object.
//
//   struct sample { std::string text; std::int64_t label; std::array<float, 16> values; };
//   auto s = example_as<sample>(record);                  // the members' names are the features' names
//
// Members: std::int64_t, float, std::string, slice (shares the record's buffer: no copy), arrays of these (exactly that
//   number of values), std::vectors of these (any number), and std::optional of any of those (may be missing). Every
//   other member is required, unless it has a default. A feature without a kind, which tf.data writes for a missing
//   one, is missing. Other features are skipped without parsing them. If a key occurs twice, its last entry counts, as
//   in protobuf. A text gives other names, defaults, and the shapes of members that are tensors:
//   format/example_layout.hpp.
// Errors: data_loss: not the wire format of a tf.Example. invalid_argument, with the feature's name: missing, of
//         another kind, or with another number of values than the member has.
// Thread: a schema is immutable; parsing is a pure function. For many records use format/example_parser.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/reflect.hpp"
#include "sluice/base/result.hpp"
#include "sluice/base/shared_ref.hpp"
#include "sluice/element/ragged_tensor.hpp"
#include "sluice/element/slice.hpp"
#include "sluice/element/sparse_tensor.hpp"
#include "sluice/element/tensor.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib {

/// The numbers are those of the fields of tf.Feature.
enum class feature_kind : std::uint8_t { none = 0, bytes = 1, floats = 2, int64s = 3 };

std::string_view to_string(feature_kind kind);  ///< "bytes", "float", "int64", "nothing"

/// The values of one feature, in the member that `kind` selects.
struct feature_values {
  feature_kind kind = feature_kind::none;
  std::vector<std::string> bytes{};
  std::vector<float> floats{};
  std::vector<std::int64_t> int64s{};

  std::size_t size() const noexcept;
  friend bool operator==(const feature_values&, const feature_values&) = default;
};

/// The form of a member, or of the value of an optional member.
enum class field_form : std::uint8_t { single, array, list, tensor, sparse, ragged };

/// Another feature of int64s, which describes the places of the values: an index of each value of a sparse tensor, or
/// the rows of a ragged tensor, as in tf.io.RaggedFeature.
struct feature_part {
  enum class means : std::uint8_t { index, row_splits, row_lengths, row_starts, row_limits, value_rowids, uniform };
  means meaning = means::index;
  std::string name{};       ///< the name of the feature; empty for uniform
  std::int64_t length = 0;  ///< for uniform: the length of each row
  std::size_t slot = 0;     ///< its index among the slots of the schema
  friend bool operator==(const feature_part&, const feature_part&) = default;
};

/// The destination of the values of one feature. example_schema_of makes it; a layout known only at run time writes its
/// own.
struct feature_slot {
  std::string name;      ///< the name of the feature
  std::string member{};  ///< the name in the structure; empty: the feature's name
  feature_kind kind = feature_kind::none;
  std::size_t offset = 0;  ///< the offset of the field in the struct
  std::size_t length = 1;  ///< the exact number of values; kAny: any number
  std::size_t each = 1;    ///< for length kAny: the number of values is a multiple of it
  bool required = true;
  field_form form = field_form::single;
  bool is_optional = false;                      ///< the field is a std::optional
  std::vector<std::int64_t> shape{};             ///< for a tensor; kUnknown first: that length follows from the number
                                                 ///< of values; for a sparse tensor its dense_shape
  std::vector<feature_part> parts{};             ///< for sparse and ragged tensors; `name` is the values' feature
  shared_ref<const feature_values> otherwise{};  ///< the values of a missing feature; null: none
  const element_type* type = nullptr;            ///< the type of the field, if no C++ type is known
  bool is_built = true;  ///< false: the structure lacks the member; the feature is checked, and not stored
  /// The index of the member in the structure, which example_schema sets.
  std::size_t child = 0;
  static constexpr std::size_t kAny = ~std::size_t{0};
  static constexpr std::int64_t kUnknown = -1;

  const std::string& member_name() const noexcept { return member.empty() ? name : member; }
  bool takes(std::size_t count) const noexcept {
    return count == length || (length == kAny && (each == 1 || count % each == 0));
  }

  /// For length kAny, and optional fields: makes room for `count` values, and keeps existing ones. Returns the first.
  void* (*resize)(const feature_slot& slot, void* field, std::size_t count) = nullptr;
  /// For optional fields: removes the value.
  void (*reset)(const feature_slot& slot, void* field) = nullptr;
  /// For bytes: stores one value. `owner`: the buffer that owns the bytes, or null for bytes that are only valid during
  /// the call.
  void (*store)(void* first, std::size_t index, std::string_view bytes, buffer* owner) = nullptr;
};

/// The name of a feature in a form that is compared by its length and two words. Longer names also need a comparison of
/// bytes.
class feature_key {
 public:
  feature_key() = default;
  explicit feature_key(std::string_view name) noexcept : size_(name.size()) {
    const char* p = name.data();
    if (size_ >= 8) {
      front_ = word<std::uint64_t>(p);
      back_ = word<std::uint64_t>(p + size_ - 8);
    } else if (size_ >= 4) {  // two halves that overlap
      front_ = word<std::uint32_t>(p) | word<std::uint32_t>(p + size_ - 4) << (8 * (size_ - 4));
    } else if (size_ >= 2) {
      front_ = word<std::uint16_t>(p) | word<std::uint16_t>(p + size_ - 2) << (8 * (size_ - 2));
    } else if (size_ == 1) {
      front_ = word<std::uint8_t>(p);
    }
  }

  /// Returns true if the names are equal. If is_long(), this is not sufficient: two long names may compare equal here
  /// and differ.
  bool operator==(const feature_key&) const noexcept = default;
  bool is_long() const noexcept { return size_ > 2 * sizeof(std::uint64_t); }

 private:
  template <class W> static std::uint64_t word(const char* at) noexcept {
    W w;
    std::memcpy(&w, at, sizeof w);
    return w;
  }

  std::size_t size_ = 0;
  std::uint64_t front_ = 0, back_ = 0;  ///< the first and the last eight bytes, padded with zeros
};

class example_schema {
 public:
  /// Makes a schema of members. Errors: throws invalid_argument if the feature of a part is also a member's and not a
  /// list of int64.
  explicit example_schema(std::vector<feature_slot> slots);
  example_schema(const example_schema& other);
  example_schema(example_schema&& other) noexcept;
  example_schema& operator=(const example_schema& other);
  example_schema& operator=(example_schema&& other) noexcept;
  ~example_schema();

  /// Fills the fields of the struct at `to`. After an error its fields are valid but unspecified.
  status parse(std::string_view example, void* to, buffer* owner = nullptr) const;
  /// One slot for each member, in order; then those of features that only describe the places of other features'
  /// values.
  const std::vector<feature_slot>& slots() const noexcept { return slots_; }
  /// The number of slots that are members.
  std::size_t members() const noexcept { return members_; }
  /// Returns true if it has sparse or ragged tensors.
  bool has_parts() const noexcept { return has_parts_; }
  /// The index of the slot of this name; slots().size() if no slot has it.
  std::size_t find(std::string_view name, const feature_key& key) const noexcept;

 private:
  std::vector<feature_slot> slots_;
  std::vector<feature_key> keys_;     ///< for the slots' names
  std::vector<std::uint32_t> table_;  ///< for many slots: their indices by hashes of their names
  std::size_t members_ = 0;
  bool has_parts_ = false;
};

namespace detail {

template <class T> struct feature_value;
template <> struct feature_value<std::int64_t> {
  static constexpr auto kind = feature_kind::int64s;
};
template <> struct feature_value<float> {
  static constexpr auto kind = feature_kind::floats;
};
template <> struct feature_value<std::string> {
  static constexpr auto kind = feature_kind::bytes;
  static void store(std::string& to, std::string_view from, buffer*) {
    if (to.capacity() < from.size()) to = std::string(from);  // a new one costs less than growing one
    else to.assign(from);
  }
};
template <> struct feature_value<slice> {
  static constexpr auto kind = feature_kind::bytes;
  static void store(slice& to, std::string_view from, buffer* owner) {
    if (owner) owner->add_references(1);
    to = owner ? slice(owner, from.data(), from.size()) : slice::copy_of(from);
  }
};

template <class V> void complete_slot(feature_slot& slot) {
  slot.kind = feature_value<V>::kind;
  if constexpr (feature_value<V>::kind == feature_kind::bytes)
    slot.store = [](void* field, std::size_t i, std::string_view bytes, buffer* owner) {
      feature_value<V>::store(static_cast<V*>(field)[i], bytes, owner);
    };
}

template <class F> struct feature_field {
  static_assert(
      requires { feature_value<F>::kind; },
      "sluice: a member of a struct parsed from a tf.Example must be int64_t, float, std::string, slice, an array "
      "or std::vector of one, std::optional of any of these, or a tensor whose shape the schema's text says");
  static void describe(feature_slot& slot) { complete_slot<F>(slot); }
};
template <class V, std::size_t N> struct feature_field<std::array<V, N>> {
  static void describe(feature_slot& slot) {
    complete_slot<V>(slot);
    slot.length = N;
    slot.form = field_form::array;
  }
};
template <class V, std::size_t N> struct feature_field<V[N]> {
  static void describe(feature_slot& slot) {
    complete_slot<V>(slot);
    slot.length = N;
    slot.form = field_form::array;
  }
};
template <class V> struct feature_field<std::vector<V>> {
  static void describe(feature_slot& slot) {
    complete_slot<V>(slot);
    slot.length = feature_slot::kAny;
    slot.form = field_form::list;
    slot.resize = [](const feature_slot&, void* field, std::size_t count) -> void* {
      auto& v = *static_cast<std::vector<V>*>(field);
      v.resize(count);
      return v.data();
    };
  }
};
/// Member types whose features only the schema's text describes.
template <class F>
inline constexpr bool is_said_by_text =
    std::is_same_v<F, tensor> || std::is_same_v<F, sparse_tensor> || std::is_same_v<F, ragged_tensor>;
template <class F>
  requires is_said_by_text<F>
struct feature_field<F> {
  static void describe(feature_slot& slot) {
    slot.form = std::is_same_v<F, tensor>          ? field_form::tensor
                : std::is_same_v<F, sparse_tensor> ? field_form::sparse
                                                   : field_form::ragged;
  }
};
template <class V> struct feature_field<std::optional<V>> {
  static_assert(
      !is_said_by_text<V>,
      "sluice: a tensor that is parsed from a tf.Example cannot be optional: give it a default in the schema");
  static void describe(feature_slot& slot) {
    feature_field<V>::describe(slot);
    slot.required = false;
    slot.is_optional = true;
    slot.reset = [](const feature_slot&, void* field) { static_cast<std::optional<V>*>(field)->reset(); };
    slot.resize = [](const feature_slot&, void* field, std::size_t count) -> void* {
      auto& o = *static_cast<std::optional<V>*>(field);
      if (!o) o.emplace();
      return first_of(*o, count);
    };
  }

 private:
  template <class U> static void* first_of(std::vector<U>& v, std::size_t count) {
    v.resize(count);
    return v.data();
  }
  template <class U, std::size_t N> static void* first_of(std::array<U, N>& a, std::size_t) { return a.data(); }
  template <class U> static void* first_of(U& single, std::size_t) { return &single; }
};

/// The slots of a structure's members, one by one.
class slot_list {
 public:
  slot_list();
  slot_list(const slot_list&) = delete;
  slot_list& operator=(const slot_list&) = delete;
  ~slot_list();
  std::size_t size() const noexcept;
  feature_slot& add(std::string_view name, std::size_t offset);
  example_schema made();

 private:
  std::vector<feature_slot> slots_;
};

template <class T> example_schema make_schema() {
  slot_list slots;
  T probe{};  // only for the addresses of its members
  with_members(probe, [&](auto&... members) {
    [[maybe_unused]] auto add = [&]<class F>(F& member) {
      const auto offset = reinterpret_cast<char*>(&member) - reinterpret_cast<char*>(&probe);
      feature_field<F>::describe(slots.add(member_names<T>[slots.size()], static_cast<std::size_t>(offset)));
    };
    (add(members), ...);
  });
  return slots.made();
}

}  // namespace detail

/// Returns true if the struct has members whose shape does not follow from the C++ type.
template <reflectable T>
inline constexpr bool has_tensor_members = []<class... M>(std::tuple<M*...>*) {
  return (false || ... || detail::is_said_by_text<std::remove_cv_t<M>>);
}(static_cast<member_pointers<T>*>(nullptr));

/// The schema of a struct: one feature per member.
template <reflectable T> const example_schema& example_schema_of() {
  static const example_schema schema = detail::make_schema<T>();
  return schema;
}

/// Parses into an existing struct. Members of type slice share the buffer of `from`.
template <reflectable T> status parse_example_into(const slice& from, T& to) {
  return example_schema_of<T>().parse(from.view(), &to, from.owner());
}

/// Parses one record; the stage is op/parse_example.hpp. Errors: throws `error`.
template <reflectable T> T example_as(const record& from) {
  T parsed{};
  status why = parse_example_into(from, parsed);
  if (!why.ok()) throw_status(why);
  return parsed;
}

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::example_as;
using lib::example_schema;
using lib::example_schema_of;
using lib::feature_kind;
using lib::feature_slot;
using lib::feature_values;
using lib::parse_example_into;

}  // namespace sluice
