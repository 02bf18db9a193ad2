// SPDX-License-Identifier: Apache-2.0
// The plan that reads the files of a data folder (output/data_folder.hpp), for load and snapshot.
#pragma once

#include <string>
#include <string_view>

#include "output/data_folder.hpp"
#include "sluice/base/index_types.hpp"
#include "sluice/output/output_format.hpp"
#include "sluice/plan/node.hpp"

namespace sluice::lib {

struct folder_reading {
  bool cardinality = true;                   ///< the plan ends with assert_cardinality
  file_index index = file_index::automatic;  ///< required: the files are read by their indexes
  std::string reader_func = {};  ///< the stages that the files' paths run through, with `read` for the reader
};

/// Checks that the files have the sizes of the manifest. Errors: throws data_loss.
void check_files(const data_folder& d, const std::string& folder);
/// `folder`: ends with a slash. `type`: of the elements. `is_exact`: structures must have the same C++ name.
/// Errors: throws failed_precondition: files of this format give other elements; invalid_argument: the reading does not fit
/// the folder.
node_ptr plan_of_data_folder(const data_folder& d, const std::string& folder, const folder_reading& how,
                             const element_type* type, bool is_exact = true);

/// Returns ok if files of this format give back elements of this type.
status why_not_loadable(output_format format, const element_type& type);

}  // namespace sluice::lib
