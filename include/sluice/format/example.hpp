// SPDX-License-Identifier: Apache-2.0
// tf.Example as a whole: read without knowing its features, as a line of JSON, and written.
//
//   example_writer w;
//   std::string_view bytes = w.bytes("text", "hello").int64("label", 1).finish();
//   auto features = read_example(bytes);                   // features->at("label").int64s[0] == 1
//
// Into the members of a struct: format/example_schema.hpp, which this includes.
// Errors: data_loss: not the wire format of a tf.Example.
// Thread: functions are pure; a writer belongs to one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/result.hpp"
#include "sluice/format/example_schema.hpp"

namespace sluice::lib {

/// A whole example, for programs that do not know its features. Errors: data_loss.
result<std::map<std::string, feature_values, std::less<>>> read_example(std::string_view example);

/// One line of JSON: {"label":3,"text":"…","values":[0.5,0.25]}, names sorted; a list of one value is that value. Values
/// and names are written as by print() (element/type.hpp): bytes that are not UTF-8 are {"base64":"…"}, a name that is
/// not is "base64:…", floats may be "NaN", "Infinity", "-Infinity". A tf.SequenceExample with feature lists is
/// {"context":{…},"sequence":{"tokens":[[1,2],[3]]}}, with a list for each step. Errors: data_loss.
result<std::string> example_to_json(std::string_view example);

/// Writes examples, the bytes in the order of the calls.
class example_writer {
 public:
  example_writer& bytes(std::string_view name, std::string_view value);
  example_writer& bytes_list(std::string_view name, const std::vector<std::string>& values);
  example_writer& int64(std::string_view name, std::int64_t value) { return int64s(name, &value, 1); }
  example_writer& int64s(std::string_view name, const std::int64_t* values, std::size_t count);
  example_writer& floats(std::string_view name, const float* values, std::size_t count);
  /// The example, valid until the next call; the writer begins anew.
  std::string_view finish();

 private:
  void entry(std::string_view name, feature_kind kind, std::size_t list_bytes);
  std::string features_, example_, list_;
};

}  // namespace sluice::lib

namespace sluice {

// The public names.
using lib::example_to_json;
using lib::example_writer;
using lib::read_example;

}  // namespace sluice
