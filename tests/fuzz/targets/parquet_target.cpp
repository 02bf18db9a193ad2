// SPDX-License-Identifier: Apache-2.0
// Parquet: any bytes are a file, whose rows are read, or an error.
#if SLUICE_HAVE_PARQUET

#include <algorithm>
#include <string>
#include <utility>

#include "arrow/row_type.hpp"
#include "fuzz/target.hpp"
#include "op/parquet/excluded_rows.hpp"
#include "sluice/arrow/columns.hpp"
#include "sluice/element/batched.hpp"
#include "sluice/io/arrow_parquet.hpp"
#include "sluice/io/parquet_files.hpp"

namespace sluice::lib::fuzz {

namespace {

const bool has_parquet = (register_parquet(), true);

/// Less than what a hostile file of a few kilobytes could stand for.
constexpr std::size_t kParquetRoomBytes = std::size_t{8} << 20;
constexpr std::uint64_t kParquetRowsMax = 4096;
constexpr std::size_t kParquetRowsAtOnce = 64;

class counted_room final : public library_memory {
 public:
  bool grow(std::size_t bytes) noexcept override {
    if (bytes > kParquetRoomBytes - used_) return false;
    used_ += bytes;
    return true;
  }
  void shrink(std::size_t bytes) noexcept override { used_ -= bytes; }
  std::size_t used() const { return used_; }

 private:
  std::size_t used_ = 0;
};

void read_group(const parquet_file& file, std::size_t group, const element_type& row, std::string_view bytes) {
  parquet_columns columns;
  for (std::int64_t k = 0; k != file.schema().n_children; ++k) columns.push_back(static_cast<std::size_t>(k));
  std::vector<file_part> parts;
  for (const file_range& r : file.ranges(group, columns)) {
    expect(r.offset <= bytes.size() && r.bytes <= bytes.size() - r.offset, "a range is not within the file");
    buffer_ref part(buffer::make(std::max<std::size_t>(static_cast<std::size_t>(r.bytes), 1)));
    bytes.copy(part->data(), static_cast<std::size_t>(r.bytes), static_cast<std::size_t>(r.offset));
    parts.push_back({r, std::move(part)});
  }
  counted_room room;
  {
    auto rows = file.read(group, columns, std::move(parts), room, kParquetRowsAtOnce);
    ArrowArray array{};
    for (std::uint64_t read = 0; read < kParquetRowsMax && rows->next(kParquetRowsAtOnce, &array);) {
      read += static_cast<std::uint64_t>(array.length);
      batch_storage built;
      const status why = append_arrow_rows(built, row, file.schema(), array);
      expect(!why.ok() || built.rows() == array.length, "rows are missing");
      std::string json;
      if (why.ok()) print(*batched_of(&row), &built, json);
      array.release(&array);
      array = {};
    }
  }
  expect(room.used() == 0, "memory is not returned");
}

void exclude(const parquet_file& file, const element_type& row) {
  for (const auto literal : {member_comparison::whole, member_comparison::real, member_comparison::text})
    for (const member& m : row.members) {
      const member_comparison c{
          .op = member_comparison::less, .literal = literal, .member = m.name, .whole_value = 3, .text_value = "b"};
      (void)excluded_rows(file, row, {&c, 1});
    }
}

}  // namespace

void parquet(std::string_view bytes) {
  if (!has_parquet) return;
  auto at = find_parquet_footer(bytes.substr(bytes.size() - std::min<std::size_t>(bytes.size(), kParquetTailBytes)),
                                bytes.size());
  if (!at.ok()) return;
  expect(*at < bytes.size(), "the footer begins behind the file");
  try {
    auto file = open_parquet(bytes.substr(static_cast<std::size_t>(*at)), bytes.size());
    auto row = arrow::row_type_of(file->schema());
    if (!row.ok()) return;
    exclude(*file, **row);
    for (std::size_t g = 0; g != std::min<std::size_t>(file->groups(), 4); ++g) {
      try {
        read_group(*file, g, **row, bytes);
      } catch (const error&) {}  // of this group
    }
  } catch (const error&) {}
}

}  // namespace sluice::lib::fuzz

#else

#include "fuzz/target.hpp"

namespace sluice::lib::fuzz {

void parquet(std::string_view) {}  // this build reads no Parquet

}  // namespace sluice::lib::fuzz

#endif
