// SPDX-License-Identifier: Apache-2.0
// The files and record numbers that bagz, array_record and mds find when a plan is built. A reader keeps them beside its
// arguments; plan text does not print them.
#pragma once

#include <memory>

#include "sluice/element/type.hpp"

namespace sluice::lib {

struct planned_records;  // engine/by_number/planned_records.hpp

struct planned_records_ref {
  using no_argument = void;
  std::shared_ptr<const planned_records> of = {};  ///< null: the files could not be read, or the path is not known yet
  const element_type* row = nullptr;               ///< mds: the structure of the program; null: that of the columns
};

}  // namespace sluice::lib
