// SPDX-License-Identifier: Apache-2.0
// The file systems behind the schemes that the program knows: http://, https://, s3://, gs:// and hdfs://,
// where they were built in.
#pragma once

#include <string>

#include "cli/inputs/reading.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib::cli {

void add_remote_files(runtime& rt);
/// Is it a local folder, or a remote path that ends with a /?
bool is_folder(const std::string& path);
/// With a / at its end.
std::string folder_text(std::string path);
/// Is there a file of this path, in whatever file system? What cannot be looked at is not there.
bool exists(const std::string& path, const reading_arguments& reading);

}  // namespace sluice::lib::cli
