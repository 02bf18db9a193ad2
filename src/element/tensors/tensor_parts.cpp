// SPDX-License-Identifier: Apache-2.0
#include "element/tensors/tensor_parts.hpp"

#include "absl/strings/str_cat.h"

namespace sluice::lib::detail {

tensor_parts::tensor_parts(const tensor_spec& spec, const tensor* otherwise, std::size_t bytes_max)
    : shape_(spec.shape) {
  spec.check();
  if (otherwise && (otherwise->rank() != 0 || otherwise->dtype() != spec.dtype))
    throw_status(
        invalid_argument_error(absl::StrCat("the default for elements without a value must be a scalar of ",
                                            std::string(name_of(spec.dtype)), ", and is ", otherwise->spec_text())));
  if (spec.bytes() > bytes_max)
    throw_status(element_limit_error(
        absl::StrCat("a tensor of ", spec.text(), " has ", spec.bytes(), " bytes, more than ", bytes_max)));
  if (spec.dtype == dtype::string) {
    texts_.assign(spec.elements(), otherwise ? otherwise->text(0) : std::string_view());
    return;
  }
  element_bytes_ = size_bytes(spec.dtype);
  const char* value = otherwise ? otherwise->data() : nullptr;
  bool is_zero = true;
  for (std::size_t i = 0; value && i != element_bytes_; ++i) is_zero = is_zero && value[i] == 0;
  made_ = is_zero ? tensor::zeros(spec.dtype, spec.shape) : tensor::make(spec.dtype, spec.shape);
  if (made_.size() == 0) return;
  numbers_ = made_.writable_data();
  if (!is_zero)
    for (std::size_t i = 0; i != made_.size(); ++i) std::memcpy(numbers_ + i * element_bytes_, value, element_bytes_);
}

tensor tensor_parts::finish() {
  if (element_bytes_ != 0) return std::move(made_);
  return tensor::of(std::span<const std::string_view>(texts_), shape_);
}

}  // namespace sluice::lib::detail
