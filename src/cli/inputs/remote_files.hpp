// SPDX-License-Identifier: Apache-2.0
// The file systems for the schemes that the program supports: http://, https://, s3://, gs:// and hdfs://, if they were
// built in.
#pragma once

#include <cstdint>
#include <string>

#include "cli/inputs/reading.hpp"
#include "sluice/runtime/runtime.hpp"

namespace sluice::lib::cli {

/// Requests that are sent again are reported on standard error, at most one in a second.
void add_remote_files(runtime& rt);
/// Sets the number of attempts for each request of this process; the command line is read before any runtime exists. 0:
/// the default of http_options.
void set_attempts(std::uint32_t attempts);
/// Returns true for a local folder, or for a remote path that ends with a /.
bool is_folder(const std::string& path);
/// Returns the path with a / at its end.
std::string folder_text(std::string path);
/// Returns true if a file with this path exists in its file system. A path that cannot be examined counts as missing.
bool exists(const std::string& path, const reading_arguments& reading);

}  // namespace sluice::lib::cli
