// SPDX-License-Identifier: Apache-2.0
#include "sluice/arrow/tensor.hpp"

#include <memory>
#include <vector>

#include "arrow/formats.hpp"

namespace sluice::lib {
namespace {

constexpr std::uint32_t kMajor = 1, kMinor = 0;

/// A tensor of an empty column points here.
alignas(64) char nothing[64];

template <class Tensor> struct kept_tensor {
  Tensor tensor{};
  std::vector<std::int64_t> shape, strides;
  buffer_ref bytes;
};

template <class Tensor> void delete_tensor(Tensor* t) { delete static_cast<kept_tensor<Tensor>*>(t->manager_ctx); }

DLDataType number_type(const element_type& t) {
  DLDataType d{};
  switch (*arrow::number_format(t)) {
    case 'b': d.code = kDLBool; break;
    case 'f':
    case 'g': d.code = kDLFloat; break;
    case 'c':
    case 's':
    case 'i':
    case 'l': d.code = kDLInt; break;
    default: d.code = kDLUInt;
  }
  d.bits = static_cast<std::uint8_t>(t.size * 8);
  d.lanes = 1;
  return d;
}

template <class Tensor> result<Tensor*> make_tensor(const element_type& type, const column* c, std::size_t first) {
  auto kept = std::make_unique<kept_tensor<Tensor>>();
  const element_type* number = &type;
  kept->shape.push_back(c ? static_cast<std::int64_t>(c->rows() - first) : 0);
  for (; number->kind == kind::array; number = number->element)
    kept->shape.push_back(static_cast<std::int64_t>(number->extent));
  if (number->kind != kind::scalar || !arrow::number_format(*number))
    return invalid_argument_error("DLPack has tensors of numbers, and of arrays of numbers, not of " + type.name);
  const column* values = c;
  while (values && values->form() == column_form::fixed) values = &values->child(0);
  DLTensor& t = kept->tensor.dl_tensor;
  t.data = nothing;
  if (values && values->main_buffer()) {
    values->main_buffer()->add_references(1);
    kept->bytes = buffer_ref(values->main_buffer());
    t.data = const_cast<char*>(values->values());
  }
  kept->strides.assign(kept->shape.size(), 1);
  for (std::size_t k = kept->shape.size() - 1; k != 0; --k) kept->strides[k - 1] = kept->strides[k] * kept->shape[k];
  t.device = {kDLCPU, 0};
  t.ndim = static_cast<std::int32_t>(kept->shape.size());
  t.dtype = number_type(*number);
  t.shape = kept->shape.data();
  t.strides = kept->strides.data();
  t.byte_offset = first * static_cast<std::size_t>(kept->strides[0]) * number->size;
  kept->tensor.manager_ctx = kept.get();
  kept->tensor.deleter = delete_tensor<Tensor>;
  return &kept.release()->tensor;
}

}  // namespace

result<DLManagedTensorVersioned*> export_tensor(const element_type& type, const column* c, std::size_t first,
                                                bool read_only) {
  auto made = make_tensor<DLManagedTensorVersioned>(type, c, first);
  if (!made.ok()) return made;
  made.value()->version = {kMajor, kMinor};
  made.value()->flags = read_only ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;
  return made;
}

result<DLManagedTensor*> export_old_tensor(const element_type& type, const column* c, std::size_t first) {
  return make_tensor<DLManagedTensor>(type, c, first);
}

}  // namespace sluice::lib
