// SPDX-License-Identifier: Apache-2.0
#include "element/tensors/row_fit.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>

#include "sluice/element/tensor.hpp"

namespace sluice::lib {
namespace {

std::string shapes_say(const std::vector<std::int64_t>& dims) {
  std::string text;
  for (std::int64_t d : dims) text += (text.empty() ? "" : ",") + (d < 0 ? std::string("?") : std::to_string(d));
  return "shapes says [" + text + "]";
}

const tensor& tensor_in(const void* row, const padded_member& m) {
  return *std::launder(reinterpret_cast<const tensor*>(static_cast<const char*>(row) + m.offset));
}

/// Checks a list that is nested `depth` levels deep in the member.
status check_list(const padded_member& m, const element_type& list, const void* at, std::size_t depth) {
  std::size_t n = 0;
  auto* items = static_cast<const char*>(list.items(list, at, n));
  if (m.dims[depth] >= 0 && n > static_cast<std::uint64_t>(m.dims[depth]))
    return invalid_argument_error(m.path + " has " + std::to_string(n) + " items, more than " + shapes_say(m.dims));
  if (depth + 1 == m.dims.size()) return {};
  for (std::size_t i = 0; i != n; ++i) {
    status fits = check_list(m, *list.element, items + i * list.element->size, depth + 1);
    if (!fits.ok()) return fits;
  }
  return {};
}

/// Returns true if the padding of `m` is a value of this tensor's dtype.
bool can_be_filled(const padded_member& m, const tensor& t) {
  padding_value fill;
  return !m.is_given || fill.set(t.dtype(), m.spelled, m.is_text);
}

}  // namespace

row_fit row_fit::stacked(const element_type& row) {
  std::vector<padded_member> members = padded_members(row);
  std::erase_if(members, [](const padded_member& m) { return !m.is_tensor(); });
  return {std::move(members), false};
}

status row_fit::check_tensor(const padded_member& m, const void* first, const void* row) const {
  const tensor &t = tensor_in(row, m), &as = tensor_in(first, m);
  const bool same_shape = std::ranges::equal(t.shape(), as.shape());
  if (t.dtype() != as.dtype() || t.rank() != as.rank() || (!pads_ && !same_shape))
    return invalid_argument_error(m.path + " is " + t.spec_text() + ", and that of the batch's first element " +
                                  as.spec_text());
  if (!pads_) return {};
  bool is_padded = !same_shape;
  if (!m.dims.empty() && m.dims.size() != t.rank())
    return invalid_argument_error(m.path + " is " + t.spec_text() + ", and " + shapes_say(m.dims));
  for (std::size_t k = 0; k != m.dims.size(); ++k) {
    if (m.dims[k] < 0) continue;
    if (t.shape()[k] > m.dims[k])
      return invalid_argument_error(m.path + " is " + t.spec_text() + ", longer than " + shapes_say(m.dims));
    is_padded |= t.shape()[k] != m.dims[k];
  }
  if (is_padded && !can_be_filled(m, t))
    return invalid_argument_error(m.path + " is " + t.spec_text() + ", and its padding " + m.spelled +
                                  " is not a value of that type");
  return {};
}

status row_fit::check(const void* first, const void* row) const {
  for (const padded_member& m : members_) {
    status fits;
    if (m.is_tensor()) fits = check_tensor(m, first, row);
    else if (!m.dims.empty()) fits = check_list(m, *m.type, static_cast<const char*>(row) + m.offset, 0);
    if (!fits.ok()) return fits;
  }
  return {};
}

}  // namespace sluice::lib
