// SPDX-License-Identifier: Apache-2.0
// The status of one path on a name node.
#pragma once

#include "io/hdfs/data_node_service.hpp"
#include "io/hdfs/hdfs_answers.hpp"

namespace sluice::lib::detail {

task<hdfs_entry> look_up_hdfs(hdfs_place of, time_point deadline);

}  // namespace sluice::lib::detail
