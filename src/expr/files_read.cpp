// SPDX-License-Identifier: Apache-2.0
#include "expr/files_read.hpp"

#include "expr/tree.hpp"

namespace sluice::lib {
namespace {

void add_files(const expression_tree& e, std::vector<std::string>& files) {
  if (e.kind == expression_tree::call && e.text == "lookup" && e.parts.size() >= 2 &&
      e.parts[1].kind == expression_tree::text_)
    files.push_back(e.parts[1].text);
  for (const expression_tree& part : e.parts) add_files(part, files);
}

}  // namespace

std::vector<std::string> files_read_by_expression(std::string_view text) {
  std::vector<std::string> files;
  try {
    add_files(expressions::read_expression(text, 1), files);
  } catch (const expression_error&) { files.clear(); }
  return files;
}

}  // namespace sluice::lib
