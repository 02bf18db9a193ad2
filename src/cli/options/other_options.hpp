// SPDX-License-Identifier: Apache-2.0
// Options of other programs that mean another command of this one.
// Thread: any.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice::lib::cli {

/// Returns what is typed in place of an option that the verb does not have, as the end of a message: "; use: sluice
/// select id,city people.csv". Empty if nothing is known. `arguments`: the verb, and what follows it. May read the file.
std::string instead_of_option(std::string_view verb, std::string_view option,
                              const std::vector<std::string>& arguments);

}  // namespace sluice::lib::cli
