// SPDX-License-Identifier: Apache-2.0
// The rows of one row group. Each column has a reader of its own, so that an error names its column.
#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <parquet/arrow/reader.h>
#include <parquet/file_reader.h>

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

#include "io/parquet/arrow_status.hpp"
#include "io/parquet/counted_pool.hpp"
#include "io/parquet/decimal_texts.hpp"
#include "io/parquet/fetched_file.hpp"
#include "io/parquet/footer.hpp"

namespace sluice::lib::arrow_parquet {
namespace {

class group_rows final : public parquet_rows {
 public:
  struct column {
    std::string place;
    std::shared_ptr<::arrow::Field> field;  ///< as it is delivered
    std::vector<int> leaves;
    std::uint64_t bytes = 0;  ///< the size of its values
    std::shared_ptr<::arrow::RecordBatchReader> reader{};
    std::shared_ptr<::arrow::Array> decoded{};
    int64_t at = 0;  ///< the rows of `decoded` that were delivered
    status why{};    ///< the error of decode(part, parts)
  };

  group_rows(std::size_t group, std::uint64_t rows, std::vector<column> columns, library_memory& memory)
      : group_(static_cast<int>(group)), left_(rows), pool_(memory), columns_(std::move(columns)) {}

  void open(std::shared_ptr<fetched_file> from, std::shared_ptr<::parquet::FileMetaData> metadata,
            std::size_t rows_at_once) {
    const std::string what = absl::StrCat("row group ", group_);
    guarded(what, [&] {
      ::parquet::ReaderProperties how(&pool_);
      how.set_page_checksum_verification(true);  // of pages that have one
      auto file = ::parquet::ParquetFileReader::Open(std::move(from), how, std::move(metadata));
      ::parquet::ArrowReaderProperties reading = reading_properties();
      reading.set_batch_size(static_cast<int64_t>(rows_at_once));
      reader_ = checked(::parquet::arrow::FileReader::Make(&pool_, std::move(file), reading), what);
    });
    for (column& c : columns_)
      guarded(c.place, [&] { c.reader = checked(reader_->GetRecordBatchReader({group_}, c.leaves), c.place); });
  }

  void decode(std::size_t part, std::size_t parts) noexcept override {
    if (left_ == 0) return;
    // Each column is added to the part with the fewest bytes so far.
    std::vector<std::uint64_t> bytes(parts);
    for (column& c : columns_) {
      const auto least = std::ranges::min_element(bytes);
      *least += c.bytes + 1;
      if (static_cast<std::size_t>(least - bytes.begin()) != part) continue;
      try {
        decode(c);
      } catch (...) { c.why = current_exception_status(); }
    }
  }

  bool next(std::size_t n, ArrowArray* out) override {
    if (left_ == 0) return false;
    auto rows = static_cast<int64_t>(std::min<std::uint64_t>(n, left_));
    for (column& c : columns_) {
      if (!c.why.ok()) throw_status(c.why);
      rows = std::min(rows, decode(c));
    }
    std::vector<std::shared_ptr<::arrow::Array>> arrays;
    std::vector<std::shared_ptr<::arrow::Field>> fields;
    for (column& c : columns_) {
      arrays.push_back(c.decoded->Slice(c.at, rows));
      fields.push_back(c.field);
      c.at += rows;
      if (c.at == c.decoded->length()) c.decoded.reset();
    }
    left_ -= static_cast<std::uint64_t>(rows);
    const auto batch = ::arrow::RecordBatch::Make(::arrow::schema(std::move(fields)), rows, std::move(arrays));
    check(::arrow::ExportRecordBatch(*batch, out), "the rows");
    return true;
  }

 private:
  /// Makes at least one row of a column available. Returns their number.
  int64_t decode(column& c) {
    if (c.decoded) return c.decoded->length() - c.at;
    return guarded(c.place, [&] {
      std::shared_ptr<::arrow::RecordBatch> batch;
      do {
        check(c.reader->ReadNext(&batch), c.place);
        if (!batch || batch->num_columns() != 1)
          throw_status(data_loss_error(absl::StrCat(c.place, ": it has ", left_, " rows less than the footer states")));
      } while (batch->num_rows() == 0);
      auto data = checked(without_decimals(batch->column_data(0), c.field->type(), &pool_), c.place);
      // Pages that were changed may contain any offsets.
      c.decoded = ::arrow::MakeArray(std::move(data));
      check(c.decoded->Validate(), c.place);
      c.at = 0;
      return c.decoded->length();
    });
  }

  const int group_;
  std::uint64_t left_;
  counted_pool pool_;
  std::unique_ptr<::parquet::arrow::FileReader> reader_;
  std::vector<column> columns_;
};

}  // namespace

std::unique_ptr<parquet_rows> footer::read(std::size_t group, const parquet_columns& columns,
                                           std::vector<file_part> parts, library_memory& memory,
                                           std::size_t rows_at_once) const {
  std::vector<group_rows::column> wanted;
  for (std::size_t c : columns)
    wanted.push_back({place_of(group, c), columns_[c].field->WithType(columns_[c].type), columns_[c].leaves,
                      decoded_bytes(group, {c})});
  auto rows = std::make_unique<group_rows>(group, rows_[group], std::move(wanted), memory);
  rows->open(std::make_shared<fetched_file>(std::move(parts), size_bytes_), metadata_, rows_at_once);
  return rows;
}

}  // namespace sluice::lib::arrow_parquet
