// SPDX-License-Identifier: Apache-2.0
// Builds structures from packed rows (packed_rows.hpp): many rows of columns at a time, or one struct.
//
//   packed_reader reader(schema);
//   packed_reader::built b = reader.append_to(columns, texts);   // b.rows rows; b.why is the error of the next one
//
// Errors: data_loss: the bytes are no packed row of this schema.
// Thread: immutable.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "format/example/packed_layout.hpp"
#include "sluice/base/buffer.hpp"
#include "sluice/base/status.hpp"
#include "sluice/element/column.hpp"

namespace sluice::lib {

class packed_reader {
 public:
  struct built {
    std::size_t rows = 0;
    status why{};
  };

  /// `schema` must outlive it.
  explicit packed_reader(const example_schema& schema) : schema_(schema), layout_(schema) {}

  /// Appends rows up to the first text that is no packed row. Throws the exceptions of column; the column is unchanged
  /// then.
  built append_to(column& rows, std::span<const std::string_view> texts) const;
  /// Writes a row to the struct at `to`. After an error the struct is valid but unspecified. `owner`: the buffer of the
  /// text, which members that are slices share; null: they copy.
  status unpack(std::string_view text, void* to, buffer* owner = nullptr) const;

 private:
  bool is_row(std::string_view text) const;
  void append_slot(std::size_t i, column& rows, std::span<const std::string_view> texts) const;
  template <class Row> void write_slot(std::size_t i, std::string_view text, Row& row) const;

  const example_schema& schema_;
  packed_layout layout_;
};

}  // namespace sluice::lib
