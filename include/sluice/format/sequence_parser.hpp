// SPDX-License-Identifier: Apache-2.0
// Parses many tf.SequenceExamples, one after the other.
//
//   sequence_parser parser(example_schema_of<clip>(), sequence_schema_of<frames>());
//   for (const record& r : records) why = parser.parse(r.view(), &to.context, &to.sequence);
//
// Steps in the usual form (each message once, lengths below 16 KiB, packed numbers) are read in one short pass; all
// others by a second, general pass.
// Errors: the same as in format/sequence_schema.hpp.
// Thread: belongs to one thread at a time.
// Cost:   no allocation of its own after the first record.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "sluice/format/example_parser.hpp"
#include "sluice/format/sequence_schema.hpp"

namespace sluice::lib {

class sequence_parser {
 public:
  /// The schemas must outlive it.
  sequence_parser(const example_schema& context, const sequence_schema& sequence);

  /// Fills the fields of the structs at `context` and `sequence`. After an error they are valid but unspecified.
  /// `owner`: the buffer that owns the bytes, or null for bytes that are only valid during the call.
  status parse(std::string_view record, void* context, void* sequence, buffer* owner = nullptr);

 private:
  bool look_through(std::string_view record, std::string_view& context);

  const sequence_schema& sequence_;
  example_parser context_;
  /// For each slot: the last map entry of its key; data() is null if the record has none.
  std::vector<std::string_view> found_;
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::sequence_parser;

}  // namespace sluice
