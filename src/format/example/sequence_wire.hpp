// SPDX-License-Identifier: Apache-2.0
// Reads the messages of tf.SequenceExample from the wire format.
//
//   SequenceExample { Features context = 1; FeatureLists feature_lists = 2; }
//   FeatureLists { map<string, FeatureList> feature_list = 1; }   FeatureList { repeated Feature feature = 1; }
//
// A SequenceExample without its field 2 is an Example. Merging is protobuf's (format/example/example_wire.hpp).
#pragma once

#include "format/example/example_wire.hpp"

namespace sluice::lib::detail {

inline status not_a_sequence_example() {
  return data_loss_error("the bytes are no tf.SequenceExample: its wire format is damaged");
}

/// Calls on_step(bytes of one Feature) → bool for each step of a map entry of FeatureLists. Returns false if the entry
/// is damaged.
template <class OnStep> bool read_steps(std::string_view entry, OnStep on_step) {
  return read_each(entry, 2, [&](std::string_view list) { return read_each(list, 1, on_step); });
}

/// Calls on_context(its field, including the tag) for each context, and on_entry(bytes of one map entry) → bool for
/// each feature list. Returns false if the record is damaged.
template <class OnContext, class OnEntry>
bool read_sequence_example(std::string_view record, OnContext on_context, OnEntry on_entry) {
  wire_reader in(record);
  while (!in.done()) {
    const char* field = in.position();
    std::uint32_t tag;
    std::string_view message;
    if (!in.tag(tag)) return false;
    if (tag != tag_of(1, kBytes) && tag != tag_of(2, kBytes)) {
      if (!in.skip(tag)) return false;
      continue;
    }
    if (!in.bytes(message)) return false;
    if (tag == tag_of(1, kBytes)) {
      on_context(std::string_view(field, static_cast<std::size_t>(in.position() - field)));
      continue;
    }
    if (!read_each(message, 1, on_entry)) return false;
  }
  return true;
}

/// Counts the values of a Feature with a read_feature that stores none.
struct feature_count {
  feature_kind kind = feature_kind::none;
  std::size_t count = 0;
  std::size_t lists = 0;  ///< the number of lists, each of another kind than the one before; the last counts
  void begin(feature_kind k) {
    if (kind == k) return;
    kind = k;
    count = 0;
    ++lists;
  }
  void bytes(std::string_view) { ++count; }
  void floats(const char*, std::size_t n) { count += n; }
  void int64(std::int64_t) { ++count; }
};

}  // namespace sluice::lib::detail
