// SPDX-License-Identifier: Apache-2.0
// What a reader of numbered records has found in its files when the plan was built, as a member of its arguments that
// is no argument: bagz.
#pragma once

#include <memory>

namespace sluice::lib {

struct planned_records;  // engine/files/planned_records.hpp

struct planned_records_ref {
  using no_argument = void;
  std::shared_ptr<const planned_records> of = {};  ///< null: the files could not be read, or the path is not known yet
};

}  // namespace sluice::lib
