// SPDX-License-Identifier: Apache-2.0
// Structures of schemas' texts, filled from tf.SequenceExamples.
//
//   sequence_layouts layouts("id: int64", "tokens: int64[]");
//   std::string json;
//   status why = layouts.parse(bytes, json);      // {"context":{"id":7},"sequence":{"tokens":[[1,2],[]]}}
#pragma once

#include <cstddef>
#include <new>
#include <string>
#include <string_view>

#include "sluice/format/example_layout.hpp"
#include "sluice/format/sequence_layout.hpp"
#include "sluice/format/sequence_parser.hpp"

namespace sluice::lib::test {

/// Room for one structure of a type, constructed.
class made_structure {
 public:
  explicit made_structure(const element_type& t) : type_(t), room_(::operator new(t.size)) {
    type_.construct(type_, room_, 1, type_.size);
  }
  made_structure(const made_structure&) = delete;
  ~made_structure() {
    type_.destroy(type_, room_, 1);
    ::operator delete(room_);
  }
  void* at() const { return room_; }
  std::string json() const {
    std::string out;
    print(type_, room_, out);
    return out;
  }

 private:
  const element_type& type_;
  void* const room_;
};

class sequence_layouts {
 public:
  /// Errors: throws, where a text is no schema.
  sequence_layouts(std::string_view context, std::string_view sequence)
      : context_(context.empty() ? example_layout{struct_of("example", {}), example_schema({})}
                                 : layout_of(context).value()),
        sequence_(sequence_layout_of(sequence).value()),
        parser_(context_.schema, sequence_.schema),
        made_context_(*context_.type),
        made_sequence_(*sequence_.type) {}
  sequence_layouts(const sequence_layouts&) = delete;

  /// Into structures that held the record before. `json`: also after an error, when the fields are any valid values.
  status parse(std::string_view record, std::string& json) {
    status why = parser_.parse(record, made_context_.at(), made_sequence_.at());
    json = "{\"context\":" + made_context_.json() + ",\"sequence\":" + made_sequence_.json() + "}";
    return why;
  }
  const example_layout& context() const { return context_; }
  const sequence_layout& sequence() const { return sequence_; }

 private:
  example_layout context_;
  sequence_layout sequence_;
  sequence_parser parser_;
  made_structure made_context_, made_sequence_;
};

}  // namespace sluice::lib::test
