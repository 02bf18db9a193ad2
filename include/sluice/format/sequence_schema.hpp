// SPDX-License-Identifier: Apache-2.0
// tf.SequenceExample: from bytes to the fields of two structs, one for its context, one for its feature lists.
//
//   struct clip { std::int64_t id; std::string name; };
//   struct frames {
//     std::vector<std::int64_t> label;                     // one value a step
//     std::vector<std::array<float, 128>> audio;           // 128 values a step
//     std::vector<std::vector<std::int64_t>> tokens;       // any number of values a step
//   };
//   auto e = sequence_example_as<clip, frames>(record);    // e.context.id, e.sequence.label[0] …
//
// The members' names are the names of the features and of the feature lists; the two have names of their own, so one name
// may stand in both. Members of the context are those of format/example_schema.hpp. A member of the sequence is a
// std::vector with an element for each step, which is a std::int64_t, float, std::string or slice (exactly one value), a
// std::array of these (exactly so many), or a std::vector of these (any number). A struct without members asks for nothing.
// Every feature list is required, unless the schema says otherwise (sequence_slot::required): then one that is missing
// has no steps. A step without a kind has no values. Feature lists nobody asks for are passed over unread. A key that
// occurs twice counts by its last entry, as in protobuf.
// Errors: data_loss: not the wire format of a tf.SequenceExample. invalid_argument: of the context as
//   format/example_schema.hpp says; a feature list that is missing, with its name; a step of another kind or with another
//   number of values than the member has, with the names of list and step.
// Thread: a schema is immutable once made; parsing is a pure function. Many records: format/sequence_parser.hpp.
// Cost:   memory in proportion to the record's bytes, whatever its lengths say.
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

/// What a record becomes.
template <class Context, class Sequence> struct sequence_example {
  Context context{};
  Sequence sequence{};
};

/// A struct without features.
struct no_features {};

/// Where the steps of one feature list go. sequence_schema_of makes them; a layout known only at run time writes its own.
struct sequence_slot {
  static constexpr std::size_t kAny = feature_slot::kAny;

  std::string name;
  feature_kind kind = feature_kind::none;
  std::size_t offset = 0;      ///< of the list in the struct
  std::size_t length = 1;      ///< each step has exactly so many values; kAny: as many as there are
  std::size_t step_bytes = 0;  ///< from one step of the list to the next
  bool required = true;
  bool is_array = false;               ///< a step is an array, of `length` values
  const element_type* list = nullptr;  ///< the list's type, where no C++ type is known

  /// Gives the list so many steps, each valid and of unspecified content; returns the first.
  void* (*resize)(const sequence_slot& slot, void* list, std::size_t steps) = nullptr;
  /// For length kAny: gives a step so many values, keeping those there are; returns the first.
  void* (*resize_step)(void* step, std::size_t values) = nullptr;
  /// For bytes: stores one value. `owner`: whose bytes they are, or null for bytes that will not last.
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
  /// The index of the slot of this name; slots().size(), if there is none.
  std::size_t find(std::string_view name) const noexcept;
  /// The same schema, in which these lists may be missing. Errors: throws invalid_argument where there is no such list.
  sequence_schema with_missing(const std::vector<std::string>& names) const;

 private:
  std::vector<sequence_slot> slots_;
  std::vector<feature_key> keys_;     ///< of the slots' names
  std::vector<std::uint32_t> table_;  ///< of many slots: their numbers by hashes of their names
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

/// The fields at `context` and `sequence`.
status parse_sequence(const example_schema& context_schema, const sequence_schema& sequence_schema, const slice& from,
                      void* context, void* sequence);

}  // namespace detail

/// The schema of a struct: one feature list per member.
template <reflectable T> const sequence_schema& sequence_schema_of() {
  static const sequence_schema schema = detail::make_sequence_schema<T>();
  return schema;
}

/// Into structs that are there already; after an error their fields are valid but unspecified. `from`: members of type
/// slice share its buffer.
template <reflectable Context, reflectable Sequence>
status parse_sequence_example_into(const slice& from, sequence_example<Context, Sequence>& to) {
  return detail::parse_sequence(example_schema_of<Context>(), sequence_schema_of<Sequence>(), from, &to.context,
                                &to.sequence);
}

/// One record; the stage is op/parse_sequence_example.hpp. Errors: throws `error`.
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
