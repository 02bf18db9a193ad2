// SPDX-License-Identifier: Apache-2.0
// Lists the members of nested structures, pairs and tuples: the columns of a table, the features of a tf.Example.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sluice/base/result.hpp"
#include "sluice/element/type.hpp"

namespace sluice::lib {

struct flat_member {
  /// An optional structure around the member.
  struct optional {
    std::size_t offset = 0;  ///< in the structure around it
    const element_type* type = nullptr;
  };
  std::string path;                      ///< "user.name", "second.label", "0"
  std::vector<optional> optionals = {};  ///< the outermost first
  std::size_t offset = 0;                ///< in the innermost optional's structure; without one, in the element
  const element_type* type = nullptr;

  /// Returns the member; null if a structure around it has no value.
  const void* in(const void* element) const;
};

/// A type without members is one member, called `value`. Errors: invalid_argument: two members have the same path.
result<std::vector<flat_member>> flat_members(const element_type& type);

}  // namespace sluice::lib
