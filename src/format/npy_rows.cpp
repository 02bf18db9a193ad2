// SPDX-License-Identifier: Apache-2.0
#include "format/npy_rows.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include <absl/strings/str_cat.h>

#include "sluice/base/utf8.hpp"
#include "sluice/format/npy.hpp"

namespace sluice::lib {
namespace {

/// Copies items that lie in Fortran order into C order. `dims`: of the result; `strides`: the distances of neighbors in
/// `from`, in bytes.
void gather_npy(const char* from, std::span<const std::int64_t> dims, std::span<const std::uint64_t> strides,
                std::size_t item_bytes, char* to) {
  if (dims.empty()) {
    std::memcpy(to, from, item_bytes);
    return;
  }
  std::uint64_t each = item_bytes;
  for (std::int64_t d : dims.subspan(1)) each *= static_cast<std::uint64_t>(d);
  if (dims.size() != 1) {
    for (std::int64_t i = 0; i != dims[0]; ++i, from += strides[0], to += each)
      gather_npy(from, dims.subspan(1), strides.subspan(1), item_bytes, to);
    return;
  }
  auto copy = [&](auto size) {
    for (std::int64_t i = 0; i != dims[0]; ++i, from += strides[0], to += item_bytes) std::memcpy(to, from, size);
  };
  switch (item_bytes) {
    case 1: return copy(std::integral_constant<std::size_t, 1>());
    case 2: return copy(std::integral_constant<std::size_t, 2>());
    case 4: return copy(std::integral_constant<std::size_t, 4>());
    case 8: return copy(std::integral_constant<std::size_t, 8>());
    default: return copy(item_bytes);
  }
}

std::vector<std::uint64_t> fortran_strides(const npy_head& h) {
  std::vector<std::uint64_t> strides;
  std::uint64_t bytes = h.item_bytes;
  for (std::int64_t d : h.shape) {
    strides.push_back(bytes);
    bytes *= static_cast<std::uint64_t>(d);
  }
  return strides;
}

std::string text_of_utf32(const char* bytes, std::size_t size, bool swapped) {
  std::string out;
  std::size_t zeros = 0;  // zeros within a text count, zeros after it do not
  for (std::size_t i = 0; i != size; i += 4) {
    std::uint32_t c = 0;
    std::memcpy(&c, bytes + i, 4);
    if (swapped) c = __builtin_bswap32(c);
    if (c == 0) {
      ++zeros;
      continue;
    }
    out.append(std::exchange(zeros, 0), '\0');
    if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000))
      throw_status(data_loss_error("not a file of NumPy, or damaged: a text has an invalid character"));
    append_utf8(c, out);
  }
  return out;
}

void copy_swapped(char* to, const char* from, std::size_t bytes, std::size_t each) {
  for (std::size_t i = 0; i != bytes; i += each) std::reverse_copy(from + i, from + i + each, to + i);
}

}  // namespace

tensor npy_head::row(const char* bytes, buffer& owner) const {
  const tensor_spec spec{dtype, row_shape};
  if (dtype == lib::dtype::string) {
    std::vector<std::string> texts;
    for (std::uint64_t i = 0; i != row_bytes; i += item_bytes) {
      if (is_utf32) {
        texts.push_back(text_of_utf32(bytes + i, item_bytes, is_swapped));
        continue;
      }
      std::string_view text(bytes + i, item_bytes);
      texts.emplace_back(text.substr(0, text.find_last_not_of('\0') + 1));
    }
    return tensor::of(texts, row_shape);
  }
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(bytes) % item_bytes == 0;
  if (is_aligned && !is_swapped && dtype != lib::dtype::boolean) {
    owner.add_references(1);
    return tensor::sharing(buffer_ref(&owner), bytes, spec);
  }
  tensor made = tensor::make(dtype, row_shape);
  char* to = made.writable_data();
  const auto size = static_cast<std::size_t>(row_bytes);
  if (dtype == lib::dtype::boolean) std::transform(bytes, bytes + size, to, [](char c) -> char { return c != 0; });
  else if (is_swapped && item_bytes != 1) copy_swapped(to, bytes, size, item_bytes);
  else std::memcpy(to, bytes, size);
  return made;
}

tensor npy_head::fortran_row(const char* array, std::uint64_t index) const {
  const std::vector<std::uint64_t> strides = fortran_strides(*this);
  buffer_ref gathered(buffer::make(std::max<std::size_t>(1, static_cast<std::size_t>(row_bytes))));
  gather_npy(array + index * item_bytes, row_shape.dims(), std::span(strides).subspan(1), item_bytes, gathered->data());
  return row(gathered->data(), *gathered.get());
}

namespace {

/// Builds the tensor of a whole array, whose items begin at `items`.
tensor tensor_of_npy(npy_head h, std::string_view items) {
  h.row_shape = tensor_shape(std::span<const std::int64_t>(h.shape));
  tensor_spec{h.dtype, h.row_shape}.check();
  h.row_bytes = h.bytes_of(h.shape);
  if (items.size() < h.row_bytes)
    throw_status(data_loss_error(
        absl::StrCat("it ends within its items: ", items.size(), " of ", h.row_bytes, " bytes are there")));
  if (items.size() > h.row_bytes)
    throw_status(data_loss_error(absl::StrCat(items.size() - h.row_bytes, " bytes follow its items")));
  buffer_ref copied(buffer::make(std::max<std::size_t>(1, items.size())));
  if (items.empty()) {
    // A dimension is 0.
  } else if (h.is_fortran) {
    gather_npy(items.data(), h.row_shape.dims(), fortran_strides(h), h.item_bytes, copied->data());
  } else {
    std::memcpy(copied->data(), items.data(), items.size());
  }
  return h.row(copied->data(), *copied.get());
}

}  // namespace

result<tensor> decode_npy(std::string_view encoded) {
  npy_head head;
  npy_scan s = read_npy_array_head(encoded, head);
  if (s.why.ok() && s.needed_bytes)
    s.why = data_loss_error(encoded.empty() ? "these bytes are no array of NumPy: they are empty"
                                            : "these bytes are no array of NumPy: they end within its header");
  if (!s.why.ok()) return s.why.with_message(absl::StrCat("decode_npy: ", std::string(s.why.message())));
  try {
    return tensor_of_npy(std::move(head), encoded.substr(s.used_bytes));
  } catch (const error& e) {
    return e.why().with_message(absl::StrCat("decode_npy: ", std::string(e.why().message())));
  }
}

}  // namespace sluice::lib
