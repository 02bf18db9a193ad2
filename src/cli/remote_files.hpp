// SPDX-License-Identifier: Apache-2.0
// The file systems behind the schemes that the program knows: http://, https://, s3:// and gs://,
// where they were built in.
#pragma once

#include "sluice/runtime/runtime.hpp"

namespace sluice::lib::cli {

void add_remote_files(runtime& rt);

}  // namespace sluice::lib::cli
