// SPDX-License-Identifier: Apache-2.0
// The footer of a Parquet file, read by Arrow C++.
#pragma once

#include <arrow/c/bridge.h>
#include <arrow/type.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/io/parquet_files.hpp"

namespace sluice::lib::arrow_parquet {

/// The properties by which all schemas and groups of a file are read, so that they agree.
::parquet::ArrowReaderProperties reading_properties();

/// One column of the rows.
struct row_column {
  std::shared_ptr<::arrow::Field> field;    ///< as Arrow reads it
  std::shared_ptr<::arrow::DataType> type;  ///< as it is delivered: without decimals
  std::vector<int> leaves;                  ///< the columns of the file that contain it
};

class footer final : public parquet_file {
 public:
  /// `bytes`: from the offset of the footer to the end of the file.
  footer(std::string_view bytes, std::uint64_t size_bytes);
  ~footer() override;
  footer(const footer&) = delete;
  footer& operator=(const footer&) = delete;

  const ArrowSchema& schema() const override { return schema_; }
  std::size_t groups() const override { return rows_.size(); }
  std::uint64_t rows(std::size_t group) const override { return rows_[group]; }
  std::uint64_t decoded_bytes(std::size_t group, const parquet_columns& columns) const override;
  std::vector<file_range> ranges(std::size_t group, const parquet_columns& columns) const override;
  column_bounds bounds(std::size_t group, std::size_t column) const override;
  column_indexes indexes(std::size_t group, std::size_t column) const override;
  std::vector<page_bounds> pages(std::size_t group, std::size_t column, std::string_view bounds,
                                 std::string_view places) const override;
  bool lacks(std::size_t column, std::string_view bloom, std::int64_t value) const override;
  bool lacks(std::size_t column, std::string_view bloom, std::string_view value) const override;
  std::unique_ptr<parquet_rows> read(std::size_t group, const parquet_columns& columns, std::vector<file_part> parts,
                                     library_memory& memory, std::size_t rows_at_once) const override;

 private:
  void find_columns();
  /// Returns the leaf of a column that is not nested; -1: it is nested.
  int flat_leaf(std::size_t column) const {
    const row_column& c = columns_[column];
    return c.leaves.size() == 1 && c.field->type()->num_fields() == 0 ? c.leaves[0] : -1;
  }
  /// "column \"a\" in row group 3"
  std::string place_of(std::size_t group, std::size_t column) const;
  file_range range_of(std::size_t group, std::size_t column, int leaf) const;

  const std::uint64_t size_bytes_;
  std::shared_ptr<::parquet::FileMetaData> metadata_;
  std::vector<row_column> columns_;
  std::vector<std::uint64_t> rows_;
  ArrowSchema schema_{};
};

}  // namespace sluice::lib::arrow_parquet
