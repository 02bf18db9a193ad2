// SPDX-License-Identifier: Apache-2.0
// Elements as the bytes of one file, format by format.
//
//   auto e = make_encoder(output_format::csv, type);
//   encoded out;
//   status why = (*e)->begin(out);                         // a new file: what stands before the first element
//   if (why.ok()) why = (*e)->append(elements, n, out);    // as often as there are elements
//   if (why.ok()) why = (*e)->flush(out);                  // what it has kept, for a checkpoint or the end
//   if (why.ok()) why = (*e)->end(out);                    // what stands behind the last one
//
// A resumed file begins at load(); the bytes that end() wrote come after the checkpoint, and are overwritten.
// Thread: one caller.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/result.hpp"
#include "sluice/element/tensor.hpp"
#include "sluice/element/type.hpp"
#include "sluice/output/output_format.hpp"

namespace sluice::lib {

/// Bytes that are made and not written yet.
struct encoded {
  std::string bytes;
  std::vector<std::size_t> ends;  ///< where elements (of Arrow: messages) end in `bytes`
};

class element_encoder {
 public:
  element_encoder() = default;
  element_encoder(const element_encoder&) = delete;
  element_encoder& operator=(const element_encoder&) = delete;
  virtual ~element_encoder() = default;

  virtual status begin(encoded&) { return {}; }
  /// n elements, one behind the other. After an error `to` has none of the element at fault, and those before it.
  virtual status append(const char* elements, std::size_t n, encoded& to) = 0;
  virtual status flush(encoded&) { return {}; }
  virtual status end(encoded&) { return {}; }
  /// Sets the tensor shape to write when the output has no rows to take it from.
  virtual void expect_rows(const tensor_spec&) {}
  /// How many elements to ask for at once.
  virtual std::uint32_t wanted() const { return 256; }
  /// Is every element in `bytes` when append() returns?
  virtual bool is_immediate() const { return true; }

  /// The first bytes of the file, which depend on how many elements follow: rewritten at each checkpoint and at the end.
  virtual std::string head() const { return {}; }
  /// Returns the encoder's state that the file itself does not show, for checkpoints.
  virtual std::string save() const { return {}; }
  /// Errors: data_loss.
  virtual status load(std::string_view) { return {}; }
};

/// `f` is not automatic. Errors: those of check_output.
result<std::unique_ptr<element_encoder>> make_encoder(output_format f, const element_type& type);

// Each in its own source. REQUIRES: elements of this type have such a form.
std::unique_ptr<element_encoder> make_jsonl_encoder(const element_type& type);
std::unique_ptr<element_encoder> make_raw_encoder(const element_type& type);
std::unique_ptr<element_encoder> make_lines_encoder(const element_type& type);
std::unique_ptr<element_encoder> make_tfrecord_encoder(const element_type& type);
result<std::unique_ptr<element_encoder>> make_csv_encoder(const element_type& type);
result<std::unique_ptr<element_encoder>> make_example_encoder(const element_type& type);
result<std::unique_ptr<element_encoder>> make_arrow_encoder(const element_type& type, bool texts_as_binary);
result<std::unique_ptr<element_encoder>> make_npy_encoder(const element_type& type);

}  // namespace sluice::lib
