// SPDX-License-Identifier: Apache-2.0
// tensor: numbers or strings of one dtype in a shape, row-major and without gaps, in a reference-counted buffer.
//
//   tensor t = tensor::of(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
//   t.spec_text() == "float32[2,3]";
//   std::span<const float> all = t.values<float>();         // throws if the dtype differs
//   tensor second = t[1], flat = t.reshape({6});            // views: they share t's bytes
//   tensor made = tensor::make(dtype::uint8, {224, 224, 3});
//   decode_into(made.writable<std::uint8_t>());             // while no other tensor shares the bytes
//
// Shape:  dtype and shape belong to each tensor: type_of<tensor>() is one descriptor (kind::tensor). A dimension may be
//         0; rank 0 is a scalar.
// Owns:   a reference on its bytes. Copies, slices and reshaped tensors share them. Shared bytes are immutable:
//         writable() needs a tensor that does not share its bytes; copy() makes one.
// Order:  of elements: the last dimension is the fastest.
// Errors: throws error(invalid_argument): more dimensions than kRankMax, a negative one, a size above 2^63 - 1 bytes
//         (before anything is allocated), values() of another dtype, indices out of range (out_of_range);
//         std::bad_alloc.
// Thread: the same as for std::shared_ptr: different tensors that share bytes may be used on different threads.
// Cost:   96 bytes. Moves, copies, slices and reshape allocate nothing. Bytes of new tensors begin at a multiple of 64.
// See:    element/dtype.hpp, docs/batch_layout.md (stacked in batches), sluice/dlpack.hpp
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sluice/base/buffer.hpp"
#include "sluice/element/dtype.hpp"

namespace sluice::lib {

class column;

/// Dimensions, the slowest first. Errors: throws invalid_argument, as listed above.
class tensor_shape {
 public:
  static constexpr std::size_t kRankMax = 8;

  tensor_shape() noexcept = default;
  tensor_shape(std::initializer_list<std::int64_t> dims);
  tensor_shape(std::span<const std::int64_t> dims);     // NOLINT: is a shape
  tensor_shape(const std::vector<std::int64_t>& dims);  // NOLINT

  std::size_t rank() const noexcept { return rank_; }
  /// A template, so that programs without tensors compile no checks of std::span.
  template <class Dim = const std::int64_t> std::span<Dim> dims() const noexcept { return {dims_, rank_}; }
  /// Returns this shape within one more, slower dimension.
  tensor_shape below(std::int64_t dim) const;
  friend bool operator==(const tensor_shape& a, const tensor_shape& b) noexcept;

 private:
  std::int64_t dims_[kRankMax] = {};
  std::uint32_t rank_ = 0;
};

/// The properties of a tensor except its values.
struct tensor_spec {
  lib::dtype dtype = dtype::float32;
  tensor_shape shape;

  /// REQUIRES for both: a tensor of this spec exists, or check() was called.
  std::size_t elements() const noexcept;
  std::size_t bytes() const noexcept;  ///< for strings: the bytes of their offsets, one more than strings
  /// The text "uint8[224,224,3]"; for a scalar "float32[]".
  std::string text() const;
  /// Errors: throws invalid_argument if a tensor of this spec has more than 2^63 - 1 bytes, counting dimensions of 0 as
  /// 1.
  void check() const;
  friend bool operator==(const tensor_spec& a, const tensor_spec& b) noexcept = default;
};

class tensor {
 public:
  using sluice_tensor = void;  ///< kind::tensor
  static constexpr std::string_view sluice_name = "tensor";
  static constexpr bool trivially_relocatable = true;
  static constexpr std::size_t kRankMax = tensor_shape::kRankMax;

  /// float32[0]: a vector without elements. A moved-from tensor is an empty vector of its dtype.
  tensor() noexcept = default;
  tensor(const tensor& o) noexcept : owner_(o.owner_), data_(o.data_), texts_(o.texts_), spec_(o.spec_) {
    if (owner_) owner_->add_references(1);
    if (texts_) texts_->add_references(1);
  }
  tensor(tensor&& o) noexcept : owner_(o.owner_), data_(o.data_), texts_(o.texts_), spec_(o.spec_) {
    o.owner_ = o.texts_ = nullptr;
    o.data_ = nullptr;
    o.spec_.forget();
  }
  tensor& operator=(tensor o) noexcept {
    swap(o);
    return *this;
  }
  ~tensor() {
    if (owner_) owner_->drop_references(1);
    if (texts_) texts_->drop_references(1);
  }
  void swap(tensor& o) noexcept;

  // --- Construction ---

  /// Makes a tensor of uninitialized numbers, or empty strings.
  static tensor make(lib::dtype d, const tensor_shape& shape);
  /// Makes a tensor of zeros, false, or empty strings.
  static tensor zeros(lib::dtype d, const tensor_shape& shape);
  /// Copies `values`. Errors: invalid_argument unless their number is that of the shape.
  template <tensor_number T> static tensor of(std::span<const T> values, const tensor_shape& shape) {
    return of_bytes(dtype_of<T>(), shape, values.data(), values.size());
  }
  template <tensor_number T> static tensor of(const std::vector<T>& values, const tensor_shape& shape) {
    return of(std::span<const T>(values), shape);
  }
  static tensor of(std::span<const std::string_view> values, const tensor_shape& shape);
  static tensor of(const std::vector<std::string>& values, const tensor_shape& shape);
  /// Makes a vector.
  template <class T> static tensor of(const std::vector<T>& values) {
    return of(values, {static_cast<std::int64_t>(values.size())});
  }
  /// Makes a tensor of rank 0.
  template <tensor_number T> static tensor scalar(T value) { return of(std::span<const T>(&value, 1), {}); }
  static tensor scalar(std::string_view value);
  /// Shares existing numbers. `owner` has the bytes, or keeps their owner alive; the tensor keeps the reference.
  /// `read_only`: the numbers must not be changed, even if no other tensor shares them.
  static tensor sharing(buffer_ref owner, const void* data, const tensor_spec& spec, bool read_only = false);
  /// Shares existing strings: text i is [offsets[i], offsets[i + 1]) of the data of `texts`; `owner` has the offsets.
  /// REQUIRES: the offsets are not negative, do not decrease, and are all within `texts`.
  static tensor sharing_texts(buffer_ref owner, const std::int32_t* offsets, buffer_ref texts,
                              const tensor_shape& shape);

  // --- Properties ---

  lib::dtype dtype() const noexcept { return spec_.dtype; }
  std::size_t rank() const noexcept { return spec_.rank; }
  template <class Dim = const std::int64_t>
  // A template, like tensor_shape::dims().
  std::span<Dim> shape() const noexcept {
    return {spec_.dims, spec_.rank};
  }
  tensor_spec spec() const noexcept;
  /// "uint8[224,224,3]".
  std::string spec_text() const { return spec().text(); }
  /// The number of elements.
  std::size_t size() const noexcept;
  bool empty() const noexcept { return size() == 0; }
  /// The size of the elements: of the numbers at data(), or of all strings.
  std::size_t size_bytes() const noexcept;

  // --- Elements ---

  /// All elements, in row-major order. Errors: invalid_argument if T has another dtype.
  template <tensor_number T> std::span<const T> values() const {
    expect(dtype_of<T>());
    return {reinterpret_cast<const T*>(data_), size()};
  }
  /// The same elements, for writing. Errors: failed_precondition unless is_writable().
  template <tensor_number T> std::span<T> writable() {
    expect(dtype_of<T>());
    return {reinterpret_cast<T*>(writable_data()), size()};
  }
  /// Returns true if no other object (tensor, slice, batch …) shares these bytes, and they are not read only. False for
  /// strings.
  bool is_writable() const noexcept;
  /// The bytes of numbers; null if empty. Errors: invalid_argument for strings; failed_precondition as above.
  const char* data() const noexcept { return data_; }
  char* writable_data();
  /// Returns string `i` in row-major order. Errors: invalid_argument unless the elements are strings. REQUIRES: i <
  /// size().
  std::string_view text(std::size_t i) const;
  /// For strings: size() + 1 offsets into text_bytes(). Null if empty.
  const std::int32_t* offsets() const noexcept { return reinterpret_cast<const std::int32_t*>(data_); }
  const char* text_bytes() const noexcept { return texts_ ? texts_->data() : nullptr; }

  // --- Views ---

  /// Returns the part with this index in the slowest dimension, which is removed: float32[2,3] has parts of float32[3].
  /// Errors: invalid_argument for a scalar; out_of_range.
  tensor operator[](std::int64_t index) const;
  /// Returns the parts [begin, begin + count) in the slowest dimension. Errors: the same.
  tensor slice(std::int64_t begin, std::int64_t count) const;
  /// Returns the same elements in another shape. Errors: invalid_argument unless it has the same number of elements.
  /// One dimension may be -1, which is computed from the others.
  tensor reshape(std::span<const std::int64_t> dims) const;
  tensor reshape(std::initializer_list<std::int64_t> dims) const;
  /// Returns a tensor with its own, unshared bytes.
  tensor copy() const;

  // --- Values ---

  /// Compares dtype, shape and bytes: a NaN equals the same NaN, and 0.0 differs from -0.0.
  friend bool operator==(const tensor& a, const tensor& b) noexcept { return a.equals(b); }
  /// A hash that is equal in every process; equal tensors have equal hashes.
  std::uint64_t hash() const noexcept;
  /// Returns nested arrays, printed like lists. A tensor without elements is [], a scalar is a value.
  std::string to_json() const;

  /// The owner of the bytes; for strings of the offsets. Null if empty.
  buffer* owner() const noexcept { return owner_; }
  bool is_read_only() const noexcept { return spec_.read_only; }

  // Kernels of the element type, called once per block (element/type.hpp).
  static void sluice_destroy(tensor* p, std::size_t n) noexcept;
  static std::size_t sluice_footprint(const tensor* p, std::size_t n) noexcept;
  /// Gives each view of a much larger buffer a copy of its bytes, so that it does not keep that buffer in memory.
  static void sluice_compact(tensor* p, std::size_t n);
  void sluice_print(std::string& json) const;

 private:
  friend class column;

  /// A tensor_spec, in fewer bytes.
  struct small_spec {
    std::int64_t dims[kRankMax] = {};
    lib::dtype dtype = lib::dtype::float32;
    std::uint8_t rank = 1;
    bool read_only = false;
    void forget() noexcept {
      rank = 1;
      read_only = false;
      dims[0] = 0;
    }
  };

  tensor(const tensor_spec& spec, std::size_t elements);
  static tensor of_bytes(lib::dtype d, const tensor_shape& shape, const void* values, std::size_t count);
  void set_spec(const tensor_spec& spec) noexcept;
  void expect(lib::dtype wanted) const;
  tensor view(std::span<const std::int64_t> dims, std::size_t first_element) const noexcept;
  std::string_view text_at(std::size_t i) const noexcept;
  bool equals(const tensor& o) const noexcept;

  buffer* owner_ = nullptr;
  char* data_ = nullptr;
  buffer* texts_ = nullptr;  ///< for strings: owns the bytes to which the offsets at data_ refer
  small_spec spec_;
};

static_assert(sizeof(tensor) == 96);

}  // namespace sluice::lib

template <> struct std::hash<sluice::lib::tensor> {
  std::size_t operator()(const sluice::lib::tensor& t) const noexcept { return static_cast<std::size_t>(t.hash()); }
};

namespace sluice {

// The public names.
using lib::tensor;
using lib::tensor_shape;
using lib::tensor_spec;

}  // namespace sluice
