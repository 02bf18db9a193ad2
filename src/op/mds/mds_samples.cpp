// SPDX-License-Identifier: Apache-2.0
#include "op/mds/mds_samples.hpp"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <span>
#include <string>
#include <utility>

#include "sluice/base/utf8.hpp"
#include "sluice/element/slice.hpp"
#include "sluice/element/type_of.hpp"

namespace sluice::lib {
namespace {

std::uint64_t little(std::string_view bytes) {
  std::uint64_t n = 0;
  std::memcpy(&n, bytes.data(), bytes.size());
  return n;
}

/// The types of values, as arrays number them.
constexpr std::array<std::pair<unsigned, dtype>, 11> kMdsDtypes = {{{8, dtype::uint8},
                                                                    {9, dtype::int8},
                                                                    {16, dtype::uint16},
                                                                    {17, dtype::int16},
                                                                    {18, dtype::float16},
                                                                    {32, dtype::uint32},
                                                                    {33, dtype::int32},
                                                                    {34, dtype::float32},
                                                                    {64, dtype::uint64},
                                                                    {65, dtype::int64},
                                                                    {66, dtype::float64}}};

status bad_column(const mds_column& c, const std::string& what) {
  return data_loss_error(absl::StrCat("the column \"", c.name, "\" ", what));
}

}  // namespace

mds_samples::mds_samples(const std::vector<mds_column>& columns, const element_type& row) {
  for (const mds_column& c : columns) {
    const member* built = nullptr;
    for (const member& m : row.members)
      if (m.name == c.name) built = &m;
    targets_.push_back({&c, built});
  }
  values_.resize(columns.size());
  specs_.resize(columns.size());
  numbers_.resize(columns.size());
}

/// Finds the values of the columns: the sizes of those that have none come first.
status mds_samples::divide(std::string_view sample) {
  const std::string_view all = sample;
  std::size_t sizes = 0;
  for (const target& t : targets_) sizes += t.column->bytes == 0 ? 4 : 0;
  if (sample.size() < sizes)
    return data_loss_error(absl::StrCat("the sample has ", all.size(), " bytes, and its sizes alone take ", sizes));
  std::string_view rest = sample.substr(sizes);
  for (std::size_t i = 0; i != targets_.size(); ++i) {
    std::uint64_t n = targets_[i].column->bytes;
    if (n == 0) {
      n = little(sample.substr(0, 4));
      sample.remove_prefix(4);
    }
    if (n > rest.size())
      return bad_column(*targets_[i].column, absl::StrCat("has ", n, " bytes in the sample, which has ", rest.size(),
                                                          " left of ", all.size()));
    values_[i] = rest.substr(0, static_cast<std::size_t>(n));
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  return rest.empty() ? status()
                      : data_loss_error(absl::StrCat(rest.size(), " bytes of the sample belong to no column"));
}

/// Checks a value. `spec`, `numbers`: of an array.
status mds_samples::check(const mds_column& c, std::string_view value, tensor_spec& spec,
                          std::string_view& numbers) const {
  if (c.kind == mds_column::utf8 && !is_utf8(value)) return bad_column(c, "is no UTF-8");
  if (c.kind != mds_column::array) return {};
  spec.dtype = c.values;
  if (!c.has_dtype) {
    if (value.empty()) return bad_column(c, "has an array without bytes");
    const auto number = static_cast<unsigned char>(value[0]);
    value.remove_prefix(1);
    bool is_known = false;
    for (const auto& [n, d] : kMdsDtypes)
      if (n == number) spec.dtype = d, is_known = true;
    if (!is_known) return bad_column(c, absl::StrCat("has an array of the unknown type ", unsigned{number}));
  }
  if (c.shape) {
    spec.shape = *c.shape;
  } else {
    if (value.empty()) return bad_column(c, "has an array without a shape");
    const auto head = static_cast<unsigned char>(value[0]);
    value.remove_prefix(1);
    const std::size_t rank = head >> 2, each = std::size_t{1} << (head & 3);
    if (rank > tensor_shape::kRankMax || value.size() < rank * each)
      return bad_column(c, absl::StrCat("has an array of ", rank, " dimensions, and at most ", tensor_shape::kRankMax,
                                        " are read, within its bytes"));
    std::array<std::int64_t, tensor_shape::kRankMax> dims{};
    for (std::size_t i = 0; i != rank; ++i) {
      const std::uint64_t dim = little(value.substr(i * each, each));
      if (dim > (std::uint64_t{1} << 40)) return bad_column(c, absl::StrCat("has an array with a dimension of ", dim));
      dims[i] = static_cast<std::int64_t>(dim);
    }
    value.remove_prefix(rank * each);
    spec.shape = tensor_shape(std::span<const std::int64_t>(dims.data(), rank));
  }
  // Not by the product of the dimensions, which may be damaged.
  std::uint64_t bytes = size_bytes(spec.dtype);
  for (const std::int64_t dim : spec.shape.dims()) {
    if (dim != 0 && bytes > value.size() / static_cast<std::uint64_t>(dim)) bytes = std::uint64_t{1} << 62;
    else bytes *= static_cast<std::uint64_t>(dim);
    if (bytes > value.size()) break;
  }
  if (bytes != value.size())
    return bad_column(c, absl::StrCat("has an array whose shape does not fit its ", value.size(), " bytes"));
  numbers = value;
  return {};
}

status mds_samples::build(std::string_view sample, buffer* owner, char* to) {
  status why = divide(sample);
  for (std::size_t i = 0; why.ok() && i != targets_.size(); ++i)
    if (targets_[i].built) why = check(*targets_[i].column, values_[i], specs_[i], numbers_[i]);
  if (!why.ok()) return why;
  // From here on nothing fails, except that memory may be used up, which ends the process.
  for (std::size_t i = 0; i != targets_.size(); ++i) {
    const auto& [column, built] = targets_[i];
    if (!built) continue;
    void* const at = to + built->offset;
    const std::string_view value = values_[i];
    switch (column->kind) {
      case mds_column::number: std::memcpy(at, value.data(), value.size()); break;
      case mds_column::half: {
        float16 h;
        std::memcpy(&h, value.data(), sizeof h);
        ::new (at) float(static_cast<float>(h));
        break;
      }
      case mds_column::utf8:
      case mds_column::binary:
        if (built->type == &type_of<std::string>()) {
          ::new (at) std::string(value);
          break;
        }
        owner->add_references(1);
        ::new (at) record(owner, value.data(), value.size());
        break;
      case mds_column::array: {
        buffer_ref numbers(buffer::make(std::max<std::size_t>(numbers_[i].size(), 1)));
        std::memcpy(numbers->data(), numbers_[i].data(), numbers_[i].size());
        const char* const data = numbers->data();
        ::new (at) tensor(tensor::sharing(std::move(numbers), data, specs_[i]));
        break;
      }
    }
  }
  return {};
}

}  // namespace sluice::lib
