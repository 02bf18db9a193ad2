// SPDX-License-Identifier: Apache-2.0
// Encodes elements as an Arrow IPC stream. Each batch becomes a record batch. Other elements are gathered into record
// batches of kArrowRows rows, or fewer once they have kArrowBytes, at the end, and at a checkpoint. The schema comes
// first; the shape of tensors is known only from the first rows, so their schema is written with those rows.
#include <absl/cleanup/cleanup.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "arrow/ipc_writer.hpp"
#include "format/codec/buffer_codec.hpp"
#include "output/element_room.hpp"
#include "output/encoders/element_encoder.hpp"
#include "sluice/arrow/columns.hpp"
#include "sluice/element/batched.hpp"

namespace sluice::lib {
namespace {

constexpr std::size_t kArrowRows = 1024;
constexpr std::size_t kArrowBytes = std::size_t{16} << 20;
constexpr std::uint32_t kBatchesAtOnce = 16;

const element_type& row_of(const element_type& t) { return t.kind == kind::batch ? *t.element : t; }

/// Returns true if the type contains tensors, whose shapes no type states.
bool has_tensors(const element_type& t) {
  if (t.kind == kind::tensor) return true;
  if (t.kind == kind::list || t.kind == kind::array || t.kind == kind::maybe) return has_tensors(*t.element);
  return std::any_of(t.members.begin(), t.members.end(), [](const member& m) { return has_tensors(*m.type); });
}

arrow::ipc_packing packing_of(compression buffers) {
  if (buffers != compression::lz4 && buffers != compression::zstd) return {};
  return {buffers == compression::lz4 ? arrow::ipc_codec::lz4 : arrow::ipc_codec::zstd,
          [](arrow::ipc_codec codec, std::string_view in, std::string& out) {
            return deflate_buffer(codec == arrow::ipc_codec::lz4 ? compression::lz4 : compression::zstd, in, out);
          }};
}

class arrow_encoder final : public element_encoder {
 public:
  arrow_encoder(const element_type& type, const arrow_options& texts, compression buffers)
      : type_(type),
        row_(row_of(type)),
        texts_(texts),
        packing_(packing_of(buffers)),
        rows_determine_schema_(has_tensors(row_)) {
    if (rows_determine_schema_) return;
    status why = export_schema(row_, &schema_, texts_);
    if (!why.ok()) throw_status(why);
  }
  ~arrow_encoder() override { release_schema(); }

  std::uint32_t wanted() const override { return type_.kind == kind::batch ? kBatchesAtOnce : kArrowRows; }
  bool is_immediate() const override { return false; }
  status begin(encoded& to) override {
    if (rows_determine_schema_) return {};
    status why = arrow::append_ipc_schema(to.bytes, schema_);
    to.ends.push_back(to.bytes.size());
    return why;
  }
  status append(const char* elements, std::size_t n, encoded& to) override {
    try {
      if (type_.kind != kind::batch) return gather(elements, n, to);
    } catch (const error& e) { return e.why(); }  // these tensors have other shapes than those before them
    for (std::size_t i = 0; i != n; ++i) {
      status why = append_rows(*reinterpret_cast<const batch_storage*>(elements + i * type_.size), to);
      if (!why.ok()) return why;
    }
    return {};
  }
  status flush(encoded& to) override {
    gathered_bytes_ = 0;
    if (gathered_.empty()) return {};
    batch_storage rows = std::exchange(gathered_, {});
    return append_rows(rows, to);
  }
  status end(encoded& to) override {
    if (rows_determine_schema_ && reported_.empty())
      return invalid_argument_error(
          "without an element the shape of the tensors, which is part of an Arrow stream's schema, is unknown");
    arrow::append_ipc_end(to.bytes);
    to.ends.push_back(to.bytes.size());
    return {};
  }
  std::string save() const override { return reported_; }
  status load(std::string_view bytes) override {
    if (!rows_determine_schema_ && !bytes.empty())
      return data_loss_error("its description of an Arrow stream does not fit the plan");
    reported_ = bytes;
    return {};
  }

 private:
  void release_schema() {
    if (schema_.release) schema_.release(&schema_);
  }
  /// Checks that the schema of these rows equals that of all rows before them. Writes the schema of the first rows.
  status write_schema(const batch_storage& rows, encoded& to) {
    release_schema();
    schema_ = {};
    std::string message;
    status why = export_schema(rows, row_, &schema_, texts_);
    if (why.ok()) why = arrow::append_ipc_schema(message, schema_);
    if (!why.ok() || message == reported_) return why;
    if (!reported_.empty())
      return invalid_argument_error(
          "the tensors have another shape, or numbers of another type, than those before them, and an "
          "Arrow stream has one schema");
    to.bytes += message;
    to.ends.push_back(to.bytes.size());
    reported_ = std::move(message);
    return {};
  }
  status gather(const char* elements, std::size_t count, encoded& to) {
    for (std::size_t i = 0; i != count;) {
      const std::size_t n = fitting(elements + i * type_.size, count - i);
      element_room copies(type_, n);
      type_.copy(type_, copies.get(), elements + i * type_.size, n, type_.size, type_.size);
      absl::Cleanup refused = [&] { type_.destroy(type_, copies.get(), n); };
      gathered_.append(type_, copies.get(), n);
      std::move(refused).Cancel();
      i += n;
      if (static_cast<std::size_t>(gathered_.rows()) < kArrowRows && gathered_bytes_ < kArrowBytes) break;
      status why = flush(to);
      if (!why.ok()) return why;
    }
    return {};
  }
  /// Returns how many of the next elements go into the current record batch. The count depends only on their bytes, so
  /// that it does not matter in which blocks they arrive.
  std::size_t fitting(const char* elements, std::size_t count) {
    const std::size_t most = std::min<std::size_t>(count, kArrowRows - static_cast<std::size_t>(gathered_.rows()));
    std::size_t n = 0;
    for (; n != most && gathered_bytes_ < kArrowBytes; ++n)
      gathered_bytes_ += type_.size + (type_.footprint ? type_.footprint(type_, elements + n * type_.size, 1) : 0);
    return n;
  }
  status append_rows(const batch_storage& rows, encoded& to) {
    if (rows_determine_schema_ && rows.empty()) return {};
    if (rows_determine_schema_)
      if (status why = write_schema(rows, to); !why.ok()) return why;
    ArrowArray array;
    status why = export_rows(rows, row_, &array, texts_);
    if (!why.ok()) return with_way_out(why);
    const absl::Cleanup release = [&] { array.release(&array); };
    why = arrow::append_ipc_batch(to.bytes, schema_, array, packing_);
    to.ends.push_back(to.bytes.size());
    return why;
  }
  /// The library's message names an export's options, which have other names here.
  status with_way_out(const status& why) const {
    constexpr std::string_view kOption = ": export texts as arrow_texts::binary";
    std::string text(why.message());
    if (text.ends_with(kOption))
      text.replace(text.size() - kOption.size(), kOption.size(), ": the format arrow-binary writes texts as binary");
    return status(why.code(), text);
  }

  const element_type& type_;
  const element_type& row_;
  const arrow_options texts_;
  const arrow::ipc_packing packing_;
  const bool rows_determine_schema_;
  std::string reported_{};  ///< the message of the schema that the rows have; empty: none yet
  ArrowSchema schema_{};
  std::size_t gathered_bytes_ = 0;
  batch_storage gathered_;
};

status check_arrow(const element_type& type, const arrow_options& texts) {
  if (type.kind != kind::batch && (!can_stack(type) || !type.copy))
    return invalid_argument_error("elements of " + type.name + " have no form in Arrow");
  if (has_tensors(row_of(type))) return {};
  ArrowSchema schema;
  std::string unused;
  status why = export_schema(row_of(type), &schema, texts);
  if (!why.ok()) return why;
  why = arrow::append_ipc_schema(unused, schema);
  schema.release(&schema);
  return why;
}

}  // namespace

result<std::unique_ptr<element_encoder>> make_arrow_encoder(const element_type& type, bool texts_as_binary,
                                                            compression buffers) {
  const arrow_options texts{texts_as_binary ? arrow_texts::binary : arrow_texts::by_type};
  status why = check_arrow(type, texts);
  std::string tried;
  const bool packs = buffers == compression::lz4 || buffers == compression::zstd;
  if (why.ok() && packs) why = deflate_buffer(buffers, "x", tried);  // the build may lack it
  if (!why.ok()) return why;
  return std::unique_ptr<element_encoder>(std::make_unique<arrow_encoder>(type, texts, buffers));
}

}  // namespace sluice::lib
