// SPDX-License-Identifier: Apache-2.0
// What the elements of a cache in a file depend on: the plan that makes them, its functions with their versions, the seed
// that they were drawn with, the error policy, and the files that the plan names.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/plan/identity.hpp"
#include "sluice/plan/node.hpp"
#include "sluice/runtime/run_context.hpp"
#include "store/cache_table.hpp"

namespace sluice::lib {

/// A file that a plan names.
struct named_input {
  std::string path;
  std::uint64_t size_bytes = 0;
  std::int64_t modified_ns = 0;
};

class plan_head final : public cache_head {
 public:
  plan_head(node_ptr input, const cache_key& key, std::shared_ptr<run_context> run, std::string noun = "cache");

  std::string bytes(std::uint64_t pass) const override;
  status compare(std::string_view there, std::uint64_t& pass) const override;

 private:
  /// Returns how the plans, functions, seeds or policies differ; empty: they do not.
  std::string difference(const struct head_values& there) const;
  std::string change_of_inputs(const std::vector<named_input>& there) const;

  node_ptr input_;
  cache_key key_;
  std::shared_ptr<run_context> run_;
  std::string noun_;  ///< what has the elements, for messages
};

/// Appends lines that describe the head of a file. Returns false if this version cannot read it.
bool describe_head(std::string_view head, std::string& to);

/// Returns why changes of the plan could not be noticed: a function without a name, or elements that cannot be compared.
/// Empty if they can.
std::string why_not_identified(const node& plan);

}  // namespace sluice::lib
