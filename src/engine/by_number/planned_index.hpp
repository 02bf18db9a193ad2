// SPDX-License-Identifier: Apache-2.0
// The number of a file's elements when a plan is built, for readers with index=required.
#pragma once

#include <string>

#include "sluice/base/index_types.hpp"
#include "sluice/base/result.hpp"
#include "sluice/plan/facts.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib {

/// Reads the number in the index of this file. The index of a local file is read again only if it has changed. The run
/// checks that the index belongs to the file.
result<std::uint64_t> planned_elements(const std::string& path);

/// Throws failed_precondition if the node requires an index that cannot be read.
template <class Arguments> void check_index(const node& n) {
  const auto& a = n.as<Arguments>();
  if (a.options.index != file_index::required || !a.path.is_given) return;
  if (result<std::uint64_t> elements = planned_elements(a.path.value); !elements.ok()) throw_status(elements.why());
}

template <class Arguments> cardinality size_by_index(const node& n) {
  const auto& a = n.as<Arguments>();
  if (a.options.index != file_index::required || !a.path.is_given) return {};
  result<std::uint64_t> elements = planned_elements(a.path.value);
  return elements.ok() ? cardinality::of_many(*elements) : cardinality{};
}
template <class Arguments> bool seeks_by_index(const node& n) {
  const auto& a = n.as<Arguments>();
  return a.options.index == file_index::required && a.path.is_given;
}

/// For op_splits::skips_in_file: each file that a stage opens has an index, by which a range of its elements is found.
template <class Arguments> bool ranges_by_index(const node& n) {
  return n.as<Arguments>().options.index == file_index::required;
}

/// For formats that compute the place of element i, if the plan says that the file is not compressed.
template <class Arguments> bool seeks_in_plain_file(const node& n) {
  const auto& a = n.as<Arguments>();
  return a.options.compression == compression::none && a.path.is_given && a.path.value != "-";
}

template <class Arguments> constexpr op_facts facts_by_index() {
  op_facts f;
  f.size = size_by_index<Arguments>;
  f.seeks = seeks_by_index<Arguments>;
  return f;
}

}  // namespace sluice::lib
