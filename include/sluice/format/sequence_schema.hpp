// SPDX-License-Identifier: Apache-2.0
// tf.SequenceExample: parses bytes into the fields of two structs, one for its context, one for its feature lists.
//
//   struct clip { std::int64_t id; std::string name; };
//   struct frames {
//     std::vector<std::int64_t> label;                     // one value per step
//     std::vector<std::array<float, 128>> audio;           // 128 values per step
//     std::vector<std::vector<std::int64_t>> tokens;       // any number of values per step
//   };
//   auto e = sequence_example_as<clip, frames>(record);    // e.context.id, e.sequence.label[0] …
//
// The members' names are the names of the features and of the feature lists. The same name may occur in both.
// format/example_schema.hpp lists the members that a context may have. A member of the sequence is a std::vector with
// an element for each step: a std::int64_t, float, std::string or slice (exactly one value), a std::array of these
// (exactly that number of values), or a std::vector of these (any number). A struct without members ignores everything.
// Every feature list is required, unless the schema permits its absence (sequence_slot::required): a missing one then
// has no steps. A step without a kind has no values. Other feature lists are skipped without parsing them. If a key
// occurs twice, its last entry counts, as in protobuf.
// Errors: data_loss: not the wire format of a tf.SequenceExample. invalid_argument: errors of the context, as in
//         format/example_schema.hpp; a missing feature list, with its name; a step of another kind or with another
//         number of values than the member has, with the names of list and step.
// Thread: a schema is immutable; parsing is a pure function. For many records use format/sequence_parser.hpp.
// Cost:   memory in proportion to the record's bytes, even if the lengths in the record are damaged.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/base/reflect.hpp"
#include "sluice/base/result.hpp"
#include "sluice/element/slice.hpp"
#include "sluice/format/example_schema.hpp"

namespace sluice::lib {

struct element_type;

/// The result of parsing a record.
template <class Context, class Sequence> struct sequence_example {
  Context context{};
  Sequence sequence{};
};

/// A struct without features.
struct no_features {};

/// The destination of the steps of one feature list. sequence_schema_of makes it; a layout known only at run time
/// writes its own.
struct sequence_slot {
  static constexpr std::size_t kAny = feature_slot::kAny;

  std::string name;
  feature_kind kind = feature_kind::none;
  std::size_t offset = 0;      ///< the offset of the list in the struct
  std::size_t length = 1;      ///< the exact number of values of each step; kAny: any number
  std::size_t step_bytes = 0;  ///< distance from one step of the list to the next
  bool required = true;
  bool is_array = false;               ///< a step is an array of `length` values
  const element_type* list = nullptr;  ///< the list's type, if no C++ type is known

  /// Resizes the list to this number of steps, each valid and with unspecified content. Returns the first.
  void* (*resize)(const sequence_slot& slot, void* list, std::size_t steps) = nullptr;
  /// For length kAny: resizes a step to this number of values, and keeps existing ones. Returns the first.
  void* (*resize_step)(void* step, std::size_t values) = nullptr;
  /// For bytes: stores one value. `owner`: the buffer that owns the bytes, or null for bytes that are only valid during
  /// the call.
  void (*store)(void* first, std::size_t index, std::string_view bytes, buffer* owner) = nullptr;
};

class sequence_schema {
 public:
  explicit sequence_schema(std::vector<sequence_slot> slots);
  sequence_schema(const sequence_schema& other);
  sequence_schema(sequence_schema&& other) noexcept;
  sequence_schema& operator=(const sequence_schema& other);
  sequence_schema& operator=(sequence_schema&& other) noexcept;
  ~sequence_schema();

  const std::vector<sequence_slot>& slots() const noexcept { return slots_; }
  /// The index of the slot of this name; slots().size() if no slot has it.
  std::size_t find(std::string_view name) const noexcept;
  /// Returns the schema with these lists made optional. Errors: throws invalid_argument if a list does not exist.
  sequence_schema with_missing(const std::vector<std::string>& names) const;

 private:
  std::vector<sequence_slot> slots_;
  std::vector<feature_key> keys_;     ///< for the slots' names
  std::vector<std::uint32_t> table_;  ///< for many slots: their indices by hashes of their names
};

namespace detail {

template <class V> void complete_step(sequence_slot& slot) {
  slot.kind = feature_value<V>::kind;
  if constexpr (feature_value<V>::kind == feature_kind::bytes)
    slot.store = [](void* first, std::size_t i, std::string_view bytes, buffer* owner) {
      feature_value<V>::store(static_cast<V*>(first)[i], bytes, owner);
    };
}

template <class Step> struct step_field {
  static_assert(
      requires { feature_value<Step>::kind; },
      "sluice: a step of a feature list must be int64_t, float, std::string, slice, or a std::array or std::vector of "
      "one");
  static void describe(sequence_slot& slot) { complete_step<Step>(slot); }
};
template <class V, std::size_t N> struct step_field<std::array<V, N>> {
  static void describe(sequence_slot& slot) {
    complete_step<V>(slot);
    slot.length = N;
    slot.is_array = true;
  }
};
template <class V> struct step_field<std::vector<V>> {
  static void describe(sequence_slot& slot) {
    complete_step<V>(slot);
    slot.length = sequence_slot::kAny;
    slot.resize_step = [](void* step, std::size_t values) -> void* {
      auto& v = *static_cast<std::vector<V>*>(step);
      v.resize(values);
      return v.data();
    };
  }
};

template <class F> struct sequence_field {
  static_assert(
      sizeof(F) == 0,
      "sluice: a member of the sequence of a tf.SequenceExample must be a std::vector with an element a step");
};
template <class Step> struct sequence_field<std::vector<Step>> {
  static void describe(sequence_slot& slot) {
    step_field<Step>::describe(slot);
    slot.step_bytes = sizeof(Step);
    slot.resize = [](const sequence_slot&, void* list, std::size_t steps) -> void* {
      auto& v = *static_cast<std::vector<Step>*>(list);
      v.resize(steps);
      return v.data();
    };
  }
};

/// The slots of a structure's members, one by one.
class sequence_slot_list {
 public:
  sequence_slot_list();
  sequence_slot_list(const sequence_slot_list&) = delete;
  sequence_slot_list& operator=(const sequence_slot_list&) = delete;
  ~sequence_slot_list();
  std::size_t size() const noexcept;
  sequence_slot& add(std::string_view name, std::size_t offset);
  sequence_schema made();

 private:
  std::vector<sequence_slot> slots_;
};

template <class T> sequence_schema make_sequence_schema() {
  sequence_slot_list slots;
  T probe{};  // only for the addresses of its members
  with_members(probe, [&](auto&... members) {
    [[maybe_unused]] auto add = [&]<class F>(F& member) {
      const auto offset = reinterpret_cast<char*>(&member) - reinterpret_cast<char*>(&probe);
      sequence_field<F>::describe(slots.add(member_names<T>[slots.size()], static_cast<std::size_t>(offset)));
    };
    (add(members), ...);
  });
  return slots.made();
}

/// Parses into the fields at `context` and `sequence`.
status parse_sequence(const example_schema& context_schema, const sequence_schema& sequence_schema, const slice& from,
                      void* context, void* sequence);

}  // namespace detail

/// The schema of a struct: one feature list per member.
template <reflectable T> const sequence_schema& sequence_schema_of() {
  static const sequence_schema schema = detail::make_sequence_schema<T>();
  return schema;
}

/// Parses into existing structs; after an error their fields are valid but unspecified. Members of type slice share the
/// buffer of `from`.
template <reflectable Context, reflectable Sequence>
status parse_sequence_example_into(const slice& from, sequence_example<Context, Sequence>& to) {
  return detail::parse_sequence(example_schema_of<Context>(), sequence_schema_of<Sequence>(), from, &to.context,
                                &to.sequence);
}

/// Parses one record; the stage is op/parse_sequence_example.hpp. Errors: throws `error`.
template <reflectable Context, reflectable Sequence>
sequence_example<Context, Sequence> sequence_example_as(const record& from) {
  sequence_example<Context, Sequence> parsed{};
  status why = parse_sequence_example_into(from, parsed);
  if (!why.ok()) throw_status(why);
  return parsed;
}

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::no_features;
using lib::parse_sequence_example_into;
using lib::sequence_example;
using lib::sequence_example_as;
using lib::sequence_schema;
using lib::sequence_schema_of;
using lib::sequence_slot;

}  // namespace sluice
