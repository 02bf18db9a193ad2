// SPDX-License-Identifier: Apache-2.0
#include "format/example/example_parts.hpp"

#include <algorithm>

#include <absl/strings/str_cat.h>

namespace sluice::lib::detail {
namespace {

using numbers = std::vector<std::int64_t>;
using means = feature_part::means;

/// The largest number of rows. The record contains only their number, so a few bytes could demand very many rows.
constexpr std::int64_t kRowsMax = std::int64_t{1} << 24;

tensor vector_of(const feature_values& values) {
  switch (values.kind) {
    case feature_kind::floats: return tensor::of(values.floats);
    case feature_kind::int64s: return tensor::of(values.int64s);
    default: return tensor::of(values.bytes);
  }
}

template <class... W> [[noreturn]] void refuse(const std::string& feature, const W&... words) {
  throw error(invalid_argument_error(absl::StrCat("feature \"", feature, "\" ", words...)));
}

/// Returns the places where rows begin and the last one ends, for a feature with `below` parts.
numbers splits_of(const feature_part& part, numbers said, std::int64_t below) {
  numbers splits;
  switch (part.meaning) {
    case means::row_splits:
      if (said.empty()) said.push_back(0);
      return said;
    case means::row_starts: said.push_back(below); return said;
    case means::row_limits: said.insert(said.begin(), 0); return said;
    case means::row_lengths:
      splits.push_back(0);
      for (std::int64_t n : said) {
        if (n < 0 || n > below - splits.back()) refuse(part.name, "has the length ", n, ", and there are ", below);
        splits.push_back(splits.back() + n);
      }
      return splits;
    case means::value_rowids: {
      splits.push_back(0);
      auto rows = [&] { return static_cast<std::int64_t>(splits.size()) - 1; };
      for (std::size_t i = 0; i != said.size(); ++i) {
        if (said[i] < std::max<std::int64_t>(rows() - 1, 0) || said[i] >= kRowsMax)
          refuse(part.name, "has the row ", said[i], " for value ", i, "; rows do not fall, and are below ", kRowsMax);
        while (rows() <= said[i]) splits.push_back(static_cast<std::int64_t>(i));
        splits.back() = static_cast<std::int64_t>(i) + 1;
      }
      return splits;
    }
    default: break;
  }
  splits.reserve(static_cast<std::size_t>(below / part.length) + 1);
  for (std::int64_t at = 0; at <= below; at += part.length) splits.push_back(at);
  return splits;
}

}  // namespace

sparse_tensor sparse_of(const feature_slot& slot, const feature_values& values, const std::vector<numbers>& indices) {
  const std::size_t n = values.size(), rank = indices.size();
  for (std::size_t d = 0; d != rank; ++d)
    if (indices[d].size() != n)
      refuse(slot.parts[d].name, "has ", indices[d].size(), ", and \"", slot.name, "\" ", n, " values");
  sparse_tensor made{tensor::make(dtype::int64, {static_cast<std::int64_t>(n), static_cast<std::int64_t>(rank)}),
                     vector_of(values), slot.shape};
  if (n != 0) {
    std::int64_t* to = made.indices.writable<std::int64_t>().data();
    for (std::size_t i = 0; i != n; ++i)
      for (std::size_t d = 0; d != rank; ++d) *to++ = indices[d][i];
  }
  if (status why = made.check(); !why.ok()) refuse(slot.name, "makes no tensor: ", std::string(why.message()));
  return made.ordered();
}

ragged_tensor ragged_of(const feature_slot& slot, const feature_values& values, std::vector<numbers> said) {
  ragged_tensor made{vector_of(values), std::vector<numbers>(said.size())};
  auto below = static_cast<std::int64_t>(values.size());
  for (std::size_t k = said.size(); k-- != 0;) {
    const feature_part& part = slot.parts[k];
    made.row_splits[k] = splits_of(part, std::move(said[k]), below);
    const numbers& s = made.row_splits[k];
    if (s.front() != 0 || s.back() != below)
      refuse(part.name.empty() ? slot.name : part.name, "parts ", s.back(), " from ", s.front(), " on, and there are ",
             below);
    below = static_cast<std::int64_t>(s.size()) - 1;
  }
  if (status why = made.check(); !why.ok()) refuse(slot.name, "makes no tensor: ", std::string(why.message()));
  return made;
}

}  // namespace sluice::lib::detail
