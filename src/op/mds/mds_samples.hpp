// SPDX-License-Identifier: Apache-2.0
// Builds structures from the samples of MDS shards.
// Errors: data_loss: a sample's bytes do not fit its columns, with the column.
// Thread: one caller at a time.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "op/mds/mds_index.hpp"
#include "sluice/base/buffer.hpp"

namespace sluice::lib {

class mds_samples {
 public:
  /// `row`: the columns to build, by name. REQUIRES: each member is a column with the type of the index.
  mds_samples(const std::vector<mds_column>& columns, const element_type& row);

  /// Builds the element of a sample at uninitialized `to`. `owner`: has the bytes; texts of the kind bytes share them.
  status build(std::string_view sample, buffer* owner, char* to);

 private:
  struct target {
    const mds_column* column;
    const member* built;  ///< null: the column is not built
  };
  status divide(std::string_view sample);
  status check(const mds_column& c, std::string_view value, tensor_spec& spec, std::string_view& numbers) const;

  std::vector<target> targets_;
  std::vector<std::string_view> values_;  ///< of the sample that is built
  std::vector<tensor_spec> specs_;
  std::vector<std::string_view> numbers_;
};

}  // namespace sluice::lib
