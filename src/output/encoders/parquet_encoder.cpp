// SPDX-License-Identifier: Apache-2.0
// Encodes elements as a Parquet file. Elements, or the rows of batches, are gathered into row groups of about
// `group_bytes` bytes of values. A group also ends at a checkpoint, and at the end.
#include <absl/cleanup/cleanup.h>

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "output/element_room.hpp"
#include "output/encoders/element_encoder.hpp"
#include "sluice/arrow/columns.hpp"
#include "sluice/element/batched.hpp"
#include "sluice/io/parquet_files.hpp"

namespace sluice::lib {
namespace {

/// The most rows that are copied into a group before its size is looked at.
constexpr std::size_t kGroupedRows = 1024;

const element_type& row_of_group(const element_type& t) { return t.kind == kind::batch ? *t.element : t; }

bool contains_tensors(const element_type& t) {
  if (t.kind == kind::tensor) return true;
  if (t.kind == kind::list || t.kind == kind::array || t.kind == kind::maybe) return contains_tensors(*t.element);
  return std::ranges::any_of(t.members, [](const member& m) { return contains_tensors(*m.type); });
}

class parquet_encoder final : public element_encoder {
 public:
  parquet_encoder(const element_type& type, std::unique_ptr<parquet_writer> writer, std::uint64_t group_bytes)
      : type_(type), row_(row_of_group(type)), writer_(std::move(writer)), group_bytes_(group_bytes) {}

  std::uint32_t wanted() const override { return type_.kind == kind::batch ? 16 : kGroupedRows; }
  bool is_immediate() const override { return false; }
  status begin(encoded& to) override {
    writer_->begin(to.bytes);
    to.ends.push_back(to.bytes.size());
    return {};
  }
  status append(const char* elements, std::size_t n, encoded& to) override {
    try {
      return type_.kind == kind::batch ? append_batches(elements, n, to) : append_elements(elements, n, to);
    } catch (...) { return current_exception_status(); }
  }
  status flush(encoded& to) override {
    try {
      return end_group(to);
    } catch (...) { return current_exception_status(); }
  }
  status end(encoded& to) override {
    try {
      writer_->end(to.bytes);
      to.ends.push_back(to.bytes.size());
      return {};
    } catch (...) { return current_exception_status(); }
  }
  std::string save() const override { return writer_->save(); }
  status load(std::string_view bytes) override {
    try {
      writer_->load(bytes);
      return {};
    } catch (...) { return current_exception_status(); }
  }

 private:
  status append_elements(const char* elements, std::size_t count, encoded& to) {
    for (std::size_t i = 0; i != count;) {
      const std::size_t n = fitting(elements + i * type_.size, std::min(count - i, kGroupedRows));
      element_room copies(type_, n);
      type_.copy(type_, copies.get(), elements + i * type_.size, n, type_.size, type_.size);
      absl::Cleanup refused = [&] { type_.destroy(type_, copies.get(), n); };
      group_.append(type_, copies.get(), n);
      std::move(refused).Cancel();
      i += n;
      if (bytes_ < group_bytes_) continue;
      status why = end_group(to);
      if (!why.ok()) return why;
    }
    return {};
  }
  /// Returns how many of the next elements go into the group, and counts their bytes. The number depends only on these,
  /// so that it does not matter in which blocks the elements arrive.
  std::size_t fitting(const char* elements, std::size_t most) {
    std::size_t n = 0;
    for (; n != most && bytes_ < group_bytes_; ++n)
      bytes_ += type_.size + (type_.footprint ? type_.footprint(type_, elements + n * type_.size, 1) : 0);
    return n;
  }
  status append_batches(const char* elements, std::size_t count, encoded& to) {
    for (std::size_t i = 0; i != count; ++i) {
      const auto& batch = *reinterpret_cast<const batch_storage*>(elements + i * type_.size);
      const auto rows = static_cast<std::size_t>(batch.rows());
      if (rows == 0) continue;
      group_.make_rows(row_).append_copies(batch.rows_column(), batch.rows_column().gone_in_front(), rows);
      bytes_ += batch.memory_bytes();
      if (bytes_ < group_bytes_) continue;
      status why = end_group(to);
      if (!why.ok()) return why;
    }
    return {};
  }
  status end_group(encoded& to) {
    bytes_ = 0;
    if (group_.empty()) return {};
    const batch_storage rows = std::exchange(group_, {});
    ArrowArray array;
    status why = export_rows(rows, row_, &array);
    if (!why.ok()) return why;
    writer_->append(&array, to.bytes);
    to.ends.push_back(to.bytes.size());
    return {};
  }

  const element_type& type_;
  const element_type& row_;
  const std::unique_ptr<parquet_writer> writer_;
  const std::uint64_t group_bytes_;
  batch_storage group_;
  std::uint64_t bytes_ = 0;  ///< of the elements in the group
};

parquet_writing writing_by(compression codec) {
  switch (codec) {
    case compression::none: return {parquet_writing::none};
    case compression::gzip: return {parquet_writing::gzip};
    case compression::snappy: return {parquet_writing::snappy};
    case compression::lz4: return {parquet_writing::lz4};
    default: return {parquet_writing::zstd};
  }
}

}  // namespace

result<std::unique_ptr<element_encoder>> make_parquet_encoder(const element_type& type, compression codec,
                                                              std::uint64_t group_bytes) {
  const element_type& row = row_of_group(type);
  if (type.kind != kind::batch && (!can_stack(type) || !type.copy))
    return invalid_argument_error("elements of " + type.name + " have no form in Parquet");
  if (contains_tensors(row))
    return invalid_argument_error("tensors have no type in Parquet: write Arrow, or map them to lists");
  ArrowSchema schema;
  status why = export_schema(row, &schema);
  if (!why.ok()) return why;
  const absl::Cleanup release = [&] { schema.release(&schema); };
  try {
    auto writer = write_parquet(schema, writing_by(codec));
    return std::unique_ptr<element_encoder>(
        std::make_unique<parquet_encoder>(type, std::move(writer), std::max<std::uint64_t>(group_bytes, 1)));
  } catch (const error& e) { return e.why(); }
}

}  // namespace sluice::lib
