// SPDX-License-Identifier: Apache-2.0
#include "cli/arrow_sink.hpp"

#include <absl/cleanup/cleanup.h>

#include <algorithm>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "arrow/ipc_writer.hpp"
#include "sluice/element/batch.hpp"

namespace sluice::lib::cli {
namespace {

constexpr std::size_t kWrittenBytes = std::size_t{1} << 18;
constexpr std::uint32_t kBatchesAtOnce = 16;

const element_type& row_of(const element_type& t) { return t.kind == kind::batch ? *t.element : t; }

/// Memory for n elements, without any.
class element_room {
 public:
  element_room(const element_type& t, std::size_t n)
      : align_(static_cast<std::align_val_t>(t.align)),
        memory_(::operator new(std::max<std::size_t>(t.size * n, 1), align_)) {}
  element_room(const element_room&) = delete;
  element_room& operator=(const element_room&) = delete;
  ~element_room() { ::operator delete(memory_, align_); }
  void* get() const { return memory_; }

 private:
  const std::align_val_t align_;
  void* const memory_;
};

class arrow_sink final : public element_sink {
 public:
  arrow_sink(const element_type& type, const arrow_options& texts, std::unique_ptr<byte_output> to, const char* format,
             bool is_begun)
      : row_(row_of(type)), texts_(texts), to_(std::move(to)), format_(format) {
    status why = export_schema(row_, &schema_, texts_);
    if (why.ok() && !is_begun) why = arrow::append_ipc_schema(bytes_, schema_);
    if (!why.ok()) {
      if (schema_.release) schema_.release(&schema_);
      throw_status(why);
    }
    if (!is_begun) ends_.push_back(bytes_.size());
  }
  ~arrow_sink() override { schema_.release(&schema_); }

  std::uint32_t wanted(const element_type& t) const override {
    return t.kind == kind::batch ? kBatchesAtOnce : kArrowRows;
  }
  status take(const block& elements) override {
    status why = elements.type().kind == kind::batch ? take_batches(elements) : gather(elements);
    return why.ok() && to_->is_watched() ? write_out() : why;
  }
  status commit(output_place& place) override {
    status why = append_gathered();
    if (why.ok()) why = write_out();
    if (why.ok()) why = to_->commit(place);
    if (why.ok() && (place.inode || place.device)) place.format = format_;
    return why;
  }
  void keep() override { to_->keep(); }
  /// The end is behind what a checkpoint speaks of: a run that goes on from there writes over it.
  status finish() override {
    arrow::append_ipc_end(bytes_);
    ends_.push_back(bytes_.size());
    status why = write_out();
    return why.ok() ? to_->finish() : why;
  }
  bool closed() const override { return to_->closed(); }

 private:
  status take_batches(const block& batches) {
    for (std::uint32_t i = 0; i != batches.size(); ++i) {
      status why = append(*reinterpret_cast<const batch_storage*>(batches.at(i)));
      if (why.ok() && bytes_.size() >= kWrittenBytes) why = write_out();
      if (!why.ok()) return why;
    }
    return {};
  }
  status gather(const block& elements) {
    const element_type& t = elements.type();
    for (std::uint32_t i = 0; i != elements.size();) {
      const std::size_t n = std::min<std::size_t>(elements.size() - i, kArrowRows - gathered_rows());
      element_room copies(t, n);
      t.copy(t, copies.get(), elements.at(i), n, t.size, t.size);
      absl::Cleanup refused = [&] { t.destroy(t, copies.get(), n); };
      gathered_.append(t, copies.get(), n);
      std::move(refused).Cancel();
      i += static_cast<std::uint32_t>(n);
      if (gathered_rows() < kArrowRows) break;
      status why = append_gathered();
      if (why.ok() && bytes_.size() >= kWrittenBytes) why = write_out();
      if (!why.ok()) return why;
    }
    return {};
  }
  std::size_t gathered_rows() const { return static_cast<std::size_t>(gathered_.rows()); }
  status append_gathered() {
    if (gathered_.empty()) return {};
    batch_storage rows = std::exchange(gathered_, {});
    return append(rows);
  }
  status append(const batch_storage& rows) {
    ArrowArray array;
    status why = export_rows(rows, row_, &array, texts_);
    if (!why.ok()) return with_way_out(why);
    const absl::Cleanup release = [&] { array.release(&array); };
    why = arrow::append_ipc_batch(bytes_, schema_, array);
    ends_.push_back(bytes_.size());
    return why;
  }
  /// The library speaks of its options; here they have another name.
  status with_way_out(const status& why) const {
    constexpr std::string_view kOption = ": export texts as arrow_texts::binary";
    std::string text(why.message());
    if (text.ends_with(kOption))
      text.replace(text.size() - kOption.size(), kOption.size(), ": --output arrow-binary:PATH writes texts as binary");
    return status(why.code(), text);
  }
  status write_out() {
    std::size_t accepted = 0;
    status why = to_->write(bytes_, ends_, accepted);
    bytes_.clear();
    ends_.clear();
    return why;
  }

  const element_type& row_;
  const arrow_options texts_;
  const std::unique_ptr<byte_output> to_;
  const char* const format_;
  ArrowSchema schema_{};
  batch_storage gathered_;
  std::string bytes_;
  std::vector<std::size_t> ends_;  ///< where the messages in bytes_ end
};

}  // namespace

status check_arrow_output(const element_type& type, const arrow_options& texts) {
  if (type.kind != kind::batch && (!can_stack(type) || !type.copy))
    return invalid_argument_error("elements of " + type.name + " have no form in Arrow");
  ArrowSchema schema;
  std::string unused;
  status why = export_schema(row_of(type), &schema, texts);
  if (!why.ok()) return why;
  why = arrow::append_ipc_schema(unused, schema);
  schema.release(&schema);
  return why;
}

std::unique_ptr<element_sink> make_arrow_sink(const element_type& type, const arrow_options& texts,
                                              std::unique_ptr<byte_output> to, const char* format, bool is_begun) {
  return std::make_unique<arrow_sink>(type, texts, std::move(to), format, is_begun);
}

}  // namespace sluice::lib::cli
