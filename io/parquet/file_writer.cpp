// SPDX-License-Identifier: Apache-2.0
#include "io/parquet/file_writer.hpp"

#include <arrow/c/bridge.h>
#include <arrow/io/interfaces.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/arrow/schema.h>
#include <parquet/arrow/writer.h>
#include <parquet/file_writer.h>

#include <cstring>
#include <utility>

#include "io/parquet/arrow_status.hpp"
#include "io/parquet/metadata.hpp"

namespace sluice::lib::arrow_parquet {
namespace {

constexpr std::string_view kMagic = "PAR1";

/// Appends to a text. The position is the one in the file: that of the text's start is `begin`.
class text_stream final : public ::arrow::io::OutputStream {
 public:
  text_stream(std::string& to, int64_t begin) : to_(to), begin_(begin), before_(to.size()) {}
  using ::arrow::io::OutputStream::Write;
  ::arrow::Status Write(const void* data, int64_t n) override {
    to_.append(static_cast<const char*>(data), static_cast<std::size_t>(n));
    return ::arrow::Status::OK();
  }
  /// Arrow's writer begins only at position 0.
  ::arrow::Result<int64_t> Tell() const override {
    return to_.size() == before_ ? 0 : begin_ + static_cast<int64_t>(to_.size() - before_);
  }
  ::arrow::Status Close() override { return ::arrow::Status::OK(); }
  bool closed() const override { return false; }

 private:
  std::string& to_;
  const int64_t begin_;
  const std::size_t before_;
};

::arrow::Compression::type codec_of(parquet_writing::codec_type codec) {
  switch (codec) {
    case parquet_writing::none: return ::arrow::Compression::UNCOMPRESSED;
    case parquet_writing::snappy: return ::arrow::Compression::SNAPPY;
    case parquet_writing::gzip: return ::arrow::Compression::GZIP;
    case parquet_writing::lz4: return ::arrow::Compression::LZ4;
    default: return ::arrow::Compression::ZSTD;
  }
}

/// Copies the schema, since importing one releases it.
std::shared_ptr<::arrow::Schema> imported(const ArrowSchema& schema) {
  ArrowSchema borrowed = schema;
  borrowed.release = [](ArrowSchema* s) { s->release = nullptr; };
  return checked(::arrow::ImportSchema(&borrowed), "the schema");
}

class file_writer final : public parquet_writer {
 public:
  file_writer(const ArrowSchema& schema, const parquet_writing& how) : schema_(imported(schema)) {
    ::parquet::WriterProperties::Builder properties;
    properties.compression(codec_of(how.codec))->created_by("sluice, by " CREATED_BY_VERSION);
    properties.enable_page_checksum();
    properties.max_row_group_length(std::int64_t{1} << 60);  // the caller decides where groups end
    properties_ = properties.build();
    // Tries the schema, so that a type that cannot be written is an error before anything is written.
    guarded("the schema", [&] {
      std::shared_ptr<::parquet::SchemaDescriptor> tried;
      ::arrow::Status s = ::parquet::arrow::ToParquetSchema(schema_.get(), *properties_, *storing_, &tried);
      if (!s.ok()) throw_status(invalid_argument_error("the elements have no form in Parquet: " + s.message()));
    });
  }

  void begin(std::string& to) override {
    to += kMagic;
    at_ = kMagic.size();
  }

  /// Each group is written as a file of its own, whose positions are those in this file: its magic word takes the place of
  /// the last bytes before it, and only the bytes between that word and its footer are appended.
  void append(ArrowArray* rows, std::string& to) override {
    guarded("the rows", [&] {
      auto batch = checked(::arrow::ImportRecordBatch(rows, schema_), "the rows");
      if (batch->num_rows() == 0) return;
      std::string bytes;
      auto group = write(*batch, bytes, at_);
      const std::size_t end = bytes.size() - footer_bytes(bytes);
      to.append(bytes, kMagic.size(), end - kMagic.size());
      at_ += end - kMagic.size();
      if (groups_) groups_->AppendRowGroups(*group);
      else groups_ = std::move(group);
    });
  }

  void end(std::string& to) override {
    guarded("the footer", [&] {
      if (!groups_) {
        std::string bytes;
        groups_ = write(*checked(::arrow::RecordBatch::MakeEmpty(schema_), "the rows"), bytes, at_);
      }
      text_stream stream(to, 0);  // the footer has no positions of its own
      ::parquet::WriteFileMetaData(*groups_, &stream);
    });
  }

  std::string save() const override {
    std::string saved(reinterpret_cast<const char*>(&at_), sizeof at_);
    if (groups_) saved += groups_->SerializeToString();
    return saved;
  }
  void load(std::string_view saved) override {
    if (saved.size() < sizeof at_) throw_status(data_loss_error("its description of a Parquet file is cut short"));
    std::memcpy(&at_, saved.data(), sizeof at_);
    groups_.reset();
    if (saved.size() == sizeof at_) return;
    guarded("the checkpoint", [&] {
      groups_ = read_metadata(saved.substr(sizeof at_));
      std::string unused;
      const auto mine = write(*checked(::arrow::RecordBatch::MakeEmpty(schema_), "the rows"), unused, at_);
      if (!mine->schema()->Equals(*groups_->schema()))
        throw_status(data_loss_error("its description of a Parquet file does not fit the plan"));
    });
  }

 private:
  std::shared_ptr<::parquet::FileMetaData> write(const ::arrow::RecordBatch& batch, std::string& bytes,
                                                 std::uint64_t at) const {
    auto stream = std::make_shared<text_stream>(bytes, static_cast<int64_t>(at) - static_cast<int64_t>(kMagic.size()));
    auto writer = checked(
        ::parquet::arrow::FileWriter::Open(*schema_, ::arrow::default_memory_pool(), stream, properties_, storing_),
        "the rows");
    if (batch.num_rows() != 0) {
      const auto table = checked(::arrow::Table::FromRecordBatches(schema_, {batch.Slice(0)}), "the rows");
      check(writer->WriteTable(*table, batch.num_rows()), "the rows");
    }
    check(writer->Close(), "the rows");
    return writer->metadata();
  }
  static std::size_t footer_bytes(std::string_view bytes) {
    std::uint32_t length = 0;
    std::memcpy(&length, bytes.data() + bytes.size() - kParquetTailBytes, sizeof length);
    return length + kParquetTailBytes;
  }

  const std::shared_ptr<::arrow::Schema> schema_;
  std::shared_ptr<::parquet::WriterProperties> properties_;
  // The Arrow schema in the footer restores types that Parquet lacks, such as durations and fixed lists.
  const std::shared_ptr<::parquet::ArrowWriterProperties> storing_ =
      ::parquet::ArrowWriterProperties::Builder().store_schema()->build();
  std::uint64_t at_ = 0;  ///< the bytes of the file so far
  std::shared_ptr<::parquet::FileMetaData> groups_;
};

}  // namespace

std::unique_ptr<parquet_writer> make_file_writer(const ArrowSchema& schema, const parquet_writing& how) {
  return guarded("the schema", [&] { return std::make_unique<file_writer>(schema, how); });
}

}  // namespace sluice::lib::arrow_parquet
