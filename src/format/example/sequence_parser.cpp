// SPDX-License-Identifier: Apache-2.0
#include "sluice/format/sequence_parser.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "format/example/feature_table.hpp"
#include "format/example/sequence_wire.hpp"

namespace sluice::lib {
namespace {

using detail::feature_count;

/// Returns the least number of bytes of a list whose steps have as many values as the slot requires.
std::size_t least_step_bytes(const sequence_slot& slot) {
  constexpr std::size_t kTagAndLength = 2;
  if (slot.length == sequence_slot::kAny) return kTagAndLength;
  const std::size_t value = slot.kind == feature_kind::floats ? 4 : slot.kind == feature_kind::bytes ? 2 : 1;
  return kTagAndLength + slot.length * value;
}

status check_step(const sequence_slot& slot, std::size_t step, const feature_count& found) {
  auto wrong = [&](const auto&... words) {
    return invalid_argument_error(absl::StrCat("feature list \"", slot.name, "\", step ", step, ": ", words...));
  };
  if (found.kind != slot.kind && found.kind != feature_kind::none)
    return wrong("holds ", std::string(to_string(found.kind)), " values, expected ", std::string(to_string(slot.kind)),
                 ": ", std::string(detail::type_that_reads(found.kind)));
  if (slot.length != sequence_slot::kAny && found.count != slot.length)
    return wrong("has ", found.count, found.count == 1 ? " value" : " values", ", expected ", slot.length);
  return {};
}

/// Stores the values of one step.
class step_writer {
 public:
  step_writer(const sequence_slot& slot, void* step, buffer* owner)
      : slot_(slot), step_(step), first_(step), owner_(owner) {}

  void room(std::size_t count) {
    if (slot_.resize_step) first_ = slot_.resize_step(step_, count);
  }
  void bytes(std::size_t i, std::string_view value) {
    slot_.store(slot_.resize_step ? slot_.resize_step(step_, i + 1) : step_, i, value, owner_);
  }
  void floats(std::size_t i, const char* raw, std::size_t count) {
    if (count) std::memcpy(static_cast<float*>(first_) + i, raw, count * sizeof(float));
  }
  void int64(std::size_t i, std::int64_t value) { static_cast<std::int64_t*>(first_)[i] = value; }
  void end(std::size_t count) { room(count); }  // removes values that the step had before

 private:
  const sequence_slot& slot_;
  void *const step_, *first_;
  buffer* const owner_;
};

/// Reads a step of any form. `to`: null to check it only.
status read_any_step(const sequence_slot& slot, std::size_t index, std::string_view feature, step_writer* to) {
  feature_count found;
  if (!detail::read_feature(feature, found)) return detail::not_a_sequence_example();
  if (status why = check_step(slot, index, found); !why.ok() || !to) return why;
  if (slot.kind != feature_kind::bytes) to->room(found.count);
  detail::last_list values(*to, found.lists);
  (void)detail::read_feature(feature, values);  // checked before
  to->end(found.count);
  return {};
}

status read_step(const sequence_slot& slot, std::size_t index, std::string_view feature, step_writer to) {
  const detail::usual_entry usual{{}, feature.data(), feature.data() + feature.size()};
  std::size_t count;
  if (!detail::read_usual_values(usual, slot.kind, {slot.length}, to, count) ||
      (count != slot.length && slot.length != sequence_slot::kAny))
    return read_any_step(slot, index, feature, &to);
  to.end(count);
  return {};
}

/// `entry`: the map's entry, with its key.
status read_list(const sequence_slot& slot, std::string_view entry, void* list, buffer* owner) {
  std::size_t steps = 0;
  auto count = [&](std::string_view) { return ++steps != 0; };
  if (!detail::read_steps(entry, count)) return detail::not_a_sequence_example();
  // If the steps cannot fit, no memory is allocated for those that forged bytes promise.
  const bool cannot_fit = steps > entry.size() / least_step_bytes(slot);
  auto* to = cannot_fit ? nullptr : static_cast<char*>(slot.resize(slot, list, steps));
  status why;
  std::size_t i = 0;
  auto read = [&](std::string_view feature) {
    why = cannot_fit ? read_any_step(slot, i, feature, nullptr)
                     : read_step(slot, i, feature, step_writer(slot, to + i * slot.step_bytes, owner));
    ++i;
    return why.ok();
  };
  (void)detail::read_steps(entry, read);  // checked before
  return why;
}

/// Checks an entry that a later one replaces.
bool is_sound(std::string_view entry) {
  return detail::read_steps(entry, [](std::string_view feature) {
    feature_count ignored;
    return detail::read_feature(feature, ignored);
  });
}

status of_context(status why) {
  if (why.code() == status_code::data_loss) return detail::not_a_sequence_example();
  return why.with_message(absl::StrCat("context ", std::string(why.message())));
}

}  // namespace

sequence_parser::sequence_parser(const example_schema& context, const sequence_schema& sequence)
    : sequence_(sequence), context_(context) {}

/// Finds the last entry of each slot. `context`: receives an Example with the features of all contexts.
bool sequence_parser::look_through(std::string_view record, std::string_view& context) {
  found_.assign(sequence_.slots().size(), {});
  std::size_t contexts = 0;
  auto on_context = [&](std::string_view field) { context = ++contexts == 1 ? field : record; };
  auto on_entry = [&](std::string_view entry) {
    std::string_view key;
    if (!detail::read_key(entry, key)) return false;
    const std::size_t i = sequence_.find(key);
    if (i == found_.size()) return true;
    const std::string_view before = std::exchange(found_[i], entry);
    return !before.data() || is_sound(before);
  };
  return detail::read_sequence_example(record, on_context, on_entry);
}

status sequence_parser::parse(std::string_view record, void* context, void* sequence, buffer* owner) {
  std::string_view example;
  if (!look_through(record, example)) return detail::not_a_sequence_example();
  if (status why = context_.parse(example, context, owner); !why.ok()) return of_context(std::move(why));
  const std::vector<sequence_slot>& slots = sequence_.slots();
  for (std::size_t i = 0; i != slots.size(); ++i) {
    const sequence_slot& slot = slots[i];
    void* list = static_cast<char*>(sequence) + slot.offset;
    if (found_[i].data()) {
      if (status why = read_list(slot, found_[i], list, owner); !why.ok()) return why;
    } else if (slot.required) {
      return invalid_argument_error(absl::StrCat("feature list \"", slot.name, "\" is missing"));
    } else {
      slot.resize(slot, list, 0);
    }
  }
  return {};
}

// --- The schema ---

sequence_schema::sequence_schema(const sequence_schema& other) = default;
sequence_schema::sequence_schema(sequence_schema&& other) noexcept = default;
sequence_schema& sequence_schema::operator=(const sequence_schema& other) = default;
sequence_schema& sequence_schema::operator=(sequence_schema&& other) noexcept = default;
sequence_schema::~sequence_schema() = default;

detail::sequence_slot_list::sequence_slot_list() = default;
detail::sequence_slot_list::~sequence_slot_list() = default;
std::size_t detail::sequence_slot_list::size() const noexcept { return slots_.size(); }
sequence_slot& detail::sequence_slot_list::add(std::string_view name, std::size_t offset) {
  sequence_slot& slot = slots_.emplace_back();
  slot.name = name;
  slot.offset = offset;
  return slot;
}
sequence_schema detail::sequence_slot_list::made() { return sequence_schema(std::move(slots_)); }

sequence_schema::sequence_schema(std::vector<sequence_slot> slots) : slots_(std::move(slots)) {
  for (const sequence_slot& slot : slots_) keys_.emplace_back(slot.name);
  table_ = detail::feature_table_of(slots_);
}

std::size_t sequence_schema::find(std::string_view name) const noexcept {
  return detail::find_feature(slots_, keys_, table_, name, feature_key(name));
}

sequence_schema sequence_schema::with_missing(const std::vector<std::string>& names) const {
  std::vector<sequence_slot> slots = slots_;
  for (const std::string& name : names) {
    const std::size_t i = find(name);
    if (i == slots.size())
      throw_status(invalid_argument_error(absl::StrCat("there is no feature list \"", name, "\"")));
    slots[i].required = false;
  }
  return sequence_schema(std::move(slots));
}

status detail::parse_sequence(const example_schema& context_schema, const sequence_schema& sequence_schema,
                              const slice& from, void* context, void* sequence) {
  return sequence_parser(context_schema, sequence_schema).parse(from.view(), context, sequence, from.owner());
}

}  // namespace sluice::lib
