// SPDX-License-Identifier: Apache-2.0
// What a reader of numbered records has found in its files when the plan was built, as a member of its arguments that
// is no argument: bagz, array_record, mds.
#pragma once

#include <memory>

#include "sluice/element/type.hpp"

namespace sluice::lib {

struct planned_records;  // engine/files/planned_records.hpp

struct planned_records_ref {
  using no_argument = void;
  std::shared_ptr<const planned_records> of = {};  ///< null: the files could not be read, or the path is not known yet
  const element_type* row = nullptr;               ///< mds: the structure of the program; null: that of the columns
};

}  // namespace sluice::lib
