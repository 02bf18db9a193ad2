// SPDX-License-Identifier: Apache-2.0
#include "io/parquet/footer.hpp"

#include <arrow/util/config.h>
#include <parquet/arrow/schema.h>
#include <parquet/statistics.h>

#if ARROW_VERSION_MAJOR >= 19
#include <parquet/size_statistics.h>
#endif

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "io/parquet/arrow_status.hpp"
#include "io/parquet/decimal_texts.hpp"
#include "io/parquet/metadata.hpp"
#include "io/parquet/value_bounds.hpp"

namespace sluice::lib::arrow_parquet {
namespace {

/// Old writers of Java state chunks that lack the header of the dictionary (PARQUET-816).
constexpr std::uint64_t kOldHeaderBytes = 100;
/// Larger numbers of values or bytes in a column of a group are damage; sums of these do not overflow.
constexpr std::int64_t kStatedMost = std::int64_t{1} << 50;

std::uint64_t stated_number(std::int64_t n) {
  return static_cast<std::uint64_t>(std::clamp<std::int64_t>(n, 0, kStatedMost));
}

/// Returns the size of the texts of a chunk; 0 if the footer does not state it, or the lengths of some of them.
std::uint64_t text_bytes(const ::parquet::ColumnChunkMetaData& chunk, std::uint64_t values) {
  try {
#if ARROW_VERSION_MAJOR >= 19
    const auto sizes = chunk.size_statistics();
    if (sizes && sizes->unencoded_byte_array_data_bytes) return stated_number(*sizes->unencoded_byte_array_data_bytes);
#endif
    const auto known = chunk.statistics();
    if (known && known->HasMinMax())
      return values * std::min<std::uint64_t>((known->EncodeMin().size() + known->EncodeMax().size()) / 2, 4096);
  } catch (const std::exception&) {}  // damaged statistics are not used
  return 0;
}

/// Returns the size of a chunk's decoded values. Values of a dictionary are decoded to many times the size of the pages,
/// which is the one that every footer states.
std::uint64_t decoded_chunk_bytes(const ::parquet::ColumnChunkMetaData& chunk,
                                  const ::parquet::ColumnDescriptor& column) {
  const std::uint64_t values = std::min<std::uint64_t>(stated_number(chunk.num_values()), std::uint64_t{1} << 36);
  std::uint64_t bytes = 0;
  switch (column.physical_type()) {
    case ::parquet::Type::BOOLEAN: bytes = values / 8; break;
    case ::parquet::Type::INT32:
    case ::parquet::Type::FLOAT: bytes = 4 * values; break;
    case ::parquet::Type::FIXED_LEN_BYTE_ARRAY:
      bytes = values * std::min<std::uint64_t>(stated_number(column.type_length()), 4096);
      break;
    case ::parquet::Type::BYTE_ARRAY: bytes = 4 * values + text_bytes(chunk, values); break;
    default: bytes = 8 * values; break;
  }
  return std::max(bytes, stated_number(chunk.total_uncompressed_size()));
}

}  // namespace

::parquet::ArrowReaderProperties reading_properties() {
  ::parquet::ArrowReaderProperties how(/*use_threads=*/false);
  how.set_pre_buffer(false);
  return how;
}

namespace {

/// Returns the first column that has no type of Arrow: each is tried alone. REQUIRES: the schema is not used afterwards.
std::string column_without_type(const ::parquet::FileMetaData& file) {
  const auto* root = file.schema()->group_node();
  for (int i = 0; i != root->field_count(); ++i) {
    ::parquet::SchemaDescriptor alone;
    alone.Init(::parquet::schema::GroupNode::Make("schema", ::parquet::Repetition::REQUIRED, {root->field(i)}));
    ::parquet::arrow::SchemaManifest unused;
    if (!::parquet::arrow::SchemaManifest::Make(&alone, nullptr, reading_properties(), &unused).ok())
      return absl::StrCat("the schema of column \"", root->field(i)->name(), "\"");
  }
  return "the schema";
}

}  // namespace

footer::footer(std::string_view bytes, std::uint64_t size_bytes) : size_bytes_(size_bytes) {
  guarded("the footer", [&] {
    metadata_ = read_metadata(bytes.substr(0, bytes.size() - kParquetTailBytes));
    if (metadata_->is_encryption_algorithm_set())
      throw_status(
          unimplemented_error("the Parquet file has encrypted columns, and encrypted files are not read: "
                              "decrypt it first"));
    for (int g = 0; g != metadata_->num_row_groups(); ++g) {
      const auto group = metadata_->RowGroup(g);
      if (group->num_rows() < 0 || group->num_columns() != metadata_->num_columns())
        throw_status(data_loss_error(absl::StrCat("the footer: row group ", g, " has ", group->num_rows(), " rows and ",
                                                  group->num_columns(), " columns of ", metadata_->num_columns())));
      rows_.push_back(static_cast<std::uint64_t>(group->num_rows()));
    }
    find_columns();  // last: nothing may throw after the schema was exported
  });
}

footer::~footer() {
  if (schema_.release) schema_.release(&schema_);
}

void footer::find_columns() {
  ::parquet::arrow::SchemaManifest manifest;
  const ::arrow::Status has_types = ::parquet::arrow::SchemaManifest::Make(
      metadata_->schema(), metadata_->key_value_metadata(), reading_properties(), &manifest);
  if (!has_types.ok()) check(has_types, column_without_type(*metadata_));
  std::vector<std::shared_ptr<::arrow::Field>> fields;
  for (const auto& top : manifest.schema_fields) {
    row_column c{top.field, without_decimals(top.field->type()), {}};
    std::vector<const ::parquet::arrow::SchemaField*> open{&top};
    while (!open.empty()) {
      const auto* at = open.back();
      open.pop_back();
      if (at->is_leaf()) c.leaves.push_back(at->column_index);
      for (const auto& child : at->children) open.push_back(&child);
    }
    std::ranges::sort(c.leaves);
    fields.push_back(c.field->WithType(c.type));
    columns_.push_back(std::move(c));
  }
  check(::arrow::ExportSchema(::arrow::Schema(std::move(fields)), &schema_), "the schema");
}

std::string footer::place_of(std::size_t group, std::size_t column) const {
  return absl::StrCat("column \"", columns_[column].field->name(), "\" in row group ", group);
}

std::uint64_t footer::decoded_bytes(std::size_t group, const parquet_columns& columns) const {
  return guarded("the footer", [&] {
    const auto meta = metadata_->RowGroup(static_cast<int>(group));
    std::uint64_t bytes = 0;
    for (std::size_t c : columns)
      for (int leaf : columns_[c].leaves)
        bytes += decoded_chunk_bytes(*meta->ColumnChunk(leaf), *metadata_->schema()->Column(leaf));
    return bytes;
  });
}

file_range footer::range_of(std::size_t group, std::size_t column, int leaf) const {
  const auto chunk = metadata_->RowGroup(static_cast<int>(group))->ColumnChunk(leaf);
  std::int64_t start = chunk->data_page_offset();
  if (chunk->has_dictionary_page() && chunk->dictionary_page_offset() > 0)
    start = std::min(start, chunk->dictionary_page_offset());
  const std::int64_t bytes = chunk->total_compressed_size();
  const auto size = static_cast<std::int64_t>(size_bytes_);
  if (!chunk->file_path().empty())
    throw_status(unimplemented_error(
        absl::StrCat(place_of(group, column), " is in another file, \"", chunk->file_path(), "\": read that file")));
  if (start < 0 || bytes < 0 || start > size || bytes > size - start)
    throw_status(data_loss_error(absl::StrCat(place_of(group, column), " has ", bytes, " bytes at offset ", start,
                                              ", and the file has ", size)));
  file_range r{static_cast<std::uint64_t>(start), static_cast<std::uint64_t>(bytes)};
  if (metadata_->writer_version().VersionLt(::parquet::ApplicationVersion::PARQUET_816_FIXED_VERSION()))
    r.bytes += std::min(kOldHeaderBytes, size_bytes_ - r.offset - r.bytes);
  return r;
}

std::vector<file_range> footer::ranges(std::size_t group, const parquet_columns& columns) const {
  return guarded("the footer", [&] {
    std::vector<file_range> all;
    for (std::size_t c : columns)
      for (int leaf : columns_[c].leaves) all.push_back(range_of(group, c, leaf));
    std::ranges::sort(all, {}, &file_range::offset);
    return all;
  });
}

column_bounds footer::bounds(std::size_t group, std::size_t column) const {
  column_bounds b;
  const int leaf = flat_leaf(column);
  if (leaf < 0) return b;
  try {
    const auto chunk = metadata_->RowGroup(static_cast<int>(group))->ColumnChunk(leaf);
    // Null unless the order of the column is known, and the writer is one whose statistics are right.
    const std::shared_ptr<::parquet::Statistics> s = chunk->statistics();
    if (!chunk->is_stats_set() || !s) return b;
    if (s->HasNullCount() && s->null_count() >= 0) b.nulls = static_cast<std::uint64_t>(s->null_count());
    if (!s->HasMinMax()) return b;
    set_bounds(b, *metadata_->schema()->Column(leaf), *columns_[column].field->type(), [&]<class T>(T*) {
      const auto& typed = static_cast<const ::parquet::TypedStatistics<T>&>(*s);
      return std::pair(typed.min(), typed.max());
    });
  } catch (const std::exception&) { b = {}; }  // without statistics every group is read
  return b;
}

}  // namespace sluice::lib::arrow_parquet
