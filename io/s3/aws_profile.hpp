// SPDX-License-Identifier: Apache-2.0
// Reads a profile of ~/.aws/credentials and ~/.aws/config.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "io/stores/surroundings.hpp"

namespace sluice::lib::detail {

/// The values of a profile in both files, with names in lower case. The credentials file has priority.
struct aws_profile {
  std::string name;
  std::map<std::string, std::string> values;
  std::string text(const std::string& of) const {
    auto found = values.find(of);
    return found == values.end() ? std::string() : found->second;
  }
};

/// `wanted`: the name; empty: AWS_PROFILE, or else "default". Errors: invalid_argument: neither file has a profile that
/// was named; a file that was named, or that must contain a named profile, cannot be read.
result<aws_profile> read_aws_profile(const surroundings& around, const std::string& wanted);

/// Returns the values of a section `[name]` or `[profile name]` of such a file. Returns nothing if the section is
/// missing.
std::optional<std::map<std::string, std::string>> section_of(std::string_view text, std::string_view name);

}  // namespace sluice::lib::detail
