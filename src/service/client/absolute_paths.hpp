// SPDX-License-Identifier: Apache-2.0
// The text of a plan for processes that run in other folders.
//
//   plan_text_with_absolute_paths(*parse_plan("lines(\"t.txt\")"))        // lines("/home/me/t.txt")
//
// The arguments path and pattern, and the texts that expressions give to read_file() directly, are placed in the folder of
// this process if they are relative. Paths with a scheme stay, and so do paths that are computed otherwise.
// Cost:   a look at the file system for each path with a comma or a mark of patterns.
// Thread: any. Reads the current folder.
#pragma once

#include <string>
#include <string_view>

#include "sluice/plan/node.hpp"

namespace sluice::lib {

std::string plan_text_with_absolute_paths(const node& n);
/// Returns the path, or each of the patterns that commas separate, in the folder of this process.
std::string absolute_path(std::string_view path);

}  // namespace sluice::lib
