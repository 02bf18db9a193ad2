// SPDX-License-Identifier: Apache-2.0
// A profile of ~/.aws/credentials and ~/.aws/config.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "io/stores/surroundings.hpp"

namespace sluice::lib::detail {

/// What both files say of a profile: the credentials file wins. Names in lower case.
struct aws_profile {
  std::string name;
  std::map<std::string, std::string> values;
  std::string text(const std::string& of) const {
    auto found = values.find(of);
    return found == values.end() ? std::string() : found->second;
  }
};

/// `wanted`: empty: AWS_PROFILE, else "default". Errors: invalid_argument: one that was named is in neither file; those of a
/// file that was named, or has a profile that was, and cannot be read.
result<aws_profile> read_aws_profile(const surroundings& around, const std::string& wanted);

/// The values of a section of such a file: `[name]` or `[profile name]`. Nothing: there is no such section.
std::optional<std::map<std::string, std::string>> section_of(std::string_view text, std::string_view name);

}  // namespace sluice::lib::detail
