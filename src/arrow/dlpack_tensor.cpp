// SPDX-License-Identifier: Apache-2.0
#include "sluice/arrow/dlpack_tensor.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <vector>

#include "sluice/element/batched.hpp"

namespace sluice::lib {
namespace {

constexpr std::uint32_t kMajor = 1, kMinor = 0;

/// The address of the values of a tensor without elements.
alignas(64) char nothing[64];

struct number_code {
  dtype is;
  std::uint8_t code, bits;
};
constexpr std::array<number_code, 13> kCodes = {{{dtype::boolean, kDLBool, 8},
                                                 {dtype::int8, kDLInt, 8},
                                                 {dtype::int16, kDLInt, 16},
                                                 {dtype::int32, kDLInt, 32},
                                                 {dtype::int64, kDLInt, 64},
                                                 {dtype::uint8, kDLUInt, 8},
                                                 {dtype::uint16, kDLUInt, 16},
                                                 {dtype::uint32, kDLUInt, 32},
                                                 {dtype::uint64, kDLUInt, 64},
                                                 {dtype::float16, kDLFloat, 16},
                                                 {dtype::bfloat16, kDLBfloat, 16},
                                                 {dtype::float32, kDLFloat, 32},
                                                 {dtype::float64, kDLFloat, 64}}};

// --- Export ---

template <class Tensor> struct kept_tensor {
  Tensor out{};
  std::vector<std::int64_t> shape, strides;
  tensor held;
};

template <class Tensor> void delete_tensor(Tensor* t) { delete static_cast<kept_tensor<Tensor>*>(t->manager_ctx); }

template <class Tensor> result<Tensor*> make_tensor(const tensor& from) {
  const auto* code = std::ranges::find(kCodes, from.dtype(), &number_code::is);
  if (code == kCodes.end())
    return invalid_argument_error("DLPack has tensors of numbers, not of strings (" + from.spec_text() + ")");
  auto kept = std::make_unique<kept_tensor<Tensor>>();
  kept->held = from;
  kept->shape.assign(from.shape().begin(), from.shape().end());
  kept->strides.assign(kept->shape.size(), 1);
  for (std::size_t k = kept->shape.size(); k > 1; --k) kept->strides[k - 2] = kept->strides[k - 1] * kept->shape[k - 1];
  DLTensor& t = kept->out.dl_tensor;
  t.data = nothing;
  if (const buffer* b = from.owner()) {
    const bool within = from.data() >= b->data() && from.data() < b->data() + b->capacity();
    const char* begin = within ? b->data() : from.data();  // aligned if possible
    t.data = const_cast<char*>(begin);
    t.byte_offset = static_cast<std::uint64_t>(from.data() - begin);
  }
  t.device = {kDLCPU, 0};
  t.ndim = static_cast<std::int32_t>(kept->shape.size());
  t.dtype = {code->code, code->bits, 1};
  t.shape = kept->shape.data();
  t.strides = kept->strides.data();
  kept->out.manager_ctx = kept.get();
  kept->out.deleter = delete_tensor<Tensor>;
  return &kept.release()->out;
}

DLManagedTensorVersioned* with_version(DLManagedTensorVersioned* t, bool read_only) {
  t->version = {kMajor, kMinor};
  t->flags = read_only ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;
  return t;
}

result<tensor> column_as_tensor(const element_type& type, const column* c, std::size_t first) {
  const element_type* number = &type;
  while (number->kind == kind::array) number = number->element;
  if (number->kind != kind::scalar || !dtype_of(*number))
    return invalid_argument_error("DLPack has tensors of numbers, and of arrays of numbers, not of " + type.name);
  try {
    return detail::stacked(type, c, first, c ? c->rows() - first : 0);
  } catch (const error& e) { return e.why(); }
}

// --- Import ---

/// Foreign memory, owned until its last user releases it. It is the account of a buffer without bytes: when the last
/// tensor releases that buffer, it destroys the account.
template <class Tensor> class foreign_bytes final : public byte_account {
 public:
  explicit foreign_bytes(Tensor* t) noexcept : tensor_(t) {}
  void release(std::size_t) noexcept override {}
  void retain() noexcept override { references_.fetch_add(1, std::memory_order_relaxed); }
  void unretain() noexcept override {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

 private:
  ~foreign_bytes() {
    if (tensor_->deleter) tensor_->deleter(tensor_);
  }
  std::atomic<int> references_{0};
  Tensor* tensor_;
};

template <class Tensor> struct deleting {
  void operator()(Tensor* t) const {
    if (t->deleter) t->deleter(t);
  }
};

std::int64_t stride_of(const DLTensor& t, std::size_t k) {
  if (t.strides) return t.strides[k];
  std::int64_t stride = 1;
  for (auto i = static_cast<std::size_t>(t.ndim); i-- > k + 1;) stride *= t.shape[i];
  return stride;
}

bool is_contiguous(const DLTensor& t) {
  std::int64_t wanted = 1;
  for (auto k = static_cast<std::size_t>(t.ndim); k-- != 0; wanted *= t.shape[k])
    if (t.shape[k] != 1 && stride_of(t, k) != wanted) return false;
  return true;
}

void copy_strided(const DLTensor& t, std::size_t k, const char* from, std::size_t each, char*& to) {
  if (k == static_cast<std::size_t>(t.ndim)) {
    std::memcpy(to, from, each);
    to += each;
    return;
  }
  const std::int64_t step = stride_of(t, k) * static_cast<std::int64_t>(each);
  for (std::int64_t i = 0; i != t.shape[k]; ++i) copy_strided(t, k + 1, from + i * step, each, to);
}

template <class Tensor> result<tensor> taken(std::unique_ptr<Tensor, deleting<Tensor>> from, bool read_only) {
  const DLTensor& t = from->dl_tensor;
  if (t.device.device_type != kDLCPU) return invalid_argument_error("a DLPack tensor that is not in the CPU's memory");
  const auto* code = std::ranges::find_if(kCodes, [&](const number_code& c) {
    return c.code == t.dtype.code && c.bits == t.dtype.bits && t.dtype.lanes == 1;
  });
  if (code == kCodes.end())
    return invalid_argument_error("a DLPack tensor of code " + std::to_string(t.dtype.code) + ", " +
                                  std::to_string(t.dtype.bits) + " bits, " + std::to_string(t.dtype.lanes) +
                                  " lanes, which is no dtype");
  if (t.ndim < 0 || (t.ndim != 0 && !t.shape)) return invalid_argument_error("a DLPack tensor without a shape");
  tensor_spec spec{code->is, std::span<const std::int64_t>(t.shape, static_cast<std::size_t>(t.ndim))};
  spec.check();
  if (spec.elements() == 0) return tensor::make(spec.dtype, spec.shape);
  if (!t.data) return invalid_argument_error("a DLPack tensor of " + spec.text() + " without data");
  const char* data = static_cast<const char*>(t.data) + t.byte_offset;
  const std::size_t each = size_bytes(spec.dtype);
  tensor made;
  if (is_contiguous(t) && reinterpret_cast<std::uintptr_t>(data) % each == 0) {
    buffer_ref owner(buffer::make_exact(0));
    owner->charge(new foreign_bytes<Tensor>(from.get()), 0);
    from.release();
    made = tensor::sharing(std::move(owner), data, spec, read_only);
  } else {
    made = tensor::make(spec.dtype, spec.shape);
    char* to = made.writable_data();
    copy_strided(t, 0, data, each, to);
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(made.data());
  if (spec.dtype == dtype::boolean &&
      std::any_of(bytes, bytes + spec.elements(), [](unsigned char b) { return b > 1; }))
    return invalid_argument_error("a DLPack tensor of " + spec.text() + " with bytes other than 0 and 1");
  return made;
}

template <class Tensor> result<tensor> taken_over(Tensor* t, bool read_only) {
  try {
    return taken(std::unique_ptr<Tensor, deleting<Tensor>>(t), read_only);
  } catch (...) { return current_exception_status(); }
}

}  // namespace

result<DLManagedTensorVersioned*> export_tensor(const tensor& t, bool read_only) {
  auto made = make_tensor<DLManagedTensorVersioned>(t);
  return made.ok() ? with_version(*made, read_only) : made;
}
result<DLManagedTensorVersioned*> export_tensor(const element_type& type, const column* c, std::size_t first,
                                                bool read_only) {
  auto t = column_as_tensor(type, c, first);
  return t.ok() ? export_tensor(*t, read_only) : t.why();
}

result<DLManagedTensor*> export_old_tensor(const tensor& t) { return make_tensor<DLManagedTensor>(t); }
result<DLManagedTensor*> export_old_tensor(const element_type& type, const column* c, std::size_t first) {
  auto t = column_as_tensor(type, c, first);
  return t.ok() ? export_old_tensor(*t) : t.why();
}

result<tensor> import_tensor(DLManagedTensorVersioned* t) {
  if (t->version.major != kMajor) {
    const auto major = t->version.major;
    if (t->deleter) t->deleter(t);
    return invalid_argument_error("a tensor of DLPack " + std::to_string(major) + ": known is 1");
  }
  return taken_over(t, (t->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0);
}
result<tensor> import_tensor(DLManagedTensor* t) { return taken_over(t, true); }

}  // namespace sluice::lib
