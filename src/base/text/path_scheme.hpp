// SPDX-License-Identifier: Apache-2.0
// The scheme of a path, by which the file system that reads it is chosen: "s3" in s3://bucket/key.
// Thread: pure functions.
#pragma once

#include <string>
#include <string_view>

namespace sluice::lib::detail {

/// The scheme of local paths, which need none.
inline constexpr std::string_view kLocalScheme = "file";

/// Returns true for a letter that letters, digits, +, - and . follow.
bool is_scheme(std::string_view text);
/// Returns the scheme in lower case: "s3" for "S3://bucket/key"; "" for a path without a scheme.
std::string scheme_of(std::string_view path);
/// Returns true if the path has a scheme other than file://.
bool is_remote(std::string_view path);
/// Returns "/a" for "file:///a", and other paths unchanged.
std::string without_file_scheme(std::string path);

}  // namespace sluice::lib::detail
