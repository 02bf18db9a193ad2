// SPDX-License-Identifier: Apache-2.0
// Columns of tensors: numbers as one array for all rows, strings as a column of texts with a row for each string. Also
// columns converted to tensors.
#include <algorithm>
#include <cstring>

#include "element/tensors/tensor_mismatch.hpp"
#include "sluice/base/assert.hpp"
#include "sluice/base/status.hpp"
#include "sluice/element/batched.hpp"
#include "sluice/element/column.hpp"
#include "sluice/element/tensor.hpp"

namespace sluice::lib {
namespace {

/// Small tensors that come from a shuffle cost a cache miss each: this number of them is prefetched at a time.
constexpr std::size_t kFetchedAhead = 8;
constexpr std::size_t kFetchedBytesMax = 1024;

const tensor& tensor_at(const void* from, std::size_t i, std::size_t stride) {
  return *std::launder(reinterpret_cast<const tensor*>(static_cast<const char*>(from) + i * stride));
}

buffer_ref shared(buffer* b) {
  if (b) b->add_references(1);
  return buffer_ref(b);
}

}  // namespace

static_assert(sizeof(tensor_spec) <= sizeof(column) && std::is_trivially_destructible_v<tensor_spec>);

void column::make_spec() { ::new (static_cast<void*>(children_)) tensor_spec(); }
tensor_spec& column::spec() const noexcept { return *std::launder(reinterpret_cast<tensor_spec*>(children_)); }
bool column::has_strings() const noexcept { return spec().dtype == dtype::string; }
std::size_t column::row_elements() const noexcept { return spec().elements(); }

std::size_t column::main_bytes_of_tensors(std::size_t rows) const noexcept {
  if (rows == 0) return 0;
  return has_strings() ? (rows * row_elements() + 1) * sizeof(std::int32_t) : rows * spec().bytes();
}

std::size_t column::used_string_bytes() const noexcept {
  return rows_ == 0 || !has_strings() || !main_ ? 0 : static_cast<std::size_t>(offsets()[rows_ * row_elements()]);
}

/// Requires the first row's dtype and shape of all rows. `at`: the number of this row.
void column::match(dtype d, std::span<const std::int64_t> shape, std::size_t at) {
  if (at == 0) {
    spec() = {d, shape};
  } else if (spec().dtype != d || !std::ranges::equal(spec().shape.dims(), shape)) {
    throw detail::tensor_mismatch{at, {}, tensor_spec{d, shape}.text(), spec().text()};
  }
}

void column::measure_tensors(const void* from, std::size_t n, std::size_t stride) {
  for (std::size_t i = 0; i != n; ++i) {
    const tensor& t = tensor_at(from, i, stride);
    match(t.dtype(), t.shape(), rows_ + more_rows_);
    ++more_rows_;
    if (t.dtype() == dtype::string) more_bytes_ += t.size_bytes();
  }
}

void column::put_tensors(const void* from, std::size_t n, std::size_t stride) {
  if (has_strings()) {
    for (std::size_t i = 0; i != n; ++i) put_strings(tensor_at(from, i, stride));
    return;
  }
  const std::size_t bytes = spec().bytes();
  if (bytes == 0) return void(rows_ += n);
  char* to = values() + rows_ * bytes;
  for (std::size_t i = 0; i != n; ++i, to += bytes) {
    if (bytes <= kFetchedBytesMax && i + kFetchedAhead < n)
      __builtin_prefetch(tensor_at(from, i + kFetchedAhead, stride).data());
    std::memcpy(to, tensor_at(from, i, stride).data(), bytes);
  }
  rows_ += n;
}

/// REQUIRES: memory for the row was allocated.
void column::put_strings(const tensor& t) {
  const std::size_t n = row_elements(), used = used_string_bytes();
  std::int32_t* out = writable_offsets() + rows_ * n;
  *out = static_cast<std::int32_t>(used);
  if (const std::size_t bytes = t.size_bytes(); bytes != 0)
    std::memcpy(bytes_->data() + used, t.text_bytes() + t.offsets()[0], bytes);
  for (std::size_t i = 1; i <= n; ++i) out[i] = *out + (t.offsets()[i] - t.offsets()[0]);
  ++rows_;
}

/// REQUIRES: memory for the rows was allocated, and they have this column's spec.
void column::put_tensors_of(const column& from, std::size_t first, std::size_t n) {
  const std::size_t bytes = spec().bytes();
  if (!has_strings()) {
    if (bytes != 0) std::memcpy(values() + rows_ * bytes, from.values() + first * bytes, n * bytes);
    return;
  }
  const std::size_t each = row_elements(), used = used_string_bytes();
  const std::int32_t* in = from.offsets() + first * each;
  std::int32_t* out = writable_offsets() + rows_ * each;
  *out = static_cast<std::int32_t>(used);
  if (in[n * each] != in[0])
    std::memcpy(bytes_->data() + used, from.bytes() + in[0], static_cast<std::size_t>(in[n * each] - in[0]));
  for (std::size_t i = 1; i <= n * each; ++i) out[i] = *out + (in[i] - in[0]);
}

void column::append_tensor(const tensor& row) {
  if (form_ != column_form::tensors) refuse("a tensor");
  detail::with_words_for_mismatch([&] { match(row.dtype(), row.shape(), rows_); });
  ensure_main(rows_ + 1);
  if (has_strings()) ensure_bytes(used_string_bytes() + row.size_bytes());
  put_tensors(&row, 1, sizeof(tensor));
}

char* column::append_tensor(const tensor_spec& row) {
  if (form_ != column_form::tensors || row.dtype == dtype::string) refuse("a tensor of numbers");
  row.check();
  detail::with_words_for_mismatch([&] { match(row.dtype, row.shape.dims(), rows_); });
  ensure_main(rows_ + 1);
  return values() + rows_++ * row.bytes();
}

tensor column::tensor_of(std::size_t first, std::size_t n) const {
  SLUICE_REQUIRES(form_ == column_form::tensors && n != 0 && first + n <= rows(),
                  "the rows are no tensors of this column");
  const tensor_shape shape = spec().shape.below(static_cast<std::int64_t>(n));
  if (has_strings())
    return tensor::sharing_texts(shared(main_), offsets() + first * row_elements(), shared(bytes_), shape);
  return tensor::sharing(shared(main_), values() + first * spec().bytes(), {spec().dtype, shape});
}

void column::give_tensors(std::size_t first, std::size_t n, void* to, std::size_t stride) const {
  const std::size_t elements = row_elements();
  tensor row;  // row `first`; the others follow it in memory
  row.set_spec(spec());
  if (elements != 0) {
    row.data_ = main_->data() + first * elements * (has_strings() ? sizeof(std::int32_t) : size_bytes(spec().dtype));
    detail::add_references(row.owner_ = main_, n + 1);
    if (has_strings()) detail::add_references(row.texts_ = bytes_, n + 1);
  }
  const std::size_t step = elements * (has_strings() ? sizeof(std::int32_t) : size_bytes(spec().dtype));
  for (std::size_t i = 0; i != n; ++i) {
    auto* t = ::new (static_cast<void*>(static_cast<char*>(to) + i * stride)) tensor();
    t->spec_ = row.spec_;
    t->owner_ = row.owner_;
    t->texts_ = row.texts_;
    if (elements != 0) t->data_ = row.data_ + i * step;
  }
}

// --- Columns as tensors ---

namespace {

tensor within(const tensor& inner, std::int64_t outer, std::int64_t each) {
  std::vector<std::int64_t> dims = {outer, each};
  dims.insert(dims.end(), inner.shape().begin() + 1, inner.shape().end());
  return inner.reshape(dims);
}

[[noreturn]] void refuse_to_stack(const element_type& row) {
  throw_status(invalid_argument_error("rows of " + row.name +
                                      " do not stack into a tensor: numbers, texts, tensors, and arrays "
                                      "and batches of them do"));
}

/// Returns the spec of a column without rows.
tensor_spec spec_of_none(const element_type& row) {
  if (row.kind == kind::tensor) return {dtype::float32, {0}};
  if (row.kind == kind::batch || row.kind == kind::list) {
    tensor_spec inner = spec_of_none(*row.element);
    return {inner.dtype, inner.shape.below(0)};
  }
  if (row.kind == kind::array) {
    tensor_spec inner = spec_of_none(*row.element);
    std::vector<std::int64_t> dims(inner.shape.dims().begin(), inner.shape.dims().end());
    dims.insert(dims.begin() + 1, static_cast<std::int64_t>(row.extent));
    return {inner.dtype, dims};
  }
  if (auto d = dtype_of(row)) return {*d, {0}};
  refuse_to_stack(row);
}

tensor stack(const column& c, std::size_t first, std::size_t n);

tensor stack_lists(const column& c, std::size_t first, std::size_t n) {
  const std::int32_t* at = c.offsets() + first;
  const std::int32_t each = at[1] - at[0];
  for (std::size_t i = 1; i != n; ++i)
    if (at[i + 1] - at[i] != each)
      throw_status(invalid_argument_error("rows of " + c.type().name + " do not stack into a tensor: row 0 has " +
                                          std::to_string(each) + ", row " + std::to_string(i) + " has " +
                                          std::to_string(at[i + 1] - at[i])));
  const auto outer = static_cast<std::int64_t>(n);
  if (each == 0) {
    tensor_spec none = spec_of_none(*c.type().element);
    return tensor::make(none.dtype, none.shape.below(outer));
  }
  return within(stack(c.child(0), static_cast<std::size_t>(at[0]), n * static_cast<std::size_t>(each)), outer, each);
}

tensor stack(const column& c, std::size_t first, std::size_t n) {
  const auto rows = static_cast<std::int64_t>(n);
  switch (c.form()) {
    case column_form::values:
      if (auto d = dtype_of(c.type()))
        return tensor::sharing(shared(c.main_buffer()), c.values() + first * c.type().size, {*d, {rows}});
      break;
    case column_form::texts:
      return tensor::sharing_texts(shared(c.main_buffer()), c.offsets() + first, shared(c.bytes_buffer()), {rows});
    case column_form::tensors: return c.tensor_of(first, n);
    case column_form::fixed: {
      const std::size_t each = c.type().extent;
      return within(stack(c.child(0), first * each, n * each), rows, static_cast<std::int64_t>(each));
    }
    case column_form::lists: return stack_lists(c, first, n);
    default: break;
  }
  refuse_to_stack(c.type());
}

}  // namespace

namespace detail {

tensor stacked(const element_type& row, const column* c, std::size_t first, std::size_t n) {
  if (n != 0) return stack(*c, first, n);
  tensor_spec none = spec_of_none(row);
  return tensor::make(none.dtype, none.shape);
}

tensor tensor_row(const column_range<tensor>& rows, std::size_t row) {
  if (row >= rows.size())
    throw_status(out_of_range_error("row " + std::to_string(row) + " of a batch of " + std::to_string(rows.size())));
  return rows[row];
}

}  // namespace detail
}  // namespace sluice::lib
