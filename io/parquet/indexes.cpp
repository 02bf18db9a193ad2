// SPDX-License-Identifier: Apache-2.0
// What a Parquet file has about the pages and the values of a column besides the footer. A damaged index, or one that does
// not fit the footer, is not used, and every page is read.
#include <arrow/io/memory.h>
#include <parquet/bloom_filter.h>
#include <parquet/file_reader.h>
#include <parquet/page_index.h>

#include <exception>
#include <limits>
#include <utility>

#include "io/parquet/footer.hpp"
#include "io/parquet/value_bounds.hpp"

namespace sluice::lib::arrow_parquet {
namespace {

/// Returns the range if it is within the file.
file_range range_within(std::int64_t offset, std::int64_t bytes, std::uint64_t size_bytes) {
  const auto size = static_cast<std::int64_t>(size_bytes);
  if (offset <= 0 || bytes <= 0 || offset > size || bytes > size - offset) return {};
  return {static_cast<std::uint64_t>(offset), static_cast<std::uint64_t>(bytes)};
}

/// Reads the rows of the pages. Returns false if they are not those of the group.
bool read_places(const ::parquet::OffsetIndex& places, std::uint64_t rows, std::vector<page_bounds>& to) {
  const auto& all = places.page_locations();
  for (std::size_t i = 0; i != all.size(); ++i) {
    const std::int64_t first = all[i].first_row_index;
    const std::int64_t end = i + 1 == all.size() ? static_cast<std::int64_t>(rows) : all[i + 1].first_row_index;
    if (first < 0 || end < first || (i == 0 && first != 0)) return false;
    to.push_back({static_cast<std::uint64_t>(first), static_cast<std::uint64_t>(end - first), {}});
  }
  return !to.empty();
}

/// Calls `find` with the filter. Returns false if it is damaged.
template <class F> bool is_lacking(std::string_view bloom, F find) {
  try {
    ::arrow::io::BufferReader stream(std::make_shared<::arrow::Buffer>(reinterpret_cast<const uint8_t*>(bloom.data()),
                                                                       static_cast<int64_t>(bloom.size())));
    const auto filter = ::parquet::BlockSplitBloomFilter::Deserialize(::parquet::default_reader_properties(), &stream);
    return filter.GetBitsetSize() != 0 && !find(filter);
  } catch (const std::exception&) { return false; }
}

}  // namespace

column_indexes footer::indexes(std::size_t group, std::size_t column) const {
  column_indexes found;
  const int leaf = flat_leaf(column);
  if (leaf < 0) return found;
  try {
    const auto chunk = metadata_->RowGroup(static_cast<int>(group))->ColumnChunk(leaf);
    const auto bounds = chunk->GetColumnIndexLocation(), places = chunk->GetOffsetIndexLocation();
    if (bounds && places) {
      found.bounds = range_within(bounds->offset, bounds->length, size_bytes_);
      found.places = range_within(places->offset, places->length, size_bytes_);
    }
    if (const auto offset = chunk->bloom_filter_offset()) {
      // Old writers do not state the length, which the filter itself has.
      const auto rest = static_cast<std::int64_t>(size_bytes_) - *offset;
      found.bloom = range_within(*offset, chunk->bloom_filter_length().value_or(rest), size_bytes_);
    }
  } catch (const std::exception&) { found = {}; }
  return found;
}

std::vector<page_bounds> footer::pages(std::size_t group, std::size_t column, std::string_view bounds,
                                       std::string_view places) const {
  const int leaf = flat_leaf(column);
  if (leaf < 0) return {};
  const ::parquet::ColumnDescriptor& d = *metadata_->schema()->Column(leaf);
  if (d.sort_order() == ::parquet::SortOrder::UNKNOWN) return {};
  try {
    const auto& how = ::parquet::default_reader_properties();
    const auto index = ::parquet::ColumnIndex::Make(d, bounds.data(), static_cast<std::int64_t>(bounds.size()), how);
    const auto offsets = ::parquet::OffsetIndex::Make(places.data(), static_cast<std::int64_t>(places.size()), how);
    std::vector<page_bounds> pages;
    if (!index || !offsets || !read_places(*offsets, rows_[group], pages)) return {};
    const std::size_t n = pages.size();
    if (index->null_pages().size() != n || (index->has_null_counts() && index->null_counts().size() != n)) return {};
    for (std::size_t i = 0; i != n; ++i) {
      column_bounds& b = pages[i].bounds;
      if (index->null_pages()[i]) {
        b.nulls = pages[i].rows;
        continue;
      }
      if (index->has_null_counts() && index->null_counts()[i] >= 0)
        b.nulls = static_cast<std::uint64_t>(index->null_counts()[i]);
      set_bounds(b, d, *columns_[column].field->type(), [&]<class T>(T*) {
        const auto& typed = static_cast<const ::parquet::TypedColumnIndex<T>&>(*index);
        return std::pair(typed.min_values().at(i), typed.max_values().at(i));
      });
    }
    return pages;
  } catch (const std::exception&) { return {}; }
}

bool footer::lacks(std::size_t column, std::string_view bloom, std::int64_t value) const {
  const int leaf = flat_leaf(column);
  if (leaf < 0) return false;
  const ::parquet::ColumnDescriptor& d = *metadata_->schema()->Column(leaf);
  const ::arrow::DataType& type = *columns_[column].field->type();
  if (!is_whole_column(d, type)) return false;
  const bool is_unsigned = is_unsigned_type(type);
  if (is_unsigned && value < 0) return false;  // its bits are those of another value
  if (d.physical_type() == ::parquet::Type::INT64)
    return is_lacking(bloom, [&](const auto& filter) { return filter.FindHash(filter.Hash(value)); });
  const std::int64_t lowest = is_unsigned ? 0 : std::numeric_limits<std::int32_t>::min();
  const std::int64_t highest =
      is_unsigned ? std::int64_t{std::numeric_limits<std::uint32_t>::max()} : std::numeric_limits<std::int32_t>::max();
  if (value < lowest || value > highest) return false;
  return is_lacking(bloom,
                    [&](const auto& filter) { return filter.FindHash(filter.Hash(static_cast<std::int32_t>(value))); });
}

bool footer::lacks(std::size_t column, std::string_view bloom, std::string_view value) const {
  const int leaf = flat_leaf(column);
  if (leaf < 0 || !is_text_column(*metadata_->schema()->Column(leaf), *columns_[column].field->type())) return false;
  return is_lacking(bloom, [&](const auto& filter) { return filter.FindHash(filter.Hash(value)); });
}

}  // namespace sluice::lib::arrow_parquet
