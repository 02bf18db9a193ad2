// SPDX-License-Identifier: Apache-2.0
#include "sluice/element/tensor.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "element/text/print_element.hpp"
#include "sluice/base/assert.hpp"
#include "sluice/base/content_hash.hpp"
#include "sluice/base/status.hpp"

namespace sluice::lib {
namespace {

constexpr std::size_t kBytesMax = std::numeric_limits<std::ptrdiff_t>::max();
constexpr std::size_t kTextBytesMax = 0x7fffffff;  // as in columns, whose offsets have 32 bits

// The ratio of a buffer to its view from which the view is copied, as for slices.
constexpr std::size_t kLeftRatio = 4;
constexpr std::size_t kLeftSlackBytes = 256;

std::size_t product(std::span<const std::int64_t> dims) noexcept {
  std::size_t n = 1;
  for (std::int64_t d : dims) n *= static_cast<std::size_t>(d);
  return n;
}

std::string text_of(lib::dtype d, std::span<const std::int64_t> dims) {
  std::string text(name_of(d));
  text += '[';
  for (std::size_t k = 0; k != dims.size(); ++k) {
    if (k != 0) text += ',';
    text += std::to_string(dims[k]);
  }
  return text + ']';
}

std::size_t bytes_of(lib::dtype d, std::size_t elements) noexcept {
  if (d == lib::dtype::string) return elements == 0 ? 0 : (elements + 1) * sizeof(std::int32_t);
  return elements * size_bytes(d);
}

/// Allocates aligned and recycled memory, because a pipeline allocates and frees tensors all the time.
buffer_ref new_bytes(std::size_t bytes) { return buffer_ref(bytes == 0 ? nullptr : buffer::make_recycled(bytes)); }

[[noreturn]] void refuse(const std::string& why) { throw_status(invalid_argument_error(why)); }

template <class T> void print_number(const char* at, std::string& out) {
  T v;
  std::memcpy(&v, at, sizeof v);
  if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>)
    detail::print_scalar(static_cast<float>(v), out);
  else if constexpr (std::is_same_v<T, bool> || std::is_floating_point_v<T>) detail::print_scalar(v, out);
  else if constexpr (std::is_signed_v<T>) detail::print_scalar(static_cast<std::int64_t>(v), out);
  else detail::print_scalar(static_cast<std::uint64_t>(v), out);
}

using print_one = void (*)(const char* at, std::string& out);
print_one printer_of(lib::dtype d) {
  switch (d) {
    case lib::dtype::boolean: return print_number<bool>;
    case lib::dtype::int8: return print_number<std::int8_t>;
    case lib::dtype::int16: return print_number<std::int16_t>;
    case lib::dtype::int32: return print_number<std::int32_t>;
    case lib::dtype::int64: return print_number<std::int64_t>;
    case lib::dtype::uint8: return print_number<std::uint8_t>;
    case lib::dtype::uint16: return print_number<std::uint16_t>;
    case lib::dtype::uint32: return print_number<std::uint32_t>;
    case lib::dtype::uint64: return print_number<std::uint64_t>;
    case lib::dtype::float16: return print_number<float16>;
    case lib::dtype::bfloat16: return print_number<bfloat16>;
    case lib::dtype::float32: return print_number<float>;
    case lib::dtype::float64: return print_number<double>;
    case lib::dtype::string: break;
  }
  return nullptr;
}

/// Calls f(i, out), which appends element i, for `count` elements from `first` on, in the shape `dims`.
template <class F>
void print_nested(std::span<const std::int64_t> dims, std::size_t first, std::size_t count, std::string& out, F& f) {
  if (dims.empty()) return f(first, out);
  const auto parts = static_cast<std::size_t>(dims[0]);
  out += '[';
  for (std::size_t i = 0; i != parts; ++i) {
    if (i != 0) out += ',';
    print_nested(dims.subspan(1), first + i * (count / parts), count / parts, out, f);
  }
  out += ']';
}

constexpr std::size_t kBracketsMax = std::size_t{1} << 20;

/// Returns the number of innermost lists of a tensor without elements; more than kBracketsMax if there are too many.
std::size_t brackets_of(std::span<const std::int64_t> dims) {
  std::size_t n = 1;
  for (std::int64_t d : dims) {
    if (d == 0 || n > kBracketsMax) break;
    n = static_cast<std::size_t>(d) > kBracketsMax ? kBracketsMax + 1 : n * static_cast<std::size_t>(d);
  }
  return n;
}

}  // namespace

// --- Shapes and specs ---

tensor_shape::tensor_shape(std::span<const std::int64_t> dims) : rank_(static_cast<std::uint32_t>(dims.size())) {
  if (dims.size() > kRankMax)
    refuse("a tensor of " + std::to_string(dims.size()) + " dimensions: at most " + std::to_string(kRankMax));
  for (std::size_t k = 0; k != dims.size(); ++k) {
    if (dims[k] < 0) refuse("a dimension of " + std::to_string(dims[k]) + " in the shape of a tensor");
    dims_[k] = dims[k];
  }
}

tensor_shape::tensor_shape(std::initializer_list<std::int64_t> dims)
    : tensor_shape(std::span(dims.begin(), dims.size())) {}
tensor_shape::tensor_shape(const std::vector<std::int64_t>& dims) : tensor_shape(std::span(dims)) {}

tensor_shape tensor_shape::below(std::int64_t dim) const {
  std::int64_t dims[kRankMax + 1] = {dim};
  std::copy_n(dims_, rank_, dims + 1);
  return std::span<const std::int64_t>(dims, rank_ + 1);
}

bool operator==(const tensor_shape& a, const tensor_shape& b) noexcept {
  return std::ranges::equal(a.dims(), b.dims());
}

std::size_t tensor_spec::elements() const noexcept { return product(shape.dims()); }
std::size_t tensor_spec::bytes() const noexcept { return bytes_of(dtype, elements()); }
std::string tensor_spec::text() const { return text_of(dtype, shape.dims()); }

void tensor_spec::check() const {
  const bool strings = dtype == lib::dtype::string;
  std::size_t bytes = strings ? sizeof(std::int32_t) : size_bytes(dtype);
  for (std::int64_t d : shape.dims()) {
    if (d == 0) continue;
    if (bytes > (kBytesMax - sizeof(std::int32_t)) / static_cast<std::size_t>(d))
      refuse("a tensor of " + text() + " would have more than 2^63 - 1 bytes");
    bytes *= static_cast<std::size_t>(d);
  }
}

// --- Construction ---

/// The bytes are not initialised.
tensor::tensor(const tensor_spec& spec, std::size_t elements) {
  set_spec(spec);
  owner_ = new_bytes(bytes_of(spec.dtype, elements)).release();
  if (owner_) data_ = owner_->data();
}

void tensor::set_spec(const tensor_spec& spec) noexcept {
  auto dims = spec.shape.dims();
  std::ranges::copy(dims, spec_.dims);
  spec_.dtype = spec.dtype;
  spec_.rank = static_cast<std::uint8_t>(dims.size());
}

void tensor::swap(tensor& o) noexcept {
  std::swap(owner_, o.owner_);
  std::swap(data_, o.data_);
  std::swap(texts_, o.texts_);
  std::swap(spec_, o.spec_);
}

tensor tensor::make(lib::dtype d, const tensor_shape& shape) {
  tensor_spec spec{d, shape};
  spec.check();
  tensor t(spec, spec.elements());
  if (d == lib::dtype::string && t.data_) std::memset(t.data_, 0, spec.bytes());
  return t;
}

tensor tensor::zeros(lib::dtype d, const tensor_shape& shape) {
  tensor t = make(d, shape);
  if (t.data_ && d != lib::dtype::string) std::memset(t.data_, 0, t.size_bytes());
  return t;
}

tensor tensor::of_bytes(lib::dtype d, const tensor_shape& shape, const void* values, std::size_t count) {
  tensor_spec spec{d, shape};
  spec.check();
  if (spec.elements() != count)
    refuse(std::to_string(count) + " values for a tensor of " + spec.text() + ", which has " +
           std::to_string(spec.elements()));
  tensor t(spec, count);
  if (t.data_) std::memcpy(t.data_, values, t.size_bytes());
  return t;
}

tensor tensor::scalar(std::string_view value) { return of(std::span(&value, 1), tensor_shape()); }

tensor tensor::reshape(std::initializer_list<std::int64_t> dims) const {
  return reshape(std::span(dims.begin(), dims.size()));
}

tensor tensor::of(std::span<const std::string_view> values, const tensor_shape& shape) {
  tensor_spec spec{lib::dtype::string, shape};
  spec.check();
  if (spec.elements() != values.size())
    refuse(std::to_string(values.size()) + " strings for a tensor of " + spec.text() + ", which has " +
           std::to_string(spec.elements()));
  std::size_t bytes = 0;
  for (std::string_view v : values)
    if ((bytes += v.size()) > kTextBytesMax)
      throw_status(element_limit_error("a tensor of " + spec.text() + " has more than 2^31 - 1 bytes of text"));
  tensor t(spec, values.size());
  if (values.empty()) return t;
  t.texts_ = new_bytes(bytes).release();
  auto* offset = reinterpret_cast<std::int32_t*>(t.data_);
  char* begin = t.texts_ ? t.texts_->data() : nullptr;
  char* to = begin;
  *offset = 0;
  for (std::string_view v : values) {
    if (!v.empty()) to = std::ranges::copy(v, to).out;
    *++offset = static_cast<std::int32_t>(to - begin);
  }
  return t;
}

tensor tensor::of(const std::vector<std::string>& values, const tensor_shape& shape) {
  std::vector<std::string_view> views(values.begin(), values.end());
  return of(std::span<const std::string_view>(views), shape);
}

tensor tensor::sharing(buffer_ref owner, const void* data, const tensor_spec& spec, bool read_only) {
  spec.check();
  if (spec.dtype == lib::dtype::string) refuse("a tensor of strings that shares numbers");
  tensor t;
  t.set_spec(spec);
  t.spec_.read_only = read_only;
  if (spec.elements() == 0) return t;
  t.owner_ = owner.release();
  t.data_ = static_cast<char*>(const_cast<void*>(data));
  return t;
}

tensor tensor::sharing_texts(buffer_ref owner, const std::int32_t* offsets, buffer_ref texts,
                             const tensor_shape& shape) {
  tensor_spec spec{lib::dtype::string, shape};
  spec.check();
  tensor t;
  t.set_spec(spec);
  if (spec.elements() == 0) return t;
  SLUICE_REQUIRES(offsets[0] >= 0 && std::is_sorted(offsets, offsets + spec.elements() + 1),
                  "the offsets of strings do not fall");
  t.owner_ = owner.release();
  t.data_ = reinterpret_cast<char*>(const_cast<std::int32_t*>(offsets));
  t.texts_ = texts.release();
  return t;
}

// --- Properties ---

tensor_spec tensor::spec() const noexcept { return {spec_.dtype, shape()}; }
std::size_t tensor::size() const noexcept { return product(shape()); }

std::size_t tensor::size_bytes() const noexcept {
  if (spec_.dtype != lib::dtype::string) return size() * lib::size_bytes(spec_.dtype);
  return data_ ? static_cast<std::size_t>(offsets()[size()] - offsets()[0]) : 0;
}

void tensor::expect(lib::dtype wanted) const {
  if (spec_.dtype == wanted) return;
  refuse("values of " + std::string(name_of(wanted)) + " are asked of a tensor of " + spec_text());
}

bool tensor::is_writable() const noexcept {
  return spec_.dtype != lib::dtype::string && !spec_.read_only && (!owner_ || owner_->unshared());
}

char* tensor::writable_data() {
  if (spec_.dtype == lib::dtype::string) refuse("a tensor of " + spec_text() + " cannot be written to: strings cannot");
  if (!is_writable())
    throw_status(failed_precondition_error("a tensor of " + spec_text() + " cannot be written to: its bytes are " +
                                           (spec_.read_only ? "read only" : "shared") + "; write to its copy()"));
  return data_;
}

std::string_view tensor::text_at(std::size_t i) const noexcept {
  const std::int32_t* at = offsets() + i;
  return {text_bytes() + at[0], static_cast<std::size_t>(at[1] - at[0])};
}
std::string_view tensor::text(std::size_t i) const {
  expect(lib::dtype::string);
  SLUICE_REQUIRES(i < size(), "the tensor does not have this string");
  return text_at(i);
}

// --- Views ---

/// REQUIRES: the elements from `first_element` on of a tensor with these dimensions belong to this tensor.
tensor tensor::view(std::span<const std::int64_t> dims, std::size_t first_element) const noexcept {
  tensor t;
  std::ranges::copy(dims, t.spec_.dims);
  t.spec_.dtype = spec_.dtype;
  t.spec_.rank = static_cast<std::uint8_t>(dims.size());
  t.spec_.read_only = spec_.read_only;
  if (product(dims) == 0 || !data_) return t;
  const std::size_t each = spec_.dtype == lib::dtype::string ? sizeof(std::int32_t) : lib::size_bytes(spec_.dtype);
  t.owner_ = owner_;
  t.data_ = data_ + first_element * each;
  t.texts_ = texts_;
  if (owner_) owner_->add_references(1);
  if (texts_) texts_->add_references(1);
  return t;
}

tensor tensor::operator[](std::int64_t index) const {
  if (spec_.rank == 0) refuse("a part of a tensor of " + spec_text() + ", which is a scalar");
  if (index < 0 || index >= spec_.dims[0])
    throw_status(out_of_range_error("part " + std::to_string(index) + " of a tensor of " + spec_text()));
  auto dims = shape().subspan(1);
  return view(dims, static_cast<std::size_t>(index) * product(dims));
}

tensor tensor::slice(std::int64_t begin, std::int64_t count) const {
  if (spec_.rank == 0) refuse("a slice of a tensor of " + spec_text() + ", which is a scalar");
  if (begin < 0 || count < 0 || begin > spec_.dims[0] || count > spec_.dims[0] - begin)
    throw_status(out_of_range_error("the slice of " + std::to_string(count) + " from " + std::to_string(begin) +
                                    " on, of a tensor of " + spec_text()));
  std::int64_t dims[kRankMax];
  std::ranges::copy(shape(), dims);
  dims[0] = count;
  return view({dims, spec_.rank}, static_cast<std::size_t>(begin) * product(shape().subspan(1)));
}

tensor tensor::reshape(std::span<const std::int64_t> wanted) const {
  auto fail = [&] {
    std::string text = text_of(spec_.dtype, wanted);
    refuse("a tensor of " + spec_text() + " as " + text + ": it has another number of elements");
  };
  std::int64_t dims[kRankMax] = {};
  std::int64_t* open = nullptr;
  if (wanted.size() <= kRankMax) {
    std::ranges::copy(wanted, dims);
    for (std::int64_t& d : std::span(dims, wanted.size()))
      if (d == -1 && !open) *(open = &d) = 1;
  }
  tensor_shape as(wanted.size() <= kRankMax ? std::span<const std::int64_t>(dims, wanted.size()) : wanted);
  tensor_spec{spec_.dtype, as}.check();
  const std::size_t elements = size(), others = product(as.dims());
  if (open) {
    if (others == 0 || elements % others != 0) fail();
    *open = static_cast<std::int64_t>(elements / others);
  } else if (others != elements) {
    fail();
  }
  return view({dims, wanted.size()}, 0);
}

tensor tensor::copy() const {
  tensor t(spec(), size());
  if (!t.data_) return t;
  if (spec_.dtype != lib::dtype::string) {
    std::memcpy(t.data_, data_, size_bytes());
    return t;
  }
  const std::size_t bytes = size_bytes();
  t.texts_ = new_bytes(bytes).release();
  if (bytes != 0) std::memcpy(t.texts_->data(), text_bytes() + offsets()[0], bytes);
  auto* to = reinterpret_cast<std::int32_t*>(t.data_);
  for (std::size_t i = 0; i <= size(); ++i) to[i] = offsets()[i] - offsets()[0];
  return t;
}

// --- Values ---

bool tensor::equals(const tensor& o) const noexcept {
  if (spec_.dtype != o.spec_.dtype || !std::ranges::equal(shape(), o.shape())) return false;
  const std::size_t n = size();
  if (n == 0) return true;
  if (spec_.dtype != lib::dtype::string) return std::memcmp(data_, o.data_, size_bytes()) == 0;
  for (std::size_t i = 0; i != n; ++i)
    if (text_at(i) != o.text_at(i)) return false;
  return true;
}

std::uint64_t tensor::hash() const noexcept {
  detail::content_hasher h;
  h.word(static_cast<std::uint64_t>(spec_.dtype));
  for (std::int64_t d : shape()) h.word(static_cast<std::uint64_t>(d));
  const std::size_t n = size();
  if (spec_.dtype != lib::dtype::string) {
    h.bytes(data_, size_bytes());
  } else {
    for (std::size_t i = 0; i != n; ++i) h.bytes(text_at(i).data(), text_at(i).size());
  }
  return h.value();
}

void tensor::sluice_print(std::string& json) const {
  const std::size_t n = size();
  if (n == 0 && brackets_of(shape()) > kBracketsMax) {
    json += "[]";  // also for a shape like [1000000000,0], which would need that many brackets
  } else if (spec_.dtype == lib::dtype::string) {
    auto print = [this](std::size_t i, std::string& out) { print_json_text(text_at(i), out); };
    print_nested(shape(), 0, n, json, print);
  } else {
    auto print = [this, one = printer_of(spec_.dtype), each = lib::size_bytes(spec_.dtype)](
                     std::size_t i, std::string& out) { one(data_ + i * each, out); };
    print_nested(shape(), 0, n, json, print);
  }
}

std::string tensor::to_json() const {
  std::string json;
  sluice_print(json);
  return json;
}

// --- Kernels ---

void tensor::sluice_destroy(tensor* p, std::size_t n) noexcept {
  for (std::size_t i = 0; i != n;) {
    buffer *owner = p[i].owner_, *texts = p[i].texts_;
    const std::size_t from = i;
    while (i != n && p[i].owner_ == owner && p[i].texts_ == texts) ++i;
    const auto count = static_cast<std::uint32_t>(i - from);
    if (owner) owner->drop_references(count);
    if (texts) texts->drop_references(count);
  }
}

namespace {

/// Returns the bytes of its buffer that a view of `used` bytes accounts for: all of a small buffer, if the view is most
/// of it. Untouched pages of large buffers take no memory, and neither does an owner whose bytes are elsewhere.
std::size_t taken_of(const buffer* b, const char* data, std::size_t used) {
  if (!b) return 0;
  const bool whole = data >= b->data() && data < b->data() + b->capacity() && used > b->capacity() / 2 &&
                     b->capacity() <= buffer::kSmallBytesMax;
  return whole ? b->memory_bytes() : used;
}

bool is_much_larger(const buffer* b, std::size_t used) {
  return b && b->capacity() > kLeftRatio * used + kLeftSlackBytes;
}

}  // namespace

std::size_t tensor::sluice_footprint(const tensor* p, std::size_t n) noexcept {
  std::size_t bytes = 0;
  for (; n != 0; --n, ++p) {
    bytes += taken_of(p->owner_, p->data_, bytes_of(p->spec_.dtype, p->size()));
    if (p->texts_) bytes += taken_of(p->texts_, p->texts_->data(), p->size_bytes());
  }
  return bytes;
}

void tensor::sluice_compact(tensor* p, std::size_t n) {
  for (; n != 0; --n, ++p)
    if (is_much_larger(p->owner_, bytes_of(p->spec_.dtype, p->size())) || is_much_larger(p->texts_, p->size_bytes()))
      *p = p->copy();
}

}  // namespace sluice::lib
