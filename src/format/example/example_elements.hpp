// SPDX-License-Identifier: Apache-2.0
// Converts elements to tf.Examples.
//
//   auto as_example = example_elements::of(type_of<sample>());
//   as_example->bytes_of(&s);                      // an example with a feature for each member
//
// Features have the names of the members; members of inner structures, pairs and tuples have dotted paths, as in CSV.
// An element without members is one feature, `value`. Integers, bools and enums are int64; float and double, and
// floating-point tensors, are float (double loses precision, because a tf.Example has no double); texts are bytes.
// Arrays, lists and tensors are the list of their values, row by row. An optional without a value is left out.
// parse_example reads them back by a schema with the same names.
// Errors: of(): invalid_argument, with the path: a member of another type (lists of lists, sparse tensors …).
//         bytes_of(): out_of_range, with the path: a uint64 above 2^63 - 1.
// Thread: one caller.
#pragma once

#include <string>
#include <vector>

#include "format/flat_members.hpp"
#include "sluice/base/result.hpp"
#include "sluice/element/tensor.hpp"
#include "sluice/format/example.hpp"

namespace sluice::lib {

class example_elements {
 public:
  static result<example_elements> of(const element_type& type);

  /// The result is valid until the next call.
  result<std::string_view> bytes_of(const void* element);

 private:
  explicit example_elements(std::vector<flat_member> features) : features_(std::move(features)) {}
  status add(const std::string& name, const element_type& type, const void* p, std::size_t n);
  status add_tensor(const std::string& name, const tensor& t);
  template <class T> status add_numbers(const std::string& name, const T* values, std::size_t n);

  std::vector<flat_member> features_;
  example_writer writer_;
  std::vector<std::int64_t> int64s_;
  std::vector<float> floats_;
  std::vector<std::string> texts_;
};

}  // namespace sluice::lib
